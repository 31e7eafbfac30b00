# SPDX-License-Identifier: BSD-3-Clause
"""Search over p(omega): random objects are drawn, their distances kept in memory or in a folder."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

from d2ke._base.checks import generator, integer
from d2ke._base.errors import ArgumentError, ArgumentTypeError
from d2ke._base.memory import check_fits
from d2ke._base.progress import stages
from d2ke._base.text import show
from d2ke.distances.blocks import fill
from d2ke.distances.fingerprint import description, digest, sequence_digest
from d2ke.distances.output import Output
from d2ke.distances.problem import Transform
from d2ke.model_selection.call import SearchCall
from d2ke.model_selection.candidates import search_features
from d2ke.model_selection.folder import open_journal, store_names
from d2ke.model_selection.grids import FEATURE_VALUES, FeatureGrid
from d2ke.model_selection.result import Search, printable
from d2ke.objects.container import Objects, check_compatible
from d2ke.objects.fitted_objects import representatives
from d2ke.objects.packing import as_objects
from d2ke.objects.readings import warn_of_letters


class Omega(NamedTuple):
    """The parameters of a p(omega), and the function that draws R objects from it."""

    parameters: dict[str, Any]
    draw: Callable[[], Any]


def sampled(call: SearchCall) -> list[Omega]:
    """Return the sampler's p(omega), one for each combination of its parameters."""
    sampler, R, seed = call.sampler, max(call.grid["R"]), call.problem.seed
    if sampler is None:
        raise ArgumentTypeError(
            "method",
            "'d2ke' needs a sampler of random objects, such as "
            'functools.partial(d2ke.random_strings, alphabet="ACGT")',
        )
    if not callable(sampler):
        raise ArgumentTypeError(
            "sampler", f"must be a function sampler(R, seed=seed, ...), got {sampler!r}"
        )
    names = [name for name in call.grid if name not in (*FEATURE_VALUES, "gamma")]
    _check_sampler(sampler, names)
    combinations = product(*(call.grid[name] for name in names))
    drawn = (dict(zip(names, values, strict=True)) for values in combinations)
    return [Omega(one, lambda one=one: sampler(R, seed=seed, **one)) for one in drawn]


def training_objects(call: SearchCall) -> list[Omega]:
    """Return the one p(omega) that draws among the training objects."""
    X, R, seed = call.X, max(call.grid["R"]), call.problem.seed
    if isinstance(X, Objects):
        return [Omega({}, lambda: representatives(X, R, seed=seed))]
    chosen = generator(seed).permutation(len(X))[: integer("R", R, 1, len(X))].tolist()
    return [Omega({}, lambda: [X[i] for i in chosen])]


def _check_sampler(sampler: Callable[..., Any], names: Sequence[str]) -> None:
    """Refuse names in grid that the sampler does not take, or lacks, before any work."""
    try:
        signature = inspect.signature(sampler)
    except ValueError:  # some compiled functions have none
        return
    try:
        signature.bind(1, **dict.fromkeys(("seed", *names)))
    except TypeError as error:
        known = ", ".join(("gamma", *FEATURE_VALUES))
        raise ArgumentError(
            "sampler",
            f"cannot be called as sampler({', '.join(('R', 'seed', *names))}): {error}; "
            f"every name in grid other than {known} goes to the sampler",
        ) from None


def search_omegas(call: SearchCall, omegas: Sequence[Omega]) -> Search:
    """Search over these p(omega), with features of the distances to their objects."""
    n, R = call.problem.n, max(call.grid["R"])
    if call.folder is None:
        # Those of this p(omega) and of the best one, and a copy to find the median.
        check_fits(
            8 * n * R * (min(len(omegas), 2) + 1),
            f"the search for {R} features of {n} objects",
            "give a folder for their distances, or a smaller R",
        )
    grid = FeatureGrid.of(call.grid, call.force_hinge)
    shown = stages(omegas, "search", call.progress)
    if call.folder is None:
        in_turn = ((one.parameters, call.distances(_drawn(call, one))) for one in shown)
        return search_features(in_turn, call.problem, grid)
    journal = open_journal(call.folder, _record(call, omegas))
    with closing(journal):
        stores = _stores(call, omegas, shown)
        return search_features(stores, call.problem, grid, journal=journal)


def _drawn(call: SearchCall, omega: Omega) -> Any:
    """Draw the random objects and check them."""
    objects, R = omega.draw(), max(call.grid["R"])
    if not callable(call.distance):
        objects = as_objects("sampler", objects)
        check_compatible(call.X, objects, "X", "sampler")
        if objects.kind == "strings":
            warn_of_letters(call.X, objects, "X", "sampler")
    if len(objects) != R:
        raise ArgumentError("sampler", f"drew {len(objects)} objects where R is {R}")
    return objects


def _stores(
    call: SearchCall, omegas: Sequence[Omega], shown: Sequence[Omega]
) -> Iterator[tuple[dict[str, Any], Path]]:
    """Compute the distances of each p(omega) into a feature store of the folder."""
    names = store_names([one.parameters for one in omegas])
    for omega, name in zip(shown, names, strict=True):
        path = call.folder / name
        parameters = {f"omega_{key}": printable(v) for key, v in omega.parameters.items()}
        output = Output(
            path,
            max_memory=call.limit,
            resume=True,
            n_threads=call.problem.n_threads,
            progress=call.progress,
        )
        transform = Transform(name, parameters=parameters)
        fill(call.pairs(_drawn(call, omega)), output, transform).close()
        yield omega.parameters, path


def _record(call: SearchCall, omegas: Sequence[Omega]) -> Mapping[str, Any]:
    """Return what must stay the same for a search to be resumed."""
    record: dict[str, Any] = {
        "method": call.method,
        "y": sequence_digest("y", [call.problem.codes]),
        "n_folds": call.problem.n_folds,
        "seed": call.problem.seed,
        **{f"grid[{name!r}]": printable(values) for name, values in call.grid.items()},
    }
    for omega in omegas:
        pairs = call.pairs(_drawn(call, omega))
        if "X" not in record:
            described, inputs = description(pairs)
            record |= {"distance": described, **inputs}
        title = f"omega of {show(omega.parameters)}" if omega.parameters else "omega"
        record[title] = digest("omega", pairs.y)
    return record
