# SPDX-License-Identifier: BSD-3-Clause
"""Searches in a matrix of distances: ``distance="precomputed"``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from d2ke._base import arrays
from d2ke._base.errors import ArgumentError, warn
from d2ke.distances.problem import (
    UNCHANGED,
    ArgumentNames,
    CompiledPairs,
    PairBlock,
    PairwiseProblem,
    Report,
    Transform,
)
from d2ke.objects.container import Objects
from d2ke.objects.records import Records
from d2ke.objects.values import as_floats

Check = Callable[[Any, Any, Any, Mapping[str, Any], ArgumentNames], PairwiseProblem]


@dataclass(frozen=True, eq=False)
class Precomputed:
    """A matrix instead of a distance; items are the numbers of its rows and columns."""

    D: np.ndarray

    def __repr__(self) -> str:
        return "'precomputed'"

    def compile(self, block: PairBlock) -> CompiledPairs:
        """Return the entries of some rows and columns."""
        return _Entries(self.D, block)


class _Entries(CompiledPairs):
    """The kernel is the matrix."""

    def run(
        self,
        out: np.ndarray,
        n_threads: int,
        report: Report = None,
        transform: Transform = UNCHANGED,
    ) -> None:
        """Copy the entries."""
        rows, columns, *_ = self.block
        for i, row in enumerate(rows):
            np.take(self.kernel[row], columns, out=out[i])
        if report is not None:
            report(out.size, out.size)


def check_search(
    check: Check,
    X: Any,
    Y: Any,
    distance: Any,
    params: Mapping[str, Any],
    names: ArgumentNames,
    symmetric: bool = False,
) -> PairwiseProblem:
    """Check objects by `check`, or a matrix of distances; `symmetric`: a search needs that.

    Objects that look like a matrix of distances get a warning.
    """
    if isinstance(distance, str) and distance == "precomputed":
        return _matrix_problem(X, Y, params, names, symmetric)
    pairs = check(X, Y, distance, params, names)
    warn_of_distances(names.x, pairs.x, pairs.distance)
    return pairs


def warn_of_distances(name: str, x: Any, distance: Any) -> None:
    """Warn of checked objects that look like a matrix of distances."""
    square = _square(x)
    if (
        square is not None
        and arrays.like_distances(square)
        and np.allclose(square, square.T, rtol=arrays.ASYMMETRY)
    ):
        warn(
            f"{name} looks like a matrix of distances, but its rows are compared as objects, by "
            f"{distance if isinstance(distance, str) else 'your distance'}; its "
            'entries are the distances with distance="precomputed"'
        )


def _matrix_problem(
    X: Any, Y: Any, params: Mapping[str, Any], names: ArgumentNames, symmetric: bool
) -> PairwiseProblem:
    for name in params:
        raise TypeError(f"a precomputed distance has no parameters, got {name!r}")
    D = as_floats(arrays.filled_matrix(names.x, X))
    arrays.check_distances(names.x, D)
    n, m = D.shape
    if Y is None:
        if n != m:
            raise ArgumentError(
                names.x,
                f"has shape {D.shape}; distances among objects are square. For those to other "
                f"objects give {names.y}, the {m} objects of the columns",
            )
        arrays.check_diagonal(names.x, D)
        if D.diagonal().any():  # by rounding
            D = D.copy()
            np.fill_diagonal(D, 0)
        if symmetric:
            arrays.check_symmetric(names.x, D, arrays.ASYMMETRY * float(D.max()))
            D = D if np.array_equal(D, D.T) else np.minimum(D, D.T)
    elif len(Y) != m:
        raise ArgumentError(
            names.x, f"has {m} columns, but {names.y} has {len(Y)} objects: one for each column"
        )
    rows = np.arange(n)
    columns = rows if Y is None else np.arange(m)
    distance = Precomputed(D)
    same = Y is None and np.array_equal(D, D.T)
    return PairwiseProblem(rows, columns, D.dtype, same, distance.compile, distance, {}, names)


def _square(x: Any) -> np.ndarray | None:
    """Return objects of one channel or records of numbers as a square matrix, if they fill one."""
    n = len(x)
    if n < 2:
        return None
    if isinstance(x, Records):
        columns = list(x.columns.values())
        if len(columns) != n or any(column.kind != "numbers" for column in columns):
            return None
        return np.column_stack([column.values for column in columns])
    if not isinstance(x, Objects) or x.has_letters or x.dim != 1:
        return None
    return x.values.reshape(n, n) if (np.diff(x.offsets) == n).all() else None
