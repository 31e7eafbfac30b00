# SPDX-License-Identifier: BSD-3-Clause
"""Neighbours by dynamic time warping: bounds by envelopes before distances."""

from __future__ import annotations

import numpy as np
from scipy.ndimage import maximum_filter1d, minimum_filter1d

from d2ke._ext import elastic, envelopes, isa
from d2ke.distances.problem import PairwiseProblem
from d2ke.distances.registry import BY_NAME, check_parameters
from d2ke.neighbors.bounded import Bounded, search_bounded
from d2ke.neighbors.info import NeighborsInfo
from d2ke.neighbors.lists import NearestLists, WithinLists
from d2ke.neighbors.problem import Search
from d2ke.objects.container import Objects

_LARGEST = 1e15  # whose squares and their sums are finite in float32
_CHUNK = 1 << 20  # numbers that are worked on at a time


def applies(search: Search) -> bool:
    """Whether the distance is dynamic time warping, and the envelopes fit into a part of memory."""
    return search.pairs.distance == "dtw" and envelope_bytes(search) <= search.room()


def envelope_bytes(search: Search) -> int:
    """Return the bytes of the envelopes of X and Y."""
    pairs = search.pairs
    sides = [pairs.x] if pairs.y is pairs.x else [pairs.x, pairs.y]
    lanes, places = isa.vector_bytes() // 4, _longest(pairs)
    each = (8 * (len(part) + lanes) * (places + 2) + 8 * len(part.values) for part in sides)
    return pairs.x.dim * sum(each)


def search_series(search: Search, lists: NearestLists | WithinLists, info: NeighborsInfo) -> None:
    """Search by envelopes, or by all distances where numbers are too large for float32."""
    search_bounded(search, _bounded(search.pairs), lists, info)


def _bounded(pairs: PairwiseProblem) -> Bounded | None:
    """Return the bounds of all pairs, or None for numbers too large for float32."""
    params = check_parameters(BY_NAME["dtw"], pairs.params)
    sides = [pairs.x] if pairs.y is pairs.x else [pairs.x, pairs.y]
    if any(np.abs(part.values).max() > _LARGEST for part in sides):
        return None
    radius = _widest(pairs, params.get("window", elastic.NO_WINDOW))
    longest = _longest(pairs)
    made = [_side(part, longest, radius) for part in sides]
    bounds = envelopes.Envelopes(made[0], made[-1], not params.get("ground", False))
    return Bounded(bounds, ("envelope", "turned envelope"), 1 / min(2 * radius + 1, longest))


def _longest(pairs: PairwiseProblem) -> int:
    return int(max(pairs.x.lengths.max(), pairs.y.lengths.max()))


def _widest(pairs: PairwiseProblem, window: int) -> int:
    """Return the largest radius that the window has for any pair."""
    ends = [(part.lengths.min(), part.lengths.max()) for part in (pairs.x, pairs.y)]
    longest = int(max(ends[0][1], ends[1][1]))
    difference = int(max(ends[0][1] - ends[1][0], ends[1][1] - ends[0][0]))
    if window == elastic.NO_WINDOW:
        return longest
    if window == elastic.RWS_WINDOW:
        window = min(40, -(-longest // 10))
    return min(max(window, difference), longest)


def _side(objects: Objects, places: int, radius: int) -> tuple[np.ndarray, ...]:
    """Return points, offsets, boxes and last points, as `Envelopes` takes them."""
    lanes, dim, n = isa.vector_bytes() // 4, objects.dim, len(objects)
    n_blocks = -(-n // lanes)
    low, high = np.zeros((2, n_blocks, places, dim, lanes), np.float32)
    last = np.zeros((n_blocks, 2, dim, lanes), np.float32)
    step = max(1, _CHUNK // (places * dim * lanes))
    for block in range(0, n_blocks, step):
        items = slice(block * lanes, min((block + step) * lanes, n))
        blocks = slice(block, min(block + step, n_blocks))
        part = objects.span(items.start, items.stop)
        for rounding, filter_, outside, into in (
            (_down, minimum_filter1d, np.inf, low),
            (_up, maximum_filter1d, -np.inf, high),
        ):
            padded = np.full(((blocks.stop - block) * lanes, places, dim), outside, part.dtype)
            padded[: len(part)][np.arange(places) < part.lengths[:, None]] = part.values
            boxes = filter_(padded, 2 * radius + 1, axis=1, mode="constant", cval=outside)
            boxes[:, 0] = padded[:, 0]  # the first points are paired with each other
            shape = blocks.stop - block, lanes, places, dim
            into[blocks] = rounding(boxes).reshape(shape).transpose(0, 2, 3, 1)
        ends = np.zeros(((blocks.stop - block) * lanes, dim), part.dtype)
        ends[: len(part)] = part.values[part.offsets[1:] - 1]
        ends = np.stack([_down(ends), _up(ends)]).reshape(2, blocks.stop - block, lanes, dim)
        last[blocks] = ends.transpose(1, 0, 3, 2)
    return _down(objects.values), _up(objects.values), objects.offsets, low, high, last


def _down(values: np.ndarray) -> np.ndarray:
    """Round to float32, to the number below where there is none equal."""
    single = values.astype(np.float32)
    return np.where(single > values, np.nextafter(single, np.float32(-np.inf)), single)


def _up(values: np.ndarray) -> np.ndarray:
    return -_down(-values)
