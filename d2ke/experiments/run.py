# SPDX-License-Identifier: BSD-3-Clause
"""One method on one data set over several random divisions: `d2ke run`."""

from __future__ import annotations

import json
import os
import statistics
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from d2ke._validate import choice, integer
from d2ke._version import __version__
from d2ke.datasets import load
from d2ke.experiments.methods import METHODS, Division, Outcome, evaluate
from d2ke.experiments.settings import SETTINGS

# The paper's accuracies, percent: Wu et al. 2018, Tables 2 and 3 (splice: revised version).
PAPER = {
    ("auslan", "d2ke"): 92.60,
    ("auslan", "knn"): 70.26,
    ("auslan", "dsk_rbf"): 92.47,
    ("auslan", "dsk_nd"): 89.74,
    ("auslan", "gdk_led"): 92.72,
    ("auslan", "rsm"): 88.96,
    ("splice", "d2ke"): 90.17,
    ("splice", "knn"): 79.41,
    ("splice", "dsk_rbf"): 87.88,
    ("splice", "dsk_nd"): 85.89,
    ("splice", "gdk_led"): 85.58,
    ("splice", "rsm"): 86.10,
}


def run(
    name: str,
    *,
    method: str = "d2ke",
    data_dir: str | os.PathLike | None = None,
    seeds: int = 5,
    R: int | None = None,
    n_threads: int | None = None,
    json_file: str | os.PathLike | None = None,
    progress: bool = False,
    report: Callable[[str], None] = lambda line: None,
) -> dict[str, Any]:
    """Run a method on a data set over several random divisions.

    Parameters
    ----------
    name : str
        A data set with a search space, see `d2ke.experiments.settings`.
    method : {"d2ke", "rsm", "knn", "dsk_rbf", "dsk_nd", "gdk_led"}
        The method.
    data_dir : path, optional
        Folder of the data files; by default the environment variable D2KE_DATA.
    seeds : int
        Number of divisions; their seeds are 0, 1, ...
    R : int, optional
        Random objects or representatives; by default the setting's.
    n_threads : int, optional
        Threads; None for all that this process may use.
    json_file : path, optional
        Where to write the record, anew after every division.
    progress : bool
        Show progress bars (on a terminal only).
    report : callable
        Takes a line of text for each finished division.

    Returns
    -------
    dict
        The record that the JSON file holds: dataset, method, accuracy_mean and
        accuracy_sd (percent), paper, seconds (by stage, mean of the divisions),
        parameters (one dict per division), accuracies, n_train, n_test, seeds,
        version.

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
    dataset = load(name, data_dir)
    outcomes: list[Outcome] = []
    record: dict[str, Any] = {}
    for seed in range(seeds):
        division = Division.of(dataset, setting, seed, n_threads=n_threads, progress=progress)
        outcome = evaluate(method, division)
        outcomes.append(outcome)
        record = {
            "dataset": name,
            "method": method,
            "accuracy_mean": statistics.fmean(one.accuracy for one in outcomes),
            "accuracy_sd": statistics.stdev([one.accuracy for one in outcomes]) if seed else 0.0,
            "paper": PAPER.get((name, method)),
            "seconds": {
                stage: statistics.fmean(one.seconds[stage] for one in outcomes)
                for stage in outcome.seconds
            },
            "parameters": [one.parameters for one in outcomes],
            "accuracies": [one.accuracy for one in outcomes],
            "n_train": len(division.train),
            "n_test": len(division.test),
            "seeds": list(range(seed + 1)),
            "version": __version__,
        }
        if json_file is not None:
            write_json(Path(json_file), record)
        report(
            f"seed {seed}: {outcome.accuracy:.2f} % of {len(division.test)} test objects "
            f"({outcome.search_accuracy:.2f} % in cross-validation), "
            f"{sum(outcome.seconds.values()):.1f} s; chosen on the training part: "
            + ", ".join(f"{key} {_short(value)}" for key, value in outcome.parameters.items())
        )
    return record


def summary(record: dict[str, Any]) -> str:
    """Put a record into two lines for the terminal."""
    paper = "" if record["paper"] is None else f" (paper: {record['paper']:.2f})"
    seconds = ", ".join(f"{stage} {value:.2f}" for stage, value in record["seconds"].items())
    return (
        f"{record['dataset']} {record['method']}: {record['accuracy_mean']:.2f} +- "
        f"{record['accuracy_sd']:.2f} %{paper}, {len(record['seeds'])} divisions of "
        f"{record['n_train']}/{record['n_test']}\nseconds per division: {seconds}"
    )


def write_json(path: Path, record: dict[str, Any]) -> None:
    """Write a record so that a reader, or a kill, never meets half a file."""
    part = path.with_name(path.name + ".part")
    try:
        part.write_text(json.dumps(record, indent=2) + "\n")
        os.replace(part, path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def check_writable(path: Path) -> None:
    """Raise OSError unless a file can be written at `path`; better before the work than after."""
    if path.is_dir() or not path.name:
        raise IsADirectoryError(f"cannot write a file at {str(path)!r}: it is a folder")
    if not path.parent.is_dir():
        raise FileNotFoundError(f"cannot write {path}: the folder {path.parent} does not exist")
    try:
        with tempfile.TemporaryFile(dir=path.parent):
            pass
    except OSError as error:
        raise type(error)(
            f"cannot write {path}: no file can be made in {path.parent} ({error.strerror})"
        ) from None


def _short(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
