# SPDX-License-Identifier: BSD-3-Clause
"""Labels from a few objects to all, by discriminative similarity."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from d2ke._base.errors import ArgumentError
from d2ke._base.labels import check_order, known_labels
from d2ke.discriminative.lpdsk import lpdsk
from d2ke.estimators.base import Classifier, estimator
from d2ke.estimators.inputs import read_classes
from d2ke.estimators.similarities import SimilarityEstimator


@estimator
class LPDSK(Classifier, SimilarityEstimator):
    """Propagation of labels by discriminative similarity: `lpdsk`. Objects of label -1 have none.

    Parameters
    ----------
    affinity, distance, gamma, distance_params
        As for `CDSK`.
    unknown : label, default -1
        What marks an unknown label, as None, NaN and an empty text do.
    variant, lam, balance, max_iter
        As for `lpdsk`.
    n_threads : int, optional
        Threads of the distances; None for all that this process may use.
    progress : bool, optional
        Whether to show progress of the distances; by default on a terminal or in a notebook, where
        work takes more than two seconds.

    Attributes
    ----------
    classes_ : ndarray
        The distinct known labels in sorted order.
    transduction_ : ndarray of shape (n,)
        The labels of the training objects, known and computed. Where no labelled object was
        reached, the mark of an unknown label stays.
    label_distributions_ : ndarray of float64, shape (n, n_classes)
        The scores of `lpdsk`.
    propagation_ : Propagation
        What `lpdsk` returned, for the positions of labels in `classes_`.
    n_iter_ : int
        Number of rounds.

    Notes
    -----
    `predict` gives new objects the class whose training objects they are most similar to: by the
    mean over the objects of the class in `transduction_`, or without `balance` by the sum. Without
    `gamma` only near neighbours are similar, by the widths that `lpdsk` chose, and it is the sum.

    Examples
    --------
    >>> from d2ke.estimators import LPDSK
    >>> X = ["aabab", "abaab", "aaba", "bcbcc", "ccbcb", "cbbcc"]
    >>> model = LPDSK().fit(X, [0, -1, -1, -1, -1, 1])
    >>> model.transduction_.tolist(), model.predict(["aab", "cbb"]).tolist()
    ([0, 0, 0, 1, 1, 1], [0, 1])
    """

    _chooses_widths = True

    _: KW_ONLY
    unknown: Any = -1
    variant: str = "relaxed"
    lam: float | None = None
    balance: bool = True
    max_iter: int | None = None

    def fit(self, X: Any, y: Any) -> LPDSK:
        """Propagate the known labels among the objects."""
        check_order(X, y=y)
        similarities = self._fit_similarities(X)
        X = next(iter(similarities.values()))
        if y is None or getattr(y, "ndim", 1) == 2:  # as scikit-learn refuses or reads them
            y = read_classes(X, y)
        y, gaps, mark = known_labels("y", y, self.unknown)
        y = read_classes(X, y, unlabelled=True)
        labelled = ~gaps & np.array([label != mark for label in y.tolist()])
        if not labelled.any():
            raise ArgumentError(
                "y", f"has no label: every entry is the mark unknown={self.unknown!r}"
            )
        self.classes_, codes = np.unique(y[labelled], return_inverse=True)
        marks = np.full(len(y), -1)
        marks[labelled] = codes
        self.propagation_ = lpdsk(
            y=marks,
            variant=self.variant,
            lam=self.lam,
            balance=self.balance,
            max_iter=self.max_iter,
            **similarities,
        )
        self._codes = self.propagation_.labels
        self.transduction_ = y.copy()
        reached = self._codes >= 0
        self.transduction_[reached] = self.classes_[self._codes[reached]]
        self.label_distributions_ = self.propagation_.scores
        self.n_iter_ = max(len(self.propagation_.objectives), 1)
        return self

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the similarities to the objects of each class, divided by their sum."""
        check_is_fitted(self)
        votes = np.eye(len(self.classes_))[self._codes] * (self._codes >= 0)[:, None]
        if self.objects_ is not None and self.gamma_ is None:
            similar = self.propagation_.trained.similarities(self._new_rows(X)["distances"])
        else:
            similar = self._new_similarities(X)
            if self.balance:
                votes /= np.maximum(votes.sum(axis=0), 1)
        scores = np.maximum(similar @ votes, 0.0)
        total = scores.sum(axis=1, keepdims=True)
        return np.where(total > 0, scores / np.where(total > 0, total, 1), 1 / len(self.classes_))

    def predict(self, X: Any) -> np.ndarray:
        """Return the labels of objects."""
        best = self.predict_proba(X).argmax(axis=1)
        return self.classes_[best]
