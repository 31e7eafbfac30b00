# SPDX-License-Identifier: BSD-3-Clause
"""Finished cells of the tables on disk, from which a killed run resumes."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from d2ke._base.resume import changed
from d2ke._version import __version__
from d2ke.datasets import Source
from d2ke.experiments.methods import Outcome
from d2ke.experiments.records import write_json


class Cell(NamedTuple):
    """One piece of work: a method, or the kernel's error, on one division of a data set."""

    dataset: str
    method: str
    seed: int

    @property
    def label(self) -> str:
        """The cell's name on the terminal."""
        return f"{self.dataset} {self.method} seed {self.seed}"


def fingerprint(source: Source, values: Mapping[str, Any], **others: Any) -> dict[str, Any]:
    """Return what a cell depends on, as far as it is known before the data are read.

    The values are those of the data set's setting that the method uses. A finished cell with
    another fingerprint is computed again.
    """
    return {
        "d2ke": __version__,
        "setting": _digest(values),
        "data": _digest([source.domain, source.distance, source.n_train, source.counts]),
        **others,
    }


def _digest(value: Any) -> str:
    text = json.dumps(value, sort_keys=True, default=_plain)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _plain(value: Any) -> Any:
    if hasattr(value, "items"):
        return dict(value)
    return getattr(value, "__qualname__", None) or repr(value)


class Store:
    """The finished cells of full or of quick runs, a file for each."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def path(self, cell: Cell) -> Path:
        """Return the file of a cell."""
        return self.folder / cell.dataset / cell.method / f"{cell.seed}.json"

    def read(self, cell: Cell, expected: dict[str, Any]) -> tuple[dict[str, Any] | None, list[str]]:
        """Return a finished cell, or None and the parts of its fingerprint that differ."""
        try:
            content = json.loads(self.path(cell).read_text())
            stored = dict(content["fingerprint"])
            content["wall"], content["summary"]
        except FileNotFoundError:
            return None, []
        except (ValueError, LookupError, TypeError):
            return None, ["file"]
        differences = changed(stored, expected)
        return (None if differences else content), differences

    def write(self, cell: Cell, content: dict[str, Any]) -> None:
        """Write a finished cell, whole or not at all."""
        path = self.path(cell)
        path.parent.mkdir(parents=True, exist_ok=True)
        write_json(path, content)


def outcome_of(content: dict[str, Any]) -> Outcome:
    """Rebuild the outcome that a cell holds."""
    fields = dict(content["outcome"])
    for curve in ("by_R", "seconds_by_R"):
        fields[curve] = {int(R): value for R, value in fields[curve].items()}
    return Outcome(**fields)
