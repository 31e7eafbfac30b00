# SPDX-License-Identifier: BSD-3-Clause
"""Probabilities from decision values, fitted on left-out decisions of training objects.

Two classes have Platt's logistic curve; three or more have a softmax with one temperature and an
offset for each class. Both are softmax(scale * decisions + offsets).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import log_softmax, softmax

from d2ke.learners.linear_model import winners

_ROWS, _VALUES = 20_000, 1 << 23  # left-out objects, and all their decision values

# With left-out decisions decision_ik of object i for class k (of two classes decision_i0 = 0), its
# weight v_i and the true class y_i, probabilities and the loss that scale >= 0 and offsets b_k
# minimise are
#
#     probability_ik = exp(scale decision_ik + b_k) / sum_l exp(scale decision_il + b_l),
#     loss = -sum_i v_i sum_k t_ik log probability_ik + penalty |b|^2 / 2.
#
# The targets t_ik are smoothed. For two classes they are Platt's (1999), with the weight count_k of
# the objects of class k, and penalty 0; for more classes, with the weight count of all objects, and
# penalty 1:
#
#     t_ik = (count_k + 1) / (count_k + 2) if k = y_i,    else 1 / (count_{y_i} + 2),
#     t_ik = (count + 1) / (count + 2)     if k = y_i,    else 1 / ((count + 2) (n_classes - 1)).
#
# With wrong_ik = v_i (probability_ik - t_ik), the slopes are d loss / d b_k = sum_i wrong_ik +
# penalty b_k and d loss / d scale = sum_ik wrong_ik decision_ik, as sum_k t_ik = 1.


def calibration_rows(n: int, n_values: int, entropy: Any) -> np.ndarray:
    """Return a seeded sample of n training objects, with `n_values` decision values each."""
    m = max(2, min(_ROWS, _VALUES // n_values))
    if n <= m:
        return np.arange(n)
    rng = np.random.default_rng(np.random.SeedSequence(entropy, spawn_key=(_ROWS,)))
    return np.sort(rng.choice(n, m, replace=False, shuffle=False))


@dataclass(frozen=True, eq=False)
class Calibration:
    """Left-out decisions of training objects, and their probabilities.

    Attributes
    ----------
    decisions : ndarray, shape (m, k)
        Decision values of at most 20,000 training objects by models without them; fewer for
        very many classes. One column for two classes and for a regression. They are
        float32, and float64 for a regression.
    values : ndarray, shape (m,)
        Class codes of the objects, int64, or real targets, float64.
    scale : float
        Factor of the decisions, >= 0; 1 over the temperature. 1 for a regression.
    offsets : ndarray of float64, shape (n_classes,)
        Added before the softmax; b and -b for two classes. Empty for a regression.
    """

    decisions: np.ndarray = field(repr=False)
    values: np.ndarray = field(repr=False)
    scale: float
    offsets: np.ndarray = field(repr=False)

    @classmethod
    def fit(
        cls,
        decisions: np.ndarray,
        values: np.ndarray,
        n_classes: int,
        weights: np.ndarray | None = None,
    ) -> Calibration:
        """Fit scale and offsets by the log-loss of left-out decisions; see the formula above.

        More than two classes have smoothed targets, as if one more object were wrong, and the
        penalty keeps the offsets of small classes near 0.
        """
        rounded = decisions.astype(np.float32)
        codes, rows = values.astype(np.int64), np.arange(len(values))
        weights = np.ones(len(values)) if weights is None else weights
        total, decisions = weights.sum(), _columns(rounded.astype(np.float64))
        if n_classes == 2:
            counts, penalty = np.bincount(codes, weights, minlength=2)[codes], 0.0
        else:
            counts, penalty = np.full(len(values), total), 1.0
        other = 1.0 / (counts + 2)
        targets = np.repeat((other / (n_classes - 1))[:, None], n_classes, axis=1)
        targets[rows, codes] = 1 - other

        from scipy.optimize import minimize  # a third of a second, which predictions do not need

        def loss(parameters: np.ndarray) -> tuple[float, np.ndarray]:
            scale, offsets = parameters[0], parameters[1:]
            logs = log_softmax(scale * decisions + offsets, axis=1)
            wrong = weights[:, None] * (np.exp(logs) - targets)
            value = penalty / 2 * offsets @ offsets - weights @ (targets * logs).sum(axis=1)
            slopes = wrong.sum(axis=0) + penalty * offsets
            return value / total, np.append(np.vdot(wrong, decisions), slopes) / total

        # If left-out decisions are mostly wrong, the best scale is negative, and the bound gives 0.
        bounds = [(0.0, None)] + [(None, None)] * n_classes
        start = np.append(1.0, np.zeros(n_classes))
        options = {"maxiter": 200, "ftol": 1e-12, "gtol": 1e-7}
        best = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds, options=options)
        return cls(rounded, codes, float(best.x[0]), best.x[1:].copy())

    def probabilities(self, decisions: np.ndarray) -> np.ndarray:
        """Return the probabilities of the classes, shape (n, n_classes).

        The class of the decision stays the most probable class: if offsets give another class more,
        it gets the same probability, and the row is divided by its sum.
        """
        P = softmax(self.scale * _columns(decisions) + self.offsets, axis=1)
        rows, winner = np.arange(len(P)), winners(decisions)
        changed = P.argmax(axis=1) != winner
        P[rows[changed], winner[changed]] = (1 + 1e-12) * P[changed].max(axis=1)
        P[changed] /= P[changed].sum(axis=1, keepdims=True)
        return P

    @cached_property
    def loo(self) -> np.ndarray:
        """Probabilities of the left-out objects, shape (m, n_classes)."""
        return self.probabilities(self.decisions.astype(np.float64))

    @property
    def log_loss(self) -> float:
        """Mean of minus the logarithm of the probability of the true class."""
        p_true = self.loo[np.arange(len(self.values)), self.values]
        return float(-np.log(np.maximum(p_true, np.finfo(np.float64).tiny)).mean())

    @property
    def brier(self) -> float:
        """Mean over objects of the squared errors of the probabilities of all classes."""
        true = self.values[:, None] == np.arange(len(self.offsets))
        return float(((self.loo - true) ** 2).sum(axis=1).mean())

    def roc(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the ROC curve of two classes, of the left-out decisions.

        Returns
        -------
        tuple of ndarray
            For each threshold, the highest first, the fractions of the objects of the first and the
            second class that are above it; both go from 0 to 1.
        """
        order = np.argsort(-self.decisions[:, 0], kind="stable")
        scores, positive = self.decisions[order, 0], self.values[order] == 1
        last = np.append(scores[1:] != scores[:-1], True)  # objects with one score come together
        counts = [np.append(0, np.cumsum(labels)[last]) for labels in (~positive, positive)]
        false, true = (count / max(1, count[-1]) for count in counts)
        return false, true

    @property
    def auc(self) -> float:
        """Area under the ROC curve of two classes: how often the second class's object is higher.

        A tie between two objects counts half; nan without objects of both classes.
        """
        false, true = self.roc()
        if not (false[-1] and true[-1]):
            return float("nan")
        return float(np.diff(false) @ (true[1:] + true[:-1]) / 2)

    def reliability(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the values of a reliability diagram, for 15 bins of equally many objects.

        Objects are sorted by the probability of their most probable class.

        Returns
        -------
        tuple of ndarray
            The mean probability, the fraction of correct predictions, and the number of objects of
            each bin.
        """
        return reliability(self.loo, self.values)

    @property
    def error(self) -> float:
        """Expected calibration error: mean |probability - fraction correct| of `reliability`."""
        return calibration_error(self.loo, self.values)

    def __str__(self) -> str:
        if not len(self.offsets):
            errors = np.abs(self.decisions[:, 0] - self.values)
            median, high = np.quantile(errors, (0.5, 0.9))
            return (
                f"left-out errors: RMSE {np.sqrt(np.mean(errors**2)):.3g}, MAE "
                f"{errors.mean():.3g}, half at most {median:.3g}, 90 % at most {high:.3g}"
            )
        area = f", AUC {self.auc:.3f}" if len(self.offsets) == 2 else ""
        return (
            f"left-out probabilities: log-loss {self.log_loss:.3f}, Brier score {self.brier:.3f}, "
            f"calibration error {100 * self.error:.1f} %{area}"
        )


@dataclass(frozen=True, eq=False)
class LabelCalibration:
    """Calibrations of several labels, each with two classes: objects without and with the label.

    Attributes
    ----------
    labels : tuple of Calibration
        The calibration of each label.
    """

    labels: tuple[Calibration, ...] = field(repr=False)

    @classmethod
    def fit(
        cls, decisions: np.ndarray, values: np.ndarray, weights: np.ndarray | None = None
    ) -> LabelCalibration:
        """Fit a logistic curve for each column of left-out decisions."""
        fits = [
            Calibration.fit(decisions[:, [j]], values[:, j], 2, weights)
            for j in range(values.shape[1])
        ]
        return cls(tuple(fits))

    @property
    def decisions(self) -> np.ndarray:
        """Left-out decisions, float32 of shape (m, k)."""
        return np.hstack([c.decisions for c in self.labels])

    def probabilities(self, decisions: np.ndarray) -> np.ndarray:
        """Return the probability of each label, shape (n, k)."""
        columns = [c.probabilities(decisions[:, [j]])[:, 1] for j, c in enumerate(self.labels)]
        return np.stack(columns, axis=1)

    def __str__(self) -> str:
        loss, brier, error, area = np.mean(
            [(c.log_loss, c.brier, c.error, c.auc) for c in self.labels], axis=0
        )
        return (
            f"left-out probabilities, mean of labels: log-loss {loss:.3f}, Brier score {brier:.3f},"
            f" calibration error {100 * error:.1f} %, AUC {area:.3f}"
        )


def reliability(
    probabilities: np.ndarray, codes: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return mean confidence, accuracy and numbers of objects of bins of equally many objects."""
    confidence = probabilities.max(axis=1)
    correct = probabilities.argmax(axis=1) == codes
    bins = np.array_split(np.argsort(confidence, kind="stable"), min(15, len(codes)))
    means = np.array([(confidence[rows].mean(), correct[rows].mean()) for rows in bins])
    return means[:, 0], means[:, 1], np.array(list(map(len, bins)))


def calibration_error(probabilities: np.ndarray, codes: np.ndarray) -> float:
    """Return the expected calibration error of the most probable classes, of 15 equal bins."""
    confidence, accuracy, counts = reliability(probabilities, codes)
    return float(np.average(np.abs(confidence - accuracy), weights=counts))


def _columns(decisions: np.ndarray) -> np.ndarray:
    """Return a column for each class; the first of two classes has decision values 0."""
    if decisions.shape[1] > 1:
        return decisions
    return np.hstack([np.zeros_like(decisions), decisions])
