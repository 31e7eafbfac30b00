# SPDX-License-Identifier: BSD-3-Clause
"""The record that describes a neighbour search."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from d2ke._base.memory import memory_limit
from d2ke.distances.problem import PairwiseProblem

_TILE_BYTES = 1 << 26


@dataclass(frozen=True)
class NeighborSearch:
    """A search for the neighbours of checked objects.

    Attributes
    ----------
    pairs : PairwiseProblem
        The objects and their distance.
    same : bool
        Whether Y is X.
    skip : bool
        Whether an object is left out of its own neighbours.
    n_threads : int
        Threads.
    metric : bool
        Whether the distance is a metric, according to the user.
    k : int
        How many nearest are wanted; 0 for all within the radius.
    radius : float
        The largest distance of a neighbour, a number of the dtype of the distances.
    hidden : ndarray of bool, shape (m,), or None
        Objects of Y that are no neighbours of any; only where Y is not X.
    report : callable or None
        ``report(done, total)`` follows the pairs that are done with.
    """

    pairs: PairwiseProblem
    same: bool
    skip: bool
    n_threads: int
    metric: bool = False
    k: int = 0
    radius: float = math.inf
    hidden: np.ndarray | None = None
    report: Callable[[int, int], None] | None = None

    @property
    def n_pairs(self) -> int:
        """Number of pairs in question."""
        n, m = self.pairs.shape
        return n * m - (n if self.skip else 0)

    @property
    def tile_bytes(self) -> int:
        """Bytes of a tile of distances."""
        n, m = self.pairs.shape
        return min(_TILE_BYTES, n * m * self.pairs.dtype.itemsize)

    def reporter(
        self, before: int, total: int, weight: int = 1
    ) -> Callable[[int, int], None] | None:
        """Return the report of a step, each unit of which counts `weight`, after `before`."""
        report = self.report
        return report and (lambda done, _: report(before + weight * done, total))

    def room(self, divisor: int = 4) -> int:
        """Return the bytes for an index: 1 / `divisor` of all memory."""
        return memory_limit() // divisor
