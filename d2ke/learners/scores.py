# SPDX-License-Identifier: BSD-3-Clause
"""Accuracy and errors of predictions, and the weights of classes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from d2ke._base.checks import positive_number
from d2ke._base.errors import ArgumentError, ArgumentTypeError
from d2ke._base.labels import LABEL_KINDS, label_array, label_family, same_length, targets


def class_weights(
    classes: np.ndarray,
    option: Mapping[int, float] | None,
    class_weight: Mapping[Any, float] | None,
) -> np.ndarray:
    """Return one weight per class, from options -w<label> or from the argument `class_weight`."""
    weights = np.ones(len(classes))
    if option and class_weight:
        raise ValueError("give weights by -w<label> or by class_weight, not by both")
    if option and classes.dtype.kind not in "iuf":
        raise ValueError(
            f"-w<label> works for numeric labels; for {LABEL_KINDS[classes.dtype.kind]} use "
            "class_weight={label: weight}"
        )
    if class_weight is not None and not isinstance(class_weight, Mapping):
        raise ArgumentTypeError(
            "class_weight", f"must be a dict {{label: weight}}, got {class_weight!r}"
        )
    known = {label: position for position, label in enumerate(classes.tolist())}
    for label, weight in (option or class_weight or {}).items():
        if label not in known:
            raise ArgumentError(
                "class_weight",
                f"names {label!r}, which is not in y; classes are {_listed(classes)}",
            )
        weights[known[label]] = positive_number(f"class_weight[{label!r}]", weight)
    return weights


def _listed(classes: np.ndarray) -> str:
    labels = [repr(label) for label in classes[:20].tolist()]
    return ", ".join(labels) + (", ..." if len(classes) > 20 else "")


def truth(y: Any, classes: np.ndarray | None, other: str, rows: int) -> np.ndarray | None:
    """Return the true labels (targets if `classes` is None) of `rows` items, or None as given."""
    if y is None:
        return None
    known = targets("y", y) if classes is None else label_array("y", y)
    same_length("y", known, other, rows)
    if classes is not None and rows and label_family(known) != label_family(classes):
        raise ArgumentTypeError(
            "y",
            f"holds {LABEL_KINDS[known.dtype.kind]}, but the model's classes are "
            f"{LABEL_KINDS[classes.dtype.kind]}",
        )
    return known


def accuracy(
    true: np.ndarray | None, predicted: np.ndarray, classes: np.ndarray | None
) -> tuple[float, float, float]:
    """Return (percent correct, mean squared error, squared correlation).

    All are nan without true labels or without items; the first for a regression (`classes` is
    None); the last two for strings; the last where one side is constant.
    """
    if true is None or len(true) == 0:
        return np.nan, np.nan, np.nan
    percent = np.nan if classes is None else 100.0 * float(np.mean(true == predicted))
    if label_family(predicted) != "number":
        return percent, np.nan, np.nan
    return percent, *_errors(true.astype(np.float64), predicted.astype(np.float64))


def _errors(a: np.ndarray, b: np.ndarray) -> tuple[float, float]:
    """Return the mean squared error and the squared correlation of two float64 arrays."""
    with np.errstate(over="ignore"):  # labels of 1e200 have an infinite squared error
        mse = float(np.mean((a - b) ** 2))
    if np.ptp(a) == 0 or np.ptp(b) == 0:
        return mse, np.nan
    return mse, float((_direction(a) @ _direction(b)) ** 2)


def _direction(values: np.ndarray) -> np.ndarray:
    """Return the centred values as a unit vector; scaled first, as large squares overflow."""
    centred = values - values.mean()
    centred /= np.abs(centred).max()
    return centred / np.linalg.norm(centred)


def confusion(true: np.ndarray, predicted: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the labels that occur, and how often each pair of true and predicted ones does."""
    names, codes = np.unique(np.concatenate([true, predicted]), return_inverse=True)
    counts = np.zeros((len(names),) * 2, np.int64)
    np.add.at(counts, (codes[: len(true)], codes[len(true) :]), 1)
    return names, counts
