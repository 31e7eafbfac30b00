# SPDX-License-Identifier: BSD-3-Clause
"""The motion of one measure that makes its kernel distance to another least."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from d2ke._base.checks import choice, generator
from d2ke._base.threads import thread_count
from d2ke.measures import fptas, grid_correlation, pair_sums, rotations
from d2ke.measures.clouds import scaled
from d2ke.measures.distance import kernel_distance, kernel_norm
from d2ke.measures.kernels import checked_accuracy
from d2ke.measures.measure import Measure, as_measure, check_comparable, lengths, merged
from d2ke.measures.median_scale import bandwidth
from d2ke.measures.quasi_newton import Ascent, Motions, Pair, joined

MOTIONS = ("translation", "rotation", "rigid")

_BUDGETS = {1: 8e6, 2: 8e6, 3: 2e7}  # grid cells of the search, by dimension
_STARTS = 48
_PEAKS = 4  # of each rotation, where that is cheap
_LEAST = 6  # motions that are followed down to the given scale
_LEVEL_PAIRS = 2_000_000  # of points, all motions together, for a step at a coarser scale
_LEVEL_STEPS = 12
_FALL = 3.0  # of the scale, at most, from level to level
_SCORE = 8  # times as many pairs for the comparison of motions
_FIELD_CELLS = 400_000  # of a grid for that
_FEW = 100  # points that a sample has at least
_WHOLE = 2_000_000  # pairs up to which nothing is sampled at the given scale
_MOST_PAIRS = 4_000_000_000  # up to which the last steps and the distances take all
_LAST_STEPS = 100
_COARSE, _MIDDLE, _FINE = 1e-2, 1e-3, 1e-6  # last steps, in units of sigma
_EPS = 1e-3  # of the distances of sets that are too large for all pairs
_CORE = 0.9  # of the measure
_FAR = 3.0  # in units of the radius that the core keeps within
_CELLS = 1000  # points, beyond which those of one cell are merged for the search
_WIDEST = 2.0**40  # sigmas that a set may extend over; its coordinates leave 12 bits of one
_APART = 0.5  # sigmas between motions that are not the same maximum


@dataclass(frozen=True, eq=False)
class KernelAlignment:
    """A motion that brings Q near to P, and what it does to their kernel distance.

    Attributes
    ----------
    rotation : ndarray of shape (d, d)
        R, a proper rotation; the identity for motion="translation".
    translation : ndarray of shape (d,)
        T, zeros for motion="rotation". The moved points are ``Q @ R.T + T``.
    distance_before, distance : float
        D_K(P, Q), and D_K(P, R Q + T), which is never more.
    kappa : float
        kappa(P, R Q + T), which the motion maximises.
    bound : float
        Bound on the error of the squares of both distances: rounding, or what was asked
        for by `eps` where the sets are too large for all pairs.
    method : str
        "auto" or "fptas".
    motion : str
        What was allowed.
    sigma : float
        The kernel's scale.
    eps : float or None
        Of method="fptas": no motion has a D_K^2 less than that found by more than
        eps W^2, with W the mean of the total measures. None for "auto", which proves
        nothing.
    counts : dict of str to int
        Motions that were tried ("candidates"), pairs of points that were looked at
        while searching ("pairs").
    """

    rotation: np.ndarray
    translation: np.ndarray
    distance_before: float
    distance: float
    kappa: float
    bound: float
    method: str
    motion: str
    sigma: float
    eps: float | None
    counts: dict[str, int] = field(default_factory=dict)

    def __call__(self, points: Any) -> np.ndarray:
        """Move points, float64 of shape (n, d)."""
        return np.asarray(points, dtype=np.float64) @ self.rotation.T + self.translation


def kernel_align(
    P: Any,
    Q: Any,
    *,
    sigma: float | str,
    motion: str = "rigid",
    weights_p: Any = None,
    weights_q: Any = None,
    method: str = "auto",
    eps: float | None = None,
    seed: Any = 0,
    n_threads: int | None = None,
) -> KernelAlignment:
    """Move Q by a translation, a rotation or both, so that its kernel distance to P is least.

    The norms of P and Q do not change under motions, so that kappa(P, R Q + T) is
    maximised (Gaussian kernel).

    Parameters
    ----------
    P, Q : array_like of shape (n, d), or Measure
        Points, or what `curve` and `mesh` return: their tangents and normals turn with
        the points.
    sigma : float or "median"
        The kernel's scale; "median" as for `kernel_distance`, which is wide: the
        smaller sigma, the less a match is disturbed by what has no partner.
    motion : {"rigid", "translation", "rotation"}
        "rotation" is about the origin and never translates; it and "rigid" need
        d >= 2. Reflections are no motions.
    weights_p, weights_q : array_like of shape (n,), optional
        Weights, 1 each by default; of any sign with method="auto".
    method : {"auto", "fptas"}
        "auto": a search of grids of translations and nets of rotations, then ascents
        from the best, from coarse scales to the given one. Excellent in 2 and 3
        dimensions, usable for translations in any; proves nothing. "fptas": a grid
        around all that can be best, of points with weights >= 0 in few dimensions
        (rotations: 2 and 3); for small sets.
    eps : float, optional
        For "fptas": the D_K^2 found is at most eps W^2 above the least, where W is the
        mean of the total measures. For "auto": accuracy of the distances reported,
        which are exact by default unless there are more than 4e9 pairs of points (then
        0.001).
    seed : int or numpy.random.Generator
        Of the samples of large sets.
    n_threads : int, optional
        Threads; None for all that this process may use. The result does not depend on
        it.

    Returns
    -------
    KernelAlignment
        The motion, the distances before and after.

    Raises
    ------
    TypeError, ValueError
        Empty sets, values that are not finite, different dimensions or kinds, arguments
        out of range, sets that extend over more than 1e12 sigma; for "fptas" negative
        weights, curves and surfaces, or more candidates than can be tried.

    Notes
    -----
    For "fptas": if no weight is negative, then at the best motion some pair of points is
    near, K(p, q') >= max w max v / (W_P W_Q); so the translations around every p - q,
    within sigma sqrt(2 log(W_P W_Q / (max w max v))), hold it. The paper's step is for
    a Lipschitz bound. Since kappa is stationary at its maximum, its second derivative
    counts instead, and steps of sqrt(eps) are enough where those of the paper are of
    eps.

    References
    ----------
    Joshi, Kommaraju, Phillips, Venkatasubramanian, "Comparing Distributions and
    Shapes using the Kernel Distance", SoCG 2011, section 6. Alexa, "Super-Fibonacci
    spirals", CVPR 2022 (the rotations of space that are tried).

    Examples
    --------
    >>> import numpy as np
    >>> import d2ke
    >>> P = np.array([[0.0, 0.0], [4.0, 0.0], [4.0, 1.0], [2.0, 3.0]])
    >>> Q = P @ [[0, 1], [-1, 0]] + [70, 30]
    >>> found = d2ke.kernel_align(P, Q, sigma=0.5)
    >>> found.rotation.round(6) + 0.0
    array([[ 0.,  1.],
           [-1.,  0.]])
    >>> bool(found.distance < 1e-6 < found.distance_before)
    True
    >>> np.abs(found(Q) - P).max() < 1e-6
    np.True_
    """
    p = as_measure("P", P, "weights_p", weights_p)
    q = as_measure("Q", Q, "weights_q", weights_q)
    check_comparable("P", p, "Q", q)
    choice("motion", motion, MOTIONS)
    choice("method", method, ("auto", "fptas"))
    sigma = bandwidth(sigma, [p.points, q.points])
    eps, _ = checked_accuracy(eps, None)
    rng = generator(seed)
    thread_count(n_threads)
    dim = p.points.shape[1]
    if motion != "translation" and dim == 1:
        raise ValueError(f'motion="{motion}" needs at least 2 dimensions; P and Q have 1')
    action = rotations.Action(p.kind, dim)
    for name, measure in (("P", p), ("Q", q)):
        if measure.vectors.shape[1] != action.channels:
            raise ValueError(
                f"{name} is a {measure.kind} in {dim} dimensions whose points carry "
                f"{measure.vectors.shape[1]} numbers, not {action.channels}: how they turn is "
                "not known"
            )
    if not math.isfinite((p.total + q.total) * (p.total + q.total)):
        raise ValueError(f"the weights are too large: their total is {p.total + q.total}")
    task = _Task(p, q, sigma, motion, action, rng, n_threads)
    if method == "fptas" and eps is None:
        raise TypeError('method="fptas" needs eps, such as eps=0.1')
    if method == "fptas":
        slack = eps * ((p.total + q.total) / 2) ** 2
        starts, task.candidates = fptas.candidates(task.pair, task.ascent, slack)
    elif task.empty:
        starts = task.identity()
    else:
        starts = task.search()
    R, T = task.polished(starts, sampling=method == "auto")
    return _judged(p, q, R, T, task, method, eps, n_threads)


def _judged(p, q, R, T, task, method, eps, n_threads) -> KernelAlignment:
    """Compare the distances before and after; the motion that changes nothing may be better."""
    exact = len(p) * len(q) <= _MOST_PAIRS and (eps is None or method == "fptas")
    how = {"sigma": task.given_sigma, "n_threads": n_threads, "info": True}
    how |= {"method": "exact"} if exact else {"eps": eps or _EPS}
    moved = Measure(q.points @ R.T + T, rotations.apply(task.action.matrices(R), q.vectors), q.kind)
    before, after = (kernel_distance(p, other, **how) for other in (q, moved))
    if not after.squared < before.squared:
        R, T, after, moved = np.eye(len(T)), np.zeros(len(T)), before, q
    if exact:
        high, low = pair_sums.kappas([p], [moved], "gaussian", task.given_sigma, n_threads)
        kappa = float(high[0, 0] + low[0, 0])
    else:
        own = [kernel_norm(measure, **how).squared for measure in (p, q)]
        kappa = (sum(own) - after.squared) / 2
    return KernelAlignment(
        rotation=R,
        translation=T,
        distance_before=before.value,
        distance=after.value,
        kappa=kappa,
        bound=max(before.bound, after.bound),
        method=method,
        motion=task.motion,
        sigma=task.given_sigma,
        eps=eps if method == "fptas" else None,
        counts={"candidates": task.candidates, "pairs": task.ascent.pairs},
    )


class _Task:
    """P and Q in units in which sigma is about 1, each relative to a centre of its own."""

    def __init__(self, p, q, sigma, motion, action, rng, n_threads) -> None:
        self.given_sigma, self.motion, self.action = sigma, motion, action
        self.rng, self.n_threads = rng, n_threads
        self.turning, self.shifting = motion != "translation", motion != "rotation"
        self.unit = math.ldexp(1.0, math.frexp(sigma)[1] - 1)
        sides = []
        self.centres, self.middles, self.reaches, self.cores = [], [], [], []
        for name, measure in (("P", p), ("Q", q)):
            points, vectors = merged(measure.points, measure.vectors)
            if not len(points):
                points, vectors = measure.points[:1], measure.vectors[:1] * 0
            points, self.sigma = scaled(points, sigma)
            with np.errstate(over="ignore"):
                wide = float(
                    np.abs(points).max() if motion == "rotation" else np.ptp(points, axis=0).max()
                )
            if wide > _WIDEST * self.sigma:
                raise ValueError(
                    f"{name} extends over {wide / self.sigma:.3g} sigma"
                    f"{' from the origin' if motion == 'rotation' else ''}; alignment takes up "
                    f"to {_WIDEST:.3g}"
                )
            centre, core, reach = _core(points, lengths(vectors))
            if motion == "rotation":
                self.middles.append(centre)
                centre = np.zeros_like(centre)  # what is turned about
            else:
                self.middles.append(np.zeros_like(centre))
            sides += [points - centre, vectors]
            self.centres.append(centre)
            self.cores.append(core)
            self.reaches.append(reach)
        self.pair = Pair(*sides, self.sigma)
        near = self._within(self.reaches)
        self.ascent = Ascent(
            action, self.turning, self.shifting, near.q, lengths(near.v), n_threads
        )
        self.radius = self.ascent.radius
        self.candidates = 0

    @property
    def dim(self) -> int:
        """Number of coordinates."""
        return self.pair.p.shape[1]

    @property
    def empty(self) -> bool:
        """Whether one of the measures is 0, so that all motions are alike."""
        return not (self.pair.u.any() and self.pair.v.any())

    def identity(self) -> Motions:
        """Return the motion that changes nothing."""
        return Motions(np.eye(self.dim)[None], (self.centres[1] - self.centres[0])[None])

    def outside(self, motion: Motions, which: int) -> tuple[np.ndarray, np.ndarray]:
        """Return one of the motions in the coordinates that were given."""
        R = rotations.nearest(motion.R[which]) if self.turning else np.eye(self.dim)
        if not self.shifting:
            return R, np.zeros(self.dim)
        T = self.centres[0] + motion.t[which] - R @ self.centres[1]
        with np.errstate(over="ignore"):
            T = T * self.unit
        if not np.isfinite(T).all():
            raise ValueError("the points are too far apart: the translation overflows")
        return R, T

    def search(self) -> Motions:
        """Return motions to start from at the given scale, found at coarser ones."""
        if self.dim > 3:
            found, scale = self._many_dimensions()
        else:
            found, scale = self._grid()
        self.candidates += len(found)
        # From there down to the given scale, by factors of at most 3.
        levels = max(math.ceil(math.log(scale / self.sigma, _FALL) - 1e-9), 0)
        for level in range(levels):
            sigma = self.sigma * (scale / self.sigma) ** (1 - level / levels)
            most = max(_STARTS >> (level + 1), _LEAST)
            found = self._level(self._merged(sigma), found, most)
        return found

    def _level(self, pair: Pair, found: Motions, most: int) -> Motions:
        """Follow motions upwards for some steps, and return the best of where they come to."""
        part = self._sampled(pair, _LEVEL_PAIRS / len(found))
        found = self.ascent.climb(part, found, _LEVEL_STEPS, _COARSE)
        if part is not pair:
            # Many motions may differ by less than what sampling does to kappa.
            found.value = grid_correlation.values_at(pair, self.action, found, _FIELD_CELLS)
            if found.value is None:
                part = self._sampled(pair, _SCORE * _LEVEL_PAIRS / len(found))
                found.value = self.ascent.values(part, found.R, found.t)
        gap = _APART * pair.sigma
        which = grid_correlation.apart(found, found.value, self.radius, gap, most)
        return Motions(found.R[which], found.t[which])

    def _grid(self) -> tuple[Motions, float]:
        """Search all translations and rotations at the finest scale that can be afforded."""
        core, budget = self._within(self.reaches), _BUDGETS[self.dim]
        plan = grid_correlation.plan(core, self.turning, self.shifting, budget)
        if plan.sigma > self.sigma:
            # What is far out would only make the grid larger, and so coarser.
            core = self._within(self.cores)
            plan = grid_correlation.plan(core, self.turning, self.shifting, budget)
        most = min(max(4_000_000 // core.n_pairs, _STARTS), 8 * _STARTS)
        thin = Pair(*_fewer(core.p, core.u, plan.pixel / 2, _CELLS),
                    *_fewer(core.q, core.v, plan.pixel / 2, _CELLS), plan.sigma)  # fmt: skip
        R = np.eye(self.dim)[None] if plan.angle is None else rotations.net(self.dim, plan.angle)
        if self.shifting:
            # Of few points many places may be nearly as good; where the work is small, more of
            # them are followed.
            easy = plan.cells * len(R) * _PEAKS < budget
            peaks = 16 * most if len(R) == 1 else _PEAKS if easy else 1
            R, t, values = grid_correlation.translations(
                thin, plan, self.action, R, peaks, self.n_threads
            )
        else:
            R = np.concatenate([R, self._towards(plan.sigma)])
            values = grid_correlation.turns(thin, plan, self.action, R, self.n_threads)
            t = np.zeros((len(R), self.dim))
        self.candidates += len(R)
        found = Motions(R, t)
        gap = _APART * plan.sigma
        which = grid_correlation.apart(found, values, self.radius, gap, most)
        return found[which], plan.sigma

    def _towards(self, sigma: float) -> np.ndarray:
        """Return rotations of space that bring the middle of Q near to that of P."""
        middles = self.middles
        sizes = [float(np.linalg.norm(middle)) for middle in middles]
        if self.dim != 3 or min(sizes) == 0:
            return np.zeros((0, self.dim, self.dim))
        angles = (
            rotations.about(
                np.linspace(
                    0, 2 * math.pi, min(rotations.net_size(2, sigma / self.reaches[1]), 720)
                )
            )
            if self.reaches[1] > 0
            else np.eye(2)[None]
        )
        # Turns about P's middle: a rotation of the plane across it, in axes of which it is one.
        axis = rotations.between(np.array([0.0, 0.0, 1.0]), middles[0])
        turn = np.broadcast_to(np.eye(3), (len(angles), 3, 3)).copy()
        turn[:, :2, :2] = angles
        return axis @ turn @ axis.T @ rotations.between(middles[1], middles[0])

    def _many_dimensions(self) -> tuple[Motions, float]:
        d = self.dim
        core = self._within(self.reaches)
        if not self.turning:
            return self._by_planes(core)
        starts = [np.eye(d)[None]]
        axes = [_axes(points, lengths(vectors)) for points, vectors in
                ((core.p, core.u), (core.q, core.v))]  # fmt: skip
        signs = 1 - 2 * ((np.arange(64)[:, None] >> np.arange(d - 1)) & 1)
        signs = np.unique(signs, axis=0)
        signs = np.concatenate([signs, np.ones((len(signs), 1), dtype=np.int64)], axis=1)
        signs[:, -1] *= np.sign(
            signs.prod(axis=1) * np.linalg.det(axes[0]) * np.linalg.det(axes[1])
        ).astype(np.int64)
        starts.append(np.einsum("ij,sj,kj->sik", axes[0], signs, axes[1]))
        random, triangle = np.linalg.qr(self.rng.standard_normal((_STARTS, d, d)))
        random *= np.sign(np.einsum("sii->si", triangle))[:, None]
        random[:, :, -1] *= np.linalg.det(random)[:, None]
        starts.append(random)
        R = np.concatenate(starts)
        scale = max(self.sigma, max(self.reaches) / 2)
        return Motions(R, np.zeros((len(R), d))), scale

    def _by_planes(self, core: Pair) -> tuple[Motions, float]:
        """Search translations in pairs of coordinates at a time."""
        best, alternatives, scale = [], [], self.sigma
        for k in range(0, self.dim, 2):
            axes = slice(k, min(k + 2, self.dim))
            p, q = (np.ascontiguousarray(x[:, axes]) for x in (core.p, core.q))
            plane = Pair(p, core.u, q, core.v, core.sigma)
            plan = grid_correlation.plan(plane, False, True, _BUDGETS[2] / self.dim)
            scale = max(scale, plan.sigma)
            _, t, values = grid_correlation.translations(
                plane, plan, self.action, np.eye(p.shape[1])[None], 3, self.n_threads
            )
            t = t[np.argsort(-values, kind="stable")]
            best.append(t[0])
            alternatives += [(axes, other) for other in t[1:]]
        starts = [np.concatenate(best)]
        for axes, other in alternatives:
            starts.append(starts[0].copy())
            starts[-1][axes] = other
        t = np.array(starts)
        # Errors of all planes add up.
        R = np.broadcast_to(np.eye(self.dim), (len(t), self.dim, self.dim))
        return Motions(R, t), scale * math.sqrt(self.dim / 2)

    def _within(self, reaches: list[float]) -> Pair:
        """Return the pair without points that are farther from the middles."""
        sides = []
        for points, vectors, middle, reach in zip(
            (self.pair.p, self.pair.q), (self.pair.u, self.pair.v), self.middles, reaches,
            strict=True,
        ):  # fmt: skip
            near = np.sqrt(np.square(points - middle).sum(axis=1)) <= reach
            sides += [points[near], vectors[near]]
        return Pair(*sides, self.sigma)

    def _merged(self, sigma: float) -> Pair:
        """Return the pair at a coarser scale, near points merged if there are many."""
        near = self._within(self.reaches)
        return Pair(*_fewer(near.p, near.u, sigma / 2, _CELLS),
                    *_fewer(near.q, near.v, sigma / 2, _CELLS), sigma)  # fmt: skip

    def _sampled(self, pair: Pair, most: float) -> Pair:
        """Return the pair, or samples of both sides with about so many pairs to look at."""
        share = math.sqrt(most / pair.work)
        if share >= 1:
            return pair
        sides = []
        for points, vectors in ((pair.p, pair.u), (pair.q, pair.v)):
            count = max(int(len(points) * share), _FEW)
            if count >= len(points):
                sides += [points, vectors]
                continue
            # Those that carry more are likelier; at equal steps, since neighbours follow each
            # other.
            weights = lengths(vectors)
            total = np.cumsum(weights)
            marks = (np.arange(count) + self.rng.random()) * (total[-1] / count)
            chosen, times = np.unique(
                np.searchsorted(total, marks, side="right"), return_counts=True
            )
            factors = times * (total[-1] / count) / weights[chosen]
            sides += [points[chosen], vectors[chosen] * factors[:, None]]
        return Pair(*sides, pair.sigma)

    def polished(self, starts: Motions, sampling: bool) -> tuple[np.ndarray, np.ndarray]:
        """Return the best of the local maxima above the starts, at the given scale."""
        found = joined([starts, self.identity()])
        pair = self.pair
        if sampling and pair.work * len(found) > _WHOLE:
            found = self._level(pair, found, 3)
            pair = self._sampled(pair, _MOST_PAIRS)
            if len(found) > 1:
                found.value = self.ascent.values(pair, found.R, found.t)
                found = found[[int(found.value.argmax())]]
            # Steps are many until the Hessian is known, which for that of all points is enough.
            part = self._sampled(pair, _LEVEL_PAIRS)
            if part is not pair:
                found = self.ascent.climb(part, found, _LAST_STEPS, _MIDDLE)
        found = self.ascent.climb(pair, found, _LAST_STEPS, _FINE)
        return self.outside(found, int(found.value.argmax()))


def _core(points: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, float, float]:
    """Return the median, the radius that most of the measure keeps within, and a wider one.

    The wider one is that of all points unless some are very far.
    """
    if not weights.sum() > 0:
        return points[0], 0.0, 0.0
    centre = np.array([_quantile(x, weights, 0.5) for x in points.T])
    distance = np.sqrt(np.square(points - centre).sum(axis=1)) * (1 + 1e-9)
    most = float(distance[weights > 0].max())
    core = _quantile(distance, weights, _CORE) or most
    return centre, core, min(most, _FAR * core)


def _quantile(values: np.ndarray, weights: np.ndarray, share: float) -> float:
    order = np.argsort(values, kind="stable")
    total = np.cumsum(weights[order])
    at = min(int(np.searchsorted(total, share * total[-1])), len(order) - 1)
    return float(values[order[at]])


def _axes(points: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return the principal axes as columns."""
    total = weights.sum()
    if not total > 0:
        return np.eye(points.shape[1])
    points = points - weights @ points / total
    return np.linalg.eigh(np.einsum("n,ni,nj->ij", weights, points, points, optimize=False))[1]


def _fewer(
    points: np.ndarray, vectors: np.ndarray, side: float, enough: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return, of more points than enough, their means in the cells of a grid, vectors added."""
    if len(points) <= enough:
        return points, vectors
    cells = np.floor((points - points.min(axis=0)) / side)
    order = np.lexsort(cells.T)
    first = np.ones(len(order), dtype=bool)
    first[1:] = (np.diff(cells[order], axis=0) != 0).any(axis=1)
    starts = np.flatnonzero(first)
    weights = np.maximum(lengths(vectors), np.finfo(float).tiny)[order]
    total = np.add.reduceat(weights, starts)
    means = np.add.reduceat(points[order] * weights[:, None], starts, axis=0) / total[:, None]
    return means, np.add.reduceat(vectors[order], starts, axis=0)
