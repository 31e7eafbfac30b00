# SPDX-License-Identifier: BSD-3-Clause
"""Candidates: pairs of records that are near in at least one column.

The distances of a column are divided by its radius. A column in which most rows have many near ones
(a city, a year) is compared, but not searched.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from d2ke._base.checks import not_negative
from d2ke._base.errors import ArgumentError, ArgumentTypeError
from d2ke._base.text import listed
from d2ke.distances.pairs import check_pairs, check_same_both_ways
from d2ke.distances.problem import ArgumentNames, PairBlock, PairwiseProblem
from d2ke.distances.registry import split_parameters, usual_distance
from d2ke.groups.cleaning import check_cleaning, clean_column
from d2ke.neighbors.lists import check_graph
from d2ke.neighbors.runs import SearchOptions, find_within
from d2ke.objects.compatibility import in_order, matched
from d2ke.objects.container import Objects, take
from d2ke.objects.copies import Copies, find_copies
from d2ke.objects.record_packing import as_text, pack_records
from d2ke.objects.records import Column, Records, join
from d2ke.objects.tables import is_table

_BLOCK = 256  # pairs of strings whose rows are compared with all of their columns at once
EQUAL = 1e-30  # in the place of a radius of 0: distances are divided by it


@dataclass(frozen=True, eq=False)
class ComparedColumn:
    """A column of two tables, or of one (then y is x), and the radius of a match.

    `pairs` has the entries that are not missing.
    """

    x: Column
    y: Column
    pairs: PairwiseProblem
    radius: float

    @classmethod
    def from_column(cls, column: Column, radius: float, distance: Any, params: Any) -> Self:
        """Return the comparison of a column's rows with each other."""
        return cls(column, column, check_pairs(column.values, None, distance, params), radius)

    def take(self, rows: np.ndarray, y_rows: np.ndarray) -> ComparedColumn:
        """Return the column of some rows of x and of y."""
        x = self.x.take(rows)
        y = x if self.y is self.x else self.y.take(y_rows)
        return replace(self, x=x, y=y, pairs=replace(self.pairs, x=x.values, y=y.values))

    def append(self, new: Column) -> ComparedColumn:
        """Return the column of one table with later rows at its end."""
        pairs = self.pairs
        return self.from_column(join([self.x, new]), self.radius, pairs.distance, pairs.params)

    def beside_all(self, rows: np.ndarray) -> ComparedColumn:
        """Return the comparison of some rows of one table with all of its rows."""
        x = self.x.take(rows)
        return replace(self, x=x, pairs=replace(self.pairs, x=x.values, same=False))

    def check_later(self, new: Column, name: str) -> Column:
        """Return a column of new rows with its channels in order; refuse other kinds of entries."""
        if new.values is None:
            return new
        table: Objects = self.x.values
        kinds = table.kind, new.kind
        if table.kind != new.kind and kinds != (table.base, new.values.base):
            how = f"pack(..., kind={table.kind!r})"  # an added kind, which reads objects
            raise ArgumentTypeError(
                name, f"holds {new.kind}, but the table has {table.kind}: {how}"
            )
        names = ArgumentNames("assign", "the table", name)
        values = matched(table, new.values, names.x, names.y)
        check_pairs(table, values, self.pairs.distance, self.pairs.params, names)
        if not table.has_letters and values.dtype != table.dtype:
            raise ArgumentTypeError(name, f"is {values.dtype}, but the table has {table.dtype}")
        return replace(new, values=values)

    def near(self, n_threads: int, progress: bool | None) -> tuple[np.ndarray, np.ndarray]:
        """Return the numbers and the distances of the pairs within the radius.

        The number of a pair is row * m + column; of one table only row <= column counts.
        """
        pairs, same = self.pairs, self.y is self.x
        if not len(self.x.rows):
            return np.empty(0, np.int64), np.empty(0)
        options = SearchOptions(include_self=same, n_threads=n_threads, progress=progress)
        graph, _ = find_within(pairs, same, self.radius, options)
        rows = np.repeat(self.x.rows, np.diff(graph.indptr))
        columns = self.y.rows[graph.indices]
        once = rows <= columns if same else slice(None)
        return rows[once] * len(self.y) + columns[once], graph.data[once]

    def distances(
        self, i: np.ndarray, j: np.ndarray, n_threads: int, order: np.ndarray | None = None
    ) -> np.ndarray:
        """Return the distances of some pairs over the radius; NaN where an entry is missing.

        Rows next to each other in `order` are likely to share columns.
        """
        result = np.full(len(i), np.nan)
        there = np.flatnonzero(~(self.x.missing[i] | self.y.missing[j]))
        if order is not None:
            there = there[np.lexsort((i[there], order[i[there]]))]
        rows = np.searchsorted(self.x.rows, i[there])
        columns = np.searchsorted(self.y.rows, j[there])
        x, y = self.pairs.x, self.pairs.y
        cheap = isinstance(x, Objects) and x.has_letters
        starts = (
            np.arange(0, len(there), _BLOCK) if cheap else np.unique(rows, return_index=True)[1]
        )
        for chunk in np.split(np.arange(len(there)), starts[1:]) if len(there) else ():
            (top, row), (left, column) = (
                np.unique(side[chunk], return_inverse=True) for side in (rows, columns)
            )
            block = PairBlock(take(x, top), take(y, left))
            D = self.pairs.distances(block, 1 if cheap else n_threads)
            result[there[chunk]] = D[row, column] / self.radius
        return result


@dataclass(frozen=True, eq=False)
class ComparedTables:
    """The compared columns of one or two tables of n and m rows.

    Columns have the distinct rows; `x` and `y` map all rows to these. `names` has all columns of
    the table of x, None for a list of objects.
    """

    columns: Mapping[str, ComparedColumn]
    x: Copies
    y: Copies
    n_threads: int
    names: tuple[str, ...] | None = None

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of all rows, equal ones included."""
        return len(self.x.numbers), len(self.y.numbers)

    def distances(self, i: np.ndarray, j: np.ndarray) -> np.ndarray:
        """Return the distances of some pairs of distinct rows, a row for each column."""
        return np.stack(
            [column.distances(i, j, self.n_threads) for column in self.columns.values()]
        )

    @property
    def same(self) -> bool:
        """Whether there is one table."""
        return self.x is self.y

    def sample(self, seed: int) -> tuple[np.ndarray, int]:
        """Return the distances of random pairs, of all where they are few, and how many all are."""
        n, m = self.shape
        total = n * (n - 1) // 2 if self.same else n * m
        size = 50_000  # of the sample
        if total <= size:
            i, j = np.triu_indices(n, 1) if self.same else np.divmod(np.arange(total), m)
        else:
            rng = np.random.default_rng(seed)
            i, j = rng.integers(0, n, size), rng.integers(0, m - self.same, size)
            if self.same:
                j += j >= i
                i, j = np.minimum(i, j), np.maximum(i, j)
        return self.distances(self.x.numbers[i], self.y.numbers[j]), total

    def searched(self, sample: np.ndarray, total: int) -> np.ndarray:
        """Return for each column whether its near pairs are few enough to be searched for."""
        near = np.nan_to_num(sample, nan=np.inf) <= 1
        pairs = near.mean(axis=1) * total if near.size else np.zeros(len(near))
        # At most about 50 near pairs a row.
        return (pairs <= 50 * max(self.shape)) | (pairs == pairs.min())

    def candidates(
        self, searched: np.ndarray, progress: bool | None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the pairs within the radius of a searched column, sorted, and their distances.

        They are of distinct rows; a row that occurs twice makes a pair with itself.
        """
        n, m = len(self.x.firsts), len(self.y.firsts)
        near = {
            name: column.near(self.n_threads, progress)
            for (name, column), is_searched in zip(self.columns.items(), searched, strict=True)
            if is_searched
        }
        numbers = np.unique(np.concatenate([pairs for pairs, _ in near.values()]))
        if self.same:
            alone = np.flatnonzero(self.x.counts == 1) * (m + 1)
            numbers = np.setdiff1d(numbers, alone, assume_unique=True)
        check_graph(len(numbers))
        i, j = np.divmod(numbers, m)
        links = sparse.coo_array((np.ones(len(i), np.int8), (i, n + j)), shape=(n + m, n + m))
        order = connected_components(links, directed=False)[1]
        distances = np.empty((len(self.columns), len(i)))
        for row, (name, column) in zip(distances, self.columns.items(), strict=True):
            pairs, values = near.get(name, (np.empty(0, np.int64), np.empty(0)))
            by_number = np.argsort(pairs)
            pairs, values = pairs[by_number], values[by_number]
            is_near = np.isin(numbers, pairs, assume_unique=True)
            row[is_near] = values[np.searchsorted(pairs, numbers[is_near])] / column.radius
            row[~is_near] = column.distances(i[~is_near], j[~is_near], self.n_threads, order)
        return np.column_stack([i, j]), distances


def compare_tables(
    names: ArgumentNames, X: Any, Y: Any, radius: Any, distance: Any, clean: Any, n_threads: int
) -> ComparedTables:
    """Check the tables, the columns that have a radius, and their distances."""
    steps = check_cleaning(clean)
    has_columns = is_table(X)
    if Y is not None and is_table(Y) != has_columns:
        both = (names.x, names.y) if has_columns else (names.y, names.x)
        raise ArgumentTypeError(both[1], f"must be a table with columns, as {both[0]} is")
    if isinstance(radius, Mapping) and not has_columns:
        raise ArgumentTypeError(
            "radius", f"must be a number, as {names.x} is a list of objects, got {radius!r}"
        )
    x = _table(X, names.x)
    y = x if Y is None else _table(Y, names.y)
    by_column = distance if isinstance(distance, Mapping) else {}
    radii = radius if isinstance(radius, Mapping) else dict.fromkeys(by_column or x, radius)
    if not radii:
        raise ArgumentError("radius", "must have a radius of at least one column, got {}")
    for name in by_column:
        if name not in radii:
            raise ArgumentError("radius", f"has no radius of the column {name!r}")
    columns = {}
    for name, value in radii.items():
        for table, argument in ((x, names.x), (y, names.y)):
            if name not in table.columns:
                problem = f"names the column {name!r}, but {argument} has {listed(table)}"
                raise ArgumentError("radius", problem)
        value = not_negative("radius" if value is radius else f"radius[{name!r}]", value)
        called = names
        if has_columns:
            called = names._replace(x=f"{names.x}[{name!r}]", y=f"{names.y}[{name!r}]")
        by = by_column.get(name) if isinstance(distance, Mapping) else distance
        columns[name] = _compare(x[name], y[name], by, value or EQUAL, called, steps)
    x_rows = distinct_rows([column.x for column in columns.values()])
    y_rows = x_rows if Y is None else distinct_rows([column.y for column in columns.values()])
    columns = {name: column.take(x_rows.firsts, y_rows.firsts) for name, column in columns.items()}
    return ComparedTables(columns, x_rows, y_rows, n_threads, tuple(x) if has_columns else None)


def read_later(
    name: str,
    X: Any,
    compared: Mapping[str, ComparedColumn],
    all_names: Sequence[str] | None,
    clean: Iterable[str],
) -> dict[str, Column]:
    """Check later rows, and return their compared columns, cleaned.

    `all_names` has the columns of the table that they go on, None for a list of objects.
    """
    if is_table(X) != (all_names is not None):
        needed = "a list of objects" if all_names is None else "a table with columns"
        raise ArgumentTypeError(name, f"must be {needed}, as dedupe got one")
    table, steps = _table(X, name), frozenset(clean)
    for column in table:
        if all_names is not None and column not in all_names:
            raise ArgumentError(
                name, f"has the column {column!r}, but the table has {listed(all_names)}"
            )
    columns = {}
    for column, before in compared.items():
        if column not in table.columns:
            raise ArgumentError(
                name, f"lacks the column {column!r}, which is compared; it has {listed(table)}"
            )
        called = name if all_names is None else f"{name}[{column!r}]"
        new = _cleaned(table[column], called, steps)
        columns[column] = before.check_later(new, called)
    return columns


def distinct_rows(columns: list[Column]) -> Copies:
    """Find rows with equal entries; a row without any entry is equal to none."""
    empty = np.all([column.missing for column in columns], axis=0)
    columns = [*columns, Column(np.flatnonzero(empty).astype(np.float64), ~empty)]
    return find_copies(Records({str(i): column for i, column in enumerate(columns)}))


def _table(X: Any, name: str) -> Records:
    column = "item"  # of a list of objects
    try:
        records = pack_records(X if is_table(X) else {column: X}, name=name)
    except (ArgumentError, ArgumentTypeError) as error:
        argument = error.argument.removesuffix(f"[{column!r}]")
        raise type(error)(argument, error.problem, error.index) from None
    if not len(records):
        raise ArgumentError(name, "is empty: at least one record is needed")
    return records


def _compare(
    x: Column, y: Column, distance: Any, radius: float, names: ArgumentNames, steps: frozenset[str]
) -> ComparedColumn:
    same, uncleaned = y is x, (x, y)
    x = _cleaned(x, names.x, steps)
    y = x if same else _cleaned(y, names.y, steps)
    for column, before, called in zip((x, y), uncleaned, (names.x, names.y), strict=True):
        if column.kind == "missing":
            after = " after cleaning" if before.kind != "missing" else ""
            raise ArgumentTypeError(called, f"holds missing entries only{after}")
    name, params = split_parameters(distance, "distance")
    if name == "equal":
        name, radius = None, EQUAL
    name = usual_distance(x.kind) if name is None else name
    if not same:
        y = replace(y, values=in_order(y.values, x.values.channel_names, names.y, names.x))
    pairs = check_pairs(x.values, None if same else y.values, name, params, names)
    if same:
        check_same_both_ways(pairs)
    return ComparedColumn(x, y, pairs, pairs.rounded(radius) or radius)


def _cleaned(column: Column, name: str, steps: frozenset[str]) -> Column:
    """Return a column as it is compared: numbers and categories as text, text cleaned."""
    column = clean_column(as_text(column, name), steps)
    if not (column.values is None or isinstance(column.values, Objects)):
        raise ArgumentTypeError(
            name,
            f"holds {column.kind}, but strings, series and sets are compared; give numbers and "
            "categories as text",
        )
    return column
