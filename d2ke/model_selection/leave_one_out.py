# SPDX-License-Identifier: BSD-3-Clause
"""Ridge regression with every penalty at once, and its predictions for rows that are left out.

One eigendecomposition of sums of products serves every penalty, every target and every row.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from d2ke._base.blas import one_blas_thread, row_products, square

_TINY = 1e-12  # of the largest eigenvalue: smaller ones are rounding
_RUN = 4096


@dataclass(frozen=True, eq=False)
class RidgePath:
    """Ridge regression of targets on centred features, whatever the penalty.

    The weights minimise |w|^2 / 2 + C sum_i (t_i - b - w.z_i)^2; the offset b has no penalty.

    Attributes
    ----------
    features : ndarray, shape (n, R)
        With columns of mean 0.
    targets : ndarray of float64, shape (n, k)
        As they are.
    squares : ndarray of float64, shape (r,)
        Eigenvalues of the products of the features.
    U : ndarray of float64, shape (n, r)
        Orthonormal columns: the features' left singular vectors.

    References
    ----------
    Hastie, Tibshirani, Friedman, "The Elements of Statistical Learning", 2009, sections 3.4.1
    and 7.10.
    """

    features: np.ndarray
    targets: np.ndarray
    squares: np.ndarray
    U: np.ndarray

    @classmethod
    def of(cls, features: np.ndarray, targets: np.ndarray, n_threads: int | None) -> RidgePath:
        """Decompose the features."""
        n, R = features.shape
        if n <= R:
            wide = features.astype(np.float64, copy=False)
            products = row_products(wide, wide, n_threads)
            del wide  # before LAPACK takes as much and more
        else:
            upper = np.triu(square(features.__getitem__, n, n_threads))
            products = upper + np.triu(upper, 1).T
        squares, V = np.linalg.eigh(products)
        kept = squares > _TINY * max(squares[-1], np.finfo(float).tiny)
        squares, V = squares[kept], V[:, kept]
        if n > R:
            V /= np.sqrt(squares)
            U = np.empty((n, len(squares)))
            for begin in range(0, n, _RUN):
                rows = features[begin : begin + _RUN].astype(np.float64, copy=False)
                U[begin : begin + _RUN] = row_products(rows, V.T, n_threads)
            V = U
        return cls(features, targets, squares, V)

    def left_out(self, C: float) -> np.ndarray:
        """Return the prediction for each row by the model of all other rows, shape (n, k)."""
        n = len(self.targets)
        mean = self.targets.mean(axis=0)
        shrink = self.squares / (self.squares + 1 / (2 * C))
        residual = self.targets - mean - self.U @ (shrink[:, None] * (self.U.T @ self.targets))
        hat = 1 / n + np.einsum("ij,ij,j->i", self.U, self.U, shrink)
        # A row that the model of all rows fits whatever its target says nothing.
        return self.targets - residual / np.maximum(1 - hat, _TINY)[:, None]

    def weights(self, C: float) -> tuple[np.ndarray, np.ndarray]:
        """Return weights, shape (k, R), and offsets, shape (k,)."""
        projected = self.U.T @ self.targets
        dual = self.U @ (projected / (self.squares + 1 / (2 * C))[:, None])
        weights = np.zeros((self.targets.shape[1], self.features.shape[1]))
        with one_blas_thread():
            for begin in range(0, len(dual), _RUN):
                rows = self.features[begin : begin + _RUN].astype(np.float64, copy=False)
                weights += dual[begin : begin + _RUN].T @ rows
        return weights, self.targets.mean(axis=0)
