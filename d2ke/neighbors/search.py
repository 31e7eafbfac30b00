# SPDX-License-Identifier: BSD-3-Clause
"""The k nearest objects, and those within a radius."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Literal, overload

import numpy as np
from numpy.typing import NDArray
from scipy import LowLevelCallable, sparse

from d2ke._base.checkpoint import Checkpoint
from d2ke._base.checks import file_path, flag, integer, not_negative
from d2ke._base.errors import ArgumentError, ArgumentTypeError
from d2ke._base.memory import check_fits
from d2ke._base.progress import progress_bar
from d2ke._base.threads import team_size
from d2ke.distances.equal_distances import warn_of_first_neighbors
from d2ke.distances.problem import ArgumentNames, PairwiseProblem
from d2ke.distances.record_pairs import check_any_pairs
from d2ke.neighbors.copies import search_neighbors
from d2ke.neighbors.info import NeighborsInfo
from d2ke.neighbors.itself import itself_first
from d2ke.neighbors.lists import NearestLists, WithinLists
from d2ke.neighbors.problem import NeighborSearch
from d2ke.neighbors.row_search import search_by_rows, search_record


@overload
def nearest(
    X: Any,
    Y: Any = ...,
    *,
    k: int,
    radius: float | None = ...,
    distance: str | Callable[..., float] | LowLevelCallable | Mapping[str, Any] | None = ...,
    include_self: bool = ...,
    metric: bool = ...,
    n_threads: int | None = ...,
    progress: bool = ...,
    checkpoint: str | os.PathLike[str] | None = ...,
    info: Literal[False] = ...,
    **params: Any,
) -> tuple[NDArray[np.int64], NDArray[np.floating[Any]]]: ...


@overload
def nearest(
    X: Any,
    Y: Any = ...,
    *,
    k: int,
    radius: float | None = ...,
    distance: str | Callable[..., float] | LowLevelCallable | Mapping[str, Any] | None = ...,
    include_self: bool = ...,
    metric: bool = ...,
    n_threads: int | None = ...,
    progress: bool = ...,
    checkpoint: str | os.PathLike[str] | None = ...,
    info: Literal[True],
    **params: Any,
) -> tuple[NDArray[np.int64], NDArray[np.floating[Any]], NeighborsInfo]: ...


def nearest(
    X: Any,
    Y: Any = None,
    *,
    k: int,
    radius: float | None = None,
    distance: str | Callable[..., float] | LowLevelCallable | Mapping[str, Any] | None = None,
    include_self: bool = False,
    metric: bool = False,
    n_threads: int | None = None,
    progress: bool = False,
    checkpoint: str | os.PathLike[str] | None = None,
    info: bool = False,
    **params: Any,
) -> tuple[Any, ...]:
    """Find the k nearest objects of Y to each object of X, exactly.

    Parameters
    ----------
    X : Objects or what `pack` takes; Records or what `pack_records` takes
        n objects or records.
    Y : Objects or what `pack` takes, optional
        m objects or records; None stands for X itself, and then no object is its own neighbour.
    k : int
        Number of neighbours: at most m, or n - 1 where Y is None.
    radius : float, optional
        The largest distance of a neighbour, finite and >= 0, rounded to the dtype of the distances;
        None for any. The search takes less time: pairs are ruled out from the start.
    distance : str, callable, scipy.LowLevelCallable or dict
        As for `distance_matrix`.
    include_self : bool
        Where Y is None: treat each object as a candidate neighbour of itself, the first of those at
        the same distance, and return k + 1 neighbours, as UMAP and scikit-learn's
        ``KNeighborsTransformer`` do.
    metric : bool
        True states that a Python distance is a metric: 0 for equal objects, symmetric, and
        satisfying the triangle inequality. Distances to a few objects, the pivots, then rule out
        pairs before their distance is computed. With a Y the function is also called for two
        objects of Y. Of the named distances d2ke knows which are metrics.
    n_threads : int, optional
        Threads to use; None for all that this process may use. The result does not depend on it.
    progress : bool
        Show a progress bar (on a terminal only).
    checkpoint : path, optional
        A folder in which blocks of rows are kept as they are ready, with the same bits. The same
        call resumes a killed one; a call with other arguments is refused. A Python function needs
        an attribute ``version`` for that.
    info : bool
        Return a `NeighborsInfo` too.
    **params
        Parameters of the distance, as for `distance_matrix`.

    Returns
    -------
    indices : ndarray of int64, shape (n, k)
        Positions of the neighbours in Y, the nearest first; ties are sorted by index, the object
        itself before all others. A row with fewer than k neighbours within the radius ends with -1.
    distances : ndarray, shape (n, k)
        The entries of ``distance_matrix(X, Y)``, with the same bits; inf where the index is -1.
    info : NeighborsInfo
        Counts of the distances, if `info` is True.

    Raises
    ------
    TypeError, ValueError
        As `distance_matrix`; a k out of range, a radius that is negative or not finite;
        metric=True, but sampled objects violate the
        triangle inequality; a checkpoint of another call, which the error names.
    OSError
        A checkpoint that another call uses, or that cannot be written.
    KeyboardInterrupt
        On Ctrl-C, within a second.
    MemoryError
        If the call would take more than there is; see docs/memory.md.

    Warns
    -----
    UserWarning
        If all neighbours are equally far, and are the first objects: a named distance that tells
        no objects apart.

    Examples
    --------
    >>> import d2ke
    >>> indices, distances = d2ke.nearest(["kitten", "mitten", "sitting"], k=1,
    ...                                   distance="levenshtein")
    >>> indices.ravel().tolist(), distances.ravel().tolist()
    ([1, 0, 0], [1.0, 1.0, 3.0])
    >>> indices, distances = d2ke.nearest(["kitten", "mitten", "sitting"], k=1, radius=1,
    ...                                   distance="levenshtein")
    >>> indices.ravel().tolist(), distances.ravel().tolist()
    ([1, 0, -1], [1.0, 1.0, inf])
    """
    pairs = check_any_pairs(X, Y, distance, params, ArgumentNames("nearest"))
    n, m = pairs.shape
    k = integer("k", k, 1) if Y is not None else others_count(k, n)
    if k > m:
        raise ArgumentError("k", f"is {k}, but Y has {m} objects")
    search = _checked(pairs, Y is None, include_self, metric, n_threads)
    cap = np.inf if radius is None else pairs.rounded(not_negative("radius", radius))
    search = replace(search, k=k + (search.same and not search.skip), cap=cap)
    needed = 48 * n * search.k
    check_fits(needed, f"the {search.k} nearest of {n} objects", "search a part of X at a time")
    info = flag("info", info)
    if checkpoint is None:
        lists = NearestLists(n, search.k, cap)
        counts = _search(search, lists, progress)
        result = lists.result(pairs.dtype)
        if search.same and not search.skip:
            result = itself_first(pairs, *result)
    else:
        graph, counts = _resume(search, checkpoint, progress)
        indices = graph.indices.astype(np.int64, copy=False)
        result = indices.reshape(n, search.k), graph.data.reshape(n, search.k)
    if radius is None:
        warn_of_first_neighbors(pairs, *result)
    return (*result, counts) if info else result


@overload
def within(
    X: Any,
    Y: Any = ...,
    *,
    radius: float,
    distance: str | Callable[..., float] | LowLevelCallable | Mapping[str, Any] | None = ...,
    include_self: bool = ...,
    metric: bool = ...,
    n_threads: int | None = ...,
    progress: bool = ...,
    checkpoint: str | os.PathLike[str] | None = ...,
    info: Literal[False] = ...,
    **params: Any,
) -> sparse.csr_array: ...


@overload
def within(
    X: Any,
    Y: Any = ...,
    *,
    radius: float,
    distance: str | Callable[..., float] | LowLevelCallable | Mapping[str, Any] | None = ...,
    include_self: bool = ...,
    metric: bool = ...,
    n_threads: int | None = ...,
    progress: bool = ...,
    checkpoint: str | os.PathLike[str] | None = ...,
    info: Literal[True],
    **params: Any,
) -> tuple[sparse.csr_array, NeighborsInfo]: ...


def within(
    X: Any,
    Y: Any = None,
    *,
    radius: float,
    distance: str | Callable[..., float] | LowLevelCallable | Mapping[str, Any] | None = None,
    include_self: bool = False,
    metric: bool = False,
    n_threads: int | None = None,
    progress: bool = False,
    checkpoint: str | os.PathLike[str] | None = None,
    info: bool = False,
    **params: Any,
) -> sparse.csr_array | tuple[sparse.csr_array, NeighborsInfo]:
    """Find all pairs of objects whose distance is at most a radius, exactly.

    Parameters
    ----------
    X : Objects or what `pack` takes; Records or what `pack_records` takes
        n objects or records.
    Y : Objects or what `pack` takes, optional
        m objects or records; None stands for X itself, and then no object is its own neighbour.
    radius : float
        The largest distance that counts, finite and >= 0. It is rounded to the dtype of the
        distances before the comparison: 0.3 includes the float32 distance ``np.float32(0.3)``.
    distance : str, callable, scipy.LowLevelCallable or dict
        As for `distance_matrix`.
    include_self : bool
        Where Y is None: keep each object's distance to itself too.
    metric : bool
        True states that a Python distance is a metric: 0 for equal objects, symmetric, and
        satisfying the triangle inequality. Distances to a few objects, the pivots, then rule out
        pairs before their distance is computed. With a Y the function is also called for two
        objects of Y. Of the named distances d2ke knows which are metrics.
    n_threads : int, optional
        Threads to use; None for all that this process may use. The result does not depend on it.
    progress : bool
        Show a progress bar (on a terminal only).
    checkpoint : path, optional
        A folder in which blocks of rows are kept as they are ready, with the same bits. The same
        call resumes a killed one; a call with other arguments is refused. A Python function needs
        an attribute ``version`` for that.
    info : bool
        Return a `NeighborsInfo` too.
    **params
        Parameters of the distance, as for `distance_matrix`.

    Returns
    -------
    graph : scipy.sparse.csr_array, shape (n, m)
        The distances, with the bits of ``distance_matrix(X, Y)``. Distances of 0 are stored
        entries; what is not stored is farther than the radius. Indices are sorted.
    info : NeighborsInfo
        Counts of the distances, if `info` is True.

    Raises
    ------
    TypeError, ValueError
        As `distance_matrix`; a radius that is negative or not finite; metric=True, but sampled
        objects violate the triangle inequality; a checkpoint of another call, which the error
        names.
    OSError
        A checkpoint that another call uses, or that cannot be written.
    MemoryError
        As soon as more pairs are within the radius than fit into memory.
    KeyboardInterrupt
        On Ctrl-C, within a second.

    Examples
    --------
    >>> import d2ke
    >>> graph = d2ke.within(["kitten", "mitten", "sitting"], radius=1, distance="levenshtein")
    >>> graph.toarray()
    array([[0., 1., 0.],
           [1., 0., 0.],
           [0., 0., 0.]])
    """
    pairs = check_any_pairs(X, Y, distance, params, ArgumentNames("within"))
    search = _checked(pairs, Y is None, include_self, metric, n_threads)
    search = replace(search, radius=pairs.rounded(not_negative("radius", radius)))
    info = flag("info", info)
    if checkpoint is None:
        lists = WithinLists(pairs.shape, search.radius)
        counts = _search(search, lists, progress)
        graph = lists.result(pairs.dtype)
    else:
        graph, counts = _resume(search, checkpoint, progress)
    return (graph, counts) if info else graph


def others_count(k: Any, n: int) -> int:
    """Return k, a number of other objects that each of n objects has."""
    k = integer("k", k, 1)
    if k >= n:
        others = "one other" if n == 2 else f"{n - 1} others"
        raise ArgumentError("k", f"is {k}, but X has {n} objects: each has at most {others}")
    return k


def _checked(
    pairs: PairwiseProblem, same: bool, include_self: bool, metric: bool, n_threads: int | None
) -> NeighborSearch:
    """Check what both functions take, and return a search without k and radius."""
    include_self, metric = flag("include_self", include_self), flag("metric", metric)
    if include_self and not same:
        raise ArgumentTypeError(
            "include_self", "goes with Y=None: other objects have no selves in Y"
        )
    if metric and not callable(pairs.distance):
        raise ArgumentTypeError(
            "metric", "goes with a Python distance; d2ke knows the metrics among those with a name"
        )
    skip = same and not include_self
    return NeighborSearch(pairs, same, skip, None, None, team_size(n_threads), metric)


def _search(
    search: NeighborSearch, lists: NearestLists | WithinLists, progress: bool
) -> NeighborsInfo:
    """Fill the lists, and return what was computed."""
    info = NeighborsInfo(search.n_pairs)
    with progress_bar(progress, "neighbours") as report:
        search = replace(search, report=report)
        search_neighbors(search, lists, info)
    return info


def _resume(
    search: NeighborSearch, checkpoint: str | os.PathLike[str], progress: bool
) -> tuple[sparse.csr_array, NeighborsInfo]:
    """Begin or resume a search whose blocks of rows are kept."""
    folder = file_path("checkpoint", checkpoint)
    with (
        Checkpoint(folder, search_record(search)) as kept,
        progress_bar(progress, "neighbours") as report,
    ):
        return search_by_rows(replace(search, report=report), kept)
