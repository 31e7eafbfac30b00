# SPDX-License-Identifier: BSD-3-Clause
"""Types of the command line's arguments, with errors that name the right values."""

from __future__ import annotations

import argparse

from d2ke._base.checks import positive_number


def positive(text: str) -> int:
    """Return an integer of at least 1."""
    return _whole(text, 1)


def seed(text: str) -> int:
    """Return an integer of at least 0."""
    return _whole(text, 0)


def number(text: str) -> float:
    """Return a finite number above 0."""
    try:
        return positive_number("it", float(text))
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a positive finite number") from None


def _whole(text: str, low: int) -> int:
    try:
        value = int(text)
    except ValueError:
        value = low - 1
    if value < low:
        raise argparse.ArgumentTypeError(f"{text!r} is not an integer of at least {low}")
    return value
