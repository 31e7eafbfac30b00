# SPDX-License-Identifier: BSD-3-Clause
"""D2KE of views as a classifier and as a regressor."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted, validate_data

from d2ke._base.errors import ArgumentError, warn
from d2ke._base.labels import check_order
from d2ke.estimators.base import Classifier, ObjectsEstimator, Regressor, estimator
from d2ke.estimators.inputs import (
    holds_numbers,
    read_classes,
    read_objects,
    read_records,
    read_targets,
    seed_of,
)
from d2ke.models.blocks import AnyBlock
from d2ke.models.inputs import ModelRequest
from d2ke.models.model import D2KEModel
from d2ke.models.predict import d2ke_predict, d2ke_update
from d2ke.models.train import d2ke_train
from d2ke.objects.columns import type_column
from d2ke.objects.compatibility import check_missing
from d2ke.objects.container import Objects
from d2ke.objects.kinds import KINDS
from d2ke.objects.packing import as_objects
from d2ke.objects.record_packing import pack_table
from d2ke.objects.records import Records
from d2ke.objects.tables import is_table
from d2ke.objects.values import column_names


@estimator
class D2KEEstimator(ObjectsEstimator):
    """Training and prediction, common to the classifier and the regressor."""

    _least_samples = 2

    R: int | None = None
    _: KW_ONLY
    blocks: Sequence[AnyBlock] | None = None
    strands: str = "one"
    missing: str | None = None
    unseen_letters: str = "allow"
    random_state: Any = None

    def _train(
        self, objects: Any, y: np.ndarray, task: str, keep_sums: bool = False, **weights: Any
    ) -> D2KEModel:
        return d2ke_train(
            y,
            objects,
            blocks=self.blocks,
            distance=self.distance,
            R=self.R,
            task=task,
            seed=seed_of(self.random_state),
            keep_sums=keep_sums,
            **self._computing(),
            **weights,
            missing=self.missing,
            **{"strands": self.strands, **(self.distance_params or {})},
        )

    def _is_first(self) -> bool:
        """Return whether `partial_fit` has to train, since it cannot update a model of `fit`."""
        fitted = hasattr(self, "model_")
        if fitted and self.model_.sums is None:
            warn(
                "partial_fit trains anew, without the objects of fit, which keeps no sums of "
                "products: for these objects too, call partial_fit in the place of fit"
            )
        return not fitted or self.model_.sums is None

    def _add(self, objects: Any, y: np.ndarray, task: str, first: bool) -> None:
        """Train a model to which objects can be added, or add these to it."""
        if first:
            self.model_ = self._train(objects, y, task, keep_sums=True)
        else:
            options = {"unseen_letters": self.unseen_letters, **self._computing()}
            self.model_ = d2ke_update(y, objects, self.model_, **options)

    def _training_objects(self, X: Any) -> Any:
        objects = self._with_gaps(X)
        records = read_records(self, objects)
        if records is None:
            records = read_objects(self, objects, distance_of_blocks(self), reset=True)
            self._check_steps(X, objects, reset=True)
        return records

    def _check_steps(self, X: Any, objects: Any, *, reset: bool) -> None:
        """Keep the names of a frame whose rows were packed as series, or compare them."""
        if objects is not X and hasattr(X, "columns") and isinstance(objects, Objects):
            validate_data(self, X, reset=reset, skip_check_array=True)

    def _with_gaps(self, X: Any) -> Any:
        """Pack series that may have NaN, which scikit-learn's checks would refuse."""
        if self.missing is None or isinstance(X, Records):
            return X
        check_missing(self.missing)
        if not is_table(X):
            return as_objects("X", X, missing=True)
        if isinstance(X, Mapping) or not holds_numbers(X):
            records = pack_table(X, "X", {}, missing=True)
            if any(isinstance(column.values, Objects) for column in records.columns.values()):
                return records
        names = list(X) if isinstance(X, Mapping) else column_names(X)
        rows = np.column_stack([type_column(X[name], name).channel(True) for name in names])
        return as_objects("X", rows, missing=True)  # each row of a frame of numbers is a series

    def _new_objects(self, X: Any) -> Any:
        objects = self._with_gaps(X)
        row = KINDS.get(self.model_.kind)
        if self.model_.inputs or (row is not None and row.read is not None):
            return self.model_.check_objects(objects, None)
        self._check_steps(X, objects, reset=False)
        return read_objects(self, objects, distance_of_blocks(self), reset=False)

    def _predict(self, X: Any, probability: bool = False) -> tuple[np.ndarray, np.ndarray]:
        """Return labels, and decisions or probabilities."""
        check_is_fitted(self)
        objects = self._new_objects(X)
        labels, _, decisions = d2ke_predict(
            None,
            objects,
            self.model_,
            probability=probability,
            unseen_letters=self.unseen_letters,
            **self._computing(),
        )
        return labels, decisions

    def predict(self, X: Any) -> np.ndarray:
        """Return the labels or the values of objects."""
        return self._predict(X)[0]


@estimator
class D2KEClassifier(Classifier, D2KEEstimator):
    """D2KE of views and a linear classifier: `d2ke_train` and `d2ke_predict`.

    X is what `pack` takes, or records: a dict or a data frame whose columns are not all numbers
    (docs/columns.md). In a data frame of numbers, each row is a series.

    Parameters
    ----------
    R : int, optional
        Number of random objects; by default from the recipe for the kind of objects.
    distance : str or callable, or a dict by column of records, optional
        By default from the recipe for the kind. Vectors are series, but sets with ``"mhd"``
        and other distances of sets.
    distance_params : dict, optional
        Parameters of the distance.
    blocks : sequence of Block, optional
        The blocks instead of the recipe's.
    strands : {"one", "both"}
        As for `d2ke_train`.
    missing : "interpolate", optional
        As for `d2ke_train`.
    class_weight : "balanced" or dict, optional
        What objects of each class count, as for `d2ke_train`.
    unseen_letters : {"allow", "refuse"}
        As for `d2ke_predict`.
    n_threads : int, optional
        Threads to use; None for all that this process may use.
    progress : bool, optional
        Whether to show progress; by default on a terminal or in a notebook, where work takes more
        than two seconds.
    random_state : int, RandomState or None
        Where the randomness comes from; an integer gives the model of `d2ke_train` with that
        seed.

    Attributes
    ----------
    model_ : D2KEModel
        What `d2ke_train` returned, for `d2ke_explain` and `save_model`.
    classes_ : ndarray
        The distinct labels in sorted order.

    Examples
    --------
    >>> from d2ke.estimators import D2KEClassifier
    >>> X = ["abab", "aabb", "ababab", "aaabbb"] * 5
    >>> model = D2KEClassifier(R=64, random_state=0).fit(X, ["odd", "even"] * 10)
    >>> model.predict(["ababa", "aabbb"]).tolist()
    ['odd', 'even']
    """

    _: KW_ONLY
    class_weight: Any = None

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> D2KEClassifier:
        """Train a model of objects and their labels; objects may have weights."""
        check_order(X, y=y, sample_weight=sample_weight)
        objects = self._training_objects(X)
        self.model_ = self._train(
            objects,
            read_classes(objects, y),
            "classification",
            class_weight=self.class_weight,
            sample_weight=sample_weight,
        )
        self.classes_ = self.model_.classes
        return self

    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> D2KEClassifier:
        """Train a model in the first call, and add objects to it in later ones, by `d2ke_update`.

        The first call, also the first one after `fit`, chooses random objects, scales and C, and
        calibrates, so it should have hundreds of objects, and it must have some of every class.

        Parameters
        ----------
        X : objects
            As for `fit`.
        y : sequence of length n
            Their labels.
        classes : sequence, optional
            All classes; y of the first call must have all.

        Returns
        -------
        D2KEClassifier
            This estimator.
        """
        check_order(X, y=y)
        first = self._is_first()
        objects = self._training_objects(X) if first else self._new_objects(X)
        y = read_classes(objects, y)
        present: Any = np.unique(y) if first else self.classes_
        if classes is not None and not np.array_equal(np.unique(classes), present):
            absent = [c for c in np.unique(classes).tolist() if c not in present.tolist()]
            raise ArgumentError(
                "classes",
                f"has {absent[0]!r}, which y of the first call does not: no class can be added "
                "later, so the first call needs objects of each"
                if absent
                else f"must be the labels of the first call, {present.tolist()}",
            )
        self._add(objects, y, "classification", first)
        self.classes_ = self.model_.classes
        return self

    def decision_function(self, X: Any) -> np.ndarray:
        """Return a value for each object and class; for two classes, one for the second class."""
        decisions = self._predict(X)[1]
        return decisions[:, 0] if decisions.shape[1] == 1 else decisions

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the probabilities of `classes_`, fitted on left-out training objects."""
        return self._predict(X, probability=True)[1]


@estimator
class D2KERegressor(Regressor, D2KEEstimator):
    """D2KE of views and a linear regression: `d2ke_train` and `d2ke_predict`.

    Parameters
    ----------
    R, distance, distance_params, blocks, strands, missing, unseen_letters, n_threads
        As for `D2KEClassifier`.
    progress, random_state
        As for `D2KEClassifier`.

    Attributes
    ----------
    model_ : D2KEModel
        What `d2ke_train` returned.

    Examples
    --------
    >>> from d2ke.estimators import D2KERegressor
    >>> X = ["a" * i + "b" * (12 - i) for i in range(12)]
    >>> model = D2KERegressor(R=64, random_state=0).fit(X, range(12))
    >>> model.score(X, range(12)) > 0.9
    True
    """

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> D2KERegressor:
        """Train a model of objects and real targets; objects may have weights."""
        check_order(X, y=y, sample_weight=sample_weight)
        objects = self._training_objects(X)
        values = read_targets(objects, y)
        self.model_ = self._train(objects, values, "regression", sample_weight=sample_weight)
        return self

    def partial_fit(self, X: Any, y: Any) -> D2KERegressor:
        """Train a model in the first call, and add objects to it in later ones, by `d2ke_update`.

        The first call, also the first one after `fit`, chooses random objects, scales and C, and
        calibrates, so it should have hundreds of objects.
        """
        check_order(X, y=y)
        first = self._is_first()
        objects = self._training_objects(X) if first else self._new_objects(X)
        self._add(objects, read_targets(objects, y), "regression", first)
        return self


def distance_of_blocks(estimator: Any) -> Any:
    """Return a distance, from which the kind of objects follows."""
    if estimator.blocks is None:
        return estimator.distance
    distances = ModelRequest(estimator.blocks).distances
    return next((d for d in distances if isinstance(d, str)), (*distances, None)[0])
