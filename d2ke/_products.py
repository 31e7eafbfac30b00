# SPDX-License-Identifier: BSD-3-Clause
"""Matrix products on an agreed number of threads, with the same bits for any of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from contextlib import contextmanager

import numpy as np

from d2ke._blas import for_this_thread, one_blas_thread
from d2ke._threads import worker_pool

# Rows that one product computes. Were it to depend on the number of threads, so would
# the BLAS's choice of algorithm and the last bits.
_RUN = 256
ROWS = 4096  # whose products are added to a sum at a time


@contextmanager
def product_pool(n_threads: int | None) -> Iterator[Executor]:
    """Give a pool of Python threads, in each of which the BLAS runs on one thread."""
    with one_blas_thread(), worker_pool(n_threads, for_this_thread) as pool:
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
    """Return A'A in float64 for a matrix A of n rows, of which rows_of(slice) gives some.

    Only the upper triangle is computed; below it are zeros and parts of products.
    """
    result = None
    with product_pool(n_threads) as pool:
        for first in range(0, n, ROWS):
            A = rows_of(slice(first, first + ROWS)).astype(np.float64, order="C", copy=False)
            if result is None:
                result = np.zeros((A.shape[1], A.shape[1]))

            def add(begin: int, A=A, result=result) -> None:
                with np.errstate(over="ignore", invalid="ignore"):  # it is for the caller to see
                    part = A[:, begin : begin + _RUN].T @ A[:, begin:]
                    result[begin : begin + _RUN, begin:] += part

            list(pool.map(add, range(0, len(result), _RUN)))
    return result
