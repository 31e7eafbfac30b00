# SPDX-License-Identifier: BSD-3-Clause
"""Records of the same person or thing: groups in one table, pairs of two."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from heapq import heapify, heappop, heappush
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import connected_components
from scipy.special import expit, logit

from d2ke._base.checks import choice, flag, integer, positive_number
from d2ke._base.errors import ArgumentError
from d2ke._base.threads import team_size
from d2ke.distances.problem import ArgumentNames
from d2ke.groups.candidates import ComparedTables, compare_tables
from d2ke.groups.known_pairs import check_known
from d2ke.groups.pair_weights import Multiplicities, PairWeights, Sample, learn_weights
from d2ke.neighbors.lists import check_graph
from d2ke.objects.copies import Copies
from d2ke.objects.packed import offsets_of

_CERTAIN = 5.0  # log-odds at which a pair's effect in a group is capped: 0.7 %
_FAR = 2.0  # above the probability of any pair


@dataclass(frozen=True, eq=False)
class Duplicates:
    """The result of `dedupe`.

    Attributes
    ----------
    labels : ndarray of int64, shape (n,)
        Groups 0, 1, ..., numbered by their first rows. A row without a duplicate is a group. Rows
        that are equal in all compared columns, cleaned, are in one group.
    examples : ndarray of int64, shape (n_groups,)
        The medoid of each group: the row with the least sum of distances to the others.
    threshold : float
        The largest mean probability that two rows of a group do not match.
    pairs : ndarray of int64, shape (n_pairs, 2)
        Sorted pairs of different rows that are within the radius of at least one column, linked or
        not. Among rows that are equal in all compared columns, cleaned, only the first is here.
    distances : ndarray, shape (n_pairs,)
        The probability that each pair does not match.
    weights : PairWeights
        Evidence of the columns' distances: `evidence` by column and level, `edges` and `offset`.
    """

    labels: NDArray[np.int64]
    examples: NDArray[np.int64]
    threshold: float
    pairs: NDArray[np.int64] = field(repr=False)
    distances: NDArray[np.float64] = field(repr=False)
    weights: PairWeights


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
    progress: bool = False,
) -> Duplicates:
    """Group the records of a table that are about the same person or thing.

    The probability that two rows match is learned from the table itself: from the share of pairs
    with near columns among pairs that agree in the other columns, and among all pairs.

    Parameters
    ----------
    X : Records or what `pack_records` takes; or objects of one kind
        n rows. An entry may be missing.
    radius : float or dict of str to float
        For each compared column, the largest distance, above 0, that a match may have. A pair is
        compared if at least one column is within its radius. A number applies to all columns.
    distance : str, callable, tuple or dict of str
        A symmetric distance for all columns, or a dict with one for each, with parameters as in
        ``("dtw", {"window": 10})``. The default depends on the column's kind.
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
        for each link between rows: chains of links may then join distant records.
    seed : int
        Seed of the random pairs from which the usual distances are learned.
    n_threads : int, optional
        Threads to use; None for all that this process may use. The result does not depend on it.
    progress : bool
        Show progress bars (on a terminal only).

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
    choice("linkage", linkage, ["average", "complete", "single"])
    cut = _cut(threshold)
    pairs, odds, weights, counted = _match(tables, known, seed, progress)
    (i, j), distances, rows = pairs.T, expit(-odds), tables.x
    labels = _groups(rows.counts, i, j, odds, cut, linkage)
    inside = labels[i] == labels[j]
    examples = rows.firsts[_medoids(labels, counted, inside, distances)]
    apart = i != j
    pairs, distances = rows.firsts[pairs[apart]], distances[apart]
    return Duplicates(labels[rows.numbers], examples, float(threshold), pairs, distances, weights)


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
    progress: bool = False,
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
    cut, one_to_one = _cut(threshold), flag("one_to_one", one_to_one)
    pairs, odds, weights, _ = _match(tables, known, seed, progress)
    kept = odds >= cut
    pairs, odds = pairs[kept], odds[kept]
    choose = _one_to_one if one_to_one else _all_pairs
    places, pairs = choose(pairs, odds, tables.x, tables.y)
    return Links(pairs, expit(-odds[places]), float(threshold), weights)


def _all_pairs(
    pairs: np.ndarray, odds: np.ndarray, x: Copies, y: Copies
) -> tuple[np.ndarray, np.ndarray]:
    """Return all pairs of rows, sorted, and the pair of distinct rows of each."""
    rows, columns = x.counts[pairs[:, 0]], y.counts[pairs[:, 1]]
    numbers = rows * columns
    check_graph(int(numbers.sum()))
    places = np.repeat(np.arange(len(pairs)), numbers)
    row, column = np.divmod(
        np.arange(len(places)) - np.repeat(offsets_of(numbers)[:-1], numbers), columns[places]
    )
    (members, starts), (others, firsts) = x.members(), y.members()
    i = members[starts[pairs[places, 0]] + row]
    j = others[firsts[pairs[places, 1]] + column]
    order = np.lexsort((j, i))
    return places[order], np.column_stack([i, j])[order]


def _one_to_one(
    pairs: np.ndarray, odds: np.ndarray, x: Copies, y: Copies
) -> tuple[np.ndarray, np.ndarray]:
    """Link rows that are free, the likeliest pairs first and then the first rows.

    Equal rows are linked in their order. Returns sorted pairs of rows, and whose each is.
    """
    (members, starts), (others, firsts) = x.members(), y.members()
    free, left = firsts[:-1].copy(), starts[:-1].copy()  # the first free row of equal ones
    chosen = []
    order = np.argsort(-odds, kind="stable")
    for level in np.split(order, np.flatnonzero(np.diff(odds[order])) + 1):
        partners: dict[int, list[tuple[int, int]]] = {}
        for place, (a, b) in zip(level.tolist(), pairs[level].tolist(), strict=True):
            partners.setdefault(a, []).append((b, place))
        queue = [(int(members[left[a]]), a) for a in partners if left[a] < starts[a + 1]]
        heapify(queue)
        while queue:
            i, a = heappop(queue)
            open_ = [(others[free[b]], b, p) for b, p in partners[a] if free[b] < firsts[b + 1]]
            if not open_:
                continue
            j, b, place = min(open_)
            chosen.append((i, int(j), place))
            free[b] += 1
            left[a] += 1
            if left[a] < starts[a + 1]:
                heappush(queue, (int(members[left[a]]), a))
    links = np.array(sorted(chosen), np.int64).reshape(-1, 3)
    return links[:, 2], links[:, :2]


def _cut(threshold: Any) -> float:
    """Return the log-odds of a match at the threshold."""
    value = positive_number("threshold", threshold)
    if value >= 1:
        raise ArgumentError(
            "threshold", f"is {value:g}; it is the probability of no match, below 1"
        )
    return float(logit(1 - value))


def _match(
    tables: ComparedTables, known: Any, seed: int, progress: bool
) -> tuple[np.ndarray, np.ndarray, PairWeights, Multiplicities]:
    """Return the candidates, their log-odds to match, the weights behind these, and their counts.

    Candidates are pairs of distinct rows; a row that occurs more than once pairs with itself too.
    """
    labels = None if known is None else check_known(known, tables.shape, tables.same)
    sample, total = tables.sample(integer("seed", seed, 0))
    searched = tables.searched(sample, total)
    pairs, distances = tables.candidates(searched, progress)
    if labels is not None:
        m = len(tables.y.firsts)
        numbers, (rows, match) = pairs @ [m, 1], labels
        rows = np.column_stack([tables.x.numbers[rows[:, 0]], tables.y.numbers[rows[:, 1]]])
        if tables.same:
            rows = np.sort(rows, axis=1)
        labelled = rows @ [m, 1]
        places = np.minimum(np.searchsorted(numbers, labelled), max(len(numbers) - 1, 0))
        is_candidate = numbers[places] == labelled if len(numbers) else np.zeros(len(rows), bool)
        labels = places[is_candidate], match[is_candidate]
    counted = Multiplicities.of(pairs, tables.x, tables.y)
    weights, odds = learn_weights(
        tuple(tables.columns), distances, searched, Sample(sample, total), counted, labels
    )
    return pairs, odds, weights, counted


def _groups(
    counts: np.ndarray, i: np.ndarray, j: np.ndarray, odds: np.ndarray, cut: float, linkage: str
) -> np.ndarray:
    """Return groups numbered by their first rows, from the log-odds of pairs to match.

    A distinct row stands for `counts` rows, which are one group from the start.
    """
    apart = i != j
    i, j, odds, n = i[apart], j[apart], odds[apart], len(counts)
    if linkage == "single":
        i, j = i[odds >= cut], j[odds >= cut]
    else:
        strong = np.clip(odds, -_CERTAIN, max(_CERTAIN, cut))
        kept = strong > -_CERTAIN
        sizes = counts if linkage == "average" else np.ones_like(counts)
        i, j = _steps(i[kept], j[kept], strong[kept], cut, linkage == "average", sizes).T
    links = sparse.coo_array((np.ones(len(i), np.int8), (i, j)), shape=(n, n))
    return connected_components(links, directed=False)[1].astype(np.int64)


def _steps(
    i: np.ndarray,
    j: np.ndarray,
    odds: np.ndarray,
    cut: float,
    average: bool,
    counts: np.ndarray,
) -> np.ndarray:
    """Return the pairs of rows at which average or complete linkage merges two groups.

    The groups with the largest mean, or least, log-odds merge first, as long as these are at least
    `cut`. A pair that is not given counts as `-_CERTAIN`. `counts` are the sizes of the groups at
    the start, whose pairs have one value; complete linkage leaves sizes at 1.
    """
    # Values of two groups, if above -_CERTAIN: the sum over their pairs, or the least.
    values: dict[int, dict[int, float]] = {}
    queue = []
    sizes = counts.tolist()
    for a, b, value in zip(i.tolist(), j.tolist(), (odds + _CERTAIN).tolist(), strict=True):
        total = value * (sizes[a] * sizes[b])
        values.setdefault(a, {})[b] = values.setdefault(b, {})[a] = total
        mean = total / (sizes[a] * sizes[b]) - _CERTAIN
        if mean >= cut:
            queue.append((-mean, a, b))
    heapify(queue)
    steps = []
    while queue:
        value, p, q = heappop(queue)
        if value != -(values.get(p, {}).get(q, np.inf) / (sizes[p] * sizes[q]) - _CERTAIN):
            continue  # one of both has merged with another since
        steps.append((p, q))
        if len(values[p]) < len(values[q]):
            p, q = q, p
        kept, lost = values[p], values.pop(q)
        del kept[q], lost[p]
        for r in lost:
            del values[r][q]
        if average:
            sizes[p] += sizes[q]
            merged = {r: kept.get(r, 0.0) + total for r, total in lost.items()}
        else:
            merged = {r: min(kept.get(r, 0.0), lost.get(r, 0.0)) for r in {**kept, **lost}}
        for r, total in merged.items():
            kept[r] = values[r][p] = total
        for r, total in kept.items():
            mean = total / (sizes[p] * sizes[r]) - _CERTAIN
            if mean >= cut:
                heappush(queue, (-mean, p, r))
    return np.array(steps, np.int64).reshape(-1, 2)


def _medoids(
    labels: np.ndarray, counted: Multiplicities, inside: np.ndarray, distances: np.ndarray
) -> np.ndarray:
    """Return the first row of each group with the least sum of distances to the others.

    A pair that is not given counts as far.
    """
    n, near = len(labels), distances[inside] - _FAR
    both = np.concatenate([rows[inside] for rows in counted.ends])
    sums = np.bincount(both, np.concatenate([near * rows[inside] for rows in counted.near]), n)
    order = np.lexsort((np.arange(n), sums, labels))
    return order[np.searchsorted(labels[order], np.arange(labels.max() + 1))]
