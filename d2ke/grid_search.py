# SPDX-License-Identifier: BSD-3-Clause
"""Choice of parameters by cross-validation where the distances or features are at hand.

`d2ke.search` is these functions on objects and their distances.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np

from d2ke._blas import for_this_thread
from d2ke._threads import worker_pool
from d2ke._validate import choice, integer
from d2ke.classifier import LOSSES
from d2ke.crossval import cross_validate, cross_validate_hinge, stratified_folds, with_bias
from d2ke.embed import d2ke_features
from d2ke.neighbors import knn_predict
from d2ke.scaling import Scaling
from d2ke.search_result import Search
from d2ke.svm import svmpredict, svmtrain

# How many values of C on either side of the one that the squared loss prefers are tried with
# the squared hinge loss.
_NEARBY = 1


def median_unit(D: np.ndarray) -> float:
    """Return the unit of relative values; 1 if it is 0."""
    middle = float(np.median(D))
    if not np.isfinite(middle):
        raise ValueError(
            f"the median of the distances is {middle}, no unit for gamma_scale or C_scale; "
            "give absolute values: gamma or C"
        )
    return middle or 1.0


def search_features(
    candidates: Iterable[tuple[Mapping[str, Any], np.ndarray]],
    codes: np.ndarray,
    *,
    gammas: Sequence[float],
    costs: Sequence[float],
    relative: bool = True,
    sizes: Sequence[int] | None = None,
    scalings: Sequence[str] = ("standard",),
    losses: Sequence[str] = LOSSES,
    n_folds: int = 10,
    seed: Any = 0,
    n_threads: int | None = None,
) -> Search:
    """Choose p(omega), R, scaling, gamma, C and the loss for features of distances.

    Every gamma, R and scaling comes from one distance matrix, and every C and fold from
    one factorisation, see `cross_validate`.

    Parameters
    ----------
    candidates : iterable of (mapping, ndarray of shape (n, R))
        Parameters of a p(omega), and distances of the n training objects to R
        random objects drawn from it.
    codes : ndarray of int, shape (n,)
        Classes 0, 1, ... of the training objects.
    gammas : sequence of float
        Values of gamma; with `relative` in units of 1 / (median of the distances to the R
        random objects).
    costs : sequence of float
        Values of C.
    relative : bool
        Whether the gammas are.
    sizes : sequence of int, optional
        Values of R, each standing for the first columns; all columns by default.
    scalings : sequence of str
        Kinds of `Scaling`.
    losses : sequence of str
        Of the final model, see `train_classifier`. Settings are compared by the squared loss; the
        best of them is tried with the squared hinge loss too, with that C and a few smaller and
        larger ones.
    n_folds : int
        Number of stratified folds.
    seed : int, SeedSequence or Generator
        Of the folds.
    n_threads : int, optional
        Settings tried at the same time, each by one thread and whatever
        threads the BLAS takes; None for all that this process may use.

    Returns
    -------
    Search
        `parameters` has the candidate's, ``R``, ``scaling``, ``gamma`` (absolute), ``C`` and
        ``loss``.

    Examples
    --------
    >>> import numpy as np
    >>> from d2ke.grid_search import search_features
    >>> D = np.abs(np.arange(20.0)[:, None] - np.array([[2.0, 15.0]]))
    >>> search = search_features([({}, D)], (np.arange(20) > 9).astype(int),
    ...                          gammas=[1.0], costs=[1.0, 10.0], n_folds=5)
    >>> search.accuracy
    100.0
    """
    losses = _checked(losses)
    folds = stratified_folds(codes, n_folds, seed=seed)

    def features(D: np.ndarray, setting: Mapping[str, Any]) -> np.ndarray:
        Z = d2ke_features(D[:, : setting["R"]], setting["gamma"], n_threads=1)
        return Scaling.fit(Z, setting["scaling"]).apply(Z)

    def accuracies(D: np.ndarray, setting: Mapping[str, Any]) -> list[float]:
        return cross_validate(with_bias(features(D, setting)), codes, costs, folds)

    tried: list[tuple[dict[str, Any], float]] = []
    leader = None
    with worker_pool(n_threads, for_this_thread) as pool:
        for parameters, D in candidates:
            settings = []
            for R in _columns(D, sizes):
                unit = median_unit(D[:, :R]) if relative else 1.0
                settings += [
                    {**parameters, "R": R, "scaling": scaling, "gamma": gamma / unit}
                    for scaling, gamma in product(scalings, gammas)
                ]
            results = pool.map(lambda setting, D=D: accuracies(D, setting), settings)
            for setting, by_cost in zip(settings, results, strict=True):
                if leader is None or max(by_cost) > max(leader[1]):
                    leader = setting, by_cost, D
                tried += _with_costs(setting, costs, by_cost, loss="squared")
    if leader is not None and "squared_hinge" in losses:
        setting, by_cost, D = leader
        tried += _with_hinge(features(D, setting), codes, setting, costs, by_cost, folds, n_threads)
    return _best_of(tried, losses)


def _columns(D: np.ndarray, sizes: Sequence[int] | None) -> list[int]:
    most = D.shape[1]
    return [integer("R", R, 1, most) for R in sizes] if sizes is not None else [most]


def _checked(losses: Sequence[str]) -> list[str]:
    if not len(losses):
        raise ValueError(f"losses is empty; choose among {', '.join(LOSSES)}")
    return [choice("losses", loss, LOSSES) for loss in losses]


def _with_hinge(F, codes, setting, costs, by_cost, folds, n_threads):
    """Try values of C near the best with the squared hinge loss."""
    order = sorted(costs)
    best = order.index(costs[int(np.argmax(by_cost))])
    nearby = order[max(0, best - _NEARBY) : best + _NEARBY + 1]
    accuracies = cross_validate_hinge(F, codes, nearby, folds, n_threads=n_threads)
    return _with_costs(setting, nearby, accuracies, loss="squared_hinge")


def _best_of(tried: Sequence[tuple[dict[str, Any], float]], losses: Sequence[str]) -> Search:
    """Choose among the losses of which a model is wanted; all that was tried is kept."""
    best = Search.best_of([one for one in tried if one[0]["loss"] in losses])
    return replace(best, tried=tuple(tried))


def search_vectors(
    candidates: Iterable[tuple[Mapping[str, Any], np.ndarray]],
    codes: np.ndarray,
    *,
    costs: Sequence[float],
    losses: Sequence[str] = LOSSES,
    n_folds: int = 10,
    seed: Any = 0,
    n_threads: int | None = None,
) -> Search:
    """Choose among ready vectors, and C and the loss of a linear model on them.

    Parameters
    ----------
    candidates : iterable of (mapping, ndarray of shape (n, R))
        Parameters, and the vectors of the n training objects that they give.
    codes : ndarray of int, shape (n,)
        Classes 0, 1, ... of the training objects.
    costs : sequence of float
        Values of C.
    losses, n_folds, seed
        As for `search_features`.
    n_threads : int, optional
        Threads for the squared hinge loss; None for all that this process may use.

    Returns
    -------
    Search
        `parameters` has the candidate's, ``C`` and ``loss``.

    Examples
    --------
    >>> import numpy as np
    >>> from d2ke.grid_search import search_vectors
    >>> Z = np.linspace(-1, 1, 20)[:, None]
    >>> codes = (Z[:, 0] > 0).astype(int)
    >>> candidates = [({"power": p}, Z**p) for p in (2, 1)]
    >>> search_vectors(candidates, codes, costs=[10.0], n_folds=5).parameters
    {'power': 1, 'C': 10.0, 'loss': 'squared'}
    """
    losses = _checked(losses)
    folds = stratified_folds(codes, n_folds, seed=seed)
    tried: list[tuple[dict[str, Any], float]] = []
    leader = None
    for parameters, F in candidates:
        by_cost = cross_validate(with_bias(F), codes, costs, folds)
        if leader is None or max(by_cost) > max(leader[1]):
            leader = parameters, by_cost, F
        tried += _with_costs(parameters, costs, by_cost, loss="squared")
    if leader is not None and "squared_hinge" in losses:
        parameters, by_cost, F = leader
        tried += _with_hinge(F, codes, parameters, costs, by_cost, folds, n_threads)
    return _best_of(tried, losses)


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
        As for `search_features`.
    n_threads : int, optional
        Machines fitted at the same time; None for all that this process may use.

    Returns
    -------
    Search
        `parameters` has the candidate's and ``C``.

    Examples
    --------
    >>> import numpy as np
    >>> from d2ke.grid_search import search_gram
    >>> x = np.linspace(-1, 1, 20)
    >>> codes = (x > 0).astype(int)
    >>> candidates = [({"power": p}, np.multiply.outer(x**p, x**p)) for p in (2, 1)]
    >>> search_gram(candidates, codes, costs=[100.0], n_folds=5).parameters
    {'power': 1, 'C': 100.0}
    """
    folds = stratified_folds(codes, n_folds, seed=seed)
    parts = [(np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)) for fold in set(folds)]

    def right(K: np.ndarray, C: float, kept: np.ndarray, out: np.ndarray) -> int:
        if np.ptp(codes[kept]) == 0:  # the other class is left out as a whole
            return int((codes[out] == codes[kept[0]]).sum())
        model = svmtrain(codes[kept], K[np.ix_(kept, kept)], f"-t 4 -c {C} -q")
        return int((svmpredict(None, K[np.ix_(out, kept)], model)[0] == codes[out]).sum())

    tried = []
    with worker_pool(n_threads, for_this_thread) as pool:
        for parameters, K in candidates:
            jobs = [(C, *part) for C in costs for part in parts]
            counts = list(pool.map(lambda job, K=K: right(K, *job), jobs))
            by_cost = np.reshape(counts, (len(costs), len(parts))).sum(axis=1)
            tried += _with_costs(parameters, costs, (100.0 * by_cost / len(codes)).tolist())
    return Search.best_of(tried)


def _with_costs(
    parameters: Mapping[str, Any],
    costs: Sequence[float],
    accuracies: Sequence[float],
    **more: Any,
) -> list[tuple[dict[str, Any], float]]:
    """Return the settings that differ in C, each with its accuracy."""
    return [
        ({**parameters, "C": C, **more}, accuracy)
        for C, accuracy in zip(costs, accuracies, strict=True)
    ]


def search_neighbors(
    D: np.ndarray,
    y: np.ndarray,
    ks: Sequence[int],
    *,
    n_folds: int | None = None,
    seed: Any = 0,
) -> Search:
    """Choose k for nearest neighbours.

    Parameters
    ----------
    D : ndarray, shape (n, n)
        Distances among the training objects.
    y : ndarray, shape (n,)
        Their labels.
    ks : sequence of int
        Values of k, each at least 1 and at most what the other folds hold.
    n_folds : int, optional
        Number of stratified folds; None to leave out one object at a time.
    seed : int, SeedSequence or Generator
        Of the folds.

    Returns
    -------
    Search
        `parameters` has ``k``.

    Examples
    --------
    >>> import numpy as np
    >>> from d2ke.grid_search import search_neighbors
    >>> x = np.array([0.0, 1, 2, 10, 11, 12])
    >>> search_neighbors(np.abs(x[:, None] - x), np.array(list("aaabbb")), [1, 5]).parameters
    {'k': 1}
    """
    y = np.asarray(y)
    # Infinitely far others are still nearer than the object's own fold, which does not vote.
    others = np.minimum(D, np.finfo(np.float64).max)
    if n_folds is None:
        np.fill_diagonal(others, np.inf)
        most = len(others) - 1
    else:
        folds = stratified_folds(np.unique(y, return_inverse=True)[1], n_folds, seed=seed)
        for fold in range(n_folds):
            members = np.flatnonzero(folds == fold)
            others[np.ix_(members, members)] = np.inf
        most = len(others) - int(np.bincount(folds).max())
    tried = []
    for k in ks:
        labels = knn_predict(others, y, integer("k", k, 1, most))
        tried.append(({"k": k}, 100.0 * float(np.mean(labels == y))))
    return Search.best_of(tried)
