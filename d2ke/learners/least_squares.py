# SPDX-License-Identifier: BSD-3-Clause
"""Linear classification by least squares, in closed form."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from d2ke._base import arrays, labels
from d2ke._base.blas import one_blas_thread, square
from d2ke._base.checks import positive_number
from d2ke._base.errors import ArgumentError
from d2ke.io.rows import StoredRows, stored
from d2ke.learners.linear_model import LinearModel, one_vs_rest_signs


def train_least_squares(
    y: Sequence[Any] | np.ndarray,
    Z: Any,
    C: float = 1.0,
    *,
    bias: float | None = 1.0,
    n_threads: int | None = None,
) -> LinearModel:
    """Train a linear classifier by least squares: each class against the rest, in closed form.

    For every class it minimises |w|^2 / 2 + C sum_i (s_i - w.z_i)^2 with s_i = 1 for the rows of
    the class and -1 for all others, which is LIBLINEAR's ``-s 11 -p 0`` on these signs. Against
    the squared hinge loss of `train`'s ``-s 2`` it is often as accurate where there are few
    training rows for each feature, and less so where there are many.

    Parameters
    ----------
    y : sequence of length n
        Class labels of any one type, as for `train`.
    Z : array_like, path or FeatureFile, shape (n, n_features)
        Feature vectors; float64 or float32, computed with in float64. Those of a features file
        are read block by block.
    C : float, default 1.0
        Weight of the losses, above 0.
    bias : float or None, default 1.0
        Value above 0 of one more (penalised) feature of each row, LIBLINEAR's ``-B``; None for no
        such feature.
    n_threads : int, optional
        Threads for the matrix products; None for all that this process may use. The model does
        not depend on it.

    Returns
    -------
    LinearModel
        For `predict`; its `solver` is 11.

    Raises
    ------
    TypeError
        If `y`, `Z` or an argument is of a wrong type, or `Z` is sparse.
    ValueError
        If a value is not finite, lengths differ, there is only one class, C is out of range, or
        rounding leaves no solution: with features that depend on each other and a C beyond 1e12,
        say.

    References
    ----------
    Hastie, Tibshirani, Friedman, "The Elements of Statistical Learning", 2009, sections 4.2
    and 3.4.1.

    Examples
    --------
    >>> import numpy as np
    >>> import d2ke
    >>> Z = np.array([[0.0, 1.0], [0.1, 0.8], [1.0, 0.0], [0.9, 0.2]])
    >>> model = d2ke.train_least_squares(["left", "left", "right", "right"], Z, C=10.0)
    >>> d2ke.predict(None, np.array([[0.2, 0.9]]), model)[0].tolist()
    ['left']
    """
    C = positive_number("C", C)
    constant = 0.0 if bias is None else positive_number("bias", bias)
    Z = stored("Z", Z)
    features = Z if isinstance(Z, StoredRows) else arrays.matrix("Z", Z)
    if 0 in features.shape:
        raise ArgumentError("Z", f"must have rows and columns, got shape {features.shape}")
    classes, codes = labels.encode_classes("y", y)
    labels.same_length("y", codes, "Z", len(features))
    n, R = features.shape
    solve = _by_features if n > R else _by_rows
    signs = one_vs_rest_signs(codes, len(classes))
    if solve is _by_rows and isinstance(features, StoredRows):
        features = features[:]  # about as large as the matrix of products
    with one_blas_thread(), np.errstate(over="ignore", invalid="ignore"):
        weights = solve(features, signs, C, constant, n_threads)
    return LinearModel(
        np.ascontiguousarray(weights[:-1].T),
        None if bias is None else constant * weights[-1],
        classes,
        11,
        f"-s 11 -p 0 -c {C!r}" + ("" if bias is None else f" -B {constant!r}"),
    )


def _by_features(
    Z: np.ndarray, signs: np.ndarray, C: float, constant: float, n_threads: int
) -> np.ndarray:
    """Solve (Z'Z + 1 / 2C) W = Z' S, Z having the bias as its last column."""
    columns = (Z, np.full((len(Z), 1), constant), signs)
    products = square(lambda rows: np.hstack([part[rows] for part in columns]), len(Z), n_threads)
    k = Z.shape[1] + 1
    return _solve(products[:k, :k], products[:k, k:], C)


def _by_rows(
    Z: np.ndarray, signs: np.ndarray, C: float, constant: float, n_threads: int
) -> np.ndarray:
    """Solve (Z Z' + 1 / 2C) A = S; then W = Z' A."""
    products = square(lambda columns: Z[:, columns].T, Z.shape[1], n_threads) + constant**2
    A = _solve(products, signs, C)
    return np.vstack([Z.T @ A, constant * A.sum(axis=0)])


def _solve(products: np.ndarray, sides: np.ndarray, C: float) -> np.ndarray:
    """Solve (products + 1 / 2C) x = sides."""
    if not np.isfinite(products).all():
        raise ValueError("the values of Z are too large: products of them are not finite")
    if not np.isfinite(0.5 / C):
        raise ArgumentError("C", f"= {C:g} is too small: 1 / (2 C) is not finite")
    products[np.diag_indices_from(products)] += 0.5 / C
    try:
        return cho_solve(cho_factor(products, check_finite=False), sides)
    except LinAlgError:
        raise ArgumentError(
            "C",
            f"= {C:g} is too large for these features: rounding leaves no solution; "
            "use a smaller C, or scale Z",
        ) from None
