# SPDX-License-Identifier: BSD-3-Clause
"""Labelled strings, or series in long tables, of comma- and tab-separated files."""

from __future__ import annotations

import csv
import gzip
import io
import sys
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from d2ke._base.errors import ArgumentError
from d2ke._base.files import open_file
from d2ke.io.columns import LABELS, Columns, LabelledObjects, find_usual
from d2ke.io.text import finite_numbers, labels_of_text, looks_numeric
from d2ke.objects.long_tables import rows_of_series
from d2ke.objects.packing import pack

_INDEX = ("", "unnamed: 0")  # of pandas, written as a column
_MARKS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "pipe"}
STRINGS = ("sequence", "string", "text", "objects", "x")
IDS = ("id", "series", "series_id")
_TIMES = ("time", "t", "step", "timestamp")
_USUAL = (*LABELS, *STRINGS, *IDS, *_TIMES)


@dataclass(frozen=True)
class Table:
    """Rows of text under names of columns, and where in the file they are."""

    path: Path | str
    names: list[str]
    rows: list[list[str]]
    places: list[str]
    columns: Columns  # those that arguments name

    def where(self, row: int, column: int) -> str:
        """Name a place for an error."""
        return f"{self.path}, {self.places[row]}, column {self.names[column]!r}"

    def find(self, name: str | None, usual: Sequence[str] = ()) -> int | None:
        """Return the number of a column by its name, or of the first other with a usual name."""
        if name is not None:
            return self.names.index(name)
        taken = {name for _, name in self.columns.explicit}
        return find_usual(["" if own in taken else own for own in self.names], usual)

    def column(self, number: int) -> list[str]:
        """Return the fields of a column."""
        return [row[number] for row in self.rows]

    def numbers(self, number: int) -> list[float]:
        """Return the numbers of a column; an error names the line and the column."""
        return finite_numbers(lambda row: self.where(row, number), self.column(number))

    def left(self, taken: set[int | None]) -> list[int]:
        """Return the numbers of the other columns that have names."""
        return [i for i, n in enumerate(self.names) if i not in taken and n.lower() not in _INDEX]

    def used(self, objects: Sequence[int], *others: int | None) -> Columns:
        """Return the names of what is read, and of the other columns."""
        named = [None if number is None else self.names[number] for number in others]
        unused = (n for i, n in enumerate(self.names) if n and i not in (*objects, *others))
        return Columns(tuple(self.names[i] for i in objects), *named, unused=tuple(unused))


def read_delimited(path: Path, columns: Columns, earlier: Columns) -> LabelledObjects:
    """Read a table with a header: a string on each row, or a vector of a series on each row.

    It is a long table of series if `columns.ids` is given, or if the values of a column called id,
    series or series_id repeat. Without any name in `columns`, `earlier` names are tried.
    """
    return read_rows(open_table(path, columns, earlier))


def read_rows(table: Table) -> LabelledObjects:
    """Find which columns are the objects, the labels, ids and the time, and read them."""
    path, columns = table.path, table.columns
    label = table.find(columns.labels, _usual_labels(table))
    ids = table.find(columns.ids, IDS)
    if ids is not None and (columns.ids or len(set(table.column(ids))) < len(table.rows)):
        return _series(table, columns, ids, label)
    if columns.time is not None:
        raise ArgumentError("time", f"is for series, but no column of ids of {path} repeats")
    number = _strings_column(table, columns, {ids, label})
    texts = table.column(number)
    if "" in texts:
        raise ValueError(f"{table.where(texts.index(''), number)}: the string is empty")
    labels, written = read_labels(table, label, range(len(table.rows)))
    return LabelledObjects(
        pack(texts, name=str(path)),
        labels,
        None if ids is None or ids == number else table.column(ids),
        replace(table.used([number], label, ids), ids=None),
        written,
    )


def _usual_labels(table: Table) -> Sequence[str]:
    """Return the usual names of labels; beside numbers called x, y is an axis."""
    x = table.find(None, ["x"])
    axes = x is not None and looks_numeric(table.column(x))
    return [name for name in LABELS if not (axes and name == "y")]


def open_table(path: Path, columns: Columns, earlier: Columns) -> Table:
    """Return the rows of a file, with the names of columns that arguments give."""
    with open_file(path) as stream:
        content = stream.read()
    try:
        text = (gzip.decompress(content) if path.suffix.lower() == ".gz" else content).decode(
            "utf-8-sig"
        )
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise ValueError(f"{path}, line {line} is not UTF-8 text: {error}") from None
    except (OSError, EOFError, zlib.error) as error:
        raise ValueError(f"{path} is not a gzip file: {error}") from None
    names, rows, places = _split(path, text)
    twice = next((name for i, name in enumerate(names) if name in names[:i]), None)
    if twice is not None:
        raise ValueError(f"{path}: the header names the column {twice!r} twice")
    if not rows:
        raise ValueError(f"{path} has no rows after its header")
    columns = columns.or_earlier(names, earlier)
    columns.check(path, names, "column")
    alone = find_usual(names, _USUAL) is None and sum(map(bool, names)) == 1
    for i, name in enumerate([] if columns.explicit else names):
        if alone or looks_numeric([name]) or (name and any(row[i] == name for row in rows)):
            raise ValueError(
                f"{path}: the first line may be a header or the first object, as it has "
                f"{name!r}; put a line of names before it, such as 'sequence,label', or, if it has "
                "the names, name a column (objects=, labels=, ids=)"
            )
    return Table(path, names, rows, places, columns)


def _split(path: Path, text: str) -> tuple[list[str], list[list[str]], list[str]]:
    """Return the header, the other rows and their lines, by the delimiter that fits."""
    first = text.lstrip().partition("\n")[0]
    marks = [mark for mark in _MARKS if mark in first] or [","]
    fits = {}
    for mark in marks:
        try:
            fits[mark] = _rows(path, text, mark)
        except ValueError:
            if len(marks) == 1:
                raise
    tabs = ".tsv" in path.name.lower() and "\t" in fits
    if tabs or len(fits) == 1:
        return fits["\t" if tabs else next(iter(fits))]
    words = " or ".join(_MARKS[mark] for mark in fits or marks)
    how = "each cuts all lines alike" if fits else "neither cuts all lines alike"
    raise ValueError(f"{path}: the delimiter may be {words}, {how}; quote fields that have others")


def _rows(path: Path, text: str, mark: str) -> tuple[list[str], list[list[str]], list[str]]:
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=mark, strict=True)
    limit = csv.field_size_limit(sys.maxsize)  # a string may be long
    try:
        read = [(reader.line_num, [field.strip() for field in fields]) for fields in reader]
    except csv.Error as error:
        raise ValueError(f"{path}, line {reader.line_num}: {error}") from None
    finally:
        csv.field_size_limit(limit)
    lines = [(number, fields) for number, fields in read if any(fields)]
    names = lines.pop(0)[1] if lines else []
    for number, fields in lines:
        if len(fields) != len(names):
            raise ValueError(
                f"{path}, line {number}: {len(fields)} fields, but the header has {len(names)}"
            )
    return names, [fields for _, fields in lines], [f"line {number}" for number, _ in lines]


def _strings_column(table: Table, columns: Columns, taken: set[int | None]) -> int:
    """Return the number of the column of strings."""
    if columns.objects is not None:
        if len(columns.objects) != 1:
            raise ArgumentError(
                "objects",
                f"of {table.path} must name one column of strings; several are for series, which "
                "need a column of ids",
            )
        return table.find(columns.objects[0])
    left = table.left(taken)
    usual = table.find(None, STRINGS)
    number = usual if usual in left else left[0] if len(left) == 1 else None
    if number is not None and not looks_numeric(table.column(number)):
        return number
    names = ", ".join(repr(table.names[i]) for i in left) or "no column"
    numbers = "" if number is None else f" ({table.names[number]!r} has numbers, not strings)"
    raise ArgumentError(
        "objects",
        f"of {table.path} must name the column of strings, one of {names}{numbers}, and labels "
        "must name that of labels, if there is one; for series, ids must name the column that says "
        "which series a row is of: add one, of one value if all rows are one series",
    )


def _series(table: Table, columns: Columns, ids: int, label: int | None) -> LabelledObjects:
    """Return the series of a long table, in the order in which they first appear."""
    time = table.find(columns.time, _TIMES)
    if columns.objects is None:
        values = table.left({ids, label, time})
        texts = [i for i in values if not any(looks_numeric([x]) for x in table.column(i)[:20])]
        if 0 < len(texts) < len(values):
            raise ArgumentError(
                "objects",
                f"of {table.path} must name the columns that make up the series: there are no "
                f"numbers in {', '.join(repr(table.names[i]) for i in texts)}; labels names a "
                "column of labels",
            )
    else:
        values = [table.find(name) for name in columns.objects]
    if not values:
        raise ValueError(f"{table.path} has no column of values beside {', '.join(table.names)}")
    numbers = np.column_stack([table.numbers(number) for number in values])
    for row, name in enumerate(table.column(ids)):
        if not name:
            raise ValueError(f"{table.where(row, ids)}: it is empty; it must name a series")
    times = None if time is None else table.numbers(time)
    members = rows_of_series(table.column(ids), times, lambda row: table.where(row, time or 0))
    classes = [] if label is None else table.column(label)
    for name, rows in members.items() if classes else ():
        first = classes[min(rows)]
        for row in rows:
            if classes[row] != first:
                raise ValueError(
                    f"{table.where(row, label)}: the label is {classes[row]!r}, but {first!r} "
                    f"before in the series {name!r}"
                )
    objects = pack([numbers[rows] for rows in members.values()], channels_first=False)
    labels, written = read_labels(table, label, [min(rows) for rows in members.values()])
    used = table.used(values, label, ids, time)
    return LabelledObjects(objects, labels, list(members), used, written)


def read_labels(
    table: Table, column: int | None, rows: Sequence[int]
) -> tuple[np.ndarray | None, list[str] | None]:
    """Return the labels of some rows, and as they are written; None if there are none."""
    labels = [] if column is None else [table.rows[row][column] for row in rows]
    if column is None or not any(labels):
        return None, None
    return labels_of_text(labels, lambda i: table.where(rows[i], column)), labels
