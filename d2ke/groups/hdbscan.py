# SPDX-License-Identifier: BSD-3-Clause
"""HDBSCAN of any distance."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import LowLevelCallable

from d2ke._base.checks import integer, not_negative
from d2ke._base.keywords import hinted
from d2ke._base.progress import progress_bar
from d2ke._base.results import result
from d2ke.distances.problem import PairwiseProblem
from d2ke.groups.condensed_tree import condense, label, most_excess
from d2ke.groups.forest import Edges, Forest
from d2ke.groups.growth import grow
from d2ke.groups.spanning_tree import SpanningTree, tree_of, tree_search
from d2ke.neighbors import strings
from d2ke.neighbors.copies import copy_distances, distinct_objects
from d2ke.neighbors.strategies import nearest_lists
from d2ke.objects.copies import Copies, find_copies


@result
class HDBSCANClusters:
    """The result of `hdbscan`.

    Attributes
    ----------
    labels : ndarray of int64, shape (n,)
        Clusters 0, 1, ..., numbered by their first objects; -1 for noise.
    probabilities : ndarray of float64, shape (n,)
        How firmly an object belongs to its cluster: 1 in its densest part, 0 for noise.
    examples : ndarray of int64
        An object of each cluster in its densest part: one with the least core distance.
    core_distances : ndarray, shape (n,)
        Distances to the `min_samples`-th nearest other object.
    tree : SpanningTree
        The minimum spanning tree of the mutual reachability distances. Among ties, equal objects
        come first.
    """

    labels: NDArray[np.int64] = field(repr=False)
    probabilities: NDArray[np.float64] = field(repr=False)
    examples: NDArray[np.int64]
    core_distances: NDArray[np.floating[Any]] = field(repr=False)
    tree: SpanningTree = field(repr=False)


@hinted
def hdbscan(
    X: Any,
    *,
    min_cluster_size: int = 5,
    min_samples: int | None = None,
    cluster_selection_epsilon: float = 0.0,
    distance: str | Callable[..., float] | LowLevelCallable | None = None,
    metric: bool = False,
    n_threads: int | None = None,
    progress: bool | None = None,
    **params: Any,
) -> HDBSCANClusters:
    """Find clusters of any density, and noise, by HDBSCAN [1]_, without the matrix of distances.

    The core distance of an object is that to its `min_samples`-th nearest other object. The mutual
    reachability distance of two objects is the largest of their distance and both core distances.
    Clusters of at least `min_cluster_size` objects are taken from the tree of single linkage
    under this distance, by their excess of mass.

    Parameters
    ----------
    X : Objects or what `pack` takes
        n objects.
    min_cluster_size : int
        The least size of a cluster, at least 2.
    min_samples : int, optional
        The number of the neighbour that makes the core distance; None for `min_cluster_size`. At
        most n - 1 is used. An object is not its own neighbour, as in the package hdbscan;
        scikit-learn counts it, so that its `min_samples` is one larger.
    cluster_selection_epsilon : float
        Clusters that split at a smaller distance are not split.
    distance : str, callable or scipy.LowLevelCallable, optional
        As for `distance_matrix`, symmetric; by default ``"levenshtein"`` for strings, ``"dtw"``
        for series and ``"mhd"`` for sets; ``"precomputed"`` as for `nearest`.
    metric, n_threads
        As for `nearest`.
    progress : bool, optional
        Whether to show progress; by default on a terminal or in a notebook, where work takes more
        than two seconds.
    **params
        Parameters of the distance, as for `distance_matrix`.

    Returns
    -------
    HDBSCANClusters
        The clusters of the package hdbscan with ``algorithm="generic"`` on the matrix, up to ties.
        Among equal mutual reachability distances, those between equal objects come first; the rest
        are ordered by i, then by j, i < j; objects with mutual reachability distance 0, and
        equal objects, are never split.

    Raises
    ------
    TypeError, ValueError
        As `distance_matrix`; a distance that is not symmetric; a parameter out of range.
    KeyboardInterrupt
        On Ctrl-C, within a second.

    References
    ----------
    .. [1] Campello, Moulavi, Zimek, Sander, "Hierarchical Density Estimates for Data Clustering,
       Visualization, and Outlier Detection", TKDD 10(1), 2015.

    Examples
    --------
    >>> import d2ke
    >>> words = ["aab", "abaab", "aaba", "aabab", "bcc", "ccbcb", "cbbcc", "bccb", "bcbcc"]
    >>> found = d2ke.hdbscan(words, min_cluster_size=3, distance="levenshtein")
    >>> found.labels.tolist(), [words[i] for i in found.examples]
    ([0, 0, 0, 0, 1, 1, 1, 1, 1], ['aab', 'bcc'])
    """
    search = tree_search("hdbscan", X, distance, params, metric, n_threads)
    min_cluster_size = integer("min_cluster_size", min_cluster_size, 2)
    if min_samples is None:
        min_samples = min_cluster_size
    pairs = search.pairs
    min_samples = min(integer("min_samples", min_samples, 1), pairs.shape[0] - 1)
    epsilon = not_negative("cluster_selection_epsilon", cluster_selection_epsilon)
    epsilon = pairs.rounded(epsilon)
    search, copies = distinct_objects(search)
    n, counts, dtype = search.pairs.shape[0], copies.counts, pairs.dtype
    cores = np.zeros(n)
    with progress_bar(progress, "edges") as report:
        forest = Forest(n, report)
        if n > 1:
            more = 0 if strings.applies(search) else 3  # for the first edges of the tree
            lists = nearest_lists(replace(search, k=min(min_samples + more, n - 1)))
            before = np.cumsum(counts[lists.indices], axis=1) + counts[:, None] - 1
            position = np.argmax(before >= min_samples, axis=1)[:, None]
            cores = np.take_along_axis(lists.distances, position, axis=1)[:, 0]
            cores[counts > min_samples] = 0
            grow(search, forest, cores, lists)
    tree = tree_of(_with_copies(forest.tree(), cores, pairs, copies), dtype)
    cores = cores[copies.numbers]
    condensed = condense(tree.linkage(), min_cluster_size)
    labels, probabilities = label(condensed, most_excess(condensed, epsilon))
    clusters, first = np.unique(labels[labels >= 0], return_index=True)
    order = clusters[np.argsort(first)]
    numbers = np.full(len(condensed.parents) + 1, -1)
    numbers[order] = np.arange(len(order))
    labels = numbers[labels]
    by_core = np.lexsort((cores, labels))
    _, starts = np.unique(labels[by_core], return_index=True)
    examples = by_core[starts[len(starts) - len(order) :]]
    return HDBSCANClusters(labels, probabilities, examples, cores.astype(dtype), tree)


def _with_copies(edges: Edges, cores: np.ndarray, pairs: PairwiseProblem, copies: Copies) -> Edges:
    """Add the edges of equal objects to a tree; among equal weights they come first.

    The tree links the distinct objects or, if equal ones had to be searched too, all objects.
    """
    if not copies and not (copies := find_copies(pairs.x)):
        return edges
    again = copies.repeated()
    firsts = copies.firsts[copies.numbers[again]]
    if len(cores) == len(copies.firsts):
        weights = cores[copies.numbers[again]]
        edges = Edges(copies.firsts[edges.i], copies.firsts[edges.j], edges.weights)
    else:
        apart = copy_distances(pairs, copies)[copies.numbers[again]]
        weights = np.maximum(np.maximum(cores[firsts], cores[again]), apart)
    edges = Edges.join([Edges(firsts, again, weights), edges])
    order = np.lexsort((edges.j, edges.i, np.arange(len(edges.i)) >= len(again), edges.weights))
    return Forest(len(copies.numbers)).least(edges, order)
