# SPDX-License-Identifier: BSD-3-Clause
"""Products of matrices with one BLAS thread in each of our threads."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from functools import cache
from operator import methodcaller
from typing import Any

import numpy as np
import scipy.linalg  # noqa: F401  (its BLAS must be loaded when the controller looks for them)
from threadpoolctl import ThreadpoolController

from d2ke._base.threads import worker_pool


@cache
def _libraries() -> tuple[list[Any], list[Any]]:
    """Find the BLAS libraries, once, since that takes longer than a small product.

    The first list has those with one number of threads for the process, the second those
    (OpenBLAS on OpenMP) with one for each calling thread.
    """
    every = ThreadpoolController().select(user_api="blas").lib_controllers
    by_thread = [lib for lib in every if getattr(lib, "threading_layer", None) == "openmp"]
    return [lib for lib in every if lib not in by_thread], by_thread


def _set(libraries: list[Any], counts: list[int]) -> None:
    for library, count in zip(libraries, counts, strict=True):
        # Newer versions of threadpoolctl let only the thread that first set a number set another,
        # until it is released. Here, threads set and reset numbers in any order.
        release = getattr(library, "clear_controlling_thread", lambda force: None)
        release(force=True)
        library.set_num_threads(count)
        release(force=True)


_thread_count = methodcaller("get_num_threads")


_lock = threading.Lock()
_users = 0  # Python threads, and nested blocks of them, that keep the BLAS to one thread
_before: list[int] = []  # the numbers of threads that the last of them restores


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Keep the BLAS to one thread: its threads within ours are many times slower.

    The first of several Python threads sets the limit, and the last lifts it. If each restored the
    number that it found, one would lift the limit while others compute, which changes their last
    bits, and another would leave the limit for good.
    """
    global _users, _before
    shared, by_thread = _libraries()
    counts = list(map(_thread_count, by_thread))
    _set(by_thread, [1] * len(by_thread))
    with _lock:
        if _users == 0:
            _before = list(map(_thread_count, shared))
            _set(shared, [1] * len(shared))
        _users += 1
    try:
        yield
    finally:
        _set(by_thread, counts)
        with _lock:
            _users -= 1
            if _users == 0:
                _set(shared, _before)


def limit_blas_of_thread() -> None:
    """Keep the BLAS to one thread in the calling worker thread, until it ends."""
    by_thread = _libraries()[1]
    _set(by_thread, [1] * len(by_thread))


# Rows of one product. They decide which algorithm the BLAS takes, and with it the last bits, so
# they must not depend on the number of threads.
_RUN = 256

ROWS = 4096  # rows of one term of a sum of products


@contextmanager
def product_pool(n_threads: int | None) -> Iterator[Executor]:
    """Yield a pool of Python threads, in each of which the BLAS uses one thread."""
    with one_blas_thread(), worker_pool(n_threads, limit_blas_of_thread) as pool:
        yield pool


def row_products(rows: np.ndarray, columns: np.ndarray, n_threads: int | None) -> np.ndarray:
    """Compute rows @ columns.T, 256 rows at a time, on several threads if there are more."""
    result = np.empty((len(rows), len(columns)), np.result_type(rows, columns))
    if len(rows) <= _RUN:
        with one_blas_thread():
            return np.matmul(rows, columns.T, out=result)

    def fill(begin: int) -> None:
        np.matmul(rows[begin : begin + _RUN], columns.T, out=result[begin : begin + _RUN])

    with product_pool(n_threads) as pool:
        list(pool.map(fill, range(0, len(rows), _RUN)))
    return result


def square(rows_of: Callable[[slice], np.ndarray], n: int, n_threads: int | None) -> np.ndarray:
    """Compute A'A in float64 for a matrix A of n rows, which rows_of(slice) returns in part.

    Only the upper triangle is valid.
    """
    result: Any = None
    with product_pool(n_threads) as pool:
        for first in range(0, n, ROWS):
            A = rows_of(slice(first, first + ROWS)).astype(np.float64, order="C", copy=False)
            if result is None:
                result = np.zeros((A.shape[1], A.shape[1]))

            def add(begin: int, A: np.ndarray = A, result: np.ndarray = result) -> None:
                with np.errstate(over="ignore", invalid="ignore"):  # the caller checks
                    product = A[:, begin : begin + _RUN].T @ A[:, begin:]
                    result[begin : begin + _RUN, begin:] += product

            list(pool.map(add, range(0, len(result), _RUN)))
    return result
