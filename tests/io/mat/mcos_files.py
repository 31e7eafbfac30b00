# SPDX-License-Identifier: BSD-3-Clause
"""Write MAT-files with objects of MATLAB's classes, by their documented layout."""

import h5py
import numpy as np

from d2ke.io import save_mat
from d2ke.io.mat import v5, v73
from d2ke.io.mat.values import from_python

REFERENCE = 0xDD000000


class Link:
    """Stands for an object of a file that is made, as a property or in a cell."""

    def __init__(self, numbers):
        self.numbers = numbers


class Objects:
    """The objects of one file: classes, properties and their values."""

    def __init__(self):
        self.names, self.classes, self.objects = [], [(0, 0, 0, 0)], [(0,) * 6]
        self.saved, self.normal, self.values = [[]], [[]], []

    def name(self, text):
        if text not in self.names:
            self.names.append(text)
        return self.names.index(text) + 1

    def class_number(self, text):
        space, _, name = text.rpartition(".")
        entry = (self.name(space) if space else 0, self.name(name), 0, 0)
        if entry not in self.classes:
            self.classes.append(entry)
        return self.classes.index(entry)

    def add(self, matlab_class, **properties):
        """Add one object and return what stands for it."""
        number = self.class_number(matlab_class)
        block = []
        for field, value in properties.items():
            block.append((self.name(field), 1, len(self.values)))
            self.values.append(node_of(value))
        saved = "any" in properties
        blocks = self.saved if saved else self.normal
        blocks.append(block)
        at = len(blocks) - 1
        self.objects.append((number, 0, 0, at * saved, at * (not saved), len(self.objects)))
        return Link([REFERENCE, 2, 1, 1, len(self.objects) - 1, number])

    def table(self):
        """The first item of the cell."""
        names = b"".join(name.encode() + b"\0" for name in self.names)
        names += bytes(-len(names) % 8)
        regions = [
            np.array(self.classes), blocks(self.saved), np.array(self.objects),
            blocks(self.normal), np.zeros(2), np.zeros(0), np.zeros(2),
        ]  # fmt: skip
        raw = [np.asarray(region, "<u4").tobytes() for region in regions]
        offsets = 40 + len(names) + np.cumsum([0] + [len(part) for part in raw])
        head = np.array([4, len(self.names), *offsets], "<u4").tobytes()
        return np.frombuffer(head + names + b"".join(raw), np.uint8).reshape(-1, 1).copy()

    def cell(self):
        """The items of the cell, as nodes."""
        n = len(self.classes)
        empty = ("struct", (1, 1), {})
        defaults = ("cell", (n, 1), [("array", np.empty((0, 0)))] + [empty] * (n - 1))
        tail = [defaults, ("array", np.zeros((n, 1), np.int32)), defaults]
        return [("array", self.table()), ("array", np.empty((0, 0))), *self.values, *tail]


def blocks(region):
    numbers = []
    for block in region:
        numbers += [len(block), *(x for triple in block for x in triple)]
        numbers += [0] * (len(numbers) % 2)
    return numbers


def node_of(value):
    """The node of a property, in which numbers stand for objects."""
    if isinstance(value, Link):
        return "array", np.array(value.numbers, np.uint32).reshape(-1, 1)
    if isinstance(value, dict):
        return "struct", (1, 1), {name: [node_of(x)] for name, x in value.items()}
    if isinstance(value, list):
        return "cell", (1, len(value)), [node_of(x) for x in value]
    return from_python(value, "value")


def strings(*texts, shape=None):
    """The property of a string array, in column-major order."""
    shape = shape or (1, len(texts))
    units = np.frombuffer("".join(x or "" for x in texts).encode("utf-16-le"), "<u2")
    units = np.append(units, np.zeros(-len(units) % 4, "<u2")).astype("<u2")
    lengths = [2**64 - 1 if x is None else len(x.encode("utf-16-le")) // 2 for x in texts]
    head = np.array([1, len(shape), *shape, *lengths], np.uint64)
    return np.concatenate([head, units.view("<u8")]).reshape(1, -1)


def _element(kind, raw):
    return np.array([kind, len(raw)], "<u4").tobytes() + raw + bytes(-len(raw) % 8)


def _opaque(name, matlab_class, body):
    parts = _element(6, np.array([17, 0], "<u4").tobytes())
    parts += b"".join(_element(1, x.encode()) for x in (name, "MCOS", matlab_class)) + body
    return np.array([14, len(parts)], "<u4").tobytes() + parts


def _matrix(node, name=""):
    return b"".join(v5._matrix(node, name))


def write_v5(path, objects, variables):
    """Write ``{name: (class, Link or node)}`` as a file of version 5."""
    body = b""
    for name, (matlab_class, value) in variables.items():
        node = node_of(value) if isinstance(value, Link) else value
        body += _opaque(name, matlab_class, _matrix(node))
    items = objects.cell()
    wrapper = _opaque("", "FileWrapper__", _matrix(("cell", (len(items), 1), items)))
    # A struct of one field, which v5.write cannot write itself.
    parts = _element(6, np.array([2, 0], "<u4").tobytes())
    parts += _element(5, np.array([1, 1], "<i4").tobytes()) + _element(1, b"")
    parts += np.array([4 << 16 | 5, 5], "<u4").tobytes() + _element(1, b"MCOS\0") + wrapper
    inner = bytes([0, 1]) + b"IM" + bytes(4) + np.array([14, len(parts)], "<u4").tobytes() + parts
    inner = np.frombuffer(inner, np.uint8).reshape(1, -1)
    text = b"MATLAB 5.0 MAT-file, Platform: GLNXA64".ljust(116)
    head = text + np.array([128 + len(body)], "<u8").tobytes() + b"\x00\x01IM"
    path.write_bytes(head + body + _matrix(("array", inner)))


def write_v73(path, objects, variables):
    """Write the same as a file of version 7.3."""
    save_mat(path, {}, version="7.3")
    with h5py.File(path, "r+") as file:
        writer = v73._Writer(file, False)
        for name, (matlab_class, value) in variables.items():
            node = node_of(value) if isinstance(value, Link) else value
            item = writer.put(file, name, node)
            item.attrs["MATLAB_class"] = np.bytes_(matlab_class)
            item.attrs["MATLAB_object_decode"] = np.int32(3)
        items = objects.cell()
        group = file.create_group("#subsystem#")
        cell = writer.put_references(group, "MCOS", (len(items), 1), items)
        cell.attrs["MATLAB_class"] = np.bytes_("FileWrapper__")
        cell.attrs["MATLAB_object_decode"] = np.int32(3)


WRITERS = {"5": write_v5, "7.3": write_v73}


def sample():
    """Objects and variables of every class that is read, and of two that are not."""
    o = Objects()
    text = o.add("string", any=strings("one"))
    texts = o.add("string", any=strings("a", "é😀", None, "", shape=(2, 2)))
    t0 = 1.5e12  # 2017-07-14 02:40 UTC, in milliseconds
    time = o.add("datetime", data=np.array([[t0 + 0.5, np.nan]]), tz="", fmt="")
    zoned = o.add("datetime", data=np.array([[t0 + 0.001j]]), tz="Europe/Paris", fmt="")
    span = o.add("duration", millis=np.array([[1500.0], [0.25]]), fmt="s")
    kinds = o.add("categorical", categoryNames=["low", "high"], isOrdinal=True,
                  codes=np.array([[2, 0, 1]], np.uint8), isProtected=False)  # fmt: skip
    table = o.add(
        "table",
        data=[np.array([[1.0], [2.0]]), o.add("string", any=strings("x", "y", shape=(2, 1)))],
        ndims=2.0, nrows=2.0, rownames=["r1", "r2"], nvars=2.0, varnames=["A", "B"],
        props={"DimensionNames": ["Row", "Variables"], "versionSavedFrom": 4.0},
    )  # fmt: skip
    plain = o.add("table", data=[], ndims=2.0, nrows=0.0, rownames=[], nvars=0.0, varnames=[],
                  props={"DimensionNames": ["Row", "Variables"]})  # fmt: skip

    def timetable(times):
        return o.add("timetable", any={
            "data": [np.array([[1.0], [2.0], [3.0]])], "dimNames": ["Time", "Variables"],
            "varNames": ["v"], "numRows": 3.0, "numVars": 1.0, "rowTimes": times})  # fmt: skip

    listed = timetable(o.add("duration", millis=np.array([[0.0], [1.0], [5.0]]), fmt="s"))
    start = o.add("datetime", data=np.array([[t0]]), tz="", fmt="")
    month = o.add("calendarDuration", components={"months": 1.0, "days": 0.0, "millis": 0.0})
    seconds = o.add("duration", millis=2000.0, fmt="s")
    regular, monthly = (
        timetable({"origin": start, "specifiedAsRate": False, "stepSize": step,
                   "sampleRate": np.nan})
        for step in (seconds, month)
    )  # fmt: skip
    rate = timetable({"origin": o.add("duration", millis=0.0, fmt="s"), "specifiedAsRate": True,
                      "stepSize": 0.0, "sampleRate": 1000.0})  # fmt: skip
    own = o.add("pkg.Own", a=1.0)
    colours = {
        "EnumerationInstanceTag": np.uint32(REFERENCE),
        "ClassName": np.uint32(o.class_number("pkg.Colour")),
        "ValueNames": np.array([[o.name("red")], [o.name("blue")]], np.uint32),
        "Values": np.empty((0, 0)),
        "ValueIndices": np.array([[0, 1, 1]], np.uint32),
        "BuiltinClassName": np.uint32(0),
    }
    colour = {**colours, "ValueIndices": np.uint32(1)}
    variables = {
        "text": ("string", text), "texts": ("string", texts), "time": ("datetime", time),
        "zoned": ("datetime", zoned), "span": ("duration", span),
        "month": ("calendarDuration", month), "kinds": ("categorical", kinds),
        "table": ("table", table), "plain": ("table", plain), "listed": ("timetable", listed),
        "regular": ("timetable", regular), "rate": ("timetable", rate),
        "monthly": ("timetable", monthly), "own": ("pkg.Own", own),
        "colours": ("pkg.Colour", node_of(colours)), "colour": ("pkg.Colour", node_of(colour)),
    }  # fmt: skip
    return o, variables
