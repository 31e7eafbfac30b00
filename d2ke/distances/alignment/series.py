# SPDX-License-Identifier: BSD-3-Clause
"""The optimal paths of dynamic time warping and other elastic distances."""

from __future__ import annotations

from typing import Any

import numpy as np

from d2ke._ext import alignment, elastic
from d2ke.distances.alignment.record import operations_of
from d2ke.distances.alignment.tables import TABLE_BYTES, plan, trace
from d2ke.distances.distance import same_precision
from d2ke.distances.elastic_rows import derivatives
from d2ke.distances.problem import PairwiseProblem
from d2ke.distances.registry import find_distance
from d2ke.distances.series_rows import ELASTIC_GROUNDS

Cells = alignment.GroundRows | alignment.TableRows


class WarpingTable:
    """The table of an elastic distance; see `d2ke.distances.alignment.tables.Table`.

    A state is the part of a row that the next row reads. Only columns up to the path are computed
    again.
    """

    def __init__(self, cells: Cells, window: int, dtype: Any = np.float64):
        self.rows, self.columns = cells.n, cells.m
        self.cells = cells
        self.radius = alignment.series_radius(window, self.rows, self.columns)
        width = min(2 * self.radius + 1, self.columns)
        self.row_bytes, self.state_bytes = (width + 3) // 4, width * np.dtype(dtype).itemsize
        self.done = False
        self.value = np.inf
        self._row = np.full(self.columns, np.inf, dtype)
        self._cell = self.rows - 1, self.columns - 1
        self._path = np.empty((self.rows + self.columns, 2), np.int64)
        self._at = len(self._path)

    @property
    def path(self) -> np.ndarray:
        """The cells of the path, from the first one; -1 where a vector has no partner."""
        alone = [np.full((at + 1, 2), -1) for at in self._cell] if self.cells.leaves_out else []
        for side, pairs in enumerate(alone):
            pairs[:, side] = np.arange(len(pairs))
        return np.concatenate([*alone, self._path[self._at :]])

    def costs(self) -> np.ndarray:
        """Return the cost of each step of the path."""
        path = self.path
        steps = np.zeros(len(path), np.int8)
        if self.cells.leaves_out:
            steps[path[:, 1] < 0], steps[path[:, 0] < 0] = 1, 2
        else:
            across, along = np.diff(path, axis=0).T
            steps[1:] = 1 - along + 2 * (1 - across)
        return self.cells.costs(path, steps)

    def start(self) -> tuple[int, np.ndarray]:
        """Return the empty state before the first row."""
        return 0, self._row[:0]

    def _load(self, state: tuple[int, np.ndarray], end: int) -> None:
        first, values = state
        last = first + len(values)
        self._row[first:last] = values
        self._row[last : end + self.radius] = np.inf

    def advance(self, state: Any, begin: int, end: int) -> tuple[int, np.ndarray]:
        """Return the state after some rows."""
        self._load(state, end)
        columns = self._cell[1] + 1
        self.cells.fill(self.radius, begin, end, columns, self._row)
        first = max(end - 1 - self.radius, 0)
        return first, self._row[first : min(end + self.radius, columns)].copy()

    def back(self, state: Any, begin: int, end: int) -> None:
        """Follow the path through some rows."""
        self._load(state, end)
        columns = self._cell[1] + 1
        table = np.empty((end - begin, (min(2 * self.radius + 1, columns) + 3) // 4), np.uint8)
        value, _ = self.cells.fill(self.radius, begin, end, columns, self._row, table)
        if end == self.rows:
            self.value = value
        leaves_out = self.cells.leaves_out
        i, j, self._at = alignment.series_path(
            table, self.radius, begin, *self._cell, self._path, self._at, leaves_out
        )
        self._cell = i, j
        self.done = i < 0 or (leaves_out and (j < 0 or abs(i - j) > self.radius))


def align_dtw(
    problem: PairwiseProblem,
    window: int = elastic.NO_WINDOW,
    ground: str = "euclidean",
    missing: bool = False,
    **parameters: Any,
) -> dict[str, Any]:
    """Return the cells of an optimal path; their costs, added in order, are the distance."""
    if missing:
        raise ValueError("align needs missing='error' for dtw; got 'arow'")
    if ground in ELASTIC_GROUNDS:
        return align_elastic(problem, window, ground=ground, **parameters)
    x, y = same_precision(problem.x, problem.y)
    cells = alignment.GroundRows(x, y, ground == "sqeuclidean")
    table = _traced(WarpingTable(cells, window, x.dtype))
    return {
        "value": float(table.value),
        "pairs": table.path,
        "costs": table.costs().astype(x.dtype),
    }


def align_elastic(
    problem: PairwiseProblem,
    window: int = elastic.NO_WINDOW,
    **parameters: Any,
) -> dict[str, Any]:
    """Return the cells of an optimal path or the vectors left out, and the cost of each step."""
    x, y = problem.x, problem.y
    if problem.distance == "msm" and parameters.get("independent", True) and x.dim > 1:
        raise ValueError(
            f"align needs independent=False for 'msm' of {x.dim} channels; independent channels "
            "have a path each"
        )
    compiled = find_distance(problem.distance).prepare(x, y, False, window=window, **parameters)
    cells = alignment.TableRows(compiled, len(x.values), len(y.values))
    table = _traced(WarpingTable(cells, window))
    path, costs = table.path, table.costs()
    if problem.distance == "lcss":
        path, costs = _without_unmatched_pairs(path, costs)
    result = {"value": problem.rounded(table.value), "pairs": path, "costs": costs}
    if cells.leaves_out:
        codes = np.where(costs > 0, alignment.REPLACE, alignment.EQUAL).astype(np.int8)
        codes[path[:, 1] < 0], codes[path[:, 0] < 0] = alignment.DELETE, alignment.INSERT
        result["operations"] = operations_of(codes)[1]
    elif problem.distance == "frechet":
        result["maximum"] = int(costs.argmax())
    return result


def _without_unmatched_pairs(path: np.ndarray, costs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Leave out both vectors where lcss steps along the diagonal without a match.

    It does so where the window admits no other step.
    """
    unmatched = (costs == 0) & (path >= 0).all(axis=1)
    steps = np.repeat(np.arange(len(path)), 1 + unmatched)
    path, first = path[steps], np.flatnonzero(np.diff(steps) == 0)
    path[first, 1] = path[first + 1, 0] = -1
    return path, costs[steps]


def align_slopes(problem: PairwiseProblem, window: int = elastic.NO_WINDOW) -> dict[str, Any]:
    """Return the path of the slopes, by the vectors in their middle."""
    x, y = (derivatives(objects)[0] for objects in (problem.x, problem.y))
    table = _traced(WarpingTable(alignment.GroundRows(x, y, True), window))
    middles = [int(len(objects.values) > 1) for objects in (problem.x, problem.y)]
    return {
        "value": problem.rounded(table.value),
        "pairs": table.path + middles,
        "costs": table.costs(),
    }


def _traced(table: WarpingTable) -> WarpingTable:
    """Trace the path back through the table, and return the table."""
    usual = TABLE_BYTES + 200 * (table.rows + table.columns)
    trace(table, plan(table, usual), 0, table.rows, table.start())
    return table
