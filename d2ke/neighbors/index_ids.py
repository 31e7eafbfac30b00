# SPDX-License-Identifier: BSD-3-Clause
"""Checks of ids, and of objects that join an index or are compared with it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from d2ke._base.errors import ArgumentError, ArgumentTypeError
from d2ke.objects.compatibility import in_order
from d2ke.objects.container import Objects, with_fields
from d2ke.objects.records import Records
from d2ke.objects.tables import read_ids


def ids_of(objects: Any, ids: Any, n: int) -> NDArray[Any] | None:
    """Return `ids` as an array, or by default the ids of packed objects."""
    if ids is not None:
        return read_ids(ids, n, of="objects")
    return objects.ids if isinstance(objects, (Objects, Records)) else None


def check_distinct(ids: NDArray[Any]) -> None:
    """Refuse repeated ids."""
    values, counts = np.unique(ids, return_counts=True)
    if len(values) < len(ids):
        raise ArgumentError("ids", f"has {values[counts > 1][0].item()!r} twice; names must differ")


def check_type(ids: NDArray[Any], index_ids: NDArray[Any]) -> None:
    """Refuse numbers if the ids of the index are text, and text if they are numbers."""
    if ids.dtype.kind != index_ids.dtype.kind:
        new, old = ("numbers" if array.dtype.kind == "i" else "text" for array in (ids, index_ids))
        raise ArgumentTypeError("ids", f"are {new}, but those of the index are {old}")


def refuse_missing(name: str, keys: NDArray[Any], existing: NDArray[Any]) -> None:
    """Refuse the first index or id that no object has."""
    missing = keys[~np.isin(keys, existing)]
    raise ArgumentError(name, f"has {missing[0].item()!r}, but no object of the index has it")


def in_order_of(X: Any, Y: Any) -> Any:
    """Return packed queries X with their channels in the order of Y, the objects of the index."""
    if isinstance(X, Records):
        columns = {}
        for name, column in X.columns.items():
            values = in_order_of(column.values, Y[name].values)
            columns[name] = column if values is column.values else replace(column, values=values)
        same = all(columns[name] is column for name, column in X.columns.items())
        return X if same else Records(columns)
    if isinstance(X, Objects) and isinstance(Y, Objects):
        return in_order(X, Y.channel_names, "X", "the index")
    return X


def with_uses_of(Y: Any, objects: Any) -> Any:
    """Return records whose plain numbers have the uses of the index's records Y."""
    if not isinstance(objects, Records):
        return objects
    columns = {name: replace(column, use=Y[name].use) for name, column in objects.columns.items()}
    return Records(columns, objects.ids)


def named(objects: Any, ids: NDArray[Any] | None) -> Any:
    """Return objects with these ids; lists have none."""
    if isinstance(objects, Records):
        return Records(objects.columns, ids)
    return with_fields(objects, ids=ids) if isinstance(objects, Objects) else objects


def dtypes_of(a: Any, b: Any) -> list[tuple[str, np.dtype[Any], np.dtype[Any]]]:
    """Return the dtypes of numbers in two collections, each with its column."""
    if isinstance(a, Records):
        return [
            (f" in column {name!r}" + where, dtype, other)
            for name in a
            for where, dtype, other in dtypes_of(a[name].values, b[name].values)
        ]
    if isinstance(a, Objects) and not a.has_letters:
        return [("", a.dtype, b.dtype)]
    return []
