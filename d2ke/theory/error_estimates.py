# SPDX-License-Identifier: BSD-3-Clause
"""Measured errors of kernels that are estimated by random features."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from d2ke._base import arrays
from d2ke._base.blas import product_pool
from d2ke._base.checks import flag, integer
from d2ke._base.errors import ArgumentError, ArgumentTypeError
from d2ke._base.keywords import hinted
from d2ke._base.results import result

_TILE_ROWS = 256
_TILE_VALUES = 1 << 20
_CHUNK = 1024  # columns taken to float64 at a time


@result
class KernelError:
    """Errors of a kernel's estimate by R random features, for several R.

    A plot of error against R has ``rms_mean`` with error bars ``rms_sd`` (or the
    maxima) over ``sizes``, and beside them the line ``expected_rms``, which falls
    as 1/sqrt(R).

    Attributes
    ----------
    sizes : ndarray of int64, shape (m,)
        Values of R, ascending.
    n_blocks : ndarray of int64, shape (m,)
        For each R, the number of disjoint blocks of R features that were measured.
    max_mean, max_sd : ndarray of float64, shape (m,)
        Mean and standard deviation over the blocks of max |k~ - k|; the deviation is
        nan for a single block.
    rms_mean, rms_sd : ndarray of float64, shape (m,)
        The same for the root mean square of k~ - k over all pairs of objects.
    expected_rms : ndarray of float64, shape (m,)
        sqrt(mean Var[phi(x) phi(y)] / R), with the variance over the features estimated from all of
        them: the error that theory predicts without a reference kernel. It is the root of a mean
        square, so ``rms_mean`` is below it, by more if ``rms_sd`` is large.
    relative_mean, relative_sd : ndarray of float64, shape (m,)
        The root mean square error in units of that of the kernel's values.
    centred_mean, centred_sd : ndarray of float64, shape (m,), or None
        With centred=True: the same once row and column means are subtracted from both matrices,
        since a model with a bias uses only these. If gamma is small, all kernel values are near 1,
        and even a small error can be larger than the differences between objects. nan if all
        objects are equal.
    """

    sizes: np.ndarray
    n_blocks: np.ndarray
    max_mean: np.ndarray
    max_sd: np.ndarray
    rms_mean: np.ndarray
    rms_sd: np.ndarray
    expected_rms: np.ndarray
    relative_mean: np.ndarray
    relative_sd: np.ndarray
    centred_mean: np.ndarray | None = None
    centred_sd: np.ndarray | None = None


@hinted
def kernel_error(
    Z: np.ndarray,
    *,
    gram: np.ndarray | None = None,
    features: np.ndarray | None = None,
    sizes: Sequence[int] | None = None,
    max_blocks: int = 20,
    centred: bool = False,
    n_threads: int | None = None,
) -> KernelError:
    """Measure the error of random features against a reference kernel, for several R.

    Features of independent random objects are independent columns. So every block of r columns,
    scaled by sqrt(R / r), gives a separate estimate of the kernel. Disjoint blocks give the mean
    error of r features and its standard deviation.

    Parameters
    ----------
    Z : ndarray, shape (n, R)
        Features of n objects, from `d2ke_embed` or `d2ke_features`; R >= 2.
    gram : ndarray, shape (n, n)
        The kernel of the objects, where it is known.
    features : ndarray, shape (n, R_reference)
        In place of `gram`: features of the same objects for other random objects, independent of
        those of Z and many more. Their own error increases the square of the measured error by a
        fraction R / R_reference. Their product is never stored completely.
    sizes : sequence of int, optional
        Values of R to measure, from 1 to that of Z. Default: the powers of 2, and
        that of Z.
    max_blocks : int
        Maximum number of blocks for one R; the first ones are used.
    centred : bool
        True: measure the error of the centred kernel too, in twice the time.
    n_threads : int, optional
        Threads; None for all that this process may use. The result does not
        depend on it.

    Returns
    -------
    KernelError
        Maximal and root mean square errors with their deviations, and what theory
        expects.

    Raises
    ------
    TypeError
        Not exactly one of `gram` and `features`, or a matrix not of real numbers.
    ValueError
        Shapes that do not fit, a gram that is not symmetric, sizes out of range.

    References
    ----------
    Wu, Yen, Xu, Ravikumar, Witbrock, "D2KE: From Distance to Kernel and
    Embedding", 2018, Proposition 2.

    Examples
    --------
    >>> import d2ke
    >>> X = ["ACGT", "AGGT", "TTTT"]
    >>> omega = d2ke.samplers.random_strings(4352, "ACGT", length=(2, 8), seed=0)
    >>> Z = d2ke.d2ke_embed(X, omega[:256], distance="levenshtein", gamma=0.5)
    >>> many = d2ke.d2ke_embed(X, omega[256:], distance="levenshtein", gamma=0.5)
    >>> error = d2ke.theory.kernel_error(Z, features=many, sizes=[16, 64, 256])
    >>> error.n_blocks.tolist(), (error.rms_mean / error.expected_rms).round(1).tolist()
    ([16, 4, 1], [0.7, 0.6, 0.9])
    """
    Z = arrays.filled_matrix("Z", Z)
    n, R = Z.shape
    if R < 2:
        raise ArgumentError("Z", "has one column; at least two are needed to estimate a variance")
    reference = _reference(gram, features, n)
    lengths = _sizes(sizes, R)
    counts = np.minimum(R // lengths, integer("max_blocks", max_blocks, 1))
    which = np.repeat(np.arange(len(lengths)), counts)
    blocks = [
        (slice(block * r, (block + 1) * r), R / r)
        for r, count in zip(lengths.tolist(), counts.tolist(), strict=True)
        for block in range(count)
    ]
    maxima, squares, norm = _errors(Z, reference, blocks, n_threads)
    zero = np.zeros((n, 1))
    _, (full,), _ = _errors(Z, _reference(None, zero, n), [(slice(R), 1.0)], n_threads)
    # The mean over all pairs of E[(phi(x) phi(y))^2] needs the columns' norms only.
    norms = np.einsum("ij,ij->j", Z, Z, dtype=np.float64)
    variance = max((R * float(norms @ norms) - full) / n**2, 0.0) * R / (R - 1)
    of_centred: Any = (None, None)
    if flag("centred", centred):
        if features is None:
            K = np.asarray(gram, np.float64)
            means = K.mean(axis=1)
            reference = _reference(K - means - (means - means.mean())[:, None], None, n)
        else:
            reference = _reference(None, _less_means(np.asarray(features)), n)
        _, varied, known_varied = _errors(_less_means(Z), reference, blocks, n_threads)
        of_centred = _mean_and_sd(_ratio(varied, known_varied, n), which, counts)
    return KernelError(
        lengths, counts,
        *_mean_and_sd(maxima, which, counts),
        *_mean_and_sd(np.sqrt(squares) / n, which, counts),
        np.sqrt(variance / lengths),
        *_mean_and_sd(_ratio(squares, norm, n), which, counts),
        *of_centred,
    )  # fmt: skip


def _errors(
    Z: np.ndarray,
    reference: Callable[[slice, slice], np.ndarray],
    blocks: Sequence[tuple[slice, float]],
    n_threads: int | None,
) -> tuple[np.ndarray, np.ndarray, float]:
    """Return the largest error of each block's kernel, the sum of its squares, and the reference's.

    A block are columns, and what their products are multiplied by.
    """
    n = len(Z)

    def measure(rows: slice) -> tuple[np.ndarray, np.ndarray, float]:
        """Measure these rows of the symmetric matrix, from the diagonal on."""
        after = slice(rows.start, n)
        times = np.full(n - rows.start, 2.0)
        times[: rows.stop - rows.start] = 1.0
        exact = reference(rows, after)
        maxima, sums = np.empty((2, len(blocks)))
        for i, (columns, factor) in enumerate(blocks):
            error = factor * _product(Z[rows, columns], Z[after, columns]) - exact
            maxima[i] = np.abs(error).max()
            sums[i] = np.square(error).sum(axis=0) @ times
        return maxima, sums, np.square(exact, dtype=np.float64).sum(axis=0) @ times

    step = max(1, min(_TILE_ROWS, _TILE_VALUES // n))
    tiles = [slice(low, min(low + step, n)) for low in range(0, n, step)]
    with product_pool(n_threads) as pool:
        maxima, sums, norms = zip(*pool.map(measure, tiles), strict=True)
    return np.max(maxima, axis=0), np.sum(sums, axis=0), float(sum(norms))


def _reference(gram: Any, features: Any, n: int) -> Callable[[Any, Any], np.ndarray]:
    """Return the function that gives the reference kernel of some rows with some others."""
    if (gram is None) == (features is None):
        raise TypeError("give the reference as gram or as features, one of the two")
    if gram is not None:
        K = arrays.filled_matrix("gram", gram)
        if K.shape != (n, n):
            raise ArgumentError(
                "gram", f"must have shape ({n}, {n}), as Z has {n} rows; got {K.shape}"
            )
        largest = max(abs(float(K.max())), abs(float(K.min())))
        arrays.check_symmetric("gram", K, 1e-6 * largest)
        return lambda rows, others: K[rows, others]
    F = arrays.filled_matrix("features", features)
    if len(F) != n:
        raise ArgumentError("features", f"has {len(F)} rows, but Z has {n}")
    return lambda rows, others: _product(F[rows], F[others])


def _less_means(Z: np.ndarray) -> np.ndarray:
    return Z - Z.mean(axis=0, dtype=np.float64)


def _ratio(squares: np.ndarray, norm: float, n: int) -> np.ndarray:
    """Return roots of sums of squares relative to another; nan where that is rounding error."""
    if norm <= (n * n * np.finfo(np.float64).eps) ** 2:
        return np.full(len(squares), np.nan)
    return np.sqrt(squares / norm)


def _sizes(sizes: Sequence[int] | None, R: int) -> np.ndarray:
    if sizes is None:
        return np.unique([1 << k for k in range(R.bit_length())] + [R]).astype(np.int64)
    if not isinstance(sizes, (Sequence, np.ndarray)) or isinstance(sizes, (str, bytes)):
        raise ArgumentTypeError("sizes", f"must be a sequence of integers, got {sizes!r}")
    lengths = [integer(f"sizes[{i}]", r, 1, R) for i, r in enumerate(sizes)]
    if not lengths:
        raise ArgumentError("sizes", "is empty; at least one value of R is needed")
    return np.unique(lengths).astype(np.int64)


def _product(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """Return A B' in float64.

    A few columns are copied at a time, as features may be large and float32.
    """
    if A.dtype == B.dtype == np.float64:
        return A @ B.T
    result = np.zeros((len(A), len(B)))
    for low in range(0, A.shape[1], _CHUNK):
        columns = slice(low, low + _CHUNK)
        result += A[:, columns].astype(np.float64) @ B[:, columns].astype(np.float64).T
    return result


def _mean_and_sd(
    values: np.ndarray, which: np.ndarray, counts: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return mean and standard deviation of each group of values; nan for one value's deviation."""
    mean = np.bincount(which, values) / counts
    squares = np.bincount(which, np.square(values - mean[which]))
    return mean, np.sqrt(np.where(counts > 1, squares / np.maximum(counts - 1, 1), np.nan))
