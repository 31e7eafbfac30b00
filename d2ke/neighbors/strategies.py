# SPDX-License-Identifier: BSD-3-Clause
"""The indexes of searches, in the order of trial."""

from __future__ import annotations

from scipy import sparse

from d2ke.neighbors.edit_costs import CostIndex
from d2ke.neighbors.info import NeighborsInfo
from d2ke.neighbors.lists import NearestLists, WithinLists
from d2ke.neighbors.pivots import PivotIndex
from d2ke.neighbors.problem import NeighborSearch
from d2ke.neighbors.search_index import SearchIndex
from d2ke.neighbors.series import SeriesIndex
from d2ke.neighbors.strings import StringIndex
from d2ke.neighbors.tiles import search_tiles


class Scan(SearchIndex):
    """Objects without an index: all distances are computed."""

    @classmethod
    def applies(cls, search: NeighborSearch, reused: bool) -> bool:
        """Return True: any search can compute all distances."""
        return True

    @classmethod
    def build(cls, search: NeighborSearch, reused: bool) -> Scan:
        """Prepare nothing."""
        return cls()

    def query(
        self, search: NeighborSearch, lists: NearestLists | WithinLists, info: NeighborsInfo
    ) -> None:
        """Compute all distances."""
        search_tiles(search, lists, info)


INDEXES: dict[str, type[SearchIndex]] = {
    "strings": StringIndex,
    "costs": CostIndex,
    "series": SeriesIndex,
    "pivots": PivotIndex,
    "scan": Scan,
}


def build_index(search: NeighborSearch, reused: bool = False) -> SearchIndex:
    """Build the first index that applies; `reused`: for later searches, too."""
    index = next(index for index in INDEXES.values() if index.applies(search, reused))
    return index.build(search, reused)


def nearest_lists(search: NeighborSearch) -> NearestLists:
    """Return the sorted lists of the k nearest; equal objects are searched one by one."""
    lists = NearestLists(search.pairs.shape[0], search.k, search.radius)
    build_index(search).query(search, lists, NeighborsInfo(search.n_pairs))
    lists.result(search.pairs.dtype)
    return lists


def radius_graph(search: NeighborSearch) -> sparse.csr_array:
    """Return the graph of all pairs within the radius; equal objects are searched one by one."""
    lists = WithinLists(search.pairs.shape, search.radius)
    build_index(search).query(search, lists, NeighborsInfo(search.n_pairs))
    return lists.result(search.pairs.dtype)
