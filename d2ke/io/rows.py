# SPDX-License-Identifier: BSD-3-Clause
"""Rows of an array or of a features file, for methods that make several passes."""

from __future__ import annotations

import os
from collections.abc import Callable
from copy import copy
from typing import Any

import numpy as np

from d2ke.io.feature_file import FeatureFile, open_features

_RUN = 4096  # rows made at a time


class RowSource:
    """Rows of an array or of an open file, if needed transformed by a function on access.

    Attributes
    ----------
    shape : tuple of int
        Rows and columns.
    dtype : numpy.dtype
        float32 or float64.
    """

    ndim = 2

    def __init__(self, values: np.ndarray | FeatureFile):
        self.shape, self.dtype = values.shape, values.dtype
        self._read: Callable[[slice], np.ndarray] = values.__getitem__

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: slice) -> np.ndarray:
        return self._read(rows)

    def mapped(
        self, function: Callable[[np.ndarray], np.ndarray], n_columns: int | None = None
    ) -> RowSource:
        """Return rows transformed by a function that keeps their dtype.

        It returns `n_columns` columns; by default as many as before.
        """
        read, result = self._read, copy(self)
        result._read = lambda rows: function(read(rows))
        if n_columns is not None:
            result.shape = self.shape[0], n_columns
        return result

    def whole(self) -> np.ndarray:
        """Return all rows, made by blocks."""
        Z = np.empty(self.shape, self.dtype)
        for start in range(0, len(Z), _RUN):
            Z[start : start + _RUN] = self[start : start + _RUN]
        return Z


class StoredRows(RowSource):
    """Rows of a features file, read on access.

    All of them are checked once. With `distances`, numbers below 0 and nan are refused; without
    it, what is not finite.
    """

    def __init__(
        self,
        name: str,
        file: FeatureFile | str | os.PathLike[str],
        *,
        distances: bool = False,
    ):
        if not isinstance(file, FeatureFile):
            file = open_features(file)
        super().__init__(file)
        wanted = ">= 0" if distances else "finite"
        for rows, Z in file.blocks():
            good = Z >= 0 if distances else np.isfinite(Z)
            if not good.all():
                i, j = np.argwhere(~good)[0]
                raise ValueError(
                    f"{name} has {Z[i, j]} at position ({rows.start + i}, {j}); every value must "
                    f"be {wanted}"
                )


def stored(name: str, values: Any) -> Any:
    """Return the rows of a features file, given as a path or open; anything else as it is."""
    if isinstance(values, (str, os.PathLike, FeatureFile)):
        return StoredRows(name, values)
    return values
