# SPDX-License-Identifier: BSD-3-Clause
"""The k nearest objects, and those within a radius."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal, overload

import numpy as np
from numpy.typing import NDArray
from scipy import LowLevelCallable, sparse

from d2ke._base.checks import integer, not_negative
from d2ke._base.errors import ArgumentError
from d2ke.distances.output import Output
from d2ke.distances.pairs import check_pairs
from d2ke.distances.problem import ArgumentNames
from d2ke.neighbors.info import NeighborsInfo
from d2ke.neighbors.lists import NearestLists, WithinLists
from d2ke.neighbors.request import Request, memory_left


@overload
def nearest(
    X: Any,
    Y: Any = ...,
    *,
    k: int,
    distance: str | Callable[..., float] | LowLevelCallable | None = ...,
    include_self: bool = ...,
    metric: bool = ...,
    n_threads: int | None = ...,
    out: None = ...,
    resume: bool = ...,
    progress: bool = ...,
    max_memory: int | str | None = ...,
    info: Literal[False] = ...,
    client: Any = ...,
    **params: Any,
) -> tuple[NDArray[np.int64], NDArray[np.floating[Any]]]: ...


@overload
def nearest(
    X: Any,
    Y: Any = ...,
    *,
    k: int,
    distance: str | Callable[..., float] | LowLevelCallable | None = ...,
    include_self: bool = ...,
    metric: bool = ...,
    n_threads: int | None = ...,
    out: None = ...,
    resume: bool = ...,
    progress: bool = ...,
    max_memory: int | str | None = ...,
    info: Literal[True],
    client: Any = ...,
    **params: Any,
) -> tuple[NDArray[np.int64], NDArray[np.floating[Any]], NeighborsInfo]: ...


@overload
def nearest(
    X: Any,
    Y: Any = ...,
    *,
    k: int,
    distance: str | Callable[..., float] | LowLevelCallable | None = ...,
    include_self: bool = ...,
    metric: bool = ...,
    n_threads: int | None = ...,
    out: str | os.PathLike[str],
    resume: bool = ...,
    progress: bool = ...,
    max_memory: int | str | None = ...,
    info: Literal[False] = ...,
    client: Any = ...,
    **params: Any,
) -> Path: ...


@overload
def nearest(
    X: Any,
    Y: Any = ...,
    *,
    k: int,
    distance: str | Callable[..., float] | LowLevelCallable | None = ...,
    include_self: bool = ...,
    metric: bool = ...,
    n_threads: int | None = ...,
    out: str | os.PathLike[str],
    resume: bool = ...,
    progress: bool = ...,
    max_memory: int | str | None = ...,
    info: Literal[True],
    client: Any = ...,
    **params: Any,
) -> tuple[Path, NeighborsInfo]: ...


def nearest(
    X: Any,
    Y: Any = None,
    *,
    k: int,
    distance: str | Callable[..., float] | LowLevelCallable | None = None,
    include_self: bool = False,
    metric: bool = False,
    n_threads: int | None = None,
    out: str | os.PathLike[str] | None = None,
    resume: bool = False,
    progress: bool = False,
    max_memory: int | str | None = None,
    info: bool = False,
    client: Any = None,
    **params: Any,
) -> tuple[Any, ...] | Path:
    """Find the k nearest objects of Y to each object of X, exactly.

    Parameters
    ----------
    X : Objects or what `pack` takes
        n objects.
    Y : Objects or what `pack` takes, optional
        m objects; None stands for X itself, and then no object is its own neighbour.
    k : int
        Number of neighbours: at most m, or n - 1 where Y is None.
    distance : str, callable or scipy.LowLevelCallable
        As for `distance_matrix`.
    include_self : bool
        Where Y is None: treat each object as a candidate neighbour of itself, and return k + 1
        neighbours, as UMAP and scikit-learn's ``KNeighborsTransformer`` do.
    metric : bool
        True states that a Python distance is a metric: 0 for equal objects, symmetric, and
        satisfying the triangle inequality. Distances to a few objects, the pivots, then rule out
        pairs before their distance is computed. With a Y the function is also called for two
        objects of Y. Of the named distances d2ke knows which are metrics.
    n_threads : int, optional
        Threads to use; None for all that this process may use. The result does not depend on it.
        With a client: threads of each block, None for 1.
    out : path, optional
        Name of a file to which blocks of rows are written as they are ready, so that a killed
        run keeps them; `load_neighbors` reads it.
    resume : bool
        Resume the file of the same call, which was interrupted; a Python function needs its
        attribute ``version``. False refuses a file that exists.
    progress : bool
        Show a progress bar (on a terminal only).
    max_memory : int or str, optional
        Bytes that the call may take, such as ``"512MiB"``, packed X and Y included, and the
        result where `out` is None.
    info : bool
        Return a `NeighborsInfo` too.
    client : dask.distributed.Client, optional
        Client of a cluster whose workers search blocks of rows, with the same bits. Each worker
        holds all of X and Y.
    **params
        Parameters of the distance, as for `distance_matrix`.

    Returns
    -------
    indices : ndarray of int64, shape (n, k)
        Positions of the neighbours in Y, the nearest first; ties are sorted by index.
    distances : ndarray, shape (n, k)
        The entries of ``distance_matrix(X, Y)``, with the same bits.
    info : NeighborsInfo
        Counts of the distances, if `info` is True.

    Where `out` is set, the path of the file is returned in place of the arrays.

    Raises
    ------
    TypeError, ValueError
        As `distance_matrix`; a k out of range; too small a `max_memory`; metric=True, but sampled
        objects violate the triangle inequality.
    OSError
        A file that exists, or cannot be written.
    KeyboardInterrupt
        On Ctrl-C, within a second.
    MemoryError
        If the call would take more than there is; see docs/memory.md.

    Examples
    --------
    >>> import d2ke
    >>> indices, distances = d2ke.nearest(["kitten", "mitten", "sitting"], k=1,
    ...                                   distance="levenshtein")
    >>> indices.ravel().tolist(), distances.ravel().tolist()
    ([1, 0, 0], [1.0, 1.0, 3.0])
    """
    pairs = check_pairs(X, Y, distance, params, ArgumentNames("nearest"))
    output = Output(out, None, None, resume, n_threads, progress, client)
    request = Request(pairs, Y is None, include_self, metric, max_memory, info, output)
    k = integer("k", k, 1)
    n, m = pairs.shape
    if Y is None and k >= n:
        raise ArgumentError("k", f"is {k}, but X has {n} objects: each has {n - 1} others at most")
    if k > m:
        raise ArgumentError("k", f"is {k}, but Y has {m} objects")
    search = request.search(k=k + (request.same and request.include_self))
    if request.by_blocks:
        near, counts = request.search_blocks(search)
        if request.output.to_file:
            return (near, counts) if request.info else near
        columns = near.indices.reshape(-1, search.k).astype(np.int64)
        result = columns, near.data.reshape(-1, search.k)
    else:
        memory_left(search)
        lists = NearestLists(pairs.shape[0], search.k)
        counts = request.run(search, lists)
        result = lists.result(pairs.dtype)
    return (*result, counts) if request.info else result


@overload
def within(
    X: Any,
    Y: Any = ...,
    *,
    radius: float,
    distance: str | Callable[..., float] | LowLevelCallable | None = ...,
    include_self: bool = ...,
    metric: bool = ...,
    n_threads: int | None = ...,
    out: None = ...,
    resume: bool = ...,
    progress: bool = ...,
    max_memory: int | str | None = ...,
    info: Literal[False] = ...,
    client: Any = ...,
    **params: Any,
) -> sparse.csr_array: ...


@overload
def within(
    X: Any,
    Y: Any = ...,
    *,
    radius: float,
    distance: str | Callable[..., float] | LowLevelCallable | None = ...,
    include_self: bool = ...,
    metric: bool = ...,
    n_threads: int | None = ...,
    out: None = ...,
    resume: bool = ...,
    progress: bool = ...,
    max_memory: int | str | None = ...,
    info: Literal[True],
    client: Any = ...,
    **params: Any,
) -> tuple[sparse.csr_array, NeighborsInfo]: ...


@overload
def within(
    X: Any,
    Y: Any = ...,
    *,
    radius: float,
    distance: str | Callable[..., float] | LowLevelCallable | None = ...,
    include_self: bool = ...,
    metric: bool = ...,
    n_threads: int | None = ...,
    out: str | os.PathLike[str],
    resume: bool = ...,
    progress: bool = ...,
    max_memory: int | str | None = ...,
    info: Literal[False] = ...,
    client: Any = ...,
    **params: Any,
) -> Path: ...


@overload
def within(
    X: Any,
    Y: Any = ...,
    *,
    radius: float,
    distance: str | Callable[..., float] | LowLevelCallable | None = ...,
    include_self: bool = ...,
    metric: bool = ...,
    n_threads: int | None = ...,
    out: str | os.PathLike[str],
    resume: bool = ...,
    progress: bool = ...,
    max_memory: int | str | None = ...,
    info: Literal[True],
    client: Any = ...,
    **params: Any,
) -> tuple[Path, NeighborsInfo]: ...


def within(
    X: Any,
    Y: Any = None,
    *,
    radius: float,
    distance: str | Callable[..., float] | LowLevelCallable | None = None,
    include_self: bool = False,
    metric: bool = False,
    n_threads: int | None = None,
    out: str | os.PathLike[str] | None = None,
    resume: bool = False,
    progress: bool = False,
    max_memory: int | str | None = None,
    info: bool = False,
    client: Any = None,
    **params: Any,
) -> sparse.csr_array | Path | tuple[sparse.csr_array | Path, NeighborsInfo]:
    """Find all pairs of objects whose distance is at most a radius, exactly.

    Parameters
    ----------
    X : Objects or what `pack` takes
        n objects.
    Y : Objects or what `pack` takes, optional
        m objects; None stands for X itself, and then no object is its own neighbour.
    radius : float
        The largest distance that counts, finite and >= 0.
    distance : str, callable or scipy.LowLevelCallable
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
        With a client: threads of each block, None for 1.
    out : path, optional
        Name of a file to which blocks of rows are written as they are ready, so that a killed
        run keeps them; `load_neighbors` reads it.
    resume : bool
        Resume the file of the same call, which was interrupted; a Python function needs its
        attribute ``version``. False refuses a file that exists.
    progress : bool
        Show a progress bar (on a terminal only).
    max_memory : int or str, optional
        Bytes that the call may take, such as ``"512MiB"``, packed X and Y included, and the graph
        where `out` is None.
    info : bool
        Return a `NeighborsInfo` too.
    client : dask.distributed.Client, optional
        Client of a cluster whose workers search blocks of rows, with the same bits. Each worker
        holds all of X and Y.
    **params
        Parameters of the distance, as for `distance_matrix`.

    Returns
    -------
    graph : scipy.sparse.csr_array, shape (n, m)
        The distances, with the bits of ``distance_matrix(X, Y)``. Distances of 0 are stored
        entries; what is not stored is farther than the radius. Indices are sorted.
    info : NeighborsInfo
        Counts of the distances, if `info` is True.

    Where `out` is set, the path of the file is returned in place of the graph.

    Raises
    ------
    TypeError, ValueError
        As `distance_matrix`; a radius that is negative or not finite; a `max_memory` too small
        for the search or for the pairs found; metric=True, but sampled objects violate the
        triangle inequality.
    OSError
        A file that exists, or cannot be written.
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
    pairs = check_pairs(X, Y, distance, params, ArgumentNames("within"))
    output = Output(out, None, None, resume, n_threads, progress, client)
    request = Request(pairs, Y is None, include_self, metric, max_memory, info, output)
    search = request.search(radius=not_negative("radius", radius))
    if request.by_blocks:
        graph, counts = request.search_blocks(search)
    else:
        lists = WithinLists(pairs.shape, search.radius, memory_left(search))
        counts = request.run(search, lists)
        graph = lists.result(pairs.dtype)
    return (graph, counts) if request.info else graph
