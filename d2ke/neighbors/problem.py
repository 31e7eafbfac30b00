# SPDX-License-Identifier: BSD-3-Clause
"""The record that describes a neighbour search."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

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
    k : int or None
        How many nearest are wanted.
    radius : float or None
        The largest distance that counts.
    n_threads : int
        Threads.
    metric : bool
        Whether the distance is a metric, according to the user.
    report : callable or None
        ``report(done, total)`` follows the pairs that are done with.
    cap : float
        The largest distance of a neighbour, where k are wanted.
    prepared : object
        What the strategy prepared for all blocks of rows, or None.
    """

    pairs: PairwiseProblem
    same: bool
    skip: bool
    # One of k and radius is None.
    k: int | Any
    radius: float | Any
    n_threads: int
    metric: bool = False
    cap: float = math.inf
    report: Callable[[int, int], None] | Any = None
    prepared: Any = None

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

    def block(self, rows: slice, **changes: Any) -> NeighborSearch:
        """Return the search of some rows, as if they were objects other than Y.

        An object is then its own neighbour, and must be left out afterwards. `changes` replace
        attributes.
        """
        pairs = self.pairs
        names = pairs.names._replace(y=pairs.names.x) if self.same else pairs.names
        reduced = replace(pairs, x=pairs.part(rows), same=False, names=names, first=rows.start)
        k = None if self.k is None else self.k + self.skip
        return replace(self, pairs=reduced, same=False, skip=False, k=k, **changes)

    def room(self, part: int = 4) -> int:
        """Return the bytes for an index: 1 / `part` of all memory."""
        return (memory_limit() or 2**63) // part
