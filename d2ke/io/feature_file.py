# SPDX-License-Identifier: BSD-3-Clause
"""Feature stores opened for reading by parts: `open_features` and `FeatureFile`."""

from __future__ import annotations

import os
import weakref
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from types import TracebackType
from typing import Any

import h5py
import numpy as np

from d2ke._base.checks import file_path, integer
from d2ke._base.memory import needs
from d2ke.io import _layout
from d2ke.io._grid import Grid
from d2ke.io._hdf5 import get_objects, group_of, part_of
from d2ke.objects.container import Objects

_BLOCK_BYTES = 1 << 24


class FeatureFile:
    """A feature store opened by `open_features`; nothing of Z is in memory.

    It is a context manager, and closed at the end of a ``with``. What is read is checked: damage
    is a ValueError that names the rows.

    Attributes
    ----------
    path : pathlib.Path
        The file.
    shape : tuple of int
        Rows and columns, (n, R).
    dtype : numpy.dtype
        float32 or float64.
    parameters : dict
        What the features were made with.
    inputs : dict
        What else was recorded where blocks of rows were streamed to the file: digests of X and
        omega above all; empty for files of `save_features`.
    versions : dict
        As those of `FeatureStore`.

    Examples
    --------
    >>> import os, tempfile
    >>> import d2ke
    >>> omega = d2ke.random_strings(64, "ACGT", length=(2, 8), seed=0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = os.path.join(folder, "features.h5")
    ...     with d2ke.d2ke_embed(["ACGT", "AGGT", "TT"], omega, distance="levenshtein", gamma=0.5,
    ...                          out=file) as store:
    ...         print(store)
    ...         store.verify()
    ...         print(store.read(slice(1, 3)).shape)
    ...         print([rows for rows, Z in store.blocks(2)])
    <features.h5: 3 x 64, float64>
    (2, 64)
    [slice(0, 2, None), slice(2, 3, None)]
    """

    def __init__(self, file: str | os.PathLike):
        self.path = file_path("file", file)
        _layout.check_whole(self.path)
        self._store = h5py.File(self.path, "r")
        try:
            with _layout.damage(self.path):
                self._Z = part_of(self._store, "Z")
                if self._Z.ndim != 2 or self._Z.dtype not in (np.float32, np.float64):
                    raise ValueError(f"Z is {self._Z.dtype} of shape {self._Z.shape}")
                self.shape: tuple[int, int] = self._Z.shape
                self.dtype: np.dtype = self._Z.dtype
                self.parameters: dict[str, Any] = _layout.get_values(self._store, "parameters")
                self.versions: dict[str, Any] = _layout.get_values(self._store, "versions")
                self.inputs: dict[str, Any] = {}
                if "inputs" in self._store:
                    self.inputs = _layout.get_values(self._store, "inputs")
        except BaseException:
            self._store.close()
            raise

    def __len__(self) -> int:
        return self.shape[0]

    def __repr__(self) -> str:
        closed = "" if self._store else ", closed"
        return f"<{self.path.name}: {self.shape[0]} x {self.shape[1]}, {self.dtype}{closed}>"

    def __enter__(self) -> FeatureFile:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the file; it may be closed already."""
        self._store.close()

    def ranges(self, rows: slice | None, columns: slice | None) -> tuple[slice, slice]:
        """Return rows and columns as slices from 0 on; what reaches beyond Z is refused."""
        return _range("rows", rows, self.shape[0]), _range("columns", columns, self.shape[1])

    def read(self, rows: slice | None = None, columns: slice | None = None) -> np.ndarray:
        """Read and check some rows and columns of Z; None for all."""
        rows, columns = self.ranges(rows, columns)
        try:
            return self._dataset()[rows, columns]
        except OSError as error:
            where = self._damage(rows, columns)
            raise ValueError(f"{self.path} is damaged: Z cannot be read{where}: {error}") from error

    def blocks(self, n_rows: int | None = None) -> Iterator[tuple[slice, np.ndarray]]:
        """Iterate over (rows, those rows of Z), of `n_rows` each; None for about 16 MiB."""
        if n_rows is None:
            chunk = self._Z.chunks[0]
            row_bytes = self.shape[1] * self.dtype.itemsize
            n_rows = max(1, _BLOCK_BYTES // (row_bytes * chunk)) * chunk
        step = integer("n_rows", n_rows, 1)
        for low in range(0, self.shape[0], step):
            rows = slice(low, min(low + step, self.shape[0]))
            yield rows, self.read(rows)

    def labels(self, rows: slice | None = None) -> np.ndarray | None:
        """Read the labels of some rows; None where none were saved."""
        rows = _range("rows", rows, self.shape[0])
        with _layout.damage(self.path):
            return _layout.get_labels(self._store, rows) if "labels" in self._store else None

    def omega(self, columns: slice | None = None) -> Objects | None:
        """Read the random objects of some columns; None where none were saved."""
        columns = _range("columns", columns, self.shape[1])
        with _layout.damage(self.path):
            if "omega" not in self._store:
                return None
            return get_objects(group_of(self._store, "omega"), columns)

    def reader(self) -> Callable[[slice], np.ndarray]:
        """Return a function that reads rows, which must be within Z, without checking them.

        It goes on to work when the file is closed, and any number of threads may call it.
        """
        if self._dataset().compression is not None:
            return FeatureFile(self.path).read
        places = _layout.chunk_places(self._Z)
        chunk = self._Z.chunks
        starts = np.array([places[corner][0] for corner in sorted(places)], dtype=np.int64)
        bands = -(-self.shape[0] // chunk[0])
        grid = Grid(self.shape, chunk, self.dtype, starts.reshape(bands, -1))
        return _Reader(self.path, grid)

    def verify(self) -> None:
        """Read all of Z and check it.

        Raises
        ------
        ValueError
            If a part is damaged; the message names its rows and columns.
        """
        for _ in self.blocks():
            pass

    def _dataset(self) -> h5py.Dataset:
        if not self._store:
            raise ValueError(f"{self.path} is closed")
        return self._Z

    def _damage(self, rows: slice, columns: slice) -> str:
        """Say which chunks of a part cannot be read."""
        found = []
        height, width = self._Z.chunks
        for i, j in product(
            range(rows.start // height * height, rows.stop, height),
            range(columns.start // width * width, columns.stop, width),
        ):
            try:
                self._Z[i, j]
            except OSError:
                last = min(i + height, self.shape[0]), min(j + width, self.shape[1])
                found.append(f"rows {i} to {last[0] - 1}, columns {j} to {last[1] - 1}")
        more = f", and {len(found) - 3} more parts" if len(found) > 3 else ""
        return f" ({'; '.join(found[:3])}{more})" if found else ""


class _Reader:
    """Reads rows of an open file, which is closed when nobody has the reader any more."""

    def __init__(self, path: Path, grid: Grid):
        self._grid, self._fd = grid, os.open(path, os.O_RDONLY)
        weakref.finalize(self, os.close, self._fd)

    def __call__(self, rows: slice) -> np.ndarray:
        return self._grid.read(self._fd, rows)


needs("open_features", "MiB")


def open_features(file: str | os.PathLike) -> FeatureFile:
    """Open a feature store to read parts of it.

    Parameters
    ----------
    file : path
        What `save_features` wrote, or `d2ke_embed` and its kin with a path as `out`.

    Returns
    -------
    FeatureFile
        Close it, or use it in a ``with``.

    Raises
    ------
    OSError
        If the file cannot be opened.
    ValueError
        If the file is something else, is not complete, is damaged outside of Z, or was written by
        a newer version of d2ke.

    See Also
    --------
    load_features

    Examples
    --------
    >>> import os, tempfile
    >>> import numpy as np
    >>> import d2ke
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = os.path.join(folder, "features.h5")
    ...     d2ke.io.save_features(file, np.eye(3), labels=[1, 2, 1])
    ...     with d2ke.io.open_features(file) as store:
    ...         print(store.shape, store.read(slice(1)), store.labels())
    (3, 3) [[1. 0. 0.]] [1 2 1]
    """
    return FeatureFile(file)


def _range(name: str, given: slice | None, size: int) -> slice:
    """Return a slice with bounds from 0 to `size`; refuse one that would be cut short."""
    if given is None:
        return slice(0, size)
    if not isinstance(given, slice):
        raise TypeError(f"{name} must be a slice, such as slice(100), got {given!r}")
    if given.step not in (None, 1):
        raise ValueError(f"{name} must have no step, got {given!r}")
    bounds = [
        default if bound is None else integer(f"the {end} of {name}", bound, -size, size)
        for end, bound, default in (("start", given.start, 0), ("stop", given.stop, size))
    ]
    start, stop = (bound + size if bound < 0 else bound for bound in bounds)
    if start >= stop:
        raise ValueError(f"{name} selects nothing of {size}: {given!r}")
    return slice(start, stop)
