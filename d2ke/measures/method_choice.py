# SPDX-License-Identifier: BSD-3-Clause
"""The method of the kernel distance that is expected to be fastest."""

from __future__ import annotations

import math
from contextlib import suppress

import numpy as np

from d2ke.measures import fast_gauss, fourier_series, random_fourier

# Nanoseconds of one thread with 256-bit vectors; only their ratios matter.
_PAIR, _PAIR_DIM = 2.5, 0.25

_LEAF_PAIR, _BOX_PAIR, _TREE_POINT = 6.0, 60.0, 500.0

_FREQUENCY, _FREQUENCY_DIM = 4.5, 0.15

_TERM, _BALL_POINT = 0.8, 700.0

_SERIES_TERM, _SERIES_POINT = 0.065, 200.0

_FEW = 2000  # points below which nothing is worth estimating

_PILOT = 128


def choose(
    points: np.ndarray,
    vectors: np.ndarray,
    kernel: str,
    sigma: float,
    eps: float | None,
    delta: float,
) -> tuple[str, str]:
    """Return the method that is likely to be the fastest, and why.

    Costs are estimated from the number of points, the dimension, the radius in units
    of the kernel, and eps (here of each pair); for the dual tree also from how many of
    some sampled pairs of points are near enough to count. A random method must promise
    to be twice as fast.
    """
    if eps is None:
        return "exact", "no eps is given, so that nothing may be approximated"
    n, dim = points.shape
    r = vectors.shape[1]
    if n <= _FEW:
        return "exact", f"{n} distinct points are few"
    costs = {"exact": n * n / 2 * (_PAIR + _PAIR_DIM * (dim + r))}
    if kernel == "gaussian":
        with suppress(ValueError):
            terms = fourier_series.plan(points, sigma, eps).terms
            costs["fourier"] = n * (_SERIES_POINT + _SERIES_TERM * r * terms)
        if n * _BALL_POINT < min(costs.values()):
            with suppress(ValueError):
                work = fast_gauss.plan(points, sigma, eps).work
                costs["ifgt"] = n * _BALL_POINT + _TERM * (1 + r) / 2 * work
    if n * _TREE_POINT < min(costs.values()):
        costs["dualtree"] = n * _TREE_POINT + _tree_pairs(points, kernel, sigma, eps)
    likely = min(random_fourier.needed(eps, delta / 2), max(256.0, 25 / eps))
    costs["rff"] = 2 * n * likely * (_FREQUENCY + _FREQUENCY_DIM * (dim + r))
    best = min(costs, key=costs.__getitem__)
    others = ", ".join(f"{name} {cost * 1e-9:.2g}" for name, cost in costs.items())
    return best, f"least of the estimated seconds of one thread (rff doubled): {others}"


def _tree_pairs(points: np.ndarray, kernel: str, sigma: float, eps: float) -> float:
    """Nanoseconds that the dual tree is likely to spend on pairs."""
    n, dim = points.shape
    log = math.log(1 / min(2 * eps, 0.5))
    reach = sigma * (log if kernel == "laplace" else math.sqrt(2 * log))
    some = points[np.linspace(0, n - 1, _PILOT).astype(np.int64)]
    others = points[np.linspace(0, n - 1, 4 * _PILOT + 1).astype(np.int64)]
    spread = np.ptp(np.quantile(some, [0.05, 0.95], axis=0), axis=0)
    leaf = 1.2 * (32 / n) ** (1 / dim) * float(np.linalg.norm(spread))
    squares = np.zeros((len(some), len(others)))
    for k in range(dim):
        squares += np.square(some[:, k : k + 1] - others[:, k])
    near = float((squares < (reach + 0.6 * leaf) ** 2).mean())
    # Boxes of this side are small enough to stop at; several points may share one.
    side = 2 * eps * sigma / 0.6 / (2 * math.sqrt(dim))
    shared = max(n * float(np.prod(np.minimum(side / np.maximum(spread, side), 1))), 1)
    return n * n / 2 * near * min(_LEAF_PAIR, _BOX_PAIR / shared**2)
