# SPDX-License-Identifier: BSD-3-Clause
"""k-medoids of any distance: on the matrix, or on samples."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import LowLevelCallable

from d2ke._base.checks import generator, integer
from d2ke._base.memory import check_fits
from d2ke._base.progress import stages
from d2ke.distances.pairs import numbered
from d2ke.distances.problem import PairBlock, Transform
from d2ke.groups.faster_pam import faster_pam
from d2ke.groups.spanning_tree import tree_search
from d2ke.neighbors.info import NeighborsInfo
from d2ke.neighbors.lists import NearestLists
from d2ke.neighbors.problem import NeighborSearch
from d2ke.neighbors.strategies import choose_strategy
from d2ke.objects.container import take


@dataclass(frozen=True, eq=False)
class MedoidClusters:
    """The result of `kmedoids`.

    Attributes
    ----------
    medoids : ndarray of int64, shape (k,)
        Positions of the medoids in X, in increasing order.
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
    progress: bool = False,
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
    distance : str, callable or scipy.LowLevelCallable
        As for `distance_matrix`, symmetric.
    sample_size : int
        The most objects whose matrix of distances is held in memory. Medoids of these are swapped
        with other objects until no swap lowers the loss (FasterPAM [1]_). If X has more objects,
        `n_samples` random samples are drawn. Each contains the best medoids so far, and the medoids
        with the least loss for all objects are returned (FasterCLARA).
    n_samples : int
        Number of samples, where n is larger than `sample_size`.
    seed : int, SeedSequence or Generator
        Draws the first medoids and the samples.
    metric, n_threads
        As for `nearest`, which finds the nearest medoids of all objects.
    progress : bool
        Show a progress bar (on a terminal only).
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
    n, rng = search.pairs.shape[0], generator(seed)
    sample_size = integer("sample_size", sample_size, 1)
    n_samples = integer("n_samples", n_samples, 1)
    k = integer("k", k, 1, min(n, sample_size))
    if isinstance(search.pairs.x, list):
        search = replace(search, pairs=numbered(search.pairs))
    if n <= sample_size:
        medoids = _medoids(search, np.arange(n), rng.choice(n, k, replace=False))
        return _assign(search, medoids)
    best: MedoidClusters | None = None
    for _ in stages(range(n_samples), "samples", progress):
        sample = rng.choice(n, sample_size, replace=False)
        first = sample[:k]
        if best is not None:
            first = best.medoids
            others = sample[~np.isin(sample, first)]
            sample = np.concatenate([first, others[: sample_size - k]])
        found = _assign(search, _medoids(search, np.sort(sample), first))
        if best is None or found.loss < best.loss:
            best = found
    assert best is not None
    return best


def _medoids(search: NeighborSearch, sample: np.ndarray, first: np.ndarray) -> np.ndarray:
    """Return the medoids of a sorted sample, from the first ones on."""
    pairs, n = search.pairs, len(sample)
    n_bytes = n * (n + 3 * len(first)) * pairs.dtype.itemsize
    check_fits(n_bytes, f"the distances of {n} objects", "choose a smaller sample_size")
    x = take(pairs.x, sample)
    D = np.empty((n, n), pairs.dtype)
    pairs.compile(PairBlock(x, x, True)).run(D, search.n_threads, None, Transform())
    return sample[faster_pam(D, np.searchsorted(sample, first))]


def _assign(search: NeighborSearch, medoids: np.ndarray) -> MedoidClusters:
    """Find the nearest medoid of all objects."""
    medoids = np.sort(medoids)
    pairs = replace(search.pairs, y=take(search.pairs.x, medoids), same=False)
    search = replace(search, pairs=pairs, same=False, skip=False, k=1)
    lists = NearestLists(pairs.shape[0], 1)
    choose_strategy(search).search(search, lists, NeighborsInfo(search.n_pairs))
    labels, distances = (side[:, 0] for side in lists.result(pairs.dtype))
    return MedoidClusters(medoids, labels, distances, float(distances.sum(dtype=np.float64)))
