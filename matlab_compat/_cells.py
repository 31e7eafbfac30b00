# SPDX-License-Identifier: BSD-3-Clause
"""MATLAB's values in Python: cells, columns and structs."""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Any

import numpy as np

from d2ke import Objects, pack
from d2ke._base.checks import integer, positive_number
from d2ke._base.errors import ArgumentError, ArgumentTypeError


class Struct(dict[str, Any]):
    """A MATLAB struct: a dict whose fields are attributes also.

    Examples
    --------
    >>> info = Struct(sigma=4.46)
    >>> info.R = 128
    >>> info.sigma, info["R"]
    (4.46, 128)
    """

    def __repr__(self) -> str:
        fields = (f"{name}={_text(value)}" for name, value in self.items())
        return f"Struct({', '.join(fields)})"

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(
                f"no field {name!r}; the fields are {', '.join(self) or 'none'}"
            ) from None

    def __setattr__(self, name: str, value: Any) -> None:
        self[name] = value


def _text(value: Any) -> str:
    if isinstance(value, np.ndarray) and value.size > 20:
        return f"<{' x '.join(map(str, value.shape))} {value.dtype}>"
    return repr(value)


def scalar(value: Any) -> Any:
    """Return the number in a 1 x 1 matrix as Python's own; anything else as it is."""
    if isinstance(value, (np.ndarray, np.generic)) and value.size == 1:
        return value.item()
    return value


def whole(name: str, value: Any, low: int | None = None, high: int | None = None) -> int:
    """Return a number without a fraction as int: all of MATLAB's numbers are doubles."""
    value = scalar(value)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return integer(name, value, low, high)


def positive(name: str, value: Any) -> float:
    """Return a number above 0, which may be a 1 x 1 matrix."""
    return positive_number(name, scalar(value))


def series_cell(name: str, cell: Any) -> Objects:
    """Pack a cell (or list) of d x L matrices: channels in rows, time in columns."""
    if isinstance(cell, Objects):
        return pack(cell, kind="series", name=name)
    return pack(cell, kind="series", channels_first=True, name=name)


def cell_items(name: str, cell: Any) -> list[Any]:
    """Return the items of a cell, n x 1 or 1 x n, or of a list."""
    if isinstance(cell, np.ndarray):
        if cell.dtype != object or cell.size != max(cell.shape, default=1):
            raise ArgumentTypeError(
                name,
                "must be a cell (an object array, n x 1 or 1 x n) or a list, got "
                f"{cell.dtype} of shape {cell.shape}",
            )
        return list(cell.ravel())
    if isinstance(cell, (list, tuple)):
        return list(cell)
    raise ArgumentTypeError(
        name, f"must be a cell (an object array) or a list, got {type(cell).__name__}"
    )


def vector(name: str, values: Any) -> np.ndarray:
    """Return an n x 1 or 1 x n matrix, or a list, as a one-dimensional array."""
    array = np.asarray(values)
    if array.size != max(array.shape, default=1):
        raise ArgumentError(name, f"must be a vector, n x 1 or 1 x n, got shape {array.shape}")
    return array.reshape(-1)


def numbers(name: str, values: Any) -> np.ndarray:
    """Return real numbers of any shape as float64; NaN is one, as in MATLAB."""
    try:
        array = np.asarray(values)
    except ValueError:
        raise ArgumentTypeError(name, "has rows of different lengths") from None
    if array.dtype.kind not in "biuf":
        raise ArgumentTypeError(name, f"must hold numbers, as in MATLAB; got {array.dtype}")
    return array.astype(np.float64)


def column(values: Any) -> np.ndarray:
    """Return a vector as an n x 1 matrix."""
    return np.asarray(values).reshape(-1, 1)


def feature_tables(
    distance: str, started: float, tables_of: Iterable[tuple[np.ndarray, np.ndarray, float]]
) -> tuple[np.ndarray, np.ndarray, Struct]:
    """Return Train, Test and Runtime from labels, features and seconds of both parts."""
    tables, seconds = [], []
    for y, F, elapsed in tables_of:
        tables.append(np.hstack([column(y).astype(np.float64), F]))
        seconds.append(elapsed)
    runtime = {
        f"real_total_{distance}_time": time.perf_counter() - started,
        f"user_{distance}_time": sum(seconds),
        f"user_train_{distance}_time": seconds[0],
        f"user_test_{distance}_time": seconds[1],
    }
    return tables[0], tables[1], Struct(runtime)
