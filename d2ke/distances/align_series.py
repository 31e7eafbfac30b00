# SPDX-License-Identifier: BSD-3-Clause
"""The optimal warping path of dynamic time warping."""

from __future__ import annotations

from typing import Any

import numpy as np

from d2ke._base.memory import require_memory
from d2ke._ext import alignment, elastic
from d2ke.distances.checkpoints import TABLE_BYTES, plan_within, trace
from d2ke.distances.problem import PairwiseProblem
from d2ke.distances.registry import same_precision


class WarpingTable:
    """DTW's table; see `checkpoints.Table`. A state is the part of a row that the next one reads.

    Only columns up to that of the path are computed again.
    """

    def __init__(self, x: np.ndarray, y: np.ndarray, window: int, squared: bool):
        self.rows, self.columns = len(x), len(y)
        self.ground = alignment.GroundRows(x, y, squared)
        self.radius = alignment.series_radius(window, self.rows, self.columns)
        width = min(2 * self.radius + 1, self.columns)
        self.row_bytes, self.state_bytes = (width + 3) // 4, width * x.dtype.itemsize
        self.done = False
        self.value = np.inf
        self._row = np.full(self.columns, np.inf, x.dtype)
        self._cell = self.rows - 1, self.columns - 1
        self._path = np.empty((self.rows + self.columns - 1, 2), np.int64)
        self._at = len(self._path)

    @property
    def path(self) -> np.ndarray:
        """The cells of the path, from the first one."""
        return self._path[self._at :].copy()

    def start(self) -> tuple[int, np.ndarray]:
        """Return the state before the first row: nothing."""
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
        alignment.series_rows(self.ground, self.radius, begin, end, columns, self._row)
        first = max(end - 1 - self.radius, 0)
        return first, self._row[first : min(end + self.radius, columns)].copy()

    def back(self, state: Any, begin: int, end: int) -> None:
        """Follow the path through some rows."""
        self._load(state, end)
        columns = self._cell[1] + 1
        table = np.empty((end - begin, (min(2 * self.radius + 1, columns) + 3) // 4), np.uint8)
        alignment.series_rows(self.ground, self.radius, begin, end, columns, self._row, table)
        if end == self.rows:
            self.value = self._row[-1]
        i, j, self._at = alignment.series_path(
            table, self.radius, begin, *self._cell, self._path, self._at
        )
        self._cell = i, j
        self.done = self._cell[0] < 0


def align_dtw(
    problem: PairwiseProblem,
    max_memory: int | None,
    window: int = elastic.NO_WINDOW,
    ground: str = "euclidean",
    missing: bool = False,
    **_: Any,
) -> dict[str, Any]:
    """Return the cells of an optimal path; their costs, added in order, are the distance."""
    if ground not in ("euclidean", "sqeuclidean"):
        raise ValueError(f"align needs ground='euclidean' or 'sqeuclidean' for dtw; got {ground!r}")
    if missing:
        raise ValueError("align needs missing='error' for dtw; got 'arow'")
    x, y = same_precision(problem.x, problem.y)
    sizes = {"n": len(x), "m": len(y), "d": x.shape[1]}
    needed = require_memory("align", "series", **sizes)
    usual = TABLE_BYTES + 200 * (len(x) + len(y))
    table = WarpingTable(x, y, window, ground == "sqeuclidean")
    plan = plan_within(table, max_memory, usual, needed - usual)
    trace(table, plan, 0, table.rows, table.start())
    costs = table.ground.costs(table.path).astype(x.dtype)
    return {"value": float(table.value), "pairs": table.path, "costs": costs}
