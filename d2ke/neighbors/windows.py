# SPDX-License-Identifier: BSD-3-Clause
"""The windows of long series that are nearest to a short one."""

from __future__ import annotations

import heapq
from bisect import bisect_left, insort
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from d2ke._base.checks import choice, flag, integer, not_negative
from d2ke._base.errors import ArgumentError, warn
from d2ke._base.keywords import hinted
from d2ke._base.memory import check_fits
from d2ke._base.progress import progress_bar
from d2ke._base.threads import team_size, worker_pool
from d2ke._ext import elastic
from d2ke.distances.registry import BY_NAME
from d2ke.distances.window_rows import constant_limits
from d2ke.neighbors.window_bounds import Query
from d2ke.objects.compatibility import matched, refuse_weights
from d2ke.objects.container import Objects
from d2ke.objects.layouts import Layout
from d2ke.objects.packing import as_objects, pack_items

_RUN = 1 << 12  # bounds with one minimum
_BATCH = 1 << 6  # distances that are computed together, at first


@hinted
def nearest_windows(
    X: Any,
    query: Any,
    k: int = 1,
    *,
    normalize: bool = True,
    exclusion: float = 0.5,
    distance: str = "euclidean",
    window: int | str | None = None,
    n_threads: int | None = None,
    progress: bool | None = None,
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """Find the windows of long series that are nearest to a short one, exactly.

    Parameters
    ----------
    X : Objects or what `pack` takes
        n series, of unequal lengths and one or more channels.
    query : array_like or Objects of length 1
        The short series, (length,) or (length, dim). Series shorter than it are left out, with a
        warning.
    k : int
        Number of windows.
    normalize : bool
        Bring the query and each window to mean 0 and deviation 1 in each channel. Constant ones
        become 0: windows whose deviation is at most 8 eps of the largest deviation of their series
        from its mean, or 2 eps of its largest value, with eps that of the type of the values.
    exclusion : float
        Windows at most ``exclusion * length`` steps apart count as one: only the nearest of them is
        returned. 0: every window counts.
    distance : {"euclidean", "dtw"}
        The root of the sum of squared differences of all values, or dynamic time warping as in
        `distance_matrix`.
    window : int or "rws", optional
        For ``"dtw"``: the Sakoe-Chiba radius. Bounds are the tighter the smaller it is.
    n_threads : int, optional
        Threads to use; None for all that this process may use. The result does not depend on it.
    progress : bool, optional
        Whether to show progress; by default on a terminal or in a notebook, where work takes more
        than two seconds.

    Returns
    -------
    series : ndarray of int64, shape (k,)
        Numbers of the series in X, the nearest window first; fewer than k if X has no more.
    places : ndarray of int64, shape (k,)
        Where the windows begin.
    distances : ndarray of float64, shape (k,)
        Their distances.

    Raises
    ------
    TypeError, ValueError
        Strings, weights, NaN; other numbers of channels; no series as long as the query; values
        above 1e300.
    KeyboardInterrupt
        On Ctrl-C, within a second.
    MemoryError
        If the bounds, 4 bytes for each window, do not fit.

    Notes
    -----
    The nearest window is chosen first, then the nearest outside of its exclusion zone, and so
    on; ties go to the first series and step. All windows have a lower bound:
    Euclidean distances by Fourier transforms of blocks less their errors, warping distances by
    envelopes [1]_. Distances are computed in float64 where bounds do not decide.

    References
    ----------
    .. [1] Keogh & Ratanamahatana, "Exact indexing of dynamic time warping", 2005.

    Examples
    --------
    >>> import numpy as np
    >>> import d2ke
    >>> rng = np.random.default_rng(0)
    >>> long = [rng.normal(size=n) for n in (300, 500)]
    >>> series, places, _ = d2ke.nearest_windows(long, 3 * long[1][120:150] + 7)
    >>> series.tolist(), places.tolist()
    ([1], [120])
    """
    x = as_objects("X", X, "series", False)
    q = matched(x, _one_series(query), "X", "query")
    max_value = 1e300  # differences of such values are finite
    for name, objects in (("X", x), ("query", q)):
        refuse_weights(objects, name, "nearest_windows")
        values = objects.values
        if max(float(values.max(initial=0)), -float(values.min(initial=0))) > max_value:
            raise ArgumentError(name, f"has values above {max_value:g}")
    k, normalize = integer("k", k, 1), flag("normalize", normalize)
    zone = int(not_negative("exclusion", exclusion) * len(q.values))
    distance = choice("distance", distance, ["euclidean", "dtw"])
    radius = BY_NAME["dtw"].parameters["window"]("window", window)
    if distance != "dtw" and radius != elastic.NO_WINDOW:
        raise TypeError("window goes with distance='dtw'")
    counts = np.maximum(x.lengths - len(q.values) + 1, 0)
    short = int((counts == 0).sum())
    if short == len(x):
        raise ArgumentError("query", f"has {len(q.values)} values, more than any series of X")
    if short:
        warn(f"{short} of {len(x)} series are shorter than the query and are left out")
    check_fits(5 * int(counts.sum()), "a bound of each place", "search a part of X at a time")
    prepared = Query(q.values, normalize, distance, radius, constant_limits(q, q.dtype)[0])
    search = _Search(x, prepared, counts, team_size(n_threads))
    with progress_bar(progress, "windows") as report:
        search.fill(report)
    matches = list(search.nearest(k, zone))
    at = np.array([position for _, position in matches], np.int64)
    series = np.searchsorted(search.starts, at, side="right") - 1
    return series, at - search.starts[series], np.array([value for value, _ in matches], np.float64)


def _one_series(query: Any) -> Objects:
    items = query if isinstance(query, Objects) else [query]
    if len(items) != 1:
        raise ArgumentError("query", f"must be one series, got {len(items)} of them")
    try:
        q = pack_items(items, Layout(False, True), "query", "series")
    except ArgumentError as error:
        raise ArgumentError("query", error.problem) from None
    if not len(q.values):
        raise ArgumentError("query", "is empty: at least one value is needed")
    return q


class _Search:
    """Bounds of all windows of all series; distances of the nearest are computed.

    A position numbers the windows of all series. Computed and excluded windows have the bound
    infinity; minima of runs of bounds locate the small ones.
    """

    def __init__(self, x: Objects, query: Query, counts: np.ndarray, n_threads: int):
        self.x, self.query, self.n_threads = x, query, n_threads
        self.limits = constant_limits(x, x.dtype)
        self.starts = np.append(0, np.cumsum(counts))
        total = int(self.starts[-1])
        self.bounds = np.full(-(-total // _RUN) * _RUN, np.inf, np.float32)
        self.minima = np.full(len(self.bounds) // _RUN, np.inf, np.float32)
        self.computed: list[tuple[float, int]] = []

    def fill(self, report: Any) -> None:
        """Bound all windows."""
        step = self.query.block - self.query.length + 1
        jobs = [
            (i, begin)
            for i, count in enumerate(np.diff(self.starts).tolist())
            for begin in range(0, count, step)
        ]

        def bound(job: tuple[int, int]) -> None:
            i, begin = job
            at, end = self.starts[i] + begin, min(self.starts[i] + begin + step, self.starts[i + 1])
            first = self.x.offsets[i] + begin
            block = self.x.values[first : first + end - at + self.query.length - 1]
            self.bounds[at:end] = self.query.bounds(block, self.limits[i])

        with worker_pool(self.n_threads) as pool:
            for done, _ in enumerate(pool.map(bound, jobs), 1):
                if report is not None:
                    report(done, len(jobs))
        self.minima[:] = self.bounds.reshape(-1, _RUN).min(axis=1)

    def nearest(self, k: int, zone: int) -> Iterator[tuple[float, int]]:
        """Yield distances and positions, the nearest first, no two in one zone."""
        results: list[int] = []
        while len(results) < k:
            self._settle()
            while self.computed and self._excluded(self.computed[0][1], results, zone):
                heapq.heappop(self.computed)
            if not self._settled():
                continue
            if not self.computed:
                return
            value, position = heapq.heappop(self.computed)
            insort(results, position)
            i = np.searchsorted(self.starts, position, side="right") - 1
            begin, end = max(self.starts[i], position - zone), position + zone + 1
            self._set(np.arange(begin, min(end, self.starts[i + 1])), np.inf)
            yield value, position

    def _excluded(self, position: int, results: list[int], zone: int) -> bool:
        """Return whether a position is in the zone of a result in the same series."""
        i = np.searchsorted(self.starts, position, side="right") - 1
        begin, end = self.starts[i : i + 2]
        at = bisect_left(results, max(position - zone, begin))
        return at < len(results) and results[at] <= min(position + zone, end - 1)

    def _limit(self) -> np.float32:
        """Return the largest bound that may belong to the nearest window."""
        if not self.computed:
            return np.float32(self.minima.min())
        limit = self.query.keys(self.computed[0][0]) * (1 + 1e-6)
        return np.float32(min(limit, float(np.finfo(np.float32).max)))

    def _settled(self) -> bool:
        return self.minima.min() == np.inf or (
            bool(self.computed) and self.minima.min() > self._limit()
        )

    def _settle(self) -> None:
        """Compute distances until no other window can be nearer than the nearest so far."""
        batch = _BATCH
        while not self._settled():
            runs = np.flatnonzero(self.minima <= self._limit())
            runs = runs[np.argsort(self.minima[runs], kind="stable")[: max(64, batch // 8)]]
            bounds = self.bounds.reshape(-1, _RUN)[runs]
            which, at = np.nonzero(bounds <= self._limit())
            positions = runs[which] * _RUN + at
            if len(positions) > batch:
                positions = positions[np.argpartition(bounds[which, at], batch)[:batch]]
            self._compute(np.sort(positions))
            batch = min(2 * batch, 1 << 13)

    def _compute(self, positions: np.ndarray) -> None:
        """Compute the distances at some positions, in order."""
        # Above `_limit`, and above 0 in float32: windows with only a bound are not looked at again.
        limit = max(self.computed[0][0] * (1 + 4e-6), 1e-30) if self.computed else np.inf
        series = np.searchsorted(self.starts, positions, side="right") - 1
        for i in np.unique(series):
            taken = positions[series == i]
            x = self.x.values[self.x.offsets[i] : self.x.offsets[i + 1]]
            distances, bounds = self.query.distances(
                x, taken - self.starts[i], limit, self.n_threads, self.limits[i]
            )
            rejected = distances == np.inf
            self._set(taken, np.where(rejected, bounds * (1 - 2.0**-22), np.inf))
            for entry in zip(distances[~rejected].tolist(), taken[~rejected].tolist(), strict=True):
                heapq.heappush(self.computed, entry)

    def _set(self, positions: np.ndarray, bounds: Any) -> None:
        """Change the bounds of some positions."""
        self.bounds[positions] = bounds
        runs = np.unique(positions // _RUN)
        self.minima[runs] = self.bounds.reshape(-1, _RUN)[runs].min(axis=1)
