# SPDX-License-Identifier: BSD-3-Clause
"""What a model is trained from: blocks, distances and objects, checked before any work."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from d2ke._base import memory
from d2ke._base.checks import integer
from d2ke._base.errors import ArgumentError, ArgumentTypeError
from d2ke.distances.registry import check_kind, find_distance, usual_distance
from d2ke.models.blocks import Block
from d2ke.models.plan import block_rows
from d2ke.models.record_blocks import distances_of_columns, training_records
from d2ke.objects.container import Objects
from d2ke.objects.packing import as_objects
from d2ke.objects.record_packing import naming_rows
from d2ke.objects.records import Records
from d2ke.objects.stored import StoredObjects
from d2ke.objects.values import list_of

_SIZES = 1 << 40  # more features than any machine holds


def check_choices(
    blocks: Any, distance: Any, R: Any, params: Mapping[str, Any]
) -> list[str | Callable[..., float] | None]:
    """Check what the model is to be made of; return its distances, None for the usual one."""
    if R is not None:
        integer("R", R, 1)
    if blocks is not None:
        if distance is not None or R is not None or params:
            raise ArgumentTypeError("blocks", "have distances, parameters and sizes of their own")
        if not isinstance(blocks, (list, tuple)):
            raise ArgumentTypeError(
                "blocks", f"must be a list of Block, got {type(blocks).__name__}"
            )
        if not blocks:
            raise ArgumentError("blocks", "is empty; at least one is needed")
        for i, block in enumerate(blocks):
            if not isinstance(block, Block):
                raise ArgumentTypeError("blocks", f"must be a Block, got {type(block).__name__}", i)
        return [block.distance for block in blocks]
    if not isinstance(distance, (list, tuple)):
        return [distance]
    if not distance:
        raise ArgumentError("distance", "is an empty list; at least one is needed")
    for i, one in enumerate(distance):
        if not (isinstance(one, str) or callable(one)):
            raise ArgumentTypeError("distance", f"must be a name or a function, got {one!r}", i)
    return list(distance)


def packed_objects(X: Any, distances: Sequence[Any], name: str = "X") -> Any:
    """Pack objects that the distances can compare; for Python functions anything is an object."""
    if all(map(callable, distances)):
        return X if isinstance(X, Objects) else list_of(name, X)
    objects: Any = X if isinstance(X, StoredObjects) else as_objects(name, X)
    if not len(objects):
        raise ArgumentError(name, "is empty; at least two labelled objects are needed")
    for distance in distances:
        if distance is not None and not isinstance(distance, str):
            continue
        row = find_distance(usual_distance(objects.kind) if distance is None else distance)
        check_kind(row, name, objects.kind)
        row.check_lengths(name, objects)
    return objects


def packed_records(
    X: Any, blocks: Any, distance: Any, R: int | None, params: Mapping[str, Any]
) -> tuple[Records, dict[str, list[Any]]]:
    """Pack records; return them, and the distances of each column of objects."""
    check_choices(blocks, None if isinstance(distance, Mapping) else distance, R, params)
    records = training_records(X)
    distances = distances_of_columns(records, distance, blocks, params)
    for name, some in distances.items():
        check_choices(None, [one for one in some if one is not None] or None, None, {})
        with naming_rows(records[name].missing):
            packed_objects(records[name].values, some, f"X[{name!r}]")
    return records, distances


def check_size(n: int, R: int, k: int, keep_sums: bool = False) -> None:
    """Refuse a model that does not fit; the error names the largest R that does.

    R is 0 if the number of features is not known yet.
    """
    if not R:
        return
    rows = min(n, block_rows(R))

    def needed(size: int) -> int:
        products = max(n, size) if keep_sums else n
        return (64 * min(products, size) + 20 * rows + 40 * k) * size

    limit = memory.memory_limit()
    if limit is not None and needed(R) > limit:
        largest = max(1, bisect_right(range(1, min(R, _SIZES)), limit, key=needed))
        what = f"training with R = {R} features"
        memory.check_fits(needed(R), what, f"the largest R that fits is about {largest}")
