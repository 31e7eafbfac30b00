# SPDX-License-Identifier: BSD-3-Clause
"""Cross-validated accuracy of linear classifiers: folds, and every C at once for each of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from d2ke._rows import Rows
from d2ke._validate import generator, integer, positive_number
from d2ke.block import block_newton, block_newton_bytes
from d2ke.scaling import compress

# Folds are left out of one block of problems while these bytes suffice. (Were it to depend on the
# memory that there is, so would the models, within the tolerance.)
_TOGETHER = 1 << 28
_RUN = 4096  # rows that are classified at a time


def stratified_folds(codes: np.ndarray, n_folds: int, *, seed: Any) -> np.ndarray:
    """Deal the members of each class out to the folds, in random order.

    Parameters
    ----------
    codes : ndarray of int, shape (n,)
        Classes 0, 1, ...
    n_folds : int
        From 2 to n.
    seed : int, SeedSequence or Generator
        Where the randomness comes from.

    Returns
    -------
    ndarray of int, shape (n,)
        The fold of each row; sizes differ by at most one, within each class too.

    Examples
    --------
    >>> import numpy as np
    >>> from d2ke.crossval import stratified_folds
    >>> np.bincount(stratified_folds(np.array([0, 1] * 10), 5, seed=0)).tolist()
    [4, 4, 4, 4, 4]
    """
    integer("n_folds", n_folds, 2, len(codes))
    shuffled = generator(seed).permutation(len(codes))
    by_class = shuffled[np.argsort(codes[shuffled], kind="stable")]
    folds = np.empty(len(codes), dtype=np.int64)
    folds[by_class] = np.arange(len(codes)) % n_folds
    return folds


def with_bias(F: np.ndarray) -> np.ndarray:
    """Append the column of ones that LIBLINEAR's ``-B 1`` stands for."""
    return np.hstack([F, np.ones((len(F), 1))])


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
        Percent of rows classified rightly when left out, for each C.

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
            # Rounded, so that what ties but for rounding goes to the first class.
            winners = np.round(left_out, 9).argmax(axis=1)
            right += int((winners == codes[rows]).sum())
        accuracies.append(100.0 * right / n)
    return accuracies


def hat_bytes(n: int, R: int, n_folds: int) -> int:
    """Return about how many bytes `cross_validate` takes, the features included."""
    rank, out = min(n, R + 1), -(-n // n_folds)
    return 8 * (4 * n * (R + 1) + 2 * n * rank + 6 * rank**2 + 4 * out**2)


def cross_validate_hinge(
    F: np.ndarray | Rows,
    codes: np.ndarray,
    costs: Sequence[float],
    folds: np.ndarray,
    *,
    tolerance: float = 0.001,
    n_threads: int | None = None,
) -> list[float]:
    """Cross-validated accuracy of LIBLINEAR's squared hinge classifiers (``-s 2 -B 1``).

    Each fold is left out once; the classifiers of one C start from those of the next
    smaller one.

    Parameters
    ----------
    F : ndarray of float64 or float32, or Rows, shape (n, R)
        Features, scaled; the bias is added here. Rows are read in each pass, unless there are
        more columns than rows.
    codes : ndarray of int, shape (n,)
        Classes 0, 1, ...
    costs : sequence of float
        Values of C.
    folds : ndarray of int, shape (n,)
        The fold of each row.
    tolerance : float
        LIBLINEAR's ``-e``.
    n_threads : int, optional
        Threads; None for all that this process may use.

    Returns
    -------
    list of float
        Percent of rows classified rightly when left out, for each C.
    """
    costs = [positive_number("C", C) for C in costs]
    n_classes = int(codes.max()) + 1
    order = np.argsort(costs, kind="stable")
    if F.shape[1] > F.shape[0]:
        F = compress(F.whole() if isinstance(F, Rows) else F, n_threads=n_threads)[0]
    names = np.unique(folds)
    right = np.zeros(len(costs), dtype=np.int64)
    # Several folds' problems are one block of problems, from each of which some rows are left out.
    step = _folds_together(len(codes), n_classes, len(names))
    for group in (names[low : low + step] for low in range(0, len(names), step)):
        signs = np.where(codes[:, None] == np.arange(n_classes), 1.0, -1.0)
        signs = np.hstack([signs * (folds != fold)[:, None] for fold in group])
        W = None
        for position in order:
            C = np.full((2, signs.shape[1]), costs[position])
            W, _ = block_newton(
                F, signs, C, bias=1.0, tolerance=tolerance, start=W, n_threads=n_threads
            )
            models = dict(zip(group.tolist(), np.split(W, len(group), axis=1), strict=True))
            right[position] += _left_out_right(F, codes, folds, models)
    return (100.0 * right / len(codes)).tolist()


def hinge_bytes(n: int, R: int, n_folds: int, n_classes: int, n_threads: int) -> int:
    """Return about how many bytes `cross_validate_hinge` takes beside the features."""
    together = n_classes * _folds_together(n, n_classes, n_folds)
    wide = 8 * n * (2 * n + R) if n < R else 0  # `compress`
    return block_newton_bytes((n, min(n, R)), together, n_threads) + wide


def _folds_together(n: int, n_classes: int, n_folds: int) -> int:
    one, two = (block_newton_bytes((n, 0), count * n_classes, 0) for count in (1, 2))
    return min(max(1, _TOGETHER // (two - one)), n_folds)


def _left_out_right(
    F: np.ndarray | Rows, codes: np.ndarray, folds: np.ndarray, models: dict[int, np.ndarray]
) -> int:
    """Return how many rows of the folds the models that are without them classify rightly."""
    right = 0
    for low in range(0, len(codes), _RUN):
        rows = slice(low, low + _RUN)
        Z = F[rows]
        for fold, weights in models.items():
            out = folds[rows] == fold
            scores = Z[out] @ weights[:-1] + weights[-1]
            right += int((scores.argmax(axis=1) == codes[rows][out]).sum())
    return right
