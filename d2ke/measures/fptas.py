# SPDX-License-Identifier: BSD-3-Clause
"""A motion within eps of the best: a lattice of all motions that can be the best."""

from __future__ import annotations

import itertools
import math

import numpy as np

from d2ke.measures import rotations
from d2ke.measures.quasi_newton import Ascent, Motions, Pair

_MAX_TRANSLATIONS = 1e7  # for one rotation, before duplicates are left out


def candidates(pair: Pair, ascent: Ascent, slack: float) -> tuple[Motions, int]:
    """Return the best motions of the lattice, and how many there were.

    With x = p - R q - T and E = |x|^2 / (2 sigma^2), the second derivative of K along a
    path is K (E'^2 - E''), and sigma^2 E'' is at most (rho w + v)^2 + |x| rho w^2 where the
    path turns by the angle w, shifts by v, and rho is the greatest |q|. Since
    K |x| <= sigma exp(-1/2) and the first derivative of kappa is 0 at its maximum,
    D_K^2 at a motion that is so far from the best exceeds the least by at most
    W_P W_Q ((rho w + v)^2 + exp(-1/2) sigma rho w^2) / sigma^2.

    Parameters
    ----------
    pair : Pair
        Points with weights >= 0.
    ascent : Ascent
        Evaluates motions and decides which are allowed.
    slack : float
        How far D_K^2 may lie above the least.
    """
    dim = pair.p.shape[1]
    _check(pair, ascent, dim)
    totals = float(pair.u.sum()), float(pair.v.sum())
    if not all(total > 0 for total in totals):
        return Motions(np.eye(dim)[None], np.zeros((1, dim))), 1
    share = slack / (totals[0] * totals[1])
    rho = float(np.sqrt(np.square(pair.q).sum(axis=1)).max()) if ascent.turning else 0.0
    shift, angle = _largest_errors(share, rho, pair.sigma, ascent.shifting)
    R = _all_rotations(dim, angle) if rho > 0 else np.eye(dim)[None]
    likely = float(pair.u.max()) * float(pair.v.max()) / (totals[0] * totals[1])
    # Some pair is at most this far apart at the best motion, and a little more nearby.
    reach = pair.sigma * math.sqrt(-2 * math.log(likely)) + rho * angle + shift
    step = 2 * shift / math.sqrt(dim)
    if not ascent.shifting:
        _refuse(float(len(R)), pair, False)
        t = np.zeros((len(R), dim))
        return _best_of(Motions(R, t), ascent.values(pair, R, t))[0], len(R)
    offsets = _ball(dim, reach / step)
    sides = np.ptp(pair.p, axis=0) + 2 * np.sqrt(np.square(pair.q).sum(axis=1)).max()
    box = float(np.prod((sides + 2 * reach) / step + 1))
    each = min(float(len(offsets)) * pair.n_pairs, box)
    _refuse(len(R) * each, pair, len(offsets) * pair.n_pairs > _MAX_TRANSLATIONS)
    best, values, n_tried = Motions(R[:0], np.empty((0, dim))), np.empty(0), 0
    for turn in R:
        differences = (pair.p[:, None] - pair.q @ turn.T).reshape(-1, dim)
        cells = np.rint(differences / step)[:, None] + offsets
        t = np.unique(cells.reshape(-1, dim), axis=0) * step
        turns = np.broadcast_to(turn, (len(t), dim, dim))
        values = np.concatenate([ascent.values(pair, turns, t), values])
        motions = Motions(np.concatenate([turns, best.R]), np.concatenate([t, best.t]))
        best, values = _best_of(motions, values)
        n_tried += len(t)
    return best, n_tried


def _best_of(motions: Motions, values: np.ndarray) -> tuple[Motions, np.ndarray]:
    """Return the motions with the largest values, and the values."""
    which = np.argsort(-values, kind="stable")[:16]
    return motions[which], values[which]


def _check(pair: Pair, ascent: Ascent, dim: int) -> None:
    if ascent.action.kind != "points":
        raise ValueError(
            f'method="fptas" is for points, not for a measure of kind {ascent.action.kind!r}'
        )
    for name, weights in (("weights_p", pair.u), ("weights_q", pair.v)):
        if (weights < 0).any():
            raise ValueError(
                f'method="fptas" needs weights >= 0; {name} has (for one place) {weights.min()}'
            )
    if ascent.turning and dim > 3:
        raise ValueError(f'method="fptas" turns points in 2 or 3 dimensions, not in {dim}')


def _largest_errors(share: float, rho: float, sigma: float, shifting: bool) -> tuple[float, float]:
    """Return the errors of translation and angle that cost at most a share of W_P W_Q."""
    if rho == 0:
        return sigma * math.sqrt(share), math.pi
    slope = math.exp(-0.5)  # the steepest of exp(-x^2 / 2)
    if not shifting:
        return sigma, min(sigma * math.sqrt(share / (rho * rho + slope * sigma * rho)), math.pi)
    shift = sigma * math.sqrt(share / (4 + slope * sigma / rho))
    return shift, min(shift / rho, math.pi)


def _all_rotations(dim: int, angle: float) -> np.ndarray:
    """Return rotations, one of which is within the angle of any."""
    if dim == 2:
        return rotations.about(np.arange(math.ceil(math.pi / angle)) * (2 * angle))
    # Rotation vectors of two rotations are at least as far apart as the rotations are.
    step = 2 * angle / math.sqrt(3)
    count = 4 / 3 * math.pi * ((math.pi + angle) / step) ** 3
    if count > _MAX_TRANSLATIONS:
        raise ValueError(_too_many(count))
    return rotations.by_vectors(_ball(3, (math.pi + angle) / step - math.sqrt(3)) * step)


def _ball(dim: int, radius: float) -> np.ndarray:
    """Return all points with integer coordinates within the radius, and some beyond.

    They cover the ball also when its centre is moved by up to half a step of each axis.
    """
    radius += math.sqrt(dim)
    if (2 * radius + 1) ** dim > _MAX_TRANSLATIONS:
        raise ValueError(_too_many((2 * radius + 1) ** dim))
    side = np.arange(-math.floor(radius), math.floor(radius) + 1)
    cells = np.array(list(itertools.product(side, repeat=dim)), dtype=np.float64)
    return cells[np.square(cells).sum(axis=1) <= radius * radius]


def _refuse(count: float, pair: Pair, too_wide: bool) -> None:
    if too_wide or count * pair.n_pairs > 2e10:  # pairs of points
        raise ValueError(_too_many(count))


def _too_many(count: float) -> str:
    return (
        f'method="fptas" would try up to {count:.3g} motions; use fewer points (a coreset), a '
        'larger eps or sigma, or method="auto"'
    )
