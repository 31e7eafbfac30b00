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

CONSTANT = 1e-4  # deviations below it count as 0, as in windows.h
MOST = 1e18  # squares of differences of larger values exceed float32


def dilation(name: str, value: Any) -> int:
    """Check the steps of x between two values of a window."""
    return min(integer(name, value, 1), 2**40)  # no series is longer


def check_range(name: str, objects: Objects, **_: Any) -> None:
    """Refuse values whose squares exceed the range of float32."""
    values = objects.values
    if max(values.max(), -values.min()) <= MOST:
        return
    row = int(np.flatnonzero((np.abs(values) > MOST).any(axis=1))[0])
    item = int(np.searchsorted(objects.offsets, row, side="right")) - 1
    largest = np.abs(values[row]).max()
    raise ArgumentError(
        name, f"has the value {largest:.3g}; 'window' takes values of at most {MOST:g}", item
    )


def prepare_window(
    x: Objects, y: Objects, same: bool, normalize: bool = True, dilation: int = 1
) -> PairwiseKernel:
    """Compile the distance; `same` saves nothing, as it is not symmetric."""
    sides = [(planar(one, normalize), one.offsets) for one in ((x,) if y is x else (x, y))]
    return windows.pairs(*sides[0], *sides[-1], dilation, normalize)


def planar(objects: Objects, center: bool) -> np.ndarray:
    """Return the values channel by channel in float32, (dim, total).

    With `center` each channel of an object loses its mean before values are rounded.
    """
    values = objects.values
    if center:
        values = values.astype(np.float64, copy=False)
        sums = np.add.reduceat(values, objects.offsets[:-1], axis=0)
        means = sums / objects.lengths[:, None]
        values = values - np.repeat(means, objects.lengths, axis=0)
    return np.ascontiguousarray(values.T, dtype=np.float32)


def normalized_windows(values: np.ndarray) -> np.ndarray:
    """Return the values along the last axis with mean 0 and deviation 1, or zeros."""
    away = values - values.mean(axis=-1, keepdims=True)
    deviation = away.std(axis=-1, keepdims=True)
    constant = deviation < CONSTANT
    return np.where(constant, 0, away / np.where(constant, 1, deviation))
