# SPDX-License-Identifier: BSD-3-Clause
"""What a search of neighbours did."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class NeighborsInfo:
    """How many distances `nearest` or `within` computed, and what spared the others.

    Attributes
    ----------
    pairs : int
        Pairs of an object of X and an object of Y that were in question: with `out`, of the rows
        that this call searched; with `out` or `client`, of each object with itself too.
    computed : int
        Distances computed in full. Those of a table of pivots are not counted.
    ruled_out : dict of str to int
        Pairs that each bound ruled out, by its name; ``"symmetry"``: pairs whose distance is that
        of the turned pair. With `computed` they add up to `pairs`.

    Examples
    --------
    >>> import d2ke
    >>> graph, info = d2ke.within([[0.0], [1.0], [5.0]], radius=2, distance="dtw", info=True)
    >>> info.pairs, info.computed, info.ruled_out
    (6, 3, {'symmetry': 3})
    """

    pairs: int
    computed: int = 0
    ruled_out: dict[str, int] = field(default_factory=dict)

    def rule_out(self, bound: str, pairs: int) -> None:
        """Count pairs that a bound ruled out."""
        if pairs:
            self.ruled_out[bound] = self.ruled_out.get(bound, 0) + int(pairs)

    def add(self, other: NeighborsInfo) -> None:
        """Add what the search of other rows did."""
        self.pairs += other.pairs
        self.computed += other.computed
        for bound, pairs in other.ruled_out.items():
            self.rule_out(bound, pairs)
