# SPDX-License-Identifier: BSD-3-Clause
"""Feature stores written by blocks of rows, that outlive a kill at any moment.

``NAME.part`` has all of the HDF5 structure from the beginning, and the space for all rows. Rows are
written to their places; when they are on the disk, the table says so. Whoever writes has the part
locked. At the end the header is written and the part gets its name.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from d2ke._base.checkpoint import as_json, made_with, open_locked, refuse_differences
from d2ke._base.files import check_place, reserve, sync_folder, write_all
from d2ke._base.resume import check_finished
from d2ke.io.store import layout
from d2ke.io.store.blocks import Blocks
from d2ke.io.store.hdf5 import part_of
from d2ke.io.store.reader import FeatureFile
from d2ke.objects.container import Objects


@dataclass(frozen=True, eq=False)
class Content:
    """What a store has besides its features.

    Attributes
    ----------
    parameters : mapping
        What the features were made with.
    inputs : mapping
        Digests of what they were made from. To be resumed, a store must have equal ones.
    omega : Objects, optional
        The random object of each column.
    labels : ndarray, optional
        The label of each row.
    """

    parameters: Mapping[str, Any]
    inputs: Mapping[str, Any]
    omega: Objects | None = None
    labels: np.ndarray | None = None


class PartialStore:
    """A store that is being written, or that turned out to be finished.

    Attributes
    ----------
    finished : bool
        Whether there is nothing left to do.
    blocks : Blocks
        Where the rows go.
    done : ndarray of bool, shape (blocks,)
        The blocks that are on the disk.
    """

    finished = False
    blocks: Blocks
    done: np.ndarray

    def __init__(
        self,
        path: Path,
        shape: tuple[int, int],
        dtype: np.dtype,
        content: Content,
        *,
        resume: bool,
    ):
        self.path = path
        self.part = path.with_name(f"{path.name}.part")
        content = replace(content, inputs={**content.inputs, **made_with()})
        self._record = _record(shape, dtype, content.parameters, content.inputs)
        self._fd = -1
        check_place(path)
        if path.is_symlink() and not path.exists():
            raise FileExistsError(f"{path} is a link to a file that is not there; remove it first")
        if self._check_finished(resume):
            return
        self._fd = open_locked(self.part, path)
        try:
            if self._check_finished(resume):  # another call has just written it
                if os.fstat(self._fd).st_size == 0:
                    self.part.unlink()
                self.close()
            elif self._has_structure():
                if not resume:
                    raise FileExistsError(
                        f"{self.part} holds a part of {path}, which was interrupted: resume=True "
                        "resumes it; or remove it first"
                    )
                self._resume()
            else:
                self._create(shape, dtype, content)
        except BaseException:
            self.close()
            raise

    def _check_finished(self, resume: bool) -> bool:
        self.finished = check_finished(
            self.path, self._record, self._finished_record, resume=resume
        )
        return self.finished

    def _finished_record(self) -> dict[str, Any]:
        """Return what the finished store was made from."""
        with FeatureFile(self.path) as store:
            if not store.inputs:
                raise FileExistsError(
                    f"{self.path} exists already, and has no record of what it was made from; "
                    "remove it first"
                )
            return _record(store.shape, store.dtype, store.parameters, store.inputs)

    def _has_structure(self) -> bool:
        with open(self._fd, "rb", closefd=False) as stream:
            return layout.check_part(self.part, stream)

    def _create(self, shape: tuple[int, int], dtype: np.dtype, content: Content) -> None:
        groups = {"parameters": content.parameters, "inputs": content.inputs}
        beside = groups, content.omega, content.labels
        try:
            os.ftruncate(self._fd, 0)
            write_all(self._fd, layout.BEGUN, 0)
            os.fsync(self._fd)
            image, self.blocks = layout.put_blocks(self._fd, shape, dtype, *beside)
            reserve(self._fd, image.size, self.path)
            image.write_to_file()
            os.ftruncate(self._fd, image.size)
            os.fsync(self._fd)
            layout.seal_unfinished(self._fd, self.blocks)
            os.fsync(self._fd)
            sync_folder(self.path)
        except BaseException:
            # Nothing was computed yet; a part that cannot grow would only be in the way.
            self.part.unlink(missing_ok=True)
            raise
        self.done = np.zeros(self.blocks.table_shape[0], dtype=bool)

    def _resume(self) -> None:
        with (
            open(self._fd, "rb", buffering=0, closefd=False) as stream,
            h5py.File(stream, "r") as store,
            layout.damage(self.part),
        ):
            Z = part_of(store, "Z")
            groups = (layout.get_values(store, name) for name in ("parameters", "inputs"))
            before = _record(Z.shape, Z.dtype, *groups)
            blocks = layout.get_blocks(store)
        refuse_differences(self.part, before, self._record)
        self.blocks = blocks
        written, self.done = blocks.sound(self._fd)
        for block in np.flatnonzero(written & ~self.done).tolist():
            rows = blocks.rows(block, block + 1)
            warnings.warn(
                f"{self.part} is damaged in rows {rows.start} to {rows.stop - 1}; they are "
                "computed anew",
                RuntimeWarning,
                stacklevel=2,
            )

    def missing(self, first: int, most: int) -> range:
        """Return the next blocks that are not done, at most so many, from block `first` on."""
        n_blocks = len(self.done)
        left = np.flatnonzero(~self.done[first:])
        if not left.size:
            return range(n_blocks, n_blocks)
        begin = first + int(left[0])
        following = np.flatnonzero(self.done[begin : begin + most])
        end = begin + (int(following[0]) if following.size else most)
        return range(begin, min(end, n_blocks))

    def write(self, rows: slice, Z: np.ndarray, stop: Any) -> tuple[slice, np.ndarray] | None:
        """Write whole blocks; return what `sync` takes, None if `stop` was set meanwhile."""
        entries = []
        try:
            for block in self.blocks.blocks(rows):
                if stop.is_set():
                    return None
                part = self.blocks.rows(block, block + 1)
                Z_block = Z[part.start - rows.start : part.stop - rows.start]
                entries.append(self.blocks.write(self._fd, block, Z_block))
        except OSError as error:
            raise self._failed(error, rows) from error
        return rows, np.array(entries)

    def sync(self, rows: slice, entries: np.ndarray) -> None:
        """Wait until the rows are on the disk, and say so in the table."""
        blocks = self.blocks.blocks(rows)
        try:
            os.fsync(self._fd)
            # What is not synced is known by its checksums, so that the next call syncs this.
            self.blocks.write_table(self._fd, blocks.start, entries)
        except OSError as error:
            raise self._failed(error, rows) from error
        self.done[blocks.start : blocks.stop] = True

    def _failed(self, error: OSError, rows: slice) -> OSError:
        return OSError(
            error.errno,
            f"{self.part}: {os.strerror(error.errno)} at rows {rows.start} to {rows.stop - 1}; "
            f"the file takes {os.fstat(self._fd).st_size} bytes in all, and what is written is "
            "kept: resume=True resumes it",
        )

    def finish(self) -> None:
        """Give the complete store its header and its name."""
        if self.path.exists():
            raise FileExistsError(f"{self.path} was made meanwhile; {self.part} is kept")
        os.fsync(self._fd)
        layout.seal_complete(self._fd, (self.blocks.start, self.blocks.stop))
        os.fsync(self._fd)
        os.replace(self.part, self.path)
        sync_folder(self.path)
        self.finished = True

    def close(self) -> None:
        """Close the file, which unlocks it."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1


def _record(
    shape: tuple[int, int],
    dtype: np.dtype,
    parameters: Mapping[str, Any],
    inputs: Mapping[str, Any],
) -> dict[str, Any]:
    """Return all that must be the same for a store to be resumed, as JSON has it."""
    return as_json({"n": shape[0], "R": shape[1], "dtype": dtype.name, **inputs, **parameters})
