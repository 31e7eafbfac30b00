# SPDX-License-Identifier: BSD-3-Clause
"""Feature matrices laid out as the node arrays that LIBLINEAR and LIBSVM read.

Both libraries read a row as structs {int index; double value} that end with index -1. A whole
matrix becomes one structured array here, filled by numpy: 16 bytes for each stored value.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import sparse

from d2ke._base.arrays import row_blocks
from d2ke._base.rows import StoredRows

NODE = np.dtype([("index", np.intc), ("value", np.float64)], align=True)


class NodeRows(NamedTuple):
    """Rows for C: the node array and each row's address in it, which is valid while both live."""

    nodes: np.ndarray
    addresses: np.ndarray

    @classmethod
    def at(cls, nodes: np.ndarray, starts: np.ndarray) -> NodeRows:
        """Return rows that start at the given positions of a contiguous node array."""
        return cls(nodes, nodes.ctypes.data + starts.astype(np.uintp) * np.uintp(NODE.itemsize))

    def taken(self, order: np.ndarray) -> NodeRows:
        """Return the rows in another order; only addresses are copied."""
        return NodeRows(self.nodes, self.addresses[order])


def feature_nodes(
    values: np.ndarray | sparse.csr_array | StoredRows, bias: float | None = None
) -> NodeRows:
    """Return checked feature vectors as rows for C.

    Indices are 1-based. With `bias`, each row gets one more feature of that value.
    """
    n_rows, n_columns = values.shape
    tail = 1 if bias is None else 2
    if not isinstance(values, sparse.csr_array):
        nodes = _dense_nodes(values, head=0, tail=tail)
        starts = np.arange(n_rows, dtype=np.int64) * nodes.shape[1]
        ends = starts + n_columns
        nodes = nodes.reshape(-1)
    else:
        lengths = np.diff(values.indptr).astype(np.int64)
        ends = np.cumsum(lengths + tail) - tail
        starts = ends - lengths
        nodes = np.empty(values.nnz + n_rows * tail, NODE)
        positions = np.arange(values.nnz) + np.repeat(np.arange(n_rows) * tail, lengths)
        nodes["index"][positions] = values.indices + 1
        nodes["value"][positions] = values.data
    if bias is not None:
        nodes[ends] = n_columns + 1, bias
    nodes[ends + tail - 1] = -1, 0.0
    return NodeRows.at(nodes, starts)


def gram_nodes(gram: np.ndarray) -> NodeRows:
    """Return a checked Gram matrix as rows for LIBSVM, each led by its serial number in 1..n."""
    nodes = _dense_nodes(gram, head=1, tail=1)
    nodes["index"][:, 0], nodes["value"][:, 0] = 0, np.arange(1, len(gram) + 1)
    nodes[:, -1] = -1, 0.0
    starts = np.arange(len(gram), dtype=np.int64) * nodes.shape[1]
    return NodeRows.at(nodes.reshape(-1), starts)


def _dense_nodes(values: np.ndarray | StoredRows, head: int, tail: int) -> np.ndarray:
    """Return the nodes (rows x head + columns + tail) with the columns' indices 1, 2, ... set."""
    n_rows, n_columns = values.shape
    nodes = np.empty((n_rows, head + n_columns + tail), NODE)
    columns = slice(head, head + n_columns)
    indices = np.arange(1, n_columns + 1, dtype=np.intc)
    # By blocks of rows, so that a column-major matrix is read through the cache, and Ctrl-C need
    # not wait for all.
    for rows in row_blocks(values.shape):
        nodes["index"][rows, columns] = indices
        nodes["value"][rows, columns] = values[rows]
    return nodes
