# SPDX-License-Identifier: BSD-3-Clause
"""Each object among its nearest neighbours: it precedes others at the same distance."""

from __future__ import annotations

import numpy as np

from d2ke.distances.problem import PairBlock, PairwiseProblem
from d2ke.distances.record_pairs import RecordDistance
from d2ke.objects.container import take

_ROWS = 16  # objects whose pairs are all computed together


def itself_first(
    pairs: PairwiseProblem, indices: np.ndarray, distances: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Put each object before others at the same distance in the lists of the nearest.

    The lists belong to ``pairs.x``, whose objects have the numbers from ``pairs.first`` on, and
    are sorted by distance and index. An object missing from its list replaces the last entry if its
    distance to itself equals the last one.
    """
    numbers = pairs.first + np.arange(len(indices))[:, None]
    lacking = (indices != numbers).all(axis=1) & (indices[:, -1] >= 0)
    rows = np.flatnonzero(lacking)
    tied = rows[self_distances(pairs, rows) == distances[rows, -1]]
    indices[tied, -1] = numbers[tied, 0]
    order = np.lexsort((indices, indices != numbers, distances))
    return np.take_along_axis(indices, order, 1), np.take_along_axis(distances, order, 1)


def self_distances(pairs: PairwiseProblem, rows: np.ndarray) -> np.ndarray:
    """Return the distances of objects to themselves."""
    result = np.empty(len(rows), pairs.dtype)
    step = _ROWS if isinstance(pairs.distance, (str, RecordDistance)) else 1
    for at in range(0, len(rows), step):
        chunk = rows[at : at + step]
        x, first = take(pairs.x, chunk), pairs.first + int(chunk[0])
        block = PairBlock(x, x, False, first, first)
        result[at : at + step] = np.diagonal(pairs.distances(block, 1))
    return result
