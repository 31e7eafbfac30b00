# SPDX-License-Identifier: BSD-3-Clause
"""kappa(P, R Q + t) on grids: all translations of a rotation at once, or many rotations."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy import fft, ndimage

from d2ke._base.threads import worker_pool
from d2ke.measures import rotations
from d2ke.measures.quasi_newton import Motions, Pair

_BATCH = 1 << 19  # grid cells


@dataclass(frozen=True)
class GridPlan:
    """The scale of a search, its grid and its rotations."""

    sigma: float
    pixel: float
    shape: tuple[int, ...]
    angle: float | None  # of the net of rotations, None for the identity alone

    @property
    def cells(self) -> int:
        """Cells of one grid."""
        return math.prod(self.shape)


def plan_grid(pair: Pair, turning: bool, shifting: bool, budget: float) -> GridPlan:
    """Choose the smallest scale from the pair's own upwards whose work is within the budget.

    At a coarser scale, rigid motions get a smaller grid than P and Q side by side would
    need. It is enough for translations at which at least half of P and Q overlap: these do not
    reach the next period's copy.
    """
    dim = pair.p.shape[1]
    reach = _reach(pair.q)
    sides = np.ptp(pair.p, axis=0)
    if shifting:
        sides = sides + (2 * reach if turning else np.ptp(pair.q, axis=0))

    def at(sigma: float, pixel: float) -> tuple[GridPlan, float]:
        # The kernel is negligible farther than 2 sigma from P.
        shape = tuple(
            fft.next_fast_len(max(math.ceil(n), 4), real=True)
            for n in (sides + 4 * sigma) / (pixel * sigma)
        )
        # The net of rotations may misplace the farthest point by 1.4 sigma.
        angle = 1.4 * sigma / reach if turning and reach > 0 else None
        plan = GridPlan(sigma, pixel * sigma, shape, angle)
        count = 1 if angle is None else rotations.net_size(dim, angle)
        if shifting:
            return plan, float(plan.cells) * count * pair.u.shape[1]
        return plan, float(plan.cells) + count * len(pair.q)

    # Begin where the number of cells fits into an integer.
    pixels = (0.85, 0.6, 0.4, 0.25)  # in units of sigma; a finer one must be cheap
    sigma = max(pair.sigma, float(sides.max()) * pixels[0] / budget)
    while True:
        best, work = at(sigma, pixels[0])
        if work <= budget:
            break
        if turning and shifting:
            sides = np.full(dim, 1.5 * (_reach(pair.p) + reach))
        sigma *= 1.05
    for pixel in pixels[1:]:
        finer, work = at(sigma, pixel)
        if work <= budget / 16:
            best = finer
    return best


def _reach(points: np.ndarray) -> float:
    return float(np.sqrt(np.square(points).sum(axis=1)).max())


class Field:
    """sum_p K(p, x) u_p on a periodic grid around P."""

    def __init__(self, pair: Pair, plan: GridPlan, rounded: int = 2) -> None:
        """Compute the field; `rounded` measures (P, or P and Q) are rounded to cells."""
        self.pixel = plan.pixel
        self.shape = plan.shape
        self.middle = (pair.p.min(axis=0) + pair.p.max(axis=0)) / 2
        cells = self.cells_of(pair.p - self.middle)
        binned = np.stack(
            [np.bincount(cells, u, minlength=plan.cells).reshape(self.shape) for u in pair.u.T]
        )
        self.axes = tuple(range(1, 1 + len(self.shape)))
        spectrum = fft.rfftn(binned.astype(np.float32), axes=self.axes)
        # Rounding points to cells blurs them.
        blur = plan.sigma**2 - rounded * self.pixel**2 / 12
        for k, n in enumerate(self.shape):
            omega = 2 * math.pi / self.pixel * (fft.rfftfreq(n) if k == len(self.shape) - 1
                                                else fft.fftfreq(n))  # fmt: skip
            factor = np.exp(-0.5 * blur * omega**2) * (
                math.sqrt(2 * math.pi) * plan.sigma / self.pixel
            )
            factor = factor.astype(np.float32)
            spectrum *= factor.reshape((-1,) + (1,) * (len(self.shape) - 1 - k))
        self.spectrum = spectrum

    def at(self, points: np.ndarray) -> np.ndarray:
        """Return the field at each point, (n, r), by cubic splines; 0 outside the grid."""
        values = fft.irfftn(self.spectrum, s=self.shape, axes=self.axes)
        at = (points - self.middle) / self.pixel
        inside = (2 * np.abs(at) < np.array(self.shape)).all(axis=1)
        at = at[inside].T
        result = np.zeros((len(points), len(values)))
        for c, field in enumerate(values):
            splines = ndimage.spline_filter(field.astype(np.float64), mode="grid-wrap")
            result[inside, c] = ndimage.map_coordinates(
                splines, at, mode="grid-wrap", prefilter=False
            )
        return result

    def cells_of(self, points: np.ndarray) -> np.ndarray:
        """Return the flat number of the cell that each point lies in, periodically."""
        cell = np.rint(points / self.pixel).astype(np.int64)
        flat = np.zeros(points.shape[:-1], dtype=np.int64)
        for k, n in enumerate(self.shape):
            flat = flat * n + cell[..., k] % n
        return flat

    def correlations(self, rotated: np.ndarray, carried: np.ndarray) -> np.ndarray:
        """Return the values at all translations, for (C, m, d) points that carry (C, m, r)."""
        C, m, r = len(rotated), rotated.shape[1], carried.shape[-1]
        n = math.prod(self.shape)
        cells = (self.cells_of(rotated) + np.arange(C)[:, None] * n).ravel()
        carried = np.broadcast_to(carried, (C, m, r)).reshape(-1, r)
        total: np.ndarray | None = None
        for c in range(r):
            binned = np.bincount(cells, carried[:, c], minlength=C * n).astype(np.float32)
            spectrum = fft.rfftn(binned.reshape(C, *self.shape), axes=self.axes)
            np.conj(spectrum, out=spectrum)
            spectrum *= self.spectrum[c]
            total = spectrum if total is None else total + spectrum
        return fft.irfftn(total, s=self.shape, axes=self.axes)

    def places_of(self, flat: np.ndarray) -> np.ndarray:
        """Return the translations of cells: the copies that are nearest to the middle."""
        index = np.stack(np.unravel_index(flat, self.shape), axis=-1)
        n = np.array(self.shape)
        return np.where(index > n // 2, index - n, index) * self.pixel + self.middle


def translations(
    pair: Pair,
    plan: GridPlan,
    action: rotations.Action,
    R: np.ndarray,
    peaks: int,
    n_threads: int | None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return rotations, translations and values of the highest peaks for each rotation.

    For a single rotation the highest cells are returned, not only peaks: rounding to cells
    can hide a peak on the slope of a higher one.
    """
    field = Field(pair, plan)
    matrices = action.matrices(R)

    def search(begin: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        rows = slice(begin, begin + batch)
        values = field.correlations(
            rotations.apply(R[rows], pair.q),
            rotations.apply(None if matrices is None else matrices[rows], pair.v),
        )
        if peaks > 1 and len(R) > 1:
            size = (1,) + (3,) * len(field.shape)
            top = ndimage.maximum_filter(values, size=size, mode="wrap")
            values = np.where(values >= top, values, -np.inf)
        values = values.reshape(len(values), -1)
        count = min(peaks, values.shape[1])
        if count == 1:
            best = values.argmax(axis=1)[:, None]
        else:
            best = np.argpartition(-values, count - 1, axis=1)[:, :count]
        which = np.arange(begin, begin + len(values))
        return (np.repeat(which, count), best.ravel(),
                np.take_along_axis(values, best, axis=1).ravel())  # fmt: skip

    # The size of a batch must not depend on the threads: the bits of a transform may.
    batch = max(1, _BATCH // max(plan.cells, len(pair.q)))
    with worker_pool(n_threads) as pool:
        results = list(pool.map(search, range(0, len(R), batch)))
    which, flat, values = (np.concatenate(arrays) for arrays in zip(*results, strict=True))
    peak = np.isfinite(values)
    which, flat, values = which[peak], flat[peak], values[peak]
    return R[which], field.places_of(flat), values


def values_at(
    pair: Pair, action: rotations.Action, motions: Motions, max_cells: int
) -> np.ndarray | None:
    """Return kappa of each motion, approximately; None if it takes more than `max_cells` cells.

    All points of both sides count, and the work is linear in their number.
    """
    pixel = 0.5 * pair.sigma
    sides = (np.ptp(pair.p, axis=0) + 8 * pair.sigma) / pixel  # a margin of 4 sigma
    if pair.p.shape[1] > 3 or float(np.prod(sides)) > max_cells:
        return None
    shape = tuple(fft.next_fast_len(math.ceil(n), real=True) for n in sides)
    field = Field(pair, GridPlan(pair.sigma, pixel, shape, None), rounded=1)
    matrices = action.matrices(motions.R)
    moved = rotations.apply(motions.R, pair.q) + motions.t[:, None]
    potential = field.at(moved.reshape(-1, moved.shape[-1])).reshape(*moved.shape[:2], -1)
    carried = np.broadcast_to(rotations.apply(matrices, pair.v), potential.shape)
    return np.einsum("cmr,cmr->c", potential, carried)


def rotation_scores(
    pair: Pair, plan: GridPlan, action: rotations.Action, R: np.ndarray, n_threads: int | None
) -> np.ndarray:
    """Return kappa of each rotation about the origin, approximately, from the field's cells."""
    field = Field(pair, plan)
    values = fft.irfftn(field.spectrum, s=field.shape, axes=field.axes)
    values = values.reshape(len(values), -1)
    limit = np.array(field.shape) * field.pixel / 2
    matrices = action.matrices(R)

    def score(begin: int) -> np.ndarray:
        rows = slice(begin, begin + batch)
        moved = rotations.apply(R[rows], pair.q) - field.middle
        carried = rotations.apply(None if matrices is None else matrices[rows], pair.v)
        inside = (np.abs(moved) < limit).all(axis=-1)
        cells = field.cells_of(moved)
        total = np.zeros(len(moved))
        for c, field_c in enumerate(values):
            total += (field_c[cells] * carried[..., c] * inside).sum(axis=1)
        return total

    batch = max(1, _BATCH // len(pair.q))
    with worker_pool(n_threads) as pool:
        return np.concatenate(list(pool.map(score, range(0, len(R), batch))))


def suppress_neighbors(
    motions: Motions, values: np.ndarray, radius: float, gap: float, limit: int
) -> np.ndarray:
    """Return the indices of the best motions, each at least the gap away from a better one.

    The distance of two motions is about how far apart they move a point that lies at the
    radius from the centre.
    """
    order = np.argsort(-values, kind="stable")[: 16 * limit]
    best: list[int] = []
    for i in order.tolist():
        if best:
            squares = np.square(motions.t[best] - motions.t[i]).sum(axis=1)
            squares += radius**2 * np.square(motions.R[best] - motions.R[i]).sum(axis=(1, 2)) / 2
            if squares.min() < gap * gap:
                continue
        best.append(i)
        if len(best) == limit:
            break
    return np.array(best, dtype=np.int64)
