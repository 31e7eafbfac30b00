# SPDX-License-Identifier: BSD-3-Clause
"""Groups by single linkage at one radius, updated as objects are added."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import connected_components


class Groups(NamedTuple):
    """Numbers of objects, and the group label of each."""

    numbers: NDArray[np.int64]
    labels: NDArray[np.int64]

    def extended(self, numbers: NDArray[np.int64], near: sparse.csr_array) -> Groups:
        """Return the groups after objects were added.

        `numbers` of all objects; `near` has a row for each added object and a column for each
        number: objects within the radius. Old groups are kept by an edge from each old object to
        the first object of its group.
        """
        n_old, n = len(self.labels), len(numbers)
        firsts = np.unique(self.labels, return_index=True)[1][self.labels]
        rows = n_old + np.repeat(np.arange(n - n_old), np.diff(near.indptr))
        columns = np.searchsorted(numbers, near.indices)
        edges = np.append(np.arange(n_old), rows), np.append(firsts, columns)
        steps = sparse.csr_array((np.ones(len(edges[0]), bool), edges), shape=(n, n))
        labels = connected_components(steps, directed=False)[1]
        return Groups(numbers, labels.astype(np.int64))


NONE = Groups(np.empty(0, np.int64), np.empty(0, np.int64))
