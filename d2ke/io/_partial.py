# SPDX-License-Identifier: BSD-3-Clause
"""Feature stores written by blocks of rows, that outlive a kill at any moment.

``NAME.part`` has all of the HDF5 structure from the beginning, and libhdf5 never writes to it
again: rows go to the places of their chunks by writes past the system's cache. When rows are on
the disk, a line says so in ``NAME.journal``, which is also the lock. At the end the header is
written, the part gets its name, and the journal goes.
"""

from __future__ import annotations

import errno
import json
import os
import warnings
from collections.abc import Mapping
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from d2ke._ext import isa
from d2ke._version import __version__
from d2ke.io import _layout
from d2ke.io._direct import DirectWriter
from d2ke.io._grid import Grid
from d2ke.io._hdf5 import HEADER_BYTES, sha256
from d2ke.io._journal import Journal
from d2ke.io._skeleton import check_space, reserve, store_bytes, write_skeleton
from d2ke.io.feature_file import FeatureFile
from d2ke.objects.container import Objects

_FORMAT = 1
# What the last bits of results may depend on besides the inputs. A finished store may differ in
# it: its rows are there already.
MADE_WITH = ("d2ke", "instructions")

_FULL = (errno.ENOSPC, errno.EFBIG, errno.EDQUOT)


class PartialStore:
    """A store that is being written, or that turned out to be finished.

    Attributes
    ----------
    finished : bool
        Whether there is nothing left to do.
    grid : Grid
        Where the rows go.
    done : ndarray of bool, shape (bands,)
        The bands that are on the disk.
    """

    finished = False
    grid: Grid
    done: np.ndarray

    def __init__(
        self,
        path: Path,
        shape: tuple[int, int],
        dtype: np.dtype,
        *,
        parameters: Mapping[str, Any],
        inputs: Mapping[str, Any],
        omega: Objects | None,
        resume: bool,
    ):
        self.path = path
        self.part = path.with_name(f"{path.name}.part")
        if path.is_dir():
            raise IsADirectoryError(f"{path} is a folder; a file's name is needed")
        if path.exists() and not resume:
            raise FileExistsError(
                f"{path} exists already: with resume=True it is kept if it holds the same, or "
                "remove it first"
            )
        self._shape, self._dtype, self._omega = shape, dtype, omega
        made_with = {"d2ke": __version__, "instructions": isa.selected()}
        self._groups = {"parameters": parameters, "inputs": {**inputs, **made_with}}
        self._record = _record(shape, dtype, parameters, {**inputs, **made_with})
        self._fd, self._out = -1, None
        self._journal = Journal(path.with_name(f"{path.name}.journal"), path)
        try:
            self._begin(resume)
        except BaseException:
            if self._journal.new:
                self._journal.remove()
            self.close()
            raise

    def _begin(self, resume: bool) -> None:
        if self.path.exists():
            if not resume:  # another call has just written it
                raise FileExistsError(f"{self.path} exists already")
            self._check_finished()
            self._journal.remove()
            self.finished = True
            return
        entries = self._journal.read()
        if not self.part.exists():
            self._create()
        elif self._journal.new:
            raise FileExistsError(
                f"{self.part} exists, but its journal {self._journal.path} does not, so that it "
                "cannot be gone on with; remove it first"
            )
        elif not entries:  # its creation was interrupted
            self._create()
        elif not resume:
            raise FileExistsError(
                f"{self.part} holds a part of {self.path}, which was interrupted: resume=True goes "
                f"on with it; or remove it and {self._journal.path} first"
            )
        else:
            self._take_up(entries)
        self._out = DirectWriter(self.part, self._fd, self.grid.chunk_bytes)

    def _check_finished(self) -> None:
        with FeatureFile(self.path) as store:
            if not store.inputs:
                raise FileExistsError(
                    f"{self.path} exists already, and has no record of what it was made from; "
                    "remove it first"
                )
            before = _record(store.shape, store.dtype, store.parameters, store.inputs)
        after = {name: value for name, value in self._record.items() if name not in MADE_WITH}
        refuse_differences(self.path, before, after)

    def _create(self) -> None:
        n_bytes = store_bytes(self._shape, self._dtype, self._omega)
        self._journal.clear()
        self.part.unlink(missing_ok=True)
        try:
            check_space(self.path.parent, n_bytes)
            self._fd = os.open(self.part, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
            reserve(self._fd, n_bytes)
            self.grid = write_skeleton(
                self._fd, self._shape, self._dtype, self._groups, self._omega
            )
            os.fsync(self._fd)
            _sync_folder(self.path)
            self._journal.append(self._first_entry())
        except BaseException as error:
            # Nothing was computed yet; a part that cannot grow would only be in the way.
            self.part.unlink(missing_ok=True)
            self._journal.remove()
            if isinstance(error, OSError) and error.errno in _FULL:
                raise OSError(
                    error.errno, f"{self.path} takes {n_bytes} bytes: {error.strerror}"
                ) from error
            raise
        self.done = np.zeros(self.grid.n_bands, dtype=bool)

    def _first_entry(self) -> dict[str, Any]:
        size = os.fstat(self._fd).st_size
        return {
            "journal": _FORMAT,
            "size": size,
            "chunk": self.grid.chunk,
            "runs": _to_runs(self.grid.starts.ravel(), self.grid.chunk_bytes),
            "sha256": self._structure(self.grid),
            "record": self._record,
        }

    def _structure(self, grid: Grid) -> str:
        """Return the SHA-256 of all that lies between header and chunks."""
        with open(self.part, "rb") as content:
            return _outside(content, _to_runs(grid.starts.ravel(), grid.chunk_bytes), grid)

    def _take_up(self, entries: list[Any]) -> None:
        first = entries[0]
        chunk = _layout.chunk_shape(self._shape)
        refuse_differences(self.part, first["record"], self._record)
        if first["journal"] != _FORMAT or tuple(first["chunk"]) != chunk:
            raise ValueError(
                f"{self.part} was begun by another version of d2ke; remove it and "
                f"{self._journal.path}"
            )
        grid = Grid(self._shape, chunk, self._dtype, np.empty((0, 0), dtype=np.int64))
        starts = _from_runs(first["runs"], grid.chunk_bytes)
        bands = -(-self._shape[0] // chunk[0])
        self.grid = Grid(self._shape, chunk, self._dtype, starts.reshape(bands, -1))
        self._fd = os.open(self.part, os.O_RDWR | os.O_CLOEXEC)
        size = os.fstat(self._fd).st_size
        if size != first["size"] or self._structure(self.grid) != first["sha256"]:
            raise ValueError(
                f"{self.part} is damaged beyond its rows; remove it and {self._journal.path}"
            )
        self.done = np.zeros(self.grid.n_bands, dtype=bool)
        checks = {tuple(entry["rows"]): entry["crc"] for entry in entries[1:]}
        for (start, stop), crc in checks.items():
            rows = slice(start, stop)
            sound = self.grid.read_crc(self._fd, rows) == crc
            self.done[self.grid.bands(rows)] = sound
            if not sound:
                warnings.warn(
                    f"{self.part} is damaged in rows {start} to {stop - 1}; they are computed anew",
                    RuntimeWarning,
                    stacklevel=2,
                )

    def missing(self, first: int, most: int) -> range:
        """Return the next bands that are not done, at most so many, from the band `first` on."""
        left = np.flatnonzero(~self.done[first:])
        if not left.size:
            return range(self.grid.n_bands, self.grid.n_bands)
        begin = first + int(left[0])
        following = np.flatnonzero(self.done[begin : begin + most])
        end = begin + (int(following[0]) if following.size else most)
        return range(begin, min(end, self.grid.n_bands))

    def write(self, rows: slice, Z: np.ndarray, stop: Any) -> tuple[slice, int] | None:
        """Write whole bands; return what `sync` takes, None if `stop` was set meanwhile."""
        try:
            for crc in self.grid.write(self._out, rows, Z):  # noqa: B007 (the last one counts)
                if stop.is_set():
                    return None
        except OSError as error:
            raise self._failed(error, rows) from error
        return rows, crc

    def sync(self, rows: slice, crc: int) -> None:
        """Wait until the rows are on the disk, and say so in the journal."""
        try:
            os.fsync(self._fd)
            self._journal.append({"rows": [rows.start, rows.stop], "crc": crc})
        except OSError as error:
            raise self._failed(error, rows) from error
        self.done[self.grid.bands(rows)] = True

    def _failed(self, error: OSError, rows: slice) -> OSError:
        return OSError(
            error.errno,
            f"{self.part}: {os.strerror(error.errno)} at rows {rows.start} to {rows.stop - 1}; "
            f"the file takes {os.fstat(self._fd).st_size} bytes in all, and what is written is "
            "kept: resume=True goes on with it",
        )

    def finish(self) -> None:
        """Give the complete store its header and its name."""
        if self.path.exists():
            raise FileExistsError(f"{self.path} has come into being meanwhile; {self.part} is kept")
        runs = _to_runs(self.grid.starts.ravel(), self.grid.chunk_bytes)
        start, count = max(runs, key=lambda run: run[1])
        _layout.seal_store(self.part, (start, start + count * self.grid.chunk_bytes))
        os.fsync(self._fd)
        os.replace(self.part, self.path)
        _sync_folder(self.path)
        self._journal.remove()
        self.finished = True

    def close(self) -> None:
        """Close the files and give up the lock."""
        if self._out is not None:
            self._out.close()
            self._out = None
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1
        self._journal.close()


def _record(
    shape: tuple[int, int],
    dtype: np.dtype,
    parameters: Mapping[str, Any],
    inputs: Mapping[str, Any],
) -> dict[str, Any]:
    """Return all that must be the same for a store to be gone on with, as JSON has it."""
    record = {"n": shape[0], "R": shape[1], "dtype": dtype.name, **inputs, **parameters}
    return json.loads(json.dumps(record))


def refuse_differences(path: Path, before: Mapping[str, Any], after: Mapping[str, Any]) -> None:
    """Refuse to go on with what was made from something else; the error names what differs."""
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
            f"{path} was made from something else: {'; '.join(differences)}; it can be gone on "
            "with as it was begun, or removed"
        )


def _to_runs(starts: np.ndarray, step: int) -> list[list[int]]:
    """Return [start, count] of each run of chunks that lie end to end, in the order of chunks."""
    edges = np.flatnonzero(np.diff(starts) != step) + 1
    return [[int(part[0]), len(part)] for part in np.split(starts, edges)]


def _from_runs(runs: list[list[int]], step: int) -> np.ndarray:
    return np.concatenate([start + step * np.arange(count) for start, count in runs])


def _outside(content: Any, runs: list[list[int]], grid: Grid) -> str:
    place, spans = HEADER_BYTES, []
    for start, count in sorted(runs):
        spans.append((place, start))
        place = start + count * grid.chunk_bytes
    return sha256(content, *spans, (place, None)).hex()


def _sync_folder(path: Path) -> None:
    """Have the system write down which names the folder has."""
    fd = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
