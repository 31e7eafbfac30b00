# SPDX-License-Identifier: BSD-3-Clause
"""The Taylor features of the Gaussian kernel (the improved fast Gauss transform's map)."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable
from decimal import Decimal
from functools import cache
from typing import NamedTuple

import numpy as np
from scipy.spatial import KDTree
from scipy.spatial.distance import cdist
from scipy.special import gammaln, pdtrc

from d2ke._base.threads import team_size
from d2ke._ext import expansions
from d2ke.measures.kernels import NormEstimate, NormProblem
from d2ke.measures.measure import lengths
from d2ke.objects.container import offsets_of

MAX_TERMS = 200_000
_PARTIAL_VALUES = 1 << 22


def _squares(points: np.ndarray) -> np.ndarray:
    return np.einsum("ij,ij->i", points, points)


def ball(points: np.ndarray) -> tuple[np.ndarray, float]:
    """Return the centre and the radius of a ball around the points, nearly the smallest."""
    centre = points.min(axis=0) / 2 + points.max(axis=0) / 2
    best, smallest = centre, math.inf
    for step in range(1, 6):  # Badoiu and Clarkson: towards the farthest point
        squares = _squares(points - centre)
        farthest = int(squares.argmax())
        if squares[farthest] < smallest:
            best, smallest = centre, float(squares[farthest])
        centre = centre + (points[farthest] - centre) / (step + 1)
    return best, math.sqrt(smallest)


def degree_needed(radius: float, eps: float) -> int:
    """Return the least t with P(Poisson(2 radius^2) >= t) <= eps, radius in units of sqrt(h).

    For points p, q with |p|, |q| <= radius, what the terms of degree >= t contribute to
    K(p, q) is at most exp(-|p|^2 - |q|^2) sum_{k >= t} (2 |p| |q|)^k / k!, hence at most
    that probability. (The paper's rule is max(4 e Delta^2, log2 1/eps), several times more.)
    """
    mean = 2 * radius * radius
    return _least(1, lambda t: pdtrc(t - 1, mean) * (1 + 1e-9) <= eps)


@cache
def degree_of_clusters(radius: float, eps: float) -> int:
    """Return a sufficient degree for pairs with only one point within the radius.

    With x = |p| <= radius and y = |q|, the remainder is at most exp(-(x - y)^2)
    P(Poisson(2 x y) >= t). While t >= 2 x^2 it grows with x, so x = radius is the worst;
    y goes through small intervals, and far away the first factor is below eps.
    """
    y = np.linspace(0, radius + math.sqrt(math.log(1 / eps)), 2001)
    gap = np.maximum(np.maximum(y[:-1] - radius, radius - y[1:]), 0)
    near = np.exp(-gap * gap) * (1 + 1e-9)
    return _least(
        max(1, math.ceil(2 * radius * radius)),
        lambda t: float((near * pdtrc(t - 1, 2 * radius * y[1:])).max()) <= eps,
    )


def _least(low: int, holds: Callable[[int], bool]) -> int:
    """Return the least integer >= low that satisfies a monotone condition."""
    high = low
    while not holds(high):
        low, high = high + 1, 2 * high
    return low + bisect_left(range(low, high), True, key=holds)


def terms_of(dim: int, degree: int) -> int:
    """Return the number of monomials of degree < `degree` in `dim` variables."""
    return math.comb(degree - 1 + dim, dim)


def check_terms(dim: int, radius: float, eps: float) -> tuple[int, int]:
    """Return the degree and the number of features; raise ValueError if there are too many."""
    # For a huge radius a simple bound of the degree is already too large.
    capped = min(radius, 1e9)
    degree = degree_needed(radius, eps) if radius < 1e3 else math.ceil(2 * capped * capped)
    terms = terms_of(dim, degree)
    max_radius = 25  # beyond, exp(-radius^2) would vanish
    if terms > MAX_TERMS or radius > max_radius:
        raise ValueError(
            f'method="ifgt" would need {"at least " if radius > capped else ""}'
            f"{Decimal(terms):.3g} features (degree {degree} in {dim} "
            f"dimensions, radius {radius:.3g} sqrt(h)); at most {MAX_TERMS} and a radius of "
            f'{max_radius} sqrt(h) are possible; use method="dualtree" for a narrow kernel in '
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
    sizes = np.diff(offsets)
    segments = max(1, min(64, _PARTIAL_VALUES // (terms * vectors.shape[1] * len(sizes))))
    cuts = np.clip(sizes * terms // (1 << 16), 1, np.minimum(segments, sizes))
    within = np.arange(cuts.sum()) - np.repeat(offsets_of(cuts)[:-1], cuts)
    edges = np.repeat(offsets[:-1], cuts) + within * np.repeat(sizes, cuts) // np.repeat(cuts, cuts)
    edges = np.append(edges, offsets[-1])
    sums = expansions.taylor(points, vectors, edges, degree, terms, team_size(n_threads))
    sums = np.add.reduceat(sums, offsets_of(cuts)[:-1], axis=0)
    powers = expansions.exponents(dim, degree, terms)
    # The remaining factor of sqrt(2^k / a!) is the root of a multinomial coefficient.
    logs = gammaln(powers.sum(axis=1) + 1.0) - gammaln(powers + 1.0).sum(axis=1)
    sums *= np.exp(logs / 2)
    return sums


class ExpansionPlan(NamedTuple):
    """Degree, features, the radius of clusters (0: one centre), and the work of an expansion."""

    degree: int
    terms: int
    cluster: float
    work: float


def plan_expansion(points: np.ndarray, sigma: float, eps: float) -> ExpansionPlan:
    """Return the expansion with the least work (in points times features).

    Raises ValueError if each needs too many features.

    For a wide kernel one centre is enough. Else the points are divided into cells, each with its
    own expansion, which is multiplied with the expansion of the points near it.
    """
    n, dim = points.shape
    unit = math.sqrt(2) * sigma
    _, radius = ball(points)
    plans: list[ExpansionPlan] = []
    refusal: ValueError | None = None
    try:
        degree, terms = check_terms(dim, radius / unit, eps)
        plans.append(ExpansionPlan(degree, terms, 0.0, n * terms))
    except ValueError as error:
        refusal = error
    sample = points[np.linspace(0, n - 1, 64).astype(np.int64)]
    reference = points[np.linspace(0, n - 1, 1025).astype(np.int64)]
    squares = cdist(sample, reference, "sqeuclidean") / unit**2
    reach = math.sqrt(math.log(1 / eps)) if eps < 1 else 0.0
    extent = np.ptp(points, axis=0)
    for cluster in (0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0):
        if cluster >= radius / unit or eps >= 1:
            break
        degree = degree_of_clusters(cluster, eps)
        terms = terms_of(dim, degree)
        counts = np.floor(extent / _side(cluster, unit, dim)) + 1
        if terms > MAX_TERMS or np.log(counts).sum() > math.log(1e9):
            continue
        cells = float(np.prod(counts))
        near = float((squares < (reach + 2 * cluster) ** 2).mean())
        # A near point costs as much as 120 features besides its own, a cell as 40,000.
        work = min(cells, n) * ((n * near + 1) * (120 + terms) + 40_000)
        plans.append(ExpansionPlan(degree, terms, cluster, work))
    if refusal is not None and not plans:
        raise refusal
    return min(plans, key=lambda each: each.work)


def taylor_norm(problem: NormProblem) -> NormEstimate:
    """Return kappa to eps times the square of the total.

    With one centre, the sum of squares lacks the terms of higher degree; as these are a
    positive definite kernel too, the error is at most (sum |v_p| sqrt(R(p, p)))^2 with
    R(p, p) = P(Poisson(2 |p|^2) >= degree), which is the bound returned.
    """
    points, vectors, eps = problem.points, problem.vectors, problem.accuracy.eps
    plan = plan_expansion(points, problem.kernel.sigma, eps)
    unit = math.sqrt(2) * problem.kernel.sigma
    if plan.cluster:
        return _clustered(points / unit, vectors, plan, eps, problem.n_threads)
    centre, _ = ball(points)
    points = (points - centre) / unit
    offsets = np.array([0, len(points)])
    sums = features(points, vectors, offsets, plan.degree, problem.n_threads)
    # The remainder grows with |p|: a table, looked up at the next step above, bounds it.
    squares = _squares(points)
    n_steps = 1000
    steps = np.linspace(0, squares.max(), n_steps)
    above = np.minimum(np.searchsorted(steps, squares), n_steps - 1)
    remainders = pdtrc(plan.degree - 1, 2 * steps)[above]
    bound = float(lengths(vectors) @ np.sqrt(remainders)) ** 2
    return _estimate(float(np.square(sums).sum()), bound, plan, 1)


def _clustered(
    points: np.ndarray, vectors: np.ndarray, plan: ExpansionPlan, eps: float, n_threads: int | None
) -> NormEstimate:
    """Sum over cells the products of their features and the features of all points near them."""
    n, dim = points.shape
    low = points.min(axis=0)
    cells = np.floor((points - low) / _side(plan.cluster, 1.0, dim)).astype(np.int64)
    key = np.ravel_multi_index(tuple(cells.T), tuple((cells.max(axis=0) + 1).tolist()))
    order = np.argsort(key, kind="stable")
    points, vectors, key = points[order], vectors[order], key[order]
    starts = np.flatnonzero(np.concatenate([[True], key[1:] != key[:-1]]))
    offsets = np.append(starts, n)
    sizes = np.diff(offsets)
    centres = np.minimum.reduceat(points, starts) / 2 + np.maximum.reduceat(points, starts) / 2
    tree = KDTree(centres)
    # Points farther from the centre are farther than sqrt(ln 1/eps) from all of the cell.
    reach = 2 * plan.cluster + math.sqrt(math.log(1 / eps))
    at_once = max(1, min(1 << 10, _PARTIAL_VALUES // (plan.terms * vectors.shape[1])))
    products = []
    first = 0
    while first < len(centres):
        near = tree.query_ball_point(centres[first : first + at_once], reach, return_sorted=True)
        ends = np.cumsum([len(each) for each in near])
        cell = np.concatenate(near).astype(np.int64)
        counts = np.cumsum(sizes[cell])[ends - 1]
        n_cells = max(1, int(np.searchsorted(counts, 1 << 19)))
        cell, ends, counts = cell[: ends[n_cells - 1]], ends[:n_cells], counts[:n_cells]
        last = first + n_cells
        owner = np.repeat(np.arange(first, last), np.diff(ends, prepend=0))
        index = np.repeat(offsets[cell] - offsets_of(sizes[cell])[:-1], sizes[cell])
        index += np.arange(len(index))
        gaps = points[index] - centres[np.repeat(owner, sizes[cell])]
        around = features(gaps, vectors[index], np.append(0, counts), plan.degree, n_threads)
        inside = slice(offsets[first], offsets[last])
        gaps = points[inside] - np.repeat(centres[first:last], sizes[first:last], axis=0)
        edges = offsets[first : last + 1] - offsets[first]
        sums = features(gaps, vectors[inside], edges, plan.degree, n_threads)
        products.append(float(np.vdot(sums, around)))
        first = last
    bound = eps * float(lengths(vectors).sum()) ** 2
    return _estimate(math.fsum(products), bound, plan, len(centres))


def _estimate(value: float, bound: float, plan: ExpansionPlan, centres: int) -> NormEstimate:
    counts = {"features": plan.terms, "degree": plan.degree, "centres": centres}
    return NormEstimate(value, bound, counts)


def _side(cluster: float, unit: float, dim: int) -> float:
    """Return the side of a cell within a ball of this radius, slightly reduced for rounding."""
    return 2 * cluster * unit / math.sqrt(dim) * (1 - 1e-12)
