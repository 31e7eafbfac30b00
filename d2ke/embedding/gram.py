# SPDX-License-Identifier: BSD-3-Clause
"""Gram matrices of objects: from random features, and directly from distances."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from d2ke._base import arrays
from d2ke._base.blas import row_products
from d2ke._base.checks import choice, positive_number
from d2ke._base.errors import ArgumentError, ArgumentTypeError
from d2ke._base.keywords import hinted
from d2ke._base.memory import check_fits
from d2ke._base.threads import team_size
from d2ke.distances.matrix import fill_array
from d2ke.distances.problem import ArgumentNames
from d2ke.embedding.features import check_embedding, feature_transform
from d2ke.embedding.spectrum import SpectrumRepair, symmetric_half


@hinted
def d2ke_gram(
    X: Any,
    Y: Any = None,
    *,
    omega: Any,
    distance: Any = None,
    gamma: float,
    n_threads: int | None = None,
    progress: bool | None = None,
    **params: Any,
) -> NDArray[np.floating[Any]]:
    """Estimate the Gram matrix of the D2KE kernel by random objects.

    K[i, j] = sum_r exp(-gamma (d(x_i, omega_r) + d(y_j, omega_r))) / R: the product of the features
    of `d2ke_embed`, positive semidefinite for any distance. Linear models should use the features.
    This matrix is for methods that need a kernel.

    Parameters
    ----------
    X : Objects or what `pack` takes
        n objects.
    Y : Objects or what `pack` takes, optional
        m objects; None for X.
    omega : Objects or what `pack` takes
        R random objects, see `random_series`, `random_strings`, `random_sets`.
    distance : str, callable or scipy.LowLevelCallable, optional
        As for `distance_matrix`; by default ``"levenshtein"`` for strings, ``"dtw"`` for series
        and ``"mhd"`` for sets.
    gamma : float
        Inverse scale of the distance, > 0.
    n_threads : int, optional
        Threads to use; None for all that this process may use.
    progress : bool, optional
        Whether to show progress; by default on a terminal or in a notebook, where work takes more
        than two seconds.
    **params
        Parameters of the distance.

    Returns
    -------
    ndarray, shape (n, m)
        float32 if all objects are float32 vectors, else float64; values in [0, 1].

    Raises
    ------
    TypeError, ValueError
        As `d2ke_embed`.
    MemoryError
        If the call would take more than there is; see docs/memory.md.

    References
    ----------
    Wu, Yen, Xu, Ravikumar, Witbrock, "D2KE: From Distance to Kernel and
    Embedding", 2018, eq. (4).

    Examples
    --------
    >>> import d2ke
    >>> omega = d2ke.samplers.random_strings(64, "ACGT", length=(2, 8), seed=0)
    >>> K = d2ke.d2ke_gram(["ACGT", "AGGT"], omega=omega, distance="levenshtein", gamma=0.1)
    >>> K.shape, bool(K[0, 1] == K[1, 0])
    ((2, 2), True)
    """
    gamma = positive_number("gamma", gamma)
    pairs = [check_embedding(X, omega, distance, params, ArgumentNames("d2ke_embed", "X", "omega"))]
    if Y is not None:
        omega = pairs[0].y
        names = ArgumentNames("d2ke_embed", "Y", "omega")
        pairs.append(check_embedding(Y, omega, distance, params, names))
    n, m, R = (len(objects) for objects in (pairs[0].x, pairs[-1].x, pairs[0].y))
    check_fits(
        pairs[0].dtype.itemsize * (n * m + (n + m) * R),
        f"a {n} x {m} Gram matrix and its features",
        "compute it for some rows at a time, or train on the features of d2ke_embed",
    )
    transform, team = feature_transform(gamma, R), team_size(n_threads)
    features = [fill_array(side, None, None, team, progress, transform) for side in pairs]
    K = row_products(features[0], features[-1], n_threads)
    return symmetric_half(K) if Y is None else K


@hinted
def dsk_gram(
    D: np.ndarray,
    *,
    kind: str = "rbf",
    gamma: float | None = None,
    beta: float = 2.0,
    repair: str | SpectrumRepair | None = None,
) -> NDArray[np.floating[Any]]:
    """Substitute distances into a kernel: the baselines DSK_RBF and DSK_ND.

    For a general distance the result is indefinite. LIBSVM accepts it nevertheless, as in the
    paper. `repair` makes it positive semidefinite.

    Parameters
    ----------
    D : ndarray, shape (m, n)
        Distances of m objects (rows) to the n training objects.
    kind : {"rbf", "nd"}
        exp(-gamma d^beta), or the negative distance -d^beta.
    gamma : float
        Inverse scale of d^beta, > 0; for ``kind="rbf"`` only.
    beta : float
        Exponent, > 0; 2 in the paper.
    repair : {"clip", "flip", "shift"} or SpectrumRepair, optional
        A name if D has the distances among the training objects: their Gram matrix becomes positive
        semidefinite. For the rows of other objects, the `SpectrumRepair` that was fitted to that
        matrix.

    Returns
    -------
    ndarray, shape (m, n)
        float32 if D is, else float64.

    Raises
    ------
    TypeError
        D not of real numbers; gamma missing, or given where it has no meaning.
    ValueError
        Negative or nan distances; for "nd" infinite ones, or ones whose power is; gamma or beta
        not positive; a symmetric D whose diagonal isn't 0; a repair by name of a matrix that is
        not square and symmetric.
    MemoryError
        If the call would take more than there is; see docs/memory.md.

    References
    ----------
    Haasdonk, Bahlmann, "Learning with distance substitution kernels", 2004. Wu,
    Yen, Xu, Ravikumar, Witbrock, "D2KE: From Distance to Kernel and Embedding",
    2018, section 5.2.

    Examples
    --------
    >>> import numpy as np
    >>> import d2ke
    >>> D = np.array([[0.0, 1.0, 3.0], [1.0, 0.0, 1.0], [3.0, 1.0, 0.0]])
    >>> d2ke.dsk_gram(D, kind="nd").tolist()
    [[-0.0, -1.0, -9.0], [-1.0, -0.0, -1.0], [-9.0, -1.0, -0.0]]
    >>> K = d2ke.dsk_gram(D, gamma=0.1, repair="clip")
    >>> bool(np.linalg.eigvalsh(K).min() > -1e-12)
    True

    The rows of new objects, treated alike:

    >>> D_new = np.array([[2.0, 1.0, 1.0]])
    >>> repair = d2ke.embedding.SpectrumRepair.fit(d2ke.dsk_gram(D, gamma=0.1), "clip")
    >>> d2ke.dsk_gram(D_new, gamma=0.1, repair=repair).shape
    (1, 3)
    """
    choice("kind", kind, ("rbf", "nd"))
    beta = positive_number("beta", beta)
    if kind == "rbf":
        if gamma is None:
            raise ArgumentTypeError("gamma", 'is needed for kind="rbf"')
        gamma = positive_number("gamma", gamma)
    elif gamma is not None:
        raise ArgumentTypeError("gamma", f'has no meaning for kind="nd"; got {gamma!r}')
    values = arrays.matrix("D", D, infinite=kind == "rbf")
    arrays.check_rows_of_distances("D", values)
    dtype = np.dtype(values.dtype if values.dtype in (np.float32, np.float64) else np.float64)
    check_fits(
        values.size * (dtype.itemsize if repair is None else 40),
        f"the kernel of {len(values)} x {values.shape[1]} distances",
        "give some rows of D at a time, or take fewer objects",
    )
    with np.errstate(over="ignore"):
        K = np.power(values, beta, dtype=dtype)
    overflow = np.isinf(K)
    K *= -1.0 if gamma is None else -gamma
    if gamma is None and overflow.any():
        index = np.unravel_index(overflow.argmax(), overflow.shape)
        raise ArgumentError(
            "D",
            f"is {values[index]}, whose power {beta} is beyond {dtype}; divide D by its median",
            index,
        )
    if gamma is not None:
        # gamma d^beta may be finite although d^beta overflows.
        large = values[overflow].astype(np.float64)
        with np.errstate(over="ignore"):
            K[overflow] = -np.exp(np.log(gamma) + beta * np.log(large))
        np.exp(K, out=K)
    if repair is None:
        return K
    if isinstance(repair, SpectrumRepair):
        return repair.apply(K).astype(dtype, copy=False)
    return SpectrumRepair.fit(K, repair).gram.astype(dtype, copy=False)
