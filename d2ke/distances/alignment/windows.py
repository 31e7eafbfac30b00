# SPDX-License-Identifier: BSD-3-Clause
"""Alignment of a window to its nearest part of a long series."""

from __future__ import annotations

from typing import Any

import numpy as np

from d2ke._ext.windows import Windows
from d2ke.distances.problem import PairwiseProblem
from d2ke.distances.window_rows import common_exponent, normalized_windows, planar


def align_window(
    problem: PairwiseProblem, normalize: bool = True, dilation: int = 1
) -> dict[str, Any]:
    """Return the vectors of the window of x that is nearest to y, and the cost of each pair."""
    result = np.empty((1, 1))
    problem.compiled().kernel.run(result, 1, False)
    exponent = 0 if normalize else common_exponent(problem.x, problem.y)
    (x, x_limits), (w, w_limits) = (
        planar(side, normalize, exponent) for side in (problem.x, problem.y)
    )
    length = w.shape[1]
    window = normalized_windows(w.astype(np.float64), w_limits) if normalize else w
    at = _nearest_start(x, x_limits, window, normalize, dilation) + np.arange(length) * dilation
    if at[-1] < x.shape[1]:
        matched = x[:, at].astype(np.float64)
    else:  # stretched over the whole series
        between = np.linspace(0, x.shape[1] - 1, length)
        matched = np.array([np.interp(between, np.arange(x.shape[1]), channel) for channel in x])
        at = np.round(between).astype(np.int64)
    if normalize:
        matched = normalized_windows(matched, x_limits)
    costs = ((matched - window) ** 2).sum(axis=0) / length
    return {
        "value": float(problem.rounded(result[0, 0])),
        "pairs": np.stack([at, np.arange(length)], axis=1),
        "costs": np.ldexp(costs, 2 * exponent),
    }


def _nearest_start(
    x: np.ndarray, limits: np.ndarray, w: np.ndarray, normalize: bool, dilation: int
) -> int:
    """Return the first start of a window of x that is nearest to w."""
    (dim, length), n = w.shape, x.shape[1] - (w.shape[1] - 1) * dilation
    if n < 2:
        return 0
    ends = [np.array([0, end]) for end in (x.shape[1], 1, dim)]
    numbers = np.array([length]), np.array([dilation])
    values = w.astype(np.float32).ravel()
    search = Windows(
        x, ends[0], limits, values, ends[1], *numbers, ends[2], np.arange(dim), normalize
    )
    # After each 10^8 differences Ctrl-C is noticed.
    best, start, step = np.inf, 0, max(1, 10**8 // w.size)
    for begin in range(0, n, step):
        profile = search.profile(0, begin, min(begin + step, n))[0]
        if profile.min() < best:
            best, start = profile.min(), begin + int(profile.argmin())
    return start
