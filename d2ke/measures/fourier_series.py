# SPDX-License-Identifier: BSD-3-Clause
"""The Fourier series of the Gaussian kernel, repeated with a period beyond the points' box."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy.special import erfc, erfcinv

from d2ke._base.threads import team_size
from d2ke._ext import expansions
from d2ke.measures.kernels import NormEstimate, NormProblem
from d2ke.measures.random_fourier import centred


class SeriesPlan(NamedTuple):
    """Periods and degrees for each coordinate, a bound of the kernel's error, the features."""

    periods: np.ndarray
    degrees: np.ndarray
    error: float
    terms: int


def plan_series(points: np.ndarray, sigma: float, eps: float) -> SeriesPlan:
    """Return the series with the fewest terms whose error is at most eps.

    Raises ValueError if these are too many.

    In one coordinate, for |x| <= L, the Gaussian repeated with the period T > L is
    sum_k c_k cos(2 pi k x / T), c_k = sqrt(2 pi) sigma / T exp(-(2 pi k sigma / T)^2 / 2). The
    repetitions add at most sum_m exp(-(m T - L)^2 / (2 sigma^2)) + exp(-(m T + L)^2 / (2 sigma^2))
    for m >= 1, and the terms |k| > M are at most erfc(sqrt(2) pi sigma M / T). With e_k of
    coordinate k the product is off by at most prod_k (1 + e_k) - 1.
    """
    with np.errstate(over="ignore"):
        extent = np.ptp(points, axis=0) / sigma
    dim = len(extent)
    each = max(math.expm1(math.log1p(eps) / dim), 1e-24)  # far below the rounding
    coordinates = [_one_coordinate(float(length), each) for length in extent]
    sizes = [2.0 * degree + 1 for _, degree, _ in coordinates]
    terms = math.prod(sizes)
    max_terms = 1_000_000
    if terms > max_terms:
        raise ValueError(
            f'method="fourier" would need {terms:.3g} features in {dim} dimensions, points as far '
            f"apart as {extent.max():.3g} sigma; at most {max_terms} are possible; use "
            'method="dualtree" for a narrow kernel in up to 3 dimensions, else method="rff" or '
            '"exact", or a larger sigma or eps'
        )
    periods, degrees, errors = (np.array(values) for values in zip(*coordinates, strict=True))
    error = math.expm1(float(np.log1p(errors).sum()))
    return SeriesPlan(periods * sigma, degrees.astype(np.int64), error, int(terms))


def _one_coordinate(extent: float, eps: float) -> tuple[float, float, float]:
    """Return period (sigma = 1), degree and error of one coordinate."""
    if extent > 1e6:  # too many terms in any case
        return extent, extent, eps
    periods = extent + np.linspace(0.5, 12, 116)  # longer than the extent by 0.5 to 12 sigma
    repeats = np.arange(1, 41)[:, None] * periods  # later repetitions are below 1e-80
    errors = np.exp(-np.square(repeats - extent) / 2) + np.exp(-np.square(repeats + extent) / 2)
    errors = errors.sum(axis=0)
    periods, errors = periods[errors < eps / 2], errors[errors < eps / 2]
    rate = math.sqrt(2) * math.pi / periods
    degrees = np.ceil(erfcinv(np.minimum(eps - errors, 1)) / rate)
    best = int(np.argmin(degrees))
    error = errors[best] + erfc(rate[best] * degrees[best])
    return float(periods[best]), float(degrees[best]), float(error)


def series_norm(problem: NormProblem) -> NormEstimate:
    """Return kappa to eps times the square of the total.

    It is the sum over all features of c |sum_p v_p b(p)|^2, where b is a product of sines and
    cosines of the coordinates and c the product of their coefficients.
    """
    vectors, sigma = problem.vectors, problem.kernel.sigma
    plan = plan_series(problem.points, sigma, problem.accuracy.eps)
    points = centred(problem.points)
    # The coordinate of the largest degree is the second factor of the matrix product.
    order = np.argsort(plan.degrees, kind="stable")
    n_front = max(1, len(order) - 1)
    n = len(points)
    steps = 2 * math.pi / plan.periods[order]
    values = plan.terms * vectors.shape[1]
    segments = max(1, min(64, (1 << 22) // values, n * values >> 18))
    sums = expansions.series(
        np.ascontiguousarray(points[:, order]), vectors, n * np.arange(segments + 1) // segments,
        plan.degrees[order], steps, n_front, team_size(problem.n_threads),
    ).sum(axis=0)  # fmt: skip
    weights = [
        _coefficients(sigma * step, int(degree))
        for step, degree in zip(steps, plan.degrees[order], strict=True)
    ]
    front, back = (_products(half) for half in (weights[:n_front], weights[n_front:]))
    value = float(front @ np.square(sums).sum(axis=1) @ back)
    # Rounding of repeated turns by the same angle, and of sums of blocks of points.
    blocks = n / (expansions.SERIES_POINTS * segments) + segments
    rounding = 2 * (4 * float(plan.degrees.sum()) + 64 + blocks) * np.finfo(float).eps
    bound = (plan.error + rounding) * problem.total**2
    return NormEstimate(value, bound, {"features": plan.terms})


def _coefficients(step: float, degree: int) -> np.ndarray:
    """Return the coefficients of 1, cos, sin, cos, ...; `step` is 2 pi sigma / T."""
    k = np.arange(1, 2 * degree + 2) // 2
    return np.where(k > 0, 2, 1) * step / math.sqrt(2 * math.pi) * np.exp(-((k * step) ** 2) / 2)


def _products(factors: list[np.ndarray]) -> np.ndarray:
    result = np.ones(1)
    for factor in factors:
        result = np.multiply.outer(result, factor).ravel()
    return result
