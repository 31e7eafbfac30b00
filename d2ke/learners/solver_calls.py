# SPDX-License-Identifier: BSD-3-Clause
"""How the C solvers are called: in worker threads, quietly, and with a seeded C rand().

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
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

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


def run(
    solvers: Sequence[Callable[[], Any]], n_threads: int = 1, seed: int | None = None
) -> list[tuple[Any, str]]:
    """Call each solver and return, in their order, (result, what it printed).

    With `seed`, the solvers draw from the C library's rand(): it is seeded before each of them,
    and they run one at a time, since the generator's state belongs to the whole process.
    Returns or raises only when no solver runs any more; on Ctrl-C the ones not yet begun are
    dropped.
    """

    def call(solver: Callable[[], Any]) -> tuple[Any, str]:
        _captured.lines = []
        if seed is None:
            result = solver()
        else:
            with _rand_lock:
                _srand(seed)
                result = solver()
        return result, b"".join(_captured.lines).decode("ascii", "replace")

    workers = 1 if seed is not None else min(n_threads, len(solvers))
    pool = ThreadPoolExecutor(workers, thread_name_prefix="d2ke")
    try:
        return list(pool.map(call, solvers))
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _srand(seed: int) -> None:
    library = ctypes.CDLL("ucrtbase" if sys.platform == "win32" else None)
    library.srand(ctypes.c_uint(seed))
