# SPDX-License-Identifier: BSD-3-Clause
"""Rows of an array or a feature store for what goes through all of them, again and again."""

from __future__ import annotations

import os
import tempfile
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from d2ke._base.files import write_all
from d2ke.io.store.reader import FeatureFile, open_features

_RUN, _WRITTEN = 4096, 512  # rows made at a time


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


def written(rows: RowSource, folder: Path) -> RowSource:
    """Return the same rows, made once and read from a nameless file in the folder.

    Where the disk is full they stay what they are.
    """
    try:
        read = _Written(rows, folder)
    except OSError:
        return rows
    result = RowSource(np.empty((0, rows.shape[1]), rows.dtype))
    result.shape, result._read = rows.shape, read
    return result


class _Written:
    """Reads rows from a nameless file, which goes when nobody has the reader any more."""

    def __init__(self, rows: RowSource, folder: Path):
        self._columns, self._dtype = rows.shape[1], rows.dtype
        self._row_bytes = self._columns * self._dtype.itemsize
        with tempfile.TemporaryFile(dir=folder, buffering=0) as file:
            for start in range(0, len(rows), _WRITTEN):
                Z = np.ascontiguousarray(rows[start : start + _WRITTEN])
                write_all(file.fileno(), memoryview(Z).cast("B"), start * self._row_bytes)
            self._fd = os.dup(file.fileno())
        weakref.finalize(self, os.close, self._fd)

    def __call__(self, rows: slice) -> np.ndarray:
        Z = np.empty((rows.stop - rows.start, self._columns), self._dtype)
        if not Z.size:
            return Z
        left, place = memoryview(Z).cast("B"), rows.start * self._row_bytes
        while left:
            done = os.preadv(self._fd, [left], place)
            if not done:
                raise OSError("the file of features has become shorter")
            left, place = left[done:], place + done
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
