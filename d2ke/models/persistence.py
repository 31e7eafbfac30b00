# SPDX-License-Identifier: BSD-3-Clause
"""Models, and results of `dedupe`, to HDF5 files and back.

A JSON text, ``structure``, has the attributes of the model and its components. A value of another
type than JSON's is an object of one entry, {form: arguments}. Arrays are concatenated in a dataset
for each type of numbers, such as ``f4``, since few datasets open quickly. Each array has the
narrowest type that holds its values exactly. The user block holds a CRC-32 of all bytes, which is
checked before h5py reads them. Loading makes arrays, text and the classes listed here only, and
runs no code from a file.
"""

from __future__ import annotations

import io
import json
import math
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from functools import partial
from typing import Any, BinaryIO, NamedTuple, TypeVar

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
from d2ke.objects.hdf5 import get_text, put_json
from d2ke.objects.kinds import find_kind

T = TypeVar("T")
_VERSION = 1
_CONTENTS = {"model": "a model", "duplicates": "a result of dedupe"}  # of each kind of file
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
        If a distance is your own function, `load_model` needs the function.

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
    write_values(file, "model", model, distances)


def write_values(
    file: str | os.PathLike[str] | BinaryIO, kind: str, values: Any, distances: Sequence[Any]
) -> None:
    """Write a model, or a mapping of numbers, arrays, text and objects, to a file of a kind.

    Distances that are functions are replaced by their index.
    """
    functions = list(dict.fromkeys(filter(callable, distances)))  # without duplicates
    content = io.BytesIO()
    with h5py.File(content, "w", userblock_size=SIZE) as store:
        store.attrs["format"], store.attrs["version"] = f"d2ke {kind}", _VERSION
        store.attrs["n_functions"] = len(functions)
        numbers: dict[str, list[np.ndarray]] = {}
        put_json(store, "structure", _encoded(_File(numbers, functions), values))
        for name, arrays_of_type in numbers.items():
            store[name] = np.concatenate(arrays_of_type)
    with content.getbuffer() as buffer:
        buffer[:SIZE] = user_block(buffer, kind)
        if hasattr(file, "write"):
            file.write(buffer)
        else:
            write_file(file_path("file", file), buffer)


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
    distance : callable, or a sequence of callables, optional
        Your own function that the model was trained with, since files hold no code; several
        functions in the order of training.

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
    return read_values(file, "model", distance, "load_model", _checked)


def read_values(
    file: str | os.PathLike[str] | BinaryIO,
    kind: str,
    distance: Any,
    function: str,
    made: Callable[[Any], T],
) -> T:
    """Return the result of `made` for the values of a file; its errors are reported as damage.

    `function` is the name of the public function, for errors.
    """
    if not isinstance(file, (str, os.PathLike)) and hasattr(file, "read"):
        return _read("file", file, kind, distance, function, made)
    path = file_path("file", file)
    with open_file(path) as stream:
        return _read(str(path), stream, kind, distance, function, made)


def _read(
    name: str, stream: BinaryIO, kind: str, distance: Any, function: str, made: Callable[[Any], T]
) -> T:
    start = stream.tell()
    front = stream.read(SIZE + len(SIGNATURE))
    stream.seek(start)
    if not is_sealed(front, kind):
        hdf5 = SIGNATURE in (front[: len(SIGNATURE)], front[SIZE:])
        reason = ": another program wrote it" if hdf5 else ", which is an HDF5 file"
        for other, contents in _CONTENTS.items():
            reason = f": it is {contents}" if is_sealed(front, other) else reason
        raise ArgumentError(name, f"is not {_CONTENTS[kind]} saved by d2ke{reason}")
    content = io.BytesIO(stream.read())
    functions = [distance] if callable(distance) else list(distance or ())
    with damage_of(name):
        check_seal(content, kind)
        with h5py.File(content, "r") as store:
            version = store.attrs["version"]
            n = int(store.attrs["n_functions"]) if version == _VERSION else 0
            suit = len(functions) == n and all(map(callable, functions))
            values = made(_values(store, functions)) if suit and version == _VERSION else None
    if version != _VERSION:
        raise ArgumentError(name, f"has version {version} of the format; this reads {_VERSION}")
    if values is None:
        needed = f"{n} of your own functions as distances" if n else "no own function"
        made_with = "the model was trained" if kind == "model" else "the rows were compared"
        raise ArgumentError(
            "distance",
            f"must be what {made_with} with, {needed}"
            f"{f': {function}(file, distance=f)' * bool(n)}; got {distance!r}",
        )
    return values


# Types of numbers in files, the narrowest first.
_TYPES = {"f": ("f2", "f4", "f8"), "b": ("u1",), "S": ("u1",)} | dict.fromkeys(
    "iu", ("u1", "i2", "i4", "i8", "u8")
)


class _File(NamedTuple):
    """The numbers of a file by type, and the user's functions, which the file has by index.

    While a file is written, the numbers of each type are a list of arrays.
    """

    numbers: dict[str, Any]
    functions: list[Any]


def _values(store: h5py.File, functions: list[Any]) -> Any:
    numbers = {name: store[name][()] for name in store if name != "structure"}
    structure = get_text(store["structure"]).item()
    return json.loads(structure, object_hook=partial(_decoded, _File(numbers, functions)))


def _checked(model: Any) -> D2KEModel | LinearModel | SVMModel:
    if isinstance(model, D2KEModel):
        _check(model)
    elif not isinstance(model, (LinearModel, SVMModel)):
        raise Damaged(f"it holds a {type(model).__name__}")
    return model


def _encoded(file: _File, value: Any) -> Any:
    """Return a value for JSON, {form: arguments}; add its numbers to the file."""

    def items(values: Iterable[Any]) -> list[Any]:
        return [_encoded(file, item) for item in values]

    match value:
        case np.ndarray() if value.dtype.kind == "U":
            return {"text": [value.tolist(), list(value.shape), value.dtype.str]}
        case np.ndarray():
            n = value.shape[0] if value.ndim else 0
            if n > 1 and value.shape == (n, n):
                for form, square in (("lower", value), ("upper", value.T)):
                    if not np.triu(square, 1).any():
                        return {form: [_put(file, square[np.tri(n, dtype=bool)]), n]}
            return {"array": [_put(file, value)]}
        case Objects():
            # Without ids, which would name training objects in every file.
            arrays = (value.values, value.offsets, value.alphabet, value.weights)
            refs = [None if array is None else _put(file, array) for array in arrays]
            names = value.channel_names and list(value.channel_names)
            return {"objects": [value.kind, *refs, value.letters, value.missing, names]}
        case SVMKernel():
            return {"SVMKernel": items(value)}
        case tuple():
            return {"tuple": items(value)}
        case list():
            return items(value)
        case Mapping():
            return {"mapping": items(map(list, value.items()))}
        case np.dtype():
            return {"dtype": [value.str]}
        case bytes():
            return {"bytes": [list(value)]}
        case np.generic():
            return value.item()
        case RidgeSums():
            value = replace(value, products=np.triu(value.products))  # the rest is not valid
    if sparse.issparse(value):
        return {"sparse": items((value.data, value.indices, value.indptr, value.shape))}
    if is_dataclass(value) and type(value).__name__ in _CLASSES:
        names = [field.name for field in fields(value)]
        return {type(value).__name__: [[x, _encoded(file, getattr(value, x))] for x in names]}
    if value in file.functions:
        return {"function": [file.functions.index(value)]}
    return {"view": items(view_name(value))} if callable(value) else value


def _put(file: _File, array: np.ndarray) -> list[Any]:
    """Add the numbers of an array to a file; return their type, offset, shape, and the dtype."""
    dtype, flat = array.dtype.newbyteorder("="), np.ascontiguousarray(array).ravel()
    if dtype.kind == "S":
        flat = flat.view(np.uint8)
    for name in _TYPES[dtype.kind]:
        with np.errstate(over="ignore"):
            narrow = flat.astype(name)
        if (narrow == flat).all():
            break
    chunks = file.numbers.setdefault(name, [])
    offset = sum(map(len, chunks))
    chunks.append(narrow)
    return [name, offset, list(array.shape), dtype.str]


def _decoded(file: _File, value: dict[str, Any]) -> Any:
    """Return the value of a JSON object whose items are decoded already."""
    ((form, arguments),) = value.items()
    if form in _CLASSES:
        return _CLASSES[form](**dict(arguments))
    return _READERS[form](file, *arguments)


def _read_array(file: _File, ref: Any, may_miss: bool = False) -> np.ndarray:
    """Return the array that `_put` added; refuse values that are not finite."""
    (name, start, shape), dtype = ref[:3], np.dtype(ref[3])
    is_bytes = dtype.kind == "S"
    n = math.prod(shape) * (dtype.itemsize if is_bytes else 1)
    narrow = file.numbers[name][start : start + n]
    if narrow.dtype.kind == "f" and (np.isinf(narrow) if may_miss else ~np.isfinite(narrow)).any():
        raise ValueError("it has values that are not finite")
    return (narrow.view(dtype) if is_bytes else narrow.astype(dtype)).reshape(shape)


def _read_triangle(form: str, file: _File, ref: Any, n: int) -> np.ndarray:
    values = _read_array(file, ref)
    if len(values) != n * (n + 1) // 2:
        raise ValueError(f"a triangle of {n} rows has {len(values)} values")
    square, start = np.zeros((n, n), values.dtype), 0
    for row in range(n):  # faster than a mask
        square[row, : row + 1] = values[start : start + row + 1]
        start += row + 1
    return square if form == "lower" else square.T.copy()


def _read_objects(
    file: _File, kind: str, values: Any, offsets: Any, alphabet: Any, weights: Any,
    letters: str | None, missing: bool, channel_names: list[str] | None,
) -> Objects:  # fmt: skip
    find_kind(kind)
    values = _read_array(file, values, bool(missing))
    offsets, alphabet, weights = (
        None if ref is None else _read_array(file, ref) for ref in (offsets, alphabet, weights)
    )
    if weights is not None and weights.min(initial=0) < 0:
        raise ValueError("weights of objects are negative")
    return Objects(kind, values, offsets, alphabet, letters, weights, missing, None, channel_names)


_READERS: dict[str, Callable[..., Any]] = {
    "array": _read_array,
    "lower": partial(_read_triangle, "lower"),
    "upper": partial(_read_triangle, "upper"),
    "text": lambda _, text, shape, dtype: np.array(text, dtype).reshape(shape),
    "view": lambda _, name, options: partial(VIEWS[name], **options) if options else VIEWS[name],
    "objects": _read_objects,
    "function": lambda file, i: file.functions[i],
    "sparse": lambda _, *arrays: sparse.csr_array(arrays[:-1], shape=arrays[-1]),
    "SVMKernel": lambda _, *items: SVMKernel(*items),
    "tuple": lambda _, *items: items,
    "mapping": lambda _, *pairs: dict(pairs),
    "dtype": lambda _, name: np.dtype(name),
    "bytes": lambda _, numbers: bytes(numbers),
}


def _check(model: D2KEModel) -> None:
    """Refuse inconsistent arrays, beyond which compiled code would read."""
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
