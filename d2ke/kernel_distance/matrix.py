# SPDX-License-Identifier: BSD-3-Clause
"""Many sets at once: all distances, features whose distances they are, nearest neighbours."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.spatial import KDTree
from scipy.spatial.distance import cdist

from d2ke._memory import require_memory
from d2ke._products import row_products
from d2ke._validate import choice, flag, generator, integer
from d2ke.kernel_distance import fourier, sums, taylor
from d2ke.kernel_distance.distance import checked_accuracy, checked_kernel
from d2ke.kernel_distance.measure import Measure, as_measures, check_comparable
from d2ke.objects import offsets_of

_MOST_VALUES = 2**31  # of a feature matrix
_TREE_FEATURES = 16  # up to which a tree of neighbours beats comparing with all


@dataclass(frozen=True, eq=False)
class KernelFeatureMap:
    """A map of sets to vectors whose Euclidean distances are nearly their kernel distances.

    Called with sets (and their weights) it returns an array of shape
    (n_sets, n_features). Made by `kernel_feature_map`.

    Attributes
    ----------
    method : {"rff", "ifgt"}
        Random Fourier features or Taylor features.
    kernel : str
        The kernel.
    sigma : float
        Its scale.
    centre : ndarray of shape (d,)
        Origin of the features.
    kind : str
        The kind of measures that it maps.
    channels : int
        Numbers that each point of these carries.
    omega : ndarray of shape (d, n_features / 2 / channels), or None
        Frequencies of random features.
    degree : int or None
        Degree of Taylor features.
    radius : float or None
        Greatest distance from the centre of points that can be mapped; None: any.
    eps : float or None
        The accuracy it was made for.
    """

    method: str
    kernel: str
    sigma: float
    centre: np.ndarray
    kind: str
    channels: int
    omega: np.ndarray | None
    degree: int | None
    radius: float | None
    eps: float | None

    def __post_init__(self) -> None:
        """Check what the kernels rely on, where the parts are not from `kernel_feature_map`."""
        choice("method", self.method, ("rff", "ifgt"))
        if self.method == "rff" and np.shape(self.omega)[:1] != np.shape(self.centre):
            raise ValueError(
                f"omega must have a row for each of {len(self.centre)} coordinates, got shape "
                f"{np.shape(self.omega)}"
            )
        if self.method == "ifgt":
            integer("degree", self.degree, 1)

    @property
    def n_features(self) -> int:
        """Length of the vectors."""
        if self.omega is not None:
            return 2 * self.channels * self.omega.shape[1]
        return self.channels * taylor.terms_of(len(self.centre), self.degree)

    def __call__(
        self, sets: Any, *, weights: Any = None, n_threads: int | None = None
    ) -> np.ndarray:
        """Map sets to vectors, float64 of shape (n_sets, n_features)."""
        measures = as_measures("sets", sets, "weights", weights)
        first = measures[0]
        if first.kind != self.kind or first.points.shape[1] != len(self.centre):
            raise ValueError(
                f"the map is for measures of kind {self.kind!r} in {len(self.centre)} dimensions; "
                f"sets holds {first.kind!r} in {first.points.shape[1]}"
            )
        if len(measures) * self.n_features > _MOST_VALUES:
            raise ValueError(
                f"{len(measures)} sets with {self.n_features} features each are too many"
            )
        require_memory("KernelFeatureMap", R=self.n_features, **_sizes(measures))
        points = np.concatenate([m.points for m in measures]) - self.centre
        vectors = np.concatenate([m.vectors for m in measures])
        offsets = offsets_of([len(m) for m in measures])
        if self.radius is not None:
            reach = np.sqrt(np.square(points).sum(axis=1))
            worst = int(reach.argmax())
            if reach[worst] > self.radius * (1 + 1e-9):
                which = int(np.searchsorted(offsets, worst, side="right")) - 1
                raise ValueError(
                    f"sets[{which}] has a point at distance {reach[worst]} from the centre, but "
                    f"the map holds within {self.radius}; make it from sets that reach as far"
                )
        if self.method == "rff":
            Z = fourier.transforms(points, vectors, offsets, self.omega, n_threads)
            Z = Z / math.sqrt(self.omega.shape[1])
        else:
            unit = math.sqrt(2) * self.sigma
            Z = taylor.features(points / unit, vectors, offsets, self.degree, n_threads)
        return Z.reshape(len(measures), -1)


def kernel_feature_map(
    sets: Any,
    *,
    sigma: float | str,
    weights: Any = None,
    kernel: str = "gaussian",
    method: str = "auto",
    n_features: int | None = None,
    eps: float | None = None,
    delta: float | None = None,
    uniform: bool = False,
    seed: Any = 0,
) -> KernelFeatureMap:
    """Make a map under which the kernel distance becomes the Euclidean one.

    Parameters
    ----------
    sets : sequence of arrays of shape (n_i, d), or of Measure
        The sets to be mapped: where they lie, and how many they are, decides the map.
        It can map others of the same kind afterwards.
    sigma : float or "median"
        The kernel's scale, as for `kernel_distance`.
    weights : sequence of arrays of shape (n_i,), optional
        Weights of the points of each set; 1 each by default.
    kernel : {"gaussian", "laplace"}
        The kernel.
    method : {"auto", "rff", "ifgt"}
        Random Fourier features, or Taylor features (Gaussian kernel, few dimensions).
        "auto": for a given `eps` whatever needs fewer features, else "rff".
    n_features : int, optional
        Number of random features, even; for Measures with r numbers per point a
        multiple of 2 r. Give this or `eps`.
    eps : float, optional
        The error of every D_K^2 between two of the sets is at most eps W^2, where W is
        the mean of their total measures.
    delta : float, optional
        Probability with which random features may miss this for some pair; 0.01 by
        default.
    uniform : bool
        True: what `eps` promises holds for all sets at once within the ball around the
        given ones, those not seen yet included, as many as there may be; this takes
        more random features (Gaussian kernel only). With Taylor features it holds
        in any case.
    seed : int or numpy.random.Generator
        Of random features; more features from the same seed begin with the same
        frequencies.

    Returns
    -------
    KernelFeatureMap
        To be called with sets.

    Raises
    ------
    TypeError, ValueError
        Not exactly one of `n_features` and `eps`, arguments out of range, more features
        than there can be.
    MemoryError
        If the call would take more than there is; see docs/memory.md.

    References
    ----------
    Joshi, Kommaraju, Phillips, Venkatasubramanian, "Comparing Distributions and
    Shapes using the Kernel Distance", SoCG 2011, section 4 (uniform: its third map,
    by an eps-net). Sutherland and Schneider, "On the error of random Fourier
    features", UAI 2015, Proposition 1 (how many the uniform promise takes).

    Examples
    --------
    >>> import d2ke
    >>> sets = [[[0.0, 0.0], [1.0, 0.0]], [[0.0, 0.5]], [[1.0, 1.0], [0.5, 0.0]]]
    >>> phi = d2ke.kernel_feature_map(sets, sigma=1.0, eps=1e-6)
    >>> phi.method, phi.n_features, phi(sets).shape
    ('ifgt', 36, (3, 36))
    """
    measures = as_measures("sets", sets, "weights", weights)
    uniform = flag("uniform", uniform)
    return _map_for(measures, sigma, kernel, method, n_features, eps, delta, seed, uniform)


def kernel_features(
    sets: Any,
    *,
    sigma: float | str,
    weights: Any = None,
    kernel: str = "gaussian",
    method: str = "auto",
    n_features: int | None = None,
    eps: float | None = None,
    delta: float | None = None,
    seed: Any = 0,
    n_threads: int | None = None,
) -> np.ndarray:
    """Map sets to vectors whose Euclidean distances are nearly their kernel distances.

    Parameters
    ----------
    sets : sequence of arrays of shape (n_i, d), or of Measure
        The sets.
    sigma, weights, kernel, method, n_features, eps, delta, seed
        As for `kernel_feature_map`, which is the way to map other sets later.
    n_threads : int, optional
        Threads; None for all that this process may use. The result does not
        depend on it.

    Returns
    -------
    ndarray of float64, shape (n_sets, n_features)
        One vector for each set: its mean feature vector times its number of points.

    Raises
    ------
    TypeError, ValueError
        As `kernel_feature_map`.
    MemoryError
        If the call would take more than there is; see docs/memory.md.

    References
    ----------
    Joshi, Kommaraju, Phillips, Venkatasubramanian, "Comparing Distributions and
    Shapes using the Kernel Distance", SoCG 2011, Lemmas 4.1 and 4.2.

    Examples
    --------
    >>> import numpy as np
    >>> import d2ke
    >>> sets = [[[0.0, 0.0], [1.0, 0.0]], [[0.0, 0.5]]]
    >>> Z = d2ke.kernel_features(sets, sigma=1.0, n_features=20000)
    >>> bool(abs(np.linalg.norm(Z[0] - Z[1]) - d2ke.kernel_distance(*sets, sigma=1.0)) < 0.01)
    True
    """
    measures = as_measures("sets", sets, "weights", weights)
    phi = _map_for(measures, sigma, kernel, method, n_features, eps, delta, seed)
    require_memory("kernel_features", R=phi.n_features, **_sizes(measures))
    return phi(measures, n_threads=n_threads)


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
) -> np.ndarray:
    """Compute the kernel distances between all sets of X, or of X and Y.

    Parameters
    ----------
    X, Y : sequences of arrays of shape (n_i, d), or of Measure
        The sets; Y None for those of X among themselves.
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
        Distances. Equal sets have the distance 0 exactly.

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
        check_comparable("X[0]", x[0], "Y[0]", y[0])
    given = (sigma, kernel, method, n_features, eps, delta, seed, n_threads)
    return _distances("kernel_distance_matrix", x, y, *given)


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
) -> tuple[np.ndarray, np.ndarray]:
    """Find the k sets nearest to each query under the kernel distance.

    Parameters
    ----------
    queries, sets : sequences of arrays of shape (n_i, d), or of Measure
        What neighbours are wanted of, and among what.
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
    distances : ndarray of float64, shape (n_queries, k)
        In ascending order.
    indices : ndarray of int64, shape (n_queries, k)
        The neighbours; of equally distant sets the first come first where all are
        compared.

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
    >>> distances, indices = d2ke.kernel_neighbors([[[0.0, 0.6]]], sets, 2, sigma=1.0)
    >>> distances.round(3).tolist(), indices.tolist()
    ([[0.1, 1.237]], [[1, 0]])
    """
    q = as_measures("queries", queries, "weights_queries", weights_queries)
    s = as_measures("sets", sets, "weights", weights)
    check_comparable("queries[0]", q[0], "sets[0]", s[0])
    k = integer("k", k, 1, len(s))
    if method != "exact":
        phi = _map_for(q + s, sigma, kernel, method, n_features, eps, delta, seed)
        if phi.n_features <= _TREE_FEATURES:
            tree = KDTree(phi(s, n_threads=n_threads))
            distances, indices = tree.query(phi(q, n_threads=n_threads), k=range(1, k + 1))
            return distances, indices.astype(np.int64)
    given = (sigma, kernel, method, n_features, eps, delta, seed, n_threads)
    D = _distances("kernel_neighbors", q, s, *given)
    indices = np.argsort(D, axis=1, kind="stable")[:, :k]
    return np.take_along_axis(D, indices, axis=1), indices.astype(np.int64)


def _distances(function, x, y, sigma, kernel, method, n_features, eps, delta, seed, n_threads):
    choice("method", method, ("exact", "auto", "rff", "ifgt"))
    both = x if y is None else x + y
    sizes = {**_sizes(both), "n": len(x), "m": len(x if y is None else y)}
    if method != "exact":
        phi = _map_for(both, sigma, kernel, method, n_features, eps, delta, seed)
        require_memory(function, 'method="rff", "ifgt", "auto"', R=phi.n_features, **sizes)
        Z = phi(x, n_threads=n_threads)
        return _euclidean(Z, Z if y is None else phi(y, n_threads=n_threads), n_threads)
    for name, value in (("n_features", n_features), ("eps", eps), ("delta", delta)):
        if value is not None:
            raise TypeError(f'{name} has no meaning for method="exact"; got {value!r}')
    sigma = checked_kernel(kernel, sigma, [m.points for m in both])
    if kernel in ("linear", "trivial"):
        require_memory(function, 'kernel="linear", "trivial"', **sizes)
    else:
        sizes["G"] = sum(-(-len(measure) // 64) for measure in x)
        require_memory(function, 'method="exact"', **sizes)
    if kernel == "linear":
        Z = np.stack([(m.points.T @ m.vectors).ravel() for m in both])
        return cdist(Z[: len(x)], Z if y is None else Z[len(x) :])
    if kernel == "trivial":
        return _trivial(both, len(x), y is None)
    high, low = sums.kappas(x, y, kernel, sigma, n_threads)
    if y is None:
        diagonal = np.stack([high.diagonal(), low.diagonal()])
        own, other = diagonal, diagonal
    else:
        own, other = (_diagonal(m, kernel, sigma, n_threads) for m in (x, y))
    # Differences of nearly equal sums first, their low parts afterwards. In place: sums of
    # all pairs may be much of the memory.
    D = own[0][:, None] - high
    D += np.subtract(other[0], high, out=high)
    np.subtract(own[1][:, None], low, out=high)
    high += np.subtract(other[1], low, out=low)
    D += high
    del high, low
    np.sqrt(np.maximum(D, 0, out=D), out=D)
    if y is None:
        D = np.triu(D, 1)
        D += D.T
    return D


def _sizes(measures: list[Measure]) -> dict[str, int]:
    """Return the sizes of sets that `require_memory` is asked about."""
    points, dim = sum(map(len, measures)), measures[0].points.shape[1]
    numbers = points * (dim + measures[0].vectors.shape[1] - 1)
    return {"n": len(measures), "N": numbers, "V": points, "d": dim}


def _diagonal(measures: list[Measure], kernel: str, sigma: float, n_threads: int | None):
    """kappa(P, P) of each measure, by blocks as if it were compared with another."""
    parts = [sums.kappas([m], [m], kernel, sigma, n_threads) for m in measures]
    return np.array([[part[k][0, 0] for part in parts] for k in range(2)])


def _trivial(measures: list[Measure], n_x: int, symmetric: bool) -> np.ndarray:
    """Distances of the rows of a sparse matrix with a column for each distinct point."""
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
    """Distances of rows: by a product, and the small ones, which that rounds away, directly."""
    if A.shape[1] <= _TREE_FEATURES or len(A) * len(B) <= 4096:
        return cdist(A, B)
    a, b = (np.square(M).sum(axis=1) for M in (A, B))
    squares = a[:, None] + b - 2 * row_products(A, B, n_threads)
    i, j = np.nonzero(squares < 1e-6 * (a[:, None] + b))
    for part in np.array_split(np.arange(len(i)), 1 + len(i) * A.shape[1] // (1 << 22)):
        squares[i[part], j[part]] = np.square(A[i[part]] - B[j[part]]).sum(axis=1)
    return np.sqrt(np.maximum(squares, 0))


def _map_for(measures, sigma, kernel, method, n_features, eps, delta, seed, uniform=False):
    choice("kernel", kernel, ("gaussian", "laplace"))
    choice("method", method, ("auto", "rff", "ifgt"))
    sigma = checked_kernel(kernel, sigma, [m.points for m in measures])
    eps, delta = checked_accuracy(eps, delta)
    rng = generator(seed)
    if (n_features is None) == (eps is None):
        raise TypeError("give the accuracy as eps or the size as n_features, one of the two")
    if method == "ifgt" and (kernel != "gaussian" or eps is None):
        raise ValueError('method="ifgt" is for the Gaussian kernel, and needs eps')
    if uniform and (kernel != "gaussian" or eps is None):
        raise ValueError("uniform=True is for the Gaussian kernel, and needs eps")
    points = np.concatenate([m.points for m in measures])
    dim, channels = points.shape[1], measures[0].vectors.shape[1]
    # Each pair's error is eps times the square of half its total.
    each = None if eps is None else eps / 4
    centre, radius = taylor.ball(points)
    if uniform:
        wanted = fourier.needed_uniformly(each, delta, dim, 2 * radius, sigma)
    elif eps is not None:
        pairs = max(1, len(measures) * (len(measures) - 1) // 2)
        wanted = fourier.needed(each, delta / pairs)
    else:
        count = integer("n_features", n_features, 2 * channels)
        if count % (2 * channels):
            raise ValueError(
                f"n_features must be a multiple of {2 * channels}, the features of one frequency; "
                f"got {count}"
            )
        wanted = count // (2 * channels)
    shared = {"kernel": kernel, "sigma": sigma, "kind": measures[0].kind, "channels": channels}
    if kernel == "gaussian" and eps is not None and method != "rff":
        try:
            degree, terms = taylor.check_terms(dim, radius / (math.sqrt(2) * sigma), each)
        except ValueError:
            if method == "ifgt":
                raise
        else:
            if method == "ifgt" or terms <= 2 * wanted:
                return KernelFeatureMap(
                    "ifgt", centre=centre, omega=None, degree=degree, radius=radius, eps=eps,
                    **shared,
                )  # fmt: skip
    if dim * wanted > _MOST_VALUES // 8:
        raise ValueError(
            f"eps={eps} for {len(measures)} sets would need {2 * channels * wanted} random "
            'features; use a larger eps, n_features, or method="exact"'
        )
    require_memory("kernel_feature_map", R=2 * channels * wanted, **_sizes(measures))
    omega = fourier.frequencies(rng, dim, wanted, kernel, sigma)
    return KernelFeatureMap(
        "rff", centre=centre, omega=omega, degree=None, radius=radius if uniform else None,
        eps=eps, **shared,
    )  # fmt: skip
