# SPDX-License-Identifier: BSD-3-Clause
"""Anomalies in one long series, whose steps are the rows of a table: `d2ke outliers`."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np

from d2ke.cli.object_files import reported_warnings
from d2ke.cli.report import Section, saved, write_page
from d2ke.cli.result_files import InputError, write_columns
from d2ke.cli.session import Session
from d2ke.io.labelled import open_columns
from d2ke.neighbors.window_outliers import WindowOutliers, window_outliers
from d2ke.objects.column_names import NOTHING
from d2ke.objects.typed import CLOCKS
from d2ke.plots.style import COLOURS, panels

_SHOWN = 5  # channels in a picture


def outliers(options: argparse.Namespace, session: Session) -> None:
    """Score the steps of a series by `d2ke.window_outliers`, and report the windows."""
    # If columns are named, the first line has names.
    how = {"na_values": options.na_values, "series": bool(options.columns or options.time)}
    table = open_columns(options.file, NOTHING, how=how)
    if table is None:
        raise InputError(f"{options.file} must be a table with a row for each step")
    for option, names in (("columns", options.columns or []), ("time", [options.time])):
        for name in filter(None, names):
            if name not in table.names:
                raise InputError(
                    f"{option} (--{option}): {options.file} has no column {name!r}; it has "
                    f"{', '.join(table.names)}"
                )
    columns = options.columns or [
        name for name in table.names if name != options.time and table.head(name).use == "numbers"
    ]
    if not columns:
        raise InputError(f"columns (--columns) is needed: {options.file} has no column of numbers")
    values = np.column_stack([table.typed(name).channel(missing=True) for name in columns])
    rows = times = axis = np.arange(len(values))
    result = {"row": rows}
    if options.time is not None:
        clock = table.typed(options.time)
        rows = np.array(sorted(rows.tolist(), key=clock.keys().__getitem__))
        values, times = values[rows], np.array(clock.texts())[rows]
        if clock.use in CLOCKS:
            axis = np.array([f"{time}".rstrip("Z") for time in times], "datetime64[us]")
        result = {"row": rows, options.time: times}
    with reported_warnings(session):
        windows = window_outliers([values], options.window, n=options.n, **session.computing)
    file, size = Path(options.file).name, f"{len(values)} steps"
    session.report(f"{file}: {size} of {', '.join(columns)}")
    ranks, lines = np.zeros(len(values), np.int64), []
    for rank, (start, score) in enumerate(zip(windows.starts, windows.scores, strict=True), 1):
        ranks[start : start + windows.length] = rank
        first, last = times[start], times[start + windows.length - 1]
        lines.append([f"{rank}", f"{first}", f"{last}", f"{score:.4g}"])
        session.report(f"{rank}. {first} to {last}: {score:.4g}")
    result |= {"score": np.asarray(windows.step_scores), "window": ranks}
    write_columns(Path(options.out), result)
    session.report(f"scores: {options.out}")
    if options.report is not None:
        text = (
            "Marked are the windows that are least like any other one, and the score of each step."
        )
        alt = "the series, its unusual windows in colour, and the scores"
        picture = saved(_picture(axis, values, columns, windows))
        section = Section(
            "The series", text, alt, picture, ("window", "from", "to", "score"), lines
        )
        summary = f"{size}; ", f"{len(lines)} windows of {windows.length}", " steps."
        write_page(Path(options.report), f"Outliers of {file}", summary, [section])
        session.report(f"report: {options.report}")


def _picture(axis: Any, values: np.ndarray, columns: list[str], windows: WindowOutliers) -> Any:
    """Draw the first channels and the scores, with the windows in colour."""
    shown = [*zip(columns[:_SHOWN], values.T, strict=False), ("score", windows.step_scores)]
    figure, axes = panels(len(shown), 1, (9, 2), sharex=True)
    for ax, (name, line) in zip(axes, shown, strict=True):
        ax.plot(axis, line, linewidth=0.7, color=COLOURS[0])
        ax.set(ylabel=name)
        for start in windows.starts.tolist():
            end = min(start + windows.length, len(axis)) - 1
            ax.axvspan(axis[start], axis[end], color=COLOURS[1], alpha=0.3, linewidth=0)
    return figure
