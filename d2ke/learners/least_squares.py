# SPDX-License-Identifier: BSD-3-Clause
"""Linear classification by least squares, in closed form."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from d2ke._base import arrays, labels
from d2ke._base.blas import ROWS, one_blas_thread, square
from d2ke._base.checks import positive_number
from d2ke._base.errors import ArgumentError
from d2ke._base.keywords import hinted
from d2ke._base.rows import StoredRows, stored
from d2ke.learners.linear_model import LinearModel
from d2ke.learners.ridge import RidgeSums, class_indicators, product_type
from d2ke.objects.values import channel_names, column_names


@hinted
def train_least_squares(
    y: Sequence[Any] | np.ndarray,
    Z: Any,
    C: float = 1.0,
    *,
    n_threads: int | None = None,
) -> LinearModel:
    """Train a linear one-vs-rest classifier by least squares, in closed form.

    For every class it minimises |w|^2 / 2 + C sum_i (s_i - b - w.z_i)^2 with s_i = 1 for the rows
    of the class and -1 for all others. The offset b has no penalty, so shifted
    features give the same model. With few training rows for each feature it is often as accurate
    as the squared hinge loss (``-s 2`` of `train`), with many less so.

    Parameters
    ----------
    y : sequence of length n
        Class labels of any one type, as for `train`.
    Z : array_like or FeatureFile, shape (n, n_features)
        Feature vectors, float64 or float32. A FeatureFile of `io.open_features` is read block by
        block. Products are computed in float64, or in float32 if there are very many and C is not
        too large; their sums are float64.
    C : float, default 1.0
        Weight of the losses, above 0.
    n_threads : int, optional
        Threads for the matrix products; None for all that this process may use.

    Returns
    -------
    LinearModel
        For `predict`; its `solver` is 11, LIBLINEAR's number of this loss, and ``-B 1`` in its
        `options` marks an offset (LIBLINEAR penalises the square of it).

    Raises
    ------
    TypeError
        If `y`, `Z` or an argument is of a wrong type, or `Z` is sparse.
    ValueError
        If a value is not finite, lengths differ, there is only one class, C is out of range, or
        rounding leaves no solution, for example with features that depend on each other and a C
        beyond 1e12.

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
    C, names = positive_number("C", C), channel_names(column_names(Z), "Z")
    if not np.isfinite(0.5 / C):
        raise ArgumentError("C", f"= {C:g} is too small: 1 / (2 C) is not finite")
    Z = stored("Z", Z)
    features = Z if isinstance(Z, StoredRows) else arrays.matrix("Z", Z)
    if 0 in features.shape:
        raise ArgumentError("Z", f"must have rows and columns, got shape {features.shape}")
    labels.check_order(Z, "Z.index", y=y)
    classes, codes = labels.encode_classes("y", y)
    labels.same_length("y", codes, "Z", len(features))
    n, R = features.shape
    T = class_indicators(codes, len(classes))
    with one_blas_thread(), np.errstate(over="ignore", invalid="ignore"):
        if n > R:
            weights, offsets = _by_features(features, T, C, n_threads)
        else:  # in memory, where they take no more than the products of features
            weights, offsets = _by_rows(features[:], T, C, n_threads)
    # From indicators to signs.
    options = f"-s 11 -p 0 -c {C!r} -B 1"
    weights, offsets = 2 * weights, 2 * offsets - 1
    return LinearModel(weights, offsets, classes, 11, options, False, "ridge", names)


def _by_features(Z: Any, T: Any, C: float, n_threads: int | None) -> tuple[np.ndarray, np.ndarray]:
    """Solve (Z'Z + 1 / (2 C)) W = Z'T for centred features; return weights and offsets."""
    (n, R), k = Z.shape, T.shape[1]
    first = Z[:ROWS]
    dtype = product_type(n, R)
    # Float32 products err by 1e-6 of the sum of the squares of all features.
    if 1e-6 * n * first.var(axis=0, dtype=np.float64).sum() > 0.5 / C:
        dtype = np.dtype(np.float64)
    sums = RidgeSums.empty(first.mean(axis=0, dtype=np.float64), np.ones(R), np.zeros(k), dtype)
    for begin in range(0, n, ROWS):
        rows = slice(begin, begin + ROWS)
        sums.add(Z[rows], T[rows], n_threads)
    products, crossed = sums.centred()
    weights = np.ascontiguousarray(_solve(products, crossed, C).T)
    return weights, sums.target_mean - weights @ sums.mean


def _by_rows(
    Z: np.ndarray, T: Any, C: float, n_threads: int | None
) -> tuple[np.ndarray, np.ndarray]:
    """Solve (ZZ' + 1 / (2 C)) A = T for centred rows; then W = Z'A."""
    mean, target_mean = Z.mean(axis=0, dtype=np.float64), T.mean(axis=0)
    values = Z - mean
    products = square(lambda columns: values[:, columns].T, len(mean), n_threads)
    weights = _solve(products, T.toarray() - target_mean, C).T @ values
    return weights, target_mean - weights @ mean


def _solve(products: np.ndarray, sides: np.ndarray, C: float) -> np.ndarray:
    """Solve (products + 1 / (2 C)) x = sides; only the upper part of products is valid."""
    if not np.isfinite(products).all():
        raise ValueError("the values of Z are too large: products of them are not finite")
    products[np.diag_indices_from(products)] += 0.5 / C
    try:
        return cho_solve(cho_factor(products, check_finite=False), sides)
    except LinAlgError:
        raise ArgumentError(
            "C",
            f"= {C:g} is too large for these features: rounding leaves no solution; "
            "use a smaller C, or scale Z",
        ) from None
