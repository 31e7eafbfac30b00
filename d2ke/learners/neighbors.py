# SPDX-License-Identifier: BSD-3-Clause
"""Nearest-neighbour classification on a distance matrix."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from d2ke._base import arrays, labels
from d2ke._base.checks import integer
from d2ke._base.errors import ArgumentError
from d2ke._base.keywords import hinted


@hinted
def knn_predict(y: Sequence[Any] | np.ndarray, D: np.ndarray, k: int = 1) -> NDArray[Any]:
    """Predict by majority vote among the k nearest training objects.

    Parameters
    ----------
    y : sequence of length n
        Labels of the training objects, of any one type.
    D : array_like of shape (m, n)
        Distances of m objects (rows) to the n training objects (columns). Infinity is a
        distance; nan is not.
    k : int, default 1
        Number of neighbours, 1 to n.

    Returns
    -------
    ndarray of shape (m,)
        Predicted labels, in the type of `y`.

    Raises
    ------
    TypeError
        If `D` does not hold real numbers, or `k` is not an integer.
    ValueError
        If `D` has a nan or a negative number, or is symmetric but not 0 on its diagonal, as
        similarities are; if the number of labels is not n, or `k` is out of range.

    Notes
    -----
    Ties are broken in a fixed way. Among training objects at equal distance, the one with the
    smaller index is nearer. Among classes with equally many votes, the one whose nearest member
    among the k neighbours is nearest wins (in the same sense, so a smaller index decides last).

    Examples
    --------
    >>> import numpy as np
    >>> from d2ke.learners.neighbors import knn_predict
    >>> D = np.array([[0.3, 0.1, 0.2, 9.0], [7.0, 7.0, 7.0, 7.0]])
    >>> knn_predict(["a", "b", "a", "b"], D, k=3).tolist()
    ['a', 'a']
    >>> knn_predict(["a", "b", "a", "b"], D).tolist()
    ['b', 'a']
    """
    if isinstance(y, np.ndarray) and y.ndim == 2 and np.ndim(D) == 1:
        raise ArgumentError("y", "is a matrix. Are y and D swapped? Labels come first")
    if hasattr(D, "columns"):
        labels.check_order(getattr(D.columns, "to_series", lambda: None)(), "D.columns", y=y)
    distances = arrays.matrix("D", D, infinite=True)
    arrays.check_rows_of_distances("D", distances)
    classes, codes = labels.encode_labels("y", y)
    n_rows, n_columns = distances.shape
    if len(codes) != n_columns:
        raise ArgumentError("y", f"has {len(codes)} labels, but D has {n_columns} columns")
    k = integer("k", k, 1, n_columns)
    winners = np.empty(n_rows, np.intp)
    for rows in arrays.row_blocks(distances.shape):
        nearest = codes[nearest_columns(distances[rows], k)]
        winners[rows] = vote(nearest, len(classes))
    return classes[winners]


def knn_shares(D: np.ndarray, codes: np.ndarray, k: int) -> np.ndarray:
    """Return each class's share of the votes of the k nearest training objects.

    Parameters
    ----------
    D : ndarray of shape (m, n)
        Distances, as for `knn_predict`.
    codes : ndarray of int, shape (n,)
        Classes 0, 1, ... of the training objects.
    k : int
        Number of neighbours, 1 to n.

    Returns
    -------
    ndarray of shape (m, n_classes)
        Shares, which sum to 1 in each row.
    """
    distances = arrays.matrix("D", D, infinite=True)
    n_classes = int(codes.max()) + 1
    shares = np.empty((len(distances), n_classes))
    for rows in arrays.row_blocks(distances.shape):
        shares[rows] = votes(codes[nearest_columns(distances[rows], k)], n_classes) / k
    return shares


def nearest_columns(distances: np.ndarray, k: int) -> np.ndarray:
    """Return the k nearest columns of each row, by distance and then by index."""
    bound = np.partition(distances, k - 1, axis=1)[:, k - 1 : k]
    closer = distances < bound
    tied = distances == bound
    # The first columns at the k-th distance complete the k nearest.
    n_tied = k - closer.sum(axis=1, keepdims=True)
    is_nearest = closer | (tied & (np.cumsum(tied, axis=1, dtype=np.int32) <= n_tied))
    columns = np.nonzero(is_nearest)[1].reshape(-1, k)
    order = np.argsort(np.take_along_axis(distances, columns, axis=1), axis=1, kind="stable")
    return np.take_along_axis(columns, order, axis=1)


def vote(nearest: np.ndarray, n_classes: int) -> np.ndarray:
    """Return the winning class of each row of neighbours' classes, sorted by distance."""
    row = np.arange(len(nearest))[:, None]
    first_best = votes(nearest, n_classes)[row, nearest].argmax(axis=1)
    return nearest[row[:, 0], first_best]


def votes(nearest: np.ndarray, n_classes: int) -> np.ndarray:
    """Return the number of neighbours of each class for each row."""
    cells = np.arange(len(nearest))[:, None] * n_classes + nearest
    votes = np.bincount(cells.ravel(), minlength=len(nearest) * n_classes)
    return votes.reshape(-1, n_classes)
