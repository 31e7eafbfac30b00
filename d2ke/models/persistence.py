# SPDX-License-Identifier: BSD-3-Clause
"""Models to files and back: those of objects as HDF5, linear ones and SVMs as archives.

Loading reads numbers and text only: it never runs code that a file brings along.
"""

from __future__ import annotations

import io
import json
import os
from collections.abc import Mapping
from dataclasses import fields
from functools import partial
from typing import Any, BinaryIO

import h5py
import numpy as np

from d2ke._base import arrays
from d2ke._base.checks import file_path
from d2ke._base.errors import ArgumentError, ArgumentTypeError
from d2ke._base.files import atomic_write, lists_to_tuples, open_file
from d2ke.distances.registry import check_parameters, find_distance
from d2ke.embedding.scaling import Scaling
from d2ke.io.columns import Columns
from d2ke.io.hdf5 import SIGNATURE, get_objects, get_text, put_objects, put_text
from d2ke.learners import persistence as linear_models
from d2ke.learners.linear_model import LinearModel
from d2ke.learners.ridge import RidgeSums
from d2ke.learners.svm_model import SVMModel
from d2ke.models.blocks import AnyFitted, FittedBlock
from d2ke.models.calibration import Calibration
from d2ke.models.inputs import InputKind
from d2ke.models.known import COLUMNS, KnownObjects
from d2ke.models.model import D2KEModel
from d2ke.models.piece_scores import PieceScores
from d2ke.models.plain_blocks import PLAIN_KINDS, PlainBlock
from d2ke.models.several_labels import LabelCalibration
from d2ke.models.views import VIEWS, View, view_name
from d2ke.models.windows import Windows
from d2ke.objects.container import Objects, of_kind

_FORMAT, _VERSION = "d2ke model of objects", 1
_KNOWN = {
    "plain": np.bool_,
    "weights": np.float32,
    "centre": np.float32,
    "rows": np.float16,
    "scores": np.float32,
}
_PIECES = {
    "weights": np.float32,
    "offset": np.float64,
    "deviation": np.float32,
    "rows": np.int64,
    "hidden": np.float32,
}
_WIDEST = 1 << 20  # letters of a label
_FIELDS = ("kind", "channels", "letters", "C", "accuracy", "accuracy_error", "largest_class",
           "n_train", "n_added")  # fmt: skip


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
    if not isinstance(model, D2KEModel):
        linear_models.save_model(file, model)
        return
    content = io.BytesIO()
    with h5py.File(content, "w") as store:
        _write(store, model)
    with content.getbuffer() as whole:
        if hasattr(file, "write"):
            file.write(whole)
        else:
            with atomic_write(file_path("file", file)) as stream:
                stream.write(whole)


def _write(store: h5py.File, model: D2KEModel) -> None:
    store.attrs["format"], store.attrs["version"] = _FORMAT, _VERSION
    for name in _FIELDS:
        value = getattr(model, name)
        store.attrs[name] = "" if value is None else value
    store.attrs["left_out"] = json.dumps(model.left_out)
    store.attrs["seconds"] = json.dumps(dict(model.seconds))
    if model.columns:  # no attribute, which could not hold the names of many columns
        text = json.dumps(Columns.of_dict(model.columns).to_dict()).encode()
        store["columns"] = np.frombuffer(text, np.uint8)
    if model.alphabet is not None:
        store["alphabet"] = model.alphabet
    for place, (name, given) in enumerate(model.inputs.items()):
        _write_input(store.create_group(f"input{place}"), name, given)
    if model.confusion is not None:
        store["confusion"] = model.confusion
    store["mean"], store["sd"] = model.scaling.mean, model.scaling.sd
    if model.sums is not None:
        sums = store.create_group("sums")
        for name, value in vars(model.sums).items():
            sums[name] = value.name if name == "dtype" else value
    store["deviation"] = model.deviation
    calibration = store.create_group("calibration")
    for name in ("decisions", "values", "scale", "offsets"):
        calibration[name] = getattr(model.calibration, name)
    known = store.create_group("known")
    for name in _KNOWN:
        known[name] = getattr(model.known, name)
    linear = store.create_group("linear")
    linear["weights"] = model.linear.weights
    linear.attrs["options"], linear.attrs["solver"] = model.linear.options, model.linear.solver
    linear.attrs["multilabel"] = model.linear.multilabel
    if model.linear.bias is not None:
        linear["bias"] = model.linear.bias
    classes = model.linear.classes
    if classes is not None and classes.dtype.kind == "U":
        try:
            put_text(linear, "classes", classes)
        except UnicodeEncodeError as error:
            raise ValueError(
                f"the label {error.object!r} has a lone surrogate, which no file can hold"
            ) from None
        linear["classes"].attrs["width"] = classes.dtype.itemsize
    elif classes is not None and classes.dtype.kind == "S":
        linear["classes"] = classes.view(np.uint8).reshape(len(classes), -1)
        linear["classes"].attrs["bytes"] = 1
    elif classes is not None:
        linear["classes"] = classes
    store.attrs["blocks"] = len(model.blocks)
    for number, block in enumerate(model.blocks):
        _write_block(store.create_group(f"block{number}"), block)


def _write_input(group: h5py.Group, name: str, given: InputKind) -> None:
    group.attrs["name"], group.attrs["kind"] = name, given.kind
    group.attrs["channels"], group.attrs["letters"] = given.channels, given.letters or ""
    if given.alphabet is not None:
        group["alphabet"] = given.alphabet


def _write_block(group: h5py.Group, block: AnyFitted) -> None:
    group.attrs["column"], group.attrs["family"] = block.column, block.family
    group.attrs["share"] = block.share
    if block.fill is not None:
        group["fill"] = block.fill
    if isinstance(block, PieceScores):
        pieces = group.create_group("pieces")
        put_objects(pieces.create_group("omega"), block.omega)
        pieces.attrs["marks"] = json.dumps(dict(block.marks))
        for name in _PIECES:
            pieces[name] = getattr(block, name)
        return
    if isinstance(block, PlainBlock):
        group.attrs["plain"], group.attrs["mean"] = block.kind, block.mean
        group.attrs["sd"] = block.sd
        if len(block.labels):
            put_text(group, "labels", block.labels)
        if len(block.centres):
            group["centres"], group["gamma"] = block.centres, block.gamma
        return
    if not isinstance(block.distance, str):
        raise TypeError(
            f"the distance of block {block.name!r} is a function of your own, and files hold no "
            "code; pickle the model instead, if you must"
        )
    group.attrs["name"], group.attrs["distance"] = block.name, block.distance
    group.attrs["from_omega"] = bool(block.from_omega)
    group.attrs["parameters"] = json.dumps(_as_json(dict(block.parameters)))
    views = []
    for position, view in enumerate(block.views):
        name, arguments = view_name(view)
        for key, value in arguments.items():
            if isinstance(value, np.ndarray):
                group[f"view{position}.{key}"] = value
                arguments[key] = None
        views.append([name, arguments])
    group.attrs["views"] = json.dumps(views)
    group["gamma"] = block.gamma
    if block.sources is not None:
        group["sources"], group["hidden"] = block.sources, block.hidden
    group.attrs["sd_power"] = block.sd_power
    if isinstance(block.omega, Windows):
        omega = group.create_group("windows")
        for name, value in vars(block.omega).items():
            omega[name] = json.dumps(value) if name == "kinds" else value
    else:
        put_objects(group.create_group("omega"), block.omega)


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
    d2ke.ArgumentError: file is not a model saved by d2ke: save_model writes HDF5 and .npz
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
        return (
            linear_models.load_model(stream) if name == "file" else linear_models.load_model(name)
        )
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
            return _model(store)
        except (AttributeError, KeyError, OSError, RecursionError, TypeError, ValueError) as error:
            raise ArgumentError(name, f"is damaged: {error}") from error


def _model(store: h5py.File) -> D2KEModel:
    values: dict[str, Any] = {}
    for name in _FIELDS:
        value = store.attrs[name]
        values[name] = value.item() if isinstance(value, np.generic) else value
    values["letters"] = values["letters"] or None
    inputs = _inputs(store)
    if bool(inputs) != (values["kind"] == "records"):
        raise ValueError("columns go with records")
    count = int(store.attrs["blocks"])
    blocks = tuple(
        _block(store[f"block{number}"], values["channels"], inputs) for number in range(count)
    )
    R = sum(block.R for block in blocks)
    mean, sd, deviation = (store[name][()] for name in ("mean", "sd", "deviation"))
    arrays.check_array("mean", mean, np.float64, (R,))
    arrays.check_array("sd", sd, np.float64, (R,))
    arrays.check_array("deviation", deviation, np.float64, (R,))
    linear = _linear(store["linear"])
    if linear.n_features != R:
        raise ValueError(f"the linear model has {linear.n_features} features, the blocks {R}")
    confusion = store["confusion"][()] if "confusion" in store else None
    if linear.multilabel:
        arrays.check_array("confusion", confusion, np.int64, (len(linear.weights), 2, 2))
    return D2KEModel(
        blocks=blocks,
        scaling=Scaling(mean, sd),
        deviation=deviation,
        linear=linear,
        alphabet=_alphabet(store, values["kind"]),
        confusion=confusion,
        calibration=_calibration(store["calibration"], linear),
        known=_known(store["known"], R),
        left_out=lists_to_tuples(json.loads(store.attrs["left_out"])),
        seconds=json.loads(store.attrs["seconds"]),
        columns=_columns(store),
        sums=_sums(store["sums"], linear) if "sums" in store else None,
        inputs=inputs,
        **values,
    )


def _alphabet(group: h5py.Group, kind: str) -> np.ndarray | None:
    alphabet = group["alphabet"][()] if "alphabet" in group else None
    if (alphabet is None) != (kind != "strings"):
        raise ValueError("an alphabet goes with strings")
    return alphabet


def _inputs(store: h5py.File) -> dict[str, InputKind]:
    """Return the kinds of the columns of records."""
    inputs: dict[str, InputKind] = {}
    while f"input{len(inputs)}" in store:
        group = store[f"input{len(inputs)}"]
        kind, name = group.attrs["kind"], group.attrs["name"]
        if name in inputs:
            raise ValueError(f"there are two columns {name!r}")
        channels, letters = int(group.attrs["channels"]), group.attrs["letters"] or None
        inputs[name] = InputKind(kind, channels, _alphabet(group, kind), letters)
    return inputs


def _columns(store: h5py.File) -> dict[str, Any]:
    """Return the names of columns or variables; older files and models of arrays have none."""
    if "columns" not in store:
        return {}
    text = store["columns"][()].tobytes().decode()
    return Columns.of_dict(json.loads(text)).to_dict()


def _as_json(value: Any) -> Any:
    """Return a distance's parameters with arrays, bytes, tuples and mappings as JSON has them."""
    if isinstance(value, np.ndarray):
        return {"array": value.tolist()}
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, bytes):
        return {"bytes": list(value)}
    if isinstance(value, tuple):
        return {"tuple": [_as_json(part) for part in value]}
    if isinstance(value, Mapping) and not all(type(key) is str for key in value):
        return {"mapping": [[_as_json(key), _as_json(part)] for key, part in value.items()]}
    if isinstance(value, Mapping):
        return {key: _as_json(part) for key, part in value.items()}
    return [_as_json(part) for part in value] if isinstance(value, list) else value


def _from_json(value: dict[str, Any]) -> Any:
    """Return what `_as_json` wrote in the place of something else."""
    makers = {"array": np.array, "bytes": bytes, "tuple": tuple, "mapping": dict}
    name, part = next(iter(value.items()), (None, None))
    if len(value) == 1 and name in makers and isinstance(part, list):
        return makers[name](part)
    return value


def _linear(group: h5py.Group) -> LinearModel:
    classes = None
    if "classes" in group:
        dataset = group["classes"]
        if "width" in dataset.attrs:
            width = int(dataset.attrs["width"]) // 4
            if width > _WIDEST:
                raise ValueError(f"{dataset.name} has labels of {width} letters")
            classes = get_text(dataset).astype(f"U{width}")
        elif "bytes" in dataset.attrs:
            raw = np.ascontiguousarray(dataset[()])
            classes = raw.view(f"S{raw.shape[1]}").ravel()
        else:
            classes = dataset[()]
    bias = group["bias"][()] if "bias" in group else None
    solver, options = int(group.attrs["solver"]), group.attrs["options"]
    multilabel = bool(group.attrs["multilabel"])
    return LinearModel(group["weights"][()], bias, classes, solver, options, multilabel)


def _calibration(group: h5py.Group, linear: LinearModel) -> Calibration | LabelCalibration:
    decisions, values, offsets = (group[name][()] for name in ("decisions", "values", "offsets"))
    if linear.multilabel:
        return _label_calibration(
            group["scale"][()], decisions, values, offsets, len(linear.weights)
        )
    scale, k = float(group["scale"][()]), 0 if linear.classes is None else len(linear.classes)
    arrays.check_array("decisions", decisions, np.float32, (None, len(linear.weights)))
    arrays.check_array("values", values, np.int64 if k else np.float64, (len(decisions),))
    arrays.check_array("offsets", offsets, np.float64, (k,))
    if not 0 <= scale < np.inf or not len(values):
        raise ValueError(f"{group.name} has no left-out decisions, or the scale {scale}")
    if k and not (values.min() >= 0 and values.max() < k):
        raise ValueError(f"{group.name} has codes of classes that are not there")
    return Calibration(decisions, values, scale, offsets)


def _label_calibration(
    scale: np.ndarray, decisions: np.ndarray, values: np.ndarray, offsets: np.ndarray, k: int
) -> LabelCalibration:
    arrays.check_array("decisions", decisions, np.float32, (None, k))
    arrays.check_array("values", values, np.int64, (len(decisions), k))
    arrays.check_array("offsets", offsets, np.float64, (k, 2))
    arrays.check_array("scale", scale, np.float64, (k,))
    if not len(values) or not np.isin(values, (0, 1)).all() or (scale < 0).any():
        raise ValueError("the calibration has no left-out labels of 0 and 1, or a scale below 0")
    return LabelCalibration(
        tuple(
            Calibration(decisions[:, [j]], values[:, j], float(scale[j]), offsets[j])
            for j in range(k)
        )
    )


def _sums(group: h5py.Group, linear: LinearModel) -> RidgeSums:
    k, R = linear.weights.shape
    shapes = {"centre": (R,), "unit": (R,), "target_centre": (k,), "products": (R, R),
              "features": (R,), "targets": (k,), "crossed": (R, k)}  # fmt: skip
    values = {name: group[name][()] for name in shapes}
    for name, shape in shapes.items():
        arrays.check_array(name, values[name], np.float64, shape)
    dtype, n = group["dtype"].asstr()[()], int(group["n"][()])
    if dtype not in ("float32", "float64") or n < 1 or not (values["unit"] > 0).all():
        raise ValueError(f"{group.name} has products of {n} rows, of {dtype}, or a unit of 0")
    return RidgeSums(**values, dtype=np.dtype(dtype), n=n)


def _known(group: h5py.Group, R: int) -> KnownObjects:
    known = KnownObjects(**{name: group[name][()] for name in _KNOWN})
    shapes = (R,), (R,), (R,), (len(known.scores), min(R, COLUMNS)), (None,)
    for (name, dtype), shape in zip(_KNOWN.items(), shapes, strict=True):
        arrays.check_array(name, getattr(known, name), dtype, shape)
    if not len(known.scores):
        raise ValueError(f"{group.name} has no training objects")
    return known


def _block(group: h5py.Group, n_channels: int, inputs: Mapping[str, InputKind]) -> AnyFitted:
    column, share = group.attrs["column"], float(group.attrs["share"])
    if column or inputs:
        n_channels = inputs[column].channels
    fill = group["fill"][()] if "fill" in group else None
    if "pieces" in group:
        return _piece_scores(group["pieces"], share)
    if "plain" in group.attrs:
        return _plain_block(group, inputs[column].kind, column, fill, share)
    distance = group.attrs["distance"]
    parameters = json.loads(group.attrs["parameters"], object_hook=_from_json)
    omega: Objects | Windows
    if "windows" in group:
        omega = _windows(group["windows"])
        omega.check(n_channels)
    else:
        omega = get_objects(group["omega"])
        row = find_distance(distance)
        check_parameters(row, parameters)
        known = of_kind(omega, row.kind) is not None and len(omega)
        if not known or (omega.lengths < row.shortest).any():
            raise ValueError(f"{group.name} has random objects that {row.name!r} cannot compare")
    gamma = group["gamma"][()]
    arrays.check_array("gamma", gamma, np.float64, (len(omega),))
    sources = hidden = None
    if "sources" in group:
        sources, hidden = group["sources"][()], group["hidden"][()]
        arrays.check_array("sources", sources, np.int64, (len(omega),))
        arrays.check_array("hidden", hidden, np.float32, (len(omega),))
    if inputs:
        arrays.check_array("fill", fill, np.float32, (len(omega),))
    views = tuple(
        _view(group, position, *view)
        for position, view in enumerate(json.loads(group.attrs["views"]))
    )
    return FittedBlock(
        group.attrs["name"], distance, omega, gamma, views, parameters,
        bool(group.attrs["from_omega"]), sources, hidden,
        group.attrs["family"], share, float(group.attrs["sd_power"]), column, fill,
    )  # fmt: skip


def _plain_block(
    group: h5py.Group, held: str, column: str, fill: np.ndarray | None, share: float
) -> PlainBlock:
    kind, labels = group.attrs["plain"], np.empty(0, "U1")
    if "labels" in group:
        labels = get_text(group["labels"])
    if kind not in PLAIN_KINDS or kind not in (held, f"near {held}", "missing"):
        raise ValueError(f"{group.name} has {kind!r} of a column of {held}")
    centres = gamma = np.empty(0)
    if kind == "near numbers":
        centres, gamma = group["centres"][()], group["gamma"][()]
        arrays.check_array("centres", centres, np.float64, (None,))
        arrays.check_array("gamma", gamma, np.float64, (len(centres),))
    R = {"categories": len(labels), "near numbers": len(centres)}.get(kind, 1)
    arrays.check_array("fill", fill, np.float32, (R,))
    mean, sd = float(group.attrs["mean"]), float(group.attrs["sd"])
    if not (R and np.isfinite(mean) and 0 < sd < np.inf) or (labels[1:] <= labels[:-1]).any():
        raise ValueError(f"{group.name} has no mean, deviation or labels of {kind}")
    family = group.attrs["family"]
    return PlainBlock(kind, column, family, mean, sd, labels, centres, gamma, fill, share)


def _piece_scores(group: h5py.Group, share: float) -> PieceScores:
    omega, marks = get_objects(group["omega"]), json.loads(group.attrs["marks"])
    values = {name: group[name][()] for name in _PIECES}
    P, (R,), (m,) = len(omega), values["offset"].shape, values["rows"].shape
    for name, shape in zip(_PIECES, ((P, R), (R,), (P,), (m,), (m, R)), strict=True):
        arrays.check_array(name, values[name], _PIECES[name], shape)
    scores = PieceScores(omega=omega, marks=marks, **values, share=share)
    if omega.kind != "strings" or not (P and R and m) or not scores.is_sorted:
        raise ValueError(f"{group.name} has no pieces, or they are not in order")
    return scores


def _windows(group: h5py.Group) -> Windows:
    values: dict[str, Any] = {field.name: group[field.name][()] for field in fields(Windows)}
    for name, value in values.items():
        if name not in ("normalize", "kinds"):
            real = name in ("values", "places", "thresholds")
            arrays.check_array(name, value, np.float32 if real else np.int64, (None,))
    kinds = tuple(json.loads(values.pop("kinds")))
    return Windows(**values, kinds=kinds)


def _view(group: h5py.Group, position: int, name: str, arguments: dict[str, Any]) -> View:

    if name not in VIEWS:
        raise ValueError(f"{group.name} has an unknown view {name!r}")
    for key in arguments:
        place = f"view{position}.{key}"
        if place in group:
            arguments[key] = group[place][()]
    return partial(VIEWS[name], **arguments) if arguments else VIEWS[name]
