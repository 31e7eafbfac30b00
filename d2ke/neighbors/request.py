# SPDX-License-Identifier: BSD-3-Clause
"""The options of a call of `nearest` or `within`: checks, memory, and the result's destination."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from scipy import sparse

from d2ke._base.checks import byte_count, flag
from d2ke._base.errors import ArgumentError, ArgumentTypeError
from d2ke._base.memory import check_fits
from d2ke._base.progress import progress_bar
from d2ke.distances.blocks import all_prepared_bytes
from d2ke.distances.fingerprint import description
from d2ke.distances.output import Output
from d2ke.distances.problem import PairwiseProblem
from d2ke.io.store.writer import Content
from d2ke.neighbors.block_search import MemoryGraph, fill, result_bytes
from d2ke.neighbors.info import NeighborsInfo
from d2ke.neighbors.lists import NearestLists, WithinLists
from d2ke.neighbors.problem import NeighborSearch
from d2ke.neighbors.store import GraphFile
from d2ke.neighbors.strategies import choose_strategy
from d2ke.objects.container import Objects


@dataclass(frozen=True)
class Request:
    """The options of a public function, checked when it is made."""

    pairs: PairwiseProblem
    same: bool
    include_self: bool
    metric: bool
    max_memory: Any
    info: bool
    output: Output

    def __post_init__(self) -> None:
        checked = {
            "include_self": flag("include_self", self.include_self),
            "metric": flag("metric", self.metric),
            "info": flag("info", self.info),
        }
        out = self.output.out
        if out is not None and not self.output.to_file:
            raise ArgumentTypeError("out", f"must be a path, got {type(out).__name__}")
        if self.include_self and not self.same:
            raise ArgumentTypeError(
                "include_self", "goes with Y=None: other objects have no selves in Y"
            )
        if self.metric and not callable(self.pairs.distance):
            raise ArgumentTypeError(
                "metric",
                "goes with a Python distance; d2ke knows the metrics among those with a name",
            )
        if self.max_memory is not None:
            checked["max_memory"] = byte_count("max_memory", self.max_memory)
        for name, value in checked.items():
            object.__setattr__(self, name, value)

    def search(self, k: int | None = None, radius: float | None = None) -> NeighborSearch:
        """Return the search for the k nearest, or for those within a radius."""
        skip = self.same and not self.include_self
        options = (self.output.n_threads, self.metric, self.max_memory)
        return NeighborSearch(self.pairs, self.same, skip, k, radius, *options)

    def run(self, search: NeighborSearch, lists: NearestLists | WithinLists) -> NeighborsInfo:
        """NeighborSearch, and return what was computed."""
        info = NeighborsInfo(search.n_pairs)
        with progress_bar(self.output.progress, "neighbours") as report:
            search = replace(search, report=report)
            choose_strategy(search).search(search, lists, info)
        return info

    @property
    def by_blocks(self) -> bool:
        """Return whether rows are searched in blocks, for a file or by workers."""
        return self.output.to_file or self.output.client is not None

    def search_blocks(
        self, search: NeighborSearch
    ) -> tuple[sparse.csr_array | Path, NeighborsInfo]:
        """Search by blocks of rows; return the graph or the file, and what was computed."""
        output = self.output
        target: GraphFile | MemoryGraph
        if output.to_file:
            memory_left(search, to_file=True)
            target = open_graph(search, output)
        else:
            target = MemoryGraph(search.pairs.shape, memory_left(search))
        with closing(target), progress_bar(output.progress, "neighbours") as report:
            info = NeighborsInfo(0)
            if not target.finished:
                info = fill(search, target, output.client, report)
                target.finish()
            return target.result(), info


def open_graph(search: NeighborSearch, output: Output) -> GraphFile:
    """Begin the file of a search, or resume it."""
    pairs = search.pairs
    described, inputs = description(pairs)
    wanted = {"k": search.k, "radius": search.radius, "without_self": search.skip}
    described = {"function": pairs.names.function, **wanted, **described}
    content = Content(described, inputs)
    return GraphFile(output.out, pairs.shape, pairs.dtype, content, resume=output.resume)


def memory_left(search: NeighborSearch, to_file: bool = False) -> int | None:
    """Return the bytes that max_memory leaves for a graph in memory, or raise.

    The objects, the kernels' copies of them, an index, two blocks of distances and the k nearest
    of all rows are counted.
    """
    pairs = search.pairs
    n = pairs.shape[0]
    nearest = 0 if to_file or search.k is None else 48 * n * search.k
    check_fits(
        nearest,
        f"the {search.k} nearest of {n} objects",
        "give a path as out, and blocks of rows go to that file",
    )
    if search.max_memory is None:
        return None
    collections = [pairs.x] if search.same else [pairs.x, pairs.y]
    objects = sum(part.nbytes for part in collections if isinstance(part, Objects))
    block = max(search.tile_bytes, result_bytes(search.max_memory) if to_file else 0)
    index = choose_strategy(search).index_bytes(search)
    needed = nearest + 2 * block + all_prepared_bytes(pairs) + index
    if objects + needed > search.max_memory:
        raise ArgumentError(
            "max_memory",
            f"is {search.max_memory} bytes, but {objects + needed} are needed at least: "
            f"{objects} for the objects, {needed} to search them",
        )
    return search.max_memory - objects - needed
