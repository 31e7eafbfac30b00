# SPDX-License-Identifier: BSD-3-Clause
"""Segments of an index: some of its objects, with what a search prepares of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from d2ke.distances.columns import Columns as DistanceColumns
from d2ke.distances.problem import PairwiseProblem
from d2ke.io.segment_file import StoredSegment
from d2ke.neighbors import pivots, series, strings
from d2ke.neighbors.info import NeighborsInfo
from d2ke.neighbors.lists import NearestLists, WithinLists, best_of
from d2ke.neighbors.problem import NeighborSearch
from d2ke.neighbors.string_sides import Columns
from d2ke.neighbors.tiles import search_tiles
from d2ke.objects.container import Objects, take

FEWEST = 1024  # objects for which anything is prepared; fewer are compared one by one

Lists = NearestLists | WithinLists


# What is prepared of a segment, once for many searches: it fills the lists of a search.
Prepared = Callable[[NeighborSearch, Lists, NeighborsInfo], None]


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
    made : dict
        What was prepared when it was first needed.
    """

    pairs: PairwiseProblem
    numbers: NDArray[np.int64]
    hidden: NDArray[np.bool_]
    ids: NDArray[Any] | None
    metric: bool
    stored: StoredSegment | None = None
    made: dict[str, Any] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.numbers)

    def prepared(self, n_threads: int) -> Prepared:
        """Return the search of what is prepared, which is prepared when it is first needed."""
        if "search" not in self.made:
            self.made["search"] = self._prepare(n_threads)
        return self.made["search"]

    @property
    def has_scan(self) -> bool:
        """Whether nothing is prepared of the objects that they would have to lose."""
        return self.made.get("search", search_tiles) is search_tiles

    def columns_of(self, pairs: PairwiseProblem) -> PairwiseProblem:
        """Return pairs of any rows and these objects, which are compiled once."""
        if "columns" not in self.made:
            kept = isinstance(pairs.distance, str) and isinstance(pairs.y, Objects)
            by = pairs.distance, pairs.params
            self.made["columns"] = DistanceColumns(pairs.y, *by) if kept else None
        columns = self.made["columns"]
        return pairs if columns is None else columns.prepared(pairs)

    def _prepare(self, n_threads: int) -> Prepared:
        pairs, m = self.pairs, len(self)
        if m < FEWEST:
            return search_tiles
        search = NeighborSearch(pairs, False, False, n_threads, self.metric, radius=0.0)
        if strings.has_index(pairs):
            return partial(strings.search_strings, columns=Columns(pairs.y))
        if series.applies(search):
            return partial(series.search_series, index=series.SeriesIndex(pairs))
        count = pivots.usual_count(m)
        if pivots.has_bounds(search, count):
            index = pivots.PivotIndex(pairs, n_threads, count)
            return partial(pivots.search_pivots, index=index)
        return search_tiles

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
            if "order" not in self.made:
                self.made["order"] = np.argsort(self.ids, kind="stable")
            held, order = self.ids, self.made["order"]
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

    def search(
        self, start: SearchStart, pairs: PairwiseProblem, lists: Lists, k: int, radius: float
    ) -> None:
        """Fill the lists of a search of these objects, by their places in the segment."""
        hidden = self.hidden if self.n_hidden else None
        search = start(pairs, k=k, radius=radius, hidden=hidden)
        prepared = self.prepared(search.n_threads)
        if getattr(pairs.x, "missing", False):
            prepared = search_tiles  # bounds need all values
        elif getattr(prepared, "func", None) in (series.search_series, pivots.search_pivots):
            search = replace(search, pairs=self.columns_of(pairs))
        prepared(search, lists, NeighborsInfo(search.n_pairs))


Queries = Sequence[tuple[Segment, PairwiseProblem]]
SearchStart = Callable[..., NeighborSearch]  # with the options of a call


def nearest_of(
    queries: Queries, start: SearchStart, k: int, limit: float
) -> tuple[NDArray[np.int64], NDArray[np.floating[Any]]]:
    """Return the numbers and distances of the k nearest of all segments.

    `queries`: each segment with the pairs of the queries and its objects. What is found in one
    segment limits the search of the next.
    """
    dtype, n = queries[0][1].dtype, queries[0][1].shape[0]
    indices = np.full((n, 0), -1, np.int64)
    distances = np.empty((n, 0), dtype)
    limits = np.full(n, limit)
    for segment, pairs in queries:
        lists = NearestLists(n, min(k, len(segment)), limits)
        segment.search(start, pairs, lists, lists.indices.shape[1], limit)
        found, apart = lists.result(dtype)
        found = np.where(found < 0, -1, segment.numbers[found])
        if not indices.shape[1]:
            indices, distances = found, apart
        else:
            indices, distances = best_of(k, (indices, distances), (found, apart))
        if indices.shape[1] == k:
            limits = np.minimum(limits, distances[:, -1].astype(np.float64))
    if indices.shape[1] < k:
        room = ((0, 0), (0, k - indices.shape[1]))
        indices = np.pad(indices, room, constant_values=-1)
        distances = np.pad(distances, room, constant_values=np.inf)
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
    rows, numbers, distances = parts[0]
    if len(parts) > 1:
        rows, numbers, distances = map(np.concatenate, zip(*parts, strict=True))
    order = np.lexsort((numbers, rows))
    return rows[order], numbers[order], distances[order]
