# SPDX-License-Identifier: BSD-3-Clause
"""The manifest of a store: the files of its folder that count, and how they are replaced.

Files are written whole under names that were never used, and the manifest is replaced last: until
then the folder is what it was. A writer deletes the files that the manifest doesn't name.
"""

from __future__ import annotations

import errno
import json
import os
import re
import time
import uuid
import zlib
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from d2ke._base.damage import Damaged, damage_of
from d2ke._base.errors import ArgumentError
from d2ke._base.files import write_file
from d2ke._version import __version__
from d2ke.io.segment_file import SegmentContent, StoredSegment, write_segment

VERSION = 1
LOCK, _MANIFEST = "lock", "manifest.json"
_PART = r"\.[0-9a-f]{32}\.part"  # of a file that is being written
_OURS = re.compile(rf"[0-9a-f]{{32}}\.(segment|log)({_PART})?|manifest\.json{_PART}")
_TRIES, _PAUSE = 100, 0.05  # seconds

T = TypeVar("T")


class Manifest(NamedTuple):
    """The names of all files of an index; each manifest has a log of its own."""

    header: dict[str, Any]
    segments: list[str]
    log: str


def publish(
    folder: Path, header: dict[str, Any], segments: Iterable[SegmentContent | StoredSegment]
) -> None:
    """Write new segments, an empty log, and last the manifest; stored segments stay."""
    names = [
        segment.name if isinstance(segment, StoredSegment) else write_segment(folder, segment)
        for segment in segments
    ]
    manifest = Manifest(header, names, f"{uuid.uuid4().hex}.log")
    write_file(folder / manifest.log, b"")
    values = {"format": "d2ke index", "version": VERSION, **manifest._asdict()}
    text = json.dumps({**values, "CRC-32": _crc(values)}).encode()
    _tried_again(lambda: write_file(folder / _MANIFEST, text))


def read_manifest(folder: Path) -> Manifest:
    """Return the manifest of an index; refuse other folders."""
    if not folder.exists():
        raise FileNotFoundError(errno.ENOENT, "there is no such folder", str(folder))
    if not folder.is_dir():
        raise ArgumentError(str(folder), "is a file; an index is a folder")
    if not _is_index(folder):
        raise ArgumentError(str(folder), "is not an index of d2ke")
    try:
        text = _tried_again((folder / _MANIFEST).read_bytes)
    except FileNotFoundError:
        problem = f"is damaged: {_MANIFEST} is missing"
        raise ArgumentError(str(folder), problem) from None
    with damage_of(folder, f"{_MANIFEST}: "):
        values = json.loads(text)
        if values.pop("CRC-32") != _crc(values):
            raise Damaged("its CRC-32 is not what was written")
    if values["version"] > VERSION:
        raise ArgumentError(
            str(folder),
            f"has version {values['version']} of the format; this d2ke ({__version__}) reads "
            f"{VERSION}, a newer d2ke is needed",
        )
    return Manifest(*(values[name] for name in Manifest._fields))


def check_replaceable(path: Path) -> None:
    """Refuse to replace a file, or a folder that is neither an index nor a remnant of one."""
    if not path.is_dir():
        raise FileExistsError(f"{path} exists and is no folder; remove it, or choose another name")
    names = sorted({*os.listdir(path)} - {LOCK})
    if names and not _is_index(path):
        raise FileExistsError(
            f"{path} is a folder that is no index, and not empty: it has {names[0]!r}; remove it, "
            "or choose another name"
        )


def clean(folder: Path) -> None:
    """Delete the files of an index that its manifest doesn't name."""
    listed: set[str] = set()
    if (folder / _MANIFEST).exists():
        try:
            manifest = read_manifest(folder)
        except ValueError:  # damaged, or newer
            return
        listed = {manifest.log, *manifest.segments}
    for name in os.listdir(folder):
        if _OURS.fullmatch(name) and name not in listed:
            with suppress(OSError):  # open, on Windows
                os.unlink(folder / name)


def _is_index(folder: Path) -> bool:
    return any(map(_OURS.fullmatch, os.listdir(folder)))


def _crc(values: dict[str, Any]) -> int:
    return zlib.crc32(json.dumps(values).encode())


def _tried_again(function: Callable[[], T]) -> T:
    """Call a function, on Windows again for a while if another program has the file open."""
    if not hasattr(os, "O_DIRECTORY"):
        for _ in range(_TRIES):
            with suppress(PermissionError):
                return function()
            time.sleep(_PAUSE)
    return function()
