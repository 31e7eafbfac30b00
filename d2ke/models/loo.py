# SPDX-License-Identifier: BSD-3-Clause
"""Leave-one-out predictions, and the own columns and near-copies left out with an object.

The errors of these predictions choose C and the kernel weights, and give the reported accuracy. So
a model that predicts an object must not use its own columns or copies. (Kernel weights are chosen
with own columns.)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import add
from typing import Any, NamedTuple

import numpy as np

from d2ke.embedding.scaling import moments
from d2ke.learners.ridge import Ridge
from d2ke.models.blocks import CopyGroups, FittedFeatures, column_slices
from d2ke.models.calibration import Calibration, LabelCalibration
from d2ke.models.labels import Labels
from d2ke.models.tasks import Task

ALL_CS = tuple(10.0 ** (np.arange(-2, 13) / 2))  # the values of C that are compared

# Own columns. If training object i is also random object j of a block of R_b features, its feature
# F_ij is 1 / sqrt(R_b), which no new object has, so a model must not learn from it. If the largest
# feature of any other object, hidden_j, replaces it, the model loses the label of the random
# object, which new objects near it need. So training sets the feature to
#
#     own_j = max(hidden_j, min(mean_j + deviation_j m / (2 sqrt(n)), 1 / sqrt(R_b)))
#
# for m such columns of the block, with the mean and deviation of column j over all other objects.
# An object with several columns in the block gets hidden_j in each column. If all n objects are
# random objects, these values add at most a quarter to the kernel of an object with itself, which
# is 1 on average. If few objects are, own_j is hidden_j. A regression of at most 30 objects keeps
# 1 / sqrt(R_b): its objects are far from each other, and new objects, with features many deviations
# above the training features, would get predictions far outside the range of the targets.


def own_values(
    features: np.ndarray, rows: np.ndarray, columns: np.ndarray, few: int = 0
) -> tuple[np.ndarray, np.ndarray]:
    """Replace the feature of each object at itself, in place; see the formula above.

    Only features of objects with one own column in the block are raised above hidden_j. Raising
    objects with several windows in a block lost accuracy.

    Parameters
    ----------
    features : ndarray of float32, shape (n, R_b)
        The features of a block. The values at `rows` and `columns` are replaced.
    rows, columns : ndarray of int64, shape (m,)
        Objects, and the column of the random object that equals each.
    few : int
        If n is at most `few`, own features keep the value 1 / sqrt(R_b).

    Returns
    -------
    hidden, own : ndarray of float32, shape (m,)
        hidden_j and own_j of the formula.

    Examples
    --------
    >>> import numpy as np
    >>> from d2ke.models.loo import own_values
    >>> F = np.array([[0.5, 0.25], [0.125, 0.5], [0.375, 0.25], [0.125, 0.25]], np.float32)
    >>> hidden, own = own_values(F, np.array([0, 1]), np.array([0, 1]))
    >>> hidden.tolist(), own.tolist()
    ([0.375, 0.25], [0.375, 0.25])
    """
    n = len(features)
    if n == 1:
        return features[rows, columns], features[rows, columns]
    features[rows, columns] = -np.inf
    hidden = features[:, columns].max(axis=0)
    features[rows, columns] = values = hidden.copy()
    single = np.bincount(rows)[rows] == 1
    if not single.any():
        return hidden, values
    rows, columns, nearest = rows[single], columns[single], hidden[single]
    F = features.take(columns, axis=1)
    mean = (F.sum(axis=0, dtype=np.float64) - nearest) / (n - 1)
    F[rows, np.arange(len(rows))] = mean  # this adds nothing to the squares
    deviation = moments(F)[1] * np.sqrt(n / (n - 1))
    bound = mean + deviation * len(rows) / (2 * np.sqrt(n)) if n > few else np.inf
    largest = 1 / np.sqrt(features.shape[1])
    features[rows, columns] = values[single] = np.maximum(nearest, np.minimum(bound, largest))
    return hidden, values


class OwnColumns(NamedTuple):
    """Own features above hidden_j: pairs of a training object and its own column.

    The model that predicts a left-out object has no weights of these columns, see `Ridge.loo`.

    Attributes
    ----------
    rows : ndarray of int64, shape (m,)
        Training objects, sorted; an object may have several columns.
    columns : ndarray of int64, shape (m,)
        Columns among all features.
    hidden : ndarray of float32, shape (m,)
        hidden_j of each column.
    """

    rows: np.ndarray
    columns: np.ndarray
    hidden: np.ndarray

    @classmethod
    def of(cls, blocks: Sequence[FittedFeatures]) -> OwnColumns:
        """Return the own columns of blocks side by side."""
        empty = np.empty(0, np.int64)
        pairs = [cls(empty, empty, np.empty(0, np.float32))]
        for block, columns in column_slices(blocks):
            if block.own is not None:
                j = np.flatnonzero(block.own > block.hidden)
                pairs.append(cls(block.sources[j], j + columns.start, block.hidden[j]))
        merged = cls(*map(np.concatenate, zip(*pairs, strict=True)))
        order = np.argsort(merged.rows, kind="stable")
        return cls(*(values[order] for values in merged))

    def within(self, rows: np.ndarray) -> OwnColumns:
        """Return the own columns of sorted rows, with indices of `rows` as the objects."""
        first, last = (np.searchsorted(self.rows, rows, side) for side in ("left", "right"))
        counts = last - first
        indices = np.arange(counts.sum()) + np.repeat(last - np.cumsum(counts), counts)
        return OwnColumns(
            np.repeat(np.arange(len(rows)), counts), self.columns[indices], self.hidden[indices]
        )


@dataclass(frozen=True, eq=False)
class NearCopies:
    """Groups of near-copies among the training objects, and the accuracy by the rule not used.

    Attributes
    ----------
    rows : ndarray of int64, shape (m,)
        Rows of the compared objects: all training objects, or a sample of 4,096. Objects of weight
        0 are not counted.
    groups : ndarray of int64, shape (m,)
        Group codes of the compared objects. A group may have one object.
    decide : bool
        Whether the groups were left out together: most objects have a near-copy that is not equal.
        Otherwise each object was left out alone.
    accuracy, accuracy_error : float
        Leave-one-out accuracy of the model's kernel weights and C in percent, or R^2, and its
        standard error, by the opposite rule: one by one where the groups decide, else together; nan
        for models with features that are computed from labels.
    """

    rows: np.ndarray
    groups: np.ndarray
    decide: bool
    accuracy: float
    accuracy_error: float

    def report(self, model: Any) -> str:
        """Return the number of near-copies that a model found; both accuracies if they differ."""
        sizes, n = np.bincount(self.groups), len(self.groups)
        several = sizes[sizes > 1]
        rules, meanings = ["together", "one by one"], ["objects unlike those in training"]
        if self.decide:
            meanings.append("further copies")
        else:
            rules.reverse()
            meanings.insert(0, "objects that repeat as these do")
        text = (
            f"{several.sum():,} of {'a sample of ' * (n < model.n_train)}{n:,} objects are "
            f"{'near-copies of' if self.decide else 'equal to or near-copies of'} another "
            f"({len(several):,} groups). Left out {rules[0]}: {model.task.result(model.accuracy)}"
        )
        errors = self.accuracy_error, model.accuracy_error
        if np.isnan(self.accuracy) or (
            self.decide and abs(self.accuracy - model.accuracy) <= max(errors)
        ):
            return f"{text}."
        return (
            f"{text}; {rules[1]}: {model.task.result(self.accuracy)}. The first holds for "
            f"{meanings[0]}, the second for {meanings[1]}."
        )


# Near-copies. Training sets hold records with typos, augmented or replicate data, and pieces of one
# recording. A model trained on a copy predicts an object too easily: leave-one-out errors then
# choose too large a C, and the accuracy is too good. With the kernel K of unsupervised families,
# whose diagonal has the mean 1, objects i and h are at the distance
#
#     sqrt(K_ii + K_hh - 2 K_ih).
#
# The edges of the minimum spanning tree are joined in rising order, up to the first length that
# makes a group larger than `largest_group`. Ordinary objects form such a group while most objects
# are still single; near-copies are joined at much shorter lengths. So if four fifths of the objects
# or more are joined, these are the groups. Else only edges shorter than half that length are
# joined. Groups decide (are left out together) if they hold at least half of the objects, and are
# reported if they hold a tenth. Names and words repeat by nature, in new data too: equal objects
# are first merged into one, and reported if they are a tenth of all objects.
_MIN_GROUPED = 0.1  # fraction of the objects


def near_copies(kernel: np.ndarray, largest_group: Callable[[int], float]) -> CopyGroups | None:
    """Return the groups of near-copies among n objects, or None if they hold less than a tenth.

    Parameters
    ----------
    kernel : ndarray of float64, shape (n, n)
        The kernel K; only the upper triangle is read.
    largest_group : callable
        ``largest_group(n)`` is the largest size of a group among n different objects.
    """
    from scipy.cluster.hierarchy import fcluster, linkage

    n, diagonal = len(kernel), kernel.diagonal()
    squares = [diagonal[i] + diagonal[i + 1 :] - 2 * kernel[i, i + 1 :] for i in range(n - 1)]
    # Their mean is 2; more than nine digits would be rounding.
    distances = np.sqrt(np.maximum(np.round(np.concatenate(squares), 9), 0))
    tree = linkage(distances, "single")
    lengths, is_leaf = tree[:, 2], tree[:, :2] < n
    if lengths[0] == 0:
        _, firsts, codes = np.unique(fcluster(tree, 0, "distance"), True, True)
        if len(firsts) < 3:  # without one of two groups, nothing is left to compare
            return None
        order = np.argsort(firsts)  # the triangle needs it
        firsts, codes = firsts[order], np.argsort(order)[codes]
        groups = near_copies(kernel[np.ix_(firsts, firsts)], largest_group)
        if groups is not None:
            return groups._replace(codes=groups.codes[codes])
        is_joined = np.bincount(codes)[codes] > 1
        return CopyGroups(codes, False) if is_joined.mean() >= _MIN_GROUPED else None
    too_long = lengths[np.argmax(tree[:, 3] > largest_group(n))]
    nearest = np.repeat(lengths, is_leaf.sum(axis=1))  # distance from each object
    stop = too_long if (nearest < too_long).mean() >= 0.8 else too_long / 2
    joined = float((nearest < stop).mean())
    if joined < _MIN_GROUPED:
        return None
    longest = lengths[lengths < stop][-1]
    return CopyGroups(fcluster(tree, longest, "distance").astype(np.int64) - 1, joined >= 0.5)


# Leave-one-out predictions. With the hat matrix H of a ridge regression with penalty 1 / (2 C) and
# row weights v_i, the prediction of target t_i by the model without row i is
#
#     t_i - (t_i - decision_i) / (1 - v_i H_ii),
#
# where decision_i is the prediction by the model of all rows. Rows of one group are left out
# together: (I - H)^-1 of their block replaces 1 / (1 - v_i H_ii). See `d2ke.learners.ridge`.


def loo_decisions(
    ridge: Ridge,
    P: np.ndarray,
    labels: Labels,
    Cs: Sequence[float],
    own_columns: OwnColumns | None = None,
    some_targets: Any = slice(None),
) -> Iterator[tuple[np.ndarray, slice, np.ndarray, np.ndarray]]:
    """Yield the decisions of rows by the models without each row, or without its group.

    Parameters
    ----------
    ridge : Ridge
        The models of all rows for every penalty, with `some_targets` only.
    P : ndarray, shape (n, r)
        Coordinates of the rows.
    labels : Labels
        Labels of the rows.
    Cs : sequence of float
        Values of C.
    own_columns : OwnColumns, optional
        The columns that are left out with each row.
    some_targets : slice or ndarray of int64
        Columns of the targets.

    Yields
    ------
    rows : ndarray of int64, shape (m,)
        A subset of the rows.
    some_Cs : slice
        A subset of `Cs`.
    T : ndarray of float64, shape (m, k)
        Targets of this subset.
    decisions : ndarray of float64, shape (m, n_Cs, k)
        Left-out decisions.
    """
    for rows in labels.loo_chunks():
        chunk = labels[rows]
        predict = ridge.loo_together if chunk.together else ridge.loo
        T = chunk.dense_targets()[:, some_targets]
        exclusions = None if own_columns is None else own_columns.within(rows)[:2]
        step = max(1, 4096 // T.shape[1])  # decision values of a row in memory
        for low in range(0, len(Cs), step):
            some_Cs = slice(low, low + step)
            yield rows, some_Cs, T, predict(P[rows], T, Cs[some_Cs], chunk.weights, exclusions)


@dataclass(eq=False)
class LooScores:
    """Scores of left-out predictions for several C, added over rows.

    Attributes
    ----------
    task : Task
        The kind of predictions.
    n : int
        Number of rows.
    n_correct : ndarray of float64, shape (n_Cs,)
        Weight of the correct rows; of several labels, all must be right.
    squared, fourth : ndarray of float64, shape (n_Cs,)
        Weighted sums of the second and fourth powers of the errors.
    spread : float
        Weighted sum of the squared deviations of the targets from their mean.
    total, squared_weights : float
        Sums of the weights, and of their squares; both are n without weights. With groups, the
        squared weights of groups are added.
    confusion : ndarray of int64, shape (n_Cs, k, k), or None
        Rows by true class and predicted class; None for a regression or more than 1,000 classes.
        For several labels an array of shape (n_Cs, k, 2, 2), rows without and with each.
    calibration_decisions : ndarray, shape (m, n_Cs, k)
        Left-out predictions for calibration, float32; float64 of a regression.
    calibration_values : ndarray, shape (m,)
        Class codes, or targets, of the same rows.
    calibration_weights : ndarray, shape (m,)
        Weights of the same rows.
    """

    task: Task
    n: int
    n_correct: np.ndarray
    squared: np.ndarray
    fourth: np.ndarray
    spread: float
    confusion: np.ndarray | None
    calibration_decisions: np.ndarray
    calibration_values: np.ndarray
    total: float
    squared_weights: float
    calibration_weights: np.ndarray

    @classmethod
    def of(
        cls,
        ridge: Ridge,
        P: np.ndarray,
        labels: Labels,
        Cs: Sequence[float],
        for_calibration: np.ndarray | None = None,
        own_columns: OwnColumns | None = None,
    ) -> LooScores:
        """Score rows, given by their coordinates and labels, and each row's own columns.

        `for_calibration` are sorted rows whose predictions are kept.
        """
        if for_calibration is None:
            for_calibration = np.empty(0, np.intp)
        task, n_Cs = labels.task, len(Cs)
        decisions = np.empty((len(for_calibration), n_Cs, task.k), task.calibration_type)
        index = np.full(len(P), -1)
        index[for_calibration] = np.arange(len(for_calibration))
        squared, fourth = np.zeros((2, n_Cs))
        weights = labels.row_weights
        scores = cls(
            task, len(P), np.zeros(n_Cs), squared, fourth, 0.0, task.confusion(n_Cs), decisions,
            labels.values[for_calibration], float(weights.sum()), 0.0, weights[for_calibration],
        )  # fmt: skip
        digits = 9 if P.dtype == np.float64 else 5
        for rows, some_Cs, T, decision in loo_decisions(ridge, P, labels, Cs, own_columns):
            chunk, v = labels[rows], weights[rows]
            if some_Cs.start == 0:
                scores.spread += float((v @ (T - ridge.target_mean) ** 2).sum())
                # Objects of a group may all be right or wrong together.
                scores.squared_weights += float(v.sum() ** 2 if chunk.together else v @ v)
            is_kept = index[rows] >= 0
            decisions[index[rows][is_kept], some_Cs] = decision[is_kept]
            errors = (decision - T[:, None]) ** 2
            squared[some_Cs] += v @ errors.sum(axis=2)
            fourth[some_Cs] += v @ (errors**2).sum(axis=2)
            outcome = task.judge(decision, chunk.values, digits)
            if outcome is not None:
                scores.n_correct[some_Cs] += v @ outcome[0]
                if scores.confusion is not None:
                    np.add.at(scores.confusion[some_Cs], outcome[1], 1)
        return scores

    def merged(self, *chunks: LooScores) -> LooScores:
        """Return these scores merged with the scores of further chunks."""

        def values(name: str) -> list[Any]:
            return [getattr(scores, name) for scores in (self, *chunks)]

        added = ["n", "n_correct", "squared", "fourth", "spread", "total", "squared_weights"]
        if self.confusion is not None:
            added.append("confusion")
        merged: dict[str, Any] = {name: reduce(add, values(name)) for name in added}
        for name in ("calibration_decisions", "calibration_values", "calibration_weights"):
            merged[name] = np.concatenate(values(name))
        return replace(self, **merged)

    def calibration(self, i: int) -> Calibration | LabelCalibration:
        """Return the calibration from the kept predictions of the i-th C."""
        return self.task.calibration(
            self.calibration_decisions[:, i], self.calibration_values, self.calibration_weights
        )

    def best(self) -> int:
        """Return the index of the C with the least squared error.

        The C with the most correct rows is best partly by chance: its accuracy is too good.
        """
        return int(self.squared.argmin())

    def accuracy(self, i: int) -> tuple[float, float]:
        """Return the percentage of correct rows, or R^2, and its standard error."""
        return self.task.accuracy(self, i)
