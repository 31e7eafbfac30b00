# SPDX-License-Identifier: BSD-3-Clause
"""Choice of parameters on training objects by cross-validation: `search`."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from scipy import LowLevelCallable

from d2ke._base import labels
from d2ke._base.blas import one_blas_thread
from d2ke._base.checks import choice, integer
from d2ke._base.errors import ArgumentError
from d2ke._base.keywords import hinted
from d2ke._base.threads import thread_count
from d2ke.distances.registry import check_parameters, find_distance, usual_distance
from d2ke.model_selection.folds import SearchProblem
from d2ke.model_selection.grids import merged_grid
from d2ke.model_selection.methods import METHODS
from d2ke.model_selection.omegas import SearchCall, given_distances
from d2ke.model_selection.result import Search, printable
from d2ke.objects.packing import as_objects


@hinted
def search(
    y: Any,
    X: Any = None,
    method: str = "d2ke",
    *,
    distance: Any = None,
    sampler: Callable[..., Any] | None = None,
    grid: Mapping[str, Sequence[Any]] | None = None,
    within: Any = None,
    n_folds: int = 10,
    seed: int = 0,
    n_threads: int | None = None,
    progress: bool | None = None,
    **params: Any,
) -> Search:
    """Choose the parameters of a method on training objects by stratified k-fold cross-validation.

    The distances are computed once for each p(omega), the distribution of the random objects omega.
    They are used for every gamma, scaling, R (the first columns), C and fold.

    Parameters
    ----------
    y : sequence of length n
        Labels of the training objects.
    X : Objects or what `pack` takes, optional
        n training objects; with a Python callable as distance, a sequence of anything. Not needed
        with `within`.
    method : {"d2ke", "rsm", "knn", "dsk_rbf", "dsk_nd", "gdk_led"}
        ``"d2ke"``, ``"rsm"``: linear classifiers on features of distances to random objects, or
        to training objects. ``"knn"``: nearest neighbours. ``"dsk_rbf"``, ``"dsk_nd"``: support
        vector machines with the kernels of `dsk_gram`. ``"gdk_led"``: linear classifiers on the
        pseudo-Euclidean embedding.
    distance : str, callable or scipy.LowLevelCallable, optional
        As for `distance_matrix`; by default ``"levenshtein"`` for strings, ``"dtw"`` for series
        and ``"mhd"`` for sets.
    sampler : callable
        For ``"d2ke"``: ``sampler(R, seed=seed, **parameters)`` draws R random objects. The first
        ones must not depend on R. Examples are ``partial(samplers.random_strings,
        alphabet="ACGT")`` and ``partial(samplers.markov_strings, X=X)``. A sampler made from X uses
        the objects of the left-out folds, but not their labels.
    grid : mapping of str to sequence, optional
        Values to try, in all combinations. Other parameters have defaults. For a parameter that is
        a range, each value is a range: ``{"length": [(2, 20), (2, 50)]}``.

        - ``"d2ke"``: the sampler's parameters, such as ``length`` and ``sigma``, and all parameters
          of ``"rsm"``
        - ``"rsm"``: ``R``; ``scaling`` ("standard": every feature gets mean 0 and the same
          deviation; "center": mean 0; "none"), fitted on the training objects; ``gamma``; ``C``;
          ``loss`` of the model ("squared", "squared_hinge": see `train_classifier`)
        - ``"knn"``: ``k``
        - ``"dsk_rbf"``: ``gamma``, ``C``; ``"dsk_nd"``: ``beta``, ``C``
        - ``"gdk_led"``: ``R``, ``C``, ``loss``

        Settings are compared with the squared loss: one eigendecomposition gives the results of all
        C and folds. The best setting is then tried with the squared hinge loss and a few values of
        C around its own, and the better loss is chosen. By default this is done only with at least
        4 training objects for each feature. ``grid={"loss": ["squared", "squared_hinge"]}`` tries
        both in any case.

        ``gamma_scale`` instead of ``gamma`` is in units of 1 / (median distance), for
        ``"dsk_rbf"`` of 1 / (median distance)^2. ``C_scale`` instead of ``C``, for ``"dsk_nd"``
        and ``"gdk_led"``, is in units of 1 / (median distance)^beta, and of 1 / (mean squared
        length of the vectors).
    within : ndarray, path or FeatureFile, optional
        Precomputed distances: among the training objects, shape (n, n); for ``"d2ke"`` and
        ``"rsm"`` to random objects, shape (n, R). ``grid["R"]`` selects the first columns. X, the
        distance and the sampler are then not needed. All of a file is read into memory.
    n_folds : int
        Number of folds, 2 to n.
    seed : int
        Seed of the folds and of the random objects.
    n_threads : int, optional
        Threads; None for all that this process may use.
    progress : bool, optional
        Whether to show progress; by default on a terminal or in a notebook, where work takes more
        than two seconds.
    **params
        Parameters of the distance.

    Returns
    -------
    Search
        Its `parameters` have absolute values of gamma and C. Print it, `save` it, `plot` it.
        Train a model with them by `Scaling` and `train_classifier` (``"d2ke"``, ``"rsm"``),
        `train_classifier` (``"gdk_led"``), `svmtrain` or `knn_predict`.

    Raises
    ------
    TypeError
        If ``"d2ke"`` has no sampler, or an argument is of a wrong type.
    ValueError
        If a name in `grid` is unknown for the method (and to the sampler) or has no values, there
        is one class only, lengths differ, or a value is out of range.
    MemoryError
        If the call would take more memory than is available; see docs/memory.md.
    KeyboardInterrupt
        On Ctrl-C, within a second.

    References
    ----------
    Wu, Yen, Xu, Ravikumar, Witbrock, "D2KE: From Distance to Kernel and Embedding", 2018,
    section 5.

    Examples
    --------
    >>> from functools import partial
    >>> import d2ke
    >>> words = ["aabab", "abaab", "aaba", "babaa", "bcbcc", "ccbcb", "cbbcc", "bccb"]
    >>> result = d2ke.search(["ab"] * 4 + ["bc"] * 4, words, distance="levenshtein",
    ...                      sampler=partial(d2ke.samplers.random_strings, alphabet="abc"),
    ...                      grid={"length": [(1, 3), (4, 6)], "R": [32], "C": [1.0]}, n_folds=4)
    >>> list(result.parameters)
    ['length', 'R', 'scaling', 'gamma', 'C', 'loss']
    """
    row = METHODS[choice("method", method, METHODS)]
    labels.refuse_swapped(y, X)
    labels.check_order(X, y=y)
    codes = labels.encode_classes("y", y)[1]
    if distance is None and within is None:
        X = as_objects("X", X)
        distance = usual_distance(X.kind)
    plain = callable(distance)
    needed = within is None or distance is not None or params
    if needed and not plain and not isinstance(distance, LowLevelCallable):
        check_parameters(find_distance(distance), params)
    defaults, takes_any = row.grid, method == "d2ke"
    user_names = set(grid) if isinstance(grid, Mapping) else set()  # `merged_grid` checks grid
    if within is None:
        X = X if plain else as_objects("X", X)
        if len(codes) != len(X):
            raise ArgumentError("y", f"has {len(codes)} labels, but X has {len(X)} objects")
    elif row.random_objects:
        within = given_distances(within, len(codes))
        defaults, takes_any = {**defaults, "R": (within.shape[1],)}, False
        user_names.add("R")
    values = merged_grid(method, defaults, grid, takes_any)
    n_folds, seed = integer("n_folds", n_folds, 2, len(codes)), integer("seed", seed, 0)
    problem = SearchProblem(codes, n_folds, seed, thread_count(n_threads), "loss" in user_names)
    for name, adapt in row.adapt.items():
        if name not in user_names:
            values[name] = adapt(values[name], problem)
    call = SearchCall(method, X, problem, values, distance, params, sampler, within, progress)
    started = time.perf_counter()
    with one_blas_thread():
        result = row.run(call)
    info = {
        "method": method,
        "distance": distance if isinstance(distance, (str, type(None))) else repr(distance),
        "distance_parameters": {name: printable(value) for name, value in params.items()},
        "grid": values,
        "n": len(codes),
        "n_folds": n_folds,
        "seed": seed,
        "seconds": time.perf_counter() - started,
    }
    return replace(result, info=info)
