# SPDX-License-Identifier: BSD-3-Clause
"""A maximum-margin classifier with any similarity."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from d2ke._base.checks import choice
from d2ke._base.labels import check_order
from d2ke.discriminative.similarity_machine import (
    similarity_machine_fit,
    similarity_machine_predict,
)
from d2ke.estimators.base import PRECOMPUTED, Classifier, estimator
from d2ke.estimators.inputs import read_classes
from d2ke.estimators.similarities import SimilarityEstimator


@estimator
class SimilarityMachineClassifier(Classifier, SimilarityEstimator):
    """A maximum-margin classifier with an indefinite similarity: `similarity_machine_fit`.

    Parameters
    ----------
    C : float, default 1.0
        Weight of the losses, > 0.
    lam_plus, lam_minus, tol : float
        As for `similarity_machine_fit`.
    affinity : {"distance", "precomputed"}
        Similarities are exp(-gamma d(x, y)); or X is the matrix of similarities to the training
        objects.
    distance, gamma, distance_params
        As for `CDSK`.
    n_threads : int, optional
        Threads of the distances; None for all that this process may use.
    progress : bool, optional
        Whether to show progress of the distances; by default on a terminal or in a notebook, where
        work takes more than two seconds.

    Attributes
    ----------
    classes_ : ndarray
        The distinct labels in sorted order.
    machine_ : SimilarityMachine
        What `similarity_machine_fit` returned.
    objects_ : Objects, list or None
        The training objects; None for ``"precomputed"``.
    gamma_ : float
        Inverse scale of the distance.

    Examples
    --------
    >>> from d2ke.estimators import SimilarityMachineClassifier
    >>> model = SimilarityMachineClassifier(C=10.0).fit(["aab", "aba", "bcc", "ccb"], [0, 0, 1, 1])
    >>> model.predict(["aabb", "cbc"]).tolist()
    [0, 1]
    """

    C: float = 1.0
    _: KW_ONLY
    lam_plus: float = 1.0
    lam_minus: float = 1.0
    tol: float = 0.001

    def fit(self, X: Any, y: Any) -> SimilarityMachineClassifier:
        """Train with the similarities among the objects."""
        choice("affinity", self.affinity, ("distance", PRECOMPUTED))
        check_order(X, y=y)
        S = self._fit_similarities(X)["K"]
        y = read_classes(S, y)
        self.machine_ = similarity_machine_fit(
            S, y, C=self.C, lam_plus=self.lam_plus, lam_minus=self.lam_minus, tol=self.tol
        )
        self.classes_ = self.machine_.classes
        return self

    def decision_function(self, X: Any) -> np.ndarray:
        """Return a value for each object and class; for two classes, one for the second class."""
        decision = self._predict(X)[1]
        return decision[:, 0] if decision.shape[1] == 1 else decision

    def predict(self, X: Any) -> np.ndarray:
        """Return the labels of objects."""
        return self._predict(X)[0]

    def _predict(self, X: Any) -> tuple[np.ndarray, np.ndarray]:
        check_is_fitted(self)
        return similarity_machine_predict(self.machine_, self._new_similarities(X))
