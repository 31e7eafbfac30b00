# SPDX-License-Identifier: BSD-3-Clause
"""The methods of `search`: one row each. A new one is a row and the function it names."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from d2ke._base import arrays
from d2ke._base.blas import limit_blas_of_thread
from d2ke._base.checks import integer
from d2ke._base.threads import worker_pool
from d2ke.embedding.gram import dsk_gram
from d2ke.embedding.pseudo_euclidean import gdk_led
from d2ke.learners.losses import LOSSES
from d2ke.learners.neighbors import nearest_columns, vote
from d2ke.learners.solvers.libsvm import svmtrain
from d2ke.learners.solvers.svm_model import svmpredict
from d2ke.model_selection.candidates import median_unit, search_vectors, with_costs
from d2ke.model_selection.folds import SearchProblem
from d2ke.model_selection.grids import COSTS, FEATURE_VALUES, either
from d2ke.model_selection.omegas import SearchCall, search_omegas
from d2ke.model_selection.result import Search


def search_gram(
    candidates: Iterable[tuple[Mapping[str, Any], np.ndarray]],
    problem: SearchProblem,
    costs: Sequence[float],
) -> Search:
    """Choose a kernel, and C for a support vector machine with it.

    LIBSVM fits every setting once for each fold, to all other folds.

    Parameters
    ----------
    candidates : iterable of (mapping, ndarray of shape (n, n))
        Parameters of a kernel, and its Gram matrix of the n training objects.
    problem : SearchProblem
        The labels and folds; its threads fit machines at the same time.
    costs : sequence of float
        Values of C.

    Returns
    -------
    Search
        `parameters` has the candidate's and ``C``.

    Examples
    --------
    >>> import numpy as np
    >>> from d2ke.model_selection.methods import search_gram
    >>> from d2ke.model_selection.folds import SearchProblem
    >>> x = np.linspace(-1, 1, 20)
    >>> problem = SearchProblem((x > 0).astype(int), n_folds=5)
    >>> candidates = [({"power": p}, np.multiply.outer(x**p, x**p)) for p in (2, 1)]
    >>> search_gram(candidates, problem, [100.0]).parameters
    {'power': 1, 'C': 100.0}
    """
    codes, folds = problem.codes, problem.folds
    splits = [(np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)) for fold in set(folds)]

    def count_correct(K: np.ndarray, C: float, train: np.ndarray, test: np.ndarray) -> int:
        if np.ptp(codes[train]) == 0:  # the other class is in the left-out fold only
            return int((codes[test] == codes[train[0]]).sum())
        model = svmtrain(codes[train], K[np.ix_(train, train)], f"-t 4 -c {C} -q")
        return int((svmpredict(None, K[np.ix_(test, train)], model)[0] == codes[test]).sum())

    scores = []
    with worker_pool(problem.n_threads, limit_blas_of_thread) as pool:
        for parameters, K in candidates:
            jobs = [(C, *split) for C in costs for split in splits]
            counts = list(pool.map(partial(count_correct, K), *zip(*jobs, strict=True)))
            by_cost = np.reshape(counts, (len(costs), len(splits))).sum(axis=1)
            scores += with_costs(parameters, costs, (100.0 * by_cost / len(codes)).tolist())
    return Search.best_of(scores)


def search_neighbors(D: np.ndarray, problem: SearchProblem, ks: Sequence[int]) -> Search:
    """Choose k for nearest neighbours.

    Parameters
    ----------
    D : ndarray or RowSource, shape (n, n)
        Distances among the training objects.
    problem : SearchProblem
        The labels and folds; with n folds one object at a time is left out.
    ks : sequence of int
        Values of k, each at least 1 and at most the number of objects outside the largest fold.

    Returns
    -------
    Search
        `parameters` has ``k``.

    Examples
    --------
    >>> import numpy as np
    >>> from d2ke.model_selection.methods import search_neighbors
    >>> from d2ke.model_selection.folds import SearchProblem
    >>> x = np.array([0.0, 1, 2, 10, 11, 12])
    >>> problem = SearchProblem(np.array([0, 0, 0, 1, 1, 1]), n_folds=6)
    >>> search_neighbors(np.abs(x[:, None] - x), problem, [1, 5]).parameters
    {'k': 1}
    """
    n, codes, folds = problem.n, problem.codes, problem.folds
    ks = [integer("k", k, 1, n - problem.largest_fold) for k in ks]
    n_correct = np.zeros(len(ks), dtype=np.int64)
    for rows in arrays.row_blocks((n, n)):
        # The object's own fold has no vote: it must be farther than objects at infinite distance.
        distances = np.minimum(D[rows], np.finfo(np.float64).max)
        distances[folds[rows, None] == folds] = np.inf
        nearest = codes[nearest_columns(distances, max(ks, default=1))]
        for i, k in enumerate(ks):
            n_correct[i] += int((vote(nearest[:, :k], problem.n_classes) == codes[rows]).sum())
    shares = (n_correct / n).tolist()
    return Search.best_of([({"k": k}, 100.0 * share) for k, share in zip(ks, shares, strict=True)])


def _knn(call: SearchCall) -> Search:
    # One matrix, in which infinity is a distance.
    return search_neighbors(call.among(copies=1, infinite=True), call.problem, call.grid["k"])


def _led(call: SearchCall) -> Search:
    Z = gdk_led(call.among(), max(call.grid["R"])).Z
    unit = float(np.mean(np.sum(Z**2, axis=1))) or 1.0
    costs = [C / unit if "C_scale" in call.grid else C for C in either(call.grid, "C")]
    sizes = sorted({min(R, Z.shape[1]) for R in call.grid["R"]})
    candidates = (({"R": R}, Z[:, :R]) for R in sizes)
    return search_vectors(candidates, call.problem, {**call.grid, "C": costs})


def _dsk(kind: str, call: SearchCall) -> Search:
    """Search over kernels; relative values are in units of the median distance."""
    D, grid = call.among(infinite=kind == "rbf"), call.grid
    median = median_unit(D) if "gamma_scale" in grid or "C_scale" in grid else 1.0
    kernels: list[tuple[dict[str, float], float]]  # each with the unit of its values of C
    if kind == "rbf":
        kernels = [({"gamma": gamma / median**2}, 1.0) for gamma in either(grid, "gamma")]
    else:
        kernels = [({"beta": beta}, median**beta) for beta in grid["beta"]]
    scores: list[tuple[dict[str, Any], float]] = []
    for kernel, unit in kernels:
        K = dsk_gram(D, kind=kind, gamma=kernel.get("gamma"), beta=kernel.get("beta", 2.0))
        costs = [C / unit for C in either(grid, "C")]
        scores += search_gram([(kernel, K)], call.problem, costs).tried
    return Search.best_of(scores)


class SearchMethod(NamedTuple):
    """A row of the table of methods.

    Attributes
    ----------
    grid : mapping of str to tuple
        The default values of each parameter.
    run : callable
        ``run(call)`` returns the search.
    random_objects : bool
        Whether the training objects are compared with random objects.
    adapt : mapping of str to callable
        ``adapt[name](values, problem)`` makes the default values of a parameter suit a small
        problem.
    """

    grid: Mapping[str, tuple[Any, ...]]
    run: Callable[[SearchCall], Search]
    random_objects: bool = False
    adapt: Mapping[str, Callable[[tuple[int, ...], SearchProblem], tuple[int, ...]]] = {}


def _at_most_n(values: tuple[int, ...], problem: SearchProblem) -> tuple[int, ...]:
    return tuple(min(value, problem.n) for value in values)


def _at_most_fit(values: tuple[int, ...], problem: SearchProblem) -> tuple[int, ...]:
    return tuple(value for value in values if value <= problem.n - problem.largest_fold)


_MACHINE_COSTS = (0.1, 1.0, 10.0, 1e2, 1e3)
LED_SIZES = (4, 8, 16, 32, 64, 128, 256, 512)

METHODS = {
    "d2ke": SearchMethod(FEATURE_VALUES, search_omegas, random_objects=True),
    "rsm": SearchMethod(FEATURE_VALUES, search_omegas, True, {"R": _at_most_n}),
    "knn": SearchMethod({"k": (1, 2, 3, 4, 5, 7, 9, 11, 15, 20)}, _knn, adapt={"k": _at_most_fit}),
    "dsk_rbf": SearchMethod(
        {"gamma_scale": (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0), "C": _MACHINE_COSTS},
        partial(_dsk, "rbf"),
    ),
    "dsk_nd": SearchMethod({"beta": (2.0,), "C_scale": _MACHINE_COSTS}, partial(_dsk, "nd")),
    "gdk_led": SearchMethod(
        {"R": LED_SIZES, "C_scale": COSTS, "loss": LOSSES}, _led, adapt={"R": _at_most_n}
    ),
}
