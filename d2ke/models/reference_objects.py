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
from typing import Any

import numpy as np

from d2ke._base.blas import row_products

COLUMNS = 512  # random projections of an object: 1024 do not rank better
_FARTHEST = 10.0  # times the median: objects beyond it count as equally far
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
    """

    plain: np.ndarray = field(repr=False)
    weights: np.ndarray = field(repr=False)
    centre: np.ndarray = field(repr=False)
    rows: np.ndarray = field(repr=False)
    scores: np.ndarray = field(repr=False)

    @classmethod
    def of(
        cls,
        F: np.ndarray,
        sizes: Sequence[int],
        plain: Sequence[bool],
        entropy: Any,
        n_threads: int | None,
    ) -> ReferenceObjects:
        """Return the reference objects with unscaled features F, shape (m, R).

        `sizes` are those of the blocks, and `plain` marks blocks without distances.
        """
        is_plain = np.repeat(np.asarray(plain, bool), sizes)
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
        weights = signs.choice([-1.0, 1.0], R) / (deviation + _VARIED)
        weights /= np.sqrt(len(sizes) * np.repeat(sizes, sizes))
        centre = (centre + mean).astype(np.float32)
        empty = np.empty(0)
        result = cls(is_plain, weights.astype(np.float32), centre, empty, empty)
        rows = result.sums(F).astype(np.float16)
        result = replace(result, rows=rows)
        scores = result.nearest(rows.astype(np.float32), n_threads, leave_out_self=True)
        return replace(result, scores=scores)

    def sums(self, F: np.ndarray) -> np.ndarray:
        """Return the projections of objects with unscaled features F, float32."""
        width = min(F.shape[1], COLUMNS)
        result = np.zeros((len(F), width), np.float32)
        for first in range(0, len(F), _ROWS):
            chunk = slice(first, first + _ROWS)
            away = (_medians(F[chunk], self.plain) - self.centre) * self.weights
            for column in range(0, F.shape[1], width):
                strip = away[:, column : column + width]
                result[chunk, : strip.shape[1]] += strip
        return result

    def nearest(
        self, A: np.ndarray, n_threads: int | None, leave_out_self: bool = False
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
            distances[first : first + step] = np.linalg.norm(chunk - B[D.argmin(axis=1)], axis=1)
        return distances

    @cached_property
    def _columns(self) -> tuple[np.ndarray, np.ndarray]:
        B = self.rows.astype(np.float32)
        return B, (B**2).sum(axis=1)

    def p_values(self, F: np.ndarray, n_threads: int | None) -> np.ndarray:
        """Return conformal p-values of objects with unscaled features F.

        They are the shares of reference objects, with the object itself, that are at least as far
        from their nearest others. Beyond all of these, the share is divided by the ratio of the
        distances, so that strangers have an order.
        """
        scores, kept = self.nearest(self.sums(F), n_threads), np.sort(self.scores)
        farther = len(kept) - np.searchsorted(kept, scores - _ROUNDING)
        beyond = np.maximum(scores / (kept[-1] + _ROUNDING), 1.0)
        return (1 + farther) / (1 + len(kept)) / beyond


def _medians(F: np.ndarray, plain: np.ndarray) -> np.ndarray:
    """Return distances to the random objects in units of the medians; keep plain features.

    They are shifted by a constant for each block.
    """
    smallest = np.float32(np.exp(-_FARTHEST) / np.sqrt(F.shape[1]))
    return np.where(plain, F, -np.log(np.maximum(F, smallest)))
