# SPDX-License-Identifier: BSD-3-Clause
"""The labels of training objects, with their weights and groups."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from d2ke._base import labels as plain
from d2ke._base.checks import choice
from d2ke._base.errors import ArgumentError, ArgumentTypeError, warn
from d2ke.models.tasks import Classes, LabelSets, Task, Values, as_numbers
from d2ke.objects.fields import in_mixed_forms

_LEAST_WEIGHT = 1e-12  # as a fraction of the largest; smaller weights are rounding
_LEAST_DEVIATION = 1e-140  # of the targets of a regression
_ROWS = 1024  # rows of decision values in memory at a time


@dataclass(frozen=True, eq=False)
class Labels:
    """The labels of some training objects.

    Attributes
    ----------
    task : Task
        The kind of labels.
    values : ndarray
        The labels as `Task.encode` returns them.
    weights : ndarray of float64 or None
        Weights of the objects' squared errors, above 0, with the mean 1 over all training objects;
        None for equal weights.
    groups : ndarray of int64 or None
        Codes of groups, whose objects are left out together; None if each is left out alone.
    """

    task: Task
    values: np.ndarray
    weights: np.ndarray | None = None
    groups: np.ndarray | None = None

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, rows: Any) -> Labels:
        weights = None if self.weights is None else self.weights[rows]
        groups = None if self.groups is None else self.groups[rows]
        return replace(self, values=self.values[rows], weights=weights, groups=groups)

    @property
    def row_weights(self) -> np.ndarray:
        """Weight of each row, 1 without weights."""
        return np.ones(len(self)) if self.weights is None else self.weights

    def targets(self, dtype: Any = np.float64) -> Any:
        """Return the targets of the ridge, shape (n, k)."""
        return self.task.targets(self.values, dtype)

    def dense_targets(self) -> np.ndarray:
        """Return `targets` as an ndarray of float64."""
        return self.task.dense_targets(self.values)

    def weighted(self, class_weight: Any, sample_weight: np.ndarray | None) -> Labels:
        """Return the labels weighted by `sample_weight` times the weight of each class."""
        if class_weight is None and sample_weight is None:
            return self
        labels = replace(self, weights=sample_weight)
        if class_weight is not None:
            counts = self.counts(weighted=False)
            labels = labels.times(self.task.class_factors(class_weight, counts))
        labels = labels.relative(labels.row_weights.max())
        return labels.over(labels.row_weights.mean())

    def times(self, factors: np.ndarray) -> Labels:
        """Return the labels with weights multiplied by the factor of each class."""
        return replace(self, weights=self.row_weights * factors[self.values])

    def relative(self, largest: float) -> Labels:
        """Return the labels with weights divided by the largest, and above 0."""
        return replace(self, weights=np.maximum(self.row_weights / largest, _LEAST_WEIGHT))

    def over(self, mean: float) -> Labels:
        """Return the labels with weights divided by a mean."""
        return replace(self, weights=self.row_weights / mean)

    def counts(self, weighted: bool = True) -> Counter[Any]:
        """Return the weight, or number, of the objects by class or set of labels."""
        return self.task.counts(self.values, self.weights if weighted else None)

    def grouped(self, groups: Any) -> Labels:
        """Return the labels with groups of objects to leave out together."""
        names = plain.label_array("groups", groups)
        plain.same_length("groups", names, "X", len(self))
        names, codes = np.unique(names, return_inverse=True)
        if len(names) < 2:
            raise ArgumentError(
                "groups",
                f"has one group only, {names[0].item()!r}: without it nothing is left to train",
            )
        return replace(self, groups=codes.astype(np.int64))

    @property
    def together(self) -> bool:
        """Whether these rows, a chunk, are a group of several objects."""
        groups = self.groups
        return groups is not None and len(groups) > 1 and bool(groups[0] == groups[-1])

    def loo_chunks(self) -> Iterator[np.ndarray]:
        """Yield the rows of each group of several objects, then single rows in chunks."""
        alone = np.arange(len(self))
        if self.groups is not None:
            _, codes, sizes = np.unique(self.groups, return_inverse=True, return_counts=True)
            order = np.argsort(codes, kind="stable")
            for rows in np.split(order, np.cumsum(sizes)[:-1]):
                if len(rows) > 1:
                    yield rows
            alone = np.flatnonzero(sizes[codes] == 1)
        for first in range(0, len(alone), _ROWS):
            yield alone[first : first + _ROWS]


def no_labels(n: int) -> Labels:
    """Return empty labels of n objects: a matrix without columns."""
    return Labels(LabelSets(np.empty(0)), np.empty((n, 0)))


def without_none(groups: Any) -> Any:
    """Return the groups, or None for "none"; refuse other strings."""
    if not isinstance(groups, str):
        return groups
    if groups != "none":
        raise ArgumentError("groups", f"must be a group for each object, or 'none'; got {groups!r}")
    return None


def read_labels(y: Any, task: str | None) -> Labels:
    """Check labels; `task` is None if floats with fractions make it a regression."""
    if y is None:
        raise ArgumentTypeError("y", "must be the labels of X, got None")
    if task is not None:
        choice("task", task, ("classification", "regression"))
    matrix = plain.label_matrix(y)
    if matrix is not None:
        if task == "regression":
            raise ArgumentError("y", "has several columns; a regression has one target")
        return Labels(LabelSets(names_of_labels(*matrix)), matrix[0])
    array = plain.label_array("y", y)
    if task == "regression" or (task is None and has_fractions(array)):
        return _real(plain.targets("y", as_numbers(array)))
    classes, codes = plain.encode_classes("y", array)
    if task is None and classes.dtype.kind == "U" and in_mixed_forms(classes.tolist()):
        first = ", ".join(map(repr, classes[:4].tolist()))
        warn(
            f"y holds numbers that are written in several forms ({first}): each text is a class "
            "of its own. If they are numbers to predict, say task='regression'; if not, "
            "task='classification'"
        )
    if task is None and like_amounts(classes):
        warn(
            f"y holds {len(classes)} different whole numbers, from {classes[0]} to {classes[-1]}: "
            "each is a class of its own. If they are amounts, say task='regression'; if not, "
            "task='classification'"
        )
    return Labels(Classes(classes), codes)


def like_amounts(classes: np.ndarray) -> bool:
    """Return whether sorted classes may be amounts: many integers that do not number classes."""
    if classes.dtype.kind not in "iuf" or len(classes) <= 20:
        return False
    return classes[0] not in (0, 1) or len(classes) < 0.8 * (classes[-1] - classes[0])


def has_fractions(values: np.ndarray) -> bool:
    """Return whether values are floats that are not all whole numbers."""
    return bool(values.dtype.kind == "f" and (values != np.round(values)).any())


def _real(values: np.ndarray) -> Labels:
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
    task = Values.of(values)
    return Labels(task, (values - task.centre) / task.unit)


def check_weights(sample_weight: Any, n: int) -> np.ndarray:
    """Return the weights of n objects as float64; they must be finite and at least 0."""
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
    return weights


def sample_weights(sample_weight: Any, n: int) -> np.ndarray:
    """Return the weights of all n objects, relative to the largest; 0 for rounding."""
    weights = check_weights(sample_weight, n)
    if not weights.any():
        raise ArgumentError("sample_weight", "is zero for all objects")
    return without_rounding(weights, weights.max())


def without_rounding(weights: np.ndarray, largest: float) -> np.ndarray:
    """Return weights divided by the largest; quotients below 1e-12 become 0."""
    weights = weights / largest
    return np.where(weights < _LEAST_WEIGHT, 0.0, weights)


def names_of_labels(values: np.ndarray, names: np.ndarray | None) -> np.ndarray:
    """Return the names of the columns; refuse a column with one value only."""
    names = np.arange(values.shape[1]) if names is None else names
    if not len(values):
        raise ArgumentError("y", "is empty; at least one labelled item is needed")
    if len(np.unique(names)) < len(names):
        raise ArgumentError("y", "has two columns of one name")
    constant = np.flatnonzero((values == values[0]).all(axis=0))
    if len(constant):
        j = constant[0]
        raise ArgumentError(
            "y",
            f"has {values[0, j]} only in column {names[j].item()!r}; each label needs objects with "
            "it and objects without it",
        )
    return names
