# SPDX-License-Identifier: BSD-3-Clause
"""Groups of the records of a table that are about the same thing: `d2ke dedupe`."""

from __future__ import annotations

import argparse
import csv
import io
from pathlib import Path
from typing import Any

import numpy as np

from d2ke._base.errors import ArgumentError
from d2ke._base.text import object_text
from d2ke.cli.map_picture import picture
from d2ke.cli.matrix_files import InputError, read_text
from d2ke.cli.object_files import reported_warnings
from d2ke.cli.options import parameter, radius, session_of
from d2ke.cli.report import Section, write_page
from d2ke.cli.result_files import TABLES, check_results, input_errors, write_columns
from d2ke.cli.session import Session
from d2ke.groups.cleaning import CLEANING
from d2ke.groups.linking import Duplicates, dedupe
from d2ke.io.labelled import read_file
from d2ke.objects.column_names import Columns
from d2ke.objects.records import Records

_SHOWN = 10  # examples on each side of the cut
_ANSWERS = {"1": True, "yes": True, "true": True, "0": False, "no": False, "false": False}

_DESCRIPTION = """\
Groups of the rows of a table (.csv, .tsv, .parquet, .feather) that are about the same person or
thing. Rows are compared if a column is within its radius. How likely they match is learned from the
table itself; the mean over the pairs of a group is within the threshold. The result has a row for
each row of the table: its number from 0 (or its id), its group, and the example of the group, the
row that is nearest to the others.
"""
_EXAMPLES = """\
examples:
  d2ke dedupe people.csv --columns name,address --radius name=2,address=3 --out groups.csv
  d2ke dedupe people.csv --columns name --radius 1 --clean case,accents,punctuation \\
      --ids id --pairs pairs.csv --out groups.csv --report groups.html
"""


def add_dedupe_command(commands: Any, common: argparse.ArgumentParser) -> None:
    """Add the command to the subparsers of `d2ke`."""
    parser = commands.add_parser(
        "dedupe",
        parents=[common],
        help="groups of the rows of a table that are about the same thing",
        description=_DESCRIPTION,
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("file", metavar="FILE", help="the table")
    add("--columns", required=True, metavar="NAME,NAME", help="the compared columns")
    add(
        "--radius",
        required=True,
        type=_radii,
        metavar="R",
        help="the distance up to which a column may be that of a match: a number for all columns, "
        "or NAME=R,NAME=R",
    )
    add("--out", required=True, metavar="FILE", help="where to write, .csv, .h5 or .hdf5")
    add("--distance", metavar="NAME", help="of all columns (default: levenshtein for strings)")
    add("--clean", metavar="WHAT", help=f"what does not count, of {','.join(CLEANING)}")
    add(
        "--threshold",
        type=float,
        default=0.5,
        metavar="T",
        help="largest probability that two rows of a group do not match (default 0.5)",
    )
    add(
        "--linkage",
        choices=["average", "complete", "single"],
        default="average",
        help="complete: all pairs of a group are likely; single: rows are in one group if small "
        "steps lead from one to the other",
    )
    add("--ids", metavar="NAME", help="the column of ids, for the result and for --pairs")
    add(
        "--pairs",
        metavar="FILE",
        help="a table, with or without a header, of two ids (or row numbers) and whether they "
        "match, 1 or 0: they correct the weights of the columns",
    )
    add("--report", metavar="FILE", help="write a page with the distances and examples, .html")
    parser.set_defaults(run=run_dedupe)


def _radii(text: str) -> float | dict[str, float]:
    """Return a number, or those of columns."""
    if "=" not in text:
        return radius(text)
    return {name: radius(str(value)) for name, value in map(parameter, text.split(","))}


@input_errors()
def run_dedupe(options: argparse.Namespace) -> None:
    """Group the rows of a table, and write their groups.

    Raises
    ------
    InputError
        A file or an argument is unusable.
    ImportError
        A package that the report needs is missing.
    """
    out, session = Path(options.out), session_of(options)
    inputs = {"the table": options.file}
    if options.pairs is not None:
        inputs["pairs"] = options.pairs
    check_results(options, TABLES, inputs)
    names = options.columns.split(",")
    records, ids = _read(options, names, session)
    radii = options.radius
    found = dedupe(
        records,
        radius=radii if isinstance(radii, dict) else dict.fromkeys(names, radii),
        distance=dict.fromkeys(names, options.distance),
        clean=options.clean.split(",") if options.clean else (),
        threshold=options.threshold,
        known=None if options.pairs is None else _read_pairs(Path(options.pairs), ids, session),
        linkage=options.linkage,
        n_threads=session.n_threads,
        progress=session.progress,
    )
    sizes = np.bincount(found.labels)
    summary = (
        f"{len(records)} rows, {len(found.pairs)} pairs of different rows within a radius. ",
        f"{len(sizes)} groups, {(sizes > 1).sum()} of more than one row",
        f"; threshold {found.threshold:.4g}, largest group {sizes.max()}. "
        f"Log-odds of a match: {found.weights}.",
    )
    session.report("".join(summary))
    numbers = {"group": found.labels, "example": ids[found.examples][found.labels]}
    write_columns(out, {"row" if options.ids is None else options.ids: ids} | numbers)
    session.report(f"groups: {options.out}")
    if options.report is not None:
        title = f"Groups of {Path(options.file).name}"
        write_page(Path(options.report), title, summary, _sections(records, ids, found))
        session.report(f"report: {options.report}")


def _read(
    options: argparse.Namespace, names: list[str], session: Session
) -> tuple[Records, np.ndarray]:
    """Read the columns as text, and the ids or numbers of the rows."""
    if "" in names or len(set(names)) < len(names):
        raise InputError(
            "columns (--columns) must be different names with commas between, got "
            f"{options.columns!r}"
        )
    wanted = Columns(tuple(names), rows=options.ids)
    kinds = dict.fromkeys(names, "strings")
    try:
        with reported_warnings(session):
            held = read_file(options.file, wanted, kinds=kinds)
    except ArgumentError as error:
        if error.argument != "objects":
            raise
        raise ArgumentError("columns", error.problem) from None
    session.report(f"{Path(options.file).name}: {str(held)[1:-1]}")
    if options.ids is None:
        return held.objects, np.arange(len(held.objects))
    ids = np.array(held.ids)
    if len(np.unique(ids)) < len(ids):
        raise InputError(f"ids (--ids): the column {options.ids!r} has equal entries")
    return held.objects, ids


def _read_pairs(file: Path, ids: np.ndarray, session: Session) -> tuple[np.ndarray, np.ndarray]:
    """Read pairs of ids and whether they match.

    A first line of three fields without an id, a number or an answer is the header; it is reported.
    """
    rows = {str(name): row for row, name in enumerate(ids.tolist())}
    mark = "\t" if file.suffix == ".tsv" else ","
    lines = csv.reader(io.StringIO(read_text(file), newline=""), delimiter=mark, strict=True)
    pairs: list[list[int]] = []
    match, header = [], ""
    try:
        for fields in filter(None, lines):
            answer = _ANSWERS.get(fields[-1].strip().lower())
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


def _sections(records: Records, ids: np.ndarray, found: Duplicates) -> list[Section]:
    """Show the probabilities, the cut, and pairs next to it on both sides."""
    distances, threshold = found.distances, found.threshold
    i, j = found.pairs.T
    together = found.labels[i] == found.labels[j]
    nearest = np.argsort(np.abs(distances - threshold), kind="stable")
    inside = distances <= threshold
    sides = (
        ("Nearest to the cut, below it", inside),
        ("Nearest to the cut, above it", ~inside),
    )
    result = [
        Section(
            "Probabilities",
            "Pairs of different rows that are within the radius of at least one column, by their "
            "probability not to match; equal rows are one group. Where the records tell enough, "
            "few pairs are near the threshold.",
            "histogram of the probabilities of pairs not to match, and the threshold",
            picture((5.5, 3.2), _draw_distances, found, together),
        )
    ]
    for heading, side in sides:
        rows = [
            [
                f"{distances[pair]:.4g}",
                "yes" if together[pair] else "no",
                *(f"{ids[row]}: {_row(records[row])}" for row in found.pairs[pair].tolist()),
            ]
            for pair in nearest[side[nearest]][:_SHOWN].tolist()
        ]
        columns = ["not a match", "one group", "row", "other row"] if rows else []
        result.append(
            Section(heading, "" if rows else "There are none.", columns=columns, rows=rows)
        )
    return result


def _row(entries: dict[str, Any]) -> str:
    """Return the entries of a row, strings whole: what differs may be at the end."""
    return ", ".join(
        entry if isinstance(entry, str) else object_text(entry) for entry in entries.values()
    )


def _draw_distances(axes: Any, found: Duplicates, together: np.ndarray) -> None:
    """Draw how many pairs have a probability, those of one group in colour, and the cut."""
    bins = np.linspace(0, 1, 61) + 1e-9  # a pair at the threshold is left of it
    bins[0] = 0
    shown = [found.distances[part] for part in (together, ~together)]
    colours = ["#0072B2", "#BBBBBB"]
    axes.hist(shown, bins, stacked=True, color=colours, label=["in one group", "in two groups"])
    axes.axvline(found.threshold, color="#D55E00", label="threshold")
    axes.set(xlabel="probability not to match", ylabel="pairs", yscale="symlog")
    axes.legend(frameon=False, fontsize=8)
