# SPDX-License-Identifier: BSD-3-Clause
"""How a command runs, whatever it computes."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from d2ke._base.interruptible import interruptible


@dataclass(frozen=True)
class Session:
    """The data folder, the threads and the output of one run of a command.

    Attributes
    ----------
    data_dir : path, optional
        Folder of the data files; by default the environment variable D2KE_DATA.
    n_threads : int, optional
        Threads; None for all that this process may use.
    progress : bool
        Show progress bars (on a terminal only).
    report : callable
        Called with each line of text.
    """

    data_dir: str | os.PathLike | None = None
    n_threads: int | None = None
    progress: bool = False
    report: Callable[[str], None] = lambda line: None

    @property
    def computing(self) -> dict[str, int | bool | None]:
        """The options of functions that compute: threads and progress."""
        return {"n_threads": self.n_threads, "progress": self.progress}

    def long(
        self, description: str, function: Callable[..., Any], *args: Any, **others: Any
    ) -> Any:
        """Call a function that takes long; on a terminal, show the time that has passed."""
        work = partial(function, *args, **others)
        return interruptible(work, description=description, progress=self.progress)


SILENT = Session()
