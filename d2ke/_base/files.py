# SPDX-License-Identifier: BSD-3-Clause
"""Files that are written whole or not at all."""

from __future__ import annotations

import errno
import os
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

# How systems say that they cannot reserve space.
_NO_RESERVE = (errno.EOPNOTSUPP, errno.EINVAL, errno.ENOSYS, errno.ENODEV)
_FULL = (errno.ENOSPC, errno.EFBIG, errno.EDQUOT)


@contextmanager
def atomic_write(path: Path) -> Iterator[Path]:
    """Give a path beside `path` to write to; it takes its place if nothing goes wrong.

    A reader, or a kill, never meets half a file. No other call has the same name.
    """
    part = path.with_name(f"{path.name}.{uuid.uuid4().hex}.part")
    try:
        yield part
        os.replace(part, path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def write_file(path: Path, content: bytes) -> None:
    """Write a file whole or not at all."""
    with atomic_write(path) as part:
        part.write_bytes(content)


def check_writable(path: Path) -> None:
    """Raise OSError unless a file can be written at `path`; better before the work than after."""
    if path.is_dir() or not path.name:
        raise IsADirectoryError(f"cannot write a file at {str(path)!r}: it is a folder")
    if not path.parent.is_dir():
        raise FileNotFoundError(f"cannot write {path}: the folder {path.parent} does not exist")
    try:
        with tempfile.TemporaryFile(dir=path.parent):
            pass
    except OSError as error:
        raise type(error)(
            f"cannot write {path}: no file can be made in {path.parent} ({error.strerror})"
        ) from None


def write_all(fd: int, content: bytes | np.ndarray, place: int) -> None:
    """Write at a place of a file, however many calls the system wants for it."""
    view = memoryview(content)
    view = view.cast("B") if view.nbytes else memoryview(b"")
    while view:
        done = os.pwrite(fd, view, place)
        view, place = view[done:], place + done


def reserve(fd: int, n_bytes: int, path: Path) -> None:
    """Have the system reserve space for a file, so that a full disk shows before the work.

    Raises
    ------
    OSError
        If there is not enough; the message names `path` and how many bytes it takes.
    """
    try:
        if hasattr(os, "statvfs"):
            found = os.statvfs(path.parent)
            free = found.f_bavail * found.f_frsize
            if free < n_bytes:
                folder = path.parent.absolute()
                raise OSError(errno.ENOSPC, f"only {free} bytes are free in {folder}")
        if hasattr(os, "posix_fallocate"):
            os.posix_fallocate(fd, 0, n_bytes)
    except OSError as error:
        if error.errno in _FULL:
            raise OSError(error.errno, f"{path} takes {n_bytes} bytes: {error.strerror}") from error
        if error.errno not in _NO_RESERVE:
            raise


def sync_folder(path: Path) -> None:
    """Have the system write down which names the folder of `path` has."""
    fd = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def lists_to_tuples(value: Any) -> Any:
    """Return what JSON gave back with its lists as tuples again, at every depth."""
    if isinstance(value, dict):
        return {name: lists_to_tuples(part) for name, part in value.items()}
    if isinstance(value, (list, tuple)):
        return tuple(map(lists_to_tuples, value))
    return value
