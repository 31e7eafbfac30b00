# SPDX-License-Identifier: BSD-3-Clause
"""Objects, text and named values in plain HDF5 files, which MATLAB and Octave read as well."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from io import FileIO
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from d2ke._base.damage import damage_of
from d2ke._base.errors import ArgumentError
from d2ke._base.files import atomic_write, open_file, write_all
from d2ke.objects.container import Objects, check_arrays, from_owned
from d2ke.objects.kinds import find_kind


@contextmanager
def create_hdf5(path: Path, **options: Any) -> Iterator[h5py.File]:
    """Yield a new HDF5 file, which is named `path` once all of it is on the disk."""
    with atomic_write(path) as stream, hdf5_on(stream.fileno(), "w", **options) as file:
        yield file


@contextmanager
def open_hdf5(path: Path) -> Iterator[h5py.File]:
    """Yield an HDF5 file of any program for reading.

    Raises
    ------
    ValueError
        If it is another file, or damaged: any error in the ``with`` is taken for damage.
    """
    open_file(path).close()  # neither a pipe nor a device
    if not h5py.is_hdf5(path):
        raise ArgumentError(str(path), "is not an HDF5 file")
    with damage_of(path), h5py.File(path, "r") as file:
        yield file


@contextmanager
def hdf5_on(fd: int, mode: str, **options: Any) -> Iterator[h5py.File]:
    """Yield the HDF5 file of an open file, which is closed afterwards, but not `fd`."""
    if mode == "w":
        options = {"libver": ("earliest", "v108")} | options  # MATLAB's HDF5 is old
    position = os.lseek(fd, 0, os.SEEK_CUR)
    with _Stream(fd, "rb+", closefd=False) as stream:
        try:
            with h5py.File(stream, mode, **options) as file:
                yield file
        finally:
            os.lseek(fd, position, os.SEEK_SET)
            if stream.error is not None:
                raise stream.error


class _Stream(FileIO):
    """An open file for h5py, which keeps the first error of writing, Ctrl-C included.

    libhdf5 crashes after incomplete writes. Zeros at the end are not
    written: chunks that libhdf5 allocates without values.
    """

    error: BaseException | None = None

    def write(self, content: Any) -> int:
        position, n_bytes = self.tell(), memoryview(content).nbytes
        try:
            if self.error is None:
                fd = self.fileno()
                if os.fstat(fd).st_size <= position and not np.frombuffer(content, np.uint8).any():
                    os.ftruncate(fd, position + n_bytes)
                else:
                    write_all(fd, content, position)
        except BaseException as error:
            self.error = error
        self.seek(position + n_bytes)
        return n_bytes

    def truncate(self, size: int | None = None) -> int:
        size = self.tell() if size is None else size
        try:
            if self.error is None:
                os.ftruncate(self.fileno(), size)
        except OSError as error:
            self.error = error
        return size


def put_objects(group: h5py.Group, objects: Objects) -> None:
    """Write the arrays of `objects` as datasets of a group, and all other fields as attributes.

    Ids are left out: ids of random objects would name training objects in every model's file.
    """
    if objects.channel_names is not None:
        put_json(group, "channel_names", list(objects.channel_names))
    for name in sorted(set(Objects.__slots__) - {"ids", "channel_names"}):
        field = getattr(objects, name)
        if isinstance(field, np.ndarray):
            group[name] = field
        elif field:
            group.attrs[name] = field


def get_objects(group: h5py.Group) -> Objects:
    """Return the objects that `put_objects` wrote."""
    arrays = {name: group[name][()] for name in ("offsets", "values", "weights") if name in group}
    for name in set(arrays) - {"offsets"}:
        may_miss = name == "values" and group.attrs.get("missing", False)
        if (np.isinf(arrays[name]) if may_miss else ~np.isfinite(arrays[name])).any():
            raise ValueError(f"{group.name} has {name} that are not finite")
    if "weights" in arrays and arrays["weights"].min(initial=0) < 0:
        raise ValueError(f"{group.name} has negative weights")
    alphabet = group["alphabet"][()] if "alphabet" in group else None
    names = tuple(get_json(group, "channel_names")) if "channel_names" in group else None
    fields = dict(group.attrs) | arrays
    find_kind(fields["kind"])
    return check_arrays(from_owned(alphabet=alphabet, channel_names=names, **fields))


def put_text(group: h5py.Group, name: str, text: np.ndarray) -> h5py.Dataset:
    """Write an array of str of any shape as strings of fixed length.

    They are marked as UTF-8 only where letters beyond ASCII occur, as Octave reads strings that
    are marked as ASCII only.
    """
    encoded = np.char.encode(text, "utf-8")
    if not encoded.tobytes().isascii():
        encoded = encoded.astype(h5py.string_dtype("utf-8", encoded.dtype.itemsize))
    return group.create_dataset(name, data=encoded)


def get_text(dataset: h5py.Dataset) -> np.ndarray:
    """Return the array of str that `put_text` wrote."""
    return np.char.decode(dataset[()], "utf-8")


def put_json(file: h5py.Group, name: str, value: Any) -> None:
    """Write a value as JSON text."""
    put_text(file, name, np.array(json.dumps(value)))


def get_json(file: h5py.Group, name: str) -> Any:
    """Return what `put_json` wrote, with lists instead of tuples."""
    return json.loads(get_text(file[name]).item())
