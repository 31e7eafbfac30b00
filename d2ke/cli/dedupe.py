# SPDX-License-Identifier: BSD-3-Clause
"""Groups of the records of a table that are about the same thing: `d2ke dedupe`."""

from __future__ import annotations

import argparse
import csv
import io
from pathlib import Path
from typing import Any

import numpy as np

from d2ke._base.text import object_text
from d2ke.cli.matrix_files import read_text
from d2ke.cli.object_files import DISTANCE_OPTIONS, given_parameters, read_records, refuse
from d2ke.cli.report import Section, picture, write_page
from d2ke.cli.result_files import InputError, write_columns
from d2ke.cli.session import Session
from d2ke.frames import columns_of
from d2ke.groups import linking
from d2ke.groups.duplicates import Duplicates, load_duplicates
from d2ke.groups.pair_weights import N_NEAR
from d2ke.objects.column_names import ColumnNames
from d2ke.objects.records import Records
from d2ke.plots.style import COLOURS, GREY, legend


def dedupe(options: argparse.Namespace, session: Session) -> None:
    """Group the rows of a table, or put them into groups that were saved, and write the groups."""
    if options.groups is not None:
        _assign(options, session)
        return
    examples = {"objects": "name,town", "radius": "2, the edits between entries that may match"}
    for name, example in examples.items():
        if getattr(options, name) is None:
            how = f"such as --{name} {example}"
            raise InputError(f"{name} (--{name}) is needed, {how}; or --with and saved groups")
    names = options.objects
    columns = ColumnNames(tuple(names), rows=options.ids)
    table = read_records(options.file, columns, dict.fromkeys(names, "strings"), session)
    records, ids, labelled_pairs, params = table.objects, table.ids, None, given_parameters(options)
    if options.pairs is not None:
        labelled_pairs = _read_pairs(Path(options.pairs), records, options.ids is not None, session)
    duplicates = linking.dedupe(
        records,
        radius=options.radius,
        distance=dict.fromkeys(names, (options.distance, params)),
        clean=options.clean.split(",") if options.clean else (),
        threshold=0.5 if options.threshold is None else options.threshold,
        known=labelled_pairs,
        linkage=options.linkage or "average",
        **session.computing,
    )
    sizes = np.bincount(duplicates.labels)
    summary = (
        f"{len(records)} rows, {len(duplicates.pairs)} pairs of different rows within a radius. ",
        f"{len(sizes)} groups, {(sizes > 1).sum()} of more than one row",
        f"; threshold {duplicates.threshold:.4g}, largest group {sizes.max()}.",
    )
    session.report(f"{''.join(summary)} Log-odds of a match: {duplicates.weights}.")
    write_columns(Path(options.out), columns_of(duplicates, ids))
    session.report(f"groups: {options.out}")
    _save(duplicates, options, session)
    if options.report is not None:
        title = f"Groups of {Path(options.file).name}"
        names = np.arange(len(records)) if ids is None else ids
        write_page(Path(options.report), title, summary, _sections(records, names, duplicates))
        session.report(f"report: {options.report}")


def _assign(options: argparse.Namespace, session: Session) -> None:
    """Put the rows of a table into groups that were saved, and write a group for each row."""
    learned = "objects", "radius", "clean", "threshold", "linkage", "pairs", "report"
    refuse(
        options,
        learned + DISTANCE_OPTIONS,
        f"does not go with --with; {options.groups} has what was learned",
    )
    duplicates = load_duplicates(options.groups)
    names = list(duplicates.basis.columns)
    columns = ColumnNames(tuple(names), rows=options.ids)
    table = read_records(options.file, columns, dict.fromkeys(names, "strings"), session)
    assigned = duplicates.assign(table.objects, **session.computing)
    new_groups = assigned.labels[assigned.labels >= len(duplicates.examples)]
    session.report(
        f"{len(assigned.labels) - len(new_groups)} of {len(assigned.labels)} rows join groups of "
        f"{options.groups}; the others found {len(np.unique(new_groups))}. Pairs of groups that "
        f"rows would join to one another: {len(assigned.bridges)}."
    )
    write_columns(Path(options.out), columns_of(assigned, table.ids))
    session.report(f"groups: {options.out}")
    _save(assigned.duplicates, options, session)


def _save(duplicates: Duplicates, options: argparse.Namespace, session: Session) -> None:
    if options.save is not None:
        duplicates.save(options.save)
        session.report(f"saved, with the rows: {options.save}")


def _read_pairs(
    file: Path, records: Records, by_id: bool, session: Session
) -> tuple[np.ndarray, np.ndarray]:
    """Read pairs of rows, by their ids or numbers, and whether they match.

    A first line of three fields without an id, a number or an answer is the header; it is reported.
    """
    names = records.ids.tolist() if by_id and records.ids is not None else range(len(records))
    rows = {str(name): row for row, name in enumerate(names)}
    if len(rows) < len(names):
        twice = next(name for row, name in enumerate(names) if rows[str(name)] != row)
        raise InputError(f"ids (--ids): the pairs name rows, but several are called {twice!r}")
    mark = "\t" if file.suffix == ".tsv" else ","
    lines = csv.reader(io.StringIO(read_text(file), newline=""), delimiter=mark, strict=True)
    pairs: list[list[int]] = []
    match, header = [], ""
    answers = {"1": True, "yes": True, "true": True, "0": False, "no": False, "false": False}
    try:
        for fields in filter(None, lines):
            answer = answers.get(fields[-1].strip().lower())
            first = not (pairs or header)
            named = rows.keys().isdisjoint(fields) and not any(map(str.isdigit, fields))
            if first and answer is None and len(fields) == 3 and named:
                header = f" after the header {', '.join(fields)}"
                continue
            where = f"{file}, line {lines.line_num}"
            if len(fields) != 3 or answer is None:
                header_too = ", or the names of three columns" if first else ""
                raise InputError(f"{where}: two ids and 1 or 0 are needed{header_too}")
            for name in fields[:2]:
                if name not in rows:
                    raise InputError(f"{where}: the table has no row {name!r}")
            pairs.append([rows[name] for name in fields[:2]])
            match.append(answer)
    except csv.Error as error:
        raise InputError(f"{file}, line {lines.line_num}: {error}") from None
    session.report(f"{file.name}: {len(pairs)} pairs{header}")
    return np.array(pairs, np.int64).reshape(-1, 2), np.array(match, bool)


def _sections(records: Records, ids: np.ndarray, duplicates: Duplicates) -> list[Section]:
    """Show the probabilities, the weights, and pairs on both sides of the threshold."""
    distances, threshold = duplicates.distances, duplicates.threshold
    i, j = duplicates.pairs.T
    in_one_group = duplicates.labels[i] == duplicates.labels[j]
    nearest = np.argsort(np.abs(distances - threshold), kind="stable")
    inside, weights = distances <= threshold, duplicates.weights
    result = [
        Section(
            "Probabilities",
            "Pairs of different rows that are within the radius of at least one column, by their "
            "probability not to match; equal rows are always one group. If the columns tell "
            "enough, few pairs are near the threshold.",
            "histogram of the probabilities of pairs not to match, and the threshold",
            picture((5.5, 3.2), _draw_distances, duplicates, in_one_group),
        ),
        Section(
            "What the columns add",
            "The log-odds of a match that a column adds for two rows with equal entries, with "
            "entries at the distance of the radius, and with entries far apart. Any two rows begin "
            f"with {weights.offset:.1f}.",
            columns=["column", "equal", "radius", "far"],
            rows=[
                [name, *(f"{row[level]:+.1f}" for level in (0, N_NEAR - 1, -1))]
                for name, row in zip(weights.columns, weights.evidence, strict=True)
            ],
        ),
    ]
    for where, side in (("below", inside), ("above", ~inside)):
        rows = [
            [
                f"{distances[pair]:.4g}",
                "yes" if in_one_group[pair] else "no",
                *(f"{ids[row]}: {_row(records[row])}" for row in duplicates.pairs[pair].tolist()),
            ]
            for pair in nearest[side[nearest]][:10].tolist()
        ]
        columns = ["probability not to match", "one group", "row", "other row"] if rows else []
        note = "" if rows else "There are none."
        result.append(
            Section(f"Nearest pairs {where} the threshold", note, columns=columns, rows=rows)
        )
    return result


def _row(entries: dict[str, Any]) -> str:
    """Return the entries of a row, strings whole: what differs may be at the end."""
    return ", ".join(
        entry if isinstance(entry, str) else object_text(entry) for entry in entries.values()
    )


def _draw_distances(axes: Any, duplicates: Duplicates, in_one_group: np.ndarray) -> None:
    """Draw a histogram of the probabilities, with pairs in one group in colour, and the cut."""
    bins = np.linspace(0, 1, 61) + 1e-9  # a pair at the threshold is left of it
    bins[0] = 0
    shown = [duplicates.distances[pairs] for pairs in (in_one_group, ~in_one_group)]
    colours = [COLOURS[0], GREY]
    axes.hist(shown, bins, stacked=True, color=colours, label=["in one group", "in two groups"])
    axes.axvline(duplicates.threshold, color=COLOURS[1], label="threshold")
    axes.set(xlabel="probability not to match", ylabel="pairs", yscale="symlog")
    legend(axes)
