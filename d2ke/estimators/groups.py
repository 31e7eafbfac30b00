# SPDX-License-Identifier: BSD-3-Clause
"""Clusters by any distance: medoids and HDBSCAN."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any

import numpy as np
from sklearn.base import ClusterMixin
from sklearn.utils.validation import check_is_fitted

from d2ke.estimators.base import ObjectsEstimator, estimator
from d2ke.estimators.inputs import read_objects, seed_of
from d2ke.groups.hdbscan import hdbscan
from d2ke.groups.kmedoids import kmedoids
from d2ke.neighbors.search import nearest
from d2ke.objects.container import take


class _DistanceClusters(ClusterMixin, ObjectsEstimator):
    def _options(self) -> dict[str, Any]:
        return {**super()._options(), "metric": self.metric}


@estimator
class DistanceKMedoids(_DistanceClusters):
    """Clusters around objects of X: `kmedoids`.

    Parameters
    ----------
    n_clusters : int, default 8
        Number of medoids, at most the number of objects. Fewer medoids, with a
        warning, if fewer objects are at distances above 0 from each other.
    distance : str or callable, optional
        As for `distance_matrix`, symmetric; by default ``"levenshtein"`` for strings and ``"dtw"``
        for vectors.
    distance_params : dict, optional
        Parameters of the distance, such as ``{"window": 5}``.
    sample_size, n_samples, metric
        As for `kmedoids`.
    n_threads : int, optional
        Threads to use; None for all that this process may use.
    progress : bool, optional
        Whether to show progress; by default on a terminal or in a notebook, where work takes more
        than two seconds.
    random_state : int, RandomState or None
        Of the first medoids and of samples.

    Attributes
    ----------
    labels_ : ndarray of int64, shape (n,)
        The number of each object's nearest medoid.
    medoid_indices_ : ndarray of int64, shape (n_medoids,)
        Positions of the medoids in X, in increasing order.
    medoids_ : Objects or list
        The medoids.
    inertia_ : float
        The sum of the distances to the nearest medoids.
    distance_ : str or callable
        The distance.

    Examples
    --------
    >>> from d2ke.estimators import DistanceKMedoids
    >>> words = ["ant", "aunt", "and", "beetle", "beatle", "beetles"]
    >>> model = DistanceKMedoids(2, random_state=0).fit(words)
    >>> list(model.medoids_), model.predict(["beet"]).tolist()
    (['ant', 'beetle'], [1])
    """

    n_clusters: int = 8
    _: KW_ONLY
    sample_size: int = 5000
    n_samples: int = 5
    metric: bool = False
    random_state: Any = None

    def fit(self, X: Any, y: Any = None) -> DistanceKMedoids:
        """Find the medoids; y is not used."""
        objects = self._read(X)
        result = kmedoids(
            objects,
            self.n_clusters,
            sample_size=self.sample_size,
            n_samples=self.n_samples,
            seed=seed_of(self.random_state),
            **self._options(),
        )
        self.labels_, self.medoid_indices_ = result.labels, result.medoids
        self.inertia_, self.medoids_ = result.loss, take(objects, result.medoids)
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Return the numbers of the nearest medoids."""
        check_is_fitted(self)
        objects = read_objects(self, X, self.distance_, reset=False)
        return nearest(objects, self.medoids_, k=1, **self._options())[0][:, 0]


@estimator
class DistanceHDBSCAN(_DistanceClusters):
    """Dense clusters, and noise: `hdbscan`.

    Parameters
    ----------
    min_cluster_size, min_samples, cluster_selection_epsilon
        As for `hdbscan`; `min_samples` does not count the object itself.
    distance : str or callable, optional
        As for `distance_matrix`, symmetric; by default ``"levenshtein"`` for strings and ``"dtw"``
        for vectors.
    distance_params : dict, optional
        Parameters of the distance, such as ``{"window": 5}``.
    metric : bool, default False
        Of a Python distance: it is a metric, as for `nearest`, so that fewer are computed.
    n_threads : int, optional
        Threads to use; None for all that this process may use.
    progress : bool, optional
        Whether to show progress; by default on a terminal or in a notebook, where work takes more
        than two seconds.

    Attributes
    ----------
    labels_ : ndarray of int64, shape (n,)
        Clusters 0, 1, ..., numbered by their first objects; -1 for noise.
    probabilities_ : ndarray of float64, shape (n,)
        How firmly an object belongs to its cluster.
    clusters_ : HDBSCANClusters
        What `hdbscan` returned.
    distance_ : str or callable
        The distance.

    Examples
    --------
    >>> from d2ke.estimators import DistanceHDBSCAN
    >>> words = ["aab", "abaab", "aaba", "aabab", "bcc", "ccbcb", "cbbcc", "bccb", "bcbcc"]
    >>> DistanceHDBSCAN(3).fit_predict(words).tolist()
    [0, 0, 0, 0, 1, 1, 1, 1, 1]
    """

    min_cluster_size: int = 5
    _: KW_ONLY
    min_samples: int | None = None
    cluster_selection_epsilon: float = 0.0
    metric: bool = False

    def fit(self, X: Any, y: Any = None) -> DistanceHDBSCAN:
        """Find the clusters; y is not used."""
        self.clusters_ = hdbscan(
            self._read(X),
            min_cluster_size=self.min_cluster_size,
            min_samples=self.min_samples,
            cluster_selection_epsilon=self.cluster_selection_epsilon,
            **self._options(),
        )
        self.labels_, self.probabilities_ = self.clusters_.labels, self.clusters_.probabilities
        return self
