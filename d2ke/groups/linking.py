# SPDX-License-Identifier: BSD-3-Clause
"""Records of the same person or thing: groups in one table, pairs of two."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from d2ke._base.checks import flag, integer
from d2ke._base.keywords import hinted
from d2ke._base.threads import team_size
from d2ke.distances.problem import ArgumentNames
from d2ke.groups.assigning import Basis
from d2ke.groups.candidates import ComparedTables, compare_tables
from d2ke.groups.cleaning import check_cleaning
from d2ke.groups.duplicates import Duplicates
from d2ke.groups.known_pairs import check_known
from d2ke.groups.pair_weights import (
    Frequencies,
    Multiplicities,
    PairWeights,
    learn_weights,
    levels_of,
)
from d2ke.groups.record_groups import (
    Linkage,
    group_rows,
    linked_one_to_one,
    linked_pairs,
    log_odds_of,
)


@dataclass(frozen=True, eq=False)
class Links:
    """The result of `link`.

    Attributes
    ----------
    pairs : ndarray of int64, shape (n_pairs, 2)
        Sorted pairs of a row of `left` and a row of `right`, equal rows of a table included.
    distances : ndarray, shape (n_pairs,)
        The probability that each pair does not match.
    threshold : float
        The largest probability of a link.
    weights : PairWeights
        Evidence of the columns' distances, as in `Duplicates`.
    """

    pairs: NDArray[np.int64]
    distances: NDArray[np.float64]
    threshold: float
    weights: PairWeights

    def __repr__(self) -> str:
        first = ", ".join(f"{i} and {j}" for i, j in self.pairs[:5].tolist())
        more = ", ..." * (len(self.pairs) > 5)
        shown = f": {first}{more}" * bool(first)
        return f"<{len(self.pairs)} links{shown}; threshold {self.threshold:.4g}>"


@hinted
def dedupe(
    X: Any,
    *,
    radius: float | Mapping[str, float],
    distance: Any = None,
    clean: Sequence[str] = (),
    threshold: float = 0.5,
    known: tuple[Any, Any] | None = None,
    linkage: Literal["average", "complete", "single"] = "average",
    seed: int = 0,
    n_threads: int | None = None,
    progress: bool | None = None,
) -> Duplicates:
    """Group the records of a table that are about the same person or thing.

    The probability that two rows match is learned from the table itself: from the share of pairs
    with near columns among pairs that agree in the other columns, and among all pairs.

    Parameters
    ----------
    X : Records or what `pack_records` takes; or objects of one kind
        n rows. An entry may be missing. Numbers and categories are compared as text.
    radius : float or dict of str to float
        For each compared column, the largest distance that a match may have; 0 asks for equal
        entries. A pair is compared if at least one column is within its radius. A number applies to
        all columns.
    distance : str, callable, tuple or dict of str, optional
        A symmetric distance for all columns, or a dict with one for each, with parameters as in
        ``("dtw", {"window": 10})``; ``"equal"`` is the usual one with a radius of 0. By default
        ``"levenshtein"`` for strings, ``"dtw"`` for series and ``"mhd"`` for sets.
    clean : sequence of {"case", "accents", "punctuation", "spaces"}
        Differences to ignore in columns of strings. Punctuation becomes a space, apostrophes are
        deleted; runs of spaces become one, and those at the ends are deleted. An entry that this
        leaves empty is missing.
    threshold : float
        The largest probability, above 0 and below 1, that two rows of a group do not match.
    known : (array of shape (m, 2), array of shape (m,)), optional
        Pairs of rows, and whether they match. They correct the weights that are learned without
        them. A pair outside every radius is neither linked nor used. Pairs must not contradict each
        other, also through chains of matches. Equal rows that do not match lower the evidence of
        equality; they stay in one group.
    linkage : {"average", "complete", "single"}
        The threshold holds for the mean over all pairs of a group, for each of its pairs, or only
        for each link between rows: chains of links may then join distant records. Groups with the
        same mean, or the same least pair, are joined in the order of rows, which can affect later
        merges. Pairs that were not compared count as no match; "complete" never joins them.
    seed : int
        Seed of the random pairs from which the usual distances are learned.
    n_threads : int, optional
        Threads to use; None for all that this process may use. The result does not depend on it.
    progress : bool, optional
        Whether to show progress; by default on a terminal or in a notebook, where work takes more
        than two seconds.

    Returns
    -------
    Duplicates

    Raises
    ------
    TypeError, ValueError
        As `distance_matrix` and `pack_records`; a column that X does not have; a parameter out of
        range; a distance that is not symmetric; known pairs that contradict each other.
    MemoryError
        As soon as more pairs are within a radius than fit into memory.
    KeyboardInterrupt
        On Ctrl-C, within a second.

    See Also
    --------
    link : records of two tables.
    d2ke.groups.Duplicates.assign : new rows of the table.

    Examples
    --------
    >>> import d2ke
    >>> people = {"name": ["Anna Lee", "ANA LEE", "Jon Smith", "John Smith", "Bo Ek"],
    ...           "street": ["Main St. 5", "main st 5", "Elm Rd 1", None, "Elm Rd 7"]}
    >>> found = d2ke.dedupe(people, radius={"name": 2, "street": 3},
    ...                     clean=["case", "punctuation"])
    >>> found.labels.tolist()
    [0, 0, 1, 1, 2]

    Known pairs teach the weights of the columns.

    >>> known = [[0, 1], [2, 3], [2, 4], [3, 4]], [1, 1, 0, 0]
    >>> d2ke.dedupe(people, radius=2, clean=["case", "punctuation"], known=known).labels.tolist()
    [0, 0, 1, 1, 2]
    """
    names = ArgumentNames("dedupe")
    tables = compare_tables(names, X, None, radius, distance, clean, team_size(n_threads))
    rule = Linkage.of(linkage, threshold)
    pairs, distances, odds, weights, frequencies = _match(tables, known, seed, progress)
    labels = group_rows(tables.x.counts, pairs, odds, rule)
    basis = Basis(
        tables.columns,
        tables.names,
        tuple(sorted(check_cleaning(clean))),
        linkage,
        tables.x,
        pairs,
        odds,
        levels_of(distances),
        frequencies,
    )
    return Duplicates.of(labels, float(threshold), weights, basis)


@hinted
def link(
    left: Any,
    right: Any,
    *,
    radius: float | Mapping[str, float],
    distance: Any = None,
    clean: Sequence[str] = (),
    threshold: float = 0.5,
    known: tuple[Any, Any] | None = None,
    one_to_one: bool = True,
    seed: int = 0,
    n_threads: int | None = None,
    progress: bool | None = None,
) -> Links:
    """Find the records of two tables that are about the same person or thing.

    Parameters
    ----------
    left, right : Records or what `pack_records` takes; or objects of one kind
        Tables that both have the compared columns.
    radius, distance, clean, threshold
        As for `dedupe`.
    known : (array of shape (m, 2), array of shape (m,)), optional
        As for `dedupe`: rows of `left` and of `right`.
    one_to_one : bool
        Link the likeliest pair first, then the likeliest of the remaining rows, and so on; ties go
        to the first rows. False returns all pairs within the threshold: n * m pairs for n and m
        equal rows.
    seed, n_threads, progress
        As for `dedupe`.

    Returns
    -------
    Links

    Warns
    -----
    UserWarning
        If rows have no link by `one_to_one`, because a row that is equally near has it.

    Raises
    ------
    TypeError, ValueError, MemoryError, KeyboardInterrupt
        As `dedupe`.

    Examples
    --------
    >>> import d2ke
    >>> found = d2ke.link(["anna lee", "jon smith"], ["john smith", "bo ek", "anna leh"], radius=1)
    >>> found.pairs.tolist()
    [[0, 2], [1, 0]]
    """
    names = ArgumentNames("link", "left", "right")
    tables = compare_tables(names, left, right, radius, distance, clean, team_size(n_threads))
    cut, one_to_one = log_odds_of(threshold), flag("one_to_one", one_to_one)
    pairs, _, odds, weights, _ = _match(tables, known, seed, progress)
    likely = odds >= cut
    pairs, odds = pairs[likely], odds[likely]
    choose = linked_one_to_one if one_to_one else linked_pairs
    indices, pairs = choose(pairs, odds, tables.x, tables.y)
    return Links(pairs, expit(-odds[indices]), float(threshold), weights)


def _match(
    tables: ComparedTables, known: Any, seed: int, progress: bool | None
) -> tuple[np.ndarray, np.ndarray, np.ndarray, PairWeights, Frequencies]:
    """Return the candidates, their distances and log-odds, the weights, and the frequencies.

    Candidates are pairs of distinct rows; a row that occurs more than once pairs with itself too.
    """
    labels = None if known is None else check_known(known, tables.shape, tables.same)
    sample, total = tables.sample(integer("seed", seed, 0))
    searched = tables.searched(sample, total)
    pairs, distances = tables.candidates(searched, progress)
    if labels is not None:
        (rows, match), by_row = labels, [len(tables.y.firsts), 1]
        rows = np.column_stack([tables.x.numbers[rows[:, 0]], tables.y.numbers[rows[:, 1]]])
        labelled = (np.sort(rows, axis=1) if tables.same else rows) @ by_row
        numbers = pairs @ by_row
        is_candidate = np.isin(labelled, numbers)
        labels = np.searchsorted(numbers, labelled[is_candidate]), match[is_candidate]
    counted, names = Multiplicities.of(pairs, tables.x, tables.y), tuple(tables.columns)
    learned = learn_weights(names, distances, searched, sample, total, counted, labels)
    weights, frequencies, odds = learned
    return pairs, distances, odds, weights, frequencies
