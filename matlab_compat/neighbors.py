# SPDX-License-Identifier: BSD-3-Clause
"""Nearest objects: `knnsearch`, `rangesearch`, `fitcknn`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import d2ke
from d2ke._base.arrays import row_blocks
from d2ke._base.checks import not_negative
from d2ke._base.errors import ArgumentError
from d2ke._base.keywords import hinted
from d2ke._base.labels import encode_labels
from matlab_compat._cells import column, numbers, scalar, vector, whole
from matlab_compat._outputs import Outputs
from matlab_compat.pairs import between, by_rows, objects


@hinted
def knnsearch(
    X: Any,
    Y: Any,
    *,
    K: int = 1,
    Distance: str | Callable[..., Any] | None = None,
    **params: Any,
) -> tuple[np.ndarray, np.ndarray]:
    """Find the K nearest objects of X to each object of Y.

    Parameters
    ----------
    X, Y : array_like, n x d and m x d; cells or lists of objects; Objects
        As for `pdist`; Y has the queries, other than in `d2ke.nearest`.
    K : int
        Number of neighbours.
    Distance, **params
        As for `pdist`.

    Returns
    -------
    Idx : ndarray of int, m x K
        Numbers of objects of X, from 1; of equally near ones the first.
    D : ndarray, m x K
        Their distances, rising.

    Raises
    ------
    TypeError, ValueError
        As `pdist2`; K out of range.

    Examples
    --------
    >>> Idx, D = knnsearch([[0.0], [2.0], [5.0]], [[1.6], [9.0]], K=2)
    >>> Idx, D
    (array([[2, 1], [3, 2]]), array([[0.4, 1.6], [4. , 7. ]]))
    """
    if not by_rows(X, Distance):
        new, base = objects("Y", Y, Distance), objects("X", X, Distance)
        order, D = d2ke.nearest(new, base, k=whole("K", K, 1), distance=Distance, **params)
        return Outputs("knnsearch", Idx=order + 1, D=D)
    K = whole("K", K, 1, len(X))
    Y = numbers("Y", Y)
    Idx, D = np.empty((len(Y), K), np.int64), np.empty((len(Y), K))
    for rows in row_blocks((len(Y), len(X))):
        block = between(X, Y[rows], Distance, None, params).T
        order = np.argsort(block, axis=1, kind="stable")[:, :K]
        Idx[rows], D[rows] = order + 1, np.take_along_axis(block, order, axis=1)
    return Outputs("knnsearch", Idx=Idx, D=D)


@hinted
def rangesearch(
    X: Any, Y: Any, r: float, *, Distance: str | Callable[..., Any] | None = None, **params: Any
) -> tuple[np.ndarray, np.ndarray]:
    """Find all objects of X within r of each object of Y.

    Parameters
    ----------
    X, Y : array_like, n x d and m x d; cells or lists of objects; Objects
        As for `knnsearch`.
    r : float
        The radius.
    Distance, **params
        As for `pdist`.

    Returns
    -------
    Idx : cell, m x 1
        In each a 1 x count matrix of numbers of objects of X, from 1, the nearest first.
    D : cell, m x 1
        Their distances.

    Raises
    ------
    TypeError, ValueError
        As `pdist2`; a negative radius.

    Examples
    --------
    >>> Idx, D = rangesearch([[0.0], [2.0], [5.0]], [[1.5]], 2)
    >>> Idx[0, 0], D[0, 0]
    (array([[2, 1]]), array([[0.5, 1.5]]))
    """
    r = not_negative("r", scalar(r))
    if by_rows(X, Distance):
        Y = numbers("Y", Y)
        rows = [
            (row[near], near)
            for block in row_blocks((len(Y), len(X)))
            for row in between(X, Y[block], Distance, None, params).T
            for near in [np.flatnonzero(row <= row.dtype.type(r))]
        ]
    else:
        new, base = objects("Y", Y, Distance), objects("X", X, Distance)
        pairs = d2ke.within(new, base, radius=r, distance=Distance, **params)
        cuts = pairs.indptr[1:-1]
        rows = list(zip(np.split(pairs.data, cuts), np.split(pairs.indices, cuts), strict=True))
    Idx, D = (np.empty((len(rows), 1), dtype=object) for _ in range(2))
    for i, (values, places) in enumerate(rows):
        order = np.argsort(values, kind="stable")
        Idx[i, 0], D[i, 0] = places[order][None] + 1, values[order][None]
    return Outputs("rangesearch", Idx=Idx, D=D)


class ClassificationKNN:
    """What `fitcknn` returns: the objects, their labels and a distance.

    Examples
    --------
    >>> model = fitcknn([[0.0], [1.0], [9.0]], ["near", "near", "far"])
    >>> label, score = model.predict([[7.0]])
    >>> label, score
    (array([['far']], dtype='<U4'), array([[1., 0.]]))
    """

    def __init__(self, X: Any, Y: Any, k: int, distance: Any, params: dict[str, Any]):
        self.X, self.NumNeighbors, self.Distance, self._params = X, k, distance, params
        self.ClassNames, self._codes = encode_labels("Y", vector("Y", Y))

    def predict(self, X: Any) -> tuple[np.ndarray, np.ndarray]:
        """Return the label (m x 1) of each object, and the classes' shares of votes (m x classes).

        The first in ``ClassNames`` wins a tie of votes.
        """
        Idx, _ = knnsearch(self.X, X, K=self.NumNeighbors, Distance=self.Distance, **self._params)
        votes = self._codes[Idx - 1]
        score = (votes[:, :, None] == np.arange(len(self.ClassNames))).mean(axis=1)
        label = column(self.ClassNames[score.argmax(axis=1)])
        return Outputs("predict", label=label, score=score)


@hinted
def fitcknn(
    X: Any,
    Y: Any,
    *,
    NumNeighbors: int = 1,
    Distance: str | Callable[..., Any] | None = None,
    **params: Any,
) -> ClassificationKNN:
    """Make a classifier of nearest neighbours.

    Parameters
    ----------
    X : array_like, n x d; cell or list of n objects; Objects
        As for `pdist`.
    Y : array_like, n x 1
        Labels: numbers or strings.
    NumNeighbors : int
        Neighbours that vote.
    Distance, **params
        As for `pdist`.

    Returns
    -------
    ClassificationKNN
        Its ``predict(X)`` returns labels and scores.

    Raises
    ------
    TypeError, ValueError
        Another number of labels than of objects; a number of neighbours out of range.

    Examples
    --------
    >>> model = fitcknn(["ant", "aunt", "beetle"], [1, 1, 2], Distance="levenshtein")
    >>> model.predict(["and", "beatle"])[0]
    array([[1], [2]])
    """
    X = np.asarray(X, float) if by_rows(X, Distance) else objects("X", X, Distance)
    k = whole("NumNeighbors", NumNeighbors, 1, len(X))
    if np.size(Y) != len(X):
        raise ArgumentError("Y", f"has {np.size(Y)} labels, but X has {len(X)} objects")
    return ClassificationKNN(X, Y, k, Distance, params)
