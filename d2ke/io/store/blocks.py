# SPDX-License-Identifier: BSD-3-Clause
"""The rows of Z in a file: end to end, in blocks of rows, with a table of checksums.

A block is some rows, and a tile some columns of a block. The table has a number for each tile:
2**32 plus the CRC-32 of its values, or 0 while they are not on the disk.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from zlib import crc32

import numpy as np

from d2ke._base.files import write_all

TABLE = np.dtype(np.uint64)
_WRITTEN = 1 << 32


@dataclass(frozen=True)
class Blocks:
    """Where Z and the table are in a file.

    Attributes
    ----------
    shape, tile : tuple of int
        Rows and columns of Z, and of a tile.
    dtype : numpy.dtype
        Of Z.
    start, table_start : int
        Where the bytes of Z and of the table begin.
    """

    shape: tuple[int, int]
    tile: tuple[int, int]
    dtype: np.dtype
    start: int
    table_start: int

    @property
    def row_bytes(self) -> int:
        """Bytes of a row."""
        return self.shape[1] * self.dtype.itemsize

    @property
    def stop(self) -> int:
        """Where the bytes of Z end."""
        return self.start + self.shape[0] * self.row_bytes

    @property
    def table_shape(self) -> tuple[int, int]:
        """Number of blocks, and of tiles in each."""
        return table_shape(self.shape, self.tile)

    @property
    def table_stop(self) -> int:
        """Where the bytes of the table end."""
        n_blocks, n_tiles = self.table_shape
        return self.table_start + n_blocks * n_tiles * TABLE.itemsize

    def rows(self, first: int, last: int) -> slice:
        """Return the rows of the blocks from `first` to before `last`."""
        return slice(first * self.tile[0], min(last * self.tile[0], self.shape[0]))

    def columns(self, first: int, last: int) -> slice:
        """Return the columns of the tiles from `first` to before `last`."""
        return slice(first * self.tile[1], min(last * self.tile[1], self.shape[1]))

    def blocks(self, rows: slice) -> range:
        """Return the blocks that the rows, which must be whole blocks, fill."""
        first = rows.start // self.tile[0]
        last = -(-rows.stop // self.tile[0])
        if self.rows(first, last) != rows:
            raise ValueError(f"{rows} are not whole blocks of {self.tile[0]} rows")
        return range(first, last)

    def write(self, fd: int, block: int, Z: np.ndarray) -> np.ndarray:
        """Write the rows of a block; return its entries of the table."""
        write_all(fd, Z, self.start + self.rows(block, block + 1).start * self.row_bytes)
        return self.checksums(Z)

    def checksums(self, Z: np.ndarray) -> np.ndarray:
        """Return the entries of tiles, those of whole columns of tiles of one block."""
        width = self.tile[1]
        tiles = (Z[:, start : start + width] for start in range(0, Z.shape[1], width))
        return np.array([_WRITTEN + crc32(np.ascontiguousarray(tile)) for tile in tiles], TABLE)

    def write_table(self, fd: int, first: int, entries: np.ndarray) -> None:
        """Write the entries of the blocks from `first` on."""
        place = self.table_start + first * self.table_shape[1] * TABLE.itemsize
        write_all(fd, np.ascontiguousarray(entries), place)

    def read_table(self, fd: int) -> np.ndarray:
        """Read all entries."""
        table = np.empty(self.table_shape, TABLE)
        read_all(fd, table, self.table_start)
        return table

    def read(self, fd: int, Z: np.ndarray, row: int, column: int = 0) -> None:
        """Fill Z with values from a row and column on; nothing is checked."""
        place = self.start + row * self.row_bytes + column * self.dtype.itemsize
        if Z.shape[1] == self.shape[1]:
            read_all(fd, Z, place)
        elif 2 * Z.shape[1] > self.shape[1]:
            rows = np.empty((len(Z), self.shape[1]), self.dtype)
            read_all(fd, rows, place - column * self.dtype.itemsize)
            Z[:] = rows[:, column : column + Z.shape[1]]
        else:
            for i, values in enumerate(Z):
                read_all(fd, values, place + i * self.row_bytes)

    def read_checked(
        self, fd: int, table: np.ndarray, rows: slice, columns: slice
    ) -> tuple[np.ndarray, list[tuple[slice, slice]]]:
        """Return some rows and columns, and the rows and columns of the damaged tiles there."""
        height, width = self.tile
        tiles = range(columns.start // width, -(-columns.stop // width))
        wide = self.columns(tiles.start, tiles.stop)
        Z = np.empty((rows.stop - rows.start, columns.stop - columns.start), self.dtype)
        damaged = []
        for block in range(rows.start // height, -(-rows.stop // height)):
            tall = self.rows(block, block + 1)
            inside = slice(max(rows.start, tall.start), min(rows.stop, tall.stop))
            target = Z[inside.start - rows.start : inside.stop - rows.start]
            whole = (inside, columns) == (tall, wide)
            part = target if whole else np.empty(
                (tall.stop - tall.start, wide.stop - wide.start), self.dtype
            )  # fmt: skip
            self.read(fd, part, tall.start, wide.start)
            wanted = table[block, tiles.start : tiles.stop]
            for j in np.flatnonzero(self.checksums(part) != wanted).tolist():
                damaged.append((tall, self.columns(tiles[j], tiles[j] + 1)))
            if not whole:
                target[:] = part[
                    inside.start - tall.start : inside.stop - tall.start,
                    columns.start - wide.start : columns.stop - wide.start,
                ]
        return Z, damaged

    def sound(self, fd: int) -> tuple[np.ndarray, np.ndarray]:
        """Return which blocks are said to be on the disk, and which of them are undamaged."""
        table = self.read_table(fd)
        written = (table != 0).all(axis=1)
        sound = written.copy()
        for block in np.flatnonzero(written).tolist():
            _, damaged = self.read_checked(
                fd, table, self.rows(block, block + 1), slice(0, self.shape[1])
            )
            sound[block] = not damaged
        return written, sound


def table_shape(shape: tuple[int, int], tile: tuple[int, int]) -> tuple[int, int]:
    """Return the number of blocks of Z, and of tiles in each."""
    return -(-shape[0] // tile[0]), -(-shape[1] // tile[1])


def read_all(fd: int, values: np.ndarray, place: int) -> None:
    """Fill a contiguous array from a place of a file."""
    view = memoryview(values.reshape(-1).view(np.uint8))
    while view:
        done = os.preadv(fd, [view], place)
        if not done:
            raise OSError("the file has become shorter")
        view, place = view[done:], place + done
