# SPDX-License-Identifier: BSD-3-Clause
"""A cache of objects that are slow to make from the original files, in .npz files.

The key, a SHA-256 of the original files and of all else that the content depends on, is a part of
the file's name; zip archives have checksums of their own.
"""

from __future__ import annotations

import hashlib
import os
import warnings
import zipfile
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from d2ke import Objects
from d2ke._base.files import atomic_write

CACHE_VARIABLE = "D2KE_CACHE"
# Errors of a missing or damaged file; RuntimeError: the user has no home.
_UNREADABLE = (
    EOFError, KeyError, NotImplementedError, OSError, RuntimeError, TypeError, ValueError,
    zipfile.BadZipFile, zlib.error,
)  # fmt: skip


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
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    file = f"{name}-{digest.hexdigest()}.npz"
    try:
        with open(cache_folder() / file, "rb") as stream, np.load(stream) as held:
            arrays = {key: held[key] for key in held.files}
        labels = arrays.pop("labels")
        if "letters" in arrays:
            return Objects("strings", **arrays | {"letters": str(arrays["letters"])}), labels
        return Objects("sets" if "weights" in arrays else "series", **arrays), labels
    except _UNREADABLE:
        objects, labels = make()
    try:
        cache_folder().mkdir(parents=True, exist_ok=True)
        arrays = {"values": objects.values, "offsets": objects.offsets, "labels": labels}
        if objects.kind == "strings":
            arrays |= {"alphabet": objects.alphabet, "letters": np.array(objects.letters)}
        with atomic_write(cache_folder() / file) as stream:
            np.savez(stream, **arrays)
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
