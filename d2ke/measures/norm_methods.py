# SPDX-License-Identifier: BSD-3-Clause
"""The methods of the kernel distance: one row each, and the choice of the cheapest."""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from d2ke._base.checks import choice
from d2ke.measures import dual_tree, fast_gauss, fourier_series, pair_sums, random_fourier
from d2ke.measures.kernels import SCALED_KERNELS, Accuracy, Kernel, NormEstimate, NormProblem

# Nanoseconds for a point, like the costs below: one thread, 256-bit vectors. Only their ratios
# matter.
_TREE_POINT, _BALL_POINT = 500.0, 700.0


@dataclass(frozen=True)
class NormMethod:
    """One row of the table.

    Attributes
    ----------
    name : str
        What users write.
    kernels : tuple of str
        The kernels that it computes.
    run : callable
        ``run(problem)`` returns a `NormEstimate`.
    cost : callable or None
        ``cost(problem)`` returns the likely nanoseconds, or raises ValueError where the
        method cannot do it. None: "auto" never picks the method.
    point_cost : float
        Nanoseconds of each point at least; `cost` is not called where another method
        costs less than that.
    """

    name: str
    kernels: tuple[str, ...]
    run: Callable[[NormProblem], NormEstimate]
    cost: Callable[[NormProblem], float] | None = None
    point_cost: float = 0.0


def _sizes(problem: NormProblem) -> tuple[int, int, int]:
    """Return the numbers of points, of coordinates, and of a vector's components."""
    return *problem.points.shape, problem.vectors.shape[1]


def _exact_cost(problem: NormProblem) -> float:
    n, dim, r = _sizes(problem)
    return n * n / 2 * (2.5 + 0.25 * (dim + r))


def _series_cost(problem: NormProblem) -> float:
    n, _, r = _sizes(problem)
    plan = fourier_series.plan_series(problem.points, problem.kernel.sigma, problem.accuracy.eps)
    return n * (200.0 + 0.065 * r * plan.terms)


def _expansion_cost(problem: NormProblem) -> float:
    n, _, r = _sizes(problem)
    plan = fast_gauss.plan_expansion(problem.points, problem.kernel.sigma, problem.accuracy.eps)
    return n * _BALL_POINT + 0.8 * (1 + r) / 2 * plan.work


def _random_cost(problem: NormProblem) -> float:
    """Twice the likely cost: a random method must promise to be twice as fast."""
    n, dim, r = _sizes(problem)
    eps = problem.accuracy.eps
    likely = min(random_fourier.needed(eps, problem.accuracy.risk / 2), max(256.0, 25 / eps))
    return 2 * n * likely * (4.5 + 0.15 * (dim + r))


def _tree_cost(problem: NormProblem) -> float:
    """Estimate from sampled pairs of points how many are near enough to count."""
    n, dim, _ = _sizes(problem)
    points, eps, kernel = problem.points, problem.accuracy.eps, problem.kernel
    sigma = kernel.sigma
    log = math.log(1 / min(2 * eps, 0.5))
    reach = sigma * (log if kernel.laplace else math.sqrt(2 * log))
    n_sample = 128
    sample = points[np.linspace(0, n - 1, n_sample).astype(np.int64)]
    reference = points[np.linspace(0, n - 1, 4 * n_sample + 1).astype(np.int64)]
    spread = np.ptp(np.quantile(sample, [0.05, 0.95], axis=0), axis=0)
    leaf = 1.2 * (32 / n) ** (1 / dim) * float(np.linalg.norm(spread))
    squares = np.zeros((len(sample), len(reference)))
    for k in range(dim):
        squares += np.square(sample[:, k : k + 1] - reference[:, k])
    near = float((squares < (reach + 0.6 * leaf) ** 2).mean())
    # Boxes of this side are small enough to stop at; several points may share one.
    side = 2 * eps * sigma / 0.6 / (2 * math.sqrt(dim))
    shared = max(n * float(np.prod(np.minimum(side / np.maximum(spread, side), 1))), 1)
    # A pair of points takes 6 ns, and a pair of boxes 60.
    return n * _TREE_POINT + n * n / 2 * near * min(6.0, 60.0 / shared**2)


# In the order in which "auto" computes costs.
NORM_METHODS = {
    method.name: method
    for method in (
        NormMethod("exact", SCALED_KERNELS, pair_sums.exact_norm, _exact_cost),
        NormMethod("fourier", ("gaussian",), fourier_series.series_norm, _series_cost),
        NormMethod("ifgt", ("gaussian",), fast_gauss.taylor_norm, _expansion_cost, _BALL_POINT),
        NormMethod("dualtree", SCALED_KERNELS, dual_tree.dual_tree, _tree_cost, _TREE_POINT),
        NormMethod("rff", SCALED_KERNELS, random_fourier.random_norm, _random_cost),
        NormMethod("wspd", ("gaussian",), dual_tree.separated_pairs),
    )
}


def check_method(name: Any, kernel: Kernel, accuracy: Accuracy) -> None:
    """Raise unless the method is in the table (or "auto") and computes the kernel."""
    choice("method", name, ("auto", *NORM_METHODS))
    if name in ("auto", "exact"):
        return
    if accuracy.eps is None:
        raise TypeError(f'method="{name}" is approximate and needs eps, such as eps=0.01')
    if kernel.sigma is None:
        raise ValueError(f'the {kernel.name} kernel is computed exactly; got method="{name}"')
    if kernel.name not in NORM_METHODS[name].kernels:
        alternatives = [f'"{m.name}"' for m in NORM_METHODS.values() if kernel.name in m.kernels]
        raise ValueError(
            f'method="{name}" is for the Gaussian kernel; for the Laplace kernel there are '
            f"{', '.join(alternatives)}"
        )


def choose(problem: NormProblem) -> tuple[str, str]:
    """Return the method that is likely the fastest, and why; eps is the error of each pair."""
    if problem.accuracy.eps is None:
        return "exact", "no eps is given, so that nothing may be approximated"
    n = len(problem.points)
    if n <= 2000:
        return "exact", f"{n} distinct points are few"
    costs: dict[str, float] = {}
    for name, method in NORM_METHODS.items():
        if method.cost is None or problem.kernel.name not in method.kernels:
            continue
        if n * method.point_cost < min(costs.values(), default=math.inf):
            with suppress(ValueError):
                costs[name] = method.cost(problem)
    best = min(costs, key=costs.__getitem__)
    estimates = ", ".join(f"{name} {cost * 1e-9:.2g}" for name, cost in costs.items())
    return best, f"least of the estimated seconds of one thread (rff doubled): {estimates}"
