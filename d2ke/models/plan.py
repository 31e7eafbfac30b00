# SPDX-License-Identifier: BSD-3-Clause
"""The features of a model: random objects drawn from a sample, their scales, shares of families."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter, not_
from typing import Any, NamedTuple

import numpy as np

from d2ke._base.rounding import feature_deviations, least_deviations
from d2ke.embedding.scaling import Scaling, moments
from d2ke.learners.ridge import product_type
from d2ke.models.blocks import (
    SAMPLE,
    AnyBlock,
    FittedFeatures,
    Sample,
    fit_blocks,
    fit_fixed,
    per_feature,
    sample_rows,
)
from d2ke.models.own_columns import OwnColumns
from d2ke.models.reference_objects import ReferenceObjects
from d2ke.models.shares import choose_shares, deviation_groups

_FIRST, _LITTLE = 256, 5  # features that choose the number of features beside supervised blocks


@dataclass(frozen=True, eq=False)
class Plan:
    """The features of a model and their scales, for all passes over the training objects.

    All of it comes from the sample.

    Attributes
    ----------
    blocks : tuple of FittedFeatures
        With random objects, gammas and shares.
    centre, unit : ndarray of float64, shape (R,)
        Means of the sample's features, and the divisors of features.
    deviation, largest, floors : ndarray of float64, shape (R,)
        Deviations and largest absolute values of the sample's features, and their least deviations,
        see `d2ke._base.rounding`.
    stretch : ndarray of float64, shape (R,)
        Factors of the deviations that give each family its share of the kernel.
    left_out : tuple of str
        Names of the blocks of families without a share.
    target_centre : ndarray of float64, shape (k,)
        Subtracted from the targets.
    dtype : dtype
        Type of the products.
    reference : ReferenceObjects
        What the model keeps of the sample.
    own_columns : OwnColumns
        The columns that are left out with training objects.
    """

    blocks: tuple[FittedFeatures, ...]
    centre: np.ndarray
    unit: np.ndarray
    deviation: np.ndarray
    largest: np.ndarray
    floors: np.ndarray
    stretch: np.ndarray
    left_out: tuple[str, ...]
    target_centre: np.ndarray
    dtype: np.dtype[Any]
    reference: ReferenceObjects
    own_columns: OwnColumns

    @property
    def R(self) -> int:
        """Number of features."""
        return len(self.centre)

    @property
    def sd(self) -> np.ndarray:
        """Divisors of the sample's features that give each family its share."""
        return self.unit * self.stretch

    def scaling(self, mean: np.ndarray, deviation: np.ndarray) -> Scaling:
        """Return the scaling of features of these means and deviations, with the shares."""
        unit = feature_deviations(deviation, self.largest, self.floors, np.float32)
        return Scaling(mean, unit * self.stretch)


class Drawn(NamedTuple):
    """Blocks before and after they are fitted to a sample, and the features of the sample."""

    blocks: Sequence[AnyBlock]
    fitted: tuple[FittedFeatures, ...]
    Z: np.ndarray

    def shares(self, sample: Sample, entropy: Any) -> dict[str, float]:
        """Choose the shares of families."""
        assert sample.labels is not None
        return choose_shares(self.Z, self.fitted, sample.labels, entropy, sample.n_threads)


def fit(
    blocks: Sequence[AnyBlock],
    sample: Sample,
    own_samples: Mapping[int, Sample],
    limit: int | None,
    entropy: Any,
) -> Drawn:
    """Draw the random objects of all blocks from the sample.

    `own_samples` are those of blocks that have one of their own, by `own_rows`. Next to supervised
    blocks, which may carry most of the signal, a model of few features is fitted first: a family
    whose share there is below a fifth gets fewer features.
    """
    blocks = fit_fixed(blocks, sample, own_samples, entropy)
    size = sum(map(attrgetter("R"), blocks))
    if any(getattr(block, "supervised", False) for block in blocks) and size > _FIRST:
        quiet = replace(sample, progress=False)
        few = [block.resized(max(1, block.R * _FIRST // size)) for block in blocks]
        shares = Drawn(few, *fit_blocks(few, quiet, entropy)).shares(sample, entropy)
        blocks = _within(blocks, shares, _LITTLE * min(size, limit or size))
    return Drawn(blocks, *fit_blocks(blocks, sample, entropy))


def weigh(
    drawn: Drawn, sample: Sample, limit: int | None, n: int, entropy: Any
) -> tuple[Plan, np.ndarray]:
    """Choose the shares of families for n objects; return the plan, and the sample's features.

    Families without a share are left out. If there are more features than `limit`, each family
    keeps features in proportion to its share, which are drawn anew.
    """
    blocks, fitted, Z = drawn
    shares = drawn.shares(sample, entropy)
    fitted = tuple(replace(block, share=shares[block.family]) for block in fitted)
    left_out = tuple(block.name for block in fitted if not block.share)
    used = [block for block in blocks if shares.get(block.family)]
    if limit is not None and limit < sum(map(attrgetter("R"), used)):
        drawn_anew, Z = fit_blocks(_within(used, shares, limit), sample, entropy)
        fitted = tuple(replace(block, share=shares[block.family]) for block in drawn_anew)
    elif left_out:
        Z = np.ascontiguousarray(Z[:, per_feature(fitted, "share") > 0])
        fitted = tuple(filter(attrgetter("share"), fitted))
    return _plan(fitted, Z, sample, left_out, n, entropy), Z


def _plan(
    fitted: tuple[FittedFeatures, ...],
    Z: np.ndarray,
    sample: Sample,
    left_out: tuple[str, ...],
    n: int,
    entropy: Any,
) -> Plan:
    """Return the plan of fitted blocks with their shares, by the features of the sample."""
    labels = sample.labels
    assert labels is not None
    names, powers = per_feature(fitted, "family"), per_feature(fitted, "sd_power")
    mean, deviation, largest = moments(Z)
    floors = least_deviations(deviation, largest, deviation_groups(fitted))
    unit = feature_deviations(deviation, largest, floors, Z.dtype)
    # Each feature's contribution to the trace, before its family gets a share.
    variances = (deviation / unit**powers) ** 2
    stretch = unit ** (powers - 1)
    for family, share in {block.family: block.share for block in fitted}.items():
        in_family = names == family
        trace = variances[in_family].sum() or len(names) * share
        stretch[in_family] *= np.sqrt(trace / (len(names) * share))
    centre = labels.task.target_centre(labels.values)
    own_columns = OwnColumns.of(fitted)
    in_sample = own_columns.within(sample.rows)
    at_own = in_sample.rows, in_sample.columns
    raised, Z[at_own] = Z[at_own], in_sample.hidden  # raised, objects look far from each other
    kept = Z if len(Z) <= SAMPLE else Z[sample_rows(len(Z), entropy)]
    unsupervised = [block for block in fitted if not block.supervised]
    if len(unsupervised) < len(fitted):
        kept = kept[:, ~per_feature(fitted, "supervised")]
    sizes, kinds = (list(map(attrgetter(fact), unsupervised)) for fact in ("R", "kinds"))
    reference = ReferenceObjects.of(kept, sizes, list(map(not_, kinds)), entropy, sample.n_threads)
    Z[at_own] = raised
    return Plan(
        fitted, mean, unit, deviation, largest, floors, stretch, left_out, centre,
        product_type(n, Z.shape[1]), reference, own_columns,
    )  # fmt: skip


def _within(blocks: Sequence[AnyBlock], shares: Mapping[str, float], limit: int) -> list[AnyBlock]:
    """Return blocks of at most about `limit` features, of each family by its share."""
    sizes = dict.fromkeys(shares, 0)
    for block in blocks:
        sizes[block.family] += block.R
    targets = [limit * shares[block.family] * block.R / sizes[block.family] for block in blocks]
    return [
        block.resized(max(1, min(block.R, int(size))))
        for block, size in zip(blocks, targets, strict=True)
    ]
