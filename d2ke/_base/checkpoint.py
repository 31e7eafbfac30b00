# SPDX-License-Identifier: BSD-3-Clause
"""Locks and records of runs that can be resumed, and folders of their finished parts.

A folder is locked while a run has it. ``record.json`` says what the run is made from; a run with
another record is refused. Each part is a file that is written whole or not at all.
"""

from __future__ import annotations

import io
import json
import os
import re
import stat
from collections.abc import Callable, Iterator, Mapping, MutableMapping
from pathlib import Path
from typing import Any

import numpy as np

from d2ke._base.files import write_file
from d2ke._ext import isa
from d2ke._version import __version__

# The last bits of results may depend on these besides the inputs.
MADE_WITH = ("d2ke", "instructions")
# The beginning of the value of an input without content to compare; the reason follows.
UNKNOWN = "not known: "
_RECORD, _LOCK = "record.json", "lock"
_REMAINS = re.compile(r"\.[0-9a-f]{32}\.part$")  # of a part that a killed run was writing
_FORMAT = 1

Key = tuple[str | int | float, ...]


def made_with() -> dict[str, str]:
    """Return the values of `MADE_WITH` in this process."""
    return dict(zip(MADE_WITH, (__version__, isa.selected()), strict=True))


def as_json(value: Any, default: Callable[[Any], Any] | None = None) -> Any:
    """Round-trip a value through JSON."""
    return json.loads(json.dumps(value, default=default))


def changed(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    """Return the names whose values differ between two records."""
    was, now = ({name: repr(value) for name, value in one.items()} for one in (before, after))
    return [name for name in now | was if now.get(name) != was.get(name)]


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


class Checkpoint(MutableMapping[Key, Any]):
    """Finished parts of a run: JSON values by key, and arrays by key.

    A part is on the disk when the method that sets it returns.

    Parameters
    ----------
    folder : Path
        The folder, which is made if it is not there.
    record : mapping
        What the run is made from; other types than JSON's are kept as their ``repr``.

    Raises
    ------
    ValueError
        The folder has another record, which the error names; or an input has no version.
    BlockingIOError
        Another call has the folder.
    FileExistsError, NotADirectoryError
        The folder has files, but no record; or is a file.
    """

    def __init__(self, folder: Path, record: Mapping[str, Any]):
        self.folder = folder
        inputs = as_json({"checkpoint": _FORMAT, **record}, default=repr)
        refuse_unknown(folder, inputs)
        if folder.exists() and not folder.is_dir():
            raise NotADirectoryError(f"checkpoint must be a folder, but {folder} is a file")
        folder.mkdir(parents=True, exist_ok=True)
        names = {file.name for file in folder.iterdir() if not _REMAINS.search(file.name)}
        if names - {_LOCK} and _RECORD not in names:
            raise FileExistsError(f"{folder} has files, but is no checkpoint; give a new folder")
        self._lock = open_locked(folder / _LOCK, folder)
        try:
            for file in folder.iterdir():
                if _REMAINS.search(file.name):
                    file.unlink()
            self._compare(inputs)
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Checkpoint:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Unlock the folder."""
        if self._lock >= 0:
            os.close(self._lock)
            self._lock = -1

    def _compare(self, record: dict[str, Any]) -> None:
        """Write the record, or refuse a folder with another one."""
        path = self.folder / _RECORD
        if not path.exists():
            write_file(path, json.dumps(record, indent=1).encode())
            return
        try:
            before = json.loads(path.read_bytes())
            if "checkpoint" not in before:
                raise ValueError
        except (TypeError, ValueError):
            raise FileExistsError(f"{path} is not the record of a checkpoint") from None
        refuse_differences(self.folder, before, record)

    def __getitem__(self, key: Key) -> Any:
        try:
            return json.loads(self._path(key, ".json").read_bytes())["value"]
        except FileNotFoundError:
            raise KeyError(key) from None

    def __setitem__(self, key: Key, value: Any) -> None:
        part = {"key": key, "value": value}
        write_file(self._path(key, ".json"), json.dumps(part).encode())

    def __delitem__(self, key: Key) -> None:
        self._path(key, ".json").unlink()

    def __iter__(self) -> Iterator[Key]:
        for path in sorted(self.folder.glob("*.json")):
            if path.name != _RECORD:
                yield tuple(json.loads(path.read_bytes())["key"])

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def arrays(self, key: Key) -> dict[str, np.ndarray] | None:
        """Return the arrays of a part, or None where it is missing."""
        try:
            with np.load(self._path(key, ".npz"), allow_pickle=False) as part:
                return dict(part)
        except FileNotFoundError:
            return None

    def put_arrays(self, key: Key, **arrays: Any) -> None:
        """Write a part of arrays."""
        content = io.BytesIO()
        np.savez(content, **arrays)
        write_file(self._path(key, ".npz"), content.getbuffer())

    def numbers(self, name: str) -> list[int]:
        """Return the sorted numbers of the arrays with keys (name, number)."""
        ends = (path.stem.rpartition("_") for path in self.folder.glob(f"{name}_*.npz"))
        return sorted(int(number) for stem, _, number in ends if stem == name and number.isdigit())

    def _path(self, key: Key, suffix: str) -> Path:
        stem = "_".join(re.sub(r"[^\w.+-]+", "-", str(part)) for part in key)
        return self.folder / f"{stem}{suffix}"
