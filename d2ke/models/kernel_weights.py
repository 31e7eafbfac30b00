# SPDX-License-Identifier: BSD-3-Clause
"""Kernels of families of blocks, and their weights in a model's kernel, by stacking.

The kernel of a model is K = sum_f s_f K_f over families f of blocks. Each K_f comes from the
standardised features of its blocks and has the mean 1 on its diagonal; the weights s_f are not
negative and sum to 1, so K is positive definite.

Candidates are averages of family kernels. We fit a ridge regression to each, and stack their
leave-one-out predictions by non-negative least squares; the stacking weights a_c of the candidates
become the kernel weights, s = sum_c a_c s^(c). If one candidate alone has clearly smaller
leave-one-out errors than this sum, it is the kernel.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import nnls

from d2ke._base.blas import square
from d2ke._base.rounding import PLAIN, feature_deviations, least_deviations, varying
from d2ke.embedding.scaling import moments
from d2ke.learners.ridge import Decomposed, Ridge, RidgeSums, ridge_of_gram
from d2ke.models.blocks import FittedFeatures, per_feature
from d2ke.models.calibration import calibration_rows
from d2ke.models.labels import Labels
from d2ke.models.loo import ALL_CS, LooScores, OwnColumns, loo_decisions

MAX_ROWS = 512  # training objects that choose kernel weights
_PSEUDO_OBJECTS = 5  # which pull stacking weights toward their priors


# Let F_ij be feature j of object i, mean_j and deviation_j its mean and deviation over the sample,
# floored_j = max(deviation_j, its least deviation), and power the `sd_power` of its block, usually
# 1. Constant features, whose floored_j is 1, are left out of the sum. Features of a family f are
# divided by
#
#     u_j = floored_j^power sqrt(sum over j in f of (deviation_j / floored_j^power)^2),
#
# so that the kernel of the family has the mean 1 on its diagonal over the given rows (at most 512
# rows when weights are chosen), not weighted:
#
#     K_f(i, h) = sum over j in f of (F_ij - mean_j) (F_hj - mean_j) / u_j^2.
#
# The features of a model are Z_ij = sqrt(s_f) (F_ij - mean_j) / u_j, whose products are K.


class FamilyScales(NamedTuple):
    """Moments of the features of some rows, and divisors that balance families.

    Attributes
    ----------
    mean, deviation, largest : ndarray of float64, shape (R,)
        Means, deviations and largest absolute values of the features.
    floors : ndarray of float64, shape (R,)
        Least deviations, see `d2ke._base.rounding`.
    floored_deviation : ndarray of float64, shape (R,)
        floored_j of the formula.
    divisor : ndarray of float64, shape (R,)
        Divisors u_j of centred features.
    varying : dict of str to bool
        Whether the features of each family vary.
    """

    mean: np.ndarray
    deviation: np.ndarray
    largest: np.ndarray
    floors: np.ndarray
    floored_deviation: np.ndarray
    divisor: np.ndarray
    varying: dict[str, bool]

    @classmethod
    def of(cls, F: np.ndarray, blocks: Sequence[FittedFeatures]) -> FamilyScales:
        """Return the scales of the features of blocks, shape (n, R)."""
        mean, deviation, largest = moments(F)
        floors = least_deviations(deviation, largest, deviation_groups(blocks))
        floored_deviation = feature_deviations(deviation, largest, floors, F.dtype)
        families = per_feature(blocks, "family")
        divisor = floored_deviation ** per_feature(blocks, "sd_power")
        # Features that are constant but for rounding must not be scaled up.
        varied = varying(deviation, largest, floors, F.dtype)
        variances, families_vary = np.where(varied, (deviation / divisor) ** 2, 0.0), {}
        for family in dict.fromkeys(families.tolist()):
            in_family = families == family
            trace = variances[in_family].sum()
            divisor[in_family] *= np.sqrt(trace or 1.0)
            families_vary[family] = bool(trace > 0)
        return cls(mean, deviation, largest, floors, floored_deviation, divisor, families_vary)

    def select(self, columns: np.ndarray) -> FamilyScales:
        """Return the scales of a subset of the features."""
        values = {name: getattr(self, name)[columns] for name in self._fields[:-1]}
        return self._replace(**values)


def deviation_groups(blocks: Sequence[FittedFeatures]) -> np.ndarray:
    """Return the group of each feature for `least_deviations`: a group for each block and kind."""
    groups, first = [], PLAIN + 1
    for block in blocks:
        kinds = np.arange(first, first + block.kinds) if block.kinds else np.array([PLAIN])
        groups.append(np.repeat(kinds, block.R // len(kinds)))
        first += block.kinds
    return np.concatenate(groups)


@dataclass(frozen=True, eq=False)
class FamilyKernels:
    """Kernels of the families of blocks, each with the mean 1 on its diagonal.

    Attributes
    ----------
    F : ndarray of float32, shape (n, R)
        Features of rows.
    blocks : sequence of FittedFeatures
        The blocks that computed F.
    weights : ndarray of float64, shape (n,), or None
        Weights of the rows, used to centre features; None for equal weights.
    n_threads : int or None
        Threads for products.
    computed : mapping of str to ndarray
        Kernels by family that are computed already.
    """

    F: np.ndarray
    blocks: Sequence[FittedFeatures]
    weights: np.ndarray | None = None
    n_threads: int | None = None
    computed: Mapping[str, np.ndarray] = field(default_factory=dict)

    @cached_property
    def scales(self) -> FamilyScales:
        """The scales of the features."""
        return FamilyScales.of(self.F, self.blocks)

    @cached_property
    def families(self) -> np.ndarray:
        """The family of each feature."""
        return per_feature(self.blocks, "family")

    @cached_property
    def without_labels(self) -> np.ndarray:
        """Whether the features of each family are computed without labels."""
        supervised = {block.family: block.supervised for block in self.blocks}
        return ~np.array([supervised[name] for name in self.scales.varying])

    @property
    def is_stacked(self) -> bool:
        """Whether the kernels of all families are kept."""
        return 8 * len(self.F) ** 2 * len(self.scales.varying) <= 1 << 28  # bytes

    @cached_property
    def stack(self) -> np.ndarray:
        """The kernels, shape (n_families, n, n)."""
        kernels = []
        for family in self.scales.varying:
            if family in self.computed:
                kernels.append(self.computed[family])
                continue
            columns = np.flatnonzero(self.families == family)
            values = self.centred(columns).T
            kernels.append(square(values.__getitem__, len(columns), self.n_threads))
        return np.stack(kernels)

    def with_features(
        self, F: np.ndarray, blocks: Sequence[FittedFeatures], changed: Collection[str]
    ) -> FamilyKernels:
        """Return the kernels of the same rows with new features of the `changed` families."""
        computed = {}
        if "stack" in self.__dict__:  # the cached property was needed
            kernels = zip(self.scales.varying, self.stack, strict=True)
            computed = {family: kernel for family, kernel in kernels if family not in changed}
        return replace(self, F=F, blocks=blocks, computed=computed)

    def within(self, rows: np.ndarray) -> FamilyKernels:
        """Return the kernels of a subset of the rows."""
        weights = None if self.weights is None else self.weights[rows]
        return replace(self, F=self.F[rows], weights=weights, computed={})

    def centred(self, columns: np.ndarray) -> np.ndarray:
        """Return the features of `columns`, centred and divided by u_j, shape (n, n_columns)."""
        values = (self.F[:, columns] - self.scales.mean[columns]) / self.scales.divisor[columns]
        if self.weights is not None:
            values -= self.weights @ values / self.weights.sum()
        return values

    def roots(self, weights: np.ndarray) -> np.ndarray:
        """Return the square root of the family's weight for each feature."""
        by_family = dict(zip(self.scales.varying, np.sqrt(weights).tolist(), strict=True))
        return np.array([by_family[name] for name in self.families.tolist()])

    def sum(self, weights: np.ndarray) -> np.ndarray:
        """Return the weighted sum of the kernels; only the upper triangle is valid."""
        if self.is_stacked:
            return np.tensordot(weights, self.stack, 1)
        roots = self.roots(weights)
        used = np.flatnonzero(roots)

        def features(columns: slice) -> np.ndarray:
            return (self.centred(used[columns]) * roots[used[columns]]).T

        return square(features, len(used), self.n_threads)

    def copy_kernel(self, own_columns: OwnColumns) -> np.ndarray | None:
        """Return the kernel for the search of near-copies; None if it has too few features.

        It is the mean of the kernels of unsupervised families, with hidden_j in own columns: raised
        features would make their objects look far from each other.
        """
        roots = self.roots(self.without_labels / max(self.without_labels.sum(), 1))
        used = np.flatnonzero(roots)
        # With fewer features, ordinary objects look like copies.
        if len(used) < 64 or len(self.F) < 2:
            return None
        columns = used[np.linspace(0, len(used), min(len(used), 2048), False).astype(np.int64)]
        F = self.F[:, columns]
        positions = np.minimum(np.searchsorted(columns, own_columns.columns), len(columns) - 1)
        is_used = columns[positions] == own_columns.columns
        F[own_columns.rows[is_used], positions[is_used]] = own_columns.hidden[is_used]
        scale = roots[columns] * np.sqrt(len(used) / len(columns)) / self.scales.divisor[columns]
        values = (F - self.scales.mean[columns]) * scale
        if self.weights is not None:
            values -= self.weights @ values / self.weights.sum()
        return square(values.T.__getitem__, len(columns), self.n_threads)


def candidate_kernels(blocks: Sequence[FittedFeatures], vary: np.ndarray) -> np.ndarray:
    """Return the weights of families in each candidate, shape (n_candidates, n_families).

    A family whose blocks name no members is a candidate by itself. If there is such a family, or
    several columns of records, the mean of all families by their priors is one more; its columns of
    records have equal weights. Families that do not vary are in no candidate.
    """
    column_of = {block.family: block.column for block in blocks}
    families, columns = list(column_of), np.array(list(column_of.values()))
    named: dict[tuple[str, ...], np.ndarray] = {}
    for block in blocks:
        keys: list[tuple[str, ...]] = [(block.column, name) for name in block.members]
        for key in keys or [(block.family,)]:
            candidate = named.setdefault(key, np.zeros(len(families)))
            candidate[families.index(block.family)] = 1.0
    candidates = list(named.values())
    if len(set(columns)) > 1 or not all(block.members for block in blocks):
        priors = _priors(blocks) * vary
        sums = (columns[:, None] == columns) @ priors
        candidates.append(priors / np.where(sums > 0, sums, 1))
    weights = np.array(candidates) * vary
    weights = weights[weights.any(axis=1)]
    weights /= weights.sum(axis=1, keepdims=True)
    first = np.unique(weights.round(12), axis=0, return_index=True)[1]
    return weights[np.sort(first)]


def _priors(blocks: Sequence[FittedFeatures]) -> np.ndarray:
    """Return the prior weight of each family; its mean over each column of records is 1."""
    families = {block.family: (block.column, block.prior) for block in blocks}
    columns = np.array([column for column, _ in families.values()])
    priors = np.array([prior for _, prior in families.values()])
    in_column = columns[:, None] == columns
    return priors * in_column.sum(axis=1) / (in_column @ priors)


def stacked_weights(
    decisions: np.ndarray, T: np.ndarray, row_weights: np.ndarray, prior: np.ndarray
) -> np.ndarray:
    """Return the stacking weights of candidates.

    They are not negative, sum to 1, and are proportional to the weights a that minimise
    sum_i v_i |t_i - sum_c a_c decision_ci|^2 + pull sum_c (a_c - prior_c)^2. With pull = 5 times
    the mean of |t_i|^2, five pseudo-objects pull them toward their priors.

    Parameters
    ----------
    decisions : ndarray of float64, shape (n_candidates, n, k)
        Leave-one-out decisions of each candidate, minus the means of the targets.
    T : ndarray of float64, shape (n, k)
        The targets, minus their means.
    row_weights : ndarray of float64, shape (n,)
        The weights v_i of the rows.
    prior : ndarray of float64, shape (n_candidates,)
        Prior weights, which sum to 1.

    Returns
    -------
    ndarray of float64, shape (n_candidates,)
        The weights; `prior` if no candidate predicts anything.

    Examples
    --------
    >>> import numpy as np
    >>> from d2ke.models.kernel_weights import stacked_weights
    >>> T = np.array([[-1.0], [1.0]] * 20)
    >>> decisions = np.stack([0.9 * T, -0.1 * T])
    >>> stacked_weights(decisions, T, np.ones(40), np.array([0.5, 0.5])).round(2).tolist()
    [0.71, 0.29]
    """
    pull = _PSEUDO_OBJECTS * float(row_weights @ (T**2).sum(axis=1)) / row_weights.sum()
    if not pull > 0:
        return prior
    roots = np.sqrt(row_weights)[:, None]
    decisions = (decisions * roots).reshape(len(decisions), -1)
    factor = np.linalg.cholesky(decisions @ decisions.T + pull * np.eye(len(decisions)))
    crossed = decisions @ (T * roots).ravel() + pull * prior
    weights, _ = nnls(factor.T, np.linalg.solve(factor, crossed))
    return weights / weights.sum() if weights.sum() > 1e-8 else prior


@dataclass(frozen=True, eq=False)
class KernelWeights:
    """The weight of each family in the kernel.

    Attributes
    ----------
    by_family : dict of str to float
        The weights.
    ridge : tuple of Ridge and ndarray, or None
        If all rows chose, the ridge of their kernel with these weights, without weights of
        features, and the coordinates of the rows.
    score_folds : callable, or None
        Returns the scores of predictions in each fold, with kernel weights and C from the other
        folds (each candidate's own C is from all rows). None if not all rows chose, or there was
        one family only.
    """

    by_family: dict[str, float]
    ridge: Decomposed | None = None
    score_folds: Callable[[], LooScores] | None = None


def choose_kernel_weights(
    kernels: FamilyKernels,
    labels: Labels,
    own_columns: OwnColumns,
    entropy: Any,
    max_rows: int = MAX_ROWS,
) -> KernelWeights:
    """Choose the weight of each family by stacking.

    Parameters
    ----------
    kernels : FamilyKernels
        Kernels of n training objects.
    labels : Labels
        Labels of the n objects.
    own_columns : OwnColumns
        Own columns of the n objects. Only `KernelWeights.score_folds` leaves them out.
    entropy : int
        Seed of the sample of objects that choose.
    max_rows : int
        Largest size of this sample; it is smaller for more than eight candidates.

    Returns
    -------
    KernelWeights
        With the ridge and `score_folds` if all objects chose.
    """
    blocks = kernels.blocks
    names = list(dict.fromkeys(block.family for block in blocks))
    if len(names) == 1:
        return KernelWeights({names[0]: 1.0})
    rng = np.random.default_rng(np.random.SeedSequence(entropy, spawn_key=(1024,)))
    n, n_candidates = len(kernels.F), len(candidate_kernels(blocks, np.ones(len(names))))
    # More than eight candidates take about the same time, with fewer objects.
    size = int(max_rows * min(1.0, 8 / n_candidates) ** (1 / 3))
    if n > size:
        rows = np.sort(rng.choice(n, size, replace=False, shuffle=False))
        kernels, labels, own_columns = kernels.within(rows), labels[rows], own_columns.within(rows)
    if labels.groups is not None and (labels.groups == labels.groups[0]).all():
        labels = replace(labels, groups=None)
    if not any(kernels.scales.varying.values()):
        return KernelWeights(dict.fromkeys(names, 1 / len(names)))
    some_targets = np.arange(labels.task.k)
    if len(some_targets) > 256:  # classes whose errors are summed
        some_targets = np.sort(rng.choice(some_targets, 256, replace=False))
    stacking = _Stacking(kernels, labels, own_columns, some_targets)
    kernel = stacking.choose(np.arange(len(labels)))
    weights = dict(zip(names, kernel.kernel_weights.tolist(), strict=True))
    if n > size:
        return KernelWeights(weights)
    for_calibration = calibration_rows(n, labels.task.k, entropy)
    ridge = None if stacking.sums is not None else (kernel.ridge, kernel.P)
    return KernelWeights(weights, ridge, lambda: stacking.scores_of_folds(rng, for_calibration))


@dataclass(frozen=True, eq=False)
class _WeightedKernel:
    """The ridge of a weighted sum of kernels, with the leave-one-out decisions for all C.

    Attributes
    ----------
    kernel_weights : ndarray of float64, shape (n_families,)
        Weights of the kernels.
    ridge : Ridge
        The models of every penalty.
    P : ndarray of float64, shape (n, r)
        Coordinates of rows.
    decisions : ndarray of float64, shape (n, n_Cs, k)
        Decisions by models without the row or its group.
    squared_errors : ndarray of float64, shape (n, n_Cs)
        Squared errors of the decisions.
    row_weights : ndarray of float64, shape (n,)
        Weights of rows.
    """

    kernel_weights: np.ndarray
    ridge: Ridge
    P: np.ndarray
    decisions: np.ndarray
    squared_errors: np.ndarray
    row_weights: np.ndarray

    def best(self, rows: Any = slice(None)) -> int:
        """Return the index of the C with the least squared error of rows."""
        return int(
            np.average(self.squared_errors[rows], axis=0, weights=self.row_weights[rows]).argmin()
        )


class _Stacking:
    """The choice of kernel weights by a subset of the rows; all rows fit each candidate's ridge."""

    def __init__(
        self, kernels: FamilyKernels, labels: Labels, own_columns: OwnColumns, targets: np.ndarray
    ):
        self.kernels, self.labels, self.own_columns = kernels, labels, own_columns
        self.targets, self.sums = targets, None
        F, scales = kernels.F, kernels.scales
        if F.shape[1] < len(F):
            centre = labels.task.target_centre(labels.values)
            self.sums = RidgeSums.empty(scales.mean, scales.divisor, centre)
            self.sums.add(F, labels.targets(), kernels.n_threads, labels.weights)
        vary = np.array(list(scales.varying.values()))
        self.unsupervised = vary & kernels.without_labels
        self.candidates = candidate_kernels(kernels.blocks, vary)
        self.prior = self.candidates @ _priors(kernels.blocks)
        self.prior /= self.prior.sum()
        self.T = labels.dense_targets()[:, targets]
        codes = np.arange(len(labels)) if labels.groups is None else labels.groups
        self.groups = np.unique(codes, return_inverse=True)[1]
        fits = [self._fit(weights) for weights in self.candidates]
        self.decisions = np.stack([fit.decisions[:, fit.best()] for fit in fits])
        self.squared_errors = np.stack([fit.squared_errors for fit in fits])
        self._last: list[_WeightedKernel] = []

    def choose(self, rows: np.ndarray) -> _WeightedKernel:
        """Return the kernel with the weights that `rows` choose.

        These are the stacking weights, or the weights of the best candidate if its sum of squared
        errors is smaller by more than five objects' mean error: good weights of predictions may be
        poor weights of kernels.
        """
        row_weights = self.labels.row_weights
        centre = np.average(self.T, axis=0, weights=row_weights)
        row_weights = row_weights[rows]
        decisions, T = self.decisions[:, rows] - centre, self.T[rows] - centre
        stacked = self._kernel(
            stacked_weights(decisions, T, row_weights, self.prior) @ self.candidates
        )
        means = np.average(self.squared_errors[:, rows], axis=1, weights=row_weights)
        candidate, i = np.unravel_index(means.argmin(), means.shape)
        squared_errors = stacked.squared_errors[rows, stacked.best(rows)]
        error = np.average(squared_errors, weights=row_weights)
        if (error - means[candidate, i]) * row_weights.sum() <= _PSEUDO_OBJECTS * error:
            return stacked
        return self._kernel(self.candidates[candidate])

    def scores_of_folds(self, rng: np.random.Generator, for_calibration: np.ndarray) -> LooScores:
        """Score the rows of each fold, with the kernel weights and C chosen by the other folds."""
        n_groups = self.groups.max() + 1
        folds = (rng.permutation(n_groups) % min(3, n_groups))[self.groups]
        scores, calibrated = [], []
        for fold in range(folds.max() + 1):
            rows, train = np.flatnonzero(folds == fold), np.flatnonzero(folds != fold)
            kernel = self.choose(train)
            C = ALL_CS[kernel.best(train)]
            ridge, own_columns = kernel.ridge, self.own_columns
            if self.sums is None:  # the ridge of a kernel has the rows of the own columns only
                columns, kernels = own_columns.columns, self.kernels
                values = kernels.centred(columns) * kernels.roots(kernel.kernel_weights)[columns]
                values *= np.sqrt(self.labels.row_weights)[:, None]
                ridge = replace(ridge, rows=values)
                own_columns = own_columns._replace(columns=np.arange(len(columns)))
            indices = np.flatnonzero(np.isin(rows, for_calibration))
            labels, own_columns = self.labels[rows], own_columns.within(rows)
            scores.append(LooScores.of(ridge, kernel.P[rows], labels, [C], indices, own_columns))
            calibrated.append(rows[indices])
        merged, order = scores[0].merged(*scores[1:]), np.argsort(np.concatenate(calibrated))
        return replace(
            merged, calibration_decisions=merged.calibration_decisions[order],
            calibration_values=merged.calibration_values[order],
            calibration_weights=merged.calibration_weights[order],
        )  # fmt: skip

    def _kernel(self, weights: np.ndarray) -> _WeightedKernel:
        """Return the kernel with these weights, from the last two if one has them.

        Unsupervised families, the features of `d2ke_transform`, get a total of at least 2 %.
        """
        free = self.unsupervised
        if free.any() and not weights[free].any():
            weights = 0.98 * weights + 0.02 * free / free.sum()
        for kernel in self._last:
            if np.array_equal(weights, kernel.kernel_weights):
                break
        else:
            kernel = self._fit(weights)
        self._last = [*(last for last in self._last if last is not kernel), kernel][-2:]
        return kernel

    def _fit(self, weights: np.ndarray) -> _WeightedKernel:
        """Fit the ridge of the kernel with these weights; compute leave-one-out decisions."""
        kernels, labels, targets = self.kernels, self.labels, self.targets
        if self.sums is None:
            ridge, P = ridge_of_gram(kernels.sum(weights), labels.targets(), labels.weights)
        else:
            with np.errstate(divide="ignore"):
                ridge = Ridge.of(self.sums, kernels.scales.divisor / kernels.roots(weights))
            P = ridge.coordinates(kernels.F, kernels.n_threads)
        projected, target_mean = ridge.projected[:, targets], ridge.target_mean[targets]
        some_ridge = replace(ridge, projected=projected, target_mean=target_mean)
        decisions = np.empty((len(P), len(ALL_CS), len(targets)))
        loo = loo_decisions(some_ridge, P, labels, ALL_CS, some_targets=targets)
        for rows, some_Cs, _, values in loo:
            decisions[rows, some_Cs] = values
        squared_errors = ((decisions - self.T[:, None]) ** 2).sum(axis=2)
        return _WeightedKernel(weights, ridge, P, decisions, squared_errors, labels.row_weights)
