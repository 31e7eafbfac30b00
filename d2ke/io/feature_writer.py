# SPDX-License-Identifier: BSD-3-Clause
"""Files of features that are written by blocks of rows; a killed run is resumed.

While rows are missing the file is called ``NAME.part``. It has its whole structure and size from
the beginning. Chunks of rows are written to their offsets without h5py, and are on the disk before
the user block counts them. ``NAME.lock`` is locked meanwhile, and stays but on Windows.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import h5py
import numpy as np

from d2ke._base.damage import Damaged
from d2ke._base.errors import warn
from d2ke._base.files import check_place, open_file, reserve, sync_folder, write_all
from d2ke._base.progress import progress_bar
from d2ke._base.resuming import (
    MADE_WITH,
    locked,
    made_with,
    refuse_differences,
    refuse_unknown,
)
from d2ke._base.seal import SIZE, Seal, check_seal, is_sealed
from d2ke._base.signals import deferred_interrupts
from d2ke.io.feature_file import FeatureFile
from d2ke.io.features import chunk_offsets, chunk_shape, put_parts, seal_features
from d2ke.objects.container import Objects
from d2ke.objects.hdf5 import get_json, hdf5_on, open_hdf5, put_json

_RUN_BYTES = 1 << 26  # of chunks computed together: what a kill may lose, unless they take longer
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
    ids: np.ndarray | None = None

    @property
    def record(self) -> dict[str, Any]:
        """All that must be the same for a file to be resumed, as JSON has it."""
        sizes = {"n": self.shape[0], "R": self.shape[1], "dtype": self.dtype.name}
        record = {**sizes, **self.inputs, **self.parameters, **made_with()}
        return json.loads(json.dumps(record))


def write_rows(
    path: Path,
    content: FeatureContent,
    compute: Callable[[slice, np.ndarray, Any], None],
    title: str,
    progress: bool | None,
    run_rows: int,
) -> None:
    """Write or resume a file; ``compute(rows, Z, report)`` computes at most `run_rows` rows."""
    record = content.record
    refuse_unknown(path, record)
    check_place(path)
    if _complete(path, record):
        return
    unfinished = path.with_name(f"{path.name}.part")
    with locked(path.with_name(f"{path.name}.lock"), path):
        if _complete(path, record):  # by another call, in the meantime
            return
        seal = _begun(unfinished, record) or _begin(path, unfinished, content, record)
        with open(unfinished, "rb+", buffering=0) as stream:
            with progress_bar(progress, title) as report:
                _fill(stream, seal, compute, report, run_rows)
            os.fsync(stream.fileno())
        os.replace(unfinished, path)
        sync_folder(path)


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


def _begun(unfinished: Path, record: Mapping[str, Any]) -> Seal | None:
    """Check an unfinished file, and return its seal; None if it must be begun."""
    if not unfinished.exists():
        return None
    with open_file(unfinished) as stream:
        front = stream.read(SIZE)
        if not front.strip(b"\0"):  # a kill while the structure was written
            return None
        if not is_sealed(front, "features"):
            raise FileExistsError(
                f"{unfinished} exists, and is not an unfinished features file; remove it"
            )
        try:
            seal = check_seal(stream, "features")
        except Damaged as error:
            warn(f"{unfinished} is damaged: {error}; all of its rows are computed again")
            return None
    with open_hdf5(unfinished) as file:
        before = get_json(file, "record")
    refuse_differences(unfinished, before, record)
    return seal


def _begin(
    path: Path, unfinished: Path, content: FeatureContent, record: Mapping[str, Any]
) -> Seal:
    """Write all of a file but its rows, and reserve its space."""
    unfinished.unlink(missing_ok=True)
    try:
        with open(unfinished, "xb+", buffering=0) as stream:
            fd = stream.fileno()
            with hdf5_on(fd, "w", userblock_size=SIZE) as file:
                put_parts(file, content.parameters, content.omega, content.labels, content.ids)
                put_json(file, "record", record)
                _allocate(file, "Z", content.shape, content.dtype)
            seal = seal_features(stream)
            reserve(fd, os.fstat(fd).st_size, path)
            os.fsync(fd)
            write_all(fd, seal.block("features", 0), 0)  # the last of the structure
            os.fsync(fd)
        sync_folder(path)
        return seal
    except BaseException:
        unfinished.unlink(missing_ok=True)
        raise


def _allocate(file: h5py.File, name: str, shape: tuple[int, int], dtype: np.dtype) -> None:
    """Create a dataset whose chunks are allocated and hold zeros."""
    options = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    options.set_chunk(chunk_shape(shape, dtype))
    options.set_fletcher32()
    options.set_alloc_time(h5py.h5d.ALLOC_TIME_EARLY)
    space, kind = h5py.h5s.create_simple(shape), h5py.h5t.py_create(dtype)
    h5py.h5d.create(file.id, name.encode(), kind, space, options)


def _fill(
    stream: BinaryIO,
    seal: Seal,
    compute: Callable[[slice, np.ndarray, Any], None],
    report: Any,
    run_rows: int,
) -> None:
    """Compute and write the rows that are not done, in runs of about a second."""
    fd, start = stream.fileno(), seal.rows
    with hdf5_on(fd, "r") as file:
        Z = file["Z"]
        (n, m), dtype, chunk = Z.shape, Z.dtype, Z.chunks
        step = chunk[0]
        offsets = chunk_offsets(Z)[:, 0].reshape(-(-n // step), -1)
    longest = max(1, min(run_rows, _RUN_BYTES // (m * dtype.itemsize)) // step) * step
    buffer = np.empty((min(n, longest), m), dtype)
    count = step
    while start < n:
        block = buffer[: min(count, n - start)]
        stop = start + len(block)

        def visit(here: int, _: int, before: int = start * m) -> None:
            report(before + here, n * m)

        started = time.perf_counter()
        compute(slice(start, stop), block, report and visit)
        seconds = time.perf_counter() - started
        with deferred_interrupts():
            for first in range(0, len(block), step):
                rows = block[first : first + step]
                for column, offset in zip(
                    range(0, m, chunk[1]), offsets[(start + first) // step].tolist(), strict=True
                ):
                    values = np.zeros(chunk, dtype)
                    values[: len(rows), : m - column] = rows[:, column : column + chunk[1]]
                    write_all(fd, values, offset)
                    write_all(fd, fletcher32(values), offset + values.nbytes)
            os.fsync(fd)
            write_all(fd, seal.block("features", stop), 0)
        if report is not None:
            report(stop * m, n * m)
        start = stop
        count = int(_RUN_SECONDS * len(block) / max(seconds, 1e-9)) // step * step
        count = min(longest, max(step, count))


def fletcher32(values: np.ndarray) -> bytes:
    """Return what HDF5's filter of this name puts after a chunk of an even number of bytes."""
    words = np.frombuffer(values, ">u2")
    first = second = 0
    for start in range(0, len(words), 1 << 16):
        piece = words[start : start + (1 << 16)].astype(np.int64)
        second += first * len(piece) + int(piece @ np.arange(len(piece), 0, -1))
        first += int(piece.sum())
    first, second = (total and (total - 1) % 65535 + 1 for total in (first, second))
    return (second << 16 | first).to_bytes(4, "little")
