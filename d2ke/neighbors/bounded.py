# SPDX-License-Identifier: BSD-3-Clause
"""Search by lower bounds before distances, where that is faster."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from d2ke._ext import refine
from d2ke.neighbors.info import NeighborsInfo
from d2ke.neighbors.lists import NearestLists, WithinLists
from d2ke.neighbors.problem import NeighborSearch
from d2ke.neighbors.tiles import search_tiles

FEWEST_PAIRS = 100_000  # fewer are computed in full at once
_ROWS = 1 << 12  # of a chunk
_FEW_ROWS = 32  # size of the largest sample of `pays`
_LEAST = 64  # rows of a chunk, after which limits fall
_TABLE_BYTES = 1 << 28  # of first bounds, at most


class Bounded(NamedTuple):
    """Lower bounds of all pairs, and their costs.

    `bounds` goes to `refine.search`. `names` are the names of a cheap bound of all pairs and
    of up to two tighter bounds. `costs` are their costs, relative to a distance. `computed` is the
    cost of a distance at scattered columns, relative to a full row; measured for series. `exact`
    are rows whose bounds are exact, which do not represent other rows. `cell` is the cost of a cell
    that the tightest bound counts in its `cells`, beside the cost of a pair. `has_table`: the cheap
    bounds of all pairs are in memory.
    """

    bounds: Any
    names: tuple[str, ...]
    costs: tuple[float, ...]
    computed: float = 1.7
    exact: np.ndarray | tuple[int, ...] = ()
    cell: float = 0.0
    has_table: bool = False


class EarlierSearches:
    """Costs of bounded searches of few rows in the same columns, relative to all distances.

    A sample of a single row would search it twice, and predict little about the next one. So the
    first rows of a similar k and radius are searched by bounds, and their total cost decides for
    later rows.
    """

    def __init__(self) -> None:
        self._costs: dict[tuple[float, float], tuple[int, float, int]] = {}

    def pays(self, search: NeighborSearch, bounded: Bounded) -> bool:
        """Return whether the bounds have paid so far; drop tighter bounds that have not."""
        rows, cost, left_out = self._costs.get(_kind(search), (0, 0.0, 0))
        if rows < _FEW_ROWS:
            return True
        if 2 * left_out > rows:
            bounded.bounds.leave_tighter_out()
        return cost <= rows

    def add(self, search: NeighborSearch, bounded: Bounded, counts: np.ndarray) -> None:
        """Add the counts of all rows of a search, until there are enough."""
        rows, cost, left_out = self._costs.get(_kind(search), (0, 0.0, 0))
        if rows >= _FEW_ROWS:
            return
        n = len(counts)
        own_cost, leave = _cost(search, bounded, np.arange(n), counts)
        self._costs[_kind(search)] = rows + n, cost + n * own_cost, left_out + n * leave


def _kind(search: NeighborSearch) -> tuple[float, float]:
    """Return the key of similar searches: k and the radius to a factor of two."""
    radius = search.radius
    if 0 < radius < math.inf:
        radius = math.frexp(radius)[1] + 0.5  # neither 0 nor infinite
    return search.k.bit_length(), radius


def search_bounded(
    search: NeighborSearch,
    bounded: Bounded | None,
    lists: NearestLists | WithinLists,
    info: NeighborsInfo,
    earlier: EarlierSearches | None = None,
) -> None:
    """Search by the bounds if they rule out enough pairs of a sample, else by all distances.

    `bounded` is None without bounds. With `earlier`, for prepared columns, any number of
    pairs may be searched by bounds, and a few rows need no sample.
    """
    (n, m), same = search.pairs.shape, search.pairs.same
    record = earlier if n <= _FEW_ROWS and not same else None
    if bounded is None:
        by_bounds = False
    elif record is not None:
        by_bounds = record.pays(search, bounded)
    else:
        enough = n * m >= FEWEST_PAIRS or (earlier is not None and not same)
        by_bounds = enough and pays(search, bounded)
    if bounded is None or not by_bounds:
        search_tiles(search, lists, info)
        return
    refined = RefinedSearch(search, bounded, lists)
    refined.search_all()
    if record is not None:
        record.add(search, bounded, refined.counts)
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
    rows = np.setdiff1d(np.arange(n), bounded.exact)
    count = min(max(n // 200, 4), 32)  # about one of 200 rows
    sample = rows[np.unique(np.linspace(0, len(rows) - 1, count).astype(int))]
    trial = (
        NearestLists(n, search.k, search.radius)
        if search.k
        else WithinLists(search.pairs.shape, search.radius)
    )
    refined = RefinedSearch(search, bounded, trial)
    refined.search(sample)
    cost, leave = _cost(search, bounded, sample, refined.counts[sample])
    if leave:
        bounded.bounds.leave_tighter_out()
    limit = 0.5 if search.pairs.same else 1.0
    if refined.half:  # which the sample does not use
        # Limits cost about three distances for each neighbour. With each pair once, they take 0.6
        # of a search of each pair twice.
        limit = 0.75 if search.k else 1.0
        cost += 3.0 * bounded.computed * search.k / m
    return cost <= limit


def _cost(
    search: NeighborSearch, bounded: Bounded, rows: np.ndarray, counts: np.ndarray
) -> tuple[float, bool]:
    """Return the cost of a pair of these rows, and whether to drop the tighter bounds.

    They are dropped if they cost more than they save; the cost is then computed without them.
    """
    size, leave = len(rows) * search.pairs.shape[1], False
    tightened, left, narrowed, computed = counts.sum(axis=0) / size
    if len(bounded.costs) > 2:
        _, tighter, closest = bounded.costs
        if tightened * tighter > (tightened - left) * closest:
            leave = True
            narrowed, tightened = narrowed + tightened - left, 0.0
    cost = bounded.computed * computed
    for share, each in zip((1, tightened, narrowed), bounded.costs, strict=False):
        cost += share * each
    if bounded.cell:
        cost += bounded.cell * float(bounded.bounds.cells[rows].sum()) / size
    return float(cost), leave


class RefinedSearch:
    """A search by bounds, and its counts for each row.

    `lists` of the nearest may have entries: only nearer objects are searched.
    """

    def __init__(self, search: NeighborSearch, bounded: Bounded, lists: NearestLists | WithinLists):
        self._search, self._bounds, self._lists = search, bounded.bounds, lists
        self._has_table = bounded.has_table
        self._kernel = search.pairs.compiled().pair_kernel()
        self.half = search.pairs.same and (not search.k or len(bounded.names) > 1)
        self.counts = np.zeros((search.pairs.shape[0], refine.COUNTS), np.int64)

    def search_all(self) -> None:
        """Find the neighbours of all rows in empty lists, each pair of a symmetric distance once.

        The k nearest of a first search of each row limit its distances. The rows of the largest
        limits come first, so that a pair is hardly searched farther for its column than for its
        row.
        """
        (n, m), lists = self._search.pairs.shape, self._lists
        order, n_chunks = np.arange(n), -(-n // _ROWS)
        once: dict[str, Any] = {}
        if self.half:
            once["ranks"] = order
        if self.half and isinstance(lists, NearestLists):
            room = min(_TABLE_BYTES, self._search.room(8))
            limits = refine.Limits(n, 4 * n * n <= room and not self._has_table)
            self.search(order, limits=limits)
            self.counts[:] = 0
            lists.clear(order)
            order = limits.order()
            once = {"ranks": np.argsort(order, kind="stable"), "limits": limits}
            n_chunks = max(n_chunks, min(16, -(-n // _LEAST)))
        done = 0
        for rows in np.array_split(order, n_chunks):
            self.search(rows, self._search.reporter(done * m, n * m, m), **once)
            done += len(rows)

    def search(
        self, rows: np.ndarray, report: Callable[[int, int], None] | None = None, **options: Any
    ) -> None:
        """Find the neighbours of some rows; `options` are those of `refine.search`."""
        search, lists = self._search, self._lists
        heaps = (lists.distances, lists.indices) if isinstance(lists, NearestLists) else None
        entries = refine.search(
            self._kernel,
            self._bounds,
            np.ascontiguousarray(rows, np.int64),
            search.skip,
            search.pairs.dtype == np.float32,
            heaps,
            0.0 if heaps is not None else search.radius,
            self.counts,
            search.n_threads,
            report,
            hidden=search.hidden,
            **options,
        )
        if isinstance(lists, WithinLists) and entries is not None:
            lists.extend(*entries)
