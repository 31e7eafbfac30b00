# SPDX-License-Identifier: BSD-3-Clause
"""The passes over training objects, by consecutive rows: sums of products, left-out scores."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, Protocol

import numpy as np

from d2ke._base.errors import ArgumentError
from d2ke._base.progress import stages
from d2ke.embedding.scaling import Scaling
from d2ke.learners.ridge import Decomposed, Ridge, RidgeSums, product_type, ridge_of_rows
from d2ke.models.blocks import Sample, block_features, take
from d2ke.models.calibration import rows_to_keep
from d2ke.models.inputs import block_rows
from d2ke.models.labels import Labels
from d2ke.models.left_out import COSTS, LeftOutScores
from d2ke.models.near_copies import NearCopies
from d2ke.models.own_columns import OwnColumns
from d2ke.models.plan import Plan
from d2ke.objects.container import span_of
from d2ke.objects.stored import StoredObjects

_KEPT = 1 << 30  # bytes of features that are kept for the second pass: more take longer
_WHOLE = 1 << 30  # bytes of features that groups and the hinge loss, which need all at once, take
_CHOOSING = 2048  # rows that choose C for many classes


@dataclass(eq=False)
class Rows:
    """Consecutive training objects and their labels, from row `first_row` of all."""

    objects: Any
    labels: Labels
    first_row: int = 0
    n_threads: int | None = None
    progress: bool | None = False
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

    def others(self, numbers: np.ndarray, R: int) -> Iterator[np.ndarray]:
        """Yield the rows that are not among these, some at a time."""
        rows = np.setdiff1d(np.arange(len(self.labels)), numbers, assume_unique=True)
        step = block_rows(R)
        starts = range(0, len(rows), step)
        for start in stages(starts, "features", self.progress):
            yield rows[start : start + step]


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

    def keep(
        self, plan: Any, Z: Any, numbers: np.ndarray, R: int, needed: bool
    ) -> np.ndarray | None:
        """Return all features, if they are kept for later passes.

        Z are those of the sample, the objects of these numbers.
        """


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

    def keep(
        self, plan: Plan, Z: np.ndarray, numbers: np.ndarray, R: int, needed: bool
    ) -> np.ndarray | None:
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
            kept[numbers] = Z
            for rows in self.rows.others(numbers, R):
                objects, n_threads = take(self.rows.objects, rows), self.rows.n_threads
                kept[rows] = block_features(plan.blocks, objects, n_threads, rows)
            self.rows.kept = kept
        return self.rows.kept


def sum_products(rows: Rows, plan: Plan) -> RidgeSums:
    """Return the sums of products of the features and labels of rows."""
    sums = RidgeSums.empty(plan.centre, plan.unit, plan.target_centre, plan.dtype)
    for chunk, Z in rows.features(plan, "sums"):
        labels = rows.labels[chunk]
        sums.add(Z, labels.columns(plan.dtype), rows.n_threads, labels.weights)
    return sums


class Solved(NamedTuple):
    """The models of every penalty, and the C that are scored.

    With the columns that are left out with rows, and the coordinates of the sample if it is scored.
    """

    ridge: Ridge
    scaling: Scaling
    costs: Sequence[float]
    own_columns: OwnColumns
    P: np.ndarray | None = None


def solve(
    plan: Plan,
    sums: RidgeSums,
    Z: np.ndarray,
    sample: Sample,
    entropy: Any,
    costs: Sequence[float] | None = None,
) -> Solved:
    """Return the models of every penalty from the sums; Z are the features of the sample."""
    scaling = plan.scaling(*sums.moments())
    ridge = Ridge.of(sums, scaling.sd * np.sqrt(plan.R))
    costs = costs or _costs_to_try(ridge, plan.own_columns, Z, sample, entropy)
    return Solved(ridge, scaling, costs, plan.own_columns)


def solve_sample(
    plan: Plan, Z: np.ndarray, sample: Sample, entropy: Any, decomposed: Decomposed | None = None
) -> Solved:
    """Return the models of every penalty from the sample alone, perhaps `decomposed` already."""
    labels, sd = sample.labels, plan.sd
    assert labels is not None
    if len(Z) > plan.R:
        plan = replace(plan, dtype=product_type(*Z.shape))
        rows = Rows(sample.objects, labels, 0, sample.n_threads, kept=Z)
        solved = solve(plan, sum_products(rows, plan), Z, sample, entropy)
        return solved._replace(P=solved.ridge.coordinates(Z, sample.n_threads))
    unit = sd * np.sqrt(plan.R)
    ridge, P = ridge_of_rows(
        Z, labels.columns(), unit, sample.n_threads, labels.weights, decomposed
    )
    n_costs = len(COSTS) if len(Z) > labels.task.fewest else np.searchsorted(COSTS, len(Z))
    return Solved(ridge, Scaling(ridge.mean, sd), COSTS[:n_costs], plan.own_columns, P)


def _costs_to_try(
    ridge: Ridge, own_columns: OwnColumns, Z: np.ndarray, sample: Sample, entropy: Any
) -> Sequence[float]:
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
    columns = own_columns.within(sample.rows[rows])
    return [COSTS[LeftOutScores.of(ridge, P, labels[rows], COSTS, own_columns=columns).best()]]


def score_sample(solved: Solved, sample: Sample, entropy: Any) -> LeftOutScores:
    """Score the left-out predictions of a sample by the models of the sample."""
    assert sample.labels is not None
    assert solved.P is not None
    keep = rows_to_keep(len(solved.P), len(solved.costs) * sample.labels.task.k, entropy)
    columns = solved.own_columns.within(sample.rows)
    return LeftOutScores.of(solved.ridge, solved.P, sample.labels, solved.costs, keep, columns)


def near_copies_of(
    plan: Plan, solved: Solved, sample: Sample, scores: LeftOutScores, Z: np.ndarray
) -> NearCopies:
    """Return the near-copies of a sample with features Z, and the accuracy by the other rule.

    Features that are computed from labels saw those of the group, or never see them, so models with
    such features have no other accuracy.
    """
    labels = sample.labels
    assert labels is not None
    assert sample.copies is not None
    codes, decide = sample.copies
    if any(block.supervised for block in plan.blocks):
        return NearCopies(sample.rows, codes, decide, np.nan, np.nan)
    costs, columns = [solved.costs[scores.best()]], solved.own_columns.within(sample.rows)
    labels = replace(labels, groups=None if decide else codes)
    P = solved.ridge.coordinates(Z, sample.n_threads) if solved.P is None else solved.P
    other = LeftOutScores.of(solved.ridge, P, labels, costs, own_columns=columns)
    return NearCopies(sample.rows, codes, decide, *other.accuracy(0))


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
            solved.own_columns.within(np.arange(chunk.start, chunk.stop) + rows.first_row),
        )
        for chunk, Z in chunks
    ]
    return scores[0].merged(*scores[1:]) if scores else None
