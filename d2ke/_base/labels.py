# SPDX-License-Identifier: BSD-3-Clause
"""Checks and encoding of labels of any type."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from d2ke._base.errors import ArgumentError, ArgumentTypeError

_LABELS = (bool, int, float, str, bytes, np.generic)
_NUMERIC = "biuf"
_LAST_LETTER = 0x10FFFF
LABEL_KINDS = {"b": "booleans", "i": "integers", "u": "integers", "f": "floats", "U": "strings",
          "S": "bytes"}  # fmt: skip


def label_array(name: str, y: Any) -> np.ndarray:
    """Return `y` as a one-dimensional array of bool, int, float, str or bytes, values unchanged.

    Raises
    ------
    TypeError
        If the labels are of another type, or of several types that no array can hold unchanged.
    ValueError
        If `y` is not one-dimensional, or has a value that is not finite.
    """
    if np.ma.isMaskedArray(y):
        raise ArgumentTypeError(name, "must not be a masked array: the mask would be lost")
    if isinstance(y, (Mapping, set, frozenset)):
        raise ArgumentTypeError(name, f"must be a sequence of labels, got a {type(y).__name__}")
    if isinstance(y, np.ndarray) and y.dtype.kind not in "OT":
        labels = y
    else:
        if not isinstance(y, np.ndarray) and hasattr(y, "__array__"):
            y = np.asarray(y)
        if isinstance(y, (str, bytes)) or not (hasattr(y, "__iter__") or np.ndim(y)):
            raise ArgumentTypeError(name, f"must be a sequence of labels, got {y!r}")
        values = y.tolist() if isinstance(y, np.ndarray) else list(y)
        try:
            labels = np.asarray(values)
        except ValueError:
            raise ArgumentError(name, "must be one-dimensional, got a nested sequence") from None
        if not values:
            labels = labels.astype(np.int64)
        if labels.ndim == 1:
            check_unchanged(name, values, labels)
    if labels.ndim != 1:
        raise ArgumentError(
            name, f"must be one-dimensional, got shape {labels.shape}; {name}.ravel() makes it so"
        )
    if labels.dtype.kind not in LABEL_KINDS or labels.dtype.itemsize == 0:
        raise ArgumentTypeError(
            name, f"must hold booleans, integers, floats or strings, got dtype {labels.dtype}"
        )
    if labels.dtype.kind == "f":
        if labels.dtype.itemsize > 8:
            raise ArgumentTypeError(name, f"must not be of dtype {labels.dtype}; use float64")
        bad = np.flatnonzero(~np.isfinite(labels))
        if bad.size:
            raise ArgumentError(name, f"is {labels[bad[0]]}; every value must be finite", bad[0])
    return labels


def check_unchanged(name: str, values: Sequence[Any], labels: np.ndarray) -> None:
    """Refuse a list whose values numpy changed (["a", 1], [2**63, -1], "a" with NUL)."""
    if labels.dtype.kind == "O":
        wrong = next((i for i, one in enumerate(values) if not isinstance(one, _LABELS)), None)
        where = "" if wrong is None else f"; {name}[{wrong}] is {values[wrong]!r}"
        raise ArgumentTypeError(
            name, f"must hold booleans, integers, floats or strings of one type{where}"
        )
    for index, (value, label) in enumerate(zip(values, labels.tolist(), strict=True)):
        # NaN differs from itself, and is refused by the check of finiteness.
        if value != label and value == value:
            raise ArgumentTypeError(
                name,
                f"is {value!r}, which an array of {labels.dtype} cannot hold "
                "beside the other labels; use labels of one type",
                index,
            )


def encode_labels(name: str, y: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return the distinct labels in sorted order and, for each item, its label's position."""
    labels = label_array(name, y)
    if labels.size == 0:
        raise ArgumentError(name, "is empty; at least one labelled item is needed")
    classes, codes = np.unique(labels, return_inverse=True)
    return classes, codes


def encode_classes(name: str, y: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return what `encode_labels` does; a single class is an error."""
    classes, codes = encode_labels(name, y)
    if len(classes) < 2:
        raise ArgumentError(
            name, f"holds one class only, {classes[0].item()!r}; a classifier needs at least two"
        )
    return classes, codes


def targets(name: str, y: Any) -> np.ndarray:
    """Return real targets of a regression as float64."""
    values = label_array(name, y)
    if values.dtype.kind not in "iuf":
        raise ArgumentTypeError(
            name, f"must hold numbers for a regression, got dtype {values.dtype}"
        )
    result = values.astype(np.float64)
    if values.dtype.kind in "iu" and not np.array_equal(result.astype(values.dtype), values):
        raise ArgumentError(name, "holds integers beyond 2**53, which float64 cannot represent")
    return result


def same_length(name: str, y: np.ndarray, other: str, rows: int) -> None:
    """Refuse `y` unless it has one entry for each of the `rows` of `other`."""
    if len(y) != rows:
        raise ArgumentError(name, f"has {len(y)} labels, but {other} has {rows} rows")


def label_family(labels: np.ndarray) -> str:
    """Return the kind of labels that these can be compared with: "number", "U" or "S"."""
    return "number" if labels.dtype.kind in _NUMERIC else labels.dtype.kind


def check_classes(classes: np.ndarray) -> None:
    """Refuse anything but a classifier's sorted array of distinct labels."""
    if (
        not isinstance(classes, np.ndarray)
        or classes.ndim != 1
        or classes.dtype.kind not in LABEL_KINDS
    ):
        raise ArgumentError("classes", "must be a one-dimensional array of labels")
    native = classes if classes.dtype.isnative else classes.byteswap()
    if classes.dtype.kind == "U" and (native.view(np.uint32) > _LAST_LETTER).any():
        raise ArgumentError("classes", "have letters beyond U+10FFFF")
    if len(classes) < 2 or not (classes[:-1] < classes[1:]).all():
        raise ArgumentError("classes", "must be at least two distinct labels in ascending order")
