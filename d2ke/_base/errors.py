# SPDX-License-Identifier: BSD-3-Clause
"""Errors that carry their argument, and warnings that point to the user's own line."""

from __future__ import annotations

import errno
import sys
import warnings
from types import FrameType
from typing import SupportsInt

READER_LEFT = (errno.EPIPE, errno.EINVAL)  # the latter on Windows


class _AboutArgument(Exception):  # noqa: N818 (a part of the two below)
    """An error about an argument or one of its items.

    Attributes
    ----------
    argument : str
        The argument's name, such as ``"X"``.
    problem : str
        The message without the name, such as ``"must be at least 1, got 0"``.
    index : int, tuple of int or None
        The item of a collection, or the entry of a matrix.
    """

    index: int | tuple[int, ...] | None

    def __init__(
        self,
        argument: str,
        problem: str,
        index: SupportsInt | tuple[SupportsInt, ...] | None = None,
    ):
        super().__init__(argument, problem, index)
        self.argument, self.problem = argument, problem
        if isinstance(index, tuple):
            self.index = tuple(map(int, index))
        else:
            self.index = None if index is None else int(index)

    def __str__(self) -> str:
        index = self.index if isinstance(self.index, tuple) else (self.index,)
        item = "" if self.index is None else f"[{', '.join(map(str, index))}]"
        return f"{self.argument}{item} {self.problem}"


class ArgumentError(_AboutArgument, ValueError):
    """An argument has a wrong value.

    Attributes
    ----------
    argument : str
        The argument's name, such as ``"X"``.
    problem : str
        The message without the name, such as ``"must be at least 1, got 0"``.
    index : int, tuple of int or None
        The item of a collection, or the entry of a matrix.

    Examples
    --------
    >>> import d2ke
    >>> try:
    ...     d2ke.pack([[0.0, 1.0], [0.5, float("nan")]])
    ... except d2ke.ArgumentError as error:
    ...     print(error.argument, error.index)
    items 1
    """

    __module__ = "d2ke"


class ArgumentTypeError(_AboutArgument, TypeError):
    """An argument has a wrong type; with the attributes of `ArgumentError`.

    Examples
    --------
    >>> import d2ke
    >>> try:
    ...     d2ke.samplers.random_strings(1.5, "ACGT", length=3, seed=0)
    ... except d2ke.ArgumentTypeError as error:
    ...     print(error.argument)
    R
    """

    __module__ = "d2ke"


def warn(message: str) -> None:
    """Warn of a result that may not be what the user meant, at the line that called the package."""
    frame: FrameType | None = sys._getframe(1)
    depth = 2
    packages = ("d2ke", "matlab_compat")
    while frame is not None and frame.f_globals.get("__name__", "").split(".")[0] in packages:
        depth, frame = depth + 1, frame.f_back
    warnings.warn(message, UserWarning, stacklevel=depth)
