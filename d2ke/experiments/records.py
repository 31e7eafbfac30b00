# SPDX-License-Identifier: BSD-3-Clause
"""What is kept of a method on a data set, and how a file of it is written."""

from __future__ import annotations

import json
import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from d2ke._base.files import write_file
from d2ke._version import __version__
from d2ke.experiments import paper
from d2ke.experiments.methods import Outcome


def make_record(
    dataset: str,
    method: str,
    seeds: Sequence[int],
    outcomes: Sequence[Outcome],
    n_train: int,
    n_test: int,
) -> dict[str, Any]:
    """Sum up a method's outcomes on divisions of one data set.

    Parameters
    ----------
    dataset, method : str
        Their names.
    seeds : sequence of int
        One for each division.
    outcomes : sequence of Outcome
        One for each division, at least one.
    n_train, n_test : int
        Objects in either part.

    Returns
    -------
    dict
        dataset, method, accuracy_mean and accuracy_sd (percent; 0 for a single division), paper
        (the paper's accuracy or None), seconds (of one division, mean), seconds_by_stage (the
        same by stage), parameters, accuracies and search_accuracies (one per division), by_R and
        seconds_by_R (by R, lists of the values of the divisions that have a curve), seeds,
        n_train, n_test, note, version.
    """
    accuracies = [one.accuracy for one in outcomes]
    stages = {
        stage: statistics.fmean(one.seconds[stage] for one in outcomes)
        for stage in outcomes[0].seconds
    }
    return {
        "dataset": dataset,
        "method": method,
        "accuracy_mean": statistics.fmean(accuracies),
        "accuracy_sd": statistics.stdev(accuracies) if len(accuracies) > 1 else 0.0,
        "paper": paper.ACCURACIES.get((dataset, method)),
        "seconds": sum(stages.values()),
        "seconds_by_stage": stages,
        "parameters": [one.parameters for one in outcomes],
        "accuracies": accuracies,
        "search_accuracies": [one.search_accuracy for one in outcomes],
        "by_R": _by_R([one.by_R for one in outcomes]),
        "seconds_by_R": _by_R([one.seconds_by_R for one in outcomes]),
        "seeds": list(seeds),
        "n_train": n_train,
        "n_test": n_test,
        "note": "; ".join(dict.fromkeys(one.note for one in outcomes if one.note)),
        "version": __version__,
    }


def _by_R(curves: Sequence[dict[int, float]]) -> dict[int, list[float]]:
    """Gather the values at each R, of the divisions that have a curve."""
    curves = [one for one in curves if one]
    return {
        R: [one[R] for one in curves]
        for R in (curves[0] if curves else ())
        if all(R in one for one in curves)
    }


def write_json(path: Path, record: dict[str, Any]) -> None:
    """Write a record so that a reader, or a kill, never meets half a file."""
    write_file(path, (json.dumps(record, indent=2) + "\n").encode())
