# SPDX-License-Identifier: BSD-3-Clause
"""Locks, provenance and journals for resumable runs.

Feature stores, the folders of searches and the cells of tables are locked while they are written.
They keep a record of their inputs as JSON, which is compared with the record of the call that
resumes them. A store and a search refuse a difference; a cell is computed again.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Callable, Iterator, Mapping, MutableMapping
from pathlib import Path
from typing import Any
from zlib import crc32

from d2ke._base.checkpoint import UNKNOWN, changed
from d2ke._base.files import write_all
from d2ke._ext import isa
from d2ke._version import __version__

# The last bits of results may depend on these besides the inputs. A complete result may differ in
# them, as nothing is added to it.
MADE_WITH = ("d2ke", "instructions")
_BEGINNING = b'{"journal": '  # of a journal's record


def made_with() -> dict[str, str]:
    """Return the values of `MADE_WITH` in this process."""
    return dict(zip(MADE_WITH, (__version__, isa.selected()), strict=True))


def refuse_unknown(path: Path, record: Mapping[str, Any]) -> None:
    """Refuse a record with an input that a later call could not compare."""
    for name, value in record.items():
        if isinstance(value, str) and value.startswith(UNKNOWN):
            raise ValueError(
                f"{path} cannot be resumed, since the {name} is {value}. Give the function an "
                "attribute `version`, a str or an int that you change whenever its results change "
                '(f.version = "1"), before the file is begun'
            )


def refuse_differences(path: Path, before: Mapping[str, Any], after: Mapping[str, Any]) -> None:
    """Refuse to resume a run with another record; the error names the differences.

    Differences in `MADE_WITH` are ignored where `after` lacks the name.
    """
    refuse_unknown(path, after)
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
    """Return whether the file exists; refuse one with another record."""
    if resume:
        refuse_unknown(path, record)
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
    """Open or create a file, and lock it until it is closed or the process ends.

    Raises
    ------
    BlockingIOError
        If another call writes `target` now.
    """
    import fcntl  # here, as not every system has it

    while True:
        fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666)
        try:
            if not stat.S_ISREG(os.fstat(fd).st_mode):
                raise FileExistsError(f"{path} is not a regular file")
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.path.samestat(os.stat(path), os.fstat(fd)):
                return fd
        except BlockingIOError:
            os.close(fd)
            raise BlockingIOError(
                f"{target} is being written by another call; only one at a time can do that"
            ) from None
        except FileNotFoundError:
            pass  # the previous owner renamed or removed it
        except BaseException:
            os.close(fd)
            raise
        os.close(fd)


class Journal(MutableMapping[tuple[Any, ...], Any]):
    """A locked file of results by key; each result is on the disk once it is set.

    The first line of text holds the record, each other line a result. Lines end with their
    CRC-32, so that a truncated one is detected. A later result of a key replaces the earlier.

    Parameters
    ----------
    path, target : Path
        The journal's file, and the file or folder that it belongs to.
    record : dict
        The provenance of the results; its first entry is the format, ``journal``. A journal
        with another record is refused.

    Attributes
    ----------
    resumed : bool
        Whether the journal existed before.
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
        """Return the record and the results before the first damaged line; drop the others."""
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
            # Only a truncated first line is overwritten, nothing that is not a journal.
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
        # This overwrites a line that an earlier attempt left incomplete.
        write_all(self._fd, line, self._end)
        os.ftruncate(self._fd, self._end + len(line))
        os.fsync(self._fd)
        self._end += len(line)

    def close(self) -> None:
        """Close and unlock the file."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1
