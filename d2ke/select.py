# SPDX-License-Identifier: BSD-3-Clause
"""Choice of parameters on training objects by cross-validation."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import repeat
from typing import Any

import numpy as np

from d2ke._threads import worker_pool
from d2ke._validate import generator, integer
from d2ke.embed import d2ke_features
from d2ke.neighbors import knn_predict
from d2ke.scaling import Scaling
from d2ke.svm import svmpredict, svmtrain


@dataclass(frozen=True)
class Search:
    """What a search tried and chose.

    Attributes
    ----------
    parameters : dict
        The chosen values.
    accuracy : float
        Their cross-validated accuracy, percent.
    tried : tuple of (dict, float)
        Every setting with its accuracy, in the order tried.
    """

    parameters: dict[str, Any]
    accuracy: float
    tried: tuple[tuple[dict[str, Any], float], ...]

    @classmethod
    def best_of(cls, tried: Sequence[tuple[dict[str, Any], float]]) -> Search:
        """Choose the most accurate setting; the earlier one of equals."""
        if not tried:
            raise ValueError(
                "candidates (or a grid of values) is empty: there is nothing to choose from"
            )
        parameters, accuracy = max(tried, key=lambda one: one[1])
        return cls(parameters, accuracy, tuple(tried))


def search_features(
    candidates: Iterable[tuple[Mapping[str, Any], np.ndarray]],
    codes: np.ndarray,
    *,
    gammas: Sequence[float],
    costs: Sequence[float],
    n_folds: int = 10,
    seed: Any = 0,
    n_threads: int | None = None,
) -> Search:
    """Choose p(omega), gamma and C for features of distances.

    Every gamma comes from one distance matrix, and every C and fold from one
    factorisation, see `cross_validate`.

    Parameters
    ----------
    candidates : iterable of (mapping, ndarray of shape (n, R))
        Parameters of a p(omega), and distances of the n training objects to R
        random objects drawn from it.
    codes : ndarray of int, shape (n,)
        Classes 0, 1, ... of the training objects.
    gammas : sequence of float
        Values of gamma, in units of 1 / (median of the distances).
    costs : sequence of float
        Values of C.
    n_folds : int
        Number of stratified folds.
    seed : int, SeedSequence or Generator
        Of the folds.
    n_threads : int, optional
        Values of gamma tried at the same time, each by one thread and whatever
        threads the BLAS takes; None for all that this process may use.

    Returns
    -------
    Search
        `parameters` has the candidate's, ``gamma`` (absolute) and ``C``.

    Examples
    --------
    >>> import numpy as np
    >>> from d2ke.select import search_features
    >>> D = np.abs(np.arange(20.0)[:, None] - np.array([[2.0, 15.0]]))
    >>> search = search_features([({}, D)], (np.arange(20) > 9).astype(int),
    ...                          gammas=[1.0], costs=[1.0, 10.0], n_folds=5)
    >>> search.accuracy
    100.0
    """
    folds = stratified_folds(codes, n_folds, seed=seed)

    def accuracies(D: np.ndarray, gamma: float) -> list[float]:
        Z = d2ke_features(D, gamma, n_threads=1)
        return cross_validate(with_bias(Scaling.fit(Z).apply(Z)), codes, costs, folds)

    tried = []
    with worker_pool(n_threads) as pool:
        for parameters, D in candidates:
            middle = float(np.median(D)) or 1.0
            scaled = [relative / middle for relative in gammas]
            results = pool.map(accuracies, repeat(D), scaled)
            for gamma, by_cost in zip(scaled, results, strict=True):
                tried += _with_costs(dict(parameters) | {"gamma": gamma}, costs, by_cost)
    return Search.best_of(tried)


def search_vectors(
    candidates: Iterable[tuple[Mapping[str, Any], np.ndarray]],
    codes: np.ndarray,
    *,
    costs: Sequence[float],
    n_folds: int = 10,
    seed: Any = 0,
) -> Search:
    """Choose among ready vectors, and C for a linear model on them.

    Parameters
    ----------
    candidates : iterable of (mapping, ndarray of shape (n, R))
        Parameters, and the vectors of the n training objects that they give.
    codes : ndarray of int, shape (n,)
        Classes 0, 1, ... of the training objects.
    costs : sequence of float
        Values of C.
    n_folds, seed
        Stratified folds, as for `search_features`.

    Returns
    -------
    Search
        `parameters` has the candidate's and ``C``.

    Examples
    --------
    >>> import numpy as np
    >>> from d2ke.select import search_vectors
    >>> Z = np.linspace(-1, 1, 20)[:, None]
    >>> codes = (Z[:, 0] > 0).astype(int)
    >>> candidates = [({"power": p}, Z**p) for p in (2, 1)]
    >>> search_vectors(candidates, codes, costs=[10.0], n_folds=5).parameters
    {'power': 1, 'C': 10.0}
    """
    folds = stratified_folds(codes, n_folds, seed=seed)
    tried = []
    for parameters, F in candidates:
        by_cost = cross_validate(with_bias(F), codes, costs, folds)
        tried += _with_costs(parameters, costs, by_cost)
    return Search.best_of(tried)


def search_gram(
    candidates: Iterable[tuple[Mapping[str, Any], np.ndarray]],
    codes: np.ndarray,
    *,
    costs: Sequence[float],
    n_folds: int = 10,
    seed: Any = 0,
    n_threads: int | None = None,
) -> Search:
    """Choose a kernel, and C for a support vector machine with it.

    Every setting is fitted by LIBSVM to all folds but one, for each of them.

    Parameters
    ----------
    candidates : iterable of (mapping, ndarray of shape (n, n))
        Parameters of a kernel, and its Gram matrix of the n training objects.
    codes : ndarray of int, shape (n,)
        Classes 0, 1, ... of the training objects.
    costs : sequence of float
        Values of C.
    n_folds, seed
        Stratified folds, as for `search_features`.
    n_threads : int, optional
        Machines fitted at the same time; None for all that this process may use.

    Returns
    -------
    Search
        `parameters` has the candidate's and ``C``.

    Examples
    --------
    >>> import numpy as np
    >>> from d2ke.select import search_gram
    >>> x = np.linspace(-1, 1, 20)
    >>> codes = (x > 0).astype(int)
    >>> candidates = [({"power": p}, np.multiply.outer(x**p, x**p)) for p in (2, 1)]
    >>> search_gram(candidates, codes, costs=[100.0], n_folds=5).parameters
    {'power': 1, 'C': 100.0}
    """
    folds = stratified_folds(codes, n_folds, seed=seed)
    parts = [(np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)) for fold in set(folds)]

    def right(K: np.ndarray, C: float, kept: np.ndarray, out: np.ndarray) -> int:
        model = svmtrain(codes[kept], K[np.ix_(kept, kept)], f"-t 4 -c {C} -q")
        return int((svmpredict(None, K[np.ix_(out, kept)], model)[0] == codes[out]).sum())

    tried = []
    with worker_pool(n_threads) as pool:
        for parameters, K in candidates:
            jobs = [(C, *part) for C in costs for part in parts]
            counts = list(pool.map(lambda job, K=K: right(K, *job), jobs))
            by_cost = np.reshape(counts, (len(costs), len(parts))).sum(axis=1)
            tried += _with_costs(parameters, costs, (100.0 * by_cost / len(codes)).tolist())
    return Search.best_of(tried)


def _with_costs(
    parameters: Mapping[str, Any], costs: Sequence[float], accuracies: Sequence[float]
) -> list[tuple[dict[str, Any], float]]:
    """Return the settings that differ in C, each with its accuracy."""
    return [
        (dict(parameters) | {"C": C}, accuracy)
        for C, accuracy in zip(costs, accuracies, strict=True)
    ]


def cross_validate(
    F: np.ndarray, codes: np.ndarray, costs: Sequence[float], folds: np.ndarray
) -> list[float]:
    """Cross-validated accuracy of linear one-vs-rest classifiers, for every C at once.

    The loss is the squared one, |w|^2 / 2 + C sum (y_i - w.z_i)^2 with y = +-1:
    what LIBLINEAR's squared hinge is for points inside the margin, so that its
    C carries over. With the squared loss the predictions for a fold that was
    left out follow from the fit to all rows: r_out = (I - H)^-1 r, H being the
    fold's block of the hat matrix; one eigendecomposition serves all C and folds.

    Parameters
    ----------
    F : ndarray of float64, shape (n, R)
        Features, scaled, with a constant column for the bias.
    codes : ndarray of int, shape (n,)
        Classes 0, 1, ...
    costs : sequence of float
        Values of C.
    folds : ndarray of int, shape (n,)
        The fold of each row.

    Returns
    -------
    list of float
        Percent of rows classified rightly when left out, for each C.

    References
    ----------
    Hastie, Tibshirani, Friedman, "The Elements of Statistical Learning", 2009,
    section 7.10.
    """
    n, R = F.shape
    if n >= R:
        squares, V = np.linalg.eigh(F.T @ F)
        kept = squares > 1e-12 * squares[-1]
        squares = squares[kept]
        U = (F @ V[:, kept]) / np.sqrt(squares)
    else:
        squares, U = np.linalg.eigh(F @ F.T)
        kept = squares > 1e-12 * squares[-1]
        squares, U = squares[kept], U[:, kept]
    targets = np.where(codes[:, None] == np.arange(codes.max() + 1), 1.0, -1.0)
    projected = U.T @ targets
    members = [np.flatnonzero(folds == fold) for fold in np.unique(folds)]
    accuracies = []
    for C in costs:
        shrink = squares / (squares + 1 / (2 * C))
        residual = targets - U @ (shrink[:, None] * projected)
        right = 0
        for rows in members:
            hat = (U[rows] * shrink) @ U[rows].T
            left_out = targets[rows] - np.linalg.solve(np.eye(len(rows)) - hat, residual[rows])
            # Rounded, so that what ties but for rounding goes to the first class.
            winners = np.round(left_out, 9).argmax(axis=1)
            right += int((winners == codes[rows]).sum())
        accuracies.append(100.0 * right / n)
    return accuracies


def search_neighbors(D: np.ndarray, y: np.ndarray, ks: Sequence[int]) -> Search:
    """Choose k for nearest neighbours by leaving one training object out at a time.

    Parameters
    ----------
    D : ndarray, shape (n, n)
        Distances among the training objects.
    y : ndarray, shape (n,)
        Their labels.
    ks : sequence of int
        Values of k, each from 1 to n - 1.

    Returns
    -------
    Search
        `parameters` has ``k``.

    Examples
    --------
    >>> import numpy as np
    >>> from d2ke.select import search_neighbors
    >>> x = np.array([0.0, 1, 2, 10, 11, 12])
    >>> search_neighbors(np.abs(x[:, None] - x), np.array(list("aaabbb")), [1, 5]).parameters
    {'k': 1}
    """
    # Infinitely far others are still nearer than the object itself, which does not vote.
    others = np.minimum(D, np.finfo(np.float64).max)
    np.fill_diagonal(others, np.inf)
    tried = []
    for k in ks:
        labels = knn_predict(others, y, integer("k", k, 1, len(others) - 1))
        tried.append(({"k": k}, 100.0 * float(np.mean(labels == np.asarray(y)))))
    return Search.best_of(tried)


def stratified_folds(codes: np.ndarray, n_folds: int, *, seed: Any) -> np.ndarray:
    """Deal the members of each class out to the folds, in random order.

    Parameters
    ----------
    codes : ndarray of int, shape (n,)
        Classes 0, 1, ...
    n_folds : int
        From 2 to n.
    seed : int, SeedSequence or Generator
        Where the randomness comes from.

    Returns
    -------
    ndarray of int, shape (n,)
        The fold of each row; sizes differ by at most one, within each class too.

    Examples
    --------
    >>> import numpy as np
    >>> from d2ke.select import stratified_folds
    >>> np.bincount(stratified_folds(np.array([0, 1] * 10), 5, seed=0)).tolist()
    [4, 4, 4, 4, 4]
    """
    integer("n_folds", n_folds, 2, len(codes))
    shuffled = generator(seed).permutation(len(codes))
    by_class = shuffled[np.argsort(codes[shuffled], kind="stable")]
    folds = np.empty(len(codes), dtype=np.int64)
    folds[by_class] = np.arange(len(codes)) % n_folds
    return folds


def with_bias(F: np.ndarray) -> np.ndarray:
    """Append the column of ones that LIBLINEAR's ``-B 1`` stands for."""
    return np.hstack([F, np.ones((len(F), 1))])
