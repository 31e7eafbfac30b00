# SPDX-License-Identifier: BSD-3-Clause
"""Progress bars: shown on a terminal, silent elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from d2ke._base.checks import flag
from d2ke._base.signals import deferred_interrupts

T = TypeVar("T")


def bars() -> Any:
    """Return the class tqdm; Ctrl-C waits for its import, which would lose it or break the lock."""
    with deferred_interrupts():
        from tqdm import tqdm

        tqdm.get_lock()
    return tqdm


@contextmanager
def progress_bar(progress: bool, description: str) -> Iterator[Callable[[int, int], None] | None]:
    """Yield a function ``report(done, total)``, or None if nothing is shown."""
    if not _is_shown(progress):
        yield None
        return
    with bars()(desc=description, unit="pair", unit_scale=True, leave=False, delay=0.5) as bar:

        def report(done: int, total: int) -> None:
            bar.total = total
            bar.update(done - bar.n)

        yield report


def stages(items: Iterable[T], description: str, progress: bool) -> Iterable[T]:
    """Iterate over the stages of a longer piece of work behind a progress bar."""
    if not _is_shown(progress):
        return items
    return bars()(items, desc=description, leave=False)


def _is_shown(progress: bool) -> bool:
    terminal = sys.stderr is not None and sys.stderr.isatty()  # None in Windows' pythonw.exe
    return flag("progress", progress) and terminal
