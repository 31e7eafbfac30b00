# SPDX-License-Identifier: BSD-3-Clause
"""Labelled records of several columns of tables: comma- and tab-separated, Parquet, Feather."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from d2ke._base.checks import file_path
from d2ke._base.errors import ArgumentError
from d2ke.io.columns import LABELS, NOTHING, Columns, LabelledObjects, find_usual
from d2ke.io.delimited import Table, open_table, read_labels
from d2ke.io.frames import read_arrow
from d2ke.io.parquet import labels_of_column
from d2ke.io.text import finite_numbers, is_gap, looks_numeric
from d2ke.objects.record_packing import categories, pack_records

_DELIMITED = (".csv", ".tsv", ".csv.gz", ".tsv.gz")
_ARROW = (".parquet", ".feather")


def read_records(
    file: str | os.PathLike[str],
    names: Sequence[str],
    labels: str | None = None,
    of_categories: Collection[str] = (),
    kinds: Mapping[str, str] | None = None,
    earlier: str | None = None,
) -> LabelledObjects:
    """Read the named columns of a table as records, and a column of labels if it has one.

    `kinds` are those of a model's columns, and `earlier` was its column of labels. Without them, a
    column of text is one of numbers if all of its fields are; where `of_categories` names it, it is
    one of categories. Empty fields are missing entries, and of numbers NA, nan and the like too.
    """
    path = file_path("file", file)
    kinds = dict.fromkeys(of_categories, "categories") | dict(kinds or {})
    suffix = next((end for end in (*_DELIMITED, *_ARROW) if path.name.lower().endswith(end)), "")
    if not suffix:
        raise ValueError(f"{path} must end in {', '.join(_DELIMITED + _ARROW)} to have columns")
    wanted = Columns(tuple(names), labels)
    table: Any
    if suffix in _DELIMITED:
        table = open_table(path, wanted, NOTHING)
        available = table.names
    else:
        table = read_arrow(path, suffix)
        available = table.column_names
        wanted.check(path, available, "column")
    if labels is None:
        others = [name for name in available if name not in names]
        found = others.index(earlier) if earlier in others else find_usual(others, LABELS)
        labels = None if found is None else others[found]
    unused = tuple(name for name in available if name and name not in (*names, labels))
    columns = Columns(tuple(names), labels, unused=unused)
    written = None
    if isinstance(table, Table):
        packed = {name: _fields(table, name, kinds.get(name)) for name in names}
        number = None if labels is None else table.names.index(labels)
        known, written = read_labels(table, number, range(len(table.rows)))
    else:
        packed = {
            name: categories(table[name]) if kinds.get(name) == "categories" else table[name]
            for name in names
        }
        known = None if labels is None else labels_of_column(path, labels, table[labels])
    return LabelledObjects(pack_records(packed, name=str(path)), known, None, columns, written)


def check_categories(names: Sequence[str], of_categories: Sequence[str]) -> None:
    """Refuse categories that are no columns."""
    for name in of_categories:
        if name not in names:
            raise ArgumentError("categories", f"names {name!r}, which is not among the columns")


def _fields(table: Table, name: str, kind: str | None) -> Any:
    """Return a column of text, or of the numbers that it stands for."""
    number = table.names.index(name)
    fields = table.column(number)
    if kind == "numbers" or (kind is None and looks_numeric(fields)):
        rows = [row for row, field in enumerate(fields) if not is_gap(field)]
        values = np.full(len(fields), np.nan)
        values[rows] = finite_numbers(
            lambda i: table.where(rows[i], number), [fields[row] for row in rows]
        )
        return values
    texts = [field or None for field in fields]
    return categories(texts) if kind == "categories" else texts
