# SPDX-License-Identifier: BSD-3-Clause
"""Items as arrays, lists and names of channels, and numbers in the forms that Objects keep."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from d2ke._base.errors import ArgumentError, ArgumentTypeError

LARGEST_EXACT_INTEGER = 2**53
INEXACT = (
    "a whole number that float64 cannot hold; if it is a name and no amount, make categories or "
    "text of the column"
)


def array_of(item: Any, name: str) -> NDArray[Any]:
    """Return an item of unknown type as an array; `name` is its name in errors."""
    if isinstance(item, bytearray):
        raise ArgumentTypeError(name, "is a bytearray; bytes(...) of it is a string")
    try:
        array = np.asarray(item)
    except (TypeError, ValueError) as error:
        raise ArgumentTypeError(name, f"is not an array of numbers: {error}") from None
    if isinstance(item, np.ma.MaskedArray) and np.ma.is_masked(item):
        raise ArgumentTypeError(name, "has masked elements; every value must be there")
    large = not isinstance(item, np.ndarray) and array.dtype == np.float64
    if large and (np.abs(array) > LARGEST_EXACT_INTEGER).any():
        # Integers beside floats, in a list or in a data frame.
        columns = [np.asarray(item[column]) for column in column_names(item)]
        columns = columns or [np.ravel(np.asarray(item, object))]
        for value in np.concatenate(columns, dtype=object):
            if isinstance(value, (int, np.integer)) and int(float(value)) != value:
                raise ArgumentError(name, f"has {value}, which float64 cannot hold")
    return array


def list_of(name: str, items: Any) -> list[Any]:
    """Return a sequence of at least one object of any type as a list."""
    if isinstance(items, Mapping) or hasattr(items, "columns"):
        raise ArgumentTypeError(
            name,
            f"is one {type(items).__name__}; a sequence of objects is needed, such as one of its "
            "columns or a list of its values; of a frame of series, pack(df, ids=, time=)",
        )
    if isinstance(items, (set, frozenset)):
        raise ArgumentTypeError(
            name,
            f"is one {type(items).__name__}, which has no order; a sequence of objects is needed",
        )
    if isinstance(items, (str, bytes)):
        raise ArgumentTypeError(
            name,
            f"must be a sequence of objects, got one {type(items).__name__}; of one object give a "
            "list, [x]",
        )
    try:
        result = items.to_pylist() if hasattr(items, "to_pylist") else list(items)
    except TypeError:
        raise ArgumentTypeError(
            name, f"must be a sequence of objects, got {type(items).__name__}"
        ) from None
    if not result:
        raise ArgumentError(name, "is empty: at least one object is needed")
    return result


def column_names(item: Any) -> Any:
    """Return the names of the columns of a data frame; none for anything else."""
    names = getattr(item, "columns", ())
    if isinstance(names, list) and names and not isinstance(names[0], str):  # arrays of pyarrow
        names = item.schema.names
    return names


def channel_labels(item: Any, channels_first: bool) -> Any:
    """Return the labels of the channels of one object; None if it has none.

    They are the columns of a data frame, the fields of a structured array, or the coordinate of
    xarray's axis that isn't called time.
    """
    if type(item) is np.ndarray:
        return item.dtype.names
    if hasattr(item, "columns"):
        return getattr(item, "index", None) if channels_first else column_names(item)
    if getattr(item, "ndim", 0) != 2 or not hasattr(item, "dims"):
        return None
    axes = [dim for dim in item.dims if dim != "time"]
    return item.indexes.get(axes[0 if channels_first else -1])


def channel_names(labels: Any, name: str, index: int | None = None) -> tuple[str, ...] | None:
    """Return labels of channels as names; None for default labels, which count from 0."""
    names = None if labels is None else list(labels)
    if names is None or names == list(range(len(names))):
        return None
    names = list(map(str, names))
    if len(set(names)) < len(names):
        twice = next(label for label in names if names.count(label) > 1)
        raise ArgumentError(name, f"has two channels called {twice!r}; rename one of them", index)
    return tuple(names)


def is_exact(array: NDArray[Any]) -> bool:
    """Return whether float64 represents all integers of the array."""
    if array.dtype.itemsize < 8 or not array.size:
        return True
    return int(array.min()) >= -LARGEST_EXACT_INTEGER and int(array.max()) <= LARGEST_EXACT_INTEGER


def as_floats(array: NDArray[Any]) -> NDArray[Any]:
    """Return numbers as float32 or float64; these two types are not copied."""
    if array.dtype.char in "fd" and array.dtype.isnative:
        return array
    return array.astype(np.float32 if array.dtype == np.float16 else np.float64)


def refuse_value(
    values: NDArray[Any], offsets: NDArray[Any], wrong: NDArray[Any], name: str
) -> None:
    """Raise if a value is wrong, with its object and position."""
    if not wrong.any():
        return
    at, channel = np.argwhere(wrong)[0]
    i = np.searchsorted(offsets, at, side="right") - 1
    value, hint = values[at, channel], ""
    if np.isnan(value):
        hint = (
            "; models fill missing values in with missing='interpolate'; distance_matrix, "
            "d2ke_embed and nearest take them with distance='dtw', missing='arow'"
        )
    raise ArgumentError(
        name,
        f"has {value} at position ({at - offsets[i]}, {channel}); every value must be finite{hint}",
        i,
    )


def check_values(
    values: NDArray[Any], offsets: NDArray[Any], missing: bool, name: str
) -> NDArray[Any]:
    """Return packed vectors whose numbers are finite or, with `missing`, NaN of one bit pattern."""
    step = max(1, (1 << 22) // values.shape[1])  # rows with about 2**22 numbers
    for low in range(0, len(values), step):
        rows = values[low : low + step]
        if np.isinf(rows).any() if missing else not np.isfinite(rows).all():
            wrong = np.isinf(values) if missing else ~np.isfinite(values)
            refuse_value(values, offsets, wrong, name)
    if missing and np.isnan(values).any():
        values = values if values.flags.writeable else values.copy()
        values[np.isnan(values)] = np.nan  # digests compare bits
    return values
