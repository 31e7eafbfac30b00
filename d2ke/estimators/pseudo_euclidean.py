# SPDX-License-Identifier: BSD-3-Clause
"""Objects as vectors of a pseudo-Euclidean space."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from d2ke._base.checks import integer
from d2ke.embedding.pseudo_euclidean import gdk_led
from d2ke.estimators.base import DistanceEstimator, estimator


@estimator
class PseudoEuclidean(ClassNamePrefixFeaturesOutMixin, TransformerMixin, DistanceEstimator):
    """Vectors whose pseudo-Euclidean distances are the objects' distances: `gdk_led`.

    Parameters
    ----------
    R : int, default 64
        Dimensions to keep; fewer if there are fewer training objects.
    distance : str or callable, optional
        As for `distance_matrix`, and symmetric; by default ``"levenshtein"`` for strings and
        ``"dtw"`` for vectors. ``"precomputed"``: X is a matrix of distances to the training
        objects.
    distance_params : dict, optional
        Parameters of the distance.
    n_threads : int, optional
        Threads to use; None for all that this process may use.
    progress : bool, optional
        Whether to show progress; by default on a terminal or in a notebook, where work takes more
        than two seconds.

    Attributes
    ----------
    embedding_ : d2ke.embedding.PseudoEuclideanEmbedding
        What `gdk_led` returned.
    objects_ : Objects, list or None
        The training objects; None for ``"precomputed"``.
    distance_ : str or callable
        The distance.

    Examples
    --------
    >>> from d2ke.estimators import PseudoEuclidean
    >>> PseudoEuclidean(R=2).fit_transform(["ACGT", "AGGT", "TTTT"]).shape
    (3, 2)
    """

    R: int = 64

    def fit(self, X: Any, y: Any = None) -> PseudoEuclidean:
        """Embed the training objects; y is not used."""
        integer("R", self.R, 1)
        D = self._fit_distances(X)
        self.embedding_ = gdk_led(D, min(self.R, len(D)))
        return self

    def transform(self, X: Any) -> np.ndarray:
        """Return the coordinates of objects."""
        check_is_fitted(self)
        return self.embedding_.project(self._new_distances(X))

    @property
    def _n_features_out(self) -> int:
        return self.embedding_.Z.shape[1]
