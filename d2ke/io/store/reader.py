# SPDX-License-Identifier: BSD-3-Clause
"""Feature stores opened for reading by parts: `open_features` and `FeatureFile`."""

from __future__ import annotations

import os
import weakref
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from itertools import product
from types import TracebackType
from typing import Any

import h5py
import numpy as np

from d2ke._base.checks import file_path, integer
from d2ke._base.errors import ArgumentError, ArgumentTypeError
from d2ke._base.files import open_file
from d2ke.io.store import layout
from d2ke.io.store.blocks import Blocks
from d2ke.io.store.hdf5 import get_objects, group_of, part_of
from d2ke.objects.container import Objects

_BLOCK_BYTES = 1 << 22


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

    def __init__(self, file: str | os.PathLike[str]):
        self.path = file_path("file", file)
        self._files = ExitStack()
        self._stream = self._files.enter_context(open_file(self.path))
        weakref.finalize(self, self._files.close)
        try:
            layout.check_whole(self.path, self._stream)
            self._store = self._files.enter_context(h5py.File(self._stream, "r"))
            with layout.damage(self.path):
                Z = part_of(self._store, "Z")
                if Z.ndim != 2 or Z.dtype not in (np.float32, np.float64):
                    raise ValueError(f"Z is {Z.dtype} of shape {Z.shape}")
                self.shape: tuple[int, int] = Z.shape
                self.dtype: np.dtype = Z.dtype
                self._values = _Tiles(Z) if Z.chunks else _Rows(self._stream, self._store)
                self.parameters: dict[str, Any] = layout.get_values(self._store, "parameters")
                self.versions: dict[str, Any] = layout.get_values(self._store, "versions")
                self.inputs: dict[str, Any] = {}
                if "inputs" in self._store:
                    self.inputs = layout.get_values(self._store, "inputs")
        except BaseException:
            self.close()
            raise

    def __len__(self) -> int:
        return self.shape[0]

    def __repr__(self) -> str:
        closed = ", closed" if self._stream.closed else ""
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
        self._files.close()

    def ranges(self, rows: slice | None, columns: slice | None) -> tuple[slice, slice]:
        """Return rows and columns as slices from 0 on; what reaches beyond Z is refused."""
        return index_range("rows", rows, self.shape[0]), index_range(
            "columns", columns, self.shape[1]
        )

    def read(self, rows: slice | None = None, columns: slice | None = None) -> np.ndarray:
        """Read and check some rows and columns of Z; None for all."""
        rows, columns = self.ranges(rows, columns)
        self._check_open()
        try:
            Z, damaged = self._values.read(rows, columns)
        except OSError as error:
            raise ValueError(f"{self.path} is damaged: Z cannot be read: {error}") from error
        if damaged:
            parts = [
                f"rows {tall.start} to {tall.stop - 1}, columns {wide.start} to {wide.stop - 1}"
                for tall, wide in damaged[:3]
            ]
            if len(damaged) > 3:
                parts[-1] += f", and {len(damaged) - 3} more parts"
            raise ValueError(f"{self.path} is damaged: Z cannot be read ({'; '.join(parts)})")
        return Z

    def blocks(self, n_rows: int | None = None) -> Iterator[tuple[slice, np.ndarray]]:
        """Iterate over (rows, those rows of Z), of `n_rows` each; None for about 4 MiB."""
        if n_rows is None:
            height = self._values.height
            row_bytes = self.shape[1] * self.dtype.itemsize
            n_rows = max(1, _BLOCK_BYTES // (row_bytes * height)) * height
        step = integer("n_rows", n_rows, 1)
        for low in range(0, self.shape[0], step):
            rows = slice(low, min(low + step, self.shape[0]))
            yield rows, self.read(rows)

    def labels(self, rows: slice | None = None) -> np.ndarray | None:
        """Read the labels of some rows; None where none were saved."""
        rows = index_range("rows", rows, self.shape[0])
        with layout.damage(self.path):
            return layout.get_labels(self._store, rows) if "labels" in self._store else None

    def omega(self, columns: slice | None = None) -> Objects | None:
        """Read the random objects of some columns; None where none were saved."""
        columns = index_range("columns", columns, self.shape[1])
        with layout.damage(self.path):
            if "omega" not in self._store:
                return None
            return get_objects(group_of(self._store, "omega"), columns)

    def reader(self) -> Callable[[slice], np.ndarray]:
        """Return a function that reads rows, which must be within Z, without checking them.

        It works also when the file is closed, and any number of threads may call it.
        """
        self._check_open()
        if isinstance(self._values, _Tiles):
            return FeatureFile(self.path).read
        return self._values.unchecked()

    def verify(self) -> None:
        """Read all of Z and check it.

        Raises
        ------
        ValueError
            If a part is damaged; the message names its rows and columns.
        """
        for _ in self.blocks():
            pass

    def _check_open(self) -> None:
        if self._stream.closed:
            raise ValueError(f"{self.path} is closed")


class _Rows:
    """Z in rows end to end."""

    def __init__(self, stream: Any, store: h5py.File):
        self._stream, self._blocks = stream, layout.get_blocks(store)
        self.height = self._blocks.tile[0]
        size = os.fstat(stream.fileno()).st_size
        if max(self._blocks.stop, self._blocks.table_stop) > size:
            raise ValueError("Z is not within the file")
        self._table = self._blocks.read_table(stream.fileno())

    def read(self, rows: slice, columns: slice) -> tuple[np.ndarray, list[tuple[slice, slice]]]:
        """Return some of Z, and the rows and columns of the damaged tiles."""
        return self._blocks.read_checked(self._stream.fileno(), self._table, rows, columns)

    def unchecked(self) -> _Unchecked:
        """Return a reader that has the file open for itself."""
        return _Unchecked(os.dup(self._stream.fileno()), self._blocks)


class _Tiles:
    """Z in chunks that HDF5 checks: compressed, or written by version 0.1.0."""

    def __init__(self, Z: h5py.Dataset):
        self._Z = Z
        self.height = Z.chunks[0]

    def read(self, rows: slice, columns: slice) -> tuple[np.ndarray, list[tuple[slice, slice]]]:
        """Return some of Z, and the rows and columns of the damaged tiles."""
        try:
            return self._Z[rows, columns], []
        except OSError:
            damaged = list(self._damaged(rows, columns))
            if not damaged:
                raise
            return np.empty((0, 0)), damaged

    def _damaged(self, rows: slice, columns: slice) -> Iterator[tuple[slice, slice]]:
        height, width = self._Z.chunks
        for i, j in product(
            range(rows.start // height * height, rows.stop, height),
            range(columns.start // width * width, columns.stop, width),
        ):
            try:
                self._Z[i, j]
            except OSError:
                last = min(i + height, self._Z.shape[0]), min(j + width, self._Z.shape[1])
                yield slice(i, last[0]), slice(j, last[1])


class _Unchecked:
    """Reads rows of an open file, which is closed when nobody has the reader any more."""

    def __init__(self, fd: int, blocks: Blocks):
        self._fd, self._blocks = fd, blocks
        weakref.finalize(self, os.close, fd)

    def __call__(self, rows: slice) -> np.ndarray:
        Z = np.empty((rows.stop - rows.start, self._blocks.shape[1]), self._blocks.dtype)
        self._blocks.read(self._fd, Z, rows.start)
        return Z


def open_features(file: str | os.PathLike[str]) -> FeatureFile:
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


def index_range(name: str, given: slice | None, size: int) -> slice:
    """Return a slice with bounds from 0 to `size`; refuse one that would be cut short."""
    if given is None:
        return slice(0, size)
    if not isinstance(given, slice):
        raise ArgumentTypeError(name, f"must be a slice, such as slice(100), got {given!r}")
    if given.step not in (None, 1):
        raise ArgumentError(name, f"must have no step, got {given!r}")
    bounds = [
        default if bound is None else integer(f"the {end} of {name}", bound, -size, size)
        for end, bound, default in (("start", given.start, 0), ("stop", given.stop, size))
    ]
    start, stop = (bound + size if bound < 0 else bound for bound in bounds)
    if start >= stop:
        raise ArgumentError(name, f"selects nothing of {size}: {given!r}")
    return slice(start, stop)
