# SPDX-License-Identifier: BSD-3-Clause
"""k-medoids of any distance: on the matrix, or on samples."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import LowLevelCallable

from d2ke._base.checks import generator, integer
from d2ke._base.errors import warn
from d2ke._base.keywords import hinted
from d2ke._base.memory import check_fits
from d2ke._base.progress import check_progress, stages
from d2ke._base.results import result
from d2ke.distances.pairs import numbered
from d2ke.distances.problem import PairBlock
from d2ke.groups.spanning_tree import tree_search
from d2ke.neighbors.copies import distinct_objects
from d2ke.neighbors.problem import NeighborSearch
from d2ke.neighbors.strategies import nearest_lists
from d2ke.objects.container import take
from d2ke.objects.copies import Copies


@result
class MedoidClusters:
    """The result of `kmedoids`.

    Attributes
    ----------
    medoids : ndarray of int64, shape (n_clusters,)
        Positions of the medoids in X, in increasing order; fewer than k if fewer
        objects are at distances above 0 from each other; of equal objects the first.
    labels : ndarray of int64, shape (n,)
        The nearest medoid of each object: ``medoids[labels]``; the first of equally near ones.
    distances : ndarray, shape (n,)
        The distances to them.
    loss : float
        The sum of these distances.
    """

    medoids: NDArray[np.int64]
    labels: NDArray[np.int64] = field(repr=False)
    distances: NDArray[np.floating[Any]] = field(repr=False)
    loss: float


@hinted
def kmedoids(
    X: Any,
    k: int,
    *,
    distance: str | Callable[..., float] | LowLevelCallable | None = None,
    sample_size: int = 5000,
    n_samples: int = 5,
    seed: Any = 0,
    metric: bool = False,
    n_threads: int | None = None,
    progress: bool | None = None,
    **params: Any,
) -> MedoidClusters:
    """Find k objects, the medoids, with a small sum of the distances of all objects to the nearest.

    Medoids are objects of X, so that they show what the others near them are like.

    Parameters
    ----------
    X : Objects or what `pack` takes
        n objects.
    k : int
        Number of medoids, at most n and at most `sample_size`.
    distance : str, callable or scipy.LowLevelCallable, optional
        As for `distance_matrix`, symmetric; by default ``"levenshtein"`` for strings, ``"dtw"``
        for series and ``"mhd"`` for sets; ``"precomputed"`` as for `nearest`.
    sample_size : int
        The most objects whose matrix of distances is held in memory; equal objects are held once,
        with their number as a weight. Medoids of these are swapped with other objects until no swap
        lowers the loss (FasterPAM [1]_). If X has more different objects, `n_samples` random
        samples of them are drawn. Each contains the best medoids so far, and the medoids with the
        least loss for all objects are returned (FasterCLARA).
    n_samples : int
        Number of samples, where n is larger than `sample_size`.
    seed : int, SeedSequence or Generator
        Draws the first medoids and the samples.
    metric, n_threads
        As for `nearest`, which finds the nearest medoids of all objects.
    progress : bool, optional
        Whether to show progress; by default on a terminal or in a notebook, where work takes more
        than two seconds.
    **params
        Parameters of the distance, as for `distance_matrix`.

    Returns
    -------
    MedoidClusters

    Raises
    ------
    TypeError, ValueError
        As `distance_matrix`; a distance that is not symmetric; a parameter out of range.
    MemoryError
        If the matrix of `sample_size` objects does not fit.
    KeyboardInterrupt
        On Ctrl-C, within a second.

    Warns
    -----
    UserWarning
        If there are fewer than k clusters, because fewer objects are at distances above 0
        from each other.

    References
    ----------
    .. [1] Schubert, Rousseeuw, "Fast and Eager k-Medoids Clustering: O(k) Runtime Improvement of
       the PAM, CLARA, and CLARANS Algorithms", Information Systems 101, 2021.

    Examples
    --------
    >>> import d2ke
    >>> words = ["ant", "aunt", "and", "beetle", "beatle", "beetles", "wasp"]
    >>> found = d2ke.kmedoids(words, 2, distance="levenshtein")
    >>> [words[i] for i in found.medoids], found.labels.tolist(), found.loss
    (['ant', 'beetle'], [0, 0, 0, 1, 1, 1, 0], 7.0)
    """
    search = tree_search("kmedoids", X, distance, params, metric, n_threads)
    rng, sample_size = generator(seed), integer("sample_size", sample_size, 1)
    n_samples, progress = integer("n_samples", n_samples, 1), check_progress(progress)
    k = integer("k", k, 1, min(search.pairs.shape[0], sample_size))
    search, copies = distinct_objects(search)
    if isinstance(search.pairs.x, list):
        search = replace(search, pairs=numbered(search.pairs))
    n = len(copies.firsts)
    count = min(k, n)
    if n <= sample_size:
        medoids = _medoids(search, copies, np.arange(n), rng.choice(n, count, replace=False))
        return _clusters(search, copies, medoids, k)
    best, lowest = np.empty(0, np.int64), np.inf
    for _ in stages(range(n_samples), "samples", progress):
        sample = rng.choice(n, sample_size, replace=False)
        first = best if len(best) else sample[:count]
        new = sample[~np.isin(sample, first)][: sample_size - count]
        sample = np.concatenate([first, new])
        medoids = _medoids(search, copies, np.sort(sample), first)
        loss = float((_assign(search, medoids)[1] * copies.counts).sum(dtype=np.float64))
        if loss < lowest:
            best, lowest = medoids, loss
    return _clusters(search, copies, best, k)


def _medoids(
    search: NeighborSearch, copies: Copies, sample: np.ndarray, first: np.ndarray
) -> np.ndarray:
    """Return the medoids of a sorted sample of distinct objects, from the first ones on."""
    pairs, n = search.pairs, len(sample)
    n_bytes = n * (n + 3 * len(first)) * pairs.dtype.itemsize
    check_fits(n_bytes, f"the distances of {n} objects", "choose a smaller sample_size")
    x = take(pairs.x, sample)
    D = pairs.distances(PairBlock(x, x, True), search.n_threads)
    weights = copies.counts[sample].astype(np.float64)
    return sample[faster_pam(D, np.searchsorted(sample, first), weights)]


def faster_pam(D: np.ndarray, medoids: np.ndarray, weights: np.ndarray | None = None) -> np.ndarray:
    """Improve medoids until no swap of a medoid and another object lowers the loss.

    All k swaps of an object are priced at once, from the distances of each object to its nearest
    and to its second medoid; the best is done at once if it lowers the loss (Schubert and
    Rousseeuw, "Fast and eager k-medoids clustering", Information Systems 2021). An object counts
    `weights` times, by default once.
    """
    n, k = len(D), len(medoids)
    medoids = medoids.copy()
    weights = np.ones(n) if weights is None else weights
    if k == 1:
        return np.einsum("i,ij->j", weights, D, dtype=np.float64).argmin(keepdims=True)
    near, second, nearest, following = _two_nearest(D[medoids])
    is_medoid = np.zeros(n, bool)
    is_medoid[medoids] = True
    lost = np.bincount(near, weights * (following - nearest), k)
    rounding = 1e-12  # of the loss
    smallest_gain = rounding * (weights * nearest).sum()
    candidate, n_tried = 0, 0
    while n_tried < n:
        if not is_medoid[candidate]:
            row = D[candidate]
            at = np.flatnonzero(row < following)
            nearer, theirs = row[at], nearest[at]
            gained = (weights[at] * np.minimum(nearer - theirs, 0)).sum()
            more = weights[at] * (np.maximum(nearer, theirs) - following[at])
            change = lost + np.bincount(near[at], more, k)
            worst = int(change.argmin())
            if change[worst] + gained < -smallest_gain:
                is_medoid[medoids[worst]], is_medoid[candidate] = False, True
                medoids[worst] = candidate
                again = (near == worst) | (second == worst)
                first = ~again & (row < nearest)
                between = ~again & ~first & (row < following)
                second[first], following[first] = near[first], nearest[first]
                near[first], nearest[first] = worst, row[first]
                second[between], following[between] = worst, row[between]
                again = np.flatnonzero(again)
                updated = _two_nearest(D[np.ix_(medoids, again)])
                near[again], second[again], nearest[again], following[again] = updated
                lost = np.bincount(near, weights * (following - nearest), k)
                smallest_gain = rounding * (weights * nearest).sum()
                n_tried = 0
        n_tried += 1
        candidate = (candidate + 1) % n
    return medoids


def _two_nearest(D: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return each column's two rows of least value, and these values in float64."""
    rows, columns = D.astype(np.float64), np.arange(D.shape[1])
    near = rows.argmin(axis=0)
    nearest = rows[near, columns]
    rows[near, columns] = np.inf
    second = rows.argmin(axis=0)
    return near, second, nearest, rows[second, columns]


def _assign(search: NeighborSearch, medoids: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the nearest of the sorted medoids of all distinct objects, and the distance to it."""
    pairs = replace(search.pairs, y=take(search.pairs.x, medoids), same=False)
    lists = nearest_lists(replace(search, pairs=pairs, same=False, skip=False, k=1))
    return lists.indices[:, 0], lists.distances[:, 0].astype(pairs.dtype, copy=False)


def _clusters(
    search: NeighborSearch, copies: Copies, medoids: np.ndarray, k: int
) -> MedoidClusters:
    """Return the clusters of all objects; a medoid that is nearest to none is left out."""
    medoids = np.sort(medoids)
    labels, distances = _assign(search, medoids)
    used, labels = np.unique(labels, return_inverse=True)
    if len(used) < k:
        warn(
            f"only {len(used)} of {k} clusters have objects: no more objects are at a distance "
            "from each other"
        )
    distances = distances[copies.numbers]
    loss = float(distances.sum(dtype=np.float64))
    return MedoidClusters(copies.firsts[medoids[used]], labels[copies.numbers], distances, loss)
