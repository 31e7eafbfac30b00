# SPDX-License-Identifier: BSD-3-Clause
"""The minimum spanning tree of any distance, and single linkage."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import LowLevelCallable

from d2ke._base.errors import ArgumentError
from d2ke._base.keywords import hinted
from d2ke._base.progress import progress_bar
from d2ke._base.results import result
from d2ke.distances.pairs import check_pairs, check_same_both_ways
from d2ke.distances.precomputed import check_search
from d2ke.distances.problem import ArgumentNames
from d2ke.groups.forest import Edges, Forest
from d2ke.groups.growth import grow
from d2ke.neighbors.copies import distinct_objects
from d2ke.neighbors.problem import NeighborSearch
from d2ke.neighbors.runs import SearchOptions


@result
class SpanningTree:
    """The minimum spanning tree of n objects.

    Attributes
    ----------
    edges : ndarray of int64, shape (n - 1, 2)
        Pairs of objects i < j, in the order of (weight, i, j).
    weights : ndarray, shape (n - 1,)
        Their distances.

    Examples
    --------
    >>> import d2ke
    >>> tree = d2ke.spanning_tree([3, 9, 4, 1], distance=lambda a, b: abs(a - b))
    >>> tree.linkage()
    array([[0., 2., 1., 2.],
           [3., 4., 2., 3.],
           [1., 5., 5., 4.]])
    """

    edges: NDArray[np.int64] = field(repr=False)
    weights: NDArray[np.floating[Any]]

    def linkage(self) -> NDArray[np.float64]:
        """Return the groups that single linkage joins, as scipy.cluster.hierarchy's functions take.

        Returns
        -------
        ndarray of float64, shape (n - 1, 4)
            Row t joins the groups Z[t, 0] < Z[t, 1] at distance Z[t, 2] to group n + t, of Z[t, 3]
            objects; groups 0 to n - 1 are the objects.
        """
        n = len(self.weights) + 1
        above, group, size = list(range(n)), list(range(n)), [1] * n
        rows = []
        for t, ((i, j), weight) in enumerate(
            zip(self.edges.tolist(), self.weights.tolist(), strict=True)
        ):
            while above[i] != i:
                above[i] = i = above[above[i]]
            while above[j] != j:
                above[j] = j = above[above[j]]
            if size[i] < size[j]:
                i, j = j, i
            above[j], size[i] = i, size[i] + size[j]
            rows.append((*sorted((group[i], group[j])), weight, size[i]))
            group[i] = n + t
        return np.array(rows, np.float64).reshape(n - 1, 4)


@hinted
def spanning_tree(
    X: Any,
    *,
    distance: str | Callable[..., float] | LowLevelCallable | None = None,
    metric: bool = False,
    n_threads: int | None = None,
    progress: bool | None = None,
    **params: Any,
) -> SpanningTree:
    """Find the minimum spanning tree of objects, exactly, without the matrix of distances.

    The n - 1 pairs that link all objects with the least sum of distances. Equal distances are
    ordered by i, then by j, so that the tree is unique.

    Parameters
    ----------
    X : Objects or what `pack` takes
        n objects.
    distance : str, callable or scipy.LowLevelCallable, optional
        As for `distance_matrix`, symmetric; by default ``"levenshtein"`` for strings, ``"dtw"``
        for series and ``"mhd"`` for sets; ``"precomputed"`` as for `nearest`. A Python
        function is called with x_i, x_j for i < j.
    metric : bool
        True states that a Python distance is a metric, as for `nearest`.
    n_threads : int, optional
        Threads to use; None for all that this process may use. The result does not depend on it.
    progress : bool, optional
        Whether to show progress; by default on a terminal or in a notebook, where work takes more
        than two seconds.
    **params
        Parameters of the distance, as for `distance_matrix`.

    Returns
    -------
    SpanningTree

    Raises
    ------
    TypeError, ValueError
        As `distance_matrix`; a distance that is not symmetric; metric=True, but sampled objects
        violate the triangle inequality.
    KeyboardInterrupt
        On Ctrl-C, within a second.

    Notes
    -----
    For strings, an index finds all pairs at Levenshtein distance 0, 1, 2, ...; objects outside of
    the largest group are searched only. Where lower bounds help (dynamic time warping, metrics),
    each object's nearest ones come first, and then the objects nearest to each group from
    outside, no farther than the group's nearest so far (Boruvka 1926). Otherwise each distance
    is computed once, row by row, and forgotten (Prim 1957). Memory grows with n, not with n^2.

    Examples
    --------
    >>> import d2ke
    >>> tree = d2ke.spanning_tree(["kitten", "mitten", "sitting", "fitting"],
    ...                           distance="levenshtein")
    >>> tree.edges.tolist(), tree.weights.tolist()
    ([[0, 1], [2, 3], [0, 2]], [1.0, 1.0, 3.0])
    """
    search = tree_search("spanning_tree", X, distance, params, metric, n_threads)
    return _spanning_tree(search, progress)


def tree_search(
    function: str,
    X: Any,
    distance: Any,
    params: Mapping[str, Any],
    metric: bool,
    n_threads: int | None,
) -> NeighborSearch:
    """Check what the functions of trees take, and return a search without k and radius."""
    names = ArgumentNames(function)
    pairs = check_search(check_pairs, X, None, distance, params, names, symmetric=True)
    search = SearchOptions(metric=metric, n_threads=n_threads).search(pairs, True)
    check_same_both_ways(pairs)
    if len(pairs.x) == 0:
        raise ArgumentError("X", "is empty: at least one object is needed")
    return search


def tree_of(edges: Edges, dtype: np.dtype) -> SpanningTree:
    """Return the public form of a tree."""
    return SpanningTree(np.column_stack([edges.i, edges.j]), edges.weights.astype(dtype))


@hinted
def single_linkage(
    X: Any,
    *,
    distance: str | Callable[..., float] | LowLevelCallable | None = None,
    metric: bool = False,
    n_threads: int | None = None,
    progress: bool | None = None,
    **params: Any,
) -> NDArray[np.float64]:
    """Group objects by single linkage, without the matrix of distances.

    Two objects are in one group at height h if steps of at most h between objects lead from one to
    the other.

    Parameters
    ----------
    X, distance, metric, n_threads, progress, **params
        As for `spanning_tree`.

    Returns
    -------
    ndarray of float64, shape (n - 1, 4)
        What ``scipy.cluster.hierarchy.linkage(D, "single")`` returns, with equal heights and equal
        groups below each height, for ``fcluster``, ``dendrogram`` and others; groups that are
        joined at one height are joined in the order of the tree's edges.

    Raises
    ------
    TypeError, ValueError
        As `spanning_tree`.
    KeyboardInterrupt
        On Ctrl-C, within a second.

    Examples
    --------
    >>> import d2ke
    >>> from scipy.cluster.hierarchy import fcluster
    >>> names = ["jon smith", "ann lee", "john smith", "anne lee"]
    >>> Z = d2ke.single_linkage(names, distance="levenshtein")
    >>> fcluster(Z, 1, "distance").tolist()
    [1, 2, 1, 2]
    """
    search = tree_search("single_linkage", X, distance, params, metric, n_threads)
    return _spanning_tree(search, progress).linkage()


def _spanning_tree(search: NeighborSearch, progress: bool | None) -> SpanningTree:
    """Grow the tree of the distinct objects, and link each copy by its least edge.

    Between first objects, the trees of all and of the distinct objects have the same edges. The
    least edge of a copy leads to the first object at distance 0 from it.
    """
    search, copies = distinct_objects(search)
    with progress_bar(progress, "edges") as report:
        forest = Forest(search.pairs.shape[0], report)
        grow(search, forest)
    edges, firsts = forest.tree(), copies.firsts
    partners, near = firsts.copy(), edges.take(edges.weights == 0)
    np.minimum.at(partners, near.j, firsts[near.i])
    again = copies.repeated()
    links = Edges(partners[copies.numbers[again]], again, np.zeros(len(again)))
    edges = Edges.join([Edges(firsts[edges.i], firsts[edges.j], edges.weights), links])
    return tree_of(edges.take(edges.order()), search.pairs.dtype)
