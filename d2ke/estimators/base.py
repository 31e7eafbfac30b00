# SPDX-License-Identifier: BSD-3-Clause
"""Common base classes of estimators: objects in, and distances to the training objects."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any, TypeVar, dataclass_transform

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_non_negative

from d2ke._base.arrays import check_diagonal
from d2ke._base.errors import ArgumentError
from d2ke._base.keywords import hinted
from d2ke.distances.matrix import distance_matrix
from d2ke.distances.precomputed import warn_of_distances
from d2ke.distances.registry import usual_distance
from d2ke.estimators.inputs import read_classes, read_objects, read_table, read_targets

PRECOMPUTED = "precomputed"
T = TypeVar("T")


@dataclass_transform(eq_default=False)
def estimator(cls: type[T]) -> type[T]:
    """Give a class the parameters that it names as fields, after its base classes' parameters."""
    made: Any = dataclass(eq=False, repr=False)(cls)
    made.__init__ = hinted(made.__init__)
    return made


@estimator
class ObjectsEstimator(BaseEstimator):
    """An estimator of objects: strings, series and sets of vectors."""

    _: KW_ONLY
    distance: Any = None
    distance_params: Mapping[str, Any] | None = None
    n_threads: int | None = None
    progress: bool | None = None

    def __sklearn_tags__(self) -> Tags:
        """Return scikit-learn's tags: the kinds of X."""
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.three_d_array = True
        return tags

    def _read(self, X: Any) -> Any:
        """Return the training objects, and choose their distance."""
        objects = read_objects(self, X, self.distance, reset=True)
        self.distance_ = usual_distance(objects.kind) if self.distance is None else self.distance
        return objects

    def _computing(self) -> dict[str, Any]:
        return {"n_threads": self.n_threads, "progress": self.progress}

    def _options(self) -> dict[str, Any]:
        """Return the options of functions that compute distances."""
        parameters = self.distance_params or {}
        return {"distance": self.distance_, **self._computing(), **parameters}


class Classifier(ClassifierMixin):
    """A classifier whose score refuses labels that are missing by name, as fit does."""

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the share of right labels."""
        return float(super().score(X, read_classes(None, y), sample_weight))


class Regressor(RegressorMixin):
    """A regressor whose score refuses targets that are missing by name, as fit does."""

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return R^2."""
        return float(super().score(X, read_targets(None, y), sample_weight))


class DistanceEstimator(ObjectsEstimator):
    """An estimator that uses distances to its training objects, or rows of a matrix of distances.

    It has the parameters `distance`, `distance_params`, `n_threads` and `progress`.
    """

    def __sklearn_tags__(self) -> Tags:
        """Return scikit-learn's tags: a matrix of distances is sliced by rows and columns."""
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self._precomputed()
        tags.input_tags.positive_only = self._precomputed()
        return tags

    def _precomputed(self) -> bool:
        return isinstance(self.distance, str) and self.distance == PRECOMPUTED

    def _fit_objects(self, X: Any) -> Any:
        """Store the training objects; None for a matrix of distances."""
        if self._precomputed():
            self.objects_, self.distance_ = None, PRECOMPUTED
            return None
        self.objects_ = self._read(X)
        warn_of_distances("X", self.objects_, self.distance_)
        return self.objects_

    def _fit_distances(self, X: Any) -> np.ndarray:
        """Store the training objects, and return their distances."""
        objects = self._fit_objects(X)
        return (
            self._square("distances", X)
            if objects is None
            else distance_matrix(objects, **self._options())
        )

    def _square(self, what: str, X: Any) -> np.ndarray:
        """Return a square matrix."""
        rows = read_table(self, X, reset=True)
        if rows.shape[0] != rows.shape[1]:
            raise ArgumentError("X", f"must be a square matrix of {what}, got shape {rows.shape}")
        if what == "distances":
            check_non_negative(rows, type(self).__name__)
            check_diagonal("X", rows)
        return rows

    def _new_distances(self, X: Any) -> np.ndarray:
        """Return the distances of new objects to the training objects."""
        if self.objects_ is None:
            rows = read_table(self, X, reset=False)
            check_non_negative(rows, type(self).__name__)
            return rows
        objects = read_objects(self, X, self.distance_, reset=False)
        return distance_matrix(objects, self.objects_, **self._options())


def inverse_scale(gamma: float | None, D: np.ndarray) -> float:
    """Return gamma, by default 1 over the median distance."""
    if gamma is not None:
        return gamma
    middle = float(np.median(D))
    if middle <= 0:  # most are 0: the mean of the positive distances sets the scale
        positive = D[D > 0]
        middle = float(positive.mean()) if positive.size else 1.0
    if middle < 1 / np.finfo(np.float64).max:
        raise ValueError(
            f"distances have the median {middle}, and float64 does not hold 1 over it: multiply "
            "the values of X by a number, or set gamma"
        )
    return 1.0 / middle
