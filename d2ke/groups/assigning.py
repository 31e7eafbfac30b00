# SPDX-License-Identifier: BSD-3-Clause
"""How new rows of a table join groups that `dedupe` found before, or found their own.

The log-odds of all pairs of old rows that were candidates are stored. New rows are compared with
the old ones and with each other, as `dedupe` compares rows, and the learned weights give the
log-odds of these pairs. Linkage then continues from the old groups. New rows are sorted by their
entries first, so that the result does not depend on the order in which they came.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from d2ke.groups.candidates import ComparedColumn, ComparedTables, distinct_rows
from d2ke.groups.pair_weights import Frequencies
from d2ke.objects.copies import Copies, no_copies
from d2ke.objects.records import Column


@dataclass(frozen=True, eq=False)
class Basis:
    """The distinct rows of a table, their candidates, and the learned frequencies.

    Attributes
    ----------
    columns : mapping of str to ComparedColumn
        The compared columns of the distinct rows, with themselves.
    names : tuple of str, or None
        All columns of the table, None for a list of objects.
    clean : tuple of str
        The steps of cleaning.
    linkage : str
        As for `dedupe`.
    rows : Copies
        Maps all rows to the distinct ones, which need not be in the same order.
    pairs, odds, levels : ndarray
        The candidates, which are pairs of distinct rows; their log-odds of a match; and the level
        of each column's distance.
    frequencies : Frequencies
        How common near entries are.
    """

    columns: Mapping[str, ComparedColumn]
    names: tuple[str, ...] | None
    clean: tuple[str, ...]
    linkage: str
    rows: Copies
    pairs: np.ndarray
    odds: np.ndarray
    levels: np.ndarray
    frequencies: Frequencies


def join_rows(basis: Basis, new: Mapping[str, Column]) -> tuple[dict[str, ComparedColumn], Copies]:
    """Append new rows to the columns and to the map of rows.

    New rows that equal no earlier row follow in the order of their entries.
    """
    columns = {name: column.append(new[name]) for name, column in basis.columns.items()}
    copies = distinct_rows([column.x for column in columns.values()])
    n_old, n = len(basis.rows.firsts), len(basis.rows.numbers)
    first = copies.firsts[n_old:]
    keys = list(zip(*(_keys(column.x.take(first)) for column in columns.values()), strict=True))
    order = np.array(sorted(range(len(first)), key=keys.__getitem__), np.int64)
    rows, ranks = np.arange(n_old), n_old + np.argsort(order)
    distinct, ranks = np.append(rows, first[order]), np.append(rows, ranks)
    numbers = np.append(basis.rows.numbers, ranks[copies.numbers[n_old:]])
    firsts = np.append(basis.rows.firsts, first[order] - n_old + n)
    columns = {name: column.take(distinct, distinct) for name, column in columns.items()}
    return columns, Copies(firsts, numbers, np.bincount(numbers))


def _keys(column: Column) -> list[tuple[bool, bytes]]:
    """Return the sort keys of the rows of a column; missing entries come last."""
    keys, objects = [(True, b"")] * len(column), column.values
    # Letters are numbered in alphabetical order, and big-endian bytes sort as their numbers do.
    arrays = [
        array.astype(array.dtype.newbyteorder(">"))
        for array in (objects.values, objects.weights)
        if array is not None
    ]
    for row, (start, stop) in zip(column.rows.tolist(), pairwise(objects.offsets), strict=True):
        keys[row] = False, b"".join(array[start:stop].tobytes() for array in arrays)
    return keys


def later_candidates(
    basis: Basis,
    columns: Mapping[str, ComparedColumn],
    rows: Copies,
    n_threads: int,
    progress: bool | None,
) -> tuple[np.ndarray, np.ndarray]:
    """Return the candidates of the new distinct rows, and their distances.

    An old row whose first copy is among the new rows becomes a candidate with itself.
    """
    n, n_old = len(rows.firsts), len(basis.rows.firsts)
    copied = (basis.rows.counts == 1) & (rows.counts[:n_old] > 1)
    queries = np.append(np.flatnonzero(copied), np.arange(n_old, n))
    if not len(queries):
        return np.empty((0, 2), np.int64), np.empty((len(columns), 0))
    compared = {name: column.beside_all(queries) for name, column in columns.items()}
    tables = ComparedTables(compared, no_copies(len(queries)), no_copies(n), n_threads)
    pairs, distances = tables.candidates(basis.frequencies.searched, progress)
    i, j = queries[pairs[:, 0]], pairs[:, 1]
    is_new = np.where(i == j, rows.counts[i] > 1, (j < i) & (i >= n_old))
    return np.column_stack([j, i])[is_new], distances[:, is_new]
