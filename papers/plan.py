# SPDX-License-Identifier: BSD-3-Clause
"""The work of `papers.tables`: data sets, their cells, and what is missing for them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import Any

from d2ke._base.checks import choice, integer
from papers import paper, settings
from papers.cells import Cell, Cells, fingerprint
from papers.datasets import REGISTRY, Dataset, Source, load
from papers.datasets.files import find_files
from papers.methods import METHODS
from papers.settings import SETTINGS, Setting

# By their names on the command line, those in the registry.
DOMAINS = {"series": "series", "strings": "strings", "images": "sets"}
KERNEL = "kernel"  # the cell of a data set for the error of its kernel, beside its methods


@dataclass(frozen=True)
class Selection:
    """The part of the experiments to run.

    Attributes
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
    paper : bool
        Run the paper's own protocol: its data sets and methods, with the settings of
        `papers.settings.published`.
    """

    datasets: Sequence[str] | None = None
    domain: str | None = None
    methods: Sequence[str] | None = None
    seeds: int | None = None
    quick: bool = False
    paper: bool = False

    @property
    def kind(self) -> str:
        """The settings of the run, a key of `KINDS`."""
        if self.quick and self.paper:
            raise ValueError("quick and paper exclude each other: choose one of them")
        return "paper" if self.paper else "quick" if self.quick else "full"

    def checked_methods(self) -> list[str]:
        """Return the methods in their usual order."""
        usual = paper.METHODS if self.paper else METHODS
        chosen_names = [choice("method", method, METHODS) for method in self.methods or usual]
        return [method for method in METHODS if method in chosen_names]

    def checked_seeds(self) -> int:
        """Return the number of divisions."""
        if self.seeds is None:
            return 1 if self.quick else 5
        return integer("seeds", self.seeds, 1)

    def checked_datasets(self) -> tuple[list[str], dict[str, str]]:
        """Return the data sets in the paper's order, and why others of the paper do not run."""
        domain = self.domain
        if domain is not None:
            choice("domain", domain, DOMAINS)
        if self.datasets is None:
            chosen_names = [name for name, kind in paper.ORDER.items() if domain in (None, kind)]
            not_run = {
                name: paper.UNPUBLISHED.get(name, "d2ke has no setting for it")
                for name in chosen_names
                if name not in SETTINGS
            }
            if self.paper:
                chosen_names = [name for name in chosen_names if (name, "d2ke") in paper.ACCURACIES]
            return [name for name in chosen_names if name in SETTINGS], not_run
        for name in self.datasets:
            choice("dataset", name, SETTINGS)
            if domain is not None and REGISTRY[name].domain != DOMAINS[domain]:
                raise ValueError(f"dataset {name} is not of the domain {domain}")
        order = [*paper.ORDER, *SETTINGS]
        return sorted(set(self.datasets), key=order.index), {}


# The setting of a data set by its name, for each kind of run.
KINDS = {
    "full": lambda name: SETTINGS[name],
    "quick": lambda name: settings.quick(SETTINGS[name]),
    "paper": settings.published,
}


@dataclass
class Plan:
    """The cells of one data set, finished or not.

    Attributes
    ----------
    name : str
        The data set.
    setting : Setting
        Its search space.
    kind : str
        Of the run, a key of `KINDS`.
    cells : list of Cell
        All, in the order in which they are computed.
    finished : dict of Cell to dict
        Their content.
    stale : list of str
        Cells of an earlier run that cannot be reused, and why.
    """

    name: str
    setting: Setting
    kind: str
    cells: list[Cell]
    finished: dict[Cell, dict[str, Any]] = field(default_factory=dict)
    stale: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, name: str, methods: Sequence[str], seeds: int, kind: str, kept: Cells) -> Plan:
        """List the cells of a data set and reuse those that an earlier run finished."""
        cells = _cells(name, methods, seeds)
        if kind == "paper":  # which has no table of the kernel's error
            cells = [cell for cell in cells if cell.method != KERNEL]
        plan = cls(name, KINDS[kind](name), kind, cells)
        for cell in plan.cells:
            content, differences = kept.read(cell, plan.expected(cell))
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
        """The cells that are not finished."""
        return [cell for cell in self.cells if cell not in self.finished]

    @property
    def chosen(self) -> dict[str, Any] | None:
        """The parameters that D2KE chose on the first division; the kernel's error uses them."""
        content = self.finished.get(Cell(self.name, "d2ke", 0))
        return None if content is None else content["outcome"]["parameters"]

    def expected(self, cell: Cell) -> dict[str, Any]:
        """Return the fingerprint of the cell as it would be computed now."""
        method, others = cell.method, {}
        if method == KERNEL:
            method, others = "d2ke", {"parameters": self.chosen}
        values = settings.used(self.setting, method)
        if self.kind == "paper":
            others = others | {"protocol": "paper"}
        return fingerprint(self.source, values, quick=self.kind == "quick", **others)

    def compare(self, summary: dict[str, Any]) -> list[Cell]:
        """Drop finished cells of data with other counts; return them."""
        others = [cell for cell, kept in self.finished.items() if kept["summary"] != summary]
        for cell in others:
            del self.finished[cell]
        return others


def _cells(name: str, methods: Sequence[str], seeds: int) -> list[Cell]:
    """Return a data set's cells by division, as methods on one division share distances."""
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
    """Return why data sets with missing cells cannot be read, without reading them."""
    problems: dict[str, Exception] = {}
    for plan in plans:
        if not plan.missing:
            continue
        package = plan.source.package
        try:
            find_files(plan.source, data_dir)
            if package and find_spec(package) is None:
                # The loader says what to install; with a cached result it needs nothing.
                loaded[plan.name] = load(plan.name, data_dir)
        except (ImportError, FileNotFoundError) as error:
            problems[plan.name] = error
    return problems


def one_error(errors: Sequence[Exception]) -> Exception:
    """Join errors into one."""
    imports = all(isinstance(error, ImportError) for error in errors)
    kind = ImportError if imports else FileNotFoundError
    return kind("\n".join(str(error) for error in errors))
