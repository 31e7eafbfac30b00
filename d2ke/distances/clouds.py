# SPDX-License-Identifier: BSD-3-Clause
"""Points with vectors in the units and the layout of the compiled sums."""

from __future__ import annotations

import math

import numpy as np

from d2ke._ext import pair_sums
from d2ke.objects.container import offsets_of


def cloud(array: np.ndarray) -> np.ndarray:
    """Return the columns of an (n, k) array as rows, padded for the compiled functions."""
    result = np.zeros((array.shape[1], len(array) + pair_sums.PADDING))
    result[:, : len(array)] = array.T
    return result


def distinct(
    points: np.ndarray, weights: np.ndarray, offsets: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return each set's distinct points in lexicographic order with the sums of their weights.

    Equal sets, in any order, give the same bits. Points of weight 0 are kept, so that no set
    becomes empty.
    """
    points = points + 0.0  # -0 becomes 0
    owner = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    # Weights last, so that sums over equal points do not depend on their order either.
    order = np.lexsort((weights, *points.T[::-1], owner))
    points, weights, owner = points[order], weights[order], owner[order]
    first = np.ones(len(points), dtype=bool)
    first[1:] = (owner[1:] != owner[:-1]) | (points[1:] != points[:-1]).any(axis=1)
    if not first.all():
        weights = np.add.reduceat(weights, np.flatnonzero(first))
        points, owner = points[first], owner[first]
    sizes = np.bincount(owner, minlength=len(offsets) - 1)
    return points, weights, offsets_of(sizes)


def scaled(points: np.ndarray, sigma: float) -> tuple[np.ndarray, float]:
    """Return points and sigma in a unit, a power of 2, in which sigma is between 1 and 2."""
    exponent = math.frexp(sigma)[1] - 1
    if exponent == 0:
        return points, sigma
    with np.errstate(over="ignore"):
        result = np.ldexp(points, -exponent)
    if not np.isfinite(result).all():
        raise ValueError(f"sigma = {sigma} is too small for coordinates as large as these")
    return result, math.ldexp(sigma, -exponent)


def decay(kernel: str, sigma: float) -> float:
    """Return the factor of the squared distance (Gaussian) or of the distance (Laplace)."""
    return 1 / sigma if kernel == "laplace" else 1 / (2 * sigma * sigma)
