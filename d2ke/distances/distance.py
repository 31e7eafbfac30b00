# SPDX-License-Identifier: BSD-3-Clause
"""A row of the registry of distances, and two functions that many rows need."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from d2ke._base.errors import ArgumentError
from d2ke.objects.container import Objects


@dataclass(frozen=True)
class Distance:
    """One row of the registry.

    Attributes
    ----------
    name : str
        What users write.
    prepare : callable
        ``prepare(x, y, same, **parameters)`` returns the compiled form.
    summary, source : str
        One line of documentation, and where the definition is from.
    aliases : tuple of str
        Other names of the same distance.
    kind : {"series", "sets", "strings"}
        The kind of objects it compares.
    symmetric, metric : bool
        Whether d(x, y) = d(y, x), and whether it is a metric, with the default parameters.
    directed : callable, optional
        For a symmetric distance: ``directed(**parameters)`` returns whether it is asymmetric
        with these checked parameters.
    scale : str
        The parameter, in the units of the vectors, that sets which vectors differ, if any.
    shortest : int
        The length of the shortest object for which it is defined.
    parameters : mapping of str to callable
        Each parameter's name and its check, ``check(name, value)``, which
        returns what `prepare` takes. The defaults are in `prepare`.
    required : tuple of str
        The parameters without a default.
    weighted : bool
        Whether it uses the weights of vectors; if not, objects with weights are
        refused.
    rounding : callable, optional
        For a metric: ``rounding(x, y, **parameters)`` bounds the error of computed distances
        beside their relative error. Without it no pivots are used.
    nonmetric : callable, optional
        For a metric: ``nonmetric(**parameters)`` returns whether it is not a metric with these
        checked parameters.
    check : callable, optional
        ``check(name, objects, **parameters)`` refuses objects that the kernel cannot compare.
    check_pair : callable, optional
        ``check_pair(x_name, x, y_name, y)`` refuses objects that it cannot compare with each other.
    check_all : callable, optional
        ``check_all(**parameters)`` checks parameters that depend on each other, and returns the
        parameters that all the functions above take.
    columns : callable, optional
        ``columns(y, **parameters)`` prepares y once, for rows x that come in many calls: it returns
        a function of x, objects with the letters or channels of y, that returns the compiled form,
        or None if `prepare` is needed.
    missing : callable, optional
        ``missing(**parameters)``: whether vectors may be missing (NaN) with these checked
        parameters; without it they are refused.
    """

    name: str
    prepare: Callable[..., Any]
    summary: str
    source: str
    aliases: tuple[str, ...] = ()
    kind: str = "sets"
    symmetric: bool = True
    metric: bool = False
    scale: str = ""
    shortest: int = 1
    parameters: Mapping[str, Callable[[str, Any], Any]] = field(default_factory=dict)
    required: tuple[str, ...] = ()
    weighted: bool = False
    check: Callable[..., None] | None = None
    directed: Callable[..., bool] | None = None
    rounding: Callable[..., float] | None = None
    nonmetric: Callable[..., bool] | None = None
    check_pair: Callable[..., None] | None = None
    check_all: Callable[..., dict[str, Any]] | None = None
    columns: Callable[..., Callable[[Objects], Any] | None] | None = None
    missing: Callable[..., bool] | None = None

    def is_metric(self, parameters: Mapping[str, Any]) -> bool:
        """Return whether the distance is a metric with these checked parameters."""
        if not self.metric or self.rounding is None:
            return False
        return not (self.nonmetric and self.nonmetric(**parameters))

    def is_symmetric(self, parameters: Mapping[str, Any]) -> bool:
        """Return whether d(x, y) = d(y, x) with these checked parameters."""
        return self.symmetric and not (self.directed and self.directed(**parameters))

    def check_lengths(self, name: str, objects: Objects) -> None:
        """Refuse objects that are shorter than `shortest`."""
        short = np.flatnonzero(objects.lengths < self.shortest)
        if short.size:
            raise ArgumentError(
                name,
                f"is empty: {self.name} is defined for objects of at least "
                f"{self.shortest} vector{'s' if self.shortest > 1 else ''}",
                short[0],
            )


def no_rounding(x: Objects, y: Objects, **_: Any) -> float:
    """Return 0: errors are only relative."""
    return 0.0


def same_precision(x: Objects, y: Objects) -> tuple[np.ndarray, np.ndarray]:
    """Return the vectors of both in the more precise type of the two."""
    dtype = np.promote_types(x.dtype, y.dtype)
    return x.values.astype(dtype, copy=False), y.values.astype(dtype, copy=False)
