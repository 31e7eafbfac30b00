# SPDX-License-Identifier: BSD-3-Clause
"""Curves of cost against size: slopes, crossings, and what the next size will cost."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

Curve = Mapping[float, float]  # cost by size, both above 0

_FARTHEST = 16  # times the largest size; no crossing is predicted beyond
_UNKNOWN_SLOPE = 2.0  # of a curve of one size: no method here costs more than the square for long


def slopes(curve: Curve) -> dict[str, float] | None:
    """Return the exponents p of cost ~ size^p; None for fewer than two sizes.

    Parameters
    ----------
    curve : mapping of float to float
        Cost by size.

    Returns
    -------
    dict or None
        ``fit``: by least squares over the logarithms of all sizes; ``last``: between the two
        largest sizes.

    Examples
    --------
    >>> from d2ke.experiments.scaling_curves import slopes
    >>> {name: round(p, 12) for name, p in slopes({100: 3.0, 200: 12.0, 400: 48.0}).items()}
    {'fit': 2.0, 'last': 2.0}
    """
    if len(curve) < 2:
        return None
    x, y = _logarithms(curve)
    return {"fit": float(np.polyfit(x, y, 1)[0]), "last": float((y[-1] - y[-2]) / (x[-1] - x[-2]))}


def predicted(curve: Curve, size: float) -> float:
    """Return the cost of a larger size, by the slope between the two largest ones.

    A curve of one size is taken to be quadratic, and no curve is taken to fall.
    """
    x, y = _logarithms(curve)
    known = slopes(curve)
    slope = _UNKNOWN_SLOPE if known is None else max(known["last"], 0.0)
    return math.exp(y[-1] + slope * (math.log(size) - x[-1]))


def crossing(ours: Curve, other: Curve) -> dict[str, Any] | None:
    """Return the size from which our cost is the lower one; None without a common size.

    Parameters
    ----------
    ours, other : mapping of float to float
        Costs by size.

    Returns
    -------
    dict or None
        ``kind``, and ``size`` (None if there is none):

        - "measured": our cost is higher at one common size and lower from the next one on, at
          ``between``; the size in between is on straight lines through the logarithms
        - "always": it is lower at every common size
        - "predicted": it is higher at the largest common size, and with the slopes of both
          curves it would be lower from this size on, at most 16 times as large
        - "never": it is higher there, and would be at 16 times that size

    Examples
    --------
    >>> from d2ke.experiments.scaling_curves import crossing
    >>> crossing({100: 10.0, 400: 40.0}, {100: 5.0, 400: 80.0})
    {'kind': 'measured', 'size': 200, 'between': [100, 400]}
    """
    common = sorted(ours.keys() & other.keys())
    if not common:
        return None
    ratio = [math.log(ours[size] / other[size]) for size in common]
    slower = [i for i, value in enumerate(ratio) if value > 0]
    if not slower:
        return {"kind": "always", "size": None}
    i = slower[-1]
    if i + 1 < len(common):
        low, high = common[i], common[i + 1]
        share = ratio[i] / (ratio[i] - ratio[i + 1])
        return {
            "kind": "measured",
            "size": round(low * (high / low) ** share),
            "between": [low, high],
        }
    mine, theirs = slopes(ours), slopes(other)
    nearer = 0.0 if mine is None or theirs is None else theirs["fit"] - mine["fit"]
    if ratio[-1] > nearer * math.log(_FARTHEST):
        return {"kind": "never", "size": None}
    return {"kind": "predicted", "size": round(common[-1] * math.exp(ratio[-1] / nearer))}


def _logarithms(curve: Curve) -> tuple[np.ndarray, np.ndarray]:
    sizes = sorted(curve)
    return np.log(sizes), np.log([curve[size] for size in sizes])
