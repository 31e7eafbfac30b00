# SPDX-License-Identifier: BSD-3-Clause
"""The paper's experiment section, run anew and kept cell by cell: `d2ke tables`."""

from __future__ import annotations

import dataclasses
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime, timezone
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from d2ke._base.checks import choice, integer
from d2ke._base.files import check_writable
from d2ke._base.interruptible import interruptible
from d2ke.datasets import Dataset, load
from d2ke.experiments import paper
from d2ke.experiments.approximation import kernel_errors
from d2ke.experiments.cells import Cell, Store, as_json, outcome_of
from d2ke.experiments.estimate import Estimate, duration
from d2ke.experiments.machine import machine, versions
from d2ke.experiments.methods import METHODS, Division, evaluate
from d2ke.experiments.plan import KERNEL, Plan, chosen_datasets, missing_things, one_error
from d2ke.experiments.records import make_record, write_json
from d2ke.experiments.report import draw, write_report

_SMALLEST_R = 4


def tables(
    datasets: Sequence[str] | None = None,
    *,
    domain: str | None = None,
    methods: Sequence[str] | None = None,
    seeds: int | None = None,
    quick: bool = False,
    out: str | os.PathLike = "d2ke-tables",
    data_dir: str | os.PathLike | None = None,
    n_threads: int | None = None,
    command: str = "",
    progress: bool = False,
    report: Callable[[str], None] = lambda line: None,
) -> dict[str, Any]:
    """Run methods on data sets over several divisions and write tables, figures and a report.

    Every finished cell (a method on a division) is kept in the output folder, so that a run that
    was stopped goes on where it was.

    Parameters
    ----------
    datasets : sequence of str, optional
        Names; by default all of the paper's whose files and packages are there.
    domain : {"series", "strings", "images"}, optional
        Only data sets of this kind.
    methods : sequence of str, optional
        Names of methods; by default all.
    seeds : int, optional
        Divisions; by default 5, or 1 for a quick run. Methods without randomness of their own
        run once where the data set has a published division.
    quick : bool
        Search less and take fewer random objects.
    out : path
        Output folder: results.json, report.md, report.html, figures, and the finished cells.
    data_dir : path, optional
        Folder of the data files; by default the environment variable D2KE_DATA.
    n_threads : int, optional
        Threads; None for all that this process may use.
    command : str
        How the user called this, for the report.
    progress : bool
        Show progress bars (on a terminal only).
    report : callable
        Takes a line of text for each finished cell.

    Returns
    -------
    dict
        What results.json holds.

    Raises
    ------
    ValueError
        Unknown names, numbers out of range.
    FileNotFoundError
        A data set was asked for by name and its files are missing, or no data set can be run.
    ImportError
        Without matplotlib, or without a package that a data set asked for by name needs.
    """
    if find_spec("matplotlib") is None:
        raise ImportError('the figures are drawn with matplotlib: pip install "d2ke[demo]"')
    wanted = [choice("method", one, METHODS) for one in methods or METHODS]
    methods = [method for method in METHODS if method in wanted]
    seeds = (1 if quick else 5) if seeds is None else integer("seeds", seeds, 1)
    names, not_run = chosen_datasets(datasets, domain)
    out = Path(out)
    store = Store(out / ("cells-quick" if quick else "cells"))
    plans = [Plan.of(name, methods, seeds, quick, store) for name in names]
    loaded: dict[str, Dataset] = {}
    problems = missing_things(plans, data_dir, loaded)
    if problems and datasets is not None:
        raise one_error(list(problems.values()))
    not_run |= {name: _reason(name, error) for name, error in problems.items()}
    not_run = {name: not_run[name] for name in paper.ORDER if name in not_run}
    if all(plan.name in problems and not plan.finished for plan in plans):
        lines = "".join(f"\n  {name}: {reason}" for name, reason in not_run.items())
        raise FileNotFoundError(f"no data set can be run:{lines}")
    out.mkdir(parents=True, exist_ok=True)
    check_writable(out / "results.json")

    estimate = Estimate()
    _announce(plans, not_run, store, estimate, report)
    here = machine(n_threads)
    pictures: dict[str, bytes] = {}

    def finish() -> dict[str, Any]:
        results = _results(plans, methods, not_run)
        results |= {
            "quick": quick,
            "command": command,
            "date": datetime.now(timezone.utc).isoformat(timespec="seconds"),
            "machine": here,
            "versions": versions(),
        }
        write_json(out / "results.json", results)
        for name in results["datasets"].keys() - pictures.keys():
            pictures[name] = draw(results, name)
        write_report(results, pictures, out)
        return results

    results = None
    for plan in plans:
        if plan.name in not_run or not plan.missing:
            continue
        try:
            dataset = loaded.pop(plan.name, None) or load(plan.name, data_dir)
        except (ImportError, OSError, ValueError) as error:
            if datasets is not None:
                raise
            not_run[plan.name] = _reason(plan.name, error)
            results = None
            report(f"not run: {plan.name}: {not_run[plan.name]}")
            continue
        for cell in plan.compare(as_json(dataset.summary)):
            report(f"{cell.label} was made from other data and is computed anew")
        for cell, content in _computed(plan, dataset, n_threads=n_threads, progress=progress):
            content |= {"cpu": here["cpu"], "threads": here["threads"]}
            store.write(cell, content)
            plan.finished[cell] = content
            estimate.add(cell, content["wall"])
            report(_told(cell, content, plans, not_run, estimate))
        del dataset  # room for the next
        pictures.pop(plan.name, None)
        results = finish()
    return results or finish()


def _computed(
    plan: Plan, dataset: Dataset, **options: Any
) -> Iterator[tuple[Cell, dict[str, Any]]]:
    """Compute the missing cells of a data set, one after the other, as they are to be kept."""
    division = None
    for cell in plan.missing:
        if division is None or division.seed != cell.seed:
            division = Division.of(dataset, plan.setting, cell.seed, **options)
        started = time.perf_counter()
        content = interruptible(_compute, cell, division, plan)
        content |= {
            "wall": time.perf_counter() - started,
            "fingerprint": plan.expected(cell),
            "summary": dataset.summary,
        }
        # What it is after it was written and read, so that resumed runs are alike.
        yield cell, as_json(content)


def _announce(
    plans: Sequence[Plan],
    not_run: Mapping[str, str],
    store: Store,
    estimate: Estimate,
    report: Callable[[str], None],
) -> None:
    """Say at the start what is left out, what is taken over, and how long the rest may take."""
    for name, reason in not_run.items():
        report(f"not run: {name}: {reason}")
    done = 0
    for plan in plans:
        for text in plan.stale:
            report(f"computed anew: {text}")
        for cell, content in plan.finished.items():
            estimate.add(cell, content["wall"])
            done += 1
    if done:
        report(f"{done} finished cells are taken from {store.folder}")
    left = _left(plans, not_run)
    if left:
        report(f"{len(left)} cells to compute, about {duration(estimate.remaining(left))}")


def _reason(name: str, error: Exception) -> str:
    """Return an error's text without the data set's name, which stands before it anyway."""
    return str(error).removeprefix(f"{name}: ")


def _left(plans: Sequence[Plan], not_run: Mapping[str, str]) -> list[Cell]:
    return [cell for plan in plans if plan.name not in not_run for cell in plan.missing]


def _compute(cell: Cell, division: Division, plan: Plan) -> dict[str, Any]:
    if cell.method == KERNEL:
        return {"kernel": kernel_errors(division, plan.chosen, quick=plan.quick)}
    sizes, R = [], _SMALLEST_R
    # On a published division, which all seeds share, one curve tells as much as several.
    while R <= plan.setting.R and (cell.seed == 0 or plan.source.n_train is None):
        sizes.append(R)
        R *= 2
    return {"outcome": dataclasses.asdict(evaluate(cell.method, division, sizes=sizes))}


def _told(
    cell: Cell,
    content: Mapping[str, Any],
    plans: Sequence[Plan],
    not_run: Mapping[str, str],
    estimate: Estimate,
) -> str:
    """Put a finished cell, and how far the whole is, into a line for the terminal."""
    if cell.method == KERNEL:
        errors = content["kernel"]
        what = f"{cell.dataset} kernel: error {errors['rms'][-1]:.2g} at R = {errors['R'][-1]}"
    else:
        what = f"{cell.label}: {content['outcome']['accuracy']:.2f} %"
    left = _left(plans, not_run)
    total = sum(len(plan.cells) for plan in plans if plan.name not in not_run)
    when = f"about {duration(estimate.remaining(left))} left" if left else "all done"
    return f"[{total - len(left)}/{total}] {what} in {content['wall']:.1f} s; {when}"


def _results(
    plans: Sequence[Plan], methods: Sequence[str], not_run: Mapping[str, str]
) -> dict[str, Any]:
    """Gather the finished cells of all data sets."""
    records, descriptions, kernels, used = [], {}, {}, []
    for plan in plans:
        if not plan.finished:
            continue
        used += plan.finished.values()
        summary = next(iter(plan.finished.values()))["summary"]
        descriptions[plan.name] = summary | {
            "domain": plan.source.domain,
            "distance": plan.source.distance,
            "division": "random" if plan.source.n_train is None else "published",
            "cells": len(plan.cells),
            "cells_finished": len(plan.finished),
        }
        for method in methods:
            cells = [cell for cell in plan.cells if cell.method == method and cell in plan.finished]
            if cells:
                outcomes = [outcome_of(plan.finished[cell]) for cell in cells]
                sizes = summary["n_train"], summary["n_test"]
                seeds = [cell.seed for cell in cells]
                records.append(make_record(plan.name, method, seeds, outcomes, *sizes))
        kernel = plan.finished.get(Cell(plan.name, KERNEL, 0))
        if kernel is not None:
            kernels[plan.name] = kernel["kernel"]
    return {
        "results": records,
        "datasets": descriptions,
        "kernel_errors": kernels,
        "not_run": [{"dataset": name, "reason": reason} for name, reason in not_run.items()],
        "total_seconds": sum(content["wall"] for content in used),
        "computed_on": sorted({f"{one['cpu']}, {one['threads']} threads" for one in used}),
    }
