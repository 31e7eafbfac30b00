# SPDX-License-Identifier: BSD-3-Clause
"""Unknown keywords of public functions: errors suggest the right one."""

from __future__ import annotations

import difflib
import functools
import inspect
import re
from collections.abc import Callable, Iterable
from typing import ParamSpec, TypeVar

from d2ke._base.errors import ArgumentTypeError

P = ParamSpec("P")
T = TypeVar("T")

# Keywords of this package, and what scikit-learn, scipy and their kin call them.
SYNONYMS = {
    ours: theirs.split()
    for ours, theirs in {
        "seed": "random_state rng random_seed",
        "random_state": "seed rng random_seed",
        "n_threads": "n_jobs workers n_workers num_workers num_threads threads",
        "progress": "verbose show_progress progress_bar tqdm",
        "distance": "metric dist distance_metric affinity",
        "k": "n_neighbors n_clusters n_medoids num_neighbors top_k",
        "n_clusters": "k num_clusters n_components",
        "n_neighbors": "k num_neighbors",
        "min_samples": "min_pts minpts k",
        "radius": "r eps epsilon cutoff max_distance distance_threshold distance_upper_bound",
        "eps": "epsilon radius r max_distance error accuracy",
        "R": "n_components n_estimators n_features n_kernels num_kernels",
        "n_features": "n_components R",
        "sample_weight": "sample_weights weights weight",
        "weights": "sample_weight sample_weights weight",
        "weights_p": "weights weights_x u_weights sample_weight",
        "weights_q": "v_weights weights_y",
        "class_weight": "class_weights",
        "gamma": "length_scale",
        "sigma": "bandwidth length_scale",
        "h": "bandwidth sigma length_scale",
        "C": "regularization reg",
        "n_folds": "cv n_splits folds",
        "grid": "param_grid param_distributions parameters",
        "repeats": "n_repeats",
        "n_permutations": "n_resamples permutations",
        "n_resamples": "n_bootstraps n_permutations",
        "max_iter": "n_iter max_iterations maxiter",
        "max_steps": "max_iter n_iter maxiter",
        "tol": "tolerance",
        "method": "algorithm linkage",
        "linkage": "method",
        "probability": "probabilities predict_proba proba",
        "fraction": "train_size",
        "names": "labels feature_names",
        "max_leaves": "max_leaf_nodes p",
        "limit": "n_top top max_features",
        "y": "labels target targets y_true",
        "labels": "y target targets y_pred",
        "normalize": "normalise normalized",
        "window": "sakoe_chiba_radius band radius",
    }.items()
}


def meant(name: str, names: Iterable[str], cutoff: float = 0.75) -> str | None:
    """Return which of the names an unknown one stands for: a synonym, or a slip."""
    names = list(names)
    for ours, theirs in SYNONYMS.items():
        if ours in names and name in theirs:
            return ours
    lower = {ours.lower(): ours for ours in names}
    near = difflib.get_close_matches(name.lower(), lower, n=1, cutoff=cutoff)
    return lower[near[0]] if near else None


def hinted(function: Callable[P, T]) -> Callable[P, T]:
    """Return a public function whose errors about unknown keywords suggest the right one.

    An unknown keyword of the function fails when it is called or, where it has
    ``**params``, when a distance refuses it; a call without errors costs nothing more.
    """

    @functools.wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return function(*args, **kwargs)
        except TypeError as error:
            better = _better(error, function, kwargs)
            if better is None:
                raise
        raise better

    return call


def _better(
    error: TypeError, function: Callable[..., object], keywords: Iterable[str]
) -> TypeError | None:
    """Return an error that names the unknown keyword, if `error` comes of one."""
    parameters = inspect.signature(function).parameters
    takes = [name for name, value in parameters.items() if value.kind is not value.VAR_KEYWORD]
    title = function.__qualname__.removesuffix(".__init__")
    if isinstance(error, ArgumentTypeError):
        # Such as metric="dtw", where metric=True means something else.
        ours = meant(error.argument, [name for name in takes if name != error.argument])
        if error.argument in keywords and error.argument in SYNONYMS.get(ours or "", ()):
            problem = f"{error.problem} (did you mean {ours}=?)"
            return ArgumentTypeError(error.argument, problem, error.index)
    assert error.__traceback__ is not None
    at_call = error.__traceback__.tb_next is None
    for name in keywords:
        if name in takes or not (at_call or re.search(rf"\b{name}\b", str(error))):
            continue
        if (ours := meant(name, takes)) is not None:
            return TypeError(f"{title}: unknown keyword {name!r} (did you mean {ours}=?)")
        if at_call and len(takes) == len(parameters):
            return TypeError(f"{title}: unknown keyword {name!r}")
    return None
