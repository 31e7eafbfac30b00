# SPDX-License-Identifier: BSD-3-Clause
"""MAT-files of version 7.3: HDF5 with MATLAB's attributes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import h5py
import numpy as np

from d2ke._base.damage import Damaged, damage
from d2ke._base.files import open_file
from d2ke._base.seal import SIGNATURE, SIZE
from d2ke.io.mat.v73_reader import Reader
from d2ke.io.mat.values import CLASSES
from d2ke.objects.hdf5 import hdf5_on

_MAX_FIELDS = 4000  # in an attribute, which takes 64 KB; more are in a dataset, as MATLAB has it
_COMPLEX = "d2ke_complex"  # marks empty complex arrays, which MATLAB does not


# Reading.


def described(path: Path) -> list[tuple[str, tuple[int, ...], str]]:
    """Return name, shape and class of each variable."""
    with _opened(path) as reader:
        return [(name, *reader.described(reader.file[name])) for name in reader.names()]


def read(
    path: Path, selected: list[str] | None
) -> tuple[list[str], dict[str, tuple[Any, ...]], list[tuple[Any, ...]] | None]:
    """Return the names of all variables, the nodes of selected ones, and MATLAB's objects."""
    nodes: dict[str, tuple[Any, ...]] = {}
    with _opened(path) as reader:
        names = reader.names()
        for name in names if selected is None else selected:
            if name in names:
                kind = None
                try:
                    with damage():
                        kind = reader.matlab_class(reader.file[name])
                        nodes[name] = reader.node(reader.file[name])
                except Damaged as error:
                    nodes[name] = "damaged", kind or "", str(error)
        return names, nodes, _objects(reader)


def _objects(reader: Reader) -> list[tuple[Any, ...]] | None:
    """Return the items of the cell that holds MATLAB's objects, if a variable is one."""
    if not reader.objects:
        return None
    try:
        with damage():
            return reader.references(reader.file["#subsystem#"]["MCOS"])[1]
    except Damaged:  # the objects are then unreadable, all else was read
        return None


@contextmanager
def _opened(path: Path) -> Iterator[Reader]:
    """Open a file; errors of h5py become Damaged."""
    with damage(), h5py.File(path, "r") as file:
        yield Reader(file)


# Writing.


def write(stream: BinaryIO, nodes: dict[str, tuple[Any, ...]], compress: bool) -> None:
    """Write variables, by name, as one MAT-file of version 7.3."""
    with hdf5_on(stream.fileno(), "w", userblock_size=SIZE, libver="earliest") as file:
        writer = _Writer(file, compress)
        for name, node in nodes.items():
            writer.put(file, name, node)
    text = b"MATLAB 7.3 MAT-file, Platform: GLNXA64, written by d2ke HDF5 schema 1.00 ."
    version = np.array([0x0200, 0x4D49], dtype="<u2").tobytes()
    stream.write(text.ljust(116) + bytes(8) + version)


class _Writer:
    def __init__(self, file: h5py.File, compress: bool):
        self.file = file
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
            real = values.real.dtype
            values = np.ascontiguousarray(values.T).view([("real", real), ("imag", real)])
        else:
            values = values.T
        # Chunks and their index cost more than small arrays.
        if values.nbytes < 4096 or not self.compress:
            return group.create_dataset(name, data=values)
        return group.create_dataset(name, data=values, compression="gzip", compression_opts=3)

    def put_empty(
        self, group: h5py.Group, name: str, shape: tuple[int, ...], matlab_class: str
    ) -> h5py.Dataset:
        item = group.create_dataset(name, data=np.array(shape, dtype=np.uint64))
        item.attrs["MATLAB_class"] = np.bytes_(matlab_class)
        item.attrs["MATLAB_empty"] = np.uint8(1)
        return item

    def put_group(self) -> h5py.Group:
        """Return the group of the items that references lead to."""
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
            if len(columns) <= _MAX_FIELDS:
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
    """Return whether HDF5's signature is where version 7.3 and HDF5 itself put it."""
    with open_file(path) as file:
        for at in (0, 512, 1024, 2048):
            file.seek(at)
            if file.read(8) == SIGNATURE:
                return True
    return False
