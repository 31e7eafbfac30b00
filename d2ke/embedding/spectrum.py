# SPDX-License-Identifier: BSD-3-Clause
"""Spectra of indefinite Gram matrices: repaired, or split by sign."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from d2ke._base import arrays
from d2ke._base.arrays import symmetric_matrix
from d2ke._base.checks import choice
from d2ke._base.errors import ArgumentError
from d2ke._base.keywords import hinted
from d2ke._base.memory import check_fits
from d2ke._base.results import result

# Factor of the sum over negative eigenvalues that is subtracted.
SPECTRUM_REPAIRS = {"clip": 1, "flip": 2, "shift": 0}


@result
class SpectrumRepair:
    """A repair that makes an indefinite Gram matrix positive semidefinite, and adapts new rows.

    Negative eigenvalues are set to 0 ("clip"), turned positive ("flip"), or all eigenvalues are
    raised until none is negative ("shift"). Rows of new objects are transformed by the same linear
    map as rows of the training objects. A shift changes only the diagonal, so rows of new objects
    do not change.

    Attributes
    ----------
    kind : {"clip", "flip", "shift"}
        The repair.
    gram : ndarray of float64, shape (n, n)
        The repaired Gram matrix of the training objects.
    least : float
        The least eigenvalue before the repair.
    negative : ndarray of float64, shape (n, q)
        Eigenvectors of the q negative eigenvalues.

    References
    ----------
    Chen, Garcia, Gupta, Rahimi, Cazzanti, "Similarity-based classification:
    concepts and algorithms", 2009, section 4.

    Examples
    --------
    >>> import numpy as np
    >>> import d2ke
    >>> repair = d2ke.embedding.SpectrumRepair.fit(np.array([[0.0, 1.0], [1.0, 0.0]]), "flip")
    >>> np.round(repair.gram, 12).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    >>> np.round(repair.apply(np.array([[0.0, 1.0]])), 12).tolist()
    [[1.0, 0.0]]
    """

    kind: str
    gram: np.ndarray
    least: float
    negative: np.ndarray

    @classmethod
    def fit(cls, K: np.ndarray, kind: str) -> SpectrumRepair:
        """Repair the symmetric Gram matrix of training objects, shape (n, n).

        With the eigenvalues l_i and eigenvectors v_i of K, the repaired matrix is
        K - times * sum_{l_i < 0} l_i v_i v_i', or K - min(l_1, 0) I for a shift.
        """
        times = SPECTRUM_REPAIRS[choice("repair", kind, SPECTRUM_REPAIRS)]
        K, values, vectors = _eigen("K", K)
        below = values < 0
        negative = vectors[:, below]
        del vectors
        if times:
            scaled = negative * values[below]
            scaled *= times
            gram = scaled @ negative.T
            np.subtract(K, gram, out=gram)
        else:
            gram = K - min(values[0], 0.0) * np.eye(len(K))
        return cls(kind, symmetric_half(gram), float(values[0]), negative)

    def apply(self, K: np.ndarray) -> np.ndarray:
        """Transform rows of new objects, shape (m, n), like rows of the training objects."""
        K = np.asarray(arrays.matrix("K", K), dtype=np.float64)
        if K.shape[1] != len(self.gram):
            raise ArgumentError(
                "K", f"has {K.shape[1]} columns; the repair was fitted to {len(self.gram)} objects"
            )
        times = SPECTRUM_REPAIRS[self.kind]
        if not times:
            return K
        return K - times * (K @ self.negative) @ self.negative.T


def _eigen(name: str, K: Any) -> tuple[np.ndarray, ...]:
    """Return a checked symmetric matrix, its eigenvalues, ascending, and its eigenvectors."""
    K = symmetric_matrix(name, K)
    n = len(K)
    check_fits(32 * n**2, f"all eigenvectors of {name}, {n} x {n},", "take fewer objects")
    return K, *np.linalg.eigh(K)


def symmetric_half(K: np.ndarray) -> np.ndarray:
    """Copy the upper triangle onto the lower one, which rounding may have made different."""
    step = 256
    for low in range(0, len(K), step):
        rows = slice(low, low + step)
        K[rows, :low] = K[:low, rows].T
        corner = K[rows, rows]
        corner[:] = np.triu(corner) + np.triu(corner, 1).T
    return K


class SpectrumSplit(NamedTuple):
    """Eigenvalues and -vectors of a symmetric matrix, rounded to 0 where they are noise."""

    values: np.ndarray
    vectors: np.ndarray

    @property
    def absolute(self) -> np.ndarray:
        """|S| = S+ + S-."""
        return self.combined(1.0, 1.0)

    def combined(self, positive: float, negative: float) -> np.ndarray:
        """Return positive S+ + negative S-."""
        factors = np.where(self.values > 0, positive, -negative) * self.values
        product = (self.vectors * factors) @ self.vectors.T
        result = product + product.T
        result /= 2
        return result


def split(name: str, S: Any) -> SpectrumSplit:
    """Return the eigenvalues and -vectors of a checked symmetric matrix."""
    _, values, vectors = _eigen(name, S)
    noise = len(values) * np.finfo(np.float64).eps * np.abs(values).max()
    return SpectrumSplit(np.where(np.abs(values) > noise, values, 0.0), vectors)


@hinted
def psd_split(S: Any) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Split a symmetric similarity into the difference of two positive semidefinite matrices.

    Parameters
    ----------
    S : array_like, shape (n, n)
        Symmetric; its eigenvalues may have any sign.

    Returns
    -------
    positive, negative : ndarray of float64, shape (n, n)
        S+ and S-, from the positive and from the negative eigenvalues: S = S+ - S-, and
        S+ S- = 0.

    Raises
    ------
    TypeError, ValueError
        Not a symmetric matrix of finite real numbers.
    MemoryError
        If the call would take more than there is; see docs/memory.md.

    References
    ----------
    Yang, Liang, Jojic, Yan, Feng, Huang, "Discriminative Similarity for Clustering and
    Semi-Supervised Learning", 2017, section 5.

    Examples
    --------
    >>> import d2ke
    >>> positive, negative = d2ke.psd_split([[0.0, 1.0], [1.0, 0.0]])
    >>> positive.round(3).tolist(), negative.round(3).tolist()
    ([[0.5, 0.5], [0.5, 0.5]], [[0.5, -0.5], [-0.5, 0.5]])
    """
    spectrum = split("S", S)
    return spectrum.combined(1.0, 0.0), spectrum.combined(0.0, 1.0)
