# SPDX-License-Identifier: BSD-3-Clause
"""MAT-files of version 7.3: HDF5 with MATLAB's attributes."""

from __future__ import annotations

import json
import math
import os
import signal
import subprocess
import sys
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any, BinaryIO

import h5py
import numpy as np

from d2ke._base.files import open_file
from d2ke.io.mat.errors import Damaged
from d2ke.io.mat.v5 import compressed_columns
from d2ke.io.mat.values import CLASSES
from d2ke.io.store.hdf5 import Image


class Ended(Damaged):
    """The process that reads a file ended before it was done."""


_CHILD = Path(__file__).with_name("v73_child.py")
_USERBLOCK = 512
_MOST_FIELDS = 4000  # in an attribute, which takes 64 KB; more are in a dataset, as MATLAB has it
_COMPLEX = "d2ke_complex"  # of no numbers, for which MATLAB has no mark
_PIECE = 2**24  # bytes of an array that are read at once
_MOST_TRIALS = 3  # processes for one file
_MOST_TEXT = 2**31  # bytes of one message without its arrays
_COMPRESSED_FROM = 4096  # bytes; chunks and their index cost more than small arrays


# Reading.


def described(path: Path) -> Iterator[tuple[str, tuple[int, ...], str]]:
    """Yield name, shape and class of each variable."""
    for kind, content in _messages(path, {"whos": True, "names": [], "pieces": False}):
        if kind == "whos":
            name, shape, matlab_class = content
            yield str(name), _shape(shape), str(matlab_class)


def read(
    path: Path, names: list[str] | None, pieces: bool = False
) -> Generator[tuple[Any, ...], None, None]:
    """Yield what a process of its own reads: the messages of `v73_child`.

    First ``("names", all)``; then for each variable ``("name", name)`` and its
    ``("node", node)``, or with `pieces` for a cell ``("cell", shape)`` and
    ``("item", node)`` for each item.
    """
    present: list[str] | None = None
    left = names
    for trial in range(_MOST_TRIALS):
        begun: str | None = None
        try:
            for message in _messages(path, {"whos": False, "names": left, "pieces": pieces}):
                if message[0] != "names":
                    begun = str(message[1]) if message[0] == "name" else begun
                    yield message
                elif present is None:
                    yield message
                    present = [str(name) for name in message[1]]
            return
        except Ended as error:
            # The process ended within a variable; another one reads those behind it.
            order = present if names is None else names
            if pieces or begun is None or order is None or begun not in order:
                raise
            yield "damaged", ("", str(error))
            left = order[order.index(begun) + 1 :]
            if trial == _MOST_TRIALS - 1:
                for name in left:
                    if name in (present or ()):
                        yield "name", name
                        yield "damaged", ("", "too many variables before it end its reader")
            if not left:
                return


def _messages(path: Path, request: dict[str, Any]) -> Iterator[tuple[Any, ...]]:
    """Yield the answer of a new process to a request."""
    request = {
        **request,
        "path": os.path.abspath(path),
        "sys_path": [str(x) for x in sys.path],
    }
    process: Any = subprocess.Popen(  # its pipes are there
        [sys.executable, "-I", "-S", str(_CHILD)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        # "::" has libhdf5 load no plugins, which a file could ask for.
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1", "HDF5_PLUGIN_PRELOAD": "::"},
    )
    try:
        with process.stdin, process.stdout:
            try:
                process.stdin.write(json.dumps(request).encode())
                process.stdin.close()
            except BrokenPipeError:
                pass
            yield from _received(process)
    finally:
        process.kill()
        process.wait()


def _received(process: Any) -> Iterator[tuple[Any, ...]]:
    while True:
        try:
            message = _message(process.stdout)
        except EOFError:
            raise Ended(_end_of(process.wait())) from None
        except (LookupError, TypeError, ValueError, RecursionError) as error:
            raise Damaged(f"the process that reads it sends no message: {error}") from None
        if message[0] == "refused":
            raise Damaged(str(message[1]))
        if message[0] == "done":
            return
        yield message


def _message(stream: BinaryIO) -> tuple[Any, ...]:
    """Return one message, see `v73_child`; its sender is not trusted."""
    size = int.from_bytes(_exactly(stream, 8), "little")
    if size > _MOST_TEXT:
        raise ValueError(f"{size} bytes of text")
    kind, *content = json.loads(_exactly(stream, size))
    if kind in ("node", "item", "subsystem"):
        return kind, _node(content[0], stream)
    if kind == "cell":
        return kind, _shape(content[0])
    if kind == "damaged":
        matlab_class, reason = map(str, content[0])
        return kind, (matlab_class, reason)
    return kind, *content


def _exactly(stream: BinaryIO, size: int) -> bytes:
    content = stream.read(size)
    if len(content) < size:
        raise EOFError
    return content


def _shape(sizes: list[Any]) -> tuple[int, ...]:
    if not all(type(size) is int and size >= 0 for size in sizes):
        raise ValueError(f"the shape {sizes}")
    return tuple(sizes)


def _node(described: list[Any], stream: BinaryIO) -> tuple[Any, ...]:
    """Return a node with its arrays, which come in the order of the text."""
    kind, *content = described
    if kind in ("array", "char"):
        return kind, _array(content[0], stream)
    if kind == "cell":
        return kind, _shape(content[0]), [_node(item, stream) for item in content[1]]
    if kind == "struct":
        columns = {
            str(field): [_node(value, stream) for value in column]
            for field, column in content[1].items()
        }
        return kind, _shape(content[0]), columns
    if kind == "sparse":
        parts = [_array(part, stream) for part in content[1:4]]
        return compressed_columns(_shape(content[0]), *parts)
    if kind == "unreadable":
        return kind, str(content[0]), str(content[1])
    if kind == "object":
        return kind, str(content[0]), _node(content[1], stream)
    raise ValueError(f"a node of kind {kind!r}")


def _array(described: dict[str, Any], stream: BinaryIO) -> np.ndarray:
    """Return an array; memory is taken as its bytes arrive."""
    dtype, shape = np.dtype(described["dtype"]), _shape(described["shape"])
    if dtype.kind not in "biufc" or dtype.hasobject:
        raise ValueError(f"an array of {dtype}")
    left = math.prod(shape) * dtype.itemsize
    content = bytearray()
    while left:
        part = _exactly(stream, min(left, _PIECE))
        content += part
        left -= len(part)
    return np.frombuffer(content, dtype=dtype).reshape(shape, order="F")


def _end_of(code: int) -> str:
    if -code == getattr(signal, "SIGPROF", None):
        return "libhdf5 does not come to an end with it"
    if code < 0:
        return f"libhdf5 crashes on it ({signal.Signals(-code).name})"
    return f"the process that reads it ended with code {code}"


# Writing.


def write(stream: BinaryIO, nodes: dict[str, tuple[Any, ...]], compress: bool) -> None:
    """Write variables, by name, as one MAT-file of version 7.3."""
    image = Image(stream.fileno())
    with h5py.File(image, "w", userblock_size=_USERBLOCK, libver="earliest") as file:
        writer = _Writer(file, image, compress)
        for name, node in nodes.items():
            writer.put(file, name, node)
            image.write_to_file()
    image.write_to_file()
    text = b"MATLAB 7.3 MAT-file, Platform: GLNXA64, written by d2ke HDF5 schema 1.00 ."
    version = np.array([0x0200, 0x4D49], dtype="<u2").tobytes()
    stream.write(text.ljust(116) + bytes(8) + version)
    stream.truncate(image.size)


class _Writer:
    def __init__(self, file: h5py.File, image: Image, compress: bool):
        self.file, self.image = file, image
        self.compress = compress
        self.references: h5py.Group | None = None
        self.referred = 0

    def put(self, group: h5py.Group, name: str, node: tuple[Any, ...]) -> h5py.HLObject:
        kind = node[0]
        if kind == "array":
            return self.put_array(group, name, node[1], CLASSES[node[1].dtype.name])
        if kind == "char":
            return self.put_array(group, name, node[1], "char")
        if kind == "cell":
            _, shape, items = node
            if not items:
                return self.put_empty(group, name, shape, "cell")
            item = self.put_references(group, name, shape, items)
            item.attrs["MATLAB_class"] = np.bytes_("cell")
            return item
        if kind == "struct":
            return self.put_struct(group, name, node)
        return self.put_sparse(group, name, node)

    def put_array(
        self, group: h5py.Group, name: str, values: np.ndarray, matlab_class: str
    ) -> h5py.Dataset:
        if values.size == 0:
            item = self.put_empty(group, name, values.shape, matlab_class)
            if values.dtype.kind == "c":
                item.attrs[_COMPLEX] = np.uint8(1)
        else:
            item = self.put_values(group, name, values)
            item.attrs["MATLAB_class"] = np.bytes_(matlab_class)
        if matlab_class in ("char", "logical"):
            decode = 2 if matlab_class == "char" else 1
            item.attrs["MATLAB_int_decode"] = np.int32(decode)
        return item

    def put_values(self, group: h5py.Group, name: str, values: np.ndarray) -> h5py.Dataset:
        """Write numbers; HDF5 counts dimensions from the other end."""
        if values.dtype == bool:
            values = values.view(np.uint8)
        if values.dtype.kind == "c":
            part = values.real.dtype
            values = np.ascontiguousarray(values.T).view([("real", part), ("imag", part)])
        else:
            values = values.T
        if values.nbytes < _COMPRESSED_FROM:
            return group.create_dataset(name, data=values)
        if not self.compress:
            return self.image.place(group, name, values)
        item = group.create_dataset(name, data=values, compression="gzip", compression_opts=3)
        self.image.write_to_file()
        return item

    def put_empty(
        self, group: h5py.Group, name: str, shape: tuple[int, ...], matlab_class: str
    ) -> h5py.Dataset:
        item = group.create_dataset(name, data=np.array(shape, dtype=np.uint64))
        item.attrs["MATLAB_class"] = np.bytes_(matlab_class)
        item.attrs["MATLAB_empty"] = np.uint8(1)
        return item

    def put_group(self) -> h5py.Group:
        """Return the group of what is referred to."""
        if self.references is None:
            self.references = self.file.create_group("#refs#")
            self.put_empty(self.references, "a", (0, 0), "canonical empty")
        return self.references

    def put_references(
        self, group: h5py.Group, name: str, shape: tuple[int, ...], items: list[tuple[Any, ...]]
    ) -> h5py.Dataset:
        references = self.put_group()
        table = np.empty(len(items), dtype=object)
        for i, item in enumerate(items):
            self.referred += 1
            table[i] = self.put(references, f"b{self.referred}", item).ref
        table = table.reshape(shape[::-1])
        return group.create_dataset(name, data=table, dtype=h5py.ref_dtype)

    def put_struct(self, group: h5py.Group, name: str, node: tuple[Any, ...]) -> h5py.HLObject:
        _, shape, columns = node
        if not columns or 0 in shape:
            item = self.put_empty(group, name, shape, "struct")
        else:
            item = group.create_group(name)
            item.attrs["MATLAB_class"] = np.bytes_("struct")
            for field, values in columns.items():
                if shape == (1, 1):
                    self.put(item, field, values[0])
                else:
                    self.put_references(item, field, shape, values)
        if columns:
            fields = np.empty(len(columns), dtype=object)
            for i, field in enumerate(columns):
                fields[i] = np.frombuffer(field.encode("ascii"), dtype="S1")
            dtype = h5py.vlen_dtype(np.dtype("S1"))
            if len(columns) <= _MOST_FIELDS:
                item.attrs.create("MATLAB_fields", fields, dtype=dtype)
            else:
                references = self.put_group()
                self.referred += 1
                names = references.create_dataset(f"b{self.referred}", data=fields, dtype=dtype)
                item.attrs.create("MATLAB_fields", names.ref, dtype=h5py.ref_dtype)
        return item

    def put_sparse(self, group: h5py.Group, name: str, node: tuple[Any, ...]) -> h5py.Group:
        _, shape, data, rows, starts = node
        item = group.create_group(name)
        item.attrs["MATLAB_class"] = np.bytes_(CLASSES[data.dtype.name])
        item.attrs["MATLAB_sparse"] = np.uint64(shape[0])
        if data.dtype == bool:
            item.attrs["MATLAB_int_decode"] = np.int32(1)
        if len(data):
            self.put_values(item, "data", data)
            self.put_values(item, "ir", rows.astype(np.uint64))
        elif data.dtype.kind == "c":
            item.attrs[_COMPLEX] = np.uint8(1)
        self.put_values(item, "jc", starts.astype(np.uint64))
        return item


def is_hdf5(path: Path) -> bool:
    """Whether HDF5's signature is where version 7.3 and HDF5 itself put it."""
    with open_file(path) as file:
        for at in (0, 512, 1024, 2048):
            file.seek(at)
            if file.read(8) == b"\x89HDF\r\n\x1a\n":
                return True
    return False
