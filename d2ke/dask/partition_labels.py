# SPDX-License-Identifier: BSD-3-Clause
"""Labels of dask collections: types, codes and weights, by partition."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial, reduce
from typing import Any

import numpy as np
from dask.base import compute

from d2ke._base import labels as plain
from d2ke._base.errors import ArgumentError, ArgumentTypeError
from d2ke.dask.partitions import Partitions
from d2ke.dask.workers import finished, later, shared, tree
from d2ke.models.inputs import check_training_columns
from d2ke.models.labels import (
    Labels,
    check_weights,
    has_fractions,
    names_of_labels,
    read_labels,
    without_rounding,
)
from d2ke.models.tasks import LabelSets, Task
from d2ke.objects.compatibility import in_order
from d2ke.objects.container import Objects
from d2ke.objects.records import Records


class PartitionLabels:
    """The labels of partitions, encoded and weighted; they stay on the workers.

    Attributes
    ----------
    task : Task
        The type of labels.
    filled : list of int
        The partitions that are not empty.
    labels : tuple of Delayed
        The `Labels` of each filled partition.
    rows : list of Delayed or None
        Its objects with a positive weight; None for all.
    """

    def __init__(self, x: Partitions, truth: Sequence[Any], task: str | None):
        summaries = [
            later(partial(_summary, task), y_i, x_i, where=x.where(i))
            for i, (y_i, x_i) in enumerate(zip(truth, x.partitions, strict=True))
        ]
        # Every pass ends before the next begins, so that no partition stays in memory.
        sizes, summary = compute(
            [later(_size, summary) for summary in summaries], tree(summaries, partial(_merge, task))
        )
        if summary is None:
            raise ArgumentError("X", "is empty; at least two labelled objects are needed")
        first = summary[1]
        if isinstance(first, Records):
            check_training_columns(first)
        x = x._replace(partitions=x.map(_in_order, shared(first), empty=[]))
        self.x, self.task = x, _task_of(summary, task)
        self.rows: list[Any] | None = None
        self.filled = [i for i, size in enumerate(sizes) if size]
        what = shared(self.task)
        self._map(later(_encode, what, truth[i], sizes[i], where=x.where(i)) for i in self.filled)

    def _map(self, tasks: Iterable[Any]) -> None:
        self.labels = finished(*tasks)

    def weigh(self, weights: Sequence[Any] | None, class_weight: Any) -> None:
        """Give the objects weights: their own times the weights of their classes."""
        if weights is not None:
            checked = [
                later(_weights, labels, weights[i], where=self.x.where(i))
                for i, labels in zip(self.filled, self.labels, strict=True)
            ]
            largest = self._tree(checked, np.max, _largest)
            if not largest:
                raise ArgumentError("sample_weight", "is zero for all objects")
            self.rows = rows = [later(_weighted_rows, w, largest) for w in checked]
            weighted = zip(self.labels, checked, rows, strict=True)
            self._map(later(_weighted, *arguments) for arguments in weighted)
        if class_weight is not None:
            counts = self._tree(self.labels, partial(Labels.counts, weighted=False), _add)
            factors = self.task.class_factors(class_weight, counts)
            self._map(later(Labels.times, labels, factors) for labels in self.labels)
        largest = self._tree(self.labels, _largest_weight, _largest)
        self._map(later(Labels.relative, labels, largest) for labels in self.labels)
        total, n = self._tree(self.labels, _total, _add_pairs)
        self._map(later(Labels.over, labels, total / n) for labels in self.labels)

    def counts(self) -> Counter[Any]:
        """Return the weights of the classes."""
        return self._tree(self.labels, Labels.counts, _add)

    def sizes(self) -> np.ndarray:
        """Return the number of objects of each partition."""
        return np.array(compute(*(later(len, labels) for labels in self.labels)))

    def _tree(self, values: Iterable[Any], function: Any, merge: Any) -> Any:
        return tree([later(function, value) for value in values], merge).compute()


# ---------------------------------------------------------------- on workers


def _summary(task: str | None, y: Any, x: Any) -> tuple[Any, Any, int] | None:
    """Return representative labels, the columns of records without rows, and the number of rows.

    Labels are the classes, the range of real values, or the range of each of several labels, with a
    fractional number if any is. None for an empty partition.
    """
    if not len(x):
        return None
    matrix = plain.label_matrix(y)
    columns = x[:0] if isinstance(x, (Objects, Records)) else None
    if matrix is not None:
        values, names = matrix
        return (np.stack([values.min(axis=0), values.max(axis=0)]), names), columns, len(x)
    return (_kinds(task, plain.label_array("y", y)), None), columns, len(x)


def _kinds(task: str | None, values: np.ndarray) -> np.ndarray:
    real = task == "regression" or (task is None and has_fractions(values))
    if real and len(values) and values.dtype.kind in "iuf":
        broken = values[values != np.round(values)][:1]
        values = np.concatenate([[values.min(), values.max()], broken])
    return np.unique(values)


def _merge(task: str | None, *summaries: Any) -> Any:
    filled = [summary for summary in summaries if summary is not None]
    if not filled:
        return None
    columns = reduce(_same_columns, (columns for _, columns, _ in filled))
    values, names = [kinds for (kinds, _), _, _ in filled], filled[0][0][1]
    if len({kinds.shape[1:] for kinds in values}) > 1:
        raise ArgumentError("y", "has another number of columns in another partition")
    if values[0].ndim == 2:
        every = np.concatenate(values)
        kinds = np.stack([every.min(axis=0), every.max(axis=0)])
    else:
        families = sorted({plain.label_family(kinds) for kinds in values})
        if len(families) > 1:
            types = " and ".join("numbers" if name == "number" else "strings" for name in families)
            raise ArgumentTypeError("y", f"holds {types} in different partitions")
        kinds = _kinds(task, np.concatenate(values))
    return (kinds, names), columns, sum(n for _, _, n in filled)


def _same_columns(first: Any, other: Any) -> Any:
    """Refuse columns or channels that differ between partitions; missing ones go with all."""
    if first is None or type(other) is not type(first):
        return first
    if isinstance(first, Objects):
        if first.channel_names is None:
            return other
        in_order(other, first.channel_names, "X", "another partition")
        return first
    if list(first) != list(other):
        raise ArgumentError("X", f"has the columns {list(first)}, and {list(other)} elsewhere")
    merged = {}
    for name in first:
        columns = [column for column in (first[name], other[name]) if column.kind != "missing"]
        uses = sorted({column.use or column.kind for column in columns})
        if len(uses) > 1:
            raise ArgumentTypeError(
                f"X[{name!r}]", f"holds {' and '.join(uses)} in different partitions"
            )
        merged[name] = columns[0] if columns else first[name]
        if len(columns) == 2 and isinstance(columns[1].values, Objects):
            values = _same_columns(columns[0].values, columns[1].values)
            merged[name] = replace(columns[0], values=values)
    return Records(merged)


def _in_order(x: Any, first: Any) -> Any:
    """Return a partition with its channels in the order of the first one that names them."""
    if isinstance(x, Objects):
        return in_order(x, first.channel_names, "X", "another partition")
    if not isinstance(x, Records):
        return x
    columns = {}
    for name, column in x.columns.items():
        columns[name] = replace(column, values=_in_order(column.values, first[name].values))
    return Records(columns, x.ids)


def _size(summary: Any) -> int:
    """Return the number of objects of a partition."""
    return 0 if summary is None else summary[2]


def _task_of(summary: Any, task: str | None) -> Task:
    values, names = summary[0]
    if values.ndim == 1:
        return read_labels(values, task).task
    if task == "regression":
        raise ArgumentError("y", "has several columns; a regression has one target")
    return LabelSets(names_of_labels(values, names))


def _encode(task: Task, y: Any, n: int) -> Labels:
    return Labels(task, task.encode(y, n))


def _add(*counters: Counter[Any]) -> Counter[Any]:
    total: Counter[Any] = Counter()
    for counter in counters:
        total.update(counter)
    return total


def _largest(*values: float) -> float:
    return max(values)


def _add_pairs(*pairs: tuple[float, int]) -> tuple[float, int]:
    return sum(total for total, _ in pairs), sum(n for _, n in pairs)


def _weights(labels: Labels, weights: Any) -> np.ndarray:
    return check_weights(weights, len(labels))


def _weighted_rows(weights: np.ndarray, largest: float) -> np.ndarray:
    return np.flatnonzero(without_rounding(weights, largest))


def _weighted(labels: Labels, weights: np.ndarray, rows: np.ndarray) -> Labels:
    return replace(labels[rows], weights=weights[rows])


def _largest_weight(labels: Labels) -> float:
    return float(labels.row_weights.max(initial=0.0))


def _total(labels: Labels) -> tuple[float, int]:
    return float(labels.row_weights.sum()), len(labels)
