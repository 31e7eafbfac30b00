# SPDX-License-Identifier: BSD-3-Clause
"""Groups by single linkage at one radius, which are kept while objects come."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import connected_components


class Groups(NamedTuple):
    """Numbers of objects, and the label of the group of each."""

    numbers: NDArray[np.int64]
    labels: NDArray[np.int64]

    def count_kept(self, numbers: NDArray[np.int64]) -> int:
        """Return how many objects still have these labels: all, or none if one of them left."""
        n = len(self.numbers)
        return n if np.array_equal(numbers[:n], self.numbers) else 0

    def joined(self, numbers: NDArray[np.int64], near: sparse.csr_array) -> Groups:
        """Return the groups with objects that came after them.

        `numbers` are those of all objects, and `near` has a row for each that came and a column for
        each number: those within the radius. A path of such steps makes a group, so that the old
        labels stand for the old steps.
        """
        kept, n = len(self.labels), len(numbers)
        firsts = np.unique(self.labels, return_index=True)[1][self.labels]
        rows = kept + np.repeat(np.arange(n - kept), np.diff(near.indptr))
        columns = np.searchsorted(numbers, near.indices)
        edges = np.append(np.arange(kept), rows), np.append(firsts, columns)
        steps = sparse.csr_array((np.ones(len(edges[0]), bool), edges), shape=(n, n))
        labels = connected_components(steps, directed=False)[1]
        return Groups(numbers, labels.astype(np.int64))


NONE = Groups(np.empty(0, np.int64), np.empty(0, np.int64))
