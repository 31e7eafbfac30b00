# SPDX-License-Identifier: BSD-3-Clause
"""Distances of all pairs: `pdist`, `pdist2`, `squareform`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.spatial import distance as scipy_distance
from scipy.stats import rankdata

import d2ke
from d2ke._base.checks import choice
from d2ke._base.errors import ArgumentError, ArgumentTypeError
from d2ke._base.keywords import hinted
from matlab_compat._cells import cell_items, numbers, positive

# MATLAB's distances of the rows of a matrix, and their names in scipy.
_ROW_DISTANCES = {
    "euclidean": "euclidean",
    "squaredeuclidean": "sqeuclidean",
    "sqeuclidean": "sqeuclidean",
    "seuclidean": "seuclidean",
    "mahalanobis": "mahalanobis",
    "cityblock": "cityblock",
    "minkowski": "minkowski",
    "chebychev": "chebyshev",
    "cosine": "cosine",
    "correlation": "correlation",
    "spearman": "correlation",
    "hamming": "hamming",
    "jaccard": "jaccard",
}


def objects(name: str, X: Any, distance: Any) -> Any:
    """Pack a cell or list of strings, or of d x L matrices; a matrix's rows are series.

    A Python function gets the items as they are.
    """
    if isinstance(X, d2ke.Objects):
        return X
    if callable(distance):
        return cell_items(name, X)
    if isinstance(X, np.ndarray) and X.dtype != object:
        return d2ke.pack(X, name=name)
    items = cell_items(name, X)
    strings = any(isinstance(item, str) for item in items)
    return d2ke.pack(items, channels_first=None if strings else True, name=name)


def is_matrix(X: Any) -> bool:
    """Whether X holds numbers in rows, as MATLAB's own distances take them."""
    if isinstance(X, (d2ke.Objects, str)):
        return False
    try:
        array = np.asarray(X)
    except ValueError:  # a list of series of different lengths
        return False
    return array.ndim == 2 and array.dtype.kind in "biuf"


def by_rows(X: Any, distance: Any) -> bool:
    """Whether a distance of X is one of the rows of a matrix, and not d2ke's."""
    if not is_matrix(X):
        if distance is None:
            if np.ndim(X) == 1 and np.asarray(X).dtype.kind in "biuf":
                raise ArgumentError("X", "must be a matrix, n x d: a vector has no columns here")
            raise ArgumentTypeError(
                "Distance", f"must be given for objects: {', '.join(d2ke.distance_names())}"
            )
        return False
    if isinstance(distance, str) and distance.lower() not in _ROW_DISTANCES:
        if distance in d2ke.distance_names():
            return False
        raise ArgumentError(
            "Distance",
            f"must be one of {', '.join(_ROW_DISTANCES)} or a distance of d2ke, got {distance!r}",
        )
    if not (distance is None or isinstance(distance, str) or callable(distance)):
        raise ArgumentTypeError("Distance", f"must be a name or a function, got {distance!r}")
    return True


def between(
    X: Any, Y: Any, distance: Any, parameter: Any = None, params: dict[str, Any] | None = None
) -> np.ndarray:
    """Return the n x m distances; X is the data that seuclidean and mahalanobis are scaled by."""
    if not by_rows(X, distance):
        if parameter is not None:
            raise ArgumentError(
                "DistParameter", "is for distances of matrices; name d2ke's, as in window=10"
            )
        columns = None if Y is X else objects("Y", Y, distance)
        return d2ke.distance_matrix(objects("X", X, distance), columns, distance, **(params or {}))
    # The names of MATLAB's parameters in knnsearch and others; pdist takes them by position.
    words = {"P": "minkowski", "Cov": "mahalanobis", "Scale": "seuclidean"}
    for word, value in (params or {}).items():
        if words.get(word) != str(distance).lower():
            raise ArgumentTypeError(word, f"is not a parameter of {distance or 'euclidean'!r}")
        parameter = value
    X, Y = numbers("X", X), numbers("Y", Y)
    if Y.ndim != 2 or X.shape[1] != Y.shape[1]:
        raise ArgumentError("Y", f"must have the {X.shape[1]} columns of X, got shape {Y.shape}")
    if not X.size or not Y.size:
        return np.zeros((len(X), len(Y)))
    if callable(distance):  # MATLAB's handle takes 1 x d and m x d
        return np.vstack([_row(distance(x[None], Y), len(Y)) for x in X])
    name = (distance or "euclidean").lower()
    if name == "jaccard":
        return np.vstack([_jaccard(x, Y) for x in X])
    options: dict[str, Any] = {}
    if name == "seuclidean":
        # The variances of one row are 0, as in MATLAB.
        variances = X.var(axis=0, ddof=min(1, len(X) - 1))
        options["V"] = variances if parameter is None else _deviations(X, parameter) ** 2
    elif name == "mahalanobis":
        options["VI"] = _inverse_covariance(X, parameter)
    elif name == "minkowski":
        options["p"] = 2.0 if parameter is None else positive("DistParameter", parameter)
    elif parameter is not None:
        raise ArgumentError("DistParameter", f"is not used by {name!r}")
    if name == "spearman":
        X, Y = rankdata(X, axis=1), rankdata(Y, axis=1)
    return scipy_distance.cdist(X, Y, _ROW_DISTANCES[name], **options)


def _row(distances: Any, n: int) -> np.ndarray:
    row = numbers("Distance", distances).ravel()
    if len(row) != n:
        raise ArgumentError("Distance", f"must return {n} distances, one a row; got {len(row)}")
    return row


def _deviations(X: np.ndarray, parameter: Any) -> np.ndarray:
    sd, d = numbers("DistParameter", parameter).ravel(), X.shape[1]
    if len(sd) != d or not (sd > 0).all():
        raise ArgumentError("DistParameter", f"must be {d} deviations > 0, got {sd}")
    return sd


def _inverse_covariance(X: np.ndarray, parameter: Any) -> np.ndarray:
    name, d = ("X", "DistParameter")[parameter is not None], X.shape[1]
    ddof = min(1, len(X) - 1)
    cov = np.cov(X.T, ddof=ddof) if parameter is None else numbers(name, parameter)
    cov = np.atleast_2d(cov)
    if cov.shape != (d, d):
        raise ArgumentError(name, f"must be a {d} x {d} covariance, got shape {cov.shape}")
    try:
        np.linalg.cholesky(cov)
    except np.linalg.LinAlgError:
        raise ArgumentError(name, "has a covariance that is not positive definite") from None
    return np.linalg.inv(cov)


def _jaccard(x: np.ndarray, Y: np.ndarray) -> np.ndarray:
    """Return the share of differing entries among entries that are not both 0."""
    either = (x != 0) | (Y != 0)
    with np.errstate(invalid="ignore"):
        return ((x != Y) & either).sum(axis=1) / either.sum(axis=1)


@hinted
def pdist(
    X: Any,
    Distance: str | Callable[..., Any] | None = None,
    DistParameter: Any = None,
    **params: Any,
) -> np.ndarray:
    """Compute the distances of all pairs.

    Parameters
    ----------
    X : array_like, n x d; cell or list of n objects; Objects
        Observations in rows; or strings, or series as d x L matrices with channels in rows.
    Distance : str or callable, optional
        For a matrix MATLAB's "euclidean" (the default), "squaredeuclidean", "seuclidean",
        "mahalanobis", "cityblock", "minkowski", "chebychev", "cosine", "correlation", "spearman",
        "hamming", "jaccard", or a function of a row (1 x d) and a matrix (m x d). For objects a
        distance of `d2ke.distance_matrix`; it takes the rows of a matrix as series.
    DistParameter : float or array_like, optional
        The exponent of "minkowski" (2), deviations of "seuclidean" (by default X's), covariance
        of "mahalanobis" (by default X's).
    **params
        Parameters of a distance of d2ke; of a matrix ``P``, ``Scale`` or ``Cov`` instead of
        `DistParameter`.

    Returns
    -------
    ndarray, 1 x n (n - 1) / 2
        Distances of the pairs (2,1), (3,1), ..., (n,1), (3,2), ..., (n,n-1); 1 x 0 for one row.

    Raises
    ------
    TypeError, ValueError
        An unknown distance, or objects that it does not take.

    Examples
    --------
    >>> pdist([[0, 0], [3, 4], [0, 1]], "cityblock")
    array([[7., 1., 6.]])
    >>> pdist(["ant", "aunt", "and"], "levenshtein")
    array([[1., 1., 2.]])
    """
    if by_rows(X, Distance) and len(X) < 2:
        return np.zeros((1, 0))
    D = between(X, X, Distance, DistParameter, params)
    return D[np.triu_indices(len(D), 1)][None]


@hinted
def pdist2(
    X: Any,
    Y: Any,
    Distance: str | Callable[..., Any] | None = None,
    DistParameter: Any = None,
    **params: Any,
) -> np.ndarray:
    """Compute the distances of all objects of X to all objects of Y.

    Parameters
    ----------
    X, Y : array_like, n x d and m x d; cells or lists of objects; Objects
        As for `pdist`.
    Distance, DistParameter, **params
        As for `pdist`.

    Returns
    -------
    ndarray, n x m
        For the smallest distances see `knnsearch`.

    Raises
    ------
    TypeError, ValueError
        As `pdist`; matrices of different numbers of columns.

    Examples
    --------
    >>> pdist2([[0, 0], [3, 4]], [[0, 0]])
    array([[0.],
           [5.]])
    """
    return between(X, Y, Distance, DistParameter, params)


@hinted
def squareform(D: Any, direction: str | None = None) -> np.ndarray:
    """Turn the vector of `pdist` into a symmetric matrix, or back.

    Parameters
    ----------
    D : array_like, 1 x n (n - 1) / 2 or n x n
        Distances.
    direction : {"tomatrix", "tovector"}, optional
        By default D is a vector if it has one row or column: a single number is the distance of two
        objects, and 1 x 0 is for one object.

    Returns
    -------
    ndarray, n x n or 1 x n (n - 1) / 2

    Raises
    ------
    ValueError
        A vector of another length; a matrix that is not symmetric with a diagonal of 0.

    Examples
    --------
    >>> squareform([[1.0, 2.0, 3.0]])
    array([[0., 1., 2.],
           [1., 0., 3.],
           [2., 3., 0.]])
    """
    D = numbers("D", D)
    vector = D.ndim < 2 or 1 in D.shape
    if direction is not None:
        choice("direction", direction, ("tomatrix", "tovector"))
        if direction == "tomatrix" and not vector:
            raise ArgumentError("D", f"must be a vector, got shape {D.shape}")
        vector = direction == "tomatrix"
    if vector:
        check_condensed("D", D)
        # scipy takes an empty vector for two objects
        return scipy_distance.squareform(D.ravel()) if D.size else np.zeros((1, 1))
    if not (D.ndim == 2 and len(D) == len(D.T) and (D == D.T).all() and not np.diag(D).any()):
        raise ArgumentError("D", "must be a symmetric matrix with a diagonal of 0, or a vector")
    return D[np.triu_indices(len(D), 1)][None]


def check_condensed(name: str, D: np.ndarray) -> None:
    """Refuse a vector whose length is not n (n - 1) / 2."""
    if D.ndim > 2 or (D.size and not scipy_distance.is_valid_y(D.ravel())):
        raise ArgumentError(name, f"must have n (n - 1) / 2 distances, got {D.size}")
