# SPDX-License-Identifier: BSD-3-Clause
"""Nearest neighbours by any distance."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from d2ke._base.checks import integer
from d2ke.estimators.base import DistanceEstimator
from d2ke.estimators.inputs import read_classes
from d2ke.learners.neighbors import knn_predict, knn_shares


class DistanceKNeighborsClassifier(ClassifierMixin, DistanceEstimator):
    """Majority vote among the nearest training objects: `distance_matrix` and `knn_predict`.

    Parameters
    ----------
    n_neighbors : int, default 1
        Number of neighbours, at most the number of training objects.
    distance : str or callable, optional
        As for `distance_matrix`; by default ``"levenshtein"`` for strings and ``"dtw"`` for
        vectors. ``"precomputed"``: X is a matrix of distances to the training objects.
    distance_params : dict, optional
        Parameters of the distance, such as ``{"window": 5}``.
    n_threads : int, optional
        Threads to use; None for all that this process may use.
    progress : bool
        Show progress bars (on a terminal only).

    Attributes
    ----------
    classes_ : ndarray
        The distinct labels in sorted order.
    objects_ : Objects, list or None
        The training objects; None for ``"precomputed"``.
    distance_ : str or callable
        The distance.

    Examples
    --------
    >>> from d2ke.estimators import DistanceKNeighborsClassifier
    >>> model = DistanceKNeighborsClassifier().fit(["kitten", "sitting"], ["cat", "seat"])
    >>> model.predict(["mitten"]).tolist()
    ['cat']
    """

    def __init__(
        self, n_neighbors=1, *, distance=None, distance_params=None, n_threads=None, progress=False
    ):
        self.n_neighbors = n_neighbors
        self.distance = distance
        self.distance_params = distance_params
        self.n_threads = n_threads
        self.progress = progress

    def fit(self, X: Any, y: Any) -> DistanceKNeighborsClassifier:
        """Keep the training objects and their labels."""
        objects = self._fit_objects(X)
        if objects is None:
            objects = self._square("distances", X)
        y = read_classes(objects, y)
        integer("n_neighbors", self.n_neighbors, 1, len(y))
        self.classes_, self._codes = np.unique(y, return_inverse=True)
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Return the labels of objects."""
        check_is_fitted(self)
        return self.classes_[knn_predict(self._new_distances(X), self._codes, self.n_neighbors)]

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return each class's share of the votes, shape (n, classes).

        Of classes with equal shares, `predict` takes the one with the nearest neighbour.
        """
        check_is_fitted(self)
        return knn_shares(self._new_distances(X), self._codes, self.n_neighbors)
