# SPDX-License-Identifier: BSD-3-Clause
"""Trace a dynamic program back through its table, of which few rows are in memory.

A table with all rows is too large. Going forward, we keep states at some rows; going back, we
compute the rows between two states again, by the same rule if they are still too many.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple, Protocol

TABLE_BYTES = 1 << 25  # for rows and states


class Table(Protocol):
    """A table, row by row.

    Attributes
    ----------
    rows : int
        How many it has.
    row_bytes, state_bytes : int
        What the way back needs of each row, and what it takes to resume at a row.
    done : bool
        Whether the way back has reached its end.
    """

    rows: int
    row_bytes: int
    state_bytes: int
    done: bool

    def start(self) -> Any:
        """Return the state before the first row."""

    def advance(self, state: Any, begin: int, end: int) -> Any:
        """Return the state after rows begin .. end."""

    def back(self, state: Any, begin: int, end: int) -> None:
        """Compute rows begin .. end as tracing back needs them, and go back to `begin`."""


class Plan(NamedTuple):
    """How many rows are in memory at a time, and how many states on each level."""

    rows: int
    states: int
    levels: int

    def bytes(self, table: Table) -> int:
        """Return the size in bytes."""
        return self.rows * table.row_bytes + self.states * self.levels * table.state_bytes


def plan(table: Table, memory: int) -> Plan:
    """Return the plan of fewest levels that fits into memory; each level computes the rows again.

    A plan is enough for rows * states^levels rows, and takes rows * row_bytes + states * levels *
    state_bytes. If none fits, the plan has two states on each level, the fewest.
    """
    if table.rows * table.row_bytes <= memory:
        return Plan(table.rows, 1, 0)
    rows = max(1, memory // 2 // table.row_bytes)
    for levels in range(1, 64):
        states = memory // 2 // (table.state_bytes * levels)
        if states < 2:
            break
        if rows * states**levels >= table.rows:
            while rows * (states - 1) ** levels >= table.rows:
                states -= 1
            left = memory - states * levels * table.state_bytes
            return Plan(max(1, left // table.row_bytes), states, levels)
    return Plan(rows, 2, (-(-table.rows // rows)).bit_length())


def trace(table: Table, plan: Plan, begin: int, end: int, state: Any) -> None:
    """Go back from row `end` to row `begin`, where `state` is."""
    if end - begin <= plan.rows:
        table.back(state, begin, end)
        return
    n_parts = min(plan.states, -(-(end - begin) // plan.rows))
    edges = [begin + k * (end - begin) // n_parts for k in range(n_parts + 1)]
    states = [state]
    for low, high in pairwise(edges[:-1]):
        states.append(table.advance(states[-1], low, high))
    for low, high in reversed(list(pairwise(edges))):
        if not table.done:
            trace(table, plan, low, high, states.pop())
