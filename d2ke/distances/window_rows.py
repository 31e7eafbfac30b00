# SPDX-License-Identifier: BSD-3-Clause
"""The distance of a short series to the nearest place of a long one, for the registry."""

from __future__ import annotations

from typing import Any

import numpy as np

from d2ke._base.checks import integer
from d2ke._base.errors import ArgumentError
from d2ke._ext import windows
from d2ke._ext.pairwise import PairwiseKernel
from d2ke.objects.container import Objects

# Windows that deviate by less are constant, in eps: of the largest deviation from the mean, and of
# the largest value.
_ROUNDING, _ROUNDING_OF_VALUES = 8, 2
_EXPONENTS = -20, 40  # of values whose squares float32 holds
_MOST = {np.dtype(np.float64): 1e300, np.dtype(np.float32): 1e37}  # so that sums are finite


def dilation(name: str, value: Any) -> int:
    """Check the steps of x between two values of a window."""
    return min(integer(name, value, 1), 2**40)  # no series is longer


def check_range(name: str, objects: Objects, **_: Any) -> None:
    """Refuse values of which sums may be infinite."""
    values, most = objects.values, _MOST[objects.dtype]
    if max(values.max(), -values.min()) <= most:
        return
    row = int(np.flatnonzero((np.abs(values) > most).any(axis=1))[0])
    item = int(np.searchsorted(objects.offsets, row, side="right")) - 1
    largest = np.abs(values[row]).max()
    raise ArgumentError(
        name, f"has the value {largest:.3g}; 'window' takes values of at most {most:g}", item
    )


def prepare_window(
    x: Objects, y: Objects, same: bool, normalize: bool = True, dilation: int = 1
) -> PairwiseKernel:
    """Compile the distance; `same` saves nothing, as it is not symmetric."""
    exponent = 0 if normalize else common_exponent(x, y)
    sides = [
        (*planar(one, normalize, exponent), one.offsets) for one in ((x,) if y is x else (x, y))
    ]
    return windows.pairs(*sides[0], *sides[-1], dilation, normalize, 2.0**exponent)


def common_exponent(x: Objects, y: Objects) -> int:
    """Return the exponent of the unit of values that are compared as they are.

    It is 0 where float32 holds their squares.
    """
    largest = max(float(np.abs(one.values).max()) for one in (x, y))
    exponent, (low, high) = int(np.frexp(largest)[1]), _EXPONENTS
    return exponent if exponent < low else max(exponent - high, 0)


def planar(objects: Objects, normalize: bool, exponent: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return the values channel by channel in float32, (dim, total), and `constant_limits`.

    With `normalize` each channel of an object loses its mean before values are rounded, and is
    divided by a power of two, which leaves its largest absolute value between 1/2 and 1; without,
    all are divided by 2^exponent.
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

    8 eps times the largest deviation of a channel of a series from its mean, or 2 eps times its
    largest value if that is more. The eps is that of the type of the values; in the first case that
    of the type in which windows are computed, if it is larger. So levels and units of series do not
    matter, and windows that vary by rounding alone are constant.
    """
    rounding = np.finfo(objects.dtype).eps
    of_shapes = _ROUNDING * max(rounding, np.finfo(computed).eps) * _without_means(objects)[1]
    rounding *= _ROUNDING_OF_VALUES
    return np.maximum(of_shapes, rounding * _largest(objects, np.abs(objects.values)))


def _without_means(objects: Objects) -> tuple[np.ndarray, np.ndarray]:
    """Return values without the mean of each channel of a series, and their largest, (n, dim)."""
    values, filled = objects.values.astype(np.float64, copy=False), objects.lengths > 0
    lengths = objects.lengths[filled]
    means = np.add.reduceat(values, objects.offsets[:-1][filled], axis=0) / lengths[:, None]
    away = values - np.repeat(means, lengths, axis=0)
    return away, _largest(objects, np.abs(away))


def _largest(objects: Objects, sizes: np.ndarray) -> np.ndarray:
    """Return the largest of each channel of a series, (n, dim); 0 for an empty one."""
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
