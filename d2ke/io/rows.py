# SPDX-License-Identifier: BSD-3-Clause
"""Rows of an array or a feature store for what goes through all of them, again and again."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np

from d2ke.io.store.reader import FeatureFile, open_features

_RUN = 4096  # rows made at a time


class RowSource:
    """The rows of an array, or what a function makes of them whenever they are asked for.

    Attributes
    ----------
    shape : tuple of int
        Rows and columns.
    dtype : numpy.dtype
        float32 or float64.
    """

    ndim = 2

    def __init__(self, values: np.ndarray):
        self.shape, self.dtype = values.shape, values.dtype
        self._read: Callable[[slice], np.ndarray] = values.__getitem__
        self._map: Callable[[np.ndarray], np.ndarray] | None = None

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: slice) -> np.ndarray:
        start, stop, step = rows.indices(self.shape[0])
        if step != 1:
            raise ValueError(f"rows of a store are read without a step, got {rows!r}")
        Z = self._read(slice(start, max(start, stop)))
        return Z if self._map is None else self._map(Z)

    def mapped(
        self, function: Callable[[np.ndarray], np.ndarray], n_columns: int | None = None
    ) -> RowSource:
        """Return rows that a function of some rows, which keeps their type, changes.

        It makes `n_columns` of theirs; by default as many as there are.
        """
        result = object.__new__(type(self))
        result.__dict__.update(self.__dict__)
        before = self._map
        result._map = function if before is None else lambda Z: function(before(Z))
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
    """The rows of a feature store, read from the file whenever they are asked for.

    The whole file is verified once. From then on rows are read as plain bytes, by any number of
    threads at the same time (of a compressed store: by one at a time). With `distances`, numbers
    below 0 and nan are refused; without it, what is not finite.
    """

    def __init__(self, name: str, file: Any, *, distances: bool = False):
        if not isinstance(file, FeatureFile):
            with open_features(file) as store:
                self.__init__(name, store, distances=distances)
            return
        self.shape, self.dtype = file.shape, file.dtype
        _check_values(name, file, distances)
        self._map = None
        self._read = file.reader()


def _check_values(name: str, file: FeatureFile, distances: bool) -> None:
    """Read all of a store, and refuse what it must not hold."""
    wanted = ">= 0" if distances else "finite"
    for rows, Z in file.blocks():
        good = Z >= 0 if distances else np.isfinite(Z)
        if not good.all():
            i, j = np.argwhere(~good)[0]
            raise ValueError(
                f"{name} has {Z[i, j]} at position ({rows.start + i}, {j}); every value must be "
                f"{wanted}"
            )


def stored(name: str, values: Any) -> Any:
    """Return the rows of a store that is given as a path or open; anything else as it is."""
    if isinstance(values, (str, os.PathLike, FeatureFile)):
        return StoredRows(name, values)
    return values
