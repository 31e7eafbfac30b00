# SPDX-License-Identifier: BSD-3-Clause
"""Read MAT-files of version 7.3: HDF5 with MATLAB's attributes, as the nodes of `values`."""

from __future__ import annotations

import math
from typing import Any

import h5py
import numpy as np

from d2ke.io.mat.errors import Damaged
from d2ke.io.mat.v5 import compressed_columns
from d2ke.io.mat.values import MAX_DEPTH

_DEFLATE_RATIO = 1040  # no deflated chunk is larger, in bytes for each byte
_SPARE_BYTES = 2**26
_REFERENCE = 0xDD000000  # first number of a reference to an object

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
        self.objects_left = file.id.get_filesize()  # each takes more than a byte
        self.empties: dict[int, tuple[Any, ...]] = {}
        self.objects = False  # whether any was read

    def names(self) -> list[str]:
        """Return the variables of the file."""
        return [name for name in self.file if not name.startswith("#")]

    def node(self, item: Any) -> tuple[Any, ...]:
        """Return what a dataset or a group holds."""
        self.depth += 1
        try:
            if self.depth > MAX_DEPTH:
                raise Damaged(f"cells and structs are nested deeper than {MAX_DEPTH} levels")
            if isinstance(item, h5py.Group):
                return self.group(item)
            if isinstance(item, h5py.Dataset):
                return self.dataset(item)
        finally:
            self.depth -= 1
        raise Damaged(f"{item.name} is neither a dataset nor a group")

    def attribute(self, item: Any, name: str) -> Any:
        """Return an attribute, None if there is none."""
        # h5py's own way takes ten times as long, and there are several for each item of a cell.
        if not h5py.h5a.exists(item.id, name.encode()):
            return None
        return item.attrs[name]

    def matlab_class(self, item: Any) -> str | None:
        """Return the class that MATLAB wrote, None if there is none."""
        if not h5py.h5a.exists(item.id, b"MATLAB_class"):
            return None
        handle = h5py.h5a.open(item.id, b"MATLAB_class")
        if handle.dtype.kind == "S" and handle.shape == () and handle.dtype.itemsize <= 64:
            text = np.empty((), handle.dtype)
            handle.read(text)
            return bytes(text[()]).decode("utf-8", "replace")
        value = item.attrs["MATLAB_class"]
        if isinstance(value, (bytes, np.bytes_)):
            return value.decode("utf-8", "replace")
        return value if isinstance(value, str) or value is None else str(value)

    def number(self, item: Any, name: str) -> int:
        """Return an attribute that is an integer; 0 if there is none."""
        value = self.attribute(item, name)
        if value is None:
            return 0
        if np.size(value) != 1 or np.asarray(value).dtype.kind not in "iu":
            raise Damaged(f"the attribute {name} of {item.name} is no integer")
        return int(np.asarray(value).reshape(()))

    def fields(self, item: Any) -> list[str] | None:
        """Return the names of a struct's fields, None if they are not written."""
        value = self.attribute(item, "MATLAB_fields")
        if value is None:
            return None
        if isinstance(value, h5py.Reference) and value:
            # More than 4092 names do not fit an attribute; MATLAB keeps them in a dataset.
            table = self.file[value]
            if not isinstance(table, h5py.Dataset) or len(table.shape or ()) != 1:
                raise Damaged(f"the attribute MATLAB_fields of {item.name} leads to no names")
            value = self.array(table).ravel()
        try:
            names = [bytes(np.asarray(x)).decode("utf-8") for x in value]
        except (TypeError, ValueError):
            names = [""]
        if not all(names) or len(set(names)) < len(names):
            raise Damaged(f"the attribute MATLAB_fields of {item.name} has no names of fields")
        return names

    def array(self, data: Any) -> Any:
        """Read a dataset; the result has MATLAB's shape."""
        shape = data.shape
        if shape is None:
            raise Damaged(f"{data.name} has no shape")
        if not _may_hold(data.id, math.prod(shape) * data.dtype.itemsize):
            raise Damaged(f"{data.name} has the shape {shape}, more than the file can hold")
        values = np.asarray(data[()])
        values = values.reshape((1,) * (2 - values.ndim) + values.shape)
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
            if values.dtype.kind not in "iu" or (values.size and values.max() > 0xFFFF):
                raise Damaged(f"{data.name} is text but holds {values.dtype}")
            return "char", values.astype(np.uint16)
        if kind == "logical":
            return "array", values != 0
        dtype = np.dtype(kind and _DTYPES[kind]) if kind else values.dtype.newbyteorder("=")
        return "array", self.cast(values, dtype, data)

    def cast(self, values: Any, dtype: Any, data: Any) -> Any:
        """Return values as their class has them; refuse values that it cannot hold."""
        with np.errstate(invalid="ignore", over="ignore"):
            result = values.astype(dtype)
        if not np.can_cast(values.dtype, dtype) and not np.array_equal(
            result.astype(values.dtype), values, equal_nan=values.dtype.kind == "f"
        ):
            raise Damaged(f"{data.name} holds {values.dtype} beyond its class {dtype}")
        return result

    def complex_of(self, data: Any) -> Any:
        """Return complex numbers of their two parts."""
        values = self.array(data)
        single = all(values.dtype[i] == np.float32 for i in range(2))
        result = np.empty(values.shape, np.complex64 if single else np.complex128, order="F")
        result.real = values["real"]
        result.imag = values["imag"]
        for part, got in (("real", result.real), ("imag", result.imag)):
            stored = values[part]
            if stored.dtype.kind in "iu" and (got.astype(stored.dtype) != stored).any():
                raise Damaged(f"{data.name}: complex 64-bit integers are too large for complex128")
        return result

    def empty(self, data: Any, kind: str | None) -> tuple[Any, ...]:
        """Return an array without elements; the dataset holds its shape."""
        sizes = self.array(data).ravel() if math.prod(data.shape) <= 32 else np.zeros(0)
        if sizes.dtype.kind not in "iu" or not 2 <= len(sizes) <= 32 or (sizes > 2**62).any():
            raise Damaged(f"{data.name} is empty but has no shape")
        shape = tuple(int(n) for n in sizes)
        if math.prod(n or 1 for n in shape) > 2**48:  # numpy's bound, also of empty arrays
            raise Damaged(f"{data.name} is empty but has the shape {shape}")
        if kind == "struct":
            fields = self.fields(data) or []
            if math.prod(shape) and (fields or math.prod(shape) > 2**16):
                raise Damaged(f"{data.name} is an empty struct of shape {shape}")
            return "struct", shape, {field: [] for field in fields}
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
        if not _may_hold(data, math.prod(shape) * form[1].itemsize):
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
        if not isinstance(reference, h5py.Reference) or not reference:
            raise Damaged("a cell holds something that is not a reference")
        self.objects_left -= 1
        if self.objects_left < 0:
            raise Damaged("it refers to more objects than its size allows")
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
            shapes = {shape for shape, _ in tables.values()}
            if len(shapes) > 1:
                raise Damaged(f"the fields of {group.name} have different shapes")
            shape = shapes.pop()
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
                sizes = self.array(item).ravel() if math.prod(item.shape or ()) <= 32 else []
                return tuple(int(n) for n in sizes), kind or "double"
            shape = tuple(item.shape or ())[::-1]
            if self.number(item, "MATLAB_object_decode"):
                numbers = self.array(item).ravel().tolist() if math.prod(shape) <= 2**20 else []
                n = int(numbers[1]) if len(numbers) > 1 and numbers[0] == _REFERENCE else 0
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
        parts = {}
        for name in ("jc", "ir", "data"):
            if name not in group:
                if name == "jc":
                    raise Damaged(f"{group.name} is sparse but has no jc")
                dtype = np.int64 if name == "ir" else self.empty_dtype(group, kind)
                parts[name] = np.zeros(0, dtype)
                continue
            data = group[name]
            fits = isinstance(data, h5py.Dataset) and len(data.shape or ()) == 1
            compound = fits and data.dtype.names is not None
            if compound:
                fits = set(data.dtype.names) == {"real", "imag"}
            if not fits or not (compound or data.dtype.kind in "fiub"):
                raise Damaged(f"{data.name} is no part of a sparse matrix")
            parts[name] = (self.complex_of(data) if compound else self.array(data)).ravel()
        data = parts["data"]
        data = data != 0 if kind == "logical" else data.astype(np.result_type(data, np.float64))
        shape = (rows, len(parts["jc"]) - 1)
        return compressed_columns(shape, data, parts["ir"], parts["jc"])

    def unreadable(self, item: Any, kind: str | None) -> tuple[Any, ...]:
        """Return the node of an item whose class cannot be read."""
        if kind == "function_handle":
            return "unreadable", kind, "a function handle"
        if kind is None:
            kind = str(item.dtype) if isinstance(item, h5py.Dataset) else "group"
            return "unreadable", kind, "not a value of MATLAB's"
        return "unreadable", kind, "an object of a class"


def _may_hold(data: Any, nbytes: int) -> bool:
    """Return whether the stored bytes of a dataset can inflate to so many."""
    return nbytes <= _DEFLATE_RATIO * data.get_storage_size() + _SPARE_BYTES
