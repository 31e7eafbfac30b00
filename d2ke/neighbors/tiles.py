# SPDX-License-Identifier: BSD-3-Clause
"""Exhaustive search: all distances, tile by tile."""

from __future__ import annotations

from math import isqrt

import numpy as np

from d2ke.distances.problem import PairBlock, Transform
from d2ke.neighbors.info import NeighborsInfo
from d2ke.neighbors.lists import NearestLists, WithinLists
from d2ke.neighbors.problem import NeighborSearch
from d2ke.objects.container import span_of


def search_tiles(
    search: NeighborSearch, lists: NearestLists | WithinLists, info: NeighborsInfo
) -> None:
    """Compute all distances in tiles, and keep the neighbours.

    Tiles below the diagonal of a symmetric problem are not computed.
    """
    pairs = search.pairs
    n, m = pairs.shape
    cells = search.tile_bytes // pairs.dtype.itemsize
    height = width = max(1, isqrt(cells))
    if not pairs.same:  # few rows make wide tiles, few columns high ones
        height, width = max(height, cells // m), max(width, cells // n)
    buffer = np.empty(min(height, n) * min(width, m), pairs.dtype)
    total, done = (n * (n + 1) // 2 if pairs.same else n * m), 0
    corners = (
        (top, left)
        for top in range(0, n, height)
        for left in range(top if pairs.same else 0, m, width)
    )
    for top, left in corners:
        bottom, right = min(top + height, n), min(left + width, m)
        on_diagonal = pairs.same and left == top
        x = span_of(pairs.x, top, bottom)
        y = x if on_diagonal else span_of(pairs.y, left, right)
        tile = buffer[: (bottom - top) * (right - left)].reshape(bottom - top, right - left)
        compiled = pairs.compile(PairBlock(x, y, on_diagonal, pairs.first + top, left))
        compiled.run(tile, search.n_threads, search.reporter(done, total), Transform())
        if search.hidden is not None:
            tile[:, search.hidden[left:right]] = np.nan  # which no list keeps
        mirror = pairs.same and not on_diagonal
        lists.add(tile, (top, left), search.skip, mirror, search.n_threads)
        done += len(x) * (len(x) + 1) // 2 if on_diagonal else tile.size
    info.computed += total - (n if search.skip else 0)
    info.rule_out("symmetry", n * m - total)
