# SPDX-License-Identifier: BSD-3-Clause
"""Models to HDF5 files and back.

A model is written by its structure. A dataclass is a group: its arrays are datasets of
their names, the dataclasses in it groups, and all else is one JSON text, ``fields``. Loading makes
arrays, text and the classes that are listed here, and runs no code that a file brings along.
"""

from __future__ import annotations

import io
import json
import os
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from functools import partial
from typing import Any, BinaryIO

import h5py
import numpy as np
from scipy import sparse

from d2ke._base import arrays
from d2ke._base.checks import file_path
from d2ke._base.errors import ArgumentError, ArgumentTypeError
from d2ke._base.files import atomic_write, open_file
from d2ke.distances.registry import check_parameters, find_distance
from d2ke.embedding.scaling import Scaling
from d2ke.io.hdf5 import SIGNATURE, get_objects, get_text, put_json, put_objects, put_text
from d2ke.learners.linear_model import LinearModel
from d2ke.learners.ridge import RidgeSums
from d2ke.learners.svm_model import SVMKernel, SVMModel
from d2ke.models.blocks import FittedBlock
from d2ke.models.calibration import Calibration
from d2ke.models.inputs import InputKind
from d2ke.models.known import KnownObjects
from d2ke.models.model import D2KEModel
from d2ke.models.piece_scores import PieceScores
from d2ke.models.plain_blocks import PlainBlock
from d2ke.models.several_labels import LabelCalibration
from d2ke.models.views import VIEWS, view_name
from d2ke.models.windows import Windows
from d2ke.objects.container import Objects, of_kind

_FORMAT, _VERSION = "d2ke model", 1
_CLASSES = {
    one.__name__: one
    for one in (
        Calibration, D2KEModel, FittedBlock, InputKind, KnownObjects, LabelCalibration,
        LinearModel, PieceScores, PlainBlock, RidgeSums, SVMModel, Scaling, Windows,
    )
}  # fmt: skip
_SPARSE = ("data", "indices", "indptr")
_DAMAGED = (AttributeError, IndexError, KeyError, OSError, RecursionError, TypeError, ValueError)


def save_model(
    file: str | os.PathLike[str] | BinaryIO, model: D2KEModel | LinearModel | SVMModel
) -> None:
    """Write a model to a file.

    Parameters
    ----------
    file : path or binary file object
        Written as it is named; no suffix is added. A file of that name is replaced, when the new
        one is complete.
    model : D2KEModel, LinearModel or SVMModel
        What `d2ke_train`, `train` or `svmtrain` returned.

    Raises
    ------
    TypeError
        If `model` is not a model, or has a distance or a view that is a user's own function: files
        hold no code.

    See Also
    --------
    load_model

    Examples
    --------
    >>> import io
    >>> import d2ke
    >>> model = d2ke.d2ke_train([0, 1] * 9, ["aab", "bba"] * 9, R=32)
    >>> file = io.BytesIO()
    >>> d2ke.save_model(file, model)
    >>> d2ke.load_model(io.BytesIO(file.getvalue())).R == model.R
    True
    """
    if not isinstance(model, (D2KEModel, LinearModel, SVMModel)):
        hint = "; save its model_" if hasattr(model, "model_") else ""
        raise ArgumentTypeError(
            "model",
            f"must be a D2KEModel, a LinearModel or an SVMModel, got {type(model).__name__}{hint}",
        )
    for block in model.blocks if isinstance(model, D2KEModel) else ():
        if callable(block.distance):
            raise TypeError(
                f"the distance of block {block.name!r} is a function of your own, and files hold "
                "no code; pickle the model instead, if you must"
            )
    content = io.BytesIO()
    with h5py.File(content, "w") as store:
        store.attrs["format"], store.attrs["version"] = _FORMAT, _VERSION
        _put(store, "model", model)
    with content.getbuffer() as whole:
        if hasattr(file, "write"):
            file.write(whole)
        else:
            with atomic_write(file_path("file", file)) as stream:
                stream.write(whole)


def load_model(file: str | os.PathLike[str] | BinaryIO) -> D2KEModel | LinearModel | SVMModel:
    """Read a model that `save_model` wrote.

    Parameters
    ----------
    file : path or binary file object
        The file.

    Returns
    -------
    D2KEModel, LinearModel or SVMModel
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
    >>> import d2ke
    >>> d2ke.load_model(io.BytesIO(b"something else"))
    Traceback (most recent call last):
        ...
    d2ke.ArgumentError: file is not a model saved by d2ke, which is an HDF5 file
    """
    if hasattr(file, "read"):
        return _read("file", file)
    path = file_path("file", file)
    with open_file(path) as stream:
        return _read(str(path), stream)


def _read(name: str, stream: BinaryIO) -> D2KEModel | LinearModel | SVMModel:
    start = stream.tell()
    front = stream.read(len(SIGNATURE))
    stream.seek(start)
    if front != SIGNATURE:
        raise ArgumentError(name, "is not a model saved by d2ke, which is an HDF5 file")
    try:
        store = h5py.File(io.BytesIO(stream.read()), "r")
    except OSError as error:
        raise ArgumentError(name, f"is damaged: {error}") from error
    with store:
        version = store.attrs.get("version")
        if store.attrs.get("format") != _FORMAT:
            raise ArgumentError(name, "is not a model saved by d2ke: another program wrote it")
        if version != _VERSION:
            raise ArgumentError(name, f"has version {version} of the format; this reads {_VERSION}")
        try:
            model = _get(store["model"])
            if isinstance(model, D2KEModel):
                _check(model)
            elif not isinstance(model, (LinearModel, SVMModel)):
                raise ValueError(f"it holds a {type(model).__name__}")
        except _DAMAGED as error:
            raise ArgumentError(name, f"is damaged: {error}") from error
    return model


def _put(group: h5py.Group, name: str, value: Any) -> None:
    """Write an array, objects, a dataclass, or a tuple or mapping of dataclasses."""
    if isinstance(value, np.ndarray) and value.dtype.kind == "U":
        try:
            put_text(group, name, value).attrs["text"] = value.dtype.str
        except UnicodeEncodeError as error:
            raise ValueError(
                f"the label {error.object!r} has a lone surrogate, which no file can hold"
            ) from None
    elif isinstance(value, np.ndarray):
        group[name] = value
    elif isinstance(value, Objects):
        put_objects(group.create_group(name), value)
    elif sparse.issparse(value):
        part = group.create_group(name)
        part.attrs["class"], part.attrs["shape"] = "csr_array", value.shape
        for key in _SPARSE:
            part[key] = getattr(value, key)
    else:
        part = group.create_group(name)
        part.attrs["class"] = type(value).__name__
        if is_dataclass(value):
            items = {one.name: getattr(value, one.name) for one in fields(value)}
        else:
            items = dict(value if isinstance(value, Mapping) else enumerate(value))
            part.attrs["keys"] = json.dumps(list(items))
            items = {str(number): one for number, one in enumerate(items.values())}
        rest = {}
        for key, one in items.items():
            if _has_group(one):
                _put(part, key, one)
            else:
                rest[key] = _as_json(one)
        if rest:
            put_json(part, "fields", rest)


def _has_group(value: Any) -> bool:
    """Return whether a value is written as a dataset or a group of its own."""
    if isinstance(value, (tuple, Mapping)):
        parts = list(value.values()) if isinstance(value, Mapping) else value
        return len(parts) > 0 and is_dataclass(parts[0])
    return isinstance(value, (np.ndarray, Objects, sparse.csr_array)) or is_dataclass(value)


def _get(item: h5py.Group | h5py.Dataset) -> Any:
    """Return what `_put` wrote."""
    if isinstance(item, h5py.Dataset):
        text = item.attrs.get("text")
        if text is not None:
            return get_text(item).astype(text) if item.size else np.empty(item.shape, text)
        value = item[()]
        if value.dtype.kind == "f" and not np.isfinite(value).all():
            raise ValueError(f"{item.name} has values that are not finite")
        return value
    if "class" not in item.attrs:
        return get_objects(item)
    if item.attrs["class"] == "csr_array":
        parts = tuple(_get(item[key]) for key in _SPARSE)
        return sparse.csr_array(parts, shape=item.attrs["shape"])
    values = {name: _get(item[name]) for name in item if name != "fields"}
    if "fields" in item:
        values |= json.loads(get_text(item["fields"]).item(), object_hook=_from_json)
    if "keys" not in item.attrs:
        return _CLASSES[item.attrs["class"]](**values)
    keys = json.loads(item.attrs["keys"])
    parts = [values[str(number)] for number in range(len(keys))]
    return tuple(parts) if item.attrs["class"] == "tuple" else dict(zip(keys, parts, strict=True))


def _as_json(value: Any) -> Any:
    """Return a value as JSON has it; what JSON does not have is a mapping of one marked entry."""
    if isinstance(value, np.ndarray):
        return {"array": [value.dtype.str, value.tolist()]}
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.dtype):
        return {"dtype": [value.str]}
    if isinstance(value, bytes):
        return {"bytes": list(value)}
    if isinstance(value, SVMKernel):
        return {"SVMKernel": list(value)}
    if isinstance(value, tuple):
        return {"tuple": [_as_json(part) for part in value]}
    if callable(value):
        name, arguments = view_name(value)
        return {"view": [name, _as_json(arguments)]}
    if isinstance(value, Mapping) and not all(type(key) is str for key in value):
        return {"mapping": [[_as_json(key), _as_json(part)] for key, part in value.items()]}
    if isinstance(value, Mapping):
        return {key: _as_json(part) for key, part in value.items()}
    return [_as_json(part) for part in value] if isinstance(value, list) else value


def _from_json(value: dict[str, Any]) -> Any:
    """Return what `_as_json` wrote in the place of something else."""
    name, part = next(iter(value.items()), (None, None))
    if len(value) != 1 or name not in _MAKERS or not isinstance(part, list):
        return value
    return _MAKERS[name](part)


def _view(name: str, arguments: dict[str, Any]) -> Any:
    if name not in VIEWS:
        raise ValueError(f"there is no view {name!r}")
    return partial(VIEWS[name], **arguments) if arguments else VIEWS[name]


_MAKERS = {
    "array": lambda part: np.array(part[1], part[0]),
    "dtype": lambda part: np.dtype(*part),
    "bytes": bytes,
    "SVMKernel": lambda part: SVMKernel(*part),
    "tuple": tuple,
    "view": lambda part: _view(*part),
    "mapping": dict,
}


def _check(model: D2KEModel) -> None:
    """Refuse parts that do not fit together, with which compiled code would leave its arrays."""
    for block in model.blocks:
        if isinstance(block, FittedBlock):
            arrays.check_array("gamma", block.gamma, np.float64, (len(block.omega),))
            channels = model.inputs[block.column].channels if model.inputs else model.channels
            if isinstance(block.omega, Windows):
                block.omega.check(channels)
                continue
            row = find_distance(block.distance)
            check_parameters(row, block.parameters)
            known = of_kind(block.omega, row.kind) is not None and len(block.omega)
            if not known or (block.omega.lengths < row.shortest).any():
                raise ValueError(f"{row.name!r} cannot compare the random objects of {block.name}")
    R = sum(block.R for block in model.blocks)
    for name in ("mean", "sd"):
        arrays.check_array(name, getattr(model.scaling, name), np.float64, (R,))
    arrays.check_array("deviation", model.deviation, np.float64, (R,))
    arrays.check_array("weights", model.known.weights, np.float32, (R,))
    if model.linear.n_features != R:
        raise ValueError(f"the linear model has {model.linear.n_features} features, not {R}")
    if (model.alphabet is None) != (model.kind != "strings"):
        raise ValueError("an alphabet goes with strings")
