# SPDX-License-Identifier: BSD-3-Clause
"""What `d2ke tables` is to compute: data sets, their cells, and what keeps them from it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import Any

from d2ke._base.checks import choice
from d2ke.datasets import REGISTRY, Dataset, Source, load
from d2ke.datasets._files import find_files
from d2ke.experiments import paper, settings
from d2ke.experiments.cells import Cell, Store, fingerprint
from d2ke.experiments.settings import SETTINGS, Setting

# What the command line calls them, and the registry.
DOMAINS = {"series": "series", "strings": "strings", "images": "sets"}
KERNEL = "kernel"  # the cell of a data set that is no method: the error of its kernel


@dataclass
class Plan:
    """The cells of one data set, and those of them that are finished.

    Attributes
    ----------
    name : str
        The data set.
    setting : Setting
        What is searched.
    quick : bool
        Whether the run is a quick one.
    cells : list of Cell
        All, in the order in which they are computed.
    finished : dict of Cell to dict
        What they hold.
    stale : list of str
        Cells of an earlier run that no longer hold, and why.
    """

    name: str
    setting: Setting
    quick: bool
    cells: list[Cell]
    finished: dict[Cell, dict[str, Any]] = field(default_factory=dict)
    stale: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, name: str, methods: Sequence[str], seeds: int, quick: bool, store: Store) -> Plan:
        """List the cells of a data set and take over what an earlier run has finished."""
        setting = settings.quick(SETTINGS[name]) if quick else SETTINGS[name]
        plan = cls(name, setting, quick, _cells(name, methods, seeds))
        for cell in plan.cells:
            content, differences = store.read(cell, plan.expected(cell))
            if content is not None:
                plan.finished[cell] = content
            elif differences:
                plan.stale.append(f"{cell.label} (other {', '.join(differences)})")
        return plan

    @property
    def source(self) -> Source:
        """The data set's row of the registry."""
        return REGISTRY[self.name]

    @property
    def missing(self) -> list[Cell]:
        """Those that are to be computed."""
        return [cell for cell in self.cells if cell not in self.finished]

    @property
    def chosen(self) -> dict[str, Any] | None:
        """What D2KE chose on the first division, with which the kernel is looked at."""
        content = self.finished.get(Cell(self.name, "d2ke", 0))
        return None if content is None else content["outcome"]["parameters"]

    def expected(self, cell: Cell) -> dict[str, Any]:
        """Return the fingerprint of what would be computed now."""
        method, others = cell.method, {}
        if method == KERNEL:
            method, others = "d2ke", {"parameters": self.chosen}
        values = settings.used(self.setting, method)
        return fingerprint(self.source, values, quick=self.quick, **others)

    def compare(self, summary: dict[str, Any]) -> list[Cell]:
        """Give up finished cells of data with other counts; return them."""
        others = [cell for cell, kept in self.finished.items() if kept["summary"] != summary]
        for cell in others:
            del self.finished[cell]
        return others


def chosen_datasets(
    datasets: Sequence[str] | None, domain: str | None
) -> tuple[list[str], dict[str, str]]:
    """Return the data sets to run, in the paper's order, and why others of them are not."""
    if domain is not None:
        choice("domain", domain, DOMAINS)
    if datasets is None:
        wanted = [name for name, kind in paper.ORDER.items() if domain in (None, kind)]
        names = [name for name in wanted if name in SETTINGS]
        not_run = {
            name: paper.UNPUBLISHED.get(name, "d2ke has no setting for it")
            for name in wanted
            if name not in names
        }
        return names, not_run
    for name in datasets:
        choice("dataset", name, SETTINGS)
        if domain is not None and REGISTRY[name].domain != DOMAINS[domain]:
            raise ValueError(f"dataset {name} is not of the domain {domain}")
    order = [*paper.ORDER, *SETTINGS]
    return sorted(set(datasets), key=order.index), {}


def _cells(name: str, methods: Sequence[str], seeds: int) -> list[Cell]:
    """Return a data set's cells by division, since methods on one division may share its work."""
    published = REGISTRY[name].n_train is not None
    cells = []
    for seed in range(seeds):
        for method in methods:
            if seed == 0 or not (published and method in settings.DETERMINISTIC):
                cells.append(Cell(name, method, seed))
        if seed == 0 and "d2ke" in methods:
            cells.append(Cell(name, KERNEL, 0))
    return cells


def missing_things(
    plans: Iterable[Plan], data_dir: Any, loaded: dict[str, Dataset]
) -> dict[str, Exception]:
    """Return what keeps data sets with work left from being read; needs no reading itself."""
    problems: dict[str, Exception] = {}
    for plan in plans:
        if not plan.missing:
            continue
        source = plan.source
        try:
            find_files(
                source.name,
                source.files,
                data_dir,
                title=source.title,
                page=source.page,
                alternatives=source.alternatives,
            )
            if source.package and find_spec(source.package) is None:
                # The loader itself says what to install; perhaps it can do without.
                loaded[plan.name] = load(plan.name, data_dir)
        except (ImportError, FileNotFoundError) as error:
            problems[plan.name] = error
    return problems


def one_error(errors: Sequence[Exception]) -> Exception:
    """Join errors into one that says all of them."""
    kind = FileNotFoundError
    if all(isinstance(error, ImportError) for error in errors):
        kind = ImportError
    return kind("\n".join(str(error) for error in errors))
