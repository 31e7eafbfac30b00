# SPDX-License-Identifier: BSD-3-Clause
"""Neighbour searches of packed objects: the k nearest, and those within a radius."""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from d2ke._base.checks import flag, integer, not_negative
from d2ke._base.errors import ArgumentError, ArgumentTypeError
from d2ke._base.memory import check_fits
from d2ke._base.progress import progress_bar
from d2ke._base.threads import team_size
from d2ke.distances.equal_distances import warn_of_first_neighbors
from d2ke.distances.problem import PairwiseProblem
from d2ke.neighbors.copies import search_neighbors
from d2ke.neighbors.info import NeighborsInfo
from d2ke.neighbors.itself import itself_first
from d2ke.neighbors.lists import NearestLists, WithinLists
from d2ke.neighbors.problem import NeighborSearch


@dataclass(frozen=True)
class SearchOptions:
    """The arguments that `nearest` and `within` have in common, as the user gave them."""

    include_self: bool = False
    metric: bool = False
    n_threads: int | None = None
    progress: bool | None = False

    def search(self, pairs: PairwiseProblem, same: bool) -> NeighborSearch:
        """Return a search without k and radius; `same`: whether Y is X."""
        include_self, metric = flag("include_self", self.include_self), flag("metric", self.metric)
        if include_self and not same:
            raise ArgumentTypeError(
                "include_self", "goes with Y=None: other objects have no selves in Y"
            )
        if metric and not callable(pairs.distance):
            raise ArgumentTypeError(
                "metric",
                "goes with a Python distance; d2ke knows the metrics among those with a name",
            )
        skip = same and not include_self
        return NeighborSearch(pairs, same, skip, team_size(self.n_threads), metric)


def find_nearest(
    pairs: PairwiseProblem, same: bool, k: Any, radius: Any, options: SearchOptions
) -> tuple[NDArray[np.int64], NDArray[np.floating[Any]], NeighborsInfo]:
    """Return what `nearest` returns, and what was computed; `same`: whether Y is X."""
    n, m = pairs.shape
    k = others_count(k, n) if same else integer("k", k, 1)
    if k > m:
        raise ArgumentError("k", f"is {k}, but Y has {m} objects")
    search = options.search(pairs, same)
    with_itself = same and not search.skip
    limit = np.inf if radius is None else pairs.rounded(not_negative("radius", radius))
    search = replace(search, k=k + with_itself, radius=limit)
    needed = 48 * n * search.k
    check_fits(needed, f"the {search.k} nearest of {n} objects", "search a part of X at a time")
    lists = NearestLists(n, search.k, limit)
    info = _search(search, lists, options.progress)
    indices, distances = lists.result(pairs.dtype)
    if with_itself:
        indices, distances = itself_first(pairs, indices, distances)
    if radius is None:
        warn_of_first_neighbors(pairs, indices, distances)
    return indices, distances, info


def find_within(
    pairs: PairwiseProblem, same: bool, radius: Any, options: SearchOptions
) -> tuple[sparse.csr_array, NeighborsInfo]:
    """Return what `within` returns, and what was computed; `same`: whether Y is X."""
    search = options.search(pairs, same)
    search = replace(search, radius=pairs.rounded(not_negative("radius", radius)))
    lists = WithinLists(pairs.shape, search.radius)
    info = _search(search, lists, options.progress)
    return lists.result(pairs.dtype), info


def others_count(k: Any, n: int) -> int:
    """Return k, a number of other objects that each of n objects has."""
    k = integer("k", k, 1)
    if k >= n:
        limit = "one other" if n == 2 else f"{n - 1} others"
        raise ArgumentError("k", f"is {k}, but X has {n} objects: each has at most {limit}")
    return k


def _search(
    search: NeighborSearch, lists: NearestLists | WithinLists, progress: bool | None
) -> NeighborsInfo:
    """Fill the lists, and return what was computed."""
    info = NeighborsInfo(search.n_pairs)
    with progress_bar(progress, "neighbours") as report:
        search_neighbors(replace(search, report=report), lists, info)
    logging.getLogger("d2ke").debug("%s: %s", search.pairs.names.function, info)
    return info
