# SPDX-License-Identifier: BSD-3-Clause
"""Linear classification by the loss that a search chose."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from d2ke._base.checks import choice, positive_number
from d2ke._base.keywords import hinted
from d2ke.learners.least_squares import train_least_squares
from d2ke.learners.linear_model import LinearModel
from d2ke.learners.solvers.liblinear import train

LOSSES = ("squared", "squared_hinge")


def hinge_can_pay(n: int, R: int) -> bool:
    """Return whether to try the squared hinge loss for n objects and R features.

    With fewer than 4 objects for each feature it takes many times as long as the squared loss, and
    is not better.
    """
    return n >= 4 * R


@hinted
def train_classifier(
    y: Sequence[Any] | np.ndarray,
    Z: Any,
    *,
    loss: str,
    C: float,
    n_threads: int | None = None,
) -> LinearModel:
    """Train a linear classifier with the loss and the C that `search` chose.

    Parameters
    ----------
    y : sequence of length n
        Class labels of any one type, as for `train`.
    Z : array_like or FeatureFile, shape (n, n_features)
        Feature vectors, scaled as in the search, see `Scaling`; float64 or float32. Those of a
        features file are read block by block.
    loss : {"squared", "squared_hinge"}
        `train_least_squares`; or `train` with ``-s 2 -e 0.01 -B 1`` and ``solver="block"``.
    C : float
        Weight of the losses, above 0.
    n_threads : int, optional
        Threads; None for all that this process may use. The model does not depend on it.

    Returns
    -------
    LinearModel
        For `predict`.

    Raises
    ------
    TypeError, ValueError
        As `train` and `train_least_squares`.

    Examples
    --------
    >>> import numpy as np
    >>> import d2ke
    >>> Z = np.array([[0.0, 1.0], [0.1, 0.8], [1.0, 0.0], [0.9, 0.2]])
    >>> y = ["left", "left", "right", "right"]
    >>> model = d2ke.train_classifier(y, Z, loss="squared_hinge", C=10.0)
    >>> d2ke.predict(y, Z, model)[1][0]
    100.0
    """
    C = positive_number("C", C)
    if choice("loss", loss, LOSSES) == "squared":
        return train_least_squares(y, Z, C, n_threads=n_threads)
    options = f"-s 2 -e 0.01 -B 1 -c {C!r} -q"
    return train(y, Z, options, solver="block", n_threads=n_threads)
