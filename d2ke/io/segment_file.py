# SPDX-License-Identifier: BSD-3-Clause
"""Segments of a store: a JSON value and named arrays in one run of bytes.

A segment is a file of its own, or a record of a log:

    magic, size of the head, size of the remainder, CRC-32 of the head and of these 28 bytes
    head: JSON of the value, and of name, dtype, shape, offset and CRC-32 of each array; spaces
    the arrays, contiguous, each at a multiple of 64 bytes
    end mark

Offsets count from the first array. After a power failure the blocks of a log that were not written
may be zeros; the end mark has none.
"""

from __future__ import annotations

import json
import math
import mmap
import struct
import uuid
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from io import FileIO
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from d2ke._base.damage import Damaged
from d2ke._base.errors import ArgumentTypeError
from d2ke._base.files import atomic_write, open_file

_MAGIC = b"\x89d2ke\r\n\x1a"
_END = b"end d2ke"
_FRONT = struct.Struct("<8sQQII")
_ALIGNMENT = 64
_STEP = 1 << 26  # bytes of an array between two chances for Ctrl-C


class SegmentContent(NamedTuple):
    """Content of a segment: `meta` is a value of JSON, `arrays` are of numbers, bool or str."""

    meta: Any
    arrays: Mapping[str, np.ndarray]


@dataclass(frozen=True, eq=False)
class StoredSegment:
    """A segment as it was read; the arrays of a file are on the disk until they are used."""

    name: str
    meta: Any
    arrays: Mapping[str, np.ndarray]
    crcs: Mapping[str, int]

    def verify(self) -> None:
        """Read all arrays; raise Damaged for one whose bytes have changed."""
        for name, array in self.arrays.items():
            if _crc(array) != self.crcs[name]:
                raise Damaged(f"array {name}: its CRC-32 is not what was written")


def encode(content: SegmentContent) -> list[bytes | np.ndarray]:
    """Return the bytes of a segment, in chunks."""
    offset, listed = 0, []
    chunks: list[bytes | np.ndarray] = []
    for name, value in content.arrays.items():
        if value.dtype.kind not in "biufU":  # bytes of others are not their values
            problem = f"must hold bool, real numbers or str, but {name!r} holds {value.dtype}"
            raise ArgumentTypeError("arrays", problem)
        array = np.asarray(value, value.dtype.newbyteorder("<"), order="C")
        listed.append([name, array.dtype.str, array.shape, offset, _crc(array)])
        padding = -array.nbytes % _ALIGNMENT
        chunks += [_bytes(array), bytes(padding)]
        offset += array.nbytes + padding
    head = json.dumps({"meta": content.meta, "arrays": listed}).encode()
    head += b" " * (-(_FRONT.size + len(head)) % _ALIGNMENT)
    front = _FRONT.pack(_MAGIC, len(head), offset + len(_END), zlib.crc32(head), 0)[:-4]
    return [front + zlib.crc32(front).to_bytes(4, "little"), head, *chunks, _END]


def decode(
    content: bytes | mmap.mmap, start: int, name: str = ""
) -> tuple[StoredSegment | None, int]:
    """Return the segment at a offset, not verified, and where it ends.

    Its arrays are views of `content`. If `content` ends within the segment, it is None.
    """
    front = content[start : start + _FRONT.size]
    if len(front) < _FRONT.size and _MAGIC.startswith(front[: len(_MAGIC)]):
        return None, start
    _, n_head, n_rest, crc, front_crc = _FRONT.unpack(front.ljust(_FRONT.size))
    if zlib.crc32(front[:-4]) != front_crc:
        raise Damaged("its front is not what was written")
    first = start + _FRONT.size + n_head
    if first + n_rest > len(content):
        return None, start
    head = content[first - n_head : first]
    if zlib.crc32(head) != crc:
        raise Damaged("its head is not what was written")
    values, arrays, crcs = json.loads(head), {}, {}
    for key, dtype, shape, offset, crcs[key] in values["arrays"]:
        count = math.prod(shape)  # frombuffer refuses 0, and dtypes that hold pointers
        flat = np.frombuffer(content, dtype, count, first + offset) if count else np.empty(0, dtype)
        arrays[key] = flat.reshape(shape)
    return StoredSegment(name, values["meta"], arrays, crcs), first + n_rest


def write_segment(folder: Path, content: SegmentContent) -> str:
    """Write a segment's file, whole or not at all; return its name, which was never used."""
    path = folder / f"{uuid.uuid4().hex}.segment"
    with atomic_write(path) as stream:
        stream.writelines(encode(content))
    return path.name


def open_segment(path: Path, verify: bool) -> StoredSegment:
    """Map a segment's file into memory; only `verify` reads more than its head."""
    with open_file(path) as stream:
        content = mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ)
    segment, end = decode(content, 0, path.name)
    if segment is None or end != len(content):
        raise Damaged(f"it has {len(content)} bytes, which is not what was written")
    if verify:
        segment.verify()
    return segment


def read_log(stream: FileIO, start: int) -> tuple[list[SegmentContent], int]:
    """Return the complete records of a log from a offset on, and where they end."""
    stream.seek(start)
    content = stream.read()
    if content.endswith(bytes(len(_END))):
        content = content.rstrip(b"\0")
    records, offset = [], 0
    while offset < len(content):
        segment, end = decode(content, offset)
        if segment is None:
            break
        segment.verify()
        records.append(SegmentContent(segment.meta, segment.arrays))
        offset = end
    return records, start + offset


def _bytes(array: np.ndarray) -> np.ndarray:
    """Return a view of the bytes of a contiguous array."""
    return np.ndarray(array.nbytes, np.uint8, array)


def _crc(array: np.ndarray) -> int:
    values, crc = _bytes(array), 0
    for start in range(0, len(values), _STEP):
        crc = zlib.crc32(values[start : start + _STEP], crc)
    return crc
