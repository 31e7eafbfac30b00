# SPDX-License-Identifier: BSD-3-Clause
"""Quadratic programs on the simplex {alpha >= 0, sum alpha = 1}."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from d2ke._base import arrays
from d2ke._base.errors import ArgumentError
from d2ke._base.results import result
from d2ke._ext import simplex_qp as _kernel


@result
class SimplexSolution:
    """A stationary point of a quadratic program on the simplex.

    Attributes
    ----------
    alpha : ndarray of float64, shape (n,)
        Weights, >= 0, with sum 1.
    objective : float
        alpha'H alpha / 2 + f'alpha.
    gap : float
        max g_j over alpha_j > 0 less min g_i, with the gradient g = H alpha + f; 0 at a
        stationary point. For a positive semidefinite H the objective exceeds the minimum by at
        most the gap.
    n_steps : int
        Steps made.
    converged : bool
        Whether the gap is within the tolerance.
    """

    alpha: np.ndarray
    objective: float
    gap: float
    n_steps: int
    converged: bool


def simplex_point(name: str, values: Any, n: int) -> np.ndarray:
    """Return weights >= 0 whose sum is 1 within rounding, as float64."""
    array = np.asarray(values)
    if array.shape != (n,):
        raise ArgumentError(name, f"must have shape ({n},), got {array.shape}")
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        at = np.flatnonzero(~np.isfinite(array))[0]
        raise ArgumentError(name, f"is {array[at]}; every value must be finite", at)
    weights = arrays.matrix(name, array[None])[0].astype(np.float64)
    if weights.min() < 0:
        at = weights.argmin()
        raise ArgumentError(name, f"is {weights[at]}; weights must be >= 0", at)
    if abs(weights.sum() - 1) > 1e-6:
        raise ArgumentError(name, f"must sum to 1, got {weights.sum()}")
    return weights / weights.sum()


def solve_dense(
    H: np.ndarray, f: np.ndarray, start: np.ndarray, tol: float, max_steps: int
) -> SimplexSolution:
    """Minimise alpha'H alpha / 2 + f'alpha, for a symmetric, contiguous H of float64.

    Each step moves weight to the coordinate of least gradient, from the one with the largest
    predicted decrease, by an exact line search. No step increases the objective. If H is
    indefinite, the result is a stationary point. `tol` is the gap to reach, in units of
    max g - min g at alpha = 1/n.

    References
    ----------
    Platt, "Fast training of support vector machines using sequential minimal optimization",
    1999; Fan, Chen, Lin, "Working set selection using second order information for training
    support vector machines", JMLR 6, 2005.
    """
    n = len(H)
    alpha = start.copy()
    diagonal = np.ascontiguousarray(H.diagonal())
    tolerance = tol * _spread(H.sum(axis=1) / n + f)
    steps = 0
    n_rounds = 3  # in each the gradient is computed anew, since updates accumulate rounding errors
    for rounds in range(n_rounds + 1):
        alpha /= alpha.sum()
        gradient = H @ alpha + f
        gap = gradient[alpha > 0].max() - gradient.min()
        if gap <= tolerance or steps >= max_steps or rounds == n_rounds:
            break
        made, _ = _kernel.solve(H, diagonal, alpha, gradient, tolerance / 2, max_steps - steps)
        steps += made
    objective = float(alpha @ (gradient + f)) / 2
    return SimplexSolution(alpha, objective, float(gap), steps, bool(gap <= tolerance))


def solve_product(
    product: Callable[[np.ndarray], np.ndarray],
    f: np.ndarray,
    start: np.ndarray,
    tol: float,
    max_steps: int,
) -> SimplexSolution:
    """Solve with products H v only, by accelerated projected gradients.

    The momentum is reset where the objective would rise, so that it never rises.
    """
    n = len(f)
    tolerance = tol * _spread(product(np.full(n, 1.0 / n)) + f)
    step = 1.0 / _largest_eigenvalue(product, n)
    alpha, H_alpha = start, product(start)
    objective = float(alpha @ (H_alpha / 2 + f))
    ahead, H_ahead, momentum = alpha, H_alpha, 1.0
    for steps in range(max_steps + 1):
        gradient = H_alpha + f
        # The promised decrease of a whole step to the best corner bounds the error of a convex
        # objective; unlike the spread of the gradient, it does not depend on tiny weights.
        gap = float(alpha @ gradient - gradient.min())
        if gap <= tolerance or steps == max_steps:
            break
        while True:
            new = project(ahead - step * (H_ahead + f))
            H_new = product(new)
            new_objective = float(new @ (H_new / 2 + f))
            if new_objective <= objective or ahead is alpha:
                break
            ahead, H_ahead, momentum = alpha, H_alpha, 1.0
        if new_objective > objective:  # the eigenvalue is too low, or only rounding is left
            if step * abs(objective) == 0 or new_objective - objective < 1e-14 * abs(objective):
                break
            step /= 2
            continue
        after = (1 + np.sqrt(1 + 4 * momentum**2)) / 2
        weight = (momentum - 1) / after
        ahead, H_ahead = new + weight * (new - alpha), H_new + weight * (H_new - H_alpha)
        alpha, H_alpha, objective, momentum = new, H_new, new_objective, after
    return SimplexSolution(alpha, objective, gap, steps, bool(gap <= tolerance))


def project(values: np.ndarray) -> np.ndarray:
    """Project onto the simplex."""
    descending = np.sort(values)[::-1]
    excess = (np.cumsum(descending) - 1) / np.arange(1, len(values) + 1)
    shift = excess[np.flatnonzero(descending > excess)[-1]]
    return np.maximum(values - shift, 0.0)


def _spread(gradient: np.ndarray) -> float:
    return float(np.ptp(gradient)) or 1.0


def _largest_eigenvalue(product: Callable[[np.ndarray], np.ndarray], n: int) -> float:
    """Estimate the largest modulus of H's eigenvalues from above, within a few percent."""
    direction = np.random.default_rng(0).random(n) + 0.5
    size = 1.0
    for _ in range(12):
        direction /= np.linalg.norm(direction)
        direction = product(direction)
        size = float(np.linalg.norm(direction))
        if size == 0:
            return 1.0
    return 1.05 * size
