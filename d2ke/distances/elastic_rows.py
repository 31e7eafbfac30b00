# SPDX-License-Identifier: BSD-3-Clause
"""The elastic distances of series beside DTW: their parameters, and inputs of their kernels.

A distance is a row of the registry with a `prepare` from here, and a function of
d2ke/_ext/elastic_cells.h. Kernels compute in float64; float32 series are converted.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

import numpy as np

from d2ke._base.errors import ArgumentError, ArgumentTypeError
from d2ke._ext import elastic, elementary
from d2ke._ext.pairwise import PairwiseKernel
from d2ke.objects.container import Objects

Extra = Callable[[np.ndarray, np.ndarray], np.ndarray]


def gap(name: str, value: Any) -> tuple[float, ...]:
    """Return a finite number, or one for each channel, as a tuple."""
    values = value.tolist() if isinstance(value, np.ndarray) else value
    if isinstance(values, numbers.Real):
        values = [values]
    if not isinstance(values, (list, tuple)) or not values or not all(map(_is_number, values)):
        raise ArgumentTypeError(
            name, f"must be a number, or a number for each channel; got {value!r}"
        )
    try:
        result = tuple(map(float, values))
    except OverflowError:
        result = (math.inf,)
    if not np.isfinite(result).all():
        raise ArgumentError(name, f"must be finite, got {value}")
    return result


def _is_number(value: Any) -> bool:
    return isinstance(value, numbers.Real) and not isinstance(value, (bool, np.bool_))


def check_gap(name: str, objects: Objects, g: tuple[float, ...] = (0.0,), **_: Any) -> None:
    """Refuse a gap that has neither one number nor one for each channel."""
    if len(g) not in (1, objects.dim):
        raise ValueError(
            f"g has {len(g)} numbers, but {name} has {objects.dim} channels; "
            "one number, or one for each channel, is needed"
        )


def windowed(window: int = elastic.NO_WINDOW, **_: Any) -> bool:
    """Return whether a window excludes alignments; the distance is then not a metric."""
    return window != elastic.NO_WINDOW


def windowed_or_dependent(independent: bool = True, **parameters: Any) -> bool:
    """Return whether move-split-merge is not a metric."""
    return not independent or windowed(**parameters)


EARTH_RADIUS = 6371008.8  # metres, the mean of the three half-axes


def check_sphere(name: str, objects: Objects, **parameters: Any) -> None:
    """Check latitudes and longitudes for ground="haversine"."""
    if parameters.get("ground") != "haversine":
        if "sphere_radius" in parameters:
            raise TypeError("sphere_radius goes with ground='haversine'")
        return
    if objects.dim != 2:
        raise ArgumentError(
            name, f"has {objects.dim} channels; ground='haversine' needs 2, latitude and longitude"
        )
    wrong = np.flatnonzero((np.abs(objects.values) > (90, 360)).any(axis=1))
    if wrong.size:
        item = int(np.searchsorted(objects.offsets, wrong[0], side="right")) - 1
        latitude, longitude = objects.values[wrong[0]].tolist()
        raise ArgumentError(
            name,
            f"has the latitude {latitude} and longitude {longitude}; degrees from "
            "-90 to 90 and from -360 to 360 are needed",
            item,
        )


# ---- inputs of the kernels


def prepared(
    kind: str,
    parameters: Iterable[float],
    window: int,
    x: Objects,
    y: Objects,
    same: bool,
    extra: Extra | None = None,
) -> PairwiseKernel:
    """Return the compiled form of x and y, with another channel if `extra` computes one.

    Kernels take vectors as float64 with a row of zeros before each object.
    """
    sides = []
    for objects in (x,) if y is x else (x, y):
        offsets = objects.offsets + np.arange(len(objects) + 1)
        rows = np.zeros((offsets[-1], objects.dim + (extra is not None)))
        inside = np.ones(len(rows), dtype=bool)
        inside[offsets[:-1]] = False
        rows[inside, : objects.dim] = objects.values
        if extra is not None:
            rows[inside, objects.dim] = extra(rows[:, : objects.dim], inside)
        sides.append((rows, offsets))
    numbers_ = np.array([*parameters, 0.0])
    return elastic.elastic(kind, *sides[0], *sides[-1], x.dim, numbers_, window, same)


def columns_of(
    prepare: Callable[..., PairwiseKernel],
) -> Callable[..., Callable[[Objects], PairwiseKernel | None] | None]:
    """Return the `columns` of a distance whose pairs `prepare` compiles."""

    def columns(y: Objects, **parameters: Any) -> Callable[[Objects], PairwiseKernel | None] | None:
        if y.missing or not y.values.size:
            return None
        compiled, longest = prepare(y, y, False, **parameters), y.lengths.max()

        def with_rows(x: Objects) -> PairwiseKernel | None:
            if x.missing or x.lengths.max() > longest:  # the weights of "wdtw" end there
                return None
            return elastic.elastic_with_rows(compiled, prepare(x, x, False, **parameters))

        return with_rows

    return columns


def msm(
    x: Objects,
    y: Objects,
    same: bool,
    c: float = 1.0,
    independent: bool = True,
    window: int = elastic.NO_WINDOW,
) -> PairwiseKernel:
    """Prepare move-split-merge."""
    if independent:
        return prepared("msm", (c,), window, x, y, same)
    return prepared("msm_dependent", (c,), window, x, y, same, _squared_steps)


def erp(
    x: Objects, y: Objects, same: bool, g: Sequence[float] = (0.0,), window: int = elastic.NO_WINDOW
) -> PairwiseKernel:
    """Prepare the edit distance with real penalty."""
    return prepared("erp", (), window, x, y, same, partial(_distances_to, np.array(g)))


def twe(
    x: Objects,
    y: Objects,
    same: bool,
    nu: float = 0.001,
    lmbda: float = 1.0,
    window: int = elastic.NO_WINDOW,
) -> PairwiseKernel:
    """Prepare the time warp edit distance."""
    return prepared("twe", (nu, nu + lmbda), window, x, y, same, _steps)


def edr(
    x: Objects,
    y: Objects,
    same: bool,
    epsilon: float = 0.25,
    normalize: bool = False,
    window: int = elastic.NO_WINDOW,
) -> PairwiseKernel:
    """Prepare the edit distance on real sequences."""
    return prepared("edr", (epsilon, float(normalize)), window, x, y, same)


def lcss(
    x: Objects, y: Objects, same: bool, epsilon: float = 1.0, window: int = elastic.NO_WINDOW
) -> PairwiseKernel:
    """Prepare the longest common subsequence."""
    return prepared("lcss", (epsilon,), window, x, y, same)


def adtw(
    x: Objects, y: Objects, same: bool, penalty: float = 1.0, window: int = elastic.NO_WINDOW
) -> PairwiseKernel:
    """Prepare amerced dynamic time warping."""
    return prepared("adtw", (penalty,), window, x, y, same)


def wdtw(
    x: Objects, y: Objects, same: bool, g: float = 0.05, window: int = elastic.NO_WINDOW
) -> PairwiseKernel:
    """Prepare weighted dynamic time warping.

    Entry longest + k of its table is the weight at k / 2, 1 / (1 + exp(-g k / 2)).
    """
    longest = int(max(x.lengths.max(), y.lengths.max()))
    k = np.arange(-longest, 2 * longest + 20)
    with np.errstate(over="ignore"):
        powers = elementary.apply("exp", -g * (np.abs(k) / 2))
    table = np.where(k < 0, powers, 1) / (1 + powers)
    return prepared("wdtw", (longest, *table), window, x, y, same)


def ddtw(x: Objects, y: Objects, same: bool, window: int = elastic.NO_WINDOW) -> PairwiseKernel:
    """Prepare derivative dynamic time warping, which is DTW of the derivatives.

    The window counts derivatives: the rule of RWS_WINDOW takes their numbers as lengths.
    """
    sides = [derivatives(objects) for objects in ((x,) if y is x else (x, y))]
    return elastic.dtw(*sides[0], *sides[-1], window, True, same)


def frechet(x: Objects, y: Objects, same: bool, window: int = elastic.NO_WINDOW) -> PairwiseKernel:
    """Prepare the discrete Frechet distance."""
    return prepared("frechet", (), window, x, y, same)


def _distances_to(g: np.ndarray, rows: np.ndarray, inside: np.ndarray) -> np.ndarray:
    """Euclidean distances of the vectors to g."""
    return _norms(rows[inside], np.broadcast_to(g, rows.shape[1]))


def _steps(rows: np.ndarray, inside: np.ndarray) -> np.ndarray:
    """Euclidean distances of the vectors to those before them."""
    return _norms(rows[1:], rows[:-1])[inside[1:]]


def cosines(rows: np.ndarray, inside: np.ndarray) -> np.ndarray:
    """Cosines of the latitudes."""
    return elementary.apply("sine_of_degrees", 90 - np.abs(rows[inside, 0]))


def _squared_steps(rows: np.ndarray, inside: np.ndarray) -> np.ndarray:
    """Squared Euclidean distances of the vectors to those before them."""
    total = np.zeros(inside.sum())
    with np.errstate(over="ignore", under="ignore"):
        for channel in rows.T:
            total += (channel[1:] - channel[:-1])[inside[1:]] ** 2
    return total


def _norms(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Euclidean distances, by squares in a unit in which none overflows or vanishes."""
    with np.errstate(over="ignore", under="ignore"):
        apart = a - b
        np.abs(apart, out=apart)
        _, exponents = np.frexp(apart.max(axis=1))
        total = np.zeros(len(apart))
        for k in range(apart.shape[1]):  # in the same order for any number of vectors
            total += np.ldexp(apart[:, k], -exponents) ** 2
        return np.ldexp(np.sqrt(total), exponents)


def derivatives(objects: Objects) -> tuple[np.ndarray, np.ndarray]:
    """Return estimates of the slopes at all vectors but the ends, and their offsets.

    Two vectors have one slope, the difference; one has the slope 0.
    """
    starts, lengths = objects.offsets[:-1], objects.lengths
    counts = np.maximum(lengths - 2, 1)
    offsets = np.append(0, np.cumsum(counts))
    first = np.arange(offsets[-1]) + np.repeat(starts - offsets[:-1], counts)
    last = np.repeat(starts + lengths - 1, counts)
    two = np.repeat(lengths == 2, counts)
    slopes = np.empty((len(first), objects.dim))
    for k in range(objects.dim):
        values = objects.values[:, k].astype(np.float64)
        before, middle, after = (values[np.minimum(first + i, last)] for i in range(3))
        slopes[:, k] = _slope(before, middle, after, two)
        wide = ~np.isfinite(slopes[:, k])
        if wide.any():  # differences overflow: again in a smaller unit
            smaller = _slope(before[wide] / 8, middle[wide] / 8, after[wide] / 8, two[wide])
            largest = np.finfo(np.float64).max
            with np.errstate(over="ignore"):
                slopes[wide, k] = np.clip(smaller * 8, -largest, largest)
    return slopes, offsets


def _slope(
    before: np.ndarray, middle: np.ndarray, after: np.ndarray, two: np.ndarray
) -> np.ndarray:
    """Return Keogh and Pazzani's ((x_t - x_{t-1}) + (x_{t+1} - x_{t-1}) / 2) / 2.

    In a series of two vectors it is their difference.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        step = middle - before
        return np.where(two, step, (step + (after - before) / 2) / 2)
