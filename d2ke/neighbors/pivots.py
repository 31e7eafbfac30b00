# SPDX-License-Identifier: BSD-3-Clause
"""Neighbours by a metric: the triangle inequality rules pairs out before distances."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from operator import mul
from typing import Any

import numpy as np

from d2ke._base.errors import ArgumentError
from d2ke._ext import pivots as compiled
from d2ke.distances.problem import PairBlock, PairwiseProblem
from d2ke.distances.record_pairs import PLAIN, RecordDistance
from d2ke.distances.registry import BY_NAME, check_parameters
from d2ke.neighbors import bounded, elastic
from d2ke.neighbors.bounded import Bounded
from d2ke.neighbors.problem import NeighborSearch
from d2ke.neighbors.search_index import BoundedIndex
from d2ke.objects.container import span_of, take

_MIN_PIVOTS, _MAX_PIVOTS = 3, 32
_LEAST_PART = 10  # pairs of X and Y for each distance to a pivot, at least
_CHECKED = 64  # stored distances that a function is called for again


def _has_bounds(search: NeighborSearch, count: int) -> bool:
    """Return whether `count` pivots or a cut-off give bounds, and their tables fit into memory."""
    pairs = search.pairs
    if not isinstance(pairs.distance, (str, RecordDistance)):
        return search.metric
    table_bytes = 24 * count * sum(pairs.shape)  # of both precisions
    return (_is_metric(pairs) or elastic.has_cut(pairs)) and (
        table_bytes + elastic.cut_bytes(pairs) <= search.room()
    )


def _is_metric(pairs: PairwiseProblem) -> bool:
    """Return whether a named distance, or each column's distance, is a metric."""
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


# With the distances of all objects to a few pivots p among the objects of Y,
#
#     d(x, y) >= max_p |d(x, p) - d(p, y)|
#
# by the triangle inequality. The next pivot is the object farthest from all so far. The table is in
# float32, so `margin` is taken off the bound: what four rounded distances may be wrong by.


class PivotIndex(BoundedIndex):
    """The distances of the columns Y to a few of them, the pivots, prepared once for any rows X.

    Parameters
    ----------
    pairs : PairwiseProblem
        Pairs of any X, or of Y itself, and Y; X does not count.
    n_threads : int
        Threads.
    count : int, optional
        Number of pivots, at most; by default what suits the rows of `pairs`.
    """

    @classmethod
    def applies(cls, search: NeighborSearch, reused: bool) -> bool:
        """Return whether pivots or a cut-off give bounds that few distances make up for."""
        pairs = search.pairs
        n, m = pairs.shape
        if reused:
            return _has_bounds(search, _usual_count(m))
        if not pairs.same and n * m < _LEAST_PART * _MIN_PIVOTS * (n + m):
            return False
        if isinstance(pairs.distance, (str, RecordDistance)) and n * m < bounded.FEWEST_PAIRS:
            return False
        return _has_bounds(search, _count(pairs))

    @classmethod
    def build(cls, search: NeighborSearch, reused: bool) -> PivotIndex:
        """Choose pivots for the rows of a search, or for unknown rows."""
        pairs = search.pairs
        index = cls(pairs, search.n_threads, _usual_count(pairs.shape[1]) if reused else None)
        if reused:
            index.prepare(pairs)
        return index

    def __init__(self, pairs: PairwiseProblem, n_threads: int, count: int | None = None):
        pivots, to_y = _choose(pairs, n_threads, count or _count(pairs))
        error, largest = _accuracy(pairs)[0], float(to_y.max())
        between = to_y[:, pivots]
        if not isinstance(pairs.distance, (str, RecordDistance)):
            _check_zeros(pairs.names.y, pivots, between, error * largest)
            _check_triangles(pairs, pivots, between, to_y.T, error * largest, pairs.names.y, 0)
        with np.errstate(over="ignore"):  # `bounds` looks at the largest
            table = to_y.astype(np.float32)
        arrays = {"pivots": pivots, "table": table, "between": between}
        self._set(arrays | {"accuracy": np.array([error, largest])}, pairs)

    def extended(
        self, pairs: PairwiseProblem, base: np.ndarray, n_threads: int
    ) -> PivotIndex | None:
        """Compute the distances of the pivots to the new objects, if all pivots remain."""
        pivots: np.ndarray = np.searchsorted(base, self._arrays["pivots"])
        between, n, m = self._arrays["between"], len(base), pairs.shape[1]
        has_all = np.isin(self._arrays["pivots"], base).all()
        if not has_all or _usual_count(m) > 2 * len(pivots):
            return None
        columns, new = _column_pairs(pairs), span_of(pairs.y, n, m)
        to_new = np.empty((len(pivots), m - n))
        for i, pivot in enumerate(pivots.tolist()):
            block = PairBlock(span_of(pairs.y, pivot, pivot + 1), new, False, pivot, n)
            to_new[i] = columns.distances(block, n_threads).ravel()
        error, largest = self._arrays["accuracy"].tolist()
        largest = max(largest, float(to_new.max(initial=0.0)))
        if not isinstance(pairs.distance, (str, RecordDistance)) and n < m:
            named = pairs.names.y, n
            _check_triangles(pairs, pivots, between, to_new.T, error * largest, *named)
        table = np.empty((len(pivots), m), np.float32)
        with np.errstate(over="ignore"):
            table[:, :n], table[:, n:] = self._arrays["table"][:, base], to_new
        accuracy = np.array([error, largest])
        arrays = {"pivots": pivots, "table": table, "between": between, "accuracy": accuracy}
        index = type(self).__new__(type(self))
        index._set(arrays, pairs)
        index.prepare(pairs)
        return index

    def _set(self, arrays: Mapping[str, np.ndarray], pairs: PairwiseProblem) -> None:
        self._arrays = dict(arrays)
        self._pivots = take(pairs.y, arrays["pivots"])
        self._cut_side = elastic.cut_side(pairs, pairs.y) if elastic.has_cut(pairs) else None

    def arrays(self) -> dict[str, np.ndarray]:
        """Return the arguments of `from_arrays`.

        "pivots" (p,), "table" (p, m) in float32, "between" (p, p): the distances between pivots,
        and "accuracy": the relative error and the maximum of the distances.
        """
        return dict(self._arrays)

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, np.ndarray], pairs: PairwiseProblem) -> PivotIndex:
        """Return the index with these arrays; `pairs` has the same columns and distance.

        A function is called for some of the stored distances, and another one is refused.
        """
        index = cls.__new__(cls)
        index._set(arrays, pairs)
        index.prepare(pairs)
        if not isinstance(pairs.distance, (str, RecordDistance)):
            _check_function(pairs, arrays["pivots"], arrays["table"])
        return index

    def bounds(self, pairs: PairwiseProblem, n_threads: int) -> Bounded | None:
        """Return the bounds of all pairs of any X and Y, or None if float32 is too small for them.

        Distances to the pivots are computed unless X is Y.
        """
        pivots, y, between = (self._arrays[name] for name in ("pivots", "table", "between"))
        error, largest = self._arrays["accuracy"].tolist()
        same, x = pairs.x is pairs.y, y.T
        # The precision of X may differ from the precision of Y.
        own_error, rounding, cells = _accuracy(pairs)
        error = max(error, own_error)
        if not same:
            x = self._distances(pairs, n_threads)
            largest = max(largest, float(x.max()))
        cells = max(cells, 2.0**-6)  # none of empty strings
        cost, computed = len(pivots) / (8 * cells), 1.0
        if isinstance(pairs.distance, RecordDistance):
            # A column of scattered pairs takes the time of 2500 pairs of values.
            computed = 1.7 + 2500 * len(pairs.distance.columns) / cells
        elif isinstance(pairs.distance, str):
            # Sets and series are cheaper many at a time; the others are computed pair by pair
            # anyway.
            computed = 1.0 if pairs.distance == "emd" else 1.7
        elif not same:
            named = pairs.names.x, pairs.first
            _check_triangles(pairs, pivots, between, x, error * largest, *named)
        if not largest <= 1e30:  # float32 overflows at 3e38
            return None
        # Three distances are rounded, and the numbers of the table; the least number is not 0.
        margin = (4 * error + 2.0**-21) * largest + 3 * rounding + 1e-44
        x, exact = x.astype(np.float32, order="C"), pivots if same else ()
        if elastic.has_cut(pairs):
            if not _is_metric(pairs):
                margin += 2 * largest  # bounds below 0 only order the pairs
            cut = elastic.cut_off(pairs, compiled.Pivots(x, y, margin), self._cut_side)
            if cut is not None:
                pair, cell = elastic.costs(pairs)
                names, costs = ("pivots", "", "cut-off"), (cost, 0.0, pair)
                return Bounded(cut, names, costs, computed, exact, cell)
            if not _is_metric(pairs):
                return None
        return Bounded(compiled.Pivots(x, y, margin), ("pivots",), (cost,), computed, exact)

    def _distances(self, pairs: PairwiseProblem, n_threads: int) -> np.ndarray:
        """Return the distances of X to the pivots (n, p)."""
        pivots = self._pivots
        if isinstance(pairs.distance, (str, RecordDistance)):
            return pairs.distances(PairBlock(pairs.x, pivots), n_threads)
        result = np.empty((len(pairs.x), len(pivots)))
        for i, number in enumerate(self._arrays["pivots"].tolist()):  # errors have the numbers
            block = PairBlock(pairs.x, span_of(pivots, i, i + 1), False, pairs.first, number)
            result[:, i] = pairs.distances(block, n_threads).ravel()
        return result


def _accuracy(pairs: PairwiseProblem) -> tuple[float, float, float]:
    """Return the relative and absolute errors of a distance, and its work in pairs of values.

    The sum of records is as accurate as the worst column. A function is not known; a call of it
    takes the time of some hundred pairs of values.
    """
    if not isinstance(pairs.distance, (str, RecordDistance)):
        return 1e-6, 0.0, 400.0
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
    return max(_MIN_PIVOTS, min(_MAX_PIVOTS, n * m // (50 * (n + m))))


def _usual_count(m: int) -> int:
    """Return the number of pivots of an index of m objects, whose queries are unknown."""
    return max(_MIN_PIVOTS, min(_MAX_PIVOTS, m // 50))


def _choose(pairs: PairwiseProblem, n_threads: int, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Choose distant pivots in a sample of Y; return them and their distances to Y."""
    m = pairs.shape[1]
    count, sample = min(m, count), np.unique(np.linspace(0, m - 1, min(m, 256)).astype(int))
    pivots, to_y = np.empty(count, np.int64), np.empty((count, m))
    columns, nearest = _column_pairs(pairs), np.full(m, np.inf)
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
    if pairs.y is pairs.x:
        return pairs
    names = pairs.names._replace(x=pairs.names.y)
    compile_: Any = pairs.compile
    if callable(pairs.distance):
        compile_ = replace(compile_, names=names, y_is_x=True)
    return replace(pairs, x=pairs.y, compile=compile_, names=names, first=0)


def _check_zeros(name: str, pivots: np.ndarray, between: np.ndarray, tolerance: float) -> None:
    """Refuse a function that is not 0 for equal objects, the pivots."""
    diagonal = np.diag(between)
    if diagonal.max() > tolerance:
        i = pivots[diagonal.argmax()]
        raise ValueError(
            f"metric=True, but distance({name}[{i}], {name}[{i}]) is {diagonal.max()}, not 0"
        )


def _check_triangles(
    pairs: PairwiseProblem,
    pivots: np.ndarray,
    between: np.ndarray,
    to_pivots: np.ndarray,
    tolerance: float,
    name: str,
    first: int,
) -> None:
    """Refuse a function that is no metric for two pivots and an object name[first + i]."""
    sample = np.unique(np.linspace(0, len(to_pivots) - 1, 4096).astype(int))
    near = to_pivots[sample].T
    for p in range(len(pivots)):
        for long, via, ends in (
            (between[p][:, None], near[p] + near, "pivots"),
            (near[p], between[p][:, None] + near, "object"),
        ):
            excess = long - via
            if excess.max() <= tolerance:
                continue
            q, z = np.unravel_index(excess.argmax(), excess.shape)
            a, b = (f"{pairs.names.y}[{pivots[i]}]" for i in (p, q))
            other = f"{name}[{first + sample[z]}]"
            sides = float(between[p, q]), float(near[p, z]), float(near[q, z])
            if ends == "pivots":
                _refuse(a, other, b, sides)
            _refuse(a, b, other, (sides[1], sides[0], sides[2]))


def _refuse(first: str, middle: str, last: str, sides: tuple[float, float, float]) -> None:
    """Raise the error; the sides: from first to last, first to middle, middle to last."""
    direct, before, after = sides
    raise ValueError(
        f"metric=True, but the distance is no metric: distance({first}, {last}) is {direct}, more "
        f"than distance({first}, {middle}) + distance({middle}, {last}), {before} + {after}; "
        "leave metric out"
    )


def _check_function(pairs: PairwiseProblem, pivots: np.ndarray, table: np.ndarray) -> None:
    """Refuse a function whose distances differ from the table."""
    columns, (count, m) = _column_pairs(pairs), table.shape
    for i, j in enumerate(np.linspace(0, m - 1, _CHECKED).astype(int).tolist()):
        pivot = int(pivots[i % count])
        sides = span_of(pairs.y, pivot, pivot + 1), span_of(pairs.y, j, j + 1)
        value = columns.distances(PairBlock(*sides, False, pivot, j), 1).item()
        stored = float(table[i % count, j])
        with np.errstate(over="ignore"):
            value_of_table = np.float32(value)
        if not np.isclose(value_of_table, stored, rtol=1e-6, atol=0.0):
            pair = f"{pairs.names.y}[{pivot}], {pairs.names.y}[{j}]"
            raise ArgumentError(
                "distance",
                f"is another function than that of the index: distance({pair}) is {value}, "
                f"but {stored} in the index",
            )
