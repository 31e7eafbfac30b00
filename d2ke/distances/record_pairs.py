# SPDX-License-Identifier: BSD-3-Clause
"""All pairs of records: the weighted sum of the distances of their columns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from d2ke._base.checks import integer, not_negative
from d2ke._base.errors import ArgumentError, ArgumentTypeError
from d2ke._base.keywords import hinted
from d2ke._ext import user
from d2ke._ext.pairwise import PairwiseKernel
from d2ke.distances.pairs import check_pairs
from d2ke.distances.problem import (
    UNCHANGED,
    ArgumentNames,
    CompiledPairs,
    PairBlock,
    PairwiseProblem,
    Report,
    Transform,
)
from d2ke.distances.registry import split_parameters, usual_distance
from d2ke.objects.compatibility import in_order
from d2ke.objects.container import Objects, span_of
from d2ke.objects.record_packing import as_categories, pack_records
from d2ke.objects.records import Records, check_use
from d2ke.objects.tables import is_table

PLAIN = {"absolute": "numbers", "equal": "categories"}  # distances of columns without objects
_TILE = 1 << 11  # rows and columns that are added up at a time
_FLOAT64 = np.dtype(np.float64)


@dataclass(frozen=True, eq=False)
class RecordDistance:
    """The distance of a problem of records: the problem and the weight of each column."""

    columns: dict[str, PairwiseProblem]
    weights: dict[str, float]


def check_any_pairs(
    X: Any, Y: Any, distance: Any, params: Mapping[str, Any], names: ArgumentNames
) -> PairwiseProblem:
    """Pack and check records if `distance` is a dict or X has columns, else objects."""
    table = is_table(X) if distance is None else isinstance(X, (Records, Mapping))
    if not isinstance(distance, Mapping) and not table:
        return check_pairs(X, Y, distance, params, names)
    for name in params:
        if name != "weights":
            raise TypeError(
                f"records have no parameter {name!r}; parameters of a column stand with its "
                "distance, such as ('dtw', {'window': 10})"
            )
    x, y, columns = _check_columns(X, Y, distance, names)
    weights = params.get("weights")
    weights = _usual_weights(columns, 0) if weights is None else _check_weights(weights, columns)
    same = Y is None and all(problem.same for problem in columns.values())
    by_columns = RecordDistance(columns, weights)
    compile_ = partial(_RecordPairs, by_columns)
    return PairwiseProblem(x, y, _FLOAT64, same, compile_, by_columns, {"weights": weights}, names)


def _check_columns(
    X: Any, Y: Any, distance: Any, names: ArgumentNames
) -> tuple[Records, Records, dict[str, PairwiseProblem]]:
    """Return the compared columns of X and of Y, and the problem of each."""
    if distance is None:
        X = pack_records(X, name=names.x)
        distance = {name: usual_of_column(column.kind) for name, column in X.columns.items()}
    if not isinstance(distance, Mapping) or not distance:
        raise ArgumentTypeError(
            "distance",
            "of records must be a dict of the compared columns, such as {'name': 'levenshtein', "
            f"'age': 'absolute'}}; got {distance!r}, and {names.x} is a table. If its rows are "
            "series, give an array of them, or pack(df, ids=, time=)",
        )
    distances = {
        name: split_parameters(entry, f"distance[{name!r}]") for name, entry in distance.items()
    }
    x = _compared(X, names.x, distances)
    y = x if Y is None else _compared(Y, names.y, distances)
    problems = {}
    for name, (method, params) in distances.items():
        called = names._replace(x=f"{names.x}[{name!r}]", y=f"{names.y}[{name!r}]")
        x_values, y_values = x[name].values, None if y is x else y[name].values
        check_use(called.y, y[name].use, x[name].use, called.x)
        if isinstance(x_values, Objects) and isinstance(y_values, Objects):
            y_values = in_order(y_values, x_values.channel_names, called.y, called.x)
            y.columns[name] = replace(y[name], values=y_values)
        try:
            if isinstance(method, str) and method in PLAIN:
                if params:
                    raise TypeError(f"{method!r} has no parameters, got {dict(params)}")
                y_values = x_values if y_values is None else y_values
                compile_: Any = partial(_PlainPairs, method)
                problems[name] = PairwiseProblem(
                    x_values, y_values, _FLOAT64, Y is None, compile_, method, {}, called
                )
            else:
                problems[name] = check_pairs(x_values, y_values, method, params, called)
        except (TypeError, ValueError) as error:
            if str(error).startswith((called.x, called.y)):
                raise
            kind = ArgumentTypeError if isinstance(error, TypeError) else ArgumentError
            raise kind(f"distance[{name!r}]", f"is wrong: {error}") from None
    return x, y, problems


def usual_of_column(kind: str) -> str:
    """Return the default distance of a column."""
    usual = {"numbers": "absolute", "categories": "equal", "missing": "equal"}.get(kind)
    return usual or usual_distance(kind)


def _compared(
    X: Any, argument: str, distances: Mapping[str, tuple[Any, Mapping[str, Any]]]
) -> Records:
    """Return the compared columns, each with an entry in every row and of a kind to compare."""
    records, columns = pack_records(X, name=argument), {}
    if not len(records):
        raise ArgumentError(argument, "is empty: at least one record is needed")
    for name, (method, _) in distances.items():
        if name not in records.columns:
            has = ", ".join(map(repr, records))
            raise ArgumentError("distance", f"names the column {name!r}, but {argument} has {has}")
        column, where = records[name], f"{argument}[{name!r}]"
        rows = np.flatnonzero(column.missing)
        if rows.size:
            raise ArgumentError(
                where, "is missing; all compared columns need an entry in each row", rows[0]
            )
        if method == "equal":
            column = as_categories(column, where)
        elif isinstance(method, str) and (
            PLAIN.get(method) != column.kind
            if method in PLAIN
            else not isinstance(column.values, Objects)
        ):  # fmt: skip
            raise ArgumentTypeError(
                f"distance[{name!r}]",
                f"is {method!r}, but {where} holds {column.kind}, whose distance may be "
                f"{usual_of_column(column.kind)!r}",
            )
        columns[name] = column
    return Records(columns)


def _check_weights(weights: Any, columns: Mapping[str, Any]) -> dict[str, float]:
    """Return the weight of each column in the order of the columns."""
    if not isinstance(weights, Mapping):
        raise ArgumentTypeError("weights", f"must be a dict of numbers, got {weights!r}")
    for name in weights:
        if name not in columns:
            compared = ", ".join(map(repr, columns))
            raise ArgumentError("weights", f"names the column {name!r}; compared are {compared}")
    for name in columns:
        if name not in weights:
            raise ArgumentError("weights", f"has no weight of the column {name!r}")
    checked = {name: not_negative(f"weights[{name!r}]", weights[name]) for name in columns}
    if not any(checked.values()):
        raise ArgumentError("weights", "are all 0; at least one must be positive")
    return checked


def _usual_weights(columns: Mapping[str, PairwiseProblem], seed: int) -> dict[str, float]:
    """Return w_c = 1 / median{d_c(y_i, y_j) > 0}, over the pairs of a sample of 100 rows of Y."""
    weights = {}
    for name, pairs in columns.items():
        n = pairs.shape[1]
        rows = np.random.default_rng(seed).permutation(n)[:100]
        sample = [pairs.y[i] for i in rows] if isinstance(pairs.y, list) else pairs.y[rows]
        D = np.empty((len(rows), len(rows)))
        try:
            pairs.compile(PairBlock(sample, sample)).run(D, 1)
        except (TypeError, ValueError) as error:  # of a user's function
            problem = f"fails in the sample for weights, by its own numbers: {error}"
            raise ArgumentError(f"distance[{name!r}]", problem) from error
        apart = D[np.triu_indices_from(D, 1)]
        apart = apart[(apart > 0) & np.isfinite(apart)]
        weights[name] = float(1 / np.median(apart)) if apart.size else 1.0
    return weights


@hinted
def column_weights(
    X: Any, *, distance: Mapping[str, Any] | None = None, seed: int = 0
) -> dict[str, float]:
    """Return weights that give each column about the same influence on the distance of records.

    Parameters
    ----------
    X : Records or what `pack_records` takes
        n records.
    distance : dict of str, optional
        The distance of each compared column, as for `distance_matrix`; by default all columns are
        compared, strings by ``"levenshtein"``, series by ``"dtw"``, sets by ``"mhd"``, numbers by
        ``"absolute"`` and categories by ``"equal"``.
    seed : int
        Of the sample.

    Returns
    -------
    dict of str to float
        Pass it as ``weights=``. With the default seed, these are the default weights of
        `distance_matrix`, `nearest` and `within` for X, or for the records of their Y.

    Raises
    ------
    TypeError, ValueError
        As `distance_matrix`.

    Notes
    -----
    The weight of a column is 1 / the median of its distances between at most 100 records, drawn at
    random, where they are above 0 and finite; 1 where none are.

    Examples
    --------
    >>> import d2ke
    >>> people = {"name": ["Ada", "Adam", "Bo"], "age": [36, 46, 56]}
    >>> d2ke.distances.column_weights(people, distance={"name": "levenshtein", "age": "absolute"})
    {'name': 0.3333333333333333, 'age': 0.1}
    """
    _, _, columns = _check_columns(X, None, distance, ArgumentNames("column_weights"))
    return _usual_weights(columns, integer("seed", seed, 0))


class _RecordPairs(CompiledPairs):
    """The weighted sum of the distances of the columns, added in their order in float64."""

    def pair_kernel(self) -> PairwiseKernel:
        block = self.block

        def values(row: int, columns: list[int]) -> list[float]:
            batch = PairBlock(span_of(block.x, row, row + 1), block.y[columns])
            out = np.empty((1, len(columns)))
            self._add(batch, out, 1)
            return out[0].tolist()

        return user.python(values, len(block.x), len(block.y), 64)  # pairs computed together

    def run(
        self,
        out: np.ndarray,
        n_threads: int,
        report: Report = None,
        transform: Transform = UNCHANGED,
    ) -> None:
        """Fill `out` with distances, tile by tile: a sum needs memory for another tile."""
        x, y, same, first, first_column = self.block
        n, m = out.shape
        for top in range(0, n, _TILE):
            for left in range(top if same else 0, m, _TILE):
                bottom, right = min(top + _TILE, n), min(left + _TILE, m)
                numbers = first + top, first_column + left
                sides = span_of(x, top, bottom), span_of(y, left, right)
                block = PairBlock(*sides, same and left == top, *numbers)
                tile = np.empty((bottom - top, right - left))
                self._add(block, tile, n_threads)
                out[top:bottom, left:right] = tile
                if same and left > top:
                    out[left:right, top:bottom] = tile.T
            if report is not None:
                report(bottom * m, n * m)

    def _add(self, block: PairBlock, out: np.ndarray, n_threads: int) -> None:
        distances = np.empty_like(out)
        out[:] = 0
        for name, weight in self.kernel.weights.items():
            if weight == 0:
                continue
            column = block._replace(x=block.x[name].values, y=block.y[name].values)
            self.kernel.columns[name].compile(column).run(distances, n_threads)
            with np.errstate(over="ignore"):
                distances *= weight
                out += distances


class _PlainPairs(CompiledPairs):
    """Absolute differences of numbers, or 0 and 1 for equal and different categories."""

    def run(
        self,
        out: np.ndarray,
        n_threads: int,
        report: Report = None,
        transform: Transform = UNCHANGED,
    ) -> None:
        """Fill `out` with distances."""
        x, y, *_ = self.block
        if self.kernel == "equal":
            _, codes = np.unique(np.concatenate([x, y]), return_inverse=True)
            np.not_equal.outer(codes[: len(x)], codes[len(x) :], out=out, casting="unsafe")
            return
        with np.errstate(over="ignore"):
            np.abs(np.subtract.outer(x, y, out=out), out=out)
