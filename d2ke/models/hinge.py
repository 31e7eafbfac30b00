# SPDX-License-Identifier: BSD-3-Clause
"""The squared hinge loss, where it can pay: with many more training objects than features."""

from __future__ import annotations

import numpy as np

from d2ke.learners.linear_model import LinearModel, predict
from d2ke.learners.losses import train_classifier

_FOLDS = 5
# The squared loss also pays for points that are far on the right side, so its C is larger.
_FACTORS = (0.003, 0.03)


def better_by_hinge(
    Z: np.ndarray, y: np.ndarray, C: float, n_threads: int | None
) -> tuple[LinearModel, float, np.ndarray, np.ndarray] | None:
    """Return a model of the squared hinge loss if it is clearly better than that of the other.

    Every fifth object is held out. The gain must be above the standard error of the difference.

    Parameters
    ----------
    Z : ndarray, shape (n, R)
        Scaled features.
    y : ndarray of int, shape (n,)
        Classes 0, 1, ...
    C : float
        Of the squared loss.
    n_threads : int or None
        Threads.

    Returns
    -------
    tuple or None
        The model of all objects, its C, the objects held out, and the decision values for them of
        the model without them.
    """
    held = np.arange(len(y)) % _FOLDS == 0
    if len(np.unique(y[~held])) < len(np.unique(y)):
        return None
    kept, out = Z[~held], Z[held]
    options = {"n_threads": n_threads}

    def attempt(loss: str, value: float) -> tuple[np.ndarray, np.ndarray]:
        model = train_classifier(y[~held], kept, loss=loss, C=value, **options)
        labels, _, decision = predict(None, out, model)
        return labels == y[held], decision

    plain, _ = attempt("squared", C)
    best = None
    for factor in _FACTORS:
        correct, decision = attempt("squared_hinge", factor * C)
        if best is None or correct.sum() > best[1].sum():
            best = factor * C, correct, decision
    value, correct, decision = best
    if correct.sum() - plain.sum() <= np.sqrt((correct != plain).sum()):
        return None
    model = train_classifier(y, Z, loss="squared_hinge", C=value, **options)
    return model, value, np.flatnonzero(held), decision
