# SPDX-License-Identifier: BSD-3-Clause
"""Objects, text and named values in plain HDF5 files, which MATLAB and Octave read as well."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from d2ke._base.errors import ArgumentError, ArgumentTypeError
from d2ke._base.files import atomic_write, lists_to_tuples, write_all
from d2ke.objects.container import Objects, from_owned

SIGNATURE = b"\x89HDF\r\n\x1a\n"
_LIBRARIES = ("earliest", "v108")  # MATLAB's HDF5 is old
_LARGEST = 2**63 - 1  # of int64


@contextmanager
def create_hdf5(path: Path, **options: Any) -> Iterator[h5py.File]:
    """Yield a new HDF5 file, which is named `path` once all of it is on the disk."""
    with atomic_write(path) as stream, hdf5_on(stream.fileno(), "w", **options) as file:
        yield file


@contextmanager
def hdf5_on(fd: int, mode: str, **options: Any) -> Iterator[h5py.File]:
    """Yield the HDF5 file of an open file, which is closed afterwards, but not `fd`."""
    stream = _Stream(fd)
    if mode == "w":
        options = {"libver": _LIBRARIES} | options
    try:
        with h5py.File(stream, mode, **options) as file:
            yield file
    finally:
        stream.check()


class _Stream(io.RawIOBase):
    """An open file for h5py, which keeps an error of writing for `check`.

    libhdf5 crashes when its process ends if it could not write all that it had to write.
    """

    def __init__(self, fd: int):
        self._fd, self._at = fd, 0
        self._error: OSError | None = None

    def check(self) -> None:
        """Raise the first error of writing."""
        if self._error is not None:
            raise self._error

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        start = {os.SEEK_SET: 0, os.SEEK_CUR: self._at}.get(whence)
        self._at = offset + (os.fstat(self._fd).st_size if start is None else start)
        return self._at

    def tell(self) -> int:
        return self._at

    def readinto(self, buffer: Any) -> int:
        left = memoryview(buffer).cast("B")
        total = len(left)
        while left and (done := os.preadv(self._fd, [left], self._at)):
            left, self._at = left[done:], self._at + done
        return total - len(left)

    def write(self, content: Any) -> int:
        n_bytes = memoryview(content).nbytes
        if self._error is None:
            try:
                write_all(self._fd, content, self._at)
            except OSError as error:
                self._error = error
        self._at += n_bytes
        return n_bytes

    def truncate(self, size: int | None = None) -> int:
        size = self._at if size is None else size
        if self._error is None:
            try:
                os.ftruncate(self._fd, size)
            except OSError as error:
                self._error = error
        return size

    def flush(self) -> None:
        """Nothing waits to be written."""


def put_objects(group: h5py.Group, objects: Objects) -> None:
    """Write the arrays of `objects` as datasets of a group, and the rest as its attributes."""
    for name in Objects.__slots__:
        part = getattr(objects, name)
        if isinstance(part, np.ndarray):
            group[name] = part
        elif part:
            group.attrs[name] = part


def get_objects(group: h5py.Group, items: slice | None = None) -> Objects:
    """Return the objects that `put_objects` wrote, or those from items.start to items.stop."""
    offsets = group["offsets"]
    items = items or slice(0, len(offsets) - 1)
    offsets = offsets[items.start : items.stop + 1]
    start, stop = int(offsets[0]), int(offsets[-1])
    parts = {name: group[name][start:stop] for name in ("values", "weights") if name in group}
    for name, array in parts.items():
        may_miss = name == "values" and group.attrs.get("missing", False)
        if (np.isinf(array) if may_miss else ~np.isfinite(array)).any():
            raise ValueError(f"{group.name} has {name} that are not finite")
    if "weights" in parts and parts["weights"].min(initial=0) < 0:
        raise ValueError(f"{group.name} has negative weights")
    alphabet = group["alphabet"][()] if "alphabet" in group else None
    return from_owned(offsets=offsets - start, alphabet=alphabet, **parts, **group.attrs)


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


def put_values(file: h5py.File, name: str, values: Mapping[str, Any]) -> None:
    """Write a group of the values in order, each in the plainest form that holds it exactly."""
    group = file.create_group(name, track_order=True)
    for key, value in values.items():
        items = value if type(value) is tuple else (value,)
        kinds = {type(item) for item in items}
        if type(value) is bool:
            group[key] = np.uint8(value)
        elif kinds == {float}:
            group[key] = np.array(value, dtype=np.float64)
        elif kinds == {int} and all(abs(item) <= _LARGEST for item in items):
            group[key] = np.array(value, dtype=np.int64)
        elif type(value) is str and "\0" not in value:  # HDF5 would take NULs off the end
            put_text(group, key, np.array(value))
        else:
            put_text(group, key, np.array(json.dumps(value))).attrs["json"] = 1


def get_values(file: h5py.File, name: str) -> dict[str, Any]:
    """Return what `put_values` wrote."""
    values = {}
    for key, dataset in file[name].items():
        if dataset.dtype.kind == "S":
            text = get_text(dataset).item()
            values[key] = lists_to_tuples(json.loads(text)) if "json" in dataset.attrs else text
        elif dataset.dtype == np.uint8:
            values[key] = bool(dataset[()])
        else:
            value = dataset[()].tolist()
            values[key] = tuple(value) if dataset.ndim else value
    return values


def plain(name: str, value: Any) -> Any:
    """Return a value with numpy's scalars as Python's own; refuse what `put_values` cannot write.

    These are None, bool, int, float, str, and tuples and dicts of them.
    """
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, str):
        check_text(name, value)
    if type(value) is tuple:
        return tuple(plain(f"{name}[{i}]", item) for i, item in enumerate(value))
    if type(value) is dict:
        for key in value:
            if type(key) is not str:
                raise ArgumentTypeError(name, f"has the name {key!r}; names must be str")
            check_text(f"a name in {name}", key)
        return {key: plain(f"{name}[{key!r}]", item) for key, item in value.items()}
    if value is not None and type(value) not in (bool, int, float, str):
        raise ArgumentTypeError(
            name,
            f"must be None, bool, int, float, str, or a tuple or dict of them; got "
            f"{value!r} of type {type(value).__name__}",
        )
    return value


def check_text(name: str, text: str) -> None:
    """Refuse text that UTF-8 cannot write."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ArgumentError(name, f"is {text!r}, which UTF-8 cannot write") from None
