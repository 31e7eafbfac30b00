# SPDX-License-Identifier: BSD-3-Clause
"""Sets of classes and intervals that hold the truth with a chosen probability."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from d2ke._base.checks import positive_number
from d2ke._base.errors import ArgumentError
from d2ke._base.keywords import hinted
from d2ke.models.calibration import Calibration, LabelCalibration
from d2ke.models.model import D2KEModel, check_model
from d2ke.models.predict import d2ke_predict


@hinted
def predict_set(
    X: Any,
    model: D2KEModel,
    *,
    alpha: float = 0.1,
    unseen_letters: str = "allow",
    n_threads: int | None = None,
    progress: bool | None = None,
) -> NDArray[Any]:
    """Predict a set of classes, or an interval, that holds the truth with probability >= 1 - alpha.

    A class is in the set if its probability reaches a threshold: the probability of the true class
    is at least as high for all but about a fraction alpha of the left-out training objects. The
    most probable class is always in the set: a model that is right more often than 1 - alpha has
    sets of one class, which hold the truth as often. Intervals are as wide as to hold about
    1 - alpha of the left-out targets.

    Parameters
    ----------
    X : Objects or what `pack` takes
        n objects of the kind that the model was trained on.
    model : D2KEModel
        What `d2ke_train` or `load_model` returned.
    alpha : float, default 0.1
        Share of objects whose truth may be missed, between 0 and 1.
    unseen_letters, n_threads, progress
        As for `d2ke_predict`.

    Returns
    -------
    ndarray of bool, shape (n, n_classes)
        Whether each of ``model.classes`` is in the set of each object. Each set has at least one
        class, the most probable. With fewer than 1 / alpha - 1 training objects it has all classes.
    ndarray of float64, shape (n, 2)
        Of a regression: the lower and upper ends of intervals, infinite with as few objects.

    Raises
    ------
    TypeError, ValueError
        As `d2ke_predict`; alpha out of range.

    Notes
    -----
    With m left-out objects, the bound on the scores (1 minus the probability of the true class, or
    the absolute error) is the one of rank ceil((m + 1) (1 - alpha)). New objects are assumed to be
    drawn as the training objects were. The coverage is an average over objects and divisions, not
    one for each class.

    No finite sample guarantee holds exactly. That of the jackknife+, at least 1 - 2 alpha [1]_, is
    for predictions by all m left-out models; here the one model of all objects stands for them,
    which is the plain jackknife. It covers 1 - alpha where leaving out one object hardly changes
    predictions, as for a ridge regression of many objects. Besides, C and the shares of the blocks
    were chosen, and the probabilities fitted, by the same left-out decisions. docs/decisions.md has
    the coverage and the mean size of the sets of three data sets. Objects unlike all training
    objects get a set, too; `novelty` finds them.

    References
    ----------
    .. [1] Barber, Candès, Ramdas, Tibshirani, "Predictive inference with the jackknife+", Annals
       of Statistics 49, 2021.

    Examples
    --------
    >>> import d2ke
    >>> model = d2ke.d2ke_train([0, 1] * 9, ["aab", "bba"] * 9, R=32)
    >>> d2ke.predict_set(["aab", "bba"], model, alpha=0.1)
    array([[ True, False],
           [False,  True]])
    """
    check_alpha(alpha)
    check_model(model, "predict_set")
    _, _, decisions = d2ke_predict(
        None, X, model, unseen_letters=unseen_letters, n_threads=n_threads, progress=progress
    )
    return sets_of(decisions, model.calibration, alpha)


def check_alpha(alpha: float) -> None:
    """Refuse an `alpha` outside (0, 1)."""
    if positive_number("alpha", alpha) >= 1:
        raise ArgumentError("alpha", f"must be below 1, got {alpha!r}")


def sets_of(
    decisions: np.ndarray, calibration: Calibration | LabelCalibration, alpha: float
) -> np.ndarray:
    """Return the sets or intervals of objects by their decision values."""
    assert isinstance(calibration, Calibration)  # several labels are refused before
    values, m = calibration.values, len(calibration.values)
    if len(calibration.offsets):
        scores = 1 - calibration.loo[np.arange(m), values]
    else:
        scores = np.abs(calibration.decisions[:, 0] - values)
    # Rounding makes (m + 1) (1 - alpha) larger than a whole number that it is.
    rank = int(np.ceil((m + 1) * (1 - alpha) * (1 - 1e-12)))
    bound = np.sort(scores)[rank - 1] if rank <= m else np.inf
    if len(calibration.offsets):
        p = calibration.probabilities(decisions)
        # Left-out decisions are kept in float32.
        return (1 - p <= bound + 1e-6) | (p == p.max(axis=1, keepdims=True))
    return decisions + np.array([-bound, bound])
