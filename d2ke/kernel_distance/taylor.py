# SPDX-License-Identifier: BSD-3-Clause
"""The Taylor features of the Gaussian kernel (the improved fast Gauss transform's map)."""

from __future__ import annotations

import math
from decimal import Decimal
from typing import NamedTuple

import numpy as np
from scipy.special import gammaln, pdtrc

from d2ke._ext import kernel_sums
from d2ke._threads import thread_count
from d2ke.kernel_distance.measure import lengths
from d2ke.kernel_distance.sums import offsets_of, scaled

MOST_TERMS = 200_000
_MOST_RADIUS = 25  # beyond, exp(-radius^2) would vanish
_SEGMENTS = 64
_STEPS = 1000
_PARTIAL_VALUES = 1 << 22


class TaylorSum(NamedTuple):
    """kappa, a bound of its error, the degree and the number of features."""

    value: float
    bound: float
    degree: int
    terms: int


def _squares(points: np.ndarray) -> np.ndarray:
    return np.einsum("ij,ij->i", points, points)


def ball(points: np.ndarray) -> tuple[np.ndarray, float]:
    """Return the centre and the radius of a ball around the points, nearly the smallest."""
    centre = points.min(axis=0) / 2 + points.max(axis=0) / 2
    best, least = centre, math.inf
    for step in range(1, 11):  # Badoiu and Clarkson: towards the farthest point
        squares = _squares(points - centre)
        farthest = int(squares.argmax())
        if squares[farthest] < least:
            best, least = centre, float(squares[farthest])
        centre = centre + (points[farthest] - centre) / (step + 1)
    return best, math.sqrt(least)


def degree_needed(radius: float, eps: float) -> int:
    """Return the least t with P(Poisson(2 radius^2) >= t) <= eps, radius in units of sqrt(h).

    For points p, q with |p|, |q| <= radius, what the terms of degree >= t contribute to
    K(p, q) is at most exp(-|p|^2 - |q|^2) sum_{k >= t} (2 |p| |q|)^k / k!, hence at most
    that probability. (The paper's rule is max(4 e Delta^2, log2 1/eps), several times more.)
    """
    mean = 2 * radius * radius
    high = 1
    while pdtrc(high - 1, mean) * (1 + 1e-9) > eps:
        high *= 2
    low = high // 2 + 1 if high > 1 else 1
    while low < high:
        middle = (low + high) // 2
        if pdtrc(middle - 1, mean) * (1 + 1e-9) > eps:
            low = middle + 1
        else:
            high = middle
    return high


def terms_of(dim: int, degree: int) -> int:
    """Return the number of monomials of degree < `degree` in `dim` variables."""
    return math.comb(degree - 1 + dim, dim)


def check_terms(dim: int, radius: float, eps: float) -> tuple[int, int]:
    """Return the degree and the number of features, or refuse if there are too many."""
    # Far outside, the degree alone is hopeless, and not worth finding.
    degree = degree_needed(radius, eps) if radius < 1e3 else math.ceil(2 * radius * radius)
    terms = terms_of(dim, degree)
    if terms > MOST_TERMS or radius > _MOST_RADIUS:
        raise ValueError(
            f'method="ifgt" would need {Decimal(terms):.3g} features (degree {degree} in {dim} '
            f"dimensions, radius {radius:.3g} sqrt(h)); at most {MOST_TERMS} and a radius of "
            f'{_MOST_RADIUS} sqrt(h) are possible; use method="dualtree" for a narrow kernel in '
            'up to 3 dimensions, else method="rff" or "exact", or a larger sigma or eps'
        )
    return degree, terms


def features(
    points: np.ndarray,
    vectors: np.ndarray,
    offsets: np.ndarray,
    degree: int,
    n_threads: int | None,
) -> np.ndarray:
    """Return the features of every set, (n_sets, r, terms); points in units of sqrt(h)."""
    dim = points.shape[1]
    terms = terms_of(dim, degree)
    # Large sets are cut into segments, however many threads there are.
    parts = max(1, min(_SEGMENTS, _PARTIAL_VALUES // (terms * vectors.shape[1])))
    sizes = np.diff(offsets)
    cuts = np.clip(sizes * terms // (1 << 16), 1, np.minimum(parts, sizes))
    edges = np.concatenate(
        [
            begin + np.arange(count) * size // count
            for begin, size, count in zip(offsets, sizes, cuts, strict=False)
        ]
        + [offsets[-1:]]
    ).astype(np.int64)
    sums = kernel_sums.taylor(points, vectors, edges, degree, terms, thread_count(n_threads))
    sums = np.add.reduceat(sums, offsets_of(cuts)[:-1], axis=0)
    powers = kernel_sums.exponents(dim, degree, terms)
    # What is left of sqrt(2^k / a!) is the root of a multinomial coefficient.
    logs = gammaln(powers.sum(axis=1) + 1.0) - gammaln(powers + 1.0).sum(axis=1)
    sums *= np.exp(logs / 2)
    return sums


def taylor_norm(
    points: np.ndarray, vectors: np.ndarray, sigma: float, eps: float, n_threads: int | None
) -> TaylorSum:
    """Return kappa of one measure with itself, to eps times the square of its total.

    The sum of squares lacks those of the terms of higher degree; as these are a positive
    definite kernel too, the error is at most (sum |v_p| sqrt(R(p, p)))^2 with
    R(p, p) = P(Poisson(2 |p|^2) >= degree), which is the bound returned.
    """
    points, sigma = scaled(points, sigma)
    centre, radius = ball(points)
    unit = math.sqrt(2) * sigma
    degree, terms = check_terms(points.shape[1], radius / unit, eps)
    points = (points - centre) / unit
    sums = features(points, vectors, np.array([0, len(points)]), degree, n_threads)
    # The remainder grows with |p|: a table, looked up at the next step above, bounds it.
    squares = _squares(points)
    steps = np.linspace(0, squares.max(), _STEPS)
    above = np.minimum(np.searchsorted(steps, squares), _STEPS - 1)
    remainders = pdtrc(degree - 1, 2 * steps)[above]
    bound = float(lengths(vectors) @ np.sqrt(remainders)) ** 2
    return TaylorSum(float(np.square(sums).sum()), bound, degree, terms)
