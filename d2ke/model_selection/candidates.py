# SPDX-License-Identifier: BSD-3-Clause
"""Choice of parameters of linear classifiers by cross-validation, from distances or vectors.

`d2ke.search` applies these functions to objects and their distances.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import count
from typing import Any

import numpy as np

from d2ke._base import arrays
from d2ke._base.blas import limit_blas_of_thread
from d2ke._base.checks import integer
from d2ke._base.threads import worker_pool
from d2ke.embedding.features import d2ke_features
from d2ke.embedding.scaling import Scaling
from d2ke.io.rows import RowSource
from d2ke.learners.losses import LOSSES
from d2ke.model_selection.cross_validation import cross_validate, cross_validate_hinge
from d2ke.model_selection.fold_sums import (
    FeatureView,
    cross_validate_by_products,
    fewer_operations,
)
from d2ke.model_selection.folds import SearchProblem
from d2ke.model_selection.grids import FeatureGrid
from d2ke.model_selection.median import median
from d2ke.model_selection.result import Search

# The squared hinge loss is tried with so many values of C on either side of the best one by the
# squared loss.
_NEARBY = 1

# Parameters, the accuracy for each C, the features and their number.
Scored = tuple[dict[str, Any], list[float], Callable[[], np.ndarray | RowSource], int]


def median_unit(D: np.ndarray | RowSource) -> float:
    """Return the unit of relative values: the median of the distances, or 1 if that is 0."""
    middle = median(D) if isinstance(D, RowSource) else float(np.median(D))
    if not np.isfinite(middle):
        raise ValueError(
            f"the median of the distances is {middle}, no unit for gamma_scale or C_scale; "
            "give absolute values: gamma or C"
        )
    return middle or 1.0


class _Distances:
    """The distances of a candidate, in memory or in a file that is read by blocks."""

    def __init__(self, source: np.ndarray | RowSource):
        self.source = source
        self.in_file = isinstance(source, RowSource)
        self.n_columns = source.shape[1]

    @cached_property
    def rows(self) -> RowSource:
        if self.in_file:
            return self.source
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
    candidates: Iterable[tuple[Mapping[str, Any], np.ndarray | RowSource]],
    problem: SearchProblem,
    grid: FeatureGrid,
    *,
    kept: MutableMapping[tuple[Any, ...], Any] | None = None,
) -> Search:
    """Choose p(omega), R, scaling, gamma, C and the loss for features of distances.

    One distance matrix gives every gamma, R and scaling. One factorisation gives every C and
    fold, see `cross_validate`, or one for each fold, see `cross_validate_by_products`: whichever
    takes fewer operations. Settings are compared by the squared loss; the best of them is tried
    with the squared hinge loss too (see `FeatureGrid`), with its C and the next smaller and larger
    ones.

    Parameters
    ----------
    candidates : iterable of (mapping, ndarray or RowSource of shape (n, R))
        Parameters of a p(omega), and the distances of the n training objects to R
        random objects drawn from it; those in a file are read by blocks.
    problem : SearchProblem
        The labels and folds.
    grid : FeatureGrid
        The values to try.
    kept : mutable mapping, optional
        Results of an interrupted search, which are reused; new results are added.

    Returns
    -------
    Search
        `parameters` has the candidate's, ``R``, ``scaling``, ``gamma`` (absolute), ``C`` and
        ``loss``.

    Examples
    --------
    >>> import numpy as np
    >>> from d2ke.model_selection.candidates import search_features
    >>> from d2ke.model_selection.folds import SearchProblem
    >>> from d2ke.model_selection.grids import FeatureGrid
    >>> D = np.abs(np.arange(20.0)[:, None] - np.array([[2.0, 15.0]]))
    >>> problem = SearchProblem((np.arange(20) > 9).astype(int), n_folds=5)
    >>> search_features([({}, D)], problem, FeatureGrid([1.0], [1.0, 10.0])).accuracy
    100.0
    """
    kept = {} if kept is None else kept
    scored = _FeatureSearch(problem, grid, kept).scored(candidates)
    return _best_by_both_losses(scored, problem, grid, kept)


@dataclass(frozen=True)
class _FeatureSearch:
    """Scores the settings of each candidate by the squared loss."""

    problem: SearchProblem
    grid: FeatureGrid
    kept: MutableMapping[tuple[Any, ...], Any]

    def scored(self, candidates: Iterable[tuple[Mapping[str, Any], Any]]) -> Iterator[Scored]:
        positions = count()  # enumerate() would hold a candidate while the next one is made
        for parameters, source in candidates:
            D, position = _Distances(source), next(positions)
            settings = self.settings(D, position)
            accuracies = self.accuracies(D, settings, position)
            for setting, by_cost in zip(settings, accuracies, strict=True):
                yield (
                    {**parameters, **setting},
                    by_cost,
                    lambda D=D, setting=setting: self.scaled(D, setting),
                    setting["R"],
                )
            del D, source  # before the next candidate's distances are computed

    def settings(self, D: _Distances, position: int) -> list[dict[str, Any]]:
        largest, settings = D.n_columns, []
        for R in (largest,) if self.grid.sizes is None else self.grid.sizes:
            R, unit = integer("R", R, 1, largest), 1.0
            if self.grid.relative:
                unit = cached(self.kept, (position, "unit", R), lambda R=R: D.unit(R))
            settings += self.grid.settings(R, unit)
        return settings

    def accuracies(
        self, D: _Distances, settings: Sequence[Mapping[str, Any]], position: int
    ) -> list[list[float]]:
        """Return the accuracies of each setting for each C."""
        results: list[Any] = [None] * len(settings)
        by_gamma: dict[float, list[int]] = {}
        missing = []
        problem = self.problem
        n, n_folds, n_classes = problem.n, problem.n_folds, problem.n_classes
        for i, setting in enumerate(settings):
            if fewer_operations(n, setting["R"], n_folds, n_classes, len(self.grid.costs)):
                by_gamma.setdefault(setting["gamma"], []).append(i)
            elif (known := self.kept.get((position, i))) is None:
                missing.append(i)
            else:
                results[i] = known
        for gamma, members in by_gamma.items():
            some = [settings[i] for i in members]
            key = position, "gamma", gamma
            by_view = cached(self.kept, key, lambda some=some: self.by_products(D, some))
            for i, accuracies in zip(members, by_view, strict=True):
                results[i] = accuracies
        if missing:
            D.rows  # noqa: B018 (opens them before several threads need them)
            with worker_pool(problem.n_threads, limit_blas_of_thread) as pool:
                by_hat = pool.map(lambda i: self.by_hat(D, settings[i]), missing)
                for i, accuracies in zip(missing, by_hat, strict=True):
                    results[i] = self.kept[position, i] = accuracies
        return results

    def by_products(
        self, D: _Distances, settings: Sequence[Mapping[str, Any]]
    ) -> list[list[float]]:
        """Return the accuracies of settings with the same gamma."""
        widest = max(settings, key=lambda setting: setting["R"])
        views = [
            FeatureView(one["R"], one["scaling"], np.sqrt(widest["R"] / one["R"]))
            for one in settings
        ]
        return _by_products(D.features(widest), self.problem, self.grid.costs, views)

    def by_hat(self, D: _Distances, setting: Mapping[str, Any]) -> list[float]:
        Z = D.features(setting).whole()
        F = Scaling.fit(Z, setting["scaling"]).apply(Z)
        return cross_validate(F, self.problem.codes, self.grid.costs, self.problem.folds)

    def scaled(self, D: _Distances, setting: Mapping[str, Any]) -> np.ndarray | RowSource:
        """Return the features of a setting; those of a file are computed in each pass."""
        Z = D.features(setting)
        if not D.in_file:
            Z = Z.whole()
        return Scaling.fit(Z, setting["scaling"]).apply(Z)


def cached(
    kept: MutableMapping[tuple[Any, ...], Any], key: tuple[Any, ...], compute: Callable[[], Any]
) -> Any:
    """Return what is kept for the key, or compute and keep it."""
    value = kept.get(key)
    if value is None:
        value = kept[key] = compute()
    return value


def _by_products(
    Z: RowSource, problem: SearchProblem, costs: Sequence[float], views: Sequence[FeatureView]
) -> list[list[float]]:
    return cross_validate_by_products(
        Z, problem.codes, costs, problem.folds, views, n_threads=problem.n_threads
    )


def _best_by_both_losses(
    scored: Iterable[Scored],
    problem: SearchProblem,
    grid: FeatureGrid,
    kept: MutableMapping[tuple[Any, ...], Any],
) -> Search:
    """Choose by the squared loss, and try the best setting with the squared hinge loss."""
    tried: list[tuple[dict[str, Any], float]] = []
    leader = None
    for setting, by_cost, features, R in scored:
        if leader is None or max(by_cost) > max(leader[1]):
            leader = setting, by_cost, features, R
        tried += with_costs(setting, grid.costs, by_cost, loss="squared")
        del features  # and the distances with them, unless they lead
    if leader is not None and grid.tries_hinge(problem.n, leader[3]):
        setting, by_cost, features, _ = leader
        order = sorted(grid.costs)
        best = order.index(grid.costs[int(np.argmax(by_cost))])
        nearby = order[max(0, best - _NEARBY) : best + _NEARBY + 1]
        accuracies = cached(
            kept,
            ("squared hinge",),
            lambda: cross_validate_hinge(
                features(), problem.codes, nearby, problem.folds, n_threads=problem.n_threads
            ),
        )
        tried += with_costs(setting, nearby, accuracies, loss="squared_hinge")
    # The model has a loss of the grid; everything tried is kept.
    best = Search.best_of([one for one in tried if one[0]["loss"] in grid.losses])
    return replace(best, tried=tuple(tried))


def search_vectors(
    candidates: Iterable[tuple[Mapping[str, Any], np.ndarray]],
    problem: SearchProblem,
    costs: Sequence[float],
    losses: Sequence[str] = LOSSES,
    *,
    force_hinge: bool = True,
) -> Search:
    """Choose among ready vectors, and C and the loss of a linear model on them.

    Parameters
    ----------
    candidates : iterable of (mapping, ndarray of shape (n, R))
        Parameters, and the vectors of the n training objects that they give.
    problem : SearchProblem
        The labels and folds.
    costs : sequence of float
        Values of C.
    losses, force_hinge
        As for `FeatureGrid`.

    Returns
    -------
    Search
        `parameters` has the candidate's, ``C`` and ``loss``.

    Examples
    --------
    >>> import numpy as np
    >>> from d2ke.model_selection.candidates import search_vectors
    >>> from d2ke.model_selection.folds import SearchProblem
    >>> Z = np.linspace(-1, 1, 20)[:, None]
    >>> problem = SearchProblem((Z[:, 0] > 0).astype(int), n_folds=5)
    >>> search_vectors([({"power": p}, Z**p) for p in (2, 1)], problem, [10.0]).parameters
    {'power': 1, 'C': 10.0, 'loss': 'squared'}
    """
    grid = FeatureGrid((), costs, losses=losses, force_hinge=force_hinge)

    def scored() -> Iterator[Scored]:
        for parameters, F in candidates:
            n_classes, n_costs = problem.n_classes, len(costs)
            if fewer_operations(*F.shape, problem.n_folds, n_classes, n_costs):
                (by_cost,) = _by_products(RowSource(F), problem, costs, [FeatureView(F.shape[1])])
            else:
                by_cost = cross_validate(F, problem.codes, costs, problem.folds)
            yield dict(parameters), by_cost, lambda F=F: F, F.shape[1]

    return _best_by_both_losses(scored(), problem, grid, {})


def with_costs(
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
