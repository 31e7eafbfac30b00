# SPDX-License-Identifier: BSD-3-Clause
"""Exact sums over all pairs of points, threaded, in memory that does not grow with the pairs."""

from __future__ import annotations

import numpy as np

from d2ke._base.threads import team_size
from d2ke._ext import pair_distance, pair_sums
from d2ke.distances.clouds import cloud
from d2ke.measures.kernels import Kernel, NormEstimate, NormProblem
from d2ke.measures.measure import Measure
from d2ke.objects.container import offsets_of


def norm(points: np.ndarray, vectors: np.ndarray, kernel: Kernel, n_threads: int | None) -> float:
    """Return kappa of one (signed) measure with itself."""
    points, kernel = kernel.scaled(points)
    side = cloud(points), cloud(vectors), offsets_of([len(points)])
    high, low = pair_sums.pair_matrix(
        *side, *side, *kernel.compiled, team_size(n_threads), True, True
    )
    return float(high[0, 0] + low[0, 0])


def exact_norm(problem: NormProblem) -> NormEstimate:
    """Return kappa by all pairs of points."""
    n = len(problem.points)
    value = norm(problem.points, problem.vectors, problem.kernel, problem.n_threads)
    return NormEstimate(value, 0.0, {"point_pairs": n * (n + 1) // 2})


def small_square(
    p: tuple[np.ndarray, np.ndarray], q: tuple[np.ndarray, np.ndarray], kernel: Kernel
) -> tuple[float, float]:
    """Return the squared distance of two close measures without cancellation, and its error.

    Either all distinct points lie within sigma / 2 of their centre, or each point of one measure
    has a partner near to it with the same vector; the result is nan otherwise.
    """
    if p[0].tobytes() > q[0].tobytes():  # the order of the arguments changes no bit
        p, q = q, p
    sides = [
        (cloud(kernel.scaled(points)[0]), cloud(vectors), len(points)) for points, vectors in (p, q)
    ]
    unit = kernel.scaled(p[0])[1]
    return pair_distance.small_square(*sides[0], *sides[1], *unit.compiled)


def distances(
    x: list[tuple[np.ndarray, np.ndarray]],
    y: list[tuple[np.ndarray, np.ndarray]] | None,
    kernel: Kernel,
    n_threads: int | None,
) -> np.ndarray:
    """Return the distances of all pairs of measures, given as distinct points and vectors."""
    sides = []
    for measures in (x,) if y is None else (x, y):
        points, unit = kernel.scaled(np.concatenate([points for points, _ in measures]))
        vectors = np.concatenate([vectors for _, vectors in measures])
        offsets = offsets_of([len(points) for points, _ in measures])
        sides.append((cloud(points), cloud(vectors), offsets))
    out = np.empty((len(x), len(x if y is None else y)))
    pairs = pair_distance.distance(*sides[0], *sides[-1], *unit.compiled, y is None)
    pairs.run(out, team_size(n_threads), y is None)
    return out


def kappas(
    X: list[Measure], Y: list[Measure] | None, kernel: Kernel, n_threads: int | None
) -> tuple[np.ndarray, np.ndarray]:
    """Return kappa of every measure of X with every one of Y, as unevaluated sums high + low.

    Y None: of X with itself, and only the upper triangle is filled.
    """
    packed = []
    for measures in (X, Y):
        if measures is not None:
            points, unit = kernel.scaled(np.concatenate([m.points for m in measures]))
            vectors = np.concatenate([m.vectors for m in measures])
            sizes = [len(m) for m in measures]
            packed.append((cloud(points), cloud(vectors), offsets_of(sizes)))
    return pair_sums.pair_matrix(
        *packed[0], *packed[-1], *unit.compiled, team_size(n_threads), Y is None, False
    )


def potentials(
    targets: np.ndarray,
    points: np.ndarray,
    vectors: np.ndarray,
    kernel: Kernel,
    n_threads: int | None,
) -> np.ndarray:
    """Return sum_q K(p, q) v_q at every target p, (n, r)."""
    targets, _ = kernel.scaled(targets)
    points, kernel = kernel.scaled(points)
    return pair_sums.potentials(
        cloud(targets), len(targets), cloud(points), cloud(vectors), len(points),
        *kernel.compiled, team_size(n_threads),
    )  # fmt: skip
