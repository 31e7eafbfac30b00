# SPDX-License-Identifier: BSD-3-Clause
"""Local maxima of kappa(P, R Q + T), from many motions at a time."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from d2ke.measures import rotations
from d2ke.measures.cell_columns import CellColumns


@dataclass(frozen=True, eq=False)
class Pair:
    """Two measures with a kernel's scale: p as given, and q relative to its own centre."""

    p: np.ndarray
    u: np.ndarray
    q: np.ndarray
    v: np.ndarray
    sigma: float

    @property
    def sides(self) -> tuple[tuple[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]:
        """Points and vectors of P, and of Q."""
        return (self.p, self.u), (self.q, self.v)

    def mapped(self, change: Callable[..., tuple[np.ndarray, np.ndarray]], sigma: float) -> Pair:
        """Return the pair with both sides mapped, for a kernel of this scale."""
        return Pair(*change(self.p, self.u), *change(self.q, self.v), sigma)

    @property
    def n_pairs(self) -> int:
        """Number of pairs of points."""
        return len(self.p) * len(self.q)

    @cached_property
    def columns(self) -> CellColumns:
        """P in columns of cells, with its vectors times 1 and times each coordinate."""
        carried = [self.u] + [self.u * x[:, None] for x in self.p.T]
        return CellColumns(self.p, np.concatenate(carried, axis=1), self.sigma)

    @property
    def work(self) -> float:
        """Estimated number of pairs of points that one sum evaluates."""
        return self.n_pairs * self.columns.share


@dataclass
class Motions:
    """Motions q -> R q + t, (C, d, d) and (C, d)."""

    R: np.ndarray
    t: np.ndarray

    def __len__(self) -> int:
        return len(self.R)

    def __getitem__(self, which: np.ndarray | list[int]) -> Motions:
        return Motions(self.R[which], self.t[which])


class Maxima(NamedTuple):
    """Motions with kappa there, and the inverses of the Hessians of -kappa / kappa."""

    motions: Motions
    values: np.ndarray
    inverses: np.ndarray


class Sums(NamedTuple):
    """Sums for kappa and its gradient at some motions.

    `potentials` has the shape (C, m, 1 + d, r): the field of P at each moved point of Q, and the
    field of P times each coordinate. `weight` are the terms of kappa, (C, m).
    """

    rotated: np.ndarray
    carried: np.ndarray
    potentials: np.ndarray
    weight: np.ndarray


class Ascent:
    """Evaluate kappa and its gradient, and ascend from many motions by BFGS steps.

    A step is a translation, in units of sigma, and turns in the d(d-1)/2 planes of two
    axes about the centre of q, in units of sigma over the radius of q.
    """

    def __init__(
        self,
        action: rotations.Action,
        turning: bool,
        shifting: bool,
        points: np.ndarray,
        weights: np.ndarray,
        n_threads: int | None,
    ) -> None:
        """Store which motions are allowed; the points q with weights set the scale of steps."""
        self.action = action
        self.generators = action.generators()
        self.turning, self.shifting = turning, shifting
        self.n_threads = n_threads
        self.pairs = 0  # of points that were evaluated
        shares = weights / (weights.sum() or 1.0)
        self.mean = np.einsum("n,ni->i", shares, points)
        self.moment = np.einsum("n,ni,nj->ij", shares, points, points)
        self.radius = math.sqrt(float(np.trace(self.moment))) or 1.0

    def values(self, pair: Pair, R: np.ndarray, t: np.ndarray) -> np.ndarray:
        """Return kappa of each motion."""
        return np.concatenate(
            [self._sums(pair, R[i], t[i]).weight.sum(axis=1) for i in _batches(pair, len(R))]
        )

    def values_and_slopes(
        self, pair: Pair, R: np.ndarray, t: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return kappa of each motion, and its gradient in units of the steps."""
        values, slopes = [], []
        for i in _batches(pair, len(R)):
            sums = self._sums(pair, R[i], t[i])
            values.append(sums.weight.sum(axis=1))
            slopes.append(self._slopes(pair, sums, t[i]))
        return np.concatenate(values), np.concatenate(slopes)

    def _sums(self, pair: Pair, R: np.ndarray, t: np.ndarray) -> Sums:
        (C, d), m, r = t.shape, len(pair.q), pair.v.shape[1]
        rotated = rotations.apply(R, pair.q)
        carried = rotations.apply(self.action.matrices(R), pair.v)
        before = pair.columns.seen
        moved = rotated + t[:, None]
        potentials = pair.columns.potentials(moved.reshape(-1, d), self.n_threads)
        self.pairs += pair.columns.seen - before
        potentials = potentials.reshape(C, m, -1, r)
        carried = np.broadcast_to(carried, (C, m, r))
        # Not a matrix product: the BLAS's sums may depend on its threads.
        weight = np.einsum("cmr,cmr->cm", potentials[:, :, 0], carried)
        return Sums(rotated, carried, potentials, weight)

    def _slopes(self, pair: Pair, sums: Sums, t: np.ndarray) -> np.ndarray:
        rotated, carried, potentials, weight = sums
        force = np.einsum("cmkr,cmr->cmk", potentials[:, :, 1:], carried)
        force -= weight[..., None] * (rotated + t[:, None])
        force /= pair.sigma  # the other sigma is the unit of the steps
        result = []
        if self.shifting:
            result.append(force.sum(axis=1))
        if self.turning:
            i, j = self.action.planes
            moment = np.einsum("cmi,cmj->cij", force, rotated)
            slope = moment[:, i, j] - moment[:, j, i]
            if self.generators is not None:
                change = np.einsum("cma,cmb->cab", potentials[:, :, 0], carried) * pair.sigma
                slope += np.einsum("cab,pab->cp", change, self.generators)
            result.append(slope / self.radius)
        return np.concatenate(result, axis=1)

    def _moved(
        self, R: np.ndarray, t: np.ndarray, steps: np.ndarray, sigma: float
    ) -> tuple[np.ndarray, np.ndarray]:
        d = t.shape[1]
        if self.shifting:
            t = t + sigma * steps[:, :d]
        if self.turning:
            turns = steps[:, d * self.shifting :] * (sigma / self.radius)
            R = rotations.small(self.action.turns, turns) @ R
        return R, t

    def _initial_inverses(self, R: np.ndarray) -> np.ndarray:
        """Return inverse Hessians, exact where every q coincides with its only near p.

        It gives the mean-shift step, a weighted Procrustes problem.
        """
        C, d, _ = R.shape
        blocks = []
        if self.shifting:
            blocks.append(np.broadcast_to(np.eye(d)[:, :, None], (d, d, C)).transpose(2, 0, 1))
        if not self.turning:
            return np.ascontiguousarray(blocks[0])
        turns = self.action.turns / self.radius
        moment = np.einsum("cij,jk,clk->cil", R, self.moment, R)
        inner = np.einsum("pij,cjk,qik->cpq", turns, moment, turns)
        if self.shifting:
            mixed = np.einsum("pij,cjk,k->cip", turns, R, self.mean)
            top = np.concatenate([blocks[0], mixed], axis=2)
            inner = np.concatenate(
                [top, np.concatenate([np.swapaxes(mixed, 1, 2), inner], axis=2)], axis=1
            )
        # Where all points are on a line or in the centre, some turns move nothing.
        return np.linalg.inv(inner + 1e-10 * np.eye(inner.shape[1]))

    def ascend(
        self,
        pair: Pair,
        start: Motions,
        max_evaluations: int,
        tolerance: float,
        inverses: np.ndarray | None = None,
    ) -> Maxima:
        """Follow each motion upwards by BFGS steps, until they are shorter than the tolerance.

        Parameters
        ----------
        pair : Pair
            The two measures and the scale.
        start : Motions
            Where to start.
        max_evaluations : int
            Evaluations for each motion.
        tolerance : float
            Stop at a step shorter than this, in units of sigma.
        inverses : ndarray, optional
            The initial inverse Hessians, if they are known from another ascent.
        """
        R, t = start.R.copy(), start.t.copy()
        values, slopes = self.values_and_slopes(pair, R, t)
        C, k = slopes.shape
        first = self._initial_inverses(R)
        inverse = (first if inverses is None else inverses).copy()
        scale = np.abs(values)
        scale[scale == 0] = 1
        step = np.ones(C)
        directions, active = np.zeros((C, k)), np.ones(C, dtype=bool)

        def search_directions(which: np.ndarray) -> None:
            direction = np.einsum("cij,cj->ci", inverse[which], slopes[which]) / scale[which, None]
            rise = np.einsum("ci,ci->c", direction, slopes[which])
            wrong = ~(rise > 0)
            direction[wrong] = slopes[which][wrong] / scale[which][wrong, None]
            inverse[which[wrong]] = first[which[wrong]]
            length = np.sqrt(np.square(direction).sum(axis=1))
            direction /= np.maximum(length, 1)[:, None]
            directions[which], step[which] = direction, 1
            active[which[length <= tolerance]] = False

        search_directions(np.arange(C))
        for _ in range(max_evaluations - 1):
            which = np.flatnonzero(active)
            if not which.size:
                break
            steps = directions[which] * step[which, None]
            R_new, t_new = self._moved(R[which], t[which], steps, pair.sigma)
            new, new_slopes = self.values_and_slopes(pair, R_new, t_new)
            predicted = np.einsum("ci,ci->c", steps, slopes[which])
            rise = new - values[which]
            # Armijo's condition, up to rounding.
            good = rise >= 1e-4 * predicted - 1e-13 * scale[which]
            bad = which[~good]
            # The maximum of the parabola through both values and the slope. It has none ahead
            # if kappa is so small that the predicted rise is rounding error.
            fall = predicted[~good] - rise[~good]
            top = np.zeros(len(bad))
            np.divide(predicted[~good], 2 * fall, out=top, where=fall > 0)
            step[bad] *= np.clip(top, 0.1, 0.5)
            length = np.sqrt(np.square(directions[bad]).sum(axis=1)) * step[bad]
            active[bad[length <= tolerance]] = False
            rows = which[good]
            if not rows.size:
                continue
            self._learn(
                inverse, rows, steps[good], (slopes[rows] - new_slopes[good]) / scale[rows, None]
            )
            R[rows], t[rows] = R_new[good], t_new[good]
            values[rows], slopes[rows] = new[good], new_slopes[good]
            # The Hessian is in units of kappa: rescale where kappa has more than doubled.
            rescaled = rows[np.abs(values[rows]) / scale[rows] > 2]
            scale[rescaled] = np.abs(values[rescaled])
            search_directions(rows)
        return Maxima(Motions(R, t), values, inverse)

    @staticmethod
    def _learn(inverse: np.ndarray, which: np.ndarray, s: np.ndarray, y: np.ndarray) -> None:
        """Update the inverses with steps s that changed the slope by -y."""
        product = np.einsum("ci,ci->c", s, y)
        bent = product > 1e-8 * np.sqrt(np.square(s).sum(axis=1) * np.square(y).sum(axis=1))
        which, s, y = which[bent], s[bent], y[bent]
        rho = 1 / product[bent]
        H = inverse[which]
        Hy = np.einsum("cij,cj->ci", H, y)
        factor = rho + rho**2 * np.einsum("ci,ci->c", y, Hy)
        inverse[which] = (
            H
            - rho[:, None, None] * (Hy[:, :, None] * s[:, None] + s[:, :, None] * Hy[:, None])
            + factor[:, None, None] * s[:, :, None] * s[:, None]
        )


def _batches(pair: Pair, n: int) -> Iterator[slice]:
    """Yield the motions of which a call evaluates at most 2**18 points."""
    size = max(1, (1 << 18) // len(pair.q))
    for first in range(0, n, size):
        yield slice(first, first + size)
