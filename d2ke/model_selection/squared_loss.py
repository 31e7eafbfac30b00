# SPDX-License-Identifier: BSD-3-Clause
"""Cross-validated accuracy of linear classifiers: the squared loss, for every C at once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from d2ke._base.checks import positive_number


def cross_validate(
    F: np.ndarray, codes: np.ndarray, costs: Sequence[float], folds: np.ndarray
) -> list[float]:
    """Cross-validated accuracy of linear one-vs-rest classifiers, for every C at once.

    The loss is the squared one, |w|^2 / 2 + C sum (y_i - w.z_i)^2 with y = +-1:
    what LIBLINEAR's squared hinge is for points inside the margin, so that its
    C carries over. With the squared loss the predictions for a fold that was
    left out follow from the fit to all rows: r_out = (I - H)^-1 r, H being the
    fold's block of the hat matrix; one eigendecomposition serves all C and folds.

    Parameters
    ----------
    F : ndarray, shape (n, R)
        Features, scaled, with a constant column for the bias; computed with in float64.
    codes : ndarray of int, shape (n,)
        Classes 0, 1, ...
    costs : sequence of float
        Values of C.
    folds : ndarray of int, shape (n,)
        The fold of each row.

    Returns
    -------
    list of float
        Percent of rows classified correctly when left out, for each C.

    References
    ----------
    Hastie, Tibshirani, Friedman, "The Elements of Statistical Learning", 2009,
    section 7.10.
    """
    costs = [positive_number("C", C) for C in costs]
    F = np.asarray(F, np.float64)
    n, R = F.shape
    if n >= R:
        squares, V = np.linalg.eigh(F.T @ F)
        kept = squares > 1e-12 * squares[-1]
        squares = squares[kept]
        U = (F @ V[:, kept]) / np.sqrt(squares)
    else:
        squares, U = np.linalg.eigh(F @ F.T)
        kept = squares > 1e-12 * squares[-1]
        squares, U = squares[kept], U[:, kept]
    targets = np.where(codes[:, None] == np.arange(codes.max() + 1), 1.0, -1.0)
    projected = U.T @ targets
    members = [np.flatnonzero(folds == fold) for fold in np.unique(folds)]
    accuracies = []
    for C in costs:
        shrink = squares / (squares + 1 / (2 * C))
        residual = targets - U @ (shrink[:, None] * projected)
        right = 0
        for rows in members:
            hat = (U[rows] * shrink) @ U[rows].T
            left_out = targets[rows] - np.linalg.solve(np.eye(len(rows)) - hat, residual[rows])
            # Rounded, so that ties up to rounding go to the first class.
            winners = np.round(left_out, 9).argmax(axis=1)
            right += int((winners == codes[rows]).sum())
        accuracies.append(100.0 * right / n)
    return accuracies
