# SPDX-License-Identifier: BSD-3-Clause
"""Estimated time of missing cells, from the times of finished ones."""

from __future__ import annotations

import statistics
from collections.abc import Iterable

from papers import paper
from papers.cells import Cell

# Seconds of a cell that the paper does not have; and a bound of the paper's times, since d2ke does
# not compute all distances among tens of thousands of objects, which took the paper hours.
_UNKNOWN, _MOST = 20.0, 100.0


class Estimate:
    """Mean times of finished cells, by data set and method."""

    def __init__(self) -> None:
        self._seconds: dict[tuple[str, str], list[float]] = {}

    def add(self, cell: Cell, seconds: float) -> None:
        """Add the time of a finished cell."""
        self._seconds.setdefault((cell.dataset, cell.method), []).append(seconds)

    def remaining(self, cells: Iterable[Cell]) -> float:
        """Return the seconds that these cells will take.

        The mean of finished cells of the same data set and method; if there are none, the paper's
        time, multiplied by the median ratio of our times to the paper's.
        """
        ratios = [statistics.fmean(times) / _prior(*key) for key, times in self._seconds.items()]
        speed = statistics.median(ratios) if ratios else 1.0
        total = 0.0
        for cell in cells:
            times = self._seconds.get((cell.dataset, cell.method))
            total += statistics.fmean(times) if times else speed * _prior(cell.dataset, cell.method)
        return total


def _prior(dataset: str, method: str) -> float:
    return min(paper.SECONDS.get((dataset, method), _UNKNOWN), _MOST)


def duration(seconds: float) -> str:
    """Format a time, with a unit of its size."""
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    if seconds < 90 * 60:
        return f"{round(seconds / 60)} min"
    return f"{seconds / 3600:.1f} h"
