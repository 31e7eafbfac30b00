# SPDX-License-Identifier: BSD-3-Clause
"""Neighbours by edit distances: an index of pieces, bounds by letters, and cut-offs.

For strings x and y within r edits:

- | |x| - |y| | <= r;
- of r + 1 pieces of y, no edit touches one: it occurs in x, shifted by at most r (Li, Deng, Wang
  and Feng 2011). An index of pieces finds such y. Transpositions need 2 r + 1 pieces;
- the counts of letters differ by sum_a |x_a - y_a| <= 2 r - | |x| - |y| |, as a substitution
  changes two counts, an insertion one;
- a cell (i, j) of the table is on a path of r edits only if |i - j| <= r, so that a band of it is
  computed, until all of a column exceeds r.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from time import perf_counter
from typing import NamedTuple

import numpy as np

from d2ke._ext import isa, near_strings
from d2ke.distances.problem import PairBlock, PairwiseProblem
from d2ke.neighbors import string_costs
from d2ke.neighbors.info import NeighborsInfo
from d2ke.neighbors.lists import NearestLists, WithinLists, without_own
from d2ke.neighbors.problem import NeighborSearch
from d2ke.neighbors.search_index import SearchIndex
from d2ke.neighbors.string_costs import EDITS, cost_in_full, cut_pays, normalized
from d2ke.neighbors.string_sides import Columns
from d2ke.neighbors.tiles import search_tiles

# Pairs for each string; of fewer, the index and the samples take too much of the time. Fewer pairs
# within a radius are searched by cut-offs alone, where these cost less than all distances in full.
_FEWEST = 1000
_TRIAL, _TRIAL_EACH = 64, 1000  # strings of a sample that is searched: about one of 1000, at most
_QUERIES = 1 << 15  # searched at a time
_INDEX_BYTES = 120  # of the index, for a piece
_MAX_PIECES = 2**31 - 1
# Pieces of each string in an index for few strings, at most, and strings that try it. It is made
# when searches without it took this part of the time that it takes.
_MOST_PIECES, _TRIED, _EAGER = 8, 64, 8
_TRY = 0.1  # a radius is searched if that costs at most this part of the search without it


class SearchCounts(NamedTuple):
    """Counts of a search for each of its queries; see near_strings.h."""

    counts: np.ndarray
    work: np.ndarray


def applies(search: NeighborSearch) -> bool:
    """Return whether the distance is one of edits of whole strings, many or long and near."""
    return _has_index(search.pairs) and (_are_many(*search.pairs.shape) or cut_pays(search))


def _has_index(pairs: PairwiseProblem) -> bool:
    """Return whether the distance is one of edits of whole strings."""
    return (
        isinstance(pairs.distance, str)
        and pairs.distance in EDITS
        and pairs.params.get("mode", "global") == "global"
        and (not normalized(pairs) or pairs.dtype == np.float64)
        and max(pairs.shape) <= _MAX_PIECES
    )


def _are_many(n: int, m: int) -> bool:
    return n * m >= _FEWEST * (n + m)


def index_bytes(search: NeighborSearch) -> int:
    """Return the bytes that an index may take; for the nearest, whose radius is not yet known."""
    by_edits = not search.k and search.radius < np.inf and not normalized(search.pairs)
    radius = int(min(search.radius, _MAX_PIECES)) if by_edits else 10
    pieces = radius * EDITS[search.pairs.distance].pieces + 1
    return min(pieces * _INDEX_BYTES * search.pairs.shape[1], search.room(2))


class StringIndex(SearchIndex):
    """Strings Y sorted, with indexes of their pieces, which searches make."""

    def __init__(self, columns: Columns):
        self.columns = columns

    @classmethod
    def applies(cls, search: NeighborSearch, reused: bool) -> bool:
        """Return whether the distance counts edits of whole strings, and `applies` or reused."""
        return _has_index(search.pairs) if reused else applies(search)

    @classmethod
    def build(cls, search: NeighborSearch, reused: bool) -> StringIndex:
        """Sort the strings."""
        return cls(Columns(search.pairs.y))

    def query(
        self, search: NeighborSearch, lists: NearestLists | WithinLists, info: NeighborsInfo
    ) -> None:
        """Search by the cheaper of the pieces, a scan, and all distances in full."""
        finder = StringFinder(search, self.columns)
        if isinstance(lists, WithinLists):
            finder.within(lists, info)
        else:
            finder.nearest(lists, info)

    def arrays(self) -> dict[str, np.ndarray]:
        """Return the sorted strings, and the indexes of their pieces."""
        return self.columns.arrays()

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, np.ndarray], pairs: PairwiseProblem) -> StringIndex:
        """Return the index with these arrays."""
        return cls(Columns.from_arrays(arrays))


class StringFinder:
    """The sorted strings of a search, and the estimated costs of searching them.

    A search without k and radius is one for `pairs_within`. `columns`: Y, if it is prepared.
    """

    def __init__(self, search: NeighborSearch, columns: Columns | None = None):
        self.search, pairs = search, search.pairs
        self.edits = EDITS[pairs.distance]
        self.share = self.edits.share if normalized(pairs) else near_strings.WHOLE
        self.columns = columns or Columns(pairs.y)
        self.y = self.columns.side
        self.x = self.y if pairs.x is pairs.y else self.columns.rows(pairs.x)
        self._few = not _are_many(*pairs.shape)

    def within(self, lists: WithinLists, info: NeighborsInfo) -> None:
        """Find all pairs within the radius."""
        search, x, y = self.search, self.x, self.y
        n, m = search.pairs.shape
        radius = int(min(self._edits(search.radius), self.longest))
        if self._few:
            index = self._known_index(radius)
        else:
            index, cost = self._choose_index(np.arange(n), radius, search.same)
            if cost > self._full_cost(np.arange(n)):
                search_tiles(search, lists, info)
                return
        began = perf_counter()
        work = _no_work(n)
        for rows in _chunks(np.arange(n)):
            triples = self._run(rows, radius, index, work, half=search.same)
            distances = triples[:, 2] / self._divisors(triples)
            lists.extend(x.names[triples[:, 0]], y.names[triples[:, 1]], distances, search.same)
        pairs = n * (n - 1) // 2 if search.same else n * m
        if search.same:
            info.rule_out("symmetry", pairs)
            if not search.skip:
                lists.extend(np.arange(n), np.arange(n), np.zeros(n))
                info.rule_out("identity", n)
        _count(info, pairs, work.counts)
        if self._few:
            self._remember(radius, index, perf_counter() - began)

    def pairs_within(
        self, rows: np.ndarray, radius: int
    ) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]] | None:
        """Return the pairs of some objects with any within a radius, chunk by chunk.

        None if that costs more than a share of all their distances, or of the distances of the
        objects with neighbors within the radius.
        """
        n, names = self.search.pairs.shape[0], self.x.names
        is_searched = np.zeros(n, bool)
        is_searched[rows] = True
        left = np.flatnonzero(is_searched[names])
        half = len(left) == n
        index, cost = self._choose_index(left, radius, half)
        trial = left[_spread(len(left), _TRIAL, _TRIAL_EACH)]
        triples = self._run(trial, radius, index, _no_work(n), quiet=True)
        share = len(np.unique(triples[:, 0])) / len(trial)
        # Groups are merged: the radius may cost 0.6 of what the search of their objects would.
        if cost > max(_TRY, 0.6 * share) * self._full_cost(left):
            return None
        work = _no_work(n)

        def search(chunk: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
            triples = self._run(chunk, radius, index, work, half=half)
            return names[triples[:, 0]], names[triples[:, 1]], triples[:, 2].astype(np.float64)

        return map(search, _chunks(left, _QUERIES // 8))

    def nearest(self, lists: NearestLists, info: NeighborsInfo) -> None:
        """Find the k nearest within growing radii, then by a scan or exhaustively."""
        search, x, y = self.search, self.x, self.y
        left = np.arange(search.pairs.shape[0])
        work = _no_work(len(left))
        heaps = NearestLists(len(left), lists.indices.shape[1], lists.limits[x.names])

        def run(radius: int, index: near_strings.Index | None) -> np.ndarray:
            for rows in _chunks(left):
                heaps.clear(rows)
                work.counts[rows] = 0
                self._run(rows, radius, index, work, heaps=heaps)
            ended = (work.work[left, -1] == 0) | (radius >= self.longest)
            done = left[ended]
            lists.distances[x.names[done]] = heaps.distances[done]
            lists.indices[x.names[done]] = heaps.indices[done]
            _count(info, len(done) * (len(y.names) - search.skip), work.counts[done])
            return left[~ended]

        if self._few:
            index, began = self._known_index(self.longest), perf_counter()
            run(self.longest, index)
            self._remember(self.longest, index, perf_counter() - began)
            return
        scan = self._sampled(left, self.longest, None, False, search.k)
        for radius, share in self._radii():
            index, cost = self._choose_index(left, radius, False)
            scanned, full = scan * len(left) / search.pairs.shape[0], self._full_cost(left)
            remaining = (1 - share) * min(scanned, self._full_cost(left, False))
            # All rows take each pair once; later rows have no such symmetry to lose.
            cheap = cost < _TRY * min(scanned, full) and len(left) < search.pairs.shape[0]
            if cost + remaining > min(scanned, full) and not cheap:
                break
            if index is None and scanned < full:
                break  # a scan finds the radius of each object by itself
            left = run(radius, index)
            if not len(left):
                return
        if scan * len(left) / search.pairs.shape[0] < self._full_cost(left):
            run(self.longest, None)
        else:
            self._in_full(np.sort(x.names[left]), lists, info)

    @property
    def longest(self) -> int:
        """The largest number of edits that there may be or, for the k nearest, that counts."""
        x, y = self.x.strings.longest, self.y.strings.longest
        longest = x + y if self.edits.kind == near_strings.INDEL else max(x, y)
        return int(min(longest, self._edits(self.search.radius)) if self.search.k else longest)

    def _edits(self, value: float) -> float:
        """Return the largest number of edits of any two strings whose distance is `value`."""
        if self.share == near_strings.WHOLE:
            return value
        x, y = self.x.strings.longest, self.y.strings.longest
        return value * (x + y if self.share == near_strings.BOTH else max(x, y)) + 1

    def _divisors(self, triples: np.ndarray) -> np.ndarray | float:
        """Return the divisors of the edits of pairs of strings."""
        if self.share == near_strings.WHOLE:
            return 1.0
        x, y = (np.diff(side.strings.offsets) for side in (self.x, self.y))
        x, y = x[triples[:, 0]], y[triples[:, 1]]
        return np.maximum(x + y if self.share == near_strings.BOTH else np.maximum(x, y), 1)

    def _radii(self) -> Iterator[tuple[int, float]]:
        """Yield growing radii, and the share of the remaining objects that each suffices for."""
        reach = self._reach()
        radius = int(reach[len(reach) // 4])
        while radius < self.longest:
            done = int(np.searchsorted(reach, radius, side="right"))
            yield radius, done / len(reach) if len(reach) else 0.0
            reach, radius = reach[done:], max(radius + 1, radius * 5 // 4)

    def _reach(self) -> np.ndarray:
        """Return the distances of the k-th neighbour of some objects, sorted."""
        search, pairs = self.search, self.search.pairs
        k, rows = search.k + search.skip, _spread(pairs.shape[0])
        block = PairBlock(pairs.x[rows], pairs.y)
        values = np.partition(pairs.distances(block, search.n_threads), k - 1, axis=1)[:, k - 1]
        if self.share == near_strings.WHOLE:
            return np.sort(values)
        # A string at this distance may be longer.
        lengths, capped = pairs.x.lengths[rows], np.minimum(values, 0.9)
        sums = 2 if self.share == near_strings.BOTH else 1
        return np.sort(np.floor(lengths * capped / (1 - capped) * sums))

    def _known_index(self, radius: int) -> near_strings.Index | None:
        """Return the index for few strings, once many searches have run without it.

        Strings that are searched in a single call get no index.
        """
        columns, count = self.columns, radius * self.edits.pieces + 1
        trial, index, n = columns.trial(count), columns.pieces.get(count), columns.side.strings.n
        building = 1e-9 * string_costs.TIMES.piece * n * count
        pays_soon = index is None and count <= _MOST_PIECES and _EAGER * trial.seconds > building
        if pays_soon and count * _INDEX_BYTES * n <= self.search.room(2):
            index = columns.pieces[count] = near_strings.Index(columns.side.strings, count)
        return index if trial.pays else None

    def _remember(self, radius: int, index: near_strings.Index | None, seconds: float) -> None:
        """Remember how long few strings took within a radius, with an index and without."""
        trial, each = (
            self.columns.trial(radius * self.edits.pieces + 1), seconds / len(self.x.names)
        )  # fmt: skip
        if index is None:
            trial.seconds += seconds
            trial.scanned = [*trial.scanned[1 - _TRIED :], each]
        elif len(trial.searched) < _TRIED:
            trial.searched.append(each)
            if len(trial.searched) == _TRIED and trial.scanned:
                # Medians: the garbage collector may take a hundred times as long as a search.
                trial.pays = bool(np.median(trial.searched) <= np.median(trial.scanned))

    def _choose_index(
        self, rows: np.ndarray, radius: int, half: bool
    ) -> tuple[near_strings.Index | None, float]:
        """Return the index, or None if a scan of the rows is cheaper, and the cost."""
        strings = self.y.strings
        if radius >= self.longest:
            return None, np.inf
        cost, each = self._sampled(rows, radius, None, half), radius * self.edits.pieces + 1
        pieces = strings.n * each
        indexes, limit = self.columns.pieces, index_bytes(self.search)
        building = string_costs.TIMES.piece * pieces
        if building > cost / 2 or pieces > _MAX_PIECES or pieces * _INDEX_BYTES > limit:
            return None, cost
        index = indexes.get(each)
        if index is None:
            if (sum(indexes) * strings.n + pieces) * _INDEX_BYTES > limit:
                indexes.clear()
            index = indexes[each] = near_strings.Index(strings, each)
        with_index = self._sampled(rows, radius, index, half) + building
        return (index, with_index) if with_index < cost else (None, cost)

    def _sampled(
        self,
        rows: np.ndarray,
        radius: int,
        index: near_strings.Index | None,
        half: bool,
        k: int = 0,
    ) -> float:
        """Estimate the cost of a search, of the k nearest or of all, from a sample of the rows.

        One row is enough where it costs many times as much as all its distances.
        """
        sample, n = rows[_spread(len(rows), _TRIAL, _TRIAL_EACH)], self.search.pairs.shape[0]
        work, heaps = _no_work(n), NearestLists(n, k) if k else None
        width, times = isa.vector_bytes(), string_costs.TIMES
        lane = times.lanes[width] * (self.edits.wide_lane if width == 64 else self.edits.lane)
        first, cost, limit = len(sample) // 2, 0.0, 8 * self._full_cost(rows)
        for done, chunk in (
            (1, sample[first : first + 1]),
            (len(sample), np.delete(sample, first)),
        ):
            self._run(chunk, radius, index, work, half=half, heaps=heaps, quiet=True)
            lookups, banded, columns, lanes, _ = work.work[sample].sum(axis=0)
            each = times.column * columns * self.edits.cell
            each += times.look * lookups + times.banded * banded + lane * lanes
            candidates = work.counts[sample, 1].sum()
            if index is None:
                each += times.scanned_row * done + times.scanned / width * candidates
            else:
                each += times.candidate * candidates
            cost = each * len(rows) / done
            if cost > limit:
                break
        return cost

    def _full_cost(self, rows: np.ndarray, symmetric: bool = True) -> float:
        """Return the cost of all distances of some rows; symmetric: each pair of all rows once."""
        x, y = self.x.strings, self.y.strings
        letters = (x.offsets[rows + 1] - x.offsets[rows]).sum()
        cost = cost_in_full(self.edits, self.search.pairs, len(rows), letters, y.offsets[y.n])
        if self.search.pairs.same and symmetric and len(rows) == x.n:
            cost /= 2  # each pair once
        return cost + string_costs.TIMES.offered * len(rows) * y.n * (self.search.k > 0)

    def _run(
        self,
        rows: np.ndarray,
        radius: int,
        index: near_strings.Index | None,
        work: SearchCounts,
        half: bool = False,
        heaps: NearestLists | None = None,
        quiet: bool = False,
    ) -> np.ndarray:
        search, (x, _), (y, names) = self.search, self.x, self.y
        if heaps is not None and search.hidden is not None:
            names = self.columns.shown_names(search.hidden)
        heap = None if heaps is None else (heaps.distances, heaps.indices, names)
        report = None if quiet else search.report

        def visit(done: int, _: int) -> None:
            # Rows are in the order of length: later ones take longer.
            at = int(rows[done - 1]) + 1 if done else int(rows[0])
            letters, total = int(x.offsets[at]) + at, int(x.offsets[x.n]) + x.n
            if report is not None:
                report(letters * x.n * y.n // total, x.n * y.n)

        limit = search.radius if search.k or search.radius < np.inf else radius  # `pairs_within`
        return near_strings.search(
            x, y, rows, self.edits.kind, self.share, radius, limit, index, half, search.skip, heap,
            *work, search.n_threads, report and visit,
        )  # fmt: skip

    def _in_full(self, rows: np.ndarray, lists: NearestLists, info: NeighborsInfo) -> None:
        """Find the nearest of some objects exhaustively."""
        search, pairs = self.search, self.search.pairs
        if len(rows) == pairs.shape[0]:
            search_tiles(search, lists, info)
            return
        # An object is its own neighbour here, and left out afterwards.
        subset = replace(
            search, pairs=replace(pairs, x=pairs.x[rows], same=False), same=False, skip=False
        )
        n_pairs = len(rows) * (pairs.shape[1] - search.skip)
        nearest = NearestLists(len(rows), search.k + search.skip, search.radius)
        search_tiles(subset, nearest, NeighborsInfo(0))
        info.computed += n_pairs
        indices, distances = nearest.result(pairs.dtype)
        if search.skip:
            indices, distances = without_own(indices, distances, rows)
        lists.indices[rows], lists.distances[rows] = indices, distances


def _spread(n: int, limit: int = 64, each: int = 400) -> np.ndarray:
    """Return about one of `each` rows of n, evenly spread, without the first and the last."""
    count = min(max(n // each, 8), limit)
    return np.unique(((np.arange(count) + 0.5) * n / count).astype(np.int64))


def _no_work(n: int) -> SearchCounts:
    return SearchCounts(np.zeros((n, 4), np.int64), np.zeros((n, near_strings.WORK), np.int64))


def _chunks(rows: np.ndarray, size: int = _QUERIES) -> Iterator[np.ndarray]:
    for first in range(0, len(rows), size):
        yield np.ascontiguousarray(rows[first : first + size])


def _count(info: NeighborsInfo, pairs: int, counts: np.ndarray) -> None:
    """Add the counts of a search of this number of pairs to `info`."""
    lengths, candidates, letters, full = counts.sum(axis=0).tolist()
    info.rule_out("length", pairs - lengths)
    info.rule_out("pieces", lengths - candidates)
    info.rule_out("letters", candidates - letters)
    info.rule_out("cutoff", letters - full)
    info.computed += full
