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
from d2ke.groups.pair_weights import PairWeights, Sample, learn_weights

_CERTAIN = 5.0  # log-odds beyond which no pair counts more in a group: 0.7 %
_FAR = 2.0  # above the probability of any pair


@dataclass(frozen=True, eq=False)
class Duplicates:
    """The result of `dedupe`.

    Attributes
    ----------
    labels : ndarray of int64, shape (n,)
        Groups 0, 1, ..., numbered by their first rows. A row without a duplicate is a group.
    examples : ndarray of int64, shape (n_groups,)
        The medoid of each group: the row with the least sum of distances to the others.
    threshold : float
        The largest probability that two rows of a group do not match, in the mean.
    pairs : ndarray of int64, shape (n_pairs, 2)
        Sorted pairs of rows that are within the radius of at least one column, linked or not.
    distances : ndarray, shape (n_pairs,)
        The probabilities that they do not match.
    weights : PairWeights
        What the columns' distances say: `evidence` by column and level, `edges` and `offset`.
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
        Sorted pairs of a row of `left` and a row of `right`.
    distances : ndarray, shape (n_pairs,)
        The probabilities that they do not match.
    threshold : float
        The largest probability that counts.
    weights : PairWeights
        What the columns' distances say, as in `Duplicates`.
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

    How likely two rows match follows from the table itself: how often columns are near in pairs
    that agree in the others, and how often in any pairs.

    Parameters
    ----------
    X : Records or what `pack_records` takes; or objects of one kind
        n rows. An entry may be missing.
    radius : float or dict of str to float
        For each compared column the distance, above 0, up to which it may be that of a match. Pairs
        are compared if a column is within its radius. A number stands for all columns.
    distance : str, callable, tuple or dict of str
        The symmetric distance of all columns, or a dict with that of each, with parameters as in
        ``("dtw", {"window": 10})``. By default that of the column's kind.
    clean : sequence of {"case", "accents", "punctuation", "spaces"}
        What does not count in columns of strings. Punctuation becomes a space, apostrophes nothing;
        then spaces count once, and none at the ends. An empty entry is then missing.
    threshold : float
        The largest probability, above 0 and below 1, that two rows of a group do not match.
    known : (array of shape (m, 2), array of shape (m,)), optional
        Pairs of rows, and whether they match. They correct what was learned without them. A pair
        that is within no radius is not found all the same, and teaches nothing.
    linkage : {"average", "complete", "single"}
        Whether the mean over all pairs of a group counts, or each of its pairs, or only each step
        between rows: chains of near records may then lead far.
    seed : int
        Of the random pairs that are compared to learn what is usual.
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
        range; a distance that is not symmetric.
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

    Pairs that are known to match or not say what the columns are worth.

    >>> known = [[0, 1], [2, 3], [2, 4], [3, 4]], [1, 1, 0, 0]
    >>> d2ke.dedupe(people, radius=2, clean=["case", "punctuation"], known=known).labels.tolist()
    [0, 0, 1, 1, 2]
    """
    names = ArgumentNames("dedupe")
    tables = compare_tables(names, X, None, radius, distance, clean, team_size(n_threads))
    choice("linkage", linkage, ["average", "complete", "single"])
    cut = _cut(threshold)
    pairs, odds, weights = _match(tables, known, seed, progress)
    i, j = pairs.T
    labels = _groups(tables.shape[0], i, j, odds, cut, linkage)
    inside = labels[i] == labels[j]
    distances = expit(-odds)
    examples = _medoids(labels, i[inside], j[inside], distances[inside])
    return Duplicates(labels, examples, float(threshold), pairs, distances, weights)


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
        Link the likeliest pair first, then the likeliest of the remaining rows, and so on; among
        equally likely ones the first. False for all pairs within the threshold.
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
    pairs, odds, weights = _match(tables, known, seed, progress)
    kept = np.flatnonzero(odds >= cut)
    if one_to_one:
        ordered = kept[np.argsort(-odds[kept], kind="stable")]
        taken: tuple[set[int], set[int]] = set(), set()
        chosen = []
        for number, (i, j) in zip(ordered.tolist(), pairs[ordered].tolist(), strict=True):
            if i not in taken[0] and j not in taken[1]:
                taken[0].add(i)
                taken[1].add(j)
                chosen.append(number)
        kept = np.sort(np.array(chosen, np.int64))
    return Links(pairs[kept], expit(-odds[kept]), float(threshold), weights)


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
) -> tuple[np.ndarray, np.ndarray, PairWeights]:
    """Return the candidates, their log-odds to match, and the weights behind these."""
    if known is not None:
        known = _check_known(known[0], known[1], tables.shape)
    sample, total = tables.sample(integer("seed", seed, 0))
    searched = tables.searched(sample, total)
    pairs, parts = tables.candidates(searched, progress)
    if known is not None:
        numbers, (rows, match) = pairs @ [tables.shape[1], 1], known
        if tables.same:
            rows = np.sort(rows, axis=1)
        wanted = rows @ [tables.shape[1], 1]
        places = np.minimum(np.searchsorted(numbers, wanted), max(len(numbers) - 1, 0))
        found = numbers[places] == wanted if len(numbers) else np.zeros(len(rows), bool)
        known = places[found], match[found]
    weights, odds = learn_weights(
        tuple(tables.columns),
        pairs,
        parts,
        searched,
        Sample(sample, total),
        (*tables.shape, tables.same),
        known,
    )
    return pairs, odds, weights


def _check_known(pairs: Any, match: Any, shape: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
    pairs, match = np.asarray(pairs), np.asarray(match)
    if pairs.ndim != 2 or pairs.shape[1] != 2 or pairs.dtype.kind not in "iu":
        raise ArgumentError("known", f"must have pairs of rows, shape (m, 2), got {pairs.shape}")
    if match.shape != (len(pairs),) or not np.isin(match, [0, 1]).all():
        raise ArgumentError("known", f"must say of each of the {len(pairs)} pairs if it matches")
    outside = np.flatnonzero(((pairs < 0) | (pairs >= shape)).any(axis=1))
    if outside.size:
        where = pairs[outside[0]].tolist()
        rows = " and ".join(map(str, dict.fromkeys(shape)))
        raise ArgumentError("known", f"is {where}, but there are {rows} rows", outside[0])
    matches = match.astype(bool)
    if matches.all() or not matches.any():
        raise ArgumentError("known", "needs pairs that match, and pairs that do not")
    return pairs.astype(np.int64), matches


def _groups(
    n: int, i: np.ndarray, j: np.ndarray, odds: np.ndarray, cut: float, linkage: str
) -> np.ndarray:
    """Return groups numbered by their first rows, from the log-odds of pairs to match."""
    if linkage == "single":
        i, j = i[odds >= cut], j[odds >= cut]
    else:
        strong = np.clip(odds, -_CERTAIN, max(_CERTAIN, cut))
        kept = strong > -_CERTAIN
        i, j = _steps(i[kept], j[kept], strong[kept], cut, linkage == "average").T
    links = sparse.coo_array((np.ones(len(i), np.int8), (i, j)), shape=(n, n))
    return connected_components(links, directed=False)[1].astype(np.int64)


def _steps(i: np.ndarray, j: np.ndarray, odds: np.ndarray, cut: float, average: bool) -> np.ndarray:
    """Return the pairs of rows at which average or complete linkage merges two groups.

    The groups with the largest mean, or least, log-odds merge first, as long as these are at least
    `cut`. A pair that is not given counts as `-_CERTAIN`.
    """
    # Of two groups, over -_CERTAIN: the sum of their pairs, or the least.
    values: dict[int, dict[int, float]] = {}
    queue = []
    for a, b, value in zip(i.tolist(), j.tolist(), (odds + _CERTAIN).tolist(), strict=True):
        values.setdefault(a, {})[b] = values.setdefault(b, {})[a] = value
        if value - _CERTAIN >= cut:
            queue.append((_CERTAIN - value, a, b))
    sizes = dict.fromkeys(values, 1)  # complete linkage leaves them
    heapify(queue)
    steps = []
    while queue:
        value, p, q = heappop(queue)
        if value != _CERTAIN - values.get(p, {}).get(q, np.inf) / (sizes[p] * sizes[q]):
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


def _medoids(labels: np.ndarray, i: np.ndarray, j: np.ndarray, distances: np.ndarray) -> np.ndarray:
    """Return the first row of each group with the least sum of distances to the others.

    A pair that is not given counts as far.
    """
    n = len(labels)
    both = np.concatenate([i, j])
    sums = np.bincount(both, np.tile(distances - _FAR, 2), n)
    order = np.lexsort((np.arange(n), sums, labels))
    return order[np.searchsorted(labels[order], np.arange(labels.max() + 1))]
