# SPDX-License-Identifier: BSD-3-Clause
"""Segments of an index: some of its objects, with what a search prepares of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from d2ke.distances.problem import PairwiseProblem
from d2ke.io.segment_file import StoredSegment
from d2ke.neighbors.info import NeighborsInfo
from d2ke.neighbors.lists import NearestLists, WithinLists, best_of
from d2ke.neighbors.problem import NeighborSearch
from d2ke.neighbors.search_index import SearchIndex
from d2ke.neighbors.strategies import Scan, build_index
from d2ke.objects.container import take

FEWEST = 1024  # objects for which anything is prepared; fewer are compared one by one


@dataclass
class Prepared:
    """What is made of a segment's objects when it is first needed; removals leave it.

    Attributes
    ----------
    index : SearchIndex or None
        The index of their searches.
    order : ndarray of int64 or None
        Their positions in the order of the ids.
    before : (SearchIndex, ndarray of int64) or None
        An index of the first of them, and which of its objects they are.
    """

    index: SearchIndex | None = None
    order: NDArray[np.int64] | None = None
    before: tuple[SearchIndex, NDArray[np.int64]] | None = None


@dataclass(eq=False)
class Segment:
    """Some objects of an index, in the order in which they came.

    Attributes
    ----------
    pairs : PairwiseProblem
        All pairs of the objects, which are its x and its y.
    numbers : ndarray of int64, shape (m,)
        Their numbers in the index, which ascend.
    hidden : ndarray of bool, shape (m,)
        Those that were removed.
    ids : ndarray of int64 or str, shape (m,), or None
        The user's names of the objects.
    metric : bool
        Whether the distance is a metric, according to the user.
    stored : StoredSegment or None
        The segment in a file, if it is in one; objects that were removed since are marked there.
    prepared : Prepared
        What was made of the objects.
    """

    pairs: PairwiseProblem
    numbers: NDArray[np.int64]
    hidden: NDArray[np.bool_]
    ids: NDArray[Any] | None
    metric: bool
    stored: StoredSegment | None = None
    prepared: Prepared = field(default_factory=Prepared)

    def __len__(self) -> int:
        return len(self.numbers)

    def index(self, n_threads: int) -> SearchIndex:
        """Return the index of the objects, which is built when it is first needed."""
        held = self.prepared
        if held.index is None:
            held.index = self._made(n_threads)
            held.before = None  # whose memory is free again
        return held.index

    def _made(self, n_threads: int) -> SearchIndex:
        if len(self) < FEWEST:
            return Scan()
        index, kept = self.prepared.before or (Scan(), self.numbers[:0])
        search = NeighborSearch(self.pairs, False, False, n_threads, self.metric, radius=0.0)
        return index.extended(self.pairs, kept, n_threads) or build_index(search, kept=True)

    @property
    def is_scanned(self) -> bool:
        """Whether nothing is prepared of the objects that they would have to lose."""
        return self.prepared.index is None or isinstance(self.prepared.index, Scan)

    def without(self, places: NDArray[np.int64]) -> Segment:
        """Return the segment with these objects hidden too; what was made stays."""
        hidden = self.hidden.copy()
        hidden[places] = True
        return replace(self, hidden=hidden)

    @cached_property
    def n_hidden(self) -> int:
        """How many objects were removed."""
        return int(self.hidden.sum())

    def places(self, wanted: NDArray[Any], by_ids: bool = False) -> NDArray[np.int64]:
        """Return the places of objects by their numbers or ids; -1 for those not there."""
        held, order = self.numbers, None
        if by_ids:
            assert self.ids is not None
            if self.prepared.order is None:
                self.prepared.order = np.argsort(self.ids, kind="stable")
            held, order = self.ids, self.prepared.order
        places = np.minimum(held.searchsorted(wanted, sorter=order), len(self) - 1)
        places = places if order is None else order[places]
        return np.where((held[places] == wanted) & ~self.hidden[places], places, -1)

    def kept(self) -> tuple[Any, NDArray[np.int64], NDArray[Any] | None]:
        """Return the objects that are not hidden, their numbers and their ids."""
        if not self.n_hidden:
            return self.pairs.y, self.numbers, self.ids
        rows = np.flatnonzero(~self.hidden)
        ids = None if self.ids is None else self.ids[rows]
        return take(self.pairs.y, rows), self.numbers[rows], ids

    def index_before(self) -> tuple[SearchIndex, NDArray[np.int64]] | None:
        """Return the index of this segment, or of its first objects, and those not hidden."""
        shown, before = np.flatnonzero(~self.hidden), self.prepared.before
        if self.prepared.index is not None:  # by a search in another thread, perhaps just now
            return self.prepared.index, shown
        return before and (before[0], before[1][shown[shown < len(before[1])]])

    def search(
        self,
        start: SearchStart,
        pairs: PairwiseProblem,
        lists: NearestLists | WithinLists,
        k: int,
        radius: float,
    ) -> None:
        """Fill the lists of a search of these objects, by their positions in the segment."""
        hidden = self.hidden if self.n_hidden else None
        search = start(pairs, k=k, radius=radius, hidden=hidden)
        bounded = not getattr(pairs.x, "missing", False)  # bounds need all values
        index = self.index(search.n_threads) if bounded else Scan()
        index.query(search, lists, NeighborsInfo(search.n_pairs))


Queries = Sequence[tuple[Segment, PairwiseProblem]]
SearchStart = Callable[..., NeighborSearch]  # with the options of a call


def nearest_of(
    queries: Queries, start: SearchStart, k: int, limit: float
) -> tuple[NDArray[np.int64], NDArray[np.floating[Any]]]:
    """Return the numbers and distances of the k nearest of all segments.

    `queries`: each segment with the pairs of the queries and its objects. What is found in one
    segment limits the search of the next.
    """
    n, dtype, limits = queries[0][1].shape[0], queries[0][1].dtype, np.full(1, limit)
    near: list[tuple[NDArray[np.int64], NDArray[np.floating[Any]]]] = []
    for segment, pairs in queries:
        lists = NearestLists(n, min(k, len(segment)), limits)
        segment.search(start, pairs, lists, lists.indices.shape[1], limit)
        found, apart = lists.result(dtype)
        near.append((np.where(found < 0, -1, segment.numbers[found]), apart))
        if len(near) > 1:
            near = [best_of(k, *near)]
        indices, distances = near[0]
        if indices.shape[1] == k:
            limits = np.minimum(limits, distances[:, -1].astype(np.float64))
    if room := k - indices.shape[1]:
        indices = np.pad(indices, ((0, 0), (0, room)), constant_values=-1)
        distances = np.pad(distances, ((0, 0), (0, room)), constant_values=np.inf)
    return indices, distances


def within_of(
    queries: Queries, start: SearchStart, radius: float
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.floating[Any]]]:
    """Return rows, numbers and distances of all pairs within the radius, sorted."""
    parts = []
    for segment, pairs in queries:
        lists = WithinLists(pairs.shape, radius)
        segment.search(start, pairs, lists, 0, radius)
        rows, columns, distances = lists.entries(pairs.dtype)
        if segment.n_hidden:
            shown = ~segment.hidden[columns]
            rows, columns, distances = rows[shown], columns[shown], distances[shown]
        parts.append((rows, segment.numbers[columns], distances))
    rows, numbers, distances = map(np.concatenate, zip(*parts, strict=True))
    order = np.lexsort((numbers, rows))
    return rows[order], numbers[order], distances[order]
