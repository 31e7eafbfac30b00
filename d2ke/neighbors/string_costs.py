# SPDX-License-Identifier: BSD-3-Clause
"""Edit distances, and the time that each way of searching them takes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from d2ke._ext import isa, near_strings
from d2ke.distances.problem import PairwiseProblem
from d2ke.neighbors.problem import NeighborSearch
from d2ke.objects.container import offsets_of


@dataclass(frozen=True)
class Times:
    """Nanoseconds of one thread, measured.

    Attributes
    ----------
    full_row, full_pair, full_cell : float
        A row whose distances are computed in full, each of its pairs, and each cell of their
        tables with 512 bits.
    offered : float
        A distance that is offered to the nearest.
    divided : float
        A division by lengths.
    look, candidate : float
        A look into the index of pieces, and a candidate that it returns.
    scanned_row, scanned : float
        A row of a scan, and a candidate of it, by vector bytes.
    banded, column : float
        A pair that is computed with a cut-off, and a column of its band.
    lanes : dict of int to float
        A letter of all lanes, for each number of vector bytes.
    piece : float
        A piece that is indexed.
    letter, preparing : float
        A letter that is prepared, and preparing any.
    """

    full_row: float = 1300.0
    full_pair: float = 1.0
    full_cell: float = 0.2 / 64
    offered: float = 0.7
    divided: float = 0.8
    look: float = 5.0
    candidate: float = 15.0
    scanned_row: float = 2800.0
    scanned: float = 27.0
    banded: float = 20.0
    column: float = 2.2
    lanes: dict[int, float] = field(default_factory=lambda: {64: 4.5, 32: 14.0, 16: 15.0})
    piece: float = 150.0
    letter: float = 40.0
    preparing: float = 1e6


TIMES = Times()


class Edits(NamedTuple):
    """An edit distance: how near_strings.h computes it, and what `normalize` divides it by.

    `pieces` is how many pieces an edit touches. A cell of a full table takes `full` times as long
    as Levenshtein's, a letter of a lane `wide_lane` (AVX-512) or `lane` times, and a banded pair
    `cell` times.
    """

    kind: int
    share: int
    pieces: int
    full: float
    wide_lane: float
    lane: float
    cell: float


EDITS = {
    "levenshtein": Edits(near_strings.LEVENSHTEIN, near_strings.LONGER, 1, 1.0, 1.0, 1.0, 1.0),
    "osa": Edits(near_strings.OSA, near_strings.LONGER, 2, 1.15, 1.05, 1.8, 1.0),
    "indel": Edits(near_strings.INDEL, near_strings.BOTH, 1, 0.6, 1.0, 1.0, 1.0),
    "damerau_levenshtein": Edits(
        near_strings.DAMERAU, near_strings.LONGER, 2, 17.0, 1.05, 1.8, 1.3
    ),
}


def normalized(pairs: PairwiseProblem) -> bool:
    """Return whether edits are divided by lengths."""
    return bool(pairs.params.get("normalize", False))


def cost_in_full(
    edits: Edits, pairs: PairwiseProblem, n_rows: int, letters: int, columns: int
) -> float:
    """Return the cost of all distances of rows with so many letters; columns: the letters of Y."""
    m = pairs.shape[1]
    cell = TIMES.full_cell * edits.full * 64 / isa.vector_bytes()
    pair = TIMES.full_pair + TIMES.divided * normalized(pairs)
    return (pair * m + TIMES.full_row) * n_rows + cell * letters * (columns + m)


def cut_pays(search: NeighborSearch) -> bool:
    """Return whether cut-offs of all pairs cost less than their distances in full."""
    pairs, edits = search.pairs, EDITS[search.pairs.distance]
    cut, x, y = search.radius, pairs.x, pairs.y
    letters = len(x.values) + len(y.values)
    if cut == np.inf:
        return False
    lengths, shares = np.sort(y.lengths), {near_strings.LONGER: 1, near_strings.BOTH: 2}
    longest = int(max(x.lengths.max(), lengths[-1]))
    if normalized(pairs):
        cut = cut * longest * shares[edits.share] + 1
    cut = min(cut, 2 * longest)
    masks = longest * min(longest, len(x.alphabet) + len(y.alphabet)) / 8
    if masks * search.n_threads > search.room():
        return False
    ends = offsets_of(lengths)
    first = np.searchsorted(lengths, x.lengths - cut)
    last = np.searchsorted(lengths, x.lengths + cut, side="right")
    if edits.kind == near_strings.DAMERAU:
        columns = (x.lengths * (last - first)).sum() * min(2 * cut + 1, longest)
    else:
        columns = (ends[last] - ends[first]).sum() * (1 if cut < 32 else 2 + cut / 32)
    cost = TIMES.banded * (last - first).sum() + TIMES.column * edits.cell * columns
    full = cost_in_full(edits, pairs, len(x), int(x.lengths.sum()), int(ends[-1]))
    if pairs.same:
        cost, full = cost / 2, full / 2
    return cost + TIMES.letter * letters + TIMES.preparing < full
