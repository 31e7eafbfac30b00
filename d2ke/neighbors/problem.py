# SPDX-License-Identifier: BSD-3-Clause
"""A search of neighbours: the records that describe it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from d2ke.distances.problem import PairwiseProblem


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
    report : callable or None
        ``report(done, total)`` follows the pairs that are done with.
    tile_bytes : int
        Most bytes of the distances that are in memory at a time.
    index_bytes : int
        Most bytes of an index of the objects.
    """

    pairs: PairwiseProblem
    same: bool
    skip: bool
    k: int | None
    radius: float | None
    n_threads: int
    report: Callable[[int, int], None] | None
    tile_bytes: int
    index_bytes: int = 0

    @property
    def n_pairs(self) -> int:
        """Number of pairs in question."""
        n, m = self.pairs.shape
        return n * m - (n if self.skip else 0)

    def part(self, objects: Any, start: int, stop: int) -> Any:
        """Return some objects."""
        return objects.span(start, stop) if hasattr(objects, "span") else objects[start:stop]
