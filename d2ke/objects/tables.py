# SPDX-License-Identifier: BSD-3-Clause
"""Tables: named columns of any container, typed when they are needed, and the names of rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from d2ke._base.errors import ArgumentError, ArgumentTypeError
from d2ke.objects.column_names import INDEX
from d2ke.objects.columns import type_column
from d2ke.objects.container import check_ids, with_fields
from d2ke.objects.records import Records
from d2ke.objects.typed import CLOCKS, Typed
from d2ke.objects.values import column_names


class Table:
    """Columns under their names.

    Parameters
    ----------
    path : Path or str
        What errors call the table.
    source : mapping of str to column
        What `type_column` takes.
    row_names : sequence of str, optional
        What errors call the rows, such as lines of a file.
    heads : mapping of str to column, optional
        Columns of the same types without rows, where `source` reads a file on access.
    argument : bool
        Whether `path` is an argument, so that errors carry its name.
    index : str, optional
        The column that was the index of pandas, if it names the rows.
    """

    def __init__(
        self,
        path: Path | str,
        source: Mapping[str, Any],
        row_names: Sequence[str] | None = None,
        heads: Mapping[str, Any] | None = None,
        argument: bool = False,
        index: str | None = None,
    ):
        self.path, self.source, self.row_names, self._argument = path, source, row_names, argument
        self._heads, self.index = heads or {}, index
        self.names = list(source)
        self.typed = lru_cache(None)(self._typed)

    def is_index(self, name: str) -> bool:
        """Return whether a column is an index that pandas wrote, not a channel."""
        return name == self.index or INDEX.fullmatch(name) is not None

    def where(self, row: int, name: str) -> str:
        """Return the name of a row's entry in errors."""
        row_name = f"row {row}" if self.row_names is None else self.row_names[row]
        return f"{self.path}, {row_name}, column {name!r}"

    def head(self, name: str) -> Typed:
        """Return a typed column for its use only."""
        if name in self._heads:
            return type_column(self._heads[name], name)
        return self.typed(name)

    def _typed(self, name: str, needed: str = "") -> Typed:
        """Return a typed column, see `type_column`; numbers are refused where clocks are needed."""
        if self._argument:
            return type_column(self.source[name], f"{self.path}[{name!r}]", needed)
        title = f"{self.path}, column {name!r}"
        typed = type_column(self.source[name], title, needed, lambda row: self.where(row, name))
        if needed in (*CLOCKS, "durations") and typed.use in ("numbers", "booleans"):
            raise ArgumentTypeError(
                title, f"holds {typed.use}; {needed} are needed, as in training"
            )
        return typed


def is_table(X: Any) -> bool:
    """Return whether X is records or what `pack_records` takes, not a sequence of objects."""
    return isinstance(X, (Records, Mapping)) or hasattr(type(X), "columns")


def columns_of(table: Any, name: str, levels: Collection[str | None] = ()) -> dict[str, Any]:
    """Return the columns of a dict, a data frame or a table of pyarrow.

    Those `levels` of the index of pandas come before the columns, as in a file of the frame.
    """
    if not hasattr(table, "__len__") or type(table).__module__.startswith("dask"):
        raise ArgumentTypeError(
            name, f"is a {type(table).__name__}, which is not in memory: collect or compute it"
        )
    index = [level for level in getattr(getattr(table, "index", None), "names", ()) if level]
    named = [level for level in index if level in levels and level not in list(table)]
    if named:
        table = table.reset_index(level=named)
    names = list(table if isinstance(table, Mapping) else column_names(table))
    if not names:
        raise ArgumentError(name, "has no columns; at least one is needed")
    counts = Counter(map(str, names))
    for column_name in names:
        if not isinstance(column_name, str):
            raise ArgumentTypeError(
                name,
                f"has a column named {column_name!r}; names are strings. If each row is a series, "
                "give an array, such as df.to_numpy()",
            )
        if counts[column_name] > 1:
            raise ArgumentError(name, f"has two columns named {column_name!r}")
    return {column_name: table[column_name] for column_name in names}


def check_lengths(lengths: Mapping[str, int], name: str) -> None:
    """Refuse columns of different lengths."""
    first = next(iter(lengths))
    for column_name, length in lengths.items():
        if length != lengths[first]:
            raise ArgumentError(
                f"{name}[{column_name!r}]",
                f"has {length} rows, but {name}[{first!r}] has {lengths[first]}",
            )


def read_ids(ids: Any, n: int | None, name: str = "ids", of: str = "items") -> np.ndarray:
    """Return the names of n objects: int64 if all are whole numbers, else text.

    Objects and Records stand for their ids. If `n` is None, any number is right.
    """
    if hasattr(ids, "columns") or hasattr(ids, "letters"):
        values = getattr(ids, "ids", None)
        if values is None:
            what = "has no ids; name one of its columns" if is_table(ids) else "has no ids"
            raise ArgumentError(name, f"is a {type(ids).__name__} that {what}")
        ids = values
    elif isinstance(ids, str):
        raise ArgumentTypeError(name, f"must be a sequence of names, got {ids!r}")
    names = type_column(ids, name).ids()
    if n not in (None, len(names)):
        raise ArgumentError(name, f"has {len(names)} names, but {of} has {n} rows")
    return names


def with_ids(items: Any, ids: np.ndarray | None) -> Any:
    """Return Objects or Records with these ids, without a copy; for None, unchanged."""
    if ids is None:
        return items
    if isinstance(items, Records):
        return Records(items.columns, ids)
    check_ids(ids, len(items))
    return with_fields(items, ids=ids)


def index_level(items: Any) -> Any:
    """Return the index of a column or a frame of pandas if it names the rows, else None.

    An index of several levels does not, nor does the usual one, which counts the rows from 0.
    """
    in_pandas = type(items).__module__.partition(".")[0] == "pandas"
    index = getattr(items, "index", None) if in_pandas else None
    if index is None or index.nlevels > 1:
        return None
    usual = type(index).__name__ == "RangeIndex" and (index.start, index.step) == (0, 1)
    return None if usual else index


def arrow_index(table: Any) -> str | None:
    """Return the column of a table of pyarrow that was the index of a frame of pandas, if any.

    The default index, which counts the rows from 0, is not stored as a column.
    """
    metadata = getattr(getattr(table, "schema", None), "pandas_metadata", None) or {}
    names = metadata.get("index_columns", [])
    return names[0] if len(names) == 1 and names[0] in table.column_names else None


def index_ids(items: Any) -> np.ndarray | None:
    """Return the index of a column or a frame of pandas if it names all rows."""
    index = index_level(items)
    if index is None or index.hasnans or not len(index):
        return None
    try:
        return type_column(index.to_series(), "the index").ids()
    except (TypeError, ValueError):  # such as intervals
        return None
