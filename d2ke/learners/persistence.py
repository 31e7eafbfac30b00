# SPDX-License-Identifier: BSD-3-Clause
"""Models to files and back: a plain .npz of arrays and one JSON header; no pickle.

Loading reads numbers and text only: it never runs code that a file brings along, and the model's
own constructor checks that the parts fit together.
"""

from __future__ import annotations

import json
import math
import os
import zipfile
from typing import Any, BinaryIO

import numpy as np
from scipy import sparse

from d2ke._base.checks import file_path
from d2ke._base.errors import ArgumentError, ArgumentTypeError
from d2ke._base.files import atomic_write, open_file, write_arrays
from d2ke.learners.linear_model import LinearModel
from d2ke.learners.svm_model import SVMKernel, SVMModel

_FORMAT = "d2ke model"
_VERSION = 1
_CLASSES = {"LinearModel": LinearModel, "SVMModel": SVMModel}
_SPARSE = ("vectors.data", "vectors.indices", "vectors.indptr")


def save_model(file: str | os.PathLike[str] | BinaryIO, model: LinearModel | SVMModel) -> None:
    """Write a model to a file.

    Parameters
    ----------
    file : path or binary file object
        Written as it is named; no suffix is added.
    model : LinearModel or SVMModel
        What `train` or `svmtrain` returned.

    Raises
    ------
    TypeError
        If `model` is not a model.

    See Also
    --------
    load_model

    Examples
    --------
    >>> import io
    >>> import numpy as np
    >>> from d2ke.learners.liblinear import train
    >>> from d2ke.learners.persistence import load_model, save_model
    >>> model = train(["a", "b"], np.array([[0.0, 1.0], [1.0, 0.0]]))
    >>> file = io.BytesIO()
    >>> save_model(file, model)
    >>> load_model(io.BytesIO(file.getvalue())).classes.tolist()
    ['a', 'b']
    """
    kind = type(model).__name__
    if _CLASSES.get(kind) is not type(model):
        raise ArgumentTypeError("model", f"must be a LinearModel or an SVMModel, got {kind}")
    header: dict[str, Any] = {"format": _FORMAT, "version": _VERSION, "kind": kind}
    arrays = {}
    for name, value in vars(model).items():
        if isinstance(value, np.ndarray):
            arrays[name] = value
        elif sparse.issparse(value):
            arrays.update(zip(_SPARSE, (value.data, value.indices, value.indptr), strict=True))
        elif value is not None:
            header[name] = list(value) if isinstance(value, tuple) else value
    entries = {"header": np.array(json.dumps(header)), **arrays}
    if hasattr(file, "write"):
        write_arrays(file, entries)
    else:
        with atomic_write(file_path("file", file)) as handle:
            write_arrays(handle, entries)


def load_model(file: str | os.PathLike[str] | BinaryIO) -> LinearModel | SVMModel:
    """Read a model that `save_model` wrote.

    Parameters
    ----------
    file : path or binary file object
        The file.

    Returns
    -------
    LinearModel or SVMModel
        The same arrays bit for bit.

    Raises
    ------
    OSError
        If the file cannot be opened.
    ValueError
        If it is not a model's file, is damaged, or its parts do not fit together.

    See Also
    --------
    save_model

    Examples
    --------
    >>> import io
    >>> from d2ke.learners.persistence import load_model
    >>> load_model(io.BytesIO(b"something else"))
    Traceback (most recent call last):
        ...
    d2ke.ArgumentError: file is not a model saved by d2ke: save_model writes HDF5 and .npz
    """
    if hasattr(file, "read"):
        return _read("file", file)
    path = file_path("file", file)
    with open_file(path) as handle:
        return _read(str(path), handle)


def _read(name: str, handle: BinaryIO) -> LinearModel | SVMModel:
    if not zipfile.is_zipfile(handle):
        raise ArgumentError(name, "is not a model saved by d2ke: save_model writes HDF5 and .npz")
    handle.seek(0)
    try:
        _check_sizes(handle)
        with np.load(handle, allow_pickle=False) as archive:
            entries = {key: archive[key] for key in archive.files}
        return _model(entries)
    except Exception as error:  # a damaged archive can raise almost anything
        raise ArgumentError(
            name, f"is not a model saved by d2ke, or is damaged: {error}"
        ) from error


def _check_sizes(handle: BinaryIO) -> None:
    """Refuse arrays that claim more than their bytes in the file, before any is made."""
    npy = np.lib.format
    read = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}
    with zipfile.ZipFile(handle) as archive:
        members = archive.infolist()
        size = handle.seek(0, os.SEEK_END)
        if sum(member.file_size for member in members) > size:
            raise ValueError("its parts claim to be larger than the file")
        for member in members:
            with archive.open(member) as part:
                shape, _, dtype = read[npy.read_magic(part)](part)
                claimed = math.prod(shape) * dtype.itemsize
                if dtype.hasobject or claimed > member.file_size:
                    raise ValueError(f"{member.filename} claims {claimed} bytes of {dtype}")
    handle.seek(0)


def _model(entries: dict[str, np.ndarray]) -> LinearModel | SVMModel:
    header = json.loads(entries.pop("header").item())
    if header.pop("format") != _FORMAT:
        raise ValueError("the header names another format")
    version = header.pop("version")
    if version != _VERSION:
        raise ValueError(f"version {version!r} of the format is unknown; this reads {_VERSION}")
    kind = _CLASSES[header.pop("kind")]
    if any(part in entries for part in _SPARSE):
        data, indices, indptr = (entries.pop(part) for part in _SPARSE)
        shape = (len(entries["support"]), header["n_columns"])
        entries["vectors"] = sparse.csr_array((data, indices, indptr), shape=shape)
    if "kernel" in header:
        header["kernel"] = SVMKernel(*header["kernel"])
    parts = dict.fromkeys(kind.__dataclass_fields__)
    unknown = (set(entries) | set(header)) - set(parts)
    if unknown:
        raise ValueError(f"unknown parts {sorted(unknown)}")
    return kind(**{**parts, **header, **entries})
