# SPDX-License-Identifier: BSD-3-Clause
"""A forest that grows into the minimum spanning tree."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components, minimum_spanning_tree


class Edges(NamedTuple):
    """Edges of objects i < j. The order of (weight, i, j) is strict: the least tree is unique."""

    i: np.ndarray
    j: np.ndarray
    weights: np.ndarray

    @classmethod
    def of(cls, rows: np.ndarray, columns: np.ndarray, weights: np.ndarray) -> Edges:
        """Make edges of pairs in any order."""
        return cls(np.minimum(rows, columns), np.maximum(rows, columns), weights)

    def take(self, which: np.ndarray) -> Edges:
        """Return some of the edges."""
        return Edges(*(array[which] for array in self))

    def order(self) -> np.ndarray:
        """Return the order of the edges."""
        return np.lexsort((self.j, self.i, self.weights))

    @staticmethod
    def join(several: Sequence[Edges]) -> Edges:
        """Put edges end to end."""
        empty = Edges(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0))
        return Edges(*map(np.concatenate, zip(empty, *several, strict=True)))


class Forest:
    """Edges of the tree that are known, and the components that they make of n objects.

    Attributes
    ----------
    labels : ndarray of int64
        The component of each object.
    count : int
        Number of components.
    """

    def __init__(self, n: int, report: Callable[[int, int], None] | None = None):
        self.labels, self.count = np.arange(n), n
        self._parts: list[Edges] = []
        self._report = report

    def add(self, edges: Edges) -> None:
        """Add edges of the tree."""
        self._parts.append(edges)
        graph = self._graph(edges, np.ones(len(edges.i)))
        self.count, merged = connected_components(graph, directed=False)
        self.labels = merged.astype(np.int64)[self.labels]
        if self._report is not None:
            n = len(self.labels)
            self._report(n - self.count, n - 1)

    def least(self, edges: Edges, order: np.ndarray | None = None) -> Edges:
        """Return the edges of the components' minimum spanning forest; the order breaks ties."""
        ordered = edges.take(edges.order() if order is None else order)
        ends = np.sort([self.labels[ordered.i], self.labels[ordered.j]], axis=0)
        # The first of each pair of components suffices.
        _, first = np.unique(ends[0] * self.count + ends[1], return_index=True)
        first = np.sort(first[ends[0][first] != ends[1][first]])
        ordered = ordered.take(first)
        ranks = minimum_spanning_tree(self._graph(ordered, np.arange(1.0, len(first) + 1))).data
        return ordered.take(np.sort(ranks.astype(np.int64)) - 1)

    def outside(self) -> np.ndarray:
        """Return the objects that are not in the largest component."""
        return np.flatnonzero(self.labels != np.bincount(self.labels).argmax())

    def tree(self) -> Edges:
        """Return the ordered edges."""
        edges = Edges.join(self._parts)
        return edges.take(edges.order())

    def _graph(self, edges: Edges, values: np.ndarray) -> sparse.csr_array:
        # Old versions of scipy search trees of 32-bit indices only.
        ends = tuple(self.labels[rows].astype(np.intc) for rows in (edges.i, edges.j))
        return sparse.csr_array((values, ends), shape=(self.count, self.count))
