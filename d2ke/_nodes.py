# SPDX-License-Identifier: BSD-3-Clause
"""Feature matrices checked, and laid out as the node arrays that LIBLINEAR and LIBSVM read.

Both libraries read a row as structs {int index; double value} that end with index -1. A whole
matrix becomes one structured array here, filled by numpy: 16 bytes for each stored value.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from d2ke._rows import StoredRows, stored

NODE = np.dtype([("index", np.intc), ("value", np.float64)], align=True)
_BLOCK = 1 << 20  # values per block of rows: temporary arrays stay small
_EXACT = 2**53


class Rows(NamedTuple):
    """Rows for C: the node array and each row's address in it, which is valid while both live."""

    nodes: np.ndarray
    addresses: np.ndarray

    @classmethod
    def at(cls, nodes: np.ndarray, starts: np.ndarray) -> Rows:
        """Make rows that start at the given positions of a contiguous node array."""
        return cls(nodes, nodes.ctypes.data + starts.astype(np.uintp) * np.uintp(NODE.itemsize))

    def taken(self, order: np.ndarray) -> Rows:
        """Return the same rows in another order; nothing is copied but addresses."""
        return Rows(self.nodes, self.addresses[order])


def row_blocks(shape: tuple[int, int]) -> list[slice]:
    """Return slices of rows of about 2**20 values each."""
    step = max(1, _BLOCK // max(1, shape[1]))
    return [slice(low, min(low + step, shape[0])) for low in range(0, shape[0], step)]


def matrix(name: str, values: Any, *, infinite: bool = False) -> np.ndarray:
    """Return a dense two-dimensional array of real numbers; nothing is copied or cast.

    Numbers must be finite; with `infinite`, only nan is refused.

    Raises
    ------
    TypeError
        If `values` is masked, sparse, or not of real numbers that float64 holds exactly.
    ValueError
        If `values` is not two-dimensional or a value is refused.
    """
    if np.ma.isMaskedArray(values):
        raise TypeError(f"{name} must not be a masked array: the mask would be lost")
    if sparse.issparse(values):
        raise TypeError(f"{name} must be a dense array, got sparse; use {name}.toarray()")
    try:
        dense = np.asarray(values)
    except ValueError:
        raise ValueError(f"{name} must be a matrix, but its rows differ in length") from None
    if dense.dtype.kind == "O" and dense.ndim == 0:
        raise TypeError(f"{name} must be a matrix of numbers, got {type(values).__name__}")
    if dense.ndim != 2:
        raise ValueError(f"{name} must be two-dimensional, got shape {dense.shape}")
    _check_dtype(name, dense)
    if dense.dtype.kind == "f":
        for rows in row_blocks(dense.shape):
            bad = np.isnan(dense[rows]) if infinite else ~np.isfinite(dense[rows])
            if bad.any():
                i, j = np.argwhere(bad)[0]
                wanted = "a number" if infinite else "finite"
                _refuse(name, dense[rows][i, j], rows.start + i, j, wanted)
    return dense


def check_distances(name: str, values: np.ndarray) -> None:
    """Refuse negative numbers and nan."""
    if not values.min(initial=0) >= 0:
        i, j = np.argwhere(~(values >= 0))[0]
        raise ValueError(f"{name}[{i}, {j}] is {values[i, j]}; distances must be >= 0")


def check_symmetric(name: str, square: np.ndarray, tolerance: float) -> None:
    """Refuse a square matrix that differs from its transpose by more than `tolerance`."""
    for rows in row_blocks(square.shape):
        gap = np.abs(square[rows].astype(np.float64) - square[:, rows].T)
        if gap.max() > tolerance:
            i, j = np.unravel_index(gap.argmax(), gap.shape)
            i += rows.start
            raise ValueError(
                f"{name} must be symmetric, but {name}[{i}, {j}] is {square[i, j]} and "
                f"{name}[{j}, {i}] is {square[j, i]}"
            )


def features(name: str, values: Any) -> np.ndarray | sparse.csr_array | StoredRows:
    """Return feature vectors as a dense array or, if sparse, in canonical CSR form.

    Of a feature store, a path or open, they are rows that are read when they are needed.
    Duplicate entries of a sparse matrix are summed, as everywhere in scipy; the argument is
    never changed.
    """
    values = stored(name, values)
    if isinstance(values, StoredRows):
        return values
    if not sparse.issparse(values):
        return matrix(name, values)
    if values.ndim != 2:
        raise ValueError(f"{name} must be two-dimensional, got shape {values.shape}")
    _check_dtype(name, values)
    given = values.tocsr()
    # A new container on the same buffers: its flags are computed, not those the caller may have
    # set, and indices out of range must never reach C.
    csr = sparse.csr_array((given.data, given.indices, given.indptr), shape=given.shape)
    csr.check_format(full_check=True)
    if not csr.has_canonical_format:
        csr = csr.copy()
        csr.sum_duplicates()
    if csr.dtype.kind == "f" and not np.isfinite(csr.data).all():
        entry = np.flatnonzero(~np.isfinite(csr.data))[0]
        row = np.searchsorted(csr.indptr, entry, side="right") - 1
        _refuse(name, csr.data[entry], row, csr.indices[entry])
    return csr


def _refuse(name: str, value: Any, row: int, column: int, wanted: str = "finite") -> None:
    raise ValueError(
        f"{name} has {value} at position ({row}, {column}); every value must be {wanted}"
    )


def _check_dtype(name: str, values: Any) -> None:
    dtype = values.dtype
    if dtype.kind not in "biuf" or (dtype.kind == "f" and dtype.itemsize > 8):
        raise TypeError(f"{name} must hold real numbers (float64 or float32), got dtype {dtype}")
    wide = dtype.kind in "iu" and dtype.itemsize == 8 and 0 not in values.shape
    if wide and (values.max() > _EXACT or values.min() < -_EXACT):
        raise ValueError(f"{name} holds integers beyond 2**53, which float64 cannot represent")


def feature_nodes(
    values: np.ndarray | sparse.csr_array | StoredRows, bias: float | None = None
) -> Rows:
    """Return checked feature vectors as rows for C.

    Indices are 1-based. With `bias`, each row gets one more feature of that value.
    """
    n_rows, n_columns = values.shape
    tail = 1 if bias is None else 2
    if not sparse.issparse(values):
        nodes = _dense_nodes(values, head=0, tail=tail)
        starts = np.arange(n_rows, dtype=np.int64) * nodes.shape[1]
        ends = starts + n_columns
        nodes = nodes.reshape(-1)
    else:
        lengths = np.diff(values.indptr).astype(np.int64)
        ends = np.cumsum(lengths + tail) - tail
        starts = ends - lengths
        nodes = np.empty(values.nnz + n_rows * tail, NODE)
        places = np.arange(values.nnz) + np.repeat(np.arange(n_rows) * tail, lengths)
        nodes["index"][places] = values.indices + 1
        nodes["value"][places] = values.data
    if bias is not None:
        nodes["index"][ends] = n_columns + 1
        nodes["value"][ends] = bias
    nodes["index"][ends + tail - 1] = -1
    nodes["value"][ends + tail - 1] = 0.0
    return Rows.at(nodes, starts)


def gram_nodes(gram: np.ndarray) -> Rows:
    """Return a checked Gram matrix as rows for LIBSVM, each led by its serial number in 1..n."""
    nodes = _dense_nodes(gram, head=1, tail=1)
    nodes["index"][:, 0] = 0
    nodes["value"][:, 0] = np.arange(1, len(gram) + 1)
    nodes["index"][:, -1] = -1
    nodes["value"][:, -1] = 0.0
    starts = np.arange(len(gram), dtype=np.int64) * nodes.shape[1]
    return Rows.at(nodes.reshape(-1), starts)


def _dense_nodes(values: np.ndarray | StoredRows, head: int, tail: int) -> np.ndarray:
    """Return the nodes (rows x head + columns + tail) with the columns' indices 1, 2, ... set."""
    n_rows, n_columns = values.shape
    nodes = np.empty((n_rows, head + n_columns + tail), NODE)
    columns = slice(head, head + n_columns)
    nodes["index"][:, columns] = np.arange(1, n_columns + 1, dtype=np.intc)
    # By blocks of rows, so that a column-major matrix is read through the cache.
    for rows in row_blocks(values.shape):
        nodes["value"][rows, columns] = values[rows]
    return nodes
