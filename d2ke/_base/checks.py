# SPDX-License-Identifier: BSD-3-Clause
"""Checks of scalar arguments; each error names the argument, the value and what would be right."""

from __future__ import annotations

import math
import numbers
import operator
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from d2ke._base.errors import ArgumentError, ArgumentTypeError


def positive_number(name: str, value: Any, *, or_zero: bool = False) -> float:
    """Return a finite number greater than 0, or with `or_zero` at least 0, as float."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, numbers.Real):
        expected = "number >= 0" if or_zero else "positive number"
        raise ArgumentTypeError(name, f"must be a {expected}, got {value!r}")
    try:
        result = float(value)
    except OverflowError:  # an integer or a fraction
        raise ArgumentError(name, "must be less than 1.8e308, got a larger number") from None
    if or_zero and not 0 <= result < math.inf:
        raise ArgumentError(name, f"must be a finite number >= 0, got {value}")
    if not or_zero and not 0 < result < math.inf:
        raise ArgumentError(name, f"must be a positive finite number, got {result}")
    return result


not_negative = partial(positive_number, or_zero=True)


def below_one(name: str, value: Any) -> float:
    """Return a number between 0 and 1, both excluded, as float."""
    value = positive_number(name, value)
    if value >= 1:
        raise ArgumentError(name, f"must be between 0 and 1, got {value}")
    return value


def integer(name: str, value: Any, low: int | None = None, high: int | None = None) -> int:
    """Return an integer within [low, high] as int; 3.0 is not an integer, np.int64(3) is."""
    try:
        if isinstance(value, (bool, np.bool_)):
            raise TypeError
        result = operator.index(value)
    except TypeError:
        raise ArgumentTypeError(name, f"must be an integer, got {value!r}") from None
    if (low is not None and result < low) or (high is not None and result > high):
        if high is None:
            limits = f"at least {low}"
        elif low is None:
            limits = f"at most {high}"
        else:
            limits = f"between {low} and {high}"
        raise ArgumentError(name, f"must be {limits}, got {result}")
    return result


def flag(name: str, value: Any) -> bool:
    """Return True or False; values that are merely truthy or falsy, such as 1, are refused."""
    if not isinstance(value, (bool, np.bool_)):
        raise ArgumentTypeError(name, f"must be True or False, got {value!r}")
    return bool(value)


def file_path(name: str, value: Any) -> Path:
    """Return a str or a path-like object as Path."""
    try:
        path = Path(value)
    except TypeError:
        raise ArgumentTypeError(name, f"must be a path, got {value!r}") from None
    if "\0" in str(path):
        raise ArgumentError(name, f"has a character that no path has: {value!r}")
    return path


def element_type(name: str, value: Any) -> np.dtype:
    """Return float64 or float32 as a dtype in this machine's byte order."""
    try:
        dtype = np.dtype(value).newbyteorder("=")
    except TypeError:
        raise ArgumentTypeError(name, f"must be float64 or float32, got {value!r}") from None
    if dtype not in (np.float64, np.float32):
        raise ArgumentTypeError(name, f"must be float64 or float32, got {dtype}")
    return dtype


def length_range(name: str, value: Any) -> tuple[int, int]:
    """Return an inclusive range of lengths (lo, hi); a single integer L stands for (L, L)."""
    if isinstance(value, (tuple, list, np.ndarray)):
        if len(value) != 2:
            raise ArgumentError(name, f"must be (lo, hi) or one integer, got {value!r}")
        lo, hi = (integer(f"{name}[{i}]", v, 1) for i, v in enumerate(value))
        if lo > hi:
            raise ArgumentError(name, f"must be (lo, hi) with lo <= hi, got ({lo}, {hi})")
        return lo, hi
    length = integer(name, value, 1)
    return length, length


def choice(name: str, value: Any, choices: Iterable[str]) -> str:
    """Return `value` if it is one of `choices`."""
    choices = list(choices)
    if not isinstance(value, str):
        raise ArgumentTypeError(
            name, f"must be a string, one of {', '.join(choices)}; got {value!r}"
        )
    if value not in choices:
        raise ArgumentError(name, f"must be one of {', '.join(choices)}; got {value!r}")
    return value


def generator(seed: Any) -> np.random.Generator:
    """Return a numpy Generator from an integer >= 0, a SeedSequence or a Generator."""
    if isinstance(seed, np.random.Generator):
        return seed
    if isinstance(seed, np.random.SeedSequence):
        # A copy, since spawning from it would change the caller's.
        seed = np.random.SeedSequence(
            seed.entropy, spawn_key=seed.spawn_key, pool_size=seed.pool_size
        )
        return np.random.default_rng(seed)
    return np.random.default_rng(integer("seed", seed, 0))


def plain(name: str, value: Any) -> Any:
    """Return a value with numpy's scalars as Python's own; refuse values that JSON would change.

    Plain are None, bool, int, float and str, and tuples and dicts of plain values.
    """
    if isinstance(value, np.generic):
        value = value.item()
    if type(value) is tuple:
        return tuple(plain(f"{name}[{i}]", item) for i, item in enumerate(value))
    if type(value) is dict and all(type(key) is str for key in value):
        return {key: plain(f"{name}[{key!r}]", item) for key, item in value.items()}
    if value is not None and type(value) not in (bool, int, float, str):
        raise ArgumentTypeError(
            name,
            f"must be None, bool, int, float, str, or a tuple or dict of them by str; got "
            f"{value!r} of type {type(value).__name__}",
        )
    return value
