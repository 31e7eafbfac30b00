# SPDX-License-Identifier: BSD-3-Clause
"""The parameters that a search tries, and their checks."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np

from d2ke._base.checks import choice, generator, integer, positive_number
from d2ke.embedding.scaling import SCALINGS
from d2ke.learners.losses import LOSSES
from d2ke.objects.container import Objects
from d2ke.objects.fitted_objects import representatives

COSTS = (0.1, 0.3, 1.0, 3.0, 10.0, 1e2, 1e3, 1e4)

_FEATURES = {
    "R": (512,),
    "scaling": ("standard",),
    "gamma_scale": (0.3, 1.0, 3.0),
    "C": COSTS,
    "loss": LOSSES,
}

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
    "gdk_led": {"R": (4, 8, 16, 32, 64, 128, 256, 512), "C_scale": COSTS, "loss": LOSSES},
}


def merged_grid(method: str, grid: Mapping[str, Sequence] | None) -> dict[str, tuple]:
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
    "loss": lambda name, value: choice(name, value, LOSSES),
    "gamma": positive_number,
    "beta": positive_number,
    "C": positive_number,
}


def either(values: Mapping[str, tuple], name: str) -> tuple:
    """Return the values of a parameter, given as they are or in units of its scale."""
    return values[name] if name in values else values[f"{name}_scale"]


def sampler_draws(
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
