# SPDX-License-Identifier: BSD-3-Clause
"""The passes over training objects, by consecutive rows: sums of products, left-out scores.

Each pass may be done in parts, on one machine or on several; results of parts are merged.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import starmap
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np

from d2ke._base.progress import stages
from d2ke._base.rounding import feature_deviations, least_deviations
from d2ke.embedding.scaling import Scaling, moments
from d2ke.learners.ridge import Ridge, RidgeSums, product_type, ridge_of_rows
from d2ke.models.blocks import (
    SAMPLE,
    AnyBlock,
    AnyFitted,
    block_features,
    fit_blocks,
    sample_rows,
)  # fmt: skip
from d2ke.models.labels import Labels
from d2ke.models.piece_scores import PieceScores
from d2ke.models.reference_objects import ReferenceObjects
from d2ke.models.scores import LeftOutScores
from d2ke.models.shares import COSTS, choose_shares, parts_of
from d2ke.objects.container import span_of

_BLOCK_VALUES, _BLOCK_ROWS = 1 << 24, (256, 8192)  # features that are held at a time
_FIRST, _LITTLE = 256, 5  # features that choose the number of features beside scores of pieces
_CHOOSING = 2048  # rows that choose C for many classes


def block_rows(R: int) -> int:
    """Return the rows of a block of R features."""
    low, high = _BLOCK_ROWS
    return min(max(low, _BLOCK_VALUES // R), high)


@dataclass(frozen=True, eq=False)
class TrainingPlan:
    """Random objects, scales and types for both passes over the training objects.

    All of it comes from the sample.

    Attributes
    ----------
    blocks : tuple of FittedBlock
        With random objects and gammas.
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
    known : ReferenceObjects
        What the model keeps of the sample.
    """

    blocks: tuple[AnyFitted, ...]
    centre: np.ndarray
    unit: np.ndarray
    deviation: np.ndarray
    largest: np.ndarray
    floors: np.ndarray
    stretch: np.ndarray
    left_out: tuple[str, ...]
    target_centre: np.ndarray
    dtype: np.dtype[Any]
    known: ReferenceObjects

    @classmethod
    def of(
        cls,
        blocks: Sequence[AnyBlock],
        sample: Any,
        target: Labels,
        rows: np.ndarray,
        n: int,
        entropy: Any,
        n_threads: int | None,
        progress: bool = False,
        limit: int | None = None,
    ) -> tuple[TrainingPlan, np.ndarray]:
        """Draw random objects from the sample, rows `rows` of n; return its features too.

        If there are more features than `limit`, each family keeps features in proportion to its
        share. Next to scores of pieces, which may carry most of the signal, a model of few features
        is fitted first: a family whose share there is below a fifth gets fewer features.
        """
        size = sum(map(attrgetter("R"), blocks))
        if any(isinstance(block, PieceScores) for block in blocks) and size > _FIRST:
            few = [block.resized(max(1, block.R * _FIRST // size)) for block in blocks]
            shares = _fit_shares(few, sample, target, rows, entropy, n_threads)[-1]
            blocks = _within(blocks, shares, _LITTLE * min(size, limit or size))
        fitted, Z, shares = _fit_shares(blocks, sample, target, rows, entropy, n_threads, progress)
        names, powers = _of_columns(fitted)
        left_out = tuple(block.name for block in fitted if not shares[block.family])
        used = [block for block in blocks if shares.get(block.family)]
        if limit is not None and limit < sum(map(attrgetter("R"), used)):
            used = _within(used, shares, limit)
            fitted, Z = fit_blocks(used, sample, rows, entropy, n_threads, progress)
        elif left_out:
            fitted = tuple(block for block in fitted if shares[block.family])
            Z = np.ascontiguousarray(Z[:, np.array([shares[name] > 0 for name in names])])
        names, powers = _of_columns(fitted)
        fitted = tuple(replace(block, share=shares[block.family]) for block in fitted)
        mean, deviation, largest = moments(Z)
        floors = least_deviations(deviation, largest, parts_of(fitted))
        unit = feature_deviations(deviation, largest, floors, Z.dtype)
        # Each feature's contribution to the trace, before its family gets a share.
        variances = (deviation / unit**powers) ** 2
        stretch = unit ** (powers - 1)
        for name in dict.fromkeys(names.tolist()):
            of_family = names == name
            trace = variances[of_family].sum() or len(names) * shares[name]
            stretch[of_family] *= np.sqrt(trace / (len(names) * shares[name]))
        centre = target.task.target_centre(target.values)
        dtype = product_type(n, Z.shape[1])
        kept = Z if len(Z) <= SAMPLE else Z[sample_rows(len(Z), entropy, None)]
        unsupervised = [block for block in fitted if not block.supervised]
        if len(unsupervised) < len(fitted):
            sizes = [block.R for block in fitted]
            kept = kept[:, np.repeat([not block.supervised for block in fitted], sizes)]
        # Near numbers have the features of a distance.
        plain = [getattr(block, "kind", "near numbers") != "near numbers" for block in unsupervised]
        sizes = [block.R for block in unsupervised]
        drawn = ReferenceObjects.of(kept, sizes, plain, entropy, n_threads)
        scales = mean, unit, deviation, largest, floors, stretch
        return cls(fitted, *scales, left_out, centre, dtype, drawn), Z

    def scaling(self, mean: np.ndarray, deviation: np.ndarray) -> Scaling:
        """Return the scaling of features of these means and deviations, with the shares."""
        unit = feature_deviations(deviation, self.largest, self.floors, np.float32)
        return Scaling(mean, unit * self.stretch)

    @property
    def R(self) -> int:
        """Number of features."""
        return len(self.centre)

    def features(
        self,
        X: Any,
        n_threads: int | None,
        first_row: int = 0,
        kept: np.ndarray | None = None,
        title: str = "",
        progress: bool = False,
    ) -> Iterator[tuple[slice, np.ndarray]]:
        """Yield blocks of rows of X and their features, computed if they are not kept.

        `first_row` is the row of the first among all training objects.
        """
        step = block_rows(self.R)
        for start in stages(range(0, len(X), step), title, progress):
            rows = slice(start, min(start + step, len(X)))
            if kept is not None:
                yield rows, kept[rows]
                continue
            numbers = np.arange(first_row + rows.start, first_row + rows.stop)
            chunk = span_of(X, rows.start, rows.stop)
            yield rows, block_features(self.blocks, chunk, n_threads, numbers)

    def sums(self, chunks: Any, target: Labels, n_threads: int | None) -> RidgeSums:
        """Return the sums of products over blocks of features, with the labels of all rows."""
        sums = RidgeSums.empty(self.centre, self.unit, self.target_centre, self.dtype)
        for rows, Z in chunks:
            truth = target[rows]
            sums.add(Z, truth.columns(self.dtype), n_threads, truth.weights)
        return sums

    def solve(
        self,
        sums: RidgeSums | None,
        Z: np.ndarray,
        target: Labels,
        n: int,
        entropy: Any,
        n_threads: int | None,
    ) -> Solved:
        """Return the models of every penalty, from the sums or from at most R rows.

        Z and `target` are those of the sample; `sums` may be None if the sample has all rows.
        """
        if sums is None or len(Z) == n <= self.R:
            sd = self.unit * self.stretch
            columns, unit = target.columns(np.float64), sd * np.sqrt(self.R)
            ridge, P = ridge_of_rows(Z, columns, unit, n_threads, target.weights)
            return Solved(ridge, Scaling(ridge.mean, sd), COSTS, P)
        scaling = self.scaling(*sums.moments())
        ridge = Ridge.of(sums, scaling.sd * np.sqrt(self.R))
        return Solved(ridge, scaling, _costs_to_try(ridge, Z, target, entropy, n_threads), None)


class Solved(NamedTuple):
    """The models of every penalty, the C that are scored, and coordinates of at most R rows."""

    ridge: Ridge
    scaling: Scaling
    costs: Sequence[float]
    P: np.ndarray | None


def _fit_shares(
    blocks: Sequence[AnyBlock],
    sample: Any,
    target: Labels,
    rows: np.ndarray,
    entropy: Any,
    n_threads: int | None,
    progress: bool = False,
) -> tuple[tuple[AnyFitted, ...], np.ndarray, dict[str, float]]:
    """Return blocks with random objects, features of the sample, and the shares of families."""
    fitted, Z = fit_blocks(blocks, sample, rows, entropy, n_threads, progress)
    names, powers = _of_columns(fitted)
    columns = {name: np.flatnonzero(names == name) for name in dict.fromkeys(names.tolist())}
    groups = parts_of(fitted)
    return fitted, Z, choose_shares(Z, columns, powers, groups, target, entropy, n_threads)


def _of_columns(blocks: Sequence[AnyFitted]) -> tuple[np.ndarray, np.ndarray]:
    """Return the family of each feature, and the power of its deviation."""
    sizes = [block.R for block in blocks]
    named = np.array([block.family for block in blocks])
    return np.repeat(named, sizes), np.repeat([block.sd_power for block in blocks], sizes)


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


def scores(
    ridge: Ridge,
    chunks: Any,
    target: Labels,
    costs: Sequence[float],
    n_threads: int | None,
    keep: np.ndarray | None = None,
) -> LeftOutScores:
    """Score the left-out predictions of blocks of features, with the labels of all rows.

    `keep` are rows whose predictions are kept, sorted; some may be outside the blocks.
    """
    keep = np.empty(0, np.intp) if keep is None else keep

    def of(rows: slice, Z: np.ndarray) -> LeftOutScores:
        kept = keep[slice(*np.searchsorted(keep, (rows.start, rows.stop)))] - rows.start
        return LeftOutScores.of(ridge, ridge.coordinates(Z, n_threads), target[rows], costs, kept)

    return reduce(LeftOutScores.merged, starmap(of, chunks))


def _costs_to_try(
    ridge: Ridge, Z: np.ndarray, target: Labels, entropy: Any, n_threads: int | None
) -> Sequence[float]:
    """Return the C that all rows are scored for: all, or with many classes the sample's best.

    With many classes, scores of all C would take longer than the products of features.
    """
    if len(COSTS) * target.task.k <= ridge.basis.shape[0] or target.groups is not None:
        return COSTS
    rows = np.arange(len(Z))
    if len(Z) > _CHOOSING:
        rows = np.random.default_rng(entropy).choice(len(Z), _CHOOSING, replace=False)
    P = ridge.coordinates(Z[rows], n_threads)
    return [COSTS[LeftOutScores.of(ridge, P, target[rows], COSTS).best()]]
