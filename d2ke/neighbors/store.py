# SPDX-License-Identifier: BSD-3-Clause
"""Files of neighbours: written by blocks of rows that outlive a kill, and read.

While rows are missing, ``NAME.part`` is a journal: a line for each block of rows, with where its
bytes are in ``NAME.rows.part``, and their CRC-32. At the end the rows are put in order into an HDF5
file with a SHA-256 of its content, which gets its name when it is whole.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from itertools import repeat
from pathlib import Path
from typing import Any
from zlib import crc32

import h5py
import numpy as np
from scipy import sparse

from d2ke._base.checks import file_path
from d2ke._base.files import check_place, open_file, sync_folder, write_all
from d2ke._base.resume import Journal, as_json, check_finished, made_with, open_locked
from d2ke.io.store import layout
from d2ke.io.store.blocks import read_all
from d2ke.io.store.hdf5 import HEADER_BYTES, header, part_of, write_image
from d2ke.io.store.reader import index_range
from d2ke.io.store.writer import Content
from d2ke.neighbors.block_search import RowNeighbors, graph_of, index_type

_SEAL = ("d2ke neighbours 1",)
_JOURNAL = "d2ke neighbours 1"
_COUNT = np.dtype(np.int64)
_FLAGS = os.O_RDWR | os.O_CREAT
for _name in ("O_NOFOLLOW", "O_CLOEXEC", "O_BINARY"):  # those that the system has
    _FLAGS |= getattr(os, _name, 0)


class GraphFile:
    """Neighbours that are being written to a file, or turn out to be there."""

    def __init__(
        self,
        path: Path,
        shape: tuple[int, int],
        dtype: np.dtype,
        content: Content,
        *,
        resume: bool,
    ):
        self.path, self._shape = path, shape
        self._types = np.dtype(index_type(shape[1])), dtype
        self._groups = {
            "parameters": dict(content.parameters),
            "inputs": {**content.inputs, **made_with()},
        }
        self._record = _record(shape, dtype, self._groups)
        self._part = path.with_name(f"{path.name}.part")
        self._rows = path.with_name(f"{path.name}.rows.part")
        self._whole = path.with_name(f"{path.name}.whole.part")
        self._fd, self._journal = -1, None
        check_place(path)
        if check_finished(path, self._record, self._finished_record, resume=resume):
            self._remove_remains()
            return
        self._journal = Journal(self._part, path, {"journal": _JOURNAL, **self._record})
        try:
            # Another call may just have written it.
            if check_finished(path, self._record, self._finished_record, resume=resume):
                self._remove_parts()
                return
            if self._journal.resumed and not resume:
                raise FileExistsError(
                    f"{self._part} holds a part of {path}, which was interrupted: resume=True "
                    f"resumes it; or remove it and {self._rows} first"
                )
            self._fd = os.open(self._rows, _FLAGS, 0o666)
            sync_folder(path)
            self._blocks = self._verify()
        except BaseException:
            self.close()
            raise

    @property
    def finished(self) -> bool:
        """Return whether the file is complete."""
        return self._journal is None

    def _finished_record(self) -> dict[str, Any]:
        """Return what the finished file was made from."""
        with _opened(self.path) as store, layout.damage(self.path):
            distances, shape = part_of(store, "distances"), tuple(store.attrs["shape"].tolist())
            groups = {name: layout.get_values(store, name) for name in ("parameters", "inputs")}
            return _record(shape, distances.dtype, groups)

    def _verify(self) -> dict[int, tuple[int, int, int]]:
        """Return the intact blocks, by first row: the last row, the place and the entries."""
        blocks, damaged = {}, []
        self._end = 0
        for (first, last), (place, entries, check) in sorted(self._journal.items()):
            content = np.empty(self._n_bytes(last - first, entries), np.uint8)
            self._end = max(self._end, place + content.nbytes)
            try:
                read_all(self._fd, content, place)
                intact = crc32(content) == check
            except OSError:  # the file is shorter
                intact = False
            if intact:
                blocks[first] = last, place, entries
            else:
                damaged.append((first, last))
        for first, last in damaged:
            if not any(first <= other < last for other in blocks):
                warnings.warn(
                    f"{self._rows} is damaged in rows {first} to {last - 1}; they are computed "
                    "anew",
                    RuntimeWarning,
                    stacklevel=2,
                )
        return blocks

    def _n_bytes(self, rows: int, entries: int) -> int:
        return rows * _COUNT.itemsize + entries * sum(kind.itemsize for kind in self._types)

    def missing(self, first: int, limit: int) -> range:
        """Return the next rows from `first` on that are not on the disk, at most `limit`."""
        while first in self._blocks:
            first = self._blocks[first][0]
        later = [start for start in self._blocks if start > first]
        return range(first, min(first + limit, self._shape[0], *later))

    def put(self, rows: slice, found: RowNeighbors) -> None:
        """Write the neighbours of some rows; they are on the disk when this returns."""
        kinds = (_COUNT, *self._types)
        parts = [
            part.astype(kind, copy=False).tobytes() for part, kind in zip(found, kinds, strict=True)
        ]
        content, entries, place = b"".join(parts), len(found.indices), self._end
        try:
            write_all(self._fd, content, place)
            os.fsync(self._fd)
            self._journal[rows.start, rows.stop] = [place, entries, crc32(content)]
        except OSError as error:
            raise OSError(
                error.errno,
                f"{self._rows}: {os.strerror(error.errno)} at rows {rows.start} to "
                f"{rows.stop - 1}; what is written is kept: resume=True resumes it",
            ) from error
        self._blocks[rows.start] = rows.stop, place, entries
        self._end += len(content)

    def finish(self) -> None:
        """Put all rows in order into the file, and remove the parts."""
        starts = sorted(self._blocks)
        fd = os.open(self._whole, _FLAGS | os.O_TRUNC, 0o666)
        try:
            self._write_whole(fd, starts)
            os.fsync(fd)
        finally:
            os.close(fd)
        os.replace(self._whole, self.path)
        sync_folder(self.path)
        self._remove_parts()

    def _write_whole(self, fd: int, starts: list[int]) -> None:
        """Write all blocks, which begin at these rows, as an HDF5 file."""
        total = sum(self._blocks[start][2] for start in starts)
        counts = np.concatenate([self._read(start, 0) for start in starts])
        with write_image(fd, self.path, _SEAL) as (store, image):
            store.attrs["shape"] = np.array(self._shape, np.int64)
            image.place(store, "indptr", np.append(0, np.cumsum(counts)).astype(np.int64))
            for part, name in enumerate(("indices", "distances")):
                blocks = map(self._read, starts, repeat(part + 1))  # read when they are written
                image.place_parts(store, name, (total,), self._types[part], blocks)
            for name, values in (self._groups | {"versions": layout.versions()}).items():
                layout.put_values(store, name, values)

    def result(self) -> Path:
        """Return the path of the file."""
        return self.path

    def _read(self, start: int, part: int) -> np.ndarray:
        """Read the counts (part 0), indices or distances of a block."""
        stop, place, entries = self._blocks[start]
        kinds, lengths = (_COUNT, *self._types), (stop - start, entries, entries)
        sizes = [kind.itemsize * n for kind, n in zip(kinds, lengths, strict=True)]
        values = np.empty(lengths[part], kinds[part])
        read_all(self._fd, values, place + sum(sizes[:part]))
        return values

    def _remove_remains(self) -> None:
        """Remove the parts that a kill left beside the finished file."""
        if self._part.exists():
            self._fd = open_locked(self._part, self.path)
            self._remove_parts()

    def _remove_parts(self) -> None:
        for part in (self._whole, self._rows, self._part):
            with suppress(FileNotFoundError):
                part.unlink()
        self.close()

    def close(self) -> None:
        """Close the files, which unlocks them."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1
        if self._journal is not None:
            self._journal.close()
            self._journal = None


def _record(shape: tuple[int, int], dtype: np.dtype, groups: Mapping[str, Any]) -> dict[str, Any]:
    """Return all that must be the same for a file to be resumed, as JSON has it."""
    sizes = {"n": shape[0], "m": shape[1], "dtype": dtype.name}
    return as_json({**sizes, **groups["inputs"], **groups["parameters"]})


@contextmanager
def _opened(path: Path) -> Iterator[h5py.File]:
    """Open a file of neighbours, and verify its checksum."""
    with open_file(path) as stream:
        front = stream.read(HEADER_BYTES)
        if not front.startswith(f"{_SEAL[0]}\n".encode()):
            raise ValueError(f"{path} is not a file of neighbours of d2ke")
        # libhdf5 can loop for ever over a damaged file, so only sealed files are opened.
        if front != header(_SEAL, stream):
            raise ValueError(f"{path} is damaged, or was changed after it was saved")
        with h5py.File(stream, "r") as store:
            yield store


def load_neighbors(file: str | os.PathLike[str], rows: slice | None = None) -> sparse.csr_array:
    """Read the neighbours that `nearest` or `within` wrote to a file.

    Parameters
    ----------
    file : path
        The file: `out` of the call.
    rows : slice, optional
        The rows to read, without a step; None for all.

    Returns
    -------
    scipy.sparse.csr_array, shape (rows, m)
        The distances, with the bits of the call's; distances of 0 are stored entries. Rows of
        `nearest` have the nearest first, so that ``graph.indices.reshape(-1, k)`` are its indices;
        rows of `within` are sorted by index.

    Raises
    ------
    OSError
        If the file cannot be opened.
    TypeError, ValueError
        If the file holds something else, or is damaged; rows that it has not.

    Notes
    -----
    The file is HDF5: ``indptr`` (n + 1), ``indices`` and ``distances`` are the arrays of the
    graph, the attribute ``shape`` is (n, m); the groups ``parameters``, ``inputs`` and
    ``versions`` say what it was made from.

    Examples
    --------
    >>> import os, tempfile
    >>> import d2ke
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = os.path.join(folder, "near.h5")
    ...     path = d2ke.nearest(["kitten", "mitten", "sitting"], k=1, distance="levenshtein",
    ...                         out=file)
    ...     graph = d2ke.load_neighbors(file)
    >>> graph.indices.tolist(), graph.data.tolist()
    ([1, 0, 0], [1.0, 1.0, 3.0])
    """
    path = file_path("file", file)
    with _opened(path) as store:
        with layout.damage(path):
            indptr, indices, distances = (
                part_of(store, name) for name in ("indptr", "indices", "distances")
            )
            n, m = store.attrs["shape"].tolist()
            if indptr.shape != (n + 1,) or indices.shape != distances.shape:
                raise ValueError(f"indptr has the shape {indptr.shape} for {n} rows")
        chosen = index_range("rows", rows, n)
        with layout.damage(path):
            starts = indptr[chosen.start : chosen.stop + 1]
            part = slice(int(starts[0]), int(starts[-1]))
            return graph_of(RowNeighbors(np.diff(starts), indices[part], distances[part]), m)
