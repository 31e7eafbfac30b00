# SPDX-License-Identifier: BSD-3-Clause
"""The ``.arff`` text format of Weka: series, sets and strings with labels."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from d2ke._base.errors import ArgumentError
from d2ke._base.text import listed
from d2ke.io.columns import IDS, LabelledObjects
from d2ke.io.text import lines_of
from d2ke.objects.column_names import LABELS, ColumnNames, find_usual
from d2ke.objects.columns import type_column
from d2ke.objects.fields import MISSING, finite_numbers, labels_of_text
from d2ke.objects.packing import pack
from d2ke.objects.typed import Fields
from d2ke.objects.values import LARGEST_EXACT_INTEGER

# Possessive quantifiers do not backtrack: time is linear in the length of a line.
_QUOTED = r"'(?:[^'\\]|\\.)*+'|\"(?:[^\"\\]|\\.)*+\""
_FIELD = re.compile(rf"\s*+({_QUOTED}|[^\s,'\"{{}}%][^,'\"]*+|)\s*+(,|$)")
_ATTRIBUTE = re.compile(rf"@attribute\s+({_QUOTED}|[^\s'\"{{}}%,]+)\s+(\S.*)", re.IGNORECASE)
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)


@dataclass
class _Attribute:
    """A column: numeric, string, nominal with its values, or relational with some columns."""

    name: str
    kind: str
    values: Sequence[str] = ()
    width: int = 0


def read_arff(
    path: Path, names: ColumnNames, how: Mapping[str, Any], earlier: ColumnNames
) -> LabelledObjects:
    """Read a relational attribute with numbers, a string attribute, or all numeric ones.

    With ``channels_first`` the rows of a relational attribute are channels (the UEA archive of
    series), else vectors (multi-instance data). If all attributes are numeric, a row is a
    series of one channel. Without a name of labels, the `earlier` one is tried.
    """
    channels_first = how.get("channels_first")
    lines = ((w, line) for w, line in lines_of(path) if line and not line.startswith("%"))
    columns = _header(path, lines)
    names = names.or_earlier([column.name for column in columns], earlier)
    names.check(path, [column.name for column in columns], "attribute")
    named = _ids(columns, names)
    label = _label(path, [column for column in columns if column is not named], names.labels)
    objects = [column for column in columns if column not in (label, named)]
    kinds = {column.kind for column in objects}
    if kinds != {"numeric"} and not (len(objects) == 1 and kinds <= {"string", "relational"}):
        attributes = listed(objects, lambda column: f"{column.name} ({column.kind})") or "none"
        raise ValueError(
            f"{path}: beside the labels and ids there must be one relational attribute, one "
            f"string, or numbers only; it has {attributes}"
        )
    relational = kinds == {"relational"}
    if relational != (channels_first is not None):
        raise ArgumentError(
            "channels_first",
            f"must say what a row of the relational attribute {objects[0].name!r} of {path} is: "
            "True for a channel (the UEA archive), False for a vector"
            if relational
            else f"is for relational attributes, but {path} has none",
        )
    items: list[Any] = []
    classes: list[str] = []
    texts = Fields()
    indices = [columns.index(column) for column in objects]
    for where, line in lines:
        fields = _values(where, line, columns)
        values = [fields[i] for i in indices]
        if named is not None:
            texts.append(fields[columns.index(named)])
        if label is not None:
            classes.append(fields[columns.index(label)])
        if kinds == {"numeric"}:
            items.append(finite_numbers(_locations(where, objects), values))
        elif relational:
            rows = []
            for number, row in enumerate(values[0].split("\n")):
                location = f"{where}, row {number} of {objects[0].name!r}"
                rows.append(finite_numbers(location, row.split(",")))
                if len(rows[-1]) != objects[0].width:
                    raise ValueError(f"{location}: {len(rows[-1])} values, not {objects[0].width}")
            items.append(np.array(rows))
        else:
            items.append(values[0])
        if label is not None and label.kind == "numeric":
            finite_numbers(_locations(where, [label]), classes[-1:])
    if not items:
        raise ValueError(f"{path} holds no objects")
    ids = None if named is None else type_column(texts, str(path), "strings").ids()
    packed = pack(items, channels_first=channels_first, ids=ids, name=str(path))
    ids_from = None if named is None else named.name
    if label is None:
        return LabelledObjects(packed, None, ColumnNames(rows=ids_from))
    labels, written = np.array(classes, dtype=str), None
    if label.kind == "string":
        labels, written = labels_of_text(classes, f"{path}, object {{}}".format), classes
    elif label.kind == "numeric":
        labels = np.array(list(map(float, classes)))
        if not (labels % 1).any() and np.abs(labels).max() < LARGEST_EXACT_INTEGER:
            labels = labels.astype(np.int64)
    return LabelledObjects(packed, labels, ColumnNames(labels=label.name, rows=ids_from), written)


def _locations(where: str, columns: Sequence[_Attribute]) -> Callable[[int], str]:
    return lambda i: f"{where}, attribute {columns[i].name!r}"


def _header(path: Path, lines: Iterator[tuple[str, str]]) -> list[_Attribute]:
    """Read the lines up to ``@data``."""
    columns: list[_Attribute] = []
    outer: _Attribute | None = None  # the relational attribute whose columns these are
    kinds = {"string": "string", "relational": "relational",
             "numeric": "numeric", "real": "numeric", "integer": "numeric"}  # fmt: skip
    for where, line in lines:
        tag, *rest = line.split(None, 1)
        if tag.lower() == "@relation" and not columns:
            continue
        if tag.lower() == "@end" and outer is not None and outer.width:
            outer = None
            continue
        if tag.lower() == "@data" and outer is None and columns:
            if rest and not rest[0].startswith("%"):
                raise ValueError(f"{where}: {line[:40]!r} has more than @data, which ends a header")
            return columns
        match = _ATTRIBUTE.fullmatch(line)
        if match is None:
            raise ValueError(f"{where}: {line[:40]!r} is not a line of a header")
        name, kind = _unquoted(match[1]), re.sub(r"\s*\[[^\]]*\]$", "", match[2].strip())
        attribute = _Attribute(name, kinds.get(kind.lower(), "nominal"))
        if attribute.kind == "nominal":
            if not (kind.startswith("{") and kind.endswith("}")):
                raise ValueError(
                    f"{where}: the attribute {name!r} is {kind[:40]!r}; numeric, real, integer, "
                    "string, relational or {values} are read"
                )
            attribute.values = [value for value, _ in _fields(where, kind[1:-1])]
        if outer is None:
            if any(column.name == name for column in columns):
                raise ValueError(f"{where}: the attribute {name!r} is declared twice")
            columns.append(attribute)
        else:
            outer.width += 1
        outer = attribute if attribute.kind == "relational" else outer
    raise ValueError(f"{path} has no line @data")


def _ids(columns: list[_Attribute], names: ColumnNames) -> _Attribute | None:
    """Return the attribute of the ids: the named one, or one of text with a usual name."""
    name = names.ids or names.rows
    for column in columns:
        usual = column.name.lower() in IDS and column.kind in ("string", "nominal")
        if column.name == name or (name is None and usual and column.name != names.labels):
            return column
    return None


def _label(path: Path, columns: list[_Attribute], labels: str | None) -> _Attribute | None:
    """Return the attribute of the labels: the named one, or the only nominal or usual one."""
    nominal = [column for column in columns if column.kind == "nominal"]
    usual = find_usual(
        [column.name for column in columns],
        [name for name in LABELS if name != "y" or not nominal],
    )
    candidates = [
        column
        for i, column in enumerate(columns)
        if (column.name == labels if labels is not None else column in nominal or i == usual)
    ]
    if len(candidates) > 1:
        names = listed([column.name for column in candidates], str)
        raise ArgumentError("labels", f"must name one of the attributes {names} of {path}")
    return candidates[0] if candidates else None


def _fields(where: str, line: str) -> list[tuple[str, bool]]:
    """Return the values between commas, and whether each was quoted."""
    fields: list[tuple[str, bool]] = []
    at, more = 0, ","
    while more:
        match = _FIELD.match(line, at)
        if match is None or not match[1]:
            problem = "is empty" if match else f"is not understood: {line[at : at + 40]!r}"
            if "{" in line:
                problem += "; sparse rows and weights of rows, in braces, are not read"
            raise ValueError(f"{where}: the value at position {len(fields)} {problem}")
        fields.append((_unquoted(match[1]), match[1][0] in "'\""))
        at, more = match.end(), match[2]
    return fields


def _unquoted(text: str) -> str:
    text = text.strip()
    if text[:1] in ("'", '"'):
        escapes = {"n": "\n", "t": "\t", "r": "\r"}
        return _ESCAPE.sub(lambda match: escapes.get(match[1], match[1]), text[1:-1])
    return text


def _values(where: str, line: str, columns: list[_Attribute]) -> list[str]:
    """Return the values of a row; refuse missing and invalid ones."""
    fields = _fields(where, line)
    if len(fields) != len(columns):
        raise ValueError(f"{where}: {len(fields)} values, but there are {len(columns)} attributes")
    for column, (text, quoted) in zip(columns, fields, strict=True):
        if text == MISSING and not quoted:
            raise ValueError(
                f"{where}: {column.name!r} is missing ('?'); every value must be there"
            )
        if column.kind == "nominal" and text not in column.values:
            values = listed(column.values, str)
            raise ValueError(f"{where}: {column.name!r} is {text[:40]!r}, not one of {values}")
    return [text for text, _ in fields]
