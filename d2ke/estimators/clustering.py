# SPDX-License-Identifier: BSD-3-Clause
"""Clustering by discriminative similarity."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any

import numpy as np
from sklearn.base import ClusterMixin
from sklearn.utils.validation import check_is_fitted

from d2ke.discriminative.cdsk import cdsk
from d2ke.discriminative.predict import discriminative_predict
from d2ke.estimators.base import estimator
from d2ke.estimators.inputs import seed_of
from d2ke.estimators.similarities import SimilarityEstimator


@estimator
class CDSK(ClusterMixin, SimilarityEstimator):
    """Clusters by discriminative similarity: `cdsk`.

    Parameters
    ----------
    n_clusters : int, default 2
        Number of clusters.
    affinity : {"distance", "features", "precomputed"}
        ``"distance"``: similarities of near neighbours by `neighbor_similarities`,
        with widths that `cdsk` chooses, or with `gamma` exp(-gamma d(x, y)). ``"features"``: X
        is a matrix Z of features, such as `D2KETransformer` makes, and similarities are Z Z',
        which is never formed. ``"precomputed"``: X is the matrix of similarities.
    distance : str or callable, optional
        As for `distance_matrix`; by default ``"levenshtein"`` for strings and ``"dtw"`` for
        vectors.
    gamma : float, optional
        Inverse scale of the distance, > 0; by default the widths are chosen.
    distance_params : dict, optional
        Parameters of the distance.
    variant, lam, smoothing, max_iter
        As for `cdsk`.
    n_threads : int, optional
        Threads of the distances; None for all that this process may use.
    progress : bool, optional
        Whether to show progress of the distances; by default on a terminal or in a notebook, where
        work takes more than two seconds.
    random_state : int, RandomState or None
        Of k-means.

    Attributes
    ----------
    labels_ : ndarray of int64, shape (n,)
        Clusters 0, 1, ..., numbered by their first objects.
    clustering_ : Clustering
        What `cdsk` returned.
    n_iter_ : int
        Number of rounds.

    Notes
    -----
    `predict` is `discriminative_predict`; training objects get their clusters.

    Examples
    --------
    >>> from d2ke.estimators import CDSK
    >>> CDSK(n_clusters=2, random_state=0).fit_predict(
    ...     ["aabab", "abaab", "aaba", "bcbcc", "ccbcb", "cbbcc"]).tolist()
    [0, 0, 0, 1, 1, 1]
    """

    _chooses_widths = True

    n_clusters: int | None = 2
    _: KW_ONLY
    variant: str = "hard"
    lam: float | None = None
    smoothing: float | None = None
    max_iter: int = 10
    random_state: Any = None

    def fit(self, X: Any, y: Any = None) -> CDSK:
        """Cluster objects; y is not used."""
        self.clustering_ = cdsk(
            n_clusters=self.n_clusters,
            variant=self.variant,
            lam=self.lam,
            smoothing=self.smoothing,
            max_iter=self.max_iter,
            seed=seed_of(self.random_state),
            **self._fit_similarities(X),
        )
        self.labels_ = self.clustering_.labels
        self.n_iter_ = len(self.clustering_.objectives)
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Return the clusters of objects; -1 for objects without similar training objects."""
        check_is_fitted(self)
        return discriminative_predict(self.clustering_, **self._new_rows(X))
