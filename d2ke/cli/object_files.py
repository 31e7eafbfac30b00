# SPDX-License-Identifier: BSD-3-Clause
"""Files of objects, as the commands on them read them."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from d2ke.cli.result_files import in_options
from d2ke.cli.session import SILENT, Session
from d2ke.io.columns import NOTHING, Columns, FileObjects
from d2ke.io.labelled import read_file


@dataclass(frozen=True)
class Job:
    """What the commands on a file of objects take.

    Attributes
    ----------
    file : path
        The objects.
    out : path
        Where the result goes.
    columns : Columns
        Names that the command's options say.
    channels_first : bool, optional
        As for `d2ke.io.read_objects`.
    max_memory : int or str, optional
        Bytes that the blocks of a file of results may take.
    session : Session
        How to run.
    """

    file: str | os.PathLike[str]
    out: str | os.PathLike[str]
    columns: Columns = NOTHING
    channels_first: bool | None = None
    max_memory: int | str | None = None
    session: Session = SILENT

    def read(self, earlier: Columns = NOTHING) -> FileObjects:
        """Read the objects, and say what they are.

        Without names in `columns`, the `earlier` ones are used as far as the file has them.
        """
        with reported_warnings(self.session):
            held = read_file(self.file, self.columns, self.channels_first, earlier)
        known = "no labels"
        if held.labels is not None:
            known = f"labels of {len(np.unique(held.labels))} different values"
        self.session.report(f"{Path(self.file).name}: {str(held.objects).strip('<>')}; {known}")
        return held


@contextmanager
def reported_warnings(session: Session) -> Iterator[None]:
    """Report warnings as lines of the command."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    for text in dict.fromkeys(in_options(one.message) for one in caught):
        session.report(f"warning: {text}")
