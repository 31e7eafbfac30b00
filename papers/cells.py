# SPDX-License-Identifier: BSD-3-Clause
"""Finished cells of the tables on disk, from which a killed run resumes."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from d2ke._base.resuming import changed
from d2ke._version import __version__
from papers.checkpoint import Checkpoint
from papers.datasets import Source
from papers.methods import Outcome

# Each cell has a fingerprint of its own, so that other settings do not refuse all of them.
RECORD = {"cells of": "papers.tables"}


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
        "setting": digest(values),
        "data": digest([source.domain, source.distance, source.n_train, source.counts]),
        **others,
    }


def digest(value: Any) -> str:
    """Return a short hash of values."""
    text = json.dumps(value, sort_keys=True, default=_plain)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _plain(value: Any) -> Any:
    if hasattr(value, "items"):
        return dict(value)
    return getattr(value, "__qualname__", None) or repr(value)


class Cells:
    """The finished cells of full or of quick runs, in a checkpoint.

    Nothing is made on the disk before `open`; one run at a time can have it open.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._kept: Checkpoint | None = None
        if path.exists():
            self.open()

    def open(self) -> None:
        """Open the checkpoint, if it is not open yet; make it if it is not there."""
        if self._kept is None:
            self._kept = Checkpoint(self.path, RECORD)

    def read(self, cell: Cell, expected: dict[str, Any]) -> tuple[dict[str, Any] | None, list[str]]:
        """Return a finished cell, or None and the parts of its fingerprint that differ."""
        content = None if self._kept is None else self._kept.get(cell)
        if content is None:
            return None, []
        differences = changed(content["fingerprint"], expected)
        return (None if differences else content), differences

    def write(self, cell: Cell, content: dict[str, Any]) -> None:
        """Write a finished cell; it is on the disk when this returns."""
        assert self._kept is not None
        self._kept[cell] = content

    def close(self) -> None:
        """Unlock the checkpoint."""
        if self._kept is not None:
            self._kept.close()


def outcome_of(content: dict[str, Any]) -> Outcome:
    """Rebuild the outcome that a cell holds."""
    fields = dict(content["outcome"])
    for curve in ("by_R", "seconds_by_R"):
        fields[curve] = {int(R): value for R, value in fields[curve].items()}
    return Outcome(**fields)
