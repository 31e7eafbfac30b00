# SPDX-License-Identifier: BSD-3-Clause
"""One thread for the BLAS while we compute, and afterwards whatever it was before."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from contextlib import AbstractContextManager, contextmanager
from functools import cache
from typing import Any

import numpy as np
import scipy.linalg  # noqa: F401  (its BLAS must be loaded when the controller looks for them)
from threadpoolctl import ThreadpoolController

from d2ke._base.threads import worker_pool


@cache
def _libraries() -> tuple[list[Any], list[Any]]:
    """Return the BLAS libraries; found once, as that takes longer than a small product.

    First those with one number of threads for the process, then those (OpenBLAS on OpenMP)
    with one for each calling thread.
    """
    every = ThreadpoolController().select(user_api="blas").lib_controllers
    own = [library for library in every if getattr(library, "threading_layer", None) == "openmp"]
    return [library for library in every if library not in own], own


def _set(libraries: list[Any], counts: list[int]) -> None:
    for library, count in zip(libraries, counts, strict=True):
        # Newer versions of threadpoolctl ignore all threads but the first that sets a number,
        # until it is released. Here, threads set and reset numbers in any order.
        release = getattr(library, "clear_controlling_thread", lambda force: None)
        release(force=True)
        library.set_num_threads(count)
        release(force=True)


def numpy_blas_threads() -> int:
    """Return how many threads numpy's BLAS uses now."""
    every = [library for libraries in _libraries() for library in libraries]
    own = [library for library in every if "numpy" in (library.filepath or "")] or every
    return max((library.get_num_threads() for library in own), default=1)


class _OneThread:
    """A limit that the first of several Python threads sets and the last one lifts.

    If each thread restored the number that it found, one would lift the limit while others
    compute, which changes their last bits, and another would leave the limit for good.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._users = 0
        self._before: list[int] = []
        self._local = threading.local()

    def __enter__(self) -> None:
        shared, own = _libraries()
        stack = self._local.__dict__.setdefault("stack", [])
        stack.append([library.get_num_threads() for library in own])
        _set(own, [1] * len(own))
        with self._lock:
            if self._users == 0:
                self._before = [library.get_num_threads() for library in shared]
                _set(shared, [1] * len(shared))
            self._users += 1

    def __exit__(self, *_: object) -> None:
        shared, own = _libraries()
        _set(own, self._local.stack.pop())
        with self._lock:
            self._users = max(self._users - 1, 0)
            if self._users == 0:
                _set(shared, self._before)

    def in_forked_child(self) -> None:
        """Forget the parent's other threads: they do not exist here, nor release the lock."""
        self._lock = threading.Lock()
        if self._users:
            self._users = 0
            _set(_libraries()[0], self._before)


_one_thread = _OneThread()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_one_thread.in_forked_child)


def one_blas_thread() -> AbstractContextManager[Any]:
    """Keep the BLAS to one thread: its threads within ours are many times slower."""
    return _one_thread


def limit_blas_of_thread() -> None:
    """Keep the BLAS to one thread in the calling worker thread, until it ends."""
    own = _libraries()[1]
    _set(own, [1] * len(own))


# Rows that one product computes. It must not depend on the number of threads: the BLAS's
# choice of algorithm depends on it, and with that the last bits.
_RUN = 256

ROWS = 4096  # whose products are added to a sum at a time


@contextmanager
def product_pool(n_threads: int | None) -> Iterator[Executor]:
    """Give a pool of Python threads, in each of which the BLAS runs on one thread."""
    with one_blas_thread(), worker_pool(n_threads, limit_blas_of_thread) as pool:
        yield pool


def row_products(rows: np.ndarray, columns: np.ndarray, n_threads: int | None) -> np.ndarray:
    """Return rows columns', computed by runs of rows on several threads."""
    result = np.empty((len(rows), len(columns)), np.result_type(rows, columns))

    def fill(begin: int) -> None:
        np.matmul(rows[begin : begin + _RUN], columns.T, out=result[begin : begin + _RUN])

    with product_pool(n_threads) as pool:
        list(pool.map(fill, range(0, len(rows), _RUN)))
    return result


def square(rows_of: Callable[[slice], np.ndarray], n: int, n_threads: int | None) -> np.ndarray:
    """Return A'A in float64 for a matrix A of n rows; rows_of(slice) returns some of them.

    Only the upper triangle is computed; below it are zeros and parts of products.
    """
    result: Any = None
    with product_pool(n_threads) as pool:
        for first in range(0, n, ROWS):
            A = rows_of(slice(first, first + ROWS)).astype(np.float64, order="C", copy=False)
            if result is None:
                result = np.zeros((A.shape[1], A.shape[1]))

            def add(begin: int, A: np.ndarray = A, result: np.ndarray = result) -> None:
                with np.errstate(over="ignore", invalid="ignore"):  # the caller checks
                    part = A[:, begin : begin + _RUN].T @ A[:, begin:]
                    result[begin : begin + _RUN, begin:] += part

            list(pool.map(add, range(0, len(result), _RUN)))
    return result
