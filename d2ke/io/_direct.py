# SPDX-License-Identifier: BSD-3-Clause
"""Long writes past the system's cache, which costs more time than the disk itself."""

from __future__ import annotations

import errno
import mmap
import os
from pathlib import Path

import numpy as np

# Places, lengths and addresses of direct writes are multiples of this, or of a divisor of it.
_PAGE = 4096
PIECE_BYTES = 1 << 22  # of a piece, unless it takes more for itself alone


class DirectWriter:
    """Gathers pieces that lie end to end in a file, and writes them in whole pages.

    Where the file system has no direct writes, and at the pages that a run of pieces begins and
    ends in, it writes as everybody does.

    Parameters
    ----------
    path : Path
        The file.
    fd : int
        The same file, open for writing.
    largest : int
        The most bytes of a piece.
    """

    def __init__(self, path: Path, fd: int, largest: int):
        self._fd = fd
        try:
            self._direct = os.open(path, os.O_WRONLY | os.O_DIRECT | os.O_CLOEXEC)
        except (AttributeError, OSError):
            self._direct = os.dup(fd)
        self._largest = max(PIECE_BYTES, largest)
        n_pages = -(-self._largest // _PAGE) + 2
        # Unlike an array, a map begins with a page.
        self._buffer = np.frombuffer(mmap.mmap(-1, n_pages * _PAGE), dtype=np.uint8)
        self.forget()

    def forget(self) -> None:
        """Start anew; what was not flushed is never written."""
        self._base = self._low = self._high = 0  # where the buffer belongs, and its filled part

    def room(self, place: int, n_bytes: int) -> np.ndarray:
        """Return the memory to put the next piece into, before anything else is called."""
        if n_bytes > self._largest:
            raise ValueError(f"a piece of {n_bytes} bytes; at most {self._largest} were announced")
        if self._high == 0 or place != self._base + self._high:
            self.flush()
            self._low = self._high = place % _PAGE
            self._base = place - self._low
        elif self._high + n_bytes > len(self._buffer):
            self._write_pages()
        self._high += n_bytes
        return self._buffer[self._high - n_bytes : self._high]

    def flush(self) -> None:
        """Write all that there is."""
        self._write_pages()
        write_all(self._fd, self._buffer[self._low : self._high], self._base + self._low)
        self.forget()

    def _write_pages(self) -> None:
        """Write whole pages, and keep what is left at the buffer's beginning."""
        start, stop = -(-self._low // _PAGE) * _PAGE, self._high // _PAGE * _PAGE
        if start >= stop:
            return
        write_all(self._fd, self._buffer[self._low : start], self._base + self._low)
        pages = self._buffer[start:stop]
        try:
            done = os.pwrite(self._direct, pages, self._base + start)
        except OSError as error:
            if error.errno != errno.EINVAL:
                raise
            done = 0  # larger pages are wanted
        write_all(self._fd, pages[done:], self._base + start + done)
        rest = self._high - stop
        self._buffer[:rest] = self._buffer[stop : self._high]
        self._base, self._low, self._high = self._base + stop, 0, rest

    def close(self) -> None:
        """Close what this has opened."""
        os.close(self._direct)


def write_all(fd: int, content: bytes | np.ndarray, place: int) -> None:
    """Write at a place of a file, however many calls the system wants for it."""
    view = memoryview(content)
    while view:
        done = os.pwrite(fd, view, place)
        view, place = view[done:], place + done
