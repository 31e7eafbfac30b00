# SPDX-License-Identifier: BSD-3-Clause
"""Ids: the names of objects, from a sequence, a column or the index of pandas."""

from __future__ import annotations

from typing import Any

import numpy as np

from d2ke._base.errors import ArgumentError, ArgumentTypeError
from d2ke.objects.columns import type_column
from d2ke.objects.container import with_ids
from d2ke.objects.records import Records
from d2ke.objects.tables import is_table


def read_ids(ids: Any, n: int | None, name: str = "ids", of: str = "items") -> np.ndarray:
    """Return the names of n objects: int64 if all are whole numbers, else text.

    Objects and Records stand for the ids that they have. For an `n` of None, any number is right.
    """
    if hasattr(ids, "columns") or hasattr(ids, "letters"):
        held = getattr(ids, "ids", None)
        if held is None:
            what = "has no ids; name one of its columns" if is_table(ids) else "has no ids"
            raise ArgumentError(name, f"is a {type(ids).__name__} that {what}")
        ids = held
    elif isinstance(ids, str):
        raise ArgumentTypeError(name, f"must be a sequence of names, got {ids!r}")
    names = type_column(ids, name).ids()
    if n not in (None, len(names)):
        raise ArgumentError(name, f"has {len(names)} names, but {of} has {n} rows")
    return names


def named(items: Any, ids: np.ndarray | None) -> Any:
    """Return Objects or Records with these ids; for None, as they are."""
    if ids is None:
        return items
    return Records(items.columns, ids) if isinstance(items, Records) else with_ids(items, ids)


def index_level(items: Any) -> Any:
    """Return the index of a column or a frame of pandas if it names the rows, else None.

    An index of several levels does not, nor does the usual one, which counts the rows from 0.
    """
    of_pandas = type(items).__module__.partition(".")[0] == "pandas"
    index = getattr(items, "index", None) if of_pandas else None
    if index is None or index.nlevels > 1:
        return None
    usual = type(index).__name__ == "RangeIndex" and (index.start, index.step) == (0, 1)
    return None if usual else index


def arrow_index(table: Any) -> str | None:
    """Return the column of a table of pyarrow that was the index of a frame of pandas, if one was.

    The usual index, which counts the rows from 0, is no column.
    """
    metadata = getattr(getattr(table, "schema", None), "pandas_metadata", None) or {}
    names = metadata.get("index_columns", [])
    return names[0] if len(names) == 1 and names[0] in table.column_names else None


def index_ids(items: Any) -> np.ndarray | None:
    """Return the ids of a column or a frame of pandas: its index, if that names all rows."""
    index = index_level(items)
    if index is None or index.hasnans or not len(index):
        return None
    try:
        return type_column(index.to_series(), "the index").ids()
    except (TypeError, ValueError):  # such as intervals
        return None
