# SPDX-License-Identifier: BSD-3-Clause
"""The journal of a store that is being written: a line of text for all that is done.

Each line ends with its own CRC-32, so that one that was cut short is known. Whoever has the journal
open has it locked, and the system takes the lock from a process that ends in whatever way.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any
from zlib import crc32

from d2ke.io._direct import write_all


class Journal:
    """The open and locked journal of a file."""

    def __init__(self, path: Path, target: Path):
        self.path = path
        self.new, self._fd = _open_locked(path, target)
        self._end = 0

    def read(self) -> list[Any]:
        """Return the entries up to the first line that is damaged; what follows that is dropped."""
        content = os.pread(self._fd, os.fstat(self._fd).st_size, 0)
        entries = []
        self._end = 0
        for line in content.splitlines(keepends=True):
            text, _, check = line.rpartition(b" ")
            if check != b"%08x\n" % crc32(text):
                break
            entries.append(json.loads(text))
            self._end += len(line)
        return entries

    def clear(self) -> None:
        """Drop all entries."""
        os.ftruncate(self._fd, 0)
        self._end = 0

    def append(self, entry: Any) -> None:
        """Add an entry; it is on the disk when this returns."""
        text = json.dumps(entry).encode()
        line = b"%s %08x\n" % (text, crc32(text))
        # Over what an earlier attempt may have left of a line.
        write_all(self._fd, line, self._end)
        os.ftruncate(self._fd, self._end + len(line))
        os.fsync(self._fd)
        self._end += len(line)

    def remove(self) -> None:
        """Remove the file; the lock stays until `close`."""
        self.path.unlink(missing_ok=True)

    def close(self) -> None:
        """Unlock it."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1


def _open_locked(path: Path, target: Path) -> tuple[bool, int]:
    """Return whether the file was made now, and its descriptor."""
    import fcntl  # only where blocks are streamed, as not every system has it

    while True:
        new = not path.exists()
        fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            found = os.stat(path)
            if os.path.samestat(found, os.fstat(fd)):
                return new, fd
        except BlockingIOError:
            os.close(fd)
            raise BlockingIOError(
                f"{target} is being written by another call; only one at a time can do that"
            ) from None
        except FileNotFoundError:
            pass  # the one before us removed it when it was done
        except BaseException:
            os.close(fd)
            raise
        os.close(fd)
