# SPDX-License-Identifier: BSD-3-Clause
"""The values that a search tries: defaults, the user's values, and their checks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from d2ke._base.checks import choice, integer, positive_number
from d2ke._base.errors import ArgumentError, ArgumentTypeError
from d2ke.embedding.scaling import SCALINGS
from d2ke.learners.losses import LOSSES

COSTS = (0.1, 0.3, 1.0, 3.0, 10.0, 1e2, 1e3, 1e4)

# Defaults of methods on features of distances to random objects.
FEATURE_VALUES = {
    "R": (512,),
    "scaling": ("standard",),
    "gamma_scale": (0.3, 1.0, 3.0),
    "C": COSTS,
    "loss": LOSSES,
}


def merged_grid(
    method: str,
    defaults: Mapping[str, tuple[Any, ...]],
    grid: Mapping[str, Sequence[Any]] | None,
    takes_any: bool,
) -> dict[str, tuple[Any, ...]]:
    """Replace default values by the user's.

    With `takes_any`, names that are not in the defaults are parameters of the sampler.
    """
    grid = {} if grid is None else grid
    if not isinstance(grid, Mapping):
        raise ArgumentTypeError(
            "grid", f"must be a mapping of names to values to try, got {grid!r}"
        )
    merged = dict(defaults)
    names = {name.removesuffix("_scale"): name for name in merged} | {name: name for name in merged}
    for name, values in grid.items():
        if f"{name}_scale" in grid and f"{name}_scale" in names:
            raise ArgumentError("grid", f"has both {name!r} and '{name}_scale'; give one of them")
        if isinstance(values, np.ndarray):
            values = values.tolist()
        if isinstance(values, (str, bytes)) or not hasattr(values, "__len__"):
            raise ArgumentTypeError(
                f"grid[{name!r}]", f"must be a sequence of values to try, got {values!r}"
            )
        if not len(values):
            raise ArgumentError(f"grid[{name!r}]", "has no values")
        if name in names:
            merged.pop(names[name], None)
            check = _CHECKS[name.removesuffix("_scale")]
            values = [check(f"grid[{name!r}][{i}]", value) for i, value in enumerate(values)]
        elif not takes_any:
            raise ArgumentError(
                "grid", f"has {name!r}, unknown for method {method!r}; known: {', '.join(names)}"
            )
        two_integers = len(values) == 2 and all(type(value) is int for value in values)
        # A value of these parameters may be a range (low, high).
        if name in ("length", "size") and isinstance(values, tuple) and two_integers:
            raise ArgumentError(
                f"grid[{name!r}]",
                f"is {values!r}: one range, or two values? Write [{values!r}] for the range, "
                f"{list(values)!r} for the two",
            )
        merged[name] = tuple(tuple(v) if isinstance(v, list) else v for v in values)
    return merged


_CHECKS: dict[str, Callable[[str, Any], Any]] = {
    "R": lambda name, value: integer(name, value, 1),
    "k": lambda name, value: integer(name, value, 1),
    "scaling": lambda name, value: choice(name, value, SCALINGS),
    "loss": lambda name, value: choice(name, value, LOSSES),
    "gamma": positive_number,
    "beta": positive_number,
    "C": positive_number,
}


def either(values: Mapping[str, Sequence[Any]], name: str) -> Sequence[Any]:
    """Return the values of a parameter, absolute or in units of its scale."""
    return values[name] if name in values else values[f"{name}_scale"]
