# SPDX-License-Identifier: BSD-3-Clause
"""Dicts of columns and data frames packed into Records."""

from __future__ import annotations

import numbers
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from decimal import Decimal
from typing import Any

import numpy as np

from d2ke._base.errors import ArgumentError, ArgumentTypeError
from d2ke._base.keywords import hinted
from d2ke._base.text import listed
from d2ke.objects.columns import type_column
from d2ke.objects.compatibility import fill_gaps
from d2ke.objects.container import Objects, StoredObjects
from d2ke.objects.packing import as_objects
from d2ke.objects.records import Column, Records
from d2ke.objects.tables import check_lengths, columns_of, index_ids, is_table, read_ids, with_ids
from d2ke.objects.typed import Typed


@hinted
def pack_records(columns: Any, *, ids: Any = None, name: str = "columns") -> Records:
    """Pack rows of several objects each.

    Parameters
    ----------
    columns : mapping of str to sequence, data frame of pandas or polars, or table of pyarrow
        The columns, of one length. Their entries decide what a column is:

        - columns of a categorical type (pandas category, polars Categorical and Enum, Arrow
          dictionaries) are categories, and so are the columns that `categories` returns;
        - numbers, decimals and booleans are numbers, also of one array of shape (n,);
        - dates are days since 1970-01-01, times seconds since 1970-01-01 UTC (times without a
          zone count as UTC), durations and times of a day seconds;
        - all else is objects, as `pack` reads them: text is strings, however few values there are.

        None, NaN, ``pandas.NA``, nulls and, among text, the empty text are missing entries.
    ids : str, or sequence of int or str, shape (n,), optional
        The names of the rows, kept as the attribute ``ids``, or their column, which is then
        not a column of the records. They need not differ. Default: ids of `Records`, and the index
        of a frame of pandas, unless it counts the rows from 0, has several levels or a gap.
    name : str
        What errors call the argument.

    Returns
    -------
    Records
        The columns in their order.

    Raises
    ------
    TypeError, ValueError
        No columns, columns of different lengths, entries of types that do not mix,
        whole numbers that float64 cannot hold, columns of other types (intervals, structs); a
        missing id; errors name column, row and value.

    See Also
    --------
    pack : one column of objects.
    categories : marks a column as categories.

    Examples
    --------
    >>> import d2ke
    >>> tracks = [[[0.0, 1.0], [0.5, 1.5]], [[3.0, 3.0]], None]
    >>> table = {"name": ["Ada", "Bo", "Cy"], "track": tracks, "age": [36, 41, 51]}
    >>> people = d2ke.pack_records(table)
    >>> people["track"].values.lengths, people["track"].missing
    (array([2, 1]), array([False, False,  True]))
    >>> people[1:]["age"].values
    array([41., 51.])
    >>> people = d2ke.pack_records(table, ids="name")
    >>> people, people[1:].ids.tolist()
    (<3 records: track (series, 1 missing), age (numbers)>, ['Bo', 'Cy'])
    """
    if not isinstance(ids, str):
        records = pack_table(columns, name, {})
        names = index_ids(columns) if ids is None else read_ids(ids, len(records), of=name)
        packed: Records = with_ids(records, names)
        return packed
    table = columns_of(columns, name) if is_table(columns) else {}
    if ids not in table:
        raise ArgumentError("ids", f"must name one of the columns [{listed(table)}], got {ids!r}")
    names = type_column(table.pop(ids), f"{name}[{ids!r}]").ids()
    records = pack_table(table, name, {})
    return Records(records.columns, names)


@hinted
def categories(values: Any) -> Column:
    """Return a column of `pack_records` whose entries are labels of categories.

    Parameters
    ----------
    values : sequence of length n
        Text, numbers or booleans; None, NaN, nulls and "" are missing entries. Labels are
        compared as text: 1, 1.0 and "1" are one label.

    Returns
    -------
    Column
        For `pack_records` and whatever takes the same.

    Raises
    ------
    TypeError, ValueError
        Something else, or nothing.

    Examples
    --------
    >>> import d2ke
    >>> city = d2ke.categories(["Rome", "Oslo", None, "Rome"])
    >>> d2ke.pack_records({"name": ["Ada", "Bo", "Cy", "Di"], "city": city})
    <4 records: name (strings), city (categories, 1 missing)>
    """
    return column_of(type_column(values, "values", "categories"))


def pack_table(columns: Any, name: str, kinds: Mapping[str, str], missing: bool = False) -> Records:
    """Pack the columns of `pack_records`; `kinds` are a model's, see `type_column`.

    Series may have NaN if values may be `missing`.
    """
    if isinstance(columns, Records):
        return columns
    if not is_table(columns):
        raise ArgumentTypeError(
            name, f"must be a dict of columns or a data frame, got {type(columns).__name__}"
        )
    packed = {}
    for column_name, items in columns_of(columns, name).items():
        where = f"{name}[{column_name!r}]"
        if not column_name:
            raise ArgumentError(name, "has a column without a name")
        if is_table(items):
            raise ArgumentTypeError(where, f"is a {type(items).__name__}; one column is needed")
        packed[column_name] = items
        if not isinstance(items, Column):
            typed = type_column(items, where, kinds.get(column_name, ""))
            packed[column_name] = column_of(typed, missing)
    check_lengths({column_name: len(column) for column_name, column in packed.items()}, name)
    return Records(packed)


def fill_missing(
    X: Any, name: str, kinds: Mapping[str, str] | None = None, kind: str = "series"
) -> tuple[Any, dict[str, Any]]:
    """Pack objects of a kind, or records, and fill in missing values of series, see `fill_gaps`."""
    if isinstance(X, StoredObjects):
        raise ArgumentTypeError("missing", f"fills series in memory only, but {name} is a file")
    if not is_table(X):
        kind = X.kind if isinstance(X, Objects) and X.base == "series" else kind
        return fill_gaps(as_objects(name, X, kind, missing=True), name)
    records = pack_table(X, name, kinds or {}, missing=True)
    columns, total = dict(records.columns), {"rule": "interpolate", "values": 0, "series": 0}
    for column_name, column in columns.items():
        if isinstance(column.values, Objects) and column.values.missing:
            filled, counts = fill_gaps(column.values, f"{name}[{column_name!r}]")
            columns[column_name] = replace(column, values=filled)
            total |= {what: total[what] + counts[what] for what in ("values", "series")}
    return Records(columns, records.ids), total


def as_categories(column: Column, name: str) -> Column:
    """Return a column of text or numbers as categories, as a model needs."""
    if column.kind in ("missing", "categories"):
        return column
    if not isinstance(column.values, Objects) or column.values.has_letters:
        return _categories(list(column.values), column.missing, name)
    raise ArgumentTypeError(name, f"holds {column.kind}; labels of categories are needed")


def as_text(column: Column, name: str) -> Column:
    """Return plain numbers and categories as strings, any other column unchanged."""
    if column.kind != "categories" and not (column.kind == "numbers" and column.use == "numbers"):
        return column
    categories = as_categories(column, name)
    return Column(as_objects(name, categories.values.tolist()), categories.missing)


@contextmanager
def naming_rows(missing: np.ndarray) -> Iterator[None]:
    """Let errors about an entry of a column name its row."""
    try:
        yield
    except (ArgumentError, ArgumentTypeError) as error:
        if not isinstance(error.index, int) or not missing.any():
            raise
        row = np.flatnonzero(~missing)[error.index]
        raise type(error)(error.argument, error.problem, row) from None


def column_of(typed: Typed, gaps: bool = False) -> Column:
    """Pack a typed column, whose series may have `gaps`, NaN. Empty text is missing."""
    name, missing = typed.name, typed.missing
    if not len(missing):
        raise ArgumentError(name, "is empty: at least one row is needed")
    if typed.use == "missing":
        return Column(None, missing)
    if typed.use == "categories":
        return _categories(typed.values, missing, name)
    if typed.use == "objects":
        with naming_rows(missing):
            objects = as_objects(name, typed.values, missing=gaps)
        empty = objects.lengths == 0
        if objects.letters not in ("str", "bytes") or not empty.any():
            return Column(objects, missing)
        without = missing.copy()
        without[~missing] = empty
        return Column(None if empty.all() else objects[~empty], without)
    if typed.use == "other":
        raise typed.refuse("strings, series, numbers, dates or categories are needed")
    return Column(typed.numbers(), missing, typed.use)


def _categories(entries: Any, missing: np.ndarray, name: str) -> Column:
    labels, gaps = [], missing.copy()
    gaps[~missing] = empty = [isinstance(entry, str) and not entry for entry in entries]
    entries = [entry for entry, gap in zip(entries, empty, strict=True) if not gap]
    missing = gaps
    for i, entry in enumerate(entries):
        if not isinstance(entry, (str, numbers.Real, Decimal, np.bool_)):
            row = np.flatnonzero(~missing)[i]
            raise ArgumentTypeError(
                name, f"is {entry!r}; a category is text, a number or a boolean", row
            )
        number = float(entry) if isinstance(entry, (float, np.floating, Decimal)) else 0.5
        labels.append(str(int(number)) if number.is_integer() else str(entry))
    return Column(np.array(labels, str) if labels else None, missing)
