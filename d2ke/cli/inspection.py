# SPDX-License-Identifier: BSD-3-Clause
"""The contents of a file as the commands read it, and the command to type next: `d2ke inspect`."""

from __future__ import annotations

import argparse
import re
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from d2ke._base.seal import SIZE, is_sealed
from d2ke._base.text import listed, object_text
from d2ke.cli.commands import COMMANDS, INDEX
from d2ke.cli.index import is_index, report_index
from d2ke.cli.object_files import (
    how_of,
    is_data_set,
    kinds_of,
    lonely_classes,
    named_columns,
    read,
)
from d2ke.cli.options import OBJECTS, joined
from d2ke.cli.result_files import in_options
from d2ke.cli.session import Session
from d2ke.cli.shell import shell_words
from d2ke.groups.candidates import EQUAL
from d2ke.groups.duplicates import load_duplicates
from d2ke.io.columns import LabelledObjects
from d2ke.io.graphs import GRAPHS
from d2ke.io.labelled import open_columns, read_file
from d2ke.models.labels import like_amounts
from d2ke.models.persistence import load_model
from d2ke.objects.column_names import NOTHING, ColumnNames
from d2ke.objects.container import Objects
from d2ke.objects.copies import find_copies
from d2ke.objects.fields import is_gap, looks_numeric
from d2ke.objects.tables import Table
from d2ke.objects.typed import CLOCKS, NUMERIC, Typed

_EXAMPLES = 3


def inspect(options: argparse.Namespace, session: Session) -> None:
    """Report how the commands would read a file, its columns, and the command to type next.

    If the user must name columns, the columns are listed before the error.
    """
    if _is_saved(Path(options.file), "model"):
        session.report(str(load_model(options.file)))
        session.report(f"next: d2ke predict {shell_words(options.file)} FILE --out labels.csv")
        return
    if _is_saved(Path(options.file), "duplicates"):
        _report_groups(options.file, session)
        return
    if is_index(Path(options.file)):
        report_index(options.file, session)
        return
    named = named_columns(options)
    try:
        data = read(
            options, session, unlabelled=True, kinds=kinds_of(options), missing="interpolate"
        )
    except ValueError as error:
        question = _question(options, error, session)
        if not question:
            raise
        for line in question:
            session.report(line)
        return
    _report_lengths(data.objects, session)
    if data.labels is not None:
        session.report(f"labels: {_labels_text(data.labels)}")
        texts = data.labels.tolist() if data.labels.dtype.kind == "U" else []
        for text, count in Counter(text for text in texts if text and is_gap(text)).items():
            how = f"--na-values {shell_words(text)}"
            session.report(f"{count} labels are {text!r}, a class; if they are missing: {how}")
    elif data.columns.unused:
        session.report("labels: none; --labels NAME, if one of the columns holds them")
    if data.filled.get("values"):
        n_values, n_series = data.filled["values"], data.filled["series"]
        how = "d2ke train --missing interpolate"
        session.report(f"missing values: {n_values} in {n_series} series; {how}")
    table = None
    if not is_data_set(options.file) and data.columns.objects is not None:
        table = open_columns(options.file, named, how=how_of(options))
    if table is not None:
        _report_columns(table, data.columns, session)
    else:
        _report_first(data, session)
    for line in _next(options, data):
        session.report(f"next: d2ke {line}")


def _question(options: argparse.Namespace, error: ValueError, session: Session) -> list[str]:
    """Return a question about a file and the command that answers it, if any.

    Also reports the columns of the file.
    """
    named, doubt = named_columns(options), re.search("the first line may be|twice", str(error))
    asks = doubt or getattr(error, "argument", "") == "objects"
    if named.explicit or options.series or not asks or not Path(options.file).is_file():
        return []
    table = None
    with suppress(ValueError):
        table = open_columns(options.file, named, how={"series": True})
    if table is not None and not (doubt and looks_numeric([x for x in table.names if x])):
        _report_columns(table, NOTHING, session)
    if "may hold labels" in str(error):
        return [in_options(error)]
    guess = "" if table is None else "--series" if _is_wide(table) else _guess(table)
    with suppress(ValueError):
        if not guess:
            read_file(options.file, named, {"series": True}, missing="interpolate")
            guess = "--series"
    ask = "which columns hold the objects, and which the labels? This may be right:"
    if guess == "--series":
        ask = "is each row a series? If so:"
    return [ask, f"next: d2ke inspect {shell_words(options.file)} {guess}"] if guess else []


def _is_wide(table: Table) -> bool:
    """Return whether rows may be series: most columns have numbers and are named t0, t1, ..."""
    names = [name for name in table.names if table.typed(name).use in NUMERIC]
    matches = [re.fullmatch(r"[^0-9]*([0-9]{1,6})", name) for name in names]
    counts = [int(match[1]) for match in matches if match]
    return len(counts) > _EXAMPLES and counts == list(range(counts[0], counts[0] + len(counts)))


def _is_saved(file: Path, kind: str) -> bool:
    """Return whether d2ke wrote a file of this kind."""
    if not file.is_file():
        return False
    with file.open("rb") as stream:
        return is_sealed(stream.read(SIZE), kind)


def _report_groups(file: str, session: Session) -> None:
    """Report the contents of saved groups, and the command by which new rows join them."""
    duplicates = load_duplicates(file)
    session.report(f"groups of d2ke dedupe: {str(duplicates)[1:-1]}")
    columns, is_table = duplicates.basis.columns, duplicates.basis.names is not None
    for name, column in columns.items():
        how = "equal" if column.radius <= EQUAL else f"within {column.radius:g}"
        what = f"{column.x.kind}, {column.pairs.distance!r} {how}"
        session.report(f"compared: {name} ({what})" if is_table else f"compared: {what}")
    if is_table and {column.x.kind for column in columns.values()} == {"strings"}:
        words = f"FILE --with {shell_words(file)} --out labels.csv"
        session.report(f"next: d2ke dedupe {words}")


def _report_lengths(objects: Any, session: Session) -> None:
    """Report the lengths of strings, series and sets, by column if the objects are records."""
    columns = {"": objects} if isinstance(objects, Objects) else {}
    if objects.kind == "records":
        columns = {f" of {name!r}": column.values for name, column in objects.columns.items()}
    for name, values in columns.items():
        if isinstance(values, Objects) and len(values):
            low, median, high = np.quantile(values.lengths, [0, 0.5, 1])
            session.report(f"lengths{name}: {low:g} to {high:g}, median {median:g}")


def _labels_text(labels: np.ndarray) -> str:
    """Return the classes and their sizes, or the range of real values."""
    if labels.dtype.kind == "f":
        low, median, high = np.quantile(labels, [0, 0.5, 1])
        return f"numbers from {low:.4g} to {high:.4g}, median {median:.4g}: a regression"
    counts, note = _known(labels)
    sizes = listed(counts.most_common(), lambda pair: f"{pair[0]} ({pair[1]})")
    if like_amounts(np.unique(labels)):
        note += "; if they are amounts: --task regression"
    else:
        lonely = lonely_classes(counts)
        note += f"; {lonely}" * bool(lonely)
    return f"{len(counts)} classes: {sizes}{note}"


def _known(labels: np.ndarray) -> tuple[Counter[Any], str]:
    """Return how often each label occurs, and a note on objects without a label.

    An empty text marks no label, and so does -1, unless all labels are -1 or 1.
    """
    counts = Counter(labels.tolist())
    n_missing, n_unknown = counts.pop("", 0), 0
    if labels.dtype.kind == "i" and (np.abs(labels) != 1).any():
        n_unknown = counts.pop(-1, 0)
    note = f"; {n_missing} objects without" * bool(n_missing)
    return counts, note + f"; {n_unknown} objects of -1, which marks no label" * bool(n_unknown)


def _report_columns(table: Table, columns: ColumnNames, session: Session) -> None:
    """Report the type of each column's entries, and how the commands would use the column."""
    uses: dict[str | None, str] = dict.fromkeys(columns.objects or (), "objects")
    uses |= {columns.labels: "labels", columns.ids: "ids of series", columns.time: "time"}
    uses.setdefault(columns.rows, "names of rows")
    rows = [("column", "holds", "missing", "different", "read as", "first entries")]
    max_columns = 30
    for name in table.names[:max_columns]:
        typed = table.typed(name)
        different, examples = _entries(typed)
        use = uses.get(name, "" if columns == NOTHING else "not used")
        n_missing = str(typed.missing.sum())
        rows.append((name or "the index", _type_text(typed), n_missing, different, use, examples))
    widths = [max(map(len, cells)) for cells in zip(*rows, strict=True)]
    for row in rows:
        cells = (text.ljust(width) for text, width in zip(row, widths, strict=True))
        session.report("  ".join(cells).rstrip())
    if len(table.names) > max_columns:
        session.report(f"and {len(table.names) - max_columns} more columns")


def _report_first(data: LabelledObjects, session: Session) -> None:
    """Report the ids, or the numbers, of the first objects, with their labels."""
    ids, labels = data.ids, data.labels
    names = range(len(data.objects)) if ids is None else ids.tolist()
    labels_of = [] if labels is None else labels[:_EXAMPLES].tolist()
    texts = [f"{name} ({label})" for name, label in zip(names, labels_of, strict=False)]
    how = "numbered by their place" if ids is None else "with their ids"
    session.report(f"first objects, {how}: {', '.join(texts or map(str, names[:_EXAMPLES]))}")


def _guess(table: Table) -> str:
    """Return options that may name a table's columns right; nothing without text.

    If no column identifies the rows, the rows are taken for the vectors of series.
    """
    typed = {name: table.typed(name) for name in table.names if name}
    entries = {name: column.texts() for name, column in typed.items() if column.scalar}
    different = {name: len(set(texts)) for name, texts in entries.items()}
    text = [name for name in entries if _type_text(typed[name]) == "text"]
    integers = [name for name in entries if all(map(str.isdigit, entries[name]))]
    names = [name for name in (*text, *integers) if different[name] == len(typed[name])]
    names.sort(key=lambda name: sum(map(len, entries[name])))
    repeated = [name for name in text if 1 < different[name] <= len(typed[name]) / 2]
    numbers = [name for name in typed if typed[name].use in NUMERIC]
    words: list[str] = []
    if repeated and numbers and not names:
        ids = max(repeated, key=lambda name: different[name])
        clock = next((name for name in typed if typed[name].use in CLOCKS), None)
        words += ["--ids", ids, *(["--time", clock] if clock else [])]
        repeated.remove(ids)
    labels = repeated[-1:]
    if not words:
        ids = next((name for name in names if set(text) - {name, *labels}), "")
        objects = [name for name in text if name not in (ids, *labels)]
        words += ["--objects", joined(objects)] if objects else []
        words += ["--ids", ids] if ids and objects else []
    return shell_words(*words, *(["--labels", labels[0]] if words and labels else []))


def _type_text(typed: Typed) -> str:
    """Return the type of a column's entries, in a word or two."""
    if typed.use == "objects":
        return "text" if typed.scalar or typed.fields is not None else "lists"
    return {"missing": "nothing", "other": typed.type}.get(typed.use, typed.use)


def _entries(typed: Typed) -> tuple[str, str]:
    """Return the number of different entries of a column, and the first ones, as text."""
    if typed.use in ("missing", "other"):
        return "", ""
    if not typed.scalar and typed.fields is None:
        return "", ""
    texts = typed.texts()
    return str(len(set(texts))), ", ".join(map(object_text, texts[:_EXAMPLES]))


def _next(options: argparse.Namespace, data: LabelledObjects) -> list[str]:
    """Return the commands to type next, with the columns that the user has named."""
    objects, n, labels = data.objects, len(data.objects), data.labels
    classes, unlabelled = _known(np.empty(0, int) if labels is None else labels)
    amounts = labels is not None and like_amounts(np.unique(labels))
    real = amounts or (labels is not None and labels.dtype.kind == "f")
    gaps = bool(data.filled.get("values"))
    learnable = 1 < len(classes) < n and not lonely_classes(classes)
    if len(classes) > 1 and not unlabelled and (real or learnable):
        more = " --task regression" * amounts + " --missing interpolate" * gaps
        return [f"{_command(options, 'train')}{more} --out model.h5 --report report.html"]
    if objects.kind == "records":
        kinds = {column.kind for column in objects.columns.values()}
        names = {"objects": list(objects.columns)}
        if data.note.startswith(GRAPHS):
            near = _command(options, "neighbors", {"objects": "codes"})
            return [f"{near} --k {min(5, n - 1)} --out graph.csv"] if n > 1 else []
        text = kinds <= {"strings", "numbers", "categories", "missing"}
        return [f"{_command(options, 'dedupe', names)} --radius 1 --out groups.csv"] * text
    if gaps or len(find_copies(objects).firsts) < 2 or not objects.lengths.all():
        return []
    if learnable:
        return [f"{_command(options, 'propagate')} --as objects --out labels.csv"]
    near = f"{_command(options, 'neighbors')} --k {min(5, n - 1)} --out graph.csv"
    if n >= 1000:  # so many are looked up rather than compared with each other
        folder = shell_words(f"{Path(options.file).stem}{INDEX}")
        near = f"{_command(options, 'index', {'labels': None})} --out {folder}"
    clusters = f"--as objects --n-clusters {min(5, n)} --out clusters.csv"
    return [near, *[f"{_command(options, 'cluster')} {clusters}"] * bool(objects.lengths.max() > 1)]


def _command(
    options: argparse.Namespace, name: str, values: Mapping[str, Any] = MappingProxyType({})
) -> str:
    """Return a command that reads the file with the options of this one, if it has them."""
    command = next(command for command in COMMANDS if command.name == name)
    taken = {option if isinstance(option, str) else option[0] for option in command.options}
    words = [name, options.file]
    for option in (*OBJECTS, "--categories"):
        key = option[2:].replace("-", "_")
        value = values.get(key, getattr(options, key))
        if value is None or option not in taken:
            continue
        if isinstance(value, bool):
            words.append(option if value else f"--no-{key.replace('_', '-')}")
        else:
            words += [option, value if isinstance(value, str) else joined(value)]
    return shell_words(*words)
