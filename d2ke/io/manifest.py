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
from d2ke._base.files import open_file, write_file
from d2ke._base.resuming import made_with
from d2ke._version import __version__
from d2ke.io.segment_file import LOG_FRONT, SegmentContent, StoredSegment, write_segment

FORMAT, VERSION = "d2ke index", 1
LOCK, _MANIFEST = "lock", "manifest.json"
_BEGIN = json.dumps({"format": FORMAT})[:-1].encode()
_PART = r"\.[0-9a-f]{32}\.part"  # of a file that is being written
_OURS = re.compile(rf"[0-9a-f]{{32}}\.(segment|log)({_PART})?|manifest\.json{_PART}")
_TRIES, _PAUSE = 100, 0.05  # seconds

T = TypeVar("T")


class Manifest(NamedTuple):
    """The names of all files of an index; each manifest has a log of its own."""

    header: dict[str, Any]
    segments: list[tuple[str, int, int]]  # name, size, CRC-32 of the head
    log: str
    made_with: dict[str, str]


def publish(
    folder: Path, header: dict[str, Any], segments: Iterable[SegmentContent | StoredSegment]
) -> None:
    """Write new segments, an empty log, and last the manifest."""
    listed = [
        (segment.name, segment.size, segment.crc)
        if isinstance(segment, StoredSegment)
        else write_segment(folder / f"{uuid.uuid4().hex}.segment", segment)
        for segment in segments
    ]
    log = f"{uuid.uuid4().hex}.log"
    manifest = {
        "format": FORMAT,
        "version": VERSION,
        "header": header,
        "segments": listed,
        "log": log,
        "made_with": made_with(),
    }
    text = json.dumps(manifest)[:-1].encode()
    text += b', "CRC-32": "%08x"}\n' % zlib.crc32(text)
    write_file(folder / log, LOG_FRONT)
    _tried_again(lambda: write_file(folder / _MANIFEST, text))


def read_manifest(folder: Path) -> Manifest:
    """Return the manifest of an index; refuse other folders."""
    if not folder.is_dir():
        if folder.exists():
            raise ArgumentError(str(folder), "is a file; an index is a folder")
        raise FileNotFoundError(errno.ENOENT, "there is no such folder", str(folder))
    text = _manifest_text(folder)
    if not text.startswith(_BEGIN):
        if not any(map(_OURS.fullmatch, os.listdir(folder))):
            raise ArgumentError(str(folder), "is not an index of d2ke")
        problem = "is not what was written" if text else "is missing"
        raise ArgumentError(str(folder), f"is damaged: {_MANIFEST} {problem}")
    with damage_of(folder, f"{_MANIFEST}: "):
        match = re.fullmatch(rb'(.*), "CRC-32": "([0-9a-f]{8})"\}\n', text, re.DOTALL)
        if match is None or zlib.crc32(match[1]) != int(match[2], 16):
            raise Damaged("its CRC-32 is not what was written")
        values = json.loads(text)
    if values["version"] > VERSION:
        raise ArgumentError(
            str(folder),
            f"has version {values['version']} of the format; this d2ke ({__version__}) reads "
            f"{VERSION}, a newer d2ke is needed",
        )
    segments = [(name, size, crc) for name, size, crc in values["segments"]]
    return Manifest(values["header"], segments, values["log"], values["made_with"])


def check_replaceable(path: Path) -> None:
    """Refuse to replace what is neither an index nor what a killed call left of one."""
    if not path.is_dir():
        raise FileExistsError(f"{path} exists and is no folder; remove it, or choose another name")
    others = [name for name in os.listdir(path) if name != LOCK and not _OURS.fullmatch(name)]
    if others and not _manifest_text(path).startswith(_BEGIN):
        raise FileExistsError(
            f"{path} is a folder that is no index, and not empty: it has {others[0]!r}; remove it, "
            "or choose another name"
        )


def clean(folder: Path) -> None:
    """Delete the files of an index that its manifest doesn't name."""
    kept: set[str] = set()
    if _manifest_text(folder):
        try:
            manifest = read_manifest(folder)
        except ValueError:  # damaged, or newer
            return
        kept = {manifest.log, *(name for name, _, _ in manifest.segments)}
    for name in os.listdir(folder):
        if _OURS.fullmatch(name) and name not in kept:
            with suppress(OSError):  # open, on Windows
                os.unlink(folder / name)


def _manifest_text(folder: Path) -> bytes:
    """Return the bytes of a manifest, b"" where there is none."""

    def read() -> bytes:
        with open_file(folder / _MANIFEST) as stream:
            return stream.read()

    try:
        return _tried_again(read)
    except FileNotFoundError:
        return b""


def _tried_again(function: Callable[[], T]) -> T:
    """Call a function, on Windows again for a while if another program has the file open."""
    if not hasattr(os, "O_DIRECTORY"):
        for _ in range(_TRIES):
            with suppress(PermissionError):
                return function()
            time.sleep(_PAUSE)
    return function()
