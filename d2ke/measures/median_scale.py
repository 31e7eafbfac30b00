# SPDX-License-Identifier: BSD-3-Clause
"""The kernel's scale sigma: checked, or from the median heuristic."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.spatial.distance import pdist

from d2ke._base.checks import positive_number

_SAMPLE = 1000


def bandwidth(sigma: Any, point_arrays: list[np.ndarray]) -> float:
    """Return sigma, or for "median" the median distance between distinct points.

    Of more than 1000 distinct points it is that of 1000, evenly spread in lexicographic
    order. Where all points coincide every sigma gives the same distances: then it is 1.
    """
    if not isinstance(sigma, str):
        return positive_number("sigma", sigma)
    if sigma != "median":
        raise ValueError(f'sigma must be a positive number or "median", got {sigma!r}')
    points = np.unique(np.concatenate(point_arrays) + 0.0, axis=0)
    if len(points) < 2:
        return 1.0
    if len(points) > _SAMPLE:
        points = points[np.linspace(0, len(points) - 1, _SAMPLE).astype(np.int64)]
    # Squares of the differences must neither overflow nor vanish.
    exponent = int(np.frexp(np.abs(points).max())[1])
    points = np.ldexp(points, -exponent)
    points = points - points.min(axis=0)
    inner = int(np.frexp(points.max())[1])
    distances = pdist(np.ldexp(points, -inner))
    distances = distances[distances > 0]
    if not distances.size:
        return 1.0
    with np.errstate(over="ignore", under="ignore"):
        median = float(np.ldexp(np.median(distances), exponent + inner))
    return min(max(median, np.finfo(np.float64).tiny), np.finfo(np.float64).max)
