# SPDX-License-Identifier: BSD-3-Clause
"""Lists of the neighbours found so far: the k nearest, or all within a radius."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from d2ke._base.memory import check_fits
from d2ke._ext import neighbor_lists


def check_graph(pairs: int) -> None:
    """Refuse more pairs within a radius than fit into memory."""
    check_fits(
        pairs * 72,  # three numbers, their sorted copies, the graph
        f"a graph of the {pairs} pairs within the radius that are known so far",
        "give a smaller radius, or search a part of X at a time",
    )


class NearestLists:
    """The k nearest neighbours of each of n rows, by distance and then by index.

    Only distances of at most `radius` are kept: a number of their dtype, or one for each row.
    """

    def __init__(self, n: int, k: int, radius: float | np.ndarray = np.inf):
        self.limits = np.broadcast_to(radius, n)
        self.distances = np.repeat(self.limits[:, None], k, axis=1)
        self.indices = np.full((n, k), np.iinfo(np.int64).max)

    def add(self, tile: np.ndarray, corner: tuple[int, int], skip: bool, mirror: bool,
            n_threads: int) -> None:  # fmt: skip
        """Offer a tile of the matrix; with `mirror`, also the transpose of its upper part."""
        neighbor_lists.keep_nearest(
            tile, *corner, skip, mirror, self.distances, self.indices, n_threads
        )

    def clear(self, rows: np.ndarray) -> None:
        """Empty the lists of some rows."""
        self.distances[rows] = self.limits[rows, None]
        self.indices[rows] = np.iinfo(np.int64).max

    def result(self, dtype: np.dtype) -> tuple[np.ndarray, np.ndarray]:
        """Return the sorted indices and distances; -1 and inf fill lists of fewer than k."""
        for rows in np.array_split(np.arange(len(self.indices)), 1 + self.indices.size // 2**20):
            order = np.lexsort((self.indices[rows], self.distances[rows]))
            self.indices[rows] = np.take_along_axis(self.indices[rows], order, axis=1)
            self.distances[rows] = np.take_along_axis(self.distances[rows], order, axis=1)
        empty = self.indices == np.iinfo(np.int64).max
        self.indices[empty], self.distances[empty] = -1, np.inf
        return self.indices, self.distances.astype(dtype, copy=False)


def without_own(
    indices: np.ndarray, distances: np.ndarray, rows: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Drop the object itself from its k + 1 nearest; `rows` are the objects' numbers."""
    k = indices.shape[1] - 1
    is_itself = indices == rows[:, None]
    is_itself[~is_itself.any(axis=1), k] = True
    return indices[~is_itself].reshape(-1, k), distances[~is_itself].reshape(-1, k)


def best_of(k: int, *lists: tuple[np.ndarray, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Return the k nearest of several lists of indices and distances; ties are sorted by index.

    -1 comes after all indices.
    """
    indices, distances = (np.concatenate(side, axis=1) for side in zip(*lists, strict=True))
    order = np.lexsort((indices.view(np.uint64), distances))[:, :k]
    return np.take_along_axis(indices, order, 1), np.take_along_axis(distances, order, 1)


class WithinLists:
    """All pairs within a radius."""

    def __init__(self, shape: tuple[int, int], radius: float):
        self._shape, self._radius = shape, radius
        self._tiles: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
        self._count = 0

    def add(self, tile: np.ndarray, corner: tuple[int, int], skip: bool, mirror: bool,
            n_threads: int) -> None:  # fmt: skip
        """Keep the entries of a tile; with `mirror`, also the transpose of its upper part."""
        entries = neighbor_lists.keep_within(tile, *corner, skip, self._radius, n_threads)
        self.extend(*entries, mirror)

    def extend(
        self, rows: np.ndarray, columns: np.ndarray, values: np.ndarray, mirror: bool = False
    ) -> None:
        """Keep these entries of the matrix; with `mirror`, also their transpose."""
        self._keep(rows, columns, values)
        if mirror:
            self._keep(columns, rows, values)

    def _keep(self, rows: np.ndarray, columns: np.ndarray, values: np.ndarray) -> None:
        self._tiles.append((rows, columns, values))
        self._count += len(rows)
        check_graph(self._count)

    def entries(self, dtype: np.dtype) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return rows, columns and distances; indices are int32 where that suffices."""
        index = np.int32 if max(*self._shape, self._count) < 2**31 else np.int64
        tiles, self._tiles = self._tiles or [(np.empty(0), np.empty(0), np.empty(0))], []
        rows, columns, values = (
            side[0] if len(side) == 1 else np.concatenate(side) for side in zip(*tiles, strict=True)
        )
        return rows.astype(index), columns.astype(index), values.astype(dtype)

    def result(self, dtype: np.dtype) -> sparse.csr_array:
        """Return the graph."""
        rows, columns, values = self.entries(dtype)
        graph = sparse.csr_array((values, (rows, columns)), shape=self._shape)
        graph.sort_indices()
        return graph
