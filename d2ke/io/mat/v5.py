# SPDX-License-Identifier: BSD-3-Clause
"""MAT-files of version 5 (MATLAB 5 and 6) and 7 (the same, each variable compressed).

The bounds of elements are checked where they are read; numpy and zlib refuse the rest of what
does not fit, see `d2ke._base.damage.damage`.
"""

from __future__ import annotations

import math
import struct
import zlib
from collections.abc import Iterator
from io import BufferedIOBase
from typing import Any, BinaryIO

import numpy as np

from d2ke._base.damage import Damaged, damage
from d2ke.io.mat.mcos import REFERENCE
from d2ke.io.mat.values import CLASSES as CLASS_NAMES

_HEADER = 128
_INT8, _UINT16, _INT32, _UINT32, _MATRIX, _COMPRESSED = 1, 4, 5, 6, 14, 15
_UTF8, _UTF32 = 16, 18
_STORED = {
    1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8", 12: "i8", 13: "u8",
    16: "u1", 17: "u2", 18: "u4",
}  # fmt: skip
_CLASSES = {
    6: "f8", 7: "f4", 8: "i1", 9: "u1", 10: "i2", 11: "u2", 12: "i4", 13: "u4", 14: "i8", 15: "u8",
}  # fmt: skip
_CELL, _STRUCT, _OBJECT, _CHAR, _SPARSE = 1, 2, 3, 4, 5
_FUNCTION, _OPAQUE = 16, 17
_CODE_OF_CLASS = {np.dtype(code): number for number, code in _CLASSES.items()}
_CODE_OF_STORED = {np.dtype(code): number for number, code in _STORED.items() if number < 16}
_LOGICAL, _COMPLEX = 0x0200, 0x0800


# Reading.


def variables(file: BufferedIOBase, size: int) -> Iterator[tuple[str, tuple[Any, ...]]]:
    """Yield the name and entry of each variable; read headers only."""
    file.seek(0)
    head = file.read(_HEADER)
    order = "<" if head[126:] == b"IM" else ">"
    # Octave's char are bytes of UTF-8, which it writes as 16-bit units. MATLAB's are UTF-16.
    narrow = not any(writer in head[:116] for writer in (b"Platform:", b"written by d2ke"))
    at = _HEADER
    while at < size:
        file.seek(at)
        kind, nbytes = (int(x) for x in np.frombuffer(file.read(8), f"{order}u4"))
        if kind not in (_MATRIX, _COMPRESSED):
            raise Damaged(f"at byte {at}, where a variable begins, is an element of type {kind}")
        if at + 8 + nbytes > size:
            raise Damaged(
                f"the variable at byte {at} needs {nbytes} bytes, beyond the end at byte {size}"
            )
        entry = (order, at, nbytes, kind == _COMPRESSED, narrow)
        reader, end = _beginning(file, entry)
        name = reader.header(8, end)[3]
        if name:  # MATLAB keeps the properties of objects in a variable without a name
            yield name, entry
        at += 8 + nbytes


def described(file: BufferedIOBase, entry: tuple[Any, ...]) -> tuple[tuple[int, ...], str]:
    """Return shape and class of the variable of an entry of `variables`."""
    reader, end = _beginning(file, entry)
    flags, matlab_class, shape, _, at = reader.header(8, end)
    if matlab_class in (_OBJECT, _OPAQUE):
        system, at = ("", at) if matlab_class == _OBJECT else reader.string(at, end)
        name, at = reader.string(at, end)
        return shape if matlab_class == _OBJECT else reader.object_shape(system, at, end), name
    if flags & _LOGICAL:
        return shape, "logical"
    names = {_CELL: "cell", _STRUCT: "struct", _CHAR: "char", _SPARSE: "sparse",
             _FUNCTION: "function_handle"}  # fmt: skip
    if matlab_class in names:
        return shape, names[matlab_class]
    if matlab_class not in _CLASSES:
        raise Damaged(f"a matrix has the class {matlab_class}, which MATLAB does not have")
    return shape, CLASS_NAMES[np.dtype(_CLASSES[matlab_class]).name]


def _beginning(file: BufferedIOBase, entry: tuple[Any, ...]) -> tuple[_Reader, int]:
    """Return the first bytes of a variable, enough for its class, shape and name."""
    order, at, nbytes, compressed, _ = entry
    file.seek(at)
    head = file.read(min(8 + nbytes, 4096))
    if compressed:
        head = head[8:]
        head = zlib.decompressobj().decompress(head, 4096)
    return _Reader(np.frombuffer(head, dtype=np.uint8), order), len(head)


def read(file: BufferedIOBase, entry: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the node of the variable of an entry of `variables`."""
    order, at, nbytes, compressed, narrow = entry
    if compressed:
        file.seek(at + 8)
        buffer = _inflated(file, nbytes, order)
    else:
        file.seek(at)
        buffer = np.empty(8 + nbytes, dtype=np.uint8)
        file.readinto(buffer)
    return _Reader(buffer, order, narrow).matrix(0, len(buffer))[0]


def subsystem(file: BufferedIOBase, size: int) -> list[tuple[Any, ...]] | None:
    """Return the items of the cell that holds MATLAB's objects, see `d2ke.io.mat.mcos`."""
    file.seek(0)
    head = file.read(_HEADER)
    order = byte_order(file)
    at = int(np.frombuffer(head[116:124], f"{order}u8")[0])
    if not _HEADER <= at <= size - 8:
        return None
    file.seek(at)
    kind, nbytes = (int(x) for x in np.frombuffer(file.read(8), f"{order}u4"))
    kind, values = read(file, (order, at, nbytes, kind == _COMPRESSED, False))[:2]
    if kind != "array" or values.dtype != np.uint8:
        return None
    # A file within the file, whose header has 8 bytes.
    buffer = values.ravel(order="F").copy()
    order = "<" if buffer[2:4].tobytes() == b"IM" else ">"
    kind, *content = _Reader(buffer, order).matrix(8, len(buffer))[0]
    wrapper = content[1].get("MCOS", [()])[0] if kind == "struct" and content[0] == (1, 1) else ()
    if not wrapper or wrapper[0] != "object" or wrapper[2][0] != "cell":
        return None
    return wrapper[2][2]


def byte_order(file: BufferedIOBase) -> str:
    """Return "<" or ">"."""
    file.seek(126)
    return "<" if file.read(2) == b"IM" else ">"


def _inflated(file: BufferedIOBase, nbytes: int, order: str) -> np.ndarray:
    """Decompress one variable."""
    stream, content = zlib.decompressobj(), bytearray()
    step = 2**16  # bytes between two looks for Ctrl-C
    for done in range(0, nbytes, step):
        content += stream.decompress(file.read(min(step, nbytes - done)))
    buffer = np.frombuffer(content, dtype=np.uint8)
    size = buffer[4:8].view(f"{order}u4")
    if len(buffer) % 8 == 0 and len(buffer) == 4 + int(size[0]):
        # Octave counts 4 bytes too many of a char array of several rows and up to 4 characters.
        size -= 4
    if not stream.eof or len(buffer) != 8 + int(size[0]):
        raise Damaged("compressed data end too early")
    return buffer


class _Reader:
    """The elements of one variable, in memory."""

    def __init__(self, buffer: np.ndarray, order: str, narrow: bool = False):
        self.buffer = buffer
        self.narrow = narrow  # 16-bit units may be bytes of UTF-8
        self.order = order
        self.tag = struct.Struct(f"{order}II").unpack_from
        self.beginning = struct.Struct(f"{order}4I4I2I").unpack_from
        self.stored = {kind: np.dtype(order + code) for kind, code in _STORED.items()}

    def element(self, at: int, end: int) -> tuple[int, int, int, int]:
        """Return type, first byte and number of bytes of an element, and where the next begins."""
        if at + 8 > end:
            raise Damaged("an element is cut off")
        kind, size = self.tag(self.buffer, at)
        if kind >> 16:
            kind, size = kind & 0xFFFF, kind >> 16
            if size > 4:
                raise Damaged(f"a short element has {size} bytes")
            return kind, at + 4, size, at + 8
        if at + 8 + size > end:
            raise Damaged(f"an element of {size} bytes has only {end - at - 8}")
        after = at + 8 + size
        # Only a matrix is not padded to a multiple of 8 bytes; the last one may not be either.
        return kind, at + 8, size, min(end, after if kind == _MATRIX else after + -size % 8)

    def numbers(self, at: int, end: int) -> tuple[np.ndarray, int, int]:
        """Return the stored numbers of an element (a view), its type, and where the next begins."""
        kind, start, size, after = self.element(at, end)
        dtype = self.stored[kind]
        return np.frombuffer(self.buffer, dtype, size // dtype.itemsize, start), kind, after

    def header(self, at: int, end: int) -> tuple[int, int, tuple[int, ...], str, int]:
        """Return flags, class, shape and name of a matrix, and where its contents begin."""
        if at + 40 <= end:
            beginning = self.beginning(self.buffer, at)
            flags, rows, columns = beginning[2], *beginning[6:8]
            unnamed = (_UINT32, 8, _INT32, 8, _INT8, 0)  # tags of flags, of two axes and of no name
            usual = beginning[:2] + beginning[4:6] + beginning[8:] == unnamed
            if usual and flags & 0xFF != _OPAQUE and (rows | columns) >> 24 == 0:
                return flags, flags & 0xFF, (rows, columns), "", at + 40
        both, _, at = self.numbers(at, end)
        flags = int(both[0])
        shape: tuple[int, ...] = ()
        if flags & 0xFF != _OPAQUE:
            sizes, _, at = self.numbers(at, end)
            shape = tuple(int(n) for n in sizes)
            if len(shape) < 2 or min(shape) < 0:
                raise Damaged(f"a matrix has the shape {shape}")
        name, at = self.string(at, end)
        return flags, flags & 0xFF, shape, name, at

    def object_shape(self, system: str, at: int, end: int) -> tuple[int, ...]:
        """Return the shape of an object of MATLAB's, if its beginning has it."""
        try:
            with damage():
                _, at, _, _ = self.element(at, end)
                *_, at = self.header(at, end)
                kind, start, size, _ = self.element(at, end)
        except Damaged:
            return ()  # behind the first bytes, or an enumeration
        numbers = np.frombuffer(self.buffer, f"{self.order}u4", size // 4, start).tolist()
        if system != "MCOS" or kind != _UINT32 or numbers[:1] != [REFERENCE]:
            return ()
        n = numbers[1] if len(numbers) > 1 else 0
        return tuple(numbers[2 : 2 + n]) if 2 <= n <= len(numbers) - 2 else ()

    def string(self, at: int, end: int) -> tuple[str, int]:
        """Return a name."""
        _, start, size, after = self.element(at, end)
        return _decoded(self.buffer[start : start + size].tobytes()), after

    def matrix(self, at: int, end: int) -> tuple[tuple[Any, ...], int]:
        """Return the node of a matrix, and where the next element begins."""
        kind, at, size, after = self.element(at, end)
        end = at + size
        if kind != _MATRIX:
            raise Damaged(f"an element of type {kind} is in the place of a matrix")
        if size == 0:
            return ("array", np.empty((0, 0))), after
        flags, matlab_class, shape, _, at = self.header(at, end)
        if matlab_class in _CLASSES:
            return self.full(at, end, flags, shape), after
        if matlab_class == _CHAR:
            return ("char", self.text(at, end, shape)), after
        if matlab_class == _CELL:
            return self.cell(at, end, shape), after
        if matlab_class == _STRUCT:
            return self.struct(at, end, shape), after
        if matlab_class == _SPARSE:
            return self.sparse(at, end, flags, shape), after
        if matlab_class == _OBJECT:
            name, _ = self.string(at, end)
            return ("unreadable", name, "an object of a class"), after
        if matlab_class == _FUNCTION:
            return ("unreadable", "function_handle", "a function handle"), after
        if matlab_class == _OPAQUE:
            system, at = self.string(at, end)
            name, at = self.string(at, end)
            if system == "MCOS" and name != "function_handle":
                return ("object", name, self.matrix(at, end)[0]), after
            return ("unreadable", name, f"an object of MATLAB's own format {system}"), after
        raise Damaged(f"a matrix has the class {matlab_class}, which MATLAB does not have")

    def matrices(self, at: int, end: int, count: int) -> list[tuple[Any, ...]]:
        """Return the nodes of `count` matrices."""
        nodes: list[tuple[Any, ...]] = []
        for _ in range(count):
            node, at = self.matrix(at, end)
            nodes.append(node)
        return nodes

    def values(self, at: int, end: int, dtype: np.dtype) -> tuple[np.ndarray, int]:
        """Return numbers as the class's dtype; files keep integers in small types."""
        stored, _, after = self.numbers(at, end)
        if stored.dtype == dtype and stored.flags.aligned and stored.flags.writeable:
            return stored, after  # a view: the buffer has no other user
        with np.errstate(invalid="ignore", over="ignore"):
            return stored.astype(dtype), after

    def full(self, at: int, end: int, flags: int, shape: tuple[int, ...]) -> tuple[Any, ...]:
        dtype = np.dtype(_CLASSES[flags & 0xFF])
        values, at = self.values(at, end, dtype)
        if flags & _COMPLEX:
            values = complex_numbers(values, self.values(at, end, dtype)[0])
        elif flags & _LOGICAL:
            values = values != 0
        return "array", values.reshape(shape, order="F")

    def text(self, at: int, end: int, shape: tuple[int, ...]) -> np.ndarray:
        """UTF-16 units of a char array, however the file encodes them."""
        stored, kind, _ = self.numbers(at, end)
        count = math.prod(shape)
        # Old files declare blanks and do not store them.
        if len(stored) == 0 and 0 < count <= 2**16:
            return np.full(shape, ord(" "), dtype=np.uint16)
        if self.narrow and kind == _UINT16 and len(stored) == count and shape[0] == 1:
            stored = _utf8_as_utf16(stored)
            shape = (1, len(stored))
            count = len(stored)
        if kind in (_UTF8, _UTF32) and (stored > 127).any():
            # Text may end within a character; the rest of it is read.
            codec = "utf-8" if kind == _UTF8 else f"utf-32-{self.order}e".replace("<", "l")
            codec = codec.replace(">", "b")
            text = stored.tobytes().decode(codec, "replace")
            units = np.frombuffer(text.encode("utf-16-le", "surrogatepass"), "<u2")
            if len(units) != count == len(text) and shape[0] == 1:
                shape = (1, len(units))  # some writers count characters, not units
                count = len(units)
            stored = units
        if stored.dtype == np.int8:
            stored = stored.view(np.uint8)
        return stored.astype(np.uint16).reshape(shape, order="F")

    def cell(self, at: int, end: int, shape: tuple[int, ...]) -> tuple[Any, ...]:
        return "cell", shape, self.matrices(at, end, math.prod(shape))

    def struct(self, at: int, end: int, shape: tuple[int, ...]) -> tuple[Any, ...]:
        widths, _, at = self.numbers(at, end)
        _, start, size, at = self.element(at, end)
        width = max(1, *widths.tolist())
        raw = self.buffer[start : start + size].tobytes()
        names = _distinct([_decoded(raw[i : i + width]) for i in range(0, size, width)])
        values = self.matrices(at, end, math.prod(shape) * len(names))
        return "struct", shape, {name: values[i :: len(names)] for i, name in enumerate(names)}

    def sparse(self, at: int, end: int, flags: int, shape: tuple[int, ...]) -> tuple[Any, ...]:
        rows, _, at = self.numbers(at, end)
        starts, _, at = self.numbers(at, end)
        _, start, size, after = self.element(at, end)
        if flags & _LOGICAL and size == len(rows):
            # MATLAB stores bytes here, and calls them doubles.
            data = self.buffer[start : start + size]
        else:
            data, _, _ = self.numbers(at, end)
        at = after
        if flags & _COMPLEX:
            imaginary, _, at = self.numbers(at, end)
            data = complex_numbers(data.astype(np.float64), imaginary.astype(np.float64))
        data = data != 0 if flags & _LOGICAL else data.astype(np.result_type(data, np.float64))
        return "sparse", shape, data, rows, starts


def _utf8_as_utf16(units: np.ndarray) -> np.ndarray:
    """Return the UTF-16 of units that are bytes of UTF-8; other units as they are."""
    if len(units) == 0 or not 127 < units.max() < 256:
        return units
    try:
        text = units.astype(np.uint8).tobytes().decode("utf-8")
    except UnicodeDecodeError:
        return units
    return np.frombuffer(text.encode("utf-16-le"), "<u2")


def complex_numbers(real: np.ndarray, imaginary: np.ndarray) -> np.ndarray:
    """Return complex64 for singles, else complex128: numpy has no complex integers."""
    values = real.astype(np.complex64 if real.dtype == np.float32 else np.complex128)
    values.imag = imaginary
    if real.dtype.kind in "iu" and (
        (values.real.astype(real.dtype) != real).any()
        or (values.imag.astype(real.dtype) != imaginary).any()
    ):
        raise Damaged("complex 64-bit integers are too large for complex128")
    return values


def _decoded(raw: bytes) -> str:
    return raw.split(b"\0")[0].decode("utf-8")


def _distinct(names: list[str]) -> list[str]:
    """Make names distinct by numbers; some writers repeat them, which MATLAB cannot."""
    counts: dict[str, int] = {}
    result = []
    for name in names:
        repeated = counts.get(name, 0)
        counts[name] = repeated + 1
        result.append(f"_{repeated}_{name}" if repeated else name)
    return result


# Writing.


def write(file: BinaryIO, nodes: dict[str, tuple[Any, ...]], compress: bool) -> None:
    """Write variables, by name, as one MAT-file of version 5 (7 if compressed)."""
    for name, node in nodes.items():
        if (nbytes := _nbytes(node)) > 2**31 - 1:
            raise ValueError(
                f"data[{name!r}] takes {nbytes / 2**30:.1f} GB, but a variable of version 5 "
                'takes less than 2 GB; use version="7.3"'
            )
    text = b"MATLAB 5.0 MAT-file, written by d2ke"
    file.write(text.ljust(116) + bytes(8) + np.array([0x0100, 0x4D49], dtype="<u2").tobytes())
    for name, node in nodes.items():
        pieces = _matrix(node, name)
        if not compress:
            file.writelines(pieces)
            continue
        stream = zlib.compressobj(6)
        packed = [stream.compress(piece) for piece in pieces]
        packed.append(stream.flush())
        file.write(np.array([_COMPRESSED, sum(map(len, packed))], dtype="<u4").tobytes())
        file.writelines(packed)


def _nbytes(node: tuple[Any, ...]) -> int:
    """Return a lower bound of the bytes that a node takes in a file."""
    kind = node[0]
    if kind in ("array", "char"):
        return 56 + node[1].nbytes
    if kind == "sparse":
        return 56 + 4 * len(node[4]) + (4 + max(8, node[2].itemsize)) * len(node[2])
    items = node[2] if kind == "cell" else [x for column in node[2].values() for x in column]
    return 56 + sum(map(_nbytes, items))


def _element(kind: int, data: bytes) -> list[bytes]:
    size = len(data)
    if 0 < size <= 4:
        return [np.array([kind | size << 16], dtype="<u4").tobytes() + data.ljust(4, b"\0")]
    return [np.array([kind, size], dtype="<u4").tobytes(), data, bytes(-size % 8)]


def _numbers(array: np.ndarray) -> list[bytes]:
    kind = _CODE_OF_STORED[array.dtype]
    return _element(kind, array.astype(array.dtype.newbyteorder("<")).tobytes(order="F"))


def _parts(values: np.ndarray) -> list[bytes]:
    if values.dtype.kind == "c":
        return _numbers(values.real) + _numbers(values.imag)
    return _numbers(values)


def _matrix(node: tuple[Any, ...], name: str = "") -> list[bytes]:
    kind, shape = node[0], node[1]
    flags, extra, body = 0, 0, []
    if kind in ("array", "char"):
        values = node[1]
        shape = values.shape
        flags = _CHAR if kind == "char" else _class_flags(values.dtype)
        body = _parts(values.view(np.uint8) if values.dtype == bool else values)
    elif kind == "cell":
        flags = _CELL
        body = [piece for item in node[2] for piece in _matrix(item)]
    elif kind == "struct":
        flags = _STRUCT
        body = _fields(node[2])
    else:
        _, shape, data, rows, starts = node
        flags = _SPARSE | _class_flags(data.dtype) & ~0xFF
        extra = max(1, len(data))
        body = _numbers(rows.astype(np.int32)) + _numbers(starts.astype(np.int32))
        body += _parts(data.view(np.uint8) if data.dtype == bool else data)
    if max(shape) > np.iinfo(np.int32).max:
        raise ValueError(f'an array of shape {shape} does not fit version 5; use version="7.3"')
    head = _element(_UINT32, np.array([flags, extra], dtype="<u4").tobytes())
    head += _element(_INT32, np.array(shape, dtype="<i4").tobytes())
    head += _element(_INT8, name.encode("ascii"))
    pieces = head + body
    tag = np.array([_MATRIX, sum(map(len, pieces))], dtype="<u4").tobytes()
    return [tag, *pieces]


def _class_flags(dtype: np.dtype) -> int:
    if dtype.kind == "b":
        return _CODE_OF_CLASS[np.dtype(np.uint8)] | _LOGICAL
    if dtype.kind == "c":
        return _CODE_OF_CLASS[np.zeros(0, dtype).real.dtype] | _COMPLEX
    return _CODE_OF_CLASS[dtype]


def _fields(columns: dict[str, list[tuple[Any, ...]]]) -> list[bytes]:
    width = max((len(name) for name in columns), default=0) + 1
    names = b"".join(name.encode("ascii").ljust(width, b"\0") for name in columns)
    pieces = _element(_INT32, np.array([width], dtype="<i4").tobytes()) + _element(_INT8, names)
    for values in zip(*columns.values(), strict=True):
        for value in values:
            pieces += _matrix(value)
    return pieces
