# SPDX-License-Identifier: BSD-3-Clause
"""Groups of records: the result of `dedupe`, how new rows join it, and its files."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from d2ke._base.checks import not_negative
from d2ke._base.keywords import hinted
from d2ke._base.threads import team_size
from d2ke.groups.assigning import Basis, join_rows, later_candidates
from d2ke.groups.candidates import ComparedColumn, read_later
from d2ke.groups.cleaning import check_cleaning
from d2ke.groups.pair_weights import (
    EDGES,
    N_NEAR,
    Frequencies,
    Multiplicities,
    PairWeights,
    later_odds,
    levels_of,
    near_counts,
)
from d2ke.groups.record_groups import Linkage, extend_groups, group_medoids, membership_odds
from d2ke.objects.copies import Copies
from d2ke.objects.records import Column


@dataclass(frozen=True, eq=False)
class Duplicates:
    """The result of `dedupe`.

    Attributes
    ----------
    labels : ndarray of int64, shape (n,)
        Groups 0, 1, ..., numbered by their first rows. A row without a duplicate is a group. Rows
        with equal entries in all compared columns, after cleaning, are in one group. Groups that
        `assign` added follow in the order of their entries.
    examples : ndarray of int64, shape (n_groups,)
        The medoid of each group: the row with the least sum of distances to the others.
    threshold : float
        The largest mean probability that two rows of a group do not match.
    pairs : ndarray of int64, shape (n_pairs, 2)
        Sorted pairs of different rows that are within the radius of at least one column, linked or
        not. Of rows with equal entries in all compared columns, only the first is here.
    distances : ndarray, shape (n_pairs,)
        The probability that each pair does not match.
    weights : PairWeights
        Evidence of the columns' distances: `evidence` by column and level, `edges` and `offset`.
    basis : object
        The compared columns of the rows and the learned frequencies, for `assign` and `save`.
    """

    labels: NDArray[np.int64]
    examples: NDArray[np.int64]
    threshold: float
    pairs: NDArray[np.int64]
    distances: NDArray[np.float64]
    weights: PairWeights
    basis: Basis

    @classmethod
    def of(
        cls, labels: NDArray[np.int64], threshold: float, weights: PairWeights, basis: Basis
    ) -> Duplicates:
        """Make the result of the groups of the distinct rows of a basis."""
        rows, (i, j), distances = basis.rows, basis.pairs.T, expit(-basis.odds)
        counted = Multiplicities.of(basis.pairs, rows)
        examples = rows.firsts[group_medoids(labels, counted, labels[i] == labels[j], distances)]
        apart = i != j
        pairs, distances = np.sort(rows.firsts[basis.pairs[apart]], axis=1), distances[apart]
        order = np.argsort(pairs @ [len(rows.numbers), 1])  # a basis has new rows last
        pairs, distances = pairs[order], distances[order]
        return cls(labels[rows.numbers], examples, threshold, pairs, distances, weights, basis)

    def __repr__(self) -> str:
        n, largest = len(self.examples), np.bincount(self.labels).max(initial=0)
        return (
            f"<{n} groups of {len(self.labels)} rows, the largest of {largest}; "
            f"threshold {self.threshold:.4g}>"
        )

    @hinted
    def assign(
        self, new_rows: Any, *, n_threads: int | None = None, progress: bool | None = None
    ) -> Assigned:
        """Put new rows into the groups of this table, or into new groups.

        The weights and frequencies that `dedupe` learned are used again, with its columns,
        distances, cleaning, threshold and linkage. New rows are compared with the old ones and with
        each other, within the radii. Their order does not matter. This result does not change.

        Parameters
        ----------
        new_rows : Records or what `pack_records` takes; or objects of one kind
            m rows with the compared columns, and no columns that the table did not have. Columns
            are matched by name. Entries may be missing, even all entries of a column.
        n_threads, progress
            As for `dedupe`.

        Returns
        -------
        Assigned

        Raises
        ------
        TypeError, ValueError
            Columns that are missing, or that the table did not have; entries that do not compare
            with those of the table; no rows.
        MemoryError, KeyboardInterrupt
            As `dedupe`.

        See Also
        --------
        Assigned : the result, from which the next rows go on.

        Examples
        --------
        >>> import d2ke
        >>> people = {"name": ["anna lee", "ana lee", "jon smith", "bo ek"],
        ...           "city": ["rome", "rome", "oslo", "bonn"]}
        >>> found = d2ke.dedupe(people, radius=1)
        >>> found.labels.tolist()
        [0, 0, 1, 2]
        >>> new = found.assign({"name": ["zoe park", "john smith"], "city": ["riga", "oslo"]})
        >>> new.labels.tolist()
        [3, 1]
        """
        basis, weights, n = self.basis, self.weights, len(self.labels)
        n_threads, linkage = team_size(n_threads), Linkage.of(basis.linkage, self.threshold)
        new = read_later("new_rows", new_rows, basis.columns, basis.names, basis.clean)
        columns, rows = join_rows(basis, new)
        pairs, distances = later_candidates(basis, columns, rows, n_threads, progress)
        # How many rows the old candidates put near each row, with the copies among the new rows.
        counted = Multiplicities.of(basis.pairs, rows)
        near = near_counts(basis.levels, basis.odds, counted, basis.frequencies)
        counted = Multiplicities.of(pairs, rows)
        odds = later_odds(weights, basis.frequencies, distances, counted, near)
        extended = replace(
            basis,
            columns=columns,
            rows=rows,
            pairs=np.concatenate([basis.pairs, pairs]),
            odds=np.concatenate([basis.odds, odds]),
            levels=np.concatenate([basis.levels, levels_of(distances)], axis=1),
        )
        before, old, counts = self.labels[basis.rows.firsts], basis.rows.counts, rows.counts
        odds = extended.odds
        labels, bridges = extend_groups(before, old, counts, extended.pairs, odds, linkage)
        counted, new_rows = Multiplicities.of(extended.pairs, rows), rows.numbers[n:]
        own, best, rivals = membership_odds(new_rows, labels, counted, counts, odds, linkage)
        probabilities = np.where(np.isnan(own), expit(-best), expit(own))
        rivals = np.where(best >= linkage.cut, rivals, -1)
        result = Duplicates.of(labels, self.threshold, weights, extended)
        return Assigned(result.labels[n:], probabilities, bridges, rivals, result)

    def save(self, file: str | os.PathLike[str] | BinaryIO) -> None:
        """Write the result to a file, which `load_duplicates` reads.

        The file holds the rows themselves: the entries of all compared columns, cleaned. Keep it as
        you keep the table. It holds no code.

        Parameters
        ----------
        file : path or binary file object
            Written as it is named; no suffix is added. A file of that name is replaced, when the
            new one is complete.

        Examples
        --------
        >>> import io
        >>> import d2ke
        >>> file = io.BytesIO()
        >>> d2ke.dedupe(["anna lee", "ana lee", "bo ek"], radius=1).save(file)
        >>> found = d2ke.load_duplicates(io.BytesIO(file.getvalue()))
        >>> found.assign(["bo ek"]).labels.tolist() == found.labels[2:].tolist()
        True
        """
        from d2ke.models.persistence import write_values

        basis, weights = self.basis, self.weights
        values = {
            **{name: getattr(basis, name) for name in _KEPT},
            **{name: getattr(basis.rows, name) for name in ("firsts", "numbers")},
            **vars(basis.frequencies),
            "columns": {
                name: [column.x.values, column.x.missing, column.radius, column.pairs.distance,
                       column.pairs.params]
                for name, column in basis.columns.items()
            },
            "labels": self.labels[basis.rows.firsts],
            "threshold": self.threshold,
            "evidence": weights.evidence,
            "offset": weights.offset,
        }  # fmt: skip
        distances = [column.pairs.distance for column in basis.columns.values()]
        write_values(file, "duplicates", values, distances)


@dataclass(frozen=True, eq=False)
class Assigned:
    """The result of `Duplicates.assign`: the groups of m new rows.

    Attributes
    ----------
    labels : ndarray of int64, shape (m,)
        The group of each new row. New groups have the numbers after the old ones, in the order of
        their entries; new rows without any entry come last.
    probabilities : ndarray, shape (m,)
        The probability that each row matches its group; for a row that is alone in its group, that
        it matches no other group. Linkage compares them with the threshold: they belong to the
        mean, least or largest log-odds.
    bridges : ndarray of int64, shape (n_bridges, 2)
        Sorted pairs of old groups that would be one by the new rows. They stay two.
    rivals : ndarray of int64, shape (m,)
        The likeliest other group to which the row would belong as well, by its own pairs; -1 if
        there is none.
    duplicates : Duplicates
        The result for the old rows followed by the new rows. Call its `assign` for the next rows.
    """

    labels: NDArray[np.int64]
    probabilities: NDArray[np.float64]
    bridges: NDArray[np.int64]
    rivals: NDArray[np.int64]
    duplicates: Duplicates

    def __repr__(self) -> str:
        n_rows, m = len(self.duplicates.labels), len(self.labels)
        n_old = self.duplicates.labels[: n_rows - m].max() + 1
        new = self.labels[self.labels >= n_old]
        claimed = int((self.rivals >= 0).sum())
        return (
            f"<{m} new rows: {m - len(new)} in old groups, {len(new)} in "
            f"{len(np.unique(new))} new groups; {len(self.bridges)} bridges between old groups, "
            f"{claimed} rows that two groups claim>"
        )


@hinted
def load_duplicates(
    file: str | os.PathLike[str] | BinaryIO,
    *,
    distance: Callable[..., float] | Sequence[Callable[..., float]] | None = None,
) -> Duplicates:
    """Read a result of `dedupe` that `Duplicates.save` wrote.

    Parameters
    ----------
    file : path or binary file object
        The file.
    distance : callable, or a sequence of them, optional
        Your own function that compared the rows, as files hold no code; if there were several, the
        functions in the order of the columns.

    Returns
    -------
    Duplicates
        The same arrays bit for bit, whose `assign` has the same results.

    Raises
    ------
    OSError
        If the file cannot be opened.
    ValueError
        If the file holds something else, or is damaged: any of its bytes has changed.

    See Also
    --------
    dedupe

    Examples
    --------
    >>> import io
    >>> import d2ke
    >>> d2ke.load_duplicates(io.BytesIO(b"something else"))
    Traceback (most recent call last):
        ...
    d2ke.ArgumentError: file is not a result of dedupe saved by d2ke, which is an HDF5 file
    """
    from d2ke.models.persistence import read_values

    return read_values(file, "duplicates", distance, "load_duplicates", _restored)


_KEPT = ("names", "clean", "linkage", "pairs", "odds", "levels")


def _restored(values: Any) -> Duplicates:
    """Build the result from the values that `save` wrote; refuse values that do not fit."""
    columns = {
        name: ComparedColumn.from_column(Column(objects, missing), radius, distance, params)
        for name, (objects, missing, radius, distance, params) in values["columns"].items()
    }
    numbers, labels = values["numbers"], values["labels"]
    n, m, k, n_levels = len(values["firsts"]), len(values["pairs"]), len(columns), len(EDGES)
    shapes = {
        "labels": (n,), "pairs": (m, 2), "odds": (m,), "levels": (k, m), "searched": (k,),
        "evidence": (k, n_levels), "shares": (k, N_NEAR), "factors": (k,),
    }  # fmt: skip
    for name, shape in shapes.items():
        if values[name].shape != shape:
            raise ValueError(f"{name} has shape {values[name].shape}, not {shape}")
    ends = {"firsts": len(numbers), "numbers": n, "pairs": n, "levels": n_levels + 1, "labels": n}
    for name, end in ends.items():
        array = values[name]
        if array.dtype.kind != "i" or array.min(initial=0) < 0 or array.max(initial=0) >= end:
            raise ValueError(f"{name} is not of whole numbers from 0 to {end - 1}")
    rows = Copies(values["firsts"], numbers, np.bincount(numbers, minlength=n))
    frequencies = Frequencies(values["searched"], values["shares"], values["factors"])
    basis = Basis(columns, rows=rows, frequencies=frequencies, **{x: values[x] for x in _KEPT})
    check_cleaning(basis.clean)
    Linkage.of(basis.linkage, values["threshold"])
    if not isinstance(values["offset"], float) or not np.isfinite(values["offset"]):
        raise ValueError(f"offset is {values['offset']!r}")
    if basis.names is not None and not set(columns) <= set(basis.names):
        raise ValueError(f"names are {basis.names!r}, without those of compared columns")
    if not n or not (rows.counts > 0).all() or not np.bincount(labels).all():
        raise ValueError("there are rows or groups without a row")
    for name, column in columns.items():
        if column.x.missing.shape != (n,) or len(column.x.values) != len(column.x.rows):
            raise ValueError(f"column {name!r} does not have {n} rows")
        not_negative("radius", column.radius)
    weights = PairWeights(tuple(columns), EDGES, values["evidence"], values["offset"])
    return Duplicates.of(labels, values["threshold"], weights, basis)
