# SPDX-License-Identifier: BSD-3-Clause
"""Candidates for the average of series: means of the vectors that an elastic distance aligns."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from d2ke._ext import alignment, elastic
from d2ke._ext.pairwise import PairwiseKernel
from d2ke.distances import elastic_rows as rows
from d2ke.distances.registry import find_distance
from d2ke.distances.series_rows import ELASTIC_GROUNDS
from d2ke.objects.container import Objects, from_owned


class SeriesAverage:
    """Steps from a series to a better average.

    Means come first. Once they stop improving, and the distance adds up distances rather than
    squares, the weight of each vector is divided by its distance, as by Weiszfeld.
    """

    def __init__(
        self,
        distance: str,
        x: Objects,
        weights: np.ndarray,
        n_threads: int,
        parameters: dict[str, Any],
    ):
        self._distance, self._parameters = distance, parameters
        self._x, self._weights, self._n_threads = x, weights, n_threads
        self._values = x.values.astype(np.float64, copy=False)
        # The least distance by which a weight is divided.
        self._least = 0.1 * float(self._values.std()) or 1.0
        ground = parameters.get("ground", "euclidean")
        self._modes = [alignment.MEAN]
        squared = ground == "sqeuclidean" or not parameters.get("independent", True)
        if distance in ("dtw", "msm", "erp", "twe") and not squared:
            by_channel = ground == "manhattan"
            self._modes.append(alignment.BY_CHANNEL if by_channel else alignment.BY_DISTANCE)

    def candidates(self, center: Objects) -> Iterator[Objects]:
        """Return the next averages to try, the boldest first."""
        while self._modes:
            with np.errstate(over="ignore", invalid="ignore"):
                sums = self._sums(center, self._modes[0])
                total = sums[:, 1]
                average = np.where(total > 0, sums[:, 0] / np.where(total > 0, total, 1), np.nan)
            # A vector on which none lies stays where it is.
            step = np.where(np.isfinite(average), average - center.values, 0)
            for k in range(4):  # a step, and its halvings
                yield from_owned("series", center.values + step / 2**k, center.offsets)
            self._modes.pop(0)

    def _sums(self, center: Objects, mode: int) -> np.ndarray:
        values = center.values.astype(np.float64, copy=False)
        window = self._parameters.get("window", elastic.NO_WINDOW)
        return alignment.aligned_sums(
            self._tables(center, self._x, window), self._values, self._x.offsets, values,
            self._weights, window, mode, self._least, self._n_threads,
        )  # fmt: skip

    def _tables(self, x: Objects, y: Objects, window: int) -> PairwiseKernel:
        """Prepare the distance in a form that has a way back; adtw computes squares."""
        if self._distance == "ddtw":
            x, y = (from_owned("series", *rows.derivatives(side)) for side in (x, y))
            return rows.adtw(x, y, False, 0.0, window)
        ground = self._parameters.get("ground", "euclidean")
        if self._distance == "dtw" and ground not in ELASTIC_GROUNDS:
            if ground == "sqeuclidean":
                return rows.adtw(x, y, False, 0.0, window)
            return rows.prepared("dtw_euclidean", (), window, x, y, False)
        return find_distance(self._distance).prepare(x, y, False, **self._parameters)
