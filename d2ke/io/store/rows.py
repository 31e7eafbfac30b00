# SPDX-License-Identifier: BSD-3-Clause
"""Rows of the stores in the folder of a search."""

from __future__ import annotations

import os
import tempfile
import weakref
from pathlib import Path
from typing import Any

import numpy as np

from d2ke._base.files import write_all
from d2ke.io.rows import RowSource
from d2ke.io.store.reader import FeatureFile, open_features

_WRITTEN = 512  # rows made at a time


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
        with open_features(file) as store:
            self.shape, self.dtype = store.shape, store.dtype
            _check_values(name, store, distances)
            self._read = store.reader()


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
