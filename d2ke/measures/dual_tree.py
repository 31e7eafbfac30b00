# SPDX-License-Identifier: BSD-3-Clause
"""Pairs of boxes instead of pairs of points: the dual tree, and well-separated pairs."""

from __future__ import annotations

import math

import numpy as np

from d2ke._base.threads import team_size
from d2ke._ext.box_tree import Tree
from d2ke.measures.kernels import Accuracy, Kernel, NormEstimate

_LEAF = 32


def dual_tree(
    points: np.ndarray,
    vectors: np.ndarray,
    kernel: Kernel,
    accuracy: Accuracy,
    n_threads: int | None,
) -> NormEstimate:
    """Return kappa of one measure with itself, to eps times the square of its total.

    A pair of boxes stops at K(nearest) - K(farthest) <= 2 eps and counts with the
    middle of the two; pairs of leaves that do not are summed point by point.
    """
    points, kernel = kernel.scaled(points)
    tree = Tree(points, vectors, _LEAF)
    high, low, bound, boxes, pairs = tree.norm(
        *kernel.compiled, 2 * accuracy.eps, -1.0, 0.0, team_size(n_threads)
    )
    return NormEstimate(high + low, bound, {"box_pairs": boxes, "point_pairs": pairs})


def separated_pairs(
    points: np.ndarray,
    vectors: np.ndarray,
    kernel: Kernel,
    accuracy: Accuracy,
    n_threads: int | None,
) -> NormEstimate:
    """Return the same by Theorem 3.1 (Gaussian kernel), on a fair split tree.

    alpha = eps / (4 sqrt(ln 1/eps)); a pair is well separated when both diameters are at
    most alpha times the distance of the boxes; it counts as K of two representatives, or
    not at all if these are farther apart than 2 sqrt(h ln 1/eps). Moving both points of a
    pair by their boxes' diameters changes their distance by at most 2 alpha D <= eps
    sqrt(h), hence K by less than eps.
    """
    eps = min(accuracy.eps, 0.25)
    points, kernel = kernel.scaled(points)
    log = math.log(1 / eps)
    alpha = eps / (4 * math.sqrt(log))
    cutoff = 2 * math.sqrt(2 * kernel.sigma * kernel.sigma * log)
    tree = Tree(points, vectors, 1)
    high, low, _, boxes, _ = tree.norm(*kernel.compiled, 0.0, alpha, cutoff, team_size(n_threads))
    total = float(np.linalg.norm(vectors, axis=1).sum())
    return NormEstimate(high + low, eps * total**2, {"box_pairs": boxes, "point_pairs": 0})
