# SPDX-License-Identifier: BSD-3-Clause
"""Tasks of dask, and the merging of their results."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from dask.base import persist
from dask.delayed import Delayed, delayed
from dask.system import CPU_COUNT

from d2ke._base.blas import one_blas_thread
from d2ke._version import __version__


class CheckedTask:
    """A function with the version of d2ke that made the task."""

    def __init__(self, function: Callable[..., Any], where: str, empty: Any):
        self.function, self.where, self.empty = function, where, empty
        self.version = __version__

    @property
    def __name__(self) -> str:
        function = self.function.func if isinstance(self.function, partial) else self.function
        return f"d2ke-{function.__name__.removeprefix('d2ke').strip('_')}"

    def __call__(self, *arguments: Any) -> Any:
        """Call the function; another version of d2ke may compute something else."""
        if __version__ != self.version:
            raise RuntimeError(
                f"the client has d2ke {self.version}, a worker has {__version__}; install the same "
                "version everywhere"
            )
        if self.empty is not None and not len(arguments[0]):
            return self.empty
        try:
            with one_blas_thread():
                return self.function(*arguments)
        except Exception as error:
            if self.where:
                error.add_note(f"in {self.where}")
            raise


def later(
    function: Callable[..., Any], *arguments: Any, where: str = "", empty: Any = None
) -> Delayed:
    """Return a task that calls a function.

    Parameters
    ----------
    function : callable
        The function to call.
    *arguments
        Its arguments, which may be tasks.
    where : str
        Name of the call in error messages.
    empty : object, optional
        The result where the first argument has no objects, instead of a call.
    """
    return delayed(CheckedTask(function, where, empty), pure=False)(*arguments)


def shared(value: Any) -> Delayed:
    """Return a value that is in the graph once, however many tasks use it."""
    return delayed(value, traverse=False)


def tree(tasks: Sequence[Delayed], merge: Callable[..., Any]) -> Delayed:
    """Merge the results of tasks, a few at a time: ``merge(*results)``."""
    tasks = list(tasks)
    n_merged = 4
    while len(tasks) > 1:
        tasks = [later(merge, *tasks[i : i + n_merged]) for i in range(0, len(tasks), n_merged)]
    return tasks[0]


def finished(*tasks: Any) -> tuple[Any, ...]:
    """Compute tasks, and leave their results where they are."""
    results = persist(*tasks)
    later(_nothing, *results).compute()
    return results


def _nothing(*_: Any) -> None:
    """Wait for the arguments."""


def on_cluster() -> bool:
    """Return whether this is a task of a cluster of dask.distributed."""
    distributed = sys.modules.get("distributed")
    try:
        return distributed is not None and bool(distributed.get_worker())
    except ValueError:
        return False


def thread_count() -> int:
    """Return how many tasks run at a time."""
    distributed = sys.modules.get("distributed")
    if distributed is None:
        return CPU_COUNT
    try:
        client = distributed.Client.current()
    except ValueError:  # without a cluster
        return CPU_COUNT
    return CPU_COUNT if client.asynchronous else max(1, sum(client.ncores().values()))
