# SPDX-License-Identifier: BSD-3-Clause
"""Linear models and their predictions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import expit, log_expit

from d2ke._base import arrays
from d2ke._base import labels as class_labels
from d2ke._base.checks import flag
from d2ke._base.errors import ArgumentError, ArgumentTypeError
from d2ke._base.keywords import hinted
from d2ke._base.results import result
from d2ke._base.rows import feature_rows
from d2ke.objects.compatibility import columns_in_order


@result
class LinearModel:
    """A trained linear model: plain arrays, independent of LIBLINEAR.

    Attributes
    ----------
    weights : ndarray of float64, shape (n_rows, n_features)
        One row per class, in the order of `classes`; a single row for two classes (except
        Crammer and Singer's method, ``-s 4``, which has two) and for a regression.
    bias : ndarray of float64, shape (n_rows,), or None
        Added to the products with `weights`; None without option ``-B``.
    classes : ndarray of shape (n_classes,), or None
        The distinct labels in sorted order, in their own type; None for a regression. For
        multilabel models, the names of the labels in the order of the columns.
    solver : int
        LIBLINEAR's solver number, option ``-s``.
    options : str
        The option string that the model was trained with.
    multilabel : bool
        Whether an object may have several labels, each by a row of its own, or none.
    method : str
        What minimised the loss: "liblinear"; "block", the Newton method of ``solver="block"``;
        or "ridge", the linear equations of the squared loss.
    feature_names : tuple of str, or None
        The columns of the training frame; columns of a frame to predict are matched by name.

    Examples
    --------
    >>> import numpy as np
    >>> from d2ke.learners.linear_model import LinearModel
    >>> model = LinearModel(np.array([[1.0, -1.0]]), None, np.array(["no", "yes"]), 2, "-s 2")
    >>> model.n_features
    2
    """

    weights: np.ndarray = field(repr=False)
    bias: np.ndarray | None = field(repr=False)
    classes: np.ndarray | None
    solver: int
    options: str
    multilabel: bool = False
    method: str = "liblinear"
    feature_names: tuple[str, ...] | None = None

    @property
    def n_features(self) -> int:
        """Number of features the model was trained on."""
        return self.weights.shape[1]

    def decide(self, features: Any) -> np.ndarray:
        """Return the decision values of checked features, float64 of shape (n, n_rows)."""
        decision = np.empty((features.shape[0], len(self.weights)))
        if not sparse.issparse(features):
            # By blocks, so that float32 features are not copied to float64 as a whole.
            for rows in arrays.row_blocks(features.shape):
                np.matmul(features[rows], self.weights.T, out=decision[rows])
        else:
            decision[:] = features @ self.weights.T
        if self.bias is not None:
            decision += self.bias
        return decision


def one_vs_rest_signs(codes: np.ndarray, n_classes: int) -> np.ndarray:
    """Return a column of signs for each class, 1 for its rows and -1 for all others.

    With two classes only the second one has a column.
    """
    return np.where(
        codes[:, None] == np.arange(n_classes)[-n_classes if n_classes > 2 else -1 :], 1.0, -1.0
    )


def winners(decision: np.ndarray) -> np.ndarray:
    """Return the class with the largest value in each row; of one column, 1 where it is above 0."""
    return (decision[:, 0] > 0).astype(np.intp) if decision.shape[1] == 1 else decision.argmax(1)


@hinted
def predict(
    y: Sequence[Any] | np.ndarray | None,
    Z: Any,
    model: LinearModel,
    *,
    probability: bool = False,
) -> tuple[NDArray[Any], tuple[float, float, float], NDArray[np.float64]]:
    """Predict with a linear model, and compare with the true labels.

    Parameters
    ----------
    y : sequence of length n, or None
        The true labels (or targets), for the accuracy only; None if they are not known. Labels
        that the model has never seen count as wrongly predicted.
    Z : array_like, scipy sparse or FeatureFile, shape (n, n_features)
        Feature vectors; a FeatureFile of `io.open_features` is read block by block.
    model : LinearModel
        What `train` or `load_model` returned.
    probability : bool, default False
        Return class probabilities instead of decision values; logistic solvers (0, 6, 7) only.

    Returns
    -------
    labels : ndarray of shape (n,)
        Predicted labels in the type of ``model.classes``; predicted values of a regression.
    accuracy : tuple of three floats
        Percentage of correct labels, mean squared error, squared correlation coefficient. All
        nan if `y` is None; the last two nan for strings; the first nan for a regression; the
        correlation nan where one side is constant.
    decision : ndarray of float64
        With probability: shape (n, n_classes), columns in the order of ``model.classes``.
        Otherwise the decision values: shape (n, 1) for two classes, where a value above 0 means
        ``classes[1]`` and any other ``classes[0]``; shape (n, n_classes) for more, columns in
        the order of ``classes``, the first of the largest values wins (``-s 4`` has this form
        for two classes also); shape (n, 1) for a regression.

    Raises
    ------
    TypeError
        If `model` is not a LinearModel, or `y` is of another kind than the model's labels.
    ValueError
        If the number of features or of labels does not fit, or a value is not finite.

    Examples
    --------
    >>> import numpy as np
    >>> from d2ke import predict, train
    >>> model = train([1, 1, 3, 3], np.array([[0.0], [1.0], [4.0], [5.0]]), "-s 0 -B 1 -c 100")
    >>> labels, _, decision = predict(None, np.array([[0.5], [4.5]]), model)
    >>> labels.tolist(), (decision[:, 0] > 0).tolist()
    ([1, 3], [False, True])
    """
    if not isinstance(model, LinearModel):
        raise ArgumentTypeError("model", f"must be a LinearModel, got {type(model).__name__}")
    if flag("probability", probability) and model.solver not in (0, 6, 7):
        raise ArgumentError(
            "probability", f"needs a logistic solver, -s 0, 6 or 7, not {model.solver}"
        )
    if model.multilabel:
        raise ArgumentError("model", "has several labels an object: use d2ke_predict")
    features = feature_rows("Z", columns_in_order(Z, model.feature_names, "Z"))
    n_rows, n_features = features.shape
    if n_features != model.n_features:
        raise ArgumentError("Z", f"has {n_features} features, but the model has {model.n_features}")
    true = class_labels.truth(y, model.classes, "Z", n_rows)

    decision = model.decide(features)
    labels = decision[:, 0].copy() if model.classes is None else model.classes[winners(decision)]
    accuracy = class_labels.accuracy(true, labels, model.classes)
    return labels, accuracy, _probabilities(decision) if probability else decision


def _probabilities(decision: np.ndarray) -> np.ndarray:
    """Return LIBLINEAR's estimates: logistic functions, normalised over more than two classes."""
    if decision.shape[1] == 1:
        return np.hstack([expit(-decision), expit(decision)])
    # Relative to the largest: far from all classes, the logistic functions themselves underflow.
    logs = log_expit(decision)
    estimates = np.exp(logs - logs.max(axis=1, keepdims=True))
    return estimates / estimates.sum(axis=1, keepdims=True)
