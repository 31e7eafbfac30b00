# SPDX-License-Identifier: BSD-3-Clause
"""Matrices and labels from users' files: MAT-files, HDF5 and CSV."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import h5py
import numpy as np
from scipy import sparse

from d2ke._base.files import open_file
from d2ke.cli.commands import HDF5
from d2ke.cli.result_files import InputError
from d2ke.io import load_mat
from d2ke.objects.fields import is_gap
from d2ke.objects.hdf5 import open_hdf5

MAT, TEXT = (".mat",), (".csv", ".tsv", ".txt")
_OBJECTS = "; --as objects reads strings, series and sets"
SUFFIXES = MAT + HDF5 + TEXT


def read_matrix(file: Path, variable: str | None) -> tuple[np.ndarray, str]:
    """Read a matrix of real numbers, and return it with its name for errors.

    Parameters
    ----------
    file : Path
        A .mat, .h5, .hdf5, .csv, .tsv or .txt file.
    variable : str or None
        Its name in a MAT-file or an HDF5 file; None if there is only one matrix.

    Returns
    -------
    ndarray of float64 or float32, shape (n, m)
        The matrix, not checked for nan and infinity.
    str
        The file's name, with the variable's.

    Raises
    ------
    InputError
        No such variable, no matrix or several, or text that is not a table of numbers.
    """
    if file.suffix in TEXT:
        if variable is not None:
            raise InputError(f"variable has no meaning for {file}, which holds one table")
        return _table(file), file.name
    values = load_mat(file, variable) if file.suffix in MAT else _hdf5(file, variable)
    if variable is None:
        variable = _only_matrix(file, values)
    value = values[variable]
    if sparse.issparse(value):
        value = value.toarray()
    name = f"{file.name}: {variable}"
    if not _is_matrix(value):
        raise InputError(f"{name} is not a matrix of real numbers: it is {_described(value)}")
    return value if value.dtype in (np.float32, np.float64) else value.astype(np.float64), name


def read_labels(what: str, file: Path | None, called: str = "labels") -> np.ndarray:
    """Read labels: a variable of `file`, or a file of its own with a label in each line.

    Returns
    -------
    ndarray of int64, float64 or str, shape (n,)
        The labels; an empty line of a text file is nan among integers, else an empty string.
    """
    path = Path(what)
    if file is not None and file.suffix in MAT + HDF5 and (path.suffix not in TEXT):
        values = load_mat(file, what) if file.suffix in MAT else _hdf5(file, what)
        return plain_labels(f"{file.name}: {what}", values[what])
    if path.suffix not in TEXT:
        endings = ", ".join(TEXT)
        raise InputError(
            f"{called} must be a text file ({endings}) with one in each line, or a variable of the "
            f"input file; got {what!r}"
        )
    if not path.is_file():
        raise InputError(f"{called}: there is no file {path}")
    lines = [re.sub('^"(.*)"$', r"\1", line.strip()) for line in read_text(path).splitlines()]
    return labels_of_text(np.array(lines))


def labels_of_text(labels: np.ndarray) -> np.ndarray:
    """Return integers, with nan for empty labels, if all others are integers; else the text."""
    texts = labels.tolist()
    if not all(re.fullmatch("0|-?[1-9][0-9]{0,14}", text) for text in texts if text):
        return labels
    return _numbers("", np.array([float(text or "nan") for text in texts]))


def _table(file: Path) -> np.ndarray:
    lines = [line for line in read_text(file).splitlines() if line.strip()]
    first = lines[0] if lines else ""
    separator = next((mark for mark in (",", ";", "\t") if mark in first), None)
    fields = [field.strip(' "') for field in first.split(separator)]
    header = bool(first) and not any(_is_number(field) or is_gap(field) for field in fields)
    if len(lines) > 2 and not header and _counts(fields):
        raise InputError(
            f"{file}: the first line, {', '.join(fields[:4])}, may be a header or a row; leave it "
            "out, or put a line of names before it"
        )
    if len(fields) > 1 and not fields[0]:
        raise InputError(
            f"{file}: the first column has no name, as an index that pandas wrote; leave it out: "
            "to_csv(index=False)"
        )
    if len(lines) <= header:
        raise InputError(f"{file} has no rows of numbers")
    # A generator of lines, so that Ctrl-C does not wait for the end of the file.
    rows = (line for line in lines[header:])
    try:
        table = np.loadtxt(rows, delimiter=separator, ndmin=2, comments=None)
    except ValueError as error:
        reason = re.sub(r"; use `usecols`.*", "", str(error))
        counted = ", counted from 0" + (" after the header" if header else "")
        raise InputError(
            f"{file} is not a table of numbers: {reason} (rows{counted}){_OBJECTS}"
        ) from None
    n, m = table.shape
    if not header and 2 < n != m > 1 and (table[:, 0] == np.arange(n)).all():
        raise InputError(
            f"{file}: the first column counts the rows, as an index does; leave it out, or put a "
            "line of names before it"
        )
    return table


def _counts(fields: list[str]) -> bool:
    """Return whether fields are whole numbers at equal steps above 0, as columns are counted."""
    if len(fields) < 2 or not all(re.fullmatch("0|[1-9][0-9]*", field) for field in fields):
        return False
    steps = np.diff(list(map(int, fields)))
    return bool(steps[0] > 0 and (steps == steps[0]).all())


def _is_number(field: str) -> bool:
    try:
        float(field)
    except ValueError:
        return False
    return True


def read_text(file: Path) -> str:
    """Return the text of a regular file in UTF-8."""
    try:
        with open_file(file) as stream:
            return stream.read().decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InputError(f"{file} is not a text file in UTF-8") from None


def _hdf5(file: Path, variable: str | None) -> dict[str, Any]:
    """Read one dataset of an HDF5 file, or, for None, the matrices."""
    names: list[str] = []
    with open_hdf5(file) as store:
        store.visititems(
            lambda name, item: names.append(name) if isinstance(item, h5py.Dataset) else None
        )
        if variable is None:
            return {name: _decoded(store[name]) for name in names if len(store[name].shape) == 2}
        if variable.strip("/") in names:
            return {variable: _decoded(store[variable])}
    raise InputError(f"{file} has no variable {variable!r}; it has {', '.join(names) or 'nothing'}")


def _decoded(dataset: h5py.Dataset) -> Any:
    if h5py.check_string_dtype(dataset.dtype):
        return dataset.asstr()[()]
    return np.char.decode(dataset[()], "utf-8") if dataset.dtype.kind == "S" else dataset[()]


def _is_matrix(value: Any) -> bool:
    return isinstance(value, np.ndarray) and value.ndim == 2 and value.dtype.kind in "biuf"


def _only_matrix(file: Path, values: dict[str, Any]) -> str:
    """Return the name of the one variable with more than one row and column."""
    names = [
        name
        for name, value in values.items()
        if (_is_matrix(value) or sparse.issparse(value)) and min(value.shape) > 1
    ]
    if len(names) == 1:
        return names[0]
    if not names:
        raise InputError(f"{file} has no matrix of real numbers{_OBJECTS}")
    raise InputError(f"{file} has several matrices; variable must be one of {', '.join(names)}")


def _described(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"an array of {value.dtype} of shape {value.shape}"
    return type(value).__name__


def plain_labels(name: str, value: Any) -> np.ndarray:
    """Return labels as int64 where they are integers, float64 with nan among them, or str."""
    if isinstance(value, np.ndarray) and value.dtype.kind == "O":
        value = np.array([item if isinstance(item, str) else repr(item) for item in value.ravel()])
    if not isinstance(value, np.ndarray) or value.dtype.kind not in "biufU":
        raise InputError(f"{name} does not hold labels: it is {_described(value)}")
    if value.ndim > 1 and value.size != max(value.shape):
        raise InputError(f"{name} must be a row or a column of labels, got shape {value.shape}")
    labels = value.ravel()
    return labels if labels.dtype.kind == "U" else _numbers(name, labels)


def _numbers(name: str, labels: np.ndarray) -> np.ndarray:
    missing = np.isnan(labels.astype(np.float64))
    integers = labels[~missing].astype(np.int64)
    if (integers != labels[~missing]).any():
        raise InputError(f"{name} must hold integers or strings as labels")
    return labels.astype(np.float64) if missing.any() else labels.astype(np.int64)
