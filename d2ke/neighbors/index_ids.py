# SPDX-License-Identifier: BSD-3-Clause
"""The user's names of an index's objects, and what objects of one index have in common."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from d2ke._base.errors import ArgumentError, ArgumentTypeError
from d2ke.neighbors.segments import Segment
from d2ke.objects.compatibility import in_order
from d2ke.objects.container import Objects, with_fields
from d2ke.objects.records import Records
from d2ke.objects.tables import read_ids


def ids_of(objects: Any, ids: Any, n: int) -> NDArray[Any] | None:
    """Return the given names, or those of packed objects."""
    if ids is not None:
        return read_ids(ids, n, of="objects")
    return objects.ids if isinstance(objects, (Objects, Records)) else None


def check_new(name: str, ids: NDArray[Any] | None, segments: Sequence[Segment]) -> None:
    """Refuse names that are repeated, or that objects of these segments have."""
    if ids is None:
        return
    values, counts = np.unique(ids, return_counts=True)
    if len(values) < len(ids):
        raise ArgumentError(name, f"has {values[counts > 1][0].item()!r} twice; names must differ")
    for segment in segments:
        assert segment.ids is not None
        check_type(name, ids, segment.ids)
        taken = segment.places(ids, True) >= 0
        if taken.any():
            i = int(taken.argmax())
            raise ArgumentError(name, f"is {ids[i].item()!r}, which an object of the index has", i)


def check_type(name: str, ids: NDArray[Any], held: NDArray[Any]) -> None:
    """Refuse numbers where the names of the index are text, or the reverse."""
    if ids.dtype.kind != held.dtype.kind:
        new, old = ("numbers" if one.dtype.kind == "i" else "text" for one in (ids, held))
        raise ArgumentTypeError(name, f"are {new}, but those of the index are {old}")


def refuse_missing(name: str, wanted: NDArray[Any], there: NDArray[Any]) -> None:
    """Refuse the first wanted index or id that no object has."""
    missing = wanted[~np.isin(wanted, there)]
    raise ArgumentError(name, f"has {missing[0].item()!r}, but no object of the index has it")


def in_order_of(X: Any, held: Any) -> Any:
    """Return packed queries with their channels in the order of the objects held."""
    if isinstance(X, Records):
        columns = {}
        for name, column in X.columns.items():
            values = in_order_of(column.values, held[name].values)
            columns[name] = column if values is column.values else replace(column, values=values)
        same = all(columns[name] is column for name, column in X.columns.items())
        return X if same else Records(columns)
    if isinstance(X, Objects) and isinstance(held, Objects):
        return in_order(X, held.channel_names, "X", "the index")
    return X


def with_uses_of(held: Any, objects: Any) -> Any:
    """Return records whose plain numbers have the uses of those held, which they may come to."""
    if not isinstance(objects, Records):
        return objects
    columns = {
        name: replace(column, use=held[name].use) for name, column in objects.columns.items()
    }
    return Records(columns, objects.ids)


def named(objects: Any, ids: NDArray[Any] | None) -> Any:
    """Return a collection with these names of its objects; lists have none."""
    if isinstance(objects, Records):
        return Records(objects.columns, ids)
    return with_fields(objects, ids=ids) if isinstance(objects, Objects) else objects


def dtypes_of(a: Any, b: Any) -> list[tuple[str, np.dtype[Any], np.dtype[Any]]]:
    """Return the dtypes of the numbers of two collections, with where they are."""
    if isinstance(a, Records):
        return [
            (f" in column {name!r}" + where, one, other)
            for name in a
            for where, one, other in dtypes_of(a[name].values, b[name].values)
        ]
    if isinstance(a, Objects) and not a.has_letters:
        return [("", a.dtype, b.dtype)]
    return []
