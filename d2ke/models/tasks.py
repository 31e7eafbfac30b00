# SPDX-License-Identifier: BSD-3-Clause
"""Kinds of predictions: classes, real values, or sets of labels.

A `Task` encodes labels, gives the targets of a ridge, turns decisions into predictions, scores and
calibrates them, and writes its lines of reports and warnings.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from d2ke._base import labels
from d2ke._base.errors import ArgumentError, ArgumentTypeError, warn
from d2ke.distances.registry import BY_NAME
from d2ke.learners.linear_model import LinearModel, winners
from d2ke.learners.ridge import Ridge, class_indicators
from d2ke.models.calibration import Calibration, LabelCalibration
from d2ke.objects.fields import finite_numbers

_MAX_CONFUSION = 1000  # classes: a larger matrix takes as much memory as the model
_MANY = 20  # classes, or errors, that can show an order


class Task:
    """The kind of predictions of a model.

    Decision values are ``unit * targets + centre`` for the targets of the ridge. Targets of 0 and 1
    give decision values above 0 for a class.

    Attributes
    ----------
    classes : ndarray or None
        The classes in sorted order, or the names of the labels; None for real values.
    unit, centre : float
        Scale and shift of the targets.
    multilabel : bool
        Whether an object may have several labels.
    measure : str
        Name of the score, for reports: ``"accuracy"``, in percent, or ``"R^2"``.
    sentence : str
        Format of a score in a sentence.
    calibration_type : dtype
        Type of the left-out predictions that calibration fits.
    few : int
        As for `d2ke.models.loo.own_values`.
    fewest : int
        The largest number of training objects from which no standard deviations are estimated:
        features of distances are centred but not scaled, and C is at most their number.
    """

    classes: Any = None
    unit: float = 2.0
    centre: float = -1.0
    multilabel = False
    measure = "accuracy"
    sentence = "accuracy {:.2f} %"
    calibration_type: Any = np.float32
    few = 0
    fewest = 0

    @property
    def k(self) -> int:
        """Number of targets of the ridge, and of decision values."""
        return len(self.classes)

    @property
    def n_probabilities(self) -> int:
        """Number of columns of probabilities; 0 for real values."""
        return 0 if self.classes is None else len(self.classes)

    # ------------------------------------------------------------ labels

    def truth(self, y: Any, n: int) -> np.ndarray:
        """Return the checked labels of n objects in the type of predictions; allow new labels."""
        raise NotImplementedError

    def encode(self, y: Any, n: int) -> np.ndarray:
        """Return the encoded labels of n objects; refuse new labels."""
        return self.truth(y, n)

    def targets(self, values: np.ndarray, dtype: Any = np.float64) -> Any:
        """Return the ridge's targets for encoded labels, shape (n, k), sparse or dense."""
        raise NotImplementedError

    def dense_targets(self, values: np.ndarray) -> np.ndarray:
        """Return `targets` as an ndarray of float64."""
        targets = self.targets(values)
        return targets.toarray() if sparse.issparse(targets) else targets

    def to_decisions(self, targets: np.ndarray) -> np.ndarray:
        """Return decision values from predictions of `targets`: above 0 for a class."""
        return self.unit * targets + self.centre

    def target_centre(self, values: np.ndarray) -> np.ndarray:
        """Return the shift of targets in sums, shape (k,); 0 if they are sparse."""
        return np.zeros(self.k)

    def class_factors(self, class_weight: Any, counts: Mapping[Any, float]) -> np.ndarray:
        """Return the weight of each class for `class_weight`, given the result of `counts`."""
        has = "has several labels an object" if self.multilabel else "is real"
        raise ArgumentError("class_weight", f"is for classes, but y {has}: give sample_weight")

    def counts(self, values: np.ndarray, weights: np.ndarray | None = None) -> Counter[Any]:
        """Return the number of objects, or their weight, by class or set of labels."""
        return Counter()

    def check_rows(self, n: int) -> None:
        """Refuse labels for which n objects cannot be enough."""

    def largest_group(self, n: int) -> float:
        """Return the largest size of a group of near-copies among n objects."""
        return float(np.sqrt(n))

    # ------------------------------------------------------------ predictions

    def linear_model(self, ridge: Ridge, C: float) -> LinearModel:
        """Return the ridge's model for one C, whose predictions are decision values."""
        weights, offsets = ridge.weights(C)
        weights, bias = np.ascontiguousarray(self.unit * weights), self.to_decisions(offsets)
        options = f"-s 11 -p 0 -c {C!r} -B 1"
        return LinearModel(weights, bias, self.classes, 11, options, self.multilabel, "ridge")

    def predict(self, decisions: np.ndarray) -> np.ndarray:
        """Return predictions by decision values, in the type of `classes` or of the values."""
        raise NotImplementedError

    def losses(self, decisions: np.ndarray, true: np.ndarray) -> np.ndarray:
        """Return the loss of each object, in units of the score."""
        return 100.0 * _is_wrong(self.predict(decisions), true)

    def score(self, true: np.ndarray, predicted: np.ndarray) -> float:
        """Return the percent of correct predictions, or R^2; nan without objects."""
        return self.score_of(self.tally(true, predicted))

    def tally(self, true: np.ndarray, predicted: np.ndarray) -> np.ndarray:
        """Return sums over a chunk of objects, which `score_of` turns into a score."""
        return np.array([len(true), np.count_nonzero(~_is_wrong(predicted, true))], np.float64)

    def score_of(self, tally: np.ndarray) -> float:
        """Return the score, up to rounding, from the sum of the tallies of all chunks."""
        return 100.0 * float(tally[1] / tally[0]) if tally[0] else float("nan")

    def result(self, score: float) -> str:
        """Return a score as a phrase."""
        return self.sentence.format(score)

    def shown(self, score: float, error: float | None = None) -> str:
        """Return a score, or a difference of scores, with its standard error."""
        digits, percent = (1, " %") if self.measure == "accuracy" else (3, "")
        margin = "" if error is None else f" ± {error:.{digits}f}"
        return f"{score:.{digits}f}{margin}{percent}"

    def support(self, shares: np.ndarray) -> tuple[list[Any], np.ndarray]:
        """Return the labels that features can support, and the support of each by each feature.

        `shares` are the features' terms of decision values, shape (n_decisions, n_features).
        Negative support becomes 0.
        """
        return self.classes.tolist(), np.maximum(shares, 0)

    def focus(self, decision: np.ndarray) -> tuple[Any, int, float]:
        """Return the label of one object, the index of its decision value, and a sign.

        The value times the sign is positive in favour of the label.
        """
        winner = int(decision.argmax())
        return self.classes[winner], winner, 1.0

    def check_probability(self, probability: bool) -> None:
        """Refuse `probability` for a task without probabilities."""
        if probability and not self.n_probabilities:
            raise ArgumentError("probability", "is for classes, but the model is a regression")

    # ------------------------------------------------------------ left-out scores

    def confusion(self, n_Cs: int) -> np.ndarray | None:
        """Return confusion matrices of zeros, one for each C; None for tasks without them."""
        return None

    def judge(
        self, decision: np.ndarray, values: np.ndarray, digits: int
    ) -> tuple[np.ndarray, Any] | None:
        """Return which left-out predictions are correct, and their cells of the confusion matrices.

        `decision` has the shape (n, n_Cs, k), in units of `targets`, and is rounded to `digits`,
        so that ties up to rounding go to the first class. None for real values.
        """
        return None

    def accuracy(self, scores: Any, i: int) -> tuple[float, float]:
        """Return the percent of correct rows of `LooScores`, or R^2, and its error."""
        n = scores.total
        effective = n * n / scores.squared_weights  # number of rows of equal weight
        share = min(1.0, float(scores.n_correct[i] / n))  # sums of weights are rounded
        return 100.0 * share, 100.0 * float(np.sqrt(share * (1 - share) / effective))

    def calibration(
        self, decisions: np.ndarray, values: np.ndarray, weights: np.ndarray
    ) -> Calibration | LabelCalibration:
        """Return the calibration by left-out predictions of encoded labels."""
        raise NotImplementedError

    # ------------------------------------------------------------ reports

    def report(self, model: Any) -> str:
        """Return the line about the training of a model."""
        raise NotImplementedError

    def warn_of_result(self, model: Any) -> None:
        """Warn of a model that learned nothing, or whose labels suggest another task."""
        raise NotImplementedError


@dataclass(frozen=True, eq=False)
class Classes(Task):
    """One of several classes.

    Attributes
    ----------
    classes : ndarray
        The classes in sorted order. Encoded labels are indices of classes.
    """

    classes: np.ndarray

    @property
    def k(self) -> int:
        """Number of classes; 1 for two classes."""
        return 1 if len(self.classes) == 2 else len(self.classes)

    def truth(self, y: Any, n: int) -> np.ndarray:
        """Return the labels of n objects, of the kind of the classes."""
        return np.asarray(labels.truth(labels.label_array("y", y), self.classes, "X", n))

    def encode(self, y: Any, n: int) -> np.ndarray:
        """Return the indices of labels among the classes; refuse new labels."""
        true = self.truth(y, n)
        codes = np.searchsorted(self.classes[:-1], true)
        new = np.flatnonzero(self.classes[codes] != true)
        if new.size:
            raise ArgumentError(
                "y",
                f"is {true[new[0]].item()!r}, which is not one of the model's {len(self.classes)} "
                "classes: train anew with d2ke_train on all objects, of old and new classes",
                new[0],
            )
        return codes

    def targets(self, values: np.ndarray, dtype: Any = np.float64) -> Any:
        """Return 1 in the column of each row's class, sparse."""
        return class_indicators(values, len(self.classes), dtype)

    def class_factors(self, class_weight: Any, counts: Mapping[Any, float]) -> np.ndarray:
        """Return the weight of each class."""
        if not isinstance(class_weight, str):
            return labels.class_weights(self.classes, None, class_weight)
        if class_weight != "balanced":
            raise ArgumentError(
                "class_weight",
                f"must be 'balanced' or a dict {{label: weight}}, got {class_weight!r}",
            )
        return 1 / np.array([counts[code] for code in range(len(self.classes))])

    def counts(self, values: np.ndarray, weights: np.ndarray | None = None) -> Counter[Any]:
        """Return the number of objects, or their weight, by class."""
        return Counter(dict(enumerate(np.bincount(values, weights).tolist())))

    def check_rows(self, n: int) -> None:
        """Refuse a number of classes that is nearly n."""
        if n >= 10 and len(self.classes) > 0.9 * n:
            raise ArgumentError(
                "y",
                f"has {len(self.classes)} different values in {n} rows: nothing can be learned of "
                "classes of one object each. Are y and X swapped, or is it a regression "
                "(task='regression')?",
            )

    def largest_group(self, n: int) -> float:
        """Return the largest size of a group of near-copies: half of an average class."""
        return min(super().largest_group(n), n / (2 * len(self.classes)))

    def predict(self, decisions: np.ndarray) -> np.ndarray:
        """Return the class of the largest decision value."""
        return self.classes[winners(decisions)]

    def support(self, shares: np.ndarray) -> tuple[list[Any], np.ndarray]:
        """Return the classes and the support of each; one decision value is for two classes."""
        both = np.concatenate([-shares, shares]) if len(shares) == 1 else shares
        return self.classes.tolist(), np.maximum(both, 0)

    def focus(self, decision: np.ndarray) -> tuple[Any, int, float]:
        """Return the class of the largest decision value; one value decides between two."""
        if len(decision) > 1:
            return super().focus(decision)
        is_second = bool(decision[0] > 0)
        return self.classes[int(is_second)], 0, 1.0 if is_second else -1.0

    def confusion(self, n_Cs: int) -> np.ndarray | None:
        """Return matrices of true and predicted classes, of up to 1,000 classes."""
        k = len(self.classes)
        return np.zeros((n_Cs, k, k), np.int64) if k <= _MAX_CONFUSION else None

    def judge(self, decision: np.ndarray, values: np.ndarray, digits: int) -> tuple[Any, Any]:
        """Return which predictions are correct, and (C, true class, predicted class)."""
        signs = np.round(self.to_decisions(decision), digits)
        predicted = winners(signs.reshape(-1, self.k)).reshape(decision.shape[:2])
        true = values[:, None]
        return predicted == true, (np.arange(decision.shape[1]), true, predicted)

    def calibration(
        self, decisions: np.ndarray, values: np.ndarray, weights: np.ndarray
    ) -> Calibration:
        """Return Platt's curve for two classes, a softmax for more."""
        return Calibration.fit(self.to_decisions(decisions), values, len(self.classes), weights)

    def report(self, model: Any) -> str:
        """Return the cross-validated accuracy beside the share of the largest class."""
        return (
            f"trained on {model.n_train} objects of {len(self.classes)} classes; cross-validated"
            f" accuracy {model.accuracy:.1f} +- {model.accuracy_error:.1f} %, largest class "
            f"{model.largest_class:.1f} %"
        )

    def warn_of_result(self, model: Any) -> None:
        """Warn if accuracy is not above the largest class, or if classes seem to be numbers."""
        numbers = self.classes.dtype.kind in "iuf" and len(self.classes) > _MANY
        if model.accuracy <= model.largest_class + 2 * model.accuracy_error:
            advice = " If the labels are numbers to predict, say task='regression'."
            reached = (
                f"accuracy is {model.accuracy:.1f} %, and the largest class has "
                f"{model.largest_class:.1f} %"
            )
            _warn_of_nothing(f"the cross-validated {reached}", model, advice * numbers)
        elif numbers and _errors_are_near(model.confusion):
            warn(
                f"y has {len(model.linear.weights)} different whole numbers, taken as classes, "
                "and wrong predictions are near the true numbers. If they are numbers to predict, "
                "say task='regression'"
            )


@dataclass(frozen=True, eq=False)
class Values(Task):
    """Real values, a regression.

    Attributes
    ----------
    centre, unit : float
        Encoded values are relative to the mean of the training values, in a power of two near
        their deviation, so that neither level nor scale costs digits.
    """

    centre: float = 0.0
    unit: float = 1.0

    k = 1
    measure = "R^2"
    sentence = "R^2 {:.3f}"
    calibration_type = np.float64
    few = 30
    fewest = 4

    @classmethod
    def of(cls, values: np.ndarray) -> Values:
        """Return the task of training values, by their mean and deviation."""
        centre = float(values.mean())
        return cls(centre, 2.0 ** int(np.frexp((values - centre).std())[1]))

    def truth(self, y: Any, n: int) -> np.ndarray:
        """Return the values of n objects; text must hold numbers."""
        return np.asarray(labels.truth(as_numbers(labels.label_array("y", y)), None, "X", n))

    def encode(self, y: Any, n: int) -> np.ndarray:
        """Return the values of n objects, relative to `centre` and in `unit`."""
        return (self.truth(y, n) - self.centre) / self.unit

    def targets(self, values: np.ndarray, dtype: Any = np.float64) -> Any:
        """Return the values as a column."""
        return values[:, None]

    def target_centre(self, values: np.ndarray) -> np.ndarray:
        """Return the mean."""
        return values.mean(keepdims=True)

    def predict(self, decisions: np.ndarray) -> np.ndarray:
        """Return the decision values."""
        return decisions[:, 0].copy()

    def score(self, true: np.ndarray, predicted: np.ndarray) -> float:
        """Return R^2; nan if the true values are all the same, or there are none."""
        spread = np.mean((true - true.mean()) ** 2) if len(true) else 0.0
        if not spread:
            return float("nan")
        return float(1 - np.mean((true - predicted) ** 2) / spread)

    def tally(self, true: np.ndarray, predicted: np.ndarray) -> np.ndarray:
        """Return the number of objects, sums of values and their squares, and of squared errors."""
        z = (true - self.centre) / self.unit
        errors = (true - predicted) / self.unit
        return np.array([len(z), z.sum(), z @ z, errors @ errors])

    def score_of(self, tally: np.ndarray) -> float:
        """Return R^2; nan if the true values are all the same, or there are none."""
        n, total, squares, error = tally.tolist()
        spread = squares - total**2 / n if n else 0.0
        return 1 - error / spread if spread > 0 else float("nan")

    def support(self, shares: np.ndarray) -> tuple[list[Any], np.ndarray]:
        """Return None for the label, and the shares of either sign."""
        return [None], shares[:1]

    def focus(self, decision: np.ndarray) -> tuple[Any, int, float]:
        """Return the value itself."""
        return float(decision[0]), 0, 1.0

    def losses(self, decisions: np.ndarray, true: np.ndarray) -> np.ndarray:
        """Return squared errors in variances of the true values."""
        return (decisions[:, 0] - true) ** 2 / (np.var(true) or 1.0)

    def accuracy(self, scores: Any, i: int) -> tuple[float, float]:
        """Return R^2 and its standard error."""
        n = scores.total
        effective = n * n / scores.squared_weights
        spread, mean = scores.spread / n, float(scores.squared[i] / n)
        deviation = np.sqrt(max(scores.fourth[i] / n - mean**2, 0.0))
        return 1 - mean / spread, float(deviation / spread / np.sqrt(effective))

    def calibration(
        self, decisions: np.ndarray, values: np.ndarray, weights: np.ndarray
    ) -> Calibration:
        """Return left-out predictions and values, in the units of y."""
        decisions, values = self.to_decisions(decisions), self.to_decisions(values)
        return Calibration(decisions, values, 1.0, np.empty(0))

    def report(self, model: Any) -> str:
        """Return the cross-validated R^2."""
        return (
            f"trained on {model.n_train} objects; cross-validated R^2 {model.accuracy:.3f} +- "
            f"{model.accuracy_error:.3f}"
        )

    def warn_of_result(self, model: Any) -> None:
        """Warn if R^2 is not above 0."""
        if model.accuracy <= 2 * model.accuracy_error:
            _warn_of_nothing(f"the cross-validated R^2 is {model.accuracy:.2f}", model)


@dataclass(frozen=True, eq=False)
class LabelSets(Task):
    """Several labels for each object, or none.

    Attributes
    ----------
    classes : ndarray
        Names of the labels. Encoded labels are rows of 0 and 1, one column for each name.
    """

    classes: np.ndarray

    multilabel = True
    sentence = "all labels right {:.2f} %"

    def truth(self, y: Any, n: int) -> np.ndarray:
        """Return the labels of n objects, a matrix with the columns of the training labels."""
        matrix = labels.label_matrix(y)
        if matrix is None or matrix[0].shape[1] != self.k:
            raise ArgumentError(
                "y", f"must be a matrix of {self.k} columns of 0 and 1, one for each label"
            )
        values, columns = matrix
        labels.same_length("y", values, "X", n)
        if columns is not None and columns.tolist() != self.classes.tolist():
            raise ArgumentError(
                "y",
                f"has columns {columns.tolist()}, but the model's labels are "
                f"{self.classes.tolist()}",
            )
        return values

    def targets(self, values: np.ndarray, dtype: Any = np.float64) -> Any:
        """Return the matrix, sparse."""
        return sparse.csr_array(values.astype(dtype))

    def counts(self, values: np.ndarray, weights: np.ndarray | None = None) -> Counter[Any]:
        """Return the number of objects, or their weight, by set of labels."""
        distinct, codes = np.unique(values, axis=0, return_inverse=True)
        sizes = np.bincount(codes.ravel(), weights, len(distinct))
        return Counter(dict(zip(map(bytes, distinct.astype(bool)), sizes.tolist(), strict=True)))

    def predict(self, decisions: np.ndarray) -> np.ndarray:
        """Return 1 for each label with a positive decision value, int64 of shape (n, k)."""
        return (decisions > 0).astype(np.int64)

    def confusion(self, n_Cs: int) -> np.ndarray:
        """Return matrices of true and predicted values of each label."""
        return np.zeros((n_Cs, self.k, 2, 2), np.int64)

    def judge(self, decision: np.ndarray, values: np.ndarray, digits: int) -> tuple[Any, Any]:
        """Return which rows are right in all labels, and (C, label, true, predicted)."""
        predicted = (np.round(self.to_decisions(decision), digits) > 0).astype(np.int64)
        true, C = values[:, None], np.arange(decision.shape[1])
        return (predicted == true).all(axis=2), (C[:, None], np.arange(self.k), true, predicted)

    def calibration(
        self, decisions: np.ndarray, values: np.ndarray, weights: np.ndarray
    ) -> LabelCalibration:
        """Return Platt's curve for each label."""
        return LabelCalibration.fit(self.to_decisions(decisions), values, weights)

    def report(self, model: Any) -> str:
        """Return the cross-validated F1, and the share of objects with all labels right."""
        micro, macro = f1(model.confusion)
        return (
            f"trained on {model.n_train} objects with {self.k} labels; "
            f"cross-validated F1 {micro:.3f} (micro), {macro:.3f} (macro); all labels right "
            f"{model.accuracy:.1f} +- {model.accuracy_error:.1f} %, most frequent set of labels "
            f"{model.largest_class:.1f} %"
        )

    def warn_of_result(self, model: Any) -> None:
        """Warn if the more frequent value of each label would be right as often."""
        n = model.confusion.sum()
        share = np.trace(model.confusion, axis1=1, axis2=2).sum() / n
        floor = model.confusion.sum(axis=2).max(axis=1).sum() / n
        if share <= floor + 2 * np.sqrt(share * (1 - share) / n):
            warn(
                f"little or nothing was learned: of the cross-validated labels {100 * share:.1f} % "
                f"are right, with the more frequent value of each {100 * floor:.1f} %. Check "
                "the labels, or try another distance=, blocks= of your own, or a larger R."
            )


def as_numbers(y: np.ndarray) -> np.ndarray:
    """Return y, converted to numbers if it is text."""
    if y.dtype.kind != "U":
        return y
    try:
        return np.array(finite_numbers("y[{}]".format, y.tolist()))
    except ValueError as error:
        raise ArgumentTypeError("y", f"must hold numbers for a regression; {error}") from None


def f1(confusion: np.ndarray) -> tuple[float, float]:
    """Return micro and macro F1 of matrices of true and predicted values, shape (k, 2, 2)."""
    correct = confusion[:, 1, 1]
    either = 2 * correct + confusion[:, 0, 1] + confusion[:, 1, 0]
    return float(2 * correct.sum() / either.sum()), float((2 * correct / either).mean())


def _is_wrong(predicted: np.ndarray, true: np.ndarray) -> np.ndarray:
    """Return whether the prediction of each object is wrong, in any of its labels."""
    wrong = predicted != true
    return wrong.any(axis=1) if wrong.ndim == 2 else wrong


def _warn_of_nothing(reached: str, model: Any, last: str = "") -> None:
    advice = "Check the labels, or try another distance=, blocks= of your own, or a larger R."
    names = {name for name in model.distances if isinstance(name, str)}
    rows = [BY_NAME[name] for name in sorted(names & BY_NAME.keys())]
    if scales := [f"{row.scale} of {row.name!r}" for row in rows if row.scale]:
        advice += f" Is {', '.join(scales)} in the units of the values?"
    warn(f"little or nothing was learned: {reached}. {advice}{last}")


def _errors_are_near(confusion: np.ndarray | None) -> bool:
    """Return whether wrong predictions are of nearby rank, as for numbers, not for names."""
    if confusion is None:
        return False
    wrong = confusion - np.diag(np.diag(confusion))
    n = wrong.sum()
    if n < _MANY:
        return False
    rank = np.arange(len(wrong))
    gaps = np.abs(rank[:, None] - rank)
    by_chance = wrong.sum(axis=1) @ gaps @ wrong.sum(axis=0) / n**2
    return bool((wrong * gaps).sum() / n < by_chance / 2)
