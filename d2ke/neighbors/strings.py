# SPDX-License-Identifier: BSD-3-Clause
"""Neighbours by edit distances: an index of pieces, bounds by letters, and cut-offs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from d2ke._ext import isa, near_strings
from d2ke.distances.problem import PairBlock, PairwiseProblem, Transform
from d2ke.distances.string_rows import common_letters, not_empty
from d2ke.neighbors.info import NeighborsInfo
from d2ke.neighbors.lists import NearestLists, WithinLists, without_own
from d2ke.neighbors.problem import NeighborSearch
from d2ke.neighbors.tiles import search_tiles
from d2ke.objects.container import Objects
from d2ke.objects.packed import offsets_of

# Pairs for each string; of fewer, the index and the samples take too much of the time. Fewer pairs
# within a radius are searched by cut-offs alone, where these cost less than all distances in full.
_FEWEST = 1000
_SAMPLE = 64  # the largest number of strings of a sample, which has
_SAMPLED_PART = 400  # about one of so many
_TRIAL, _TRIAL_PART = 64, 1000  # the same of a sample that is searched
_QUERIES = 1 << 15  # searched at a time
_INDEX_BYTES = 120  # of the index, for a piece
_MAX_PIECES = 2**31 - 1
_GROUPS = 16  # of letters, by which strings of one length are sorted
# Nanoseconds of one thread, measured: a row in full, its pairs, and their cells, by 512 bits, ...
_FULL_ROW, _PAIR, _CELL = 1300.0, 1.0, 0.2 / 64
# ... one that is offered to the nearest, a division by lengths, a look into the index, a candidate
# of it, a row of a scan, a candidate of one, by vector bytes, ...
_OFFERED, _DIVIDED, _LOOK, _CANDIDATE, _ROW, _SCANNED = 0.7, 0.8, 5.0, 15.0, 2800.0, 27.0
# ... one with a cut-off band, a column of the band, a letter of all lanes, and an indexed piece.
_ALIKE, _COLUMN, _LANES, _PIECE = 20.0, 2.2, {64: 4.5, 32: 14.0, 16: 15.0}, 150.0
# The same of a letter that is prepared, and of preparing any.
_LETTER, _PREPARED = 40.0, 1e6
# A search of one row that costs so many times all its distances is not tried for others.
_HOPELESS = 8
# A radius is searched if that costs at most this part of what would be searched otherwise, or this
# part of what the objects with others within the radius would cost, which groups leave.
_TRY, _MERGED = 0.1, 0.6


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


_EDITS = {
    "levenshtein": Edits(near_strings.LEVENSHTEIN, near_strings.LONGER, 1, 1.0, 1.0, 1.0, 1.0),
    "osa": Edits(near_strings.OSA, near_strings.LONGER, 2, 1.15, 1.05, 1.8, 1.0),
    "indel": Edits(near_strings.INDEL, near_strings.BOTH, 1, 0.6, 1.0, 1.0, 1.0),
    "damerau_levenshtein": Edits(
        near_strings.DAMERAU, near_strings.LONGER, 2, 17.0, 1.05, 1.8, 1.3
    ),
}


class Side(NamedTuple):
    """Strings sorted by length and letters; names[i] is the user's position of string i."""

    strings: near_strings.Strings
    names: np.ndarray


class PreparedStrings(NamedTuple):
    """Data that all blocks of rows share.

    `strings` are those of Y, `ranks` the letters' places in the order of their frequency,
    `n_rows` is the number of rows of all blocks, `reach` are sorted distances of the k-th
    neighbour of some objects, if there are many, and `indexes` (by radius) take at most
    `index_bytes`.
    """

    strings: Side
    ranks: np.ndarray
    n_rows: int
    reach: np.ndarray | None
    index_bytes: int
    indexes: dict[int, near_strings.Index]


class SearchCounts(NamedTuple):
    """Counts of a search for each of its queries; see near_strings.h."""

    counts: np.ndarray
    work: np.ndarray


def applies(search: NeighborSearch) -> bool:
    """Return whether the distance is one of edits of whole strings, many or long and near."""
    pairs = search.pairs
    return (
        isinstance(pairs.distance, str)
        and pairs.distance in _EDITS
        and pairs.params.get("mode", "global") == "global"
        and (not normalized(pairs) or pairs.dtype == np.float64)
        and max(pairs.shape) <= _MAX_PIECES
        and (_are_many(*pairs.shape) or _cut_pays(search))
    )


def _are_many(n: int, m: int) -> bool:
    return n * m >= _FEWEST * (n + m)


def _cut_pays(search: NeighborSearch) -> bool:
    """Return whether cut-offs of all pairs cost less than their distances in full."""
    pairs, edits = search.pairs, _EDITS[search.pairs.distance]
    cut, (x, y) = search.cap if search.radius is None else search.radius, (pairs.x, pairs.y)
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
    cost = _ALIKE * (last - first).sum() + _COLUMN * edits.cell * columns
    full = _cost_in_full(edits, pairs, len(x), int(x.lengths.sum()), int(ends[-1]))
    if pairs.same:
        cost, full = cost / 2, full / 2
    return cost + _LETTER * letters + _PREPARED < full


def normalized(pairs: PairwiseProblem) -> bool:
    """Return whether edits are divided by lengths."""
    return bool(pairs.params.get("normalize", False))


def index_bytes(search: NeighborSearch) -> int:
    """Return the bytes that an index may take; for the nearest, whose radius is not yet known."""
    by_edits = search.radius is not None and not normalized(search.pairs)
    radius = int(min(search.radius, _MAX_PIECES)) if by_edits else 10
    pieces = radius * _EDITS[search.pairs.distance].pieces + 1
    return min(pieces * _INDEX_BYTES * search.pairs.shape[1], search.room(2))


def prepare_strings(search: NeighborSearch) -> PreparedStrings:
    """Sort Y, and search the k-th nearest of some objects."""
    return StringFinder(search).prepared


def search_strings(
    search: NeighborSearch, lists: NearestLists | WithinLists, info: NeighborsInfo
) -> None:
    """Search by the cheaper of the index, a scan, and all distances in full."""
    finder = StringFinder(search)
    if isinstance(lists, WithinLists):
        finder.within(lists, info)
    else:
        finder.nearest(lists, info)


class StringFinder:
    """The sorted strings of a search, and the estimated costs of searching them.

    A search without k and radius is one for `pairs_within`.
    """

    def __init__(self, search: NeighborSearch):
        self.search, pairs = search, search.pairs
        self.edits = _EDITS[pairs.distance]
        self.share = self.edits.share if normalized(pairs) else near_strings.WHOLE
        prepared = search.prepared
        if prepared is None:
            self.x, self.y, ranks = _sorted(pairs)
            reach = self._reach() if search.k and _are_many(*pairs.shape) else None
            limit = index_bytes(search)
            prepared = PreparedStrings(self.y, ranks, pairs.shape[0], reach, limit, {})
        else:
            self.y = prepared.strings
            self.x = _sorted_rows(pairs, prepared)
        self.prepared = prepared
        self._few = not _are_many(prepared.n_rows, pairs.shape[1])

    def within(self, lists: WithinLists, info: NeighborsInfo) -> None:
        """Find all pairs within the radius."""
        search, x, y = self.search, self.x, self.y
        n, m = search.pairs.shape
        radius = int(min(self._edits(search.radius), self.longest))
        if self._few:
            index, cost = None, 0.0
        else:
            index, cost = self._choose_index(np.arange(n), radius, search.same)
        if cost > self._full_cost(np.arange(n)):
            search_tiles(search, lists, info)
            return
        work = _no_work(n)
        for rows in _chunks(np.arange(n)):
            triples = self._run(rows, radius, index, work, half=search.same)
            distances = triples[:, 2] / self._wholes(triples)
            lists.extend(x.names[triples[:, 0]], y.names[triples[:, 1]], distances, search.same)
        pairs = n * (n - 1) // 2 if search.same else n * m
        if search.same:
            info.rule_out("symmetry", pairs)
            if not search.skip:
                lists.extend(np.arange(n), np.arange(n), np.zeros(n), False)
                info.rule_out("identity", n)
        _count(info, pairs, work.counts)

    def pairs_within(
        self, rows: np.ndarray, radius: int
    ) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]] | None:
        """Return the pairs of some objects with all others within a radius, part by part.

        None if that costs more than a part of all their distances, or of those of the objects
        that have others within the radius.
        """
        n, names = self.search.pairs.shape[0], self.x.names
        is_searched = np.zeros(n, bool)
        is_searched[rows] = True
        left = np.flatnonzero(is_searched[names])
        half = len(left) == n
        index, cost = self._choose_index(left, radius, half)
        trial = left[_spread(len(left), _TRIAL, _TRIAL_PART)]
        triples = self._run(trial, radius, index, _no_work(n), quiet=True)
        share = len(np.unique(triples[:, 0])) / len(trial)
        if cost > max(_TRY, _MERGED * share) * self._full_cost(left):
            return None
        work = _no_work(n)

        def search(part: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
            triples = self._run(part, radius, index, work, half=half)
            return names[triples[:, 0]], names[triples[:, 1]], triples[:, 2].astype(np.float64)

        return map(search, _chunks(left, _QUERIES // 8))

    def nearest(self, lists: NearestLists, info: NeighborsInfo) -> None:
        """Find the k nearest within growing radii, and of the rest by a scan or exhaustively."""
        search, x, y = self.search, self.x, self.y
        left = np.arange(search.pairs.shape[0])
        work = _no_work(len(left))
        heaps = NearestLists(len(left), lists.indices.shape[1])

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
            run(self.longest, None)
            return
        scan = self._sampled(left, self.longest, None, False, search.k)
        for radius, share in self._radii():
            index, cost = self._choose_index(left, radius, False)
            scanned, full = scan * len(left) / search.pairs.shape[0], self._full_cost(left)
            others = (1 - share) * min(scanned, self._full_cost(left, False))
            # All rows take each pair once; later rows have no such symmetry to lose.
            cheap = cost < _TRY * min(scanned, full) and len(left) < search.pairs.shape[0]
            if cost + others > min(scanned, full) and not cheap:
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
        """The largest number of edits that there may be, or that counts."""
        x, y = self.x.strings.longest, self.y.strings.longest
        longest = x + y if self.edits.kind == near_strings.INDEL else max(x, y)
        return int(min(longest, self._edits(self.search.cap)))

    def _edits(self, value: float) -> float:
        """Return the largest number of edits of any two strings whose distance is `value`."""
        if self.share == near_strings.WHOLE:
            return value
        x, y = self.x.strings.longest, self.y.strings.longest
        return value * (x + y if self.share == near_strings.BOTH else max(x, y)) + 1

    def _wholes(self, triples: np.ndarray) -> np.ndarray | float:
        """Return what the edits of pairs of strings are divided by."""
        if self.share == near_strings.WHOLE:
            return 1.0
        x, y = (np.diff(side.strings.offsets) for side in (self.x, self.y))
        x, y = x[triples[:, 0]], y[triples[:, 1]]
        return np.maximum(x + y if self.share == near_strings.BOTH else np.maximum(x, y), 1)

    def _radii(self) -> Iterator[tuple[int, float]]:
        """Yield growing radii, and the share of the remaining objects that each suffices for."""
        reach = self.prepared.reach
        radius = int(reach[len(reach) // 4])
        while radius < self.longest:
            done = int(np.searchsorted(reach, radius, side="right"))
            yield radius, done / len(reach) if len(reach) else 0.0
            reach, radius = reach[done:], max(radius + 1, radius * 5 // 4)

    def _reach(self) -> np.ndarray:
        """Return the distances of the k-th neighbour of some objects, sorted."""
        search, pairs = self.search, self.search.pairs
        k, rows = search.k + search.skip, _spread(pairs.shape[0])
        block = np.empty((len(rows), pairs.shape[1]), pairs.dtype)
        pairs.compile(PairBlock(pairs.x[rows], pairs.y)).run(
            block, search.n_threads, None, Transform()
        )
        values = np.partition(block, k - 1, axis=1)[:, k - 1]
        if self.share == near_strings.WHOLE:
            return np.sort(values)
        # A string as near as that may be longer.
        lengths, capped = pairs.x.lengths[rows], np.minimum(values, 0.9)
        sums = 2 if self.share == near_strings.BOTH else 1
        return np.sort(np.floor(lengths * capped / (1 - capped) * sums))

    def _choose_index(
        self, rows: np.ndarray, radius: int, half: bool
    ) -> tuple[near_strings.Index | None, float]:
        """Return the index, or None if a scan of the rows is cheaper, and the cost."""
        strings = self.y.strings
        if radius >= self.longest:
            return None, np.inf
        cost, each = self._sampled(rows, radius, None, half), radius * self.edits.pieces + 1
        pieces = strings.n * each
        indexes, limit = self.prepared.indexes, self.prepared.index_bytes
        # The cost of building the index is shared by all blocks of rows.
        building = _PIECE * pieces * self.x.strings.n / self.prepared.n_rows
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
        k: int | None = None,
    ) -> float:
        """Estimate the cost of a search, of the k nearest or of all, from a sample of the rows.

        One row is enough where it costs many times as much as all its distances.
        """
        drawn, n = rows[_spread(len(rows), _TRIAL, _TRIAL_PART)], self.search.pairs.shape[0]
        work, heaps = _no_work(n), None if k is None else NearestLists(n, k)
        width = isa.vector_bytes()
        lane = _LANES[width] * (self.edits.wide_lane if width == 64 else self.edits.lane)
        first, cost, limit = len(drawn) // 2, 0.0, _HOPELESS * self._full_cost(rows)
        for done, chunk in ((1, drawn[first : first + 1]), (len(drawn), np.delete(drawn, first))):
            self._run(chunk, radius, index, work, half=half, heaps=heaps, quiet=True)
            lookups, banded, columns, lanes, _ = work.work[drawn].sum(axis=0)
            each = _COLUMN * columns * self.edits.cell
            each += _LOOK * lookups + _ALIKE * banded + lane * lanes
            candidates = work.counts[drawn, 1].sum()
            if index is None:
                each += _ROW * done + _SCANNED / width * candidates
            else:
                each += _CANDIDATE * candidates
            cost = each * len(rows) / done
            if cost > limit:
                break
        return cost

    def _full_cost(self, rows: np.ndarray, symmetric: bool = True) -> float:
        """Return the cost of all distances of some rows; symmetric: those of all rows once."""
        x, y = self.x.strings, self.y.strings
        letters = (x.offsets[rows + 1] - x.offsets[rows]).sum()
        cost = _cost_in_full(self.edits, self.search.pairs, len(rows), letters, y.offsets[y.n])
        if self.search.pairs.same and symmetric and len(rows) == x.n:
            cost /= 2  # each pair once
        return cost + _OFFERED * len(rows) * y.n * (self.search.k is not None)

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
        heap = None if heaps is None else (heaps.distances, heaps.indices, names)
        visit = None
        if search.report is not None and not quiet:

            def visit(done: int, _: int) -> None:
                # Rows are in the order of length: later ones take longer.
                at = int(rows[done - 1]) + 1 if done else int(rows[0])
                letters, total = int(x.offsets[at]) + at, int(x.offsets[x.n]) + x.n
                search.report(letters * x.n * y.n // total, x.n * y.n)

        value = search.cap if search.radius is None else search.radius
        if search.k is None and search.radius is None:
            value = radius  # of `pairs_within`
        return near_strings.search(
            x, y, rows, self.edits.kind, self.share, radius, value, index, half, search.skip, heap,
            *work, search.n_threads, visit,
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
        nearest = NearestLists(len(rows), search.k + search.skip, search.cap)
        search_tiles(subset, nearest, NeighborsInfo(0))
        info.computed += n_pairs
        indices, distances = nearest.result(pairs.dtype)
        if search.skip:
            indices, distances = without_own(indices, distances, rows)
        lists.indices[rows], lists.distances[rows] = indices, distances


def _cost_in_full(
    edits: Edits, pairs: PairwiseProblem, n_rows: int, letters: int, columns: int
) -> float:
    """Return the cost of all distances of rows with so many letters; columns: the letters of Y."""
    m = pairs.shape[1]
    cell = _CELL * edits.full * 64 / isa.vector_bytes()
    pair = _PAIR + _DIVIDED * normalized(pairs)
    return (pair * m + _FULL_ROW) * n_rows + cell * letters * (columns + m)


def _sorted(pairs: PairwiseProblem) -> tuple[Side, Side, np.ndarray]:
    """Return X and Y sorted, the same side twice where Y is X, and the letters' ranks."""
    sides = [pairs.x] if pairs.y is pairs.x else [pairs.x, pairs.y]
    *letters, n_letters = common_letters(sides[0], sides[-1])
    longest = max(int(side.lengths.max()) for side in sides)
    counts = sum(np.bincount(codes, minlength=n_letters) for codes in letters)
    ranks = np.argsort(np.argsort(-counts, kind="stable")).astype(np.uint32)
    made = [
        _side(ranks[codes], side, n_letters, longest)
        for codes, side in zip(letters, sides, strict=False)
    ]
    return made[0], made[-1], ranks


def _sorted_rows(pairs: PairwiseProblem, prepared: PreparedStrings) -> Side:
    """Return X, a block of rows, sorted; all of Y is prepared."""
    codes, *_ = common_letters(pairs.x, pairs.y)
    y = prepared.strings.strings
    return _side(prepared.ranks[codes], pairs.x, y.n_letters, y.longest)


def _side(codes: np.ndarray, objects: Objects, n_letters: int, longest: int) -> Side:
    """Sort strings by length, and those of one length by the letters that they have.

    Letters that about half of the strings have come first.
    """
    groups = np.append(1 << (codes % _GROUPS).astype(np.int64), 0)
    present = np.bitwise_or.reduceat(groups, objects.offsets[:-1])
    bits = present[:, None] >> np.arange(_GROUPS) & 1
    rank = np.argsort(np.argsort(-np.abs(bits.mean(axis=0) - 0.5), kind="stable"))
    order = np.lexsort(((bits << rank).sum(axis=1), objects.lengths))
    lengths = objects.lengths[order]
    offsets = offsets_of(lengths)
    moves = np.repeat(objects.offsets[:-1][order] - offsets[:-1], lengths)
    codes = not_empty(codes[np.arange(offsets[-1]) + moves])
    return Side(near_strings.Strings(codes, offsets, n_letters, longest), order)


def _spread(n: int, limit: int = _SAMPLE, part: int = _SAMPLED_PART) -> np.ndarray:
    """Return some of n rows, evenly spread, without the first and the last."""
    count = min(max(n // part, 8), limit)
    return np.unique(((np.arange(count) + 0.5) * n / count).astype(np.int64))


def _no_work(n: int) -> SearchCounts:
    return SearchCounts(np.zeros((n, 4), np.int64), np.zeros((n, near_strings.WORK), np.int64))


def _chunks(rows: np.ndarray, size: int = _QUERIES) -> Iterator[np.ndarray]:
    for first in range(0, len(rows), size):
        yield np.ascontiguousarray(rows[first : first + size])


def _count(info: NeighborsInfo, pairs: int, counts: np.ndarray) -> None:
    """Add the counts of a search of so many pairs to `info`."""
    lengths, candidates, letters, full = counts.sum(axis=0).tolist()
    info.rule_out("length", pairs - lengths)
    info.rule_out("pieces", lengths - candidates)
    info.rule_out("letters", candidates - letters)
    info.rule_out("cutoff", letters - full)
    info.computed += full
