# SPDX-License-Identifier: BSD-3-Clause
"""Kernel machines and their predictions: products with the support vectors' coefficients."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from d2ke._base import arrays
from d2ke._base import labels as class_labels
from d2ke._base.errors import ArgumentError, ArgumentTypeError
from d2ke._base.keywords import hinted
from d2ke._base.results import result
from d2ke._base.rows import feature_rows

PRECOMPUTED = 4  # option -t
SVM_REGRESSIONS = (3, 4)  # option -s


class SVMKernel(NamedTuple):
    """A kernel function: type as in option ``-t``, and its parameters."""

    type: int
    degree: int
    gamma: float
    coef0: float


@result
class SVMModel:
    """A trained kernel machine: plain arrays, independent of LIBSVM and of the training data.

    Attributes
    ----------
    support : ndarray of int64, shape (n_support,)
        Indices of the support vectors among the training rows, class by class.
    coef : ndarray of float64, shape (n_classes - 1, n_support) or (1, n_support)
        Coefficients. The machine that separates the classes a < b has row b - 1 for support
        vectors of class a, and row a for support vectors of class b.
    rho : ndarray of float64, shape (n_pairs,) or (1,)
        Subtracted from the decision values.
    classes : ndarray of shape (n_classes,), or None
        The distinct labels in sorted order, in their own type; None for a regression.
    n_support : ndarray of int64, shape (n_classes,), or None
        Number of support vectors of each class; None for a regression.
    n_columns : int
        Number of columns that `svmpredict` needs: training objects for a precomputed kernel, else
        features.
    vectors : ndarray or csr_array, shape (n_support, n_columns), or None
        The support vectors; None for a precomputed kernel.
    kernel : SVMKernel
        Type, degree, gamma and coef0.
    svm_type : int
        LIBSVM's option ``-s``.
    options : str
        The option string that the model was trained with.

    Examples
    --------
    >>> import numpy as np
    >>> from d2ke import svmtrain
    >>> X = np.array([[-2.0], [-1.0], [1.0], [2.0]])
    >>> model = svmtrain(["no", "no", "yes", "yes"], X @ X.T, "-t 4 -c 10")
    >>> model.support.tolist(), model.classes.tolist()
    ([1, 2], ['no', 'yes'])
    """

    support: np.ndarray = field(repr=False)
    coef: np.ndarray = field(repr=False)
    rho: np.ndarray = field(repr=False)
    classes: np.ndarray | None
    n_support: np.ndarray | None = field(repr=False)
    n_columns: int
    vectors: np.ndarray | sparse.csr_array | None = field(repr=False)
    kernel: SVMKernel
    svm_type: int
    options: str


@hinted
def svmpredict(
    y: Sequence[Any] | np.ndarray | None,
    K: Any,
    model: SVMModel,
) -> tuple[NDArray[Any], tuple[float, float, float], NDArray[np.float64]]:
    """Predict with a kernel machine, and compare with the true labels.

    Parameters
    ----------
    y : sequence of length m, or None
        The true labels (or targets), for the accuracy only; None if they are not known. Labels
        that the model has never seen count as wrongly predicted.
    K : array_like of shape (m, n), or feature vectors (m, n_features)
        For a precomputed kernel, its values between the m objects (rows) and all n training
        objects (columns); for another kernel, the vectors.
    model : SVMModel
        What `svmtrain` or `load_model` returned.

    Returns
    -------
    labels : ndarray of shape (m,)
        Predicted labels in the type of ``model.classes``; predicted values of a regression.
    accuracy : tuple of three floats
        Percentage of correct labels, mean squared error, squared correlation coefficient. All
        nan if `y` is None; the last two nan for strings; the first nan for a regression; the
        correlation nan where one side is constant.
    decision : ndarray of float64, shape (m, n_pairs)
        One column for each pair of classes a < b: (0, 1), (0, 2), ..., (1, 2), ... in the order
        of ``model.classes``. A value above 0 is a vote for b, any other for a; the class with
        most votes wins, of several the first. Two classes have one column, as in
        `d2ke.learners.linear_model.predict`; so has a regression.

    Raises
    ------
    TypeError
        If `model` is not an SVMModel, or `y` is of another kind than the model's labels.
    ValueError
        If the number of columns or of labels does not fit, or a value is not finite.

    Examples
    --------
    >>> import numpy as np
    >>> from d2ke import svmpredict, svmtrain
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> model = svmtrain([0.0, 2.0, 4.0, 6.0], X, "-s 3 -t 0 -c 100 -p 0.001")
    >>> values, (_, mse, scc), _ = svmpredict([3.0, 8.0], np.array([[1.5], [4.0]]), model)
    >>> values.round(2).tolist(), round(scc, 3)
    ([3.0, 8.0], 1.0)
    """
    if not isinstance(model, SVMModel):
        raise ArgumentTypeError("model", f"must be an SVMModel, got {type(model).__name__}")
    gram = arrays.matrix("K", K) if model.kernel.type == PRECOMPUTED else None
    data = feature_rows("K", K) if gram is None else gram
    n_rows, n_columns = data.shape
    if n_columns != model.n_columns:
        kind = "features" if gram is None else "training objects"
        raise ArgumentError(
            "K", f"has {n_columns} columns, but the model has {model.n_columns} {kind}"
        )
    true = class_labels.truth(y, model.classes, "K", n_rows)

    values = _kernel(data, model.vectors, model.kernel) if gram is None else gram[:, model.support]
    if model.classes is None or model.n_support is None:
        decision = values @ model.coef.T - model.rho
        labels = decision[:, 0].copy()
    else:
        decision = _pairwise(values, model, model.n_support)
        labels = model.classes[_vote(decision, len(model.classes))]
    return labels, class_labels.accuracy(true, labels, model.classes), decision


def _kernel(data: Any, vectors: Any, kernel: SVMKernel) -> np.ndarray:
    """Return the kernel's values between the rows of `data` and the support vectors."""
    product = data @ vectors.T.astype(np.float64)
    if sparse.issparse(product):
        product = product.toarray()
    if kernel.type == 0:
        return product
    if kernel.type == 2:
        squared = _squares(data)[:, None] + _squares(vectors) - 2 * product
        return np.exp(-kernel.gamma * np.maximum(squared, 0))
    inner = kernel.gamma * product + kernel.coef0
    return inner**kernel.degree if kernel.type == 1 else np.tanh(inner)


def _squares(data: Any) -> np.ndarray:
    if sparse.issparse(data):
        return np.asarray(data.astype(np.float64).power(2).sum(axis=1)).ravel()
    return np.einsum("ij,ij->i", data, data, dtype=np.float64)


def _pairwise(values: np.ndarray, model: SVMModel, n_support: np.ndarray) -> np.ndarray:
    """Return the decision values of all pairs: one product for each class's support vectors."""
    ends = np.cumsum(n_support)
    by_class = [
        values[:, low:high] @ model.coef[:, low:high].T
        for low, high in zip(ends - n_support, ends, strict=True)
    ]
    decision = np.empty((len(values), len(model.rho)))
    for column, (a, b) in enumerate(combinations(range(len(by_class)), 2)):
        decision[:, column] = by_class[a][:, b - 1] + by_class[b][:, a] - model.rho[column]
    return decision


def _vote(decision: np.ndarray, n_classes: int) -> np.ndarray:
    """Return the class with most votes, the first of several."""
    votes = np.zeros((len(decision), n_classes), np.intp)
    for column, (a, b) in enumerate(combinations(range(n_classes), 2)):
        later = decision[:, column] > 0
        votes[:, b] += later
        votes[:, a] += ~later
    return votes.argmax(axis=1)
