# SPDX-License-Identifier: BSD-3-Clause
"""Similarities given as a matrix, points, distances or features: checks and kernels."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse

from d2ke._base import arrays
from d2ke._base.arrays import ASYMMETRY, square_distances, symmetric_matrix
from d2ke._base.checks import choice, positive_number
from d2ke._base.errors import ArgumentError, ArgumentTypeError, warn
from d2ke._base.memory import check_fits
from d2ke._base.rows import feature_rows
from d2ke.discriminative.canonical import equivalence_ranks, sparse_equivalence_ranks
from d2ke.discriminative.gaussian import gaussian, gaussian_of_distances, point_matrix
from d2ke.discriminative.neighbor_graph import AllPairs, Neighborhood
from d2ke.discriminative.similarity_graph import DenseKernel, FeatureKernel
from d2ke.discriminative.sparse_kernel import SparseKernel
from d2ke.embedding.spectrum import split


@dataclass(frozen=True, eq=False)
class KernelInput:
    """The arguments of `cdsk` and `lpdsk` that give the similarities; see there."""

    K: Any = None
    points: Any = None
    features: Any = None
    h: float | None = None
    similarity: str = "psd"
    risk: str = "margin"
    distances: Any = None

    def names(self) -> list[str]:
        """Return which of K, points, distances and features are not None."""
        names = ("K", "points", "distances", "features")
        return [name for name in names if getattr(self, name) is not None]

    def size(self) -> int:
        """Check points or distances, and return their number."""
        name = self.names()[0]
        rows = point_matrix(name, self.rows())
        if name == "distances" and rows.shape[0] != rows.shape[1]:
            raise ArgumentError("distances", f"must be square, got shape {rows.shape}")
        return len(rows)

    def rows(self) -> Any:
        """Return the argument that holds the objects."""
        return getattr(self, self.names()[0])

    def ranks(self, codes: np.ndarray) -> np.ndarray:
        """Return the `equivalence_ranks` of objects with these labels."""
        if issparse(self.K):
            return sparse_equivalence_ranks(csr_array(self.K), codes)
        return equivalence_ranks(self.rows(), codes, square=self.names()[0] in ("K", "distances"))

    def reordered(self, order: np.ndarray) -> KernelInput:
        """Return the arguments with the objects in another order."""
        name = self.names()[0]
        rows = csr_array(self.K) if issparse(self.K) else np.asarray(self.rows())
        rows = rows[order]
        square = name in ("K", "distances")
        return replace(self, **{name: rows[:, order] if square else rows})

    def check(self) -> str:
        """Check the combination of arguments, and return the name of the one with the objects."""
        choice("similarity", self.similarity, ("psd", "general"))
        names = self.names()
        if len(names) != 1:
            listed = " and ".join(names) or "none"
            raise TypeError(
                f"give one of K (a matrix), points, distances and features; got {listed}"
            )
        name = names[0]
        if self.h is not None and name not in ("points", "distances"):
            raise ArgumentTypeError("h", f"is the width of a kernel of points; {name} has none")
        if self.similarity == "general" and (self.K is None or issparse(self.K)):
            raise TypeError('similarity="general" is for a matrix K that is not sparse')
        return name

    @property
    def automatic(self) -> bool:
        """Return whether the widths are to be chosen."""
        return self.h is None and self.names()[0] in ("points", "distances")

    def neighbors(self, n_neighbors: int) -> Neighborhood:
        """Find the neighbours from which widths are chosen."""
        if self.distances is None:
            X = point_matrix("points", self.points)
            return Neighborhood.from_points(X, n_neighbors)
        D = square_distances("distances", self.distances)
        return Neighborhood.from_distances(D, n_neighbors)

    def neighbor_kernel(
        self, near: Neighborhood, n_neighbors: int, scale: float
    ) -> tuple[SparseKernel, float]:
        """Return the kernel of near neighbours, and the common width h."""
        K, h = near.graph(n_neighbors, scale)
        # As for points with one width: the kernel of sqrt(2) times the widths.
        return SparseKernel(K, np.sqrt(K.data) if self.risk == "ise" else None), h

    def all_pairs(self) -> AllPairs:
        """Return the objects for `wide_kernel`."""
        return AllPairs(None if self.points is None else point_matrix("points", self.points))

    def wide_kernel(self, rate: float) -> tuple[DenseKernel, float]:
        """Return the kernel exp(-d / h) of all pairs, and h, the median distance over `rate`."""
        D = None
        if self.distances is not None:
            D = np.asarray(self.distances, dtype=np.float64)
        K, h = self.all_pairs().matrix(D, rate)
        return DenseKernel(K, np.sqrt(K) if self.risk == "ise" else None), h

    def read(self) -> DenseKernel | FeatureKernel | SparseKernel:
        """Check the arguments and return the kernel."""
        name = self.check()
        kernel: DenseKernel | FeatureKernel | SparseKernel
        if issparse(self.K):
            kernel = SparseKernel(sparse_matrix("K", self.K))
            values = kernel.linear.data
            similar = np.bincount(kernel.rows, values != 0, minlength=kernel.n) != 0
            spread = np.ptp(values) if len(values) == kernel.n**2 else 1.0
        elif name == "features":
            Z = arrays.matrix("features", self.features).astype(np.float64, order="C")
            if 0 in Z.shape:
                raise ArgumentError("features", f"must have rows and columns, got shape {Z.shape}")
            kernel = FeatureKernel(Z)
            similar, spread = kernel.squares != 0, np.ptp(Z, axis=0).max()
        else:
            kernel = self._dense_kernel(name)
            similar, spread = kernel.linear.any(axis=1), np.ptp(kernel.linear, axis=0).max()
        empty = np.flatnonzero(~similar)
        if empty.size:
            raise ArgumentError(
                name,
                f"has zero similarity to every object, itself included "
                f"({empty.size} such rows); leave such objects out",
                empty[0],
            )
        if spread == 0:
            raise ArgumentError(name, "has only equal rows: all objects are alike")
        return kernel

    def _dense_kernel(self, name: str) -> DenseKernel:
        if name == "K":
            K = symmetric_matrix("K", self.K)
            if arrays.like_distances(K):
                raise ArgumentError(
                    "K",
                    "has zeros on its diagonal, as distances have; give them as distances=, or "
                    "make similarities of them: np.exp(-gamma * D)",
                )
            check_kernel_fits(len(K))
            return DenseKernel(K, split("K", K).absolute if self.similarity == "general" else None)
        if name == "points":
            check_kernel_fits(self.size())
            K = gaussian("points", self.points, None, self.h)
        else:
            D = square_distances("distances", self.distances)
            check_kernel_fits(len(D))
            K = gaussian_of_distances(D, positive_number("h", self.h))
        # exp(-d^2 / (4 h^2)), the kernel of width sqrt(2) h, up to a factor that lam absorbs.
        return DenseKernel(K, np.sqrt(K) if self.risk == "ise" else None)


def warn_of_equal_similarities(name: str, kernel: Any) -> None:
    """Warn of a matrix in which all different objects have the same similarity, and not 0."""
    if not isinstance(kernel, DenseKernel) or kernel.n < 3:
        return
    K, value = kernel.linear, kernel.linear[0, 1]
    if value == 0 or (K[0, 1:] != value).any():
        return
    if np.count_nonzero(value != K) == np.count_nonzero(K.diagonal() != value):
        warn(
            f"all similarities of different objects are {value:g}, by {name}: nothing tells them "
            "apart, and their labels are arbitrary"
        )


def check_kernel_fits(n: int) -> None:
    """Refuse a kernel of n objects that does not fit into memory, with its graph."""
    check_fits(
        48 * n**2,
        f"the kernel of {n} objects, with eigenvectors,",
        "give features, or a sparse K such as neighbor_similarities returns",
    )


def read_lam(lam: float | None, n: int) -> float:
    """Return lambda, or its default."""
    return 0.5 * n if lam is None else positive_number("lam", lam)


def sparse_matrix(name: str, values: Any) -> csr_array:
    """Return a sparse matrix as float64 by rows, symmetric but for rounding, or raise."""
    n, columns = values.shape
    if n != columns or not n:
        raise ArgumentError(name, f"must be square and not empty, got shape {values.shape}")
    K = csr_array(feature_rows(name, values), dtype=np.float64)
    gaps = abs(K - K.T).tocoo()
    largest = abs(K.data).max() if K.nnz else 0.0
    if gaps.nnz and gaps.data.max() > ASYMMETRY * largest:
        at = gaps.data.argmax()
        i, j = sorted((int(gaps.row[at]), int(gaps.col[at])))
        raise ArgumentError(
            name,
            f"must be symmetric, but {name}[{i}, {j}] is {K[i, j]} and {name}[{j}, {i}] is "
            f"{K[j, i]}; take (K + K.T) / 2, or K.maximum(K.T) for a graph of neighbours",
        )
    return K
