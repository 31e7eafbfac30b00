# SPDX-License-Identifier: BSD-3-Clause
"""The paper's experiment section, computed cell by cell: `python -m papers.tables`."""

from __future__ import annotations

import argparse
import dataclasses
import os
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from datetime import datetime, timezone
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from d2ke._base.resuming import as_json

from d2ke._base.files import check_writable
from d2ke.cli.main import console, run_command
from d2ke.cli.options import add_options, positive
from d2ke.cli.session import SILENT, Session, interruptible, session_of
from papers import paper
from papers.approximation import kernel_errors
from papers.cells import Cell, Cells, outcome_of
from papers.datasets import Dataset, load
from papers.estimate import Estimate, duration
from papers.methods import METHODS, Division, evaluate
from papers.plan import DOMAINS, KERNEL, KINDS, Plan, Selection, missing_things, one_error
from papers.records import machine, make_record, versions, write_json
from papers.report import draw, write_report
from papers.settings import SETTINGS

# By the kind of the run.
CELLS = {kind: f"cells-{kind}" for kind in KINDS} | {"full": "cells"}
_SMALLEST_LOG_R = 2  # of a curve; the next R is twice as large


def tables(
    selection: Selection,
    *,
    out: str | os.PathLike[str] = "d2ke-tables",
    data_dir: str | os.PathLike[str] | None = None,
    command: str = "",
    session: Session = SILENT,
) -> dict[str, Any]:
    """Run methods on data sets over several divisions and write tables, figures and a report.

    Every finished cell (a method on a division) is stored in the output folder, so that a run
    that was stopped can resume; the folder is locked meanwhile.

    Parameters
    ----------
    selection : Selection
        Data sets, methods and divisions.
    out : path
        Output folder: results.json, report.md, figures, and the folder of finished cells.
    data_dir : path, optional
        Folder of the data files; by default the environment variable D2KE_DATA.
    command : str
        The user's command line, for the report.
    session : Session
        How to run; it reports each finished cell.

    Returns
    -------
    dict
        The content of results.json.

    Raises
    ------
    ValueError
        Unknown names, numbers out of range.
    FileNotFoundError
        The files of a data set chosen by name are missing, or no data set can run.
    NotADirectoryError, BlockingIOError
        If `out` is a file, or another run is writing to it.
    ImportError
        Without matplotlib, or without a package that a data set chosen by name needs.
    """
    if find_spec("matplotlib") is None:
        raise ImportError('the figures are drawn with matplotlib: pip install "d2ke[demo]"')
    folder = Path(out)
    if folder.exists() and not folder.is_dir():
        raise NotADirectoryError(f"out must be a folder; {folder} is a file")
    kept = Cells(folder / CELLS[selection.kind])
    with closing(kept):
        return _Run(selection, folder, kept, data_dir, command, session).results()


class _Run:
    """The plans of a run, and how far they are computed."""

    def __init__(
        self,
        selection: Selection,
        out: Path,
        kept: Cells,
        data_dir: str | os.PathLike[str] | None,
        command: str,
        session: Session,
    ):
        self.out, self.kept, self.data_dir = out, kept, data_dir
        self.command, self.session = command, session
        self.methods = selection.checked_methods()
        seeds = selection.checked_seeds()
        names, self.not_run = selection.checked_datasets()
        self.chosen, self.kind = selection.datasets is not None, selection.kind
        self.plans = [Plan.of(name, self.methods, seeds, self.kind, kept) for name in names]
        self.ours = self._our_records(seeds) if self.kind == "paper" else []
        self.loaded: dict[str, Dataset] = {}
        self._leave_out(missing_things(self.plans, data_dir, self.loaded))
        out.mkdir(parents=True, exist_ok=True)
        check_writable(out / "results.json")
        kept.open()
        self.estimate = Estimate()
        self.machine = machine(session.n_threads)
        self.pictures: dict[str, bytes] = {}

    def _leave_out(self, problems: dict[str, Exception]) -> None:
        """Leave out data sets that cannot be read; refuse it for chosen ones, and for all."""
        if problems and self.chosen:
            raise one_error(list(problems.values()))
        self.not_run |= {name: _reason(name, error) for name, error in problems.items()}
        self.not_run = {name: self.not_run[name] for name in paper.ORDER if name in self.not_run}
        if all(plan.name in problems and not plan.finished for plan in self.plans):
            lines = "".join(f"\n  {name}: {reason}" for name, reason in self.not_run.items())
            raise FileNotFoundError(f"no data set can be run:{lines}")

    def _our_records(self, seeds: int) -> list[dict[str, Any]]:
        """Return the records of our own settings, of cells that the output folder has."""
        with closing(Cells(self.out / CELLS["full"])) as kept:
            plans = [Plan.of(plan.name, METHODS, seeds, "full", kept) for plan in self.plans]
        return [
            record
            for plan in plans
            if plan.finished
            for record in _records(plan, METHODS, next(iter(plan.finished.values()))["summary"])
        ]

    def results(self) -> dict[str, Any]:
        """Compute what is missing, and write the report after each data set."""
        self._announce()
        results = None
        for plan in self._runnable():
            if not plan.missing:
                continue
            try:
                dataset = self.loaded.pop(plan.name, None) or load(plan.name, self.data_dir)
            except (ImportError, OSError, ValueError) as error:
                if self.chosen:
                    raise
                self.not_run[plan.name] = _reason(plan.name, error)
                results = None
                self.session.report(f"not run: {plan.name}: {self.not_run[plan.name]}")
                continue
            self._compute(plan, dataset)
            del dataset  # free its memory before the next is loaded
            self.pictures.pop(plan.name, None)
            results = self._write()
        return results or self._write()

    def _announce(self) -> None:
        """Report at the start what is left out, what is reused, and how long the rest may take."""
        for name, reason in self.not_run.items():
            self.session.report(f"not run: {name}: {reason}")
        n_reused = 0
        for plan in self.plans:
            for text in plan.stale:
                self.session.report(f"computed again: {text}")
            for cell, content in plan.finished.items():
                self.estimate.add(cell, content["wall"])
                n_reused += 1
        if n_reused:
            self.session.report(f"{n_reused} finished cells are reused from {self.kept.path}")
        left = self._left()
        if left:
            time_left = duration(self.estimate.remaining(left))
            self.session.report(f"{len(left)} cells to compute, about {time_left}")

    def _compute(self, plan: Plan, dataset: Dataset) -> None:
        for cell in plan.compare(as_json(dataset.summary)):
            self.session.report(f"{cell.label} is of other data and is computed again")
        for cell, content in _contents(plan, dataset, self.session):
            content |= {"cpu": self.machine["cpu"], "threads": self.machine["threads"]}
            self.kept.write(cell, content)
            plan.finished[cell] = content
            self.estimate.add(cell, content["wall"])
            self.session.report(self._line(cell, content))

    def _left(self) -> list[Cell]:
        return [cell for plan in self._runnable() for cell in plan.missing]

    def _runnable(self) -> list[Plan]:
        return [plan for plan in self.plans if plan.name not in self.not_run]

    def _line(self, cell: Cell, content: dict[str, Any]) -> str:
        """Describe a finished cell, and how far the whole run is."""
        if cell.method == KERNEL:
            errors = content["kernel"]
            text = f"{cell.dataset} kernel: error {errors['rms'][-1]:.2g} at R = {errors['R'][-1]}"
        else:
            text = f"{cell.label}: {content['outcome']['accuracy']:.2f} %"
        left = self._left()
        total = sum(len(plan.cells) for plan in self._runnable())
        when = f"about {duration(self.estimate.remaining(left))} left" if left else "all done"
        return f"[{total - len(left)}/{total}] {text} in {content['wall']:.1f} s; {when}"

    def _write(self) -> dict[str, Any]:
        """Write the results and the report of all cells that are finished."""
        results = self._gather() | {
            "quick": self.kind == "quick",
            "protocol": "paper" if self.kind == "paper" else "ours",
            "our_results": self.ours,
            "command": self.command,
            "date": datetime.now(timezone.utc).isoformat(timespec="seconds"),
            "machine": self.machine,
            "versions": versions(),
        }
        write_json(self.out / "results.json", results)
        for name in results["datasets"].keys() - self.pictures.keys():
            self.pictures[name] = draw(results, name)
        write_report(results, self.pictures, self.out)
        return results

    def _gather(self) -> dict[str, Any]:
        records, descriptions, kernels, contents = [], {}, {}, []
        for plan in self.plans:
            if not plan.finished:
                continue
            contents += plan.finished.values()
            summary = next(iter(plan.finished.values()))["summary"]
            descriptions[plan.name] = summary | {
                "domain": plan.source.domain,
                "distance": plan.source.distance,
                "division": "random" if plan.source.n_train is None else "published",
                "cells": len(plan.cells),
                "cells_finished": len(plan.finished),
            }
            records += _records(plan, self.methods, summary)
            kernel = plan.finished.get(Cell(plan.name, KERNEL, 0))
            if kernel is not None:
                kernels[plan.name] = kernel["kernel"]
        computed_on = {f"{content['cpu']}, {content['threads']} threads" for content in contents}
        return {
            "results": records,
            "datasets": descriptions,
            "kernel_errors": kernels,
            "not_run": [
                {"dataset": name, "reason": reason} for name, reason in self.not_run.items()
            ],
            "total_seconds": sum(content["wall"] for content in contents),
            "computed_on": sorted(computed_on),
        }


def _contents(
    plan: Plan, dataset: Dataset, session: Session
) -> Iterator[tuple[Cell, dict[str, Any]]]:
    """Compute the missing cells of a data set one by one, and yield what to store of each."""
    division = None
    for cell in plan.missing:
        if division is None or division.seed != cell.seed:
            division = Division.of(dataset, plan.setting, cell.seed, **session.computing)
        started = time.perf_counter()
        content = interruptible(partial(_content, cell, division, plan))
        content |= {
            "wall": time.perf_counter() - started,
            "fingerprint": plan.expected(cell),
            "summary": dataset.summary,
        }
        yield cell, as_json(content)  # as a resumed run reads it


def _content(cell: Cell, division: Division, plan: Plan) -> dict[str, Any]:
    if cell.method == KERNEL:
        return {"kernel": kernel_errors(division, plan.chosen, quick=plan.kind == "quick")}
    sizes = []
    # All seeds share a published division; one curve is enough there.
    if cell.seed == 0 or plan.source.n_train is None:
        sizes = [2**k for k in range(_SMALLEST_LOG_R, plan.setting.R.bit_length())]
    return {"outcome": dataclasses.asdict(evaluate(cell.method, division, sizes=sizes))}


def _records(
    plan: Plan, methods: Sequence[str], summary: dict[str, Any]
) -> Iterator[dict[str, Any]]:
    for method in methods:
        cells = [cell for cell in plan.cells if cell.method == method and cell in plan.finished]
        if cells:
            outcomes = [outcome_of(plan.finished[cell]) for cell in cells]
            sizes = summary["n_train"], summary["n_test"]
            yield make_record(plan.name, method, [cell.seed for cell in cells], outcomes, *sizes)


def _reason(name: str, error: Exception) -> str:
    """Return an error's text without the data set's name, which precedes it in the report."""
    return str(error).removeprefix(f"{name}: ")


def main(arguments: list[str] | None = None) -> int:
    """Run the command; return its exit status."""
    return run_command(_parser(), arguments)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m papers.tables",
        description="The paper's tables: all methods on all data sets, with a report. Finished "
        "cells are stored in the output folder: the same command resumes a run that was stopped.",
    )
    add = parser.add_argument
    add_options(parser, "--threads")
    add("--domain", choices=list(DOMAINS), help="only data sets of this kind")
    add("--datasets", nargs="+", choices=list(SETTINGS), metavar="NAME",
        help="default: the paper's; of " + ", ".join(SETTINGS))  # fmt: skip
    add("--methods", nargs="+", choices=list(METHODS), metavar="NAME",
        help="default: all of " + ", ".join(METHODS))  # fmt: skip
    add("--seeds", type=positive, metavar="N", help="divisions (default 5, with --quick 1)")
    kind = parser.add_mutually_exclusive_group().add_argument
    kind("--quick", action="store_true", help="search less and take fewer random objects")
    kind("--paper", action="store_true",
         help="the paper's own protocol, beside the numbers that it prints")  # fmt: skip
    add("--out", default="d2ke-tables", metavar="DIR", help="output folder (default d2ke-tables)")
    add("--data", metavar="DIR", help="folder of the data files (default: $D2KE_DATA)")
    parser.set_defaults(run=_run)
    return parser


def _run(options: argparse.Namespace) -> None:
    fields = dataclasses.fields(Selection)
    selection = Selection(**{field.name: getattr(options, field.name) for field in fields})
    try:
        tables(
            selection,
            out=options.out,
            data_dir=options.data,
            command=options.command,
            session=session_of(options),
        )
    except KeyboardInterrupt:
        raise KeyboardInterrupt(
            f"finished cells are in {options.out}; to resume: {options.command}"
        ) from None
    print(f"report: {os.path.join(options.out, 'report.md')} and results.json")


if __name__ == "__main__":
    console(main)
