# SPDX-License-Identifier: BSD-3-Clause
"""Leave-one-out predictions, and their scores: they choose C and are the reported accuracy.

With the hat matrix H of a ridge regression with penalty 1 / (2 C), the prediction of target t_i by
the model without row i is t_i - (t_i - f_i) / (1 - H_ii), where f_i is that of the model of all
rows. Rows of one group are left out together: (I - H)^-1 of their block takes the place of
1 / (1 - H_ii). See `d2ke.learners.ridge`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import add
from typing import Any

import numpy as np

from d2ke.learners.ridge import Ridge
from d2ke.models.calibration import Calibration, LabelCalibration
from d2ke.models.labels import Labels
from d2ke.models.own_columns import OwnColumns
from d2ke.models.tasks import Task

COSTS = tuple(10.0 ** (np.arange(-2, 13) / 2))
_COLUMNS = 4096  # decision values of a row that are held at a time
_ADDED = ("n", "n_correct", "squared", "fourth", "spread", "total", "squared_weights")
_JOINED = ("kept", "kept_values", "kept_weights")


def loo_decisions(
    ridge: Ridge,
    P: np.ndarray,
    labels: Labels,
    costs: Sequence[float],
    own_columns: OwnColumns | None = None,
    targets: Any = slice(None),
) -> Iterator[tuple[np.ndarray, slice, np.ndarray, np.ndarray]]:
    """Yield the decisions of rows by the models without each row, or without its group.

    Parameters
    ----------
    ridge : Ridge
        The models of every penalty, of all rows; of the given targets only.
    P : ndarray, shape (n, r)
        Coordinates of the rows.
    labels : Labels
        Their labels.
    costs : sequence of float
        The C.
    own_columns : OwnColumns, optional
        The columns that are left out with each row.
    targets : slice or ndarray of int64
        Columns of the targets.

    Yields
    ------
    rows : ndarray of int64, shape (m,)
        Some of the rows.
    some_costs : slice
        Some of the C.
    T : ndarray of float64, shape (m, k)
        The targets of these rows.
    decisions : ndarray of float64, shape (m, n_costs, k)
        The decisions.
    """
    for rows in labels.loo_chunks():
        chunk = labels[rows]
        predict = ridge.left_out_together if chunk.together else ridge.left_out
        T = chunk.dense_columns()[:, targets]
        removed = None if own_columns is None else own_columns.within(rows)[:2]
        step = max(1, _COLUMNS // T.shape[1])
        for low in range(0, len(costs), step):
            some = slice(low, low + step)
            yield rows, some, T, predict(P[rows], T, costs[some], chunk.weights, removed)


@dataclass(eq=False)
class LeftOutScores:
    """Scores of left-out predictions for several C, added over rows.

    Attributes
    ----------
    task : Task
        The kind of predictions.
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
        Rows by true class and predicted class; None for a regression or more than 1,000 classes.
        For several labels an array of shape (n_costs, k, 2, 2), rows without and with each.
    kept : ndarray, shape (m, n_costs, k)
        Left-out predictions of some rows, float32; float64 of a regression.
    kept_values : ndarray, shape (m,)
        Codes of their classes, or their targets.
    kept_weights : ndarray, shape (m,)
        Their weights.
    """

    task: Task
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
        labels: Labels,
        costs: Sequence[float],
        keep: np.ndarray | None = None,
        own_columns: OwnColumns | None = None,
    ) -> LeftOutScores:
        """Score rows, given by their coordinates and labels; keep predictions of some, sorted.

        A row's own columns, if there are any, are left out with it.
        """
        keep = np.empty(0, np.intp) if keep is None else keep
        task, n_costs = labels.task, len(costs)
        kept = np.empty((len(keep), n_costs, task.k), task.kept_type)
        kept_index = np.full(len(P), -1)
        kept_index[keep] = np.arange(len(keep))
        squared, fourth = np.zeros((2, n_costs))
        weights = labels.row_weights
        scores = cls(
            task, len(P), np.zeros(n_costs), squared, fourth, 0.0, task.confusion(n_costs), kept,
            labels.values[keep], float(weights.sum()), 0.0, weights[keep],
        )  # fmt: skip
        digits = 9 if P.dtype == np.float64 else 5
        for rows, some_costs, T, decision in loo_decisions(ridge, P, labels, costs, own_columns):
            chunk, w = labels[rows], weights[rows]
            if some_costs.start == 0:
                scores.spread += float((w @ (T - ridge.target_mean) ** 2).sum())
                # Objects of a group may all be right or wrong together.
                scores.squared_weights += float(w.sum() ** 2 if chunk.together else w @ w)
            is_kept = kept_index[rows] >= 0
            kept[kept_index[rows][is_kept], some_costs] = decision[is_kept]
            squares = (decision - T[:, None]) ** 2
            squared[some_costs] += w @ squares.sum(axis=2)
            fourth[some_costs] += w @ (squares**2).sum(axis=2)
            judged = task.judge(decision, chunk.values, digits)
            if judged is not None:
                scores.n_correct[some_costs] += w @ judged[0]
                if scores.confusion is not None:
                    np.add.at(scores.confusion[some_costs], judged[1], 1)
        return scores

    def merged(self, *others: LeftOutScores) -> LeftOutScores:
        """Return the scores of these rows and of others."""

        def values(name: str) -> list[Any]:
            return [getattr(scores, name) for scores in (self, *others)]

        added: dict[str, Any] = {name: reduce(add, values(name)) for name in _ADDED}
        joined: dict[str, Any] = {name: np.concatenate(values(name)) for name in _JOINED}
        confusion = None if self.confusion is None else reduce(add, values("confusion"))
        return replace(self, confusion=confusion, **added, **joined)

    def in_order(self, order: np.ndarray) -> LeftOutScores:
        """Return the scores with the predictions that are kept in this order."""
        return replace(self, **{name: getattr(self, name)[order] for name in _JOINED})

    def calibration(self, i: int) -> Calibration | LabelCalibration:
        """Return the calibration by the predictions that are kept, for one C."""
        return self.task.calibration(self.kept[:, i], self.kept_values, self.kept_weights)

    def best(self) -> int:
        """Return the position of the C with the least squared error.

        The C with the most correct rows is the best of many by chance: its accuracy is too good.
        """
        return int(self.squared.argmin())

    def accuracy(self, i: int) -> tuple[float, float]:
        """Return the percent of correct rows, or R^2, and its standard error."""
        return self.task.accuracy(self, i)
