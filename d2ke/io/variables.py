# SPDX-License-Identifier: BSD-3-Clause
"""Objects and labels among the named variables of MAT-, NumPy and HDF5 files."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from d2ke._base.damage import Damaged, damage
from d2ke._base.errors import ArgumentError
from d2ke._base.files import open_file
from d2ke._base.labels import label_array
from d2ke.io.columns import LabelledObjects
from d2ke.io.feature_file import features_seal
from d2ke.io.mat.api import cell_layout, objects_of, values_and_nodes
from d2ke.objects.column_names import LABELS, ColumnNames, find_usual
from d2ke.objects.container import Objects
from d2ke.objects.fields import labels_of_text
from d2ke.objects.hdf5 import get_objects, open_hdf5
from d2ke.objects.packing import pack
from d2ke.objects.tables import read_ids, with_ids


def read_mat(
    path: Path, columns: ColumnNames, how: Mapping[str, Any], earlier: ColumnNames
) -> LabelledObjects:
    """Read a cell of strings, matrices or series, or a matrix of series of one length."""
    layout = cell_layout(how.get("channels_first"))._replace(missing=bool(how.get("missing")))
    values, nodes = values_and_nodes(path)
    if len(earlier.objects or ()) == 1:
        columns = columns.or_earlier(values, earlier)

    def loaded(name: str) -> Objects:
        return objects_of(path, name, nodes[name], layout)

    return _select(path, values, columns, loaded)


def read_arrays(
    path: Path, columns: ColumnNames, how: Mapping[str, Any], earlier: ColumnNames
) -> LabelledObjects:
    """Read values and offsets, an array of series of one length, or an array of strings.

    They are arrays of a .npz file, or datasets of HDF5, where a group may be objects that d2ke
    wrote.
    """
    channels_first, missing = how.get("channels_first"), bool(how.get("missing"))
    values = _npz(path) if path.suffix.lower() in (".npz", ".npy") else _hdf5(path)
    try:
        values = {name: _text(name, value) for name, value in values.items()}
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
    ragged_names = ("values", "offsets")
    if len(earlier.objects or ()) == 1 or earlier.objects == ragged_names:
        columns = columns.or_earlier(values, earlier)
    ragged = columns.objects in (None, ragged_names) and set(ragged_names) <= set(values)
    if ragged:
        values["values"] = _ragged(path, values["values"], values.pop("offsets"))
        columns = replace(columns, objects=("values",))

    def loaded(name: str) -> Objects:
        value, location = values[name], f"{path}: {name}"
        if isinstance(value, Objects):
            return value
        if value.dtype.kind == "U":
            return pack(value.ravel().tolist(), name=location)
        first = channels_first if value.ndim == 3 else None
        return pack(value, name=location, channels_first=first, missing=missing)

    result = _select(path, values, columns, loaded)
    if ragged:
        result.columns = replace(result.columns, objects=ragged_names)
    return result


def _npz(path: Path) -> dict[str, Any]:
    try:
        with open_file(path) as stream, damage():
            loaded = np.load(stream, allow_pickle=False)
            if isinstance(loaded, np.ndarray):  # .npy
                return {"objects": loaded}
            with loaded as archive:
                return {name: archive[name] for name in archive.files}
    except Damaged as error:
        raise ValueError(
            f"{path} is not a {path.suffix} file of arrays without pickles: {error}"
        ) from None


def _text(name: str, value: Any) -> Any:
    """Return an array of bytes as text, anything else as it is."""
    if not isinstance(value, np.ndarray) or value.dtype.kind != "S":
        return value
    try:
        return np.char.decode(value, "utf-8")
    except UnicodeDecodeError as error:
        raise ValueError(f"{name} has bytes that are not UTF-8 text: {error}") from None


def _hdf5(path: Path) -> dict[str, Any]:
    if features_seal(path) is not None:
        raise ArgumentError(
            str(path), "holds features, not objects; d2ke.io.load_features reads it"
        )
    with open_hdf5(path) as store:
        items = {name: store.get(name) for name in store}
        lost = [name for name, item in items.items() if item is None]
        values = {} if lost else {name: _hdf5_value(item) for name, item in items.items()}
    if lost:
        raise ValueError(f"{path}: {lost[0]} is a link to nothing that can be read")
    return values


def _hdf5_value(dataset: h5py.Dataset | h5py.Group) -> Any:
    if isinstance(dataset, h5py.Group):
        return get_objects(dataset) if {"values", "offsets"} <= set(dataset) else None
    if h5py.check_string_dtype(dataset.dtype) and dataset.dtype.kind == "O":
        return np.asarray(dataset.asstr()[()]).astype(str)
    return dataset[()]


def _ragged(path: Path, values: np.ndarray, offsets: np.ndarray) -> Objects:
    """Return objects of consecutive rows of one array."""
    if not values.ndim:
        raise ValueError(f"{path}: values must be an array of rows, got one value")
    valid = offsets.ndim == 1 and offsets.dtype.kind in "iu" and len(offsets) > 1
    # Compared, not subtracted: differences of unsigned integers are never negative.
    falls = valid and (offsets[1:] < offsets[:-1]).any()
    if not valid or offsets[0] != 0 or offsets[-1] != len(values) or falls:
        raise ValueError(
            f"{path}: offsets must be integers from 0 to {len(values)}, the rows of values, in "
            f"ascending order; got {offsets.dtype} of shape {offsets.shape}"
        )
    items = [values[start:stop] for start, stop in pairwise(offsets)]
    return pack(items, channels_first=False, name=f"{path}: values")


def _select(
    path: Path,
    values: Mapping[str, Any],
    columns: ColumnNames,
    loaded: Callable[[str], Objects],
) -> LabelledObjects:
    """Choose the variables by their names, else by their types where only one is of that type."""
    objects, labels = None if columns.objects is None else columns.objects[0], columns.labels
    ids = columns.ids or columns.rows
    columns.check(path, values, "variable")
    if labels is None:
        names = [name for name in values if name not in (objects, ids)]
        index = find_usual(names, LABELS)
        labels = None if index is None else names[index]
    roles = (objects, labels)
    usual = [name for name in values if name.lower() in ("id", "ids") and name not in roles]
    if objects is None:
        taken = (labels, ids, *usual)
        objects = _objects_name(path, {n: v for n, v in values.items() if n not in taken})
    result = loaded(objects)
    if ids is None:
        ids = next((name for name in usual if np.size(values[name]) == len(result)), None)
    unused = tuple(name for name in values if name not in (objects, labels, ids))
    columns = ColumnNames((objects,), labels, unused=unused, rows=ids)
    if ids is not None:
        names_of = _entries(path, ids, values[ids], len(result), "ids")
        result = with_ids(result, read_ids(names_of, len(result), f"{path}: {ids}"))
    if labels is None:
        return LabelledObjects(result, None, columns)
    classes = _label_values(path, labels, values[labels], len(result))
    return LabelledObjects(result, classes, columns)


def _objects_name(path: Path, values: Mapping[str, Any]) -> str:
    """Return the name of the variable that holds the objects."""
    arrays = {name: value for name, value in values.items() if isinstance(value, np.ndarray)}
    ragged = [name for name, value in values.items() if isinstance(value, Objects)]
    ragged += [k for k, v in arrays.items() if v.dtype.kind in "OU" and v.size > 1]
    series = {k: v for k, v in arrays.items() if v.dtype.kind in "iuf" and v.ndim in (2, 3)}
    rectangular = [name for name, value in series.items() if min(value.shape) > 1]
    usual_names = ("x", "objects", "series", "strings", "sequences")
    for names in (ragged, rectangular):
        usual = [name for name in names if name.lower() in usual_names]
        if len(names) == 1 or len(usual) == 1:
            return names[0] if len(names) == 1 else usual[0]
        if names:
            raise ArgumentError("objects", f"must be one of {', '.join(names)} in {path}")
    raise ValueError(
        f"{path} has no objects: neither a cell, nor an array of strings or of numbers of 2 or 3 "
        f"dimensions; it has {', '.join(values) or 'no variable'}"
    )


def _entries(path: Path, name: str, value: Any, n: int, what: str) -> Any:
    """Return the entries of a row, a column or a cell, one for each object."""
    location = f"{path}: {name}"
    if not isinstance(value, np.ndarray) or value.size != max(value.shape, default=0):
        raise ValueError(f"{location} must be a row or a column of {what}, not {np.shape(value)}")
    if value.size != n:
        raise ValueError(f"{location} has {value.size} {what}, but there are {n} objects")
    items: Any = value.ravel()
    if value.dtype.kind == "O":
        items = [item.item() if getattr(item, "size", 0) == 1 else item for item in items]
    return items


def _label_values(path: Path, name: str, value: Any, n: int) -> np.ndarray:
    """Return a row, a column or a cell of labels; whole numbers as int64."""
    location = f"{path}: {name}"
    array = label_array(location, _entries(path, name, value, n, "labels"))
    if array.dtype.kind == "U":
        return labels_of_text(array.tolist(), f"{location}[{{}}]".format)
    if array.dtype.kind == "f" and (array % 1 == 0).all() and (np.abs(array) < 2**53).all():
        return array.astype(np.int64)
    return array
