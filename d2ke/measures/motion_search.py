# SPDX-License-Identifier: BSD-3-Clause
"""The search for the motion with the largest kappa: from grids at coarse scales to all points."""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from d2ke._base.errors import ArgumentError
from d2ke.distances.clouds import scaled
from d2ke.measures import fptas, grid_correlation, rotations
from d2ke.measures.kernels import Kernel
from d2ke.measures.measure import Measure, lengths, merged
from d2ke.measures.quasi_newton import Ascent, Motions, Pair

_BUDGETS = {1: 8e6, 2: 8e6, 3: 2e7}  # grid cells of the search, by dimension
_STARTS = 48
_LEVEL_PAIRS = 2_000_000  # pairs of points of all motions, for a step at a coarser scale
_WHOLE = 2_000_000  # pairs up to which nothing is sampled at the kernel's scale
MAX_PAIRS = 4_000_000_000  # the last steps and the distances take all pairs up to this number
_CELLS = 1000  # points above which points of one cell are merged for the search
_APART = 0.5  # sigmas between motions that are not the same maximum


class MotionSearch:
    """Search for the best motion of Q, in units in which sigma is about 1.

    P and Q are each kept relative to a centre.
    """

    def __init__(
        self,
        sides: tuple[Measure, Measure],
        kernel: Kernel,
        motion: str,
        action: rotations.Action,
        rng: np.random.Generator,
        n_threads: int | None,
    ) -> None:
        self.action, self.rng, self.n_threads = action, rng, n_threads
        self.turning, self.shifting = motion != "translation", motion != "rotation"
        self.unit = math.ldexp(1.0, math.frexp(kernel.sigma)[1] - 1)
        placed: list[tuple[np.ndarray, np.ndarray]] = []
        self.centres, self.middles, self.reaches, self.cores = [], [], [], []
        for name, measure in zip("PQ", sides, strict=True):
            points, vectors = merged(measure.points, measure.vectors)
            if not len(points):
                points, vectors = measure.points[:1], measure.vectors[:1] * 0
            points, self.sigma = scaled(points, kernel.sigma)
            self._check_extent(name, points)
            centre, core, reach = _core(points, lengths(vectors))
            turning_point = centre if self.shifting else np.zeros_like(centre)
            self.centres.append(turning_point)
            self.middles.append(centre - turning_point)
            placed.append((points - turning_point, vectors))
            self.cores.append(core)
            self.reaches.append(reach)
        self.pair = Pair(*placed[0], *placed[1], self.sigma)
        self.near = near = self._within(self.reaches)
        self.ascent = Ascent(
            action, self.turning, self.shifting, near.q, lengths(near.v), n_threads
        )
        self.radius = self.ascent.radius
        self.candidates = 0

    def _check_extent(self, name: str, points: np.ndarray) -> None:
        with np.errstate(over="ignore"):
            wide = float(np.ptp(points, axis=0).max() if self.shifting else np.abs(points).max())
        max_extent = 2.0**40  # sigmas: coordinates as large have 12 bits for a sigma
        if wide > max_extent * self.sigma:
            raise ArgumentError(
                name,
                f"extends over {wide / self.sigma:.3g} sigma"
                f"{'' if self.shifting else ' from the origin'}; alignment allows up to "
                f"{max_extent:.3g}",
            )

    def best(self) -> tuple[np.ndarray, np.ndarray]:
        """Return a rotation and a translation in the caller's coordinates; nothing is proven."""
        empty = not (self.pair.u.any() and self.pair.v.any())  # all motions are alike
        starts = Motions(*self._identity()) if empty else self._search()
        return self._polished(starts, sampling=True)

    def best_of_lattice(self, slack: float) -> tuple[np.ndarray, np.ndarray]:
        """Return a motion whose D_K^2 is at most the slack above the least."""
        starts, self.candidates = fptas.candidates(self.pair, self.ascent, slack)
        return self._polished(starts, sampling=False)

    @property
    def dim(self) -> int:
        """Number of coordinates."""
        return self.pair.p.shape[1]

    def _identity(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the identity motion."""
        return np.eye(self.dim)[None], (self.centres[1] - self.centres[0])[None]

    def _outside(self, motions: Motions, which: int) -> tuple[np.ndarray, np.ndarray]:
        """Return a motion in the caller's coordinates."""
        R = rotations.nearest(motions.R[which]) if self.turning else np.eye(self.dim)
        if not self.shifting:
            return R, np.zeros(self.dim)
        T = self.centres[0] + motions.t[which] - R @ self.centres[1]
        with np.errstate(over="ignore"):
            T = T * self.unit
        if not np.isfinite(T).all():
            raise ValueError("the points are too far apart: the translation overflows")
        return R, T

    def _search(self) -> Motions:
        """Return motions from which to ascend at the kernel's scale, from coarser scales."""
        motions, scale = self._many_dimensions() if self.dim > 3 else self._grid()
        self.candidates += len(motions)
        # From there down to the kernel's scale, by factors of at most 3.
        levels = max(math.ceil(math.log(scale / self.sigma, 3.0) - 1e-9), 0)
        for level in range(levels):
            sigma = self.sigma * (scale / self.sigma) ** (1 - level / levels)
            limit = max(_STARTS >> (level + 1), 6)
            merged = self.near.mapped(partial(_merge_cells, side=sigma / 2), sigma)
            motions = self._level(merged, motions, limit)
        return motions

    def _level(self, pair: Pair, motions: Motions, limit: int) -> Motions:
        """Ascend from each motion for some steps, and return the best motions reached."""
        sample = self._sampled(pair, _LEVEL_PAIRS / len(motions))
        motions, values, _ = self.ascent.ascend(sample, motions, 12, 1e-2)
        if sample is not pair:
            # Sampling changes kappa by more than motions may differ.
            scores = grid_correlation.values_at(pair, self.action, motions, 400_000)
            if scores is None:
                # Comparing motions takes more pairs than steps do.
                sample = self._sampled(pair, 8 * _LEVEL_PAIRS / len(motions))
                scores = self.ascent.values(sample, motions.R, motions.t)
            values = scores
        gap = _APART * pair.sigma
        return motions[
            grid_correlation.suppress_neighbors(motions, values, self.radius, gap, limit)
        ]

    def _grid(self) -> tuple[Motions, float]:
        """Search all translations and rotations at the finest affordable scale."""
        core, budget = self.near, _BUDGETS[self.dim]
        plan = grid_correlation.plan_grid(core, self.turning, self.shifting, budget)
        if plan.sigma > self.sigma:
            # Far points would only make the grid larger, and so coarser.
            core = self._within(self.cores)
            plan = grid_correlation.plan_grid(core, self.turning, self.shifting, budget)
        limit = min(max(4_000_000 // core.n_pairs, _STARTS), 8 * _STARTS)
        thin = core.mapped(partial(_merge_cells, side=plan.pixel / 2), plan.sigma)
        R = np.eye(self.dim)[None] if plan.angle is None else rotations.net(self.dim, plan.angle)
        if self.shifting:
            # With few points many translations score nearly the same: follow more where that is
            # cheap.
            n_peaks = 4  # of each rotation
            easy = plan.cells * len(R) * n_peaks < budget
            peaks = 16 * limit if len(R) == 1 else n_peaks if easy else 1
            R, t, values = grid_correlation.translations(
                thin, plan, self.action, R, peaks, self.n_threads
            )
        else:
            R = np.concatenate([R, self._towards(plan.sigma)])
            values = grid_correlation.rotation_scores(thin, plan, self.action, R, self.n_threads)
            t = np.zeros((len(R), self.dim))
        self.candidates += len(R)
        motions = Motions(R, t)
        # Few rotations of few points: all are starts.
        near = not self.shifting and len(R) * core.n_pairs <= _LEVEL_PAIRS // _STARTS
        gap = 0.0 if near else _APART * plan.sigma
        which = grid_correlation.suppress_neighbors(motions, values, self.radius, gap, limit)
        return motions[which], plan.sigma

    def _towards(self, sigma: float) -> np.ndarray:
        """Return rotations of space that map the middle of Q close to the middle of P."""
        middles = self.middles
        sizes = [float(np.linalg.norm(middle)) for middle in middles]
        if self.dim != 3 or min(sizes) == 0:
            return np.zeros((0, self.dim, self.dim))
        angles = np.eye(2)[None]
        if self.reaches[1] > 0:
            count = min(rotations.net_size(2, sigma / self.reaches[1]), 720)
            angles = rotations.about(np.linspace(0, 2 * math.pi, count))
        # Turns about P's middle: a rotation of the plane across it.
        axis = rotations.between(np.array([0.0, 0.0, 1.0]), middles[0])
        turn = np.broadcast_to(np.eye(3), (len(angles), 3, 3)).copy()
        turn[:, :2, :2] = angles
        return axis @ turn @ axis.T @ rotations.between(middles[1], middles[0])

    def _many_dimensions(self) -> tuple[Motions, float]:
        d = self.dim
        if not self.turning:
            return self._by_planes(self.near)
        axes = [_principal_axes(points, lengths(vectors)) for points, vectors in self.near.sides]
        signs = 1 - 2 * ((np.arange(64)[:, None] >> np.arange(d - 1)) & 1)
        signs = np.unique(signs, axis=0)
        signs = np.concatenate([signs, np.ones((len(signs), 1), dtype=np.int64)], axis=1)
        signs[:, -1] *= np.sign(
            signs.prod(axis=1) * np.linalg.det(axes[0]) * np.linalg.det(axes[1])
        ).astype(np.int64)
        aligned = np.einsum("ij,sj,kj->sik", axes[0], signs, axes[1])
        random, triangle = np.linalg.qr(self.rng.standard_normal((_STARTS, d, d)))
        random *= np.sign(np.einsum("sii->si", triangle))[:, None]
        random[:, :, -1] *= np.linalg.det(random)[:, None]
        R = np.concatenate([np.eye(d)[None], aligned, random])
        scale = max(self.sigma, max(self.reaches) / 2)
        return Motions(R, np.zeros((len(R), d))), scale

    def _by_planes(self, core: Pair) -> tuple[Motions, float]:
        """Search translations in pairs of coordinates at a time."""
        best, alternatives, scale = [], [], self.sigma
        for k in range(0, self.dim, 2):
            axes = slice(k, min(k + 2, self.dim))
            p, q = (np.ascontiguousarray(x[:, axes]) for x in (core.p, core.q))
            plane = Pair(p, core.u, q, core.v, core.sigma)
            plan = grid_correlation.plan_grid(plane, False, True, _BUDGETS[2] / self.dim)
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
        """Return the pair with only the points within these distances of the middles."""
        sides = []
        for (x, u), middle, reach in zip(self.pair.sides, self.middles, reaches, strict=True):
            near = np.sqrt(np.square(x - middle).sum(axis=1)) <= reach
            sides.append((x[near], u[near]))
        return Pair(*sides[0], *sides[1], self.sigma)

    def _sampled(self, pair: Pair, max_pairs: float) -> Pair:
        """Return the pair, sampled on both sides down to about `max_pairs` pairs."""
        share = math.sqrt(max_pairs / pair.work)
        if share >= 1:
            return pair

        def sample(points: np.ndarray, vectors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            count = max(int(len(points) * share), 100)
            if count >= len(points):
                return points, vectors
            # Sample in proportion to the weights. Steps are equal, since neighbours follow
            # each other.
            weights = lengths(vectors)
            total = np.cumsum(weights)
            marks = (np.arange(count) + self.rng.random()) * (total[-1] / count)
            indices = np.searchsorted(total, marks, side="right")
            distinct, times = np.unique(indices, return_counts=True)
            factors = times * (total[-1] / count) / weights[distinct]
            return points[distinct], vectors[distinct] * factors[:, None]

        return pair.mapped(sample, pair.sigma)

    def _polished(self, starts: Motions, sampling: bool) -> tuple[np.ndarray, np.ndarray]:
        """Ascend from the starts at the kernel's scale, and return the best motion."""
        R, t = self._identity()
        motions = Motions(np.concatenate([starts.R, R]), np.concatenate([starts.t, t]))
        pair, inverses = self.pair, None
        n_steps = 100
        if sampling and pair.work * len(motions) > _WHOLE:
            motions = self._level(pair, motions, 3)
            pair = self._sampled(pair, MAX_PAIRS)
            if len(motions) > 1:
                values = self.ascent.values(pair, motions.R, motions.t)
                motions = motions[[int(values.argmax())]]
            # Most steps are taken until the Hessian is known; a sample's is good enough.
            sample = self._sampled(pair, _LEVEL_PAIRS)
            if sample is not pair:
                motions, _, inverses = self.ascent.ascend(sample, motions, n_steps, 1e-3)
        motions, values, _ = self.ascent.ascend(pair, motions, n_steps, 1e-6, inverses)
        return self._outside(motions, int(values.argmax()))


def _core(points: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, float, float]:
    """Return the median, the radius that holds 90 % of the measure, and a wider one.

    The wider one holds all points, but is at most 3 times as large.
    """
    if not weights.sum() > 0:
        return points[0], 0.0, 0.0
    centre = np.array([_quantile(x, weights, 0.5) for x in points.T])
    distance = np.sqrt(np.square(points - centre).sum(axis=1)) * (1 + 1e-9)
    farthest = float(distance[weights > 0].max())
    core = _quantile(distance, weights, 0.9) or farthest
    return centre, core, min(farthest, 3.0 * core)


def _quantile(values: np.ndarray, weights: np.ndarray, share: float) -> float:
    order = np.argsort(values, kind="stable")
    total = np.cumsum(weights[order])
    at = min(int(np.searchsorted(total, share * total[-1])), len(order) - 1)
    return float(values[order[at]])


def _principal_axes(points: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return the principal axes as columns."""
    total = weights.sum()
    if not total > 0:
        return np.eye(points.shape[1])
    points = points - weights @ points / total
    return np.linalg.eigh(np.einsum("n,ni,nj->ij", weights, points, points, optimize=False))[1]


def _merge_cells(
    points: np.ndarray, vectors: np.ndarray, side: float
) -> tuple[np.ndarray, np.ndarray]:
    """Replace many points by their means in the cells of a grid, with the sums of vectors."""
    if len(points) <= _CELLS:
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
