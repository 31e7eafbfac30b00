# SPDX-License-Identifier: BSD-3-Clause
"""Records: rows of several objects each, packed column by column."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from d2ke._base.errors import ArgumentError, ArgumentTypeError
from d2ke.objects.compatibility import concatenate, join_ids
from d2ke.objects.container import Objects, check_ids, span_of
from d2ke.objects.typed import NOTES

_SHOWN = 20  # columns of a repr


@dataclass(frozen=True, eq=False)
class Column:
    """One column of `Records`: the entries that are there, and which rows have none.

    Attributes
    ----------
    values : Objects, ndarray of float64, ndarray of str, or None
        The entries that are there, in the order of the rows: objects, numbers or labels of
        categories. None if no row has any.
    missing : ndarray of bool, shape (n,)
        The rows without an entry.
    use : str
        What the numbers are, if not plain numbers: "booleans", "dates" (days since 1970-01-01),
        "times" (seconds since 1970-01-01 UTC), "naive times" (without a zone, which count as UTC)
        or "durations" (seconds).
    """

    values: Any
    missing: np.ndarray
    use: str = ""

    @property
    def kind(self) -> str:
        """The kind of the objects, or "numbers", "categories" or "missing"."""
        if self.values is None:
            return "missing"
        if isinstance(self.values, Objects):
            return self.values.kind
        return "categories" if self.values.dtype.kind == "U" else "numbers"

    @cached_property
    def rows(self) -> np.ndarray:
        """The rows with an entry, int64."""
        return np.flatnonzero(~self.missing)

    def __len__(self) -> int:
        return len(self.missing)

    def span(self, start: int, stop: int) -> Column:
        """Entries of rows from `start` to before `stop`, in the same memory."""
        first, last = np.searchsorted(self.rows, (start, stop)).tolist()
        values = None if self.values is None else span_of(self.values, first, last)
        return Column(values, self.missing[start:stop], self.use)

    def take(self, rows: np.ndarray) -> Column:
        """Entries of some rows, in their order."""
        missing = self.missing[rows]
        indices = np.searchsorted(self.rows, rows[~missing])
        return Column(None if self.values is None else self.values[indices], missing, self.use)

    def entry(self, row: int) -> Any:
        """Return the entry of one row, None if it is missing."""
        if self.missing[row]:
            return None
        value = self.values[int(np.searchsorted(self.rows, row))]
        return value.item() if isinstance(value, np.generic) else value

    def __repr__(self) -> str:
        n = int(self.missing.sum())
        contents = NOTES.get(self.use, self.kind).partition(", in ")[0]
        if isinstance(self.values, Objects):
            contents = repr(self.values).strip("<>")
        return f"<{len(self)} rows: {contents}{f', {n} rows without' * bool(n and contents)}>"


class Records:
    """n rows of several objects each: named columns of objects, numbers or categories.

    Made by `pack_records`. A column holds its entries and marks the rows without one.

    Attributes
    ----------
    columns : dict of str to Column
        In order. ``records["name"]`` is ``records.columns["name"]``.
    ids : ndarray of int64 or str, shape (n,), or None
        The names of the rows, as in `Objects`; slices and index arrays keep them.

    Examples
    --------
    >>> import d2ke
    >>> records = d2ke.pack_records({"name": ["Ada", "Bo", None], "age": [36, None, 51]})
    >>> records
    <3 records: name (strings, 1 missing), age (numbers, 1 missing)>
    >>> records["age"].values, records["age"].rows
    (array([36., 51.]), array([0, 2]))
    >>> records[1]
    {'name': 'Bo', 'age': None}
    >>> records[[2, 0]][0]
    {'name': None, 'age': 51.0}
    """

    __slots__ = ("_n", "columns", "ids")

    columns: dict[str, Column]
    ids: np.ndarray | None

    def __init__(self, columns: Mapping[str, Column], ids: np.ndarray | None = None):
        sizes = {name: len(column) for name, column in columns.items()}
        if len(set(sizes.values())) != 1:
            raise ArgumentError("columns", f"must be of one length, got {sizes}")
        self.columns, self._n = dict(columns), next(iter(sizes.values()))
        self.ids = ids
        if ids is not None:
            check_ids(ids, self._n)

    @property
    def kind(self) -> str:
        """The kind of each row: "records"."""
        return "records"

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of rows and columns."""
        return self._n, len(self.columns)

    def __len__(self) -> int:
        return self._n

    def __iter__(self) -> Iterator[str]:
        return iter(self.columns)

    def __getitem__(self, index: Any) -> Any:
        """Return a column by its name, a row as a dict, or Records of a slice or an index array."""
        if isinstance(index, tuple) and len(index) == 2 and index[1] is Ellipsis:
            index = index[0]  # as scikit-learn cuts arrays
        if isinstance(index, str):
            return self.columns[index]
        if not isinstance(index, slice) and np.ndim(index) == 0:
            row = range(self._n)[index]
            return {name: column.entry(row) for name, column in self.columns.items()}
        rows = np.arange(self._n)[index if isinstance(index, slice) else np.asarray(index)]
        columns = {name: column.take(rows) for name, column in self.columns.items()}
        return Records(columns, None if self.ids is None else self.ids[rows])

    def span(self, start: int, stop: int) -> Records:
        """Rows from `start` to before `stop`; unlike a slice, they share the memory."""
        columns = {name: column.span(start, stop) for name, column in self.columns.items()}
        return Records(columns, None if self.ids is None else self.ids[start:stop])

    def __repr__(self) -> str:
        columns = []
        for name, column in list(self.columns.items())[:_SHOWN]:
            n = int(column.missing.sum())
            contents = NOTES.get(column.use, column.kind).partition(", in ")[0]
            columns.append(f"{name} ({contents}{f', {n} missing' * (0 < n < len(self))})")
        if len(self.columns) > _SHOWN:
            columns.append(f"and {len(self.columns) - _SHOWN} more columns")
        return f"<{len(self)} records: {', '.join(columns)}>"


_PLAIN = ("", "numbers", "booleans")  # uses of numbers without a unit


def check_use(name: str, use: str, needed: str, other: str) -> None:
    """Refuse units that differ from another column's; plain numbers go with all."""
    use, needed = use.removeprefix("naive "), needed.removeprefix("naive ")
    if use != needed and use not in _PLAIN:
        other_use = "numbers" if needed in _PLAIN else needed
        raise ArgumentTypeError(name, f"holds {use}, but {other} has {other_use} there")


def join(collections: Sequence[Any]) -> Any:
    """Return collections end to end: Objects, Records, columns, arrays or lists.

    Records have the same columns. They keep ids as `concatenate` does.
    """
    first = collections[0]
    if len(collections) == 1:
        return first
    if isinstance(first, Objects):
        return concatenate(collections)
    if isinstance(first, Records):
        columns = {name: join([records[name] for records in collections]) for name in first}
        return Records(columns, join_ids(collections))
    if isinstance(first, Column):
        values = [column.values for column in collections if column.values is not None]
        missing = np.concatenate([column.missing for column in collections])
        use = max((column.use for column in collections), key=lambda use: (use not in _PLAIN, use))
        return Column(join(values) if values else None, missing, use)
    if isinstance(first, list):
        return [item for items in collections for item in items]
    return np.concatenate(collections)
