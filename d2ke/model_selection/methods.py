# SPDX-License-Identifier: BSD-3-Clause
"""The methods of `search`: one row each. A new one is a row and the function it names."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from d2ke._base import arrays
from d2ke._base.blas import limit_blas_of_thread
from d2ke._base.checks import integer
from d2ke._base.memory import check_fits
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
from d2ke.model_selection.omegas import (
    Omega,
    SearchCall,
    known_distances,
    sampled,
    search_omegas,
    training_objects,
)
from d2ke.model_selection.result import Search


@dataclass(frozen=True)
class SearchMethod:
    """One row of the table.

    Attributes
    ----------
    name : str
        What users write.
    grid : mapping of str to tuple
        The values that are searched by default.
    omegas : callable, optional
        ``omegas(call)`` returns the p(omega) whose random objects the training objects are
        compared with. Such a method can keep its distances in a checkpoint.
    samples : bool
        Whether names in grid that are not the method's are parameters of the sampler.
    choose : callable, optional
        Of a method on the distances among the training objects, which can be known (`within`):
        ``choose(D, call)`` returns the search.
    copies : int
        How many matrices of all distances it takes, at most.
    infinite : bool
        Whether distances may be infinite.
    adapt : mapping of str to callable
        ``adapt[name](values, problem)`` makes default values of a parameter suit a small problem.
    """

    name: str
    grid: Mapping[str, tuple[Any, ...]]
    omegas: Callable[[SearchCall], list[Omega]] | None = None
    samples: bool = False
    choose: Callable[[Any, SearchCall], Search] | None = None
    copies: int = 6
    infinite: bool = False
    adapt: Mapping[str, Callable[[tuple[Any, ...], SearchProblem], tuple[Any, ...]]] | None = None

    def adapted(
        self, values: Mapping[str, tuple[Any, ...]], names: Sequence[str], problem: SearchProblem
    ) -> dict[str, tuple[Any, ...]]:
        """Adapt the values of parameters without `names`, those that the user gave."""
        adapt = {name: f for name, f in (self.adapt or {}).items() if name not in names}
        return {**values, **{name: f(values[name], problem) for name, f in adapt.items()}}

    def run(self, call: SearchCall) -> Search:
        """Search."""
        if self.omegas is not None:
            has_distances = call.within is not None
            return search_omegas(call, [Omega({}, list)] if has_distances else self.omegas(call))
        return self.choose(_distances(self, call), call)


def _at_most_n(values: tuple[Any, ...], problem: SearchProblem) -> tuple[Any, ...]:
    return tuple(min(value, problem.n) for value in values)


def _at_most_kept(values: tuple[Any, ...], problem: SearchProblem) -> tuple[Any, ...]:
    return tuple(value for value in values if value <= problem.n - problem.largest_fold)


def _distances(method: SearchMethod, call: SearchCall) -> np.ndarray:
    """Return the distances among the training objects, computed or known."""
    n = call.problem.n
    check_fits(
        8 * n**2 * method.copies,
        f"method {method.name!r} with {n} objects",
        "take fewer objects, or method 'rsm'",
    )
    if call.within is None:
        return call.distances(progress=call.progress)
    return known_distances(call.within, n, n, infinite=method.infinite)


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

    def count_correct(K: np.ndarray, C: float, kept: np.ndarray, out: np.ndarray) -> int:
        if np.ptp(codes[kept]) == 0:  # the other class is in the left-out fold only
            return int((codes[out] == codes[kept[0]]).sum())
        model = svmtrain(codes[kept], K[np.ix_(kept, kept)], f"-t 4 -c {C} -q")
        return int((svmpredict(None, K[np.ix_(out, kept)], model)[0] == codes[out]).sum())

    tried = []
    with worker_pool(problem.n_threads, limit_blas_of_thread) as pool:
        for parameters, K in candidates:
            jobs = [(C, *split) for C in costs for split in splits]
            counts = list(pool.map(lambda job, K=K: count_correct(K, *job), jobs))
            by_cost = np.reshape(counts, (len(costs), len(splits))).sum(axis=1)
            tried += with_costs(parameters, costs, (100.0 * by_cost / len(codes)).tolist())
    return Search.best_of(tried)


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
        # Objects at an infinite distance are still nearer than the own fold, which has no vote.
        others = np.minimum(D[rows], np.finfo(np.float64).max)
        others[folds[rows, None] == folds] = np.inf
        nearest = codes[nearest_columns(others, max(ks, default=1))]
        for i, k in enumerate(ks):
            n_correct[i] += int((vote(nearest[:, :k], problem.n_classes) == codes[rows]).sum())
    shares = (n_correct / n).tolist()
    return Search.best_of([({"k": k}, 100.0 * share) for k, share in zip(ks, shares, strict=True)])


def _knn(D: np.ndarray, call: SearchCall) -> Search:
    return search_neighbors(D, call.problem, call.grid["k"])


def _led(D: np.ndarray, call: SearchCall) -> Search:
    Z = gdk_led(D, max(call.grid["R"])).Z
    unit = float(np.mean(np.sum(Z**2, axis=1))) or 1.0
    costs = [C / unit if "C_scale" in call.grid else C for C in either(call.grid, "C")]
    sizes = sorted({min(R, Z.shape[1]) for R in call.grid["R"]})
    candidates = (({"R": R}, Z[:, :R]) for R in sizes)
    losses = {"losses": call.grid["loss"], "force_hinge": call.force_hinge}
    return search_vectors(candidates, call.problem, costs, **losses)


def _rbf(D: np.ndarray, call: SearchCall) -> Search:
    unit = median_unit(D) ** 2 if "gamma_scale" in call.grid else 1.0
    gammas = either(call.grid, "gamma")
    return _dsk("rbf", D, call, [({"gamma": gamma / unit}, 1.0) for gamma in gammas])


def _nd(D: np.ndarray, call: SearchCall) -> Search:
    betas = call.grid["beta"]
    units = [median_unit(D) ** beta if "C_scale" in call.grid else 1.0 for beta in betas]
    kernels = [({"beta": beta}, unit) for beta, unit in zip(betas, units, strict=True)]
    return _dsk("nd", D, call, kernels)


def _dsk(
    kind: str, D: np.ndarray, call: SearchCall, kernels: Sequence[tuple[dict[str, float], float]]
) -> Search:
    """Search over kernels, each with the unit of its values of C."""
    candidates: list[tuple[dict[str, Any], float]] = []
    for kernel, unit in kernels:
        costs = [C / unit for C in either(call.grid, "C")]
        K = dsk_gram(D, kind=kind, **kernel)
        candidates += search_gram([(kernel, K)], call.problem, costs).tried
    return Search.best_of(candidates)


_MACHINE_COSTS = (0.1, 1.0, 10.0, 1e2, 1e3)
LED_SIZES = (4, 8, 16, 32, 64, 128, 256, 512)

METHODS = {
    row.name: row
    for row in (
        SearchMethod("d2ke", FEATURE_VALUES, omegas=sampled, samples=True),
        SearchMethod("rsm", FEATURE_VALUES, omegas=training_objects, adapt={"R": _at_most_n}),
        SearchMethod(
            "knn",
            {"k": (1, 2, 3, 4, 5, 7, 9, 11, 15, 20)},
            choose=_knn,
            copies=1,
            infinite=True,
            adapt={"k": _at_most_kept},
        ),
        SearchMethod(
            "dsk_rbf",
            {"gamma_scale": (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0), "C": _MACHINE_COSTS},
            choose=_rbf,
            infinite=True,
        ),
        SearchMethod(
            "dsk_nd",
            {"beta": (2.0,), "C_scale": _MACHINE_COSTS},
            choose=_nd,
        ),
        SearchMethod(
            "gdk_led",
            {"R": LED_SIZES, "C_scale": COSTS, "loss": LOSSES},
            choose=_led,
            adapt={"R": _at_most_n},
        ),
    )
}
