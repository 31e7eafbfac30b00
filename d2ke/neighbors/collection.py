# SPDX-License-Identifier: BSD-3-Clause
"""The objects of an index, in segments, which are searched one after another."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from d2ke._base.errors import ArgumentError
from d2ke.distances.problem import ArgumentNames, PairwiseProblem
from d2ke.distances.record_pairs import RecordDistance, check_any_pairs
from d2ke.io.segment_file import StoredSegment
from d2ke.neighbors.index_ids import check_distinct, check_type, named, refuse_missing
from d2ke.neighbors.info import NeighborsInfo
from d2ke.neighbors.lists import NearestLists, WithinLists, best_of
from d2ke.neighbors.problem import NeighborSearch
from d2ke.neighbors.search_index import SearchIndex
from d2ke.neighbors.strategies import Scan, build_index
from d2ke.objects.container import take
from d2ke.objects.records import join

_MIN_INDEXED = 1024  # objects; a smaller segment is scanned
_MAX_TAIL = 4096  # objects of the last segments that new objects are merged with
_OWN = ArgumentNames("Index", "objects", "objects")

Report = Callable[[int, int], None] | None
Queries = Sequence[tuple["Segment", PairwiseProblem]]


@dataclass(frozen=True)
class Distance:
    """The distance of an index, with the parameters fixed when the index was built.

    Attributes
    ----------
    distance : str, callable, or dict of str to (distance, parameters)
        As for `nearest`; a dict for records.
    params : dict
        Its parameters; of records, the weights of columns.
    metric : bool
        Whether it is a metric, according to the user.
    """

    distance: Any
    params: Mapping[str, Any]
    metric: bool

    @classmethod
    def of(cls, pairs: PairwiseProblem, metric: bool) -> Distance:
        """Return the distance of checked pairs."""
        distance = pairs.distance
        if isinstance(distance, RecordDistance):
            columns = distance.columns.items()
            distance = {name: (column.distance, column.params) for name, column in columns}
        return cls(distance, pairs.params, metric)

    def __repr__(self) -> str:
        if isinstance(self.distance, dict):
            return repr({name: distance for name, (distance, _) in self.distance.items()})
        return repr(self.distance)

    def pairs(self, X: Any, Y: Any = None, names: ArgumentNames = _OWN) -> PairwiseProblem:
        """Check X and Y, and return their pairs."""
        return check_any_pairs(X, Y, self.distance, self.params, names)

    def functions(self) -> Iterator[Callable[..., float]]:
        """Yield the user's functions."""
        columns = self.distance
        distances = [d for d, _ in columns.values()] if isinstance(columns, dict) else [columns]
        yield from (distance for distance in distances if not isinstance(distance, str))


@dataclass
class Prepared:
    """Derived data of a segment, built when first needed; removals leave it valid.

    Attributes
    ----------
    index : SearchIndex or None
        The index of the objects.
    order : ndarray of int64 or None
        The positions of the objects, sorted by id.
    base : (SearchIndex, ndarray of int64) or None
        An index of the first objects, and their positions in it.
    """

    index: SearchIndex | None = None
    order: NDArray[np.int64] | None = None
    base: tuple[SearchIndex, NDArray[np.int64]] | None = None


@dataclass(eq=False)
class Segment:
    """Objects of an index, in order of arrival.

    Attributes
    ----------
    pairs : PairwiseProblem
        All pairs of the objects, which are its x and its y.
    numbers : ndarray of int64, shape (m,)
        Their numbers in the index, ascending.
    removed : ndarray of bool, shape (m,)
        Mask of removed objects.
    ids : ndarray of int64 or str, shape (m,), or None
        The user's names of the objects.
    metric : bool
        Whether the distance is a metric, according to the user.
    stored : StoredSegment or None
        The segment's file, if any; its mask lacks later removals.
    prepared : Prepared
        Derived data.
    """

    pairs: PairwiseProblem
    numbers: NDArray[np.int64]
    removed: NDArray[np.bool_]
    ids: NDArray[Any] | None
    metric: bool
    stored: StoredSegment | None = None
    prepared: Prepared = field(default_factory=Prepared)

    def __len__(self) -> int:
        return len(self.numbers)

    @cached_property
    def n_removed(self) -> int:
        """Number of removed objects."""
        return int(self.removed.sum())

    def index(self, n_threads: int) -> SearchIndex:
        """Return the index of the objects; build it at the first call."""
        prepared = self.prepared
        if prepared.index is None:
            if len(self) < _MIN_INDEXED:
                prepared.index = Scan()
            else:
                base, positions = prepared.base or (Scan(), self.numbers[:0])
                search = NeighborSearch(self.pairs, False, False, n_threads, self.metric, radius=0)
                prepared.index = base.extended(self.pairs, positions, n_threads) or build_index(
                    search, reused=True
                )
            prepared.base = None  # frees its memory
        return prepared.index

    def positions(self, keys: NDArray[Any], by_ids: bool = False) -> NDArray[np.int64]:
        """Return the positions of objects by their numbers or ids; -1 for missing ones."""
        sorted_keys, order = self.numbers, None
        if by_ids:
            assert self.ids is not None
            if self.prepared.order is None:
                self.prepared.order = np.argsort(self.ids, kind="stable")
            sorted_keys, order = self.ids, self.prepared.order
        positions = np.minimum(sorted_keys.searchsorted(keys, sorter=order), len(self) - 1)
        positions = positions if order is None else order[positions]
        return np.where((sorted_keys[positions] == keys) & ~self.removed[positions], positions, -1)

    def remaining(self) -> tuple[Any, NDArray[np.int64], NDArray[Any] | None]:
        """Return the objects without removed ones, their numbers and their ids."""
        if not self.n_removed:
            return self.pairs.y, self.numbers, self.ids
        rows = np.flatnonzero(~self.removed)
        ids = None if self.ids is None else self.ids[rows]
        return take(self.pairs.y, rows), self.numbers[rows], ids

    def base(self) -> tuple[SearchIndex, NDArray[np.int64]] | None:
        """Return an index of the first objects, and the positions of the remaining ones in it."""
        rows, base = np.flatnonzero(~self.removed), self.prepared.base
        if self.prepared.index is not None:  # by a search in another thread, perhaps just now
            return self.prepared.index, rows
        return base and (base[0], base[1][rows[rows < len(base[1])]])

    def search(
        self,
        pairs: PairwiseProblem,
        lists: NearestLists | WithinLists,
        k: int,
        radius: float,
        n_threads: int,
        report: Report,
    ) -> None:
        """Fill the lists of a search of these objects, by their positions in the segment."""
        mask = self.removed if self.n_removed else None
        search = NeighborSearch(
            pairs, False, False, n_threads, self.metric, k, radius, mask, report
        )
        bounded = not getattr(pairs.x, "missing", False)  # bounds need all values
        index = self.index(n_threads) if bounded else Scan()
        index.query(search, lists, NeighborsInfo(search.n_pairs))


class Collection:
    """Objects with numbers, which ascend and are never reused.

    Changes replace the tuple of segments, so that concurrent searches continue on the old one.

    Attributes
    ----------
    distance : Distance
        How objects are compared.
    segments : tuple of Segment
        Non-empty segments in the order of their numbers.
    next : int
        The number of the next object.
    """

    def __init__(self, distance: Distance, segments: Sequence[Segment], next_: int):
        self.distance, self.segments, self.next = distance, tuple(segments), next_
        self._ids: tuple[tuple[Segment, ...], NDArray[Any]] | None = None

    def __len__(self) -> int:
        return sum(len(segment) - segment.n_removed for segment in self.segments)

    @property
    def numbers(self) -> NDArray[np.int64]:
        """The numbers of the remaining objects."""
        return np.concatenate([s.numbers[~s.removed] for s in self.segments])

    @property
    def ids(self) -> NDArray[Any] | None:
        """The ids by number, read-only; a removed object has its old id, -1 or ""."""
        segments, cached = self.segments, self._ids
        if cached is not None and cached[0] is segments:
            return cached[1]
        segment_ids = [segment.ids for segment in segments if segment.ids is not None]
        if not segment_ids:
            return None
        dtype = np.result_type(*segment_ids)
        ids = np.full(self.next, -1 if dtype.kind == "i" else "", dtype)
        for segment, values in zip(segments, segment_ids, strict=True):
            ids[segment.numbers] = values
        ids.flags.writeable = False
        self._ids = segments, ids
        return ids

    def take(self, numbers: NDArray[np.int64]) -> Any:
        """Return the objects with these numbers, and with their ids."""
        order = np.argsort(numbers, kind="stable")
        chunks, ids = [], []
        for segment, rows in zip(self.segments, self.positions(numbers[order]), strict=True):
            if len(rows):
                chunks.append(take(segment.pairs.y, rows))
                ids += [] if segment.ids is None else [segment.ids[rows]]
        # Numbers ascend from segment to segment, so the joined chunks are in the sorted order.
        back = np.argsort(order, kind="stable")
        return named(take(join(chunks), back), np.concatenate(ids)[back] if ids else None)

    def positions(self, keys: NDArray[Any], by_ids: bool = False) -> list[NDArray[np.int64]]:
        """Return the positions in each segment of objects by numbers or ids; refuse missing."""
        result = []
        for segment in self.segments:
            positions = segment.positions(keys, by_ids)
            result.append(positions[positions >= 0])
        if sum(map(len, result)) < len(keys):
            numbers, ids = self.numbers, self.ids
            if by_ids and ids is not None:
                refuse_missing("ids", keys, ids[numbers])
            refuse_missing("indices", keys, numbers)
        return result

    def check_new(self, ids: NDArray[Any]) -> None:
        """Refuse ids that are repeated, or that objects have already."""
        check_distinct(ids)
        for segment in self.segments:
            assert segment.ids is not None
            check_type(ids, segment.ids)
            taken = segment.positions(ids, True) >= 0
            if taken.any():
                i = int(taken.argmax())
                problem = f"is {ids[i].item()!r}, which an object of the index has"
                raise ArgumentError("ids", problem, i)

    def add(self, objects: Any, ids: NDArray[Any] | None) -> NDArray[np.int64]:
        """Add a segment of new objects; merge the last segments of similar size.

        There are O(log n) segments, and each object is merged O(log n) times.
        """
        numbers = np.arange(self.next, self.next + len(objects))
        # First: a search in another thread has a column for each object that it finds.
        self.next += len(objects)
        segments = [*self.segments, self._segment(objects, numbers, ids)]
        first, size = len(segments) - 1, len(numbers)
        while first and len(segments[first - 1]) <= max(2 * size, _MAX_TAIL - size):
            first -= 1
            size += len(segments[first])
        if first < len(segments) - 1:
            segments[first:] = [self._merged(segments[first:])]
        self.segments = tuple(segments)
        return numbers.copy()

    def remove(self, positions: Sequence[NDArray[np.int64]]) -> None:
        """Mark objects of each segment as removed.

        A segment is rewritten without them if they are more than half of it, or if its index is
        cheap: it is small, or it is scanned by a user's function, which then has fewer calls.
        """
        segments, functions = [], any(self.distance.functions())
        for segment, rows in zip(self.segments, positions, strict=True):
            if len(rows):
                mask = segment.removed.copy()
                mask[rows] = True
                segment = replace(segment, removed=mask)
            n, n_removed, index = len(segment), segment.n_removed, segment.prepared.index
            if n_removed < n:
                is_scanned = index is None or isinstance(index, Scan)
                has_index = n >= _MIN_INDEXED and not (functions and is_scanned)
                keep = not n_removed or (has_index and 2 * n_removed <= n)
                segments.append(segment if keep else self._merged([segment]))
        self.segments = tuple(segments)

    def merge(self) -> Segment:
        """Merge all segments into one without removed objects, and return it."""
        if len(self.segments) > 1 or self.segments[0].n_removed:
            self.segments = (self._merged(self.segments),)
        return self.segments[0]

    def compacted(self) -> list[Segment]:
        """Return the segments without removed objects."""
        return [self._merged([s]) if s.n_removed else s for s in self.segments]

    def _merged(self, segments: Sequence[Segment]) -> Segment:
        objects, numbers, ids = zip(*(segment.remaining() for segment in segments), strict=True)
        merged = self._segment(
            join([*objects]),
            np.concatenate(numbers),
            None if ids[0] is None else np.concatenate(ids),
        )
        merged.prepared.base = segments[0].base()
        return merged

    def _segment(
        self, objects: Any, numbers: NDArray[np.int64], ids: NDArray[Any] | None
    ) -> Segment:
        mask = np.zeros(len(numbers), bool)
        return Segment(self.distance.pairs(objects), numbers, mask, ids, self.distance.metric)


def nearest_of(
    queries: Queries, k: int, limit: float, n_threads: int, report: Report
) -> tuple[NDArray[np.int64], NDArray[np.floating[Any]]]:
    """Return the numbers and distances of the k nearest of all segments.

    `queries`: each segment with the pairs of the queries and its objects. The k-th distance so far
    limits the search of the next segment.
    """
    n, dtype, limits = queries[0][1].shape[0], queries[0][1].dtype, np.full(1, limit)
    near: list[tuple[NDArray[np.int64], NDArray[np.floating[Any]]]] = []
    for segment, pairs in queries:
        lists = NearestLists(n, min(k, len(segment)), limits)
        segment.search(pairs, lists, lists.indices.shape[1], limit, n_threads, report)
        positions, distances = lists.result(dtype)
        near.append((np.where(positions < 0, -1, segment.numbers[positions]), distances))
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
    queries: Queries, radius: float, n_threads: int, report: Report
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.floating[Any]]]:
    """Return rows, numbers and distances of all pairs within the radius, sorted."""
    results = []
    for segment, pairs in queries:
        lists = WithinLists(pairs.shape, radius)
        segment.search(pairs, lists, 0, radius, n_threads, report)
        rows, columns, distances = lists.entries(pairs.dtype)
        if segment.n_removed:
            mask = ~segment.removed[columns]
            rows, columns, distances = rows[mask], columns[mask], distances[mask]
        results.append((rows, segment.numbers[columns], distances))
    rows, numbers, distances = map(np.concatenate, zip(*results, strict=True))
    order = np.lexsort((numbers, rows))
    return rows[order], numbers[order], distances[order]
