# SPDX-License-Identifier: BSD-3-Clause
"""Tables: named columns of any container, typed when they are needed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from d2ke._base.errors import ArgumentError, ArgumentTypeError
from d2ke.objects.column_names import INDEX
from d2ke.objects.columns import type_column
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
    places : sequence of str, optional
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
        places: Sequence[str] | None = None,
        heads: Mapping[str, Any] | None = None,
        argument: bool = False,
        index: str | None = None,
    ):
        self.path, self.source, self.places, self._argument = path, source, places, argument
        self._heads, self.index = heads or {}, index
        self.names = list(source)
        self.typed = lru_cache(None)(self._typed)

    def is_index(self, name: str) -> bool:
        """Return whether a column is an index that pandas wrote, which is no channel."""
        return name == self.index or INDEX.fullmatch(name) is not None

    def where(self, row: int, name: str) -> str:
        """Name a place for an error."""
        place = f"row {row}" if self.places is None else self.places[row]
        return f"{self.path}, {place}, column {name!r}"

    def head(self, name: str) -> Typed:
        """Return a typed column of which only the use counts."""
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
