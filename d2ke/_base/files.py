# SPDX-License-Identifier: BSD-3-Clause
"""Files that are written whole or not at all."""

from __future__ import annotations

import errno
import os
import shutil
import stat
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from io import FileIO
from pathlib import Path
from threading import Lock
from typing import Any, BinaryIO

import numpy as np

_READ = os.O_RDONLY
for _name in ("O_BINARY", "O_CLOEXEC", "O_NONBLOCK"):  # flags that the system has
    _READ |= getattr(os, _name, 0)
FULL = (errno.ENOSPC, errno.EFBIG, errno.EDQUOT)
_SEEKING = Lock()


class SpecialFileError(OSError):
    """A path leads to a pipe, a socket or a device."""


@contextmanager
def atomic_write(path: Path) -> Iterator[BinaryIO]:
    """Yield a new file to write to, and name it `path` once all of it is on the disk.

    The file `path` is complete at any time, also after a kill. If `path` is a link, its target is
    replaced.

    Raises
    ------
    OSError
        If no file can be written at `path`, or the disk is full; nothing is left behind.
    """
    check_place(path)
    target = Path(os.path.realpath(path))
    temporary = target.with_name(f"{target.name}.{uuid.uuid4().hex}.part")
    try:
        with open(temporary, "xb+") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(temporary, target)
        sync_folder(target)
    except BaseException as error:
        temporary.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.errno in FULL and error.filename is None:
            reason = os.strerror(error.errno)
            raise OSError(error.errno, f"{path} was not written: {reason}") from error
        raise


def write_file(path: Path, content: bytes | memoryview) -> None:
    """Write a file whole or not at all."""
    with atomic_write(path) as stream:
        stream.write(content)


def open_file(path: Path) -> FileIO:
    """Open a regular file for reading, without a buffer.

    Raises
    ------
    OSError
        If it is missing, or is a folder, a pipe or a device, which may have no end.
    """
    try:
        # Without O_NONBLOCK a pipe waits here for a writer.
        fd = os.open(path, _READ)
    except FileNotFoundError:
        raise FileNotFoundError(errno.ENOENT, "there is no such file", str(path)) from None
    except PermissionError:
        check_place(path)  # a folder, on Windows
        raise
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        check_place(path)
    return open(fd, "rb", buffering=0)


def check_place(path: Path) -> None:
    """Raise OSError unless `path` is a file, or a name in a folder where one can be made."""
    if path.is_dir() or not path.name:
        raise IsADirectoryError(f"{path} is a folder; a file's name is needed")
    if path.exists() and not path.is_file():
        raise SpecialFileError(f"{path} is not a regular file but a pipe, a socket or a device")
    folder = Path(os.path.realpath(path)).parent
    if not folder.is_dir():
        raise FileNotFoundError(f"cannot write {path}: the folder {folder} does not exist")


def check_writable(path: Path) -> None:
    """Raise OSError unless a file can be written at `path`, to be called before long work.

    Windows replaces no file that a program has open.
    """
    check_place(path)
    problem = f"no file can be made in {path.parent}"
    try:
        with tempfile.TemporaryFile(dir=path.parent):
            pass
        if path.exists():
            problem = "a program may have it open"
            os.rename(path, path)  # refused where it cannot be replaced
    except OSError as error:
        raise type(error)(f"cannot write {path}: {problem} ({error.strerror})") from None


def write_all(fd: int, content: bytes | memoryview | np.ndarray, offset: int) -> None:
    """Write all of `content` at an offset of a file."""
    view = memoryview(content)
    view = view.cast("B") if view.nbytes else memoryview(b"")
    with _SEEKING:
        os.lseek(fd, offset, os.SEEK_SET)
        while view:
            view = view[os.write(fd, view) :]


def reserve(fd: int, n_bytes: int, path: Path) -> None:
    """Reserve space for a file, so that a full disk is noticed before the work.

    Raises
    ------
    OSError
        If there is not enough; the message names `path` and the bytes needed.
    """
    try:
        free = shutil.disk_usage(path.parent).free
        if free < n_bytes:
            folder = path.parent.absolute()
            raise OSError(errno.ENOSPC, f"only {free} bytes are free in {folder}")
        if hasattr(os, "posix_fallocate"):
            os.posix_fallocate(fd, 0, n_bytes)
    except OSError as error:
        if error.errno in FULL:
            raise OSError(error.errno, f"{path} takes {n_bytes} bytes: {error.strerror}") from error
        # Some file systems cannot reserve space.
        no_reserve = (errno.EOPNOTSUPP, errno.EINVAL, errno.ENOSYS, errno.ENODEV)
        if error.errno not in no_reserve:
            raise


def sync_folder(path: Path) -> None:
    """Flush the names in the folder of `path` to the disk."""
    if not hasattr(os, "O_DIRECTORY"):
        return  # Windows has no such call
    fd = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def lists_to_tuples(value: Any) -> Any:
    """Turn the lists in a value from JSON into tuples, at every depth."""
    if isinstance(value, dict):
        return {name: lists_to_tuples(item) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return tuple(map(lists_to_tuples, value))
    return value
