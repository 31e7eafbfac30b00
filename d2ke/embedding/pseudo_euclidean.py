# SPDX-License-Identifier: BSD-3-Clause
"""Linear embedding of distances into a pseudo-Euclidean space."""

from __future__ import annotations

import numpy as np
from scipy.sparse.linalg import ArpackError, eigsh

from d2ke._base import arrays
from d2ke._base.arrays import symmetric_matrix
from d2ke._base.checks import integer
from d2ke._base.errors import ArgumentError
from d2ke._base.keywords import hinted
from d2ke._base.memory import check_fits
from d2ke._base.results import result


@result
class PseudoEuclideanEmbedding:
    """Vectors whose pseudo-Euclidean squared distances are the squares of D.

    The space is the product of p ordinary dimensions and q whose squares count
    negatively: d^2(x, y) = |x_p - y_p|^2 - |x_q - y_q|^2.

    Attributes
    ----------
    Z : ndarray of float64, shape (n, r)
        The embedded objects; their mean is 0.
    eigenvalues : ndarray of float64, shape (r,)
        Eigenvalues of the centred matrix -D^2 / 2, by decreasing modulus; r is R, or
        less where fewer differ from 0 by more than rounding.
    signature : (int, int)
        Numbers of positive eigenvalues, p, and of negative ones, q.
    """

    Z: np.ndarray
    eigenvalues: np.ndarray
    signature: tuple[int, int]
    _column_means: np.ndarray
    _map: np.ndarray

    def project(self, D_new: np.ndarray) -> np.ndarray:
        """Embed new objects by their distances to the n embedded ones.

        Parameters
        ----------
        D_new : ndarray, shape (m, n)
            Distances, >= 0 and finite.

        Returns
        -------
        ndarray of float64, shape (m, r)
            Coordinates; the rows of D give the coordinates in `Z`.

        Raises
        ------
        TypeError, ValueError
            Wrong shape, distances that are negative, not finite or above 2**500.
        """
        D_new = arrays.matrix("D_new", D_new)
        squares = _squares("D_new", D_new)
        if squares.shape[1] != len(self.Z):
            raise ArgumentError(
                "D_new", f"has {squares.shape[1]} columns; {len(self.Z)} objects were embedded"
            )
        # z = -1/2 (d^2 - column means, centred) Q sign(Lambda) |Lambda|^(-1/2)
        squares -= self._column_means
        squares -= squares.mean(axis=1, keepdims=True)
        return squares @ self._map


@hinted
def gdk_led(D: np.ndarray, R: int) -> PseudoEuclideanEmbedding:
    """Embed objects linearly by their distances to each other: the baseline GDK_LED.

    For a Euclidean D, the centred matrix B = -J D^2 J / 2 has the inner products of the points. In
    general some of its eigenvalues are negative. The R eigenvalues of largest modulus are kept, and
    X = Q |Lambda|^(1/2).

    Parameters
    ----------
    D : ndarray, shape (n, n)
        Distances among the objects, symmetric, >= 0 and finite. The paper embeds
        training and test objects together (transductively); to embed the
        training objects only, use `PseudoEuclideanEmbedding.project` for test objects.
    R : int
        Dimensions to keep, 1 to n.

    Returns
    -------
    PseudoEuclideanEmbedding
        With ``Z``, ``eigenvalues``, ``signature`` and ``project(D_new)``.

    Raises
    ------
    TypeError, ValueError
        D not a symmetric matrix of finite numbers >= 0 with zeros on its diagonal; R out of range;
        a distance above 2**500, or none above 2**-500 but some above 0, whose squares float64 does
        not hold.
    MemoryError
        If the call would take more than there is; see docs/memory.md.

    References
    ----------
    Pekalska, Paclik, Duin, "A generalized kernel approach to
    dissimilarity-based classification", 2001, section 3. Wu, Yen, Xu, Ravikumar,
    Witbrock, "D2KE: From Distance to Kernel and Embedding", 2018, section 5.2.

    Examples
    --------
    >>> import numpy as np
    >>> import d2ke
    >>> x = np.array([0.0, 1.0, 5.0])
    >>> embedding = d2ke.gdk_led(np.abs(x[:, None] - x), 2)
    >>> embedding.signature  # points on a line need one dimension
    (1, 0)
    >>> np.round(np.abs(embedding.Z[2] - embedding.Z[0]), 12).tolist()
    [5.0]
    >>> new = embedding.project(np.array([[4.0, 3.0, 1.0]]))
    >>> np.round(np.abs(new[0] - embedding.Z[2]), 12).tolist()
    [1.0]
    """
    D = arrays.matrix("D", D)
    n = len(D)
    R = integer("R", R, 1, max(n, 1))  # an empty D is refused below
    # Iteration for a few eigenvectors of a large matrix takes less time than a full decomposition.
    few = n > max(1000, 10 * R)
    check_fits(
        (8 if few else 40) * n**2,
        f"an embedding of {n} objects",
        "an R of at most n / 10 takes less where n is above 1000, and so do fewer objects",
    )
    B = _squares("D", symmetric_matrix("D", D))
    arrays.check_diagonal("D", D)
    if 0 < float(D.max()) < 2.0**-500:
        raise ArgumentError(
            "D",
            f"is too small: its largest distance is {D.max():g}, and float64 does not "
            "hold the squares; multiply D by a number",
        )
    # B = -J D^2 J / 2 with J = I - 1 1' / n
    column_means = B.mean(axis=0)
    B -= column_means
    B -= column_means[:, None]
    B += column_means.mean()
    B *= -0.5
    values, Q = _eigenpairs(B, R) if few else np.linalg.eigh(B)
    order = np.argsort(-np.abs(values), kind="stable")[:R]
    order = order[np.abs(values[order]) > n * np.finfo(np.float64).eps * np.abs(values).max()]
    values, Q = values[order], Q[:, order]
    # The sign of an eigenvector is arbitrary: let its largest component be positive.
    Q *= np.sign(Q[np.abs(Q).argmax(axis=0), np.arange(len(order))])
    root = np.sqrt(np.abs(values))
    return PseudoEuclideanEmbedding(
        Q * root,
        values,
        (int((values > 0).sum()), int((values < 0).sum())),
        column_means,
        Q * (-0.5 * np.sign(values) / root),
    )


def _eigenpairs(B: np.ndarray, R: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the R eigenvalues of largest modulus, and their eigenvectors, by iteration."""
    n = len(B)
    if not B.any():
        return np.zeros(R), np.eye(n, R)
    try:
        return eigsh(B, k=R, v0=np.random.default_rng(0).standard_normal(n))
    except ArpackError:  # it found no invariant space, or did not converge
        return np.linalg.eigh(B)


def _squares(name: str, D: np.ndarray) -> np.ndarray:
    """Return squares of checked distances, in a new array."""
    values = arrays.matrix(name, D)
    arrays.check_distances(name, values)
    if values.size and float(values.max()) > 2.0**500:
        i, j = divmod(int(values.argmax()), values.shape[1])
        raise ValueError(
            f"{name}[{i}, {j}] is {values[i, j]:g}; at most 2**500 (3.3e150) is accepted, since "
            "float64 does not hold the squares of more: divide the distances by a number"
        )
    return np.square(values, dtype=np.float64)
