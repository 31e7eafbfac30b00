# SPDX-License-Identifier: BSD-3-Clause
"""Segments of a store: a value of JSON and named arrays in one run of bytes.

A segment is a file of its own, or a record of a log:

    magic, size of all, size of the head, CRC-32 of the head, CRC-32 of these 28 bytes
    head: JSON of the value, and of name, dtype, shape, place and CRC-32 of each array
    the arrays, contiguous, each at a multiple of 64 bytes
    end mark

Places count from the first array. After a power failure the blocks of a file that were not written
may be zeros; the end mark has none.
"""

from __future__ import annotations

import json
import math
import mmap
import os
import struct
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from d2ke._base.damage import Damaged, damage
from d2ke._base.errors import ArgumentTypeError
from d2ke._base.files import atomic_write, open_file, reserve

_MAGIC = b"\x89d2ke\r\n\x1a"
_END = b"end d2ke"
LOG_FRONT = b"d2ke log"
_FRONT = struct.Struct("<8sQQII")
_ALIGNMENT = 64
_ZEROS = 8  # fewer at the end of a log are not what a power failure leaves
_STEP = 1 << 26  # bytes of an array between two chances for Ctrl-C


class SegmentContent(NamedTuple):
    """What a segment holds: `meta` is a value of JSON, `arrays` are of numbers, bool or str."""

    meta: Any
    arrays: Mapping[str, np.ndarray]


@dataclass(frozen=True, eq=False)
class StoredSegment:
    """A segment in a file; its arrays are read-only, and on the disk until they are used."""

    name: str
    meta: Any
    arrays: Mapping[str, np.ndarray]
    size: int
    crc: int  # of the head, and so of all arrays
    crcs: Mapping[str, int]

    def verify(self) -> None:
        """Read all arrays; raise Damaged for one whose bytes are not what was written."""
        for name, array in self.arrays.items():
            if _crc(array) != self.crcs[name]:
                raise Damaged(f"array {name}: its CRC-32 is not what was written")


def encode(content: SegmentContent | StoredSegment) -> tuple[list[bytes | np.ndarray], int]:
    """Return the bytes of a segment in parts, and the CRC-32 of its head."""
    place, listed = 0, []
    parts: list[bytes | np.ndarray] = []
    for name, given in content.arrays.items():
        array = _little_endian(name, given)
        listed.append([name, array.dtype.str, list(array.shape), place, _crc(array)])
        padding = -array.nbytes % _ALIGNMENT
        parts += [_bytes(array), bytes(padding)]
        place += array.nbytes + padding
    head = json.dumps({"meta": content.meta, "arrays": listed}).encode()
    crc, start = zlib.crc32(head), _aligned(_FRONT.size + len(head))
    front = _FRONT.pack(_MAGIC, start + place + len(_END), len(head), crc, 0)[:-4]
    front += zlib.crc32(front).to_bytes(4, "little") + head
    return [front.ljust(start, b"\0"), *parts, _END], crc


def decode(content: bytes | mmap.mmap, start: int, name: str) -> StoredSegment:
    """Return the segment at a place; its arrays are views of `content`, and are not verified."""
    size, n_head, crc = _sizes(content[start : start + _FRONT.size])
    end, head_start = start + size, start + _FRONT.size
    head = content[head_start : head_start + n_head]
    if zlib.crc32(head) != crc or content[end - len(_END) : end] != _END:
        raise Damaged("its head or its end is not what was written")
    values = json.loads(head)
    base = start + _aligned(_FRONT.size + n_head)
    arrays, crcs = {}, {}
    for key, dtype, shape, place, crcs[key] in values["arrays"]:
        arrays[key] = _array(content, dtype, shape, base + place)
    return StoredSegment(
        name, values["meta"], MappingProxyType(arrays), size, crc, MappingProxyType(crcs)
    )


def copied(segment: StoredSegment) -> SegmentContent:
    """Return the content of a segment, verified, apart from the bytes that it was read from."""
    segment.verify()
    arrays = {name: array.copy() for name, array in segment.arrays.items()}
    for array in arrays.values():
        array.flags.writeable = False
    return SegmentContent(segment.meta, MappingProxyType(arrays))


def write_segment(path: Path, content: SegmentContent | StoredSegment) -> tuple[str, int, int]:
    """Write a segment's file whole or not at all; return its name, size, and CRC-32 of the head."""
    parts, crc = encode(content)
    size = sum(map(len, parts))
    with atomic_write(path) as stream:
        reserve(stream.fileno(), size, path)
        for part in parts:
            stream.write(part)
    return path.name, size, crc


def open_segment(path: Path, size: int, crc: int) -> StoredSegment:
    """Map a segment's file into memory; only its head is read."""
    with open_file(path) as stream:
        found = os.fstat(stream.fileno()).st_size
        if found != size:
            raise Damaged(f"it has {found} bytes, and {size} were written")
        content = mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ)
    segment = decode(content, 0, path.name)
    if (segment.size, segment.crc) != (size, crc):
        raise Damaged("it is not the file that was written")
    return segment


def read_log(path: Path, start: int, number: int) -> tuple[list[SegmentContent], int]:
    """Return the complete records from a place on, and where they end."""
    with open_file(path) as stream:
        stream.seek(start)
        content = stream.read()
        while True:
            try:
                return _records(content, start, number)
            except Damaged:
                # A writer may overwrite an incomplete record in the meantime.
                stream.seek(start)
                before, content = content, stream.read()
                if content == before:
                    raise


def _records(content: bytes, start: int, number: int) -> tuple[list[SegmentContent], int]:
    """Return the complete records in the part of a log that begins at `start`."""
    place = 0
    if start == 0:
        place = len(LOG_FRONT)
        if not content.startswith(LOG_FRONT):
            raise Damaged("its front is not what was written")
    written = content.rstrip(b"\0")
    if len(content) - len(written) >= _ZEROS:
        content = written
    records: list[SegmentContent] = []
    while place < len(content):
        try:
            with damage():
                end = _segment_end(content, place)
                if end is None:
                    break
                records.append(copied(decode(content, place, "")))
        except Damaged as error:
            raise Damaged(f"record {number + len(records)}: {error}") from error
        place = end
    return records, start + place


def _segment_end(content: bytes, start: int) -> int | None:
    """Return where a segment ends among bytes that may end before it does: None then."""
    front = content[start : start + _FRONT.size]
    if len(front) < _FRONT.size:
        if not _MAGIC.startswith(front[: len(_MAGIC)]):
            raise Damaged("its front is not what was written")
        return None
    end = start + _sizes(front)[0]
    return end if end <= len(content) else None


def _sizes(front: bytes) -> tuple[int, int, int]:
    """Return the size of a segment and of its head, and the head's CRC-32."""
    if len(front) < _FRONT.size:
        raise Damaged(f"it ends within its first {_FRONT.size} bytes")
    magic, size, n_head, crc, check = _FRONT.unpack(front)
    if magic != _MAGIC or zlib.crc32(front[:-4]) != check:
        raise Damaged("its front is not what was written")
    return size, n_head, crc


def _array(content: bytes | mmap.mmap, name: str, shape: list[int], place: int) -> np.ndarray:
    """Return a read-only array whose values are among the bytes of a file."""
    dtype = np.dtype(name)
    if dtype.kind not in "biufU" or min(shape, default=0) < 0:
        raise Damaged(f"it has an array of {dtype} and shape {shape}")
    count = math.prod(shape)
    if count * dtype.itemsize == 0:  # frombuffer refuses these
        array = np.zeros(shape, dtype)
        array.flags.writeable = False
        return array
    return np.frombuffer(content, dtype, count, place).reshape(shape)


def _little_endian(name: str, array: Any) -> np.ndarray:
    """Return an array as it is written; refuse types whose bytes are not the values."""
    if type(array) is not np.ndarray:
        raise ArgumentTypeError(
            "arrays", f"must be ndarrays, but {name!r} is of type {type(array).__name__}"
        )
    dtype = array.dtype
    if dtype.kind not in "biufU" or (dtype.kind != "U" and dtype.itemsize > 8):
        raise ArgumentTypeError(
            "arrays",
            f"must hold bool, integers, floats of at most 64 bits or str, but {name!r} "
            f"holds {dtype}",
        )
    return np.asarray(array, dtype.newbyteorder("<"), order="C")


def _aligned(size: int) -> int:
    return -(-size // _ALIGNMENT) * _ALIGNMENT


def _bytes(array: np.ndarray) -> np.ndarray:
    """Return a view of the bytes of a contiguous array."""
    return array.reshape(-1).view(np.uint8) if array.nbytes else np.empty(0, np.uint8)


def _crc(array: np.ndarray) -> int:
    values, crc = _bytes(array), 0
    for start in range(0, len(values), _STEP):
        crc = zlib.crc32(values[start : start + _STEP], crc)
    return crc
