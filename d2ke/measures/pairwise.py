# SPDX-License-Identifier: BSD-3-Clause
"""Many sets at once: all kernel distances, and nearest neighbours."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.spatial import KDTree
from scipy.spatial.distance import cdist

from d2ke._base.blas import row_products
from d2ke._base.checks import choice, integer
from d2ke._base.keywords import hinted
from d2ke._base.memory import check_fits
from d2ke._ext.pair_distance import NEAR_SHARE
from d2ke.measures import pair_sums
from d2ke.measures.feature_map import KernelFeatureMap, MapOptions
from d2ke.measures.kernels import Kernel
from d2ke.measures.measure import Measure, as_measures, matched, merged

_TREE_FEATURES = 16  # up to which a tree of neighbours beats comparing with all


@hinted
def kernel_distance_matrix(
    X: Any,
    Y: Any = None,
    *,
    sigma: float | str | None = None,
    weights_x: Any = None,
    weights_y: Any = None,
    kernel: str = "gaussian",
    method: str = "exact",
    n_features: int | None = None,
    eps: float | None = None,
    delta: float | None = None,
    seed: Any = 0,
    n_threads: int | None = None,
) -> NDArray[np.float64]:
    """Compute the kernel distances between all sets of X, or of X and Y.

    Parameters
    ----------
    X, Y : sequences of arrays of shape (n_i, d), or of Measure
        The sets; Y None: X among themselves.
    sigma : float or "median"
        The kernel's scale; "median" over the points of all sets.
    weights_x, weights_y : sequences of arrays of shape (n_i,), optional
        Weights of the points of each set; 1 each by default.
    kernel : {"gaussian", "laplace", "linear", "trivial"}
        As for `kernel_distance`.
    method : {"exact", "auto", "rff", "ifgt"}
        "exact": all pairs of points, kappa(P, P) computed once for each set. Others:
        distances of the features of `kernel_feature_map`.
    n_features, eps, delta, seed
        As for `kernel_feature_map`; not for "exact".
    n_threads : int, optional
        Threads; None for all that this process may use. The result does not
        depend on it.

    Returns
    -------
    ndarray of float64, shape (n_x, n_x) or (n_x, n_y)
        Distances. Equal sets have distance exactly 0. With "exact", distances of nearly equal
        sets keep their digits as in `kernel_distance`.

    Raises
    ------
    TypeError, ValueError
        As `kernel_distance` and `kernel_feature_map`.
    MemoryError
        If the call would take more than there is; see docs/memory.md.

    References
    ----------
    Joshi, Kommaraju, Phillips, Venkatasubramanian, "Comparing Distributions and
    Shapes using the Kernel Distance", SoCG 2011.

    Examples
    --------
    >>> import d2ke
    >>> sets = [[[0.0, 0.0], [1.0, 0.0]], [[0.0, 0.5]], [[0.0, 0.0], [1.0, 0.0]]]
    >>> d2ke.kernel_distance_matrix(sets, sigma=1.0).round(3).tolist()
    [[0.0, 1.174, 0.0], [1.174, 0.0, 1.174], [0.0, 1.174, 0.0]]
    """
    x = as_measures("X", X, "weights_x", weights_x)
    y = None if Y is None else as_measures("Y", Y, "weights_y", weights_y)
    if y is None and weights_y is not None:
        raise TypeError("weights_y is given, but Y is not")
    if y is not None:
        y = [matched(x[0], measure, "X[0]", f"Y[{i}]") for i, measure in enumerate(y)]
    options = MapOptions(sigma, kernel, method, n_features, eps, delta, seed)
    by = _comparison(x if y is None else x + y, options)
    return _distances(x, y, by, n_threads)


@hinted
def kernel_neighbors(
    queries: Any,
    sets: Any,
    k: int = 1,
    *,
    sigma: float | str | None = None,
    weights_queries: Any = None,
    weights: Any = None,
    kernel: str = "gaussian",
    method: str = "exact",
    n_features: int | None = None,
    eps: float | None = None,
    delta: float | None = None,
    seed: Any = 0,
    n_threads: int | None = None,
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Find the k sets nearest to each query under the kernel distance.

    Parameters
    ----------
    queries, sets : sequences of arrays of shape (n_i, d), or of Measure
        The sets whose neighbours are found, and the sets that are searched.
    k : int
        Number of neighbours, 1 to the number of sets.
    sigma : float or "median"
        The kernel's scale; "median" over the points of all sets.
    weights_queries, weights : sequences of arrays of shape (n_i,), optional
        Weights of the points; 1 each by default.
    kernel, method, n_features, eps, delta, seed, n_threads
        As for `kernel_distance_matrix`. With features that are few (16), a k-d tree
        finds the neighbours, else all are compared.

    Returns
    -------
    indices : ndarray of int64, shape (n_queries, k)
        Positions in `sets`, the nearest first; ties are sorted by index.
    distances : ndarray of float64, shape (n_queries, k)
        Their distances.

    Raises
    ------
    TypeError, ValueError
        As `kernel_distance_matrix`; k out of range.
    MemoryError
        If the call would take more than there is; see docs/memory.md.

    References
    ----------
    Joshi, Kommaraju, Phillips, Venkatasubramanian, "Comparing Distributions and
    Shapes using the Kernel Distance", SoCG 2011, Lemma 4.3.

    Examples
    --------
    >>> import d2ke
    >>> sets = [[[0.0, 0.0], [1.0, 0.0]], [[0.0, 0.5]], [[4.0, 4.0]]]
    >>> queries = [[[0.0, 0.6]], [[1.0, 0.0], [0.0, 0.0]]]
    >>> indices, distances = d2ke.measures.kernel_neighbors(queries, sets, 2, sigma=1.0)
    >>> indices.tolist(), distances.round(3).tolist()
    ([[1, 0], [0, 1]], [[0.1, 1.237], [0.0, 1.174]])
    """
    q = as_measures("queries", queries, "weights_queries", weights_queries)
    s = as_measures("sets", sets, "weights", weights)
    s = [matched(q[0], measure, "queries[0]", f"sets[{i}]") for i, measure in enumerate(s)]
    k = integer("k", k, 1, len(s))
    options = MapOptions(sigma, kernel, method, n_features, eps, delta, seed)
    by = _comparison(q + s, options)
    if isinstance(by, KernelFeatureMap) and by.n_features <= _TREE_FEATURES:
        Z = by(q, n_threads=n_threads)
        return _nearest_rows(KDTree(by(s, n_threads=n_threads)), Z, k)
    D = _distances(q, s, by, n_threads)
    indices = np.argsort(D, axis=1, kind="stable")[:, :k].astype(np.int64, copy=False)
    return indices, np.take_along_axis(D, indices, axis=1)


def _nearest_rows(
    tree: KDTree, Z: np.ndarray, k: int
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the k nearest rows of the tree, ties by index, and their distances."""
    width = min(k + 1, tree.n)
    distances, indices = tree.query(Z, k=range(1, width + 1))
    while width < tree.n and (distances[:, -1] <= distances[:, k - 1]).any():
        width = min(2 * width, tree.n)  # the tree returns any of the rows that tie
        distances, indices = tree.query(Z, k=range(1, width + 1))
    order = np.lexsort((indices, distances))[:, :k]
    indices = np.take_along_axis(indices, order, axis=1).astype(np.int64, copy=False)
    return indices, np.take_along_axis(distances, order, axis=1)


def _comparison(measures: list[Measure], options: MapOptions) -> Kernel | KernelFeatureMap:
    """Return the kernel of exact distances, or the map whose features are compared."""
    if choice("method", options.method, ("exact", "auto", "rff", "ifgt")) != "exact":
        return options.make(measures)
    for name in ("n_features", "eps", "delta"):
        value = getattr(options, name)
        if value is not None:
            raise TypeError(f'{name} has no meaning for method="exact"; got {value!r}')
    return Kernel.checked(options.kernel, options.sigma, measures)


def _distances(
    x: list[Measure],
    y: list[Measure] | None,
    by: Kernel | KernelFeatureMap,
    n_threads: int | None,
) -> np.ndarray:
    n, m = len(x), len(x if y is None else y)
    check_fits(
        24 * n * m,
        f"the distances of {n} x {m} sets",
        "compute them for some rows at a time, or give kernel_features to a learner instead",
    )
    if isinstance(by, Kernel):
        return _exact_distances(x, y, by, n_threads)
    Z = by(x, n_threads=n_threads)
    return _euclidean(Z, Z if y is None else by(y, n_threads=n_threads), n_threads)


def _exact_distances(
    x: list[Measure],
    y: list[Measure] | None,
    kernel: Kernel,
    n_threads: int | None,
) -> np.ndarray:
    if kernel.sigma is None:
        both = x if y is None else x + y
        if kernel.name == "trivial":
            return _trivial(both, len(x), y is None)
        Z = np.stack([(m.points.T @ m.vectors).ravel() for m in both])
        return cdist(Z[: len(x)], Z if y is None else Z[len(x) :])
    high, low = pair_sums.kappas(x, y, kernel, n_threads)
    if y is None:
        diagonal = np.stack([high.diagonal(), low.diagonal()])
        x_norms, y_norms = diagonal, diagonal
    else:
        x_norms, y_norms = (_diagonal(m, kernel, n_threads) for m in (x, y))
    # Differences of nearly equal sums first, their low parts afterwards. Arrays are reused, since
    # the sums of all pairs may take much of the memory.
    D = x_norms[0][:, None] - high
    D += np.subtract(y_norms[0], high, out=high)
    np.subtract(x_norms[1][:, None], low, out=high)
    high += np.subtract(y_norms[1], low, out=low)
    D += high
    del high, low
    _small_squares(D, x, y, x_norms[0], y_norms[0], kernel, n_threads)
    np.sqrt(np.maximum(D, 0, out=D), out=D)
    if y is None:
        D = np.triu(D, 1)
        D += D.T
    return D


def _small_squares(
    squares: np.ndarray,
    x: list[Measure],
    y: list[Measure] | None,
    x_norms: np.ndarray,
    other: np.ndarray,
    kernel: Kernel,
    n_threads: int | None,
) -> None:
    """Recompute squares of distinct sets that are near rounding error."""
    small = squares < NEAR_SHARE * (x_norms[:, None] + other)
    if y is None:
        small = np.triu(small, 1)
    if not small.any():
        return
    p = [merged(m.points, m.vectors) for m in x]
    q = p if y is None else [merged(m.points, m.vectors) for m in y]
    # With many small distances it is quicker to recompute all distances.
    if small.sum() > 8 * sum(small.shape) and all(len(points) for points, _ in (*p, *q)):
        precise = pair_sums.distances(p, None if y is None else q, kernel, n_threads)
        squares[small] = np.square(precise[small])
        return
    for i, j in np.argwhere(small).tolist():
        if all(map(np.array_equal, p[i], q[j])):
            squares[i, j] = 0.0  # the order of the points may differ
            continue
        square, _ = pair_sums.small_square(p[i], q[j], kernel)
        squares[i, j] = squares[i, j] if math.isnan(square) else square


def _diagonal(measures: list[Measure], kernel: Kernel, n_threads: int | None) -> np.ndarray:
    """Return kappa(P, P) of each measure, by the blocks in which it is compared with others."""
    sums = [pair_sums.kappas([m], [m], kernel, n_threads) for m in measures]
    return np.array([[pair[k][0, 0] for pair in sums] for k in range(2)])


def _trivial(measures: list[Measure], n_x: int, symmetric: bool) -> np.ndarray:
    """Return distances of the rows of a sparse matrix, a column for each distinct point."""
    points = np.concatenate([m.points for m in measures]) + 0.0
    _, column = np.unique(points, axis=0, return_inverse=True)
    vectors = np.concatenate([m.vectors for m in measures])
    r = vectors.shape[1]
    rows = np.repeat(np.repeat(np.arange(len(measures)), [len(m) for m in measures]), r)
    columns = (column.reshape(-1, 1) * r + np.arange(r)).ravel()
    shape = (len(measures), (int(column.max()) + 1) * r)
    carried = sparse.csr_array(sparse.coo_array((vectors.ravel(), (rows, columns)), shape=shape))
    carried.sum_duplicates()
    x, y = carried[:n_x], carried if symmetric else carried[n_x:]
    D = np.empty((x.shape[0], y.shape[0]))
    for i in range(len(D)):
        row = x[[i]]
        gap = y - sparse.csr_array(np.ones((y.shape[0], 1))) @ row
        D[i] = np.sqrt(np.asarray(gap.power(2).sum(axis=1)).ravel())
    return D


def _euclidean(A: np.ndarray, B: np.ndarray, n_threads: int | None) -> np.ndarray:
    """Return distances of rows by a matrix product, and small distances directly."""
    if A.shape[1] <= _TREE_FEATURES or len(A) * len(B) <= 4096:
        return cdist(A, B)
    a, b = (np.square(M).sum(axis=1) for M in (A, B))
    squares = a[:, None] + b - 2 * row_products(A, B, n_threads)
    i, j = np.nonzero(squares < 1e-6 * (a[:, None] + b))
    for chunk in np.array_split(np.arange(len(i)), 1 + len(i) * A.shape[1] // (1 << 22)):
        squares[i[chunk], j[chunk]] = np.square(A[i[chunk]] - B[j[chunk]]).sum(axis=1)
    return np.sqrt(np.maximum(squares, 0))
