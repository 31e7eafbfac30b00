# SPDX-License-Identifier: BSD-3-Clause
"""Objects that are slow to make from the original files, kept in HDF5 files of our own.

In front of the HDF5 part, a header of 512 bytes has three lines of text: the format, the key (a
SHA-256 of the original files and of all else that the content depends on) and the SHA-256 of the
HDF5 part.
"""

from __future__ import annotations

import hashlib
import os
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import BinaryIO

import h5py
import numpy as np

from d2ke._atomic import written_whole
from d2ke.objects import Objects

CACHE_VARIABLE = "D2KE_CACHE"
_FORMAT = "d2ke objects 1"
_HEADER_BYTES = 512  # the least that HDF5 leaves in front for other uses


def cached_objects(
    name: str,
    sources: Sequence[Path],
    recipe: str,
    make: Callable[[], tuple[Objects, np.ndarray]],
) -> tuple[Objects, np.ndarray]:
    """Return objects and labels from the cache, or make them and leave them there.

    Parameters
    ----------
    name : str
        What the file's name begins with.
    sources : sequence of Path
        The files from which the objects are made; their content is a part of the key.
    recipe : str
        What else the result depends on, such as the version of a library.
    make : callable
        Makes objects and labels.

    Returns
    -------
    objects : Objects
    labels : ndarray of str or int64
        The same as `make` returns.

    Warns
    -----
    RuntimeWarning
        If the cache cannot be written; the result is the same.
    """
    digest = hashlib.sha256(recipe.encode())
    for path in sources:
        with open(path, "rb") as stream:
            digest.update(_sha256(stream))
    key = digest.hexdigest()
    found = _read(name, key)
    if found is not None:
        return found
    objects, labels = make()
    try:
        _write(name, key, objects, labels)
    except (OSError, RuntimeError) as error:
        # The frames above: the data set's loader, load, and the caller of load.
        warnings.warn(
            f"{name} is made anew each time, since it cannot be kept: {error}; the environment "
            f"variable {CACHE_VARIABLE} names a folder for it",
            RuntimeWarning,
            stacklevel=4,
        )
    return objects, labels


def cache_folder() -> Path:
    """Return the folder of D2KE_CACHE, or d2ke in the user's folder for caches.

    Raises
    ------
    RuntimeError
        If the user has no home.
    """
    given = os.environ.get(CACHE_VARIABLE)
    if given:
        return Path(given)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "d2ke"


def _file(name: str, key: str) -> Path:
    return cache_folder() / f"{name}-{key[:16]}.h5"


def _header(key: str, content: BinaryIO) -> bytes:
    """Return what stands in front of the HDF5 part, which is the rest of `content`."""
    content.seek(_HEADER_BYTES)
    lines = (_FORMAT, key, _sha256(content).hex(), "")
    return "\n".join(lines).encode().ljust(_HEADER_BYTES, b"\0")


def _sha256(stream: BinaryIO) -> bytes:
    digest = hashlib.sha256()
    while block := stream.read(1 << 20):
        digest.update(block)
    return digest.digest()


def _read(name: str, key: str) -> tuple[Objects, np.ndarray] | None:
    """Return the content; None for a file that is missing, damaged or of something else."""
    try:
        file = _file(name, key)
        # HDF5 can loop forever over a damaged file, so it sees only what is whole.
        with open(file, "rb") as stream:
            header = stream.read(_HEADER_BYTES)
            if header != _header(key, stream):
                return None
        with h5py.File(file, "r") as store:
            content = {part: store[part][()] for part in store}
            kind, letters = store.attrs["kind"], store.attrs["letters"] or None
    except (OSError, RuntimeError):
        return None
    labels = content.pop("labels")
    if labels.dtype.kind == "S":
        labels = np.char.decode(labels, "utf-8")
    return Objects(kind, letters=letters, **content), labels


def _write(name: str, key: str, objects: Objects, labels: np.ndarray) -> None:
    content = {"values": objects.values, "offsets": objects.offsets, "labels": labels}
    if labels.dtype.kind == "U":
        content["labels"] = np.char.encode(labels, "utf-8")
    if objects.alphabet is not None:
        content["alphabet"] = objects.alphabet
    file = _file(name, key)
    file.parent.mkdir(parents=True, exist_ok=True)
    with written_whole(file) as part:
        with h5py.File(part, "w", userblock_size=_HEADER_BYTES) as store:
            store.attrs.update(kind=objects.kind, letters=objects.letters or "")
            for array_name, array in content.items():
                store.create_dataset(array_name, data=array)
        with open(part, "r+b") as stream:
            header = _header(key, stream)
            stream.seek(0)
            stream.write(header)
