# SPDX-License-Identifier: BSD-3-Clause
"""Search by lower bounds before distances, where that is faster."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from d2ke._ext import refine
from d2ke.neighbors.info import NeighborsInfo
from d2ke.neighbors.lists import NearestLists, WithinLists
from d2ke.neighbors.problem import NeighborSearch
from d2ke.neighbors.tiles import search_tiles

FEWEST_PAIRS = 100_000  # fewer are computed in full at once
_SAMPLE = 32  # rows at most for which the bounds are tried
_SAMPLED_PART = 200  # and of so many about one
_ROWS = 1 << 12  # that are searched between two looks at the memory


class Bounded(NamedTuple):
    """Lower bounds of all pairs, and their costs.

    `bounds` goes to `refine.search`. `names` are those of the cheap bound of all pairs and, if
    there are any, of a tighter and of the tightest one. `costs` are theirs, relative to a
    distance's. `computed` is the cost of a distance at scattered columns, relative to its cost in
    a whole row; measured for series. `known` are rows whose bounds are the exact distances, and
    so are no sample of the other rows. `cell` is the cost of a cell that the tightest bound counts
    in its `cells`, beside the cost of a pair.
    """

    bounds: Any
    names: tuple[str, ...]
    costs: tuple[float, ...]
    computed: float = 1.7
    known: Any = ()
    cell: float = 0.0


def search_bounded(
    search: NeighborSearch,
    bounded: Bounded | None,
    lists: NearestLists | WithinLists,
    info: NeighborsInfo,
) -> None:
    """Search by the bounds if they rule out enough pairs of a sample, else by all distances.

    `bounded` is None where there are no bounds.
    """
    n, m = search.pairs.shape
    if bounded is None or n * m < FEWEST_PAIRS or not pays(search, bounded):
        search_tiles(search, lists, info)
        return
    refined = RefinedSearch(search, bounded, lists)
    for first in range(0, n, _ROWS):
        refined.search(np.arange(first, min(first + _ROWS, n)), search.report)
    pairs = n * m - (n if search.skip else 0)
    if refined.half:
        once = (pairs + n) // 2 if not search.skip else pairs // 2
        info.rule_out("symmetry", pairs - once)
        pairs = once
    left, tight, narrowed, computed = refined.counts.sum(axis=0).tolist()
    ruled_out = (pairs - left + tight - narrowed, left - tight, narrowed - computed)
    for name, count in zip(bounded.names, ruled_out, strict=False):
        info.rule_out(name, count)
    info.computed += computed


def pays(search: NeighborSearch, bounded: Bounded) -> bool:
    """Return whether the bounds rule out enough of the distances of a sample of rows."""
    n, m = search.pairs.shape
    rows = np.setdiff1d(np.arange(n), bounded.known)
    count = min(max(n // _SAMPLED_PART, 4), _SAMPLE)
    some = rows[np.unique(np.linspace(0, len(rows) - 1, count).astype(int))]
    trial = (
        NearestLists(n, search.k) if search.k else WithinLists(search.pairs.shape, search.radius)
    )
    refined = RefinedSearch(search, bounded, trial)
    refined.search(some)
    tightened, left, narrowed, computed = refined.counts[some].sum(axis=0) / (len(some) * m)
    if len(bounded.costs) > 2:
        _, tighter, closest = bounded.costs
        if tightened * tighter > (tightened - left) * closest:
            bounded.bounds.leave_tighter_out()
            narrowed, tightened = narrowed + tightened - left, 0.0
    cost = bounded.computed * computed
    for part, each in zip((1, tightened, narrowed), bounded.costs, strict=False):
        cost += part * each
    if bounded.cell:
        cost += bounded.cell * float(bounded.bounds.cells[some].sum()) / (len(some) * m)
    return cost <= (0.5 if search.pairs.same else 1.0)


class RefinedSearch:
    """A search by bounds, and its counts for each row.

    `lists` of the nearest need not be empty: only what is nearer than their entries is searched.
    """

    def __init__(self, search: NeighborSearch, bounded: Bounded, lists: NearestLists | WithinLists):
        self._search, self._bounds, self._lists = search, bounded.bounds, lists
        self._kernel = search.pairs.compiled().pair_kernel()
        self.half = search.k is None and search.pairs.same
        self.counts = np.zeros((search.pairs.shape[0], refine.COUNTS), np.int64)

    def search(
        self,
        rows: np.ndarray,
        report: Callable[[int, int], None] | None = None,
        groups: np.ndarray | None = None,
        cores: np.ndarray | None = None,
    ) -> None:
        """Find the neighbours of some rows.

        Where Y is X, `groups` are numbers of the objects' groups, in which no neighbours are
        searched, and `cores` the least distances that objects are taken to have to all others.
        """
        search, lists = self._search, self._lists
        n, m = search.pairs.shape
        nearest = isinstance(lists, NearestLists)

        def visit(done: int, _: int) -> None:
            report((int(rows[0]) + done) * m, n * m)

        found = refine.search(
            self._kernel,
            self._bounds,
            np.ascontiguousarray(rows, np.int64),
            self.half,
            search.skip,
            search.pairs.dtype == np.float32,
            (lists.distances, lists.indices) if nearest else None,
            0.0 if nearest else search.radius,
            self.counts,
            search.n_threads,
            report and visit,
            groups,
            cores,
        )
        if nearest:
            return
        rows, columns, distances = found
        lists.extend(rows, columns, distances, False)
        if self.half:
            above = columns > rows
            lists.extend(columns[above], rows[above], distances[above], False)
