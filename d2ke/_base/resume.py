# SPDX-License-Identifier: BSD-3-Clause
"""What can be resumed: its lock, the record of what it was made from, and a journal."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Mapping
from itertools import chain
from pathlib import Path
from typing import Any
from zlib import crc32

from d2ke._base.files import write_all
from d2ke._ext import isa
from d2ke._version import __version__

# What the last bits of results may depend on besides the inputs. What is complete may differ in
# it: nothing is added to it.
MADE_WITH = ("d2ke", "instructions")


def made_with() -> dict[str, str]:
    """Return those of this process."""
    return dict(zip(MADE_WITH, (__version__, isa.selected()), strict=True))


def refuse_differences(path: Path, before: Mapping[str, Any], after: Mapping[str, Any]) -> None:
    """Refuse to resume what was made from something else; the error names what differs."""
    nothing = object()
    differences = []
    for name in dict(chain(after.items(), before.items())):
        old, new = before.get(name, nothing), after.get(name, nothing)
        if name in MADE_WITH and new is nothing:
            continue
        if repr(old) != repr(new):
            was = "not given" if old is nothing else repr(old)
            now = "not given" if new is nothing else repr(new)
            differences.append(f"{name} was {was} and is {now}")
    if differences:
        raise ValueError(
            f"{path} was made from something else: {'; '.join(differences)}; resume it with what "
            "it was begun with, or remove it"
        )


def open_locked(path: Path, target: Path) -> int:
    """Open a file to write and read, new or not, and lock it; a kill unlocks it.

    Raises
    ------
    BlockingIOError
        If another call writes `target` now.
    """
    import fcntl  # only where something is resumed, as not every system has it

    while True:
        fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666)
        try:
            if not stat.S_ISREG(os.fstat(fd).st_mode):
                raise FileExistsError(f"{path} is no file")
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.path.samestat(os.stat(path), os.fstat(fd)):
                return fd
        except BlockingIOError:
            os.close(fd)
            raise BlockingIOError(
                f"{target} is being written by another call; only one at a time can do that"
            ) from None
        except FileNotFoundError:
            pass  # the one before us renamed or removed it when it was done
        except BaseException:
            os.close(fd)
            raise
        os.close(fd)


class Journal:
    """A line of text for all that is done, in a file that is open and locked.

    Each line ends with its own CRC-32, so that one that was cut short is known.
    """

    def __init__(self, path: Path, target: Path):
        self.path = path
        self._fd = open_locked(path, target)
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

    def append(self, entry: Any) -> None:
        """Add an entry; it is on the disk when this returns."""
        text = json.dumps(entry).encode()
        line = b"%s %08x\n" % (text, crc32(text))
        # Over what an earlier attempt may have left of a line.
        write_all(self._fd, line, self._end)
        os.ftruncate(self._fd, self._end + len(line))
        os.fsync(self._fd)
        self._end += len(line)

    def close(self) -> None:
        """Unlock it."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1
