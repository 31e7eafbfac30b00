# SPDX-License-Identifier: BSD-3-Clause
"""Sums of a narrow Gaussian kernel at many points, over near pairs only."""

from __future__ import annotations

import itertools

import numpy as np

from d2ke._base.threads import thread_count
from d2ke._ext import pair_sums
from d2ke.distances.clouds import cloud, decay, scaled


class CellColumns:
    """Points sorted into columns: cells along the two widest axes, unbounded along all others.

    A column is at least 6 sigma wide, so that a point needs only the points of its own and
    the adjacent columns. Pairs left out have kernel values below 1.5e-8.
    """

    def __init__(self, points: np.ndarray, vectors: np.ndarray, sigma: float) -> None:
        points, self.sigma = scaled(points, sigma)
        self.factor = self.sigma / sigma
        self.channels = vectors.shape[1]
        self.low = points.min(axis=0)
        extent = points.max(axis=0) - self.low
        self.axes = np.argsort(-extent, kind="stable")[:2]
        # At most 16 columns along an axis, so that none becomes too short.
        limit = min(max(len(points) // 50, 1), 16)
        self.counts = np.array(
            [min(max(int(extent[a] / (6.0 * self.sigma)), 1), limit) for a in self.axes]
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
        near_each = []  # points near each column
        pairs = 0
        self.ranges = np.zeros((*(self.counts + 2), 2), dtype=np.int64)
        neighbors = list(itertools.product((-1, 0, 1), repeat=len(self.axes)))
        filled = 0
        for cell in np.ndindex(*(self.counts + 2)):
            around = [tuple(i + j for i, j in zip(cell, step, strict=True)) for step in neighbors]
            near = [inside[other] for other in around if other in inside]
            near_each += near
            begin, filled = filled, filled + sum(map(len, near))
            self.ranges[cell] = begin, filled
            pairs += (filled - begin) * len(inside.get(cell, ()))
        which = np.concatenate(near_each)
        self.points, self.vectors = cloud(points[which]), cloud(vectors[which])
        self.share = pairs / len(points) ** 2
        self.seen = 0  # pairs of points, in all sums so far

    def _cells(self, targets: np.ndarray) -> np.ndarray:
        """Return the column of each point: 1 to the count; 0 or count + 1 just outside."""
        within = (targets[:, self.axes] - self.low[self.axes]) / self.sides
        return np.clip(np.floor(within), -2, self.counts + 1).astype(np.int64) + 1

    def potentials(self, targets: np.ndarray, n_threads: int | None) -> np.ndarray:
        """Return sum_q K(p, q) v_q at every point p, (n, r)."""
        targets = targets * self.factor
        cells = self._cells(targets)
        near = ((cells >= 0) & (cells <= self.counts + 1)).all(axis=1)
        rows = np.flatnonzero(near)
        result = np.zeros((len(targets), self.channels))
        if not rows.size:
            return result
        flat = np.ravel_multi_index(tuple(cells[rows].T), tuple(self.counts + 2))
        order = np.argsort(flat, kind="stable")
        rows, flat = rows[order], flat[order]
        offsets = np.append(np.flatnonzero(np.diff(flat, prepend=-1)), len(flat))
        ranges = self.ranges.reshape(-1, 2)[flat[offsets[:-1]]]
        result[rows] = pair_sums.local_potentials(
            cloud(targets[rows]), offsets, self.points, self.vectors, ranges, False,
            decay("gaussian", self.sigma), thread_count(n_threads),
        )  # fmt: skip
        self.seen += int((np.diff(offsets) * (ranges[:, 1] - ranges[:, 0])).sum())
        return result
