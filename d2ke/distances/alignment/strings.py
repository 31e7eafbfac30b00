# SPDX-License-Identifier: BSD-3-Clause
"""The edit operations of Levenshtein's distance."""

from __future__ import annotations

from typing import Any

import numpy as np

from d2ke._ext import alignment, strings
from d2ke.distances.alignment.record import operations_of
from d2ke.distances.alignment.tables import TABLE_BYTES, plan, trace
from d2ke.distances.problem import PairwiseProblem
from d2ke.distances.string_rows import common_letters


class EditTable:
    """The table of two strings that are not empty; see `d2ke.distances.alignment.tables.Table`.

    A row is a letter of x. A state has two bits for each letter of y: whether a cell is one more,
    or one less, than the cell before it. Only letters of y up to the path are computed again.
    """

    def __init__(self, x: np.ndarray, y: np.ndarray, n_letters: int, free: bool):
        self.rows, self.row, self.column = len(x), len(x), len(y)
        self.row_bytes = self.state_bytes = 16 * self._words()
        self.done = False
        self._x, self._y, self._free = x, y, free
        self._masks = np.zeros(n_letters, np.uint64)
        self._operations = np.empty(len(x) + len(y), np.int8)
        self._at = len(self._operations)

    def _words(self) -> int:
        return -(-self.column // 64)

    @property
    def operations(self) -> np.ndarray:
        """The operations traced back so far, in order."""
        return self._operations[self._at :]

    def start(self) -> np.ndarray:
        """Return the state before the first row."""
        return np.tile(np.array([~np.uint64(0), np.uint64(0)]), (self._words(), 1))

    def _compute(self, state: np.ndarray, begin: int, end: int, table: Any) -> np.ndarray:
        state = state[: self._words()].copy()
        x, y = self._x[begin:end], self._y[: self.column]
        alignment.edit_rows(x, y, self._masks, state, self._free, table)
        return state

    def advance(self, state: np.ndarray, begin: int, end: int) -> np.ndarray:
        """Return the state after some rows."""
        return self._compute(state, begin, end, None)

    def back(self, state: np.ndarray, begin: int, end: int) -> None:
        """Follow the operations through some rows."""
        table = np.empty((self._words(), end - begin + 1, 2), np.uint64)
        self._compute(state, begin, end, table)
        x = self._x[begin:end]
        row, self.column, self._at = alignment.edit_path(
            x, self._y, table, self.column, self._operations, self._at
        )
        self.row = begin + row
        self.done = self.column == 0

    def nearest_row(self) -> int:
        """Return the first row where all of y has its least score."""
        score = self.column
        arguments = self._x, self._y, self._masks, self.start(), self._free, None, score
        return alignment.edit_rows(*arguments)[2]


def align_levenshtein(problem: PairwiseProblem, mode: int = strings.GLOBAL) -> dict[str, Any]:
    """Return the fewest operations that turn x, or its nearest part, into y."""
    n, m = len(problem.x.values), len(problem.y.values)
    usual = TABLE_BYTES + 8 * m
    x, _, y, _, n_letters = common_letters(problem.x, problem.y)
    x, y = x[:n], y[:m]
    # d(part, y) >= |part| - m, and d(empty, y) = m: the nearest part has at most 2 m letters.
    if mode == strings.PREFIX:
        x = x[: 2 * m]
    free = mode == strings.INFIX
    begin, end, codes = 0, len(x), np.empty(0, np.int8)
    if mode != strings.GLOBAL:
        end = EditTable(x, y, n_letters, free).nearest_row() if len(x) and m else 0
    if free:
        begin = max(0, end - 2 * m)
    row, column = end, m
    if end > begin and m:
        table = EditTable(x[begin:end], y, n_letters, free)
        trace(table, plan(table, usual), 0, table.rows, table.start())
        codes, row, column = table.operations, begin + table.row, table.column
    # The path reached an edge of the table: deletions or insertions precede it.
    deleted = 0 if free else row
    left = np.repeat(np.array([alignment.DELETE, alignment.INSERT], np.int8), [deleted, column])
    codes = np.concatenate([left, codes])
    pairs, operations = operations_of(codes, row - deleted)
    costs = (codes != alignment.EQUAL).astype(np.float64)
    value = float(np.count_nonzero(costs))
    return {"value": value, "pairs": pairs, "costs": costs, "operations": operations}
