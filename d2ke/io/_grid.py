# SPDX-License-Identifier: BSD-3-Clause
"""The chunks of Z as bytes of a file, written without libhdf5."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator
from dataclasses import dataclass
from zlib import crc32

import numpy as np

from d2ke._ext import checksum
from d2ke.io._direct import PIECE_BYTES, DirectWriter

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

    def write(self, out: DirectWriter, rows: slice, Z: np.ndarray) -> Iterator[int]:
        """Write the rows, a few chunks at each step; give the CRC-32 of all checksums so far."""
        height, width = self.chunk[0], self.chunk[1] * self.dtype.itemsize
        content = Z.view(np.uint8)
        crc = 0
        out.forget()
        for band in self.bands(rows):
            part = content[band * height - rows.start :][:height]
            for first, last in self._runs(band):
                chunks = out.room(int(self.starts[band, first]), (last - first) * self.chunk_bytes)
                chunks = chunks.reshape(last - first, -1)
                checksum.encode(part[:, first * width : last * width], chunks, height)
                crc = crc32(chunks[:, -_CHECKSUM:].tobytes(), crc)
                yield crc
        out.flush()

    def _runs(self, band: int) -> list[tuple[int, int]]:
        """Return from which to before which chunk of a band some lie end to end."""
        starts = self.starts[band]
        gaps = np.flatnonzero(np.diff(starts) != self.chunk_bytes) + 1
        full = range(0, len(starts), max(1, PIECE_BYTES // self.chunk_bytes))
        return list(itertools.pairwise(sorted({*full, *gaps.tolist(), len(starts)})))

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
                content = memoryview(os.pread(fd, self.chunk_bytes, start))
                if content[-_CHECKSUM:] != checksum.fletcher32(content[:-_CHECKSUM]):
                    return None
                crc = crc32(content[-_CHECKSUM:], crc)
        return crc


def stored_bytes(chunk: tuple[int, int], dtype: np.dtype) -> int:
    """Return the bytes of a chunk in the file."""
    return chunk[0] * chunk[1] * dtype.itemsize + _CHECKSUM
