# SPDX-License-Identifier: BSD-3-Clause
"""New objects through a trained model: predictions, features, and updates by their labels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from d2ke._base.checks import choice, flag, integer
from d2ke._base.errors import ArgumentError, ArgumentTypeError, warn
from d2ke._base.keywords import hinted
from d2ke._base.labels import check_order
from d2ke._base.memory import check_fits
from d2ke._base.progress import check_progress, stages
from d2ke.distances.matrix import output_array
from d2ke.learners.ridge import Ridge
from d2ke.models.model import D2KEModel, check_model
from d2ke.objects.container import span_of


@hinted
def d2ke_predict(
    y: Sequence[Any] | np.ndarray | None,
    X: Any,
    model: D2KEModel,
    *,
    probability: bool = False,
    unseen_letters: str = "allow",
    n_threads: int | None = None,
    progress: bool | None = None,
) -> tuple[NDArray[Any], float, NDArray[np.float64]]:
    """Predict the labels of objects.

    Parameters
    ----------
    y : sequence of length n, or None
        The true labels, for the accuracy only; None if they are not known. For a
        multilabel model, a matrix as for `d2ke_train`.
    X : Objects or what `pack` takes
        n objects of the kind that the model was trained on; of a model of records, the same columns
        in any order.
    model : D2KEModel
        What `d2ke_train` or `load_model` returned.
    probability : bool
        Return probabilities instead of decision values; for classes only.
    unseen_letters : {"allow", "refuse"}
        What to do with letters that occur in no training string. "allow": they differ from every
        letter of the model, and a warning counts the strings that have some. "refuse": raise an
        error.
    n_threads : int, optional
        Threads to use; None for all that this process may use.
    progress : bool, optional
        Whether to show progress; by default on a terminal or in a notebook, where work takes more
        than two seconds.

    Returns
    -------
    labels : ndarray of shape (n,)
        Predicted labels in the type of ``model.classes``; predicted values of a regression.
        For multilabel models, an int64 array of 0 and 1, shape (n, k).
    accuracy : float
        Percent of correct labels; of a regression R^2; nan if y is None. For
        multilabel models, percent of the objects with all labels right.
    decisions : ndarray of float64, shape (n, k)
        One column for two classes, where a value above 0 means ``classes[1]``; one for each class
        for more, of which the largest wins; the predicted values of a regression. With
        `probability` the probabilities of ``model.classes``, of shape (n, n_classes), by
        ``model.calibration``.

    Raises
    ------
    TypeError, ValueError
        X of another kind, with other channels, other columns or a letter that is refused; y of
        another kind or length; probabilities of a regression.

    Warns
    -----
    UserWarning
        If strings are empty, or have letters that occur in no training string. If objects are far
        from all random objects: these all get nearly the same prediction.

    Notes
    -----
    The label is the most probable class, up to ties; it does not depend on `probability`.

    Examples
    --------
    >>> import d2ke
    >>> model = d2ke.d2ke_train([0, 1] * 9, ["aab", "bba"] * 9, R=32)
    >>> labels, accuracy, decisions = d2ke.d2ke_predict([0, 1], ["aaab", "bbba"], model)
    >>> labels.tolist(), accuracy, decisions.shape
    ([0, 1], 100.0, (2, 1))
    >>> P = d2ke.d2ke_predict(None, ["aaab", "bbba"], model, probability=True)[2]
    >>> P.argmax(axis=1).tolist(), P.sum(axis=1).round(9).tolist()
    ([0, 1], [1.0, 1.0])
    """
    check_order(X, y=y)
    objects = checked(X, model, unseen_letters, n_threads, progress)
    model.task.check_probability(flag("probability", probability))
    predicted, accuracy, decisions, _ = predict_objects(y, objects, model, n_threads, progress)
    if probability:
        decisions = model.calibration.probabilities(decisions)
    return predicted, accuracy, decisions


def predict_objects(
    y: Any,
    objects: Any,
    model: D2KEModel,
    n_threads: int | None,
    progress: bool | None,
    p_values: bool = False,
) -> tuple[np.ndarray, float, np.ndarray, np.ndarray | None]:
    """Return predictions, accuracy, decisions and p-values of `novelty` for checked objects.

    All results come from one pass over the features.
    """
    true = None if y is None else model.task.truth(y, len(objects))
    functions: list[Callable[[np.ndarray], np.ndarray]] = [model.linear.decide]
    if p_values:
        functions.append(partial(model.p_values, n_threads=n_threads))
    decisions, *p = model.map_features(objects, functions, n_threads, progress)
    predicted = model.task.predict(decisions)
    empty = np.flatnonzero(objects.lengths == 0) if model.alphabet is not None else np.empty(0)
    if len(empty):
        warn(
            f"X[{empty[0]}] is an empty string, one of {len(empty)}; all of them get "
            f"{predicted[empty[0]].tolist()!r}"
        )
    accuracy = float("nan") if true is None else model.task.score(true, predicted)
    return predicted, accuracy, decisions, p[0] if p else None


@hinted
def d2ke_transform(
    X: Any,
    model: D2KEModel,
    *,
    unseen_letters: str = "allow",
    n_threads: int | None = None,
    out: np.ndarray | None = None,
    progress: bool | None = None,
) -> NDArray[np.float32]:
    """Return vectors of objects, for any other method: the features of a model without labels.

    These are the features of all blocks but the supervised ones, the scores of pieces of strings.
    No vector depends on the label of its object, so cross-validation on the vectors of training
    objects is unbiased. The linear part of the model uses the supervised blocks too.

    Parameters
    ----------
    X : Objects or what `pack` takes
        n objects of the kind that the model was trained on; of a model of records, the same columns
        in any order.
    model : D2KEModel
        What `d2ke_train` or `load_model` returned.
    unseen_letters, n_threads
        As for `d2ke_predict`.
    out : ndarray of float32, shape (n, model.n_unsupervised), optional
        C-contiguous array to fill.
    progress : bool, optional
        As for `d2ke_predict`.

    Returns
    -------
    ndarray of float32, shape (n, model.n_unsupervised)
        Standardised features. Their inner products are the kernel of the blocks without labels,
        whose families have the weights that the model chose, divided by their sum. The mean of the
        kernel's diagonal is about 1 for new objects like many training objects. It is larger for
        the training objects themselves, which are at distance 0 of some random objects, and after
        few. Column j is called ``model.feature_names()[j]``.

    Raises
    ------
    TypeError, ValueError, MemoryError
        As `d2ke_predict`; an `out` that does not fit.

    Examples
    --------
    >>> import d2ke
    >>> model = d2ke.d2ke_train([0, 1] * 9, ["aab", "bba"] * 9, R=32)
    >>> Z = d2ke.d2ke_transform(["aaab", "bbba"], model)
    >>> Z.shape == (2, model.n_unsupervised), Z.shape[1] == len(model.feature_names())
    (True, True)
    """
    objects = checked(X, model, unseen_letters, n_threads, progress)
    if out is None:
        check_fits(
            4 * len(objects) * model.n_unsupervised,
            f"{model.n_unsupervised} features of {len(objects)} objects",
            "d2ke.write_features writes them to a file by blocks of rows",
        )
    Z = output_array(out, (len(objects), model.n_unsupervised), np.dtype(np.float32))
    if Z.dtype != np.float32:
        raise ArgumentTypeError("out", f"must be an ndarray of float32, got {Z.dtype}")
    for rows, features in model.unsupervised_map.by_blocks(objects, n_threads, progress):
        Z[rows] = features
    return Z


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

    Random objects, gammas, kernel weights, the scaling of features and C stay. Weights and offset
    are fitted by the ridge to all objects, old and new, with the same features and C. The training
    objects are not needed: the model has the sums of their products.

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
        A new model. Its accuracy, confusion matrix, calibration and the reference objects of
        novelty are copied from `model`; `print` mentions this.

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
    Weights are penalised for features divided by their deviations. The deviations stay as
    `d2ke_train` estimated them, as it chose C for them: with new deviations, the same C would be
    another penalty. Several updates give the model of one, up to rounding.

    Training replaces the features of its objects at random objects that are these objects. An
    update replaces nothing, so do not add training objects again.

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
        F = model.feature_map.unscaled(span_of(objects, rows.start, rows.stop), n_threads)
        sums.add(F, model.task.targets(values[rows], sums.dtype), n_threads)
    scaling = model.scaling
    ridge = Ridge.of(sums, scaling.divisor)
    linear = model.task.linear_model(ridge, model.C)
    # The ridge centres features by all objects, the model by the first ones.
    shift = (scaling.mean - ridge.mean) / scaling.divisor
    linear = replace(linear, bias=linear.bias + linear.weights @ shift)
    return replace(model, linear=linear, sums=sums, n_added=model.n_added + len(objects))


def checked(X: Any, model: Any, unseen_letters: Any, n_threads: Any, progress: Any) -> Any:
    """Check the common arguments of functions of a model; return packed objects."""
    check_model(model)
    choice("unseen_letters", unseen_letters, ("allow", "refuse"))
    check_progress(progress)
    if n_threads is not None:
        integer("n_threads", n_threads, 1)
    return model.check_objects(X, unseen_letters)
