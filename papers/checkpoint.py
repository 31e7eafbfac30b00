# SPDX-License-Identifier: BSD-3-Clause
"""Folders of the finished parts of a run.

A folder is locked while a run has it. ``record.json`` lists the inputs of the run; a run with
another record is refused. Each part is a file that is written whole or not at all, and ends with
a CRC-32 of its bytes, its name and the record. A damaged part counts as missing, with a warning.
"""

from __future__ import annotations

import io
import json
import re
import zlib
from collections.abc import Iterator, Mapping, MutableMapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np

from d2ke._base.errors import warn
from d2ke._base.files import write_file
from d2ke._base.resuming import as_json, locked, refuse_differences, refuse_unknown

_RECORD, _LOCK = "record.json", "lock"
_REMAINS = re.compile(r"\.[0-9a-f]{32}\.part$")  # of a part that a killed run was writing
_FORMAT = 1
_CRC_BYTES = 8  # as hexadecimal digits

Key = tuple[str | int | float, ...]


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
        self._record_crc = zlib.crc32(json.dumps(inputs, sort_keys=True).encode())
        self._lock = ExitStack()
        self._lock.enter_context(locked(folder / _LOCK, folder))
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
        self._lock.close()

    def _compare(self, record: dict[str, Any]) -> None:
        """Write the record, or refuse a folder with another one."""
        path = self.folder / _RECORD
        if path.exists():
            before = _content(path, 0)
            if before is not None:
                refuse_differences(self.folder, json.loads(before), record)
                return
            files = {*self.folder.glob("*.json"), *self.folder.glob("*.npz")} - {path}
            if all(_content(file, self._record_crc) is None for file in files):
                raise FileExistsError(f"{path} is not the record of a checkpoint, or is damaged")
            warn(f"{path} is damaged; it is written again, since parts are of the same run")
        _write(path, json.dumps(record, indent=1).encode(), 0)

    def _read(self, path: Path) -> bytes | None:
        """Return the content of a part; None if it is missing, or damaged with a warning."""
        try:
            content = _content(path, self._record_crc)
        except FileNotFoundError:
            return None
        if content is None:
            warn(f"{path} is damaged; this part is computed again")
        return content

    def __getitem__(self, key: Key) -> Any:
        content = self._read(self._path(key, ".json"))
        if content is None:
            raise KeyError(key)
        return json.loads(content)["value"]

    def __setitem__(self, key: Key, value: Any) -> None:
        entry = {"key": key, "value": value}
        _write(self._path(key, ".json"), json.dumps(entry).encode(), self._record_crc)

    def __delitem__(self, key: Key) -> None:
        self._path(key, ".json").unlink()

    def __iter__(self) -> Iterator[Key]:
        for path in sorted(self.folder.glob("*.json")):
            if path.name != _RECORD and (content := self._read(path)) is not None:
                yield tuple(json.loads(content)["key"])

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def arrays(self, key: Key) -> dict[str, np.ndarray] | None:
        """Return the arrays of a part, or None if it is missing or damaged."""
        content = self._read(self._path(key, ".npz"))
        if content is None:
            return None
        with np.load(io.BytesIO(content), allow_pickle=False) as archive:
            return dict(archive)

    def put_arrays(self, key: Key, **arrays: Any) -> None:
        """Write a part of arrays."""
        content = io.BytesIO()
        np.savez(content, **arrays)
        _write(self._path(key, ".npz"), content.getbuffer(), self._record_crc)

    def numbers(self, name: str) -> list[int]:
        """Return the sorted numbers of the arrays with keys (name, number)."""
        ends = (path.stem.rpartition("_") for path in self.folder.glob(f"{name}_*.npz"))
        return sorted(int(number) for stem, _, number in ends if stem == name and number.isdigit())

    def _path(self, key: Key, suffix: str) -> Path:
        stem = "_".join(re.sub(r"[^\w.+-]+", "-", str(field)) for field in key)
        return self.folder / f"{stem}{suffix}"


def _crc(path: Path, content: bytes | memoryview, record_crc: int) -> bytes:
    return b"%08x" % zlib.crc32(content, zlib.crc32(path.name.encode(), record_crc))


def _write(path: Path, content: bytes | memoryview, record_crc: int) -> None:
    """Write a part, with the CRC-32 at its end."""
    write_file(path, b"".join([content, _crc(path, content, record_crc)]))


def _content(path: Path, record_crc: int) -> bytes | None:
    """Return the content of a part, or None if it is damaged."""
    whole = path.read_bytes()
    content = whole[:-_CRC_BYTES]
    return content if whole[-_CRC_BYTES:] == _crc(path, content, record_crc) else None
