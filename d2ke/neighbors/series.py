# SPDX-License-Identifier: BSD-3-Clause
"""Neighbours by dynamic time warping: bounds by envelopes before distances."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from d2ke._ext import elastic, envelopes, isa
from d2ke.distances.problem import PairwiseProblem
from d2ke.distances.registry import BY_NAME, check_parameters
from d2ke.distances.series_rows import ELASTIC_GROUNDS
from d2ke.neighbors.bounded import Bounded
from d2ke.neighbors.elastic import band
from d2ke.neighbors.problem import NeighborSearch
from d2ke.neighbors.search_index import BoundedIndex
from d2ke.objects.container import Objects

# The times of the bounds at a step, of one channel and of several, in cells of a distance;
# measured.
_STEPS_OF_ONE, _STEPS = (0.45, 11.0, 6.3), (1.4, 24.0, 6.3)
# Shares of a distance's cost that first bounds of all pairs may take before a sample shows their
# use, for one channel and for several. Boxes of Y are not made then.
_CHEAP_OF_ONE, _CHEAP = 0.04, 0.12
_BOX_BYTES = 1 << 28  # of these boxes, at most


def envelope_bytes(search: NeighborSearch) -> int:
    """Return the bytes of the bounds, and of the threads' envelopes."""
    pairs = search.pairs
    sides = [pairs.x] if pairs.y is pairs.x else [pairs.x, pairs.y]
    dim, lanes, longest = pairs.x.dim, isa.vector_bytes() // 4, _longest(pairs)
    steps = (2 * len(side.values) + envelopes.LANES * (len(side) + 1) for side in sides)
    in_segments = (len(pairs.y) + lanes) * (longest // envelopes.SEGMENT)
    per_thread = (7 * envelopes.LEVELS + 32) * (longest + 2 * envelopes.LANES) * (dim + 1)
    copies = 4 * max(len(side.values) for side in sides)
    table = min(_BOX_BYTES, envelopes.LEVELS * _level_bytes(pairs))
    table = _all_bytes(pairs) if _keeps_first(search) else table
    return 4 * dim * (sum(steps) + in_segments + copies) + table + 4 * per_thread * search.n_threads


def _keeps_first(search: NeighborSearch) -> bool:
    """Return whether the first bounds of all pairs are cheap to make and to keep."""
    pairs = search.pairs
    if not (pairs.same and search.k) or _all_bytes(pairs) > min(_BOX_BYTES, search.room(8)):
        return False
    if pairs.x.dim == 1:
        return _STEPS_OF_ONE[0] <= _CHEAP_OF_ONE * band(pairs)
    return _STEPS[0] <= _CHEAP * band(pairs)


def _all_bytes(pairs: PairwiseProblem) -> int:
    return 4 * len(pairs.y) * (len(pairs.y) + envelopes.LANES)


# A warping path pairs the point y_j with some x_i, |i - j| <= r, the radius of the pair. With the
# envelope of x, low_j = min x_i and high_j = max x_i over these i, in each channel,
#
#     dtw(x, y) >= |x_1 - y_1| + |x_n - y_m| + sum_j |y_j - [low_j, high_j]|,   j = 2, ..., m - 1,
#
# where |y - [low, high]| is the distance of y to the box, 0 inside of it (Kim, Park and Chu 2001;
# Keogh and Ratanamahatana 2005); and likewise with x and y exchanged. Three bounds follow each
# other on the remaining pairs: sums of segments of y and of the envelope, all steps, and x against
# the envelope of y moved into that of x (Lemire 2009). A pair that remains is computed until a row
# of its table exceeds the limit.


class SeriesIndex(BoundedIndex):
    """Series Y in float32 as the bounds read them, prepared once for any rows X.

    Parameters
    ----------
    pairs : PairwiseProblem
        Pairs of Y itself and Y, or of X and Y. Numbers of both are scaled to at most 1.
    keep_first : bool
        Whether X is Y, and the first bounds of all pairs are kept. Boxes of Y are not made then.
    """

    @classmethod
    def applies(cls, search: NeighborSearch, reused: bool) -> bool:
        """Return whether the distance is dynamic time warping, and envelopes fit into memory."""
        pairs = search.pairs
        if pairs.distance != "dtw" or pairs.params.get("ground") in ELASTIC_GROUNDS:
            return False
        return not (pairs.x.missing or pairs.y.missing) and envelope_bytes(search) <= search.room()

    @classmethod
    def build(cls, search: NeighborSearch, reused: bool) -> SeriesIndex:
        """Prepare Y, and whether its first bounds are kept."""
        index = cls(search.pairs, not reused and _keeps_first(search))
        if reused:
            index.prepare(search.pairs)
        return index

    def __init__(self, pairs: PairwiseProblem, keep_first: bool = False):
        params = check_parameters(BY_NAME["dtw"], pairs.params)
        self._window = params.get("window", elastic.NO_WINDOW)
        self._root = params.get("ground") != "sqeuclidean"
        self._pairs, self._keep_first = pairs, keep_first
        self._middle = pairs.y.values.mean(axis=0, dtype=np.float64)
        sides = [pairs.y] if pairs.y is pairs.x else [pairs.x, pairs.y]
        largest = max(map(self._largest, sides))
        self._exponent = math.frexp(largest)[1] if 0 < largest < math.inf else 0
        self._columns, self._room = None, _longest(pairs) + 2 * envelopes.LANES
        if not largest < math.inf or abs(self._exponent) > 480:
            return  # numbers cannot be scaled to 1
        self._radii, self._longest = _radii(pairs, self._window), _longest(pairs, "x")
        self._y = self._side(pairs.y)
        self._columns = envelopes.Columns(
            self._y,
            np.argsort(pairs.y.lengths, kind="stable"),
            self._radii,
            [] if keep_first else _frequent(pairs, self._radii),
            self._window,
            self._root,
            self._longest,
        )

    def bounds(self, pairs: PairwiseProblem, n_threads: int) -> Bounded | None:
        """Return bounds of all pairs of any X and Y, or None if numbers cannot be scaled."""
        # The error bounds hold for numbers of at most 1. Larger ones, and series longer than Y's,
        # are rare; then Y is prepared again.
        index = self if pairs is self._pairs or self._fits(pairs) else SeriesIndex(pairs)
        bounded = index._bounds(pairs)
        if bounded is not None and bounded.has_table:
            bounded.bounds.keep_first(n_threads)
        return bounded

    def _fits(self, pairs: PairwiseProblem) -> bool:
        """Return whether the columns are prepared for the numbers and lengths of X."""
        if self._columns is None or _longest(pairs, "x") > self._longest:
            return False
        if _radii(pairs, self._window)[-1] > self._radii[-1]:
            return False
        return pairs.x is pairs.y or self._largest(pairs.x) <= math.ldexp(1.0, self._exponent)

    def _bounds(self, pairs: PairwiseProblem) -> Bounded | None:
        has_table = self._keep_first
        exponent, root, dim = self._exponent, self._root, pairs.x.dim
        steps = sum(int(side.lengths.max()) for side in (pairs.x, pairs.y)) + dim + 16
        single, type_ = 2.0**-24 * steps, np.finfo(pairs.dtype)
        power = exponent if root else 2 * exponent  # of distances
        if self._columns is None or single > 2.0**-5:
            return None
        if math.log2(4 * steps * dim) + power > type_.maxexp - 2:
            return None  # distances overflow
        error = 2.0**-10 + 8 * single  # roots are rough
        slope = 2.0**-power * (1 + error)
        offset = steps * 2.0**-19 * (math.sqrt(dim) if root else 4 * dim)
        offset += slope * steps * dim * float(type_.smallest_subnormal)
        x = self._y if pairs.x is pairs.y else self._side(pairs.x)
        bounds = envelopes.Envelopes(self._columns, x, (slope, offset, (1 + error) ** 3))
        names = ("envelope of segments", "envelope", "cut-off")
        cells = band(pairs)
        fill, tighter, closest = _STEPS_OF_ONE if dim == 1 else _STEPS
        # A cell of the last bound takes 0.44 of the time of a cell of a distance.
        costs = 0.0 if has_table else fill / cells, tighter / cells, closest / cells + 0.44
        return Bounded(bounds, names, costs, has_table=has_table)

    def _largest(self, objects: Objects) -> float:
        """Return the largest distance of a number from the middle."""
        with np.errstate(over="ignore", invalid="ignore"):
            return float(np.abs(objects.values - self._middle).max())

    def _side(
        self, objects: Objects
    ) -> tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.int64], NDArray[np.int64]]:
        """Return points, their planar copy, offsets and starts, as `envelopes` takes them."""
        n = len(objects.values)
        points = np.zeros((n + self._room, objects.dim), np.float32)
        points[:n] = np.ldexp(objects.values - self._middle, -self._exponent)
        strides = -(-objects.lengths // envelopes.LANES) * envelopes.LANES * objects.dim
        starts = np.append(0, strides.cumsum())
        planar = np.full(starts[-1] + envelopes.LANES, np.nan, np.float32)
        envelopes.planar(points, objects.offsets, starts, planar)
        return points, planar, objects.offsets, starts


def _longest(pairs: PairwiseProblem, sides: str = "xy") -> int:
    return max(int(getattr(pairs, side).lengths.max()) for side in sides)


def _radii(pairs: PairwiseProblem, window: int) -> list[int]:
    """Return increasing radii, from the least to the largest that the window has for a pair."""
    ends = [(int(side.lengths.min()), int(side.lengths.max())) for side in (pairs.x, pairs.y)]
    longest = max(ends[0][1], ends[1][1])
    if window == elastic.NO_WINDOW:
        return [longest]
    smallest = largest = window
    if window == elastic.RWS_WINDOW:
        smallest, largest = (min(40, -(-n // 10)) for n in (max(ends[0][0], ends[1][0]), longest))
    largest = max(largest, ends[0][1] - ends[1][0], ends[1][1] - ends[0][0])
    radii = [smallest]
    while radii[-1] < largest:
        following = min(largest, radii[-1] + 1 + radii[-1] // 4)
        radii.append(largest if len(radii) == envelopes.LEVELS - 1 else following)
    return radii


def _frequent(pairs: PairwiseProblem, radii: list[int]) -> list[int]:
    """Return the most frequent levels whose boxes of Y fit into memory."""
    (x, n), (y, m) = (np.unique(side.lengths, return_counts=True) for side in (pairs.x, pairs.y))
    level = np.searchsorted(radii, np.maximum(np.abs(x[:, None] - y), radii[0]))
    share = np.bincount(level.ravel(), np.outer(n, m).ravel()) / (len(pairs.x) * len(pairs.y))
    limit = _BOX_BYTES // max(1, _level_bytes(pairs))
    levels = np.argsort(-share, kind="stable")[:limit]
    return sorted(levels[share[levels] >= 0.02].tolist())  # of the pairs


def _level_bytes(pairs: PairwiseProblem) -> int:
    """Return the bytes of the boxes of Y of a level."""
    lanes = isa.vector_bytes() // 4
    return 8 * (len(pairs.y) + lanes) * (_longest(pairs, "x") // envelopes.SEGMENT) * pairs.x.dim
