# SPDX-License-Identifier: BSD-3-Clause
"""Neighbours by a metric: the triangle inequality rules pairs out before distances."""

from __future__ import annotations

from dataclasses import replace
from operator import mul
from typing import Any, NamedTuple

import numpy as np

from d2ke._ext import pivots as compiled
from d2ke.distances.problem import PairBlock, PairwiseProblem
from d2ke.distances.record_pairs import PLAIN, RecordDistance
from d2ke.distances.registry import BY_NAME, check_parameters
from d2ke.neighbors import bounded, elastic
from d2ke.neighbors.bounded import Bounded, search_bounded
from d2ke.neighbors.info import NeighborsInfo
from d2ke.neighbors.lists import NearestLists, WithinLists
from d2ke.neighbors.problem import NeighborSearch
from d2ke.objects.container import span_of

_MIN_PIVOTS = 3
_LEAST_PART = 10  # pairs of X and Y for each distance to a pivot, at least


class PivotTable(NamedTuple):
    """The pivots, objects of Y, and their distances to X (pivots, n) and to Y (pivots, m)."""

    pivots: np.ndarray
    x: np.ndarray
    y: np.ndarray


def applies(search: NeighborSearch) -> bool:
    """Return whether pivots or a cut-off give bounds, whose tables fit into memory."""
    pairs = search.pairs
    n, m = pairs.shape
    if not pairs.same and n * m < _LEAST_PART * _MIN_PIVOTS * (n + m):
        return False
    if not isinstance(pairs.distance, (str, RecordDistance)):
        return search.metric
    if n * m < bounded.FEWEST_PAIRS:
        return False
    bounds = _is_metric(pairs) or elastic.has_cut(pairs)
    table_bytes = 24 * _count(pairs) * (n + m)  # of both precisions
    return bounds and table_bytes + elastic.cut_bytes(pairs) <= search.room()


def _is_metric(pairs: PairwiseProblem) -> bool:
    """Return whether a named distance, or that of each column of records, is a metric."""
    if isinstance(pairs.distance, RecordDistance):
        return all(
            _is_metric(column) or _is_metric_of_strings(column)
            for column in pairs.distance.columns.values()
        )
    if not isinstance(pairs.distance, str):
        return False
    if pairs.distance in PLAIN:
        return True
    row = BY_NAME[pairs.distance]
    return row.is_metric(check_parameters(row, pairs.params))


def _is_metric_of_strings(pairs: PairwiseProblem) -> bool:
    """Return whether a distance of strings is a metric; alone it is faster than pivots are."""
    row = BY_NAME.get(pairs.distance) if isinstance(pairs.distance, str) else None
    if row is None or row.kind != "strings" or not row.metric:
        return False
    checked = check_parameters(row, pairs.params)
    return row.is_symmetric(checked) and not (row.nonmetric and row.nonmetric(**checked))


def search_pivots(
    search: NeighborSearch, lists: NearestLists | WithinLists, info: NeighborsInfo
) -> None:
    """Search by distances to pivots where that is faster, else by all distances."""
    bounds = pivot_bounds(search.pairs, search.n_threads)
    search_bounded(search, bounds, lists, info)


# With the distances of all objects to a few pivots p among the objects of Y,
#
#     d(x, y) >= max_p |d(x, p) - d(p, y)|
#
# by the triangle inequality. The next pivot is the object farthest from all so far. The table is in
# float32, so `margin` is taken off the bound: what four rounded distances may be wrong by.


def pivot_bounds(pairs: PairwiseProblem, n_threads: int) -> Bounded | None:
    """Return the bounds of all pairs, or None for distances too large for float32."""
    table = _table(pairs, n_threads)
    largest = float(max(table.x.max(), table.y.max()))
    computed = 1.0
    if isinstance(pairs.distance, (str, RecordDistance)):
        error, rounding, cells = _accuracy(pairs)
        cost = len(table.pivots) / (8 * cells)
        # Sets and series are cheaper many at a time; the others are computed pair by pair anyway.
        if pairs.distance != "emd":
            computed = 1.7
        if isinstance(pairs.distance, RecordDistance):
            # A column of scattered pairs takes the time of 2500 pairs of values.
            computed += 2500 * len(pairs.distance.columns) / cells
    else:
        rounding, error, cost = 0.0, 1e-6, 0.01
        _check_metric(pairs, table, error * largest)
    if not largest <= 1e30:  # float32 overflows at 3e38
        return None
    # Three distances are rounded, and the numbers of the table; the least number is not 0.
    margin = (4 * error + 2.0**-21) * largest + 3 * rounding + 1e-44
    x, y = table.x.T.astype(np.float32, order="C"), table.y.astype(np.float32)
    exact = table.pivots if pairs.y is pairs.x else ()
    if elastic.has_cut(pairs):
        if not _is_metric(pairs):
            margin += 2 * largest  # bounds below 0 only order the pairs
        cut = elastic.cut_off(pairs, compiled.Pivots(x, y, margin))
        if cut is not None:
            pair, cell = elastic.costs(pairs)
            names, costs = ("pivots", "", "cut-off"), (cost, 0.0, pair)
            return Bounded(cut, names, costs, computed, exact, cell)
        if not _is_metric(pairs):
            return None
    return Bounded(compiled.Pivots(x, y, margin), ("pivots",), (cost,), computed, exact)


def _accuracy(pairs: PairwiseProblem) -> tuple[float, float, float]:
    """Return the relative and absolute errors of a distance, and its work in pairs of values.

    The sum of records is as accurate as the worst column.
    """
    if isinstance(pairs.distance, RecordDistance):
        weights = pairs.distance.weights.values()
        columns = list(map(_accuracy, pairs.distance.columns.values()))
        errors, roundings, cells = zip(*columns, strict=True)
        return max(errors), sum(map(mul, weights, roundings)), max(sum(cells), 1.0)
    error = 1e-9 if pairs.dtype == np.float64 else 1e-4
    if pairs.distance in PLAIN:
        return error, 0.0, 1.0
    row = BY_NAME[pairs.distance]
    cells = pairs.x.lengths.mean() * pairs.y.lengths.mean() * pairs.x.dim
    if row.kind == "strings":  # edits are counted, 64 pairs of letters at a time
        return error, 0.0, cells / 64
    params = check_parameters(row, pairs.params)
    rounding = 0.0 if row.rounding is None else row.rounding(pairs.x, pairs.y, **params)
    return error, rounding, cells


def _count(pairs: PairwiseProblem) -> int:
    """Return the number of pivots: about one of 50 pairs is a distance to a pivot."""
    n, m = pairs.shape
    return min(m, max(_MIN_PIVOTS, min(32, n * m // (50 * (n + m)))))


def _table(pairs: PairwiseProblem, n_threads: int) -> PivotTable:
    """Choose pivots, and compute the distances of Y and X to them."""
    pivots, to_y = _choose(pairs, n_threads)
    if pairs.y is pairs.x:
        return PivotTable(pivots, to_y, to_y)
    to_x = np.empty((len(pivots), pairs.shape[0]))
    for i, pivot in enumerate(pivots.tolist()):
        block = PairBlock(pairs.x, span_of(pairs.y, pivot, pivot + 1), False, pairs.first, pivot)
        to_x[i] = pairs.distances(block, n_threads).ravel()
    return PivotTable(pivots, to_x, to_y)


def _choose(pairs: PairwiseProblem, n_threads: int) -> tuple[np.ndarray, np.ndarray]:
    """Choose pivots in a sample of Y, each far from the others; return their distances to Y."""
    m = pairs.shape[1]
    count, sample = _count(pairs), np.unique(np.linspace(0, m - 1, min(m, 256)).astype(int))
    pivots, to_y = np.empty(count, np.int64), np.empty((count, m))
    columns = pairs if pairs.y is pairs.x else _column_pairs(pairs)
    nearest = np.full(m, np.inf)
    pivot = int(sample[0])
    for i in range(count):
        pivots[i] = pivot
        block = PairBlock(span_of(pairs.y, pivot, pivot + 1), pairs.y, False, pivot, 0)
        to_y[i] = columns.distances(block, n_threads).ravel()
        nearest = np.minimum(nearest, to_y[i])
        nearest[pivots[: i + 1]] = -1
        pivot = int(sample[nearest[sample].argmax()])
        if nearest[pivot] < 0:
            return pivots[: i + 1], to_y[: i + 1]
    return pivots, to_y


def _column_pairs(pairs: PairwiseProblem) -> PairwiseProblem:
    """Return the pairs of two objects of Y."""
    names = pairs.names._replace(x=pairs.names.y)
    compile_: Any = pairs.compile
    if callable(pairs.distance):
        compile_ = replace(compile_, names=names, y_is_x=True)
    return replace(pairs, x=pairs.y, compile=compile_, names=names, first=0)


def _check_metric(pairs: PairwiseProblem, table: PivotTable, tolerance: float) -> None:
    """Refuse a function that is not a metric for two pivots and another object."""
    between, pivots, names = table.y[:, table.pivots], table.pivots, pairs.names
    diagonal = np.diag(between)
    if diagonal.max() > tolerance:
        i = pivots[diagonal.argmax()]
        raise ValueError(
            f"metric=True, but distance({names.y}[{i}], {names.y}[{i}]) is {diagonal.max()}, not 0"
        )
    for name, side, first in ((names.x, table.x, pairs.first), (names.y, table.y, 0)):
        drawn = np.unique(np.linspace(0, side.shape[1] - 1, 4096).astype(int))
        near = side[:, drawn]
        for p in range(len(pivots)):
            for long, via, ends in (
                (between[p][:, None], near[p] + near, "pivots"),
                (near[p], between[p][:, None] + near, "object"),
            ):
                excess = long - via
                if excess.max() <= tolerance:
                    continue
                q, z = np.unravel_index(excess.argmax(), excess.shape)
                a, b = (f"{names.y}[{pivots[i]}]" for i in (p, q))
                other = f"{name}[{first + drawn[z]}]"
                sides = float(between[p, q]), float(near[p, z]), float(near[q, z])
                if ends == "pivots":
                    _refuse(a, other, b, sides)
                _refuse(a, b, other, (sides[1], sides[0], sides[2]))
        if pairs.y is pairs.x:
            return


def _refuse(first: str, middle: str, last: str, sides: tuple[float, float, float]) -> None:
    """Raise the error; the sides: from first to last, first to middle, middle to last."""
    whole, before, after = sides
    raise ValueError(
        f"metric=True, but the distance is no metric: distance({first}, {last}) is {whole}, more "
        f"than distance({first}, {middle}) + distance({middle}, {last}), {before} + {after}; "
        "leave metric out"
    )
