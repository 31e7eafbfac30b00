# SPDX-License-Identifier: BSD-3-Clause
"""Exact neighbours: lists of pairs of partitions, merged."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import dask.array as da
import numpy as np
from dask.delayed import Delayed
from scipy import sparse

from d2ke._base.checks import flag, integer, not_negative
from d2ke._base.errors import ArgumentError
from d2ke._base.keywords import hinted
from d2ke.dask.matrices import chosen_distance, open_collections
from d2ke.dask.partitions import Partitions, row_array
from d2ke.dask.workers import later, shared, tree
from d2ke.distances.problem import ArgumentNames
from d2ke.distances.record_pairs import check_any_pairs
from d2ke.neighbors.itself import itself_first
from d2ke.neighbors.lists import best_of, without_own
from d2ke.neighbors.runs import SearchOptions, find_nearest, find_within


@hinted
def nearest(
    X: Any,
    Y: Any = None,
    *,
    k: int,
    radius: float | None = None,
    distance: str | Callable[..., float] | None = None,
    include_self: bool = False,
    metric: bool = False,
    chunks: Any = None,
    n_threads: int = 1,
    **params: Any,
) -> tuple[da.Array, da.Array]:
    """Find the k nearest objects of Y to each object of X, exactly and lazily.

    Parameters
    ----------
    X, Y, chunks, n_threads
        As for `d2ke.dask.distance_matrix`. Y in memory, or an X in memory where Y is None, is sent
        to each worker once. Otherwise each partition of X meets each of Y, and the k best are
        kept.
    k, radius, distance, include_self, metric, **params
        As for `d2ke.nearest`.

    Returns
    -------
    indices : dask.array.Array of int64, shape (n, k)
        Positions in Y, the nearest first; ties are sorted by index, the object itself
        first.
    distances : dask.array.Array, shape (n, k)
        float64 where X or Y is a dask collection. ``dask.compute(indices, distances)`` searches
        once for both.

    Raises
    ------
    TypeError, ValueError, RuntimeError
        As `d2ke.nearest` and `d2ke.dask.distance_matrix`.

    Examples
    --------
    >>> import dask, d2ke.dask
    >>> words = ["kitten", "mitten", "sitting"]
    >>> found = d2ke.dask.nearest(words, k=1, distance="levenshtein", chunks=2)
    >>> indices, distances = dask.compute(*found, scheduler="threads")
    >>> indices.ravel().tolist(), distances.ravel().tolist()
    ([1, 0, 0], [1.0, 1.0, 3.0])
    """
    k = integer("k", k, 1)
    radius = None if radius is None else not_negative("radius", radius)
    names = ArgumentNames("d2ke.dask.nearest")
    distance = chosen_distance(distance, X, Y, names)
    x, y, dtype = open_collections(X, Y, distance, params, names, chunks, 2 * k)
    columns, same = _columns(x, y), y is None
    if columns.has_lengths:
        m = int(sum(columns.lengths)) - same
        if k > m:
            raise ArgumentError("k", f"is {k}, but there are {m} candidates for a neighbour")
    options = SearchOptions(
        metric=flag("metric", metric), n_threads=integer("n_threads", n_threads, 1)
    )
    task = _NearestTask(k, same, flag("include_self", include_self), radius, distance, params,
                        options, dtype)  # fmt: skip
    starts, row_starts = columns.starts(), x.starts() if same else None
    lists: list[Any] = []
    for i, rows in enumerate(x.partitions):
        candidates = [
            later(partial(task.nearest_of, j), rows, other, starts, where=x.where(i))
            for j, other in enumerate(columns.partitions)
        ]
        best = tree(candidates, partial(best_of, k + same))
        lists.append(later(partial(task.finish_nearest, i), best, row_starts, rows))
    indices, distances = task.empty()
    return (
        row_array([pair[0] for pair in lists], x.lengths, indices),
        row_array([pair[1] for pair in lists], x.lengths, distances),
    )


@hinted
def within(
    X: Any,
    Y: Any = None,
    *,
    radius: float,
    distance: str | Callable[..., float] | None = None,
    include_self: bool = False,
    metric: bool = False,
    chunks: Any = None,
    n_threads: int = 1,
    **params: Any,
) -> list[Delayed]:
    """Find all pairs of objects whose distance is at most a radius, exactly and lazily.

    Parameters
    ----------
    X, Y, chunks, n_threads
        As for `d2ke.dask.nearest`.
    radius, distance, include_self, metric, **params
        As for `d2ke.within`.

    Returns
    -------
    list of Delayed
        A `scipy.sparse.csr_array` of some rows and all m columns for each partition of X, in order;
        ``scipy.sparse.vstack(dask.compute(*blocks))`` joins them.

    Raises
    ------
    TypeError, ValueError, RuntimeError
        As `d2ke.within` and `d2ke.dask.distance_matrix`.

    Examples
    --------
    >>> import dask, d2ke.dask
    >>> words = ["kitten", "mitten", "sitting"]
    >>> blocks = d2ke.dask.within(words, radius=1, distance="levenshtein", chunks=2)
    >>> [graph.toarray().tolist() for graph in dask.compute(*blocks, scheduler="threads")]
    [[[0.0, 1.0, 0.0], [1.0, 0.0, 0.0]], [[0.0, 0.0, 0.0]]]
    """
    names = ArgumentNames("d2ke.dask.within")
    distance = chosen_distance(distance, X, Y, names)
    x, y, dtype = open_collections(X, Y, distance, params, names, chunks, 1)
    columns, same = _columns(x, y), y is None
    options = SearchOptions(
        metric=flag("metric", metric), n_threads=integer("n_threads", n_threads, 1)
    )
    radius = not_negative("radius", radius)
    compare = partial(_within_of, radius=radius, distance=distance, params=params, options=options)
    join = partial(_join, drop_own=not flag("include_self", include_self), dtype=dtype)
    row_starts = x.starts() if same else None
    blocks = []
    for i, rows in enumerate(x.partitions):
        tasks = [later(compare, rows, other, where=x.where(i)) for other in columns.partitions]
        blocks.append(later(partial(join, i), row_starts, *tasks))
    return blocks


def _columns(x: Partitions, y: Partitions | None) -> Partitions:
    """Return the partitions that X is compared with: one if it is in memory."""
    if y is not None or x.local is None:
        return x if y is None else y
    return Partitions(x.name, [shared(x.local)], (len(x.local),), x.local)


# ---------------------------------------------------------------- on workers


class _NearestTask(NamedTuple):
    """A search for the k nearest, and its steps for pairs of partitions of X and Y."""

    k: int
    same: bool
    include_self: bool
    radius: float | None
    distance: Any
    params: Mapping[str, Any]
    options: SearchOptions
    dtype: np.dtype

    def empty(self) -> tuple[np.ndarray, np.ndarray]:
        """Return empty lists."""
        width = self.k + (self.same and self.include_self)
        return np.empty((0, width), np.int64), np.empty((0, width), self.dtype)

    def nearest_of(
        self, j: int, x: Any, y: Any, starts: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Find the nearest of partition j, or all if it is small, for each object of x."""
        if not (len(x) and len(y)):
            return np.empty((len(x), 0), np.int64), np.empty((len(x), 0))
        pairs = check_any_pairs(x, y, self.distance, self.params, ArgumentNames("nearest"))
        k = min(self.k + self.same, len(y))
        indices, distances, _ = find_nearest(pairs, False, k, self.radius, self.options)
        return np.where(indices < 0, -1, indices + starts[j]), distances

    def finish_nearest(
        self, i: int, lists: tuple[np.ndarray, np.ndarray], row_starts: np.ndarray | None, x: Any
    ) -> tuple[np.ndarray, np.ndarray]:
        """Drop each object from its list, or put it before others at the same distance."""
        indices, distances = lists
        n, width = indices.shape
        if not n:
            return self.empty()
        if width < self.k + self.same:
            problem = f"is {self.k}, but there are {width - self.same} candidates for a neighbour"
            raise ArgumentError("k", problem)
        if row_starts is not None and not self.include_self:
            rows = row_starts[i] + np.arange(n)
            indices, distances = without_own(indices, distances, rows)
        if row_starts is not None and self.include_self:
            pairs = check_any_pairs(x, None, self.distance, self.params, ArgumentNames("nearest"))
            pairs = replace(pairs, first=int(row_starts[i]))
            indices, distances = itself_first(pairs, indices, distances)
        return indices, distances.astype(self.dtype, copy=False)


def _within_of(
    x: Any, y: Any, *, radius: float, distance: Any, params: Any, options: SearchOptions
) -> sparse.csr_array:
    """Find the pairs of two partitions."""
    if not (len(x) and len(y)):
        return sparse.csr_array((len(x), len(y)))
    pairs = check_any_pairs(x, y, distance, params, ArgumentNames("within"))
    return find_within(pairs, False, radius, options)[0]


def _join(
    i: int, row_starts: np.ndarray | None, *blocks: sparse.csr_array, drop_own: bool,
    dtype: np.dtype,
) -> sparse.csr_array:  # fmt: skip
    """Put the blocks of some rows side by side."""
    graph = blocks[0]
    if len(blocks) > 1:
        graph = sparse.csr_array(sparse.hstack(blocks, format="csr"))
        graph.sort_indices()
    if row_starts is not None and drop_own:
        counts = np.diff(graph.indptr)
        rows = np.repeat(np.arange(len(counts)), counts)
        mask = graph.indices != rows + row_starts[i]
        graph = sparse.csr_array(
            (graph.data[mask], (rows[mask], graph.indices[mask])), shape=graph.shape
        )
    return graph.astype(dtype, copy=False)
