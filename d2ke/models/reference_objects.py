# SPDX-License-Identifier: BSD-3-Clause
"""Reference objects: training objects that new ones are compared with.

Objects are compared by their distances to the random objects instead of by the features, which
hardly differ far from a random object. On 100 pairs of data and strangers, the mean AUC is higher
than by features, by features whitened by the ridge, or by its variances.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from d2ke._base.blas import row_products
from d2ke.models.blocks import FittedFeatures

# Let F_ij = exp(-gamma_j d(x_i, omega_j)) / sqrt(R_b) be feature j of object i, of a block b of R_b
# features among B blocks. The vector of the object, its weights and its projection to 512 columns
# are, with random signs s_j = +-1,
#
#     a_ij = -log F_ij,  at most 10 median distances;  F_ij itself for plain features and kernels,
#     weights_j = s_j / sqrt(B R_b) / (deviation_j + 0.01),
#     sums_ic = sum over j = c mod 512 of weights_j (a_ij - centre_j).
#
# So |sums_i - sums_h|^2 is, up to about 4 %, the mean over blocks of the mean squared distance of
# standardised vectors. Where products of features are a kernel k, all features of the block are
# divided by the root of k(x, x) - |mean|^2 instead, and what the features lack of the kernel,
#
#     lacking_i = (k(x_i, x_i) - |F_i|^2) / (B (k(x, x) - |mean|^2)),
#
# adds to squares, as the parts of two objects that no random object sees are orthogonal. The score
# and the p-value of a new object i among m reference objects h are
#
#     score_i = min_h sqrt(|sums_i - sums_h|^2 + lacking_i + lacking_h),
#     p_i = (1 + number of h with score_h >= score_i) / (m + 1) / max(1, score_i / max_h score_h).
COLUMNS = 512  # random projections of an object: 1024 do not rank better
_VARIED = 0.01  # deviations well below that do not count
_ROWS = 256  # computed at a time
_ROUNDING = 2e-3  # of float16, in distances; that of two objects is usually 1.4


@dataclass(frozen=True, eq=False)
class ReferenceObjects:
    """Random projections of training objects, and their distances to the nearest other object.

    The vector of an object has its distances to the random objects in units of the medians, which
    are minus the logarithms of the features, and the plain features of records. The entries are
    standardised, and all blocks get equal parts of the variance. Sums of entries with random signs
    (a count sketch) keep Euclidean distances up to about 4 %.

    Features whose products are a kernel are not standardised, as their distances are those of the
    kernel. Reference objects are looked for among the others as if they were new. What features
    lack of the kernel of an object with itself (all of it, if the object has nothing in common with
    the random objects) adds to the squares of its distances.

    Attributes
    ----------
    plain : ndarray of bool, shape (R,)
        True for features that are not functions of a distance.
    weights : ndarray of float32, shape (R,)
        Signed weights; feature j is added to column j modulo 512.
    centre : ndarray of float32, shape (R,)
        Means of the vectors.
    rows : ndarray of float16, shape (m, min(R, 512))
        Projections of at most 4,096 training objects.
    scores : ndarray of float32, shape (m,)
        Distances of these objects to the nearest others.
    kernels : ndarray of float64, shape (n, 4)
        For each block whose products of features are a kernel: its first feature, the one after its
        last, the kernel of an object with itself, and the square of the weights.
    lacking : ndarray of float32, shape (m,)
        What the reference objects lack of it, times the square of the weights.
    """

    plain: np.ndarray = field(repr=False)
    weights: np.ndarray = field(repr=False)
    centre: np.ndarray = field(repr=False)
    rows: np.ndarray = field(repr=False)
    scores: np.ndarray = field(repr=False)
    kernels: np.ndarray = field(repr=False)
    lacking: np.ndarray = field(repr=False)

    @classmethod
    def of(
        cls,
        F: np.ndarray,
        blocks: Sequence[FittedFeatures],
        indices: np.ndarray,
        entropy: Any,
        n_threads: int | None,
    ) -> ReferenceObjects:
        """Return the reference objects with unscaled features F of blocks, shape (m, R).

        `indices` are those of the objects among the training objects.
        """
        sizes = np.array([block.R for block in blocks], np.int64)
        is_plain = np.repeat(np.array([not block.kinds for block in blocks], bool), sizes)
        R = F.shape[1]
        sums = np.zeros((2, R))
        for first in range(0, len(F), _ROWS):
            away = _medians(F[first : first + _ROWS], is_plain)
            if not first:
                centre = away.mean(axis=0)
            away -= centre
            sums += away.sum(axis=0, dtype=np.float64), (away**2).sum(axis=0, dtype=np.float64)
        mean, squares = sums / len(F)
        deviation = np.sqrt(np.maximum(squares - mean**2, 0))
        signs = np.random.default_rng(np.random.SeedSequence(entropy, spawn_key=(COLUMNS,)))
        deviation = (deviation + _VARIED) * np.sqrt(np.repeat(sizes, sizes))
        columns = list(pairwise(np.cumsum([0, *sizes]).tolist()))
        kernels = []
        for block, (first, end) in zip(blocks, columns, strict=True):
            if block.self_kernel:
                total = block.self_kernel - (mean[first:end] ** 2).sum()
                deviation[first:end] = np.sqrt(max(total, _VARIED))
                square = 1 / (len(blocks) * deviation[first] ** 2)
                kernels.append((first, end, block.self_kernel, square))
        weights = signs.choice([-1.0, 1.0], R) / (deviation * np.sqrt(len(blocks)))
        centre = (centre + mean).astype(np.float32)
        empty = np.empty(0)
        result = cls(
            is_plain, weights.astype(np.float32), centre, empty, empty,
            np.array(kernels, np.float64).reshape(-1, 4), empty,
        )  # fmt: skip
        result = replace(result, rows=result.sums(F).astype(np.float16), lacking=result.lack(F))
        if kernels:
            F = np.hstack([
                block.as_new(F[:, first:end], indices)
                for block, (first, end) in zip(blocks, columns, strict=True)
            ])  # fmt: skip
        scores = result.nearest(
            result.sums(F).astype(np.float16).astype(np.float32), result.lack(F), n_threads, True
        )
        return replace(result, scores=scores)

    def sums(self, F: np.ndarray) -> np.ndarray:
        """Return the projections of objects with unscaled features F, float32."""
        width = min(F.shape[1], COLUMNS)
        result = np.zeros((len(F), width), np.float32)
        for first in range(0, len(F), _ROWS):
            chunk = slice(first, first + _ROWS)
            away = (_medians(F[chunk], self.plain) - self.centre) * self.weights
            for column in range(0, F.shape[1], width or 1):
                strip = away[:, column : column + width]
                result[chunk, : strip.shape[1]] += strip
        return result

    def lack(self, F: np.ndarray) -> np.ndarray:
        """Return what unscaled features lack of kernels of objects with themselves, weighted."""
        result = np.zeros(len(F), np.float32)
        for first, end, self_kernel, weight in self.kernels.tolist():
            strip = F[:, int(first) : int(end)]
            squares = np.einsum("ij,ij->i", strip, strip, dtype=np.float64)
            result += weight * np.maximum(self_kernel - squares, 0)
        return result

    def nearest(
        self,
        A: np.ndarray,
        lacking: np.ndarray,
        n_threads: int | None,
        leave_out_self: bool = False,
    ) -> np.ndarray:
        """Return the distance of each projection to the nearest reference object."""
        distances = np.empty(len(A), np.float32)
        B, norms = self._columns
        step = 4 * _ROWS
        for first in range(0, len(A), step):
            chunk = A[first : first + step]
            D = norms - 2 * row_products(chunk, B, n_threads)
            if leave_out_self:
                np.fill_diagonal(D[:, first:], np.inf)
            # Differences of squares of nearly equal rows would be rounding.
            nearest = D.argmin(axis=1)
            squares = ((chunk - B[nearest]) ** 2).sum(axis=1) + self.lacking[nearest]
            distances[first : first + step] = np.sqrt(squares + lacking[first : first + step])
        return distances

    @cached_property
    def _columns(self) -> tuple[np.ndarray, np.ndarray]:
        B = self.rows.astype(np.float32)
        return B, (B**2).sum(axis=1) + self.lacking

    def p_values(self, F: np.ndarray, n_threads: int | None) -> np.ndarray:
        """Return conformal p-values of objects with unscaled features F.

        They are the shares of reference objects, with the object itself, that are at least as far
        from their nearest others. Beyond all of these, the share is divided by the ratio of the
        distances, so that strangers have an order.
        """
        kept = np.sort(self.scores)
        scores = self.nearest(self.sums(F), self.lack(F), n_threads)
        farther = len(kept) - np.searchsorted(kept, scores - _ROUNDING)
        beyond = np.maximum(scores / (kept[-1] + _ROUNDING), 1.0)
        return (1 + farther) / (1 + len(kept)) / beyond


def _medians(F: np.ndarray, plain: np.ndarray) -> np.ndarray:
    """Return distances to the random objects in units of the medians; keep plain features.

    They are shifted by a constant for each block.
    """
    smallest = np.float32(np.exp(-10.0) / np.sqrt(max(1, F.shape[1])))
    return np.where(plain, F, -np.log(np.maximum(F, smallest)))
