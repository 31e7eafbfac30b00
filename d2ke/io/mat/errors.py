# SPDX-License-Identifier: BSD-3-Clause
"""The error of unreadable files, and the placeholder of an unreadable value."""

from __future__ import annotations

from dataclasses import dataclass


class MatFileError(ValueError):
    """A file is truncated, damaged or no MAT-file; the message names the file and the reason."""


@dataclass(frozen=True)
class Unreadable:
    """Placeholder of a value that only MATLAB can read, or that is damaged.

    Attributes
    ----------
    name : str
        Where the value is, as MATLAB writes it: ``model``, ``info.kernel``, ``c{3}``.
    matlab_class : str
        Its class in MATLAB, such as ``"function_handle"`` or ``"string"``.
    reason : str
        Why it is not read; it begins with "damaged: " for what should be readable.

    Examples
    --------
    >>> from d2ke.io import Unreadable
    >>> Unreadable("info.f", "function_handle", "a function handle").matlab_class
    'function_handle'
    """

    name: str
    matlab_class: str
    reason: str
