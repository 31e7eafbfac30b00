# SPDX-License-Identifier: BSD-3-Clause
"""Sparse similarities: kernels and graphs of many objects."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from d2ke.discriminative import similarity_graph
from d2ke.discriminative.similarity_graph import (
    FLOOR,
    UNLINKED,
    DenseGraph,
    WeightProblem,
    check_degrees,
    harmonic_values,
    krylov_eigenvectors,
)


class SparseKernel:
    """Similarities as a sparse matrix; the quadratic ones have the same sparsity pattern."""

    def __init__(self, linear: csr_array, quadratic: np.ndarray | None = None):
        self.linear = linear
        self.quadratic = linear.data if quadratic is None else quadratic
        self.n = linear.shape[0]
        self.sums = np.asarray(linear.sum(axis=1)).ravel()
        self.rows = np.repeat(np.arange(self.n), np.diff(linear.indptr))

    def _with(self, values: np.ndarray) -> csr_array:
        """Return a matrix with these values and the similarities' sparsity pattern."""
        return csr_array((values, self.linear.indices, self.linear.indptr), self.linear.shape)

    def graph(self, alpha: np.ndarray, lam: float, smoothing: float = 0.0) -> SparseGraph:
        """Return the graph with the weights S, see `graph_weights`, and a constant added."""
        alpha = np.minimum(alpha, 2 / lam)
        row_alpha, column_alpha = alpha[self.rows], alpha[self.linear.indices]
        S = (2 * (row_alpha + column_alpha) + 4 * FLOOR / self.n) * self.linear.data
        S -= 2 * lam * row_alpha * column_alpha * self.quadratic
        np.maximum(S, 0.0, out=S)
        return SparseGraph(self._with(S), smoothing * S.sum() / self.n**2)

    def hard(self, codes: np.ndarray, s: float, lam: float, curvature: float) -> WeightProblem:
        """Return the problem of the weights, for labels."""
        same = codes[self.rows] == codes[self.linear.indices]
        H = self._with(np.where(same, lam * curvature, lam * (curvature - 4 * s)) * self.quadratic)
        within = np.bincount(self.rows, self.linear.data * same, minlength=self.n)
        return WeightProblem((4 * s - 1) * self.sums - 4 * s * within, H.__matmul__)

    def relaxed(self, Y: np.ndarray, s: float, lam: float, curvature: float) -> WeightProblem:
        """Return the problem of the weights, for coordinates Y."""
        gaps = np.zeros(len(self.rows))
        for column in Y.T:  # one at a time, to hold E values instead of E c
            gaps += (column[self.rows] - column[self.linear.indices]) ** 2
        H = self._with(lam * (curvature - 2 * s * gaps) * self.quadratic)
        pulled = np.bincount(self.rows, self.linear.data * gaps, minlength=self.n)
        return WeightProblem(2 * s * pulled - self.sums, H.__matmul__)


class SparseGraph:
    """A graph by a sparse matrix of weights and a constant between all objects."""

    def __init__(self, S: csr_array, constant: float = 0.0):
        self.S = S
        self.n = S.shape[0]
        self.constant = constant
        self.degrees = check_degrees(np.asarray(S.sum(axis=1)).ravel() + self.n * constant)

    def dense(self) -> DenseGraph:
        """Return the same graph as a matrix."""
        return DenseGraph(self.S.toarray() + self.constant)

    def eigenvectors(self, c: int) -> np.ndarray:
        """Return the c leading eigenvectors of D^(-1/2) S D^(-1/2), by falling eigenvalue."""
        if self.n <= similarity_graph.LARGE:
            return self.dense().eigenvectors(c)
        roots = np.sqrt(self.degrees)[:, None]

        def normalised(V: np.ndarray) -> np.ndarray:
            V = V / roots
            return (self.S @ V + self.constant * V.sum(axis=0)) / roots

        return krylov_eigenvectors(normalised, c, roots[:, 0])

    def components(self) -> np.ndarray:
        """Return for each object the number of its connected component."""
        if self.constant > 0:
            return np.zeros(self.n, np.int64)
        links = self.S.data > UNLINKED * self.S.data.max()
        linked = csr_array((links, self.S.indices, self.S.indptr), self.S.shape, copy=True)
        linked.eliminate_zeros()
        return connected_components(linked, directed=False)[1].astype(np.int64)

    def harmonic(self, is_fixed: np.ndarray, F: np.ndarray) -> np.ndarray:
        """Return (D_uu - S_uu)^(-1) S_ul F for the objects u that are not fixed."""
        u, fixed = np.flatnonzero(~is_fixed), np.flatnonzero(is_fixed)
        if len(u) <= similarity_graph.LARGE:
            rows = self.S[u]
            outside = rows[:, fixed] @ np.ones(len(fixed)) + self.constant * len(fixed)
            rhs = rows[:, fixed] @ F + self.constant * F.sum(axis=0)
            return harmonic_values(rows[:, u].toarray() + self.constant, outside, rhs)
        roots = np.sqrt(self.degrees[u])
        rows = self.S[u]
        inner = rows[:, u].tocsr()
        rhs = (rows[:, fixed] @ F + self.constant * F.sum(axis=0)) / roots[:, None]
        # Symmetric and scaled to a diagonal near 1, for conjugate gradients.
        scale = np.repeat(1 / roots, np.diff(inner.indptr))
        inner.data *= -scale / roots[inner.indices]
        inner.setdiag(inner.diagonal() + 1.0)
        return _conjugate_gradients(inner, rhs) / roots[:, None]


def _conjugate_gradients(system: csr_array, rhs: np.ndarray) -> np.ndarray:
    """Solve a positive definite system by conjugate gradients, all columns at once.

    scipy's `cg` takes one column, and its tolerance is named differently in its versions.
    """
    result = np.zeros_like(rhs)
    rest, step = rhs.copy(), rhs.copy()
    size = np.einsum("ij,ij->j", rest, rest)
    enough = 1e-9**2 * np.maximum(size, 1e-300)
    for _ in range(5000):
        if (size <= enough).all():
            break
        image = system @ step
        length = size / np.maximum(np.einsum("ij,ij->j", step, image), 1e-300)
        result += length * step
        rest -= length * image
        new = np.einsum("ij,ij->j", rest, rest)
        step = rest + new / np.maximum(size, 1e-300) * step
        size = new
    return result
