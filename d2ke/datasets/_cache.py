# SPDX-License-Identifier: BSD-3-Clause
"""A cache of objects that are slow to make from the original files, in HDF5 files.

A header of three lines of text precedes the HDF5 part: the format, the key (a SHA-256 of the
original files and of all else that the content depends on) and the SHA-256 of the HDF5 part.
"""

from __future__ import annotations

import hashlib
import os
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path

import h5py
import numpy as np

from d2ke._base.files import open_file
from d2ke.io.store.hdf5 import (
    HEADER_BYTES,
    get_objects,
    get_text,
    group_of,
    header,
    part_of,
    put_objects,
    put_text,
    sha256,
    write_hdf5,
)
from d2ke.objects.container import Objects

CACHE_VARIABLE = "D2KE_CACHE"
_FORMAT = "d2ke objects 2"


def cached_objects(
    name: str, sources: Sequence[Path], recipe: str, make: Callable[[], tuple[Objects, np.ndarray]]
) -> tuple[Objects, np.ndarray]:
    """Return objects and labels from the cache, or make them and store them there.

    Parameters
    ----------
    name : str
        Beginning of the file's name.
    sources : sequence of Path
        The files from which the objects are made; their content is a part of the key.
    recipe : str
        All else that the result depends on, such as the version of a library.
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
            digest.update(sha256(stream, (0, None)))
    key = digest.hexdigest()
    content = _read(name, key)
    if content is not None:
        return content
    objects, labels = make()
    try:
        _write(name, key, objects, labels)
    except (OSError, RuntimeError) as error:
        # The frames above: the data set's loader, load, and the caller of load.
        warnings.warn(
            f"{name} is made again each time, since it cannot be cached: {error}; the environment "
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
    folder = os.environ.get(CACHE_VARIABLE)
    if folder:
        return Path(folder)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "d2ke"


def _file(name: str, key: str) -> Path:
    return cache_folder() / f"{name}-{key[:16]}.h5"


def _read(name: str, key: str) -> tuple[Objects, np.ndarray] | None:
    """Return the content; None for a file that is missing, damaged or of other content."""
    try:
        file = _file(name, key)
        # HDF5 can loop for ever over a damaged file, so only sealed files are opened.
        with open_file(file) as stream:
            if stream.read(HEADER_BYTES) != header((_FORMAT, key), stream):
                return None
            with h5py.File(stream, "r") as store:
                labels = part_of(store, "labels")
                labels = get_text(labels) if labels.dtype.kind == "S" else labels[()]
                return get_objects(group_of(store, "objects")), labels
    except (KeyError, OSError, RuntimeError, TypeError, ValueError):
        return None


def _write(name: str, key: str, objects: Objects, labels: np.ndarray) -> None:
    file = _file(name, key)
    file.parent.mkdir(parents=True, exist_ok=True)
    with write_hdf5(file, (_FORMAT, key)) as store:
        put_objects(store.create_group("objects"), objects)
        if labels.dtype.kind == "U":
            put_text(store, "labels", labels)
        else:
            store["labels"] = labels
