# SPDX-License-Identifier: BSD-3-Clause
"""Centring and scaling of features, fitted on training rows only.

D2KE features lie in (0, 1/sqrt(R)] and hardly vary. Unscaled, a penalised linear model needs a very
large C. Centred and scaled, one range of C suits every gamma and R.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from d2ke._base import arrays
from d2ke._base.blas import row_products
from d2ke._base.checks import choice
from d2ke._base.errors import ArgumentError
from d2ke._base.results import result
from d2ke._base.rounding import constant, plain_deviations, rank_rounding
from d2ke._base.rows import StoredRows, stored

SCALINGS = ("standard", "center", "none")
_RUN = 4096  # rows scaled at a time in float64
_IN_CACHE = 1 << 17  # differences of rows from their mean, float64, that stay in the cache


@result
class Scaling:
    """Z -> (Z - mean) / divisor, column by column.

    Attributes
    ----------
    mean : ndarray of float64, shape (R,)
        Means of the training rows, or 0.
    divisor : ndarray of float64, shape (R,)
        The standard deviations of the training rows times sqrt(R), so that scaled rows have the
        mean square 1; by the kind of scaling.
    """

    mean: np.ndarray
    divisor: np.ndarray

    @classmethod
    def fit(cls, Z: Any, kind: str = "standard") -> Scaling:
        """Compute means and standard deviations of training features, shape (n, R).

        ``"standard"``: mean and deviation of each column; 1 for the deviation of a column that is
        constant to rounding, with a deviation of at most 4 eps of the largest absolute value (eps
        of the type of Z); ``"center"``: the mean of each column, and the root mean square of all
        deviations; ``"none"``: 0 and 1.

        Z may be what `d2ke.io.open_features` returns, which is read block by block.
        """
        Z = stored("Z", Z)
        if not isinstance(Z, StoredRows):
            Z = arrays.matrix("Z", Z)
        arrays.check_filled("Z", Z)
        R = Z.shape[1]
        if choice("scaling", kind, SCALINGS) == "none":
            return cls(np.zeros(R), np.ones(R))
        mean, deviation, largest = moments(Z)
        dtype = Z.dtype if Z.dtype.kind == "f" else np.float64
        if kind == "standard":
            return cls(mean, plain_deviations(deviation, largest, dtype) * np.sqrt(R))
        deviation = np.where(constant(deviation, largest, dtype), 0.0, deviation)
        return cls(mean, np.full(R, np.sqrt(np.mean(deviation**2)) or 1.0) * np.sqrt(R))

    def apply(self, Z: Any) -> Any:
        """Return scaled features of the shape and type of Z (integers become float64).

        Rows of a FeatureFile of `d2ke.io.open_features` are scaled on access. `train` and similar
        functions take it instead of an array.
        """
        Z = stored("Z", Z)
        if isinstance(Z, StoredRows):
            return Z.mapped(self.apply)
        Z = arrays.matrix("Z", Z)
        if Z.shape[1] != len(self.mean):
            raise ArgumentError("Z", f"has {Z.shape[1]} columns; the scaling has {len(self.mean)}")
        dtype = Z.dtype if Z.dtype.kind == "f" else np.dtype(np.float64)
        return self.scale(Z, np.empty(Z.shape, dtype))

    def scale(self, Z: np.ndarray, out: np.ndarray) -> np.ndarray:
        """Write checked features, scaled, into `out`, which may be Z, and return it."""
        for begin in range(0, len(Z), _RUN):
            rows = slice(begin, begin + _RUN)
            np.divide(Z[rows] - self.mean, self.divisor, out=out[rows], casting="same_kind")
        return out

    def undo(self, Z: np.ndarray) -> np.ndarray:
        """Return the unscaled features of Z, in the dtype of Z."""
        return Z * self.divisor.astype(Z.dtype) + self.mean.astype(Z.dtype)


def moments(Z: np.ndarray | StoredRows) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return mean, standard deviation and largest absolute value of each column.

    Differences from the first row are summed, so a level far from 0 costs no digits.
    """
    shift, squares, largest = np.zeros((3, Z.shape[1]))
    first = Z[:1].astype(np.float64)
    run = min(_RUN, max(1, _IN_CACHE // max(1, Z.shape[1])))
    for begin in range(0, len(Z), run):
        rows = Z[begin : begin + run]
        shift += (rows - first).sum(axis=0)
        largest = np.maximum(largest, np.abs([rows.min(axis=0), rows.max(axis=0)]).max(axis=0))
    shift /= len(Z)
    for begin in range(0, len(Z), run):
        away = Z[begin : begin + run] - first
        away -= shift
        away *= away
        squares += away.sum(axis=0)
    return first[0] + shift, np.sqrt(squares / len(Z)), largest


def compress(
    train: np.ndarray, *others: np.ndarray, n_threads: int | None = None
) -> list[np.ndarray]:
    """Reduce features with more columns than training rows to as many columns as rows.

    The weights of a model with an L2 penalty lie in the span of the training
    rows; coordinates in an orthonormal basis of that span give the same model
    and the same predictions from fewer numbers.

    Parameters
    ----------
    train, *others : ndarray of float64 or float32, shape (n_i, R)
        Features; the first ones are the training rows.
    n_threads : int, optional
        Threads for the products; None for all that this process may use.

    Returns
    -------
    list of ndarray, shape (n_i, at most n)
        All of them in the basis, float64; as they are if R <= n.

    Examples
    --------
    >>> import numpy as np
    >>> from d2ke.embedding.scaling import compress
    >>> train, test = np.array([[3.0, 0.0, 4.0]]), np.array([[1.0, 1.0, 1.0]])
    >>> [rows.shape for rows in compress(train, test)]
    [(1, 1), (1, 1)]
    """
    if train.shape[1] <= train.shape[0]:
        return [train, *others]
    # The basis is train' U / s for the eigenvectors U and eigenvalues s^2 of train train'.
    wide = [rows.astype(np.float64, copy=False) for rows in (train, *others)]
    grams = [row_products(rows, wide[0], n_threads) for rows in wide]
    squares, U = np.linalg.eigh(grams[0])
    retained = squares > rank_rounding(np.float64) * squares[-1]
    basis = U[:, retained] / np.sqrt(squares[retained])
    return [gram @ basis for gram in grams]
