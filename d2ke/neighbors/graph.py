# SPDX-License-Identifier: BSD-3-Clause
"""Neighbours as a sparse graph whose rows have the nearest first."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from d2ke.distances.problem import PairwiseProblem
from d2ke.neighbors.info import NeighborsInfo
from d2ke.neighbors.runs import SearchOptions, find_nearest, find_within


def neighbor_graph(
    pairs: PairwiseProblem,
    same: bool,
    options: SearchOptions,
    *,
    k: int | None = None,
    radius: float | None = None,
) -> tuple[sparse.csr_array, NeighborsInfo]:
    """Return the graph of the k nearest, of those within a radius, or both, and what was computed.

    Each row is sorted by distance, then by index, the object itself before all others, as
    scikit-learn's graphs are, so that users need not sort it. Distances of 0 are stored entries.
    `same`: whether Y is X.
    """
    shape = pairs.shape
    if k is not None:
        indices, distances, info = find_nearest(pairs, same, k, radius, options)
        filled = indices >= 0
        indices, distances = indices[filled], distances[filled]
        starts = np.append(0, filled.sum(axis=1).cumsum())
    else:
        near, info = find_within(pairs, same, radius, options)
        rows = np.repeat(np.arange(shape[0]), np.diff(near.indptr))
        others = near.indices != rows if same else near.indices
        order = np.lexsort((near.indices, others, near.data, rows))
        indices, distances, starts = near.indices[order], near.data[order], near.indptr
    kind = np.int32 if max(*shape, indices.size) < 2**31 else np.int64
    arrays = distances, indices.astype(kind), starts.astype(kind)
    return sparse.csr_array(arrays, shape=shape), info
