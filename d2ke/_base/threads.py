# SPDX-License-Identifier: BSD-3-Clause
"""How many threads a call may use."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

from d2ke._base import limits
from d2ke._base.checks import integer
from d2ke._ext import omp

_MOST = 4096  # more than any machine has, and a C int holds it
_VALID = 1.0  # seconds for which an answer of the system counts
_forked = False
_granted = 0.0, 0  # when the system granted threads, and how many


def _in_forked_child() -> None:
    global _forked
    _forked = True


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_in_forked_child)


def thread_count(n_threads: int | None) -> int:
    """Return n_threads, or for None all that this process may use.

    That is the number of processors open to the process, OMP_NUM_THREADS if it
    is set, and never more than a container's quota.
    """
    if n_threads is None:
        return available_threads()
    return min(integer("n_threads", n_threads, 1), _MOST)


def forked() -> bool:
    """Whether this process was forked after d2ke was imported, without a new program."""
    return _forked


def team_size(n_threads: int | None) -> int:
    """Return the threads of an OpenMP region: as `thread_count`, but 1 where there are no others.

    In a forked process GCC's OpenMP waits for ever for the parent's threads, of whichever library
    they were; where the system grants no threads it ends the process. Results do not depend on
    the number.
    """
    count = thread_count(n_threads)
    if _forked or (count > 1 and not _can_start(count - 1)):
        return 1
    return count


def _can_start(count: int) -> bool:
    """Whether so many threads can be started; it is tried where a limit is near."""
    global _granted
    when, most = _granted
    if count <= most and time.monotonic() - when < _VALID:
        return True
    # The system may count a thread that has ended for a moment more: hence twice as many.
    if limits.grants_threads(2 * count):
        _granted = time.monotonic(), count
        return True
    release, started = threading.Event(), []
    try:
        for _ in range(2 * count):
            thread = threading.Thread(target=release.wait, daemon=True)
            thread.start()
            started.append(thread)
    except RuntimeError:
        return False
    finally:
        release.set()
        for thread in started:
            thread.join()
    return True


def available_threads() -> int:
    """Threads that this process may use."""
    return limits.available_processors(omp.max_threads())


@contextmanager
def worker_pool(
    n_threads: int | None, initializer: Callable[[], None] | None = None
) -> Iterator[ThreadPoolExecutor]:
    """Give a pool of Python threads; an exception, Ctrl-C above all, does not wait for them."""
    pool = ThreadPoolExecutor(thread_count(n_threads), "d2ke", initializer)
    try:
        yield pool
    except BaseException:
        pool.shutdown(wait=False, cancel_futures=True)
        raise
    pool.shutdown()
