# SPDX-License-Identifier: BSD-3-Clause
"""Feature stores with all of their HDF5 structure and none of their rows."""

from __future__ import annotations

import errno
import io
import math
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from d2ke.io import _layout
from d2ke.io._direct import write_all
from d2ke.io._grid import Grid, stored_bytes
from d2ke.io._hdf5 import HEADER_BYTES, put_objects
from d2ke.objects.container import Objects

# HDF5 keeps some bytes for each chunk, and a node of a tree for so many chunks.
_BYTES_PER_CHUNK, _CHUNKS_PER_NODE = 64, 64
_SPARE_BYTES = 1 << 15
# Smaller chunks are written as zeros: something else of HDF5's may have their size.
_LEAST_SPARSE = 1 << 14
# How systems say that they cannot set space aside.
_NO_RESERVE = (errno.EOPNOTSUPP, errno.EINVAL, errno.ENOSYS, errno.ENODEV)


def store_bytes(shape: tuple[int, int], dtype: np.dtype, omega: Objects | None) -> int:
    """Return about how many bytes a store takes, rather too many than too few."""
    chunk = _layout.chunk_shape(shape)
    count = math.prod(-(-size // step) for size, step in zip(shape, chunk, strict=True))
    chunks = count * (stored_bytes(chunk, dtype) + _BYTES_PER_CHUNK)
    return chunks + _SPARE_BYTES + (0 if omega is None else omega.nbytes)


def check_space(folder: Path, n_bytes: int) -> None:
    """Refuse to begin what the file system has no room for."""
    if hasattr(os, "statvfs"):
        found = os.statvfs(folder)
        free = found.f_bavail * found.f_frsize
        if free < n_bytes:
            raise OSError(errno.ENOSPC, f"only {free} bytes are free in {folder.absolute()}")


def reserve(fd: int, n_bytes: int) -> None:
    """Have the system set the space aside, so that a full disk shows now."""
    if hasattr(os, "posix_fallocate"):
        try:
            os.posix_fallocate(fd, 0, n_bytes)
        except OSError as error:
            if error.errno not in _NO_RESERVE:
                raise


def write_skeleton(
    fd: int,
    shape: tuple[int, int],
    dtype: np.dtype,
    groups: Mapping[str, Mapping[str, Any]],
    omega: Objects | None,
) -> Grid:
    """Write all of a store but its rows and its header, and return where the rows go.

    Parameters
    ----------
    fd : int
        An empty file, or one of zeros.
    shape, dtype
        Of Z.
    groups : mapping of str to mapping
        Names and values of ``/parameters`` and the like.
    omega : Objects or None
        The random objects.
    """
    chunk = _layout.chunk_shape(shape)
    content = _Sparse(fd, stored_bytes(chunk, dtype))
    with h5py.File(content, "w", **_layout.hdf5_options(shape)) as store:
        if omega is not None:
            put_objects(store.create_group("omega"), omega)
        for name, values in groups.items():
            _layout.put_values(store, name, values)
        # Through a Python file, HDF5 has no room of its own for its trees of chunks. A data set
        # of as many tiny chunks, removed again, leaves some, and the chunks of Z lie end to end.
        count = math.prod(-(-size // step) for size, step in zip(shape, chunk, strict=True))
        _allocated(store, b"room", (count + 4 * _CHUNKS_PER_NODE, 1), (1, 1), np.dtype("u1"))
        _layout.put_values(store, "versions", _layout.versions())
        del store["room"]
        dataset = _allocated(store, b"Z", shape, chunk, dtype, checked=True)
        places = _layout.chunk_places(dataset)
    os.ftruncate(fd, content.size)
    write_all(fd, f"{_layout.UNFINISHED}\n".encode().ljust(HEADER_BYTES, b"\0"), 0)
    starts = np.array([places[corner][0] for corner in sorted(places)], dtype=np.int64)
    return Grid(shape, chunk, dtype, starts.reshape(-(-shape[0] // chunk[0]), -1))


def _allocated(
    store: h5py.File,
    name: bytes,
    shape: tuple[int, int],
    chunk: tuple[int, int],
    dtype: np.dtype,
    checked: bool = False,
) -> h5py.Dataset:
    """Make a data set whose chunks have their places now, and not when they are written."""
    options = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    options.set_chunk(chunk)
    options.set_alloc_time(h5py.h5d.ALLOC_TIME_EARLY)
    options.set_fill_time(h5py.h5d.FILL_TIME_NEVER)
    if checked:
        options.set_fletcher32()
    space = h5py.h5s.create_simple(shape)
    return h5py.Dataset(h5py.h5d.create(store.id, name, h5py.h5t.py_create(dtype), space, options))


class _Sparse(io.RawIOBase):
    """A file for HDF5 that leaves out the chunks of zeros, which it writes first of all.

    What is in the file before is zeros, and counts for nothing: HDF5 finds an empty file.
    """

    def __init__(self, fd: int, chunk_bytes: int):
        self._fd, self._chunk_bytes = fd, chunk_bytes
        self._at = self.size = 0

    def seek(self, place: int, whence: int = os.SEEK_SET) -> int:
        self._at = place + {os.SEEK_SET: 0, os.SEEK_CUR: self._at, os.SEEK_END: self.size}[whence]
        return self._at

    def tell(self) -> int:
        return self._at

    def readinto(self, buffer: Any) -> int:
        view = memoryview(buffer)[: max(0, self.size - self._at)]
        done = os.preadv(self._fd, [view], self._at)
        view[done:] = bytes(len(view) - done)  # beyond what was ever written
        self._at += len(view)
        return len(view)

    def write(self, content: Any) -> int:
        size = len(content)
        chunk = size == self._chunk_bytes >= _LEAST_SPARSE
        if not chunk or np.frombuffer(content, dtype=bool).any():
            write_all(self._fd, content, self._at)
        self._at += size
        self.size = max(self.size, self._at)
        return size

    def truncate(self, size: int | None = None) -> int:
        self.size = self._at if size is None else size
        return self.size

    def flush(self) -> None:
        """There is nothing to flush."""
