# SPDX-License-Identifier: BSD-3-Clause
"""The k nearest objects, and those within a radius."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import LowLevelCallable, sparse

from d2ke._base.keywords import hinted
from d2ke.distances.precomputed import check_search
from d2ke.distances.problem import ArgumentNames
from d2ke.distances.record_pairs import check_any_pairs
from d2ke.neighbors.runs import SearchOptions, find_nearest, find_within


@hinted
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
    progress: bool | None = None,
    **params: Any,
) -> tuple[NDArray[np.int64], NDArray[np.floating[Any]]]:
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
    distance : str, callable, scipy.LowLevelCallable or dict, optional
        As for `distance_matrix`; by default ``"levenshtein"`` for strings, ``"dtw"`` for series
        and ``"mhd"`` for sets. ``"precomputed"``: X is the matrix of distances, finite and >= 0;
        without Y it is square, with zeros on its diagonal, and of a Y, the objects of the columns,
        only the number counts.
    include_self : bool
        Where Y is None: treat each object as a candidate neighbour of itself, the first of those at
        the same distance, and return k + 1 neighbours, as UMAP and scikit-learn's
        ``KNeighborsTransformer`` do.
    metric : bool
        True states that a Python distance is a metric: 0 for equal objects, symmetric, and
        satisfying the triangle inequality. Distances to a few objects, the pivots, then rule out
        pairs before their distance is computed. With a Y the function is also called for two
        objects of Y. Named distances are marked as metrics or not already.
    n_threads : int, optional
        Threads to use; None for all that this process may use. The result does not depend on it.
    progress : bool, optional
        Whether to show progress; by default on a terminal or in a notebook, where work takes more
        than two seconds.
    **params
        Parameters of the distance, as for `distance_matrix`.

    Returns
    -------
    indices : ndarray of int64, shape (n, k)
        Positions of the neighbours in Y, the nearest first; ties are sorted by index, the object
        itself before all others. A row with fewer than k neighbours within the radius ends with -1.
    distances : ndarray, shape (n, k)
        The entries of ``distance_matrix(X, Y)``, with the same bits; inf where the index is -1.

    Raises
    ------
    TypeError, ValueError
        As `distance_matrix`; a matrix of other than distances; a k out of range, a radius that is
        negative or not finite; metric=True, but sampled objects violate the triangle inequality.
    KeyboardInterrupt
        On Ctrl-C, within a second.
    MemoryError
        If the call would take more than there is; see docs/memory.md.

    Warns
    -----
    UserWarning
        If all neighbours are equally far, and are the first objects: a named distance that
        does not separate any objects. If X looks like a matrix of distances that is taken for
        objects.

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
    names = ArgumentNames("nearest")
    pairs = check_search(check_any_pairs, X, Y, distance, params, names)
    options = SearchOptions(include_self, metric, n_threads, progress)
    indices, distances, _ = find_nearest(pairs, Y is None, k, radius, options)
    return indices, distances


@hinted
def within(
    X: Any,
    Y: Any = None,
    *,
    radius: float,
    distance: str | Callable[..., float] | LowLevelCallable | Mapping[str, Any] | None = None,
    include_self: bool = False,
    metric: bool = False,
    n_threads: int | None = None,
    progress: bool | None = None,
    **params: Any,
) -> sparse.csr_array:
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
    distance : str, callable, scipy.LowLevelCallable or dict, optional
        As for `distance_matrix`; by default ``"levenshtein"`` for strings, ``"dtw"`` for series
        and ``"mhd"`` for sets. ``"precomputed"``: X is the matrix of distances, finite and >= 0;
        without Y it is square, with zeros on its diagonal, and of a Y, the objects of the columns,
        only the number counts.
    include_self : bool
        Where Y is None: keep each object's distance to itself too.
    metric, n_threads, progress
        As for `nearest`.
    **params
        Parameters of the distance, as for `distance_matrix`.

    Returns
    -------
    graph : scipy.sparse.csr_array, shape (n, m)
        The distances, with the bits of ``distance_matrix(X, Y)``. Distances of 0 are stored
        entries; pairs that are not stored are farther apart than the radius. Indices are sorted.

    Raises
    ------
    TypeError, ValueError
        As `distance_matrix`; a radius that is negative or not finite; metric=True, but sampled
        objects violate the triangle inequality.
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
    names = ArgumentNames("within")
    pairs = check_search(check_any_pairs, X, Y, distance, params, names)
    options = SearchOptions(include_self, metric, n_threads, progress)
    graph, _ = find_within(pairs, Y is None, radius, options)
    return graph
