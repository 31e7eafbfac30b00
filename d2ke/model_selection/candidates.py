# SPDX-License-Identifier: BSD-3-Clause
"""Choice of parameters of linear classifiers by cross-validation, from distances or vectors.

`d2ke.search` applies these functions to objects and their distances.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import product
from typing import Any

import numpy as np

from d2ke._base.blas import limit_blas_of_thread
from d2ke._base.checks import integer
from d2ke._base.threads import worker_pool
from d2ke.embedding.features import transformed
from d2ke.embedding.scaling import Scaling
from d2ke.learners.losses import hinge_can_pay
from d2ke.model_selection.cross_validation import cross_validate, cross_validate_hinge
from d2ke.model_selection.folds import SearchProblem
from d2ke.model_selection.grids import either
from d2ke.model_selection.result import Search

# Parameters, the accuracy for each C, the features and their number.
Scored = tuple[dict[str, Any], list[float], Callable[[], np.ndarray], int]


def median_unit(D: np.ndarray) -> float:
    """Return the unit of relative values: the median of the distances, or 1 if that is 0."""
    middle = float(np.median(D))
    if not np.isfinite(middle):
        raise ValueError(
            f"the median of the distances is {middle}, no unit for gamma_scale or C_scale; "
            "give absolute values: gamma or C"
        )
    return middle or 1.0


def search_features(
    candidates: Iterable[tuple[Mapping[str, Any], np.ndarray]],
    problem: SearchProblem,
    values: Mapping[str, Sequence[Any]],
) -> Search:
    """Choose p(omega), R, scaling, gamma, C and the loss for features of distances.

    One distance matrix gives every gamma, R and scaling, and one factorisation every C and fold,
    see `cross_validate`. Settings are compared by the squared loss; the best setting is tried with
    the squared hinge loss too, with its C and the next smaller and larger ones.

    Parameters
    ----------
    candidates : iterable of (mapping, ndarray of shape (n, R))
        Parameters of a p(omega), and the distances of the n training objects to R
        random objects drawn from it.
    problem : SearchProblem
        The labels and folds.
    values : mapping of str to sequence
        The values to try of ``R``, ``scaling``, ``gamma`` (or ``gamma_scale``), ``C`` and ``loss``,
        as `search` describes them.

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
    >>> D = np.abs(np.arange(20.0)[:, None] - np.array([[2.0, 15.0]]))
    >>> problem = SearchProblem((np.arange(20) > 9).astype(int), n_folds=5)
    >>> values = {"R": [2], "scaling": ["standard"], "gamma_scale": [1.0], "C": [1.0, 10.0]}
    >>> search_features([({}, D)], problem, values | {"loss": ["squared"]}).accuracy
    100.0
    """

    def scored() -> Iterator[Scored]:
        for parameters, D in candidates:
            settings = _settings(D, values)
            with worker_pool(problem.n_threads, limit_blas_of_thread) as pool:
                score = partial(_by_cost, D, problem, values["C"])
                by_costs = list(pool.map(score, settings))
            for setting, by_cost in zip(settings, by_costs, strict=True):
                features = partial(_scaled, D, setting)
                yield {**parameters, **setting}, by_cost, features, setting["R"]
            del D, features, score  # before the next candidate's distances are computed

    return _best_by_both_losses(scored(), problem, values)


def _settings(D: np.ndarray, values: Mapping[str, Sequence[Any]]) -> list[dict[str, Any]]:
    settings = []
    for size in values["R"]:
        R = integer("R", size, 1, D.shape[1])
        unit = median_unit(D[:, :R]) if "gamma_scale" in values else 1.0
        settings += [
            {"R": R, "scaling": scaling, "gamma": gamma / unit}
            for scaling, gamma in product(values["scaling"], either(values, "gamma"))
        ]
    return settings


def _by_cost(
    D: np.ndarray, problem: SearchProblem, costs: Sequence[float], setting: Mapping[str, Any]
) -> list[float]:
    return cross_validate(_scaled(D, setting), problem.codes, costs, problem.folds)


def _scaled(D: np.ndarray, setting: Mapping[str, Any]) -> np.ndarray:
    """Return the features of a setting."""
    D = D[:, : setting["R"]]
    Z = transformed(D, setting["gamma"], np.empty(D.shape, D.dtype), 1)
    return Scaling.fit(Z, setting["scaling"]).scale(Z, Z)


def _best_by_both_losses(
    scored: Iterable[Scored],
    problem: SearchProblem,
    values: Mapping[str, Sequence[Any]],
) -> Search:
    """Choose by the squared loss, and try the best setting with the squared hinge loss."""
    scores: list[tuple[dict[str, Any], float]] = []
    costs, losses, leader = values["C"], values["loss"], None
    for setting, by_cost, features, R in scored:
        if leader is None or max(by_cost) > max(leader[1]):
            leader = setting, by_cost, features, R
        scores += with_costs(setting, costs, by_cost, loss="squared")
        del features  # and the distances with them, unless they lead
    if leader is not None and "squared_hinge" in losses:
        setting, by_cost, features, R = leader
        if problem.force_hinge or hinge_can_pay(problem.n, R):
            order = sorted(costs)
            i = order.index(costs[int(np.argmax(by_cost))])
            nearby = order[max(0, i - 1) : i + 2]
            by_cost = cross_validate_hinge(
                features(), problem.codes, nearby, problem.folds, n_threads=problem.n_threads
            )
            scores += with_costs(setting, nearby, by_cost, loss="squared_hinge")
    # The model has a loss of the grid; the result reports all settings.
    best = Search.best_of([setting for setting in scores if setting[0]["loss"] in losses])
    return replace(best, tried=tuple(scores))


def search_vectors(
    candidates: Iterable[tuple[Mapping[str, Any], np.ndarray]],
    problem: SearchProblem,
    values: Mapping[str, Sequence[Any]],
) -> Search:
    """Choose among sets of vectors, and C and the loss of a linear model on them.

    Parameters
    ----------
    candidates : iterable of (mapping, ndarray of shape (n, R))
        Parameters, and the vectors of the n training objects that they give.
    problem : SearchProblem
        The labels and folds.
    values : mapping of str to sequence
        The values to try of ``C`` and ``loss``.

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
    >>> problem, values = SearchProblem((Z[:, 0] > 0).astype(int), n_folds=5), {"C": [10.0]}
    >>> candidates = [({"power": p}, Z**p) for p in (2, 1)]
    >>> search_vectors(candidates, problem, values | {"loss": ["squared"]}).parameters
    {'power': 1, 'C': 10.0, 'loss': 'squared'}
    """

    def scored() -> Iterator[Scored]:
        for parameters, F in candidates:
            by_cost = cross_validate(F, problem.codes, values["C"], problem.folds)
            yield dict(parameters), by_cost, partial(np.asarray, F), F.shape[1]

    return _best_by_both_losses(scored(), problem, values)


def with_costs(
    parameters: Mapping[str, Any],
    costs: Sequence[float],
    accuracies: Sequence[float],
    **extra: str,
) -> list[tuple[dict[str, Any], float]]:
    """Return the setting of each C with its accuracy."""
    return [
        ({**parameters, "C": C, **extra}, accuracy)
        for C, accuracy in zip(costs, accuracies, strict=True)
    ]
