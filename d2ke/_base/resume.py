# SPDX-License-Identifier: BSD-3-Clause
"""What can be resumed: its lock, the record of what it was made from, and a journal.

Feature stores, the folders of searches and the cells of tables are locked while they are written,
keep a record of what they are made from, as JSON, and compare it with that of the call which
resumes them. A store and a search refuse what differs; a cell is computed again.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Callable, Iterator, Mapping, MutableMapping
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
# Begins the value of an input that has no content to compare; why follows.
UNKNOWN = "not known: "
_BEGINNING = b'{"journal": '  # of a journal's record


def made_with() -> dict[str, str]:
    """Return those of this process."""
    return dict(zip(MADE_WITH, (__version__, isa.selected()), strict=True))


def as_json(value: Any, default: Callable[[Any], Any] | None = None) -> Any:
    """Return what a value is after it was written and read."""
    return json.loads(json.dumps(value, default=default))


def changed(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    """Return the names under which two records, as JSON, have something else."""
    return [
        name
        for name in dict(chain(after.items(), before.items()))
        if (name in before, repr(before.get(name))) != (name in after, repr(after.get(name)))
    ]


def refuse_differences(path: Path, before: Mapping[str, Any], after: Mapping[str, Any]) -> None:
    """Refuse to resume what was made from something else; the error names what differs.

    Those of `MADE_WITH` that `after` has not may be any.
    """
    for name, value in after.items():
        if isinstance(value, str) and value.startswith(UNKNOWN):
            raise ValueError(
                f"{path} cannot be resumed, since the {name} is {value}. Give the function an "
                "attribute `version`, a str that you change whenever its results change, before "
                "the file is begun"
            )
    differences = []
    for name in changed(before, after):
        if name not in MADE_WITH or name in after:
            was, now = (repr(one[name]) if name in one else "not given" for one in (before, after))
            differences.append(f"{name} was {was} and is {now}")
    if differences:
        raise ValueError(
            f"{path} was made from something else: {'; '.join(differences)}; resume it with what "
            "it was begun with, or remove it"
        )


def check_finished(
    path: Path,
    record: Mapping[str, Any],
    read_record: Callable[[], Mapping[str, Any]],
    *,
    resume: bool,
) -> bool:
    """Return whether the file is there; refuse it if it is not what would be computed."""
    if not path.exists():
        return False
    if not resume:
        raise FileExistsError(
            f"{path} exists already: with resume=True it is kept if it holds the same, or "
            "remove it first"
        )
    after = {name: value for name, value in record.items() if name not in MADE_WITH}
    refuse_differences(path, read_record(), after)
    return True


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


class Journal(MutableMapping[tuple[Any, ...], Any]):
    """Results by key in a file, each on the disk when it is set; open and locked.

    A line of text holds the record, and one each result. Each line ends with its own CRC-32, so
    that one that was cut short is known. A later result of the same key replaces the earlier.

    Parameters
    ----------
    path, target : Path
        The file, and what it is the journal of.
    record : dict
        What the results are made from, and first of all the format, ``journal``. A journal of
        another record is refused.

    Attributes
    ----------
    resumed : bool
        Whether it was begun before.
    """

    def __init__(self, path: Path, target: Path, record: Mapping[str, Any]):
        self.path = path
        self._fd = open_locked(path, target)
        try:
            before, entries = self._read()
            self.resumed = before is not None
            if before is None:
                self._append(record)
            else:
                refuse_differences(path, before, record)
            self._results = {json.dumps(key): value for key, value in entries}
        except BaseException:
            self.close()
            raise

    def __getitem__(self, key: tuple[Any, ...]) -> Any:
        return self._results[json.dumps(key)]

    def __setitem__(self, key: tuple[Any, ...], value: Any) -> None:
        self._append([key, value])
        self._results[json.dumps(key)] = value

    def __delitem__(self, key: tuple[Any, ...]) -> None:
        raise TypeError("a journal keeps its results")

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        return (tuple(json.loads(key)) for key in self._results)

    def __len__(self) -> int:
        return len(self._results)

    def _read(self) -> tuple[dict[str, Any] | None, list[tuple[list[Any], Any]]]:
        """Return the record and the results up to a damaged line; what follows that is dropped."""
        content = os.pread(self._fd, os.fstat(self._fd).st_size, 0)
        lines = []
        self._end = 0
        for line in content.splitlines(keepends=True):
            text, _, check = line.rpartition(b" ")
            if check != b"%08x\n" % crc32(text):
                break
            lines.append(text)
            self._end += len(line)
        try:
            # A first line that was cut short is ours; anything else is not written over.
            if content[: len(_BEGINNING)] != _BEGINNING[: len(content)]:
                raise ValueError
            record, *entries = [json.loads(line) for line in lines] or [None]
            return record, [(key, value) for key, value in entries]
        except (TypeError, ValueError):
            raise FileExistsError(
                f"{self.path} exists, and is not a journal of d2ke; remove it"
            ) from None

    def _append(self, entry: Any) -> None:
        """Add a line; it is on the disk when this returns."""
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
