# SPDX-License-Identifier: BSD-3-Clause
"""Choice of parameters by cross-validation where the distances or features are at hand.

`d2ke.search` is these functions on objects and their distances.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, MutableMapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from d2ke._base import arrays
from d2ke._base.blas import limit_blas_of_thread
from d2ke._base.checks import choice, integer
from d2ke._base.threads import worker_pool
from d2ke.embedding.features import d2ke_features
from d2ke.embedding.scaling import Scaling
from d2ke.io import open_features
from d2ke.io.store.rows import RowSource, StoredRows, written
from d2ke.learners.libsvm import svmtrain
from d2ke.learners.losses import LOSSES
from d2ke.learners.neighbors import nearest_columns, vote
from d2ke.learners.svm_model import svmpredict
from d2ke.model_selection.cost import SPARE_BYTES, Load
from d2ke.model_selection.fold_sums import (
    View,
    cross_validate_by_products,
    fewer_operations,
)
from d2ke.model_selection.folds import stratified_folds, with_bias
from d2ke.model_selection.median import median
from d2ke.model_selection.result import Search
from d2ke.model_selection.squared_hinge import cross_validate_hinge
from d2ke.model_selection.squared_loss import cross_validate

# How many values of C on either side of the one that the squared loss prefers are tried with
# the squared hinge loss.
_NEARBY = 1


def median_unit(D: np.ndarray | RowSource) -> float:
    """Return the unit of relative values; 1 if it is 0."""
    middle = median(D) if isinstance(D, RowSource) else float(np.median(D))
    if not np.isfinite(middle):
        raise ValueError(
            f"the median of the distances is {middle}, no unit for gamma_scale or C_scale; "
            "give absolute values: gamma or C"
        )
    return middle or 1.0


class _Distances:
    """The distances of a candidate, opened when they are needed."""

    def __init__(self, source: np.ndarray | str | os.PathLike):
        self.source = source
        self.in_file = not isinstance(source, np.ndarray)

    @cached_property
    def n_columns(self) -> int:
        if self.in_file:
            with open_features(self.source) as store:
                return store.shape[1]
        return self.source.shape[1]

    @cached_property
    def rows(self) -> RowSource:
        if self.in_file:
            return StoredRows("D", self.source, distances=True)
        arrays.check_distances("D", self.source)
        return RowSource(self.source)

    def unit(self, R: int) -> float:
        if self.in_file:
            return median_unit(self.rows.mapped(lambda D: D[:, :R], R))
        return median_unit(self.source[:, :R])

    def features(self, setting: Mapping[str, Any]) -> RowSource:
        R, gamma = setting["R"], setting["gamma"]
        return self.rows.mapped(lambda D: d2ke_features(D[:, :R], gamma, n_threads=1), R)


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
    limit: int | None = None,
    notes: MutableMapping[tuple, Any] | None = None,
) -> Search:
    """Choose p(omega), R, scaling, gamma, C and the loss for features of distances.

    Every gamma, R and scaling comes from one distance matrix, and every C and fold from
    one factorisation, see `cross_validate`, or from one for each fold, see
    `cross_validate_by_products`: whichever takes fewer operations.

    Parameters
    ----------
    candidates : iterable of (mapping, ndarray of shape (n, R) or path)
        Parameters of a p(omega), and distances of the n training objects to R
        random objects drawn from it; those of a feature store are read by blocks.
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
        Threads of sums of products, or settings tried at the same time, each by one thread and
        whatever threads the BLAS takes; None for all that this process may use.
    limit : int, optional
        Bytes that there are beside distances in memory. Where they do not suffice for what takes
        fewer operations, the other way is gone; and features of a store are held if they fit.
    notes : mutable mapping, optional
        What was found by a search that was interrupted; what is found is added.

    Returns
    -------
    Search
        `parameters` has the candidate's, ``R``, ``scaling``, ``gamma`` (absolute), ``C`` and
        ``loss``.

    Examples
    --------
    >>> import numpy as np
    >>> from d2ke.model_selection.candidates import search_features
    >>> D = np.abs(np.arange(20.0)[:, None] - np.array([[2.0, 15.0]]))
    >>> search = search_features([({}, D)], (np.arange(20) > 9).astype(int),
    ...                          gammas=[1.0], costs=[1.0, 10.0], n_folds=5)
    >>> search.accuracy
    100.0
    """
    losses = _checked(losses)
    folds = stratified_folds(codes, n_folds, seed=seed)
    notes = {} if notes is None else notes
    tried: list[tuple[dict[str, Any], float]] = []
    leader = None
    for position, (parameters, source) in enumerate(candidates):
        D = _Distances(source)
        columns = _columns(D, sizes)
        settings = []
        for R in columns:
            unit = 1.0
            if relative:
                unit = _noted(notes, (position, "unit", R), lambda D=D, R=R: D.unit(R))
            settings += [
                {**parameters, "R": R, "scaling": scaling, "gamma": gamma / unit}
                for scaling, gamma in product(scalings, gammas)
            ]
        values = {"C": costs, "scaling": scalings, "R": columns, "loss": losses}
        load = Load.of(codes, values, {"n_folds": n_folds, "n_threads": n_threads})
        results = _by_squares(D, settings, codes, costs, folds, load, limit, notes, position)
        for setting, by_cost in zip(settings, results, strict=True):
            if leader is None or max(by_cost) > max(leader[1]):
                leader = setting, by_cost, D, load
            tried += _with_costs(setting, costs, by_cost, loss="squared")
    if leader is not None and "squared_hinge" in losses:
        setting, by_cost, D, load = leader

        def features() -> np.ndarray | RowSource:
            Z = D.features(setting)
            n, R = Z.shape
            held = 2 * Z.dtype.itemsize * n * R
            room = limit is not None and load.hinge_bytes(R) + held + SPARE_BYTES <= limit
            if room or not D.in_file:
                Z = Z.whole()
            F = Scaling.fit(Z, setting["scaling"]).apply(Z)
            return written(F, Path(D.source).parent) if isinstance(F, RowSource) else F

        tried += _with_hinge(features, codes, setting, costs, by_cost, folds, n_threads, notes)
    return _best_of(tried, losses)


def _noted(notes: MutableMapping[tuple, Any], key: tuple, compute: Callable[[], Any]) -> Any:
    """Return what is noted already, or compute and note it."""
    found = notes.get(key)
    if found is None:
        found = notes[key] = compute()
    return found


def _by_squares(D, settings, codes, costs, folds, load, limit, notes, position):
    """Return the accuracies of each setting for each C, by the squared loss."""
    found: dict[int, list[float]] = {}
    alone, by_gamma = [], {}
    for i, setting in enumerate(settings):
        if load.by_products(setting["R"], limit):
            by_gamma.setdefault(setting["gamma"], []).append(i)
        else:
            alone.append(i)

    def of_gamma(members: Sequence[int]) -> list[list[float]]:
        widest = settings[max(members, key=lambda i: settings[i]["R"])]
        views = [
            View(settings[i]["R"], settings[i]["scaling"], np.sqrt(widest["R"] / settings[i]["R"]))
            for i in members
        ]
        return cross_validate_by_products(
            D.features(widest), codes, costs, folds, views, n_threads=load.n_threads
        )

    for gamma, members in by_gamma.items():
        results = _noted(notes, (position, "gamma", gamma), lambda m=members: of_gamma(m))
        found.update(zip(members, results, strict=True))

    def of_one(i: int) -> list[float]:
        Z = D.features(settings[i]).whole()
        F = Scaling.fit(Z, settings[i]["scaling"]).apply(Z)
        return cross_validate(with_bias(F), codes, costs, folds)

    found |= {i: notes[position, i] for i in alone if (position, i) in notes}
    missing = [i for i in alone if i not in found]
    if missing:
        at_once = load.n_threads
        if limit is not None:
            most = max(load.hat_bytes(settings[i]["R"]) for i in missing)
            at_once = max(1, min(at_once, limit // most))
        D.rows  # noqa: B018 (they are opened before several threads want them)
        with worker_pool(at_once, limit_blas_of_thread) as pool:
            for i, accuracies in zip(missing, pool.map(of_one, missing), strict=True):
                found[i] = notes[position, i] = accuracies
    return [found[i] for i in range(len(settings))]


def _columns(D: _Distances, sizes: Sequence[int] | None) -> list[int]:
    most = D.n_columns
    return [integer("R", R, 1, most) for R in sizes] if sizes is not None else [most]


def _checked(losses: Sequence[str]) -> list[str]:
    if not len(losses):
        raise ValueError(f"losses is empty; choose among {', '.join(LOSSES)}")
    return [choice("losses", loss, LOSSES) for loss in losses]


def _with_hinge(features, codes, setting, costs, by_cost, folds, n_threads, notes):
    """Try values of C near the best with the squared hinge loss."""
    order = sorted(costs)
    best = order.index(costs[int(np.argmax(by_cost))])
    nearby = order[max(0, best - _NEARBY) : best + _NEARBY + 1]
    accuracies = _noted(
        notes,
        ("squared hinge",),
        lambda: cross_validate_hinge(features(), codes, nearby, folds, n_threads=n_threads),
    )
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
        Threads; None for all that this process may use.

    Returns
    -------
    Search
        `parameters` has the candidate's, ``C`` and ``loss``.

    Examples
    --------
    >>> import numpy as np
    >>> from d2ke.model_selection.candidates import search_vectors
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
    n_classes = int(codes.max()) + 1
    for parameters, F in candidates:
        n, R = F.shape
        if fewer_operations(n, R, n_folds, n_classes, len(costs)):
            (by_cost,) = cross_validate_by_products(
                RowSource(F), codes, costs, folds, [View(R)], n_threads=n_threads
            )
        else:
            by_cost = cross_validate(with_bias(F), codes, costs, folds)
        if leader is None or max(by_cost) > max(leader[1]):
            leader = parameters, by_cost, F
        tried += _with_costs(parameters, costs, by_cost, loss="squared")
    if leader is not None and "squared_hinge" in losses:
        parameters, by_cost, F = leader
        tried += _with_hinge(lambda: F, codes, parameters, costs, by_cost, folds, n_threads, {})
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
    >>> from d2ke.model_selection.candidates import search_gram
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
    with worker_pool(n_threads, limit_blas_of_thread) as pool:
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
    D : ndarray or RowSource, shape (n, n)
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
    >>> from d2ke.model_selection.candidates import search_neighbors
    >>> x = np.array([0.0, 1, 2, 10, 11, 12])
    >>> search_neighbors(np.abs(x[:, None] - x), np.array(list("aaabbb")), [1, 5]).parameters
    {'k': 1}
    """
    y = np.asarray(y)
    classes, codes = np.unique(y, return_inverse=True)
    n = len(codes)
    folds = np.arange(n) if n_folds is None else stratified_folds(codes, n_folds, seed=seed)
    ks = [integer("k", k, 1, n - int(np.bincount(folds).max())) for k in ks]
    right = np.zeros(len(ks), dtype=np.int64)
    for rows in arrays.row_blocks((n, n)):
        # Infinitely far others are still nearer than the object's own fold, which does not vote.
        others = np.minimum(D[rows], np.finfo(np.float64).max)
        others[folds[rows, None] == folds] = np.inf
        nearest = codes[nearest_columns(others, max(ks, default=1))]
        for i, k in enumerate(ks):
            right[i] += int((vote(nearest[:, :k], len(classes)) == codes[rows]).sum())
    tried = [({"k": k}, 100.0 * float(one / n)) for k, one in zip(ks, right.tolist(), strict=True)]
    return Search.best_of(tried)
