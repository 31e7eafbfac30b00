# SPDX-License-Identifier: BSD-3-Clause
"""Read MAT-files of version 7.3: HDF5 with MATLAB's attributes, as the nodes of `values`."""

from __future__ import annotations

import math
from typing import Any

import h5py
import numpy as np

from d2ke._base.damage import Damaged
from d2ke.io.mat.mcos import REFERENCE
from d2ke.io.mat.v5 import complex_numbers

_DTYPES = {
    "double": "f8",
    "single": "f4",
    "logical": "?",
    **{f"{s}int{8 << i}": f"{s or 'i'}{1 << i}" for s in ("", "u") for i in range(4)},
}
# The HDF5 type of nearly every dataset of a class.
_PLAIN = {
    name.encode(): (h5py.h5t.py_create(np.dtype(code)), np.dtype(code))
    for name, code in {**_DTYPES, "logical": "u1", "char": "u2"}.items()
}


class Reader:
    """An open file whose variables are read as nodes."""

    def __init__(self, file: h5py.File):
        self.file = file
        self.depth = 0
        self.empties: dict[int, tuple[Any, ...]] = {}
        self.objects = False  # whether any was read

    def names(self) -> list[str]:
        """Return the variables of the file."""
        return [name for name in self.file if not name.startswith("#")]

    def node(self, item: Any) -> tuple[Any, ...]:
        """Return what a dataset or a group holds."""
        self.depth += 1
        try:
            max_depth = 100  # HDF5 calls Python, and loses errors where its stack ends
            if self.depth > max_depth:
                raise Damaged(f"cells and structs are nested deeper than {max_depth} levels")
            return self.group(item) if isinstance(item, h5py.Group) else self.dataset(item)
        finally:
            self.depth -= 1

    def attribute(self, item: Any, name: str) -> Any:
        """Return an attribute, None if there is none."""
        # h5py's own way takes ten times as long, and there are several for each item of a cell.
        if not h5py.h5a.exists(item.id, name.encode()):
            return None
        return item.attrs[name]

    def matlab_class(self, item: Any) -> str | None:
        """Return the class that MATLAB wrote, None if there is none."""
        value = self.attribute(item, "MATLAB_class")
        if isinstance(value, (bytes, np.bytes_)):
            return value.decode("utf-8", "replace")
        return value if isinstance(value, str) or value is None else str(value)

    def number(self, item: Any, name: str) -> int:
        """Return an attribute that is an integer; 0 if there is none."""
        value = self.attribute(item, name)
        return 0 if value is None else int(np.asarray(value).item())

    def fields(self, item: Any) -> list[str] | None:
        """Return the names of a struct's fields, None if they are not written."""
        value = self.attribute(item, "MATLAB_fields")
        if value is None:
            return None
        if isinstance(value, h5py.Reference) and value:
            # More than 4092 names do not fit an attribute; MATLAB keeps them in a dataset.
            value = self.array(self.file[value]).ravel()
        return [bytes(np.asarray(x)).decode("utf-8") for x in value]

    def array(self, data: Any) -> Any:
        """Read a dataset; the result has MATLAB's shape."""
        values = np.asarray(data[()])
        shape = values.shape
        values = values.reshape((1,) * (2 - len(shape)) + shape)
        return values.T if len(shape) != 1 else values

    def dataset(self, data: Any) -> tuple[Any, ...]:
        """Return what a dataset holds."""
        kind = self.matlab_class(data)
        if self.number(data, "MATLAB_object_decode"):
            if kind != "function_handle" and data.dtype == np.uint32:
                self.objects = True
                return "object", kind or "", ("array", self.array(data))
            return self.unreadable(data, kind)
        if self.number(data, "MATLAB_empty"):
            return self.empty(data, kind)
        if kind == "cell" or (kind is None and h5py.check_ref_dtype(data.dtype)):
            return ("cell", *self.references(data))
        if kind not in _DTYPES and kind is not None and kind != "char":
            return self.unreadable(data, kind)
        if data.dtype.names is not None:
            if set(data.dtype.names) != {"real", "imag"} or not all(
                data.dtype[i].kind in "fiu" for i in range(2)
            ):
                return self.unreadable(data, kind)
            return "array", self.complex_of(data)
        if data.dtype.kind not in "fiub":
            return self.unreadable(data, kind)
        values = self.array(data)
        if kind == "char":
            return "char", values.astype(np.uint16)
        if kind == "logical":
            return "array", values != 0
        dtype = np.dtype(kind and _DTYPES[kind]) if kind else values.dtype.newbyteorder("=")
        with np.errstate(invalid="ignore", over="ignore"):
            return "array", values.astype(dtype)

    def complex_of(self, data: Any) -> Any:
        """Return complex numbers of their two vectors."""
        values = self.array(data)
        return complex_numbers(values["real"], values["imag"])

    def empty(self, data: Any, kind: str | None) -> tuple[Any, ...]:
        """Return an array without elements; the dataset holds its shape."""
        shape = tuple(self.array(data).ravel().tolist())
        if kind == "struct":
            return "struct", shape, {field: [] for field in self.fields(data) or []}
        if math.prod(shape):
            raise Damaged(f"{data.name} is empty but has the shape {shape}")
        if kind == "cell":
            return "cell", shape, []
        if kind == "char":
            return "char", np.empty(shape, np.uint16)
        if kind == "canonical empty":
            return "array", np.empty(shape)
        if kind not in _DTYPES:
            return self.unreadable(data, kind)
        return "array", np.empty(shape, self.empty_dtype(data, kind))

    def empty_dtype(self, item: Any, kind: Any) -> Any:
        """Return the dtype of an empty array; only d2ke marks complex ones."""
        dtype = np.dtype(_DTYPES.get(kind, "f8"))
        if self.number(item, "d2ke_complex"):
            return np.dtype(np.complex64 if dtype == np.float32 else np.complex128)
        return dtype

    def references(self, data: Any) -> tuple[Any, ...]:
        """Return the nodes that the references of a cell lead to."""
        table = self.array(data)
        return table.shape, [self.referred(x) for x in table.ravel(order="F")]

    def plain(self, data: Any) -> tuple[Any, ...] | None:
        """Return the numbers or text of a dataset of the usual form in a cell, else None.

        It does without h5py's objects, which take ten times as long to make as values to read.
        """
        count = h5py.h5a.get_num_attrs(data)
        if count > 2 or not h5py.h5a.exists(data, b"MATLAB_class"):
            return None
        if count == 2 and not h5py.h5a.exists(data, b"MATLAB_int_decode"):
            return None
        handle = h5py.h5a.open(data, b"MATLAB_class")
        kind = handle.get_type()
        size = kind.get_size()
        if kind.get_class() != h5py.h5t.STRING or kind.is_variable_str() or size > 8:
            return None
        if handle.get_space().get_simple_extent_ndims():
            return None
        text = np.zeros((), f"S{size}")
        handle.read(text, kind)
        name: Any = text[()]
        form = _PLAIN.get(name)
        shape = data.shape
        if form is None or not shape or len(shape) > 32 or not data.get_type().equal(form[0]):
            return None
        values = np.empty(shape, form[1])
        data.read(h5py.h5s.ALL, h5py.h5s.ALL, values, form[0])
        values = values.reshape((1,) * (2 - len(shape)) + shape)
        if len(shape) != 1:
            values = values.T
        if name == b"logical":
            values = values != 0
        return "char" if name == b"char" else "array", values

    def referred(self, reference: Any) -> tuple[Any, ...]:
        """Return what a reference leads to; all empty cells share one object."""
        identifier = h5py.h5r.dereference(reference, self.file.id)
        if isinstance(identifier, h5py.h5d.DatasetID):
            values = self.plain(identifier)
            if values is not None:
                return values
        item = self.file[reference]
        address = h5py.h5o.get_info(item.id).addr
        if address in self.empties:
            return self.empties[address]
        node = self.node(item)
        if node[0] == "array" and node[1].size == 0:
            self.empties[address] = node
        return node

    def group(self, group: Any) -> tuple[Any, ...]:
        """Return what a group holds: a sparse matrix or a struct."""
        kind = self.matlab_class(group)
        if self.attribute(group, "MATLAB_sparse") is not None:
            return self.sparse(group, kind)
        if kind not in ("struct", None) or self.number(group, "MATLAB_object_decode"):
            if kind == "function_handle" or "EnumerationInstanceTag" not in group:
                return self.unreadable(group, kind)
            self.objects = True
            return "object", kind or "", self.struct(group)
        return self.struct(group)

    def struct(self, group: Any) -> tuple[Any, ...]:
        """Return the fields of a group."""
        members = list(group)
        fields = self.fields(group)
        if fields is None:
            fields = members
        items = {field: group[field] for field in fields if field in members}
        items |= {field: group[field] for field in members if field not in items}
        missing = [field for field in fields if field not in items]
        fields += [field for field in items if field not in fields]
        # The values of a struct array are references in a dataset without a class;
        # those of one struct are values.
        if items and all(map(self.table, items.values())):
            tables = {field: self.references(item) for field, item in items.items()}
            shape = next(iter(tables.values()))[0]
            columns = {field: x for field, (_, x) in tables.items()}
        else:
            shape = (1, 1)
            columns = {field: [self.node(item)] for field, item in items.items()}
        absent = "unreadable", "", "a field without a value in the file"
        columns |= {field: [absent] * math.prod(shape) for field in missing}
        return "struct", shape, {field: columns[field] for field in fields}

    def described(self, item: Any) -> tuple[tuple[int, ...], str]:
        """Return shape and class of a variable, without its values."""
        kind = self.matlab_class(item)
        if isinstance(item, h5py.Dataset):
            if self.number(item, "MATLAB_empty"):
                return tuple(self.array(item).ravel().tolist()), kind or "double"
            shape = tuple(item.shape or ())[::-1]
            if self.number(item, "MATLAB_object_decode"):
                numbers = self.array(item).ravel().tolist()
                n = int(numbers[1]) if len(numbers) > 1 and numbers[0] == REFERENCE else 0
                return tuple(map(int, numbers[2 : 2 + n])), kind or ""
            if kind is None:
                kind = "cell" if h5py.check_ref_dtype(item.dtype) else item.dtype.name
                kind = {"float64": "double", "float32": "single"}.get(kind, kind)
            return (1,) * (2 - len(shape)) + shape, kind
        if not isinstance(item, h5py.Group):
            return (), kind or ""
        if self.attribute(item, "MATLAB_sparse") is not None:
            starts = item["jc"].shape if "jc" in item else ()
            columns = starts[0] - 1 if starts else 0
            kind = "logical" if kind == "logical" else "sparse"
            return (self.number(item, "MATLAB_sparse"), columns), kind
        if kind in ("struct", None) and not self.number(item, "MATLAB_object_decode"):
            for name in item:
                first = item[name]
                if self.table(first):
                    shape = tuple(first.shape)[::-1]
                    return (1,) * (2 - len(shape)) + shape, "struct"
                break
            return (1, 1), "struct"
        return (), kind or ""

    def table(self, item: Any) -> bool:
        """Return whether a member is a struct array's field: references without a class."""
        return (
            isinstance(item, h5py.Dataset)
            and h5py.check_ref_dtype(item.dtype) is not None
            and self.matlab_class(item) is None
        )

    def sparse(self, group: Any, kind: str | None) -> tuple[Any, ...]:
        """Return a sparse matrix by its three vectors."""
        rows = self.number(group, "MATLAB_sparse")
        vectors = {}
        for name in ("jc", "ir", "data"):
            if name not in group:  # MATLAB writes no empty arrays
                dtype = np.int64 if name == "ir" else self.empty_dtype(group, kind)
                vectors[name] = np.zeros(0, dtype)
                continue
            compound = group[name].dtype.names is not None
            read = self.complex_of if compound else self.array
            vectors[name] = read(group[name]).ravel()
        data = vectors["data"]
        data = data != 0 if kind == "logical" else data.astype(np.result_type(data, np.float64))
        return "sparse", (rows, len(vectors["jc"]) - 1), data, vectors["ir"], vectors["jc"]

    def unreadable(self, item: Any, kind: str | None) -> tuple[Any, ...]:
        """Return the node of an item whose class cannot be read."""
        if kind == "function_handle":
            return "unreadable", kind, "a function handle"
        if kind is None:
            kind = str(item.dtype) if isinstance(item, h5py.Dataset) else "group"
            return "unreadable", kind, "not a value of MATLAB's"
        return "unreadable", kind, "an object of a class"
