# SPDX-License-Identifier: BSD-3-Clause
"""Records: of a method on a data set, of the machine and the versions; and their files."""

from __future__ import annotations

import json
import os
import platform
import statistics
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from d2ke._base.config import configuration
from d2ke._base.files import write_file
from d2ke._base.memory import memory_limit
from d2ke._base.threads import thread_count
from d2ke._version import __version__
from papers import paper
from papers.methods import Outcome


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
        One for each division, at least outcome.
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
    accuracies = [outcome.accuracy for outcome in outcomes]
    stages = {
        stage: statistics.fmean(outcome.seconds[stage] for outcome in outcomes)
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
        "parameters": [outcome.parameters for outcome in outcomes],
        "accuracies": accuracies,
        "search_accuracies": [outcome.search_accuracy for outcome in outcomes],
        "by_R": _by_R([outcome.by_R for outcome in outcomes]),
        "seconds_by_R": _by_R([outcome.seconds_by_R for outcome in outcomes]),
        "seeds": list(seeds),
        "n_train": n_train,
        "n_test": n_test,
        "note": "; ".join(dict.fromkeys(outcome.note for outcome in outcomes if outcome.note)),
        "version": __version__,
    }


def _by_R(curves: Sequence[dict[int, float]]) -> dict[int, list[float]]:
    """Gather the values at each R from the divisions that have a curve."""
    curves = [curve for curve in curves if curve]
    return {
        R: [curve[R] for curve in curves]
        for R in (curves[0] if curves else ())
        if all(R in curve for curve in curves)
    }


def write_json(path: Path, record: dict[str, Any]) -> None:
    """Write a record, whole or not at all."""
    write_file(path, (json.dumps(record, indent=2) + "\n").encode())


def machine(n_threads: int | None) -> dict[str, str | int | float]:
    """Return the processor, the instruction set used, cores, threads, memory and system."""
    return {
        "cpu": _cpu(),
        "cores": os.cpu_count() or 1,
        "threads": thread_count(n_threads),
        "memory_gib": round(memory_limit() / 2**30, 1),
        "instruction_set": configuration()["instruction set"],
        "system": f"{platform.system()} {platform.machine()}",
    }


def versions() -> dict[str, str]:
    """Return the versions of d2ke, Python and the packages underneath."""
    rows = configuration()
    packages = {"python": platform.python_version(), "d2ke": rows["d2ke"]}
    for name in ("numpy", "scipy", "liblinear-official", "libsvm-official"):
        packages[name] = rows[name]
    for name in ("matplotlib", "scikit-learn", "opencv-python-headless", "opencv-python"):
        try:
            packages[name] = version(name)
        except PackageNotFoundError:
            continue
    return packages


def _cpu() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine() or "unknown"
