# SPDX-License-Identifier: BSD-3-Clause
"""Features with what they came from, in HDF5 files that MATLAB and Octave read as well.

A header in front of the HDF5 part has four lines of text: the format and its version; the file's
size and a span of bytes; the SHA-256 of the HDF5 part without that span. The span holds parts of Z
only, which HDF5 itself checks when it reads them, so that nobody waits for what was not asked for.
"""

from __future__ import annotations

import json
import math
import os
import re
import reprlib
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from d2ke import _nodes
from d2ke._atomic import written_whole
from d2ke._json import frozen
from d2ke._labels import label_array, same_length
from d2ke._validate import choice, file_path, integer
from d2ke._version import __version__
from d2ke.io._hdf5 import (
    HEADER_BYTES,
    get_objects,
    get_text,
    header,
    put_objects,
    put_text,
    seal,
)
from d2ke.objects import Objects, pack

_FORMAT = "d2ke features"
_VERSION = 1
_LINES = re.compile(rb"d2ke features (\d{1,9})\n(?:(\d{1,18}) (\d{1,18}) (\d{1,18})\n)?")
_CHUNK = (256, 128)  # rows and columns that are read at once: 256 KiB of float64
_LARGEST = 2**63 - 1  # of int64


@dataclass(frozen=True, eq=False, repr=False)
class FeatureStore:
    """Features and what they came from; see `save_features` and `load_features`.

    Attributes
    ----------
    Z : ndarray of float32 or float64, shape (n, R)
        The features.
    labels : ndarray, shape (n,), or None
        The label of each row.
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
    omega: Objects | None
    parameters: dict[str, Any]
    versions: dict[str, Any]

    def __repr__(self) -> str:
        lines = [f"features: {self.Z.shape[0]} x {self.Z.shape[1]}, {self.Z.dtype}"]
        if self.labels is not None:
            kind = "str" if self.labels.dtype.kind == "U" else self.labels.dtype
            lines.append(f"labels: {kind}, {len(np.unique(self.labels))} different")
        if self.omega is not None:
            lines.append(f"omega: {self.omega!r}")
        if self.parameters:
            values = [f"{name}={reprlib.repr(value)}" for name, value in self.parameters.items()]
            lines.append(f"parameters: {', '.join(values)}")
        lines.append(f"saved by d2ke {self.versions['d2ke']}")
        text = "\n".join(lines)
        return f"<{text}>"


def save_features(
    file: str | os.PathLike,
    Z: np.ndarray,
    *,
    labels: Any = None,
    omega: Any = None,
    parameters: Mapping[str, Any] | None = None,
    compression: str | None = None,
) -> None:
    """Write features, and what they came from, to an HDF5 file.

    A file that is there already is replaced when the new one is complete.

    Parameters
    ----------
    file : path
        Written as it is named; no suffix is added.
    Z : ndarray of float32 or float64, shape (n, R)
        The features, from `d2ke_embed` and its kin. Infinity is allowed, as it is in distances;
        NaN is not.
    labels : array_like of int, float or str, shape (n,), optional
        The label of each row.
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
        An empty Z; NaN in Z (naming the position); labels or omega of another number than Z's
        rows or columns; what UTF-8 cannot write; a parameter's name with a slash.

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
    ``/omega/values``     all random objects end to end: total x dim for vectors; for strings,
                          total indices of letters
    ``/omega/offsets``    R + 1 numbers: object j is ``values[offsets[j]:offsets[j + 1]]``
    ``/omega/alphabet``   only for strings: code points, bytes or integers. The attributes
                          ``kind`` and ``letters`` of ``/omega`` are those of `Objects`
    ``/parameters/NAME``  a number (bool: uint8); numbers, for a tuple of int or of float; a str;
                          anything else as JSON, marked by the attribute ``json``
    ``/versions/NAME``    of ``format``, ``d2ke``, ``numpy`` and ``h5py``
    ====================  ========================================================================

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
        gamma = h5read(file, '/parameters/gamma');
        grid = jsondecode(h5read(file, '/parameters/grid'));                % a marked one

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
    >>> omega = d2ke.random_strings(256, "ACGT", length=(2, 8), seed=0)
    >>> Z = d2ke.d2ke_embed(["ACGT", "AGGT"], omega, distance="levenshtein", gamma=0.5)
    >>> parameters = {"gamma": 0.5, "distance": "levenshtein", "length": (2, 8), "seed": 0}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = os.path.join(folder, "features.h5")
    ...     d2ke.io.save_features(file, Z, labels=["a", "b"], omega=omega, parameters=parameters)
    ...     store = d2ke.io.load_features(file)
    >>> bool((store.Z == Z).all()), store.omega == omega, store.parameters == parameters
    (True, True, True)
    """
    path = file_path("file", file)
    Z = _features(Z)
    if labels is not None:
        labels = _labels(labels, len(Z))
    if omega is not None:
        omega = pack(omega, name="omega")
        if len(omega) != Z.shape[1]:
            raise ValueError(f"omega has {len(omega)} objects, but Z has {Z.shape[1]} columns")
    parameters = _parameters({} if parameters is None else parameters)
    if compression is not None:
        choice("compression", compression, ["gzip"])
    versions = {
        "format": _VERSION,
        "d2ke": __version__,
        "numpy": np.__version__,
        "h5py": h5py.__version__,
    }
    chunk = tuple(_even(size, most) for size, most in zip(Z.shape, _CHUNK, strict=True))
    n_chunks = math.prod(-(-size // step) for size, step in zip(Z.shape, chunk, strict=True))
    with written_whole(path) as part:
        # The room for HDF5's own data keeps its tables of chunks out of the chunks' span.
        with h5py.File(
            part,
            "w",
            userblock_size=HEADER_BYTES,
            libver=("earliest", "v108"),  # MATLAB's HDF5 is old
            meta_block_size=8192 + 128 * n_chunks,
        ) as store:
            if labels is not None:
                _put_labels(store, labels)
            if omega is not None:
                put_objects(store.create_group("omega"), omega)
            _put_values(store, "parameters", parameters)
            _put_values(store, "versions", versions)
            dataset = store.create_dataset(
                "Z", data=Z, chunks=chunk, compression=compression, fletcher32=True
            )
            spared = _span(dataset)
        size = part.stat().st_size
        seal(part, (f"{_FORMAT} {_VERSION}", f"{size} {spared[0]} {spared[1]}"), spared)


def load_features(
    file: str | os.PathLike, *, rows: slice | None = None, columns: slice | None = None
) -> FeatureStore:
    """Read features that `save_features` wrote, or a part of them.

    Parameters
    ----------
    file : path
        The file.
    rows : slice, optional
        The rows to read, with their labels, such as ``slice(100, 200)``; None for all.
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
        If the file is something else, is damaged, or was written by a newer version of d2ke; if
        `rows` or `columns` reaches beyond Z, is empty, or has a step.

    See Also
    --------
    save_features

    Notes
    -----
    `d2ke_embed` divides by sqrt(R). So the first R' of R columns times sqrt(R / R') are what the
    first R' random objects give.

    Only what is asked for is read, and checked: damage elsewhere in Z goes unnoticed.

    Examples
    --------
    >>> import os, tempfile
    >>> import numpy as np
    >>> import d2ke
    >>> omega = d2ke.random_strings(256, "ACGT", length=(2, 8), seed=0)
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
    path = file_path("file", file)
    _check_whole(path)
    with h5py.File(path, "r") as store:
        dataset = store["Z"]
        rows = _range("rows", rows, dataset.shape[0])
        columns = _range("columns", columns, dataset.shape[1])
        try:
            Z = dataset[rows, columns]
        except OSError as error:
            raise ValueError(f"{path} is damaged: Z cannot be read: {error}") from error
        return FeatureStore(
            Z,
            _get_labels(store, rows) if "labels" in store else None,
            get_objects(store["omega"], columns) if "omega" in store else None,
            _get_values(store, "parameters"),
            _get_values(store, "versions"),
        )


def _features(Z: Any) -> np.ndarray:
    if not isinstance(Z, np.ndarray) or Z.dtype not in (np.float32, np.float64):
        got = f"an ndarray of {Z.dtype}" if isinstance(Z, np.ndarray) else type(Z).__name__
        raise TypeError(f"Z must be an ndarray of float32 or float64, got {got}")
    Z = _nodes.matrix("Z", Z, infinite=True)
    if Z.size == 0:
        raise ValueError(f"Z is empty: its shape is {Z.shape}")
    return Z


def _labels(y: Any, n: int) -> np.ndarray:
    labels = label_array("labels", y)
    if labels.dtype.kind not in "iuU" and labels.dtype not in (np.float32, np.float64):
        raise TypeError(
            f"labels must hold integers, float32, float64 or strings, got dtype {labels.dtype}"
        )
    same_length("labels", labels, "Z", n)
    if labels.dtype.kind == "U":
        for i, label in enumerate(labels.tolist()):
            _check_text(f"labels[{i}]", label)
    return labels


def _put_labels(store: h5py.File, labels: np.ndarray) -> None:
    if labels.dtype.kind == "U":
        classes, labels, dtype = *np.unique(labels, return_inverse=True), labels.dtype
        put_text(store, "classes", classes).attrs["dtype"] = dtype.str
    store["labels"] = labels


def _get_labels(store: h5py.File, rows: slice) -> np.ndarray:
    labels = store["labels"][rows]
    if "classes" not in store:
        return labels
    classes = store["classes"]
    return get_text(classes).astype(classes.attrs["dtype"])[labels]


def _parameters(parameters: Any) -> dict[str, Any]:
    if not isinstance(parameters, Mapping):
        raise TypeError(f"parameters must be a dict, got {type(parameters).__name__}")
    for name in parameters:
        if isinstance(name, str) and (name in ("", ".") or "/" in name or "\0" in name):
            raise ValueError(
                f"parameters has the name {name!r}; a name must not be empty, '.', or have a "
                "slash or a NUL"
            )
    return _plain("parameters", dict(parameters))


def _plain(name: str, value: Any) -> Any:
    """Return a parameter with numpy's scalars as Python's own; refuse what JSON cannot hold."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, str):
        _check_text(name, value)
    if type(value) is tuple:
        return tuple(_plain(f"{name}[{i}]", one) for i, one in enumerate(value))
    if type(value) is dict:
        for key in value:
            if type(key) is not str:
                raise TypeError(f"{name} has the name {key!r}; names must be str")
            _check_text(f"a name in {name}", key)
        return {key: _plain(f"{name}[{key!r}]", one) for key, one in value.items()}
    if value is not None and type(value) not in (bool, int, float, str):
        raise TypeError(
            f"{name} must be None, bool, int, float, str, or a tuple or dict of them; got "
            f"{value!r} of type {type(value).__name__}"
        )
    return value


def _check_text(name: str, text: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ValueError(f"{name} is {text!r}, which UTF-8 cannot write") from None


def _put_values(store: h5py.File, name: str, values: Mapping[str, Any]) -> None:
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


def _get_values(store: h5py.File, name: str) -> dict[str, Any]:
    values = {}
    for key, dataset in store[name].items():
        if dataset.dtype.kind == "S":
            text = get_text(dataset).item()
            values[key] = frozen(json.loads(text)) if "json" in dataset.attrs else text
        elif dataset.dtype == np.uint8:
            values[key] = bool(dataset[()])
        else:
            value = dataset[()].tolist()
            values[key] = tuple(value) if dataset.ndim else value
    return values


def _even(size: int, most: int) -> int:
    """Divide `size` into equal parts of at most `most`, so that the last is hardly smaller."""
    return -(-size // -(-size // most))


def _span(dataset: h5py.Dataset) -> tuple[int, int]:
    """Return start and stop of the longest run of bytes in the file that chunks fill."""
    corners = product(*map(range, (0, 0), dataset.shape, dataset.chunks))
    chunks = [dataset.id.get_chunk_info_by_coord(corner) for corner in corners]
    best = start = stop = 0
    longest = (HEADER_BYTES, HEADER_BYTES)
    for low, size in sorted((chunk.byte_offset, chunk.size) for chunk in chunks):
        if low != stop:
            start = low
        stop = low + size
        # Versions of HDF5 differ in whether they count from the file's start or from the
        # header's end; these bytes are the chunks' either way.
        if stop - start - HEADER_BYTES > best:
            best, longest = stop - start - HEADER_BYTES, (start + HEADER_BYTES, stop)
    return longest


def _check_whole(path: Path) -> None:
    """Refuse a file that is not, to the last bit outside of Z, what `save_features` left."""
    with open(path, "rb") as stream:
        front = stream.read(HEADER_BYTES)
        found = _LINES.match(front)
        if not found:
            kind = "an HDF5 file of another kind" if h5py.is_hdf5(path) else "not an HDF5 file"
            raise ValueError(f"{path} is not a feature store of d2ke: it is {kind}")
        if int(found[1]) > _VERSION:
            raise ValueError(
                f"{path} has version {int(found[1])} of the format, and this d2ke "
                f"({__version__}) reads {_VERSION}: a newer d2ke is needed"
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


def _range(name: str, given: slice | None, size: int) -> slice:
    """Return a slice with bounds from 0 to `size`; refuse one that would be cut short."""
    if given is None:
        return slice(0, size)
    if not isinstance(given, slice):
        raise TypeError(f"{name} must be a slice, such as slice(100), got {given!r}")
    if given.step not in (None, 1):
        raise ValueError(f"{name} must have no step, got {given!r}")
    bounds = [
        default if bound is None else integer(f"the {end} of {name}", bound, -size, size)
        for end, bound, default in (("start", given.start, 0), ("stop", given.stop, size))
    ]
    start, stop = (bound + size if bound < 0 else bound for bound in bounds)
    if start >= stop:
        raise ValueError(f"{name} selects nothing of {size}: {given!r}")
    return slice(start, stop)
