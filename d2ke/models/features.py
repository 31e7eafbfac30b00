# SPDX-License-Identifier: BSD-3-Clause
"""Features of a model: random objects drawn from a sample, scales, weights of families."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from d2ke._base.blas import row_products
from d2ke._base.rounding import feature_deviations
from d2ke.embedding.scaling import Scaling
from d2ke.learners.ridge import Decomposed, orthonormal, product_type, ridge_of_gram
from d2ke.models.blocks import (
    LARGEST,
    SAMPLE,
    AnyBlock,
    FittedFeatures,
    Sample,
    column_slices,
    fit_blocks,
    fit_fixed,
    per_feature,
    sample_rows,
)
from d2ke.models.kernel_weights import (
    MAX_ROWS,
    FamilyKernels,
    FamilyScales,
    KernelWeights,
    choose_kernel_weights,
)
from d2ke.models.loo import LooScores, OwnColumns, near_copies
from d2ke.models.model import ReferenceObjects


@dataclass(frozen=True, eq=False)
class Features:
    """The features of a model and their scales, estimated from the sample.

    Attributes
    ----------
    blocks : tuple of FittedFeatures
        Fitted blocks with their kernel weights.
    scales : FamilyScales
        Scales of the sample's features.
    divisor_ratio : ndarray of float64, shape (R,)
        Factors of the deviations of all rows, u_j / (sqrt(s_f) floored_j), with the divisors u_j
        of `FamilyScales` and the kernel weight s_f of the family.
    unused_blocks : tuple of str
        Names of the blocks of families without a kernel weight.
    target_centre : ndarray of float64, shape (k,)
        Subtracted from the targets.
    dtype : dtype
        Type of the products.
    reference : ReferenceObjects
        Objects of the sample that the model keeps.
    own_columns : OwnColumns
        The columns that are left out with training objects.
    directions : ndarray of float32, shape (m, R), or None
        Directions to project standardised features to before the ridge, see `within_span`.
    fold_scores : LooScores or None
        Scores of predictions with kernel weights from other folds, see `KernelWeights`.
    """

    blocks: tuple[FittedFeatures, ...]
    scales: FamilyScales
    divisor_ratio: np.ndarray
    unused_blocks: tuple[str, ...]
    target_centre: np.ndarray
    dtype: np.dtype[Any]
    reference: ReferenceObjects
    own_columns: OwnColumns
    directions: np.ndarray | None = None
    fold_scores: LooScores | None = None

    @property
    def R(self) -> int:
        """Number of features."""
        return len(self.divisor_ratio)

    @property
    def divisor(self) -> np.ndarray:
        """Divisors of the sample's centred features, u_j / sqrt(s_f)."""
        return self.scales.floored_deviation * self.divisor_ratio

    def scaling(self, mean: np.ndarray, deviation: np.ndarray) -> Scaling:
        """Return the scaling for given means and deviations, with the kernel weights."""
        largest, floors = self.scales.largest, self.scales.floors
        floored_deviation = feature_deviations(deviation, largest, floors, np.float32)
        return Scaling(mean, floored_deviation * self.divisor_ratio)

    # Decompositions take time like the cube of min(n, R). Above LARGEST of both, the weights W are
    # sought in the span of the features z of m rows of the sample (a Nyström approximation),
    #
    #     W = directions' V,    directions = L^-1 Z_m,    Z_m Z_m' = L L',    |W| = |V|,
    #
    # so the ridge has m features, directions z. For series, sets and graphs that costs up to .3
    # points of accuracy, and twice as much with 1,024 rows; m random features alone cost up to 3.

    def within_span(self, F: np.ndarray, entropy: Any, n_threads: int | None) -> Features:
        """Return the same, projected to the span of some rows if F has many rows and columns."""
        if min(F.shape) <= LARGEST:
            return self
        rng = np.random.default_rng(np.random.SeedSequence(entropy, spawn_key=(LARGEST,)))
        rows = np.sort(rng.choice(len(F), LARGEST, replace=False))
        directions = orthonormal((F[rows] - self.scales.mean) / self.divisor, n_threads)
        return replace(self, directions=directions, dtype=product_type(len(F), len(directions)))

    def projected(self, F: np.ndarray, n_threads: int | None) -> np.ndarray:
        """Return the ridge's inputs for unscaled features F."""
        if self.directions is None:
            return F
        Z = Scaling(self.scales.mean, self.divisor).scale(F, np.empty_like(F))
        return row_products(Z, self.directions, n_threads)


class FittedBlocks(NamedTuple):
    """Blocks before and after fitting, and the features of their sample.

    If near-copies were searched for, the sample has them; if they decide, its labels have them as
    groups. `weights` are None until they are chosen.
    """

    blocks: Sequence[AnyBlock]
    fitted: tuple[FittedFeatures, ...]
    F: np.ndarray
    sample: Sample
    kernels: FamilyKernels
    weights: KernelWeights | None = None

    @classmethod
    def of(
        cls, blocks: Sequence[AnyBlock], sample: Sample, entropy: Any, find_copies: bool = False
    ) -> FittedBlocks:
        """Fit blocks of their first-pass sizes to a sample; perhaps search for near-copies."""
        firsts = [block.resized(block.first) if 0 < block.first < block.R else block
                  for block in blocks]  # fmt: skip
        labels = sample.labels
        fitted, F = fit_blocks(firsts, sample, entropy)
        kernels = FamilyKernels(F, fitted, labels.weights, sample.n_threads)
        if find_copies:
            kernel = kernels.copy_kernel(OwnColumns.of(fitted).within(sample.rows))
            copies = None if kernel is None else near_copies(kernel, labels.task.largest_group)
            if copies is not None and copies.decide:
                labels = replace(labels, groups=copies.codes)
            sample = replace(sample, labels=labels, near_copies=copies)
        return cls(firsts, fitted, F, sample, kernels)

    def choose_weights(self, entropy: Any, max_rows: int = MAX_ROWS) -> KernelWeights:
        """Choose the weights of families by at most `max_rows` objects."""
        labels = self.sample.labels
        own_columns = OwnColumns.of(self.fitted).within(self.sample.rows)
        return choose_kernel_weights(self.kernels, labels, own_columns, entropy, max_rows)

    def decomposed(self, weights: KernelWeights) -> Decomposed | None:
        """Return the ridge with these weights; None if it would need products of features."""
        kernels, labels = self.kernels, self.sample.labels
        if weights.ridge is not None:
            return weights.ridge
        if not kernels.is_stacked or len(weights.by_family) == 1:
            return None
        s = np.array([weights.by_family[name] for name in kernels.scales.varying])
        return ridge_of_gram(kernels.sum(s), labels.targets(), labels.weights)

    def grown(self, blocks: Sequence[AnyBlock], entropy: Any) -> FittedBlocks:
        """Return the blocks with more random objects of families that have a weight.

        `blocks` have their full sizes. At most 256 objects choose the weights here. A family of
        weight s grows to min(1, 2 s) of its full size. Features of other families are kept; if no
        family grows, all features are, with the weights.
        """
        if all(block.R == first.R for block, first in zip(blocks, self.blocks, strict=True)):
            return self
        weights = self.choose_weights(entropy, 256)
        sizes = [  # a family without features in the sample has no weight
            min(block.R, int(2 * weights.by_family.get(block.family, 0.0) * block.R))
            for block in blocks
        ]
        blocks = [
            block.resized(size) if size > first.R else first
            for first, block, size in zip(self.blocks, blocks, sizes, strict=True)
        ]
        resized = zip(blocks, self.blocks, strict=True)
        growing = {block.family for block, first in resized if block is not first}
        if not growing:
            return self._replace(weights=weights if weights.score_folds else None)
        new, F_new = fit_blocks(blocks, self.sample, entropy, growing)
        pairs = [(block, F_new[:, columns]) for block, columns in column_slices(new)]
        for block, columns in column_slices(self.fitted):
            if block.family not in growing:
                pairs.append((block, self.F[:, columns]))
        order = [block.family for block in blocks]
        pairs.sort(key=lambda pair: order.index(pair[0].family))
        fitted, F = tuple(block for block, _ in pairs), np.hstack([values for _, values in pairs])
        kernels = self.kernels.with_features(F, fitted, growing)
        return self._replace(blocks=blocks, fitted=fitted, F=F, kernels=kernels)


def draw(
    blocks: Sequence[AnyBlock],
    sample: Sample,
    block_samples: Mapping[int, Sample],
    entropy: Any,
    find_copies: bool = False,
) -> FittedBlocks:
    """Draw the random objects of all blocks from the sample.

    Blocks with a `sample_size` are fitted to the sample of that size. Blocks with a first-pass size
    start from it, and grow by the weights of their families.

    With `find_copies`, near-copies in the sample become groups. Supervised blocks are then fitted
    to the sample, since objects outside it may be copies of its objects.
    """
    unsupervised = [block for block in blocks if not block.supervised]
    has_supervised = len(unsupervised) < len(blocks)
    if find_copies and has_supervised and unsupervised:
        quiet = replace(sample, progress=False)
        grouped = FittedBlocks.of(unsupervised, quiet, entropy, find_copies=True).sample
        sample = replace(grouped, progress=sample.progress)
        if sample.near_copies is not None and sample.near_copies.decide:
            block_samples = {}
    blocks = fit_fixed(blocks, sample, block_samples, entropy)
    first_pass = FittedBlocks.of(blocks, sample, entropy, find_copies and not has_supervised)
    return first_pass.grown(blocks, entropy)


def choose_features(
    fitted_blocks: FittedBlocks, limit: int | None, n: int, entropy: Any
) -> tuple[Features, np.ndarray, Decomposed | None]:
    """Choose the weights of families for n objects; return `Features`, and F of the sample.

    Families without a weight are left out. If there are more features than `limit`, each family
    gets features in proportion to its weight, drawn anew. The last result is the ridge with the
    weights, if it costs no products of features.
    """
    blocks, fitted, F, sample, kernels, stacked = fitted_blocks
    stacked = stacked or fitted_blocks.choose_weights(entropy)
    weights, decomposed, scales = stacked.by_family, None, kernels.scales
    unused = tuple(block.name for block in fitted if not weights[block.family])
    used = [block for block in blocks if weights.get(block.family)]
    if limit is not None and limit < sum(block.R for block in used):
        sizes = dict.fromkeys(weights, 0)
        for block in used:
            sizes[block.family] += block.R
        shrunk = [  # a family of weight s has s limit features
            block.resized(max(1, min(block.R, int(limit * weights[block.family] * block.R
                                                  / sizes[block.family]))))
            for block in used
        ]  # fmt: skip
        fitted, F = fit_blocks(shrunk, sample, entropy)
        scales = FamilyScales.of(F, fitted)
    elif unused:
        columns = np.array([weights[name] > 0 for name in per_feature(fitted, "family")])
        F, scales = np.ascontiguousarray(F[:, columns]), scales.select(columns)
    fitted = tuple(
        replace(block, kernel_weight=weights[block.family])
        for block in fitted
        if weights[block.family]
    )
    if n == len(F) <= min(F.shape[1], LARGEST):
        decomposed = fitted_blocks.decomposed(stacked)
    s = per_feature(fitted, "kernel_weight")
    unsupervised = [block for block in fitted if not block.supervised]
    own_columns, labels = OwnColumns.of(fitted), sample.labels
    own_rows, columns, hidden_values = own_columns.within(sample.rows)
    # With raised features, objects would look far apart.
    raised_values, F[own_rows, columns] = F[own_rows, columns], hidden_values
    rows = np.arange(len(F)) if len(F) <= SAMPLE else sample_rows(len(F), entropy)
    F_reference = F if len(rows) == len(F) else F[rows]
    if len(unsupervised) < len(fitted):
        F_reference = F_reference[:, ~per_feature(fitted, "supervised")]
    reference = ReferenceObjects.of(
        F_reference, unsupervised, sample.rows[rows], entropy, sample.n_threads
    )
    F[own_rows, columns] = raised_values
    features = Features(
        fitted,
        scales,
        divisor_ratio=scales.divisor / (scales.floored_deviation * np.sqrt(s)),
        unused_blocks=unused,
        target_centre=labels.task.target_centre(labels.values),
        dtype=product_type(n, F.shape[1]),
        reference=reference,
        own_columns=own_columns,
        fold_scores=stacked.score_folds() if stacked.score_folds and len(F) == n else None,
    )
    return features, F, decomposed
