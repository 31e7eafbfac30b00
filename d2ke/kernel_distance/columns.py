# SPDX-License-Identifier: BSD-3-Clause
"""Sums of a narrow Gaussian kernel at many places, without most of the pairs that are far."""

from __future__ import annotations

import itertools

import numpy as np

from d2ke._clouds import cloud, decay, scaled
from d2ke._ext import kernel_sums
from d2ke._threads import thread_count, worker_pool

_REACH = 6.0  # sigmas, where the kernel has fallen to 1.5e-8
_POINTS_OF_A_ROW = 100  # that make its calls worth their while
_MOST = 14  # columns along an axis
_THREAD_PAIRS = 1_000_000


class Columns:
    """Points sorted into columns: cells along two axes, and not along any other.

    A column is at least 6 sigma wide, so that a place needs the points of its own and of the
    next columns only. What is left out has kernel values below 1.5e-8.
    """

    def __init__(self, points: np.ndarray, vectors: np.ndarray, sigma: float) -> None:
        points, self.sigma = scaled(points, sigma)
        self.factor = self.sigma / sigma
        self.n_points, self.channels = len(points), vectors.shape[1]
        self.low = points.min(axis=0)
        extent = points.max(axis=0) - self.low
        self.axes = np.argsort(-extent, kind="stable")[:2]
        most = min(max(len(points) // _POINTS_OF_A_ROW, 1), _MOST)
        self.counts = np.array(
            [min(max(int(extent[a] / (_REACH * self.sigma)), 1), most) for a in self.axes]
        )
        self.sides = np.where(self.counts > 1, extent[self.axes] / self.counts, np.inf)
        cells = np.minimum(self._cells(points), self.counts)  # the last point is on the edge
        order = np.lexsort(cells.T[::-1])
        cells = cells[order]
        steps = np.append(np.flatnonzero((np.diff(cells, axis=0, prepend=-9) != 0).any(axis=1)),
                          len(points))  # fmt: skip
        inside = {
            tuple(cells[begin].tolist()): order[begin:end]
            for begin, end in itertools.pairwise(steps.tolist())
        }
        self.clouds: dict[tuple[int, ...], tuple[np.ndarray, np.ndarray, int]] = {}
        pairs = 0
        ways = list(itertools.product((-1, 0, 1), repeat=len(self.axes)))
        for cell in np.ndindex(*(self.counts + 2)):
            around = [tuple(i + j for i, j in zip(cell, way, strict=True)) for way in ways]
            near = [inside[other] for other in around if other in inside]
            if near:
                which = np.concatenate(near)
                self.clouds[cell] = cloud(points[which]), cloud(vectors[which]), len(which)
                pairs += len(which) * len(inside.get(cell, ()))
        self.share = pairs / len(points) ** 2
        self.seen = 0  # pairs of points, in all sums so far

    def _cells(self, places: np.ndarray) -> np.ndarray:
        """Return the column of each place: 1 to the count, 0 and one more just outside."""
        within = (places[:, self.axes] - self.low[self.axes]) / self.sides
        return np.clip(np.floor(within), -2, self.counts + 1).astype(np.int64) + 1

    def potentials(self, places: np.ndarray, n_threads: int | None) -> np.ndarray:
        """Return sum_q K(p, q) v_q at every place, (n, r)."""
        places = places * self.factor
        cells = self._cells(places)
        flat = (cells[:, 0] + 1) * (_MOST + 4) + (cells[:, -1] + 1)
        order = np.argsort(flat, kind="stable")
        starts = np.flatnonzero(np.diff(flat[order], prepend=-1))
        result = np.zeros((len(places), self.channels))
        rate = decay("gaussian", self.sigma)

        def column(part: np.ndarray) -> int:
            found = self.clouds.get(tuple(cells[part[0]].tolist()))
            if found is None:
                return 0
            points, vectors, n = found
            result[part] = kernel_sums.potentials(
                cloud(places[part]), len(part), points, vectors, n, False, rate, inner
            )
            return n * len(part)

        parts = np.split(order, starts[1:])
        # A single column is shared by compiled threads.
        inner = thread_count(n_threads) if len(parts) == 1 else 1
        if len(parts) == 1 or len(places) * self.n_points * self.share < _THREAD_PAIRS:
            self.seen += sum(map(column, parts))
        else:
            with worker_pool(n_threads) as pool:
                self.seen += sum(pool.map(column, parts))
        return result
