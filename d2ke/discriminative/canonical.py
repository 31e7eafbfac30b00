# SPDX-License-Identifier: BSD-3-Clause
"""A canonical order of objects: it depends on their similarities, not on the input order."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_array

from d2ke.objects.graphs import splitmix

_BLOCK = 2**16  # similarities hashed at a time


def equivalence_ranks(rows: Any, codes: np.ndarray, *, square: bool) -> np.ndarray:
    """Return ranks of the objects; indistinguishable objects share a rank.

    `rows` are points or features or, if `square`, similarities. Ranks by similarities are refined
    until objects of one rank have the same similarities to the objects of each rank. `codes` are
    the known labels.
    """
    rows = np.asarray(rows, dtype=np.float64) + 0.0  # -0.0 becomes 0.0
    if not square:
        return _ranks(np.column_stack([codes, rows]))
    ranks = _ranks(np.column_stack([codes, rows.diagonal()]))
    while True:
        with np.errstate(over="ignore"):
            seeds = splitmix(ranks.astype(np.uint64))
        sums = np.empty(len(rows), np.uint64)
        height = max(1, _BLOCK // len(rows))
        for low in range(0, len(rows), height):
            bits = np.ascontiguousarray(rows[low : low + height]).view(np.uint64)
            with np.errstate(over="ignore"):  # sums modulo 2^64 are independent of the order
                sums[low : low + height] = splitmix(bits ^ seeds).sum(axis=1, dtype=np.uint64)
        finer = _ranks(np.column_stack([ranks.astype(np.uint64), sums]))
        if finer.max() == ranks.max():
            return finer
        ranks = finer


def sparse_equivalence_ranks(K: csr_array, codes: np.ndarray) -> np.ndarray:
    """Return the `equivalence_ranks` by sparse similarities; zeros are ignored."""
    ranks = _ranks(np.column_stack([codes, K.diagonal()]))
    bits = (K.data + 0.0).astype(np.float64).view(np.uint64)
    rows = np.repeat(np.arange(K.shape[0]), np.diff(K.indptr))
    while True:
        with np.errstate(over="ignore"):
            values = splitmix(bits ^ splitmix(ranks.astype(np.uint64))[K.indices])
            sums = np.zeros(K.shape[0], np.uint64)
            np.add.at(sums, rows, values)
        finer = _ranks(np.column_stack([ranks.astype(np.uint64), sums]))
        if finer.max() == ranks.max():
            return finer
        ranks = finer


def _ranks(rows: np.ndarray) -> np.ndarray:
    return np.unique(rows, axis=0, return_inverse=True)[1].ravel()


def average_by_rank(values: np.ndarray, ranks: np.ndarray) -> np.ndarray:
    """Average values or rows over the objects of each rank."""
    counts = np.bincount(ranks)
    if counts.max() == 1:
        return values
    columns = values.reshape(len(values), -1).T
    means = np.column_stack([np.bincount(ranks, column) / counts for column in columns])
    return means[ranks].reshape(values.shape)


def first_argmax(scores: np.ndarray) -> np.ndarray:
    """Return the column of each row's largest score; ties go to the first."""
    return (scores >= scores.max(axis=1, keepdims=True) * (1 - 1e-9)).argmax(axis=1)
