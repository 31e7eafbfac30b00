# SPDX-License-Identifier: BSD-3-Clause
"""Files of features opened for reading by parts: `open_features` and `FeatureFile`."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from d2ke._base.checks import file_path, integer
from d2ke._base.damage import Damaged, damage_of
from d2ke._base.errors import ArgumentError, ArgumentTypeError
from d2ke._base.files import lists_to_tuples, open_file
from d2ke._base.keywords import hinted
from d2ke._base.seal import SIZE, Seal, check_seal, is_sealed
from d2ke._version import __version__
from d2ke.objects.container import Objects
from d2ke.objects.hdf5 import get_json, get_objects, get_text

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
        As in `FeatureStore`.
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
        seal = features_seal(self.path)
        if seal is None:
            raise ArgumentError(str(self.path), "is not a features file: another program wrote it")
        with damage_of(self.path):
            self._file = h5py.File(self.path, "r")
        try:
            with damage_of(self.path):
                self._read_parts()
            if self.versions["format"] > VERSION:
                raise ArgumentError(
                    str(self.path),
                    f"has version {self.versions['format']} of the format; this d2ke "
                    f"({__version__}) reads {VERSION}, a newer d2ke is needed",
                )
            if seal.rows < len(self):
                raise ArgumentError(str(self.path), f"is not complete, {_TO_COMPLETE}")
        except BaseException:
            self.close()
            raise

    def _read_parts(self) -> None:
        """Read all but features, labels and objects."""
        self._Z = self._file["Z"]
        self.shape: tuple[int, int] = self._Z.shape
        self.dtype: np.dtype = self._Z.dtype
        if len(self.shape) != 2 or self.dtype not in (np.float32, np.float64):
            raise Damaged(f"Z has the shape {self.shape} and holds {self.dtype}")
        self.parameters: dict[str, Any] = lists_to_tuples(get_json(self._file, "parameters"))
        self.versions: dict[str, Any] = get_json(self._file, "versions")
        self.record: dict[str, Any] = {}
        if "record" in self._file:
            self.record = get_json(self._file, "record")

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
        """Read some rows and columns of Z; None for all.

        Whole chunks of about 1 MiB are read and checked; a damaged one is a ValueError.
        """
        selection = as_slice("rows", rows), as_slice("columns", columns)
        if not self._file:
            raise ArgumentError(str(self.path), "is closed")
        start, stop, _ = selection[0].indices(len(self))
        with damage_of(self.path, f"rows {start} to {stop} of Z: "):
            return self._Z[selection]

    def __getitem__(self, rows: slice) -> np.ndarray:
        """Read a slice of rows."""
        return self.read(rows)

    def blocks(self, n_rows: int | None = None) -> Iterator[tuple[slice, np.ndarray]]:
        """Iterate over (rows, Z[rows]) of `n_rows` each; None for about 4 MiB."""
        if n_rows is None:
            chunk = (self._Z.chunks or (1,))[0]
            n_rows = max(1, _BLOCK_BYTES // (self.shape[1] * self.dtype.itemsize) // chunk) * chunk
        step = integer("n_rows", n_rows, 1)
        for low in range(0, self.shape[0], step):
            rows = slice(low, min(low + step, self.shape[0]))
            yield rows, self[rows]

    def labels(self, rows: slice | None = None) -> np.ndarray | None:
        """Read the labels of some rows; None if the file has none."""
        rows = as_slice("rows", rows)
        if "labels" not in self._file:
            return None
        with damage_of(self.path):
            labels = self._file["labels"][rows]
            if "classes" not in self._file:
                return labels
            if labels.min(initial=0) < 0:
                raise Damaged("labels has negative codes of classes")
            classes = self._file["classes"]
            return get_text(classes).astype(classes.attrs["dtype"])[labels]

    def ids(self, rows: slice | None = None) -> np.ndarray | None:
        """Read the names of some rows; None if the file has none."""
        rows = as_slice("rows", rows)
        if "ids" not in self._file:
            return None
        with damage_of(self.path):
            ids = self._file["ids"]
            return ids[rows] if ids.dtype == np.int64 else get_text(ids)[rows]

    def omega(self, columns: slice | None = None) -> Objects | None:
        """Read the random objects of some columns; None if the file has none."""
        columns = as_slice("columns", columns)
        with damage_of(self.path):
            return get_objects(self._file["omega"])[columns] if "omega" in self._file else None


def as_slice(name: str, value: slice | None) -> slice:
    """Return a slice, as other indices would change the shape; None for all."""
    if value is None:
        return slice(None)
    if not isinstance(value, slice):
        raise ArgumentTypeError(name, f"must be a slice, such as slice(100), got {value!r}")
    if slice(*value.indices(0)).step < 1:
        raise ArgumentError(name, f"must have a step of at least 1, got {value!r}")
    return value


def features_seal(path: Path) -> Seal | None:
    """Check all of a features file but Z, and return its seal; None for another regular file."""
    if not path.exists() and path.with_name(f"{path.name}.part").exists():
        raise FileNotFoundError(
            f"{path} is not complete: rows are missing in {path.name}.part; {_TO_COMPLETE}"
        )
    with open_file(path) as stream:
        if not is_sealed(stream.read(SIZE), "features"):
            return None
        with damage_of(path):
            return check_seal(stream, "features")


@hinted
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
        If the file is not a features file, is damaged ("FILE is damaged: WHAT"), is not complete,
        or was written by a newer version of d2ke. All bytes but those of Z are checked here, those
        of Z when they are read.

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
