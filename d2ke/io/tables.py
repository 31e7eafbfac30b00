# SPDX-License-Identifier: BSD-3-Clause
"""Labelled objects, series or records of tables, whatever format they came in."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from d2ke._base.errors import ArgumentError, warn
from d2ke._base.text import listed
from d2ke.io.columns import IDS, STRINGS, TIMES, LabelledObjects
from d2ke.objects.column_names import LABELS, NOTHING, ColumnNames, find_usual
from d2ke.objects.fields import looks_numeric
from d2ke.objects.long_tables import read_long, refuse_targets
from d2ke.objects.packing import pack
from d2ke.objects.record_packing import column_of
from d2ke.objects.records import Records
from d2ke.objects.tables import Table, with_ids
from d2ke.objects.typed import CLOCKS, NOTES, NUMERIC, Typed

_OBJECTS = ("objects", "categories")  # uses of columns that may be strings or lists


@dataclass(frozen=True)
class TableRoles:
    """The roles of the columns of a table.

    Attributes
    ----------
    form : {"objects", "records", "series"}
        Meaning of the rows: "objects", "records", vectors of "series", or series ("rows").
    columns : ColumnNames
        The used and unused names.
    guessed : bool
        Whether the channels of series are all remaining columns of numbers.
    """

    form: str
    columns: ColumnNames
    guessed: bool = False


def find_roles(
    table: Table,
    named_columns: ColumnNames,
    earlier: ColumnNames = NOTHING,
    records: bool = False,
    in_rows: bool = False,
) -> TableRoles:
    """Find which columns are the objects, labels, ids and the time; `earlier` ones are a model's.

    Columns of types that have no use are named in a warning.
    """
    columns = named_columns.or_earlier(table.names, earlier)
    columns.check(table.path, table.names, "column")
    label = columns.labels
    if label is None and records and earlier.labels in table.names:
        label = earlier.labels
    x = _usual(table, columns, ["x"])
    axes = x is not None and table.head(x).use in NUMERIC  # y beside it is an axis
    usual = [name for name in LABELS if not (axes and name == "y")]
    label = label or _usual(table, columns, usual)
    ids = _ids_column(table, columns, earlier.rows if records else None)
    named = named_columns.ids is not None or named_columns.rows is not None
    index = _index(table, columns, label) if ids is None else None
    names = list(columns.objects or ())
    time = columns.time
    if columns is not named_columns and columns.ids is not None:
        long = True  # as in training
    else:
        long = not records and ids is not None and _is_long(table, columns, ids, label, named)
    if in_rows:
        form = "rows"
        left = _left(table, {label, ids, index})
        names = names or [n for n in left if table.head(n).use in (*NUMERIC, "missing")]
        if not names:
            raise ArgumentError("series", f"is True, but {table.path} has no column of numbers")
    elif records or (len(names) > 1 and not long and time is None):
        form = "records"
    elif long:
        form = "series"
        time = time or _usual(table, columns, TIMES)
        names = names or _channels(table, {label, ids, time})
    else:
        form = "objects"
        if time is not None:
            raise ArgumentError(
                "time", f"is for series, but no column of ids of {table.path} repeats"
            )
        names = [_objects_column(table, columns, {ids, label, index})]
    rows = ids if ids is not None and (named or ids not in names) else index
    if rows is not None and not named:
        typed = table.typed(rows, "strings")
        if rows and form != "series" and typed.scalar and 0 < typed.missing.sum() < len(typed):
            location = table.where(int(typed.missing.argmax()), rows)
            warn(f"{location}: the id is empty, so that the column does not name the objects")
        rows = rows if typed.scalar and not typed.missing.any() else None
    rows = None if form == "series" else rows
    used = {*names, label, ids if form == "series" else None, time, rows}
    unused = tuple(name for name in table.names if name and name not in used)
    noted = [*unused, label, time, *(names if form == "series" else [])]
    notes = {name: note for name in noted if name and (note := table.head(name).note)}
    roles = ColumnNames(
        tuple(names), label, ids if form == "series" else None, time, unused, rows, notes
    )
    extra = [f"{name!r} ({notes[name]})" for name in unused if table.head(name).use == "other"]
    if extra:
        warn(f"{table.path}: not used, as no distance compares such columns: {listed(extra, str)}")
    return TableRoles(form, roles, form == "series" and not columns.objects)


def _ids_column(table: Table, columns: ColumnNames, of_model: str | None) -> str | None:
    """Return the column of ids: the named one, the model's, or one with a usual name."""
    ids = columns.ids or columns.rows
    if ids is None and of_model in table.names:
        ids = of_model
    if ids is None:
        ids = _usual(table, columns, IDS)
        if ids is not None and not table.head(ids).scalar:
            ids = None  # a column of lists
    return ids


def _index(table: Table, columns: ColumnNames, label: str | None) -> str | None:
    """Return the index of pandas, if it is for nothing else than to name the rows."""
    name = table.index
    taken = name is None or name == label or any(name == used for _, used in columns.explicit)
    if taken or find_usual([name or ""], (*STRINGS, *TIMES)) is not None:
        return None
    return name if columns.objects or _left(table, {name, label}) else None


def _is_long(table: Table, columns: ColumnNames, ids: str, label: str | None, named: bool) -> bool:
    """Return whether the rows are vectors of the series that `ids` names, and not objects.

    Ids of vectors repeat; where they are `named` they need not, unless the rows can be strings,
    lists or records of several columns.
    """
    names = list(columns.objects or ())
    heads = [table.head(name) for name in names or _left(table, {ids, label, columns.time})]
    text = any(map(_is_text, heads))
    if text and (names or not any(typed.use in NUMERIC for typed in heads)):
        return False
    texts = table.typed(ids, "strings").texts()
    alone = named and not text and (len(names) < 2 or columns.time is not None)
    return alone or len(set(texts)) < len(texts)


def read_roles(
    table: Table,
    roles: TableRoles,
    uses: Mapping[str, str],
    kind: str | None = None,
    missing: str | None = None,
    unlabelled: bool = False,
) -> LabelledObjects:
    """Read the columns of a table; `uses` are those of a model, or categories that are named.

    With `unlabelled`, labels may be missing: all are text then, and these are empty.
    """
    columns = without_empty_labels(table, roles.columns)
    label = columns.labels
    labels: np.ndarray | None = None
    if roles.form == "series":
        return _series(table, columns, uses, missing, unlabelled, roles.guessed)
    if roles.form == "records":
        packed = {
            name: column_of(table.typed(name, uses.get(name, "")), bool(missing))
            for name in columns.objects or ()
        }
        notes = {name: column.use for name, column in packed.items() if column.use in NOTES}
        objects, columns = Records(packed), replace(columns, uses={**columns.uses, **notes})
    elif roles.form == "rows":
        objects = _rows(table, columns.objects or (), bool(missing))
    else:
        (name,) = columns.objects or ()
        objects = _pack(table, name, kind, bool(missing))
    written = None
    if label is not None:
        labels, written = _labels(table, label, unlabelled)
    ids = None if columns.rows is None else table.typed(columns.rows, "strings").ids()
    return LabelledObjects(with_ids(objects, ids), labels, columns, written)


def _labels(table: Table, name: str, unlabelled: bool) -> tuple[np.ndarray, Sequence[str] | None]:
    """Return the labels of the rows, and as a text file has them."""
    typed = table.typed(name, "strings")
    if not (unlabelled and typed.missing.any()):
        return typed.labels(), typed.fields
    texts = np.full(len(typed), "", object)
    texts[typed.rows] = typed.texts()
    return texts.astype(str), None


def without_empty_labels(table: Table, columns: ColumnNames) -> ColumnNames:
    """Return the columns; labels without any entry are not used."""
    label = columns.labels
    if label is None or table.typed(label, "strings").use != "missing":
        return columns
    return replace(columns, labels=None, unused=(*columns.unused, label))


def _usual(table: Table, columns: ColumnNames, usual: Sequence[str]) -> str | None:
    """Return the first column with a usual name that no argument names."""
    taken = {name for _, name in columns.explicit}
    number = find_usual(["" if name in taken else name for name in table.names], usual)
    return None if number is None else table.names[number]


def _left(table: Table, taken: Collection[str | None]) -> list[str]:
    return [name for name in table.names if name not in taken and not table.is_index(name)]


def _objects_column(table: Table, columns: ColumnNames, taken: Collection[str | None]) -> str:
    """Return the column of strings or lists: the named one, one with a usual name, or the only."""
    if columns.objects is not None:
        (name,) = columns.objects
        typed = table.head(name)
        if typed.use not in _OBJECTS and typed.fields is None:
            raise ArgumentError(
                "objects",
                f"names {name!r} of {table.path}, which holds {typed.note or typed.use}; strings "
                "or lists are needed, or, for records, several columns",
            )
        return name
    left = _left(table, taken)
    candidates = [name for name in left if table.head(name).use in _OBJECTS]
    lists = [name for name in candidates if not table.head(name).scalar]
    beside = any(table.head(name).use in NUMERIC for name in left)  # may be those of series
    usual = find_usual(left, STRINGS)
    likely = None if usual is None else left[usual]
    if likely not in candidates:
        only = lists or ([] if beside or likely else candidates)
        likely = only[0] if len(only) == 1 else likely or (left[0] if len(left) == 1 else None)
    if likely is not None and (likely in candidates or table.head(likely).use == "missing"):
        return likely
    names = listed(left) or "no column"
    note = "" if likely is None else f" ({likely!r} has {table.head(likely).use}, not strings)"
    raise ArgumentError(
        "objects",
        f"of {table.path} must name the column of {'objects' if lists else 'strings'}, one of "
        f"{names}{note}, and labels must name that of labels, if there is one; for records, "
        "objects must name several columns; for series, ids must name the column that says which "
        "series a row is of: add one, of one value if all "
        "rows are one series",
    )


def _pack(table: Table, name: str, kind: str | None, missing: bool) -> Any:
    typed = table.typed(name, "strings")
    if typed.fields is None:
        return pack(table.source[name], kind=kind, missing=missing, name=typed.name)
    typed.need_all("it must be there", "string")
    return pack(list(typed.fields), name=str(table.path))


def _is_text(typed: Typed) -> bool:
    """Return whether a column holds strings or lists, and not numbers with a slip."""
    fields = (typed.fields or ())[:20]
    return typed.use in _OBJECTS and not any(looks_numeric([text]) for text in fields)


def _channels(table: Table, taken: Collection[str | None]) -> list[str]:
    """Return the columns of numbers; dates and times are none, unless they are named."""
    left = [(name, table.head(name)) for name in _left(table, taken)]
    texts = [name for name, typed in left if _is_text(typed)]
    names = [
        name for name, typed in left if name not in texts and typed.use not in (*CLOCKS, "other")
    ]
    if texts and names:
        raise ArgumentError(
            "objects",
            f"of {table.path} must name the columns that make up the series: there are no "
            f"numbers in {listed(texts)}; labels names a column of labels",
        )
    if not names and not texts:
        raise ValueError(f"{table.path} has no column of values beside {listed(table.names, str)}")
    return names or texts


def _rows(table: Table, names: Sequence[str], missing: bool) -> Any:
    """Return a series for each row, whose steps are columns; it ends with its last entry."""
    values = np.column_stack([table.typed(name).channel(missing=True) for name in names])
    gaps = np.isnan(values)
    lengths = gaps.shape[1] - (~gaps[:, ::-1]).argmax(axis=1)
    inside = np.argwhere(gaps & (np.arange(gaps.shape[1]) < lengths[:, None]))
    if len(inside) and not missing:
        row, step = inside[0].tolist()
        raise ValueError(
            f"{table.where(row, names[step])}: the value is missing; missing='interpolate' fills "
            "it in"
        )
    series = [row[:n] for row, n in zip(values, lengths.tolist(), strict=True)]
    return pack(series, missing=True, name=str(table.path))


def _series(
    table: Table,
    columns: ColumnNames,
    uses: Mapping[str, str],
    missing: str | None,
    unlabelled: bool,
    guessed: bool,
) -> LabelledObjects:
    """Return the series of a long table, in the order in which they first appear."""
    label, names = columns.labels, columns.objects or ()
    objects, rows_of_all, filled = read_long(
        table, columns.ids or "", columns.time, names, uses, missing or False
    )
    if guessed:
        refuse_targets(objects, "objects", str(table.path))
    labels = written = None
    if label is not None:
        if not unlabelled:
            typed = table.typed(label, "strings")
            typed.need_all("every row of a series has its label", "label")
        labels, written = _labels(table, label, unlabelled)
        classes = written or labels.tolist()
        for name, rows in zip(np.asarray(objects.ids).tolist(), rows_of_all, strict=True):
            label_of_first = classes[min(rows)]
            for row in rows:
                if classes[row] != label_of_first:
                    raise ValueError(
                        f"{table.where(row, label)}: the label is {classes[row]!r}, but "
                        f"{label_of_first!r} "
                        f"before in the series {name!r}"
                    )
        first = list(map(min, rows_of_all))
        labels = labels[first]
        written = written and [written[row] for row in first]
    return LabelledObjects(objects, labels, columns, written, filled=filled)
