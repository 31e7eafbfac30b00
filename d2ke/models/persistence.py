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
from dataclasses import fields, is_dataclass
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
from d2ke.embedding.scaling import Scaling
from d2ke.learners.linear_model import LinearModel
from d2ke.learners.ridge import RidgeSums
from d2ke.learners.solvers.svm_model import SVMKernel, SVMModel
from d2ke.models.calibration import Calibration, LabelCalibration
from d2ke.models.distance_blocks import FittedBlock
from d2ke.models.inputs import InputKind
from d2ke.models.kmers import FittedKmers, KmerScores
from d2ke.models.loo import NearCopies
from d2ke.models.model import D2KEModel, ReferenceObjects
from d2ke.models.shapelets import Shapelets
from d2ke.models.table_blocks import Categories, Missing, NearNumbers, Numbers
from d2ke.models.tasks import Classes, LabelSets, Values
from d2ke.models.views import VIEWS, view_name
from d2ke.objects.container import Objects, check_channel_names
from d2ke.objects.hdf5 import get_objects, get_text, put_json, put_objects, put_text
from d2ke.objects.kinds import find_kind

_FORMAT, _VERSION = "d2ke model", 1
_CLASSES = {
    kind.__name__: kind
    for kind in (
        Calibration, Categories, Classes, D2KEModel, FittedBlock, FittedKmers, InputKind,
        LabelCalibration, LabelSets, LinearModel, Missing, NearCopies, NearNumbers, Numbers,
        KmerScores, ReferenceObjects, RidgeSums, SVMModel, Scaling, Shapelets, Values,
    )
}  # fmt: skip


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
    distances = model.distances if isinstance(model, D2KEModel) else []
    functions = list(dict.fromkeys(filter(callable, distances)))  # each once
    content = io.BytesIO()
    with h5py.File(content, "w", userblock_size=SIZE) as store:
        store.attrs["format"], store.attrs["version"] = _FORMAT, _VERSION
        store.attrs["n_functions"] = len(functions)
        put_json(store, "structure", _encoded(_File(store, functions), "model", model))
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
        return _read("file", file, distance)
    path = file_path("file", file)
    with open_file(path) as stream:
        return _read(str(path), stream, distance)


def _read(name: str, stream: BinaryIO, distance: Any) -> D2KEModel | LinearModel | SVMModel:
    start = stream.tell()
    front = stream.read(SIZE + len(SIGNATURE))
    stream.seek(start)
    if not is_sealed(front, "model"):
        hdf5 = SIGNATURE in (front[: len(SIGNATURE)], front[SIZE:])
        reason = ": another program wrote it" if hdf5 else ", which is an HDF5 file"
        raise ArgumentError(name, f"is not a model saved by d2ke{reason}")
    content = io.BytesIO(stream.read())
    functions = [distance] if callable(distance) else list(distance or ())
    with damage_of(name):
        check_seal(content, "model")
        with h5py.File(content, "r") as store:
            version = store.attrs["version"]
            n = int(store.attrs["n_functions"]) if version == _VERSION else 0
            suit = len(functions) == n and all(map(callable, functions))
            model = _model(_File(store, functions)) if suit and version == _VERSION else None
    if version != _VERSION:
        raise ArgumentError(name, f"has version {version} of the format; this reads {_VERSION}")
    if model is None:
        needed = f"{n} of your own functions as distances" if n else "no own function"
        raise ArgumentError(
            "distance",
            f"must be what the model was trained with, {needed}"
            f"{': load_model(file, distance=f)' * bool(n)}; got {distance!r}",
        )
    return model


class _File(NamedTuple):
    """An open file, and the user's functions, of which it has the numbers."""

    store: h5py.File
    functions: list[Any]


def _model(file: _File) -> D2KEModel | LinearModel | SVMModel:
    structure = get_text(file.store["structure"]).item()
    model = json.loads(structure, object_hook=partial(_decoded, file))
    if isinstance(model, D2KEModel):
        _check(model)
    elif not isinstance(model, (LinearModel, SVMModel)):
        raise Damaged(f"it holds a {type(model).__name__}")
    return model


def _encoded(file: _File, path: str, value: Any) -> Any:
    """Return a value as JSON has it, {form: arguments}, after writing its arrays to the file."""

    def items(values: Mapping[str, Any]) -> list[Any]:
        return [_encoded(file, f"{path}/{name}", item) for name, item in values.items()]

    def numbered(values: Iterable[Any]) -> list[Any]:
        return items({str(i): item for i, item in enumerate(values)})

    match value:
        case np.ndarray() if value.dtype.kind == "U":
            try:
                put_text(file.store, path, value)
            except UnicodeEncodeError as error:
                raise ValueError(
                    f"the label {error.object!r} has a lone surrogate, which no file can hold"
                ) from None
            return {"text": [path, value.dtype.str]}
        case np.ndarray():
            file.store[path] = value
            return {"array": [path]}
        case Objects():
            put_objects(file.store.create_group(path), value)
            return {"objects": [path]}
        case SVMKernel():
            return {"SVMKernel": numbered(value)}
        case tuple():
            return {"tuple": numbered(value)}
        case list():
            return numbered(value)
        case Mapping():
            return {"mapping": numbered(map(list, value.items()))}
        case np.dtype():
            return {"dtype": [value.str]}
        case bytes():
            return {"bytes": [list(value)]}
        case np.generic():
            return value.item()
    if sparse.issparse(value):
        return {"sparse": numbered((value.data, value.indices, value.indptr, value.shape))}
    if is_dataclass(value) and type(value).__name__ in _CLASSES:
        held = {field.name: getattr(value, field.name) for field in fields(value)}
        return {type(value).__name__: [list(pair) for pair in zip(held, items(held), strict=True)]}
    if value in file.functions:
        return {"function": [file.functions.index(value)]}
    return {"view": numbered(view_name(value))} if callable(value) else value


def _decoded(file: _File, value: dict[str, Any]) -> Any:
    """Return the value of a JSON object whose parts are decoded already."""
    ((form, arguments),) = value.items()
    if form in _CLASSES:
        return _CLASSES[form](**dict(arguments))
    return _READERS[form](file, *arguments)


def _read_array(file: _File, path: str) -> np.ndarray:
    value = file.store[path][()]
    if value.dtype.kind == "f" and not np.isfinite(value).all():
        raise ValueError(f"{path} has values that are not finite")
    return value


def _read_text(file: _File, path: str, dtype: str) -> np.ndarray:
    item = file.store[path]
    return get_text(item).astype(dtype) if item.size else np.empty(item.shape, dtype)


def _read_view(_: _File, name: str, arguments: dict[str, Any]) -> Any:
    return partial(VIEWS[name], **arguments) if arguments else VIEWS[name]


_READERS: dict[str, Callable[..., Any]] = {
    "array": _read_array,
    "text": _read_text,
    "view": _read_view,
    "objects": lambda file, path: get_objects(file.store[path]),
    "function": lambda file, i: file.functions[i],
    "sparse": lambda _, *arrays: sparse.csr_array(arrays[:-1], shape=arrays[-1]),
    "SVMKernel": lambda _, *items: SVMKernel(*items),
    "tuple": lambda _, *items: items,
    "mapping": lambda _, *pairs: dict(pairs),
    "dtype": lambda _, name: np.dtype(name),
    "bytes": lambda _, numbers: bytes(numbers),
}


def _check(model: D2KEModel) -> None:
    """Refuse parts that do not fit together, with which compiled code would leave its arrays."""
    for block in model.blocks:
        block.check((model.inputs[block.column] if model.inputs else model).channels)
    R = sum(block.R for block in model.blocks)
    for name in ("mean", "divisor"):
        arrays.check_array(name, getattr(model.scaling, name), np.float64, (R,))
    arrays.check_array("deviation", model.deviation, np.float64, (R,))
    arrays.check_array("weights", model.reference.weights, np.float32, (model.n_unsupervised,))
    if model.linear.n_features != R:
        raise ValueError(f"the linear model has {model.linear.n_features} features, not {R}")
    kinds: list[D2KEModel | InputKind] = [model, *model.inputs.values()]
    for kind in kinds:
        if kind.channel_names is not None:
            check_channel_names(kind.channel_names, kind.channels)
    has_letters = model.kind not in ("records", "any") and find_kind(model.kind).base == "strings"
    if (model.alphabet is not None) != has_letters:
        raise ValueError("an alphabet goes with strings")
