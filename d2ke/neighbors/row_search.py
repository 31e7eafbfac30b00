# SPDX-License-Identifier: BSD-3-Clause
"""A search by blocks of rows, each kept as a part of a checkpoint."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from d2ke._base.checkpoint import Checkpoint, made_with
from d2ke.distances.fingerprint import description
from d2ke.neighbors.copies import distinct_search, search_neighbors
from d2ke.neighbors.info import NeighborsInfo
from d2ke.neighbors.itself import itself_first
from d2ke.neighbors.lists import NearestLists, WithinLists, check_graph, without_own
from d2ke.neighbors.problem import NeighborSearch
from d2ke.neighbors.strategies import Strategy, choose_strategy
from d2ke.objects.copies import Copies

# Blocks take about so long: what a kill may lose, and what each prepares has to pay.
_BLOCK_SECONDS = 4.0
_FIRST_ROWS = 64
_MAX_ROWS = 1 << 16


class RowNeighbors(NamedTuple):
    """Neighbours of some rows: their counts, and all indices and distances end to end."""

    counts: np.ndarray
    indices: np.ndarray
    distances: np.ndarray


def search_record(search: NeighborSearch) -> dict[str, Any]:
    """Return what must stay the same for a search to be resumed."""
    pairs = search.pairs
    described, inputs = description(pairs)
    radius = None if np.isinf(search.radius) else search.radius
    parameters = {"k": search.k or None, "radius": radius, "without_self": search.skip}
    sizes = {"n": pairs.shape[0], "m": pairs.shape[1], "dtype": pairs.dtype.name}
    return {"function": pairs.names.function, **parameters, **sizes, **described, **inputs,
            **made_with()}  # fmt: skip


def search_by_rows(
    search: NeighborSearch, kept: Checkpoint
) -> tuple[sparse.csr_array, NeighborsInfo]:
    """Search the rows that are not in the checkpoint, in blocks that take about the same time.

    Returns the graph of all rows, those of the k nearest with the nearest first, and what was
    computed.
    """
    distinct = distinct_search(search)
    whole, copies = (search, None) if distinct is None else (distinct.search, distinct.y)
    strategy, info = choose_strategy(whole), NeighborsInfo(0)
    prepared = None
    n, m = search.pairs.shape
    starts, blocks = kept.numbers("rows"), []
    first, count, entries = 0, min(_FIRST_ROWS, _MAX_ROWS), 0
    while first < n:
        arrays = kept.arrays(("rows", first)) if first in starts else None
        if arrays is not None:
            neighbors = RowNeighbors(**arrays)
        else:
            if prepared is None:
                prepared = strategy.prepare(whole)
            last = min(first + count, n, *(start for start in starts if start > first))
            started = time.perf_counter()
            report = search.report and _share(search.report, (first, last), (n, m))
            block = search.block(slice(first, last), prepared=prepared, report=report)
            neighbors = _search_block(block, search, strategy, copies, info)
            kept.put_arrays(("rows", first), **neighbors._asdict())
            seconds = max(time.perf_counter() - started, 1e-9)
            target = int(_BLOCK_SECONDS * (last - first) / seconds)
            count = max(1, min(target, 4 * (last - first), _MAX_ROWS))
        blocks.append(neighbors)
        entries += len(neighbors.indices)
        check_graph(entries)
        first += len(neighbors.counts)
    counts, indices, distances = (np.concatenate(side) for side in zip(*blocks, strict=True))
    kind = np.int32 if max(n, m, entries) < 2**31 else np.int64
    indptr = np.append(0, np.cumsum(counts)).astype(kind)
    csr = distances, indices.astype(kind, copy=False), indptr
    return sparse.csr_array(csr, shape=(n, m)), info


def _share(
    report: Callable[[int, int], None], rows: tuple[int, int], shape: tuple[int, int]
) -> Callable[[int, int], None]:
    """Return a report of the search of some rows that shows the progress of all."""
    (first, last), (n, m) = rows, shape

    def visit(done: int, total: int) -> None:
        share = done / max(total, 1) * (last - first)
        report(int((first + share) * m), n * m)

    return visit


def _search_block(
    block: NeighborSearch,
    whole: NeighborSearch,
    strategy: Strategy,
    copies: Copies | None,
    info: NeighborsInfo,
) -> RowNeighbors:
    """Search some rows of the whole; the objects themselves are dropped where it skips them."""
    (n, m), dtype, first = block.pairs.shape, block.pairs.dtype, block.pairs.first
    numbers = np.arange(first, first + n)
    counted = NeighborsInfo(block.n_pairs)
    kind = np.int32 if m < 2**31 else np.int64
    if block.k:
        lists = NearestLists(n, block.k, block.radius)
        search_neighbors(block, lists, counted, strategy, copies)
        indices, distances = lists.result(dtype)
        if whole.skip:
            indices, distances = without_own(indices, distances, numbers)
        elif whole.same:
            indices, distances = itself_first(block.pairs, indices, distances)
        counts = np.full(n, indices.shape[1])
        indices, distances = indices.ravel(), distances.ravel()
    else:
        near = WithinLists((n, m), block.radius)
        search_neighbors(block, near, counted, strategy, copies)
        graph = near.result(dtype)
        rows = np.repeat(np.arange(n), np.diff(graph.indptr))
        other = graph.indices != numbers[rows] if whole.skip else np.ones(len(rows), bool)
        counts = np.bincount(rows[other], minlength=n)
        indices, distances = graph.indices[other], graph.data[other]
    info.add(counted)
    return RowNeighbors(counts.astype(np.int64), indices.astype(kind), distances)
