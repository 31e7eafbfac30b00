# SPDX-License-Identifier: BSD-3-Clause
"""Files of features that are written by blocks of rows; a killed run is resumed.

While rows are missing the file is called ``NAME.part``. It has its whole structure and size from
the beginning. Rows are written to their places, and are on the disk before ``/done`` says so.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from d2ke._base.checkpoint import (
    MADE_WITH,
    as_json,
    made_with,
    open_locked,
    refuse_differences,
    refuse_unknown,
)
from d2ke._base.files import check_place, reserve, sync_folder
from d2ke._base.progress import progress_bar
from d2ke._base.signals import deferred_interrupts
from d2ke.io.feature_file import FeatureFile
from d2ke.io.features import put_parts
from d2ke.io.hdf5 import SIGNATURE, get_json, hdf5_on, put_json
from d2ke.objects.container import Objects

_BLOCK_BYTES = 1 << 20  # of rows that are done together
_RUN_BYTES = 1 << 26  # of blocks computed together: what a kill may lose, unless they take longer
_RUN_SECONDS = 1.0


@dataclass(frozen=True)
class FeatureContent:
    """All of a features file except its rows; `inputs` are digests of its sources."""

    shape: tuple[int, int]
    dtype: np.dtype
    parameters: Mapping[str, Any]
    inputs: Mapping[str, Any]
    omega: Objects | None = None
    labels: np.ndarray | None = None

    @property
    def record(self) -> dict[str, Any]:
        """All that must be the same for a file to be resumed, as JSON has it."""
        sizes = {"n": self.shape[0], "R": self.shape[1], "dtype": self.dtype.name}
        return as_json({**sizes, **self.inputs, **self.parameters, **made_with()})


def write_rows(
    path: Path,
    content: FeatureContent,
    compute: Callable[[slice, np.ndarray, Any], None],
    title: str,
    progress: bool,
    run_rows: int,
) -> None:
    """Write or resume a file; ``compute(rows, Z, report)`` computes at most `run_rows` rows."""
    record = content.record
    refuse_unknown(path, record)
    check_place(path)
    if _complete(path, record):
        return
    part = path.with_name(f"{path.name}.part")
    fd = open_locked(part, path)
    try:
        if _complete(path, record):  # by another call, in the meantime
            if os.fstat(fd).st_size == 0:
                part.unlink()
            return
        before = _begun(fd, part)
        if before is None:
            _begin(fd, path, part, content, record)
        else:
            refuse_differences(part, before, record)
        with hdf5_on(fd, "r+") as file, progress_bar(progress, title) as report:
            _fill(fd, file, compute, report, run_rows)
        os.fsync(fd)
        os.replace(part, path)
        sync_folder(path)
    finally:
        os.close(fd)


def _complete(path: Path, record: Mapping[str, Any]) -> bool:
    """Return whether the complete file exists; refuse one with other sources."""
    if not path.exists():
        return False
    try:
        with FeatureFile(path) as file:
            before = file.record
    except ValueError as error:
        raise FileExistsError(f"{path} exists already, and {error}; remove it first") from error
    if not before:
        raise FileExistsError(
            f"{path} exists already, and does not say what it was made from; remove it first"
        )
    # Nothing is added to it, so that another version of d2ke may have made it.
    after = {name: value for name, value in record.items() if name not in MADE_WITH}
    refuse_differences(path, before, after)
    return True


def _begun(fd: int, part: Path) -> dict[str, Any] | None:
    """Return the sources of an unfinished file; None if its structure is not complete."""
    front = os.pread(fd, len(SIGNATURE), 0)
    if front.strip(b"\0") and front != SIGNATURE:
        raise FileExistsError(f"{part} exists, and is not an unfinished features file; remove it")
    # A kill while the structure was written leaves what h5py cannot read.
    with suppress(OSError, KeyError), hdf5_on(fd, "r") as file:
        return get_json(file, "record")
    return None


def _begin(
    fd: int, path: Path, part: Path, content: FeatureContent, record: Mapping[str, Any]
) -> None:
    """Write all of a file but its rows, and reserve its space."""
    try:
        os.ftruncate(fd, 0)
        with hdf5_on(fd, "w") as file:
            put_parts(file, content.parameters, content.omega, content.labels)
            file["done"] = 0  # rows
            _allocate(file, "Z", content.shape, content.dtype)
        reserve(fd, os.fstat(fd).st_size, path)
        os.fsync(fd)
        with hdf5_on(fd, "r+") as file:  # the last of the structure
            put_json(file, "record", record)
        os.fsync(fd)
        sync_folder(path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def _allocate(file: h5py.File, name: str, shape: tuple[int, ...], dtype: np.dtype) -> None:
    """Create a dataset with early allocation and without fill values."""
    options = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    options.set_layout(h5py.h5d.CONTIGUOUS)
    options.set_alloc_time(h5py.h5d.ALLOC_TIME_EARLY)
    options.set_fill_time(h5py.h5d.FILL_TIME_NEVER)
    space, kind = h5py.h5s.create_simple(shape), h5py.h5t.py_create(dtype)
    h5py.h5d.create(file.id, name.encode(), kind, space, options)


def _fill(
    fd: int,
    file: h5py.File,
    compute: Callable[[slice, np.ndarray, Any], None],
    report: Any,
    run_rows: int,
) -> None:
    """Compute and write the rows that are not done, in runs of about a second."""
    Z, done = file["Z"], file["done"]
    (n, m), start = Z.shape, int(done[()])
    row_bytes = m * Z.dtype.itemsize
    step = max(1, _BLOCK_BYTES // row_bytes)
    longest = max(step, min(run_rows, _RUN_BYTES // row_bytes))
    buffer = np.empty((min(n, longest), m), Z.dtype)
    count = step
    while start < n:
        part = buffer[: min(count, n - start)]
        stop = start + len(part)

        def visit(here: int, _: int, before: int = start * m) -> None:
            report(before + here, n * m)

        started = time.perf_counter()
        compute(slice(start, stop), part, report and visit)
        seconds = time.perf_counter() - started
        with deferred_interrupts():
            Z.write_direct(part, dest_sel=np.s_[start:stop])
            file.flush()
            os.fsync(fd)
            done[()] = stop
        if report is not None:
            report(stop * m, n * m)
        start = stop
        count = min(longest, max(step, int(_RUN_SECONDS * len(part) / max(seconds, 1e-9))))
