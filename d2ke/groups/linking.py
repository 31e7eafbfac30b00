# SPDX-License-Identifier: BSD-3-Clause
"""Records of the same person or thing: groups in one table, pairs of two."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from d2ke._base.checks import choice, flag, positive_number
from d2ke._base.errors import ArgumentError
from d2ke._base.threads import team_size
from d2ke.distances.problem import ArgumentNames
from d2ke.groups.candidates import ComparedTables, compare_tables, mean_distances
from d2ke.groups.pair_weights import PairWeights, learn_weights

_FAR = 2.0  # a distance above all thresholds


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
        The distance at which groups were cut.
    pairs : ndarray of int64, shape (n_pairs, 2)
        Sorted pairs of rows that are within the radius of at least one column, linked or not.
    distances : ndarray, shape (n_pairs,)
        Their distances over all columns; with `known` the probabilities that they do not match.
    weights : PairWeights or None
        What the columns' distances weigh, from `known`: ``distance``, ``missing`` and ``offset``.
    """

    labels: NDArray[np.int64]
    examples: NDArray[np.int64]
    threshold: float
    pairs: NDArray[np.int64] = field(repr=False)
    distances: NDArray[np.float64] = field(repr=False)
    weights: PairWeights | None = None


@dataclass(frozen=True, eq=False)
class Links:
    """The result of `link`.

    Attributes
    ----------
    pairs : ndarray of int64, shape (n_pairs, 2)
        Sorted pairs of a row of `left` and a row of `right`.
    distances : ndarray, shape (n_pairs,)
        Their distances over all columns.
    threshold : float
        The largest distance that counts.
    """

    pairs: NDArray[np.int64]
    distances: NDArray[np.float64]
    threshold: float


def dedupe(
    X: Any,
    *,
    radius: float | Mapping[str, float],
    distance: Any = None,
    clean: Sequence[str] = (),
    threshold: float | None = None,
    known: tuple[Any, Any] | None = None,
    linkage: Literal["complete", "single"] = "complete",
    n_threads: int | None = None,
    progress: bool = False,
) -> Duplicates:
    """Group the records of a table that are about the same person or thing.

    Parameters
    ----------
    X : Records or what `pack_records` takes; or objects of one kind
        n rows. An entry may be missing.
    radius : float or dict of str to float
        For each compared column the distance, above 0, that counts as 1. The distance of two
        records is the mean of their columns' distances, each divided by its radius; a missing entry
        counts as 1. A number stands for all columns.
    distance : str, callable, tuple or dict of str
        The symmetric distance of all columns, or a dict with that of each, with parameters as in
        ``("dtw", {"window": 10})``. By default that of the column's kind.
    clean : sequence of {"case", "accents", "punctuation", "spaces"}
        What does not count in columns of strings. Punctuation becomes a space, apostrophes nothing;
        then spaces count once, and none at the ends. An empty entry is then missing.
    threshold : float, optional
        The largest distance in a group: above 0, and at most 1, up to which all pairs are found. By
        default 1. With `known` the largest probability that a pair does not match, 0.5.
    known : (array of shape (m, 2), array of shape (m,)), optional
        Pairs of rows, and whether they match. From them the weights of the columns and of missing
        entries are learned. A pair that is within no radius is not found all the same.
    linkage : {"complete", "single"}
        Whether all pairs of a group are within the threshold, or only each step between them:
        chains of near records may then lead far.
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
    choice("linkage", linkage, ["complete", "single"])
    usual = 1.0 if known is None else 0.5
    threshold = _check_threshold(usual if threshold is None else threshold)
    weights = None if known is None else _weights(tables, *known)
    pairs, parts = tables.candidates(progress)
    distances = mean_distances(parts) if weights is None else weights.probabilities(parts)
    near = distances <= threshold
    i, j = pairs[near].T
    order = np.argsort(distances[near], kind="stable") if linkage == "complete" else None
    labels = _groups(tables.shape[0], i, j, order)
    inside = labels[i] == labels[j]
    examples = _medoids(labels, i[inside], j[inside], distances[near][inside])
    return Duplicates(labels, examples, threshold, pairs, distances, weights)


def link(
    left: Any,
    right: Any,
    *,
    radius: float | Mapping[str, float],
    distance: Any = None,
    clean: Sequence[str] = (),
    threshold: float = 1.0,
    one_to_one: bool = True,
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
    one_to_one : bool
        Link the nearest pair first, then the nearest of the remaining rows, and so on; among
        equally near ones the first. False for all pairs within the threshold.
    n_threads, progress
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
    threshold, one_to_one = _check_threshold(threshold), flag("one_to_one", one_to_one)
    pairs, parts = tables.candidates(progress)
    distances = mean_distances(parts)
    kept = np.flatnonzero(distances <= threshold)
    if one_to_one:
        ordered = kept[np.argsort(distances[kept], kind="stable")]
        taken: tuple[set[int], set[int]] = set(), set()
        chosen = []
        for number, (i, j) in zip(ordered.tolist(), pairs[ordered].tolist(), strict=True):
            if i not in taken[0] and j not in taken[1]:
                taken[0].add(i)
                taken[1].add(j)
                chosen.append(number)
        kept = np.sort(np.array(chosen, np.int64))
    return Links(pairs[kept], distances[kept], threshold)


def _check_threshold(value: Any) -> float:
    threshold = positive_number("threshold", value)
    if threshold > 1:
        raise ArgumentError(
            "threshold", f"is {threshold:g}; all pairs are found up to 1: give larger radii instead"
        )
    return threshold


def _weights(tables: ComparedTables, pairs: Any, match: Any) -> PairWeights:
    """Check the known pairs; learn from them."""
    n = tables.shape[0]
    pairs, match = np.asarray(pairs), np.asarray(match)
    if pairs.ndim != 2 or pairs.shape[1] != 2 or pairs.dtype.kind not in "iu":
        raise ArgumentError("known", f"must have pairs of rows, shape (m, 2), got {pairs.shape}")
    if match.shape != (len(pairs),) or not np.isin(match, [0, 1]).all():
        raise ArgumentError("known", f"must say of each of the {len(pairs)} pairs if it matches")
    outside = np.flatnonzero(((pairs < 0) | (pairs >= n)).any(axis=1))
    if outside.size:
        where = pairs[outside[0]].tolist()
        raise ArgumentError("known", f"is {where}, but X has {n} rows", outside[0])
    matches = match.astype(bool)
    if matches.all() or not matches.any():
        raise ArgumentError("known", "needs pairs that match, and pairs that do not")
    return learn_weights(tuple(tables.columns), tables.distances(*pairs.T), matches)


def _groups(n: int, i: np.ndarray, j: np.ndarray, order: np.ndarray | None) -> np.ndarray:
    """Return groups numbered by their first rows, from all pairs within the threshold.

    `order` sorts the pairs by distance for complete linkage; None stands for single linkage.
    """
    if order is not None:
        i, j = _steps(i, j, order).T
    links = sparse.coo_array((np.ones(len(i), np.int8), (i, j)), shape=(n, n))
    return connected_components(links, directed=False)[1].astype(np.int64)


def _steps(i: np.ndarray, j: np.ndarray, order: np.ndarray) -> np.ndarray:
    """Return the pairs at which complete linkage merges two groups.

    Pairs are met from the nearest on. Two groups merge at their last pair, whose distance is the
    largest between them: pairs beyond the threshold are not needed.
    """
    group: dict[int, int] = {}  # of a row that is merged with another
    members: dict[int, list[int]] = {}
    met: dict[int, dict[int, int]] = {}  # how many pairs between two groups
    steps = []
    for a, b in zip(i[order].tolist(), j[order].tolist(), strict=True):
        p, q = group.get(a, a), group.get(b, b)
        count = met.setdefault(p, {}).get(q, 0) + 1
        rows, others = members.get(p, [p]), members.get(q, [q])
        if count < len(rows) * len(others):
            met[p][q] = met.setdefault(q, {})[p] = count
            continue
        steps.append((a, b))
        if len(rows) < len(others):
            p, q, rows, others = q, p, others, rows
        members[p] = rows + others
        members.pop(q, None)
        group.update(dict.fromkeys(members[p], p))
        kept, lost = met.setdefault(p, {}), met.pop(q, {})
        kept.pop(q, None)
        lost.pop(p, None)
        for r, number in lost.items():
            del met[r][q]
            kept[r] = met[r][p] = kept.get(r, 0) + number
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
