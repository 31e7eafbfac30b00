# SPDX-License-Identifier: BSD-3-Clause
"""Three ways to grow the minimum spanning tree: by radius, by lists of the nearest, by rows.

Weights are distances or, with `cores`, the largest of a distance and both objects' cores.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from d2ke._ext import neighbor_lists
from d2ke.distances.pairs import numbered
from d2ke.distances.problem import PairBlock, Transform
from d2ke.groups.forest import Edges, Forest
from d2ke.neighbors import string_costs, strings
from d2ke.neighbors.bounded import FEWEST_PAIRS, Bounded, RefinedSearch, pays
from d2ke.neighbors.info import NeighborsInfo
from d2ke.neighbors.lists import NearestLists
from d2ke.neighbors.problem import NeighborSearch
from d2ke.neighbors.strategies import build_index
from d2ke.neighbors.tiles import search_tiles
from d2ke.objects.container import Objects, span_of, take

_DENSE_K = 8  # neighbours of each object that are kept when all distances are computed
_FEW_STRINGS = 1000  # whose rows are computed one by one
_CHUNK = 512  # rows that a round searches, at least, before it takes the lower limits
_NONE = np.iinfo(np.int64).max  # no object
_TILE = 1 << 11, 1 << 12  # rows and columns of distances that are held at a time
_BLOCK = 1 << 22  # the same by rows: their product

# Finds the nearest of some rows outside of their components, no farther than a limit of each row:
# ``find(rows, limits, labels) -> columns, weights``, sorted, and _NONE and infinity for no others.
Find = Callable[[np.ndarray, np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]


def grow(
    search: NeighborSearch,
    forest: Forest,
    cores: np.ndarray | None = None,
    lists: NearestLists | None = None,
) -> None:
    """Grow the whole tree; `lists` are the sorted nearest of all objects, if they are known."""
    pairs = search.pairs
    n = pairs.shape[0]
    if n == 1:
        return
    if isinstance(pairs.x, Objects) and pairs.x.has_letters and n >= _FEW_STRINGS:
        # With short strings, one row takes as long as a hundred.
        reach = np.full(n, 0.0)
        if strings.applies(search) and not string_costs.normalized(pairs):
            reach[:] = grow_by_radius(search, forest, cores)
            lists = None
        elif lists is None:
            k = min(_DENSE_K, n - 1)
            lists = NearestLists(n, k)
            search_tiles(replace(search, k=k), lists, NeighborsInfo(0))
            lists.result(pairs.dtype)
        grow_by_lists(forest, cores, lists, reach, dense_find(search, cores), _DENSE_K)
    elif n * n >= FEWEST_PAIRS:
        bounded = build_index(search).bounds(pairs, search.n_threads)
        k = min(4 if lists is None else lists.indices.shape[1], n - 1)
        by_lists = replace(search, k=k)
        if bounded is not None and pays(by_lists, bounded):
            if lists is None:
                lists = NearestLists(n, k)
                RefinedSearch(by_lists, bounded, lists).search_all()
                lists.result(pairs.dtype)
            find = bounded_find(search, bounded, cores)
            grow_by_lists(forest, cores, lists, np.zeros(n), find, 1)
    grow_by_rows(search, forest, cores)


def grow_by_radius(search: NeighborSearch, forest: Forest, cores: np.ndarray | None) -> int:
    """Add all edges of weight 0, 1, 2, ... while their search costs less than all distances.

    Pairs within the largest component add no edge, so ever fewer objects are searched.
    Returns the least weight of the edges that are left.
    """
    finder, radius, left = strings.StringFinder(search), 0, np.arange(len(forest.labels))
    while forest.count > 1:
        rows = left if cores is None else left[cores[left] <= radius]
        batches = finder.pairs_within(rows, radius) if len(rows) else ()
        if batches is None:
            break
        edges = []
        for i, j, distances in batches:
            if cores is not None:
                distances = np.maximum(distances, np.maximum(cores[i], cores[j]))
                near = distances <= radius
                i, j, distances = i[near], j[near], distances[near]
            edges.append(forest.least(Edges.of(i, j, distances)))
        forest.add(forest.least(Edges.join(edges)))
        left, radius = forest.outside(), radius + 1
    return radius


def grow_by_lists(
    forest: Forest,
    cores: np.ndarray | None,
    lists: NearestLists | None,
    reach: np.ndarray,
    find: Find,
    width: int,
) -> None:
    """Add the least edge of components, round by round (Boruvka), from lists of the nearest.

    An edge is the least of its component if no object of it can have a nearer one beyond its
    list. The smallest of the other components are searched with `find`, which returns `width`
    columns. `reach` are the least weights of edges that are not known.
    """
    n = len(forest.labels)
    columns, weights = np.empty((n, 0), np.int64), np.empty((n, 0))
    if lists is not None:
        columns, weights = lists.indices, lists.distances
        if cores is not None:
            weights = np.maximum(weights, np.maximum(cores[columns], cores[:, None]))
        reach = np.maximum(reach, weights[:, -1])
    # Later results are in the order of weights, like lists without cores.
    later_weights = np.full((n, width), np.inf)
    later = np.repeat(np.arange(n)[:, None], width, axis=1)
    while forest.count > 1:
        labels = forest.labels
        other, lowest = _least(later, later_weights, labels)
        decided = other != _NONE
        listed_other, listed = _least(columns, weights, labels)
        nearer = (listed < lowest) | ((listed == lowest) & (listed_other < other))
        lowest, other = np.where(nearer, listed, lowest), np.where(nearer, listed_other, other)
        if cores is None:
            decided = other != _NONE
        limit = np.full(forest.count, np.inf)
        np.minimum.at(limit, labels, lowest)
        open_ = ~decided & (reach <= limit[labels])
        sizes, n_open = np.bincount(labels), np.bincount(labels, open_)
        ready = n_open == 0
        if not ready.any():
            # The smallest first: an object is searched when its component grows by a part of it.
            ready = sizes <= 2 * sizes.min()
            ready[sizes.argmax()] = False
            rows = np.flatnonzero(ready[labels] & open_)
            n_chunks = min(16, 1 + len(rows) // _CHUNK)
            for chunk in np.array_split(rows[np.argsort(reach[rows], kind="stable")], n_chunks):
                chunk = np.sort(chunk[reach[chunk] <= limit[labels[chunk]]])
                if not len(chunk):
                    continue
                limits = limit[labels[chunk]]
                column, near = find(chunk, limits, labels)
                hit = column != _NONE
                later[chunk], later_weights[chunk] = np.where(hit, column, chunk[:, None]), near
                reach[chunk] = np.where(hit[:, -1], near[:, -1], np.nextafter(limits, np.inf))
                hit = hit[:, 0]
                chunk = chunk[hit]
                lowest[chunk], other[chunk] = near[hit, 0], column[hit, 0]
                np.minimum.at(limit, labels[chunk], near[hit, 0])
        rows = np.flatnonzero(ready[labels] & (other != _NONE) & (lowest == limit[labels]))
        edges = Edges.of(rows, other[rows], lowest[rows])
        order = edges.order()
        _, first = np.unique(labels[rows[order]], return_index=True)
        forest.add(forest.least(edges.take(order[first])))


def _least(
    columns: np.ndarray, weights: np.ndarray, labels: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the first column of least weight outside of each row's component, and this weight."""
    away = labels[columns] != labels[:, None]
    lowest = np.where(away, weights, np.inf).min(axis=1, initial=np.inf)
    tied = away & (weights == lowest[:, None])
    return np.where(tied, columns, _NONE).min(axis=1, initial=_NONE), lowest


def bounded_find(search: NeighborSearch, bounded: Bounded, cores: np.ndarray | None) -> Find:
    """Find by lower bounds."""
    outside = NearestLists(search.pairs.shape[0], 1)
    refined = RefinedSearch(replace(search, k=1), bounded, outside)

    def find(rows: np.ndarray, limits: np.ndarray, labels: np.ndarray) -> tuple[Any, Any]:
        outside.distances[rows, 0], outside.indices[rows] = limits, _NONE
        refined.search(rows, groups=labels, cores=cores)
        return outside.indices[rows], outside.distances[rows]

    return find


def dense_find(search: NeighborSearch, cores: np.ndarray | None) -> Find:
    """Find by all distances of the rows."""
    pairs, n_threads = search.pairs, search.n_threads
    n, (height, width) = pairs.shape[0], _TILE

    def find(rows: np.ndarray, limits: np.ndarray, labels: np.ndarray) -> tuple[Any, Any]:
        near = NearestLists(len(rows), _DENSE_K)
        alone = np.bincount(labels)[labels[rows]] == 1
        for top in range(0, len(rows), height):
            chunk, single = rows[top : top + height], alone[top : top + height]
            x, several = pairs.x[chunk], np.flatnonzero(~single)
            for left in range(0, n, width):
                right = min(left + width, n)
                tile = pairs.distances(PairBlock(x, span_of(pairs.x, left, right)), n_threads)
                if cores is not None:
                    tile = np.maximum(tile, np.maximum.outer(cores[chunk], cores[left:right]))
                here = np.flatnonzero(single & (left <= chunk) & (chunk < right))
                tile[here, chunk[here] - left] = np.inf
                same_group = labels[chunk[several], None] == labels[None, left:right]
                tile[several] = np.where(same_group, np.inf, tile[several])
                neighbor_lists.keep_nearest(
                    tile, top, left, False, False, near.distances, near.indices, n_threads
                )
        indices, distances = near.result(np.dtype(np.float64))
        indices[distances == np.inf] = _NONE
        return indices, distances

    return find


def grow_by_rows(search: NeighborSearch, forest: Forest, cores: np.ndarray | None) -> None:
    """Join all components to the largest, the nearest first, each distance once (Prim)."""
    pairs, joined = search.pairs, []
    compact_below = 0.75  # copy the columns when a smaller share is alive
    if isinstance(pairs.x, list):
        pairs, compact_below = numbered(pairs), 1
    left = forest.outside()
    lowest, other = np.full(len(left), np.inf), np.full(len(left), _NONE)
    columns, labels = take(pairs.x, left), forest.labels[left]
    members = np.setdiff1d(np.arange(len(forest.labels)), left)
    alive = np.ones(len(left), bool)
    while alive.any():
        step = max(1, _BLOCK // len(left))
        for first in range(0, len(members), step):
            chunk = members[first : first + step]
            try:
                tile = pairs.distances(PairBlock(take(pairs.x, chunk), columns), search.n_threads)
            except ValueError:  # a user's function returned no distance; with the objects' numbers:
                for i in chunk.tolist():
                    row = pairs.rows(slice(i, i + 1))
                    row.run(np.empty((1, pairs.shape[1])), 1, None, Transform())
                raise
            if cores is not None:
                tile = np.maximum(tile, np.maximum.outer(cores[chunk], cores[left]))
            at = tile.argmin(axis=0)
            near, new = tile[at, np.arange(len(left))], chunk[at]
            better = (near < lowest) | ((near == lowest) & (new < other))
            lowest[better], other[better] = near[better], new[better]
        open_ = np.flatnonzero(alive)
        tied = open_[lowest[open_] == lowest[open_].min()]
        edges = Edges.of(left[tied], other[tied], lowest[tied])
        best = edges.order()[:1]
        joined.append(edges.take(best))
        now = alive & (labels == labels[tied[best]])
        members = left[now]
        alive &= ~now
        if alive.sum() < compact_below * len(alive):
            left, lowest, other, labels = left[alive], lowest[alive], other[alive], labels[alive]
            columns, alive = take(pairs.x, left), np.ones(len(left), bool)
    if joined:
        forest.add(Edges.join(joined))
