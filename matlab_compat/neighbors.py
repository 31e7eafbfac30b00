# SPDX-License-Identifier: BSD-3-Clause
"""Nearest objects: `knnsearch`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import d2ke
from d2ke._base.arrays import row_blocks
from d2ke._base.keywords import hinted
from matlab_compat._cells import numbers, whole
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
