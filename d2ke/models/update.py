# SPDX-License-Identifier: BSD-3-Clause
"""New labels for a trained model: their products are added to those that training has kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from d2ke._base.errors import ArgumentError
from d2ke._base.keywords import hinted
from d2ke._base.labels import check_order
from d2ke._base.progress import stages
from d2ke.learners.ridge import Ridge
from d2ke.models.model import D2KEModel
from d2ke.models.predict import checked
from d2ke.objects.container import span_of


@hinted
def d2ke_update(
    y: Sequence[Any] | np.ndarray,
    X: Any,
    model: D2KEModel,
    *,
    unseen_letters: str = "allow",
    n_threads: int | None = None,
    progress: bool | None = None,
) -> D2KEModel:
    """Add labelled objects to a model that was trained with ``keep_sums=True``.

    Random objects, gammas, shares, the scaling of features and C stay. Weights and offset are those
    of the ridge on all objects, old and new, with the same features and C. The training objects are
    not needed: the model has the sums of their products.

    Parameters
    ----------
    y : sequence of length n, or matrix of shape (n, k)
        The labels of X: classes of the model, real targets of a regression, or several labels.
    X : Objects or what `pack` takes
        n objects of the kind that the model was trained on.
    model : D2KEModel
        What ``d2ke_train(..., keep_sums=True)``, `d2ke_update` or `load_model` returned. It does
        not change.
    unseen_letters : {"allow", "refuse"}
        As for `d2ke_predict`.
    n_threads : int, optional
        Threads to use; None for all that this process may use.
    progress : bool, optional
        Whether to show progress; by default on a terminal or in a notebook, where work takes more
        than two seconds.

    Returns
    -------
    D2KEModel
        A new model. Its accuracy, confusion matrix, calibration and the objects that novelty
        compares with are those of `model`, from `d2ke_train`; `print` mentions this.

    Raises
    ------
    TypeError, ValueError
        A model without sums, a label that is not one of its classes, objects that `d2ke_predict`
        refuses.

    Warns
    -----
    UserWarning
        If strings have letters that no training string has.

    Notes
    -----
    The penalty of a weight is that of a feature divided by its deviation. The deviations are those
    of the objects that `d2ke_train` saw, as C was chosen for these: with new ones, the same C would
    be another penalty. Several updates give the model of one, up to rounding.

    Training replaces the features of its objects at random objects that are these objects. In new
    objects nothing is replaced, so do not add training objects again.

    Examples
    --------
    >>> import d2ke
    >>> model = d2ke.d2ke_train([0, 1] * 9, ["aab", "bba"] * 9, R=32, keep_sums=True)
    >>> updated = d2ke.d2ke_update([0, 1], ["abb", "baa"], model)
    >>> updated.n_train, updated.n_added
    (18, 2)
    >>> d2ke.d2ke_predict(None, ["aaab", "bbba"], updated)[0].tolist()
    [0, 1]
    """
    check_order(X, y=y)
    objects = checked(X, model, unseen_letters, n_threads, progress)
    if model.sums is None:
        raise ArgumentError(
            "model", "has no sums of products: train it with d2ke_train(..., keep_sums=True)"
        )
    values = model.task.encode(y, len(objects))
    sums = model.sums.copy()
    step = model.feature_map.rows_at_once(objects)
    for first in stages(range(0, len(objects), step), "objects", progress):
        rows = slice(first, min(first + step, len(objects)))
        Z = model.feature_map.unscaled(span_of(objects, rows.start, rows.stop), n_threads)
        sums.add(Z, model.task.columns(values[rows], sums.dtype), n_threads)
    scaling = model.scaling
    unit = scaling.sd * np.sqrt(model.R)
    ridge = Ridge.of(sums, unit)
    linear = model.task.linear_model(ridge, model.C)
    # The ridge's features have the mean of all objects, the model's that of the first ones.
    linear = replace(
        linear, bias=linear.bias + linear.weights @ ((scaling.mean - ridge.mean) / unit)
    )
    return replace(model, linear=linear, sums=sums, n_added=model.n_added + len(objects))
