# SPDX-License-Identifier: BSD-3-Clause
"""Neighbours as a sparse graph whose rows have the nearest first."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from d2ke.distances.problem import PairwiseProblem
from d2ke.neighbors.info import NeighborsInfo
from d2ke.neighbors.runs import SearchOptions, find_nearest, find_within
from d2ke.objects.container import offsets_of


def neighbor_graph(
    pairs: PairwiseProblem,
    same: bool,
    options: SearchOptions,
    *,
    k: int | None = None,
    radius: float | None = None,
) -> tuple[sparse.csr_array, NeighborsInfo]:
    """Return the graph of the k nearest, or of all within a radius, and the search's counts.

    Each row has the nearest first, as scikit-learn's graphs do. Distances of 0 are stored entries.
    `same`: whether Y is X.
    """
    if k is None:
        near, info = find_within(pairs, same, radius, options)
        return nearest_first(near, same), info
    indices, distances, info = find_nearest(pairs, same, k, radius, options)
    return graph_of(indices, distances, pairs.shape[1]), info


def graph_of(indices: np.ndarray, distances: np.ndarray, n_columns: int) -> sparse.csr_array:
    """Return lists of the nearest as a graph; an index of -1 is no neighbour."""
    filled = indices >= 0
    starts, shape = offsets_of(filled.sum(axis=1)), (len(indices), n_columns)
    kind = np.int32 if max(*shape, starts[-1]) < 2**31 else np.int64
    arrays = distances[filled], indices[filled].astype(kind), starts.astype(kind)
    return sparse.csr_array(arrays, shape=shape)


def nearest_first(graph: sparse.csr_array, same: bool = False) -> sparse.csr_array:
    """Return a graph whose rows are sorted by distance, then by index.

    `same`: rows and columns are the same objects; the object itself comes first.
    """
    rows = np.repeat(np.arange(graph.shape[0]), np.diff(graph.indptr))
    first = graph.indices != rows if same else graph.indices  # the object itself
    order = np.lexsort((graph.indices, first, graph.data, rows))
    arrays = graph.data[order], graph.indices[order], graph.indptr
    return sparse.csr_array(arrays, shape=graph.shape)
