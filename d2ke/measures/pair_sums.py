# SPDX-License-Identifier: BSD-3-Clause
"""Exact sums over all pairs of points, threaded, in memory that does not grow with the pairs."""

from __future__ import annotations

import numpy as np

from d2ke._base.threads import team_size
from d2ke._ext import pair_sums
from d2ke.measures.clouds import cloud, decay, scaled
from d2ke.measures.measure import Measure
from d2ke.objects.container import offsets_of


def norm(
    points: np.ndarray, vectors: np.ndarray, kernel: str, sigma: float, n_threads: int | None
) -> float:
    """Return kappa of one (signed) measure with itself."""
    points, sigma = scaled(points, sigma)
    x, u, offsets = cloud(points), cloud(vectors), offsets_of([len(points)])
    high, low = pair_sums.pair_matrix(
        x, u, offsets, x, u, offsets, kernel == "laplace", decay(kernel, sigma),
        team_size(n_threads), True, True,
    )  # fmt: skip
    return float(high[0, 0] + low[0, 0])


def kappas(
    X: list[Measure], Y: list[Measure] | None, kernel: str, sigma: float, n_threads: int | None
) -> tuple[np.ndarray, np.ndarray]:
    """Return kappa of every measure of X with every one of Y, as unevaluated sums high + low.

    Y None: of X with itself, and only the upper triangle is filled.
    """
    packed = []
    for measures in (X, Y):
        if measures is not None:
            points, unit_sigma = scaled(np.concatenate([m.points for m in measures]), sigma)
            vectors = np.concatenate([m.vectors for m in measures])
            sizes = [len(m) for m in measures]
            packed.append((cloud(points), cloud(vectors), offsets_of(sizes)))
    return pair_sums.pair_matrix(
        *packed[0], *packed[-1], kernel == "laplace", decay(kernel, unit_sigma),
        team_size(n_threads), Y is None, False,
    )  # fmt: skip


def potentials(
    places: np.ndarray,
    points: np.ndarray,
    vectors: np.ndarray,
    kernel: str,
    sigma: float,
    n_threads: int | None,
) -> np.ndarray:
    """Return sum_q K(p, q) v_q at every place p, (n, r)."""
    places, _ = scaled(places, sigma)
    points, sigma = scaled(points, sigma)
    return pair_sums.potentials(
        cloud(places), len(places), cloud(points), cloud(vectors), len(points),
        kernel == "laplace", decay(kernel, sigma), team_size(n_threads),
    )  # fmt: skip


def kappa_and_gradient(
    P: Measure, Q: Measure, translation: np.ndarray, sigma: float, n_threads: int | None = None
) -> tuple[float, np.ndarray]:
    """Return kappa(P, Q + T) for the Gaussian kernel, and its gradient with respect to T.

    The gradient is sum (p - q - T) K <u, v> / sigma^2: one pass over the pairs in which
    every q carries v and the products of v with q's coordinates.
    """
    moved = Q.points + translation
    # Coordinates relative to a common middle keep the two sums that are subtracted small.
    middle = P.points.mean(axis=0)
    places, moved = P.points - middle, moved - middle
    r = Q.vectors.shape[1]
    carried = np.concatenate([Q.vectors] + [Q.vectors * x[:, None] for x in moved.T], axis=1)
    sums = potentials(places, moved, carried, "gaussian", sigma, n_threads)
    at = np.einsum("pkc,pc->pk", sums.reshape(len(P), -1, r), P.vectors)
    gradient = (at[:, :1] * places - at[:, 1:]).sum(axis=0) / sigma**2
    return float(at[:, 0].sum()), gradient
