# SPDX-License-Identifier: BSD-3-Clause
"""The training objects and widths that predict new objects after `cdsk` and `lpdsk`."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse

from d2ke._base import arrays
from d2ke._base.arrays import row_blocks
from d2ke._base.checks import positive_number
from d2ke._base.errors import ArgumentError, ArgumentTypeError
from d2ke.discriminative.automatic import Widths
from d2ke.discriminative.gaussian import gaussian, gaussian_of_distances
from d2ke.discriminative.kernel_input import KernelInput
from d2ke.objects.compatibility import columns_in_order
from d2ke.objects.values import channel_names, column_names


@dataclass(frozen=True, eq=False)
class Trained:
    """The arguments of a call, not copied, and the chosen widths, if any.

    `marker` is the label of objects without any similarity.
    """

    source: KernelInput
    widths: Widths | None
    marker: Any = -1

    @property
    def form(self) -> str:
        """Return the form of new objects: "K_new", "points", "distances" or "features"."""
        name = self.source.names()[0]
        return "K_new" if name == "K" else name

    def read(self, values: Any) -> np.ndarray | csr_array:
        """Check the rows of new objects."""
        names = channel_names(column_names(self.source.rows()), self.form)
        values = columns_in_order(values, names, self.form)
        rows = csr_array(values, dtype=np.float64) if issparse(values) else None
        if rows is None:
            rows = np.asarray(arrays.matrix(self.form, values), dtype=np.float64)
        elif self.form != "K_new":
            raise ArgumentTypeError(self.form, "must be a dense array, got sparse")
        elif not np.isfinite(rows.data).all():
            raise ArgumentError("K_new", "has values that are not finite")
        expected = self.source.rows()
        columns = expected.shape[1] if hasattr(expected, "shape") else np.shape(expected)[1]
        if rows.shape[1] != columns:
            raise ArgumentError(
                self.form, f"has {rows.shape[1]} columns, but the training objects have {columns}"
            )
        if self.form == "distances":
            arrays.check_distances("distances", rows)
        return rows

    def similarities(self, rows: np.ndarray | csr_array) -> np.ndarray | csr_array:
        """Return the similarities of new objects to the training objects."""
        if self.form == "K_new":
            return rows
        if self.widths is not None:
            widths = self.widths
            return widths.near.rows(rows, widths.n_neighbors, widths.scale, widths.h)
        if self.form == "points":
            return gaussian("points", rows, np.asarray(self.source.points), self.source.h)
        if self.form == "distances":
            return gaussian_of_distances(rows, positive_number("h", self.source.h))
        return rows @ np.asarray(self.source.features, dtype=np.float64).T

    def same(self, rows: np.ndarray | csr_array) -> np.ndarray:
        """Return for each row the first training object with the same row, or -1."""
        firsts: dict[bytes, int] = {}
        for at, key in enumerate(_keys(self.source.rows())):
            firsts.setdefault(key, at)
        return np.array([firsts.get(key, -1) for key in _keys(rows)], dtype=np.int64)


def _keys(rows: Any) -> list[bytes]:
    """Hash each row; -0 counts as 0, and zeros of sparse rows are left out."""
    if issparse(rows):
        sparse = csr_array(rows, dtype=np.float64, copy=True)
        sparse.sum_duplicates()
        sparse.eliminate_zeros()
        columns = sparse.indices.astype(np.int64)
        bounds = zip(sparse.indptr[:-1], sparse.indptr[1:], strict=True)
        return [_hash(columns[a:b].tobytes() + sparse.data[a:b].tobytes()) for a, b in bounds]
    rows = np.asarray(rows)
    blocks = row_blocks(rows.shape)
    return [_hash(row.tobytes()) for span in blocks for row in rows[span].astype(np.float64) + 0.0]


def _hash(values: bytes) -> bytes:
    return blake2b(values, digest_size=16).digest()
