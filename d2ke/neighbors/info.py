# SPDX-License-Identifier: BSD-3-Clause
"""Counts of the distances that a neighbour search computed and ruled out."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class NeighborsInfo:
    """Counts of the distances that a search of neighbours computed or ruled out.

    Attributes
    ----------
    pairs : int
        Candidate pairs of an object of X and an object of Y.
    computed : int
        Distances computed in full, except distances to pivots.
    ruled_out : dict of str to int
        Pairs that each bound ruled out, by the bound's name; ``"symmetry"`` counts pairs whose
        reversed pair was computed. With `computed` they add up to `pairs`.
    """

    pairs: int
    computed: int = 0
    ruled_out: dict[str, int] = field(default_factory=dict)

    def rule_out(self, bound: str, pairs: int) -> None:
        """Count pairs that a bound ruled out."""
        if pairs:
            self.ruled_out[bound] = self.ruled_out.get(bound, 0) + int(pairs)

    def add(self, other: NeighborsInfo) -> None:
        """Add the counts of another search."""
        self.pairs += other.pairs
        self.computed += other.computed
        for bound, pairs in other.ruled_out.items():
            self.rule_out(bound, pairs)
