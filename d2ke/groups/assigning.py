# SPDX-License-Identifier: BSD-3-Clause
"""New rows of a table whose groups are known: which group each joins, or that it founds one.

All candidates of the old rows are known, with their log-odds. Those of the new rows are searched as
`dedupe` searches, and get log-odds by the weights that were learned. Linkage goes on from the
groups that there are. The new rows are put into an order of their own first, that of their entries,
so that the result does not depend on the order in which they came.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from d2ke.groups.candidates import ComparedColumn, ComparedTables, distinct_rows, read_later
from d2ke.groups.pair_weights import (
    Frequencies,
    Multiplicities,
    PairWeights,
    later_odds,
    levels_of,
    near_counts,
)
from d2ke.groups.record_groups import grown, memberships
from d2ke.objects.container import Objects
from d2ke.objects.copies import Copies, no_copies
from d2ke.objects.records import Column


@dataclass(frozen=True, eq=False)
class Basis:
    """What new rows are compared with: the distinct rows, their candidates, and what was learned.

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
    searched : ndarray of bool
        The columns that bring candidates.
    rows : Copies
        Maps all rows to the distinct ones, which need not be in the order of the rows.
    pairs, odds, levels : ndarray
        The candidates, pairs of distinct rows; their log-odds to match, and the level of each
        column's distance.
    frequencies : Frequencies
        What else was learned, beside the weights.
    """

    columns: Mapping[str, ComparedColumn]
    names: tuple[str, ...] | None
    clean: tuple[str, ...]
    linkage: str
    searched: np.ndarray
    rows: Copies
    pairs: np.ndarray
    odds: np.ndarray
    levels: np.ndarray
    frequencies: Frequencies


class Found(NamedTuple):
    """The groups of the distinct rows, old and new, and how well the new rows go with them.

    `own`, `best` and `rivals` are of all new rows: as `memberships` returns them. `bridges` are
    pairs of old groups.
    """

    labels: np.ndarray
    basis: Basis
    bridges: np.ndarray
    own: np.ndarray
    best: np.ndarray
    rivals: np.ndarray


def assign_rows(
    basis: Basis,
    held: np.ndarray,
    weights: PairWeights,
    cut: float,
    X: Any,
    n_threads: int,
    progress: bool | None,
) -> Found:
    """Return the groups of new rows beside those of the old distinct rows, `held`."""
    new = read_later("new_rows", X, basis.columns, basis.names, basis.clean)
    columns, rows = _joined(basis, new)
    pairs, distances = _candidates(basis, columns, rows, n_threads, progress)
    # Rows that the old candidates put near each other, counting copies that came now.
    counted = Multiplicities.of(basis.pairs, rows, rows)
    near = near_counts(basis.levels, basis.odds, counted, basis.frequencies)
    counted = Multiplicities.of(pairs, rows, rows)
    odds = later_odds(weights, basis.frequencies, distances, counted, near)
    together = replace(
        basis,
        columns=columns,
        rows=rows,
        pairs=np.concatenate([basis.pairs, pairs]),
        odds=np.concatenate([basis.odds, odds]),
        levels=np.concatenate([basis.levels, levels_of(distances)], axis=1),
    )
    (i, j), counts, rule = together.pairs.T, rows.counts, (together.odds, cut, basis.linkage)
    labels, bridges = grown(held, basis.rows.counts, counts, i, j, *rule)
    counted = Multiplicities.of(together.pairs, rows, rows)
    asked = rows.numbers[len(basis.rows.numbers) :]
    return Found(labels, together, bridges, *memberships(asked, labels, counted, counts, *rule))


def _joined(basis: Basis, new: Mapping[str, Column]) -> tuple[dict[str, ComparedColumn], Copies]:
    """Add the new rows that are equal to none before; these follow in the order of their entries.

    Numbers of all rows point to the distinct ones.
    """
    columns = {name: column.append(new[name]) for name, column in basis.columns.items()}
    copies = distinct_rows([column.x for column in columns.values()])
    n_old = len(basis.rows.firsts)
    places = copies.firsts[n_old:]
    keys = zip(*(_keys(column.x.take(places)) for column in columns.values()), strict=True)
    order = [place for _, place in sorted(zip(keys, range(len(places)), strict=True))]
    ranks = np.concatenate([np.arange(n_old), n_old + np.argsort(order)]).astype(np.int64)
    kept = np.concatenate([np.arange(n_old), places[order]]).astype(np.int64)
    before = len(basis.rows.numbers)
    numbers = np.concatenate([basis.rows.numbers, ranks[copies.numbers[n_old:]]])
    firsts = np.concatenate([basis.rows.firsts, kept[n_old:] - n_old + before])
    rows = Copies(firsts, numbers, np.bincount(numbers, minlength=len(firsts)))
    return {name: column.take(kept, kept) for name, column in columns.items()}, rows


def _keys(column: Column) -> list[tuple[bool, bytes]]:
    """Return by what the rows of a column are put into order; missing entries come last."""
    keys, objects = [(True, b"")] * len(column), column.values
    # Letters are numbered in their order, and bytes of big-endian numbers are compared as these.
    for row, i in zip(column.rows.tolist(), range(len(column.rows)), strict=True):
        keys[row] = False, _bytes(objects, objects.offsets[i], objects.offsets[i + 1])
    return keys


def _bytes(objects: Objects, start: int, stop: int) -> bytes:
    arrays = [array[start:stop] for array in (objects.values, objects.weights) if array is not None]
    return b"".join(array.astype(array.dtype.newbyteorder(">")).tobytes() for array in arrays)


def _candidates(
    basis: Basis,
    columns: Mapping[str, ComparedColumn],
    rows: Copies,
    n_threads: int,
    progress: bool | None,
) -> tuple[np.ndarray, np.ndarray]:
    """Return the candidates of the new distinct rows, and their distances.

    Also the pairs of old rows with themselves that came with their first copy.
    """
    n, n_old = len(rows.firsts), len(basis.rows.firsts)
    copied = (basis.rows.counts == 1) & (rows.counts[:n_old] > 1)
    asked = np.concatenate([np.flatnonzero(copied), np.arange(n_old, n)])
    if not len(asked):
        return np.empty((0, 2), np.int64), np.empty((len(columns), 0))
    compared = {name: column.beside_all(asked) for name, column in columns.items()}
    tables = ComparedTables(compared, no_copies(len(asked)), no_copies(n), n_threads)
    found, distances = tables.candidates(basis.searched, progress)
    i, j = asked[found[:, 0]], found[:, 1]
    kept = np.where(i == j, rows.counts[i] > 1, (j < i) & (i >= n_old))
    return np.column_stack([j, i])[kept], distances[:, kept]
