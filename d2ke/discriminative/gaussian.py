# SPDX-License-Identifier: BSD-3-Clause
"""The Gaussian kernel of points, and its width."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist, pdist

from d2ke._base import arrays
from d2ke._base.checks import integer, positive_number
from d2ke._base.errors import ArgumentError
from d2ke._base.keywords import hinted
from d2ke._base.memory import check_fits
from d2ke.objects.compatibility import columns_in_order
from d2ke.objects.values import channel_names, column_names

_NEIGHBORS = 7
_ROWS = 512
_VALUES = 1 << 20  # of a Gram matrix that are computed at a time


@hinted
def gaussian_gram(X: Any, Y: Any = None, *, h: float | None = None) -> NDArray[np.float64]:
    """Compute the Gaussian kernel of points, exp(-|x - y|^2 / (2 h^2)).

    Parameters
    ----------
    X : array_like, shape (n, d)
        Points.
    Y : array_like, shape (m, d), optional
        Other points; None for X.
    h : float, optional
        Width, > 0; None for `bandwidth` of X.

    Returns
    -------
    ndarray of float64, shape (n, m)
        Values in [0, 1].

    Raises
    ------
    TypeError, ValueError
        Not matrices of finite real numbers with equally many columns, or an h out of range.
    MemoryError
        If the call would take more than there is; see docs/memory.md.

    Examples
    --------
    >>> import d2ke
    >>> d2ke.discriminative.gaussian_gram([[0.0], [2.0]], h=1.0).round(3).tolist()
    [[1.0, 0.135], [0.135, 1.0]]
    """
    return gaussian("X", X, Y, h)


def gaussian_of_distances(D: np.ndarray, h: float) -> np.ndarray:
    """Return exp(-d^2 / (2 h^2)) of distances d."""
    K = D / h
    K *= K
    K *= -0.5
    return np.exp(K, out=K)


def gaussian(name: str, X: Any, Y: Any, h: float | None) -> np.ndarray:
    """Compute `gaussian_gram`; `name` is the name of X in errors."""
    names, X = channel_names(column_names(X), name), point_matrix(name, X)
    points = X if Y is None else point_matrix("Y", columns_in_order(Y, names, "Y", name))
    if points.shape[1] != X.shape[1]:
        raise ArgumentError("Y", f"has {points.shape[1]} columns, but {name} has {X.shape[1]}")
    check_fits(
        8 * len(X) * len(points),
        f"the kernel of {len(X)} x {len(points)} points",
        "compute it for some rows of X at a time, or take fewer points",
    )
    h = _width(name, X, _NEIGHBORS) if h is None else positive_number("h", h)
    rows, columns = X / h, points / h
    K = np.empty((len(rows), len(columns)))
    step = max(1, _VALUES // len(columns))
    for low in range(0, len(rows), step):  # so that Ctrl-C is noticed
        block = K[low : low + step]
        cdist(rows[low : low + step], columns, "sqeuclidean", out=block)
        block *= -0.5
        np.exp(block, out=block)
    return K


@hinted
def bandwidth(X: Any, *, n_neighbors: int = _NEIGHBORS) -> float:
    """Choose the width of the Gaussian kernel from the points.

    It is the smaller of half the median distance and the mean distance to the `n_neighbors`-th
    nearest neighbour (of at most 2000 points, evenly spaced in the input order).

    Parameters
    ----------
    X : array_like, shape (n, d)
        Points, at least two of them different.
    n_neighbors : int
        The rank of the neighbour, >= 1. With fewer objects, the farthest one is used.

    Returns
    -------
    float
        The width h, > 0.

    Raises
    ------
    TypeError, ValueError
        Not a matrix of finite real numbers, or points that are all equal.

    Notes
    -----
    The median distance mixes distances within and between clusters: in few dimensions, where
    clusters may be long and thin, a kernel of that width cannot separate them, but a kernel
    that reaches only the nearest neighbours can. In many dimensions all distances are alike, and a
    kernel as wide as the neighbours' distance cannot distinguish them; half the median can.

    Examples
    --------
    >>> import d2ke
    >>> d2ke.discriminative.bandwidth([[0.0], [1.0], [10.0], [11.0]], n_neighbors=1)
    1.0
    """
    X = point_matrix("X", X)
    return _width("X", X, integer("n_neighbors", n_neighbors, 1))


def _width(name: str, X: np.ndarray, n_neighbors: int) -> float:
    if len(X) < 2:
        raise ArgumentError(name, "has only one point; give h, or more points")
    # Find the neighbours of a sample among all points.
    sample = X[np.linspace(0, len(X) - 1, min(2000, len(X))).astype(np.intp)]
    at = min(n_neighbors, len(X) - 1)
    near = 0.0
    for low in range(0, len(sample), _ROWS):
        D = cdist(sample[low : low + _ROWS], X)
        near += float(np.partition(D, at, axis=1)[:, at].sum()) / len(sample)
    median = float(np.median(pdist(sample)))
    widths = [width for width in (median / 2, near) if width > 0]
    if not widths:
        raise ArgumentError(name, "has only equal points, or nearly so; give h, or other points")
    return min(widths)


def point_matrix(name: str, values: Any) -> np.ndarray:
    """Return points as float64: at least one point and one coordinate."""
    matrix = arrays.matrix(name, values).astype(np.float64)
    if 0 in matrix.shape:
        raise ArgumentError(name, f"must have rows and columns, got shape {matrix.shape}")
    return matrix
