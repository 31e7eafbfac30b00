# SPDX-License-Identifier: BSD-3-Clause
"""Labels as matrices of 0 and 1: several labels for each object."""

from __future__ import annotations

from typing import Any

import numpy as np

from d2ke._base import labels
from d2ke._base.errors import ArgumentError

_NUMBERS = bool, int, float, np.generic


def label_matrix(y: Any) -> tuple[np.ndarray, np.ndarray | None] | None:
    """Return a matrix of labels as int64, and the names of its columns if it is a data frame.

    None if y holds one label for each object.
    """
    frame = hasattr(y, "columns") and hasattr(y, "to_numpy")
    if not frame and not isinstance(y, np.ndarray):
        y = labels.nested_rows(y)
        if y is None:
            return None
    values = y.to_numpy() if frame else y
    if values.ndim != 2 or values.shape[1] < 2:
        return None
    if np.ma.isMaskedArray(values) or values.dtype.kind not in "biufO":
        raise ArgumentError(
            "y",
            f"is a matrix of {values.dtype}; several labels an object are 0 or 1, or booleans",
        )
    if values.dtype.kind == "O":  # of frames with columns of several types, or missing entries
        rows = values.tolist()
        valid = np.array(
            [[isinstance(value, _NUMBERS) and value in (0, 1) for value in row] for row in rows]
        )
    else:
        valid = (values == 0) | (values == 1)
    wrong = np.argwhere(~valid)
    if len(wrong):
        i, j = wrong[0].tolist()
        raise ArgumentError(
            "y",
            f"is {values[i].tolist()[j]!r} in column {j}; a matrix y has several labels an object, "
            "each 0 or 1",
            i,
        )
    names = labels.label_array("y.columns", list(y.columns)) if frame else None
    return values.astype(np.int64), names


def names_of_labels(values: np.ndarray, names: np.ndarray | None) -> np.ndarray:
    """Return the names of the columns; refuse a column with one value only."""
    names = np.arange(values.shape[1]) if names is None else names
    if not len(values):
        raise ArgumentError("y", "is empty; at least one labelled item is needed")
    if len(np.unique(names)) < len(names):
        raise ArgumentError("y", "has two columns of one name")
    constant = np.flatnonzero((values == values[0]).all(axis=0))
    if len(constant):
        j = constant[0]
        raise ArgumentError(
            "y",
            f"has {values[0, j]} only in column {names[j].item()!r}; each label needs objects with "
            "it and objects without it",
        )
    return names


def true_labels(y: Any, names: np.ndarray, n: int) -> np.ndarray:
    """Return the labels of n objects, which must be a matrix like that of the training objects."""
    matrix = label_matrix(y)
    if matrix is None or matrix[0].shape[1] != len(names):
        raise ArgumentError(
            "y", f"must be a matrix of {len(names)} columns of 0 and 1, one for each label"
        )
    values, columns = matrix
    labels.same_length("y", values, "X", n)
    if columns is not None and columns.tolist() != names.tolist():
        raise ArgumentError(
            "y", f"has columns {columns.tolist()}, but the model's labels are {names.tolist()}"
        )
    return values
