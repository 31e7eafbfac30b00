# SPDX-License-Identifier: BSD-3-Clause
"""Distances and features written to a file by blocks of rows, within a limit of memory."""

from __future__ import annotations

import time
from bisect import bisect_right
from collections.abc import Callable, Mapping
from contextlib import closing, nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from d2ke._base.memory import check_fits
from d2ke._base.progress import progress_bar
from d2ke._base.signals import deferred_interrupts
from d2ke.distances.cluster import MOST_BLOCK_BYTES, MatrixWork, Remote
from d2ke.distances.fingerprint import description
from d2ke.distances.output import Output, output_array
from d2ke.distances.pipeline import Background, wait_for_ending
from d2ke.distances.problem import PairwiseProblem, Transform
from d2ke.distances.registry import BY_NAME, plain_bytes
from d2ke.io.store.layout import tile_shape
from d2ke.io.store.reader import FeatureFile, open_features
from d2ke.io.store.writer import Content, PartialStore
from d2ke.objects.container import Objects

if TYPE_CHECKING:
    from dask.array import Array

_BUFFERS = 3  # one is filled while one is written and one waits: disks take uneven times
_MOST_RUN_BYTES = 1 << 26
# Blocks are computed in runs, and a run this long is long enough: what a kill may lose, and the
# time between two waits for the disk, of some milliseconds each.
_RUN_SECONDS = 1.0
_FIXED_BYTES, _THREAD_BYTES = 1 << 24, 1 << 20  # beside the blocks
_CLIENT_BYTES = 1 << 24  # what a client of workers takes besides what grows with the inputs


def check_memory(pairs: PairwiseProblem, output: Output) -> None:
    """Refuse a matrix that does not fit into memory."""
    (n, m), dtype = pairs.shape, pairs.dtype
    if output.out is None:
        check_fits(
            n * m * dtype.itemsize,
            f"{pairs.names.function}: {n} x {m} values of {dtype}",
            "give a path as out, with max_memory, and blocks of rows go to that file",
        )


def fill(
    pairs: PairwiseProblem, output: Output, transform: Transform
) -> np.ndarray | FeatureFile | Array:
    """Compute all pairs into an array, a feature store or a dask array, as the output says."""
    if output.dtype is not None:
        pairs = replace(pairs, dtype=output.dtype)
    in_memory = not (output.to_file or output.lazy)
    if in_memory:
        check_memory(pairs, output)
        out = output_array(output.out, pairs.shape, pairs.dtype)
        pairs = replace(pairs, dtype=out.dtype)
    remote: Any = None
    if output.client is not None:
        work = MatrixWork(pairs.compile, pairs.y, pairs.dtype, output.n_threads, transform)
        remote = Remote(pairs, output.client, work)
    if output.lazy:
        return remote.array()
    if output.to_file:
        return stream(pairs, output, transform, remote)
    with progress_bar(output.progress, transform.name) as report:
        if remote is None:
            return pairs.fill(out, output.n_threads, report, transform)
        receive_array(remote, out, output.max_memory, report)
    return out


def stream(
    pairs: PairwiseProblem, output: Output, transform: Transform, remote: Remote | None = None
) -> FeatureFile:
    """Compute all pairs block by block into a feature store, and open it; see `distance_matrix`."""
    if remote is None:
        most = _blocks_within(pairs, output)
    else:
        most = _remote_blocks(remote, tile_shape(pairs.shape)[0], output.max_memory)
    omega = pairs.y if pairs.y is not pairs.x and isinstance(pairs.y, Objects) else None
    described, inputs = description(pairs)
    wait_for_ending()  # it may be the same file that they write to
    store = PartialStore(
        output.out,
        pairs.shape,
        pairs.dtype,
        Content(described | dict(transform.parameters), inputs, omega),
        resume=output.resume,
    )
    if not store.finished:
        _complete(pairs, output, transform, store, most, remote)
    store.close()
    return open_features(output.out)


def _complete(
    pairs: PairwiseProblem,
    output: Output,
    transform: Transform,
    store: PartialStore,
    most: int,
    remote: Remote | None,
) -> None:
    """Compute and write what is missing, in runs of at most so many blocks."""
    buffers: list[Any] = [None] * _BUFFERS  # runs of workers come in memory of their own
    if remote is None:
        rows = min(most * store.blocks.tile[0], pairs.shape[0])
        buffers = [np.empty((rows, pairs.shape[1]), pairs.dtype) for _ in range(_BUFFERS)]
    # On an error it is the writer that closes the store, when it has stopped.
    with (
        deferred_interrupts() if remote is not None else nullcontext(),
        Background((store.write, store.sync), buffers, store.close) as writer,
        progress_bar(output.progress, transform.name) as report,
    ):
        if remote is None:
            _fill(pairs, output, transform, store, writer, most, report)
        else:

            def put(rows: slice, Z: np.ndarray) -> None:
                writer.put(writer.buffer(), rows, Z, writer.stop)

            done = int(store.done.sum())
            _receive(remote, put, store.missing, store.blocks.tile[0], most, report, done)
    try:
        store.finish()
    except BaseException:
        store.close()
        raise


def receive_array(
    remote: Remote, out: np.ndarray, limit: int | None, report: Callable[[int, int], None] | None
) -> None:
    """Fill an array with what workers compute."""

    def missing(first: int, most: int) -> range:
        return range(first, min(first + most, len(out)))

    most = _remote_blocks(remote, 1, limit)
    with deferred_interrupts():
        _receive(remote, out.__setitem__, missing, 1, most, report)


def _fill(
    pairs: PairwiseProblem,
    output: Output,
    transform: Transform,
    store: PartialStore,
    writer: Background,
    most: int,
    report: Callable[[int, int], None] | None,
) -> None:
    """Compute all blocks that are missing, in runs of at most so many."""
    n, m = pairs.shape
    first, count = 0, 1
    while blocks := store.missing(first, count):
        rows = store.blocks.rows(blocks.start, blocks.stop)
        buffer = writer.buffer()
        Z = buffer[: rows.stop - rows.start]
        done = rows.start * m

        def visit(here: int, _: int, done: int = done) -> None:
            writer.check()  # a full disk does not wait for the run's end
            if report is not None:
                report(done + here, n * m)

        started = time.perf_counter()
        pairs.rows(rows).run(Z, output.n_threads, visit, transform)
        seconds = time.perf_counter() - started
        writer.put(buffer, rows, Z, writer.stop)
        first = blocks.stop
        count = max(1, min(most, int(_RUN_SECONDS * len(blocks) / seconds)))


def _receive(
    remote: Remote,
    put: Callable[[slice, np.ndarray], None],
    missing: Callable[[int, int], range],
    height: int,
    most: int,
    report: Callable[[int, int], None] | None,
    done: int = 0,
) -> None:
    """Have workers compute the blocks that are missing, and hand over their rows; `done` are."""
    n, m = remote.pairs.shape
    with closing(remote.blocks(missing, height, most)) as parts:
        for rows, Z in parts:
            put(rows, Z)
            done += len(range(rows.start, rows.stop, height))
            if report is not None:
                report(min(done * height, n) * m, n * m)


def _remote_blocks(remote: Remote, height: int, limit: int | None) -> int:
    """Return how many blocks a run of workers has, or raise if one is not within the limit."""
    pairs = remote.pairs
    n, m = pairs.shape
    block_bytes = height * m * pairs.dtype.itemsize
    most = max(1, min(MOST_BLOCK_BYTES // block_bytes, -(-n // height)))
    if limit is None:
        return most
    held = _held_bytes(pairs)
    fixed = held + 2 * remote.recipe_bytes + _CLIENT_BYTES
    each = (_BUFFERS + 3) * block_bytes  # one more is handed over, and one received with a copy
    if fixed + each > limit:
        raise ValueError(
            f"max_memory is {limit} bytes, but {fixed + each} are needed at least: {held} for the "
            f"objects, {each} for blocks of {min(height, n)} rows, and {fixed - held} to send the "
            f"{m} objects of {pairs.names.y}"
        )
    return min(most, (limit - fixed) // each)


def _blocks_within(pairs: PairwiseProblem, output: Output) -> int:
    """Return how many blocks a run has, or raise if not even one is within the limit."""
    n, m = pairs.shape
    height = tile_shape(pairs.shape)[0]
    block_bytes = height * m * pairs.dtype.itemsize
    most = max(1, min(_MOST_RUN_BYTES // block_bytes, -(-n // height)))
    held, limit = _held_bytes(pairs), output.max_memory
    columns = prepared_bytes(pairs.distance, pairs.params, pairs.y)

    fixed = columns + _FIXED_BYTES + output.n_threads * _THREAD_BYTES

    def needed(blocks: int) -> int:
        rows = prepared_bytes(pairs.distance, pairs.params, pairs.x, blocks * height, height)
        return held + fixed + _BUFFERS * blocks * block_bytes + rows

    if limit is not None:
        if needed(1) > limit:
            raise ValueError(
                f"max_memory is {limit} bytes, but {needed(1)} are needed at least: {held} for the "
                f"objects, {needed(1) - held - fixed} for a block of {min(height, n)} rows, and "
                f"{fixed} to compare with the {m} objects of {pairs.names.y}"
            )
        most = bisect_right(range(1, most + 1), limit, key=needed)
    return most


def _held_bytes(pairs: PairwiseProblem) -> int:
    """Return the bytes of the packed objects; what a list of others takes is not known."""
    parts = [pairs.x] if pairs.y is pairs.x else [pairs.x, pairs.y]
    return sum(part.nbytes for part in parts if isinstance(part, Objects))


def prepared_bytes(
    distance: Any,
    params: Mapping[str, Any],
    objects: Any,
    rows: int | None = None,
    step: int = 1,
) -> int:
    """Return about what the kernels' form of objects takes, or of the largest block of rows."""
    if not isinstance(objects, Objects):
        return 0
    n = len(objects)
    rows = n if rows is None else min(rows, n)
    starts = np.arange(0, n, step)
    stops = np.minimum(starts + rows, n)
    elements = int((objects.offsets[stops] - objects.offsets[starts]).max())
    copy = 8 * elements * objects.dim if objects.dtype == np.float32 else 0
    named = isinstance(distance, str)
    work, params = (BY_NAME[distance].work_bytes, params) if named else (plain_bytes, {})
    return copy + work(elements, rows, objects.dim, **params)
