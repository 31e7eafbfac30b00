# SPDX-License-Identifier: BSD-3-Clause
"""Search strategies, in the order in which they are tried."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from scipy import sparse

from d2ke.neighbors import pivots, series, strings
from d2ke.neighbors.bounded import Bounded
from d2ke.neighbors.info import NeighborsInfo
from d2ke.neighbors.lists import NearestLists, WithinLists
from d2ke.neighbors.problem import NeighborSearch
from d2ke.neighbors.tiles import search_tiles


class Strategy(NamedTuple):
    """A way to find neighbours.

    `applies` returns whether it can be used. `search` fills the lists and counts the computed
    distances. `bounds` returns the lower bounds that the search uses, or None.
    """

    applies: Callable[[NeighborSearch], bool]
    search: Callable[[NeighborSearch, NearestLists | WithinLists, NeighborsInfo], None]
    bounds: Callable[[NeighborSearch], Bounded | None] = lambda _: None


_STRATEGIES = (
    Strategy(strings.applies, strings.search_strings),
    Strategy(
        series.applies,
        series.search_series,
        bounds=lambda search: series.series_bounds(search.pairs),
    ),
    Strategy(
        pivots.applies,
        pivots.search_pivots,
        lambda search: pivots.pivot_bounds(search.pairs, search.n_threads),
    ),
    Strategy(lambda _: True, search_tiles),
)


def choose_strategy(search: NeighborSearch) -> Strategy:
    """Return the first strategy that applies."""
    return next(strategy for strategy in _STRATEGIES if strategy.applies(search))


def nearest_lists(search: NeighborSearch) -> NearestLists:
    """Return the sorted lists of the k nearest; equal objects are searched one by one."""
    lists = NearestLists(search.pairs.shape[0], search.k, search.radius)
    choose_strategy(search).search(search, lists, NeighborsInfo(search.n_pairs))
    lists.result(search.pairs.dtype)
    return lists


def radius_graph(search: NeighborSearch) -> sparse.csr_array:
    """Return the graph of all pairs within the radius; equal objects are searched one by one."""
    lists = WithinLists(search.pairs.shape, search.radius)
    choose_strategy(search).search(search, lists, NeighborsInfo(search.n_pairs))
    return lists.result(search.pairs.dtype)
