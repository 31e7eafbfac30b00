# SPDX-License-Identifier: BSD-3-Clause
"""Multidimensional scaling by a criterion of stress: `mdscale`."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import minimize
from scipy.spatial.distance import pdist as distances
from scipy.spatial.distance import squareform as square

from d2ke._base.checks import choice
from d2ke._base.errors import ArgumentError
from d2ke._base.keywords import hinted
from matlab_compat._cells import numbers, whole
from matlab_compat._outputs import Outputs
from matlab_compat.pairs import cmdscale, squareform

_CRITERIA = ("stress", "sstress", "metricstress", "metricsstress", "strain")
_MAX_ITERATIONS = 1000


@hinted
def mdscale(
    D: Any, p: int, *, Criterion: str = "stress", Start: Any = "cmdscale"
) -> tuple[np.ndarray, float, np.ndarray]:
    """Find points of p coordinates whose distances are as D, or in the order of D.

    Parameters
    ----------
    D : array_like, n x n, or as `pdist` returns it
        Distances.
    p : int
        Columns of Y.
    Criterion : str
        "stress": Kruskal's normalised stress of the order of D, non-metric; "sstress": that of
        squared distances; "metricstress", "metricsstress": of the values of D; "strain": that of
        `cmdscale`, whose points are returned.
    Start : "cmdscale" or array_like, n x p
        The first points.

    Returns
    -------
    Y : ndarray, n x p
        The points, with mean 0 and their principal axes along the columns. Non-metric criteria
        have no scale: the mean square of their distances is that of D.
    stress : float
        The criterion.
    disparities : ndarray, shape of D
        What the distances of Y were compared with: D, or the monotone regression of distances on D.

    Raises
    ------
    TypeError, ValueError
        As `cmdscale`; an unknown criterion; a start of another shape.

    Notes
    -----
    The minimum that L-BFGS-B reaches from the start is a local one. Among equal values of D, those
    of smaller distances come first in the regression.

    Examples
    --------
    >>> Y, stress, disparities = mdscale([[3.0, 4.0, 5.0]], 2, Criterion="metricstress")
    >>> Y.shape, round(stress, 3), disparities
    ((3, 2), 0.0, array([[3., 4., 5.]]))
    """
    choice("Criterion", Criterion, _CRITERIA)
    D = numbers("D", D)
    classical, _ = cmdscale(D)  # checks D
    condensed = D.ndim < 2 or len(D) == 1
    n, values = len(classical), np.ravel(D) if condensed else square(D, checks=False)
    p = whole("p", p, 1, n)
    if isinstance(Start, str):
        choice("Start", Start, ("cmdscale",))
        Y = np.zeros((n, p))
        shared = min(p, classical.shape[1])
        Y[:, :shared] = classical[:, :shared]
    else:
        Y = np.array(Start, float)
        if Y.shape != (n, p) or not np.isfinite(Y).all():
            raise ArgumentError("Start", f"must be {n} x {p} and finite, got shape {Y.shape}")
    scale = float(np.sqrt(np.mean(values**2))) if values.any() else 1.0
    if Criterion == "strain":
        stress, disparities = _strain(Y, D if not condensed else squareform(D)), values
    else:
        # Points of a plane would stay in it.
        Y = Y / scale + 1e-4 * np.random.default_rng(0).standard_normal(Y.shape)
        Y, stress, disparities = _minimum(Y, values / scale, Criterion)
        disparities *= scale
        Y *= scale
    Y = Y - Y.mean(axis=0)
    if Criterion != "strain":
        Y = Y @ np.linalg.svd(Y, full_matrices=False)[2].T
        Y *= np.where(Y[np.abs(Y).argmax(axis=0), np.arange(p)] < 0, -1, 1)
    shaped = disparities.reshape(1, -1) if condensed else square(disparities)
    return Outputs("mdscale", Y=Y, stress=stress, disparities=shaped)


def _strain(Y: np.ndarray, D: np.ndarray) -> float:
    """Return the relative error of the products of centred points."""
    squares = D**2
    B = squares - squares.mean(axis=0) - squares.mean(axis=1, keepdims=True) + squares.mean()
    B /= -2
    Y = Y - Y.mean(axis=0)
    return float(np.linalg.norm(B - Y @ Y.T) / (np.linalg.norm(B) or 1.0))


def _minimum(Y: np.ndarray, D: np.ndarray, criterion: str) -> tuple[np.ndarray, float, np.ndarray]:
    metric, power = criterion.startswith("metric"), 2 if criterion.endswith("sstress") else 1
    shape, tiny = Y.shape, np.finfo(float).tiny

    def compared(d: np.ndarray) -> tuple[np.ndarray, np.ndarray, float, float]:
        """Return distances and what they are compared with, the norm and the squared stress."""
        u = d**power
        t = D**power if metric else _monotone(u, D)
        norm = max(float(np.sum((t if metric else u) ** 2)), tiny)
        return u, t, norm, float(np.sum((u - t) ** 2)) / norm

    def value(flat: np.ndarray) -> tuple[float, np.ndarray]:
        Y = flat.reshape(shape)
        d = distances(Y)
        u, t, norm, squared = compared(d)
        # The regression is optimal, so that its own derivative adds nothing.
        slope = 2 * (u - t if metric else u - t - squared * u) / norm
        by_step = square(2 * slope if power == 2 else slope / np.maximum(d, tiny), checks=False)
        return squared, (by_step.sum(axis=1)[:, None] * Y - by_step @ Y).ravel()

    solution = minimize(
        value, Y.ravel(), jac=True, method="L-BFGS-B",
        options={"maxiter": _MAX_ITERATIONS, "ftol": 1e-12, "gtol": 1e-9},
    )  # fmt: skip
    Y = solution.x.reshape(shape)
    d = distances(Y)
    if not metric and d.any():
        factor = float(np.sqrt(np.mean(D**2) / np.mean(d**2)))
        Y, d = Y * factor, d * factor
    _, t, _, squared = compared(d)
    return Y, float(np.sqrt(squared)), t ** (1 / power)


def _monotone(values: np.ndarray, order: np.ndarray) -> np.ndarray:
    """Return the least-squares fit of values that rises with another array (pool adjacent)."""
    places = np.lexsort((values, order))
    means: list[float] = []
    counts: list[int] = []
    for mean in values[places].tolist():
        count = 1
        while means and means[-1] >= mean:
            mean = (means[-1] * counts[-1] + mean * count) / (counts[-1] + count)
            count += counts.pop()
            means.pop()
        means.append(mean)
        counts.append(count)
    result = np.empty_like(values)
    result[places] = np.repeat(means, counts)
    return result
