# SPDX-License-Identifier: BSD-3-Clause
"""Dicts of columns and data frames packed into Records."""

from __future__ import annotations

import numbers
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from decimal import Decimal
from typing import Any

import numpy as np

from d2ke._base.errors import ArgumentError, ArgumentTypeError
from d2ke.objects.container import Objects
from d2ke.objects.packing import as_objects, list_of
from d2ke.objects.records import Column, Records
from d2ke.objects.values import column_names

_CATEGORICAL = ("category", "Categorical", "Enum", "dictionary<")  # of pandas, polars, pyarrow
_NAMES = ("NAType", "NaTType")  # of what pandas has in the place of a missing entry
_BOOLEANS = (bool, np.bool_)
_LABELS = (str, numbers.Real, np.bool_)


def pack_records(columns: Any, *, name: str = "columns") -> Records:
    """Pack rows of several objects each.

    Parameters
    ----------
    columns : mapping of str to sequence, data frame of pandas or polars, or table of pyarrow
        The columns, of one length. What a column is, its entries say:

        - booleans, and columns of a categorical type (pandas category, polars Categorical and
          Enum, Arrow dictionaries) are categories, and so is what `categories` returns;
        - numbers are numbers, also of one array of shape (n,);
        - all else is objects, as `pack` reads them: text is strings, however few values there are.

        None, NaN, ``pandas.NA`` and nulls are missing entries.
    name : str
        What errors call the argument.

    Returns
    -------
    Records
        The columns in their order.

    Raises
    ------
    TypeError, ValueError
        No columns, columns of different lengths, entries that no column can hold beside the others;
        errors name column, row and value.

    See Also
    --------
    pack : one column of objects.
    categories : says that a column is one of categories.

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
    """
    if isinstance(columns, Records):
        return columns
    if not is_table(columns):
        raise ArgumentTypeError(
            name, f"must be a dict of columns or a data frame, got {type(columns).__name__}"
        )
    if not hasattr(columns, "__len__") or type(columns).__module__.startswith("dask"):
        raise ArgumentTypeError(
            name, f"is a {type(columns).__name__}, which is not in memory: collect or compute it"
        )
    names = list(columns) if isinstance(columns, Mapping) else column_names(columns)
    if not names:
        raise ArgumentError(name, "has no columns; at least one is needed")
    packed: dict[str, Column] = {}
    for own in names:
        if not isinstance(own, str) or not own:
            raise ArgumentTypeError(
                name,
                f"has a column named {own!r}; names are strings. If each row is a series, give "
                "an array, such as df.to_numpy()",
            )
        if names.count(own) > 1:
            raise ArgumentError(name, f"has two columns named {own!r}")
        packed[own] = _column(columns[own], f"{name}[{own!r}]")
        if len(packed[own]) != len(packed[names[0]]):
            raise ArgumentError(
                f"{name}[{own!r}]",
                f"has {len(packed[own])} rows, but {name}[{names[0]!r}] has "
                f"{len(packed[names[0]])}",
            )
    return Records(packed)


def categories(values: Any) -> Column:
    """Return a column of `pack_records` whose entries are labels of categories.

    Parameters
    ----------
    values : sequence of length n
        Text, numbers or booleans; None, NaN and nulls are missing entries. Labels are compared as
        text: 1, 1.0 and "1" are one label.

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
    return _categories(*_entries(values, "values"), "values")


def is_table(X: Any) -> bool:
    """Tell records, and what `pack_records` makes them of, from a sequence of objects."""
    return isinstance(X, (Records, Mapping)) or hasattr(type(X), "columns")


def as_categories(column: Column, name: str) -> Column:
    """Return a column of text or numbers as one of categories, where a model knows that it is."""
    if column.kind in ("missing", "categories"):
        return column
    if column.kind == "strings" or not isinstance(column.values, Objects):
        return _categories(list(column.values), column.missing, name)
    raise ArgumentTypeError(name, f"holds {column.kind}; labels of categories are needed")


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


def _column(items: Any, name: str) -> Column:
    """Decide by the entries what a column is, and pack these."""
    if isinstance(items, Column):
        return items
    if is_table(items):
        raise ArgumentTypeError(name, f"is a {type(items).__name__}; one column is needed")
    entries, missing = _entries(items, name)
    if missing.all():
        return Column(None, missing)
    kind = "categories" if _is_categorical(items) else _kind(entries)
    if kind == "categories":
        return _categories(entries, missing, name)
    if kind == "numbers":
        return _numbers(entries, missing, name)
    if kind == "dates":
        raise ArgumentTypeError(name, "holds dates; turn them into numbers first")
    with naming_rows(missing):
        objects = as_objects(name, entries)
    return Column(objects, missing)


def _entries(items: Any, name: str) -> tuple[Any, np.ndarray]:
    """Return the entries that are there, and which rows have none."""
    if isinstance(items, Objects):
        return items, np.zeros(len(items), bool)
    if isinstance(items, np.ndarray) and items.dtype.kind not in "OT":
        missing = np.zeros(len(items), bool)
        if items.ndim == 1 and items.dtype.kind in "fmM":
            missing = np.isnan(items) if items.dtype.kind == "f" else np.isnat(items)
        return items[~missing], missing
    if hasattr(items, "isna"):  # of pandas
        missing = np.asarray(items.isna(), bool)
        entries = items[~missing]
        return (entries.tolist() if entries.dtype == object else entries), missing
    if hasattr(items, "drop_nulls"):  # of polars
        missing = np.asarray(items.is_null(), bool)
        entries = items.drop_nulls()
        return (entries.to_list() if str(entries.dtype) == "Object" else entries), missing
    if hasattr(items, "drop_null"):  # of pyarrow
        return items.drop_null(), np.asarray(items.is_null(), bool)
    entries = list_of(name, items)
    missing = np.array([_is_missing(entry) for entry in entries])
    return [entry for entry, none in zip(entries, missing, strict=True) if not none], missing


def _is_missing(entry: Any) -> bool:
    if entry is None or type(entry).__name__ in _NAMES:
        return True
    return isinstance(entry, (float, np.floating)) and bool(np.isnan(entry))


def _kind(entries: Any) -> str:
    """Return "categories", "numbers", "dates", or "objects"."""
    if isinstance(entries, Objects):
        return "objects"
    if isinstance(entries, list):
        if all(isinstance(entry, _BOOLEANS) for entry in entries):
            return "categories"
        return "numbers" if isinstance(entries[0], (numbers.Real, Decimal)) else "objects"
    # A slice of pandas may go by labels.
    first = np.asarray(entries.head(1) if hasattr(entries, "head") else entries[:1])
    if first.ndim != 1:
        return "objects"
    if first.dtype.kind == "O" and isinstance(first[0], (numbers.Real, Decimal)):
        return "categories" if isinstance(first[0], _BOOLEANS) else "numbers"
    of_dtype = {"b": "categories", "M": "dates", "m": "dates"} | dict.fromkeys("iuf", "numbers")
    return of_dtype.get(first.dtype.kind, "objects")


def _is_categorical(items: Any) -> bool:
    return str(getattr(items, "dtype", getattr(items, "type", ""))).startswith(_CATEGORICAL)


def _numbers(entries: Any, missing: np.ndarray, name: str) -> Column:
    if isinstance(entries, list):
        rows = np.flatnonzero(~missing)
        for i, entry in enumerate(entries):
            if isinstance(entry, _BOOLEANS) or not isinstance(entry, (numbers.Real, Decimal)):
                raise ArgumentTypeError(
                    name, f"is {entry!r} in a column of numbers, as {entries[0]!r} is one", rows[i]
                )
    values = np.asarray(entries, np.float64)
    nan = np.isnan(values)  # nulls of polars and pyarrow are no NaN
    if nan.any():
        missing = missing.copy()
        missing[np.flatnonzero(~missing)[nan]] = True
        values = values[~nan]
        if not len(values):
            return Column(None, missing)
    infinite = np.flatnonzero(np.isinf(values))
    if infinite.size:
        row = np.flatnonzero(~missing)[infinite[0]]
        raise ArgumentError(name, f"is {values[infinite[0]]}; numbers must be finite", row)
    return Column(values, missing)


def _categories(entries: Any, missing: np.ndarray, name: str) -> Column:
    if not isinstance(entries, list):
        entries = entries.tolist() if hasattr(entries, "tolist") else list_of(name, entries)
    labels = []
    for i, entry in enumerate(entries):
        if not isinstance(entry, _LABELS):
            row = np.flatnonzero(~missing)[i]
            raise ArgumentTypeError(
                name, f"is {entry!r}; a category is text, a number or a boolean", row
            )
        number = float(entry) if isinstance(entry, (float, np.floating)) else 0.5
        labels.append(str(int(number)) if number.is_integer() else str(entry))
    return Column(np.array(labels, str) if labels else None, missing)
