# SPDX-License-Identifier: BSD-3-Clause
"""Shares of families of blocks in the kernel, by stacking.

The kernel of a model is K = sum_f s_f K_f over families f of blocks. Each K_f comes from the
standardised features of its blocks and has the mean 1 on its diagonal; the shares s_f are not
negative and sum to 1. So K is positive definite, whatever the shares. Features are divided by the
deviations of `d2ke._base.rounding`.

Members are means of the kernels of some families. Each has a ridge of its own, and the weights that
combine their left-out decisions best are the weights of the members in K. If one member alone has
clearly smaller left-out errors than this sum, it is the kernel.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
from scipy.optimize import nnls

from d2ke.learners.ridge import Decomposed
from d2ke.models.blocks import FittedFeatures
from d2ke.models.calibration import rows_to_keep
from d2ke.models.families import FamilyKernels, FamilyRidges, LeftOutDecisions
from d2ke.models.labels import Labels
from d2ke.models.left_out import COSTS, LeftOutScores
from d2ke.models.own_columns import OwnColumns

_PULL = 5  # pseudo-objects that pull the weights of members toward their priors
_NOTHING = 1e-8  # sum of weights below which no member predicts anything
CHOOSING = 1024  # training objects that choose shares
_MEMBERS = 8  # with more, fewer objects choose, in about the same time
_LEAST = 0.02  # of the kernel, for families without labels, which `d2ke_transform` shows
_COLUMNS = 256  # classes whose errors are summed
_FOLDS = 3  # of objects, each scored with the shares that the others choose


@dataclass(frozen=True, eq=False)
class Shares:
    """The share of each family.

    Attributes
    ----------
    of_families : dict of str to float
        The shares.
    ridge : tuple of Ridge and ndarray, or None
        If all rows chose, the ridge of their kernel with these shares, without weights of features,
        and the coordinates of the rows.
    """

    of_families: dict[str, float]
    ridge: Decomposed | None = None
    _score: Callable[[], LeftOutScores] | None = None

    @property
    def by_all(self) -> bool:
        """Whether all rows chose."""
        return self._score is not None

    @cached_property
    def scores(self) -> LeftOutScores | None:
        """Left-out scores of predictions with shares of other rows.

        They are of one C, which other rows choose too; the members' own C are those of all rows.
        They are None if not all rows chose the shares, or there is nothing to choose.
        """
        return None if self._score is None else self._score()


def family_members(blocks: Sequence[FittedFeatures], vary: np.ndarray) -> np.ndarray:
    """Return the shares of families in the kernel of each member, shape (n_members, n_families).

    A family whose blocks name no members is one by itself. If there is such a family, or several
    columns of records, the mean of all by their priors is one more member; in it, each column
    counts alike. Families that do not vary are in no member.
    """
    column_of = {block.family: block.column for block in blocks}
    families, columns = list(column_of), np.array(list(column_of.values()))
    named: dict[tuple[str, ...], np.ndarray] = {}
    for block in blocks:
        keys: list[tuple[str, ...]] = [(block.column, name) for name in block.members]
        for key in keys or [(block.family,)]:
            member = named.setdefault(key, np.zeros(len(families)))
            member[families.index(block.family)] = 1.0
    members = list(named.values())
    if len(set(columns)) > 1 or not all(block.members for block in blocks):
        priors = _priors(blocks) * vary
        sums = (columns[:, None] == columns) @ priors
        members.append(priors / np.where(sums > 0, sums, 1))
    shares = np.array(members) * vary
    shares = shares[shares.any(axis=1)]
    shares /= shares.sum(axis=1, keepdims=True)
    first = np.unique(shares.round(12), axis=0, return_index=True)[1]
    return shares[np.sort(first)]


def _priors(blocks: Sequence[FittedFeatures]) -> np.ndarray:
    """Return the prior weight of each family; columns of records with as many count alike."""
    families = {block.family: (block.column, block.prior) for block in blocks}
    columns = np.array([column for column, _ in families.values()])
    priors = np.array([prior for _, prior in families.values()])
    in_column = columns[:, None] == columns
    return priors * in_column.sum(axis=1) / (in_column @ priors)


def stacked_weights(
    F: np.ndarray, T: np.ndarray, row_weights: np.ndarray, prior: np.ndarray
) -> np.ndarray:
    """Return the weights of members that combine their left-out decisions best.

    They are not negative, sum to 1, and are proportional to the a that minimise
    sum_i v_i |t_i - sum_m a_m f_mi|^2 + 5 v sum_m (a_m - p_m)^2, where v is the mean of |t_i|^2:
    five pseudo-objects pull them toward their priors p.

    Parameters
    ----------
    F : ndarray of float64, shape (M, n, k)
        Left-out decisions of each member, less the means of the targets.
    T : ndarray of float64, shape (n, k)
        The targets, less their means.
    row_weights : ndarray of float64, shape (n,)
        The weights v_i of the rows.
    prior : ndarray of float64, shape (M,)
        The prior weights p_m, which sum to 1.

    Returns
    -------
    ndarray of float64, shape (M,)
        The weights; the prior ones if no member predicts anything.

    Examples
    --------
    >>> import numpy as np
    >>> from d2ke.models.shares import stacked_weights
    >>> T = np.array([[-1.0], [1.0]] * 20)
    >>> F = np.stack([0.9 * T, -0.1 * T])
    >>> stacked_weights(F, T, np.ones(40), np.array([0.5, 0.5])).round(2).tolist()
    [0.71, 0.29]
    """
    pull = _PULL * float(row_weights @ (T**2).sum(axis=1)) / row_weights.sum()
    if not pull > 0:
        return prior
    roots = np.sqrt(row_weights)[:, None]
    F = (F * roots).reshape(len(F), -1)
    factor = np.linalg.cholesky(F @ F.T + pull * np.eye(len(F)))
    weights, _ = nnls(factor.T, np.linalg.solve(factor, F @ (T * roots).ravel() + pull * prior))
    return weights / weights.sum() if weights.sum() > _NOTHING else prior


def choose_shares(
    kernels: FamilyKernels,
    labels: Labels,
    own_columns: OwnColumns,
    entropy: Any,
    most: int = CHOOSING,
) -> Shares:
    """Choose the share of each family by stacking the left-out decisions of members.

    Parameters
    ----------
    kernels : FamilyKernels
        Of n training objects.
    labels : Labels
        Labels of the n objects.
    own_columns : OwnColumns
        Of the n objects, which the scores leave out with them.
    entropy : int
        Seed of the sample of objects that choose.
    most : int
        Number of objects, at most, that choose; fewer for more than eight members.

    Returns
    -------
    Shares
        With the ridge, and scores of left-out predictions, if all objects chose.
    """
    blocks = kernels.blocks
    names = list(dict.fromkeys(block.family for block in blocks))
    if len(names) == 1:
        return Shares({names[0]: 1.0})
    rng = np.random.default_rng(np.random.SeedSequence(entropy, spawn_key=(CHOOSING,)))
    n, n_members = len(kernels.Z), len(family_members(blocks, np.ones(len(names))))
    size = int(most * min(1.0, _MEMBERS / n_members) ** (1 / 3))
    if n > size:
        rows = np.sort(rng.choice(n, size, replace=False, shuffle=False))
        kernels, labels, own_columns = kernels.within(rows), labels[rows], own_columns.within(rows)
    if labels.groups is not None and (labels.groups == labels.groups[0]).all():
        labels = replace(labels, groups=None)
    vary = np.array(list(kernels.scales.varying.values()))
    if not vary.any():
        return Shares(dict.fromkeys(names, 1 / len(names)))
    members = family_members(blocks, vary)
    targets = np.arange(labels.task.k)
    if len(targets) > _COLUMNS:
        targets = np.sort(rng.choice(targets, _COLUMNS, replace=False))
    ridges, free = FamilyRidges(kernels, labels, own_columns), vary & kernels.without_labels
    choice = _Choice(ridges, members, free, targets)
    chosen = choice.by(np.arange(len(labels)))
    shares = dict(zip(names, chosen.shares.tolist(), strict=True))
    if n > size:
        return Shares(shares)
    keep = rows_to_keep(n, labels.task.k, entropy)
    score = partial(_scores_of_folds, choice, labels, rng, keep)
    ridge = None if ridges.sums is not None else (chosen.ridge, chosen.P)
    return Shares(shares, ridge, score)


class _Choice:
    """The choice of shares by some of the rows; each member's ridge is solved once, by all."""

    def __init__(
        self,
        ridges: FamilyRidges,
        members: np.ndarray,
        without_labels: np.ndarray,
        targets: np.ndarray,
    ):
        self.ridges, self.members, self.targets = ridges, members, targets
        self.prior = members @ _priors(ridges.kernels.blocks)
        self.prior /= self.prior.sum()
        self.without_labels, labels = without_labels, ridges.labels
        self.T, self.weights = labels.dense_columns()[:, targets], labels.row_weights
        codes = np.arange(len(labels)) if labels.groups is None else labels.groups
        self.groups = np.unique(codes, return_inverse=True)[1]
        decisions, squares = [], []
        for shares in members:
            left_out = LeftOutDecisions.of(ridges, shares, targets)
            decisions.append(left_out.best())
            squares.append(left_out.squares)
        self.decisions, self.squares = np.stack(decisions), np.stack(squares)
        self._last: list[LeftOutDecisions] = []

    def by(self, rows: np.ndarray) -> LeftOutDecisions:
        """Return the ridge with the shares that some rows choose.

        They are the stacked ones, or those of the best member, if its sum of squared errors is
        smaller by more than those of five objects: weights of decisions may not suit kernels.
        """
        T, weights = self.T[rows], self.weights[rows]
        centre = np.average(self.T, axis=0, weights=self.weights)
        F = self.decisions[:, rows] - centre
        stacked = stacked_weights(F, T - centre, weights, self.prior)
        left_out = self._solved(self._with_unsupervised(stacked @ self.members))
        squares = self.squares[:, rows]
        means = np.average(squares, axis=1, weights=weights)
        member, cost = np.unravel_index(means.argmin(), means.shape)
        stacked_squares = left_out.squares[rows, left_out.best_cost(rows)]
        error = np.average(stacked_squares, weights=weights)
        if (error - means[member, cost]) * weights.sum() <= _PULL * error:
            return left_out
        return self._solved(self._with_unsupervised(self.members[member]))

    def _solved(self, shares: np.ndarray) -> LeftOutDecisions:
        """Return the ridge with these shares, perhaps one of the two that were used last."""
        for left_out in self._last:
            if np.array_equal(shares, left_out.shares):
                break
        else:
            left_out = LeftOutDecisions.of(self.ridges, shares, self.targets)
        self._last = [*(last for last in self._last if last is not left_out), left_out][-2:]
        return left_out

    def _with_unsupervised(self, shares: np.ndarray) -> np.ndarray:
        """Return the shares, with some for families without labels if they have none."""
        free = self.without_labels
        if free.any() and not shares[free].any():
            return (1 - _LEAST) * shares + _LEAST * free / free.sum()
        return shares


def _scores_of_folds(
    choice: _Choice, labels: Labels, rng: np.random.Generator, keep: np.ndarray
) -> LeftOutScores:
    """Score the rows of each fold with the shares and the C that the rows of the others choose."""
    n_groups = choice.groups.max() + 1
    folds = (rng.permutation(n_groups) % min(_FOLDS, n_groups))[choice.groups]
    scores: list[LeftOutScores] = []
    kept_rows: list[np.ndarray] = []
    for fold in range(folds.max() + 1):
        rows, others = np.flatnonzero(folds == fold), np.flatnonzero(folds != fold)
        left_out = choice.by(others)
        C = COSTS[left_out.best_cost(others)]
        kept = np.flatnonzero(np.isin(rows, keep))
        ridge, own_columns = choice.ridges.with_columns(left_out)
        P = left_out.P[rows]
        scores.append(LeftOutScores.of(ridge, P, labels[rows], [C], kept, own_columns.within(rows)))
        kept_rows.append(rows[kept])
    return scores[0].merged(*scores[1:]).in_order(np.argsort(np.concatenate(kept_rows)))
