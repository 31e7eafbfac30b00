# SPDX-License-Identifier: BSD-3-Clause
"""Gaps of one series filled in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from d2ke._base.checks import choice
from d2ke._base.errors import ArgumentError


def check_missing(missing: Any) -> None:
    """Refuse anything but None and "interpolate"."""
    if missing is not None:
        choice("missing", missing, ["interpolate"])


def interpolate(
    series: np.ndarray, times: Sequence[Any] | np.ndarray, name: str, i: int, called: str = ""
) -> None:
    """Fill in NaN of each channel, linearly between its neighbours in time; ends are repeated."""
    for channel in range(series.shape[1]):
        values = series[:, channel]
        there = ~np.isnan(values)
        if not there.any():
            problem = f"{called} has no value in channel {channel}, so none can be filled in"
            raise ArgumentError(name, problem.strip(), i)
        # Times are exact integers, of which float64 may not hold the differences.
        since = np.array([float(time - times[0]) for time in times])
        values[~there] = np.interp(since[~there], since[there], values[there])
