# SPDX-License-Identifier: BSD-3-Clause
"""The squared hinge loss, where it can pay: with many more training objects than features."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from d2ke.learners.linear_model import predict
from d2ke.learners.losses import train_classifier
from d2ke.models.calibration import Calibration, rows_to_keep
from d2ke.models.labels import Labels

_FOLDS = 5
# The squared loss also pays for points that are far on the right side, so its C is larger.
_FACTORS = (0.003, 0.03)
_ROWS = 4096  # that are moved at a time


def better_by_hinge(
    Z: np.ndarray, target: Labels, C: float, n_threads: int | None
) -> dict[str, Any]:
    """Return the fields of a model that the squared hinge loss changes, if it is clearly better.

    Every fifth object is held out. The gain must be above the standard error of the difference.

    Parameters
    ----------
    Z : ndarray, shape (n, R)
        Scaled features, which may take much of the memory: their rows are reordered in place.
    target : Labels
        Labels of a classification.
    C : float
        Of the squared loss.
    n_threads : int or None
        Threads.

    Returns
    -------
    dict
        Attributes of the D2KEModel; accuracy, confusion and calibration are those of the objects
        held out, by the model without them. Empty where the hinge loss is not better.
    """
    y, classes = target.values, target.task.classes
    held = np.arange(len(y)) % _FOLDS == 0
    if len(np.unique(y[~held])) < len(np.unique(y)):
        return {}
    y = np.concatenate([y[~held], y[held]])
    n = _move_last(Z, held)
    kept, out, true = Z[:n], Z[n:], y[n:]
    options = {"n_threads": n_threads}

    def attempt(loss: str, value: float) -> tuple[np.ndarray, np.ndarray]:
        model = train_classifier(y[:n], kept, loss=loss, C=value, **options)
        labels, _, decisions = predict(None, out, model)
        return labels, decisions

    plain = attempt("squared", C)[0] == true
    best: Any = None
    for factor in _FACTORS:
        labels, decisions = attempt("squared_hinge", factor * C)
        if best is None or (labels == true).sum() > (best[1] == true).sum():
            best = factor * C, labels, decisions
    value, labels, decisions = best
    correct = labels == true
    if correct.sum() - plain.sum() <= np.sqrt((correct != plain).sum()):
        return {}
    model = train_classifier(y, Z, loss="squared_hinge", C=value, **options)
    confusion = np.zeros((len(classes),) * 2, np.int64)
    np.add.at(confusion, (true, labels), 1)
    share = float(correct.mean())
    error = float(np.sqrt(share * (1 - share) / len(true)))
    model = replace(model, classes=classes)
    rows = rows_to_keep(len(true), decisions.shape[1], 0)
    calibration = Calibration.fit(decisions[rows], true[rows], len(classes))
    return {
        "linear": model, "C": value, "accuracy": 100.0 * share, "accuracy_error": 100.0 * error,
        "confusion": confusion, "calibration": calibration,
    }  # fmt: skip


def _move_last(Z: np.ndarray, chosen: np.ndarray) -> int:
    """Move the chosen rows behind the others, in place; return the number of the others."""
    last, rest = Z[chosen], np.flatnonzero(~chosen)
    for low in range(0, len(rest), _ROWS):
        rows = rest[low : low + _ROWS]
        Z[low : low + len(rows)] = Z[rows]
    Z[len(rest) :] = last
    return len(rest)
