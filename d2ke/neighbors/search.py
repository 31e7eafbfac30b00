# SPDX-License-Identifier: BSD-3-Clause
"""The k nearest objects, and those within a radius."""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import LowLevelCallable, sparse

from d2ke._base.checks import byte_count, flag, integer
from d2ke._base.memory import needs, require_memory
from d2ke._base.progress import progress_bar
from d2ke._base.threads import team_size
from d2ke.distances.blocks import all_prepared_bytes
from d2ke.distances.pairs import check_pairs
from d2ke.distances.problem import Caller, PairwiseProblem
from d2ke.neighbors.info import NeighborsInfo
from d2ke.neighbors.lists import NearestLists, WithinLists
from d2ke.neighbors.problem import Search
from d2ke.neighbors.ways import BOUNDS, STRINGS, way_of
from d2ke.objects.container import Objects

needs(
    "nearest",
    {
        "": "32 n k + B + W",
        STRINGS: "48 n k + 160 n + 96 m + 16 N + B + J",
        BOUNDS: "48 n k + 48 n + 48 m T + B + W + J",
    },
    "a smaller max_memory makes the blocks smaller",
)
needs(
    "within",
    {
        "": "72 E + B + W",
        STRINGS: "72 E + 160 n + 96 m + 16 N + B + J",
        BOUNDS: "72 E + 48 n + 48 m T + B + W + J",
    },
    "a smaller radius keeps fewer pairs",
)


def nearest(
    X: Any,
    Y: Any = None,
    *,
    k: int,
    distance: str | Callable[..., float] | LowLevelCallable | None = None,
    include_self: bool = False,
    metric: bool = False,
    n_threads: int | None = None,
    progress: bool = False,
    max_memory: int | str | None = None,
    info: bool = False,
    **params: Any,
) -> tuple:
    """Find the k nearest objects of Y to each object of X, exactly.

    Parameters
    ----------
    X : Objects or what `pack` takes
        n objects.
    Y : Objects or what `pack` takes, optional
        m objects; None stands for X itself, and then no object is its own neighbour.
    k : int
        Number of neighbours: at most m, or n - 1 where Y is None.
    distance : str, callable or scipy.LowLevelCallable
        As for `distance_matrix`.
    include_self : bool
        Where Y is None: each object is a candidate of its own as any other, and k + 1 neighbours
        are returned, as UMAP and scikit-learn's ``KNeighborsTransformer`` have them.
    metric : bool
        Of a Python distance: it is a metric, that is, 0 for equal objects, symmetric, and never
        longer than a way through a third object (the triangle inequality). Distances to a few
        objects, the pivots, then rule out pairs without their distance. With a Y it is also
        called for two objects of Y. Of the distances with a name d2ke knows it.
    n_threads : int, optional
        Threads to use; None for all that this process may use. The result does not depend on it.
    progress : bool
        Show a progress bar (on a terminal only).
    max_memory : int or str, optional
        Bytes that the call may take, such as ``"512MiB"``, packed X and Y included.
    info : bool
        Return a `NeighborsInfo` too.
    **params
        Parameters of the distance, as for `distance_matrix`.

    Returns
    -------
    indices : ndarray of int64, shape (n, k)
        Of the neighbours in Y, the nearest first; of equal distances the smaller index is first.
    distances : ndarray, shape (n, k)
        The entries of ``distance_matrix(X, Y)``, with the same bits.
    info : NeighborsInfo
        If `info` is set: what was computed.

    Raises
    ------
    TypeError, ValueError
        As `distance_matrix`; a k out of range; too small a `max_memory`; `metric` of a distance
        that is none for some objects that were tried.
    KeyboardInterrupt
        On Ctrl-C, within a second.
    MemoryError
        If the call would take more than there is; see docs/memory.md.

    Examples
    --------
    >>> import d2ke
    >>> indices, distances = d2ke.nearest(["kitten", "mitten", "sitting"], k=1,
    ...                                   distance="levenshtein")
    >>> indices.ravel().tolist(), distances.ravel().tolist()
    ([1, 0, 0], [1.0, 1.0, 3.0])
    """
    pairs = check_pairs(X, Y, distance, params, Caller("nearest"))
    options = (include_self, metric, n_threads, progress, max_memory, info)
    request = _Request(pairs, Y is None, *options)
    k = _neighbor_count(pairs, k, Y is None)
    search = request.search(k=k + (request.same and request.include_self))
    _memory_left(search, k=search.k)
    lists = NearestLists(pairs.shape[0], search.k)
    counts = request.run(search, lists)
    return (*lists.result(pairs.dtype), counts) if request.info else lists.result(pairs.dtype)


def within(
    X: Any,
    Y: Any = None,
    *,
    radius: float,
    distance: str | Callable[..., float] | LowLevelCallable | None = None,
    include_self: bool = False,
    metric: bool = False,
    n_threads: int | None = None,
    progress: bool = False,
    max_memory: int | str | None = None,
    info: bool = False,
    **params: Any,
) -> sparse.csr_array | tuple[sparse.csr_array, NeighborsInfo]:
    """Find all pairs of objects whose distance is at most a radius, exactly.

    Parameters
    ----------
    X : Objects or what `pack` takes
        n objects.
    Y : Objects or what `pack` takes, optional
        m objects; None stands for X itself, and then no object is its own neighbour.
    radius : float
        The largest distance that counts, finite and >= 0.
    distance : str, callable or scipy.LowLevelCallable
        As for `distance_matrix`.
    include_self : bool
        Where Y is None: keep each object's distance to itself too.
    metric : bool
        Of a Python distance: it is a metric, that is, 0 for equal objects, symmetric, and never
        longer than a way through a third object (the triangle inequality). Distances to a few
        objects, the pivots, then rule out pairs without their distance. With a Y it is also
        called for two objects of Y. Of the distances with a name d2ke knows it.
    n_threads : int, optional
        Threads to use; None for all that this process may use. The result does not depend on it.
    progress : bool
        Show a progress bar (on a terminal only).
    max_memory : int or str, optional
        Bytes that the call may take, such as ``"512MiB"``, packed X and Y and the graph included.
    info : bool
        Return a `NeighborsInfo` too.
    **params
        Parameters of the distance, as for `distance_matrix`.

    Returns
    -------
    graph : scipy.sparse.csr_array, shape (n, m)
        The distances, with the bits of ``distance_matrix(X, Y)``. Distances of 0 are stored
        entries; what is not stored is farther than the radius. Indices are sorted.
    info : NeighborsInfo
        If `info` is set: what was computed.

    Raises
    ------
    TypeError, ValueError
        As `distance_matrix`; a radius that is negative or not finite; too small a `max_memory`,
        also for the pairs that were found; `metric` of a distance that is none for some objects
        that were tried.
    KeyboardInterrupt
        On Ctrl-C, within a second.
    MemoryError
        If the call would take more than there is; see docs/memory.md.

    Examples
    --------
    >>> import d2ke
    >>> graph = d2ke.within(["kitten", "mitten", "sitting"], radius=1, distance="levenshtein")
    >>> graph.toarray()
    array([[0., 1., 0.],
           [1., 0., 0.],
           [0., 0., 0.]])
    """
    pairs = check_pairs(X, Y, distance, params, Caller("within"))
    options = (include_self, metric, n_threads, progress, max_memory, info)
    request = _Request(pairs, Y is None, *options)
    search = request.search(radius=_radius(radius))
    lists = WithinLists(pairs.shape, search.radius, _memory_left(search, E=0))
    counts = request.run(search, lists)
    graph = lists.result(pairs.dtype)
    return (graph, counts) if request.info else graph


@dataclass(frozen=True)
class _Request:
    """The options of a public function, checked when it is made."""

    pairs: PairwiseProblem
    same: bool
    include_self: bool
    metric: bool
    n_threads: Any
    progress: bool
    max_memory: Any
    info: bool

    def __post_init__(self) -> None:
        checked = {
            "include_self": flag("include_self", self.include_self),
            "metric": flag("metric", self.metric),
            "info": flag("info", self.info),
            "n_threads": team_size(self.n_threads),
        }
        if self.include_self and not self.same:
            raise TypeError("include_self goes with Y=None: other objects have no selves in Y")
        if self.metric and not callable(self.pairs.distance):
            raise TypeError(
                "metric goes with a Python distance; d2ke knows the metrics among those with a name"
            )
        if self.max_memory is not None:
            checked["max_memory"] = byte_count("max_memory", self.max_memory)
        for name, value in checked.items():
            object.__setattr__(self, name, value)

    def search(self, k: int | None = None, radius: float | None = None) -> Search:
        """Return the search for the k nearest, or for those within a radius."""
        skip = self.same and not self.include_self
        options = (self.n_threads, self.metric, self.max_memory)
        return Search(self.pairs, self.same, skip, k, radius, *options)

    def run(self, search: Search, lists: NearestLists | WithinLists) -> NeighborsInfo:
        """Search, and return what was computed."""
        info = NeighborsInfo(search.n_pairs)
        with progress_bar(self.progress, "neighbours") as report:
            search = replace(search, report=report)
            way_of(search).search(search, lists, info)
        return info


def _memory_left(search: Search, **sizes: int) -> int | None:
    """Return the bytes that max_memory leaves; refuse what takes more than there is."""
    pairs, way = search.pairs, way_of(search)
    collections = [pairs.x] if search.same else [pairs.x, pairs.y]
    packed = [part for part in collections if isinstance(part, Objects)]
    sizes |= dict(zip("nm", pairs.shape, strict=True))
    sizes |= {"B": search.tile_bytes, "W": all_prepared_bytes(pairs), "T": search.n_threads}
    sizes |= {"J": way.index_bytes(search), "N": sum(len(part.values) for part in packed)}
    needed = require_memory(pairs.caller.function, way.case, **sizes)
    if search.max_memory is None:
        return None
    fixed = sum(part.nbytes for part in packed)
    if fixed + needed > search.max_memory:
        raise ValueError(
            f"max_memory is {search.max_memory} bytes, but {fixed + needed} are needed at least: "
            f"{fixed} for the objects, {needed} to search them"
        )
    return search.max_memory - fixed - needed


def _neighbor_count(pairs: PairwiseProblem, k: Any, same: bool) -> int:
    k = integer("k", k, 1)
    n, m = pairs.shape
    if same and k >= n:
        raise ValueError(f"k is {k}, but X has {n} objects: each has {n - 1} others at most")
    if k > m:
        raise ValueError(f"k is {k}, but Y has {m} objects")
    return k


def _radius(radius: Any) -> float:
    if isinstance(radius, (bool, np.bool_)) or not isinstance(radius, numbers.Real):
        raise TypeError(f"radius must be a number >= 0, got {radius!r}")
    value = float(radius)
    if not 0 <= value < math.inf:
        raise ValueError(f"radius must be finite and >= 0, got {value}")
    return value
