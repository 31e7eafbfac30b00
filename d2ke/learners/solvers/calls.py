# SPDX-License-Identifier: BSD-3-Clause
"""Calls of the C solvers in worker threads, quietly, and with a seeded C rand().

LIBLINEAR and LIBSVM print through one hook per process. The hook installed here collects what
the calling thread's solver prints, so that nothing reaches the terminal and warnings can be
raised in Python. Python code that runs inside a hook would swallow Ctrl-C in the main thread;
hence solvers always run in worker threads, where no signal is handled.
"""

from __future__ import annotations

import ctypes
import os
import sys
import threading
from collections import deque
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

from d2ke._base.signals import TICK

_captured = threading.local()
_rand_lock = threading.Lock()


def _in_forked_child() -> None:
    global _rand_lock
    _rand_lock = threading.Lock()  # the thread that held it does not exist here


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_in_forked_child)


def _collect(text: bytes) -> None:
    lines = getattr(_captured, "lines", None)
    if lines is not None:
        lines.append(text)


# Kept alive here: C holds only its address.
PRINT_HOOK = ctypes.CFUNCTYPE(None, ctypes.c_char_p)(_collect)


def interface(module: str, what: str) -> Any:
    """Import the Python interface of LIBLINEAR or LIBSVM, which `what` needs.

    Imported at the first use, since both import numba if it is installed, which takes longer than
    importing d2ke.
    """
    try:
        return import_module(module)
    except Exception as error:  # they raise a bare one where only their library is missing
        raise ImportError(
            f"{what} needs {module.split('.')[0].upper()}, which cannot be loaded ({error}): pip "
            'install "d2ke[svm]", with a C++ compiler on Linux and macOS. Without it, train solves '
            "-s 2 of a dense Z, without -R"
        ) from None


def run(
    solvers: Sequence[Callable[[], Any]], n_threads: int = 1, seed: int | None = None
) -> list[tuple[Any, str]]:
    """Call each solver; return pairs of its result and its printed text, in order.

    With `seed`, the C library's rand() is seeded before each solver, and solvers run one at a time,
    since the generator's state belongs to the whole process. Ctrl-C is raised at once. Running
    solvers cannot be stopped: they end in the background, hold their data until then, and do not
    keep the process alive. Later solvers with a seed wait for them. Errors are raised when no
    solver is running.
    """
    results: list[Any] = [None] * len(solvers)
    errors: dict[int, BaseException] = {}
    left = deque(range(len(solvers)))

    def call(solver: Callable[[], Any]) -> tuple[Any, str]:
        _captured.lines = []
        if seed is None:
            result = solver()
        else:
            with _rand_lock:
                library = ctypes.CDLL("ucrtbase" if sys.platform == "win32" else None)
                library.srand(ctypes.c_uint(seed))
                result = solver()
        return result, b"".join(_captured.lines).decode("ascii", "replace")

    def work() -> None:
        while True:
            try:
                number = left.popleft()
            except IndexError:
                return
            try:
                results[number] = call(solvers[number])
            except BaseException as error:
                errors[number] = error
                left.clear()

    workers = 1 if seed is not None else min(n_threads, len(solvers))
    threads = [threading.Thread(target=work, name="d2ke", daemon=True) for _ in range(workers)]
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            while thread.is_alive():
                thread.join(TICK)
    except BaseException:
        left.clear()
        raise
    if errors:
        raise errors[min(errors)]
    return results
