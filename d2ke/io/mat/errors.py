# SPDX-License-Identifier: BSD-3-Clause
"""Errors of unreadable files, and the placeholder of an unreadable value."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass


class MatFileError(ValueError):
    """A file is truncated, damaged or no MAT-file; the message names the file and the reason."""


class Damaged(Exception):  # noqa: N818 (never leaves d2ke.io)
    """The reason of a MatFileError, raised where the file's name is not known."""


# What reading raises where bytes are not those that a writer wrote.
DAMAGE = (
    ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError,
    struct.error, zlib.error,
)  # fmt: skip


@contextmanager
def damage() -> Iterator[None]:
    """Raise Damaged for any error of reading: readers check only what would pass unnoticed."""
    try:
        yield
    except DAMAGE as error:
        raise Damaged(f"{type(error).__name__}: {error}") from None


@dataclass(frozen=True)
class Unreadable:
    """Stands in the place of a value that only MATLAB can read, or that is damaged.

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
