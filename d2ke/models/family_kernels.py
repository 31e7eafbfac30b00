# SPDX-License-Identifier: BSD-3-Clause
"""Families of blocks: the scales of their features, and their kernels.

The kernel of a family comes from the standardised features of its blocks. Features are divided by
the deviations of `d2ke._base.rounding`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from d2ke._base.blas import square
from d2ke._base.rounding import PLAIN, feature_deviations, least_deviations, varying
from d2ke.embedding.scaling import moments
from d2ke.models.blocks import FittedFeatures, per_feature

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
        Divisors u_j of centred features that give the kernel of each family the mean 1 on its
        diagonal, over the sample without weights.
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
