# SPDX-License-Identifier: BSD-3-Clause
"""Tasks that run only where they give the bits of the process that made them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from dask.base import persist
from dask.delayed import Delayed, delayed
from dask.system import CPU_COUNT

from d2ke._base.blas import one_blas_thread
from d2ke._ext import isa
from d2ke._version import __version__

_FAN_IN = 4  # results that one task of a tree merges


def made_with() -> tuple[str, str, str]:
    """Return what last bits depend on beside the inputs."""
    return __version__, np.__version__, isa.selected()


class CheckedTask:
    """A function with the versions and the instruction set of the process that made the task."""

    def __init__(self, function: Callable[..., Any], where: str, empty: Any):
        self.function, self.where, self.empty = function, where, empty
        self.made_with = made_with()

    @property
    def __name__(self) -> str:
        function = self.function.func if isinstance(self.function, partial) else self.function
        return f"d2ke-{function.__name__.removeprefix('d2ke').strip('_')}"

    def __call__(self, *arguments: Any) -> Any:
        """Call the function, or raise an error that explains why its bits may differ here."""
        if made_with() != self.made_with:
            raise _different(self.made_with, {"this worker": made_with()})
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
        Its arguments, some of them tasks.
    where : str
        Place of the call, for error messages.
    empty : object, optional
        The result where the first argument has no objects, instead of a call.
    """
    return delayed(CheckedTask(function, where, empty), pure=False)(*arguments)


def shared(value: Any) -> Delayed:
    """Return a value that the graph has once, whatever number of tasks use it."""
    return delayed(value, traverse=False)


def tree(tasks: Sequence[Delayed], merge: Callable[..., Any]) -> Delayed:
    """Merge the results of tasks, a few at a time: ``merge(*results)``."""
    tasks = list(tasks)
    while len(tasks) > 1:
        tasks = [later(merge, *tasks[i : i + _FAN_IN]) for i in range(0, len(tasks), _FAN_IN)]
    return tasks[0]


def finished(*tasks: Any) -> tuple[Any, ...]:
    """Compute tasks, and leave their results where they are."""
    kept = persist(*tasks)
    later(_nothing, *kept).compute()
    return kept


def _nothing(*_: Any) -> None:
    """Wait for the arguments."""


def check_workers() -> None:
    """Refuse a client some of whose workers compute other last bits than this process.

    Tasks check it again: workers may join later.
    """
    client = _client()
    if client is None or client.asynchronous:
        return
    answers = client.run(made_with, on_error="ignore")  # of those that are lost there is no answer
    others = {name: answer for name, answer in answers.items() if answer != made_with()}
    if others:
        raise _different(made_with(), others)


def thread_count() -> int:
    """Return how many tasks run at a time."""
    client = _client()
    if client is None or client.asynchronous:
        return CPU_COUNT
    return max(1, sum(client.ncores().values()))


def _client() -> Any:
    """Return the client that computes dask collections; None without a cluster."""
    distributed = sys.modules.get("distributed")
    if distributed is None:
        return None
    try:
        return distributed.Client.current()
    except ValueError:
        return None


def _different(ours: tuple[str, ...], others: dict[str, tuple[str, ...]]) -> RuntimeError:
    text = "d2ke {}, numpy {} and the instruction set {}"
    listed = "; ".join(f"{name} has {text.format(*row)}" for name, row in sorted(others.items()))
    return RuntimeError(
        f"workers may give other last bits: {listed}; the client has {text.format(*ours)}. Install "
        "the same versions everywhere, and start all processes with one D2KE_ISA (baseline, avx2 "
        "or avx512) that all processors have"
    )
