# SPDX-License-Identifier: BSD-3-Clause
"""Two-sample tests by the kernel distance, with permutations."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from scipy.spatial.distance import cdist

from d2ke._base import arrays
from d2ke._base.arrays import refuse_distances, symmetric_matrix
from d2ke._base.checks import generator, integer
from d2ke._base.errors import ArgumentError, ArgumentTypeError
from d2ke._base.keywords import hinted
from d2ke._base.memory import check_fits
from d2ke._base.results import result
from d2ke.measures import user_kernel
from d2ke.measures.kernels import SCALED_KERNELS, Kernel
from d2ke.measures.measure import Measure, as_measure, matched

_COLUMNS = 64  # permutations at a time


@result
class TwoSampleTest:
    """The kernel distance of two samples, and its p-value.

    Attributes
    ----------
    distance : float
        D_K between the samples, each of total weight 1: the biased estimate of the maximum mean
        discrepancy.
    p_value : float
        Share of all divisions of the pooled objects whose distance is at least this one, the
        observed division included: at most alpha with probability alpha where both samples
        come from one distribution, whatever their sizes.
    exact : bool
        Whether all divisions were evaluated, not random ones.
    null : ndarray of float64
        The distances of the divisions, in ascending order.
    sigma : float or None
        The kernel's scale, where it has one.
    """

    distance: float
    p_value: float
    exact: bool
    null: np.ndarray
    sigma: float | None = None


@hinted
def kernel_two_sample_test(
    P: Any,
    Q: Any,
    *,
    sigma: float | str | None = "median",
    kernel: str | Callable[[Any, Any], Any] = "gaussian",
    n_permutations: int = 999,
    seed: Any = 0,
) -> TwoSampleTest:
    """Test whether two samples come from one distribution, by their kernel distance.

    If they do, every division of the pooled points into parts of these sizes is equally likely.
    The p-value is the share of divisions with a distance at least as large. So the level is exact
    for any kernel and any sizes.

    Parameters
    ----------
    P, Q : array_like of shape (n, d), or for a function as kernel any sequences
        The samples.
    sigma : float or "median"
        The kernel's scale; "median" is the median distance of the pooled points, which no
        permutation changes.
    kernel : {"gaussian", "laplace"} or callable
        As for `kernel_distance`; or a function ``kernel(X, Y)`` that returns the matrix of
        kernel values of two lists of objects, positive semidefinite; `sigma` has no meaning then.
    n_permutations : int
        Number of random divisions. If there are not more divisions in total, all are
        evaluated, and the p-value is not random.
    seed : int or numpy.random.Generator
        Seed of the divisions.

    Returns
    -------
    TwoSampleTest
        The distance, the p-value and the distances of the divisions.

    Raises
    ------
    TypeError, ValueError
        Empty samples, values that are not finite, different dimensions, or arguments out of range.
    MemoryError
        If the call would take more than there is; see docs/memory.md.

    Notes
    -----
    All points of a sample weigh the same: with weights, divisions would not be equally
    likely. For sets, series or strings, and for samples whose pairs do not fit into memory, test
    features or a Gram matrix: `features_two_sample_test`, `gram_two_sample_test`.

    References
    ----------
    Gretton, Borgwardt, Rasch, Schoelkopf, Smola, "A kernel two-sample test", JMLR 13, 2012.
    Phipson, Smyth, "Permutation p-values should never be zero", 2010.

    Examples
    --------
    >>> import numpy as np
    >>> import d2ke
    >>> rng = np.random.default_rng(0)
    >>> P, Q = rng.normal(size=(100, 2)), rng.normal(size=(80, 2))
    >>> d2ke.kernel_two_sample_test(P, Q).p_value > 0.05
    True
    >>> d2ke.kernel_two_sample_test(P, 1.5 * Q).p_value
    0.001
    """
    if callable(kernel):
        scale, objects, n = None, [*P, *Q], len(P)
        for name, size in (("P", n), ("Q", len(objects) - n)):
            if not size:
                raise ArgumentError(name, "is empty: at least one object is needed")
        _check_gram(len(objects))
        K = user_kernel.values(kernel, objects, objects)
    else:
        for name, sample in (("P", P), ("Q", Q)):
            is_sequence = isinstance(sample, (list, tuple, np.ndarray))
            head = next(iter(sample), None) if is_sequence else None
            if getattr(sample, "has_letters", False) or isinstance(head, str):
                raise ArgumentTypeError(
                    name,
                    "holds strings, and points are needed; a distance makes a kernel of any "
                    "objects: kernel=lambda X, Y: np.exp(-d2ke.distance_matrix(X, Y) / 5)",
                )
            if isinstance(sample, Measure):
                raise ArgumentTypeError(name, "is a Measure; samples are arrays of points")
        p = as_measure("P", P)
        first, second = p.points, matched(p, as_measure("Q", Q), "P", "Q").points
        points, n = np.concatenate([first, second]), len(first)
        pooled = Measure(points, np.ones((len(points), 1)))
        checked = Kernel.checked(kernel, sigma, [pooled], SCALED_KERNELS)
        scale = checked.sigma
        _check_gram(len(points))
        points, unit = checked.scaled(points)
        points = (points - points.mean(axis=0)) / unit.sigma
        if checked.laplace:
            K = -cdist(points, points)
        else:
            K = cdist(points, points, "sqeuclidean")
            K *= -0.5
        np.exp(K, out=K)
    divided = _Pooled(lambda W: _quadratic(K, W), n, len(K), _largest(K))
    return _tested(divided, n_permutations, seed, scale)


def _check_gram(n: int) -> None:
    check_fits(
        16 * n**2,
        f"the kernel of {n} objects",
        "give features to features_two_sample_test",
    )


@hinted
def gram_two_sample_test(
    K: Any, n: int, *, n_permutations: int = 999, seed: Any = 0
) -> TwoSampleTest:
    """Test whether two samples of any objects come from one distribution, by a Gram matrix.

    Parameters
    ----------
    K : array_like, shape (n + m, n + m)
        Kernel of the pooled objects, positive semidefinite.
    n : int
        The first n objects are one sample, the last m the second.
    n_permutations, seed
        As for `kernel_two_sample_test`.

    Returns
    -------
    TwoSampleTest
        As of `kernel_two_sample_test`.

    Raises
    ------
    TypeError, ValueError
        K not a symmetric matrix of finite real numbers, or arguments out of range.

    References
    ----------
    Gretton, Borgwardt, Rasch, Schoelkopf, Smola, "A kernel two-sample test", JMLR 13, 2012.

    Examples
    --------
    >>> import d2ke
    >>> X = ["ACGT", "ACGA", "ACCT", "ACG", "TTTA", "TTAA", "TATA", "TTA"]
    >>> K = d2ke.d2ke_gram(X, omega=X, distance="levenshtein", gamma=0.5)
    >>> test = d2ke.measures.gram_two_sample_test(K, 4)  # all 70 divisions
    >>> test.exact, round(test.p_value, 3)
    (True, 0.029)
    """
    K = symmetric_matrix("K", K)
    refuse_distances("K", K)
    n = integer("n", n, 1, len(K) - 1)
    return _tested(
        _Pooled(lambda W: _quadratic(K, W), n, len(K), _largest(K)), n_permutations, seed
    )


@hinted
def features_two_sample_test(
    Z: Any, n: int, *, n_permutations: int = 999, seed: Any = 0
) -> TwoSampleTest:
    """Test whether two samples of any objects come from one distribution, by features.

    The kernel is the inner product of features. Time and memory are linear in the number of
    objects.

    Parameters
    ----------
    Z : array_like, shape (n + m, R)
        Features of the pooled objects, as from `d2ke_embed` of strings or `kernel_features` of
        points.
    n : int
        The first n objects are one sample, the last m the second.
    n_permutations, seed
        As for `kernel_two_sample_test`.

    Returns
    -------
    TwoSampleTest
        As of `kernel_two_sample_test`.

    Raises
    ------
    TypeError, ValueError
        Z not a matrix of finite real numbers, or arguments out of range.

    References
    ----------
    Gretton, Borgwardt, Rasch, Schoelkopf, Smola, "A kernel two-sample test", JMLR 13, 2012.

    Examples
    --------
    >>> import d2ke
    >>> data = d2ke.datasets.load("splice")
    >>> X = data.objects[:200]  # of the class EI
    >>> omega = d2ke.samplers.random_strings(256, data.alphabet, length=(2, 50), seed=0)
    >>> Z = d2ke.d2ke_embed(X, omega, distance="levenshtein", gamma=0.01)
    >>> d2ke.measures.features_two_sample_test(Z, 100).p_value > 0.05
    True
    """
    Z = arrays.matrix("Z", Z)
    if Z.shape[1] == 0 or len(Z) < 2:
        raise ValueError(f"Z must hold two objects and a feature at least; its shape is {Z.shape}")
    n = integer("n", n, 1, len(Z) - 1)
    Z = Z.astype(np.float64, copy=False)
    means = Z.mean(axis=0)

    def squares(W: np.ndarray) -> np.ndarray:
        sums = Z.T @ W
        # The weights sum to 0 up to rounding, which large features would multiply.
        sums -= means[:, None] * W.sum(axis=0)
        return np.square(sums).sum(axis=0)

    largest = float(np.einsum("ij,ij->i", Z, Z).max())
    return _tested(_Pooled(squares, n, len(Z), largest), n_permutations, seed)


class _Pooled(NamedTuple):
    """D_K^2 of columns of weights, sizes of the first sample and of both, the largest K(x, x)."""

    squares: Callable[[np.ndarray], np.ndarray]
    n: int
    total: int
    largest: float


def _largest(K: np.ndarray) -> float:
    return float(np.abs(K.diagonal()).max())


def _quadratic(K: np.ndarray, W: np.ndarray) -> np.ndarray:
    """Return w' K w of each column w."""
    return np.einsum("ij,ij->j", W, K @ W)


def _tested(
    pooled: _Pooled, n_permutations: int, seed: Any, sigma: float | None = None
) -> TwoSampleTest:
    """Return the test of the two samples."""
    squares, n, total, largest = pooled
    n_permutations = integer("n_permutations", n_permutations, 1)
    rng = generator(seed)
    first = np.zeros(total, dtype=bool)
    first[:n] = True
    exact = math.comb(total, n) <= n_permutations
    divisions = _all_divisions(total, n) if exact else _random_divisions(rng, first, n_permutations)
    weights = 1 / n, -1 / (total - n)
    observed = float(squares(np.where(first, *weights)[:, None])[0])
    statistics = np.concatenate([squares(np.where(block, *weights)) for block in divisions])
    if exact:
        # The observed division is the first; its value here has the same rounding.
        observed = float(statistics[0])
    # Statistics tie if they differ by less, relative to the largest and to kernel values.
    bound = observed - 1e-10 * max(float(np.abs(statistics).max()), abs(observed)) - 1e-14 * largest
    as_large = int((statistics >= bound).sum())
    p_value = as_large / len(statistics) if exact else (1 + as_large) / (1 + len(statistics))
    null = np.sqrt(np.maximum(np.sort(statistics), 0.0))
    return TwoSampleTest(math.sqrt(max(observed, 0.0)), p_value, exact, null, sigma)


def _all_divisions(total: int, n: int) -> Iterator[np.ndarray]:
    """Yield columns of all choices of n of the objects, the first n first, in batches."""
    choices = list(combinations(range(total), n))
    for low in range(0, len(choices), _COLUMNS):
        batch = choices[low : low + _COLUMNS]
        block = np.zeros((total, len(batch)), dtype=bool)
        for column, members in enumerate(batch):
            block[list(members), column] = True
        yield block


def _random_divisions(
    rng: np.random.Generator, first: np.ndarray, count: int
) -> Iterator[np.ndarray]:
    """Yield columns of random choices of the same number of objects, in batches."""
    for low in range(0, count, _COLUMNS):
        columns = [rng.permutation(first) for _ in range(min(_COLUMNS, count - low))]
        yield np.stack(columns, axis=1)
