# SPDX-License-Identifier: BSD-3-Clause
"""Trees and clusters: `linkage`, `cluster`, `kmedoids`, `dbscan`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.cluster import hierarchy

import d2ke
from d2ke._base.arrays import check_distances
from d2ke._base.checks import choice, not_negative
from d2ke._base.errors import ArgumentError
from d2ke._base.keywords import hinted
from matlab_compat._cells import column, numbers, scalar, whole
from matlab_compat._outputs import Outputs
from matlab_compat.pairs import between, by_rows, check_condensed, is_matrix, objects, pdist


@hinted
def linkage(
    X: Any, method: str = "single", metric: str | Callable[..., Any] | None = None, **params: Any
) -> np.ndarray:
    """Build the tree of hierarchical clusters.

    Parameters
    ----------
    X : array_like, 1 x n (n - 1) / 2; array_like, n x d; cell or list of n objects; Objects
        Distances as `pdist` returns them, or what `pdist` takes.
    method : str
        "average", "centroid", "complete", "median", "single", "ward" or "weighted".
    metric, **params
        As ``Distance`` and parameters of `pdist`. For objects, "single" needs no matrix.

    Returns
    -------
    ndarray, n - 1 x 3
        The two clusters that are joined, numbered from 1, and the height; row i makes cluster
        n + i.

    Raises
    ------
    TypeError, ValueError
        As `pdist`; an unknown method; no distance, as of one object.

    Examples
    --------
    >>> linkage([[1.0, 4.0, 3.0]], "complete")
    array([[1., 2., 1.],
           [3., 4., 4.]])
    """
    methods = ("average", "centroid", "complete", "median", "single", "ward", "weighted")
    choice("method", method, methods)
    X = X[None] if isinstance(X, np.ndarray) and X.ndim == 1 and X.dtype != object else X
    D: np.ndarray | None = None
    if not by_rows(X, metric) and method == "single":
        X = objects("X", X, metric)
    elif is_matrix(X) and len(X) == 1:
        if metric is not None:
            raise ArgumentError("metric", "is for observations, but X has one row of distances")
        D = numbers("X", X)
        check_condensed("X", D)
        check_distances("X", D)
    else:
        D = pdist(X, metric, **params)
    if len(X) < 2 if D is None else not D.size:
        raise ArgumentError("X", "must have at least one distance: a tree joins two objects")
    if D is None:
        Z = d2ke.single_linkage(X, distance=metric, **params)
    else:
        Z = hierarchy.linkage(D.ravel(), method)
    return np.column_stack([np.sort(Z[:, :2], axis=1) + 1, Z[:, 2]])


def _tree(Z: Any) -> np.ndarray:
    """Return scipy's form of the tree."""
    Z = numbers("Z", Z)
    if Z.ndim != 2 or Z.shape[1] != 3:
        raise ArgumentError("Z", f"must be n - 1 x 3, from linkage, got shape {Z.shape}")
    pairs, n = Z[:, :2], len(Z) + 1
    joined_once = np.array_equal(np.sort(pairs, axis=None), np.arange(1, 2 * n - 1))
    if not (joined_once and (pairs.max(axis=1) <= n + np.arange(n - 1)).all()):
        raise ArgumentError("Z", "is not a tree: it must join each cluster once, numbered from 1")
    if not (Z[:, 2] >= 0).all():
        raise ArgumentError("Z", "must have heights >= 0 in its third column")
    return hierarchy.from_mlab_linkage(Z)


@hinted
def cluster(
    Z: Any,
    *,
    MaxClust: int | None = None,
    Cutoff: float | None = None,
    Criterion: str = "inconsistent",
    Depth: int = 2,
) -> np.ndarray:
    """Cut the tree of `linkage` into clusters.

    Parameters
    ----------
    Z : array_like, n - 1 x 3
        From `linkage`; 0 x 3 for one object.
    MaxClust : int, optional
        Number of clusters; of more than n, n.
    Cutoff : float, optional
        Instead of it: the largest value of the criterion inside a cluster.
    Criterion : {"inconsistent", "distance"}
        Of `Cutoff`: the inconsistency coefficient, or the height.
    Depth : int
        Levels that the coefficient looks at.

    Returns
    -------
    ndarray of int, n x 1
        Numbers from 1. Which cluster has which number is not MATLAB's.

    Raises
    ------
    TypeError, ValueError
        Not one of `MaxClust` and `Cutoff`; a value out of range; Z is not a tree.

    Examples
    --------
    >>> Z = linkage([[0.0], [1.0], [5.0], [7.0]])
    >>> cluster(Z, MaxClust=2).ravel(), cluster(Z, Cutoff=1.5, Criterion="distance").ravel()
    (array([1, 1, 2, 2], dtype=int32), array([1, 1, 2, 3], dtype=int32))
    """
    if (MaxClust is None) == (Cutoff is None):
        raise ArgumentError("MaxClust", "or Cutoff must be given, and not both")
    tree = _tree(Z)
    choice("Criterion", Criterion, ("inconsistent", "distance"))
    limit = not_negative("Cutoff", 0 if Cutoff is None else scalar(Cutoff))
    n_clusters = 1 if MaxClust is None else whole("MaxClust", MaxClust, 1)
    Depth = whole("Depth", Depth, 1)
    if not len(tree):
        return column([1])
    if MaxClust is not None:
        # Row numbers replace heights: equal heights are cut apart, as in MATLAB.
        tree[:, 2] = np.arange(len(tree))
        T = hierarchy.fcluster(tree, len(tree) + 0.5 - n_clusters, "distance")
    else:
        T = hierarchy.fcluster(tree, limit, Criterion, depth=Depth)
    return column(T)


def _problem(X: Any, distance: Any, params: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """Return d2ke's objects and distance; the matrix where the distance is MATLAB's."""
    if not by_rows(X, distance):
        return objects("X", X, distance), {"distance": distance, **params}
    return between(X, X, distance, None, params), {"distance": "precomputed"}


@hinted
def kmedoids(
    X: Any,
    k: int,
    Distance: str | Callable[..., Any] | None = None,
    *,
    seed: Any = 0,
    **params: Any,
) -> tuple[np.ndarray, Any, np.ndarray, np.ndarray, np.ndarray]:
    """Find k medoids with a small sum of the distances of all objects to the nearest medoid.

    Parameters
    ----------
    X : array_like, n x d; cell or list of n objects; Objects
        As for `pdist`.
    k : int
        Number of medoids.
    Distance
        As for `pdist`; of a matrix "sqeuclidean" by default.
    seed : int, SeedSequence or Generator
        Of the first medoids.
    **params
        As for `pdist`.

    Returns
    -------
    idx : ndarray of int, n x 1
        The medoid of each object, 1 to k.
    C : ndarray, k x d; or list
        The medoids.
    sumd : ndarray, k x 1
        The sum of distances in each cluster.
    D : ndarray, n x k
        The distances to all medoids.
    midx : ndarray of int, k x 1
        The medoids' numbers, from 1.

    Raises
    ------
    TypeError, ValueError
        As `pdist`; k out of range; a distance that is not symmetric.

    Examples
    --------
    >>> X = [[0.0], [1.0], [3.0], [9.0], [10.0], [13.0]]
    >>> idx, C, sumd, D, midx = kmedoids(X, 2, "cityblock")
    >>> idx.ravel(), C.ravel(), sumd.ravel(), midx.ravel()
    (array([1, 1, 1, 2, 2, 2]), array([ 1., 10.]), array([3., 4.]), array([2, 5]))
    """
    if Distance is None and is_matrix(X):
        Distance = "sqeuclidean"
    C: Any
    items, options = _problem(X, Distance, params)
    clustering = d2ke.kmedoids(items, whole("k", k, 1), seed=seed, **options)
    medoids, labels = clustering.medoids, clustering.labels
    if options["distance"] == "precomputed":
        C, D = np.asarray(X)[medoids], items[:, medoids]
    else:
        C = [items[i] for i in medoids]
        centres = items[medoids] if isinstance(items, d2ke.Objects) else C
        D = d2ke.distance_matrix(items, centres, **options)
    sumd = np.bincount(labels, clustering.distances, len(medoids))
    return Outputs(
        "kmedoids",
        idx=column(labels + 1),
        C=C,
        sumd=column(sumd),
        D=D,
        midx=column(medoids + 1),
    )


@hinted
def dbscan(
    X: Any,
    epsilon: float,
    minpts: int,
    Distance: str | Callable[..., Any] | None = None,
    **params: Any,
) -> tuple[np.ndarray, np.ndarray]:
    """Find dense clusters, and noise.

    Parameters
    ----------
    X : array_like, n x d; cell or list of n objects; Objects
        As for `pdist`; with "precomputed" the n x n distances.
    epsilon : float
        The radius.
    minpts : int
        How many objects, itself included, a core object has within it.
    Distance, **params
        As for `pdist`, or "precomputed".

    Returns
    -------
    idx : ndarray of int, n x 1
        Clusters from 1, and -1 for noise.
    corepts : ndarray of bool, n x 1
        Whether an object is a core object.

    Raises
    ------
    TypeError, ValueError
        As `pdist`; a number out of range; a distance that is not symmetric.

    Examples
    --------
    >>> idx, core = dbscan([[0.0], [1.0], [2.0], [9.0]], 1, 3)
    >>> idx.ravel(), core.ravel()
    (array([ 1,  1,  1, -1]), array([False,  True, False, False]))
    """
    items, options = X, {"distance": Distance, **params}
    if Distance != "precomputed":
        items, options = _problem(X, Distance, params)
    clustering = d2ke.dbscan(items, epsilon, whole("minpts", minpts, 1), **options)
    idx = np.where(clustering.labels < 0, -1, clustering.labels + 1)
    return Outputs("dbscan", idx=column(idx), corepts=column(clustering.core))
