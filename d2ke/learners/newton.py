# SPDX-License-Identifier: BSD-3-Clause
"""All one-vs-rest problems of the squared hinge loss at once: a truncated Newton method on blocks.

Each problem has the objective of LIBLINEAR's solver 2,
f(w) = |w|^2 / 2 + sum_i C_i max(0, 1 - s_i w.z_i)^2 with s_i = +-1. One product of
the features with a block of k vectors serves k problems, and reads the features once.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from d2ke._base.blas import product_pool, square

MAX_NEWTON = 100
# Up to this number of features, all products of two features precondition the Newton step; with a
# large C that takes a seventh of the iterations. For more features the squares alone do, which
# cost next to nothing.
MAX_DENSE = 2500
# Rows of features that stay in the cache between a product and its transposed one.
_RUN_BYTES = 1 << 21


def block_newton(
    Z: np.ndarray,
    signs: np.ndarray,
    costs: np.ndarray,
    *,
    bias: float | None = None,
    tolerance: float = 1e-4,
    start: np.ndarray | None = None,
    n_threads: int | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Minimise the squared hinge objective of k problems on the same features.

    Parameters
    ----------
    Z : ndarray of float64 or float32, shape (n, R)
        Features. Products are computed in their type, and added in float64.
    signs : ndarray of float64, shape (n, k)
        1 for the positive side of a problem, -1 for the negative one, 0 for rows
        outside it.
    costs : ndarray of float64, shape (2, k)
        C of the negative and of the positive side of each problem.
    bias : float, optional
        Value of one more (penalised) feature of each row, LIBLINEAR's ``-B``.
    tolerance : float
        A problem is solved when the norm of its gradient is below tolerance
        times the share of the rarer side times the norm at w = 0 (LIBLINEAR's ``-e``). With more
        than `MAX_DENSE` features that hardly vary, the part of the latter along the mean row does
        not count: it is nearly all of the gradient, and carries no difference between rows.
    start : ndarray of float64, shape (R, k) or, with bias, (R + 1, k), optional
        Where to start; 0 by default.
    n_threads : int, optional
        Threads; None for all that this process may use.

    Returns
    -------
    weights : ndarray of float64, shape (R, k) or, with bias, (R + 1, k)
        The same bits for any number of threads.
    solved : ndarray of bool, shape (k,)
        False where `MAX_NEWTON` steps were not enough.

    References
    ----------
    Lin, Weng, Keerthi, "Trust region Newton method for large-scale logistic
    regression", 2008. Keerthi, DeCoste, "A modified finite Newton method for fast
    solution of large scale linear SVMs", 2005.

    Examples
    --------
    >>> import numpy as np
    >>> from d2ke.learners.newton import block_newton
    >>> Z = np.array([[0.0, 1.0], [1.0, 0.0], [1.0, 0.2]])
    >>> signs = np.array([[-1.0], [1.0], [1.0]])
    >>> weights, solved = block_newton(Z, signs, np.full((2, 1), 10.0))
    >>> (Z @ weights > 0).ravel().tolist(), solved.tolist()
    ([False, True, True], [True])
    """
    n, k = signs.shape
    dense = Z.shape[1] <= MAX_DENSE
    with product_pool(n_threads) as pool:
        features = _FeatureProducts(Z, bias, pool)
        products = square(features.rows, n, n_threads) if dense else features.column_squares()
        W = np.zeros((features.n_weights, k)) if start is None else np.array(start)
        margins = np.zeros((n, k)) if start is None else features.forward(W)
        weights = 2 * np.where(signs > 0, costs[1], costs[0]) * (signs != 0)
        at_zero = features.backward(weights * signs)
        if not dense:
            # Leave out the part along the mean row if that is most of the mean square; of centred
            # features with a bias it is at most half.
            mean = features.backward(np.ones((n, 1))) / n
            mean_square = float(np.sum(mean**2))
            if mean_square > 0.9 * (products.sum() / n):
                at_zero = at_zero - mean * (mean.T @ at_zero) / mean_square
        at_zero = np.linalg.norm(at_zero, axis=0)
        sides = (signs > 0).sum(axis=0), (signs < 0).sum(axis=0)
        rarer = np.maximum(np.minimum(*sides), 1)
        enough = tolerance * rarer / np.maximum(np.add(*sides), 1) * at_zero
        left = np.arange(k)
        for steps in range(MAX_NEWTON):
            s, c = signs[:, left], weights[:, left]
            slack = 1 - s * margins[:, left]
            gradient = W[:, left] - features.backward(c * s * np.maximum(slack, 0))
            norms = np.linalg.norm(gradient, axis=0)
            going = norms > enough[left]
            left = left[going]
            if not left.size:
                break
            s, c, slack = s[:, going], c[:, going], slack[:, going]
            # The tolerance relative to the gradient's norm falls at each step: with a constant one
            # and a large C, the rows with a loss may change for ever.
            goal = norms[going] * 0.3 * 0.9**steps
            step = _newton_step(features, c * (slack > 0), products, gradient[:, going], goal)
            change = features.forward(step)
            length = _line_search(W[:, left], step, slack, s * change, c)
            W[:, left] += length * step
            margins[:, left] += length * change
            # Where no length decreases the objective, it is minimal to rounding.
            left = left[length > 0]
    solved = np.ones(k, dtype=bool)
    solved[left] = False
    return W, solved


def _newton_step(
    features: _FeatureProducts,
    weights: np.ndarray,
    products: np.ndarray,
    gradient: np.ndarray,
    goal: np.ndarray,
) -> np.ndarray:
    """Solve (I + Z' A Z) step = -gradient by conjugate gradients, each column for itself."""
    conditioned = _preconditioner(products, weights)
    step = np.zeros_like(gradient)
    columns = np.arange(gradient.shape[1])
    r = -gradient
    d = conditioned(r, columns)
    rho = _dots(r, d)
    for _ in range(300):
        product = d + features.normal(d, weights[:, columns])
        alpha = rho / _dots(d, product)
        step[:, columns] += alpha * d
        r = r - alpha * product
        going = np.linalg.norm(r, axis=0) > goal[columns]
        columns = columns[going]
        if not columns.size:
            break
        r, d = r[:, going], d[:, going]
        towards = conditioned(r, columns)
        before, rho = rho[going], _dots(r, towards)
        d = towards + (rho / before) * d
    return step


def _preconditioner(
    products: np.ndarray, weights: np.ndarray
) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
    """Return a function that nearly solves with I + Z' A Z, for all rows' mean weight in A.

    The products are Z' Z (its upper triangle), or its diagonal.
    """
    if products.ndim == 2:
        matrix = weights.mean() * products
        matrix[np.diag_indices_from(matrix)] += 1
        try:
            factor = cho_factor(matrix, overwrite_a=True, check_finite=False)
            return lambda r, columns: cho_solve(factor, r, check_finite=False)
        except LinAlgError:  # to rounding, with an enormous C
            products = products.diagonal()
    scale = 1 + products[:, None] * weights.mean(axis=0)
    return lambda r, columns: r / scale[:, columns]


def _line_search(
    w: np.ndarray, step: np.ndarray, slack: np.ndarray, change: np.ndarray, weights: np.ndarray
) -> np.ndarray:
    """Return lengths that minimise the piecewise quadratic objective along each column's step."""
    length = np.ones(w.shape[1])
    linear, square = _dots(w, step), _dots(step, step)
    for _ in range(30):
        rest = slack - length * change
        pulls = weights * change * (rest > 0)
        slope = linear + length * square - _dots(pulls, rest)
        move = slope / (square + _dots(pulls, change))
        length = np.maximum(length - move, 0)
        if (np.abs(move) <= 1e-9 * length).all():
            break
    return length


def _dots(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.einsum("ij,ij->j", a, b)


class _FeatureProducts:
    """Products with the features (and the bias column, which is not stored)."""

    def __init__(self, Z: np.ndarray, bias: float | None, pool: Executor):
        self.Z, self.bias, self.pool = Z, bias, pool
        n = len(Z)
        run = max(16, _RUN_BYTES // max(1, Z[:1].nbytes))
        starts = np.arange(0, n, run)
        # The sums of the groups are added in order: the same for any number of threads.
        self.groups = [
            [slice(begin, min(begin + run, n)) for begin in group.tolist()]
            for group in np.array_split(starts, min(32, len(starts)))
        ]

    def rows(self, which: slice) -> np.ndarray:
        """Return rows of Z with the bias."""
        Z = self.Z[which]
        return Z if self.bias is None else np.hstack([Z, np.full((len(Z), 1), self.bias)])

    def forward(self, V: np.ndarray) -> np.ndarray:
        """Return Z V."""
        result = np.empty((len(self.Z), V.shape[1]))
        v = self._features_part(V)

        def fill(group: list[slice]) -> None:
            for rows in group:
                result[rows] = self._product(rows, v, V)

        list(self.pool.map(fill, self.groups))
        return result

    def backward(self, U: np.ndarray) -> np.ndarray:
        """Return Z' U."""
        return self._sum(lambda rows: U[rows], U.shape[1])

    def normal(self, V: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Return Z' (weights * (Z V)), in one pass over Z."""
        v = self._features_part(V)
        return self._sum(lambda rows: weights[rows] * self._product(rows, v, V), V.shape[1])

    @property
    def n_weights(self) -> int:
        """Number of features, and of the bias."""
        return self.Z.shape[1] + (self.bias is not None)

    def column_squares(self) -> np.ndarray:
        """Return the diagonal of Z' Z."""

        def total(group: list[slice]) -> np.ndarray:
            squares = (np.einsum("ij,ij->j", self.Z[r], self.Z[r], dtype=float) for r in group)
            return sum(squares, np.zeros(self.Z.shape[1]))

        squares = sum(self.pool.map(total, self.groups), np.zeros(self.Z.shape[1]))
        return squares if self.bias is None else np.append(squares, len(self.Z) * self.bias**2)

    def _features_part(self, V: np.ndarray) -> np.ndarray:
        return V[: self.Z.shape[1]].astype(self.Z.dtype, copy=False)

    def _product(self, rows: slice, v: np.ndarray, V: np.ndarray) -> np.ndarray:
        product = (self.Z[rows] @ v).astype(np.float64, copy=False)
        return product if self.bias is None else product + self.bias * V[-1]

    def _sum(self, values: Callable[[slice], np.ndarray], k: int) -> np.ndarray:
        R = self.Z.shape[1]

        def total(group: list[slice]) -> np.ndarray:
            product = np.zeros((self.n_weights, k))
            for rows in group:
                u = values(rows)
                product[:R] += self.Z[rows].T @ u.astype(self.Z.dtype, copy=False)
                if self.bias is not None:
                    product[R] += self.bias * u.sum(axis=0)
            return product

        return sum(self.pool.map(total, self.groups), np.zeros((self.n_weights, k)))
