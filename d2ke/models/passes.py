# SPDX-License-Identifier: BSD-3-Clause
"""The passes over training objects, by consecutive rows: sums of products, left-out scores."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from operator import add
from typing import Any, NamedTuple, Protocol

import numpy as np

from d2ke._base.errors import ArgumentError
from d2ke._base.progress import stages
from d2ke.embedding.scaling import Scaling
from d2ke.learners.ridge import Ridge, RidgeSums, ridge_of_rows
from d2ke.models.blocks import Sample, block_features, take
from d2ke.models.calibration import Calibration, LabelCalibration, rows_to_keep
from d2ke.models.labels import Labels
from d2ke.models.plan import Plan
from d2ke.models.shares import COSTS
from d2ke.models.tasks import Task
from d2ke.models.training_inputs import block_rows
from d2ke.objects.container import span_of
from d2ke.objects.stored import StoredObjects

_KEPT = 1 << 30  # bytes of features that are kept for the second pass: more take longer
_WHOLE = 1 << 30  # bytes of features that groups and the hinge loss, which need all at once, take
_CHOOSING = 2048  # rows that choose C for many classes
_COLUMNS = 4096  # decision values of a row that are held at a time
_ADDED = ("n", "n_correct", "squared", "fourth", "spread", "total", "squared_weights")
_JOINED = ("kept", "kept_values", "kept_weights")


@dataclass(eq=False)
class Rows:
    """Consecutive training objects and their labels, from row `first_row` of all."""

    objects: Any
    labels: Labels
    first_row: int = 0
    n_threads: int | None = None
    progress: bool = False
    kept: np.ndarray | None = field(default=None, repr=False)

    def sample(self, rows: np.ndarray) -> Sample:
        """Return some of the objects, by their rows among all."""
        places = rows - self.first_row
        whole = len(places) == len(self.labels) and not isinstance(self.objects, StoredObjects)
        objects = self.objects if whole else take(self.objects, places)
        return Sample(objects, rows, self.labels[places], self.n_threads, self.progress)

    def features(self, plan: Plan, title: str = "") -> Iterator[tuple[slice, np.ndarray]]:
        """Yield slices of these rows and their features, computed if they are not kept."""
        n, step = len(self.labels), block_rows(plan.R)
        for start in stages(range(0, n, step), title, self.progress):
            rows = slice(start, min(start + step, n))
            if self.kept is not None:
                yield rows, self.kept[rows]
                continue
            chunk = span_of(self.objects, rows.start, rows.stop)
            numbers = np.arange(rows.start, rows.stop) + self.first_row
            yield rows, block_features(plan.blocks, chunk, self.n_threads, numbers)


class Executor(Protocol):
    """Where training runs: in this process, or on the workers of dask.

    Attributes
    ----------
    n : int
        Number of training objects.
    labels : Labels
        Labels of some of them, with the task of all.
    n_largest : float
        Weight of the objects of the largest class; nan for real values.
    """

    n: int
    labels: Labels
    n_largest: float

    def sample(self, rows: np.ndarray) -> Any:
        """Return the `Sample` of these rows."""

    def call(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Return the result of a function, where it was computed."""

    def value(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Return the result of a function in this process."""

    def sum(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Return the merged results of ``function(rows, *arguments)`` of all `Rows`."""

    def holds(self, R: int) -> bool:
        """Return whether all features of all objects fit into the memory of one process."""

    def keep(self, plan: Any, Z: Any, R: int, needed: bool) -> np.ndarray | None:
        """Return all features, if they are kept for later passes; Z are those of the sample."""


class InMemory:
    """Training in this process."""

    def __init__(self, rows: Rows):
        self.rows, self.labels, self.n = rows, rows.labels, len(rows.labels)
        self.n_largest = max(self.labels.counts().values(), default=float("nan"))

    def sample(self, rows: np.ndarray) -> Sample:
        """Return the sample of these rows."""
        return self.rows.sample(rows)

    def call(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Call a function."""
        return function(*arguments)

    value = call

    def sum(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Call a function on all rows."""
        return function(self.rows, *arguments)

    def holds(self, R: int) -> bool:
        """Return whether all features fit into memory."""
        return 4 * self.n * R <= _WHOLE

    def keep(self, plan: Plan, Z: np.ndarray, R: int, needed: bool) -> np.ndarray | None:
        """Compute all features if they are few, or needed at once."""
        groups = self.labels.groups is not None
        if len(Z) == self.n:
            self.rows.kept = Z
        elif groups and not self.holds(R):
            raise ArgumentError(
                "groups",
                f"needs all features in memory, at most {_WHOLE} bytes: {self.n} objects have "
                f"R = {R} features, take fewer of either",
            )
        elif 4 * self.n * R <= _KEPT or groups or needed:
            kept = np.empty((self.n, R), np.float32)
            for rows, features in self.rows.features(plan, "features"):
                kept[rows] = features
            self.rows.kept = kept
        return self.rows.kept


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
    ) -> LeftOutScores:
        """Score rows, given by their coordinates and labels; keep predictions of some, sorted."""
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
            scores.spread += float((w @ (T - ridge.target_mean) ** 2).sum())
            # Objects of a group may all be right or wrong together.
            scores.squared_weights += float(w @ w if labels.groups is None else w.sum() ** 2)
            is_kept = places[rows] >= 0
            for low in range(0, n_costs, together):
                some_costs = slice(low, low + together)
                decision = chunk.left_out(ridge, coordinates, T, costs[some_costs])
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

    def calibration(self, i: int) -> Calibration | LabelCalibration:
        """Return the calibration by the predictions that are kept, for one C."""
        return self.task.calibration(self.kept[:, i], self.kept_values, self.kept_weights)

    def best(self) -> int:
        """Return the position of the C with the least squared error.

        The C with the most correct rows is the best of many by chance: its accuracy is too good.
        """
        return int(self.squared.argmin())

    def accuracy(self, i: int) -> tuple[float, float]:
        """Return the percent of correct rows, or 100 R^2, and its standard error."""
        return self.task.accuracy(self, i)


def sum_products(rows: Rows, plan: Plan) -> RidgeSums:
    """Return the sums of products of the features and labels of rows."""
    sums = RidgeSums.empty(plan.centre, plan.unit, plan.target_centre, plan.dtype)
    for chunk, Z in rows.features(plan, "sums"):
        labels = rows.labels[chunk]
        sums.add(Z, labels.columns(plan.dtype), rows.n_threads, labels.weights)
    return sums


class Solved(NamedTuple):
    """The models of every penalty, the C that are scored, and coordinates of at most R rows."""

    ridge: Ridge
    scaling: Scaling
    costs: Sequence[float]
    P: np.ndarray | None = None


def solve(plan: Plan, sums: RidgeSums, Z: np.ndarray, sample: Sample, entropy: Any) -> Solved:
    """Return the models of every penalty from the sums; Z are the features of the sample."""
    scaling = plan.scaling(*sums.moments())
    ridge = Ridge.of(sums, scaling.sd * np.sqrt(plan.R))
    return Solved(ridge, scaling, _costs_to_try(ridge, Z, sample, entropy))


def solve_rows(plan: Plan, Z: np.ndarray, sample: Sample) -> Solved:
    """Return the models of every penalty from a sample of all objects, fewer than features."""
    labels, sd = sample.labels, plan.sd
    assert labels is not None
    unit = sd * np.sqrt(plan.R)
    ridge, P = ridge_of_rows(Z, labels.columns(), unit, sample.n_threads, labels.weights)
    return Solved(ridge, Scaling(ridge.mean, sd), COSTS, P)


def _costs_to_try(ridge: Ridge, Z: np.ndarray, sample: Sample, entropy: Any) -> Sequence[float]:
    """Return the C that all rows are scored for: all, or with many classes the sample's best.

    With many classes, scores of all C would take longer than the products of features.
    """
    labels = sample.labels
    assert labels is not None
    if len(COSTS) * labels.task.k <= ridge.basis.shape[0] or labels.groups is not None:
        return COSTS
    rows = np.arange(len(Z))
    if len(Z) > _CHOOSING:
        rows = np.random.default_rng(entropy).choice(len(Z), _CHOOSING, replace=False)
    P = ridge.coordinates(Z[rows], sample.n_threads)
    return [COSTS[LeftOutScores.of(ridge, P, labels[rows], COSTS).best()]]


def score_sample(solved: Solved, sample: Sample, n: int, entropy: Any) -> LeftOutScores:
    """Score the left-out predictions of a sample of all objects, by their coordinates."""
    assert sample.labels is not None
    assert solved.P is not None
    keep = rows_to_keep(n, len(solved.costs) * sample.labels.task.k, entropy)
    return LeftOutScores.of(solved.ridge, solved.P, sample.labels, solved.costs, keep)


def score(rows: Rows, plan: Plan, solved: Solved, n: int, entropy: Any) -> LeftOutScores | None:
    """Score the left-out predictions of rows, of n in all; None if there are none."""
    keep = rows_to_keep(n, len(solved.costs) * rows.labels.task.k, entropy) - rows.first_row
    chunks = rows.features(plan, "scores")
    if rows.labels.groups is not None and rows.kept is not None:
        # Groups may be anywhere, so they are scored together.
        chunks = iter([(slice(0, len(rows.labels)), rows.kept)])
    scores = [
        LeftOutScores.of(
            solved.ridge,
            solved.ridge.coordinates(Z, rows.n_threads),
            rows.labels[chunk],
            solved.costs,
            keep[slice(*np.searchsorted(keep, (chunk.start, chunk.stop)))] - chunk.start,
        )
        for chunk, Z in chunks
    ]
    return scores[0].merged(*scores[1:]) if scores else None
