# SPDX-License-Identifier: BSD-3-Clause
"""MATLAB's values as Python's, and back: this module decides types and shapes.

Every file format is read into, and written from, plain nodes::

    ("array", a)                 numbers and logicals, MATLAB's shape and class
    ("char", u)                  UTF-16 code units, uint16, MATLAB's shape
    ("cell", shape, items)       items in column-major order
    ("struct", shape, columns)   {field: its values in column-major order}
    ("sparse", shape, data, rows, starts)   compressed columns
    ("object", matlab_class, metadata)   see `d2ke.io.mat.mcos`
    ("unreadable", matlab_class, reason)
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import scipy.sparse

from d2ke._base.damage import Damaged
from d2ke.io.mat.errors import Unreadable
from d2ke.io.mat.mcos import Subsystem, boxed, squeezed
from d2ke.objects.container import Objects

CLASSES = {
    "float64": "double",
    "float32": "single",
    "complex128": "double",
    "complex64": "single",
    "bool": "logical",
    **{name: name for sign in ("int", "uint") for name in (f"{sign}{8 << i}" for i in range(4))},
}
"""MATLAB's class of each dtype that it can hold."""


_HELD = (
    "MATLAB can hold numbers, booleans, str, numeric arrays, lists (cells), dicts (structs) "
    "and scipy.sparse matrices"
)


# Nodes to Python.


def to_python(
    node: tuple[Any, ...], name: str, squeeze: bool, system: Subsystem | None = None
) -> Any:
    """Convert a node to Python; `name` is its path, as MATLAB writes it.

    `system` has the values of objects; without it they are Unreadable.
    """
    kind = node[0]
    if kind == "array":
        return squeezed(node[1], squeeze)
    if kind == "char":
        return _text(node[1], name, squeeze)
    if kind == "cell":
        _, shape, items = node
        values = (
            to_python(item, f"{name}{{{subscript}}}", squeeze, system)
            for subscript, item in zip(_subscripts(shape), items, strict=True)
        )
        return boxed(values, shape, squeeze)
    if kind == "struct":
        return _struct(node, name, squeeze, system)
    if kind == "sparse":
        _, shape, data, rows, starts = node
        stored = int(starts[-1])  # the file may have room for more
        matrix = scipy.sparse.csc_array((data[:stored], rows[:stored], starts), shape=shape)
        matrix.check_format()  # scipy's products trust the indices
        return matrix
    if kind == "object":
        if system is None:
            return Unreadable(name, node[1], "an object of a class")
        return system.value(node, name, squeeze)
    _, matlab_class, reason = node
    return Unreadable(name, matlab_class, reason)


def _boxed(array: np.ndarray, squeeze: bool) -> np.ndarray:
    """Squeeze a container to one axis at least: a cell of one item stays a cell."""
    return np.atleast_1d(array.squeeze()) if squeeze else array


def _struct(node: tuple[Any, ...], name: str, squeeze: bool, system: Subsystem | None) -> Any:
    _, shape, columns = node
    if shape == (1, 1):
        return {
            field: to_python(values[0], f"{name}.{field}", squeeze, system)
            for field, values in columns.items()
        }
    result = np.empty(shape, dtype=[(field, object) for field in columns])
    for field, column in columns.items():
        values = (
            to_python(item, f"{name}({subscript}).{field}", squeeze, system)
            for subscript, item in zip(_subscripts(shape), column, strict=True)
        )
        result[field] = boxed(values, shape, False)
    return _boxed(result, squeeze)


def _subscripts(shape: tuple[int, ...]) -> Iterable[str]:
    """MATLAB's subscripts in column-major order: one for a row or a column."""
    count = math.prod(shape)
    if len(shape) == 2 and 1 in shape:
        return map(str, range(1, count + 1))
    axes = np.unravel_index(np.arange(count), shape, order="F")
    return (",".join(str(k + 1) for k in indices) for indices in zip(*axes, strict=True))


def _text(units: np.ndarray, name: str, squeeze: bool) -> Any:
    shape = units.shape
    if shape == (0, 0) or (len(shape) == 2 and shape[0] == 1):
        return units.astype("<u2").tobytes().decode("utf-16-le", "surrogatepass")
    # Rows run along the second axis; pages, if any, come after the rows.
    rows = np.moveaxis(units, 1, -1)
    width = rows.shape[-1]
    if rows.size and ((rows >= 0xD800) & (rows < 0xE000)).any():
        # Pairs of units are one character here, so that rows have different lengths.
        flat = np.ascontiguousarray(rows, dtype="<u2").reshape(-1, width)
        texts = [row.tobytes().decode("utf-16-le", "surrogatepass") for row in flat]
        return _boxed(np.array(texts).reshape(rows.shape[:-1]), squeeze)
    text = np.ascontiguousarray(rows, dtype=np.uint32)
    max_empty_rows = 2**20  # without characters, which take memory here but not in a file
    max_width = 2**29 - 1  # of numpy's str
    if math.prod(rows.shape[:-1]) > max(max_empty_rows, units.size) or width > max_width:
        raise Damaged(f"{name} is a char array of the shape {shape}")
    result = np.zeros(rows.shape[:-1], dtype=f"U{max(width, 1)}")
    if text.size:
        result[...] = text.view(f"U{width}")[..., 0]
    return _boxed(result, squeeze)


# Python to nodes.


def variable_nodes(data: Any) -> dict[str, tuple[Any, ...]]:
    """Return the node of each variable of a dict, or raise an error that names what is wrong."""
    if not isinstance(data, Mapping):
        raise TypeError(f"data must be a dict of variables by name, got {type(data).__name__}")
    keywords = (
        "break", "case", "catch", "classdef", "continue", "else", "elseif", "end", "for",
        "function", "global", "if", "otherwise", "parfor", "persistent", "return", "spmd",
        "switch", "try", "while",
    )  # fmt: skip
    nodes = {}
    for name, value in data.items():
        _check_name(name, "data", "a variable")
        if name in keywords:
            raise ValueError(f"data has a variable {name!r}, which is a keyword of MATLAB")
        nodes[name] = from_python(value, f"data[{name!r}]")
    return nodes


def from_python(value: Any, where: str) -> tuple[Any, ...]:
    """Return the node of a value; `where` names it in errors."""
    if isinstance(value, (str, np.str_)):
        return "char", _units(str(value))[np.newaxis] if value else np.empty((0, 0), np.uint16)
    if isinstance(value, Mapping):
        for field in value:
            _check_name(field, where, "a field")
        columns = {
            field: [from_python(item, f"{where}[{field!r}]")] for field, item in value.items()
        }
        return "struct", (1, 1), columns
    if isinstance(value, (list, tuple)):
        items = [from_python(x, f"{where}[{i}]") for i, x in enumerate(value)]
        return "cell", (1, len(items)), items
    if isinstance(value, Objects):
        # Channels in rows, as MATLAB's users keep series.
        items = [x if value.has_letters else x.T for x in value]
        items = [from_python(x, f"{where}[{i}]") for i, x in enumerate(items)]
        return "cell", (len(items), 1), items
    if scipy.sparse.issparse(value):
        return _sparse_node(value, where)
    if isinstance(value, int) and not isinstance(value, bool):
        return "array", np.array([[_integer(value, where)]])
    if isinstance(value, (bool, float, complex, np.generic)):
        value = np.asarray(value)
    if type(value) not in (np.ndarray, np.matrix, np.memmap, np.recarray):
        kind = "None" if value is None else f"a {type(value).__name__}"
        if isinstance(value, Unreadable):
            kind = f"Unreadable (a {value.matlab_class} that was not read from its file)"
        raise TypeError(f"{where} is {kind}; {_HELD}")
    return _array_node(np.asarray(value), where)


def _integer(value: int, where: str) -> np.integer:
    for kind in (np.int64, np.uint64):
        if np.iinfo(kind).min <= value <= np.iinfo(kind).max:
            return kind(value)
    raise ValueError(f"{where} is {value}, which no integer class of MATLAB can hold")


def _array_node(array: np.ndarray, where: str) -> tuple[Any, ...]:
    ndim = array.ndim
    if ndim < 2:
        array = array.reshape(1, -1)
    if array.dtype.names is not None:
        return _struct_array_node(array, where, ndim)
    if array.dtype == object:
        items = [
            from_python(item, f"{where}[{_index(i, array.shape, ndim)}]")
            for i, item in enumerate(array.ravel(order="F"))
        ]
        return "cell", array.shape, items
    if array.dtype.kind == "U":
        return "char", _rows_of_units(array if ndim else array.reshape(1), where, ndim)
    if array.dtype.name not in CLASSES:
        raise TypeError(
            f"{where} is an array of {array.dtype}, which has no class in MATLAB; {_HELD}"
        )
    return "array", array.astype(array.dtype.newbyteorder("="), copy=False)


def _struct_array_node(array: np.ndarray, where: str, ndim: int) -> tuple[Any, ...]:
    columns = {}
    for field in array.dtype.names or ():
        _check_name(field, where, "a field")
        columns[field] = [
            from_python(item, f"{where}[{_index(i, array.shape, ndim)}][{field!r}]")
            for i, item in enumerate(array[field].ravel(order="F"))
        ]
    return "struct", array.shape, columns


def _index(i: int, shape: tuple[int, ...], ndim: int) -> str:
    """Return the index that a user writes for item i in column-major order."""
    if ndim < 2:
        return str(i) if ndim else "()"
    return ", ".join(str(int(k)) for k in np.unravel_index(i, shape, order="F"))


def _units(text: str) -> np.ndarray:
    return np.frombuffer(text.encode("utf-16-le", "surrogatepass"), dtype="<u2").astype(np.uint16)


def _rows_of_units(array: np.ndarray, where: str, ndim: int) -> np.ndarray:
    """Return the char array of an array of rows: all must be of one length, nothing is padded."""
    if ndim == 0:
        text = str(array[0])
        return _units(text)[np.newaxis] if text else np.empty((0, 0), np.uint16)
    shape = array.shape[1:] if ndim == 1 else array.shape
    array = array.reshape(shape)
    width = array.dtype.itemsize // 4
    lengths = np.char.str_len(array)
    if array.size:
        width = int(lengths.max())
        if (lengths != width).any():
            raise ValueError(
                f"{where} has strings of {int(lengths.min())} to {width} characters, but the "
                "rows of a char array have one length; give a list of str (a cell)"
            )
    codes = np.array([[ord(c) for c in text] for text in array.ravel()], dtype=np.uint32).reshape(
        *array.shape, width
    )
    if codes.size and codes.max() > 0xFFFF:
        raise ValueError(
            f"{where} has characters beyond 16 bits in a char array; give a list of str (a cell)"
        )
    return np.moveaxis(codes.astype(np.uint16), -1, 1)


def _sparse_node(value: Any, where: str) -> tuple[Any, ...]:
    if value.ndim != 2:
        raise ValueError(f"{where} is a sparse array of {value.ndim} dimensions; MATLAB has 2")
    if value.dtype.name not in ("float64", "complex128", "bool"):
        raise TypeError(
            f"{where} is sparse of {value.dtype}; MATLAB's sparse matrices are float64, "
            "complex128 or bool: convert it with .astype"
        )
    columns = scipy.sparse.csc_array(value, copy=True)
    columns.sum_duplicates()
    return "sparse", columns.shape, columns.data, columns.indices, columns.indptr


def _check_name(name: Any, where: str, what: str) -> None:
    if not isinstance(name, str):
        raise TypeError(f"{where} has the key {name!r}; the name of {what} must be a str")
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]{0,62}", name):
        raise ValueError(
            f"{where} has {what} {name!r}, which MATLAB does not accept: a name is a letter, "
            "then letters, digits and _, at most 63 in all"
        )
