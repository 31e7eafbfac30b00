# SPDX-License-Identifier: BSD-3-Clause
"""The number of threads that a call may use, and pools of Python threads."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from d2ke._base.checks import integer
from d2ke._base.signals import TICK
from d2ke._ext import omp

T = TypeVar("T")
_forked = False


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
    if n_threads is not None:
        # No machine has more than 4096, and a C int holds that.
        return min(integer("n_threads", n_threads, 1), 4096)
    count = omp.max_threads()
    if hasattr(os, "sched_getaffinity"):
        count = min(count, len(os.sched_getaffinity(0)))
    return max(1, min(count, _cpu_quota() or count))


def forked() -> bool:
    """Return whether this process was forked after d2ke was imported, without a new program."""
    return _forked


def team_size(n_threads: int | None) -> int:
    """Return the threads of an OpenMP region: as `thread_count`, but 1 in a forked process.

    In a forked process GCC's OpenMP would wait forever for threads that only the parent has.
    Results do not depend on the number. Regions of little work take fewer, see ``worth`` in
    `d2ke/_ext/tasks.pyx`.
    """
    count = thread_count(n_threads)
    return 1 if _forked else count


@cache
def _cpu_quota() -> int | None:
    """Return the number of processors that control groups grant, rounded up; None if no limit."""
    try:
        quota, period = Path("/sys/fs/cgroup/cpu.max").read_text("utf-8").split()
        return None if quota == "max" else math.ceil(int(quota) / int(period))
    except (OSError, ValueError):
        return None


def result_of(future: Future[T]) -> T:
    """Return the result of a future; wait in ticks, because Windows cannot interrupt a wait."""
    while not future.done():
        wait([future], TICK)
    return future.result()


class Workers(ThreadPoolExecutor):
    """A pool of Python threads; Ctrl-C ends the wait for their results."""

    def map(self, fn: Callable[..., T], *iterables: Iterable[Any], **_: Any) -> Iterator[T]:
        """Call the function with all items, and yield the results in the order of the items.

        The pool keeps no result that it has yielded.
        """
        futures = [self.submit(fn, *items) for items in zip(*iterables, strict=True)][::-1]
        return (result_of(futures.pop()) for _ in range(len(futures)))


@contextmanager
def worker_pool(
    n_threads: int | None, initializer: Callable[[], None] | None = None
) -> Iterator[Workers]:
    """Yield a pool of Python threads; after an exception, such as Ctrl-C, nobody waits for them."""
    pool = Workers(thread_count(n_threads), "d2ke", initializer)
    try:
        yield pool
    except BaseException:
        pool.shutdown(wait=False, cancel_futures=True)
        raise
    pool.shutdown()
