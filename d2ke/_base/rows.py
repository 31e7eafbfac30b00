# SPDX-License-Identifier: BSD-3-Clause
"""Rows of features that live in a file, for methods that make several passes."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from copy import copy
from typing import Any, Protocol, runtime_checkable

import numpy as np
from scipy import sparse

from d2ke._base.arrays import check_numbers, matrix, refuse_entry
from d2ke._base.errors import ArgumentError, ArgumentTypeError


@runtime_checkable
class RowSource(Protocol):
    """A matrix in a file: what `d2ke.io.open_features` returns."""

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the entries: float32 or float64."""

    def __getitem__(self, rows: slice) -> np.ndarray:
        """Read consecutive rows."""

    def blocks(self) -> Iterator[tuple[slice, np.ndarray]]:
        """Yield slices of rows and the rows, from first to last."""


class StoredRows:
    """Rows of a `RowSource`, read on access, if needed transformed by a function.

    All rows are checked once: values that are not finite are refused.

    Attributes
    ----------
    shape : tuple of int
        Rows and columns.
    dtype : numpy.dtype
        float32 or float64.
    """

    ndim = 2

    def __init__(self, name: str, source: RowSource):
        self.shape, self.dtype = source.shape, source.dtype
        self._read: Callable[[slice], np.ndarray] = source.__getitem__
        for rows, Z in source.blocks():
            good = np.isfinite(Z)
            if not good.all():
                i, j = np.argwhere(~good)[0]
                raise ValueError(
                    f"{name} has {Z[i, j]} at position ({rows.start + i}, {j}); every value must "
                    "be finite"
                )

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: slice) -> np.ndarray:
        return self._read(rows)

    def mapped(self, function: Callable[[np.ndarray], np.ndarray]) -> StoredRows:
        """Return rows transformed by a function that keeps their shape and dtype."""
        read, result = self._read, copy(self)
        result._read = lambda rows: function(read(rows))
        return result


def stored(name: str, values: Any) -> Any:
    """Return `StoredRows` of a matrix in a file; anything else as it is."""
    if isinstance(values, (str, os.PathLike)):
        raise ArgumentTypeError(
            name, f"is a path, {os.fspath(values)!r}: give d2ke.io.open_features of it"
        )
    # Lazy arrays, such as dask's, have blocks too, but are read as arrays.
    in_file = isinstance(values, RowSource) and not hasattr(values, "__array__")
    return StoredRows(name, values) if in_file else values


def feature_rows(name: str, values: Any) -> np.ndarray | sparse.csr_array | StoredRows:
    """Return feature vectors as a dense array or, if sparse, in canonical CSR form.

    A features file gives rows that are read on access.
    Duplicate entries of a sparse matrix are summed, as everywhere in scipy; the argument is
    never changed.
    """
    values = stored(name, values)
    if isinstance(values, StoredRows):
        return values
    if not sparse.issparse(values):
        return matrix(name, values)
    if values.ndim != 2:
        raise ArgumentError(name, f"must be two-dimensional, got shape {values.shape}")
    check_numbers(name, values)
    rows = values.tocsr()
    # A new container on the same buffers: its flags are computed, not those the caller may have
    # set, and indices out of range must never reach C.
    csr = sparse.csr_array((rows.data, rows.indices, rows.indptr), shape=rows.shape)
    csr.check_format(full_check=True)
    if not csr.has_canonical_format:
        csr = csr.copy()
        csr.sum_duplicates()
    if csr.dtype.kind == "f" and not np.isfinite(csr.data).all():
        entry = np.flatnonzero(~np.isfinite(csr.data))[0]
        row = np.searchsorted(csr.indptr, entry, side="right") - 1
        refuse_entry(name, csr.data[entry], row, csr.indices[entry])
    return csr
