# SPDX-License-Identifier: BSD-3-Clause
"""Random features of distances: objects become vectors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from d2ke._base import arrays
from d2ke._base.checks import choice, element_type, positive_number
from d2ke._base.errors import ArgumentTypeError
from d2ke._base.keywords import hinted
from d2ke._base.memory import check_fits
from d2ke._base.threads import team_size
from d2ke._ext import pairwise
from d2ke.distances.matrix import fill_array, output_array
from d2ke.distances.pairs import check_pairs
from d2ke.distances.problem import ArgumentNames, PairwiseProblem, Transform
from d2ke.objects.compatibility import warn_of_letters
from d2ke.objects.container import Objects


@hinted
def d2ke_embed(
    X: Any,
    omega: Any,
    *,
    distance: Any = None,
    gamma: float | None = None,
    link: str = "exp",
    n_threads: int | None = None,
    out: np.ndarray | None = None,
    dtype: Any = None,
    progress: bool | None = None,
    **params: Any,
) -> NDArray[np.floating[Any]]:
    """Embed objects by their distances to random objects.

    Z[i, j] = exp(-gamma d(x_i, omega_j)) / sqrt(R), so that Z Z' tends to the
    positive-definite kernel k(x, y) = E[exp(-gamma d(x, omega)) exp(-gamma
    d(y, omega))] as R grows.

    Parameters
    ----------
    X : Objects or what `pack` takes
        n objects.
    omega : Objects or what `pack` takes
        R random objects, see `random_series`, `random_strings`, `random_sets`.
    distance : str, callable or scipy.LowLevelCallable, optional
        As for `distance_matrix`; by default ``"levenshtein"`` for strings, ``"dtw"`` for series
        and ``"mhd"`` for sets.
    gamma : float
        Inverse scale of the distance, > 0; needed for ``link="exp"`` only.
    link : {"exp", "distance"}
        ``"exp"``: the paper's features. ``"distance"``: d(x_i, omega_j) / sqrt(R), as in the
        authors' code for time series.
    n_threads : int, optional
        Threads to use; None for all that this process may use.
    out : ndarray of float32 or float64, shape (n, R), optional
        C-contiguous array to fill.
    dtype : {float64, float32}, optional
        Of the result, where `out` is None; by default as said under Returns.
    progress : bool, optional
        Whether to show progress; by default on a terminal or in a notebook, where work takes more
        than two seconds.
    **params
        Parameters of the distance.

    Returns
    -------
    ndarray, shape (n, R)
        float32 if X and omega are float32 vectors, else float64. The result does not depend on the
        number of threads, and equals `d2ke_features` of the distance matrix.

    Raises
    ------
    TypeError, ValueError
        As `distance_matrix`; gamma missing, not positive or not finite.
    MemoryError
        If the call would take more than there is; see docs/memory.md.

    References
    ----------
    Wu, Yen, Xu, Ravikumar, Witbrock, "D2KE: From Distance to Kernel and
    Embedding", 2018, eq. (4) and Algorithm 1.

    Examples
    --------
    >>> import d2ke
    >>> omega = d2ke.samplers.random_strings(256, "ACGT", length=(2, 8), seed=0)
    >>> Z = d2ke.d2ke_embed(["ACGT", "AGGT"], omega, distance="levenshtein", gamma=0.5)
    >>> Z.shape, bool((Z @ Z.T > 0).all())
    ((2, 256), True)
    """
    gamma = check_link(gamma, link)
    pairs = check_embedding(X, omega, distance, params, ArgumentNames("d2ke_embed", "X", "omega"))
    return _embed(pairs, gamma, n_threads, out, dtype, progress)


def check_embedding(
    X: Any, omega: Any, distance: Any, params: Mapping[str, Any], names: ArgumentNames
) -> PairwiseProblem:
    """Check and pack objects and random objects."""
    if omega is None:
        raise ArgumentTypeError(
            names.y, "is None; draw random objects first, see random_series and its kin"
        )
    pairs = check_pairs(X, omega, distance, params, names)
    if isinstance(pairs.y, Objects):
        warn_of_letters(pairs.x, pairs.y, names.x, names.y)
    return pairs


def feature_transform(gamma: float | None, R: int) -> Transform:
    """Return the transform to features, or to distances / sqrt(R) if gamma is None."""
    link = {"link": "distance"} if gamma is None else {"gamma": gamma, "link": "exp"}
    return Transform("features", gamma, 1 / np.sqrt(R), link)


def _embed(
    pairs: PairwiseProblem,
    gamma: float | None,
    n_threads: int | None,
    out: Any,
    dtype: Any,
    progress: bool | None,
) -> np.ndarray:
    """Compute features of checked objects."""
    dtype = None if dtype is None else element_type("dtype", dtype)
    transform = feature_transform(gamma, pairs.shape[1])
    return fill_array(pairs, out, dtype, team_size(n_threads), progress, transform)


@hinted
def d2ke_features(
    D: np.ndarray,
    gamma: float | None = None,
    link: str = "exp",
    *,
    out: np.ndarray | None = None,
    n_threads: int | None = None,
) -> NDArray[np.floating[Any]]:
    """Compute features from a matrix of distances to random objects.

    Distances are expensive, features are cheap. Use one D for all gammas, and its first columns,
    ``D[:, :R]``, for smaller R. D is not copied, and `out` can be reused.

    Parameters
    ----------
    D : ndarray of float32 or float64, shape (n, R)
        Distances to R random objects, >= 0 (infinity gives a feature of 0).
    gamma : float
        Inverse scale of the distance, > 0; needed for ``link="exp"`` only.
    link : {"exp", "distance"}
        exp(-gamma D) / sqrt(R), or D / sqrt(R).
    out : ndarray of D's shape and type, optional
        C-contiguous array to fill; ``out=D`` works in place.
    n_threads : int, optional
        Threads to use; None for all that this process may use.

    Returns
    -------
    ndarray, shape (n, R)
        The features, of D's type.

    Raises
    ------
    TypeError, ValueError
        D not a float matrix, NaN or negative distances, gamma missing, not
        positive or not finite, an `out` that does not fit.
    MemoryError
        If the call would take more than there is; see docs/memory.md.

    References
    ----------
    Wu, Yen, Xu, Ravikumar, Witbrock, "D2KE: From Distance to Kernel and
    Embedding", 2018, Algorithm 1.

    Examples
    --------
    >>> import numpy as np
    >>> import d2ke
    >>> d2ke.d2ke_features(np.array([[0.0, np.log(2.0)]]), gamma=1.0) * np.sqrt(2)
    array([[1. , 0.5]])
    """
    gamma = check_link(gamma, link)
    if not isinstance(D, np.ndarray) or D.ndim != 2 or D.dtype not in (np.float32, np.float64):
        got = f"{D.dtype} of shape {D.shape}" if isinstance(D, np.ndarray) else type(D).__name__
        raise ArgumentTypeError("D", f"must be a 2-D ndarray of float32 or float64, got {got}")
    arrays.check_filled("D", D)
    arrays.check_distances("D", D)
    if out is None:
        check_fits(
            D.size * D.itemsize, f"features of shape {D.shape}", "out=D computes them in place"
        )
        out = np.empty(D.shape, dtype=D.dtype)
    elif output_array(out, D.shape, D.dtype).dtype != D.dtype:
        raise ArgumentTypeError("out", f"must have D's element type {D.dtype}, got {out.dtype}")
    in_place = out.ctypes.data == D.ctypes.data and out.strides == D.strides
    if not in_place and np.may_share_memory(D, out):
        D = D.copy()
    return transformed(D, gamma, out, team_size(n_threads))


def transformed(
    D: np.ndarray, gamma: float | None, out: np.ndarray, n_threads: int
) -> NDArray[np.floating[Any]]:
    """Compute exp(-gamma D) / sqrt(R) of checked distances, or D / sqrt(R) if gamma is None.

    `out` is D or does not overlap it.
    """
    scale = 1 / np.sqrt(D.shape[1])
    if gamma is None:
        return np.multiply(D, scale, out=out, dtype=np.float64, casting="same_kind")
    source = D if D.strides[1] == D.itemsize else np.ascontiguousarray(D)
    shape = (1, -1) if source.flags.c_contiguous else D.shape
    pairwise.exp_features(source.reshape(shape), out.reshape(shape), gamma, scale, n_threads)
    return out


@hinted
def rsm_embed(
    X: Any,
    reps: Any,
    *,
    distance: Any = None,
    gamma: float | None = None,
    link: str = "exp",
    n_threads: int | None = None,
    out: np.ndarray | None = None,
    dtype: Any = None,
    progress: bool | None = None,
    **params: Any,
) -> NDArray[np.floating[Any]]:
    """Embed objects by their distances to representatives: the representative-set method.

    This is the baseline RSM of the paper. The formula is the same as for D2KE, with R training
    objects (see `training_objects`) instead of random objects.

    Parameters
    ----------
    X : Objects or what `pack` takes
        n objects.
    reps : Objects or what `pack` takes
        R representatives, usually ``training_objects(R, X_train, seed=...)[0]``.
    distance, gamma, link, n_threads, out, dtype, progress, **params
        As for `d2ke_embed`.

    Returns
    -------
    ndarray, shape (n, R)
        The features.

    Raises
    ------
    TypeError, ValueError
        As `d2ke_embed`.
    MemoryError
        If the call would take more than there is; see docs/memory.md.

    References
    ----------
    Wu, Yen, Xu, Ravikumar, Witbrock, "D2KE: From Distance to Kernel and
    Embedding", 2018, eq. (8).

    Examples
    --------
    >>> import d2ke
    >>> X = d2ke.pack(["ACGT", "AGGT", "TTTT"])
    >>> reps = d2ke.samplers.training_objects(2, X, seed=0)[0]
    >>> d2ke.rsm_embed(X, reps, distance="levenshtein", gamma=1.0).shape
    (3, 2)
    """
    gamma = check_link(gamma, link)
    pairs = check_embedding(X, reps, distance, params, ArgumentNames("rsm_embed", "X", "reps"))
    return _embed(pairs, gamma, n_threads, out, dtype, progress)


def check_link(gamma: float | None, link: str) -> float | None:
    """Return a checked gamma; None for ``link="distance"``."""
    choice("link", link, ["exp", "distance"])
    if link == "exp":
        if gamma is None:
            raise ArgumentTypeError("gamma", 'is needed for link="exp"')
        return positive_number("gamma", gamma)
    if gamma is not None:
        raise ArgumentTypeError("gamma", f'has no meaning for link="distance"; got {gamma!r}')
    return None
