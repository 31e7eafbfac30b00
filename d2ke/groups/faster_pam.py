# SPDX-License-Identifier: BSD-3-Clause
"""FasterPAM: medoids of a matrix of distances, by eager swaps."""

from __future__ import annotations

import numpy as np

_LEAST_GAIN = 1e-12  # of the loss; smaller ones are rounding


def faster_pam(D: np.ndarray, medoids: np.ndarray, weights: np.ndarray | None = None) -> np.ndarray:
    """Improve medoids until no swap of a medoid and another object lowers the loss.

    All k swaps of an object are priced at once, from the distances of each object to its nearest
    and to its second medoid; the best is done at once if it lowers the loss (Schubert and
    Rousseeuw, "Fast and eager k-medoids clustering", Information Systems 2021). An object counts
    `weights` times, by default once.
    """
    n, k = len(D), len(medoids)
    medoids = medoids.copy()
    weights = np.ones(n) if weights is None else weights
    if k == 1:
        return np.einsum("i,ij->j", weights, D, dtype=np.float64).argmin(keepdims=True)
    near, second, nearest, following = _two_nearest(D[medoids])
    chosen = np.zeros(n, bool)
    chosen[medoids] = True
    lost = np.bincount(near, weights * (following - nearest), k)
    least = _LEAST_GAIN * (weights * nearest).sum()
    candidate, tried = 0, 0
    while tried < n:
        if not chosen[candidate]:
            row = D[candidate]
            at = np.flatnonzero(row < following)
            nearer, theirs = row[at], nearest[at]
            gained = (weights[at] * np.minimum(nearer - theirs, 0)).sum()
            more = weights[at] * (np.maximum(nearer, theirs) - following[at])
            change = lost + np.bincount(near[at], more, k)
            worst = int(change.argmin())
            if change[worst] + gained < -least:
                chosen[medoids[worst]], chosen[candidate] = False, True
                medoids[worst] = candidate
                again = (near == worst) | (second == worst)
                first = ~again & (row < nearest)
                between = ~again & ~first & (row < following)
                second[first], following[first] = near[first], nearest[first]
                near[first], nearest[first] = worst, row[first]
                second[between], following[between] = worst, row[between]
                again = np.flatnonzero(again)
                parts = _two_nearest(D[np.ix_(medoids, again)])
                near[again], second[again], nearest[again], following[again] = parts
                lost = np.bincount(near, weights * (following - nearest), k)
                least = _LEAST_GAIN * (weights * nearest).sum()
                tried = 0
        tried += 1
        candidate = (candidate + 1) % n
    return medoids


def _two_nearest(D: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return the numbers of each column's two least rows, and what is there in float64."""
    rows, columns = D.astype(np.float64), np.arange(D.shape[1])
    near = rows.argmin(axis=0)
    nearest = rows[near, columns]
    rows[near, columns] = np.inf
    second = rows.argmin(axis=0)
    return near, second, nearest, rows[second, columns]
