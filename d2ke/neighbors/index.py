# SPDX-License-Identifier: BSD-3-Clause
"""An index: objects that are prepared once for many searches, and that come and go."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from threading import RLock
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import LowLevelCallable, sparse

from d2ke._base.checks import integer, not_negative
from d2ke._base.errors import ArgumentError, ArgumentTypeError
from d2ke._base.keywords import hinted
from d2ke._base.memory import check_fits
from d2ke._base.progress import progress_bar
from d2ke.distances.equal_distances import warn_of_first_neighbors
from d2ke.distances.problem import ArgumentNames, PairwiseProblem
from d2ke.distances.record_pairs import RecordDistance, check_any_pairs
from d2ke.neighbors.index_ids import check_new, dtypes_of, ids_of, joined, refuse_missing
from d2ke.neighbors.problem import NeighborSearch
from d2ke.neighbors.runs import SearchOptions, find_nearest, find_within
from d2ke.neighbors.segments import Segment, nearest_of, within_of
from d2ke.objects.container import take
from d2ke.objects.tables import read_ids

_TAIL = 4096  # objects that are joined to those that come, at most


class Index:
    """Objects that are searched in many calls: `nearest` and `within`, prepared once.

    The results are those of `nearest` and `within` on the objects that are there, with the same
    bits and the same order of ties, after any adds and removals. Objects have indices: int64,
    given in the order in which they come, and never used again.

    What is prepared depends on the distance: edit distances of strings have sorted strings and
    indexes of their pieces, metrics have distances to a few pivots. With other distances, all
    objects are compared. What takes long is made when searches have shown that it pays.

    Searches may run in several threads at once; adds and removals wait for each other.

    Parameters
    ----------
    objects : Objects or what `pack` takes; Records or what `pack_records` takes
        At least one object.
    distance : str, callable, scipy.LowLevelCallable or dict, optional
        As for `nearest`, except ``"precomputed"``.
    ids : sequence of int or str, optional
        The user's names of the objects, all different. By default those that the objects have, if
        they are different.
    metric : bool
        As for `nearest`.
    **params
        Parameters of the distance. The weights of records are those of these objects, if none are
        given.

    Raises
    ------
    TypeError, ValueError
        As `nearest`; ids that are repeated.

    Examples
    --------
    >>> import d2ke
    >>> index = d2ke.Index(["kitten", "mitten", "sitting"], distance="levenshtein")
    >>> indices, distances = index.nearest(["mittens"], k=2)
    >>> indices.tolist(), distances.tolist()
    ([[1, 0]], [[1.0, 2.0]])
    >>> index.add(["bitten"])
    array([3])
    >>> index.remove([1])
    >>> index.nearest(["mittens"], k=2)[0].tolist()
    [[0, 3]]
    >>> index
    <Index of 3 strings by 'levenshtein'>
    """

    @hinted
    def __init__(
        self,
        objects: Any,
        *,
        distance: str | Callable[..., float] | LowLevelCallable | Mapping[str, Any] | None = None,
        ids: Any = None,
        metric: bool = False,
        **params: Any,
    ):
        if isinstance(distance, str) and distance == "precomputed":
            raise ArgumentError(
                "distance", "is 'precomputed'; an index computes distances to objects that come"
            )
        names = ArgumentNames("Index", "objects", "objects")
        pairs = check_any_pairs(objects, None, distance, params, names)
        SearchOptions(metric=metric).search(pairs, True)
        self._metric, self._lock = metric, RLock()
        self._distance, self._params = pairs.distance, dict(pairs.params)
        if isinstance(pairs.distance, RecordDistance):
            self._distance = {
                name: (column.distance, column.params)
                for name, column in pairs.distance.columns.items()
            }
        named = ids_of(objects, ids, len(pairs.x))
        if named is None or ids is not None:
            check_new("ids", named, ())
        elif len(np.unique(named)) < len(named):
            named = None
        self._segments: tuple[Segment, ...] = (
            self._segment(pairs, np.arange(len(pairs.x)), named),
        )
        self._next = len(pairs.x)

    def __len__(self) -> int:
        return sum(len(segment) - segment.n_hidden for segment in self._segments)

    def __repr__(self) -> str:
        x, by = self._segments[0].pairs.x, self._distance
        kind = getattr(x, "kind", "objects")
        if isinstance(by, dict):
            by = {name: distance for name, (distance, _) in by.items()}
        return f"<Index of {len(self)} {kind} by {by!r}>"

    @property
    def indices(self) -> NDArray[np.int64]:
        """The indices of the objects that are there, in order, int64 of shape (len(self),)."""
        return np.concatenate([s.numbers[~s.hidden] for s in self._segments])

    @property
    def ids(self) -> NDArray[Any] | None:
        """The user's names: ``index.ids[i]`` is that of index i; None if there are none.

        Objects that left may have the name -1, or "".
        """
        segments, n = self._segments, self._next
        if segments[0].ids is None:
            return None
        dtype = np.result_type(*(s.ids.dtype for s in segments if s.ids is not None))
        ids = np.full(n, -1 if dtype.kind == "i" else "", dtype)
        for segment in segments:
            ids[segment.numbers] = segment.ids
        return ids

    def objects(self, indices: Any) -> Any:
        """Return the objects with these indices, as `Objects`, `Records` or a list.

        Raises
        ------
        IndexError
            If there is no object of an index.
        """
        indices = np.atleast_1d(np.asarray(indices, np.int64))
        order = np.argsort(indices, kind="stable")
        wanted, parts, found = indices[order], [], 0
        for segment in self._segments:
            at = np.minimum(np.searchsorted(segment.numbers, wanted), len(segment) - 1)
            held = (segment.numbers[at] == wanted) & ~segment.hidden[at]
            if held.any():
                parts.append(take(segment.pairs.y, at[held]))
                found += int(held.sum())
        if found < len(wanted):
            refuse_missing("indices", indices, self.indices)
        # Segments ascend, so their parts end to end are in the order of `wanted`.
        return take(joined(parts), np.argsort(order, kind="stable"))

    def nearest(
        self,
        X: Any,
        *,
        k: int,
        radius: float | None = None,
        include_self: bool = False,
        n_threads: int | None = None,
        progress: bool | None = None,
    ) -> tuple[NDArray[np.int64], NDArray[np.floating[Any]]]:
        """Find the k nearest objects of the index to each object of X, exactly.

        Parameters
        ----------
        X : Objects or what `pack` takes; Records or what `pack_records` takes; None
            n objects or records. None stands for the objects of the index, in the order of
            `indices`.
        k, radius, include_self, n_threads, progress
            As for `nearest`.

        Returns
        -------
        indices : ndarray of int64, shape (n, k)
            The indices of the neighbours, the nearest first; ties are sorted by index. -1 where
            fewer than k are within the radius.
        distances : ndarray, shape (n, k)
            Their distances; inf where the index is -1.
        """
        options = SearchOptions(include_self, self._metric, n_threads, progress)
        if X is None:
            segment = self._compact()
            pairs = replace(segment.pairs, names=ArgumentNames("nearest"))
            indices, distances, _ = find_nearest(pairs, True, k, radius, options)
            return np.where(indices < 0, -1, segment.numbers[indices]), distances
        queries = self._queries(X, "nearest")
        k, pairs, n = integer("k", k, 1), queries[0][1], len(self)
        if k > n:
            raise ArgumentError("k", f"is {k}, but the index has {n} objects")
        limit = np.inf if radius is None else pairs.rounded(not_negative("radius", radius))
        needed = 48 * pairs.shape[0] * k
        check_fits(needed, f"the {k} nearest of {pairs.shape[0]} objects", "search a part of X")
        with progress_bar(progress, "neighbours") as report:
            indices, distances = nearest_of(queries, _searches(options, report), k, limit)
        if radius is None and len(queries) == 1 and not queries[0][0].n_hidden:
            warn_of_first_neighbors(pairs, indices, distances)
        return indices, distances

    def within(
        self,
        X: Any,
        *,
        radius: float,
        include_self: bool = False,
        n_threads: int | None = None,
        progress: bool | None = None,
    ) -> sparse.csr_array:
        """Find all objects of the index within a radius of each object of X, exactly.

        Parameters
        ----------
        X, include_self, n_threads, progress
            As for `nearest`.
        radius : float
            As for `within`.

        Returns
        -------
        graph : scipy.sparse.csr_array, shape (n, m)
            The distances: a row for each object of X, a column for each index that was ever given.
            Distances of 0 are stored entries. Indices are sorted.
        """
        options, shape = SearchOptions(include_self, self._metric, n_threads, progress), self._next
        if X is None:
            segment = self._compact()
            pairs = replace(segment.pairs, names=ArgumentNames("within"))
            graph, _ = find_within(pairs, True, radius, options)
            numbers = segment.numbers[graph.indices]
            arrays = graph.data, numbers.astype(graph.indices.dtype), graph.indptr
            return sparse.csr_array(arrays, shape=(len(segment), shape))
        queries = self._queries(X, "within")
        pairs = queries[0][1]
        limit = pairs.rounded(not_negative("radius", radius))
        with progress_bar(progress, "neighbours") as report:
            rows, numbers, distances = within_of(queries, _searches(options, report), limit)
        starts = np.searchsorted(rows, np.arange(pairs.shape[0] + 1))
        kind = np.int32 if max(shape, len(rows)) < 2**31 else np.int64
        arrays = distances, numbers.astype(kind), starts.astype(kind)
        return sparse.csr_array(arrays, shape=(pairs.shape[0], shape))

    def add(self, objects: Any, *, ids: Any = None) -> NDArray[np.int64]:
        """Add objects, and return their indices.

        Parameters
        ----------
        objects : Objects or what `pack` takes; Records or what `pack_records` takes
            Of the kind, dtype, channels and columns of those that are there.
        ids : sequence of int or str, optional
            Their names, none of which an object has that is there; needed if the others have
            names, and the objects have none of their own. Names of one index are all numbers or
            all text.

        Raises
        ------
        TypeError, ValueError
            Objects that cannot be compared with those that are there; ids that are repeated, or
            missing, or not expected. Nothing is added then.
        """
        with self._lock:
            first = min(self._segments, key=len)
            names = ArgumentNames("add", "the index", "objects")
            checked = self._pairs(first.pairs.x, objects, names)
            new, held = checked.y, first.pairs.x
            for where, a, b in dtypes_of(held, new):
                if a != b:
                    raise ArgumentTypeError(
                        "objects", f"are {b}{where}; those of the index are {a}"
                    )
            named = ids_of(objects, ids, len(new))
            if first.ids is None and ids is not None:
                raise ArgumentTypeError("ids", "are given, but the objects of the index have none")
            named = None if first.ids is None else named
            if first.ids is not None:
                if named is None:
                    raise ArgumentTypeError("ids", "are needed: the objects of the index have them")
                check_new("ids", named, self._segments)
            numbers = np.arange(self._next, self._next + len(new))
            self._append(new, numbers, named)
            self._next += len(new)
            return numbers

    def remove(self, indices: Any = None, *, ids: Any = None) -> None:
        """Remove objects by their indices, or by their ids.

        Raises
        ------
        TypeError, ValueError
            If an object is not there. Nothing is removed then.
        """
        if (indices is None) == (ids is None):
            raise ArgumentTypeError("indices", "or ids must be given, and not both")
        with self._lock:
            hidden, found = [], 0
            if ids is None:
                wanted = np.unique(np.atleast_1d(np.asarray(indices)))
                if wanted.size and wanted.dtype.kind not in "iu":
                    raise ArgumentTypeError("indices", f"must be integers, got {indices!r}")
            else:
                wanted = np.unique(read_ids(ids, None))
                if self._segments[0].ids is None:
                    raise ArgumentTypeError("ids", "are given, but the objects have none")
            for segment in self._segments:
                if ids is None:
                    at = np.minimum(np.searchsorted(segment.numbers, wanted), len(segment) - 1)
                    held = (segment.numbers[at] == wanted) & ~segment.hidden[at]
                    places = at[held]
                else:
                    places = segment.places(wanted)
                    places = places[places >= 0]
                found += len(places)
                hidden.append(segment.hidden.copy())
                hidden[-1][places] = True
            if found < len(wanted):
                there = self.indices if ids is None else self.ids[self.indices]  # type: ignore[index]
                refuse_missing("indices" if ids is None else "ids", wanted, there)
            if found == len(self):
                raise ArgumentError("indices" if ids is None else "ids",
                                    "are those of all objects: at least one must stay")  # fmt: skip
            pairs = zip(self._segments, hidden, strict=True)
            self._segments = tuple(segment.without(new) for segment, new in pairs)
            self._drop_hidden()

    def _pairs(self, X: Any, Y: Any, names: ArgumentNames) -> PairwiseProblem:
        return check_any_pairs(X, Y, self._distance, self._params, names)

    def _queries(self, X: Any, function: str) -> list[tuple[Segment, PairwiseProblem]]:
        """Return each segment that has objects, with the pairs of X and its objects."""
        names, queries = ArgumentNames(function, "X", "the index"), []
        for segment in self._segments:
            pairs = self._pairs(X, segment.pairs.y, names)
            X = pairs.x  # is packed once
            queries.append((segment, pairs))
        return queries

    def _segment(
        self, pairs: PairwiseProblem, numbers: NDArray[np.int64], ids: NDArray[Any] | None
    ) -> Segment:
        return Segment(pairs, numbers, np.zeros(len(numbers), bool), ids, self._metric)

    def _merged(self, segments: Sequence[Segment]) -> Segment:
        """Return one segment of the objects of several that are there."""
        kept = [segment.kept() for segment in segments]
        objects = joined([part for part, _, _ in kept])
        names = ArgumentNames("Index", "objects", "objects")
        ids = None
        if segments[0].ids is not None:
            ids = np.concatenate([ids for _, _, ids in kept if ids is not None])
        numbers = np.concatenate([numbers for _, numbers, _ in kept])
        return self._segment(self._pairs(objects, None, names), numbers, ids)

    def _append(self, new: Any, numbers: NDArray[np.int64], ids: NDArray[Any] | None) -> None:
        """Add a segment of new objects; the last segments of like size become one.

        So there are O(log n) of them, and each object is merged O(log n) times.
        """
        names = ArgumentNames("Index", "objects", "objects")
        segments = [*self._segments, self._segment(self._pairs(new, None, names), numbers, ids)]
        first = len(segments) - 1
        size = len(segments[-1])
        while first and (len(segments[first - 1]) <= max(2 * size, _TAIL - size)):
            first -= 1
            size += len(segments[first])
        if first < len(segments) - 1:
            segments[first:] = [self._merged(segments[first:])]
        self._segments = tuple(segments)

    def _drop_hidden(self) -> None:
        """Leave objects out that were removed, where they are half of a segment."""
        segments = [s for s in self._segments if s.n_hidden < len(s)]
        self._segments = tuple(
            self._merged([s]) if 2 * s.n_hidden > len(s) else s for s in segments
        )

    def _compact(self) -> Segment:
        """Return one segment of all objects that are there."""
        with self._lock:
            if len(self._segments) > 1 or self._segments[0].n_hidden:
                self._segments = (self._merged(self._segments),)
            return self._segments[0]


def _searches(
    options: SearchOptions, report: Callable[[int, int], None] | None
) -> Callable[[PairwiseProblem], NeighborSearch]:
    return lambda pairs: replace(options.search(pairs, False), report=report)
