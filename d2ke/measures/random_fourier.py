# SPDX-License-Identifier: BSD-3-Clause
"""Random Fourier features of weighted points (Rahimi and Recht)."""

from __future__ import annotations

import math

import numpy as np

from d2ke._base.threads import team_size
from d2ke._ext import expansions
from d2ke.measures.kernels import Kernel, NormEstimate, NormProblem
from d2ke.measures.measure import lengths


def frequencies(rng: np.random.Generator, dim: int, count: int, kernel: Kernel) -> np.ndarray:
    """Draw from the kernel's spectrum: a normal law, or Cauchy's for the Laplace kernel.

    Returns (dim, count). A longer draw from the same generator extends a shorter one.
    """
    normal = rng.standard_normal((count, dim + kernel.laplace))
    omega = normal[:, :dim] / kernel.sigma
    if kernel.laplace:
        omega /= np.abs(normal[:, dim:])
    return np.ascontiguousarray(omega.T)


def transforms(
    points: np.ndarray,
    vectors: np.ndarray,
    offsets: np.ndarray,
    omega: np.ndarray,
    n_threads: int | None,
) -> np.ndarray:
    """Return sum_p v_p exp(i <omega, p>) of every set, (n_sets, r, 2, n_frequencies)."""
    count = omega.shape[1]
    width = -(-count // expansions.FREQUENCIES) * expansions.FREQUENCIES
    padded = np.zeros((omega.shape[0], width))
    padded[:, :count] = omega
    reach = np.linalg.norm(points, axis=1).max() * np.linalg.norm(omega, axis=0).max()
    max_argument = 2.0**20  # the compiled sine is accurate below
    sums = expansions.fourier(
        points, vectors, offsets, padded, not reach < max_argument, team_size(n_threads)
    )
    return sums[..., :count]


def centred(points: np.ndarray) -> np.ndarray:
    """Return the points relative to the middle of their box, which keeps arguments small."""
    return points - (points.min(axis=0) / 2 + points.max(axis=0) / 2)


def needed(eps: float, delta: float) -> int:
    """Return how many frequencies give a mean of values in [0, 1] to eps (Hoeffding)."""
    return math.ceil(math.log(2 / delta) / (2 * eps * eps))


def random_norm(problem: NormProblem) -> NormEstimate:
    """Return kappa to eps times the square of the total W.

    |transform(omega)|^2 lies in [0, W^2] and has the mean kappa. More and more frequencies
    are drawn until Maurer and Pontil's empirical Bernstein bound shows that they are
    enough. For small distances that is long before Hoeffding's bound, where drawing ends
    at the latest. Half of delta is for Hoeffding's bound; the tests share the second half.
    """
    eps, delta, rng = problem.accuracy.eps, problem.accuracy.risk, problem.accuracy.rng
    points = centred(problem.points)
    offsets = np.array([0, len(points)])
    total = float(lengths(problem.vectors).sum())
    vectors = problem.vectors / total
    last = needed(eps, delta / 2)
    sizes = [256]
    while sizes[-1] < last:
        sizes.append(math.ceil(sizes[-1] * 1.5))
    tests = len(sizes) - 1
    sizes[-1] = last if tests else needed(eps, delta)
    log = math.log(8 * max(tests, 1) / delta)  # of 4 / (delta / 2 / tests)
    n_draws, mean, squares = 0, 0.0, 0.0
    width = eps
    for size in sizes:
        while n_draws < size:
            count = min(size - n_draws, max(256, (1 << 20) // vectors.shape[1] // 2))
            omega = frequencies(rng, points.shape[1], count, problem.kernel)
            sums = transforms(points, vectors, offsets, omega, problem.n_threads)
            values = np.square(sums[0]).sum(axis=(0, 1))
            # Chan's formula combines means and squared deviations of two parts.
            gap = float(values.mean()) - mean
            squares += float(np.square(values - values.mean()).sum())
            squares += gap * gap * n_draws * count / (n_draws + count)
            mean += gap * count / (n_draws + count)
            n_draws += count
        if n_draws == sizes[-1]:
            break
        variance = squares / (n_draws - 1)
        width = math.sqrt(2 * variance * log / n_draws) + 7 * log / (3 * (n_draws - 1))
        if width <= eps:
            break
    deviation = math.sqrt(squares / max(n_draws - 1, 1) / n_draws)
    unit = total * total
    bound = min(width, eps) * unit
    return NormEstimate(mean * unit, bound, {"features": 2 * n_draws}, deviation * unit)
