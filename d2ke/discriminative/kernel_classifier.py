# SPDX-License-Identifier: BSD-3-Clause
"""The kernel classifier that discriminative similarity is derived from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from d2ke._base import arrays, labels
from d2ke._base.checks import choice
from d2ke._base.errors import ArgumentError, ArgumentTypeError
from d2ke._base.keywords import hinted
from d2ke._base.results import result
from d2ke.discriminative.kernel_input import KernelInput, read_lam
from d2ke.discriminative.similarity_graph import FeatureKernel, indicators

# The leading coefficient of the weights' quadratic program for each risk.
CURVATURES = {"margin": 2.0, "ise": 1.0}


@result
class KernelClassifier:
    """A kernel classifier: the class with the largest sum of weighted similarities wins.

    Attributes
    ----------
    classes : ndarray of shape (n_classes,)
        The distinct labels in sorted order.
    alpha : ndarray of float64, shape (n,)
        Weights of the training objects, >= 0, with sum 1.
    codes : ndarray of int64, shape (n,)
        Positions of their labels in `classes`.
    objective : float
        The minimum that training reached.
    lam : float
        Its weight of the quadratic term.
    coef : ndarray of float64, shape (n, n_classes) or (R, n_classes)
        Scores are the similarities to the training objects (or the features) times `coef`.
    from_features : bool
        Whether it was trained on features.
    """

    classes: np.ndarray
    alpha: np.ndarray = field(repr=False)
    codes: np.ndarray = field(repr=False)
    objective: float
    lam: float
    coef: np.ndarray = field(repr=False)
    from_features: bool


@hinted
def kernel_classifier_fit(
    K: Any = None,
    y: Sequence[Any] | np.ndarray | None = None,
    *,
    features: Any = None,
    lam: float | None = None,
    similarity: str = "psd",
    risk: str = "margin",
) -> KernelClassifier:
    """Train the kernel classifier h(x, y) = sum of alpha_i K(x, x_i) over y_i = y.

    Over alpha >= 0 with sum 1 it minimises, for the risk "margin",

        sum_{i<j, y_i != y_j} 2 (alpha_i + alpha_j) K_ij - sum_ij (alpha_i + alpha_j) K_ij / 2
            + lam sum_y alpha^(y)' K alpha^(y),

    the bound of its empirical risk and a penalty; alpha^(y) has the weights of class y.

    Parameters
    ----------
    K : array_like, shape (n, n)
        Gram matrix of the training objects; or a symmetric similarity, see `similarity`.
    y : sequence of length n
        Their labels, of any one type; at least two classes.
    features : array_like, shape (n, R), optional
        Instead of K: features Z, as of `d2ke_embed`, for K = Z Z', which is never formed.
    lam : float, optional
        Weight of the quadratic term, > 0; default n / 2. With values near 1, nearly all weight is
        on few objects.
    similarity : {"psd", "general"}
        "general": K may be indefinite, and |K| replaces it in the quadratic term.
    risk : {"margin", "ise"}
        "ise": the integrated squared error of kernel density classification instead of the
        margins; the penalty is lam (alpha'K alpha / 2 - 2 sum_{i<j, y_i != y_j} alpha_i alpha_j
        K_ij).

    Returns
    -------
    KernelClassifier
        For `kernel_classifier_predict`.

    Raises
    ------
    TypeError
        Neither or both of K and features, no y, or values of a wrong type.
    ValueError
        K not symmetric, values that are not finite, lengths that differ, one class only, lam out
        of range, or an object whose similarities are all 0.
    MemoryError
        If the call would take more than there is; see docs/memory.md.

    References
    ----------
    Yang, Liang, Jojic, Yan, Feng, Huang, "Discriminative Similarity for Clustering and
    Semi-Supervised Learning", 2017, eqs. (1), (8), sections 4 and 5.

    Examples
    --------
    >>> import d2ke
    >>> X = [[0.0], [1.0], [4.0], [5.0]]
    >>> K = d2ke.discriminative.gaussian_gram(X, h=1.0)
    >>> model = d2ke.discriminative.kernel_classifier_fit(K, ["low", "low", "high", "high"])
    >>> K_new = d2ke.discriminative.gaussian_gram([[0.5], [4.2]], X, h=1.0)
    >>> d2ke.discriminative.kernel_classifier_predict(model, K_new)[0].tolist()
    ['low', 'high']
    """
    choice("risk", risk, CURVATURES)
    if y is None:
        raise ArgumentTypeError("y", "is needed, the labels")
    for values in (K, features):
        labels.check_order(values, y=y)
    classes, codes = labels.encode_classes("y", y)
    source = KernelInput(K, features=features, similarity=similarity)
    kernel = source.read()
    labels.same_length("y", codes, source.names()[0], kernel.n)
    lam = read_lam(lam, kernel.n)
    problem = kernel.hard(codes, 0.5, lam, CURVATURES[risk])
    alpha = problem.solve(np.full(kernel.n, 1 / kernel.n), 1000)  # products with the features
    coef = alpha[:, None] * indicators(codes)
    if isinstance(kernel, FeatureKernel):
        coef = kernel.Z.T @ coef
    return KernelClassifier(
        classes, alpha, codes, problem.objective(alpha), lam, coef, features is not None
    )


@hinted
def kernel_classifier_predict(
    model: KernelClassifier, K_new: Any = None, *, features: Any = None
) -> tuple[NDArray[Any], NDArray[np.float64]]:
    """Predict with a kernel classifier.

    Parameters
    ----------
    model : KernelClassifier
        From `kernel_classifier_fit`.
    K_new : array_like, shape (m, n)
        Similarities of m objects to the n training objects, for a model of a matrix K.
    features : array_like, shape (m, R)
        The objects' features, for a model of features.

    Returns
    -------
    labels : ndarray of shape (m,)
        Predicted labels; among classes with equal scores the first.
    scores : ndarray of float64, shape (m, n_classes)
        h(x, y), columns in the order of ``model.classes``.

    Raises
    ------
    TypeError
        If `model` is not a KernelClassifier, or the input is not of the model's form.
    ValueError
        If the number of columns does not fit, or a value is not finite.

    References
    ----------
    Yang, Liang, Jojic, Yan, Feng, Huang, "Discriminative Similarity for Clustering and
    Semi-Supervised Learning", 2017, eq. (1).

    Examples
    --------
    >>> import d2ke
    >>> Z = [[1.0, 0.0], [0.9, 0.1], [0.0, 1.0]]
    >>> model = d2ke.discriminative.kernel_classifier_fit(features=Z, y=[0, 0, 1])
    >>> d2ke.discriminative.kernel_classifier_predict(model, features=[[0.2, 0.7]])[0].tolist()
    [1]
    """
    if not isinstance(model, KernelClassifier):
        raise ArgumentTypeError("model", f"must be a KernelClassifier, got {type(model).__name__}")
    name, values, other = "K_new", K_new, features
    if model.from_features:
        name, values, other = "features", features, K_new
    if values is None or other is not None:
        raise TypeError(f"the model needs {name} only, the form of input that it was trained on")
    rows = arrays.matrix(name, values)
    if rows.shape[1] != len(model.coef):
        raise ArgumentError(
            name, f"has {rows.shape[1]} columns, but the model has {len(model.coef)}"
        )
    scores = rows @ model.coef
    return model.classes[scores.argmax(axis=1)], scores
