# SPDX-License-Identifier: BSD-3-Clause
"""The layout of feature stores: what `save_features`, streams of blocks and all readers agree on.

A header in front of the HDF5 part has four lines of text: the format and its version; the file's
size and a span of bytes; the SHA-256 of the HDF5 part without that span. The span holds values of Z
only, which have checksums of their own, so that nobody waits for what was not asked for.

While rows are missing, the lines are: that the store is not complete; the file's size, and the
spans of Z and of the table of checksums; the SHA-256 without both.
"""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO

import h5py
import numpy as np

from d2ke._base.errors import ArgumentError, ArgumentTypeError
from d2ke._base.files import lists_to_tuples, write_all
from d2ke._version import __version__
from d2ke.io.store.blocks import TABLE, Blocks, table_shape
from d2ke.io.store.hdf5 import (
    HEADER_BYTES,
    Image,
    get_text,
    group_of,
    header,
    ordered_group,
    part_of,
    place_dataset,
    put_objects,
    put_text,
)
from d2ke.objects.container import Objects

VERSION = 2  # of the format; those before it are read
_COMPLETE = "d2ke features"
# What the header of a file begins with whose rows are not all there; 0.1.0 had no number.
UNFINISHED = "d2ke features unfinished"
BEGUN = f"{UNFINISHED} {VERSION}\n".encode()
_LINES = re.compile(rb"d2ke features (\d{1,9})\n(?:(\d{1,18}) (\d{1,18}) (\d{1,18})\n)?")
_UNFINISHED_LINES = re.compile(BEGUN + rb"(\d{1,18})" + 4 * rb" (\d{1,18})" + rb"\n")
_BLOCK_ROWS, _TILE_VALUES = 256, 1 << 15  # rows and values that are checked at once
_BLOCK_VALUES = 1 << 21  # the most in a block
_OPTIONS = {
    "userblock_size": HEADER_BYTES,
    "libver": ("earliest", "v108"),  # MATLAB's HDF5 is old
}
_WIDEST_LABEL = 2**16  # bytes, unless a class's name takes more
_LARGEST = 2**63 - 1  # of int64


def tile_shape(shape: tuple[int, int]) -> tuple[int, int]:
    """Return rows and columns of a tile of Z; blocks of very wide Z have fewer rows."""
    rows = min(_BLOCK_ROWS, max(1, _BLOCK_VALUES // shape[1]))
    return _even(shape[0], rows), _even(shape[1], _TILE_VALUES // rows)


def _even(size: int, most: int) -> int:
    """Divide `size` into equal parts of at most `most`, so that the last is hardly smaller."""
    return -(-size // -(-size // most))


def put_blocks(
    fd: int,
    shape: tuple[int, int],
    dtype: np.dtype,
    groups: Mapping[str, Mapping[str, Any]],
    omega: Objects | None = None,
    labels: np.ndarray | None = None,
) -> tuple[Image, Blocks]:
    """Make all of a store but the rows and the header; the image has yet to be written."""
    tile = tile_shape(shape)
    image = Image(fd)
    with h5py.File(image, "w", **_OPTIONS) as store:
        _put_groups(store, image, groups, omega, labels)
        table = place_dataset(store, "blocks", table_shape(shape, tile), TABLE)
        table.attrs["shape"] = tile
        Z = place_dataset(store, "Z", shape, dtype)
        blocks = Blocks(shape, tile, dtype, Z.id.get_offset(), table.id.get_offset())
    return image, blocks


def _put_groups(
    store: h5py.File,
    image: Image,
    groups: Mapping[str, Mapping[str, Any]],
    omega: Objects | None,
    labels: np.ndarray | None,
) -> None:
    """Write what a store has besides Z."""
    if labels is not None:
        put_labels(store, image, labels)
    if omega is not None:
        put_objects(store.create_group("omega"), omega, image)
    for name, values in {**groups, "versions": versions()}.items():
        put_values(store, name, values)


def get_blocks(store: h5py.File) -> Blocks:
    """Return where the rows of a store are, which must be within the file."""
    Z, table = part_of(store, "Z"), part_of(store, "blocks")
    tile = tuple(np.atleast_1d(table.attrs["shape"]).tolist())
    if len(tile) != 2 or not all(type(size) is int and size > 0 for size in tile):
        raise ValueError(f"blocks have the shape {tile}")
    if table.chunks or table.dtype != TABLE or table.shape != table_shape(Z.shape, tile):
        raise ValueError(f"blocks are {table.dtype} of shape {table.shape}")
    return Blocks(Z.shape, tile, Z.dtype, Z.id.get_offset(), table.id.get_offset())


def put_compressed(
    fd: int,
    Z: np.ndarray,
    groups: Mapping[str, Mapping[str, Any]],
    omega: Objects | None,
    labels: np.ndarray | None,
) -> tuple[int, int]:
    """Write all of a store but the header, with Z in compressed tiles; return their span."""
    height, width = tile_shape(Z.shape)
    counts = table_shape(Z.shape, (height, width))
    image = Image(fd)
    # The room for HDF5's own data keeps its tables of tiles out of the tiles' span.
    options = _OPTIONS | {"meta_block_size": 8192 + 128 * math.prod(counts)}
    with h5py.File(image, "w", **options) as store:
        _put_groups(store, image, groups, omega, labels)
        how = {"chunks": (height, width), "compression": "gzip", "fletcher32": True}
        dataset = store.create_dataset("Z", Z.shape, Z.dtype, **how)
        for start in range(0, len(Z), height):
            dataset[start : start + height] = Z[start : start + height]
            image.write_to_file()
        store.flush()
        span = _longest_run(dataset)
    image.write_to_file()
    os.ftruncate(fd, image.size)
    return span


def _longest_run(dataset: h5py.Dataset) -> tuple[int, int]:
    """Return the longest span of the file that chunks fill end to end."""
    chunks: list[Any] = []
    if hasattr(dataset.id, "chunk_iter"):
        dataset.id.chunk_iter(chunks.append)
    else:  # takes the square of the time
        chunks += map(dataset.id.get_chunk_info, range(dataset.id.get_num_chunks()))
    runs: list[tuple[int, int]] = []
    for start, size in sorted((chunk.byte_offset, chunk.size) for chunk in chunks):
        if runs and runs[-1][1] == start:
            runs[-1] = runs[-1][0], start + size
        else:
            runs.append((start, start + size))
    start, stop = max(runs, key=lambda run: run[1] - run[0])
    return start + _shift(), stop + _shift()


def versions() -> dict[str, Any]:
    """Return what the group of that name holds."""
    return {
        "format": VERSION,
        "d2ke": __version__,
        "numpy": np.__version__,
        "h5py": h5py.__version__,
    }


def seal_complete(fd: int, span: tuple[int, int]) -> None:
    """Write the header of a store that is complete; `span` has values of Z only."""
    _seal(fd, [f"{_COMPLETE} {VERSION}"], span)


def seal_unfinished(fd: int, blocks: Blocks) -> None:
    """Write the header of a store whose rows are not all there."""
    spans = (blocks.start, blocks.stop), (blocks.table_start, blocks.table_stop)
    _seal(fd, [BEGUN.decode().rstrip()], *spans)


def _seal(fd: int, lines: list[str], *spared: tuple[int, int]) -> None:
    places = (place for span in spared for place in span)
    lines = [*lines, " ".join(map(str, (os.fstat(fd).st_size, *places)))]
    with open(fd, "rb", closefd=False) as stream:
        front = header(lines, stream, *spared)
    write_all(fd, front, 0)


def plain(name: str, value: Any) -> Any:
    """Return a parameter with numpy's scalars as Python's own; refuse what JSON cannot hold."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, str):
        check_text(name, value)
    if type(value) is tuple:
        return tuple(plain(f"{name}[{i}]", one) for i, one in enumerate(value))
    if type(value) is dict:
        for key in value:
            if type(key) is not str:
                raise ArgumentTypeError(name, f"has the name {key!r}; names must be str")
            check_text(f"a name in {name}", key)
        return {key: plain(f"{name}[{key!r}]", one) for key, one in value.items()}
    if value is not None and type(value) not in (bool, int, float, str):
        raise ArgumentTypeError(
            name,
            f"must be None, bool, int, float, str, or a tuple or dict of them; got "
            f"{value!r} of type {type(value).__name__}",
        )
    return value


def check_text(name: str, text: str) -> None:
    """Refuse text that no file can hold."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ArgumentError(name, f"is {text!r}, which UTF-8 cannot write") from None


def put_labels(store: h5py.File, image: Image, labels: np.ndarray) -> None:
    """Write labels; those of str as indices of the different ones."""
    if labels.dtype.kind == "U":
        classes, labels, dtype = *np.unique(labels, return_inverse=True), labels.dtype
        put_text(store, "classes", classes).attrs["dtype"] = dtype.str
    image.place(store, "labels", labels)


def get_labels(store: h5py.File, rows: slice) -> np.ndarray:
    """Return the labels of some rows as they were given."""
    stored = part_of(store, "labels")
    n = store["Z"].shape[0]
    if stored.shape != (n,):
        raise ValueError(f"labels have the shape {stored.shape} for {n} rows")
    labels = stored[rows]
    if "classes" not in store:
        return labels
    classes = part_of(store, "classes")
    dtype = np.dtype(classes.attrs["dtype"])
    if dtype.kind != "U" or dtype.itemsize > max(_WIDEST_LABEL, 4 * classes.dtype.itemsize):
        raise ValueError(f"labels are said to be of {dtype}")
    if labels.dtype.kind not in "iu" or (labels < 0).any() or (labels >= len(classes)).any():
        raise ValueError(f"labels are no indices of {len(classes)} classes")
    return get_text(classes).astype(dtype)[labels]


@contextmanager
def damage(path: Path) -> Iterator[None]:
    """Say of which file it is that a part is missing or not what it should be."""
    try:
        yield
    except (AttributeError, KeyError, OSError, RecursionError, TypeError, ValueError) as error:
        raise ValueError(f"{path} is damaged: {error}") from error


def put_values(store: h5py.File, name: str, values: Mapping[str, Any]) -> None:
    """Write a group of the values in order, each in the plainest form that holds it exactly."""
    group = ordered_group(store, name)
    for key, value in values.items():
        ones = value if type(value) is tuple else (value,)
        kinds = {type(one) for one in ones}
        if type(value) is bool:
            group[key] = np.uint8(value)
        elif kinds == {float}:
            group[key] = np.array(value, dtype=np.float64)
        elif kinds == {int} and all(abs(one) <= _LARGEST for one in ones):
            group[key] = np.array(value, dtype=np.int64)
        elif type(value) is str and "\0" not in value:  # HDF5 would take NULs off the end
            put_text(group, key, np.array(value))
        else:
            put_text(group, key, np.array(json.dumps(value))).attrs["json"] = 1


def get_values(store: h5py.File, name: str) -> dict[str, Any]:
    """Return what `put_values` wrote."""
    values = {}
    group = group_of(store, name)
    for key in group:
        dataset = part_of(group, key)
        if dataset.dtype.kind == "S":
            text = get_text(dataset).item()
            values[key] = lists_to_tuples(json.loads(text)) if "json" in dataset.attrs else text
        elif dataset.dtype == np.uint8:
            values[key] = bool(dataset[()])
        else:
            value = dataset[()].tolist()
            values[key] = tuple(value) if dataset.ndim else value
    return values


@cache
def _shift() -> int:
    """Return what HDF5's places lack; its versions differ in whether the header counts."""
    content = BytesIO()
    mark = np.frombuffer(b"a chunk!", dtype=np.uint8)
    with h5py.File(content, "w", userblock_size=HEADER_BYTES) as probe:
        dataset = probe.create_dataset("Z", data=mark, chunks=mark.shape)
        place = dataset.id.get_chunk_info(0).byte_offset
    return content.getvalue().index(mark.tobytes()) - place


def check_whole(path: Path, stream: BinaryIO) -> None:
    """Refuse a file that is not, to the last bit outside of Z, a store that is complete."""
    front = _front(stream)
    if front.startswith(UNFINISHED.encode()):
        raise ValueError(f"{path} is not complete: the same call with resume=True completes it")
    found = _LINES.match(front)
    if not found:
        kind = "an HDF5 file of another kind" if h5py.is_hdf5(path) else "not an HDF5 file"
        raise ValueError(f"{path} is not a feature store of d2ke: it is {kind}")
    if int(found[1]) > VERSION:
        raise ValueError(
            f"{path} has version {int(found[1])} of the format, and this d2ke "
            f"({__version__}) reads {VERSION}: a newer d2ke is needed"
        )
    if found[2] is None or int(found[1]) < 1:
        raise ValueError(f"{path} is damaged: its header cannot be read")
    _check_seal(path, stream, found, list(map(int, found.groups()[1:])))


def check_part(path: Path, stream: BinaryIO) -> bool:
    """Return whether a part has all but its rows; refuse what is damaged, or no part of ours."""
    front = _front(stream)
    if front in (b"", BEGUN) or front == BEGUN.ljust(HEADER_BYTES, b"\0"):
        return False
    if front.startswith(f"{UNFINISHED}\n".encode()):
        raise ValueError(
            f"{path} was begun by version 0.1.0 of d2ke, and this version cannot resume it; "
            f"complete it with that version, or remove it and {path.with_suffix('.journal')}"
        )
    found = _UNFINISHED_LINES.match(front)
    try:
        if found:
            _check_seal(path, stream, found, list(map(int, found.groups())))
        elif front.startswith(f"{_COMPLETE} {VERSION}\n".encode()):  # only its name was missing
            check_whole(path, stream)
        else:
            raise FileExistsError(f"{path} exists, and is not a part of a feature store; remove it")
    except ValueError as error:
        raise ValueError(f"{error}; this is beyond its rows: remove it") from error
    return True


def _front(stream: BinaryIO) -> bytes:
    stream.seek(0)
    return stream.read(HEADER_BYTES)


def _check_seal(path: Path, stream: BinaryIO, lines: re.Match[bytes], numbers: list[int]) -> None:
    """Compare size and SHA-256 with those of the header, with (size, start, stop, ...) in it."""
    size, *places = numbers
    there = stream.seek(0, os.SEEK_END)
    if there != size:
        raise ValueError(f"{path} is damaged: it has {there} bytes instead of {size}")
    spared = list(zip(places[::2], places[1::2], strict=True))
    # Beyond the end there is nothing whose SHA-256 could differ.
    within = all(HEADER_BYTES <= start <= stop <= size for start, stop in spared)
    if not within or _front(stream) != header(lines[0].decode().splitlines(), stream, *spared):
        raise ValueError(f"{path} is damaged, or was changed after it was saved")
