# SPDX-License-Identifier: BSD-3-Clause
"""Features with what they came from, in HDF5 files that MATLAB and Octave read as well."""

from __future__ import annotations

import io
import os
import reprlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from operator import attrgetter
from pathlib import Path
from typing import Any, BinaryIO

import h5py
import numpy as np

from d2ke._base import arrays
from d2ke._base.checks import choice, file_path, plain
from d2ke._base.errors import ArgumentError
from d2ke._base.files import atomic_write, reserve, write_all
from d2ke._base.keywords import hinted
from d2ke._base.labels import label_array, same_length
from d2ke._base.memory import check_fits
from d2ke._base.seal import SIZE, Seal, make_seal
from d2ke._version import __version__
from d2ke.io.feature_file import FORMAT, VERSION, as_slice, open_features
from d2ke.objects.container import Objects
from d2ke.objects.hdf5 import hdf5_on, put_json, put_objects, put_text
from d2ke.objects.packing import as_objects
from d2ke.objects.tables import read_ids

_CHUNK_BYTES = 1 << 20  # what is read, and checked, for one row


@dataclass(frozen=True, eq=False, repr=False)
class FeatureStore:
    """Features and what they came from; see `save_features` and `load_features`.

    Attributes
    ----------
    Z : ndarray of float32 or float64, shape (n, R)
        The features.
    labels : ndarray, shape (n,), or None
        The label of each row.
    ids : ndarray of int64 or str, shape (n,), or None
        The name of each row.
    omega : Objects or None
        The random object of each column.
    parameters : dict
        What the features were made with.
    versions : dict
        What the file was written with: the version of its ``format``, of ``d2ke``, ``numpy`` and
        ``h5py``.
    """

    Z: np.ndarray
    labels: np.ndarray | None
    ids: np.ndarray | None
    omega: Objects | None
    parameters: dict[str, Any]
    versions: dict[str, Any]

    def __repr__(self) -> str:
        lines = [f"features: {self.Z.shape[0]} x {self.Z.shape[1]}, {self.Z.dtype}"]
        if self.labels is not None:
            kind = "str" if self.labels.dtype.kind == "U" else self.labels.dtype
            lines.append(f"labels: {kind}, {len(np.unique(self.labels))} different")
        if self.ids is not None:
            lines.append(f"ids: {', '.join(map(str, self.ids[:3]))}{', ...' * (len(self.ids) > 3)}")
        if self.omega is not None:
            lines.append(f"omega: {self.omega!r}")
        if self.parameters:
            values = [f"{name}={reprlib.repr(value)}" for name, value in self.parameters.items()]
            lines.append(f"parameters: {', '.join(values)}")
        return "<" + "\n".join([*lines, f"saved by d2ke {self.versions['d2ke']}"]) + ">"


@hinted
def save_features(
    file: str | os.PathLike[str],
    Z: np.ndarray,
    *,
    labels: Any = None,
    ids: Any = None,
    omega: Any = None,
    parameters: Mapping[str, Any] | None = None,
    compression: str | None = None,
) -> None:
    """Write features, and what they came from, to an HDF5 file.

    An existing file is replaced when the new one is complete.

    Parameters
    ----------
    file : path
        Written as it is named; no suffix is added. It must not end in ``.mat``.
    Z : ndarray of float32 or float64, shape (n, R)
        The features, from `d2ke_embed` and its kin. Infinity is allowed, as it is in distances;
        NaN is not.
    labels : array_like of int, float or str, shape (n,), optional
        The label of each row.
    ids : sequence of int or str, shape (n,), optional
        The name of each row, or Objects or Records that have ids.
    omega : Objects or what `pack` takes, optional
        The R random objects, one for each column.
    parameters : dict, optional
        What the features were made with, by name: None, bool, int, float, str, and tuples and
        dicts of them. Numbers of numpy come back as Python's own of the same value.
    compression : {None, "gzip"}
        ``"gzip"``: Z takes less room and more time; see Notes.

    Raises
    ------
    OSError
        If the file cannot be written.
    TypeError
        Arguments of other types; a parameter that is not one of the above.
    ValueError
        An empty Z; NaN in Z (naming the position); labels, ids or omega of another number than
        Z's rows or columns; labels that UTF-8 cannot write.

    See Also
    --------
    load_features

    Notes
    -----
    What another program finds in the file, indices counting from 0:

    ====================  ========================================================================
    ``/Z``                n x R, float32 or float64
    ``/labels``           n numbers; for labels of str, indices of ``/classes``
    ``/classes``          only for labels of str: the different ones, in order
    ``/ids``              n numbers or texts
    ``/omega/values``     all random objects end to end: total x dim for vectors; for strings,
                          total indices of letters
    ``/omega/offsets``    R + 1 numbers: object j is ``values[offsets[j]:offsets[j + 1]]``
    ``/omega/alphabet``   only for strings: code points, bytes or integers. The attributes
                          ``kind`` and ``letters`` of ``/omega`` are those of `Objects`
    ``/parameters``       all parameters by name, as JSON
    ``/versions``         those of ``format``, ``d2ke``, ``numpy`` and ``h5py``, as JSON
    ====================  ========================================================================

    Z is stored in chunks of about 1 MiB with HDF5's filter ``fletcher32``, so that every reader
    checks them. The 512 bytes before the HDF5 content (its user block) hold a CRC-32 of all other
    bytes, which `load_features` and `open_features` check.

    MATLAB counts dimensions the other way round, so that it sees the transpose, R x n::

        Z = h5read(file, '/Z')';
        Z256 = h5read(file, '/Z', [1 1], [256 Inf])';         % the first 256 columns
        y = h5read(file, '/labels');
        classes = h5read(file, '/classes');  y = classes(y + 1);            % labels of str
        values = h5read(file, '/omega/values');               % dim x total
        offsets = h5read(file, '/omega/offsets');
        omega_i = values(:, offsets(i)+1:offsets(i+1));       % dim x length, i from 1 to R
        alphabet = h5read(file, '/omega/alphabet');                         % omega of str
        omega_i = char(alphabet(double(values(offsets(i)+1:offsets(i+1))) + 1))';
        parameters = jsondecode(h5read(file, '/parameters'));

    Octave reads the same by ``s = load('-hdf5', file)`` as ``s.Z``, ``s.omega.values`` and so on,
    in double instead of single precision, vectors as rows, and without attributes. It stops at
    strings with letters beyond ASCII; ``load('-hdf5', file, 'Z', 'omega')`` goes round them.

    gzip pays for distances that are integers: it makes 2000 x 1024 features of Levenshtein
    distances 7 times smaller, those of DTW 7 %. Writing takes 4 to 20 times as long then, reading
    3 to 8 times.

    Examples
    --------
    >>> import os, tempfile
    >>> import d2ke
    >>> omega = d2ke.samplers.random_strings(256, "ACGT", length=(2, 8), seed=0)
    >>> Z = d2ke.d2ke_embed(["ACGT", "AGGT"], omega, distance="levenshtein", gamma=0.5)
    >>> parameters = {"gamma": 0.5, "distance": "levenshtein", "length": (2, 8), "seed": 0}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = os.path.join(folder, "features.h5")
    ...     d2ke.io.save_features(file, Z, labels=["a", "b"], omega=omega, parameters=parameters)
    ...     store = d2ke.io.load_features(file)
    >>> bool((store.Z == Z).all()), store.omega == omega, store.parameters == parameters
    (True, True, True)
    """
    path = check_features_path("file", file)
    Z = _features(Z)
    if labels is not None:
        labels = check_labels(labels, len(Z), "Z")
    if ids is not None:
        ids = read_ids(ids, len(Z), of="Z")
    if omega is not None:
        omega = as_objects("omega", omega, missing=isinstance(omega, Objects) and omega.missing)
        if len(omega) != Z.shape[1]:
            raise ValueError(f"omega has {len(omega)} objects, but Z has {Z.shape[1]} columns")
    parameters = plain("parameters", dict(parameters or {}))
    if compression is not None:
        choice("compression", compression, ["gzip"])
    with atomic_write(path) as stream:
        with hdf5_on(stream.fileno(), "w", userblock_size=SIZE) as features:
            if compression is None:
                reserve(stream.fileno(), Z.nbytes, path)
            put_parts(features, parameters, omega, labels, ids)
            chunks = chunk_shape(Z.shape, Z.dtype)
            features.create_dataset(
                "Z", data=Z, chunks=chunks, fletcher32=True, compression=compression
            )
        seal = seal_features(stream)
        write_all(stream.fileno(), seal.block("features", len(Z)), 0)


def check_features_path(name: str, file: Any) -> Path:
    """Return a path; refuse one that names a MAT-file."""
    path = file_path(name, file)
    if path.suffix.lower() == ".mat":
        raise ArgumentError(
            name,
            f"is an HDF5 file, which {str(path)!r} does not say; end it in .h5, or write a "
            "MAT-file by save_mat",
        )
    return path


def chunk_shape(shape: tuple[int, ...], dtype: np.dtype) -> tuple[int, int]:
    """Return the rows and columns of a chunk of about 1 MiB: whole rows, unless one is longer."""
    values = max(1, _CHUNK_BYTES // dtype.itemsize)
    columns = min(shape[1], values)
    return min(shape[0], max(1, values // columns)), columns


def chunk_offsets(Z: h5py.Dataset) -> np.ndarray:
    """Return the first and last byte offset of each chunk, in the order of rows."""
    infos: list[Any] = []
    Z.id.chunk_iter(infos.append)  # in one pass, as a question for one chunk goes through all
    infos.sort(key=attrgetter("chunk_offset"))
    offsets = [(info.byte_offset, info.byte_offset + info.size) for info in infos]
    return np.array(offsets, np.int64) + _missing_offset()


@cache
def _missing_offset() -> int:
    """Return the correction of chunk offsets: HDF5 1.14.2 counts from the user block's end."""
    stream, mark = io.BytesIO(), b"a chunk."
    with h5py.File(stream, "w", userblock_size=SIZE) as file:
        Z = file.create_dataset("Z", data=np.frombuffer(mark, np.int64), chunks=(1,))
        file.flush()
        infos: list[Any] = []
        Z.id.chunk_iter(infos.append)
    return stream.getvalue().index(mark) - int(infos[0].byte_offset)


def seal_features(stream: BinaryIO) -> Seal:
    """Write the list of chunks to the end of a features file, and return its seal."""
    fd = stream.fileno()
    with hdf5_on(fd, "r") as file:
        offsets = chunk_offsets(file["Z"])
    offsets = offsets[offsets[:, 0].argsort()]
    gaps = np.flatnonzero(offsets[1:, 0] != offsets[:-1, 1])
    runs = np.column_stack(
        [offsets[np.append(0, gaps + 1), 0], offsets[np.append(gaps, -1), 1]]
    ).astype("<i8")
    write_all(fd, runs, os.fstat(fd).st_size)
    return make_seal(stream, runs)


def put_parts(
    file: h5py.File,
    parameters: Mapping[str, Any],
    omega: Objects | None = None,
    labels: np.ndarray | None = None,
    ids: np.ndarray | None = None,
) -> None:
    """Write all of a new features file but Z."""
    file.attrs["format"] = FORMAT
    if labels is not None and labels.dtype.kind == "U":
        classes, codes = np.unique(labels, return_inverse=True)
        put_text(file, "classes", classes).attrs["dtype"] = labels.dtype.str
        file["labels"] = codes
    elif labels is not None:
        file["labels"] = labels
    if ids is not None and ids.dtype.kind == "U":
        put_text(file, "ids", ids)
    elif ids is not None:
        file["ids"] = ids
    if omega is not None:
        put_objects(file.create_group("omega"), omega)
    put_json(file, "parameters", parameters)
    versions = {"d2ke": __version__, "numpy": np.__version__, "h5py": h5py.__version__}
    put_json(file, "versions", {"format": VERSION, **versions})


@hinted
def load_features(
    file: str | os.PathLike[str], *, rows: slice | None = None, columns: slice | None = None
) -> FeatureStore:
    """Read features that `save_features` wrote, or a part of them.

    Parameters
    ----------
    file : path
        The file.
    rows : slice, optional
        The rows to read, with their labels and ids, such as ``slice(100, 200)``; None for all.
    columns : slice, optional
        The columns to read, with their random objects, such as ``slice(256)`` for the first 256;
        None for all.

    Returns
    -------
    FeatureStore
        The same bits and types that were saved.

    Raises
    ------
    OSError
        If the file cannot be opened.
    TypeError
        If `rows` or `columns` is not a slice.
    ValueError
        If the file is not a features file, is damaged ("FILE is damaged: WHAT"), is not complete,
        or was written by a newer version of d2ke.
    MemoryError
        If the call would take more than there is; see docs/memory.md.

    See Also
    --------
    save_features

    Notes
    -----
    `d2ke_embed` divides by sqrt(R). So the first R' of R columns times sqrt(R / R') are the
    features of the first R' random objects. Other rows and columns are not read.

    Examples
    --------
    >>> import os, tempfile
    >>> import numpy as np
    >>> import d2ke
    >>> omega = d2ke.samplers.random_strings(256, "ACGT", length=(2, 8), seed=0)
    >>> Z = d2ke.d2ke_embed(["ACGT", "AGGT"], omega, distance="levenshtein", gamma=0.5)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = os.path.join(folder, "features.h5")
    ...     d2ke.io.save_features(file, Z, labels=[1, 2], omega=omega, parameters={"gamma": 0.5})
    ...     store = d2ke.io.load_features(file, columns=slice(64))
    >>> store
    <features: 2 x 64, float64
    labels: int64, 2 different
    omega: <64 strings over 4 letters, lengths 2 to 8>
    parameters: gamma=0.5
    saved by d2ke ...>
    >>> Z64 = d2ke.d2ke_embed(["ACGT", "AGGT"], omega[:64], distance="levenshtein", gamma=0.5)
    >>> np.allclose(store.Z * np.sqrt(256 / 64), Z64)
    True
    """
    with open_features(file) as store:
        rows, columns = as_slice("rows", rows), as_slice("columns", columns)
        n = len(range(*rows.indices(store.shape[0])))
        R = len(range(*columns.indices(store.shape[1])))
        check_fits(
            store.dtype.itemsize * n * R,
            f"{n} x {R} features",
            "read some rows or columns, or use open_features",
        )
        return FeatureStore(
            store.read(rows, columns),
            store.labels(rows),
            store.ids(rows),
            store.omega(columns),
            store.parameters,
            store.versions,
        )


def _features(Z: Any) -> np.ndarray:
    if not isinstance(Z, np.ndarray) or Z.dtype not in (np.float32, np.float64):
        got = f"an ndarray of {Z.dtype}" if isinstance(Z, np.ndarray) else type(Z).__name__
        raise TypeError(f"Z must be an ndarray of float32 or float64, got {got}")
    Z = arrays.matrix("Z", Z, infinite=True)
    if Z.size == 0:
        raise ValueError(f"Z is empty: its shape is {Z.shape}")
    return Z


def check_labels(y: Any, n: int, of: str) -> np.ndarray:
    """Return the labels of n rows as an array that a features file can hold."""
    labels = label_array("labels", y)
    if labels.dtype.kind not in "iuU" and labels.dtype not in (np.float32, np.float64):
        raise TypeError(
            f"labels must hold integers, float32, float64 or strings, got dtype {labels.dtype}"
        )
    same_length("labels", labels, of, n)
    return labels
