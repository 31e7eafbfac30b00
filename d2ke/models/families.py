# SPDX-License-Identifier: BSD-3-Clause
"""Families of blocks: scales of their features, kernels, and ridges of weighted sums of kernels.

The kernel of a family comes from the standardised features of its blocks. Features are divided by
the deviations of `d2ke._base.rounding`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from d2ke._base.blas import square
from d2ke._base.rounding import PLAIN, feature_deviations, least_deviations, varying
from d2ke.embedding.scaling import moments
from d2ke.learners.ridge import Decomposed, Ridge, RidgeSums, ridge_of_gram
from d2ke.models.blocks import FittedFeatures, per_feature
from d2ke.models.labels import Labels
from d2ke.models.left_out import COSTS
from d2ke.models.own_columns import OwnColumns

_STACKED = 1 << 28  # bytes of the kernels of all families, at most, that are kept


class FamilyScales(NamedTuple):
    """Moments of the features of some rows, and divisors that balance families.

    Attributes
    ----------
    mean, deviation, largest : ndarray of float64, shape (R,)
        Means, deviations and largest absolute values of the features.
    floors : ndarray of float64, shape (R,)
        Their least deviations, see `d2ke._base.rounding`.
    unit : ndarray of float64, shape (R,)
        Deviations that features are divided by, not below the least ones.
    balanced : ndarray of float64, shape (R,)
        Divisors of centred features that give the kernel of each family the mean 1 on its diagonal.
    varying : dict of str to bool
        Whether the features of each family vary.
    """

    mean: np.ndarray
    deviation: np.ndarray
    largest: np.ndarray
    floors: np.ndarray
    unit: np.ndarray
    balanced: np.ndarray
    varying: dict[str, bool]

    @classmethod
    def of(cls, Z: np.ndarray, blocks: Sequence[FittedFeatures]) -> FamilyScales:
        """Return the scales of the features of blocks, shape (n, R)."""
        mean, deviation, largest = moments(Z)
        floors = least_deviations(deviation, largest, deviation_groups(blocks))
        unit = feature_deviations(deviation, largest, floors, Z.dtype)
        families = per_feature(blocks, "family")
        balanced = unit ** per_feature(blocks, "sd_power")
        # Nothing that is constant but for rounding may be made large.
        varied = varying(deviation, largest, floors, Z.dtype)
        variances, families_vary = np.where(varied, (deviation / balanced) ** 2, 0.0), {}
        for family in dict.fromkeys(families.tolist()):
            in_family = families == family
            trace = variances[in_family].sum()
            balanced[in_family] *= np.sqrt(trace or 1.0)
            families_vary[family] = bool(trace > 0)
        return cls(mean, deviation, largest, floors, unit, balanced, families_vary)

    def of_columns(self, columns: np.ndarray) -> FamilyScales:
        """Return the scales of the features of some families."""
        values = {name: getattr(self, name)[columns] for name in self._fields[:-1]}
        return self._replace(**values)


def deviation_groups(blocks: Sequence[FittedFeatures]) -> np.ndarray:
    """Return the group of each feature for `least_deviations`: one for each block and kind."""
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
    Z : ndarray of float32, shape (n, R)
        Features of rows.
    blocks : sequence of FittedFeatures
        The blocks of these features.
    weights : ndarray of float64, shape (n,), or None
        Weights of the rows, with which features are centred; None if all count the same.
    n_threads : int or None
        Threads for products.
    known : mapping of str to ndarray
        Kernels of families that were computed before.
    """

    Z: np.ndarray
    blocks: Sequence[FittedFeatures]
    weights: np.ndarray | None = None
    n_threads: int | None = None
    known: Mapping[str, np.ndarray] = field(default_factory=dict)

    @cached_property
    def scales(self) -> FamilyScales:
        """The scales of the features."""
        return FamilyScales.of(self.Z, self.blocks)

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
        return 8 * len(self.Z) ** 2 * len(self.scales.varying) <= _STACKED

    @cached_property
    def stack(self) -> np.ndarray:
        """The kernels, shape (n_families, n, n)."""
        return np.stack([self._kernel(name) for name in self.scales.varying])

    def _kernel(self, family: str) -> np.ndarray:
        if family in self.known:
            return self.known[family]
        columns = np.flatnonzero(self.families == family)
        return square(self.centred(columns).T.__getitem__, len(columns), self.n_threads)

    def with_features(
        self, Z: np.ndarray, blocks: Sequence[FittedFeatures], changed: Collection[str]
    ) -> FamilyKernels:
        """Return the kernels of the same rows with other features of some families."""
        known = {}
        if self.is_stacked:
            kernels = zip(self.scales.varying, self.stack, strict=True)
            known = {family: kernel for family, kernel in kernels if family not in changed}
        return replace(self, Z=Z, blocks=blocks, known=known)

    def within(self, rows: np.ndarray) -> FamilyKernels:
        """Return the kernels of some rows."""
        weights = None if self.weights is None else self.weights[rows]
        return replace(self, Z=self.Z[rows], weights=weights, known={})

    def centred(self, columns: np.ndarray) -> np.ndarray:
        """Return centred features in their balanced units, shape (n, m)."""
        values = (self.Z[:, columns] - self.scales.mean[columns]) / self.scales.balanced[columns]
        if self.weights is not None:
            values -= self.weights @ values / self.weights.sum()
        return values

    def roots(self, shares: np.ndarray) -> np.ndarray:
        """Return, for each feature, the root of the share of its family."""
        of_family = dict(zip(self.scales.varying, np.sqrt(shares).tolist(), strict=True))
        return np.array([of_family[name] for name in self.families.tolist()])

    def sum(self, shares: np.ndarray) -> np.ndarray:
        """Return the sum of the kernels with these shares; its upper triangle is filled."""
        if self.is_stacked:
            return np.tensordot(shares, self.stack, 1)
        roots = self.roots(shares)
        used = np.flatnonzero(roots)

        def features(columns: slice) -> np.ndarray:
            return (self.centred(used[columns]) * roots[used[columns]]).T

        return square(features, len(used), self.n_threads)


class FamilyRidges:
    """Ridges of weighted sums of kernels.

    Attributes
    ----------
    kernels : FamilyKernels
        Kernels of n rows.
    labels : Labels
        Labels of the n rows.
    own_columns : OwnColumns
        Own columns of the n rows.
    """

    def __init__(self, kernels: FamilyKernels, labels: Labels, own_columns: OwnColumns):
        self.kernels, self.labels, self.own_columns = kernels, labels, own_columns
        self.T = labels.columns()
        self.sums: RidgeSums | None = None
        Z, scales = kernels.Z, kernels.scales
        if Z.shape[1] < len(Z):
            centre = labels.task.target_centre(labels.values)
            self.sums = RidgeSums.empty(scales.mean, scales.balanced, centre)
            self.sums.add(Z, self.T, kernels.n_threads, labels.weights)

    def of(self, shares: np.ndarray) -> Decomposed:
        """Decompose the sum of the kernels with these shares; return coordinates of rows too."""
        kernels = self.kernels
        if self.sums is None:
            return ridge_of_gram(kernels.sum(shares), self.T, self.labels.weights)
        with np.errstate(divide="ignore"):
            ridge = Ridge.of(self.sums, kernels.scales.balanced / kernels.roots(shares))
        return ridge, ridge.coordinates(kernels.Z, kernels.n_threads)

    def with_columns(self, left_out: LeftOutDecisions) -> tuple[Ridge, OwnColumns]:
        """Return the ridge with weights of the rows' own columns, and the numbers of these."""
        columns = self.own_columns.columns
        if self.sums is not None:
            return left_out.ridge, self.own_columns
        rows = self.kernels.centred(columns) * self.kernels.roots(left_out.shares)[columns]
        rows *= np.sqrt(self.labels.row_weights)[:, None]
        own_columns = self.own_columns._replace(columns=np.arange(len(columns)))
        return replace(left_out.ridge, rows=rows), own_columns


@dataclass(frozen=True, eq=False)
class LeftOutDecisions:
    """Left-out decisions, for all C, of the ridge with some shares.

    Attributes
    ----------
    shares : ndarray of float64, shape (n_families,)
        Of the kernel.
    ridge : Ridge
        The models of every penalty.
    P : ndarray of float64, shape (n, r)
        Coordinates of rows.
    decisions : ndarray of float64, shape (n, n_costs, k)
        Of rows, by models without the row or its group.
    squares : ndarray of float64, shape (n, n_costs)
        Their squared errors.
    weights : ndarray of float64, shape (n,)
        Of rows.
    """

    shares: np.ndarray
    ridge: Ridge
    P: np.ndarray
    decisions: np.ndarray
    squares: np.ndarray
    weights: np.ndarray

    @classmethod
    def of(cls, ridges: FamilyRidges, shares: np.ndarray, targets: np.ndarray) -> LeftOutDecisions:
        """Solve the ridge with these shares, and leave out each row, for some of the targets."""
        labels = ridges.labels
        ridge, P = ridges.of(shares)
        fewer = replace(
            ridge, projected=ridge.projected[:, targets], target_mean=ridge.target_mean[targets]
        )
        T = labels.dense_columns()[:, targets]
        decisions = np.empty((len(T), len(COSTS), len(targets)))
        for rows in labels.left_out_chunks():
            decisions[rows] = labels[rows].left_out(fewer, P[rows], T[rows], COSTS)
        squares = ((decisions - T[:, None]) ** 2).sum(axis=2)
        return cls(shares, ridge, P, decisions, squares, labels.row_weights)

    def best_cost(self, rows: Any = slice(None)) -> int:
        """Return the position of the C with the least squared error of rows."""
        return int(np.average(self.squares[rows], axis=0, weights=self.weights[rows]).argmin())

    def best(self) -> np.ndarray:
        """Return the decisions of this C, shape (n, k)."""
        return self.decisions[:, self.best_cost()]
