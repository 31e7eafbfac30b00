# SPDX-License-Identifier: BSD-3-Clause
"""Cross-validated accuracy of linear classifiers, for every C, by either loss."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from d2ke._base.checks import positive_number
from d2ke.embedding.scaling import compress
from d2ke.learners.newton import block_newton
from d2ke.learners.ridge import class_indicators, decompose

# Bytes of the folds that are solved together. (If they depended on the available memory, so would
# the models, within the tolerance.)
_TOGETHER = 1 << 28


def cross_validate(
    F: np.ndarray, codes: np.ndarray, costs: Sequence[float], folds: np.ndarray
) -> list[float]:
    """Cross-validate linear one-vs-rest classifiers with the squared loss, for every C at once.

    The objective is |w|^2 / 2 + C sum (y_i - b - w.z_i)^2 with y = +-1 and a free offset b. For
    points inside the margin it equals LIBLINEAR's squared hinge, so that C carries over. The
    predictions for a left-out fold follow from the fit to all rows, see `Ridge.loo_together`; one
    eigendecomposition serves all C and folds.

    Parameters
    ----------
    F : ndarray, shape (n, R)
        Features, scaled; computed with in float64.
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
    """
    costs = [positive_number("C", C) for C in costs]
    T = class_indicators(codes, int(codes.max()) + 1)
    ridge, P = decompose(F, T, np.ones(F.shape[1]), n_threads=1)
    n_correct = np.zeros(len(costs), np.int64)
    for fold in np.unique(folds):
        out = np.flatnonzero(folds == fold)
        decision = ridge.loo_together(P[out], T[out], costs)
        n_correct += count_correct(decision, codes[out])
    return (100.0 * n_correct / len(codes)).tolist()


def count_correct(decision: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """Return the number of correctly classified rows for each C, from indicators of classes.

    Two classes have the decision values of the second class, shape (m, n_costs, 1).
    """
    # Rounded, so that ties up to rounding go to the first class.
    decision = np.round(decision, 9)
    winners = decision[:, :, 0] > 0.5 if decision.shape[2] == 1 else decision.argmax(axis=2)
    return (winners == codes[:, None]).sum(axis=0)


def cross_validate_hinge(
    F: np.ndarray,
    codes: np.ndarray,
    costs: Sequence[float],
    folds: np.ndarray,
    *,
    tolerance: float = 0.001,
    n_threads: int | None = None,
) -> list[float]:
    """Cross-validate LIBLINEAR's squared hinge classifiers (``-s 2 -B 1``).

    Each fold is left out once; the classifiers of each C start from the next smaller C.

    Parameters
    ----------
    F : ndarray of float64 or float32, shape (n, R)
        Features, scaled; the bias is added here.
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
        Percent of rows classified correctly when left out, for each C.
    """
    costs = [positive_number("C", C) for C in costs]
    n_classes = int(codes.max()) + 1
    order = np.argsort(costs, kind="stable")
    if F.shape[1] > F.shape[0]:
        F = compress(F, n_threads=n_threads)[0]
    names = np.unique(folds)
    n_correct = np.zeros(len(costs), dtype=np.int64)
    # The problems of several folds form one block; each leaves out the rows of its fold.
    # `block_newton` takes 112 bytes for each row, and 320 for each weight, of a problem.
    step = max(1, _TOGETHER // ((112 * len(codes) + 320) * n_classes))
    for group in (names[low : low + step] for low in range(0, len(names), step)):
        signs = np.where(codes[:, None] == np.arange(n_classes), 1.0, -1.0)
        signs = np.hstack([signs * (folds != fold)[:, None] for fold in group])
        W = None
        for position in order:
            C = np.full((2, signs.shape[1]), costs[position])
            W, _ = block_newton(
                F, signs, C, bias=1.0, tolerance=tolerance, start=W, n_threads=n_threads
            )
            for fold, weights in zip(group, np.split(W, len(group), axis=1), strict=True):
                out = folds == fold
                scores = F[out] @ weights[:-1] + weights[-1]
                n_correct[position] += (scores.argmax(axis=1) == codes[out]).sum()
    return (100.0 * n_correct / len(codes)).tolist()
