# SPDX-License-Identifier: BSD-3-Clause
"""An index: objects that are prepared once for many searches, and that come and go."""

from __future__ import annotations

import os
import reprlib
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from threading import RLock
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy import LowLevelCallable, sparse

from d2ke._base.checks import flag, integer, not_negative
from d2ke._base.errors import ArgumentError, ArgumentTypeError
from d2ke._base.keywords import hinted
from d2ke._base.memory import check_fits
from d2ke._base.progress import progress_bar
from d2ke._base.signals import deferred_interrupts
from d2ke._base.threads import team_size
from d2ke.distances.equal_distances import warn_of_first_neighbors
from d2ke.distances.pairs import check_same_both_ways, with_column_numbers
from d2ke.distances.problem import ArgumentNames, PairwiseProblem
from d2ke.distances.record_pairs import check_any_pairs
from d2ke.io.segment_file import SegmentContent
from d2ke.io.store import Store
from d2ke.neighbors import linked, stored
from d2ke.neighbors.collection import Collection, Distance, Prepared, Segment, nearest_of, within_of
from d2ke.neighbors.index_ids import (
    check_distinct,
    check_type,
    dtypes_of,
    ids_of,
    in_order_of,
    with_uses_of,
)
from d2ke.neighbors.runs import SearchOptions, find_nearest, find_within
from d2ke.objects.tables import read_ids

# Records and objects at which the log is rewritten as segments.
_LOG_RECORDS, _LOG_OBJECTS = 1000, 4096

T = TypeVar("T")


class Index:
    """Objects that are searched in many calls: `nearest` and `within`, prepared once.

    Results equal `nearest` and `within` on the current objects, with the same bits and the same
    order of ties, after any adds and removals. Objects have indices: int64, given in the order of
    arrival, and never reused.

    The prepared data depend on the distance: sorted strings and indexes of their pieces for edit
    distances of strings, distances to a few pivots for metrics. With other distances, all objects
    are compared. Expensive data are prepared when searches have shown that it pays.

    Searches may run in several threads at once; adds and removals wait for each other.

    Parameters
    ----------
    objects : Objects or what `pack` takes; Records or what `pack_records` takes
        At least one object.
    distance : str, callable, scipy.LowLevelCallable or dict, optional
        As for `nearest`, except ``"precomputed"``.
    ids : sequence of int or str, optional
        The user's names of the objects, all different. By default the ids of the
        objects, if all are different.
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
        n = len(pairs.x)
        values = ids_of(objects, ids, n)
        if values is not None and ids is not None:
            check_distinct(values)
        elif values is not None and len(np.unique(values)) < n:
            values = None
        first = Segment(pairs, np.arange(n), np.zeros(n, bool), values, metric)
        self._collection = Collection(Distance.of(pairs, metric), [first], n)
        self._store: Store | None = None
        self._writable, self._is_behind, self._lock = False, False, RLock()
        self._groups: dict[float, linked.Groups] = {}

    def __len__(self) -> int:
        return len(self._collection)

    def __repr__(self) -> str:
        kind = getattr(self._collection.segments[0].pairs.x, "kind", "objects")
        where = "" if self._store is None else f" in {self._store.path.name}"
        return f"<Index of {len(self)} {kind} by {self._collection.distance}{where}>"

    def __getstate__(self) -> dict[str, Any]:
        """Return the objects, without derived data and folder."""
        old = self._collection
        segments = [replace(segment, stored=None, prepared=Prepared()) for segment in old.segments]
        return {"_collection": Collection(old.distance, segments, old.next)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._collection, self._store = state["_collection"], None
        self._writable, self._is_behind = False, False
        self._lock, self._groups = RLock(), {}

    @property
    def distance(self) -> Any:
        """The name of the distance, or the user's function; of records, those of the columns."""
        return self._collection.distance.distance

    @property
    def params(self) -> dict[str, Any]:
        """The parameters of the distance; of records, the weights of the columns."""
        return dict(self._collection.distance.params)

    @property
    def indices(self) -> NDArray[np.int64]:
        """The indices of the objects that are there, in order, int64 of shape (len(self),)."""
        return self._collection.numbers

    @property
    def ids(self) -> NDArray[Any] | None:
        """The user's names: ``index.ids[i]`` is that of index i; None if there are none.

        Objects that left may have the name -1, or "".
        """
        return self._collection.ids

    def objects(self, indices: Any) -> Any:
        """Return the objects with these indices, as `Objects` or `Records` with ids, or a list.

        Raises
        ------
        TypeError, ValueError
            No indices, or one that no object has.
        """
        numbers = _checked_indices(indices)
        if not len(numbers):
            raise ArgumentError("indices", "is empty: at least one is needed")
        return self._collection.take(numbers)

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
        if X is None:
            segment, _ = self._merged()
            options = SearchOptions(include_self, segment.metric, n_threads, progress)
            pairs = replace(segment.pairs, names=ArgumentNames("nearest"))
            indices, distances, _ = find_nearest(pairs, True, k, radius, options)
            return np.where(indices < 0, -1, segment.numbers[indices]), distances
        _refuse_include_self(include_self)
        queries = _queries(self._collection, X, "nearest")
        k, pairs = integer("k", k, 1), queries[0][1]
        n = sum(len(segment) - segment.n_removed for segment, _ in queries)
        if k > n:
            raise ArgumentError("k", f"is {k}, but the index has {n} objects")
        limit = np.inf if radius is None else pairs.rounded(not_negative("radius", radius))
        needed = 48 * pairs.shape[0] * k
        check_fits(needed, f"the {k} nearest of {pairs.shape[0]} objects", "search a part of X")
        with progress_bar(progress, "neighbours") as report:
            indices, distances = nearest_of(queries, k, limit, team_size(n_threads), report)
        if radius is None and len(queries) == 1 and not queries[0][0].n_removed:
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
        if X is None:
            segment, collection = self._merged()
            options = SearchOptions(include_self, segment.metric, n_threads, progress)
            pairs = replace(segment.pairs, names=ArgumentNames("within"))
            graph, _ = find_within(pairs, True, radius, options)
            n, numbers = len(segment), segment.numbers[graph.indices]
            distances, starts = graph.data, graph.indptr
        else:
            _refuse_include_self(include_self)
            collection = self._collection
            queries = _queries(collection, X, "within")
            pairs = queries[0][1]
            n, limit = pairs.shape[0], pairs.rounded(not_negative("radius", radius))
            with progress_bar(progress, "neighbours") as report:
                threads = team_size(n_threads)
                rows, numbers, distances = within_of(queries, limit, threads, report)
            starts = np.searchsorted(rows, np.arange(n + 1))
        shape = n, collection.next
        kind = np.int32 if max(*shape, len(numbers)) < 2**31 else np.int64
        return sparse.csr_array((distances, numbers.astype(kind), starts.astype(kind)), shape=shape)

    def groups(
        self, radius: float, *, n_threads: int | None = None, progress: bool | None = None
    ) -> NDArray[np.int64]:
        """Return the groups of the objects by single linkage at a radius.

        Two objects are in one group if steps of at most the radius lead from one to the other. The
        groups are kept: added objects alone are searched; after a removal, all.

        Parameters
        ----------
        radius : float
            As for `within`.
        n_threads, progress
            As for `nearest`.

        Returns
        -------
        ndarray of int64, shape (len(self),)
            The label of each object, in the order of `indices`: 0, 1, ... in the order in which
            groups first occur.

        Raises
        ------
        TypeError, ValueError
            As `within`; a distance that is not symmetric.

        Examples
        --------
        >>> import d2ke
        >>> index = d2ke.Index(["jon smith", "ann lee", "john smith"], distance="levenshtein")
        >>> index.groups(1)
        array([0, 1, 0])
        >>> index.add(["anne lee"])
        array([3])
        >>> index.groups(1)
        array([0, 1, 0, 1])
        """
        radius = not_negative("radius", radius)
        with self._lock:
            collection = self._collection
            check_same_both_ways(collection.segments[0].pairs)
            groups, numbers = self._groups.get(radius, linked.NONE), collection.numbers
            n = len(groups.numbers)
            if not np.array_equal(numbers[:n], groups.numbers):  # an object was removed
                groups, n = linked.NONE, 0
            if n < len(numbers):
                new = collection.take(numbers[n:]) if n else None
                near = self.within(new, radius=radius, n_threads=n_threads, progress=progress)
                groups = self._groups[radius] = groups.extended(numbers, near)
            return groups.labels.copy()

    def add(self, objects: Any, *, ids: Any = None) -> NDArray[np.int64]:
        """Add objects, and return their indices.

        Parameters
        ----------
        objects : Objects or what `pack` takes; Records or what `pack_records` takes
            Of the kind, dtype, channels and columns of the index.
        ids : sequence of int or str, optional
            Their names, which differ from the names in the index; needed if the index has names
            and the objects have none. Names of one index are all numbers or all text.

        Raises
        ------
        TypeError, ValueError
            Objects that cannot be compared with the index; ids that are repeated, missing or not
            expected. Nothing is added then.
        """
        with self._lock:
            collection = self._collection
            first = min(collection.segments, key=len)
            checked = collection.distance.pairs(
                first.pairs.x, objects, ArgumentNames("add", "the index", "objects")
            )
            for where, needed, dtype in dtypes_of(first.pairs.x, checked.y):
                if needed != dtype:
                    problem = f"are {dtype}{where}; those of the index are {needed}"
                    raise ArgumentTypeError("objects", problem)
            values = ids_of(objects, ids, len(checked.y))
            objects = with_uses_of(first.pairs.x, checked.y)
            if first.ids is None:
                if ids is not None:
                    raise ArgumentTypeError(
                        "ids", "are given, but the objects of the index have none"
                    )
                values = None
            elif values is None:
                raise ArgumentTypeError("ids", "are needed: the objects of the index have them")
            else:
                collection.check_new(values)
            if not self._writable:
                return collection.add(objects, values)
            record = stored.put_added(collection, objects, values)
            return self._change(record, lambda: collection.add(objects, values))

    def remove(self, indices: Any = None, *, ids: Any = None) -> None:
        """Remove objects by their indices, or by their ids.

        Raises
        ------
        TypeError, ValueError
            If an object is not there. Nothing is removed then.
        """
        if (indices is None) == (ids is None):
            raise ArgumentTypeError("indices", "or ids must be given, and not both")
        by_ids = ids is not None
        with self._lock:
            collection = self._collection
            if by_ids:
                index_ids = collection.segments[0].ids
                if index_ids is None:
                    raise ArgumentTypeError("ids", "are given, but the objects have none")
                keys = index_ids[:0]
                if not isinstance(ids, (list, tuple, np.ndarray)) or len(ids):
                    keys = np.unique(read_ids(ids, None))
                check_type(keys, index_ids)
            else:
                keys = np.unique(_checked_indices(indices))
            if not len(keys):
                return
            positions = collection.positions(keys, by_ids)
            if len(keys) == len(collection):
                name = "ids" if by_ids else "indices"
                raise ArgumentError(name, "are those of all objects: at least one must stay")
            if not self._writable:
                collection.remove(positions)
                return
            record = stored.put_removed(collection.segments, positions)
            self._change(record, lambda: collection.remove(positions))

    def save(self, path: str | os.PathLike[str], *, n_threads: int | None = None) -> None:
        """Write the index to a folder, whole or not at all.

        Prepared data of strings and of metrics are written too, so that an opened index is ready
        at once; series are prepared in the first search.

        Parameters
        ----------
        path : path
            A new folder, or the folder of an index, which is replaced.
        n_threads : int, optional
            Threads, for what was not prepared yet.

        Raises
        ------
        TypeError
            If objects cannot be saved: with a function, all but strings and arrays.
        OSError
            If something else is at `path`, or a writer has the index open.

        See Also
        --------
        Index.open
        """
        with self._lock:
            threads, store = team_size(n_threads), self._store
            if self._writable and store is not None and _is_same(store.path, path):
                # Write all again: searches may have prepared more than is in the file.
                segment = replace(self._collection.merge(), stored=None)
                self._collection.segments = (segment,)
                stored.commit(store, self._collection, threads)
                return
            if store is not None and not store.is_verified:
                store.verify()  # or a copy of damaged arrays would get valid checksums
            segments = self._collection.compacted()
            header = stored.put_header(self._collection)
            Store.create(path, header, (stored.put_segment(s, threads) for s in segments))

    @classmethod
    def open(
        cls,
        path: str | os.PathLike[str],
        *,
        writable: bool = False,
        distance: Any = None,
        verify: bool = True,
        sync: bool = False,
    ) -> Index:
        """Open a saved index, in memory that processes share.

        Parameters
        ----------
        path : path
            The folder.
        writable : bool
            True to add and remove objects: what these calls did is in the folder when they return.
            One process at a time can open an index so. Without it, additions and removals stay in
            memory.
        distance : callable or dict, optional
            The user's function, of which files hold no code, or the distances of records with one.
        verify : bool
            False leaves out the comparison of checksums, for which all is read: about a second for
            a gigabyte. `verify` does it later.
        sync : bool
            True makes changes durable against the loss of power, too.

        Raises
        ------
        TypeError, ValueError
            If it is no index, is damaged, or was written by a newer version; a distance that is
            missing, or another one.
        OSError
            If there is no such folder, or another process has it open for writing.

        Examples
        --------
        >>> import tempfile, d2ke
        >>> folder = tempfile.mkdtemp() + "/names.d2ke"
        >>> d2ke.Index(["kitten", "mitten"], distance="levenshtein").save(folder)
        >>> with d2ke.Index.open(folder, writable=True) as index:
        ...     indices = index.add(["sitting"])
        >>> d2ke.Index.open(folder).nearest(["sittings"], k=1)[0].tolist()
        [[2]]
        """
        store = Store.open(path, writable=writable, verify=verify, sync=sync)
        index = cls.__new__(cls)
        index._lock, index._store, index._writable = RLock(), store, writable
        index._groups, index._is_behind = {}, False
        try:
            index._collection = stored.get_index(store, distance, verify)
        except BaseException:
            store.close()
            raise
        return index

    def verify(self) -> None:
        """Compare the checksums of an opened index, and refuse a damaged one."""
        if self._store is not None:
            self._store.verify()

    def refresh(self) -> bool:
        """Take what a writer added and removed since the index was opened.

        Returns
        -------
        bool
            Whether there was anything. What was changed in memory only is lost then.
        """
        with self._lock:
            if self._store is None:
                return False
            # Also after an error, when the store is newer than the index.
            self._is_behind |= self._store.refresh()
            if not self._is_behind:
                return False
            self._collection = stored.get_index(self._store, None, True, self._collection)
            self._groups.clear()  # numbers may stand for other objects
            self._is_behind = False
            return True

    def close(self) -> None:
        """Close the folder of an opened index, which another process may then write to."""
        if self._store is not None:
            self._store.close()

    def __enter__(self) -> Index:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _merged(self) -> tuple[Segment, Collection]:
        """Return one segment of all objects, and its collection."""
        with self._lock:
            return self._collection.merge(), self._collection

    def _change(self, record: SegmentContent, apply: Callable[[], T]) -> T:
        """Write a change to the log, and apply it in memory: both, or none."""
        store = self._store
        assert store is not None
        with deferred_interrupts():
            store.append(record)
            try:
                result = apply()
            except BaseException:
                store.close()  # the log has a record that memory lacks
                raise
        # The log is complete; if the disk has no room for segments, the next change tries again.
        n = sum(len(record.arrays["numbers"]) for record in store.log)
        if len(store.log) >= _LOG_RECORDS or n >= _LOG_OBJECTS:
            with suppress(OSError):
                stored.commit(store, self._collection, team_size(None))
        return result


def _queries(
    collection: Collection, X: Any, function: str
) -> list[tuple[Segment, PairwiseProblem]]:
    """Return each segment with the pairs of X and its objects."""
    names, queries = ArgumentNames(function, "X", "the index"), []
    for segment in collection.segments:
        pairs = collection.distance.pairs(X, segment.pairs.y, names)
        X = in_order_of(pairs.x, segment.pairs.y)  # packed once
        if X is not pairs.x:
            pairs = collection.distance.pairs(X, segment.pairs.y, names)
        if callable(pairs.distance):
            pairs = with_column_numbers(pairs, segment.numbers)
        queries.append((segment, pairs))
    return queries


def _is_same(path: Path, other: str | os.PathLike[str]) -> bool:
    return os.path.exists(other) and path.samefile(other)


def _refuse_include_self(include_self: bool) -> None:
    if flag("include_self", include_self):
        raise ArgumentTypeError("include_self", "goes with X=None, for the objects of the index")


def _checked_indices(indices: Any) -> NDArray[np.int64]:
    array = np.atleast_1d(np.asarray(indices))
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
        raise ArgumentTypeError("indices", f"must be integers, got {reprlib.repr(indices)}")
    return array.astype(np.int64)
