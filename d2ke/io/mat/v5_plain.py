# SPDX-License-Identifier: BSD-3-Clause
"""A fast path for most items of cells of version 5: real matrices of two axes without a name.

Each is recognised by its first bytes. Any other form is left to `d2ke.io.mat.v5`.
"""

from __future__ import annotations

import struct
from typing import Any

import numpy as np

MATRIX = 14
CHAR, LOGICAL = 4, 0x0209  # a class, and the flag of logicals with their class
UINT8, UINT16 = 2, 4  # stored types
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
_TAGS = struct.unpack("=QQQ", struct.pack("=6I", 6, 8, 5, 8, 1, 0))


def _lossless() -> dict[tuple[int, int], tuple[np.dtype[Any], int, np.dtype[Any]]]:
    """Return the stored dtype, its size and the dtype of the class, by class and stored type.

    Only for types whose numbers all fit the class.
    """
    table: dict[tuple[int, int], tuple[np.dtype[Any], int, np.dtype[Any]]] = {
        (LOGICAL, UINT8): (np.dtype("u1"), 1, np.dtype(bool))
    }
    for matlab_class, code in CLASSES.items():
        for kind, kept in STORED.items():
            dtype, stored = np.dtype(code), np.dtype(kept)
            if np.can_cast(stored, dtype):
                table[matlab_class, kind] = stored, stored.itemsize, dtype
    return table


_LOSSLESS = _lossless()


def plain_matrix(
    buffer: np.ndarray, address: int | None, at: int, end: int, narrow: bool
) -> tuple[tuple[Any, ...], int] | None:
    """Return the node of the matrix at `at` and where the next one begins; None for other forms.

    The bytes are in the order of the processor; `narrow` as in `v5`. Numbers stored in the dtype
    of their class are views, if `address`, that of a buffer that is writeable, is given.
    """
    if at > end - _BEGINNING.size:
        return None
    (kind, size, flags_tag, flags, _, sizes_tag, rows, columns, no_name, stored, nbytes) = (
        _BEGINNING.unpack_from(buffer, at)
    )
    tags = flags_tag, sizes_tag, no_name
    after, start = at + 8 + size, at + 56
    if kind != MATRIX or tags != _TAGS or after > end:
        return None
    if stored > 0xFFFF:  # up to 4 bytes, within the tag
        start, nbytes, stored = at + 52, stored >> 16, stored & 0xFFFF
    if nbytes > after - start or (not nbytes and (rows | columns) >> 31):
        return None
    form = _LOSSLESS.get((flags, stored))
    if form is not None and rows * columns * form[1] == nbytes:
        kept, itemsize, dtype = form
        values = np.ndarray((rows, columns), kept, buffer, start, None, "F")
        if kept is not dtype or address is None or (address + start) % itemsize:
            values = values.astype(dtype)
        return ("array", values), after
    if flags == CHAR and rows == 1 and stored == UINT16 and not narrow and columns * 2 == nbytes:
        units = np.ndarray((1, columns), np.uint16, buffer, start)
        return ("char", units.copy() if start % 2 else units), after
    return None
