# SPDX-License-Identifier: BSD-3-Clause
"""Ridge regression from sums of products: any number of rows, every penalty at once.

The weights W and the offsets b minimise |W|^2 / 2 + C sum_i v_i |t_i - W z_i - b|^2; offsets have
no penalty. The row weights v_i are 1 by default, and a row of weight 2 equals two rows.
`RidgeSums` adds the products of features and targets block by block; sums of several processes are
merged in any order. One eigendecomposition of the sums gives the weights for every penalty C, and
the leave-one-out prediction of each row.

Rounding of float32 products changes decisions and left-out predictions by at most 2^-22 = 2.4e-7
times the condition number of products + 1 / (2 C) (root mean square, relative to the centred
targets).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy import linalg, sparse

from d2ke._base.blas import ROWS, product_pool, row_products, square
from d2ke._base.rounding import rank_rounding

# For features F, standardised features z_i = (F_i - mean) / divisor and centred targets t_i in the
# rows of Z and T, V = diag(v_i), n = sum_i v_i, and 1 / (2 C) = penalty,
#
#     products = Z'VZ = basis diag(eigenvalues) basis',    p_i = basis' z_i,
#     projected = basis' Z'VT,    shrinkage = diag(1 / (eigenvalues + penalty)),
#     weights W' = basis shrinkage projected,    decision_i = p_i' shrinkage projected.
#
# If rows are fewer than features, the same follows from sqrt(V) Z Z' sqrt(V) =
# U diag(eigenvalues) U', with the basis Z' sqrt(V) U / sqrt(eigenvalues). The hat matrix, and the
# prediction by the model without row i, are
#
#     H_ij = 1 / n + p_i' shrinkage p_j,    t_i - (t_i - decision_i) / (1 - v_i H_ii).

# Indices of rows, sorted, and of features that are left out with them.
Exclusions = tuple[np.ndarray, np.ndarray]

_STRIP = 256  # columns of one product
_SUMS = ("products", "features", "targets", "crossed")
_PRODUCTS = 1 << 18  # products of basis rows at a time: they stay in the cache
_CHEAP = 1 << 37  # multiplications that take a few seconds in float64


def product_type(n: int, R: int) -> np.dtype[Any]:
    """Return the type of the products of n rows of R features: float64 where that is cheap."""
    return np.dtype(np.float64 if n * R * R <= _CHEAP else np.float32)


def class_indicators(codes: np.ndarray, n_classes: int, dtype: Any = np.float64) -> Any:
    """Return targets of a classification, sparse: 1 in the column of each row's class.

    Two classes have one column, of the second class.
    """
    n_columns = n_classes if n_classes > 2 else 1
    columns = codes if n_classes > 2 else codes - 1
    rows = np.flatnonzero(columns >= 0)
    ones = np.ones(len(rows), dtype)
    return sparse.csr_array((ones, (rows, columns[rows])), shape=(len(codes), n_columns))


@dataclass(eq=False)
class RidgeSums:
    """Sums of products of features and targets over rows.

    To reduce rounding, `centre` is subtracted from features, and they are divided by `divisor`,
    before the products: both should be near the features' means and deviations. The solution does
    not depend on them.

    Attributes
    ----------
    centre, divisor : ndarray of float64, shape (R,)
        Centre and divisor of the features.
    target_centre : ndarray of float64, shape (k,)
        Centre of the targets; 0 if they are sparse.
    dtype : dtype
        Type of the products of a block; their sums are float64.
    n : int or float
        Number of rows, or sum of their weights.
    products : ndarray of float64, shape (R, R)
        Sums of z z'; only the upper triangle is valid.
    features : ndarray of float64, shape (R,)
        Sums of z.
    targets : ndarray of float64, shape (k,)
        Sums of t.
    crossed : ndarray of float64, shape (R, k)
        Sums of z t'.

    Examples
    --------
    >>> import numpy as np
    >>> from d2ke.learners.ridge import Ridge, RidgeSums
    >>> F, t = np.arange(6.0)[:, None], np.arange(6.0)[:, None] * 2 + 1
    >>> sums = RidgeSums.empty(np.zeros(1), np.ones(1), np.zeros(1))
    >>> sums.add(F[:4], t[:4])
    >>> sums.add(F[4:], t[4:])
    >>> ridge = Ridge.of(sums)
    >>> weights, offsets = ridge.weights(1e9)
    >>> weights.round(6).tolist(), (offsets - weights @ ridge.mean).round(6).tolist()
    ([[2.0]], [1.0])
    """

    centre: np.ndarray
    divisor: np.ndarray
    target_centre: np.ndarray
    dtype: np.dtype[Any]
    n: float
    products: np.ndarray = field(repr=False)
    features: np.ndarray = field(repr=False)
    targets: np.ndarray = field(repr=False)
    crossed: np.ndarray = field(repr=False)

    @classmethod
    def empty(
        cls,
        centre: np.ndarray,
        divisor: np.ndarray,
        target_centre: np.ndarray,
        dtype: Any = np.float64,
    ) -> RidgeSums:
        """Return the sums of no rows."""
        R, k = len(centre), len(target_centre)
        return cls(
            centre, divisor, target_centre, np.dtype(dtype), 0,
            np.zeros((R, R)), np.zeros(R), np.zeros(k), np.zeros((k, R)).T,
        )  # fmt: skip

    def add(
        self,
        F: np.ndarray,
        T: Any,
        n_threads: int | None = None,
        row_weights: np.ndarray | None = None,
    ) -> None:
        """Add rows: features, shape (m, R), targets, shape (m, k), dense or sparse, and weights."""
        values = ((F - self.centre) / self.divisor).astype(self.dtype, copy=False)
        if not sparse.issparse(T):
            T = T - self.target_centre
        weighted = values
        if row_weights is None:
            self.n += len(values)
            self.targets += T.sum(axis=0, dtype=np.float64)
        else:
            self.n += float(row_weights.sum())
            self.targets += T.T @ row_weights
            roots = np.sqrt(row_weights)[:, None].astype(self.dtype)
            values = values * roots
            weighted = values * roots
        self.features += weighted.sum(axis=0, dtype=np.float64)
        self.crossed += (T.T @ weighted).T

        def add_strip(begin: int) -> None:
            strip = slice(begin, begin + _STRIP)
            with np.errstate(over="ignore", invalid="ignore"):  # refused once, in `centred`
                for low in range(0, len(values), ROWS):
                    rows = values[low : low + ROWS]
                    self.products[strip, begin:] += rows[:, strip].T @ rows[:, begin:]

        with product_pool(n_threads) as pool:
            list(pool.map(add_strip, range(0, len(self.centre), _STRIP)))

    def copy(self) -> RidgeSums:
        """Return a copy that does not share memory."""
        return replace(self, **{name: getattr(self, name).copy("K") for name in _SUMS})

    def merge(self, other: RidgeSums) -> None:
        """Add the sums of other rows with the same centre and divisor."""
        self.n += other.n
        for name in _SUMS:
            mine = getattr(self, name)
            np.add(mine, getattr(other, name), out=mine)

    def merged(self, *chunks: RidgeSums) -> RidgeSums:
        """Return these sums merged with the sums of further chunks."""
        sums = self.copy()
        for chunk in chunks:
            sums.merge(chunk)
        return sums

    def centred(self, divisor: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Return products of centred features with each other (upper triangle) and with targets.

        `divisor` replaces the divisor of the features.
        """
        factor = self.divisor / (self.divisor if divisor is None else divisor)
        shift = self.features / self.n
        products = np.triu(self.products)
        products -= np.triu(np.outer(self.features, shift))
        products *= factor[:, None] * factor
        if not np.isfinite(products).all():
            raise ValueError("the values of Z are too large: products of them are not finite")
        return products, factor[:, None] * (self.crossed - np.outer(shift, self.targets))

    def moments(self) -> tuple[np.ndarray, np.ndarray]:
        """Return mean and standard deviation of each feature."""
        variance = self.products.diagonal() / self.n - (self.features / self.n) ** 2
        return self.mean, self.divisor * np.sqrt(np.maximum(variance, 0))

    @property
    def mean(self) -> np.ndarray:
        """Mean of each feature."""
        return self.centre + self.features / self.n * self.divisor

    @property
    def target_mean(self) -> np.ndarray:
        """Mean of each target."""
        return self.target_centre + self.targets / self.n


@dataclass(frozen=True, eq=False)
class Ridge:
    """The models of every penalty, from the sums of products of all rows.

    Attributes
    ----------
    mean, divisor : ndarray of float64, shape (R,)
        Weights are for (F - mean) / divisor.
    eigenvalues : ndarray of float64, shape (r,)
        Eigenvalues of the products.
    basis : ndarray of float64, shape (R, r), or (n, r) with `rows`
        Eigenvectors; with `rows`, ``rows.T @ basis`` are the eigenvectors.
    projected : ndarray of float64, shape (r, k)
        Products of the rows' coordinates in the basis with the targets.
    target_mean : ndarray of float64, shape (k,)
        Mean of each target.
    n : int or float
        Number of rows, or sum of their weights.
    dtype : dtype
        Type of the coordinates of rows.
    rows : ndarray, shape (n, R), or None
        The standardised rows times the roots of their weights, if rows are fewer than features; or
        orthonormal directions to project features to.

    References
    ----------
    Hastie, Tibshirani, Friedman, "The Elements of Statistical Learning", 2009, sections 3.4.1
    and 7.10.
    """

    mean: np.ndarray
    divisor: np.ndarray
    eigenvalues: np.ndarray
    basis: np.ndarray
    projected: np.ndarray
    target_mean: np.ndarray
    n: float
    dtype: np.dtype[Any]
    rows: np.ndarray | None = None

    @classmethod
    def of(cls, sums: RidgeSums, divisor: np.ndarray | None = None) -> Ridge:
        """Decompose the sums; `divisor` replaces the divisor of the features."""
        products, crossed = sums.centred(divisor)
        eigenvalues, basis = np.linalg.eigh(products, UPLO="U")
        retained = _above_rounding(eigenvalues, sums.dtype)
        basis = basis[:, retained]
        return cls(
            sums.mean, sums.divisor if divisor is None else divisor, eigenvalues[retained], basis,
            basis.T @ crossed, sums.target_mean, sums.n, sums.dtype,
        )  # fmt: skip

    def coordinates(self, F: np.ndarray, n_threads: int | None = None) -> np.ndarray:
        """Return rows of features in the basis, shape (m, r)."""
        values = (F - self.mean) / self.divisor
        if self.rows is not None:
            values = row_products(values.astype(self.rows.dtype), self.rows, n_threads)
        return row_products(values.astype(self.dtype, copy=False), self._columns, n_threads)

    @cached_property
    def _columns(self) -> np.ndarray:
        return np.ascontiguousarray(self.basis.T, self.dtype)

    def weights(self, C: float) -> tuple[np.ndarray, np.ndarray]:
        """Return weights, shape (k, R), and offsets, shape (k,)."""
        weights = self.basis @ self._dual(C)
        return (weights if self.rows is None else self.rows.T @ weights).T, self.target_mean

    def _dual(self, C: float) -> np.ndarray:
        return self.projected / self._penalised(C)[:, None]

    def loo(
        self,
        P: np.ndarray,
        T: Any,
        Cs: Any,
        row_weights: np.ndarray | None = None,
        exclusions: Exclusions | None = None,
    ) -> np.ndarray:
        """Return predictions by the models of all other rows.

        With exclusions, the weights of some features are constrained to 0 in the model of a row.
        Let E select these features, B be their rows of the basis, and M = products + penalty. The
        constraint subtracts M^-1 E (E'M^-1 E)^-1 E'W' from the weights W', and
        M^-1 E (E'M^-1 E)^-1 E'M^-1 from M^-1. Here E'M^-1 E = S / penalty with
        S = I - B diag(eigenvalues) shrinkage B', and A = p'M^-1 E = p' shrinkage B' for a row p,
        so that Y = penalty S^-1 A' gives decision_i - Y'E'W' and H_ii - Y'A'.

        Parameters
        ----------
        P : ndarray, shape (m, r)
            Coordinates of rows.
        T : array, shape (m, k)
            Targets of the rows, dense or sparse.
        Cs : sequence of float
            Values of C.
        row_weights : ndarray, shape (m,), optional
            Weights of the rows; a row is left out with its full weight.
        exclusions : pair of ndarray of int64, optional
            Rows, sorted, and the indices of the features that are left out with them.

        Returns
        -------
        ndarray of float64, shape (m, len(Cs), k)
            Decision values of each row for each C.
        """
        k = self.projected.shape[1]
        T = T.toarray() if sparse.issparse(T) else T
        T = (T - self.target_mean).astype(P.dtype, copy=False)
        penalty = 1 / (2 * np.asarray(Cs))
        shrinkage = 1 / (self.eigenvalues[:, None] + penalty)
        duals = (shrinkage[:, :, None] * self.projected[:, None]).reshape(-1, len(Cs) * k)
        H_ii = 1 / self.n + (P * P) @ shrinkage.astype(P.dtype, copy=False)
        decision = (P @ duals.astype(P.dtype, copy=False)).reshape(len(P), len(Cs), k)
        for rows, B in () if exclusions is None else self._bases(*exclusions):
            m = B.shape[1]
            S = np.tensordot(B[:, :, None] * B[:, None], self.eigenvalues[:, None] * shrinkage, 1)
            S = np.eye(m) - np.moveaxis(S, -1, 1)
            A = np.tensordot(P[rows, None] * B, shrinkage, 1).swapaxes(1, 2)
            Y = np.linalg.solve(S, penalty[:, None, None] * A[..., None])[..., 0]
            H_ii[rows] -= (Y * A).sum(axis=2)
            weights = np.tensordot(B, duals, 1).reshape(len(B), m, len(Cs), k)
            decision[rows] -= np.einsum("ncm,nmck->nck", Y, weights)
        if row_weights is not None:
            H_ii *= row_weights[:, None].astype(P.dtype)
        # A row that the model of all rows fits for any target carries no information.
        rest = np.maximum(1 - H_ii, rank_rounding(P.dtype))[:, :, None]
        decision -= T[:, None]
        decision /= rest
        decision += T[:, None]
        return decision + self.target_mean

    def loo_together(
        self,
        P: np.ndarray,
        T: Any,
        Cs: Any,
        row_weights: np.ndarray | None = None,
        exclusions: Exclusions | None = None,
    ) -> np.ndarray:
        """Return predictions of rows by the model without all these rows.

        With the block H of the hat matrix and the residuals r of the model of all rows, the
        residuals without these rows are (I - H)^-1 r. If rows outnumber the features q = (p, 1),
        H = Q diag(diagonal)^-1 Q' with the diagonal (eigenvalues + penalty, n), and they are
        r + Q (diag(diagonal) - Q'Q)^-1 Q'r. Parameters and result are as in `loo`; excluded
        features are left out together, too.
        """
        P = P.astype(np.float64, copy=False)
        T = (T.toarray() if sparse.issparse(T) else T) - self.target_mean
        decision = np.empty((len(P), len(Cs), T.shape[1]))
        roots = np.ones((len(P), 1)) if row_weights is None else np.sqrt(row_weights)[:, None]
        B = None
        if exclusions is not None and len(exclusions[1]):
            B = self._basis_rows(exclusions[1])
            if len(B) > B.shape[1]:  # the result depends on B'B only
                B = np.asarray(np.linalg.qr(B, mode="r"))
        if len(P) > P.shape[1] + 1:
            Q = np.hstack([P, np.ones((len(P), 1))]) * roots
            gram, identity = Q.T @ Q, np.eye(P.shape[1] + 1)
            for i, C in enumerate(Cs):
                diagonal, dual, left = np.append(self._penalised(C), self.n), self._dual(C), Q
                if B is None:
                    rest = np.diag(diagonal) - gram
                else:  # the inverse without the excluded features is singular
                    crossed, solved = self._removal(B, identity[:-1, :-1], C)
                    inverse = identity / diagonal
                    inverse[:-1, :-1] -= crossed @ solved
                    dual = inverse[:-1, :-1] @ self.projected
                    left, rest = Q @ inverse, identity - gram @ inverse
                residuals = roots * (T - P @ dual)
                residuals += left @ np.linalg.solve(rest, Q.T @ residuals)
                decision[:, i] = T - residuals / roots
            return decision + self.target_mean
        # Rounding leaves 0 of 1 - H of a row that is fitted whatever its target.
        diagonal = (1 + 4 * np.finfo(np.float64).eps) * np.eye(len(P))
        for i, C in enumerate(Cs):
            H = (P / self._penalised(C)) @ P.T + 1 / self.n
            residuals = T - P @ self._dual(C)
            if B is not None:
                crossed, solved = self._removal(B, P, C)
                H -= crossed @ solved
                residuals += solved.T @ (B @ self._dual(C))
            rest = diagonal - roots * H * roots.T
            residuals = np.linalg.solve(rest, roots * residuals)
            decision[:, i] = T - residuals / roots
        return decision + self.target_mean

    def _bases(
        self, rows: np.ndarray, columns: np.ndarray
    ) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield rows that exclude equally many features, and basis rows of these, (n, m, r)."""
        rows, first, counts = np.unique(rows, return_index=True, return_counts=True)
        for m in np.unique(counts):
            same = counts == m
            step = max(1, _PRODUCTS // (int(m) ** 2 * len(self.eigenvalues)))
            for low in range(0, int(same.sum()), step):
                indices = first[same][low : low + step, None] + np.arange(m)
                yield rows[same][low : low + step], self._basis_rows(columns[indices])

    def _basis_rows(self, columns: np.ndarray) -> np.ndarray:
        """Return the rows of the basis for the features `columns`."""
        if self.rows is None:
            return self.basis[columns]
        rows = self.rows[:, columns.ravel()].T @ self.basis
        return rows.reshape(*columns.shape, -1)

    def _removal(self, B: np.ndarray, P: np.ndarray, C: float) -> tuple[np.ndarray, np.ndarray]:
        """Return A and penalty S^-1 A' of `loo` for rows that share these features."""
        shrinkage = 1 / self._penalised(C)
        A = (P * shrinkage) @ B.T
        S = np.eye(len(B)) - (B * (self.eigenvalues * shrinkage)) @ B.T
        return A, np.linalg.solve(S, A.T / (2 * C))

    def _penalised(self, C: float) -> np.ndarray:
        return self.eigenvalues + 1 / (2 * C)


Decomposed = tuple[Ridge, np.ndarray]  # with the coordinates of rows


def _above_rounding(eigenvalues: np.ndarray, dtype: np.dtype[Any]) -> np.ndarray:
    return eigenvalues > rank_rounding(dtype) * max(eigenvalues[-1], np.finfo(float).tiny)


def ridge_of_rows(
    F: np.ndarray,
    T: Any,
    divisor: np.ndarray,
    n_threads: int | None = None,
    row_weights: np.ndarray | None = None,
    decomposed: Decomposed | None = None,
) -> Decomposed:
    """Decompose rows that are fewer than the features; return the ridge and their coordinates.

    The n x n products of rows have the eigenvalues of the R x R products of features. If they are
    `decomposed` already, the models get weights of features.
    """
    if row_weights is None:
        mean = F.mean(axis=0, dtype=np.float64)
    else:
        mean = row_weights @ F / row_weights.sum()
    values = (F - mean) / divisor
    if decomposed is None:
        gram = square(values.T.__getitem__, len(mean), n_threads)
        decomposed = ridge_of_gram(gram, T, row_weights)
    ridge, P = decomposed
    if row_weights is not None:
        values *= np.sqrt(row_weights)[:, None]
    return replace(ridge, mean=mean, divisor=divisor, rows=values), P


def ridge_of_gram(
    products: np.ndarray, T: Any, row_weights: np.ndarray | None = None
) -> Decomposed:
    """Decompose the products of centred rows; return the ridge and the rows' coordinates.

    Only the upper triangle of the products is read. The models have no weights of features. Row
    weights are above 0, and rows are centred with them.
    """
    n: float = len(products)
    if row_weights is None:
        scale = np.ones((len(products), 1))
        target_mean = np.asarray(T.mean(axis=0), np.float64)
    else:
        n = float(row_weights.sum())
        scale = np.sqrt(row_weights)[:, None]
        target_mean = np.asarray(T.T @ row_weights, np.float64) / n
        products = products * (scale * scale.T)
    eigenvalues, U = np.linalg.eigh(products, UPLO="U")
    retained = _above_rounding(eigenvalues, np.dtype(np.float64))
    eigenvalues, U = eigenvalues[retained], U[:, retained]
    roots = np.sqrt(eigenvalues)
    if sparse.issparse(T):
        crossed = T.T @ (scale * U) - np.outer(target_mean, (scale * U).sum(axis=0))
    else:
        crossed = (scale * (T - target_mean)).T @ U
    none = np.empty(0)
    ridge = Ridge(
        none, none, eigenvalues, U / roots, roots[:, None] * crossed.T, target_mean, n,
        np.dtype(np.float64),
    )  # fmt: skip
    return ridge, U * roots / scale


def orthonormal(Z: np.ndarray, n_threads: int | None = None) -> np.ndarray:
    """Return an orthonormal basis of the span of rows, float32 of shape (rank, R).

    It comes from Cholesky factors with pivots of the products of the rows.
    """
    products = square(Z.T.__getitem__, Z.shape[1], n_threads)
    tolerance = 1e-6 * float(products.diagonal().max())  # features are float32
    factor, pivots, rank, _ = linalg.lapack.dpstrf(products, tol=tolerance)
    inverse, _ = linalg.lapack.dtrtri(np.triu(factor[:rank, :rank]))
    independent = Z[pivots[:rank] - 1].astype(np.float32)
    return row_products(inverse.T.astype(np.float32), independent.T, n_threads)


def decompose(
    F: np.ndarray, T: Any, divisor: np.ndarray, n_threads: int | None = None
) -> tuple[Ridge, np.ndarray]:
    """Decompose rows in memory, in float64; return the ridge and the rows' coordinates.

    The products are between rows or between features, whichever are fewer.
    """
    n, R = F.shape
    if n <= R:
        return ridge_of_rows(F, T, divisor, n_threads)
    centre = F[:ROWS].mean(axis=0, dtype=np.float64)
    target_centre = np.zeros(T.shape[1]) if sparse.issparse(T) else T[:ROWS].mean(axis=0)
    sums = RidgeSums.empty(centre, divisor, target_centre)
    blocks = [slice(low, low + ROWS) for low in range(0, n, ROWS)]
    for rows in blocks:
        sums.add(F[rows], T[rows], n_threads)
    ridge = Ridge.of(sums)
    return ridge, np.vstack([ridge.coordinates(F[rows], n_threads) for rows in blocks])
