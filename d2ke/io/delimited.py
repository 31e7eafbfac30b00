# SPDX-License-Identifier: BSD-3-Clause
"""Labelled strings, or series in long tables, of comma- and tab-separated files."""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np

from d2ke._base.errors import ArgumentError
from d2ke._base.files import open_file
from d2ke.io.columns import Columns, FileObjects
from d2ke.io.text import finite_numbers, labels_of_text
from d2ke.objects.packing import pack

LABELS = ("label", "labels", "class", "y", "target")
STRINGS = ("sequence", "string", "text", "objects", "x")
_IDS = ("id", "series", "series_id")
_TIMES = ("time", "t", "step")


@dataclass(frozen=True)
class _Table:
    path: Path
    names: list[str]
    rows: list[list[str]]
    lines: list[int]
    columns: Columns  # those that arguments name

    def where(self, row: int, column: int) -> str:
        return f"{self.path}, line {self.lines[row]}, column {self.names[column]!r}"

    def find(self, argument: str, name: str | None, usual: Sequence[str] = ()) -> int | None:
        """Return the number of a column by its name, or of the first other with a usual name."""
        if name is not None:
            if name not in self.names:
                raise ArgumentError(
                    argument,
                    f"must name a column: {self.path} has no column {name!r}; it has "
                    f"{', '.join(map(repr, self.names))}",
                )
            return self.names.index(name)
        taken = {name for _, name in self.columns.explicit}
        lower = [None if own in taken else own.lower() for own in self.names]
        return next((lower.index(one) for one in usual if one in lower), None)

    def name(self, number: int | None) -> str | None:
        return None if number is None else self.names[number]

    def column(self, number: int) -> list[str]:
        return [row[number] for row in self.rows]


def read_delimited(path: Path, columns: Columns, earlier: Columns) -> FileObjects:
    """Read a table with a header: a string on each row, or a vector of a series on each row.

    It is a long table of series if `columns.ids` is given, or if the values of a column called id,
    series or series_id repeat. Without any name in `columns`, `earlier` names are tried.
    """
    _refuse_shared(path, columns)
    table = _read(path, columns, earlier)
    columns = table.columns
    label = table.find("labels", columns.labels, LABELS)
    ids = table.find("ids", columns.ids, _IDS)
    if ids is not None and (columns.ids or len(set(table.column(ids))) < len(table.rows)):
        return _series(table, columns, ids, label)
    if columns.time is not None:
        raise ArgumentError("time", f"is for series, but no column of ids of {path} repeats")
    number = _strings_column(table, columns, {ids, label})
    for row, text in enumerate(table.column(number)):
        if not text:
            raise ValueError(f"{table.where(row, number)}: the string is empty")
    return FileObjects(
        pack(table.column(number), name=str(path)),
        _labels(table, label, range(len(table.rows))),
        None if ids is None or ids == number else table.column(ids),
        Columns((table.names[number],), table.name(label)),
    )


def _refuse_shared(path: Path, columns: Columns) -> None:
    """Refuse one column for two arguments."""
    for i, (argument, name) in enumerate(columns.explicit):
        for other, before in columns.explicit[:i]:
            if before == name:
                raise ArgumentError(
                    other, f"and {argument} name the same column, {name!r}, of {path}"
                )


def _read(path: Path, columns: Columns, earlier: Columns) -> _Table:
    with open_file(path) as stream:
        content = stream.read()
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise ValueError(f"{path}, line {line} is not UTF-8 text: {error}") from None
    first = text.partition("\n")[0]
    mark = ";" if ";" in first and "," not in first else ","
    if path.suffix.lower() == ".tsv":
        mark = "\t"
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=mark, strict=True)
    names: list[str] = []
    rows, lines = [], []
    limit = csv.field_size_limit(sys.maxsize)  # a string may be long
    try:
        for fields in reader:
            fields = [field.strip() for field in fields]
            if not any(fields):
                continue
            if not names:
                names = fields
                continue
            if len(fields) != len(names):
                raise ValueError(
                    f"{path}, line {reader.line_num}: {len(fields)} fields, but the header has "
                    f"{len(names)}"
                )
            rows.append(fields)
            lines.append(reader.line_num)
    except csv.Error as error:
        raise ValueError(f"{path}, line {reader.line_num}: {error}") from None
    finally:
        csv.field_size_limit(limit)
    twice = next((name for i, name in enumerate(names) if name in names[:i]), None)
    if twice is not None:
        raise ValueError(f"{path}: the header names the column {twice!r} twice")
    if not rows:
        raise ValueError(f"{path} has no rows after its header")
    return _Table(path, names, rows, lines, columns.or_earlier(names, earlier))


def _strings_column(table: _Table, columns: Columns, taken: set[int | None]) -> int:
    """Return the number of the column of strings."""
    if columns.objects is not None:
        if len(columns.objects) != 1:
            raise ArgumentError(
                "objects",
                f"of {table.path} must name one column of strings; several are for series, which "
                "need a column of ids",
            )
        return table.find("objects", columns.objects[0])
    left = [i for i in range(len(table.names)) if i not in taken]
    usual = table.find("objects", None, STRINGS)
    if usual in left:
        return usual
    if len(left) == 1:
        return left[0]
    names = ", ".join(repr(table.names[i]) for i in left) or "no column"
    raise ArgumentError(
        "objects",
        f"of {table.path} must name the column of strings, one of {names}, and labels must name "
        "that of labels, if there is one; for a long table of series, ids must name a column that "
        "says which series a row is of",
    )


def _series(table: _Table, columns: Columns, ids: int, label: int | None) -> FileObjects:
    """Return the series of a long table, in the order in which they first appear."""
    time = table.find("time", columns.time, _TIMES)
    if columns.objects is None:
        values = [i for i in range(len(table.names)) if i not in (ids, label, time)]
    else:
        values = [table.find("objects", name) for name in columns.objects]
    if not values:
        raise ValueError(f"{table.path} has no column of values beside {', '.join(table.names)}")
    numbers = np.empty((len(table.rows), len(values)))
    for j, number in enumerate(values):
        numbers[:, j] = _numbers(table, number)
    members: dict[str, list[int]] = {}
    for row, name in enumerate(table.column(ids)):
        if not name:
            raise ValueError(f"{table.where(row, ids)}: it is empty; it must name a series")
        members.setdefault(name, []).append(row)
    if time is not None:
        times = _numbers(table, time)
        for name, rows in members.items():
            rows.sort(key=times.__getitem__)
            for one, other in pairwise(rows):
                if times[one] == times[other]:
                    raise ValueError(
                        f"{table.where(max(one, other), time)}: the series {name!r} has the time "
                        f"{table.rows[other][time]} twice"
                    )
    if label is not None:
        for name, rows in members.items():
            first = min(rows)
            for row in rows:
                if table.rows[row][label] != table.rows[first][label]:
                    raise ValueError(
                        f"{table.where(row, label)}: the label is {table.rows[row][label]!r}, but "
                        f"{table.rows[first][label]!r} before in the series {name!r}"
                    )
    objects = pack([numbers[rows] for rows in members.values()], channels_first=False)
    labels = _labels(table, label, [min(rows) for rows in members.values()])
    objects_from = tuple(table.names[i] for i in values)
    used = Columns(objects_from, table.name(label), table.names[ids], table.name(time))
    return FileObjects(objects, labels, list(members), used)


def _numbers(table: _Table, column: int) -> list[float]:
    """Return the numbers of a column; an error names the line and the column."""
    fields = table.column(column)
    try:
        return finite_numbers("", fields)
    except ValueError:
        for row, field in enumerate(fields):
            try:
                finite_numbers("", [field])
            except ValueError as error:
                reason = str(error).partition(" is ")[2]
                raise ValueError(f"{table.where(row, column)}: the value is {reason}") from None
        raise


def _labels(table: _Table, column: int | None, rows: Sequence[int]) -> np.ndarray | None:
    """Return the labels of some rows; None without a column of labels, or if it is empty."""
    if column is None:
        return None
    labels = [table.rows[row][column] for row in rows]
    if not any(labels):
        return None
    for row, label in zip(rows, labels, strict=True):
        if not label:
            raise ValueError(f"{table.where(row, column)}: the label is empty")
    return labels_of_text(labels)
