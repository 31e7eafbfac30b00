# SPDX-License-Identifier: BSD-3-Clause
"""Searches of distinct objects, with results repeated for copies.

Equal objects have equal distances, so only the first of them is searched. If Y is X, this may be
wrong for a function that the user did not declare a metric: it is called for x_i, x_j with i < j,
and so in a different order for a copy.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from d2ke.distances.pairs import numbered
from d2ke.distances.problem import PairwiseProblem
from d2ke.distances.record_pairs import RecordDistance
from d2ke.neighbors.info import NeighborsInfo
from d2ke.neighbors.itself import self_distances
from d2ke.neighbors.lists import NearestLists, WithinLists, without_own
from d2ke.neighbors.problem import NeighborSearch
from d2ke.neighbors.strategies import build_index
from d2ke.objects.container import offsets_of, take
from d2ke.objects.copies import Copies, find_copies, no_copies

_ENTRIES = 1 << 20  # of neighbours that are repeated at a time


class DistinctSearch(NamedTuple):
    """A search of the distinct objects of X and Y, each a candidate for itself."""

    search: NeighborSearch
    x: Copies
    y: Copies


def distinct_search(search: NeighborSearch) -> DistinctSearch | None:
    """Return the search of the distinct objects, or None if the full search is to be used."""
    pairs = search.pairs
    if not _is_of_content(search):
        return None
    y = find_copies(pairs.y)
    x = y if pairs.y is pairs.x else find_copies(pairs.x)
    if not (x or y):
        return None
    columns = take(pairs.y, y.firsts)
    rows = columns if pairs.y is pairs.x else take(pairs.x, x.firsts)
    k = search.k and min(search.k + search.skip, len(y.firsts))
    reduced = replace(search, pairs=replace(pairs, x=rows, y=columns), skip=False, k=k)
    return DistinctSearch(reduced, x, y)


def distinct_objects(search: NeighborSearch) -> tuple[NeighborSearch, Copies]:
    """Return a search among the distinct objects of X, without each object itself.

    All objects count as distinct if equal ones are not at distance 0 from each other.
    """
    distinct, pairs = distinct_search(search), search.pairs
    if distinct is None or copy_distances(pairs, distinct.x).any():
        return search, no_copies(len(pairs.x))
    reduced = distinct.search.pairs
    if isinstance(pairs.x, list):  # whose errors have the numbers of all objects
        numbers = distinct.x.firsts.tolist()
        reduced = replace(numbered(pairs), x=numbers, y=numbers)
    return replace(search, pairs=reduced), distinct.x


def copy_distances(pairs: PairwiseProblem, copies: Copies) -> np.ndarray:
    """Return the distance of each distinct object of X to its copies; 0 if it has none."""
    result, repeated = np.zeros(len(copies.firsts)), copies.counts > 1
    result[repeated] = self_distances(pairs, copies.firsts[repeated])
    return result


def search_neighbors(
    search: NeighborSearch, lists: NearestLists | WithinLists, info: NeighborsInfo
) -> None:
    """Fill the lists by a search of the distinct objects, and count the computed distances."""
    distinct = distinct_search(search)
    if distinct is not None:
        try:
            _search_distinct(distinct, search, lists, info)
        except ValueError:  # an invalid distance; all are searched, for the objects' numbers
            if isinstance(search.pairs.distance, (str, RecordDistance)):
                raise
            distinct = None
    if distinct is None:
        build_index(search).query(search, lists, info)


def _is_of_content(search: NeighborSearch) -> bool:
    """Return whether distances depend on the content of the objects only."""
    distance, names = search.pairs.distance, search.pairs.names
    distances = [distance]
    if isinstance(distance, RecordDistance):
        distances = [column.distance for column in distance.columns.values()]
    named = all(isinstance(each, str) for each in distances)
    return named or search.metric or names.x != names.y


def _search_distinct(
    distinct: DistinctSearch,
    search: NeighborSearch,
    lists: NearestLists | WithinLists,
    info: NeighborsInfo,
) -> None:
    reduced, x, y = distinct
    counted = NeighborsInfo(reduced.n_pairs)
    index = build_index(reduced)
    near: Any
    if isinstance(lists, NearestLists):
        near = NearestLists(len(x.firsts), reduced.k, search.radius)
        index.query(reduced, near, counted)
        indices, distances = near.result(np.dtype(np.float64))
        indices, distances = _all_nearest(indices, distances, y, search)
        indices, distances = indices[x.numbers], distances[x.numbers]
        if search.skip:
            indices, distances = without_own(indices, distances, np.arange(len(x.numbers)))
        lists.indices[:], lists.distances[:] = indices, distances
    else:
        near = WithinLists(reduced.pairs.shape, search.radius)
        index.query(reduced, near, counted)
        _all_within(near.result(reduced.pairs.dtype), x, y, search.skip, lists)
    counted.rule_out("copies", search.n_pairs - counted.pairs)
    counted.pairs = 0
    info.add(counted)


def _all_nearest(
    numbers: np.ndarray, values: np.ndarray, y: Copies, search: NeighborSearch
) -> tuple[np.ndarray, np.ndarray]:
    """Return the nearest of all objects, sorted, from the nearest distinct ones.

    Objects before the first of several equal ones come before all of these, so the k nearest
    distinct objects and their copies include the k nearest of all.
    """
    length = search.k + search.skip
    indices = np.full((len(numbers), length), np.iinfo(np.int64).max)
    distances = np.full((len(numbers), length), np.inf)
    members, starts = y.members()
    counts = np.where(numbers < 0, 0, np.minimum(y.counts[numbers], length))
    # Copies after enough other objects are not needed.
    before = np.cumsum(counts, axis=1) - counts
    ties = np.arange(numbers.shape[1]) * np.ones(len(numbers), np.int64)[:, None]
    ties[:, 1:][values[:, 1:] == values[:, :-1]] = 0
    counts[np.take_along_axis(before, np.maximum.accumulate(ties, axis=1), axis=1) >= length] = 0
    sums = counts.sum(axis=1)
    ends = np.searchsorted(np.cumsum(sums), np.arange(0, sums.sum(), _ENTRIES)[1:])
    for rows in np.split(np.arange(len(numbers)), ends):
        repeats, objects, each = counts[rows].ravel(), numbers[rows].ravel(), sums[rows]
        offsets = offsets_of(repeats)
        positions = np.arange(offsets[-1]) - np.repeat(offsets[:-1], repeats)
        entries = members[np.repeat(starts[objects], repeats) + positions]
        apart, row = np.repeat(values[rows].ravel(), repeats), np.repeat(rows, each)
        order = np.lexsort((entries, apart, row))
        rank = np.arange(len(order)) - np.repeat(offsets_of(each)[:-1], each)
        order, row, rank = (each[rank < length] for each in (order, row, rank))
        indices[row, rank], distances[row, rank] = entries[order], apart[order]
    return indices, distances


def _all_within(
    graph: sparse.csr_array, x: Copies, y: Copies, skip: bool, lists: WithinLists
) -> None:
    """Add all pairs within a radius, given the pairs of distinct objects."""
    members, starts = y.members()
    counts = y.counts[graph.indices]
    offsets = offsets_of(counts)[graph.indptr]  # of the neighbours of each distinct object
    sizes = np.diff(offsets)[x.numbers]
    ends = np.searchsorted(np.cumsum(sizes), np.arange(0, sizes.sum(), _ENTRIES)[1:])
    for rows in np.split(np.arange(len(x.numbers)), ends):
        numbers = x.numbers[rows]
        entries = _runs(graph.indptr[numbers], np.diff(graph.indptr)[numbers])
        each = counts[entries]
        columns = members[_runs(starts[graph.indices[entries]], each)]
        lines, values = np.repeat(rows, sizes[rows]), np.repeat(graph.data[entries], each)
        mask = lines != columns if skip else slice(None)
        lists.extend(lines[mask], columns[mask], values[mask])


def _runs(starts: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """Return the indices of runs, concatenated."""
    offsets = offsets_of(lengths)
    return np.repeat(starts - offsets[:-1], lengths) + np.arange(offsets[-1])
