# SPDX-License-Identifier: BSD-3-Clause
"""Progress bars by tqdm; by default work of over two seconds shows one, if somebody sees it."""

from __future__ import annotations

import importlib
import multiprocessing.process
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

import numpy as np

from d2ke._base.errors import ArgumentTypeError
from d2ke._base.signals import deferred_interrupts

T = TypeVar("T")

_DELAY = 2.0  # seconds until work counts as long


def bars() -> Any:
    """Return the class tqdm; Ctrl-C waits for its import, which could lose it or break its lock."""
    with deferred_interrupts():
        if in_notebook():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # without ipywidgets it writes text
                from tqdm.auto import tqdm
        else:
            from tqdm import tqdm  # which loads in half the time
        tqdm.get_lock()
    return tqdm


@contextmanager
def progress_bar(
    progress: bool | None, description: str, unit: str = "pair"
) -> Iterator[Callable[[int, int], None] | None]:
    """Yield a function ``report(done, total)``, or None if no bar is shown.

    With True the first report makes the bar; with None the first report after two seconds does.
    """
    if not is_shown(progress):
        yield None
        return
    bar, clear, started = None, None, time.time()

    def report(done: int, total: int) -> None:
        nonlocal bar, clear
        if bar is None:
            if progress is None and time.time() - started < _DELAY:
                return
            bar, clear = _bar(desc=description, total=total, unit=unit)
            bar.start_t, bar.n = started, done
            bar.refresh()
        bar.total = total
        bar.update(done - bar.n)

    try:
        yield report
    finally:
        if bar is not None:
            bar.close()
        if clear is not None:
            clear()


def _bar(**options: Any) -> tuple[Any, Callable[[], None] | None]:
    """Return a bar and, in a notebook, a function that clears its cell from the saved output."""
    tqdm = bars()
    if not any(base.__module__ == "tqdm.notebook" for base in tqdm.__mro__):
        return tqdm(**options, unit_scale=True, leave=False), None
    display = importlib.import_module("IPython.display").display
    bar = tqdm(**options, unit_scale=True, leave=False, display=False)
    handle = display(bar.container, display_id=True)
    return bar, lambda: handle.update({"text/plain": ""}, raw=True)


def stages(items: Sequence[T], description: str, progress: bool | None) -> Iterable[T]:
    """Iterate over the stages of a longer piece of work behind a progress bar."""
    with progress_bar(progress, description, "it") as report:
        if report is not None:
            report(0, len(items))
        for i, item in enumerate(items, 1):
            yield item
            if report is not None:
                report(i, len(items))


def check_progress(progress: Any) -> bool | None:
    """Return True, False or None."""
    if progress is None:
        return None
    if not isinstance(progress, (bool, np.bool_)):
        raise ArgumentTypeError("progress", f"must be True, False or None, got {progress!r}")
    return bool(progress)


def is_shown(progress: bool | None) -> bool:
    """Return whether bars may be shown; for None, only on a terminal or in a notebook.

    Then only the main thread of the main process shows bars, since several would overwrite each
    other.
    """
    if progress is not None:
        return bool(check_progress(progress)) and sys.stderr is not None
    return (
        sys.stderr is not None  # it is None in Windows' pythonw.exe
        and threading.current_thread() is threading.main_thread()
        and multiprocessing.process.current_process().name == "MainProcess"
        and (sys.stderr.isatty() or in_notebook())
    )


def in_notebook() -> bool:
    """Return whether this runs in a kernel of Jupyter, whatever shows its output."""
    get_ipython = getattr(sys.modules.get("IPython"), "get_ipython", None)
    return get_ipython is not None and "IPKernelApp" in getattr(get_ipython(), "config", ())
