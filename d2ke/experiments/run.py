# SPDX-License-Identifier: BSD-3-Clause
"""One method on one data set over several random divisions: `d2ke run`."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

from d2ke._base.checks import choice, integer
from d2ke._base.files import check_writable
from d2ke._base.text import show
from d2ke.datasets import load
from d2ke.experiments.methods import METHODS, Division, Outcome, evaluate
from d2ke.experiments.records import make_record, write_json
from d2ke.experiments.session import SILENT, Session
from d2ke.experiments.settings import SETTINGS


def run(
    name: str,
    *,
    method: str = "d2ke",
    seeds: int = 5,
    R: int | None = None,
    json_file: str | os.PathLike[str] | None = None,
    session: Session = SILENT,
) -> dict[str, Any]:
    """Run a method on a data set over several random divisions.

    Parameters
    ----------
    name : str
        A data set with a search space, see `d2ke.experiments.settings`.
    method : {"d2ke", "rsm", "knn", "dsk_rbf", "dsk_nd", "gdk_led"}
        The method.
    seeds : int
        Number of divisions; their seeds are 0, 1, ...
    R : int, optional
        Random objects or representatives; by default the setting's.
    json_file : path, optional
        Where to write the record, again after every division.
    session : Session
        How to run; it reports each finished division.

    Returns
    -------
    dict
        The record that the JSON file holds, see `d2ke.experiments.records.make_record`.

    Raises
    ------
    ValueError, FileNotFoundError
        Unknown names, numbers out of range, missing data files.
    """
    choice("dataset", name, SETTINGS)
    choice("method", method, METHODS)
    integer("seeds", seeds, 1)
    setting = SETTINGS[name]
    if R is not None:
        if method not in ("d2ke", "rsm"):
            raise ValueError(f"R has no meaning for method {method!r}; got {R}")
        setting = replace(setting, R=integer("R", R, 1))
    if json_file is not None:
        check_writable(Path(json_file))
    dataset = load(name, session.data_dir)
    outcomes: list[Outcome] = []
    record: dict[str, Any] = {}
    for seed in range(seeds):
        division = Division.of(dataset, setting, seed, **session.computing)
        outcome = evaluate(method, division)
        outcomes.append(outcome)
        record = make_record(
            name, method, range(seed + 1), outcomes, len(division.train), len(division.test)
        )
        if json_file is not None:
            write_json(Path(json_file), record)
        session.report(
            f"seed {seed}: {outcome.accuracy:.2f} % of {len(division.test)} test objects "
            f"({outcome.search_accuracy:.2f} % in cross-validation), "
            f"{sum(outcome.seconds.values()):.1f} s; chosen on the training part: "
            f"{show(outcome.parameters)}"
        )
    return record


def summary(record: dict[str, Any]) -> str:
    """Put a record into two lines for the terminal."""
    paper = "" if record["paper"] is None else f" (paper: {record['paper']:.2f})"
    seconds = ", ".join(
        f"{stage} {value:.2f}" for stage, value in record["seconds_by_stage"].items()
    )
    return (
        f"{record['dataset']} {record['method']}: {record['accuracy_mean']:.2f} +- "
        f"{record['accuracy_sd']:.2f} %{paper}, {len(record['seeds'])} divisions of "
        f"{record['n_train']}/{record['n_test']}\nseconds per division: {seconds}"
    )
