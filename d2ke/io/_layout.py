# SPDX-License-Identifier: BSD-3-Clause
"""The layout of feature stores: what `save_features`, streams of blocks and all readers agree on.

A header in front of the HDF5 part has four lines of text: the format and its version; the file's
size and a span of bytes; the SHA-256 of the HDF5 part without that span. The span holds parts of Z
only, which HDF5 itself checks when it reads them, so that nobody waits for what was not asked for.
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
from typing import Any

import h5py
import numpy as np

from d2ke._base.files import lists_to_tuples
from d2ke._version import __version__
from d2ke.io._hdf5 import HEADER_BYTES, get_text, group_of, header, part_of, put_text, seal

FORMAT = "d2ke features"
VERSION = 1
# The header of a file whose rows are not all there yet.
UNFINISHED = "d2ke features unfinished"
_LINES = re.compile(rb"d2ke features (\d{1,9})\n(?:(\d{1,18}) (\d{1,18}) (\d{1,18})\n)?")
_CHUNK_ROWS, _CHUNK_VALUES = 256, 1 << 15  # rows and values that are read at once
_BAND_VALUES = 1 << 21  # the most in all chunks of the same rows
_WIDEST_LABEL = 2**16  # bytes, unless a class's name takes more
_LARGEST = 2**63 - 1  # of int64


def chunk_shape(shape: tuple[int, int]) -> tuple[int, int]:
    """Return rows and columns of a chunk of Z.

    All chunks of the same rows are written together, so that very wide Z have chunks of fewer rows.
    """
    rows = min(_CHUNK_ROWS, max(1, _BAND_VALUES // shape[1]))
    return even(shape[0], rows), even(shape[1], _CHUNK_VALUES // rows)


def even(size: int, most: int) -> int:
    """Divide `size` into equal parts of at most `most`, so that the last is hardly smaller."""
    return -(-size // -(-size // most))


def hdf5_options(shape: tuple[int, int]) -> dict[str, Any]:
    """Return options of `h5py.File` for a file with Z of this shape."""
    counts = (-(-size // step) for size, step in zip(shape, chunk_shape(shape), strict=True))
    return {
        "userblock_size": HEADER_BYTES,
        "libver": ("earliest", "v108"),  # MATLAB's HDF5 is old
        # The room for HDF5's own data keeps its tables of chunks out of the chunks' span.
        "meta_block_size": 8192 + 128 * math.prod(counts),
    }


def versions() -> dict[str, Any]:
    """Return what the group of that name holds."""
    return {
        "format": VERSION,
        "d2ke": __version__,
        "numpy": np.__version__,
        "h5py": h5py.__version__,
    }


def seal_store(path: Path, spared: tuple[int, int]) -> None:
    """Write the header of a store that is complete."""
    size = path.stat().st_size
    seal(path, (f"{FORMAT} {VERSION}", f"{size} {spared[0]} {spared[1]}"), spared)


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
                raise TypeError(f"{name} has the name {key!r}; names must be str")
            check_text(f"a name in {name}", key)
        return {key: plain(f"{name}[{key!r}]", one) for key, one in value.items()}
    if value is not None and type(value) not in (bool, int, float, str):
        raise TypeError(
            f"{name} must be None, bool, int, float, str, or a tuple or dict of them; got "
            f"{value!r} of type {type(value).__name__}"
        )
    return value


def check_text(name: str, text: str) -> None:
    """Refuse text that no file can hold."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ValueError(f"{name} is {text!r}, which UTF-8 cannot write") from None


def put_labels(store: h5py.File, labels: np.ndarray) -> None:
    """Write labels; those of str as indices of the different ones."""
    if labels.dtype.kind == "U":
        classes, labels, dtype = *np.unique(labels, return_inverse=True), labels.dtype
        put_text(store, "classes", classes).attrs["dtype"] = dtype.str
    store["labels"] = labels


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
    group = store.create_group(name, track_order=True)
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


def chunk_places(dataset: h5py.Dataset) -> dict[tuple[int, int], tuple[int, int]]:
    """Return start and stop in the file of each chunk, by its first row and column."""
    found: list[Any] = []
    if hasattr(dataset.id, "chunk_iter"):
        dataset.id.chunk_iter(found.append)
    else:  # takes the square of the time
        found += map(dataset.id.get_chunk_info, range(dataset.id.get_num_chunks()))
    shift = _shift()
    return {
        tuple(one.chunk_offset): (one.byte_offset + shift, one.byte_offset + shift + one.size)
        for one in found
    }


@cache
def _shift() -> int:
    """Return what HDF5's places lack; its versions differ in whether the header counts."""
    content = BytesIO()
    mark = np.frombuffer(b"a chunk!", dtype=np.uint8)
    with h5py.File(content, "w", userblock_size=HEADER_BYTES) as probe:
        dataset = probe.create_dataset("Z", data=mark, chunks=mark.shape)
        place = dataset.id.get_chunk_info(0).byte_offset
    return content.getvalue().index(mark.tobytes()) - place


def longest_run(places: Mapping[Any, tuple[int, int]]) -> tuple[int, int]:
    """Return start and stop of the longest run of bytes in the file that chunks fill."""
    return max(runs(places), key=lambda run: run[1] - run[0])


def runs(places: Mapping[Any, tuple[int, int]]) -> list[tuple[int, int]]:
    """Return start and stop of all such runs, in order."""
    found: list[tuple[int, int]] = []
    for low, high in sorted(places.values()):
        if found and found[-1][1] == low:
            found[-1] = found[-1][0], high
        else:
            found.append((low, high))
    return found


def check_whole(path: Path) -> None:
    """Refuse a file that is not, to the last bit outside of Z, what `save_features` left."""
    with open(path, "rb") as stream:
        front = stream.read(HEADER_BYTES)
        found = _LINES.match(front)
        if front.startswith(UNFINISHED.encode()):
            raise ValueError(
                f"{path} is not complete: the same call with resume=True goes on with it"
            )
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
        size, start, stop = map(int, found.groups()[1:])
        there = stream.seek(0, os.SEEK_END)
        if there != size:
            raise ValueError(f"{path} is damaged: it has {there} bytes instead of {size}")
        lines = found[0].decode().splitlines()
        if front != header(lines, stream, (start, stop)):
            raise ValueError(f"{path} is damaged, or was changed after it was saved")
