# SPDX-License-Identifier: BSD-3-Clause
"""HDF5 files that libhdf5 reads only when they are whole and never writes itself.

libhdf5 can loop forever or crash over a damaged file. So a header of 512 bytes, which HDF5 leaves
in front for other uses, has lines of text, the last of them the SHA-256 of what follows. libhdf5
also crashes where a disk is full. So it writes to memory, an `Image`, and large arrays have a place
in the file only.
"""

from __future__ import annotations

import hashlib
import io
import math
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import h5py
import numpy as np

from d2ke._base.files import atomic_write, reserve, write_all
from d2ke.objects.container import Objects, from_owned

DEFLATE_RATIO = 1040  # deflate cannot make more than 1032 bytes of one
MOST_CHUNK = 2**26
# For any other libhdf5 would look for a plugin, and load that.
_FILTERS = {h5py.h5z.FILTER_DEFLATE, h5py.h5z.FILTER_SHUFFLE, h5py.h5z.FILTER_FLETCHER32}
HEADER_BYTES = 512  # the least that HDF5 leaves in front for other uses
_BLOCK = 1 << 20
_PAGE = 1 << 12


def sha256(content: BinaryIO, *spans: tuple[int, int | None]) -> bytes:
    """Return the SHA-256 of spans (start, stop) of a file; None for a stop at the file's end."""
    digest = hashlib.sha256()
    for start, stop in spans:
        content.seek(start)
        while block := content.read(_BLOCK if stop is None else min(_BLOCK, max(0, stop - start))):
            digest.update(block)
            start += len(block)
    return digest.digest()


def header(lines: Sequence[str], content: BinaryIO, *spared: tuple[int, int]) -> bytes:
    """Return the header of a file: the lines, and the SHA-256 of what follows in `content`.

    The bytes `spared`, of some (start, stop), do not count: what is there must be checked
    otherwise.
    """
    place, spans = HEADER_BYTES, []
    for start, stop in sorted(spared):
        spans.append((place, start))
        place = stop
    digest = sha256(content, *spans, (place, None))
    return "\n".join((*lines, digest.hex(), "")).encode().ljust(HEADER_BYTES, b"\0")


@contextmanager
def write_hdf5(path: Path, lines: Sequence[str] = ()) -> Iterator[h5py.File]:
    """Give an HDF5 file in memory; it is written to `path`, whole or not at all.

    With `lines` it has a header with the SHA-256 of the content.
    """
    with atomic_write(path) as stream, write_image(stream.fileno(), path, lines) as (store, _):
        yield store


@contextmanager
def write_image(
    fd: int, path: Path, lines: Sequence[str] = ()
) -> Iterator[tuple[h5py.File, Image]]:
    """Give an HDF5 file in memory, and the image in which it places arrays, for an open file."""
    image = Image(fd)
    with h5py.File(image, "w", userblock_size=HEADER_BYTES if lines else 0) as store:
        yield store, image
    reserve(fd, image.size, path)
    image.write_to_file()
    os.ftruncate(fd, image.size)
    if lines:
        with open(fd, "rb", closefd=False) as stream:
            front = header(lines, stream)
        write_all(fd, front, 0)


class Image(io.RawIOBase):
    """A file for libhdf5 to write to: pages in memory, over what the true file has already.

    Parameters
    ----------
    fd : int
        The true file. Nothing is written to it before `write_to_file`.
    """

    def __init__(self, fd: int):
        self._fd = fd
        self._pages: dict[Any, Any] = {}
        self._arrays: list[Any] = []
        self._at = self.size = 0

    def place(self, group: h5py.Group, name: str, array: np.ndarray) -> h5py.Dataset:
        """Make a dataset for an array that goes straight to the file."""
        return self.place_parts(group, name, array.shape, array.dtype, [array])

    def place_parts(
        self,
        group: h5py.Group,
        name: str,
        shape: tuple[int, ...],
        dtype: np.dtype,
        parts: Iterable[np.ndarray],
    ) -> h5py.Dataset:
        """Make a dataset for arrays that go straight to the file, end to end."""
        dataset = place_dataset(group, name, shape, dtype)
        if math.prod(shape):
            self._arrays.append((dataset.id.get_offset(), parts))
        return dataset

    def write_to_file(self) -> None:
        """Write the pages and the arrays, and forget them."""
        for page, content in sorted(self._pages.items()):
            write_all(self._fd, content, page * _PAGE)
        for start, parts in self._arrays:
            for part in parts:
                write_all(self._fd, np.ascontiguousarray(part), start)
                start += part.nbytes
        self._pages, self._arrays = {}, []

    def seek(self, place: int, whence: int = os.SEEK_SET) -> int:
        """Go to a place, which may be beyond the end."""
        self._at = place + {os.SEEK_SET: 0, os.SEEK_CUR: self._at, os.SEEK_END: self.size}[whence]
        return self._at

    def tell(self) -> int:
        """Return the place."""
        return self._at

    def _parts(self, n_bytes: int) -> Iterator[tuple[slice, bytearray, slice]]:
        """Go over so many bytes: give where they are in them, a page, and where they are there."""
        done = 0
        while done < n_bytes:
            page, start = divmod(self._at, _PAGE)
            step = min(n_bytes - done, _PAGE - start)
            if page not in self._pages:
                there = os.pread(self._fd, _PAGE, page * _PAGE)
                self._pages[page] = bytearray(there.ljust(_PAGE, b"\0"))
            yield slice(done, done + step), self._pages[page], slice(start, start + step)
            done += step
            self._at += step

    def readinto(self, buffer: Any) -> int:
        """Read; what was never written is zeros."""
        view = memoryview(buffer)[: max(0, self.size - self._at)]
        for part, page, place in self._parts(len(view)):
            view[part] = page[place]
        return len(view)

    def write(self, content: Any) -> int:
        """Write to the pages."""
        view = memoryview(content)
        for part, page, place in self._parts(len(view)):
            page[place] = view[part]
        self.size = max(self.size, self._at)
        return len(view)

    def truncate(self, size: int | None = None) -> int:
        """Note the size."""
        self.size = self._at if size is None else size
        return self.size

    def flush(self) -> None:
        """There is nothing to flush."""


def place_dataset(
    group: h5py.Group, name: str, shape: tuple[int, ...], dtype: np.dtype
) -> h5py.Dataset:
    """Make a dataset that has its place in the file, and that libhdf5 writes nothing to."""
    options = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    options.set_layout(h5py.h5d.CONTIGUOUS)
    options.set_alloc_time(h5py.h5d.ALLOC_TIME_EARLY)
    options.set_fill_time(h5py.h5d.FILL_TIME_NEVER)
    options.set_obj_track_times(False)  # equal content makes equal files
    space, kind = h5py.h5s.create_simple(shape), h5py.h5t.py_create(dtype)
    return h5py.Dataset(h5py.h5d.create(group.id, name.encode(), kind, space, options))


def ordered_group(store: h5py.Group, name: str) -> h5py.Group:
    """Make a group that keeps the order of its members, without the time, as `place_dataset`."""
    options = h5py.h5p.create(h5py.h5p.GROUP_CREATE)
    order = h5py.h5p.CRT_ORDER_TRACKED | h5py.h5p.CRT_ORDER_INDEXED
    options.set_link_creation_order(order)
    options.set_attr_creation_order(order)
    options.set_obj_track_times(False)
    return h5py.Group(h5py.h5g.create(store.id, name.encode(), gcpl=options))


def put_objects(group: h5py.Group, objects: Objects, image: Image | None = None) -> None:
    """Write the arrays of `objects` as datasets of a group, and the rest as its attributes.

    With an image, the arrays go from there to the file.
    """
    for name in Objects.__slots__:
        part = getattr(objects, name)
        if isinstance(part, np.ndarray):
            if image is None:
                group[name] = part
            else:
                image.place(group, name, part)
        elif part:
            group.attrs[name] = part


def get_objects(group: h5py.Group, items: slice | None = None) -> Objects:
    """Return the objects that `put_objects` wrote, or those from items.start to items.stop.

    Raises
    ------
    ValueError
        If the group has a part that `Objects` have not.
    """
    unknown = sorted({*group, *group.attrs} - set(Objects.__slots__))
    if unknown:
        raise ValueError(f"{group.name} has a part {unknown[0]!r}, which objects have not")
    stored = {name: part_of(group, name) for name in group}
    missing = {"values", "offsets"} - set(stored)
    if missing:
        raise ValueError(f"{group.name} has no {missing.pop()}")
    for name, dataset in stored.items():
        if dataset.ndim == 0:
            raise ValueError(f"{group.name} has one number as its {name}")
    items = items or slice(0, stored["offsets"].shape[0] - 1)
    offsets = stored["offsets"][items.start : items.stop + 1]
    if (
        offsets.dtype != np.int64
        or offsets.ndim != 1
        or len(offsets) != items.stop + 1 - items.start
    ):
        raise ValueError(f"{group.name} has offsets of {offsets.dtype}, shape {offsets.shape}")
    start, stop = int(offsets[0]), int(offsets[-1])
    if not 0 <= start <= stop <= stored["values"].shape[0]:
        raise ValueError(f"{group.name} has offsets beyond its values")
    parts = {
        name: stored[name][start:stop]
        for name in ("values", "weights")  # one entry for each vector or letter
        if name in stored
    }
    for name, values in parts.items():
        may_miss = name == "values" and group.attrs.get("missing", False)
        wrong = np.isinf if may_miss else lambda array: ~np.isfinite(array)
        if values.dtype.kind == "f" and wrong(values).any():
            raise ValueError(f"{group.name} has {name} that are not finite")
    if "weights" in parts and parts["weights"].min(initial=0) < 0:
        raise ValueError(f"{group.name} has negative weights")
    alphabet = stored["alphabet"][()] if "alphabet" in stored else None
    return from_owned(offsets=offsets - start, alphabet=alphabet, **parts, **group.attrs)


def _member(group: h5py.Group, name: str) -> h5py.HLObject:
    """Return what a group has itself; other links may lead to another file."""
    link = group.get(name, getlink=True)
    if link is None:
        raise ValueError(f"{group.name} has no {name}")
    if not isinstance(link, h5py.HardLink):
        raise ValueError(f"{name} of {group.name} is a link to elsewhere")
    return group[name]


def group_of(group: h5py.Group, name: str) -> h5py.Group:
    """Return a group within a group.

    Raises
    ------
    ValueError
        If it is none, or in another file.
    """
    member = _member(group, name)
    if not isinstance(member, h5py.Group):
        raise ValueError(f"{name} of {group.name} is no group")
    return member


def part_of(group: h5py.Group, name: str) -> h5py.Dataset:
    """Return a dataset whose elements are in this file, as many as it says.

    Raises
    ------
    ValueError
        If it claims more than its bytes in the file can make, points to another file, or is
        compressed in a way that is not ours.
    """
    dataset = _member(group, name)
    if not isinstance(dataset, h5py.Dataset) or dataset.shape is None:
        raise ValueError(f"{name} of {group.name} is no array")
    if dataset.is_virtual or dataset.external:
        raise ValueError(f"{name} of {group.name} is in another file")
    made = dataset.id.get_create_plist()
    filters = {made.get_filter(i)[0] for i in range(made.get_nfilters())}
    if filters - _FILTERS:
        raise ValueError(f"{name} of {group.name} has an unknown filter, {max(filters)}")
    claimed = math.prod(dataset.shape) * dataset.dtype.itemsize
    kept = dataset.id.get_storage_size()
    if claimed > kept * (DEFLATE_RATIO if dataset.chunks else 1):
        raise ValueError(f"{name} of {group.name} claims {claimed} bytes, and has {kept}")
    if dataset.chunks and math.prod(dataset.chunks) * dataset.dtype.itemsize > (
        kept * DEFLATE_RATIO + MOST_CHUNK
    ):
        raise ValueError(f"{name} of {group.name} has chunks of {dataset.chunks} elements")
    return dataset


def put_text(group: h5py.Group, name: str, text: np.ndarray) -> h5py.Dataset:
    """Write an array of str of any shape as strings of fixed length.

    They are marked as UTF-8 only where letters beyond ASCII occur, as Octave reads strings that
    are marked as ASCII only.
    """
    encoded = np.char.encode(text, "utf-8")
    if not encoded.tobytes().isascii():
        encoded = encoded.astype(h5py.string_dtype("utf-8", encoded.dtype.itemsize))
    return group.create_dataset(name, data=encoded)


def get_text(dataset: h5py.Dataset) -> np.ndarray:
    """Return the array of str that `put_text` wrote."""
    return np.char.decode(dataset[()], "utf-8")
