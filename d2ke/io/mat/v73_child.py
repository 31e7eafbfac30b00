# SPDX-License-Identifier: BSD-3-Clause
"""The process that reads MAT-files of version 7.3, so that damage cannot harm its parent.

libhdf5 trusts what it finds: a few changed bytes make it loop for ever. This file is run
as a script by `d2ke.io.mat.v73`, without d2ke, and writes messages:
``("names", [all variables])``; for each variable ``("name", name)``, then ``("node", node)``,
or for a cell that is read in pieces ``("cell", shape)`` and ``("item", node)`` for each item;
in place of any of these, for a variable that cannot be read, ``("damaged", [class, reason])``;
after the variables, if there are objects of MATLAB's in them, ``("subsystem", node)``;
at the end ``("done",)``, or ``("refused", reason)`` for the whole file. Nodes are described in
`d2ke.io.mat.values`.

A message is the length of a text, 8 bytes; the text, JSON; and the bytes of the arrays, which the
text has as ``{"dtype", "shape"}``, in column-major order. No pickle: a file that takes over this
process must not take over its parent.
"""

from __future__ import annotations

import json
import math
import os
import signal
import sys
from collections.abc import Iterator
from typing import Any, BinaryIO

_MOST_SECONDS = 2.0  # of processor time, of one call of libhdf5, and
_BYTES_PER_SECOND = 50e6  # what decompression reaches everywhere
_DEFLATE_RATIO = 1040
_SPARE_BYTES = 2**26
_MAX_DEPTH = 100
_REFERENCE = 0xDD000000  # begins what stands for an object of MATLAB's


class Damaged(Exception):  # noqa: N818 (its text is sent to the parent)
    """The reason why a file cannot be read."""


def alarm(nbytes: int = 0) -> None:
    """Have the system end this process unless it calls again within a few seconds."""
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_PROF, _MOST_SECONDS + nbytes / _BYTES_PER_SECOND)


def limit_memory(nbytes: int) -> None:
    """Let allocations fail beyond what is in use now and `nbytes`."""
    try:
        import resource
        from pathlib import Path

        used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    except (ImportError, OSError):
        return
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    limit = used + nbytes
    if hard == resource.RLIM_INFINITY or limit < hard:
        resource.setrlimit(resource.RLIMIT_AS, (limit, hard))


class Reader:
    """An open file, and how many bytes and objects may still be read of it."""

    def __init__(self, path: str):
        size = os.path.getsize(path)
        # A file cannot hold more than deflate makes of it, nor more objects than bytes.
        self.bytes_left = _DEFLATE_RATIO * size + _SPARE_BYTES
        self.nodes_left = size
        limit_memory(self.bytes_left + 2**29)
        alarm()
        self.file = h5py.File(path, "r")
        self.handle = os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0))
        self.size = size
        self.above: list[Any] = []
        self.empties: dict[int, tuple[Any, ...]] = {}
        self.objects = False  # whether any was read

    def names(self) -> list[str]:
        """Variables of the file."""
        alarm()
        return [name for name in self.file if not name.startswith("#")]

    def member(self, group: Any, name: str) -> Any:
        """Return what a group has itself; other links may lead to another file."""
        alarm()
        if group.id.links.get_info(name.encode()).type != h5py.h5l.TYPE_HARD:
            raise Damaged(f"{name} of {group.name} is a link to elsewhere")
        return group[name]

    def node(self, item: Any) -> tuple[Any, ...]:
        """Return what a dataset or a group holds."""
        self.nodes_left -= 1
        if self.nodes_left < 0:
            raise Damaged("it refers to more objects than its size allows")
        alarm()
        if len(self.above) > _MAX_DEPTH:
            raise Damaged(f"cells and structs are nested deeper than {_MAX_DEPTH} levels")
        address = h5py.h5o.get_info(item.id).addr
        if address in self.above:
            raise Damaged("a cell or a struct contains itself")
        self.above.append(address)
        try:
            if isinstance(item, h5py.Group):
                return self.group(item)
            if isinstance(item, h5py.Dataset):
                return self.dataset(item)
        finally:
            self.above.pop()
        raise Damaged(f"{item.name} is neither a dataset nor a group")

    def attribute(self, item: Any, name: str) -> Any:
        """Return an attribute, None if there is none."""
        alarm()
        # h5py's own way takes ten times as long, and there are several for each item of a cell.
        if not h5py.h5a.exists(item.id, name.encode()):
            return None
        return item.attrs[name]

    def matlab_class(self, item: Any) -> str | None:
        """Return the class that MATLAB wrote, None if there is none."""
        alarm()
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

    def claim(self, data: Any, nbytes: int, chunk: int) -> bool:
        """Whether a dataset of so many bytes, and in each chunk so many, may be in the file."""
        self.bytes_left -= nbytes
        room = _DEFLATE_RATIO * data.get_storage_size() + _SPARE_BYTES - chunk
        return nbytes <= room and self.bytes_left >= 0 and room >= 0

    def array(self, data: Any) -> Any:
        """Read a dataset; the result has MATLAB's shape."""
        alarm()
        shape = data.shape
        if shape is None:
            raise Damaged(f"{data.name} has no shape")
        made = data.id.get_create_plist()
        if made.get_layout() == h5py.h5d.VIRTUAL or made.get_external_count():
            raise Damaged(f"{data.name} is in another file")
        itemsize = data.dtype.itemsize
        nbytes = math.prod(shape) * itemsize
        chunk = math.prod(data.chunks) * itemsize if data.chunks else 0
        if not self.claim(data.id, nbytes, chunk):
            raise Damaged(f"{data.name} claims {nbytes} bytes, more than the file can hold")
        alarm(nbytes)
        values = data[()]
        alarm()
        if not isinstance(values, np.ndarray):
            values = np.asarray(values)
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
        """Return the dtype of numbers that are not there; only d2ke says whether complex."""
        dtype = np.dtype(_DTYPES.get(kind, "f8"))
        if self.number(item, "d2ke_complex"):
            return np.dtype(np.complex64 if dtype == np.float32 else np.complex128)
        return dtype

    def references(self, data: Any) -> tuple[Any, ...]:
        """Return the nodes that the references of a cell lead to."""
        table = self.array(data)
        return table.shape, [self.referred(x) for x in table.ravel(order="F")]

    def plain(self, data: Any) -> tuple[Any, ...] | None:
        """Return the numbers or text of a dataset as nearly all are in a cell, None of others.

        h5py's objects take some ten times as long to make as the values to read.
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
        self.nodes_left -= 1
        values = self.stored(data, shape, *form) if self.nodes_left >= 0 else None
        if values is None:
            self.nodes_left += 1
            return None
        values = values.reshape((1,) * (2 - len(shape)) + shape)
        if len(shape) != 1:
            values = values.T
        if name == b"logical":
            values = values != 0
        return "char" if name == b"char" else "array", values

    def stored(self, data: Any, shape: tuple[int, ...], kind: Any, dtype: Any) -> Any:
        """Return the numbers of a dataset, None if it is of a rare layout or damaged."""
        nbytes = math.prod(shape) * dtype.itemsize
        at = data.get_offset()
        if at is not None:  # it is contiguous, and read from this file only
            if not 0 < nbytes <= min(self.size, self.bytes_left):
                return None
            os.lseek(self.handle, at, os.SEEK_SET)
            content = os.read(self.handle, nbytes)
            if len(content) < nbytes:
                return None
            self.bytes_left -= nbytes
            return np.frombuffer(content, dtype)
        made = data.get_create_plist()
        if made.get_layout() != h5py.h5d.CHUNKED or made.get_external_count():
            return None
        chunk = math.prod(made.get_chunk()) * dtype.itemsize
        if not self.claim(data, nbytes, chunk):
            self.bytes_left += nbytes
            return None
        alarm(nbytes)
        values = np.empty(shape, dtype)
        data.read(h5py.h5s.ALL, h5py.h5s.ALL, values, kind)
        alarm()
        return values

    def referred(self, reference: Any) -> tuple[Any, ...]:
        """Return what a reference leads to; all empty cells share one object."""
        if not isinstance(reference, h5py.Reference) or not reference:
            raise Damaged("a cell holds something that is no reference")
        alarm()
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
        alarm()
        members = list(group)
        fields = self.fields(group)
        if fields is None:
            fields = members
        items = {field: self.member(group, field) for field in fields if field in members}
        items |= {field: self.member(group, field) for field in members if field not in items}
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
        self.nodes_left -= len(missing) * math.prod(shape)
        if self.nodes_left < 0:
            raise Damaged("it refers to more objects than its size allows")
        columns |= {field: [absent] * math.prod(shape) for field in missing}
        return "struct", shape, {field: columns[field] for field in fields}

    def described(self, item: Any) -> tuple[tuple[int, ...], str]:
        """Return shape and class of a variable, without its values."""
        alarm()
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
            starts = self.member(item, "jc").shape if "jc" in item else ()
            columns = starts[0] - 1 if starts else 0
            kind = "logical" if kind == "logical" else "sparse"
            return (self.number(item, "MATLAB_sparse"), columns), kind
        if kind in ("struct", None) and not self.number(item, "MATLAB_object_decode"):
            for name in item:
                first = self.member(item, name)
                if self.table(first):
                    shape = tuple(first.shape)[::-1]
                    return (1,) * (2 - len(shape)) + shape, "struct"
                break
            return (1, 1), "struct"
        return (), kind or ""

    def subsystem(self) -> tuple[Any, ...]:
        """Return the cell with what the file has of MATLAB's objects."""
        group = self.member(self.file, "#subsystem#")
        return ("cell", *self.references(self.member(group, "MCOS")))

    def is_cell(self, item: Any, kind: str | None) -> bool:
        """Whether a variable is a cell with items."""
        return (
            isinstance(item, h5py.Dataset)
            and kind == "cell"
            and not self.number(item, "MATLAB_empty")
        )

    def table(self, item: Any) -> bool:
        """Whether a member holds the values of a struct array: references without a class."""
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
            data = self.member(group, name)
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
        return "sparse", shape, data, parts["ir"], parts["jc"]

    def unreadable(self, item: Any, kind: str | None) -> tuple[Any, ...]:
        """Return what says that an item is of a class that cannot be read."""
        if kind == "function_handle":
            return "unreadable", kind, "a function handle"
        if kind is None:
            kind = str(item.dtype) if isinstance(item, h5py.Dataset) else "group"
            return "unreadable", kind, "not a value of MATLAB's"
        return "unreadable", kind, "an object of a class"


def messages(request: dict[str, Any]) -> Iterator[tuple[Any, ...]]:
    """Yield the answer to a request."""
    reader = Reader(request["path"])
    names = reader.names()
    yield "names", names
    if request["whos"]:
        for name in names:
            yield "whos", [name, *reader.described(reader.member(reader.file, name))]
        yield ("done",)
        return
    wanted = request["names"]
    for name in names if wanted is None else wanted:
        if name not in names:
            continue  # the parent has all names
        yield "name", name
        kind = None
        try:
            item = reader.member(reader.file, name)
            kind = reader.matlab_class(item)
            if request["pieces"] and reader.is_cell(item, kind):
                table = reader.array(item)
                yield "cell", table.shape
                for reference in table.ravel(order="F"):
                    yield "item", reader.referred(reference)
            else:
                yield "node", reader.node(item)
        except GeneratorExit:
            raise
        except Exception as error:
            reader.above.clear()
            yield "damaged", [kind or "", reason_of(error)]
    if reader.objects:
        try:
            yield "subsystem", reader.subsystem()
        except Exception:  # the objects are then unreadable, all else was read
            reader.above.clear()
    yield ("done",)


def reason_of(error: Exception) -> str:
    """Return an error in one line; h5py raises nearly every type of them."""
    if isinstance(error, (Damaged, MemoryError, RecursionError)):
        return str(error) or type(error).__name__
    return f"{type(error).__name__}: {error}"


def send(message: tuple[Any, ...], out: BinaryIO) -> None:
    """Write one message."""
    arrays: list[Any] = []

    def described(value: Any) -> Any:
        if isinstance(value, np.ndarray):
            arrays.append(value)
            return {"dtype": value.dtype.str, "shape": value.shape}
        if isinstance(value, np.generic):
            return value.item()
        raise TypeError(f"a message has a {type(value).__name__}")

    text = json.dumps(message, default=described).encode()
    out.write(len(text).to_bytes(8, "little") + text)
    for array in arrays:
        if array.size:
            out.write(np.asfortranarray(array).T.reshape(-1).view(np.uint8).data)


def answer(request: dict[str, Any], out: BinaryIO) -> None:
    """Write the messages; whatever goes wrong is one of them."""
    try:
        for message in messages(request):
            alarm(2**40)  # writing waits for the parent
            send(message, out)
            alarm()
    except Exception as error:
        send(("refused", reason_of(error)), out)
    out.flush()


if __name__ == "__main__":
    _request = json.loads(sys.stdin.buffer.read())
    sys.path[:] = _request["sys_path"]
    # Nothing else may write between the messages.
    _out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)

    import h5py
    import numpy as np

    _DTYPES = {
        "double": "f8",
        "single": "f4",
        "logical": "?",
        **{f"{s}int{8 << i}": f"{s or 'i'}{1 << i}" for s in ("", "u") for i in range(4)},
    }
    # What a dataset of each class nearly always has, as the processor has it.
    _PLAIN = {
        name.encode(): (h5py.h5t.py_create(np.dtype(code)), np.dtype(code))
        for name, code in {**_DTYPES, "logical": "u1", "char": "u2"}.items()
    }
    answer(_request, _out)
