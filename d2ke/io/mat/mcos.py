# SPDX-License-Identifier: BSD-3-Clause
"""Values of MATLAB's own classes: string, datetime, table and others, as plain Python and numpy.

A variable of such a class holds numbers only: 0xDD000000, a shape, and the numbers of objects and
of a class. Their properties are elsewhere in the file, in one cell, the "FileWrapper__" of the
subsystem. Its first item is a table of 32-bit integers in regions, which has the names and the
item of the cell for each property of each object; the last one has the defaults of each
class. MathWorks does not document this; the layout is that of the format notes of the project
mat-io (matio).

An object that cannot be read is Unreadable, with the reason.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from itertools import pairwise
from typing import Any

import numpy as np

from d2ke._base.damage import Damaged, damage
from d2ke.io.mat.errors import Unreadable

REFERENCE = 0xDD000000  # first number of a reference to an object

Python = Callable[..., Any]  # values.to_python, which imports this module


class Subsystem:
    """The objects of one file; `load` returns the items of its cell, or None if it has none."""

    def __init__(
        self, load: Callable[[], list[tuple[Any, ...]] | None], order: str, python: Python
    ):
        self._load = load
        self._order = order
        self._python = python
        self._ready = False
        self._values: dict[tuple[int, bool], Any] = {}

    def value(self, node: tuple[Any, ...], name: str, squeeze: bool) -> Any:
        """Return the value of ``("object", class, metadata)``."""
        _, matlab_class, metadata = node
        try:
            with damage():
                try:
                    self._open()
                    if metadata[0] == "struct":
                        return self._enumeration(metadata, squeeze)
                    return self._referred(metadata[1], name, squeeze)
                except _Unknown as unknown:
                    return Unreadable(name, unknown.matlab_class or matlab_class, unknown.reason)
        except Damaged as error:
            reason = f"damaged: an object that does not fit its class ({error})"
            return Unreadable(name, matlab_class, reason)

    # The table of names, classes, objects and properties.

    def _open(self) -> None:
        if self._ready:
            return
        items = self._load()
        if not items or items[0][0] != "array" or items[0][1].dtype != np.uint8:
            raise _Unknown("an object of a class, whose properties are not in the file")
        raw = items[0][1].ravel(order="F").tobytes()
        words = np.frombuffer(raw[: len(raw) & ~3], f"{self._order}u4").astype(np.int64)
        n_last = {2: 1, 3: 2, 4: 3}  # items behind the properties, by version
        if len(words) < 10 or int(words[0]) not in n_last:
            raise _Unknown(f"an object of a class, in version {words[:1]} of their format")
        ends = words[2:8].tolist()
        # The names follow a header of 40 bytes.
        self._names = [x.decode("utf-8", "replace") for x in raw[40 : ends[0]].split(b"\0")]
        regions = [words[a // 4 : b // 4] for a, b in pairwise(ends)]
        self._classes = regions[0][: len(regions[0]) // 4 * 4].reshape(-1, 4)
        self._objects = regions[2][: len(regions[2]) // 6 * 6].reshape(-1, 6)
        self._saved, self._normal = _blocks(regions[1]), _blocks(regions[3])
        self._properties = items[2 : len(items) - n_last[int(words[0])]]
        defaults = items[-1]
        self._defaults = defaults[2] if defaults[0] == "cell" else []
        self._ready = True

    def _text(self, number: int) -> str:
        """Return a name; they are numbered from 1."""
        return self._names[number - 1]

    def _fields(self, number: int) -> dict[str, tuple[Any, ...]]:
        """Return the nodes of an object's properties, by name."""
        class_number, _, _, saved, normal, _ = (int(x) for x in self._objects[number])
        fields: dict[str, tuple[Any, ...]] = {}
        if 0 <= class_number < len(self._defaults):
            default = self._defaults[class_number]
            if default[0] == "struct" and default[1] == (1, 1):
                fields = {name: values[0] for name, values in default[2].items()}
        blocks, at = (self._saved, saved) if saved else (self._normal, normal)
        for name, kind, where in blocks[at]:
            if kind == 1 and 0 <= where < len(self._properties):
                fields[self._text(int(name))] = self._properties[int(where)]
        return fields

    # Objects.

    def _referred(self, metadata: np.ndarray, name: str, squeeze: bool) -> Any:
        numbers = metadata.ravel(order="F").tolist()
        n = numbers[1]
        shape = tuple(numbers[2 : 2 + n])
        ids = numbers[2 + n : -1]
        namespace, class_name = self._classes[numbers[-1]][:2].tolist()
        matlab_class = (f"{self._text(namespace)}." if namespace else "") + self._text(class_name)
        if matlab_class not in _CONVERTERS:
            raise _Unknown("an object of a class", matlab_class)
        values = [self._object(i, matlab_class, name, squeeze) for i in ids]
        if len(values) == 1:
            return values[0]
        return boxed(values, shape, squeeze)

    def _object(self, number: int, matlab_class: str, name: str, squeeze: bool) -> Any:
        key = number, squeeze
        if key not in self._values:
            # What it holds may refer to it.
            self._values[key] = Unreadable(name, matlab_class, "an object that contains itself")
            properties = _Properties(self, self._fields(number), name, squeeze)
            self._values[key] = _CONVERTERS[matlab_class](properties)
        return self._values[key]

    def _enumeration(self, metadata: tuple[Any, ...], squeeze: bool) -> Any:
        """Return the names of members; of one member a str."""
        fields = _one_struct(metadata)
        names = [self._text(int(x)) for x in fields["ValueNames"][1].ravel(order="F")]
        indices = fields["ValueIndices"][1]
        members = [names[int(x)] for x in indices.ravel(order="F")]
        return members[0] if indices.shape == (1, 1) else boxed(members, indices.shape, squeeze)

    def python(self, node: tuple[Any, ...], name: str, squeeze: bool) -> Any:
        """Return the value of a property's node, in which numbers stand for objects."""
        return self._python(_linked(node), name, squeeze, self)


class _Unknown(Exception):  # noqa: N818 (the reason why an object is Unreadable)
    def __init__(self, reason: str, matlab_class: str = ""):
        self.reason, self.matlab_class = reason, matlab_class


class _Properties:
    """Reads the properties of one object."""

    def __init__(
        self, system: Subsystem, fields: dict[str, tuple[Any, ...]], name: str, squeeze: bool
    ):
        self.system, self.fields, self.name, self.squeeze = system, fields, name, squeeze

    def numbers(self, field: str) -> np.ndarray:
        """Return a property that is an array of numbers."""
        return self.fields[field][1]

    def within(self, field: str) -> _Properties:
        """Return the fields of a property that is a struct."""
        fields = _one_struct(self.fields[field])
        return _Properties(self.system, fields, self.name, self.squeeze)

    def items(self, field: str) -> list[tuple[Any, ...]]:
        """Return the nodes of a property that is a cell."""
        node = self.fields[field]
        return [] if node[0] == "array" and node[1].size == 0 else node[2]

    def read(self, node: tuple[Any, ...], suffix: str, squeeze: bool = False) -> Any:
        return self.system.python(node, self.name + suffix, squeeze)

    def value(self, field: str) -> Any:
        """Return a property as Python, in MATLAB's shape."""
        return self.read(self.fields[field], f".{field}")

    def texts(self, field: str) -> list[str]:
        """Return the str of a cell of char, or of a string array."""
        node = self.fields[field]
        if node[0] == "cell":
            return [self.read(item, "") for item in node[2]]
        value = self.value(field)
        return [value] if isinstance(value, str) else value.ravel(order="F").tolist()


def _string(p: _Properties) -> Any:
    """Return a str for 1 x 1, else an array of str; None for a missing string."""
    data = p.numbers("any").ravel(order="F")
    if data.size == 0:
        return boxed([], (0, 0), p.squeeze)
    if data.dtype != np.uint64 or data[0] != 1:
        raise _Unknown("a string in an unknown form")
    n = int(data[1])
    shape = tuple(int(x) for x in data[2 : 2 + n])
    count = math.prod(shape)
    lengths = [int(x) for x in data[2 + n : 2 + n + count]]
    units = data[2 + n + count :].astype("<u8").view("<u2")
    texts: list[str | None] = []
    at = 0
    for length in lengths:
        if length == 2**64 - 1:  # a missing string
            texts.append(None)
            continue
        text = units[at : at + length].tobytes().decode("utf-16-le", "surrogatepass")
        texts.append(text)
        at += length
    return texts[0] if shape == (1,) * n else boxed(texts, shape, p.squeeze)


def _datetime(p: _Properties) -> np.ndarray:
    """Return datetime64 of microseconds; with a time zone UTC."""
    data = p.numbers("data")
    imaginary = data.imag if data.dtype.kind == "c" else 0.0
    return squeezed(_microseconds(data.real, imaginary).astype("datetime64[us]"), p.squeeze)


def _duration(p: _Properties) -> np.ndarray:
    """Return timedelta64 of microseconds."""
    millis = p.numbers("millis")
    return squeezed(_microseconds(millis, 0.0).astype("timedelta64[us]"), p.squeeze)


def _categorical(p: _Properties) -> dict[str, Any]:
    """Return the arguments of pandas.Categorical.from_codes; -1 where a value is undefined."""
    categories = p.texts("categoryNames")
    codes = p.numbers("codes").astype(np.int64) - 1
    ordered = bool(p.numbers("isOrdinal").any()) if "isOrdinal" in p.fields else False
    return {"codes": squeezed(codes, p.squeeze), "categories": categories, "ordered": ordered}


def _table(p: _Properties) -> dict[str, Any]:
    """Return a dict of variables; row names, if any, come first, by their dimension's name."""
    columns = p.texts("varnames"), p.items("data")
    rows = p.texts("rownames")
    if not rows:
        return _columns(p, *columns)
    dimension = p.within("props").texts("DimensionNames")[0]
    return {dimension: boxed(rows, (len(rows), 1), p.squeeze), **_columns(p, *columns)}


def _timetable(p: _Properties) -> dict[str, Any]:
    """Return a dict of the row times, by the name of their dimension, and the variables."""
    p = p.within("any")
    columns = _columns(p, p.texts("varNames"), p.items("data"))
    rows = int(p.numbers("numRows").item())
    times = _linked(p.fields["rowTimes"])
    value = _regular(p.within("rowTimes"), rows) if times[0] == "struct" else p.value("rowTimes")
    return {p.texts("dimNames")[0]: squeezed(value.reshape(-1, 1), p.squeeze), **columns}


def _regular(p: _Properties, rows: int) -> np.ndarray:
    """Return the times of rows in equal steps."""
    origin = p.value("origin")
    if bool(p.numbers("specifiedAsRate").any()):
        micros = 1e6 / float(p.numbers("sampleRate").item())
        step: Any = np.round(np.arange(rows) * micros).astype("timedelta64[us]")
    else:
        step = p.value("stepSize")
        if isinstance(step, Unreadable):
            raise _Unknown("a timetable with steps of calendar months or days")
        step = np.arange(rows) * step
    return np.asarray(origin + np.ravel(step)).ravel()


def _columns(p: _Properties, names: list[str], nodes: list[tuple[Any, ...]]) -> dict[str, Any]:
    return {
        name: p.read(node, f".{name}", p.squeeze) for name, node in zip(names, nodes, strict=True)
    }


_CONVERTERS: dict[str, Callable[[_Properties], Any]] = {
    "string": _string,
    "datetime": _datetime,
    "duration": _duration,
    "categorical": _categorical,
    "table": _table,
    "timetable": _timetable,
}


def _blocks(region: np.ndarray) -> list[np.ndarray]:
    """Return the blocks of a region: each a count and its triples, of an even length."""
    blocks, at = [], 0
    while at < len(region):
        n = int(region[at])
        end = at + 1 + 3 * n
        blocks.append(region[at + 1 : end].reshape(-1, 3))
        at = end + end % 2
    return blocks


def _linked(node: tuple[Any, ...]) -> tuple[Any, ...]:
    """Replace arrays that refer to an object by the node of the object."""
    kind = node[0]
    if kind == "array" and _is_reference(node[1]):
        return "object", "", node
    if kind == "cell":
        return "cell", node[1], [_linked(item) for item in node[2]]
    if kind == "struct":
        if "EnumerationInstanceTag" in node[2]:
            return "object", "", node
        columns = {field: [_linked(x) for x in column] for field, column in node[2].items()}
        return "struct", node[1], columns
    return node


def _is_reference(array: np.ndarray) -> bool:
    return (
        array.dtype == np.uint32
        and array.ndim == 2
        and array.shape[1] == 1
        and array.size >= 6
        and array[0, 0] == REFERENCE
    )


def _one_struct(node: tuple[Any, ...]) -> dict[str, tuple[Any, ...]]:
    return {name: values[0] for name, values in node[2].items()}


def _microseconds(millis: np.ndarray, remainder: Any) -> np.ndarray:
    """Return whole microseconds, NaT for NaN; of MATLAB's two components the second is small."""
    floor = np.floor(millis)
    missing = np.isnan(millis)
    with np.errstate(invalid="ignore", over="ignore"):
        micros = np.where(missing, 0.0, np.round((millis - floor + remainder) * 1000))
        floor = np.where(missing, 0.0, floor)
        beyond = ~(np.abs(floor) * 1000 + np.abs(micros) < 2.0**62)
    if beyond.any():
        raise _Unknown("times beyond 146,000 years, or infinite")
    result = floor.astype(np.int64) * 1000 + micros.astype(np.int64)
    result[missing] = np.iinfo(np.int64).min
    return result


def squeezed(array: np.ndarray, squeeze: bool) -> Any:
    """Drop axes of length 1 if that is wanted; 1 x 1 becomes a scalar."""
    if not squeeze:
        return array
    return array.reshape(())[()] if array.size == 1 else array.squeeze()


def boxed(values: Iterable[Any], shape: tuple[int, ...], squeeze: bool) -> np.ndarray:
    """Return an array of objects, in MATLAB's order; of one axis at least."""
    values = list(values)
    array = np.empty(len(values), dtype=object)
    array[:] = values
    array = array.reshape(shape, order="F")
    return np.atleast_1d(array.squeeze()) if squeeze else array
