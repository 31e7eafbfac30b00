# SPDX-License-Identifier: BSD-3-Clause
"""The ways to search neighbours, in the order in which they are tried."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from d2ke.neighbors import pivots, series, strings
from d2ke.neighbors.info import NeighborsInfo
from d2ke.neighbors.lists import NearestLists, WithinLists
from d2ke.neighbors.problem import Search
from d2ke.neighbors.tiles import search_tiles


class Way(NamedTuple):
    """A way to search.

    `applies`: whether it can be used. `index_bytes`: what it
    prepares to spare distances. `search` fills the lists, and counts what was computed. `prepare`
    returns what all blocks of rows have in common.
    """

    applies: Callable[[Search], bool]
    index_bytes: Callable[[Search], int]
    search: Callable[[Search, NearestLists | WithinLists, NeighborsInfo], None]
    prepare: Callable[[Search], Any] = lambda _: None


_WAYS = (
    Way(
        strings.applies,
        strings.index_bytes,
        strings.search_strings,
        strings.prepare_strings,
    ),
    Way(series.applies, series.envelope_bytes, series.search_series),
    Way(pivots.applies, pivots.table_bytes, pivots.search_pivots, pivots.prepare_pivots),
    Way(lambda _: True, lambda _: 0, search_tiles),
)


def way_of(search: Search) -> Way:
    """Return the first way that can be used."""
    return next(way for way in _WAYS if way.applies(search))
