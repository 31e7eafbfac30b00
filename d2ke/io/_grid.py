# SPDX-License-Identifier: BSD-3-Clause
"""The chunks of Z as bytes of a file, written without libhdf5."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from zlib import crc32

import numpy as np

_CHECKSUM = 4  # bytes that the filter fletcher32 appends to a chunk


@dataclass(frozen=True)
class Grid:
    """Where each chunk of Z is; a band is all chunks of the same rows.

    Attributes
    ----------
    shape, chunk : tuple of int
        Rows and columns of Z, and of a chunk.
    dtype : numpy.dtype
        Of Z.
    starts : ndarray of int64, shape (bands, chunks of a band)
        Where each chunk starts in the file.
    """

    shape: tuple[int, int]
    chunk: tuple[int, int]
    dtype: np.dtype
    starts: np.ndarray

    @property
    def chunk_bytes(self) -> int:
        """Bytes of a chunk in the file."""
        return stored_bytes(self.chunk, self.dtype)

    @property
    def n_bands(self) -> int:
        """Number of bands."""
        return len(self.starts)

    def rows(self, first: int, last: int) -> slice:
        """Return the rows of the bands from `first` to before `last`."""
        return slice(first * self.chunk[0], min(last * self.chunk[0], self.shape[0]))

    def bands(self, rows: slice) -> range:
        """Return the bands that the rows, which must be whole bands, fill."""
        first = rows.start // self.chunk[0]
        last = -(-rows.stop // self.chunk[0])
        if self.rows(first, last) != rows:
            raise ValueError(f"{rows} are not whole bands of {self.chunk[0]} rows")
        return range(first, last)

    def write(self, fd: int, rows: slice, Z: np.ndarray) -> Iterator[int]:
        """Write the rows, a chunk at each step; give the CRC-32 of all checksums so far."""
        height, width = self.chunk
        encoded = np.empty(self.chunk_bytes, dtype=np.uint8)
        body = encoded[:-_CHECKSUM].view(self.dtype).reshape(self.chunk)
        crc = 0
        for band in self.bands(rows):
            part = Z[band * height - rows.start :][:height]
            for j, start in enumerate(self.starts[band].tolist()):
                values = part[:, j * width : (j + 1) * width]
                body[: len(values), : values.shape[1]] = values
                # Of chunks at the edges, what lies beyond Z is 0, as HDF5 has it.
                body[len(values) :] = 0
                body[:, values.shape[1] :] = 0
                checksum = fletcher32(body)
                encoded[-_CHECKSUM:] = np.frombuffer(checksum, dtype=np.uint8)
                write_all(fd, encoded, start)
                crc = crc32(checksum, crc)
                yield crc

    def read(self, fd: int, rows: slice) -> np.ndarray:
        """Return any rows; nothing is checked."""
        height, width = self.chunk
        row_bytes = width * self.dtype.itemsize
        Z = np.empty((rows.stop - rows.start, self.shape[1]), self.dtype)
        for band in range(rows.start // height, -(-rows.stop // height)):
            first = max(rows.start, band * height)
            last = min(rows.stop, (band + 1) * height)
            part = Z[first - rows.start : last - rows.start]
            skipped = (first - band * height) * row_bytes
            for j, start in enumerate(self.starts[band].tolist()):
                values = part[:, j * width : (j + 1) * width]
                content = os.pread(fd, (last - first) * row_bytes, start + skipped)
                chunk = np.frombuffer(content, dtype=self.dtype).reshape(-1, width)
                values[:] = chunk[:, : values.shape[1]]
        return Z

    def read_crc(self, fd: int, rows: slice) -> int | None:
        """Return what the last step of `write` gave; None if a chunk has another checksum."""
        crc = 0
        for band in self.bands(rows):
            for start in self.starts[band].tolist():
                content = os.pread(fd, self.chunk_bytes, start)
                values = np.frombuffer(content[:-_CHECKSUM], dtype=self.dtype)
                if content[-_CHECKSUM:] != fletcher32(values.reshape(self.chunk)):
                    return None
                crc = crc32(content[-_CHECKSUM:], crc)
        return crc


def stored_bytes(chunk: tuple[int, int], dtype: np.dtype) -> int:
    """Return the bytes of a chunk in the file."""
    return chunk[0] * chunk[1] * dtype.itemsize + _CHECKSUM


def fletcher32(chunk: np.ndarray) -> bytes:
    """Return what HDF5's filter of that name appends to a chunk (rows, columns).

    With words w_0 ... w_(n-1) of 16 bits: sum w_i and sum (n - i) w_i modulo 65535. HDF5 takes the
    words as big-endian ones; turning the bytes of a word round multiplies it by 256 modulo 65535.
    """
    words = chunk.view("<u2")
    n, width = words.size, words.shape[1]
    # The sums over all words take their time, in 64 bits twice as much.
    wide = np.uint32 if max(words.shape) <= 1 << 16 else np.uint64
    by_row = words.sum(axis=1, dtype=wide).astype(np.uint64)
    by_column = words.sum(axis=0, dtype=wide).astype(np.uint64)
    before = width * np.arange(len(words), dtype=np.uint64)
    first = int(by_row.sum())
    second = int((by_row * (n - before)).sum())
    second -= int((by_column * np.arange(width, dtype=np.uint64)).sum())
    # Folding a sum never makes 0 of anything else.
    folded = [(256 * total - 1) % 65535 + 1 if total else 0 for total in (first, second)]
    return (folded[1] << 16 | folded[0]).to_bytes(_CHECKSUM, "little")


def write_all(fd: int, content: bytes | np.ndarray, place: int) -> None:
    """Write at a place of a file, however many calls the system wants for it."""
    view = memoryview(content)
    while view:
        done = os.pwrite(fd, view, place)
        view, place = view[done:], place + done
