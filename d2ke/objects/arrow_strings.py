# SPDX-License-Identifier: BSD-3-Clause
"""Strings of Arrow columns packed from their buffers: no Python object for a row."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from d2ke._base.errors import ArgumentError
from d2ke.objects.arrow_columns import pieces
from d2ke.objects.packed import Packed, code_dtype, offsets_of

_BYTES = 1 << 18  # of strings that are decoded in one go
_CODE_POINTS = 0x110000


def read_text(column: Any, letters: str, name: str) -> Packed:
    """Pack a column of UTF-8 (letters "str") or binary strings ("bytes").

    Reads the column twice: for the lengths and the alphabet, and for the indices into it.
    """
    lengths = np.empty(len(column), dtype=np.int64)
    occurs = np.zeros(256 if letters == "bytes" else _CODE_POINTS, dtype=bool)
    counted = b""
    for row, ends, symbols in _runs(column, letters, name):
        lengths[row : row + len(ends) - 1] = np.diff(ends)
        if symbols.dtype == np.uint8:
            new = bytes(set(symbols.tobytes().translate(None, counted)))
            counted += new
            occurs[list(new)] = True
        else:
            occurs[symbols] = True
    alphabet = np.flatnonzero(occurs)
    index = np.zeros(len(occurs), dtype=code_dtype(len(alphabet)))
    index[alphabet] = np.arange(len(alphabet))
    table = index[:256].tobytes() if index.dtype == np.uint8 else None
    offsets = offsets_of(lengths)
    codes = np.empty(offsets[-1], dtype=index.dtype)
    for row, ends, symbols in _runs(column, letters, name):
        run = codes[offsets[row] : offsets[row + len(ends) - 1]]
        if symbols.dtype == np.uint8 and table is not None:
            run[:] = np.frombuffer(symbols.tobytes().translate(table), np.uint8)
        else:
            np.take(index, symbols, out=run)
    return Packed("strings", codes, offsets, alphabet, letters)


def _runs(column: Any, letters: str, name: str) -> Iterator[tuple[int, NDArray[Any], NDArray[Any]]]:
    """Yield for runs of rows the first's number, where they begin and end, and their symbols.

    Symbols are uint8 where all are less than 256, else uint32.
    """
    for first, array in pieces(column, name):
        ends, data = byte_buffers(array)
        low = 0
        while low < len(array):
            high = int(np.searchsorted(ends, ends[low] + _BYTES, side="right")) - 1
            high = min(max(high, low + 1), len(array))
            text = data[ends[low] : ends[high]]
            places = ends[low : high + 1] - ends[low]
            if letters == "bytes" or not len(text) or text.max() < 128:
                yield first + low, places, text
            else:
                yield first + low, *_decoded(text, places, first + low, name)
            low = high


def byte_buffers(array: Any) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return where the strings of an array begin and end, and the bytes, without a copy."""
    _, ends, data = array.buffers()
    dtype = np.int64 if str(array.type).startswith("large_") else np.int32
    ends = np.frombuffer(ends, dtype)[array.offset : array.offset + len(array) + 1]
    return ends, np.frombuffer(b"" if data is None else data, np.uint8)


def _decoded(
    data: NDArray[Any], ends: NDArray[Any], row: int, name: str
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return where strings of UTF-8 begin and end in their code points, and these."""
    begins = (data & 0xC0) != 0x80
    try:
        text = data.tobytes().decode("utf-8")
        # A letter that begins in one string and ends in the next is wrong in both.
        split = np.flatnonzero(~begins[ends[:-1][np.diff(ends) > 0]])
        wrong = ends[:-1][np.diff(ends) > 0][split[0]] if split.size else None
    except UnicodeDecodeError as error:
        wrong = error.start
    if wrong is not None:
        i = row + int(np.searchsorted(ends, wrong, side="right")) - 1
        raise ArgumentError(name, "is not valid UTF-8 text", i)
    before = np.zeros(len(data) + 1, dtype=np.int64)
    np.cumsum(begins, out=before[1:])
    try:
        return before[ends], np.frombuffer(text.encode("latin-1"), np.uint8)
    except UnicodeEncodeError:
        return before[ends], np.frombuffer(text.encode("utf-32-le"), "<u4")
