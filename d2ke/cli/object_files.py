# SPDX-License-Identifier: BSD-3-Clause
"""Files of objects, as the commands on them read them."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from d2ke.cli.result_files import in_options
from d2ke.experiments.session import SILENT, Session
from d2ke.io import read_objects
from d2ke.objects.container import Objects


@dataclass(frozen=True)
class Job:
    """What the commands on a file of objects take.

    Attributes
    ----------
    file : path
        The objects.
    out : path
        Where the result goes.
    columns : mapping
        Arguments of `d2ke.io.read_objects`: objects, labels, ids, time, channels_first.
    max_memory : int or str, optional
        Bytes that the computation may take.
    session : Session
        How to run.
    """

    file: str | os.PathLike[str]
    out: str | os.PathLike[str]
    columns: Mapping[str, Any] = field(default_factory=dict)
    max_memory: int | str | None = None
    session: Session = SILENT

    @property
    def computing(self) -> dict[str, Any]:
        """The options of functions that compute."""
        return {**self.session.computing, "max_memory": self.max_memory}

    def read(self) -> tuple[Objects, np.ndarray | None]:
        """Read the objects, and say what they are."""
        with reported_warnings(self.session):
            objects, labels = read_objects(self.file, **self.columns)
        known = "no labels"
        if labels is not None:
            known = f"labels of {len(np.unique(labels))} different values"
        self.session.report(f"{Path(self.file).name}: {str(objects).strip('<>')}; {known}")
        return objects, labels


@contextmanager
def reported_warnings(session: Session) -> Iterator[None]:
    """Report warnings as lines of the command."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    for text in dict.fromkeys(str(one.message) for one in caught):
        session.report(f"warning: {in_options(text)}")
