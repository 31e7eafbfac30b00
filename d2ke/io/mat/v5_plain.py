# SPDX-License-Identifier: BSD-3-Clause
"""A fast path for most items of cells of version 5: real matrices of two axes without a name.

A cell has thousands of them, or of cells of them; each is recognised by its first bytes. Any other
form is left to `d2ke.io.mat.v5`, which reads all forms and names what is wrong.
"""

from __future__ import annotations

import struct
from typing import Any

import numpy as np

MATRIX = 14
CELL, CHAR, LOGICAL = 1, 4, 0x0209  # classes, and the flag of logicals with their class
UINT8, UINT16, UTF8 = 2, 4, 16  # stored types of text
STORED = {
    1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8", 12: "i8", 13: "u8",
    16: "u1", 17: "u2", 18: "u4",
}  # fmt: skip
CLASSES = {
    6: "f8", 7: "f4", 8: "i1", 9: "u1", 10: "i2", 11: "u2", 12: "i4", 13: "u4", 14: "i8", 15: "u8",
}  # fmt: skip

# Tag; flags behind their tag, and a word that only sparse matrices use; rows and columns behind
# their tag; the tag of no name; the tag of the numbers. Three tags are compared as one number.
_BEGINNING = struct.Struct("=IIQIIQIIQII")
_FLAGS_TAG, _SIZES_TAG, _NO_NAME = (
    struct.unpack("=Q", struct.pack("=II", *tag))[0] for tag in ((6, 8), (5, 8), (1, 0))
)


def _lossless() -> dict[tuple[int, int], tuple[np.dtype, int, np.dtype | None]]:
    """Return the stored dtype, its size and the dtype of the class, by class and stored type.

    Only for types whose numbers all fit the class.
    """
    byte = np.dtype("u1")
    table = {(LOGICAL, UINT8): (byte, 1, np.dtype(bool))}
    for matlab_class, code in CLASSES.items():
        for kind, kept in STORED.items():
            dtype, stored = np.dtype(code), np.dtype(kept)
            if np.can_cast(stored, dtype):
                table[matlab_class, kind] = stored, stored.itemsize, dtype
    return table


_LOSSLESS = _lossless()


def plain_matrices(
    buffer: np.ndarray,
    address: int | None,
    at: int,
    end: int,
    count: int,
    narrow: bool,
    levels: int,
) -> tuple[list[tuple[Any, ...]], int]:
    """Return the nodes of up to `count` matrices from `at` on, and where the next one begins.

    It stops before the first that is of another form. The bytes are in the order of the
    processor; `narrow` as in `v5`. Numbers stored in the dtype of their class are views, if
    `address`, that of a buffer that is writeable, is given. Cells may be `levels` deep.
    """
    nodes: list[tuple[Any, ...]] = []
    begin, lossless = _BEGINNING.unpack_from, _LOSSLESS.get
    last = end - _BEGINNING.size
    while len(nodes) < count and at <= last:
        (kind, size, flags_tag, flags, _, sizes_tag, rows, columns, no_name, stored, nbytes) = (
            begin(buffer, at)
        )
        after = at + 8 + size
        if (
            kind != MATRIX
            or flags_tag != _FLAGS_TAG
            or sizes_tag != _SIZES_TAG
            or no_name != _NO_NAME
            or after > end
        ):
            break
        start = at + 56
        if flags == CELL:
            n = rows * columns
            if not levels or not 0 < n <= (after - at) // 8:
                break
            items, _ = plain_matrices(buffer, address, at + 48, after, n, narrow, levels - 1)
            if len(items) < n:
                break
            nodes.append(("cell", (rows, columns), items))
            at = after
            continue
        if stored > 0xFFFF:  # up to 4 bytes, within the tag
            start, nbytes, stored = at + 52, stored >> 16, stored & 0xFFFF
            if nbytes > 4:
                break
        if nbytes > after - start or (not nbytes and (rows | columns) >> 31):
            break
        form = lossless((flags, stored))
        if form is not None:
            kept, itemsize, dtype = form
            if rows * columns * itemsize != nbytes:
                break
            values = np.ndarray((rows, columns), kept, buffer, start, None, "F")
            if kept is not dtype or address is None or (address + start) % itemsize:
                values = values.astype(dtype)
            nodes.append(("array", values))
        elif flags == CHAR and rows == 1 and stored == UINT16 and not narrow:
            if columns * 2 != nbytes:
                break
            units = np.ndarray((1, columns), np.uint16, buffer, start)
            nodes.append(("char", units.copy() if start % 2 else units))
        elif flags == CHAR and rows == 1 and stored in (UINT8, UTF8):
            raw = buffer[start : start + nbytes]
            if columns != nbytes or (stored == UTF8 and not raw.tobytes().isascii()):
                break
            nodes.append(("char", raw.astype(np.uint16)[np.newaxis]))
        else:
            break
        at = after
    return nodes, at
