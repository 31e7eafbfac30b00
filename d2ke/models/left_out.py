# SPDX-License-Identifier: BSD-3-Clause
"""Scores of left-out predictions, by which C is chosen and the accuracy is reported."""

from __future__ import annotations

from collections.abc import Sequence
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
        places = np.full(len(P), -1)
        places[keep] = np.arange(len(keep))
        squared, fourth = np.zeros((2, n_costs))
        weights = labels.row_weights
        scores = cls(
            task, len(P), np.zeros(n_costs), squared, fourth, 0.0, task.confusion(n_costs), kept,
            labels.values[keep], float(weights.sum()), 0.0, weights[keep],
        )  # fmt: skip
        digits = 9 if P.dtype == np.float64 else 5
        together = max(1, _COLUMNS // task.k)
        for rows in labels.left_out_chunks():
            chunk, coordinates, w = labels[rows], P[rows], weights[rows]
            T = chunk.dense_columns()
            removed = None if own_columns is None else own_columns.within(rows)[:2]
            scores.spread += float((w @ (T - ridge.target_mean) ** 2).sum())
            # Objects of a group may all be right or wrong together.
            scores.squared_weights += float(w.sum() ** 2 if chunk.together else w @ w)
            is_kept = places[rows] >= 0
            for low in range(0, n_costs, together):
                some_costs = slice(low, low + together)
                decision = chunk.left_out(ridge, coordinates, T, costs[some_costs], removed)
                kept[places[rows][is_kept], some_costs] = decision[is_kept]
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
