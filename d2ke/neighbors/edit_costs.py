# SPDX-License-Identifier: BSD-3-Clause
"""Neighbours by edit distances with costs: counts of letters rule pairs out before a cut-off."""

from __future__ import annotations

import numpy as np

from d2ke._ext import edit_costs, strings
from d2ke.distances.letter_costs import CostedLetters, Costs
from d2ke.distances.problem import PairwiseProblem
from d2ke.distances.registry import BY_NAME, check_parameters
from d2ke.neighbors import bounded
from d2ke.neighbors.bounded import Bounded
from d2ke.neighbors.problem import NeighborSearch
from d2ke.neighbors.search_index import BoundedIndex
from d2ke.objects.container import Objects

_NAME = "weighted_levenshtein"
_LETTERS = 1024  # counted at most
_ROW_BYTES = 1 << 24  # of a row's costs by letters of y, at most
# The times of a bound by letters, of a cut-off, and of a distance at scattered columns, relative to
# a distance in a whole row; measured.
_COUNTS, _CUT, _SCATTERED = 0.05, 1.5, 10.0


class CostIndex(BoundedIndex):
    """Strings Y with the counts of their letters; see d2ke/_ext/edit_costs.pyx for the bounds."""

    @classmethod
    def applies(cls, search: NeighborSearch, reused: bool) -> bool:
        """Return whether the distance has such bounds, and the counts fit into memory."""
        pairs, (n, m) = search.pairs, search.pairs.shape
        if pairs.distance != _NAME or (not reused and n * m < bounded.FEWEST_PAIRS):
            return False
        costs, mode = _costs(pairs)
        n_letters = len(pairs.y.alphabet) + len(costs.letters) + 1
        return (
            mode == strings.GLOBAL
            and not costs.affine
            and n_letters <= _LETTERS
            and n_letters * m <= search.room()
            and pairs.y.lengths.max() <= edit_costs.LONGEST
        )

    @classmethod
    def build(cls, search: NeighborSearch, reused: bool) -> CostIndex:
        """Count the letters."""
        index = cls(search.pairs)
        if reused:
            index.prepare(search.pairs)
        return index

    def __init__(self, pairs: PairwiseProblem):
        costs, y = _costs(pairs)[0], pairs.y
        self._letters, substitution = CostedLetters(y, costs), costs.substitution.copy()
        if not costs.has_others:
            substitution[-1] = substitution[:, -1] = np.inf
        self._counted = edit_costs.Columns(
            self._letters.codes(y), y.offsets, self._letters.classes, substitution, costs.single,
            costs.transposition,
        )  # fmt: skip

    def bounds(self, pairs: PairwiseProblem, n_threads: int) -> Bounded | None:
        """Return the bounds of all pairs of any X and Y, or None for strings that are too long."""
        x: Objects = pairs.x
        if 8 * x.lengths.max() * self._counted.n_letters > _ROW_BYTES:
            return None
        bounds = edit_costs.CostBounds(self._counted, self._letters.codes(x), x.offsets)
        return Bounded(bounds, ("letters", "", "cutoff"), (_COUNTS, 0.0, _CUT), _SCATTERED)


def _costs(pairs: PairwiseProblem) -> tuple[Costs, int]:
    """Return the costs of a distance, and its mode."""
    checked = check_parameters(BY_NAME[_NAME], pairs.params)
    return checked["costs"], checked["mode"]
