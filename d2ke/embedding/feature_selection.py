# SPDX-License-Identifier: BSD-3-Clause
"""Supervised choice of random features by the alignment of their kernel with the labels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from d2ke._base import arrays, labels
from d2ke._base.checks import flag, integer, not_negative
from d2ke._base.errors import ArgumentError
from d2ke._base.keywords import hinted
from d2ke._base.results import result


@result
class FeatureSelection:
    """Columns of a pool of features, each with a factor.

    Attributes
    ----------
    indices : ndarray of int64, shape (r,)
        The kept columns of the pool, ascending; r <= R.
    weights : ndarray of float64, shape (r,)
        The factor of each column. The sum of their squares is N.
    q : ndarray of float64, shape (N,)
        The distribution over the pool that aligns best, sum 1.
    alignment : ndarray of float64, shape (N,)
        The alignment of each column with the labels, >= 0. q maximises its mean.
    """

    indices: np.ndarray
    weights: np.ndarray
    q: np.ndarray
    alignment: np.ndarray

    def apply(self, Z: np.ndarray) -> np.ndarray:
        """Return the kept columns of Z, shape (m, N), times their factors.

        Since the columns of Z carry 1/sqrt(N), the result's products estimate the
        kernel of the chosen distribution, on the scale of Z Z'.
        """
        Z = arrays.matrix("Z", Z)
        if Z.shape[1] != len(self.q):
            raise ArgumentError("Z", f"has {Z.shape[1]} columns; {len(self.q)} were chosen from")
        dtype = Z.dtype if Z.dtype == np.float32 else np.float64
        return Z[:, self.indices] * self.weights.astype(dtype)


@hinted
def select_features(
    Z: np.ndarray,
    y: Sequence[Any] | np.ndarray,
    R: int,
    *,
    rho: float = 1.0,
    centre: bool = True,
) -> FeatureSelection:
    """Choose R features of a large pool by the alignment of their kernel with the labels.

    Sinha and Duchi's method: the distribution q over the N columns z_m of the
    pool that maximises the alignment of its kernel with the labels,

        sum_m q_m a_m,  a_m = sum over classes c of (y_c . z_m)^2 N / n^2,

    among those with sum_m ((N q_m)^2 - 1) / N <= rho, the chi-square divergence from
    equal weights. y_c is 1 for the members of class c and -1 for all others (one
    such vector for two classes).

    Parameters
    ----------
    Z : ndarray, shape (n, N)
        Features of the n training objects for a pool of random objects. The alignment
        sees their scale: columns of equal deviation, as `d2ke.embedding.scaling.Scaling` makes
        them, are compared by correlation, others by covariance.
    y : sequence of length n
        Class labels of any one type.
    R : int
        Columns to keep, 1 to N.
    rho : float
        Maximum divergence, >= 0. 0 gives equal weights, larger values concentrate the weights on
        fewer columns. From N - 1 on, all weight is on the best column.
    centre : bool
        Subtract the mean of each column first, which is the same as centring labels or kernel.
        Features of distances have large means, and the alignment of a mean depends only on the
        sizes of the classes.

    Returns
    -------
    FeatureSelection
        With ``indices``, ``weights``, ``q``, ``alignment`` and ``apply(Z)``.

    Raises
    ------
    TypeError
        A wrong type; seed missing, or given where it has no meaning.
    ValueError
        R or rho out of range, lengths that differ, a single class.

    Notes
    -----
    The maximum is q_m in proportion to max(0, a_m - tau) for some tau, and is found
    exactly, by sorting. Columns are judged one by one: of many that carry the same
    information, all are kept. Squares weigh a class by the square of its size.

    References
    ----------
    Sinha, Duchi, "Learning Kernels with Random Features", NeurIPS 2016, section 2.
    Cortes, Mohri, Rostamizadeh, "Algorithms for Learning Kernels Based on Centered
    Alignment", JMLR 13, 2012.

    Examples
    --------
    >>> import numpy as np
    >>> import d2ke
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(2, size=200)
    >>> Z = rng.standard_normal((200, 50))
    >>> Z[:, [7, 30]] += y[:, None]
    >>> chosen = d2ke.embedding.select_features(Z, y, 2)
    >>> chosen.indices.tolist(), chosen.apply(Z).shape
    ([7, 30], (200, 2))
    """
    Z = arrays.filled_matrix("Z", Z)
    classes, codes = labels.encode_classes("y", y)
    labels.same_length("y", codes, "Z", len(Z))
    N = Z.shape[1]
    R = integer("R", R, 1, N)
    centre = flag("centre", centre)
    rho = not_negative("rho", rho)
    a = _alignment(Z, codes, len(classes), centre)
    q = best_weights(a, rho)
    order = np.lexsort((-a, -q))[:R]
    indices = np.sort(order[q[order] > 0])
    shares = q[indices] / q[indices].sum()
    return FeatureSelection(indices.astype(np.int64), np.sqrt(N * shares), q, a)


def best_weights(a: np.ndarray, rho: float) -> np.ndarray:
    """Return the distribution q of largest a.q within a chi-square ball around equal weights.

    With k weights in proportion to a_m - tau, the k largest a having mean m and
    variance s^2, N sum q^2 = N/k (1 + (s / (m - tau))^2), which grows with tau.
    """
    N = len(a)
    order = np.argsort(-a, kind="stable")
    below = a[order[0]] - a[order]  # ascending from 0, whatever the size of a
    if below[-1] == 0 or rho < np.finfo(np.float64).eps:
        return np.full(N, 1 / N)
    below /= below[-1]
    q = np.zeros(N)
    ties = int(np.searchsorted(below, 0, side="right"))
    if ties * (1 + rho) >= N:
        q[order[:ties]] = 1 / ties
        return q
    k = np.arange(1, N + 1)
    mean = np.cumsum(below) / k
    variance = np.maximum(np.cumsum(below**2) / k - mean**2, 0)
    # N sum q^2 when the (k+1)-th weight has just fallen to 0; the more, the smaller k.
    reached = np.full(N, -np.inf)
    gap = below[ties:] - mean[ties - 1 : -1]
    reached[: ties - 1] = np.inf
    reached[ties - 1 : -1] = N / k[ties - 1 : -1] * (1 + variance[ties - 1 : -1] / gap**2)
    last = int(np.searchsorted(-reached, -(1 + rho), side="left"))
    tau = mean[last] + np.sqrt(variance[last] * N / (k[last] - N + k[last] * rho))
    q[order[: last + 1]] = np.maximum(tau - below[: last + 1], 0)
    return q / q.sum()


def _alignment(Z: np.ndarray, codes: np.ndarray, n_classes: int, centre: bool) -> np.ndarray:
    """Return a_m = N sum_c (sum_i s_ic z_im / n)^2, where s_ic is 1 for class c and else -1."""
    n, N = Z.shape
    signs = np.where(codes[:, None] == np.arange(n_classes), 1.0, -1.0)
    if n_classes == 2:
        signs = signs[:, 1:]
    if centre:
        signs -= signs.mean(axis=0)
    products = np.zeros((signs.shape[1], N))
    for rows in arrays.row_blocks(Z.shape):
        products += signs[rows].T @ np.asarray(Z[rows], dtype=np.float64)
    return np.square(products / n).sum(axis=0) * N
