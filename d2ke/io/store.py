# SPDX-License-Identifier: BSD-3-Clause
"""A folder of segments, a log of what was added since, and a manifest that names them all.

Readers take no lock, and keep what they have opened: on Windows, where open files cannot be
deleted, old ones stay until a later commit.

A kill can leave the last record of the log incomplete, and after a power failure it may end in
zeros. Such a record, for which no call of `append` returned, is left out, and the next writer cuts
it off. All other bytes are checked.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from contextlib import ExitStack, suppress
from io import FileIO
from pathlib import Path
from typing import Any

from d2ke._base.checks import file_path
from d2ke._base.damage import damage_of
from d2ke._base.errors import ArgumentError
from d2ke._base.files import FULL, open_file, sync_folder, write_all
from d2ke._base.resuming import locked
from d2ke.io.manifest import LOCK, Manifest, check_replaceable, clean, publish, read_manifest
from d2ke.io.segment_file import SegmentContent, StoredSegment, encode, open_segment, read_log


class Store:
    """An index's folder, opened by `Store.open`; it is a context manager.

    Attributes
    ----------
    path : pathlib.Path
        The folder.
    header : dict
        What was given to `create` or `commit`, as JSON has it.
    segments : tuple of StoredSegment
        Their arrays are read-only, and on the disk until they are used.
    log : list of SegmentContent
        The records that were appended since the manifest was written.
    is_verified : bool
        Whether all arrays were compared with their checksums.
    """

    header: dict[str, Any]

    def __init__(self, path: Path, writable: bool, verify: bool, sync: bool):
        self.path = path.absolute()  # wherever the process goes
        self.segments: tuple[StoredSegment, ...] = ()
        self.log: list[SegmentContent] = []
        self.is_verified = verify
        self._writable, self._verify, self._sync = writable, verify, sync
        self._manifest: Manifest | None = None
        self._end = 0  # of the last complete record
        self._log_file: FileIO | None = None  # of a writer
        self._stack = ExitStack()
        self._closed = False

    @classmethod
    def create(
        cls,
        path: str | os.PathLike[str],
        header: dict[str, Any],
        segments: Iterable[SegmentContent],
    ) -> None:
        """Write a new index, or replace one, whole or not at all.

        Raises
        ------
        FileExistsError
            If something else is at `path`.
        BlockingIOError
            If a writer has the index open.
        """
        path = file_path("path", path)
        new = not os.path.lexists(path)
        if not new:
            check_replaceable(path)
        elif not path.parent.is_dir():
            raise FileNotFoundError(f"cannot write {path}: there is no folder {path.parent}")
        path.mkdir(exist_ok=True)
        try:
            with locked(path / LOCK, path):
                try:
                    publish(path, header, segments)
                finally:
                    clean(path)
            sync_folder(path)
        except BaseException as error:
            is_ours = new and not isinstance(error, BlockingIOError)
            if is_ours and os.listdir(path) in ([], [LOCK]):
                with suppress(OSError):
                    (path / LOCK).unlink(missing_ok=True)
                    path.rmdir()
            raise

    @classmethod
    def open(
        cls,
        path: str | os.PathLike[str],
        *,
        writable: bool = False,
        verify: bool = True,
        sync: bool = False,
    ) -> Store:
        """Open an index.

        Parameters
        ----------
        path : path
            The folder.
        writable : bool, default False
            True to append and commit; one process at a time can.
        verify : bool, default True
            False to leave the arrays unread; `verify` checks them later.
        sync : bool, default False
            True to make each record durable against the loss of power too.

        Raises
        ------
        FileNotFoundError
            If there is no such folder.
        ValueError
            If it is no index, is damaged ("FOLDER is damaged: WHAT"), or was written by a newer
            version of d2ke.
        BlockingIOError
            If it is opened for writing twice.
        """
        folder = file_path("path", path)
        read_manifest(folder)  # no lock is left in other folders
        store = cls(folder, writable, verify, sync)
        try:
            if writable:
                store._stack.enter_context(locked(store.path / LOCK, store.path))
            store._load(verify)
            if writable:
                clean(store.path)
        except BaseException:
            store.close()
            raise
        return store

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the index, and let another writer in; arrays that are in use stay valid."""
        self._closed = True
        self.segments, self.log = (), []
        if self._log_file is not None:
            self._log_file.close()
        self._stack.close()

    def verify(self) -> None:
        """Read all arrays of the segments, and refuse an index with a damaged one."""
        self._check_open()
        for number, segment in enumerate(self.segments):
            with damage_of(self.path, f"segment {number}, "):
                segment.verify()
        self.is_verified = True

    def refresh(self) -> bool:
        """Take what a writer added since; return whether there was anything."""
        self._check_open()
        is_newer = self._load(self._verify)
        self.is_verified &= self._verify or not is_newer
        return is_newer

    def append(self, record: SegmentContent) -> None:
        """Add a record to the log: once this returns, the end of the process doesn't lose it.

        A record that could not be written is an OSError, and the log is what it was. The caller
        defers Ctrl-C.
        """
        file = self._check_writable()
        content = b"".join(encode(record))
        try:
            write_all(file.fileno(), content, self._end)
            if self._sync:
                os.fsync(file.fileno())
        except BaseException as error:
            try:
                file.truncate(self._end)
            except OSError:
                self.close()  # the next record would not cover what is left of this one
            if isinstance(error, OSError) and error.errno in FULL:
                problem = f"nothing was added to {self.path}: {os.strerror(error.errno)}"
                raise OSError(error.errno, problem) from error
            raise
        self._end += len(content)
        self.log.append(record)

    def commit(
        self, segments: Sequence[SegmentContent | StoredSegment], header: dict[str, Any]
    ) -> None:
        """Replace the segments and empty the log, whole or not at all.

        Segments of this store are kept as they are.
        """
        self._check_writable()
        try:
            publish(self.path, header, segments)
        finally:
            # The manifest may be replaced also where an error was raised after that.
            try:
                self._load(verify=False)
            except BaseException:
                self.close()  # records would go to a log that nobody reads
                raise
            clean(self.path)

    def _check_open(self) -> None:
        if self._closed:
            raise ArgumentError(str(self.path), "is closed")

    def _check_writable(self) -> FileIO:
        self._check_open()
        if self._log_file is None:
            raise ArgumentError(str(self.path), "is open for reading only; open it writable=True")
        return self._log_file

    def _load(self, verify: bool) -> bool:
        """Take the manifest and the log as they are now; return whether they are newer."""
        while True:
            manifest = read_manifest(self.path)
            try:
                return self._take(manifest, verify)
            except (FileNotFoundError, PermissionError) as error:
                # A writer deletes files once it has replaced the manifest; on Windows they may not
                # be opened meanwhile.
                if read_manifest(self.path).log == manifest.log:
                    if isinstance(error, PermissionError):
                        raise
                    problem = f"is damaged: the file {Path(error.filename).name} is missing"
                    raise ArgumentError(str(self.path), problem) from error

    def _take(self, manifest: Manifest, verify: bool) -> bool:
        """Open the files of a manifest; keep open segments and read records."""
        is_other = self._manifest is None or manifest.log != self._manifest.log
        segments, before, start = self.segments, self.log, self._end
        if is_other:
            opened = {segment.name: segment for segment in segments}
            segments, before, start = (), [], 0
            for number, name in enumerate(manifest.segments):
                with damage_of(self.path, f"segment {number}, "):
                    segment = opened.get(name) or open_segment(self.path / name, verify)
                segments += (segment,)
        log = self.path / manifest.log
        with open_file(log) as stream, damage_of(self.path, "log, "):
            records, end = read_log(stream, start)
        if is_other and self._writable:
            if self._log_file is not None:
                self._log_file.close()
            self._log_file = FileIO(log, "rb+")
            self._log_file.truncate(end)  # an incomplete record
        self._manifest, self._end = manifest, end
        self.header, self.segments, self.log = manifest.header, segments, before + records
        return is_other or bool(records)
