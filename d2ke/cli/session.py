# SPDX-License-Identifier: BSD-3-Clause
"""Threads, progress and output of one run of a command."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from concurrent.futures import wait
from dataclasses import dataclass
from functools import partial
from typing import Any

from d2ke._base.errors import READER_LEFT
from d2ke._base.progress import bars, is_shown
from d2ke._base.signals import TICK
from d2ke._base.threads import result_of, worker_pool


@dataclass(frozen=True)
class Session:
    """The threads and the output of one run of a command.

    Attributes
    ----------
    n_threads : int, optional
        Threads; None for all that this process may use.
    progress : bool, optional
        Whether to show progress; None for long work on a terminal.
    report : callable
        Called with each line of text.
    """

    n_threads: int | None = None
    progress: bool | None = False
    report: Callable[[str], None] = lambda line: None

    @property
    def computing(self) -> dict[str, Any]:
        """The options of functions that compute: threads and progress."""
        return {"n_threads": self.n_threads, "progress": self.progress}

    def long(
        self, description: str, function: Callable[..., Any], *args: Any, **kwargs: Any
    ) -> Any:
        """Call a function that takes long; on a terminal, show the time that has passed."""
        work = partial(function, *args, **kwargs)
        return interruptible(work, description if is_shown(self.progress) else None)


def session_of(options: argparse.Namespace) -> Session:
    """Return the `Session` of a command: it shows progress and prints reports."""
    return Session(n_threads=options.threads, progress=None, report=_print)


def _print(line: str) -> None:
    """Print a line, on a terminal above a progress bar.

    If its reader, such as `head`, has left, files are still to be written; see `main`.
    """
    try:
        if sys.stderr.isatty():
            bars().write(line)
            sys.stdout.flush()
        else:
            print(line, flush=True)
    except OSError as error:
        if error.errno not in READER_LEFT:
            raise


def interruptible(work: Callable[[], Any], description: str | None = None) -> Any:
    """Call a function in a thread; with a description, show the time that has passed."""
    with worker_pool(1) as pool:
        future = pool.submit(work)
        if description is not None and not wait([future], TICK).done:
            with bars()(desc=description, bar_format="{desc}: {elapsed}", leave=False) as clock:
                while not wait([future], TICK).done:
                    clock.refresh()
        return result_of(future)
