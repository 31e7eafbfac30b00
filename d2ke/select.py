# SPDX-License-Identifier: BSD-3-Clause
"""Choice of parameters on training objects by cross-validation: `search`, and its parts."""

from __future__ import annotations

import inspect
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np
from scipy import LowLevelCallable
from threadpoolctl import threadpool_limits

from d2ke import _labels, _nodes
from d2ke._progress import stages
from d2ke._threads import worker_pool
from d2ke._validate import choice, generator, integer, positive_number
from d2ke.crossval import cross_validate, cross_validate_hinge, stratified_folds, with_bias
from d2ke.distance import check_parameters, distance_matrix, find_distance
from d2ke.embed import d2ke_features
from d2ke.gram import dsk_gram
from d2ke.led import gdk_led
from d2ke.neighbors import knn_predict
from d2ke.objects import Objects, check_compatible, pack
from d2ke.omega import representatives
from d2ke.scaling import SCALINGS, Scaling
from d2ke.search_result import Search
from d2ke.svm import svmpredict, svmtrain

COSTS = (0.1, 0.3, 1.0, 3.0, 10.0, 1e2, 1e3, 1e4)
_FEATURES = {"R": (512,), "scaling": ("standard",), "gamma_scale": (0.3, 1.0, 3.0), "C": COSTS}
# What is searched where `grid` does not say otherwise.
GRIDS: dict[str, dict[str, tuple]] = {
    "d2ke": _FEATURES,
    "rsm": _FEATURES,
    "knn": {"k": (1, 2, 3, 4, 5, 7, 9, 11, 15, 20)},
    "dsk_rbf": {
        "gamma_scale": (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0),
        "C": (0.1, 1.0, 10.0, 1e2, 1e3),
    },
    "dsk_nd": {"beta": (2.0,), "C_scale": (0.1, 1.0, 10.0, 1e2, 1e3)},
    "gdk_led": {"R": (4, 8, 16, 32, 64, 128, 256, 512), "C_scale": COSTS},
}
# How many values of C on either side of the one that the squared loss prefers are tried anew.
_NEARBY = 2


def search(
    X: Any,
    y: Any,
    method: str = "d2ke",
    *,
    distance: Any,
    sampler: Callable[..., Any] | None = None,
    grid: Mapping[str, Sequence] | None = None,
    within: np.ndarray | None = None,
    n_folds: int = 10,
    refine: bool = True,
    seed: int = 0,
    n_threads: int | None = None,
    progress: bool = False,
    **params: Any,
) -> Search:
    """Choose the parameters of a method on training objects by stratified k-fold cross-validation.

    Distances are computed once for each p(omega); every gamma, scaling, R (the first columns), C
    and fold is derived from them.

    Parameters
    ----------
    X : Objects or what `pack` takes
        n training objects; with a Python callable as distance, a sequence of anything.
    y : sequence of length n
        Their labels.
    method : {"d2ke", "rsm", "knn", "dsk_rbf", "dsk_nd", "gdk_led"}
        ``"d2ke"``, ``"rsm"``: linear classifiers on features of distances to random objects, or
        to training objects. ``"knn"``: nearest neighbours. ``"dsk_rbf"``, ``"dsk_nd"``: support
        vector machines with the kernels of `dsk_gram`. ``"gdk_led"``: linear classifiers on the
        pseudo-Euclidean embedding.
    distance : str, callable or scipy.LowLevelCallable
        As for `distance_matrix`.
    sampler : callable
        For ``"d2ke"``: ``sampler(R, seed=seed, **parameters)`` draws R random objects, the first
        of which do not depend on R; ``functools.partial(d2ke.random_strings, alphabet="ACGT")``
        is one.
    grid : mapping of str to sequence, optional
        Values to try, in all combinations; what is left out has a default. Each value of a range
        is a range: ``{"length": [(2, 20), (2, 50)]}``.

        - ``"d2ke"``: the sampler's parameters, such as ``length`` and ``sigma``, and those of
          ``"rsm"``
        - ``"rsm"``: ``R``; ``scaling`` ("standard": every feature gets mean 0 and the same
          deviation; "center": mean 0; "none"), fitted on the training objects; ``gamma``; ``C``
        - ``"knn"``: ``k``
        - ``"dsk_rbf"``: ``gamma``, ``C``; ``"dsk_nd"``: ``beta``, ``C``
        - ``"gdk_led"``: ``R``, ``C``

        ``gamma_scale`` instead of ``gamma`` is in units of 1 / (median distance), for
        ``"dsk_rbf"`` of 1 / (median distance)^2. ``C_scale`` instead of ``C``, for ``"dsk_nd"``
        and ``"gdk_led"``, is in units of 1 / (median distance)^beta, and of 1 / (mean squared
        length of the vectors).
    within : ndarray of shape (n, n), optional
        The distances among the training objects where they are known already, for all methods
        but ``"d2ke"`` and ``"rsm"``; X is not looked at then.
    n_folds : int
        Number of folds, 2 to n.
    refine : bool
        For linear classifiers: settings are compared by the squared loss, for which all C and
        folds follow from one eigendecomposition; then the C of the best one is chosen anew, among
        those nearby, by LIBLINEAR's squared hinge loss.
    seed : int
        Of the folds and of the random objects.
    n_threads : int, optional
        Threads; None for all that this process may use.
    progress : bool
        Show a progress bar (on a terminal only).
    **params
        Parameters of the distance.

    Returns
    -------
    Search
        Its `parameters` have absolute values of gamma and C. Print it, `save` it, `plot` it.

    Raises
    ------
    TypeError
        If ``"d2ke"`` has no sampler, or an argument is of a wrong type.
    ValueError
        If a name in `grid` is unknown for the method (and to the sampler) or has no values, there
        is one class only, lengths differ, or a value is out of range.

    References
    ----------
    Wu, Yen, Xu, Ravikumar, Witbrock, "D2KE: From Distance to Kernel and Embedding", 2018,
    section 5.

    Examples
    --------
    >>> from functools import partial
    >>> import d2ke
    >>> words = ["aabab", "abaab", "aaba", "babaa", "bcbcc", "ccbcb", "cbbcc", "bccb"]
    >>> result = d2ke.search(words, ["ab"] * 4 + ["bc"] * 4, distance="levenshtein",
    ...                      sampler=partial(d2ke.random_strings, alphabet="abc"),
    ...                      grid={"length": [(1, 3), (4, 6)], "R": [32], "C": [1.0]}, n_folds=4)
    >>> list(result.parameters)
    ['length', 'R', 'scaling', 'gamma', 'C']
    """
    choice("method", method, GRIDS)
    codes = _labels.encode_classes("y", y)[1]
    if within is not None and method in ("d2ke", "rsm"):
        raise ValueError(f"within has no meaning for method {method!r}")
    plain = callable(distance)
    if not plain and not isinstance(distance, LowLevelCallable):
        check_parameters(find_distance(distance), params)
    if within is None:
        X = X if plain else pack(X, name="X")
        if len(codes) != len(X):
            raise ValueError(f"y has {len(codes)} labels, but X has {len(X)} objects")
    values = _merged(method, grid)
    given = frozenset(grid or ())
    folds = {
        "n_folds": integer("n_folds", n_folds, 2, len(codes)),
        "seed": integer("seed", seed, 0),
    }
    fit = {"refine": refine, "n_threads": n_threads, **folds}
    started = time.perf_counter()
    with threadpool_limits(limits=1, user_api="blas"):
        if method in ("d2ke", "rsm"):
            if method == "rsm" and "R" not in given:
                values["R"] = tuple(min(R, len(X)) for R in values["R"])

            def candidates() -> Iterator[tuple[dict[str, Any], np.ndarray]]:
                draws = list(_draws(method, X, sampler, values, seed))
                for chosen, draw in stages(draws, "search", progress):
                    omega = draw()
                    if not plain:
                        omega = pack(omega, name="sampler")
                        check_compatible(X, omega, "X", "sampler")
                    if len(omega) != max(values["R"]):
                        raise ValueError(
                            f"sampler drew {len(omega)} objects where R is {max(values['R'])}"
                        )
                    yield (
                        chosen,
                        distance_matrix(X, omega, distance, n_threads=n_threads, **params),
                    )

            found = search_features(
                candidates(),
                codes,
                gammas=_either(values, "gamma"),
                relative="gamma_scale" in values,
                costs=values["C"],
                sizes=values["R"],
                scalings=values["scaling"],
                **fit,
            )
        else:
            n = len(codes)
            if within is None:
                within = distance_matrix(
                    X, None, distance, n_threads=n_threads, progress=progress, **params
                )
            else:
                within = _nodes.matrix("within", within, infinite=method in ("knn", "dsk_rbf"))
                if within.shape != (n, n):
                    raise ValueError(
                        f"within must hold the distances among {n} objects, as many as y has "
                        f"labels; its shape is {within.shape}"
                    )
                _nodes.check_distances("within", within)
            # Not every default suits a small training part.
            if method == "knn":
                if "k" not in given:
                    most = n - -(-n // n_folds)
                    values["k"] = tuple(k for k in values["k"] if k <= most)
                found = search_neighbors(within, codes, values["k"], **folds)
            elif method == "gdk_led":
                if "R" not in given:
                    values["R"] = tuple(min(R, n) for R in values["R"])
                found = _search_led(within, codes, values, fit)
            else:
                found = _search_dsk(method, within, codes, values, folds | {"n_threads": n_threads})
    info = {
        "method": method,
        "distance": distance if isinstance(distance, str) else repr(distance),
        "n": len(codes),
        **folds,
        "seconds": time.perf_counter() - started,
    }
    return Search(found.parameters, found.accuracy, found.tried, found.refined, info)


def _merged(method: str, grid: Mapping[str, Sequence] | None) -> dict[str, tuple]:
    """Put the user's values in the place of the defaults."""
    grid = {} if grid is None else grid
    if not isinstance(grid, Mapping):
        raise TypeError(f"grid must be a mapping of names to values to try, got {grid!r}")
    values = dict(GRIDS[method])
    known = {name.removesuffix("_scale"): name for name in values} | {name: name for name in values}
    for name, given in grid.items():
        if f"{name}_scale" in grid and f"{name}_scale" in known:
            raise ValueError(f"grid has both {name!r} and '{name}_scale'; give one of them")
        if isinstance(given, np.ndarray):
            given = given.tolist()
        if isinstance(given, (str, bytes)) or not hasattr(given, "__len__"):
            raise TypeError(f"grid[{name!r}] must be a sequence of values to try, got {given!r}")
        if not len(given):
            raise ValueError(f"grid[{name!r}] has no values")
        if name in known:
            values.pop(known[name], None)
            check = _CHECKS[name.removesuffix("_scale")]
            given = [check(f"grid[{name!r}][{i}]", value) for i, value in enumerate(given)]
        elif method != "d2ke":
            raise ValueError(
                f"grid has {name!r}, unknown for method {method!r}; known: {', '.join(known)}"
            )
        values[name] = tuple(tuple(one) if isinstance(one, list) else one for one in given)
    return values


def _at_least_1(name: str, value: Any) -> int:
    return integer(name, value, 1)


_CHECKS: dict[str, Callable[[str, Any], Any]] = {
    "R": _at_least_1,
    "k": _at_least_1,
    "scaling": lambda name, value: choice(name, value, SCALINGS),
    "gamma": positive_number,
    "beta": positive_number,
    "C": positive_number,
}


def _either(values: Mapping[str, tuple], name: str) -> tuple:
    return values[name] if name in values else values[f"{name}_scale"]


def _draws(
    method: str, X: Any, sampler: Callable | None, values: Mapping[str, tuple], seed: int
) -> Iterator[tuple[dict[str, Any], Callable[[], Any]]]:
    """Give each p(omega) to try, with the function that draws from it."""
    R = max(values["R"])
    if method == "rsm":
        if isinstance(X, Objects):
            yield {}, lambda: representatives(X, R, seed=seed)
        else:
            chosen = generator(seed).permutation(len(X))[: integer("R", R, 1, len(X))].tolist()
            yield {}, lambda: [X[i] for i in chosen]
        return
    if sampler is None:
        raise TypeError(
            "method 'd2ke' needs a sampler of random objects, such as "
            'functools.partial(d2ke.random_strings, alphabet="ACGT")'
        )
    if not callable(sampler):
        raise TypeError(f"sampler must be a function sampler(R, seed=seed, ...), got {sampler!r}")
    names = [name for name in values if name not in (*_FEATURES, "gamma")]
    _check_sampler(sampler, names)
    for combination in product(*(values[name] for name in names)):
        chosen = dict(zip(names, combination, strict=True))
        yield chosen, lambda chosen=chosen: sampler(R, seed=seed, **chosen)


def _check_sampler(sampler: Callable, names: Sequence[str]) -> None:
    """Refuse names in grid that the sampler does not take, or lacks, before any work."""
    try:
        signature = inspect.signature(sampler)
    except ValueError:  # some compiled functions have none
        return
    try:
        signature.bind(1, **dict.fromkeys(("seed", *names)))
    except TypeError as error:
        known = ", ".join(("gamma", *_FEATURES))
        raise ValueError(
            f"sampler cannot be called as sampler({', '.join(('R', 'seed', *names))}): {error}; "
            f"what grid names beside {known} goes to the sampler"
        ) from None


def _search_led(within, codes, values, fit):
    Z = gdk_led(within, max(values["R"])).Z
    unit = float(np.mean(np.sum(Z**2, axis=1))) or 1.0
    costs = [C / unit if "C_scale" in values else C for C in _either(values, "C")]
    sizes = sorted({min(R, Z.shape[1]) for R in values["R"]})
    return search_vectors((({"R": R}, Z[:, :R]) for R in sizes), codes, costs=costs, **fit)


def _search_dsk(method, within, codes, values, fit):
    kind = method.removeprefix("dsk_")
    tried: list[tuple[dict[str, Any], float]] = []
    if kind == "rbf":
        unit = _median(within) ** 2 if "gamma_scale" in values else 1.0
        kernels = [({"gamma": gamma / unit}, 1.0) for gamma in _either(values, "gamma")]
    else:
        kernels = [
            ({"beta": beta}, _median(within) ** beta if "C_scale" in values else 1.0)
            for beta in values["beta"]
        ]
    for kernel, unit in kernels:
        K = dsk_gram(within, kind=kind, **kernel)
        costs = [C / unit for C in _either(values, "C")]
        tried += search_gram([(kernel, K)], codes, costs=costs, **fit).tried
    return Search.best_of(tried)


def _median(D: np.ndarray) -> float:
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
    n_folds: int = 10,
    refine: bool = False,
    seed: Any = 0,
    n_threads: int | None = None,
) -> Search:
    """Choose p(omega), R, scaling, gamma and C for features of distances.

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
    n_folds : int
        Number of stratified folds.
    refine : bool
        Choose the C of the best setting anew by `cross_validate_hinge`.
    seed : int, SeedSequence or Generator
        Of the folds.
    n_threads : int, optional
        Settings tried at the same time, each by one thread and whatever
        threads the BLAS takes; None for all that this process may use.

    Returns
    -------
    Search
        `parameters` has the candidate's, ``R``, ``scaling``, ``gamma`` (absolute) and ``C``.

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

    def features(D: np.ndarray, setting: Mapping[str, Any]) -> np.ndarray:
        Z = d2ke_features(D[:, : setting["R"]], setting["gamma"], n_threads=1)
        return Scaling.fit(Z, setting["scaling"]).apply(Z)

    def accuracies(D: np.ndarray, setting: Mapping[str, Any]) -> list[float]:
        return cross_validate(with_bias(features(D, setting)), codes, costs, folds)

    tried: list[tuple[dict[str, Any], float]] = []
    leader = None
    with worker_pool(n_threads) as pool:
        for parameters, D in candidates:
            settings = []
            for R in _columns(D, sizes):
                unit = _median(D[:, :R]) if relative else 1.0
                settings += [
                    {**parameters, "R": R, "scaling": scaling, "gamma": gamma / unit}
                    for scaling, gamma in product(scalings, gammas)
                ]
            results = pool.map(lambda setting, D=D: accuracies(D, setting), settings)
            for setting, by_cost in zip(settings, results, strict=True):
                if leader is None or max(by_cost) > max(leader[1]):
                    leader = setting, by_cost, D if refine else None
                tried += _with_costs(setting, costs, by_cost)
    if not refine or leader is None:
        return Search.best_of(tried)
    setting, by_cost, D = leader
    refined = _refined(features(D, setting), codes, costs, by_cost, folds, n_threads)
    return Search.best_of(tried, _with_costs(setting, *refined))


def _columns(D: np.ndarray, sizes: Sequence[int] | None) -> list[int]:
    most = D.shape[1]
    return [integer("R", R, 1, most) for R in sizes] if sizes is not None else [most]


def _refined(F, codes, costs, by_cost, folds, n_threads) -> tuple[list[float], list[float]]:
    """Give values of C near the best, and the accuracies with the loss of the final model."""
    order = sorted(costs)
    best = order.index(costs[int(np.argmax(by_cost))])
    nearby = order[max(0, best - _NEARBY) : best + _NEARBY + 1]
    return nearby, cross_validate_hinge(F, codes, nearby, folds, n_threads=n_threads)


def search_vectors(
    candidates: Iterable[tuple[Mapping[str, Any], np.ndarray]],
    codes: np.ndarray,
    *,
    costs: Sequence[float],
    n_folds: int = 10,
    refine: bool = False,
    seed: Any = 0,
    n_threads: int | None = None,
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
    n_folds, refine, seed
        As for `search_features`.
    n_threads : int, optional
        Folds of the refinement at the same time; None for all that this process may use.

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
    tried: list[tuple[dict[str, Any], float]] = []
    leader = None
    for parameters, F in candidates:
        by_cost = cross_validate(with_bias(F), codes, costs, folds)
        if leader is None or max(by_cost) > max(leader[1]):
            leader = parameters, by_cost, F
        tried += _with_costs(parameters, costs, by_cost)
    if not refine or leader is None:
        return Search.best_of(tried)
    parameters, by_cost, F = leader
    refined = _refined(F, codes, costs, by_cost, folds, n_threads)
    return Search.best_of(tried, _with_costs(parameters, *refined))


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
        if np.ptp(codes[kept]) == 0:  # the other class is left out as a whole
            return int((codes[out] == codes[kept[0]]).sum())
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
    >>> from d2ke.select import search_neighbors
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
