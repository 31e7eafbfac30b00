# SPDX-License-Identifier: BSD-3-Clause
"""Errors that carry the argument they are about."""

from __future__ import annotations

from typing import SupportsInt


class _AboutArgument(Exception):  # noqa: N818 (a part of the two below)
    """An argument, what is wrong with it, and the index of the item where it is.

    Attributes
    ----------
    argument : str
        The argument's name, such as ``"X"``.
    problem : str
        The message without the name, such as ``"must be at least 1, got 0"``.
    index : int or None
        The item of a collection.
    """

    def __init__(self, argument: str, problem: str, index: SupportsInt | None = None):
        super().__init__(argument, problem, index)
        self.argument, self.problem = argument, problem
        self.index = None if index is None else int(index)

    def __str__(self) -> str:
        item = "" if self.index is None else f"[{self.index}]"
        return f"{self.argument}{item} {self.problem}"


class ArgumentError(_AboutArgument, ValueError):
    """An argument has a wrong value."""


class ArgumentTypeError(_AboutArgument, TypeError):
    """An argument has a wrong type."""
