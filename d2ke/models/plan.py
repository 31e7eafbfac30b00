# SPDX-License-Identifier: BSD-3-Clause
"""The features of a model: random objects drawn from a sample, their scales, shares of families."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np

from d2ke._base.rounding import feature_deviations
from d2ke.embedding.scaling import Scaling
from d2ke.learners.ridge import Decomposed, product_type, ridge_of_gram
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
from d2ke.models.families import FamilyKernels, FamilyScales
from d2ke.models.left_out import LeftOutScores
from d2ke.models.near_copies import near_copies
from d2ke.models.own_columns import OwnColumns
from d2ke.models.reference_objects import ReferenceObjects
from d2ke.models.shares import CHOOSING, Shares, choose_shares

_GROWTH = 2  # a family with half of the kernel has all of its random objects
_FIRST_ROWS = 512  # training objects, at most, that choose the shares of a first pass


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
    scores : LeftOutScores or None
        Of left-out predictions with shares that other objects chose, see `Shares`.
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
    scores: LeftOutScores | None = None

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
    """Blocks before and after they are fitted to a sample, and the features of the sample.

    After `grouped`, the sample has its near-copies, and its labels those that decide, as groups.
    `shares` are None until they are chosen.
    """

    blocks: Sequence[AnyBlock]
    fitted: tuple[FittedFeatures, ...]
    Z: np.ndarray
    sample: Sample
    kernels: FamilyKernels
    shares: Shares | None = None

    @classmethod
    def of(cls, blocks: Sequence[AnyBlock], sample: Sample, entropy: Any) -> Drawn:
        """Fit blocks to a sample."""
        assert sample.labels is not None
        fitted, Z = fit_blocks(blocks, sample, entropy)
        kernels = FamilyKernels(Z, fitted, sample.labels.weights, sample.n_threads)
        return cls(blocks, fitted, Z, sample, kernels)

    @property
    def own_columns(self) -> OwnColumns:
        """The own columns of the rows of the sample."""
        return OwnColumns.of(self.fitted).within(self.sample.rows)

    def choose(self, entropy: Any, most: int = CHOOSING) -> Shares:
        """Choose the shares of families by at most so many objects."""
        labels = self.sample.labels
        assert labels is not None
        return choose_shares(self.kernels, labels, self.own_columns, entropy, most)

    def decomposed(self, shares: Shares) -> Decomposed | None:
        """Return the ridge with these shares, if the kernels of families are there."""
        kernels, labels = self.kernels, self.sample.labels
        assert labels is not None
        if shares.ridge is not None:
            return shares.ridge
        if not kernels.is_stacked or len(shares.of_families) == 1:
            return None
        kernel = kernels.sum(
            np.array([shares.of_families[name] for name in kernels.scales.varying])
        )
        return ridge_of_gram(kernel, labels.columns(), labels.weights)

    def grouped(self) -> Drawn:
        """Return the same with near-copies in the sample, and as groups of the labels."""
        labels = self.sample.labels
        assert labels is not None
        copies = near_copies(self.kernels, self.own_columns, labels.task.largest_group)
        if copies is not None and copies.decide:
            labels = replace(labels, groups=copies.codes)
        return self._replace(sample=replace(self.sample, labels=labels, copies=copies))

    def grown(self, blocks: Sequence[AnyBlock], entropy: Any) -> Drawn:
        """Return the same with more random objects of families that have a share.

        `blocks` are those of full size, to which a family with half of the kernel grows, others in
        proportion to their shares. Features of other families are kept; if no family grows, all
        are, with the shares.
        """
        if all(block.R == first.R for block, first in zip(blocks, self.blocks, strict=True)):
            return self
        shares = self.choose(entropy, _FIRST_ROWS)
        of_families = shares.of_families
        sizes = [  # a family that the sample gives no features has no share
            min(block.R, int(_GROWTH * of_families.get(block.family, 0.0) * block.R))
            for block in blocks
        ]
        blocks = [
            block.resized(size) if size > first.R else first
            for first, block, size in zip(self.blocks, blocks, sizes, strict=True)
        ]
        changed = zip(blocks, self.blocks, strict=True)
        grown = {block.family for block, first in changed if block is not first}
        if not grown:
            return self._replace(shares=shares if shares.by_all else None)
        anew = _by_block(*fit_blocks(blocks, self.sample, entropy, grown))
        kept = [pair for pair in _by_block(self.fitted, self.Z) if pair[0].family not in grown]
        order = [block.family for block in blocks]
        parts = sorted([*kept, *anew], key=lambda pair: order.index(pair[0].family))
        fitted, Z = tuple(block for block, _ in parts), np.hstack([values for _, values in parts])
        kernels = self.kernels.with_features(Z, fitted, grown)
        return self._replace(blocks=blocks, fitted=fitted, Z=Z, kernels=kernels)


def fit(
    blocks: Sequence[AnyBlock],
    sample: Sample,
    own_samples: Mapping[int, Sample],
    entropy: Any,
    find_groups: bool = False,
) -> Drawn:
    """Draw the random objects of all blocks from the sample.

    `own_samples` are those of blocks that have one of their own, by `own_rows`. Blocks that name a
    size of a first pass begin with it; shares of their families say whether they grow.

    With `find_groups`, near-copies in the sample become groups. Supervised blocks are then fitted
    to the sample, as other objects may be copies, too.
    """
    others = [block for block in blocks if not getattr(block, "supervised", False)]
    has_supervised = len(others) < len(blocks)
    if find_groups and has_supervised and others:
        quiet = replace(sample, progress=False)
        found = Drawn.of(list(map(_first, others)), quiet, entropy).grouped().sample
        sample = replace(found, progress=sample.progress)
        if sample.copies is not None and sample.copies.decide:
            own_samples = dict.fromkeys(own_samples, sample)
    blocks = fit_fixed(blocks, sample, own_samples, entropy)
    drawn = Drawn.of(list(map(_first, blocks)), sample, entropy)
    if find_groups and not has_supervised:
        drawn = drawn.grouped()
    return drawn.grown(blocks, entropy)


def _first(block: AnyBlock) -> AnyBlock:
    """Return the block with the size of its first pass, if it has one."""
    size = getattr(block, "first", 0)
    return block.resized(size) if 0 < size < block.R else block


def _by_block(
    blocks: Sequence[FittedFeatures], Z: np.ndarray
) -> Iterator[tuple[FittedFeatures, np.ndarray]]:
    """Return blocks with the columns of each."""
    ends = np.cumsum(list(map(attrgetter("R"), blocks)))
    return zip(blocks, np.split(Z, ends[:-1], axis=1), strict=True)


def weigh(
    drawn: Drawn, limit: int | None, n: int, entropy: Any
) -> tuple[Plan, np.ndarray, Decomposed | None]:
    """Choose the shares of families for n objects; return the plan, and the sample's features.

    Families without a share are left out. If there are more features than `limit`, each family
    keeps features in proportion to its share, which are drawn anew. The ridge with the shares is
    returned too if it costs no products of features.
    """
    blocks, fitted, Z, sample, kernels, chosen = drawn
    chosen = chosen or drawn.choose(entropy)
    shares, decomposed = chosen.of_families, None
    fitted = tuple(replace(block, share=shares[block.family]) for block in fitted)
    left_out = tuple(block.name for block in fitted if not block.share)
    used = [block for block in blocks if shares.get(block.family)]
    scales = kernels.scales
    if limit is not None and limit < sum(map(attrgetter("R"), used)):
        drawn_anew, Z = fit_blocks(_within(used, shares, limit), sample, entropy)
        fitted = tuple(replace(block, share=shares[block.family]) for block in drawn_anew)
        scales = FamilyScales.of(Z, fitted)
    else:
        if left_out:
            columns = per_feature(fitted, "share") > 0
            Z, scales = np.ascontiguousarray(Z[:, columns]), scales.of_columns(columns)
            fitted = tuple(filter(attrgetter("share"), fitted))
        if n == len(Z) <= Z.shape[1]:
            decomposed = drawn.decomposed(chosen)
    plan = _plan(fitted, Z, scales, sample, left_out, n, entropy)
    scores = chosen.scores if len(Z) == n else None
    return replace(plan, scores=scores), Z, decomposed


def _plan(
    fitted: tuple[FittedFeatures, ...],
    Z: np.ndarray,
    scales: FamilyScales,
    sample: Sample,
    left_out: tuple[str, ...],
    n: int,
    entropy: Any,
) -> Plan:
    """Return the plan of fitted blocks with their shares, by the features of the sample."""
    labels = sample.labels
    assert labels is not None
    share = per_feature(fitted, "share")
    stretch = scales.balanced / (scales.unit * np.sqrt(len(share) * share))
    centre = labels.task.target_centre(labels.values)
    unsupervised = [block for block in fitted if not block.supervised]
    own_columns = OwnColumns.of(fitted)
    with own_columns.within(sample.rows).hidden_in(Z):
        places = np.arange(len(Z)) if len(Z) <= SAMPLE else sample_rows(len(Z), entropy)
        kept = Z if len(places) == len(Z) else Z[places]
        if len(unsupervised) < len(fitted):
            kept = kept[:, ~per_feature(fitted, "supervised")]
        reference = ReferenceObjects.of(
            kept, unsupervised, sample.rows[places], entropy, sample.n_threads
        )
    return Plan(
        fitted, scales.mean, scales.unit, scales.deviation, scales.largest, scales.floors, stretch,
        left_out, centre, product_type(n, Z.shape[1]), reference, own_columns,
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
