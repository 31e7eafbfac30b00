# SPDX-License-Identifier: BSD-3-Clause
"""A search of neighbours: the record that describes it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from d2ke._base.memory import memory_limit
from d2ke.distances.problem import PairwiseProblem

_TILE_BYTES = 1 << 26


@dataclass(frozen=True)
class Search:
    """Checked objects of which neighbours are wanted.

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
        Whether the user says that the distance is a metric.
    max_memory : int or None
        Bytes that the call may take.
    report : callable or None
        ``report(done, total)`` follows the pairs that are done with.
    prepared : object
        What the way prepared for all blocks of rows; None: nothing.
    """

    pairs: PairwiseProblem
    same: bool
    skip: bool
    # Whoever reads one of the next two, or calls `report`, knows that it is not None.
    k: int | Any
    radius: float | Any
    n_threads: int
    metric: bool = False
    max_memory: int | None = None
    report: Callable[[int, int], None] | Any = None
    prepared: Any = None

    @property
    def n_pairs(self) -> int:
        """Number of pairs in question."""
        n, m = self.pairs.shape
        return n * m - (n if self.skip else 0)

    @property
    def tile_bytes(self) -> int:
        """Bytes of a block of distances; a fourth of what may be taken at most."""
        n, m = self.pairs.shape
        most = min(_TILE_BYTES, n * m * self.pairs.dtype.itemsize)
        return most if self.max_memory is None else max(8, min(most, self.max_memory // 4))

    def block(self, rows: slice, **changes: Any) -> Search:
        """Return the search of some rows, as those of other objects, with some other attributes.

        An object is its own neighbour there, to be left out afterwards.
        """
        pairs = self.pairs
        names = pairs.names._replace(y=pairs.names.x) if self.same else pairs.names
        part = replace(pairs, x=pairs.part(rows), same=False, names=names, first=rows.start)
        k = None if self.k is None else self.k + self.skip
        return replace(self, pairs=part, same=False, skip=False, k=k, **changes)

    def room(self, part: int = 4) -> int:
        """Return the bytes for an index: a fourth of `max_memory`, or a part of all memory."""
        if self.max_memory is not None:
            return self.max_memory // 4
        return (memory_limit() or 2**63) // part
