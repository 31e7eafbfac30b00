# SPDX-License-Identifier: BSD-3-Clause
"""Strict parser of LIBLINEAR's and LIBSVM's option strings, such as ``"-s 2 -c 10 -q"``."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from d2ke._base.errors import ArgumentError, ArgumentTypeError


class Option(NamedTuple):
    """A valid option: the reader of its value (None for a flag without one), and its meaning."""

    read: Callable[[str, str], Any] | None
    meaning: str


def real(low: float = -math.inf, *, above: bool = False) -> Callable[[str, str], float]:
    """Return a reader of a finite number >= low, or > low if `above`."""

    def read(flag: str, text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not math.isfinite(value):
            raise ValueError(f"option {flag} needs a finite number, got {text!r}")
        if value < low or (above and value == low):
            bound = "greater than" if above else "at least"
            raise ValueError(f"option {flag} must be {bound} {low:g}, got {text}")
        return value

    return read


def integer(*choices: int, low: int | None = None) -> Callable[[str, str], int]:
    """Return a reader of an integer, one of `choices` or at least `low`."""

    def read(flag: str, text: str) -> int:
        if re.fullmatch(r"[+-]?[0-9]{1,9}", text) is None:
            raise ValueError(f"option {flag} needs an integer, got {text!r}")
        value = int(text)
        if choices and value not in choices:
            listed = ", ".join(map(str, choices))
            raise ValueError(f"option {flag} must be one of {listed}, got {value}")
        if low is not None and value < low:
            raise ValueError(f"option {flag} must be at least {low}, got {value}")
        return value

    return read


def refused(reason: str) -> Callable[[str, str], Any]:
    """Return a reader that raises, for options of the original that are not supported."""

    def read(flag: str, text: str) -> Any:
        raise ValueError(f"option {flag} is not supported: {reason}")

    return read


def text(options: str | Sequence[str]) -> str:
    """Return options as one string."""
    return options if isinstance(options, str) else " ".join(options)


def parse(options: str | Sequence[str], legal: dict[str, Option]) -> dict[str, Any]:
    """Return {flag: value} of the options given; per-class weights as {label: weight} under "-w".

    Parameters
    ----------
    options : str or sequence of str
        ``"-s 2 -c 10"`` or ``["-s", "2", "-c", "10"]``.
    legal : dict of str to Option
        The options there are; "-w" stands for -w<label>.

    Raises
    ------
    TypeError
        If `options` is neither a string nor a sequence of strings.
    ValueError
        If an option is unknown, given twice, lacks its value, or its value is out of range.
    """
    if isinstance(options, str):
        words = options.split()
    elif isinstance(options, (list, tuple)) and all(isinstance(word, str) for word in options):
        words = list(options)
    else:
        raise ArgumentTypeError("options", f'must be a string such as "-s 2 -c 1", got {options!r}')
    parsed: dict[str, Any] = {}
    left = iter(words)
    for flag in left:
        weight = re.fullmatch(r"-w([+-]?[0-9]+)", flag) if "-w" in legal else None
        option = legal.get("-w" if weight else flag)
        if option is None or flag == "-w":
            listed = "; ".join(
                f"{'-w<label>' if name == '-w' else name}: {o.meaning}" for name, o in legal.items()
            )
            raise ArgumentError(
                "options", f"holds {flag!r}, which is not an option; there are {listed}"
            )
        if flag in parsed or (weight and int(weight[1]) in parsed.get("-w", {})):
            raise ValueError(f"option {flag} is given twice in {' '.join(words)!r}")
        if option.read is None:
            parsed[flag] = True
        elif weight:
            parsed.setdefault("-w", {})[int(weight[1])] = option.read(flag, next(left, ""))
        else:
            parsed[flag] = option.read(flag, next(left, ""))
    return parsed
