# SPDX-License-Identifier: BSD-3-Clause
"""Neighbours by blocks of rows: to a file, or by the workers of a cluster."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, Protocol

import numpy as np
from scipy import sparse

from d2ke._base.signals import deferred_interrupts
from d2ke._base.threads import team_size
from d2ke.distances.cluster import Remote
from d2ke.neighbors.info import NeighborsInfo
from d2ke.neighbors.lists import (
    ENTRY_BYTES,
    GraphTooLargeError,
    NearestLists,
    WithinLists,
    check_graph,
    without_own,
)
from d2ke.neighbors.problem import NeighborSearch
from d2ke.neighbors.strategies import Strategy, choose_strategy

# Blocks take about so long: what a kill may lose, and what each prepares has to pay.
_BLOCK_SECONDS = 4.0
_FIRST_ROWS = 64
_MOST_ROWS = 1 << 16
_REMOTE_BYTES = 1 << 24  # of the nearest in a block that is sent
_RESULT_BYTES = 1 << 26


class RowNeighbors(NamedTuple):
    """Neighbours of some rows: their counts, and all indices and distances end to end."""

    counts: np.ndarray
    indices: np.ndarray
    distances: np.ndarray


class GraphTarget(Protocol):
    """A collector of blocks of rows: a file or a graph in memory."""

    def missing(self, first: int, limit: int) -> range:
        """Return the next missing rows from `first` on, at most `limit`."""

    def put(self, rows: slice, found: RowNeighbors) -> None:
        """Keep the neighbours of some rows."""


@dataclass(frozen=True)
class BlockSearch:
    """A search of some rows at a time, here or on a cluster's workers."""

    search: NeighborSearch
    strategy: Strategy

    def __getstate__(self) -> dict[str, Any]:
        """Leave out what was prepared: each worker prepares it once."""
        return {"search": self.search, "strategy": self.strategy}

    @cached_property
    def _prepared(self) -> Any:
        return self.strategy.prepare(self.search)

    def rows(
        self,
        rows: slice,
        report: Callable[[int, int], None] | None = None,
        limit: int | None = None,
        n_threads: int | None = None,
    ) -> tuple[RowNeighbors, NeighborsInfo]:
        """Search some rows; the pairs within the radius may take `limit` bytes."""
        search = self.search
        changes = {"report": report, "n_threads": n_threads or search.n_threads}
        block = search.block(rows, prepared=self._prepared, **changes)
        (n, m), dtype = block.pairs.shape, block.pairs.dtype
        info = NeighborsInfo(block.n_pairs)
        numbers = np.arange(rows.start, rows.stop)
        kind = index_type(m)
        if block.k:
            lists = NearestLists(n, block.k)
            self.strategy.search(block, lists, info)
            indices, distances = lists.result(dtype)
            if search.skip:
                indices, distances = without_own(indices, distances, numbers)
            counts = np.full(n, search.k, np.int64)
            return RowNeighbors(counts, indices.ravel().astype(kind), distances.ravel()), info
        lists = WithinLists((n, m), block.radius, limit)
        self.strategy.search(block, lists, info)
        graph = lists.result(dtype)
        counts, indices, distances = np.diff(graph.indptr), graph.indices, graph.data
        if search.skip:
            own = indices == np.repeat(numbers, counts)
            counts = counts - np.bincount(np.repeat(np.arange(n), counts)[own], minlength=n)
            indices, distances = indices[~own], distances[~own]
        return RowNeighbors(
            counts.astype(np.int64), indices.astype(kind, copy=False), distances
        ), info

    def block(
        self, part: slice, first: int, check: Callable[[int, int], None] | None
    ) -> tuple[RowNeighbors, NeighborsInfo]:
        """Search some rows on a worker."""
        return self.rows(part, check, n_threads=team_size(self.search.n_threads))


class MemoryGraph:
    """A graph in memory, of at most `limit` bytes, built from blocks of rows."""

    finished = False

    def __init__(self, shape: tuple[int, int], limit: int | None):
        self._shape, self._limit, self._entries = shape, limit, 0
        self._parts: dict[int, RowNeighbors] = {}

    def missing(self, first: int, limit: int) -> range:
        """Return the next rows; all from `first` on are missing."""
        return range(first, min(first + limit, self._shape[0]))

    def put(self, rows: slice, found: RowNeighbors) -> None:
        """Keep the neighbours of some rows."""
        self._parts[rows.start] = found
        self._entries += len(found.indices)
        check_graph(self._entries, self._limit)

    def finish(self) -> None:
        """Do nothing: `result` builds the graph."""

    def result(self) -> sparse.csr_array:
        """Return the graph."""
        parts = [self._parts.pop(start) for start in sorted(self._parts)]
        rows = RowNeighbors(*(np.concatenate(of) for of in zip(*parts, strict=True)))
        return graph_of(rows, self._shape[1])

    def close(self) -> None:
        """Forget the blocks."""
        self._parts.clear()


def graph_of(rows: RowNeighbors, m: int) -> sparse.csr_array:
    """Return some rows of a graph with m columns."""
    starts = np.append(0, np.cumsum(rows.counts))
    kind = np.int32 if max(m, len(rows.counts), len(rows.indices)) < 2**31 else np.int64
    parts = rows.distances, rows.indices.astype(kind, copy=False), starts.astype(kind)
    return sparse.csr_array(parts, shape=(len(rows.counts), m))


def index_type(m: int) -> type:
    """Return the type of the numbers of m objects."""
    return np.int32 if m < 2**31 else np.int64


def result_bytes(limit: int | None) -> int:
    """Return the bytes that the neighbours of a block of rows may take."""
    return _RESULT_BYTES if limit is None else max(1, min(_RESULT_BYTES, limit // 8))


def fill(
    search: NeighborSearch,
    target: GraphTarget,
    client: Any,
    report: Callable[[int, int], None] | None,
) -> NeighborsInfo:
    """Search all rows that are missing, here or on the workers of a client."""
    strategy = choose_strategy(search)
    if client is None:
        return _fill_here(BlockSearch(search, strategy), target, report)
    remote = Remote(search.pairs, client, BlockSearch(search, strategy), lambda rows: rows)
    info = NeighborsInfo(0)
    n, m = search.pairs.shape
    max_rows = min(_MOST_ROWS, max(1, _REMOTE_BYTES // (16 * search.k))) if search.k else _MOST_ROWS
    done = 0
    with (
        deferred_interrupts(),
        closing(remote.blocks(target.missing, 1, min(max_rows, n))) as blocks,
    ):
        for rows, (found, counts) in blocks:
            target.put(rows, found)
            info.add(counts)
            done += rows.stop - rows.start
            if report is not None:
                report(done * m, n * m)
    return info


def _fill_here(
    blocks: BlockSearch, target: GraphTarget, report: Callable[[int, int], None] | None
) -> NeighborsInfo:
    """Search all rows that are missing, in blocks that take about the same time."""
    search, info = blocks.search, NeighborsInfo(0)
    n, m = search.pairs.shape
    room = result_bytes(search.max_memory)
    # A row takes as much even before its neighbours are known.
    each = 200 if search.k is None else 200 + 48 * (search.k + 1)
    max_rows = max(1, min(_MOST_ROWS, room // each))
    first, count = 0, min(_FIRST_ROWS, max_rows)
    while missing := target.missing(first, count):
        rows = slice(missing.start, missing.stop)

        def visit(done: int, total: int, rows: slice = rows) -> None:
            share = done / max(total, 1) * (rows.stop - rows.start)
            report(int((rows.start + share) * m), n * m)

        started = time.perf_counter()
        try:
            found, counts = blocks.rows(rows, report and visit, room)
        except GraphTooLargeError:
            if len(missing) == 1:
                raise
            count = max_rows = max(1, len(missing) // 2)
            continue
        seconds = time.perf_counter() - started
        target.put(rows, found)
        info.add(counts)
        first = rows.stop
        wanted = int(_BLOCK_SECONDS * len(missing) / max(seconds, 1e-9))
        if search.k is None:  # the next rows may have twice as many neighbours
            per_row = 1 + 2 * ENTRY_BYTES * len(found.indices) / len(missing)
            wanted = min(wanted, int(room / per_row))
        count = max(1, min(wanted, 4 * len(missing), max_rows))
    return info
