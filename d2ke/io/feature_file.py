# SPDX-License-Identifier: BSD-3-Clause
"""Files of features opened for reading by parts: `open_features` and `FeatureFile`."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from d2ke._base.checks import file_path, integer
from d2ke._base.errors import ArgumentTypeError
from d2ke._base.files import lists_to_tuples, open_file
from d2ke._version import __version__
from d2ke.io.hdf5 import get_json, get_objects, get_text
from d2ke.objects.container import Objects

FORMAT, VERSION = "d2ke features", 1
_BLOCK_BYTES = 1 << 22
_TO_COMPLETE = "the call of write_features or write_distances that began it completes it"


class FeatureFile:
    """A features file opened by `open_features`; Z stays on the disk.

    It is a context manager, and closed at the end of a ``with``.

    Attributes
    ----------
    path : pathlib.Path
        The file.
    shape : tuple of int
        Rows and columns, (n, R).
    dtype : numpy.dtype
        float32 or float64.
    parameters : dict
        What the features were made with.
    versions : dict
        As those of `FeatureStore`.
    record : dict
        What `d2ke.write_features` or `d2ke.write_distances` made the file from: digests of X and
        omega above all; empty for files of `save_features`.

    Examples
    --------
    >>> import os, tempfile
    >>> import numpy as np
    >>> import d2ke
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = os.path.join(folder, "features.h5")
    ...     d2ke.io.save_features(file, np.eye(3))
    ...     with d2ke.io.open_features(file) as features:
    ...         print(features)
    ...         print(features.read(slice(1, 3), slice(2)))
    ...         print([rows for rows, Z in features.blocks(2)])
    <features.h5: 3 x 3, float64>
    [[0. 1.]
     [0. 0.]]
    [slice(0, 2, None), slice(2, 3, None)]
    """

    def __init__(self, file: str | os.PathLike[str]):
        self.path = file_path("file", file)
        if not is_features_file(self.path):
            raise ValueError(f"{self.path} is not a features file: another program wrote it")
        self._file = h5py.File(self.path, "r")
        try:
            with _damage_of(self.path):
                self._read_parts()
        except BaseException:
            self.close()
            raise

    def _read_parts(self) -> None:
        """Read all but features, labels and objects."""
        self._Z = self._file["Z"]
        self.shape: tuple[int, int] = self._Z.shape
        self.dtype: np.dtype = self._Z.dtype
        if len(self.shape) != 2 or self.dtype not in (np.float32, np.float64):
            raise ValueError(f"Z has the shape {self.shape} and holds {self.dtype}")
        self.parameters: dict[str, Any] = lists_to_tuples(get_json(self._file, "parameters"))
        self.versions: dict[str, Any] = get_json(self._file, "versions")
        self.record: dict[str, Any] = {}
        if "record" in self._file:
            self.record = get_json(self._file, "record")
        if self.versions["format"] > VERSION:
            raise ValueError(
                f"version {self.versions['format']} of the format; this d2ke ({__version__}) "
                f"reads {VERSION}, a newer d2ke is needed"
            )
        if "done" in self._file and self._file["done"][()] < len(self):
            raise ValueError(f"it is not complete, {_TO_COMPLETE}")

    def __len__(self) -> int:
        return self.shape[0]

    def __repr__(self) -> str:
        closed = "" if self._file else ", closed"
        return f"<{self.path.name}: {self.shape[0]} x {self.shape[1]}, {self.dtype}{closed}>"

    def __enter__(self) -> FeatureFile:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file; it may be closed already."""
        self._file.close()

    def read(self, rows: slice | None = None, columns: slice | None = None) -> np.ndarray:
        """Read some rows and columns of Z; None for all."""
        return self._Z[as_slice("rows", rows), as_slice("columns", columns)]

    def __getitem__(self, rows: slice) -> np.ndarray:
        """Read the rows of a slice, as those of an array."""
        return self.read(rows)

    def blocks(self, n_rows: int | None = None) -> Iterator[tuple[slice, np.ndarray]]:
        """Iterate over (rows, those rows of Z), of `n_rows` each; None for about 4 MiB."""
        if n_rows is None:
            n_rows = max(1, _BLOCK_BYTES // (self.shape[1] * self.dtype.itemsize))
        step = integer("n_rows", n_rows, 1)
        for low in range(0, self.shape[0], step):
            rows = slice(low, min(low + step, self.shape[0]))
            yield rows, self[rows]

    def labels(self, rows: slice | None = None) -> np.ndarray | None:
        """Read the labels of some rows; None where none were saved."""
        rows = as_slice("rows", rows)
        if "labels" not in self._file:
            return None
        with _damage_of(self.path):
            labels = self._file["labels"][rows]
            if "classes" not in self._file:
                return labels
            if labels.min(initial=0) < 0:
                raise ValueError("labels has negative codes of classes")
            classes = self._file["classes"]
            return get_text(classes).astype(classes.attrs["dtype"])[labels]

    def omega(self, columns: slice | None = None) -> Objects | None:
        """Read the random objects of some columns; None where none were saved."""
        columns = as_slice("columns", columns)
        with _damage_of(self.path):
            return get_objects(self._file["omega"])[columns] if "omega" in self._file else None


@contextmanager
def _damage_of(path: Path) -> Iterator[None]:
    """Name the file in errors of its contents."""
    try:
        yield
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        raise ValueError(f"{path} cannot be read: {error}") from error


def as_slice(name: str, part: slice | None) -> slice:
    """Return the slice, as other indices would change the shape."""
    if part is None:
        return slice(None)
    if not isinstance(part, slice):
        raise ArgumentTypeError(name, f"must be a slice, such as slice(100), got {part!r}")
    return part


def is_features_file(path: Path) -> bool:
    """Tell whether a regular file holds features that d2ke wrote."""
    if not path.exists() and path.with_name(f"{path.name}.part").exists():
        raise FileNotFoundError(
            f"{path} is not complete: rows are missing in {path.name}.part; {_TO_COMPLETE}"
        )
    open_file(path).close()  # neither a pipe nor a device
    if not h5py.is_hdf5(path):
        return False
    with h5py.File(path, "r") as file:
        return file.attrs.get("format") == FORMAT


def open_features(file: str | os.PathLike[str]) -> FeatureFile:
    """Open a file of features to read parts of it.

    Parameters
    ----------
    file : path
        What `save_features`, `d2ke.write_features` or `d2ke.write_distances` wrote.

    Returns
    -------
    FeatureFile
        Close it, or use it in a ``with``.

    Raises
    ------
    OSError
        If the file cannot be opened.
    ValueError
        If the file is not a features file, is not complete, or was written by a newer version of
        d2ke.

    See Also
    --------
    load_features

    Examples
    --------
    >>> import os, tempfile
    >>> import numpy as np
    >>> import d2ke
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = os.path.join(folder, "features.h5")
    ...     d2ke.io.save_features(file, np.eye(3), labels=[1, 2, 1])
    ...     with d2ke.io.open_features(file) as store:
    ...         print(store.shape, store.read(slice(1)), store.labels())
    (3, 3) [[1. 0. 0.]] [1 2 1]
    """
    return FeatureFile(file)
