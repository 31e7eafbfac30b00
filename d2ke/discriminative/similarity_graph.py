# SPDX-License-Identifier: BSD-3-Clause
"""Kernels and graphs of objects, by a matrix of similarities or by features.

All methods use two symmetric matrices, `linear` and `quadratic`, in

    S_ij = 2 (alpha_i + alpha_j) linear_ij - 2 lambda alpha_i alpha_j quadratic_ij.

For a kernel both are its Gram matrix K; for an indefinite similarity the second is |S|. For
features Z, with K = Z Z', only products with Z are ever computed.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.linalg import eigh
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from d2ke._base.blas import one_blas_thread
from d2ke.discriminative.simplex_programs import solve_dense, solve_product

# A small multiple of the kernel, which keeps objects without weight in the graph; in units of 4/n,
# the value of 2 (alpha_i + alpha_j) for equal weights.
FLOOR = 1e-3
LARGE = 1500  # objects above which iteration finds few eigenvectors faster than reduction
_SPARE = 4  # additional eigenvectors, for faster convergence
UNLINKED = 1e-12  # of the largest similarity


class DenseKernel:
    """Similarities as a matrix."""

    def __init__(self, linear: np.ndarray, quadratic: np.ndarray | None = None):
        self.linear = linear
        self.quadratic = linear if quadratic is None else quadratic
        self.n = len(linear)
        self.sums = linear.sum(axis=1)

    def graph(self, alpha: np.ndarray, lam: float, smoothing: float = 0.0) -> DenseGraph:
        """Return the graph with the weights S, see `graph_weights`, and a constant added."""
        S = graph_weights(self.linear, self.quadratic, alpha, lam)
        if smoothing:
            S += smoothing * S.mean()
        return DenseGraph(S)

    def hard(self, codes: np.ndarray, s: float, lam: float, curvature: float) -> WeightProblem:
        """Return the problem of the weights, for labels."""
        same = codes[:, None] == codes
        H = np.where(same, lam * curvature, lam * (curvature - 4 * s)) * self.quadratic
        within = (self.linear @ indicators(codes))[np.arange(self.n), codes]
        return WeightProblem((4 * s - 1) * self.sums - 4 * s * within, H=H)

    def relaxed(self, Y: np.ndarray, s: float, lam: float, curvature: float) -> WeightProblem:
        """Return the problem of the weights, for coordinates Y."""
        squares = np.einsum("ij,ij->i", Y, Y)
        gaps = np.maximum(squares[:, None] + squares - 2 * (Y @ Y.T), 0.0)
        H = lam * (curvature - 2 * s * gaps) * self.quadratic
        f = 2 * s * np.einsum("ij,ij->i", self.linear, gaps) - self.sums
        return WeightProblem(f, H=H)


class FeatureKernel:
    """Similarities Z Z', by products with the features Z only."""

    def __init__(self, Z: np.ndarray):
        self.Z = Z
        self.n = len(Z)
        self.squares = np.einsum("ij,ij->i", Z, Z)
        # A A' = Z Z' but for rounding, with fewer columns where the rank is less.
        self.A = Z
        if Z.shape[1] < len(Z):
            with one_blas_thread():
                values, vectors = np.linalg.eigh(Z.T @ Z)
                self.A = Z @ vectors[:, values > 1e-12 * values[-1]]
        self.sums = self.A @ self.A.sum(axis=0)

    def product(self, V: np.ndarray) -> np.ndarray:
        """Return Z Z' V."""
        return self.A @ (self.A.T @ V)

    def graph(self, alpha: np.ndarray, lam: float, smoothing: float = 0.0) -> FeatureGraph:
        """Return the graph with the weights S, see `graph_weights`, and a constant added."""
        return FeatureGraph(self, np.minimum(alpha, 2 / lam), lam, smoothing)

    def hard(self, codes: np.ndarray, s: float, lam: float, curvature: float) -> WeightProblem:
        """Return the problem of the weights, for labels."""
        order = np.argsort(codes, kind="stable")
        edges = np.searchsorted(codes[order], np.arange(codes.max() + 2))
        A = self.A[order]
        classes = [(A[low:high], order[low:high]) for low, high in pairwise(edges)]

        def combined(v: np.ndarray, within: float, overall: float) -> np.ndarray:
            """Return within times the classes' own parts of K v, and overall times K v."""
            # One pass over the features for the sums, and one for the values.
            sums = np.array([v[rows] @ Z_of_class for Z_of_class, rows in classes])
            sums = within * sums + overall * sums.sum(axis=0)
            result = np.empty(self.n)
            for (Z_of_class, rows), direction in zip(classes, sums, strict=True):
                result[rows] = Z_of_class @ direction
            return result

        def product(v: np.ndarray) -> np.ndarray:
            return combined(v, lam * 4 * s, lam * (curvature - 4 * s))

        return WeightProblem(combined(np.ones(self.n), -4 * s, 4 * s - 1), product)

    def relaxed(self, Y: np.ndarray, s: float, lam: float, curvature: float) -> WeightProblem:
        """Return the problem of the weights, for coordinates Y."""
        squares = np.einsum("ij,ij->i", Y, Y)

        def both(v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            """Return K v and (K o G) v, for G_ij = |Y_i - Y_j|^2, from one pair of products."""
            columns = self.product(np.column_stack([v, squares * v, Y * v[:, None]]))
            cross = np.einsum("ij,ij->i", Y, columns[:, 2:])
            return columns[:, 0], squares * columns[:, 0] + columns[:, 1] - 2 * cross

        def product(v: np.ndarray) -> np.ndarray:
            K_v, KG_v = both(v)
            return lam * (curvature * K_v - 2 * s * KG_v)

        return WeightProblem(2 * s * both(np.ones(self.n))[1] - self.sums, product)


class WeightProblem:
    """The quadratic program of the weights: min alpha'H alpha / 2 + f'alpha on the simplex."""

    def __init__(
        self,
        f: np.ndarray,
        product: Callable[[np.ndarray], np.ndarray] | None = None,
        *,
        H: np.ndarray | None = None,
    ):
        self.f = f
        self.H = H
        self.product: Any = product if H is None else H.__matmul__

    def objective(self, alpha: np.ndarray) -> float:
        """Return alpha'H alpha / 2 + f'alpha."""
        return float(alpha @ (self.product(alpha) / 2 + self.f))

    def solve(self, start: np.ndarray, max_products: int = 60) -> np.ndarray:
        """Return weights that are accurate enough for the labels."""
        # Gaps of the objective as large as these hardly change the labels.
        if self.H is not None:
            return solve_dense(self.H, self.f, start, 1e-4, 100 * len(start)).alpha
        # With features a step costs O(n R).
        return solve_product(self.product, self.f, start, 1e-3, max_products).alpha


def graph_weights(
    linear: np.ndarray, quadratic: np.ndarray, alpha: np.ndarray, lam: float
) -> np.ndarray:
    """Return S with capped weights, a small multiple of the kernel added, and no negative entry."""
    alpha = np.minimum(alpha, 2 / lam)
    S = (2 * (alpha[:, None] + alpha) + 4 * FLOOR / len(alpha)) * linear
    S -= 2 * lam * np.outer(alpha, alpha) * quadratic
    return np.maximum(S, 0.0, out=S)


class DenseGraph:
    """A graph by the matrix of its weights."""

    def __init__(self, S: np.ndarray):
        self.S = S
        self.n = len(S)
        self.degrees = check_degrees(S.sum(axis=1))

    def eigenvectors(self, c: int) -> np.ndarray:
        """Return the c leading eigenvectors of D^(-1/2) S D^(-1/2), by falling eigenvalue."""
        roots = np.sqrt(self.degrees)
        M = self.S / roots[:, None] / roots
        if self.n <= max(LARGE, 16 * (c + _SPARE)):
            if self.n > LARGE:
                return np.linalg.eigh(M)[1][:, : -c - 1 : -1]
            vectors = eigh(M, subset_by_index=[self.n - c, self.n - 1], check_finite=False)[1]
            if vectors.shape[1] < c:  # LAPACK misses some of a multiple eigenvalue's vectors
                vectors = np.linalg.eigh(M)[1]
            return vectors[:, : -c - 1 : -1]
        return krylov_eigenvectors(M.__matmul__, c, roots)

    def components(self) -> np.ndarray:
        """Return for each object the number of its connected component."""
        links = csr_array(UNLINKED * self.S.max() < self.S)
        return connected_components(links, directed=False)[1].astype(np.int64)

    def harmonic(self, is_fixed: np.ndarray, F: np.ndarray) -> np.ndarray:
        """Return (D_uu - S_uu)^(-1) S_ul F for the objects u that are not fixed."""
        u, fixed = np.flatnonzero(~is_fixed), np.flatnonzero(is_fixed)
        links = self.S[np.ix_(u, fixed)]
        return harmonic_values(self.S[np.ix_(u, u)], links.sum(axis=1), links @ F)


def harmonic_values(S: np.ndarray, outside: np.ndarray, rhs: np.ndarray) -> np.ndarray:
    """Solve (D - S) x = rhs, for D the row sums of S and `outside` on the diagonal."""
    # For the right-hand side `outside` x is 1, so that its error estimates the errors of all.
    system = -S
    system[np.diag_indices_from(system)] += S.sum(axis=1) + outside
    try:
        x = np.linalg.solve(system, np.column_stack([rhs, outside]))
    except np.linalg.LinAlgError:
        x = np.full((len(S), rhs.shape[1] + 1), np.nan)
    if np.abs(x[:, -1] - 1).max(initial=0.0) <= 1e-6:
        return x[:, :-1]
    return _solve_by_elimination(S, outside, rhs)


def _solve_by_elimination(S: np.ndarray, outside: np.ndarray, rhs: np.ndarray) -> np.ndarray:
    """Solve the system of `harmonic_values` by sums of positive terms only.

    Subtraction would lose similarities near rounding error that link parts of the graph
    (Grassmann, Taksar, Heyman 1985).
    """
    n = len(S)
    S, outside, rhs = S.copy(), outside.copy(), rhs.copy()
    totals = np.empty(n)
    for k in range(n - 1, -1, -1):
        totals[k] = S[k, :k].sum() + outside[k]
        if totals[k] > 0:
            into = S[:k, k] / totals[k]
            S[:k, :k] += np.outer(into, S[k, :k])
            outside[:k] += into * outside[k]
            rhs[:k] += np.outer(into, rhs[k])
    for k in range(n):
        if totals[k] > 0:
            rhs[k] = (S[k, :k] @ rhs[:k] + rhs[k]) / totals[k]
    return rhs


class FeatureGraph:
    """The graph of S for K = Z Z', a matrix of rank 2 R."""

    def __init__(self, kernel: FeatureKernel, alpha: np.ndarray, lam: float, smoothing: float):
        self.kernel = kernel
        self.n = kernel.n
        self.alpha = alpha
        self.lam = lam
        self.floor = 4 * FLOOR / kernel.n
        self.constant = 0.0
        sums = self.product(np.ones((self.n, 1)))[:, 0]
        self.constant = smoothing * float(sums.mean()) / self.n
        self.degrees = check_degrees(sums + self.n * self.constant)

    def product(self, V: np.ndarray) -> np.ndarray:
        """Return S V."""
        k = V.shape[1]
        alpha = self.alpha[:, None]
        both = self.kernel.product(np.hstack([V, alpha * V]))
        K_V, K_aV = both[:, :k], both[:, k:]
        S_V = (2 * alpha + self.floor) * K_V + 2 * (1 - self.lam * alpha) * K_aV
        return S_V + self.constant * V.sum(axis=0)

    def eigenvectors(self, c: int) -> np.ndarray:
        """Return the c leading eigenvectors of D^(-1/2) S D^(-1/2), by falling eigenvalue."""
        roots = np.sqrt(self.degrees)[:, None]

        def normalised(V: np.ndarray) -> np.ndarray:
            return self.product(V / roots) / roots

        if self.n <= max(320, 16 * (c + _SPARE)):
            vectors = np.linalg.eigh(normalised(np.eye(self.n)))[1]
            return vectors[:, : -c - 1 : -1]
        return krylov_eigenvectors(normalised, c, roots[:, 0])

    def components(self) -> np.ndarray:
        """Return for each object the number of its connected component.

        Objects with a feature in common are connected, as no similarity is negative.
        """
        used = (np.abs(self.kernel.Z) > 0).astype(np.uint8)
        labels = np.full(self.n, -1)
        waiting = np.ones(self.n, bool)
        number = 0
        while waiting.any():
            columns = used[waiting.argmax()] > 0
            while True:
                rows = waiting & (used[:, columns].any(axis=1) if columns.any() else False)
                wider = used[rows].any(axis=0) | columns
                if (wider == columns).all():
                    break
                columns = wider
            rows[waiting.argmax()] = True
            labels[rows] = number
            waiting &= ~rows
            number += 1
        return labels

    def harmonic(self, is_fixed: np.ndarray, F: np.ndarray) -> np.ndarray:
        """Return (D_uu - S_uu)^(-1) S_ul F by Woodbury's identity: a system of 2 R unknowns."""
        A, R = self.kernel.A, self.kernel.A.shape[1]
        values = np.zeros((self.n, F.shape[1]))
        values[is_fixed] = F
        u = ~is_fixed
        rhs = self.product(values)[u]
        A = np.hstack([A[u], self.alpha[u, None] * A[u]])
        degrees = self.degrees[u, None]
        middle = np.array([[self.floor, 2.0], [2.0, -2 * self.lam]])
        inner = np.kron(np.linalg.inv(middle), np.eye(R)) - A.T @ (A / degrees)
        return (rhs + A @ np.linalg.solve(inner, A.T @ (rhs / degrees))) / degrees


def krylov_eigenvectors(
    product: Callable[[np.ndarray], np.ndarray], c: int, start: np.ndarray
) -> np.ndarray:
    """Return eigenvectors to the c largest eigenvalues by restarted block Krylov spaces.

    A block is needed since each connected component has an eigenvalue 1. The start is fixed, so
    that equal calls return equal vectors.
    """
    n, width = len(start), c + _SPARE
    depth = max(6, 160 // width)  # spaces of about 160 dimensions
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, width))
    X[:, 0] = start
    X = np.linalg.qr(X)[0]
    for _ in range(60):
        basis = np.empty((n, depth * width), order="F")
        image = np.empty_like(basis)
        for low in range(0, depth * width, width):
            block = slice(low, low + width)
            basis[:, block] = X
            image[:, block] = product(X)
            X = image[:, block]
            earlier = basis[:, : low + width]
            X, triangle = np.linalg.qr(X - earlier @ (earlier.T @ X))
            spent = np.abs(triangle.diagonal()) < 1e-12  # rounding error, for a matrix of norm 1
            X[:, spent] = rng.normal(size=(n, int(spent.sum())))
            # Twice, since rounding leaves parts of earlier vectors where little is new.
            X = np.linalg.qr(X - earlier @ (earlier.T @ X))[0]
        ritz = basis.T @ image
        values, vectors = np.linalg.eigh((ritz + ritz.T) / 2)
        vectors = vectors[:, : -width - 1 : -1]
        X = basis @ vectors
        gaps = image @ vectors[:, :c] - X[:, :c] * values[: -c - 1 : -1]
        if np.linalg.norm(gaps, axis=0).max() <= 1e-6:
            break
        X = np.linalg.qr(X)[0]
    return X[:, :c]


def indicators(codes: np.ndarray, n_classes: int | None = None) -> np.ndarray:
    """Return the matrix with a 1 for each object in its class's column."""
    return np.eye(codes.max() + 1 if n_classes is None else n_classes)[codes]


def check_degrees(degrees: np.ndarray) -> np.ndarray:
    """Refuse a graph in which a node has no edges."""
    bad = np.flatnonzero(~(degrees > 0))
    if bad.size:
        raise ValueError(
            f"the similarities of object {bad[0]} sum to {degrees[bad[0]]:g}; every object needs "
            "a positive sum, so shift or clip the similarities first"
        )
    return degrees
