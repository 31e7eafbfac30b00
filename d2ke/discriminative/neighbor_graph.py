# SPDX-License-Identifier: BSD-3-Clause
"""Similarities of near neighbours as a sparse matrix, with widths chosen from the data."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from scipy.spatial import cKDTree
from scipy.spatial.distance import cdist

from d2ke._base.arrays import square_distances
from d2ke._base.checks import integer, positive_number
from d2ke._base.errors import ArgumentError
from d2ke._base.keywords import hinted
from d2ke.discriminative.gaussian import point_matrix

SCALE = 0.5  # of a local width, in units of the distance to the third neighbour
_LOCAL = 3
_VALUES = 1 << 21  # distances that are computed at a time


@dataclass(frozen=True, eq=False)
class Neighborhood:
    """The nearest neighbours of n objects, the object itself first."""

    near: np.ndarray = field(repr=False)  # shape (n, k + 1), positions by distance
    gaps: np.ndarray = field(repr=False)  # their distances
    points: np.ndarray | None = field(repr=False, default=None)

    @classmethod
    def from_points(cls, X: np.ndarray, k: int) -> Neighborhood:
        """Find the k nearest neighbours of points."""
        _check_several("points", X)
        spread = X.max(axis=0) / 2 - X.min(axis=0) / 2
        max_spread = 2.0**500  # float64 holds sums of squares of such numbers
        if spread.max(initial=0.0) > max_spread / X.shape[1]:
            raise ArgumentError(
                "points",
                f"are too far apart: squares of their distances are beyond float64 where "
                f"coordinates differ by more than {2 * max_spread / X.shape[1]:.3g}; divide points "
                "by a number",
            )
        near, gaps = _nearest(X, X, min(k, len(X) - 1) + 1)
        _itself_first(near, gaps)
        return cls(near, gaps, X)

    @classmethod
    def from_distances(cls, D: np.ndarray, k: int) -> Neighborhood:
        """Find the k nearest neighbours from checked distances."""
        _check_several("distances", D)
        ordered = D.copy()
        np.fill_diagonal(ordered, -1.0)  # each object is its own nearest
        near = np.argsort(ordered, axis=1, kind="stable")[:, : min(k, len(D) - 1) + 1]
        gaps = np.take_along_axis(D, near, axis=1)
        gaps[:, 0] = 0.0
        return cls(near, gaps)

    def widths(self, scale: float, h: float | None = None) -> tuple[np.ndarray, float]:
        """Return the widths of the objects, and the common width, their minimum."""
        local = scale * self.gaps[:, min(_LOCAL, self.gaps.shape[1] - 1)]
        if h is None:
            positive = local[local > 0]
            if not positive.size:
                # At least half of the neighbours are copies; the remaining ones give the scale.
                positive = scale * self.gaps[self.gaps > 0]
            if not positive.size:
                name = "distances" if self.points is None else "points"
                raise ArgumentError(
                    name,
                    "has only equal points, or nearly so: the neighbours of each object "
                    "have distance 0; give h, or other objects",
                )
            h = float(np.percentile(positive, 90))  # most objects have the common width
        return np.maximum(local, h), h

    def graph(self, k: int, scale: float, h: float | None = None) -> tuple[csr_array, float]:
        """Return exp(-d^2 / (2 w_i w_j)) for the k nearest neighbours, symmetric, and h."""
        widths, h = self.widths(scale, h)
        n, columns = len(self.near), min(k + 1, self.near.shape[1])
        near = self.near[:, :columns]
        gaps = self.gaps[:, :columns]
        values = np.exp(-0.5 * (gaps / widths[:, None]) * (gaps / widths[near]))
        values = np.maximum(values, 1e-6)  # keeps the graph connected
        starts = np.arange(0, near.size + 1, columns)
        directed = csr_array((values.ravel(), near.ravel(), starts), shape=(n, n))
        both = directed.maximum(directed.T).tocsr()
        both.sort_indices()
        return both, h

    def rows(self, new: np.ndarray, k: int, scale: float, h: float) -> csr_array:
        """Return the similarities of new points, or of rows of distances, to the objects.

        Each row is scaled to a maximum of 1, so that distant objects have neighbours, too.
        """
        widths, h = self.widths(scale, h)
        n = len(self.near)
        k = min(k, n)
        if self.points is None:
            near = np.argsort(new, axis=1, kind="stable")[:, :k]
            gaps = np.take_along_axis(new, near, axis=1)
        else:
            near, gaps = _nearest(self.points, new, k)
        new_widths = np.maximum(scale * gaps[:, min(_LOCAL, k) - 1], h)
        powers = gaps**2 / (2 * new_widths[:, None] * widths[near])
        values = np.exp(powers.min(axis=1, keepdims=True) - powers)
        starts = np.arange(0, near.size + 1, k)
        return csr_array((values.ravel(), near.ravel(), starts), shape=(len(new), n))


@dataclass(frozen=True, eq=False)
class AllPairs:
    """Similarities exp(-d / h) of all pairs of objects."""

    points: np.ndarray | None = field(repr=False, default=None)

    def matrix(self, D: np.ndarray | None, rate: float) -> tuple[np.ndarray, float]:
        """Return exp(-d / h) of the points, or for distances, and h, the median over `rate`."""
        D = cdist(self.points, self.points) if D is None else D
        h = float(np.median(D)) / rate
        if not h > 0:  # most objects are copies of each other
            h = float(np.mean(D)) / rate
        return np.exp(D / -h), h

    def rows(self, new: np.ndarray, k: int, scale: float, h: float) -> np.ndarray:
        """Return the similarities of new points, or of rows of distances, as a Neighborhood."""
        gaps = new if self.points is None else cdist(new, self.points)
        return np.exp((gaps.min(axis=1, keepdims=True) - gaps) / h)


def _nearest(X: np.ndarray, new: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the k rows of X that are nearest to each new row, and their distances."""
    if X.shape[1] <= 12:  # a tree is faster than all distances
        gaps, near = cKDTree(X).query(new, k=np.arange(1, k + 1))
        return near, gaps
    near = np.empty((len(new), k), np.int64)
    gaps = np.empty((len(new), k))
    step = max(1, _VALUES // len(X))
    for low in range(0, len(new), step):  # so that Ctrl-C is noticed
        D = cdist(new[low : low + step], X)
        candidates = np.argpartition(D, k - 1, axis=1)[:, :k]
        distances = np.take_along_axis(D, candidates, axis=1)
        order = np.argsort(distances, axis=1, kind="stable")
        near[low : low + step] = np.take_along_axis(candidates, order, axis=1)
        gaps[low : low + step] = np.take_along_axis(distances, order, axis=1)
    return near, gaps


def _itself_first(near: np.ndarray, gaps: np.ndarray) -> None:
    """Put each object first among its neighbours; copies may have come before it."""
    for row in np.flatnonzero(near[:, 0] != np.arange(len(near))):
        at = np.flatnonzero(near[row] == row)
        position = at[0] if at.size else near.shape[1] - 1
        near[row, 1 : position + 1] = near[row, :position].copy()
        near[row, 0] = row
        gaps[row, 1 : position + 1] = gaps[row, :position].copy()
        gaps[row, 0] = 0.0


@hinted
def neighbor_similarities(
    points: Any = None,
    *,
    distances: Any = None,
    n_neighbors: int = 15,
    h: float | None = None,
) -> csr_array:
    """Compute the similarities of near neighbours as a sparse matrix.

    K_ij = exp(-d_ij^2 / (2 w_i w_j)), at least 1e-6, where i is one of the nearest neighbours of j,
    or j of i, and on the diagonal; else 0. The width w_i is the larger of h and half the distance
    to the third neighbour. Nearly all objects have width h. Outliers have a larger one, so that
    they stay connected.

    Parameters
    ----------
    points : array_like, shape (n, d), optional
        Vectors, for Euclidean distances.
    distances : array_like, shape (n, n), optional
        Instead of points: symmetric distances, as of `distance_matrix`.
    n_neighbors : int
        Neighbours of each object, >= 1; n - 1 if fewer exist.
    h : float, optional
        The common width, > 0. Default: the 90 % quantile of the local widths.

    Returns
    -------
    scipy.sparse.csr_array of float64, shape (n, n)
        Symmetric, for `cdsk` and `lpdsk`.

    Raises
    ------
    TypeError, ValueError
        Not one of points and distances, values that are not finite, negative distances, a
        parameter out of range, or objects that are all equal.

    Notes
    -----
    Of at most 12 coordinates a tree finds the neighbours, in time O(n log n) as a rule; of more,
    all distances are computed in blocks, O(n^2 d).

    References
    ----------
    Zelnik-Manor, Perona, "Self-tuning spectral clustering", NIPS 2004.

    Examples
    --------
    >>> from d2ke.discriminative import neighbor_similarities
    >>> K = neighbor_similarities([[0.0], [1.0], [2.0], [3.0]], n_neighbors=1, h=2.0)
    >>> K.toarray().round(2).tolist()
    [[1.0, 0.88, 0.0, 0.0], [0.88, 1.0, 0.88, 0.0], [0.0, 0.88, 1.0, 0.88], [0.0, 0.0, 0.88, 1.0]]
    """
    k = integer("n_neighbors", n_neighbors, 1)
    if h is not None:
        h = positive_number("h", h)
    if (points is None) == (distances is None):
        raise TypeError("give one of points and distances")
    n_found = max(k, _LOCAL)
    if distances is None:
        X = point_matrix("points", points)
        near = Neighborhood.from_points(X, n_found)
    else:
        D = square_distances("distances", distances)
        near = Neighborhood.from_distances(D, n_found)
    return near.graph(k, SCALE, h)[0]


def _check_several(name: str, rows: np.ndarray) -> None:
    if len(rows) < 2:
        raise ArgumentError(name, "has only one object; at least two are needed")
