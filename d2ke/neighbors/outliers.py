# SPDX-License-Identifier: BSD-3-Clause
"""Outliers among objects, by the distances to their nearest others."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import LowLevelCallable

from d2ke._base.checks import choice
from d2ke.neighbors.search import nearest

_LEAST = 1e-10  # of the mean reachability: that of objects with k equal ones


def outlier_scores(
    X: Any,
    *,
    k: int = 10,
    distance: str | Callable[..., float] | LowLevelCallable | None = None,
    method: str = "knn",
    metric: bool = False,
    n_threads: int | None = None,
    progress: bool = False,
    checkpoint: str | os.PathLike[str] | None = None,
    **params: Any,
) -> NDArray[np.float64]:
    """Score how far each object is from the others: the largest scores are the outliers.

    Parameters
    ----------
    X : Objects or what `pack` takes
        n objects.
    k : int, default 10
        Number of nearest others that an object is compared with, at most n - 1.
    distance : str, callable or scipy.LowLevelCallable
        As for `distance_matrix`.
    method : {"knn", "lof"}
        ``"knn"`` is the mean distance to the k nearest others. ``"lof"``, the local outlier factor,
        compares that with the same of these others: about 1 inside a group of any density.
    metric, n_threads, progress, checkpoint, **params
        As for `nearest`.

    Returns
    -------
    ndarray of float64, shape (n,)
        Scores, larger for outliers. Those of ``"lof"`` are minus ``negative_outlier_factor_`` of
        scikit-learn's ``LocalOutlierFactor(k, metric="precomputed")``. Objects may differ where
        several are as far as the k-th nearest, and where more than k objects are equal.

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
    novelty : Whether new objects are like those that a model was trained on.

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
    indices, near = nearest(
        X, k=k, distance=distance, metric=metric, n_threads=n_threads, progress=progress,
        checkpoint=checkpoint, **params,
    )  # fmt: skip
    if method == "knn":
        return near.mean(axis=1, dtype=np.float64)
    reach = np.maximum(near, near[indices, -1]).mean(axis=1, dtype=np.float64)
    reach = np.maximum(reach, _LEAST * reach.mean() or 1.0)
    return reach * (1 / reach)[indices].mean(axis=1)
