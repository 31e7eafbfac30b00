# SPDX-License-Identifier: BSD-3-Clause
"""The blocks of records: for each column of objects the recipe of its kind, and plain columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from d2ke._base.errors import ArgumentError, ArgumentTypeError
from d2ke.models.blocks import AnyBlock, Block
from d2ke.models.plain_blocks import PLAIN_KINDS, PlainBlock
from d2ke.models.recipes import default_blocks, shares
from d2ke.objects.container import Objects
from d2ke.objects.record_packing import pack_records
from d2ke.objects.records import Records


def training_records(X: Any) -> Records:
    """Pack records to train with: every column has entries, and one holds objects."""
    records = pack_records(X, name="X")
    if not len(records):
        raise ArgumentError("X", "is empty; at least two labelled records are needed")
    for name, column in records.columns.items():
        if column.kind == "missing":
            raise ArgumentError(f"X[{name!r}]", "has no entry in any row; leave the column out")
    if not object_columns(records):
        raise ArgumentError(
            "X",
            f"has no column of objects among its {len(records.columns)}: they hold numbers or "
            "categories. If each row is a series, give an array, df.to_numpy()",
        )
    return records


def object_columns(records: Records) -> list[str]:
    """Return the names of the columns of objects."""
    return [name for name, column in records.columns.items() if isinstance(column.values, Objects)]


def distances_of_columns(
    records: Records, distance: Any, blocks: Sequence[Block] | None, params: Mapping[str, Any]
) -> dict[str, list[Any]]:
    """Return the distances that each column of objects is compared by, None for the usual one."""
    names = object_columns(records)
    if blocks is not None:
        for i, block in enumerate(blocks):
            if block.column not in names:
                raise ArgumentError(
                    "blocks", f"sees the column {block.column!r}; of objects are {names}", i
                )
        return {
            name: [block.distance for block in blocks if block.column == name] for name in names
        }
    if params:
        raise TypeError(
            f"records have no parameters of one distance ({', '.join(params)}); give blocks"
        )
    chosen = {} if distance is None else distance
    if not isinstance(chosen, Mapping):
        if len(names) > 1:
            raise ArgumentTypeError(
                "distance", f"must say of which column, such as {{{names[0]!r}: {distance!r}}}"
            )
        chosen = {names[0]: distance}
    for name in chosen:
        if name not in names:
            raise ArgumentError("distance", f"names the column {name!r}; of objects are {names}")
    several = {name: chosen.get(name) for name in names}
    return {
        name: list(value) if isinstance(value, (list, tuple)) else [value]
        for name, value in several.items()
    }


def record_blocks(
    sample: Records,
    distances: Mapping[str, list[Any]],
    blocks: Sequence[Block] | None,
    R: int | None,
    n: int,
) -> tuple[AnyBlock, ...]:
    """Return the blocks of n records: of objects the given ones, or the recipes of their kinds.

    Columns of objects share R. One without entries in the sample has no blocks.
    """
    chosen: list[AnyBlock] = list(blocks or ())
    sizes = [None] * len(distances) if R is None else shares(R, len(distances))
    for (name, named), size in zip(distances.items(), sizes, strict=True):
        if blocks is not None or size == 0 or not len(sample[name].rows):
            continue
        distance = named[0] if len(named) == 1 else named
        for block in default_blocks(sample[name].values, distance, {}, size, n):
            family = f"{name}: {block.family}" if block.family else name
            chosen.append(replace(block, name=f"{name}: {block.name}", family=family, column=name))
    for name, column in sample.columns.items():
        if column.kind in PLAIN_KINDS and len(column.rows):
            chosen.append(PlainBlock.of(column.kind, name, column))
        if column.kind == "numbers" and len(np.unique(column.values)) > 2:
            chosen.append(PlainBlock.of("near numbers", name, column))
    for name, column in sample.columns.items():
        if column.missing.any():
            chosen.append(PlainBlock.of("missing", name, column))
    return tuple(chosen)
