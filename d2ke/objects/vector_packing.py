# SPDX-License-Identifier: BSD-3-Clause
"""Series and sets of vectors, and their weights, packed into Objects."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from d2ke._base.errors import ArgumentError, ArgumentTypeError
from d2ke.objects.container import Objects, from_owned, offsets_of
from d2ke.objects.readings import Layout
from d2ke.objects.values import array_of, as_floats, check_values, column_names, is_exact


def pack_vectors(
    items: list[Any], layout: Layout, name: str, kind: str, padded: tuple[int, ...] | None
) -> Objects:
    """Pack arrays of vectors; `padded` is the shape of the items of one array of all."""
    arrays: list[np.ndarray] = []
    first = column_names(items[0])
    for i, item in enumerate(items):
        arrays.append(_vectors(item, i, layout.channels_first, name))
        columns = first and column_names(item)
        if columns and columns != first:
            raise ArgumentError(
                name, f"has the columns {columns}, {name}[0] has {first}; use one order", i
            )
    dim = arrays[0].shape[1]
    for i, array in enumerate(arrays):
        if array.shape[1] != dim:
            hint = ""
            if len({len(other) for other in arrays}) == 1:
                hint = layout.hint()
            raise ArgumentError(
                name,
                f"has {array.shape[1]} channels, {name}[0] has {dim}; all must have the same{hint}",
                i,
            )
    if len({array.dtype for array in arrays}) > 1:
        arrays = list(map(as_floats, arrays))
    values = as_floats(np.concatenate(arrays))
    offsets = offsets_of(list(map(len, arrays)))
    values = check_values(values, offsets, layout.missing, name)
    # Items of different sizes can be read in one way only.
    sizes = {array.shape for array in arrays}
    if padded is not None:
        sizes = {padded[::-1] if layout.channels_first else padded}
    size = sizes.pop()
    if not sizes and len(size) == 2:
        layout.warn(name, *size)
    return from_owned(kind, values, offsets, missing=layout.missing)


def _vectors(item: Any, i: int, channels_first: bool, name: str) -> np.ndarray:
    """One item as a (length, dim) array of numbers that float64 holds."""
    if isinstance(item, (str, bytes)):
        raise ArgumentTypeError(name, f"is {type(item).__name__}; arrays of numbers are needed", i)
    if item is None:
        raise ArgumentTypeError(
            name,
            "is None; it must be a string or a sequence of numbers: remove missing objects first",
            i,
        )
    array = item if type(item) is np.ndarray else array_of(item, f"{name}[{i}]")
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
            name, f"has shape {array.shape}; (length, dim) or (length,) is needed", i
        )
    elif channels_first:
        array = array.T
    if array.shape[1] == 0:
        raise ArgumentError(name, f"has shape {array.shape}: its vectors have no elements", i)
    return array


def with_weights(objects: Objects, weights: Any, name: str) -> Objects:
    """Return the objects with these weights."""
    if objects.kind == "strings":
        raise TypeError(f"weights go with sets, but {name} holds {objects.kind}")
    if objects.weights is not None:
        raise ArgumentTypeError(name, "has weights already")
    if objects.missing:
        raise ArgumentTypeError(
            name, "has values that are missing; no distance takes them and weights"
        )
    if not isinstance(weights, (Sequence, np.ndarray)) or isinstance(weights, (str, bytes)):
        raise TypeError(
            f"weights must be a sequence of arrays, one for each object of {name}; got "
            f"{type(weights).__name__}"
        )
    if isinstance(weights, np.ndarray) and weights.dtype.kind == "O":
        if weights.size > max(weights.shape, default=1):
            raise ValueError(
                f"weights must be a row or a column of arrays, got shape {weights.shape}"
            )
        weights = weights.ravel()
    if len(weights) != len(objects):
        raise ValueError(
            f"weights has {len(weights)} arrays, but {name} has {len(objects)} objects"
        )
    arrays = [
        _object_weights(own, i, n, name)
        for i, (own, n) in enumerate(zip(weights, objects.lengths.tolist(), strict=True))
    ]
    return from_owned("sets", objects.values, objects.offsets, weights=np.concatenate(arrays))


def _object_weights(weights: Any, i: int, length: int, name: str) -> np.ndarray:
    array = array_of(weights, f"weights[{i}]")
    if array.ndim == 2 and 1 in array.shape:
        array = array.ravel()  # a row or a column of MATLAB's
    if array.size and (array.dtype.kind not in "iuf" or array.dtype.itemsize > 8):
        raise TypeError(f"weights[{i}] has element type {array.dtype}; float64 or integers needed")
    if array.shape != (length,) and not array.size == length == 0:
        raise ValueError(
            f"weights[{i}] has shape {array.shape}, but {name}[{i}] has {length} vectors"
        )
    array = array.ravel()
    wide = array.astype(np.float64)
    if array.dtype.kind in "iu" and not (wide.astype(array.dtype) == array).all():
        raise ValueError(f"weights[{i}] has integers that float64 cannot hold")
    wrong = np.flatnonzero(~(np.isfinite(wide) & (wide >= 0)))
    if wrong.size:
        at = wrong[0]
        raise ValueError(f"weights[{i}] has {wide[at]} at {at}; weights must be finite and >= 0")
    with np.errstate(over="ignore"):
        total = wide.sum()
    # Half of what float64 holds: rounding in another order of summing cannot overflow.
    if length and not 0 < total < 2.0**1023:
        raise ValueError(f"the sum of weights[{i}] must be > 0 and < 2**1023, got {total}")
    return wide
