# SPDX-License-Identifier: BSD-3-Clause
"""Models to HDF5 files and back.

A JSON text, ``structure``, has the model's attributes and those of its parts. What JSON does not
have is an object of one entry there, {maker: arguments}; the argument of arrays is the path of a
dataset, such as ``model/scaling/mean``. The user block before it holds a CRC-32 of all bytes, which
is checked before h5py sees them. Loading makes arrays, text and the classes that are listed
here, and runs no code that a file brings along.
"""

from __future__ import annotations

import io
import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from functools import partial
from typing import Any, BinaryIO, NamedTuple

import h5py
import numpy as np
from scipy import sparse

from d2ke._base import arrays
from d2ke._base.checks import file_path
from d2ke._base.damage import Damaged, damage_of
from d2ke._base.errors import ArgumentError, ArgumentTypeError
from d2ke._base.files import open_file, write_file
from d2ke._base.keywords import hinted
from d2ke._base.seal import SIGNATURE, SIZE, check_seal, is_sealed, user_block
from d2ke.distances.registry import check_parameters, find_distance
from d2ke.embedding.scaling import Scaling
from d2ke.learners.linear_model import LinearModel
from d2ke.learners.ridge import RidgeSums
from d2ke.learners.solvers.svm_model import SVMKernel, SVMModel
from d2ke.models.calibration import Calibration, LabelCalibration
from d2ke.models.columns import Categories, Missing, NearNumbers, Numbers
from d2ke.models.distance_blocks import FittedBlock
from d2ke.models.inputs import InputKind
from d2ke.models.model import D2KEModel
from d2ke.models.near_copies import NearCopies
from d2ke.models.piece_scores import PieceScores
from d2ke.models.pieces import FittedPieces
from d2ke.models.reference_objects import ReferenceObjects
from d2ke.models.tasks import Classes, LabelSets, Values
from d2ke.models.views import VIEWS, view_name
from d2ke.models.windows import Windows
from d2ke.objects.container import Objects, check_channel_names, of_kind
from d2ke.objects.hdf5 import get_objects, get_text, put_json, put_objects, put_text

_FORMAT, _VERSION = "d2ke model", 1
_CLASSES = {
    kind.__name__: kind
    for kind in (
        Calibration, Categories, Classes, D2KEModel, FittedBlock, FittedPieces, InputKind,
        LabelCalibration, LabelSets, LinearModel, Missing, NearCopies, NearNumbers, Numbers,
        PieceScores, ReferenceObjects, RidgeSums, SVMModel, Scaling, Values, Windows,
    )
}  # fmt: skip
_OWN = "own function "  # and its number stand for a distance that is code
_SPARSE = ("data", "indices", "indptr", "shape")


@hinted
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
        If `model` is not a model, or has a view that is a user's own function: files hold no code.
        Of a distance that is one, `load_model` must be given the function.

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
        if type(block).__name__ not in _CLASSES:
            raise TypeError(
                f"block {block.name!r} is a class of your own, and files hold no code; pickle the "
                "model"
            )
    own = {function: f"{_OWN}{i}" for i, function in enumerate(_own_distances(model))}
    model = _exchanged(model, own)
    content = io.BytesIO()
    with h5py.File(content, "w", userblock_size=SIZE) as store:
        store.attrs["format"], store.attrs["version"] = _FORMAT, _VERSION
        put_json(store, "structure", _encoded(store, "model", model))
    with content.getbuffer() as whole:
        whole[:SIZE] = user_block(whole, "model")
        if hasattr(file, "write"):
            file.write(whole)
        else:
            write_file(file_path("file", file), whole)


@hinted
def load_model(
    file: str | os.PathLike[str] | BinaryIO,
    *,
    distance: Callable[..., float] | Sequence[Callable[..., float]] | None = None,
) -> D2KEModel | LinearModel | SVMModel:
    """Read a model that `save_model` wrote.

    Parameters
    ----------
    file : path or binary file object
        The file.
    distance : callable, or a sequence of them, optional
        The function of your own that the model was trained with, of which files hold no code; the
        functions in their order if there were several.

    Returns
    -------
    D2KEModel, LinearModel or SVMModel
        The same arrays bit for bit.

    Raises
    ------
    OSError
        If the file cannot be opened.
    ValueError
        If it is not a model's file, or damaged: any of its bytes has changed.

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
    if not isinstance(file, (str, os.PathLike)) and hasattr(file, "read"):
        return _with_functions(_read("file", file), distance)
    path = file_path("file", file)
    with open_file(path) as stream:
        return _with_functions(_read(str(path), stream), distance)


def _own_distances(model: Any) -> list[Any]:
    """Return the distances that are own functions, or what stands for these in a file."""
    blocks = model.blocks if isinstance(model, D2KEModel) else ()
    distances = (block.distance for block in blocks if isinstance(block, FittedBlock))
    return list(dict.fromkeys(d for d in distances if callable(d) or str(d).startswith(_OWN)))


def _exchanged(model: Any, distances: Mapping[Any, Any]) -> Any:
    """Return a model with other distances in the place of some."""
    if not distances:
        return model
    blocks = (
        replace(block, distance=distances[block.distance])
        if isinstance(block, FittedBlock) and block.distance in distances
        else block
        for block in model.blocks
    )
    return replace(model, blocks=tuple(blocks))


def _with_functions(model: Any, distance: Any) -> Any:
    """Return a model with the own functions, which its file has not."""
    names = _own_distances(model)
    functions = [distance] if callable(distance) else list(distance or ())
    if len(functions) != len(names) or not all(map(callable, functions)):
        needed = f"{len(names)} of your own functions as distances" if names else "no own function"
        raise ArgumentError(
            "distance",
            f"must be what the model was trained with, {needed}"
            f"{': load_model(file, distance=f)' * bool(names)}; got {distance!r}",
        )
    return _exchanged(model, dict(zip(names, functions, strict=True)))


def _read(name: str, stream: BinaryIO) -> D2KEModel | LinearModel | SVMModel:
    start = stream.tell()
    front = stream.read(SIZE + len(SIGNATURE))
    stream.seek(start)
    if not is_sealed(front, "model"):
        hdf5 = SIGNATURE in (front[: len(SIGNATURE)], front[SIZE:])
        reason = ": another program wrote it" if hdf5 else ", which is an HDF5 file"
        raise ArgumentError(name, f"is not a model saved by d2ke{reason}")
    content = io.BytesIO(stream.read())
    with damage_of(name):
        check_seal(content, "model")
        with h5py.File(content, "r") as store:
            version = store.attrs["version"]
            model = _model(store) if version == _VERSION else None
    if model is None:
        raise ArgumentError(name, f"has version {version} of the format; this reads {_VERSION}")
    return model


def _model(store: h5py.File) -> D2KEModel | LinearModel | SVMModel:
    structure = get_text(store["structure"]).item()
    model = json.loads(structure, object_hook=partial(_decoded, store))
    if isinstance(model, D2KEModel):
        _check(model)
    elif not isinstance(model, (LinearModel, SVMModel)):
        raise Damaged(f"it holds a {type(model).__name__}")
    return model


class _Form(NamedTuple):
    """How values of one kind stand in a file: as a JSON object {name: arguments}."""

    name: str
    holds: Callable[[Any], bool]
    write: Callable[[h5py.File, str, Any], list[Any]]  # (store, path, value) -> arguments
    read: Callable[..., Any]  # (store, *arguments) -> value


def _encoded(store: h5py.File, path: str, value: Any) -> Any:
    """Return a value as JSON has it, after writing its arrays to the file."""
    for form in _FORMS:
        if form.holds(value):
            return {form.name: form.write(store, path, value)}
    if is_dataclass(value) and type(value).__name__ in _CLASSES:
        names = [field.name for field in fields(value)]
        items = _encoded_items(store, path, {name: getattr(value, name) for name in names})
        return {type(value).__name__: [list(pair) for pair in zip(names, items, strict=True)]}
    if isinstance(value, np.generic):
        return value.item()
    return _numbered(store, path, value) if isinstance(value, list) else value


def _decoded(store: h5py.File, value: dict[str, Any]) -> Any:
    """Return the value of a JSON object whose parts are decoded already."""
    ((name, arguments),) = value.items()
    if name in _CLASSES:
        return _CLASSES[name](**dict(arguments))
    return _READERS[name](store, *arguments)


def _encoded_items(store: h5py.File, path: str, items: Mapping[str, Any]) -> list[Any]:
    return [_encoded(store, f"{path}/{name}", item) for name, item in items.items()]


def _numbered(store: h5py.File, path: str, items: Iterable[Any]) -> list[Any]:
    return _encoded_items(store, path, {str(i): item for i, item in enumerate(items)})


def _write_array(store: h5py.File, path: str, value: Any) -> list[Any]:
    store[path] = value
    return [path]


def _read_array(store: h5py.File, path: str) -> np.ndarray:
    value = store[path][()]
    if value.dtype.kind == "f" and not np.isfinite(value).all():
        raise ValueError(f"{path} has values that are not finite")
    return value


def _write_text(store: h5py.File, path: str, value: Any) -> list[Any]:
    try:
        put_text(store, path, value)
    except UnicodeEncodeError as error:
        raise ValueError(
            f"the label {error.object!r} has a lone surrogate, which no file can hold"
        ) from None
    return [path, value.dtype.str]


def _read_text(store: h5py.File, path: str, dtype: str) -> np.ndarray:
    item = store[path]
    return get_text(item).astype(dtype) if item.size else np.empty(item.shape, dtype)


def _write_objects(store: h5py.File, path: str, value: Any) -> list[Any]:
    put_objects(store.create_group(path), value)
    return [path]


def _write_sparse(store: h5py.File, path: str, value: Any) -> list[Any]:
    return _encoded_items(store, path, {name: getattr(value, name) for name in _SPARSE})


def _write_view(store: h5py.File, path: str, value: Any) -> list[Any]:
    name, arguments = view_name(value)
    return _encoded_items(store, path, {"name": name, "arguments": arguments})


def _read_view(store: h5py.File, name: str, arguments: dict[str, Any]) -> Any:
    return partial(VIEWS[name], **arguments) if arguments else VIEWS[name]


def _is_text(value: Any) -> bool:
    return isinstance(value, np.ndarray) and value.dtype.kind == "U"


def _is_a(kinds: Any) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, kinds)


# The first form that holds a value writes it.
_FORMS = (
    _Form("text", _is_text, _write_text, _read_text),
    _Form("array", _is_a(np.ndarray), _write_array, _read_array),
    _Form("objects", _is_a(Objects), _write_objects, lambda store, path: get_objects(store[path])),
    _Form("sparse", sparse.issparse, _write_sparse,
          lambda _, *arrays: sparse.csr_array(arrays[:-1], shape=arrays[-1])),
    _Form("SVMKernel", _is_a(SVMKernel), _numbered, lambda _, *items: SVMKernel(*items)),
    _Form("tuple", _is_a(tuple), _numbered, lambda _, *items: items),
    _Form("mapping", _is_a(Mapping),
          lambda store, path, value: _numbered(store, path, map(list, value.items())),
          lambda _, *pairs: dict(pairs)),
    _Form("dtype", _is_a(np.dtype), lambda _store, _path, value: [value.str],
          lambda _, name: np.dtype(name)),
    _Form("bytes", _is_a(bytes), lambda _store, _path, value: [list(value)],
          lambda _, numbers: bytes(numbers)),
    _Form("view", callable, _write_view, _read_view),
)  # fmt: skip
_READERS = {form.name: form.read for form in _FORMS}


def _check(model: D2KEModel) -> None:
    """Refuse parts that do not fit together, with which compiled code would leave its arrays."""
    for block in model.blocks:
        if isinstance(block, FittedBlock):
            arrays.check_array("gamma", block.gamma, np.float64, (len(block.omega),))
            channels = model.inputs[block.column].channels if model.inputs else model.channels
            if isinstance(block.omega, Windows):
                block.omega.check(channels)
                continue
            if str(block.distance).startswith(_OWN):
                continue
            row = find_distance(block.distance)
            check_parameters(row, block.parameters)
            has_kind = of_kind(block.omega, row.kind) is not None and len(block.omega)
            if not has_kind or (block.omega.lengths < row.shortest).any():
                raise ValueError(f"{row.name!r} cannot compare the random objects of {block.name}")
        if isinstance(block, FittedPieces):
            block.check()
    R = sum(block.R for block in model.blocks)
    for name in ("mean", "sd"):
        arrays.check_array(name, getattr(model.scaling, name), np.float64, (R,))
    arrays.check_array("deviation", model.deviation, np.float64, (R,))
    arrays.check_array("weights", model.reference.weights, np.float32, (model.n_unsupervised,))
    if model.linear.n_features != R:
        raise ValueError(f"the linear model has {model.linear.n_features} features, not {R}")
    every = [(x.channel_names, x.channels) for x in model.inputs.values()]
    for names, channels in [(model.channel_names, model.channels), *every]:
        if names is not None:
            check_channel_names(names, channels)
    if (model.alphabet is None) != (model.kind != "strings"):
        raise ValueError("an alphabet goes with strings")
