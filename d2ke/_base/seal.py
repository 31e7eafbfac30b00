# SPDX-License-Identifier: BSD-3-Clause
"""The user block of HDF5 files, the 512 bytes before the content, with a CRC-32 of all bytes.

It holds one line of text twice: the kind of the file, the number of rows that are written, the
number of pieces, and the CRC-32. Pieces are ranges of bytes that HDF5 itself checks, chunks with
the filter fletcher32; the end of the file lists them. The CRC-32 covers everything else: the
content without the pieces, their list, and the line before the field itself.
"""

from __future__ import annotations

import re
import zlib
from typing import BinaryIO, NamedTuple

import numpy as np

from d2ke._base.damage import Damaged

SIZE = 512
SIGNATURE = b"\x89HDF\r\n\x1a\n"
_STEP = 1 << 20


class Seal(NamedTuple):
    """The content of a user block: rows that are written, pieces, and the CRC-32 of the content."""

    rows: int
    pieces: np.ndarray
    content: int

    def block(self, kind: str, rows: int) -> bytes:
        """Return the user block of a file with the same content and this number of rows."""
        return _block(f"d2ke {kind}; rows {rows}; pieces {len(self.pieces)}; CRC-32 ", self.content)


def _block(line: str, content: int) -> bytes:
    """Return the line with its CRC-32, twice."""
    crc = zlib.crc32(line.encode(), content)
    return f"{line}{crc:08x}\n".encode().ljust(SIZE // 2, b"\0") * 2


def is_sealed(front: bytes, kind: str) -> bool:
    """Return whether a file begins as one of this kind, even if one of the two lines is damaged."""
    mark = f"d2ke {kind};".encode()
    return front.startswith(mark) or front.startswith(mark, SIZE // 2)


def make_seal(stream: BinaryIO, pieces: np.ndarray) -> Seal:
    """Return the seal of a file with its pieces, whose list is at the end."""
    return Seal(0, pieces, _content_crc(stream, pieces))


def user_block(content: bytes | memoryview, kind: str) -> bytes:
    """Return the user block of a file without pieces."""
    return Seal(0, np.empty((0, 2)), zlib.crc32(memoryview(content)[SIZE:])).block(kind, 0)


def check_seal(stream: BinaryIO, kind: str) -> Seal:
    """Check all bytes of a file but its pieces.

    Raises
    ------
    Damaged
        If any byte differs from what was written.
    """
    size = stream.seek(0, 2)
    stream.seek(0)
    front = stream.read(SIZE)
    line = rb"(d2ke [a-z]+; rows (\d+); pieces (\d+); CRC-32 )[0-9a-f]{8}\n\0*"
    match = re.fullmatch(line, front[: SIZE // 2])
    if match is None or not is_sealed(front, kind):
        raise Damaged("its first 512 bytes are not what was written")
    rows, count = int(match[2]), int(match[3])
    if 16 * count > size - SIZE:
        raise Damaged(f"it ends after {size} bytes")
    stream.seek(size - 16 * count)
    pieces = np.frombuffer(stream.read(16 * count), "<i8").reshape(-1, 2)
    bounds = np.concatenate([[SIZE], pieces.ravel(), [size - 16 * count]])
    if (bounds[1:] < bounds[:-1]).any():
        raise Damaged("the list of its pieces is not what was written")
    seal = Seal(rows, pieces, _content_crc(stream, pieces))
    if front != _block(match[1].decode(), seal.content):
        raise Damaged(f"the CRC-32 of its {size} bytes is not what was written")
    return seal


def _content_crc(stream: BinaryIO, pieces: np.ndarray) -> int:
    """Return the CRC-32 of all bytes after the user block that are in none of the pieces."""
    size, position, crc = stream.seek(0, 2), SIZE, 0
    for start, stop in [*pieces.tolist(), (size, size)]:
        stream.seek(position)
        while position < start:
            chunk = stream.read(min(start - position, _STEP))
            if not chunk:
                raise Damaged(f"it ends after {position} bytes")
            crc, position = zlib.crc32(chunk, crc), position + len(chunk)
        position = stop
    return crc
