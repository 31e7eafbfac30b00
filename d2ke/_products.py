# SPDX-License-Identifier: BSD-3-Clause
"""Matrix products on an agreed number of threads, with the same bits for any of them."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import contextmanager

import numpy as np
from threadpoolctl import threadpool_limits

from d2ke._threads import worker_pool

# Rows that one product computes. Were it to depend on the number of threads, so would
# the BLAS's choice of algorithm and the last bits.
_RUN = 256


@contextmanager
def product_pool(n_threads: int | None) -> Iterator[Executor]:
    """Give a pool of Python threads, in each of which the BLAS runs on one thread.

    A BLAS that starts threads of its own in each product would be many times slower.
    """
    with threadpool_limits(limits=1, user_api="blas"), worker_pool(n_threads) as pool:
        yield pool


def row_products(rows: np.ndarray, columns: np.ndarray, n_threads: int | None) -> np.ndarray:
    """Return rows columns', computed by runs of rows on several threads."""
    result = np.empty((len(rows), len(columns)), np.result_type(rows, columns))

    def fill(begin: int) -> None:
        np.matmul(rows[begin : begin + _RUN], columns.T, out=result[begin : begin + _RUN])

    with product_pool(n_threads) as pool:
        list(pool.map(fill, range(0, len(rows), _RUN)))
    return result
