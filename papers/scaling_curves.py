# SPDX-License-Identifier: BSD-3-Clause
"""Curves of cost against size: slopes, crossings, and what the next size will cost."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

Curve = Mapping[float, float]  # cost by size, both above 0

OURS = ("d2ke", "d2ke_views")  # whose crossings with the other methods are reported
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
    >>> from papers.scaling_curves import slopes
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
    ends = slopes(curve)
    slope = _UNKNOWN_SLOPE if ends is None else max(ends["last"], 0.0)
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
    >>> from papers.scaling_curves import crossing
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


def curve(points: Sequence[Mapping[str, Any]], key: str, value: str) -> dict[float, float]:
    """Return a cost by size, of points where it is known."""
    return {point[key]: point[value] for point in points if point[value]}


def summary(
    by_n: Sequence[Mapping[str, Any]], by_length: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    """Return slopes by method and quantity, and the crossings of D2KE with other methods.

    Parameters
    ----------
    by_n, by_length : sequence of mapping
        The points.

    Returns
    -------
    dict
        ``slopes``: by method, of "seconds" (of the processor), "without_search" and "memory"
        against N, and of "seconds_by_length"; see `slopes`. ``crossings``: for "seconds" and
        "without_search" against N, from which N "method" is faster than "other"; see `crossing`.
    """
    curves: dict[str, dict[str, dict[float, float]]] = {}
    for method in dict.fromkeys(point["method"] for point in by_n):
        points = [point for point in by_n if point["method"] == method]
        at_lengths = [point for point in by_length if point["method"] == method]
        curves[method] = {
            "seconds": curve(points, "n", "processor_seconds"),
            "without_search": curve(points, "n", "without_search"),
            "memory": curve(points, "n", "memory"),
            "seconds_by_length": curve(at_lengths, "length", "processor_seconds"),
        }
    return {
        "slopes": {
            method: {name: slopes(costs) for name, costs in of_method.items()}
            for method, of_method in curves.items()
        },
        "crossings": list(_crossings(curves)),
    }


def _crossings(curves: Mapping[str, Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    for quantity in ("seconds", "without_search"):
        for method in OURS:
            for other in curves:
                if method not in curves or other in OURS:
                    continue
                where = crossing(curves[method][quantity], curves[other][quantity])
                if where is not None:
                    yield {"quantity": quantity, "method": method, "other": other, **where}


def _logarithms(curve: Curve) -> tuple[np.ndarray, np.ndarray]:
    sizes = sorted(curve)
    return np.log(sizes), np.log([curve[size] for size in sizes])
