# SPDX-License-Identifier: BSD-3-Clause
"""Neighbours as a sparse graph whose rows have the nearest first."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from d2ke.neighbors.info import NeighborsInfo
from d2ke.neighbors.search import nearest, within


def neighbor_graph(
    X: Any, Y: Any = None, *, k: int | None = None, radius: float | None = None, **options: Any
) -> tuple[sparse.csr_array, NeighborsInfo]:
    """Return the graph of the k nearest, of those within a radius, or both, and what was computed.

    Each row is sorted by distance, then by index, the object itself before all others, as
    scikit-learn's graphs are, so that users need not sort it. Distances of 0 are stored entries.
    `options` are those of `nearest`.
    """
    shape = len(X), len(X if Y is None else Y)
    if k is not None:
        indices, distances, info = nearest(X, Y, k=k, radius=radius, info=True, **options)
        found = indices >= 0
        indices, distances = indices[found], distances[found]
        starts = np.append(0, found.sum(axis=1).cumsum())
    else:
        near, info = within(X, Y, radius=radius, info=True, **options)
        rows = np.repeat(np.arange(shape[0]), np.diff(near.indptr))
        others = near.indices != rows if Y is None else near.indices
        order = np.lexsort((near.indices, others, near.data, rows))
        indices, distances, starts = near.indices[order], near.data[order], near.indptr
    kind = np.int32 if max(*shape, indices.size) < 2**31 else np.int64
    parts = distances, indices.astype(kind), starts.astype(kind)
    return sparse.csr_array(parts, shape=shape), info
