# SPDX-License-Identifier: BSD-3-Clause
"""Similarities of objects: exp(-gamma d), products of features, or a matrix."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any

import numpy as np
from sklearn.utils import Tags

from d2ke._base.checks import choice, positive_number
from d2ke.embedding.gram import dsk_gram
from d2ke.estimators.base import PRECOMPUTED, DistanceEstimator, estimator, inverse_scale
from d2ke.estimators.inputs import read_table


@estimator
class SimilarityEstimator(DistanceEstimator):
    """An estimator of similarities.

    It has the parameters of `DistanceEstimator`, `affinity` and `gamma`.
    """

    _: KW_ONLY
    affinity: str = "distance"
    gamma: float | None = None
    _least_samples = 2
    _chooses_widths = False  # where gamma is not there

    def __sklearn_tags__(self) -> Tags:
        """Say that a matrix of similarities is cut by rows and columns, and has any numbers."""
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = False
        return tags

    def _precomputed(self) -> bool:
        return isinstance(self.affinity, str) and self.affinity == PRECOMPUTED

    def _fit_similarities(self, X: Any) -> dict[str, Any]:
        """Return the arguments of `cdsk` and `lpdsk` that describe the similarities."""
        choice("affinity", self.affinity, ("distance", "features", PRECOMPUTED))
        if self.affinity == "distance":
            if self.gamma is not None:
                positive_number("gamma", self.gamma)
            D = self._fit_distances(X)
            if self.gamma is None and self._chooses_widths:
                self.gamma_: float | None = None
                return {"distances": (D + D.T) / 2}
            self.gamma_ = inverse_scale(self.gamma, D[~np.eye(len(D), dtype=bool)])
            return {"K": dsk_gram(D, gamma=self.gamma_, beta=1.0), "similarity": "general"}
        self.objects_: Any = None
        self.distance_: Any = None
        if self._precomputed():
            return {"K": self._square("similarities", X), "similarity": "general"}
        self.rows_ = read_table(self, X, reset=True)
        return {"features": self.rows_}

    def _new_rows(self, X: Any) -> dict[str, np.ndarray]:
        """Return the argument of `discriminative_predict` that describes new objects."""
        if self.objects_ is None:
            rows = read_table(self, X, reset=False)
            return {"K_new" if self._precomputed() else "features": rows}
        D = self._new_distances(X)
        if self.gamma_ is None:
            return {"distances": D}
        return {"K_new": dsk_gram(D, gamma=self.gamma_, beta=1.0)}

    def _new_similarities(self, X: Any) -> np.ndarray:
        """Return the similarities of new objects to the training objects."""
        if self.objects_ is not None:
            return dsk_gram(self._new_distances(X), gamma=self.gamma_, beta=1.0)
        rows = read_table(self, X, reset=False)
        return rows if self._precomputed() else rows @ self.rows_.T
