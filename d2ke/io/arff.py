# SPDX-License-Identifier: BSD-3-Clause
"""The ``.arff`` text format of Weka: series, sets and strings with labels."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from d2ke._base.errors import ArgumentError
from d2ke.io.columns import LABELS, Columns, LabelledObjects, find_usual
from d2ke.io.text import finite_numbers, labels_of_text, lines_of
from d2ke.objects.packing import pack

_NUMERIC = ("numeric", "real", "integer")
# Possessive quantifiers do not backtrack: time is linear in the length of a line.
_QUOTED = r"'(?:[^'\\]|\\.)*+'|\"(?:[^\"\\]|\\.)*+\""
_FIELD = re.compile(rf"\s*+({_QUOTED}|[^\s,'\"{{}}%][^,'\"]*+|)\s*+(,|$)")
_ATTRIBUTE = re.compile(rf"@attribute\s+({_QUOTED}|[^\s'\"{{}}%,]+)\s+(\S.*)", re.IGNORECASE)
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r"}


@dataclass
class _Attribute:
    """A column: numeric, string, nominal with its values, or relational with its columns."""

    name: str
    kind: str
    values: tuple[str, ...] = ()
    columns: list[_Attribute] = field(default_factory=list)


def read_arff(
    path: Path, names: Columns, channels_first: bool | None, earlier: Columns
) -> LabelledObjects:
    """Read a relational attribute with numbers, a string attribute, or all numeric ones.

    The rows of a relational attribute are channels (the UEA archive of series) or vectors
    (multi-instance data), as `channels_first` says. All numeric attributes are a series of one
    channel. Without a name of labels an `earlier` one is tried.
    """
    lines = ((w, line) for w, line in lines_of(path) if line and not line.startswith("%"))
    columns = _header(path, lines)
    names = names.or_earlier([column.name for column in columns], earlier)
    names.check(path, [column.name for column in columns], "attribute")
    label = _label(path, columns, names.labels)
    objects, kind = _objects(path, columns, label)
    if kind == "relational" and channels_first is None:
        raise ArgumentError(
            "channels_first",
            f"must say what a row of the relational attribute {columns[objects[0]].name!r} of "
            f"{path} is: True for a channel (the UEA archive), False for a vector",
        )
    if kind != "relational" and channels_first is not None:
        raise ArgumentError("channels_first", f"is for relational attributes, but {path} has none")
    items: list[Any] = []
    classes: list[str] = []

    def place(i: int) -> str:
        return f"{where}, attribute {columns[objects[i]].name!r}"

    for where, line in lines:
        fields = _fields(where, line, len(columns))
        if label is not None:
            classes.append(_checked(where, columns[label], fields[label]))
        if kind == "numeric":
            values = [fields[i][0] for i in objects]
            items.append(finite_numbers(place, values))
        elif kind == "string":
            items.append(_checked(where, columns[objects[0]], fields[objects[0]]))
        else:
            items.append(_rows(where, columns[objects[0]], fields[objects[0]]))
    if not items:
        raise ValueError(f"{path} holds no objects")
    first = channels_first if kind == "relational" else None
    packed = pack(items, channels_first=first, name=str(path))
    if label is None:
        return LabelledObjects(packed, None)
    found, written = np.array(classes, dtype=str), None
    if columns[label].kind == "string":
        found, written = labels_of_text(classes, f"{path}, object {{}}".format), classes
    elif columns[label].kind == "numeric":
        found = np.array(finite_numbers(str(path), classes))
        if not (found % 1).any():
            found = found.astype(np.int64)
    return LabelledObjects(packed, found, None, Columns(labels=columns[label].name), written)


def _header(path: Path, lines: Iterator[tuple[str, str]]) -> list[_Attribute]:
    """Read the lines up to ``@data``."""
    columns: list[_Attribute] = []
    outer: _Attribute | None = None  # the relational attribute whose columns these are
    for where, line in lines:
        tag = line.split(None, 1)[0].lower()
        if tag == "@relation" and not columns:
            continue
        if tag == "@data" and outer is None:
            if len(line.split()) > 1 and not line.split()[1].startswith("%"):
                raise ValueError(f"{where}: {line[:40]!r} has more than @data, which ends a header")
            if not columns:
                raise ValueError(f"{where}: @data comes before any @attribute")
            return columns
        if tag == "@end" and outer is not None:
            if _unquoted(line[4:].strip()) != outer.name or not outer.columns:
                raise ValueError(f"{where}: @end must name the attribute {outer.name!r}")
            outer = None
            continue
        match = _ATTRIBUTE.fullmatch(line)
        if match is None:
            raise ValueError(f"{where}: {line[:40]!r} is no line of a header")
        own = _attribute(where, _unquoted(match[1]), match[2].strip())
        siblings = columns if outer is None else outer.columns
        if any(other.name == own.name for other in siblings):
            raise ValueError(f"{where}: the attribute {own.name!r} appears twice")
        if outer is not None and own.kind != "numeric":
            raise ValueError(f"{where}: attributes of {outer.name!r} must be numeric")
        siblings.append(own)
        outer = own if own.kind == "relational" else outer
    raise ValueError(f"{path} has no line @data")


def _attribute(where: str, name: str, kind: str) -> _Attribute:
    if kind.startswith("{") and kind.endswith("}"):
        values = _fields(where, kind[1:-1])
        return _Attribute(name, "nominal", tuple(value for value, _ in values))
    word = kind.lower()
    if word in _NUMERIC:
        return _Attribute(name, "numeric")
    if word in ("string", "relational"):
        return _Attribute(name, word)
    raise ValueError(
        f"{where}: the attribute {name!r} is {kind[:40]!r}; numeric, real, integer, string, "
        "relational or {values} are read"
    )


def _label(path: Path, columns: list[_Attribute], labels: str | None) -> int | None:
    """Return which attribute has the labels."""
    names = [column.name for column in columns]
    if labels is not None:
        if columns[names.index(labels)].kind == "relational":
            raise ArgumentError(
                "labels", f"must be others: the attribute {labels!r} is relational in {path}"
            )
        return names.index(labels)
    nominal = [i for i, column in enumerate(columns) if column.kind == "nominal"]
    usual = find_usual(names, [name for name in LABELS if name != "y" or not nominal])
    known = nominal
    if usual is not None and columns[usual].kind != "relational":
        known = sorted({*nominal, usual})
    if len(known) > 1:
        raise ArgumentError(
            "labels",
            f"must name one of the attributes {_listed([names[i] for i in known])} of {path}",
        )
    return known[0] if known else None


def _objects(path: Path, columns: list[_Attribute], label: int | None) -> tuple[list[int], str]:
    """Return which attributes are the objects, and of which kind they are."""
    rest = [i for i in range(len(columns)) if i != label]
    kinds = {columns[i].kind for i in rest}
    if kinds == {"numeric"} or (len(rest) == 1 and kinds <= {"string", "relational"}):
        return rest, kinds.pop()
    raise ValueError(
        f"{path}: beside the labels there must be one relational attribute, one string, or numbers "
        f"only; it has {_listed([f'{columns[i].name} ({columns[i].kind})' for i in rest])}"
    )


def _listed(names: list[str]) -> str:
    text = ", ".join(names[:8]) or "none"
    return text + (", ..." if len(names) > 8 else "")


def _fields(where: str, line: str, count: int | None = None) -> list[tuple[str, bool]]:
    """Return the values between commas, and whether each was quoted."""
    if count is not None and line.startswith("{"):
        raise ValueError(f"{where}: sparse rows are not read")
    fields: list[tuple[str, bool]] = []
    at = 0
    while True:
        match = _FIELD.match(line, at)
        if match is None or not match[1]:
            place = "is empty" if match else f"is not understood: {line[at : at + 40]!r}"
            raise ValueError(f"{where}: the value at position {len(fields)} {place}")
        fields.append((_unquoted(match[1]), match[1][0] in "'\""))
        at = match.end()
        if not match[2]:
            break
    if count is not None and len(fields) != count:
        raise ValueError(f"{where}: {len(fields)} values, but there are {count} attributes")
    return fields


def _unquoted(text: str) -> str:
    text = text.strip()
    if text[:1] in ("'", '"'):
        return _ESCAPE.sub(lambda match: _ESCAPES.get(match[1], match[1]), text[1:-1])
    return text


def _checked(where: str, column: _Attribute, value: tuple[str, bool]) -> str:
    """Return the text of a value; refuse a missing one, and one that its attribute cannot have."""
    text, quoted = value
    if text == "?" and not quoted:
        raise ValueError(f"{where}: {column.name!r} is missing ('?'); every value must be there")
    if column.kind == "nominal" and text not in column.values:
        raise ValueError(
            f"{where}: {column.name!r} is {text[:40]!r}, not one of {_listed(list(column.values))}"
        )
    if column.kind == "numeric":
        finite_numbers(f"{where}, attribute {column.name!r}", [text])
    return text


def _rows(where: str, column: _Attribute, value: tuple[str, bool]) -> np.ndarray:
    """Return the rows of a relational value."""
    rows = []
    for number, row in enumerate(_checked(where, column, value).split("\n")):
        place = f"{where}, row {number} of {column.name!r}"
        fields = row.split(",")
        if len(fields) != len(column.columns):
            raise ValueError(
                f"{place}: {len(fields)} values, but there are {len(column.columns)} attributes"
            )
        rows.append(finite_numbers(place, fields))
    return np.array(rows)
