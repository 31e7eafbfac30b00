# SPDX-License-Identifier: BSD-3-Clause
"""Kernels that users write: functions of two collections that return a matrix."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from d2ke._base import arrays

_BLOCK = 1 << 19  # kernel values that are held at a time


def values(function: Callable[[Any, Any], Any], X: Any, Y: Any) -> np.ndarray:
    """Evaluate a user's kernel on X and Y, and check the result."""
    matrix = np.asarray(function(X, Y))
    if matrix.shape != (len(X), len(Y)):
        raise ValueError(
            f"kernel must return a matrix of shape ({len(X)}, {len(Y)}) for so many objects; got "
            f"{matrix.shape}"
        )
    return arrays.matrix("what kernel returns", matrix)


def norm(function: Callable[[Any, Any], Any], points: np.ndarray, vectors: np.ndarray) -> float:
    """Return kappa of one (signed) measure with itself, by blocks of rows."""
    n = len(points)
    step = max(1, _BLOCK // n)
    total = 0.0
    for low in range(0, n, step):
        rows = slice(low, low + step)
        total += float(np.vdot(vectors[rows], values(function, points[rows], points) @ vectors))
    return total
