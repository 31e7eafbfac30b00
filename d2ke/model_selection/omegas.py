# SPDX-License-Identifier: BSD-3-Clause
"""Search over p(omega): random objects are drawn, and their distances computed."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import Any

import numpy as np

from d2ke._base import arrays
from d2ke._base.checks import integer
from d2ke._base.errors import ArgumentError, ArgumentTypeError
from d2ke._base.memory import check_fits
from d2ke._base.progress import stages
from d2ke._base.threads import team_size
from d2ke.distances.matrix import fill_array
from d2ke.distances.pairs import check_pairs
from d2ke.distances.registry import BY_NAME
from d2ke.io.feature_file import FeatureFile, open_features
from d2ke.model_selection.candidates import search_features
from d2ke.model_selection.folds import SearchProblem
from d2ke.model_selection.grids import FEATURE_VALUES
from d2ke.model_selection.result import Search
from d2ke.objects.compatibility import matched, warn_of_letters
from d2ke.objects.container import Objects
from d2ke.objects.packing import as_objects
from d2ke.objects.samplers import training


@dataclass(frozen=True)
class SearchCall:
    """The checked arguments of `search`; `grid` holds the values of all parameters."""

    method: str
    X: Any
    problem: SearchProblem
    grid: Mapping[str, tuple[Any, ...]]
    distance: Any
    params: Mapping[str, Any]
    sampler: Callable[..., Any] | None = None
    within: Any = None
    progress: bool | None = False

    def distances(self, Y: Any = None, *, progress: bool | None = False) -> np.ndarray:
        """Compute the distances of the training objects to Y, or among themselves."""
        pairs = check_pairs(self.X, Y, self.distance, self.params)
        return fill_array(pairs, None, None, team_size(self.problem.n_threads), progress)

    def among(self, *, copies: int = 6, infinite: bool = False) -> np.ndarray:
        """Return the distances among the training objects, computed or given.

        They are refused if `copies` matrices of their size do not fit into memory.
        """
        n = self.problem.n
        check_fits(
            8 * n**2 * copies,
            f"method {self.method!r} with {n} objects",
            "take fewer objects, or method 'rsm'",
        )
        if self.within is None:
            return self.distances(progress=self.progress)
        return given_distances(self.within, n, n, infinite=infinite)


# Parameters of a p(omega), and the function that draws R objects from it.
Omega = tuple[dict[str, Any], Callable[[], Any]]


def search_omegas(call: SearchCall) -> Search:
    """Search over the p(omega) of a call, with features of the distances to their objects.

    Precomputed distances belong to a single p(omega).
    """
    n, R = call.problem.n, max(call.grid["R"])
    if call.within is not None:
        return search_features([({}, call.within)], call.problem, call.grid)
    omegas = _training_objects(call) if call.method == "rsm" else _sampled(call)
    # Distances to this p(omega) and to the best one, features, and their coordinates.
    check_fits(
        8 * n * R * (min(len(omegas), 2) + 2),
        f"the search for {R} features of {n} objects",
        "give a smaller R, or fewer objects",
    )
    candidates = (
        (parameters, call.distances(_checked(call, draw())))
        for parameters, draw in stages(omegas, "search", call.progress)
    )
    return search_features(candidates, call.problem, call.grid)


def _training_objects(call: SearchCall) -> list[Omega]:
    """Return the one p(omega) that draws among the training objects."""
    X, seed = call.X, call.problem.seed
    R = integer("R", max(call.grid["R"]), 1, len(X))
    return [({}, lambda: training.training_objects(R, X, seed=seed)[0])]


def _sampled(call: SearchCall) -> list[Omega]:
    """Return the sampler's p(omega), one for each combination of its parameters."""
    sampler, R, seed = call.sampler, max(call.grid["R"]), call.problem.seed
    if sampler is None:
        raise ArgumentTypeError(
            "method",
            f"'d2ke' needs a sampler of random objects, such as {_sampler_for(call)}",
        )
    if not callable(sampler):
        raise ArgumentTypeError(
            "sampler", f"must be a function sampler(R, seed=seed, ...), got {sampler!r}"
        )
    names = [name for name in call.grid if name not in (*FEATURE_VALUES, "gamma")]
    _check_sampler(sampler, names)
    omegas: list[Omega] = []
    for values in product(*(call.grid[name] for name in names)):
        parameters = dict(zip(names, values, strict=True))
        omegas.append((parameters, partial(sampler, R, seed=seed, **parameters)))
    return omegas


def _sampler_for(call: SearchCall) -> str:
    """Return the code of a sampler of random objects like X."""
    if not isinstance(call.X, Objects):
        return "lambda R, seed: ..., which returns R objects"
    sampler = "markov_strings, X=X"
    if not call.X.has_letters:
        row = BY_NAME.get(call.distance) if isinstance(call.distance, str) else None
        sampler = "resampled, X=X" if row and row.kind == "sets" else "random_series, X=X"
    return f"functools.partial(d2ke.samplers.{sampler})"


def _check_sampler(sampler: Callable[..., Any], names: Sequence[str]) -> None:
    """Refuse names in grid that the sampler does not take, or lacks, before any work."""
    try:
        signature = inspect.signature(sampler)
    except ValueError:  # some compiled functions have none
        return
    try:
        signature.bind(1, **dict.fromkeys(("seed", *names)))
    except TypeError as error:
        accepted = ", ".join(("gamma", *FEATURE_VALUES))
        raise ArgumentError(
            "sampler",
            f"cannot be called as sampler({', '.join(('R', 'seed', *names))}): {error}; "
            f"every name in grid other than {accepted} goes to the sampler",
        ) from None


def _checked(call: SearchCall, objects: Any) -> Any:
    """Refuse drawn objects that cannot be compared with X; return them packed."""
    R = max(call.grid["R"])
    if not callable(call.distance):
        objects = as_objects("sampler", objects)
        if objects.has_letters != call.X.has_letters:
            raise ArgumentTypeError(
                "sampler",
                f"draws {objects.kind}, but X holds {call.X.kind}; for these there is "
                f"{_sampler_for(call)}",
            )
        objects = matched(call.X, objects, "X", "sampler")
        warn_of_letters(call.X, objects, "X", "sampler")
    if len(objects) != R:
        raise ArgumentError("sampler", f"drew {len(objects)} objects where R is {R}")
    return objects


def given_distances(
    within: Any, n: int, n_columns: int | None = None, *, infinite: bool = True
) -> np.ndarray:
    """Check precomputed distances of n objects, an array or a file."""
    if isinstance(within, (str, os.PathLike)):
        with open_features(within) as store:
            return given_distances(store, n, n_columns, infinite=infinite)
    if isinstance(within, FeatureFile):
        size = within.shape[0] * within.shape[1] * within.dtype.itemsize
        check_fits(size, f"the distances in {within.path}", "give some rows: within=D.read(rows)")
        within = within.read()
    D = arrays.matrix("within", within, infinite=infinite)
    D = D if D.dtype in (np.float32, np.float64) else D.astype(np.float64)
    if D.shape != (n, n_columns or D.shape[1]):
        raise ArgumentError(
            "within",
            f"must hold the distances {'among' if n_columns else 'of'} {n} objects, as many as y "
            f"has labels; its shape is {D.shape}",
        )
    arrays.check_rows_of_distances("within", D)
    return D
