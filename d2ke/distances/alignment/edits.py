# SPDX-License-Identifier: BSD-3-Clause
"""Alignments by common letters, and by the edit distances beside Levenshtein's."""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from d2ke._ext import alignment, edits, strings
from d2ke.distances.alignment.record import operations_of
from d2ke.distances.alignment.tables import TABLE_BYTES, plan, trace
from d2ke.distances.letter_costs import Costs, checked_costs, prepare_weighted
from d2ke.distances.problem import PairBlock, PairwiseProblem
from d2ke.distances.string_rows import common_letters


class Letters(NamedTuple):
    """The letters of both strings by their common alphabet; without any there is a 0."""

    x: np.ndarray
    y: np.ndarray
    n: int
    m: int


class LetterTable:
    """The table of an edit distance; see `d2ke.distances.alignment.tables.Table`.

    A state is its last `state_rows` rows. Only letters of y up to the path are computed again.
    """

    def __init__(
        self, compiled: Any, letters: Letters, state_rows: int, dtype: Any, **options: Any
    ):
        self.letters, self.rows = letters, letters.n
        self.cells = alignment.TableRows(compiled, letters.n, letters.m)
        self.row_bytes = letters.m // 2 + 1
        self.state_bytes = state_rows * (letters.m + 1) * np.dtype(dtype).itemsize
        self.done = False
        self.value = 0.0
        self._state = state_rows, dtype
        self._cell = letters.n, letters.m
        self._run = 0
        self._codes = np.empty(letters.n + letters.m, np.int8)
        self._at = len(self._codes)
        self._follow = self._follow_crossed
        if options:
            self._follow = partial(self._follow_runs, **options)

    @property
    def operations(self) -> tuple[np.ndarray, int]:
        """All operations, from the first one, and the letter of x that they begin with."""
        row, column = self._cell
        left = np.full(column, alignment.INSERT, np.int8)
        return np.concatenate([left, self._codes[self._at :]]), row

    def start(self) -> np.ndarray:
        """Return the state before the first row, which the kernel fills."""
        rows, dtype = self._state
        return np.empty((rows, self._cell[1] + 1), dtype)

    def _compute(self, state: np.ndarray, begin: int, end: int, moves: Any = None) -> np.ndarray:
        columns = self._cell[1] + 1
        state = state[:, :columns].copy()
        self.value, self.nearest = self.cells.fill(0, begin, end, columns, state, moves)
        return state

    def advance(self, state: np.ndarray, begin: int, end: int) -> np.ndarray:
        """Return the state after some rows."""
        return self._compute(state, begin, end)

    def nearest_row(self) -> int:
        """Return the first row where all of y has its least score, and end the table there."""
        self._compute(self.start(), 0, self.rows)
        self.rows = self.nearest
        self._cell = self.rows, self.letters.m
        return self.rows

    def back(self, state: np.ndarray, begin: int, end: int) -> None:
        """Follow the operations through some rows."""
        end = min(end, self._cell[0])
        if begin < end:
            moves = np.empty((end - begin, self._cell[1] // 2 + 1), np.uint8)
            self._compute(state, begin, end, moves)
            self._follow(moves, begin)

    def _follow_crossed(self, moves: np.ndarray, begin: int) -> None:
        x, y, *_ = self.letters
        i, j, self._at = alignment.crossed_path(
            moves, begin, *self._cell, x, y, self._codes, self._at
        )
        self._cell = i, j

    def _follow_runs(self, moves: np.ndarray, begin: int, free: bool) -> None:
        x, y, *_ = self.letters
        i, j, self._run, self._at = alignment.weighted_path(
            moves, begin, *self._cell, self._run, free, x, y, self._codes, self._at
        )
        self._cell = i, j
        self.done = free and j == 0


def align_weighted(
    problem: PairwiseProblem,
    costs: Costs | None = None,
    mode: int = strings.GLOBAL,
) -> dict[str, Any]:
    """Return the cheapest operations that turn x, or its nearest part, into y."""
    if mode == strings.LOCAL:
        raise ValueError("align takes mode='global', 'prefix' or 'infix'; got 'local'")
    costs = costs or checked_costs()["costs"]
    letters = _letters(problem)
    compiled = prepare_weighted(problem.x, problem.y, False, costs, mode)
    table = LetterTable(compiled, letters, 2, np.float64, free=mode == strings.INFIX)
    if mode != strings.GLOBAL:
        table.nearest_row()
    codes, start = _traced(table)
    pairs, operations = operations_of(codes, start)
    classes = [
        np.append(costs.classes(o.alphabet, o.letters)[o.values], 0) for o in (problem.x, problem.y)
    ]
    prices = _prices(costs, codes, *(of[at] for of, at in zip(classes, pairs.T, strict=True)))
    # Added in order, as in the table, so that the sum has the bits of the distance.
    value = float(np.cumsum(prices)[-1]) if len(prices) else 0.0
    return {"value": value, "pairs": pairs, "costs": prices, "operations": operations}


def _prices(costs: Costs, codes: np.ndarray, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return the costs of operations; x and y are the classes of their letters."""
    later = np.zeros(len(codes), np.int64)
    later[1:] = codes[1:] == codes[:-1]
    swaps = np.flatnonzero(codes == alignment.TRANSPOSE)
    prices = np.select(
        [codes == alignment.EQUAL, codes == alignment.REPLACE, codes == alignment.DELETE],
        [costs.single[0, x], costs.substitution[x, y], costs.single[1 + later, x]],
        costs.single[3 + later, y],
    )
    prices[swaps[::2]], prices[swaps[1::2]] = costs.transposition, 0.0  # of two letters each
    return prices


def align_indel(problem: PairwiseProblem) -> dict[str, Any]:
    """Return the fewest deletions and insertions: a substitution costs 3, more than both."""
    return align_weighted(problem, checked_costs(mismatch=3.0)["costs"])


def align_transpositions(problem: PairwiseProblem, osa: bool) -> dict[str, Any]:
    """Return the fewest operations, transpositions among them, each of two rows."""
    letters = _letters(problem)
    sides = letters.x, problem.x.offsets, letters.y, problem.y.offsets
    table = LetterTable(edits.transpositions(*sides, osa), letters, 3, np.int32)
    codes, start = _traced(table)
    pairs, operations = operations_of(codes, start)
    costs = (codes != alignment.EQUAL).astype(np.float64)
    costs[np.flatnonzero(codes == alignment.TRANSPOSE)[1::2]] = 0
    return {"value": float(costs.sum()), "pairs": pairs, "costs": costs, "operations": operations}


def align_hamming(problem: PairwiseProblem) -> dict[str, Any]:
    """Return which letters are replaced."""
    x, y, n, _ = _letters(problem)
    codes = np.where(x == y, alignment.EQUAL, alignment.REPLACE).astype(np.int8)[:n]
    pairs, operations = operations_of(codes)
    costs = (codes != alignment.EQUAL).astype(np.float64)
    return {"value": float(costs.sum()), "pairs": pairs, "costs": costs, "operations": operations}


def align_jaccard(problem: PairwiseProblem) -> dict[str, Any]:
    """Return the first position of each letter in x and in y; -1 where it is absent."""
    letters = _letters(problem)
    n_letters = int(max(letters.x.max(), letters.y.max())) + 1
    pairs = np.full((n_letters, 2), -1)
    for side, codes in enumerate((letters.x[: letters.n], letters.y[: letters.m])):
        pairs[codes[::-1], side] = np.arange(len(codes))[::-1]
    pairs = pairs[(pairs >= 0).any(axis=1)]
    absent = pairs[:, 0] < 0
    pairs = pairs[np.lexsort((np.where(absent, pairs[:, 1], pairs[:, 0]), absent))]
    costs = np.any(pairs < 0, axis=1).astype(np.float64)
    value = float(costs.sum() / len(costs)) if len(costs) else 0.0
    return {"value": value, "pairs": pairs, "costs": costs}


def align_bag(problem: PairwiseProblem) -> dict[str, Any]:
    """Return the first positions of each letter, and how much its shares in x and in y differ.

    Letters are sorted by the smaller of their two shares, the largest first.
    """
    letters = _letters(problem)
    both = np.unique(np.concatenate([letters.x[: letters.n], letters.y[: letters.m]]))
    pairs, shares = np.full((len(both), 2), -1), np.zeros((len(both), 2))
    for side, codes in enumerate((letters.x[: letters.n], letters.y[: letters.m])):
        members, first, counts = np.unique(codes, return_index=True, return_counts=True)
        rows = np.searchsorted(both, members)
        pairs[rows, side], shares[rows, side] = first, counts / max(len(codes), 1)
    order = np.argsort(-shares.min(axis=1), kind="stable")
    costs = np.abs(shares[order, 0] - shares[order, 1])
    value = float(problem.distances(PairBlock(problem.x, problem.y), 1)[0, 0])
    return {"value": value, "pairs": pairs[order], "costs": costs}


def _letters(problem: PairwiseProblem) -> Letters:
    x, _, y, *_ = common_letters(problem.x, problem.y)
    return Letters(x, y, len(problem.x.values), len(problem.y.values))


def _traced(table: LetterTable) -> tuple[np.ndarray, int]:
    """Trace the table back; return the operations and the letter of x where they begin."""
    usual = TABLE_BYTES + 8 * table.letters.m
    trace(table, plan(table, usual), 0, table.rows, table.start())
    return table.operations
