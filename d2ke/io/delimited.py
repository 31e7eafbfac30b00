# SPDX-License-Identifier: BSD-3-Clause
"""Comma- and tab-separated files as tables of fields."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator
from pathlib import Path

from d2ke._base.text import listed
from d2ke.io.columns import IDS, STRINGS, TIMES
from d2ke.io.text import opened
from d2ke.objects.column_names import INDEX, LABELS, ColumnNames, find_usual
from d2ke.objects.fields import looks_numeric
from d2ke.objects.tables import Table
from d2ke.objects.typed import Fields

_LINE = re.compile(r"([^\r\n]*+)(\r\n|\r|\n|\Z)")
_QUOTED = re.compile(r' *+"((?:[^"]|"")*+)" *+')


def open_table(
    path: Path,
    columns: ColumnNames,
    earlier: ColumnNames,
    na_values: Collection[str] = (),
    header: bool = False,
) -> Table:
    """Return the columns of a file; refuse a first line that may be no header.

    Fields that are `na_values` are missing. With `header` numbers in the first line are names.
    """
    with opened(path) as stream:
        content = stream.read()
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise ValueError(
            f"{path}, line {line} is not UTF-8 text, as which it must be saved: {error}"
        ) from None
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise ValueError(f"{path}, line {line} has a NUL, which text has not")
    if not text.strip():
        raise ValueError(f"{path} is empty; a header and rows are needed")
    names, rows, lines = _split(path, text)
    if not rows:
        raise ValueError(f"{path} has no rows after its header")
    named = [i for i, name in enumerate(names) if name or not i or any(row[i] for row in rows)]
    if len(named) < len(names):
        names, rows = [names[i] for i in named], [[row[i] for i in named] for row in rows]
    twice = next((name for name, count in Counter(names).items() if count > 1), None)
    name_it = "put a line of names before it, such as 'sequence,label'"
    as_series = "if each row is a series, say so (series)"
    if twice is not None:
        unnamed = listed([i + 1 for i, name in enumerate(names) if not name])
        what = f"has no names of the columns {unnamed}, which have entries"
        what = f"names the column {twice!r} twice" if twice else what
        more = f"; if it is data, {name_it}, or {as_series}" * looks_numeric([twice])
        raise ValueError(f"{path}: the header {what}{more}")
    columns = columns.or_earlier(names, earlier)
    columns.check(path, names, "column")
    usual = find_usual(names, (*LABELS, *STRINGS, *IDS, *TIMES))
    alone = usual is None and sum(map(bool, names)) == 1
    for i, name in enumerate([] if columns.explicit or header else names):
        if alone or looks_numeric([name]) or (name and any(row[i] == name for row in rows)):
            raise ValueError(
                f"{path}: the first line may be a header or the first object, as it has "
                f"{name!r}; {name_it}, or, if it has the names, name a column (objects, labels or "
                f"ids){f'; {as_series}' * looks_numeric([name])}"
            )
    if na_values:
        rows = [[None if field in na_values else field for field in row] for row in rows]
    fields = dict(zip(names, map(Fields, zip(*rows, strict=True)), strict=True))
    first, index = names[0], None
    if INDEX.fullmatch(first) and fields[first] != list(map(str, range(len(rows)))):
        index = first
    return Table(path, fields, lines, index=index)


def _split(path: Path, text: str) -> tuple[list[str], list[list[str | None]], list[str]]:
    """Return the header, the other rows and their lines, by the delimiter that fits."""
    first = text.lstrip().partition("\n")[0]
    delimiters = {",": "comma", ";": "semicolon", "\t": "tab", "|": "pipe"}
    marks = [mark for mark in delimiters if mark in first] or [","]
    named = re.match(r"sep=([,;\t|])\r?\n", text, re.IGNORECASE)  # a line for spreadsheets
    if named is not None:
        return _rows(path, "\n" + text[named.end() :], named[1])
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
    words = " or ".join(delimiters[mark] for mark in fits or marks)
    how = "each cuts all lines alike" if fits else "neither cuts all lines alike"
    raise ValueError(f"{path}: the delimiter may be {words}, {how}; quote fields that have others")


def _rows(path: Path, text: str, mark: str) -> tuple[list[str], list[list[str | None]], list[str]]:
    lines = list(_lines(path, text, mark))
    names = [name or "" for name in lines.pop(0)[1]] if lines else []
    for number, fields in lines:
        if len(fields) != len(names):
            raise ValueError(
                f"{path}, line {number}: {len(fields)} fields, but the header has {len(names)}"
            )
    return names, [fields for _, fields in lines], [f"line {number}" for number, _ in lines]


def _lines(path: Path, text: str, mark: str) -> Iterator[tuple[int, list[str | None]]]:
    """Yield the number of the last line of each row, and its fields, None for an empty one.

    Blanks around a field are left out, but for those in quotes; so are lines of blanks.
    """
    at, number = 0, 0
    while at < len(text):
        line = _LINE.match(text, at)
        assert line is not None
        number += 1
        if '"' not in line[1]:
            if mark in line[1] or line[1].strip():
                yield number, [field.strip() or None for field in line[1].split(mark)]
            at = line.end()
            continue
        fields: list[str | None] = []
        while not fields or text.startswith(mark, at):
            at += len(mark) * bool(fields)
            quoted = _QUOTED.match(text, at)
            if quoted is not None:
                fields.append(quoted[1].replace('""', '"') or None)
                number += sum(map(quoted[1].count, "\n\r")) - quoted[1].count("\r\n")
                at = quoted.end()
                continue
            line = _LINE.match(text, at)
            assert line is not None
            if line[1].lstrip(" ").startswith('"'):
                raise ValueError(f"{path}, line {number}: the quotes of a field do not end")
            field = line[1].partition(mark)[0]
            fields.append(field.strip() or None)
            at += len(field)
        line = _LINE.match(text, at)
        assert line is not None
        if line[1]:
            raise ValueError(
                f"{path}, line {number}: {line[1][:20]!r} follows the quotes of a field"
            )
        yield number, fields
        at = line.end()
