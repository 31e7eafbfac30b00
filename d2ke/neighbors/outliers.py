# SPDX-License-Identifier: BSD-3-Clause
"""Outliers among objects, by the distances to their nearest others."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import LowLevelCallable

from d2ke._base.checks import choice
from d2ke._base.errors import ArgumentError
from d2ke._base.keywords import hinted
from d2ke.distances.precomputed import check_search
from d2ke.distances.problem import ArgumentNames
from d2ke.distances.record_pairs import check_any_pairs
from d2ke.neighbors.copies import copy_distances
from d2ke.neighbors.runs import SearchOptions, find_nearest, others_count
from d2ke.objects.container import take
from d2ke.objects.copies import find_copies


@hinted
def outlier_scores(
    X: Any,
    *,
    k: int = 10,
    distance: str | Callable[..., float] | LowLevelCallable | None = None,
    method: str = "knn",
    metric: bool = False,
    n_threads: int | None = None,
    progress: bool | None = None,
    **params: Any,
) -> NDArray[np.float64]:
    """Score how far each object is from the others: the largest scores are the outliers.

    Parameters
    ----------
    X : Objects or what `pack` takes
        n objects.
    k : int, default 10
        Number of nearest others that an object is compared with, at most n - 1. For ``"lof"``,
        others have different content; all of them if there are fewer.
    distance : str, callable or scipy.LowLevelCallable, optional
        As for `distance_matrix`; by default ``"levenshtein"`` for strings, ``"dtw"`` for series
        and ``"mhd"`` for sets; ``"precomputed"`` as for `nearest`.
    method : {"knn", "lof"}
        ``"knn"`` is the mean distance to the k nearest others. ``"lof"``, the local outlier factor,
        compares that with the mean of these neighbours: about 1 inside a group of any density. See
        Notes.
    metric, n_threads, progress, **params
        As for `nearest`.

    Returns
    -------
    ndarray of float64, shape (n,)
        Scores, finite, larger for outliers, and equal for equal objects. If no objects are equal,
        ``"lof"`` is minus ``negative_outlier_factor_`` of scikit-learn's
        ``LocalOutlierFactor(k, metric="precomputed")``, but for ties of the k-th
        nearest.

    Raises
    ------
    TypeError, ValueError, OSError, MemoryError, KeyboardInterrupt
        As `nearest`; an unknown method.

    Warns
    -----
    UserWarning
        As `nearest`.

    See Also
    --------
    window_outliers : The unusual windows of long series.
    novelty : Whether new objects are like those that a model was trained on.

    Notes
    -----
    The local outlier factor counts distinct objects, as its authors propose for equal ones (the
    k-distinct-distance): the neighbours of p are the k nearest with different content, the first
    ones among ties, with all objects equal to them, and the objects equal to p. The reachability
    of p from o is the larger of their distance and that of o to its k-th nearest with different
    content; the density of p is 1 / the mean reachability from its neighbours, and its factor the
    mean density of its neighbours / its own. Where different objects are at distance 0 of each
    other, and a mean is 0, it is set to half the least mean above 0.

    References
    ----------
    Breunig, Kriegel, Ng, Sander, "LOF: identifying density-based local outliers", SIGMOD 2000.

    Examples
    --------
    >>> import d2ke
    >>> words = ["kitten", "mitten", "sitten", "bitten", "zoology"]
    >>> d2ke.outlier_scores(words, k=2, distance="levenshtein").tolist()
    [1.0, 1.0, 1.0, 1.0, 7.0]
    >>> d2ke.outlier_scores(words, k=2, distance="levenshtein", method="lof").tolist()
    [1.0, 1.0, 1.0, 1.0, 7.0]
    """
    choice("method", method, ("knn", "lof"))
    options = SearchOptions(False, metric, n_threads, progress)
    names = ArgumentNames("outlier_scores")
    pairs = check_search(check_any_pairs, X, None, distance, params, names)
    if len(pairs.x) == 1 and getattr(pairs.x, "kind", "") == "series":
        raise ArgumentError(
            "X", "is one series, and has no other; window_outliers finds its unusual windows"
        )
    if method == "knn":
        return find_nearest(pairs, True, k, None, options)[1].mean(axis=1, dtype=np.float64)
    k, copies = others_count(k, len(pairs.x)), find_copies(pairs.x)
    if len(copies.firsts) == 1:
        return np.ones(len(pairs.x))
    k = min(k, len(copies.firsts) - 1)
    items = take(pairs.x, copies.firsts) if copies else pairs.x
    indices, near, _ = find_nearest(replace(pairs, x=items, y=items), True, k, None, options)
    weights = np.column_stack([copies.counts - 1, copies.counts[indices]])
    weights = weights / weights.sum(axis=1, keepdims=True)
    indices = np.column_stack([np.arange(len(indices)), indices])
    near = np.column_stack([copy_distances(pairs, copies), near])
    reach = (weights * np.maximum(near, near[indices, -1])).sum(axis=1)
    floor = reach[reach > 0].min(initial=np.inf) / 2
    reach = np.maximum(reach, floor if floor < np.inf else 1.0)
    return (reach * (weights / reach[indices]).sum(axis=1))[copies.numbers]
