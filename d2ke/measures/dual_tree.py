# SPDX-License-Identifier: BSD-3-Clause
"""Pairs of boxes instead of pairs of points: the dual tree, and well-separated pairs."""

from __future__ import annotations

import math

from d2ke._base.threads import team_size
from d2ke._ext.box_tree import Tree
from d2ke.measures.kernels import NormEstimate, NormProblem


def dual_tree(problem: NormProblem) -> NormEstimate:
    """Return kappa to eps times the square of the total.

    A pair of boxes with K(nearest) - K(farthest) <= 2 eps counts with the mean of the two.
    Other pairs of leaves are summed point by point.
    """
    tree = Tree(problem.points, problem.vectors, 32)
    stop, threads = 2 * problem.accuracy.eps, team_size(problem.n_threads)
    high, low, bound, boxes, pairs = tree.norm(*problem.kernel.compiled, stop, -1.0, 0.0, threads)
    return NormEstimate(high + low, bound, {"box_pairs": boxes, "point_pairs": pairs})


def separated_pairs(problem: NormProblem) -> NormEstimate:
    """Return kappa by Theorem 3.1 (Gaussian kernel), on a fair split tree.

    alpha = eps / (4 sqrt(ln 1/eps)); a pair is well separated when both diameters are at
    most alpha times the distance of the boxes; it counts as K of two representatives, or
    not at all if these are farther apart than 2 sqrt(h ln 1/eps). Moving both points of a
    pair by their boxes' diameters changes their distance by at most 2 alpha D <= eps
    sqrt(h), hence K by less than eps.
    """
    eps = min(problem.accuracy.eps, 0.25)
    sigma = problem.kernel.sigma
    log = math.log(1 / eps)
    alpha = eps / (4 * math.sqrt(log))
    cutoff = 2 * math.sqrt(2 * sigma * sigma * log)
    tree, threads = Tree(problem.points, problem.vectors, 1), team_size(problem.n_threads)
    high, low, _, boxes, _ = tree.norm(*problem.kernel.compiled, 0.0, alpha, cutoff, threads)
    bound = eps * problem.total**2
    return NormEstimate(high + low, bound, {"box_pairs": boxes, "point_pairs": 0})
