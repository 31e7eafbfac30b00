# SPDX-License-Identifier: BSD-3-Clause
"""Labels as the targets of a ridge regression, and the scores of its left-out predictions."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from d2ke._base import labels
from d2ke._base.checks import choice
from d2ke._base.errors import ArgumentError, ArgumentTypeError
from d2ke.learners.linear_model import one_vs_rest_signs, winners
from d2ke.learners.ridge import Ridge, class_indicators
from d2ke.models.calibration import Calibration
from d2ke.models.several_labels import LabelCalibration, indicators, names_of_labels, true_labels
from d2ke.objects.fields import finite_numbers, in_mixed_forms

_LEAST_WEIGHT = 1e-12  # below this share of the largest, a weight is rounding
_LEAST_DEVIATION = 1e-140  # of the targets of a regression
_ROWS, _COLUMNS = 1024, 4096  # of decision values that are held at a time
_FEW, _SHARE = 10, 0.9  # rows, and the largest share of classes in them
_MAX_CONFUSION = 1000  # classes: the matrix of more is as large as the model, and nobody reads it


@dataclass(frozen=True, eq=False)
class Target:
    """The labels of some training objects.

    Attributes
    ----------
    values : ndarray
        Codes of the classes; for several labels 1 or 0 for each, int64 of shape (n, k); for a
        regression the real targets, less `centre` and divided by `unit`.
    classes : ndarray or None
        None for a regression; the names of several labels.
    weights : ndarray of float64 or None
        What the squared errors of the objects count, above 0, with the mean 1 over all training
        objects; None if all count the same.
    groups : ndarray of int64 or None
        Codes of groups, whose objects are left out together; None if each is left out alone.
    centre, unit : float
        Of the real targets; see `relative`.
    """

    values: np.ndarray
    classes: np.ndarray | None
    weights: np.ndarray | None = None
    groups: np.ndarray | None = None
    centre: float = 0.0
    unit: float = 1.0

    @classmethod
    def of(cls, y: Any, task: str | None) -> Target:
        """Check labels; a regression has real ones, unless `task` says otherwise."""
        if y is None:
            raise ArgumentTypeError("y", "must be the labels of X, got None")
        if task is not None:
            choice("task", task, ("classification", "regression"))
        several = indicators(y)
        if several is not None:
            if task == "regression":
                raise ArgumentError("y", "has several columns; a regression has one target")
            return cls(several[0], names_of_labels(*several))
        known = labels.label_array("y", y)
        unsaid = task is None
        if unsaid:
            real = known.dtype.kind == "f" and (known != np.round(known)).any()
            task = "regression" if real else "classification"
        if task == "regression":
            values = labels.targets("y", as_numbers(known))
            if len(values) < 2 or (values == values[0]).all():
                raise ArgumentError("y", "holds one value only; a regression needs at least two")
            with np.errstate(over="ignore", invalid="ignore"):
                deviation = np.std(values)
            if not _LEAST_DEVIATION < deviation < 1 / _LEAST_DEVIATION:
                raise ArgumentError(
                    "y",
                    f"has values from {values.min()} to {values.max()}; float64 does not hold "
                    "the squares of their differences: multiply y by a number",
                )
            return cls(values, None)
        classes, codes = labels.encode_classes("y", known)
        if unsaid and classes.dtype.kind == "U" and in_mixed_forms(classes.tolist()):
            some = ", ".join(map(repr, classes[:4].tolist()))
            warnings.warn(
                f"y holds numbers that are written in several forms ({some}): each text is a class "
                "of its own. If they are numbers to predict, say task='regression'; if not, "
                "task='classification'",
                stacklevel=3,
            )
        return cls(codes, classes)

    def relative(self) -> Target:
        """Return real targets relative to their mean, in a power of two near their deviation.

        So neither their level nor their scale costs digits in training.
        """
        if self.classes is not None:
            return self
        centre = float(self.values.mean())
        unit = 2.0 ** int(np.frexp((self.values - centre).std())[1])
        return replace(self, values=(self.values - centre) / unit, centre=centre, unit=unit)

    def check_rows(self, n: int) -> None:
        """Refuse nearly as many classes as the n rows there are in all."""
        if (
            self.classes is not None
            and not self.multilabel
            and n >= _FEW
            and len(self.classes) > _SHARE * n
        ):
            raise ArgumentError(
                "y",
                f"has {len(self.classes)} different values in {n} rows: nothing can be learned of "
                "classes of one object each. Are y and X swapped, or is it a regression "
                "(task='regression')?",
            )

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, rows: Any) -> Target:
        weights = None if self.weights is None else self.weights[rows]
        groups = None if self.groups is None else self.groups[rows]
        return replace(self, values=self.values[rows], weights=weights, groups=groups)

    def weighted(self, class_weight: Any, sample_weight: np.ndarray | None) -> Target:
        """Return the labels with weights: those of the objects times those of their classes."""
        if class_weight is None and sample_weight is None:
            return self
        weights = np.ones(len(self)) if sample_weight is None else sample_weight
        if class_weight is not None:
            if self.multilabel:
                raise ArgumentError(
                    "class_weight", "is for one label an object; y has several: give sample_weight"
                )
            if self.classes is None:
                raise ArgumentError("class_weight", "is for classes; y is real: give sample_weight")
            if isinstance(class_weight, str):
                if class_weight != "balanced":
                    raise ArgumentError(
                        "class_weight",
                        f"must be 'balanced' or a dict {{label: weight}}, got {class_weight!r}",
                    )
                factors = 1 / np.bincount(self.values)
            else:
                factors = labels.class_weights(self.classes, None, class_weight)
            weights = weights * factors[self.values]
        weights = np.maximum(weights / weights.max(), _LEAST_WEIGHT)
        return replace(self, weights=weights / weights.mean())

    def grouped(self, groups: Any) -> Target:
        """Return the labels with groups of objects that are left out together."""
        known = labels.label_array("groups", groups)
        labels.same_length("groups", known, "X", len(self))
        names, codes = np.unique(known, return_inverse=True)
        if len(names) < 2:
            raise ArgumentError(
                "groups",
                f"has one group only, {names[0].item()!r}: without it nothing is left to train",
            )
        return replace(self, groups=codes.astype(np.int64))

    def left_out_parts(self) -> Iterator[np.ndarray]:
        """Yield the rows of each group, or of consecutive rows where there are no groups."""
        if self.groups is None:
            yield from np.split(np.arange(len(self)), range(_ROWS, len(self), _ROWS))
        else:
            order = np.argsort(self.groups, kind="stable")
            yield from np.split(order, np.flatnonzero(np.diff(self.groups[order])) + 1)

    def left_out(self, ridge: Ridge, P: np.ndarray, T: Any, costs: Sequence[float]) -> np.ndarray:
        """Return decisions of these rows, a part, by models without each or without the group."""
        one = ridge.left_out if self.groups is None else ridge.left_out_together
        return one(P, T, costs, self.weights)

    @property
    def n_largest(self) -> float:
        """Number of objects in the largest class, or the sum of their weights.

        Of several labels, with the most frequent set of labels.
        """
        if self.classes is None:
            return 0
        codes = self.values
        if self.multilabel:
            codes = np.unique(codes, axis=0, return_inverse=True)[1].ravel()
        return float(np.bincount(codes, self.weights).max())

    @property
    def multilabel(self) -> bool:
        """Whether an object may have several labels."""
        return self.values.ndim == 2

    @property
    def k(self) -> int:
        """Number of columns: one for each class of three or more, or for each of several labels."""
        if self.multilabel:
            return self.values.shape[1]
        return 1 if self.classes is None or len(self.classes) == 2 else len(self.classes)

    def columns(self, dtype: Any) -> Any:
        """Return what the ridge fits, shape (n, k): 1 for a row's class, or the real targets."""
        if self.classes is None:
            return self.values[:, None]
        if self.multilabel:
            return sparse.csr_array(self.values.astype(dtype))
        return class_indicators(self.values, len(self.classes), dtype)


def sample_weights(sample_weight: Any, n: int) -> np.ndarray:
    """Check the weights of n objects; those below 1e-12 of the largest become 0."""
    try:
        weights = np.asarray(sample_weight, np.float64)
    except (TypeError, ValueError) as error:
        raise ArgumentTypeError("sample_weight", f"must hold numbers; {error}") from None
    if weights.shape != (n,):
        raise ArgumentError(
            "sample_weight", f"has the shape {weights.shape}; X has {n} objects: ({n},) is needed"
        )
    wrong = np.flatnonzero(~((weights >= 0) & (weights < np.inf)))
    if len(wrong):
        i = int(wrong[0])
        raise ArgumentError(
            "sample_weight", f"must be finite and not negative, got {weights[i]}", i
        )
    largest = weights.max()
    if not largest:
        raise ArgumentError("sample_weight", "is zero for all objects")
    weights = weights / largest
    return np.where(weights < _LEAST_WEIGHT, 0.0, weights)


def known_labels(y: Any, model: Any, n: int) -> np.ndarray:
    """Return the labels of n objects for a trained model: a matrix if it has several labels."""
    if model.multilabel:
        return true_labels(y, model.classes, n)
    known = labels.label_array("y", y)
    known = as_numbers(known) if model.classes is None else known
    return np.asarray(labels.truth(known, model.classes, "X", n))


def codes_and_targets(
    labels: np.ndarray, classes: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray]:
    """Return codes and signs of classes, shape (n, k), or the targets of a regression twice."""
    if classes is None:
        return labels, labels[:, None].astype(np.float64)
    codes = np.searchsorted(classes, labels)
    return codes, one_vs_rest_signs(codes, len(classes))


def as_numbers(y: np.ndarray) -> np.ndarray:
    """Return targets of a regression that are text as numbers; others as they are."""
    if y.dtype.kind != "U":
        return y
    try:
        return np.array(finite_numbers("y[{}]".format, y.tolist()))
    except ValueError as error:
        raise ArgumentTypeError("y", f"must hold numbers for a regression; {error}") from None


@dataclass(eq=False)
class LeftOutScores:
    """Scores of left-out predictions for several C, added over rows.

    Attributes
    ----------
    regression : bool
        Whether the targets are real.
    n : int
        Number of rows.
    n_correct : ndarray of float64, shape (n_costs,)
        Rows that are classified correctly, by their weights; of several labels, with all right.
    squared, fourth : ndarray of float64, shape (n_costs,)
        Sums of the squares of the errors, and of the squares of these, by weights.
    spread : float
        Sum of the squared deviations of the targets from their mean, by weights.
    total, squared_weights : float
        Sums of the weights, and of their squares; both are n without weights. With groups, of the
        squared weights of groups.
    confusion : ndarray of int64, shape (n_costs, k, k), or None
        Rows by true class and predicted class; None for a regression or more than 1,000 classes. Of
        several labels, of shape (n_costs, k, 2, 2), rows without and with each.
    kept : ndarray, shape (m, n_costs, k)
        Left-out predictions of some rows, float32; float64 of a regression.
    kept_values : ndarray, shape (m,)
        Codes of their classes, or their targets.
    kept_weights : ndarray, shape (m,)
        Their weights.
    """

    regression: bool
    n: int
    n_correct: np.ndarray
    squared: np.ndarray
    fourth: np.ndarray
    spread: float
    confusion: np.ndarray | None
    kept: np.ndarray
    kept_values: np.ndarray
    total: float
    squared_weights: float
    kept_weights: np.ndarray

    @classmethod
    def of(
        cls,
        ridge: Ridge,
        P: np.ndarray,
        target: Target,
        costs: Sequence[float],
        keep: np.ndarray | None = None,
    ) -> LeftOutScores:
        """Score rows, given by their coordinates and labels; keep predictions of some, sorted."""
        keep = np.empty(0, np.intp) if keep is None else keep
        dtype = np.float64 if target.classes is None else np.float32
        kept = np.empty((len(keep), len(costs), target.k), dtype)
        places = np.full(len(P), -1)
        places[keep] = np.arange(len(keep))
        n_costs, n_classes = len(costs), 0 if target.classes is None else len(target.classes)
        confusion: np.ndarray | None = None
        if target.multilabel:
            confusion = np.zeros((n_costs, n_classes, 2, 2), np.int64)
        elif 0 < n_classes <= _MAX_CONFUSION:
            confusion = np.zeros((n_costs, n_classes, n_classes), np.int64)
        squared, fourth = np.zeros((2, n_costs))
        n_correct = np.zeros(n_costs)
        weights = np.ones(len(P)) if target.weights is None else target.weights
        scores = cls(
            target.classes is None, 0, n_correct, squared, fourth, 0.0, confusion, kept,
            target.values[keep], float(weights.sum()), 0.0, weights[keep],
        )  # fmt: skip
        digits = 9 if P.dtype == np.float64 else 5
        together = max(1, _COLUMNS // target.k)
        for rows in target.left_out_parts():
            part, coordinates, w = target[rows], P[rows], weights[rows]
            columns = part.columns(np.float64)
            T = columns if target.classes is None else columns.toarray()
            scores.spread += float((w @ (T - ridge.target_mean) ** 2).sum())
            # Objects of a group may all be right or wrong together.
            scores.squared_weights += float(w @ w if target.groups is None else w.sum() ** 2)
            own = places[rows] >= 0
            for low in range(0, n_costs, together):
                some = slice(low, low + together)
                decision = part.left_out(ridge, coordinates, T, costs[some])
                kept[places[rows][own], some] = decision[own]
                squares = (decision - T[:, None]) ** 2
                scores.squared[some] += w @ squares.sum(axis=2)
                scores.fourth[some] += w @ (squares**2).sum(axis=2)
                if target.classes is None:
                    continue
                # Rounded, so that ties up to rounding go to the first class.
                signs = np.round(2 * decision - 1, digits)
                true, chosen = part.values[:, None], np.arange(decision.shape[1])
                if target.multilabel:
                    predicted = (signs > 0).astype(np.int64)
                    scores.n_correct[some] += w @ (predicted == true).all(axis=2)
                    cells: Any = chosen[:, None], np.arange(target.k), true, predicted
                else:
                    predicted = winners(signs.reshape(-1, target.k)).reshape(decision.shape[:2])
                    scores.n_correct[some] += w @ (predicted == true)
                    cells = chosen, true, predicted
                if confusion is not None:
                    np.add.at(confusion[some], cells, 1)
        scores.n = len(P)
        return scores

    def merged(self, other: LeftOutScores) -> LeftOutScores:
        """Return the scores of these rows and of others."""
        return LeftOutScores(
            self.regression,
            self.n + other.n,
            self.n_correct + other.n_correct,
            self.squared + other.squared,
            self.fourth + other.fourth,
            self.spread + other.spread,
            None if self.confusion is None else self.confusion + other.confusion,
            np.concatenate([self.kept, other.kept]),
            np.concatenate([self.kept_values, other.kept_values]),
            self.total + other.total,
            self.squared_weights + other.squared_weights,
            np.concatenate([self.kept_weights, other.kept_weights]),
        )

    def calibration(self, i: int, target: Target) -> Calibration | LabelCalibration:
        """Return the calibration by the predictions that are kept, for one C.

        Those of a regression are in the units of its targets again, at their level.
        """
        if self.regression:
            decisions, values = (
                target.unit * one + target.centre for one in (self.kept[:, i], self.kept_values)
            )
            return Calibration.fit(decisions, values, 0)
        decisions = 2 * self.kept[:, i] - 1
        if self.kept_values.ndim == 2:
            return LabelCalibration.fit(decisions, self.kept_values, self.kept_weights)
        n_classes = max(2, self.kept.shape[2])
        return Calibration.fit(decisions, self.kept_values, n_classes, self.kept_weights)

    def best(self) -> int:
        """Return the position of the C with the least squared error.

        That with the most correct rows is the best of many by chance: its accuracy is too good.
        """
        return int(self.squared.argmin())

    def accuracy(self, i: int) -> tuple[float, float]:
        """Return the percent of correct rows, or 100 R^2, and its standard error."""
        n = self.total
        effective = n * n / self.squared_weights  # rows of one weight with as much chance
        if not self.regression:
            share = min(1.0, float(self.n_correct[i] / n))  # sums of weights are rounded
            return 100.0 * share, 100.0 * float(np.sqrt(share * (1 - share) / effective))
        spread, mean = self.spread / n, float(self.squared[i] / n)
        deviation = np.sqrt(max(self.fourth[i] / n - mean**2, 0.0))
        return 100.0 * (1 - mean / spread), 100.0 * float(deviation / spread / np.sqrt(effective))
