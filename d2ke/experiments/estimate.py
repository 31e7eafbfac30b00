# SPDX-License-Identifier: BSD-3-Clause
"""How long the cells that are left will take, from those that are finished."""

from __future__ import annotations

import statistics
from collections.abc import Iterable

from d2ke.experiments import paper
from d2ke.experiments.cells import Cell

# Seconds of a cell that the paper does not have; and the most that its other times are taken for,
# since what took it hours, all distances among tens of thousands of objects, is not done here.
_UNKNOWN, _MOST = 20.0, 100.0


class Estimate:
    """Mean times of finished cells, by data set and method."""

    def __init__(self) -> None:
        self._seconds: dict[tuple[str, str], list[float]] = {}

    def add(self, cell: Cell, seconds: float) -> None:
        """Take a finished cell into account."""
        self._seconds.setdefault((cell.dataset, cell.method), []).append(seconds)

    def remaining(self, cells: Iterable[Cell]) -> float:
        """Return the seconds that these cells will take.

        The mean of the cells of the same data set and method where there are any; elsewhere the
        paper's time, multiplied by the median of what finished cells took in units of theirs.
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
    """Put a time into a number and a unit that one can plan with."""
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    if seconds < 90 * 60:
        return f"{round(seconds / 60)} min"
    return f"{seconds / 3600:.1f} h"
