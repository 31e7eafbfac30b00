# SPDX-License-Identifier: BSD-3-Clause
"""The distance of a short series to the nearest window of a long one, for the registry."""

from __future__ import annotations

from typing import Any

import numpy as np

from d2ke._base.checks import integer
from d2ke._base.errors import ArgumentError
from d2ke._ext import windows
from d2ke._ext.pairwise import PairwiseKernel
from d2ke.objects.container import Objects


def dilation(name: str, value: Any) -> int:
    """Check the steps of x between two values of a window."""
    return min(integer(name, value, 1), 2**40)  # no series is longer


def check_range(name: str, objects: Objects, **_: Any) -> None:
    """Refuse values so large that sums may be infinite."""
    values, limit = objects.values, 1e300 if objects.dtype == np.float64 else 1e37
    if max(values.max(), -values.min()) <= limit:
        return
    row = int(np.flatnonzero((np.abs(values) > limit).any(axis=1))[0])
    item = int(np.searchsorted(objects.offsets, row, side="right")) - 1
    largest = np.abs(values[row]).max()
    raise ArgumentError(
        name, f"has the value {largest:.3g}; 'window' takes values of at most {limit:g}", item
    )


def prepare_window(
    x: Objects, y: Objects, same: bool, normalize: bool = True, dilation: int = 1
) -> PairwiseKernel:
    """Compile the distance; `same` saves nothing, as it is not symmetric."""
    exponent = 0 if normalize else common_exponent(x, y)
    sides = [
        (*planar(side, normalize, exponent), side.offsets) for side in ((x,) if y is x else (x, y))
    ]
    return windows.pairs(*sides[0], *sides[-1], dilation, normalize, 2.0**exponent)


def common_exponent(x: Objects, y: Objects) -> int:
    """Return the exponent of the unit of values that are compared without normalisation.

    It is 0 if float32 holds their squares: for largest values from 2^-20 to 2^40.
    """
    largest = max(float(np.abs(side.values).max()) for side in (x, y))
    exponent = int(np.frexp(largest)[1])
    return exponent if exponent < -20 else max(exponent - 40, 0)


def planar(objects: Objects, normalize: bool, exponent: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return the values channel by channel in float32, (dim, total), and `constant_limits`.

    With `normalize` each channel of an object is centred before values are rounded, and divided by
    a power of two, so that its largest absolute value is between 1/2 and 1. Without `normalize`
    all values are divided by 2^exponent.
    """
    if not normalize:
        values = np.ldexp(objects.values, -exponent).T
        none = np.zeros((objects.dim, len(objects)), np.float32)
        return np.ascontiguousarray(values, dtype=np.float32), none
    away, largest = _without_means(objects)
    units = np.frexp(largest)[1]
    away = np.ldexp(away, -np.repeat(units, objects.lengths, axis=0))
    limits = np.ldexp(constant_limits(objects, np.float32), -units)
    values = np.ascontiguousarray(away.T, dtype=np.float32)
    return values, np.ascontiguousarray(np.minimum(limits, 1).T, dtype=np.float32)


def constant_limits(objects: Objects, computed: Any) -> np.ndarray:
    """Return the deviations up to which windows of series are constant, (n, dim).

    The limit of channel c of series x is

        max(8 max(eps, eps_computed) max_t |x_tc - mean_c|, 2 eps max_t |x_tc|),

    where eps belongs to the type of the values, and eps_computed to the type in which windows are
    computed. So levels and units of series do not matter, and windows that vary by rounding alone
    are constant.
    """
    eps, eps_computed = np.finfo(objects.dtype).eps, np.finfo(computed).eps
    limits = 8 * max(eps, eps_computed) * _without_means(objects)[1]
    return np.maximum(limits, 2 * eps * _largest(objects, np.abs(objects.values)))


def _without_means(objects: Objects) -> tuple[np.ndarray, np.ndarray]:
    """Return values, centred by channel of each series, and their largest sizes, (n, dim)."""
    values, filled = objects.values.astype(np.float64, copy=False), objects.lengths > 0
    lengths = objects.lengths[filled]
    means = np.add.reduceat(values, objects.offsets[:-1][filled], axis=0) / lengths[:, None]
    away = values - np.repeat(means, lengths, axis=0)
    return away, _largest(objects, np.abs(away))


def _largest(objects: Objects, sizes: np.ndarray) -> np.ndarray:
    """Return the largest value of each channel of each series, (n, dim); 0 for an empty one."""
    filled = objects.lengths > 0
    result = np.zeros((len(objects), objects.dim))
    result[filled] = np.maximum.reduceat(sizes, objects.offsets[:-1][filled], axis=0)
    return result


def normalized_windows(values: np.ndarray, limits: np.ndarray) -> np.ndarray:
    """Return windows, values along the last axis, with mean 0 and deviation 1, or zeros.

    Windows that deviate by at most the limits, of shape (..., 1), are constant.
    """
    away = values - values.mean(axis=-1, keepdims=True)
    deviation = away.std(axis=-1, keepdims=True)
    constant = deviation <= limits
    return np.where(constant, 0, away / np.where(constant, 1, deviation))
