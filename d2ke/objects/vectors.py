# SPDX-License-Identifier: BSD-3-Clause
"""Readers of series and sets of vectors: sequences of arrays, and one padded array of all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.lib.recfunctions import structured_to_unstructured
from numpy.typing import NDArray

from d2ke._base.errors import ArgumentError, ArgumentTypeError
from d2ke._base.labels import is_missing
from d2ke.objects.columns import type_column
from d2ke.objects.compatibility import channel_order
from d2ke.objects.container import Objects, from_owned, offsets_of
from d2ke.objects.layouts import Layout, is_xarray
from d2ke.objects.values import (
    array_of,
    as_floats,
    channel_labels,
    channel_names,
    check_values,
    column_names,
    is_exact,
    list_of,
)


def is_padded(items: Any) -> bool:
    """Return whether items are one array of numbers, not of objects or text."""
    return isinstance(items, np.ndarray) and items.dtype.kind not in "OUST"


def read_padded(items: NDArray[Any], layout: Layout, name: str, kind: str) -> Objects:
    """Read an (n, length[, dim]) array: rows of one length, or of the layout's lengths."""
    shape = items.shape[:0:-1] if layout.channels_first else items.shape[1:]
    native = type(items) is np.ndarray and items.dtype.char in "?efd" and items.dtype.isnative
    if not native or layout.lengths is not None or items.ndim not in (2, 3) or not items.size:
        return read_vectors(rows_of(items, layout, name), layout, name, kind, shape)
    if layout.channels_first and items.ndim == 3:
        items = items.swapaxes(1, 2)
    n, length = items.shape[:2]
    values = np.array(items, as_floats(items[:0]).dtype, order="C").reshape(n * length, -1)
    offsets = np.arange(0, n * length + 1, length)
    values = check_values(values, offsets, layout.missing, name)
    if len(shape) == 2:
        layout.warn(name, *shape)
    return from_owned(kind, values, offsets, missing=layout.missing)


def rows_of(items: Any, layout: Layout, name: str) -> list[Any]:
    """Return the rows of a padded array, cut to the lengths of the layout."""
    if items.ndim not in (2, 3):
        raise ArgumentError(
            name,
            f"must be a sequence of objects or an (n, length[, dim]) array, got an "
            f"array of shape {items.shape}",
        )
    rows = list_of(name, items)
    if layout.lengths is None:
        return rows
    lengths = np.asarray(layout.lengths)
    if lengths.shape != (len(rows),) or lengths.dtype.kind not in "iu":
        raise ValueError(
            f"lengths must be {len(rows)} integers, one for each row of {name}; got "
            f"{lengths.dtype} of shape {lengths.shape}"
        )
    channels_first = layout.channels_first and items.ndim == 3
    longest = items.shape[2] if channels_first else items.shape[1]
    wrong = np.flatnonzero((lengths < 0) | (lengths > longest))
    if wrong.size:
        i = wrong[0]
        raise ValueError(f"lengths[{i}] must be between 0 and {longest}, got {lengths[i]}")
    return [
        row[..., :n] if channels_first else row[:n] for row, n in zip(rows, lengths, strict=True)
    ]


def read_vectors(
    items: Sequence[Any],
    layout: Layout,
    name: str,
    kind: str,
    padded: tuple[int, ...] | None = None,
) -> Objects:
    """Read arrays of vectors; if they are rows of a padded array, `padded` is their shape."""
    first = last = order = names = None
    arrays, shapes, dtypes = [], set(), set()
    for i, item in enumerate(items):
        array = _vectors(item, i, layout.channels_first, name)
        labels = channel_labels(item, layout.channels_first)
        if labels is not None:
            if first is None:
                first, where, names = list(labels), f"{name}[{i}]", channel_names(labels, name, i)
            elif labels is not last:  # frames may share them
                order = channel_order(labels, first, name, where, i)
            last = labels
            array = array if order is None else array[:, order]
        arrays.append(array)
        shapes.add(array.shape)
        dtypes.add(array.dtype)
    lengths, dims = map(set, zip(*shapes, strict=True))
    if len(dims) > 1:
        dim = arrays[0].shape[1]
        i = next(i for i, array in enumerate(arrays) if array.shape[1] != dim)
        hint = layout.hint() if len(lengths) == 1 else ""
        raise ArgumentError(
            name,
            f"has {arrays[i].shape[1]} channels, {name}[0] has {dim}; all must have the same{hint}",
            i,
        )
    if len(dtypes) > 1:
        arrays = list(map(as_floats, arrays))
    values = as_floats(np.concatenate(arrays))
    offsets = offsets_of(list(map(len, arrays)))
    values = check_values(values, offsets, layout.missing, name)
    # Items of different sizes can be read in one way only, so only equal ones get the warning.
    size = padded if padded is not None else shapes.pop()
    if len(size) == 2 and (padded is not None or not shapes):
        layout.warn(name, *size)
    return from_owned(kind, values, offsets, missing=layout.missing, channel_names=names)


def _vectors(item: Any, i: int, channels_first: bool, name: str) -> NDArray[Any]:
    """Return one item as a (length, dim) array of numbers that float64 holds."""
    if type(item) is np.ndarray:
        array = item
    elif isinstance(item, (str, bytes)):
        raise ArgumentTypeError(name, f"is {type(item).__name__}; arrays of numbers are needed", i)
    elif is_missing(item):
        raise ArgumentTypeError(
            name,
            f"is {item!r}; it must be a string or a sequence of numbers: remove missing objects "
            "first",
            i,
        )
    else:
        if is_xarray(item) and "time" in item.dims:
            item = item.transpose(..., "time") if channels_first else item.transpose("time", ...)
        array = array_of(item, f"{name}[{i}]")
    if array.dtype.names:
        array = structured_to_unstructured(array)
    if array.dtype.kind == "O" and array.ndim in (1, 2) and array.size:
        array = _join_columns(item, array, f"{name}[{i}]")
    if array.dtype.kind in "iuf" and not array.dtype.isnative:
        array = array.astype(array.dtype.newbyteorder("="))
    if array.dtype.kind in "iu":
        if not is_exact(array):
            raise ArgumentError(name, "has integers beyond 2**53, which float64 cannot hold", i)
    elif array.dtype.char not in "?efd":
        if not array.ndim:
            raise ArgumentTypeError(name, f"is {item!r}; an array of numbers is needed", i)
        raise ArgumentTypeError(
            name, f"has element type {array.dtype}; float64, float32 or integers are needed", i
        )
    if array.ndim == 1:
        array = array[:, None]
    elif array.ndim != 2:
        raise ArgumentError(
            name,
            f"is the number {item}; a sequence of numbers, (length,) or (length, dim), is needed"
            if not array.ndim
            else f"has shape {array.shape}; (length, dim) or (length,) is needed",
            i,
        )
    elif channels_first:
        array = array.T
    if array.shape[1] == 0:
        raise ArgumentError(name, f"has shape {array.shape}: its vectors have no elements", i)
    return array


def _join_columns(item: Any, array: NDArray[Any], name: str) -> NDArray[Any]:
    """Return an object array or a data frame as numbers; columns are read as in tables."""
    names = list(column_names(item))
    if not names:
        names = list(range(array.shape[1])) if array.ndim == 2 else [None]
        item = dict(zip(names, array.reshape(len(array), -1).T, strict=True))
    columns = []
    for column in names:
        where = name if column is None else f"{name}[{column!r}]"
        columns.append(type_column(item[column], where).channel(missing=True))
    return np.column_stack(columns) if names != [None] else columns[0]
