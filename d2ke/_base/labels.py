# SPDX-License-Identifier: BSD-3-Clause
"""Labels of any type: checks, encoding, and how well predictions agree with them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

import numpy as np

from d2ke._base.checks import positive_number
from d2ke._base.errors import ArgumentError, ArgumentTypeError
from d2ke._base.text import listed

_LABELS = (bool, int, float, str, bytes, np.generic)
LABEL_KINDS = {"b": "booleans", "i": "integers", "u": "integers", "f": "floats", "U": "strings",
          "S": "bytes"}  # fmt: skip


_ABSENT = "a label is missing; remove the object, or give it a label"


def is_missing(entry: Any) -> bool:
    """Return whether an entry is None, NaN, NaT or the NA of pandas."""
    if entry is None or type(entry).__name__ in ("NAType", "NaTType"):
        return True
    if isinstance(entry, (np.datetime64, np.timedelta64)):
        return bool(np.isnat(entry))
    if isinstance(entry, Decimal):
        return entry.is_nan()
    return isinstance(entry, (float, np.floating)) and bool(entry != entry)


def entries_of(y: Any) -> Any:
    """Return the entries of a column of pandas, polars or pyarrow, or of an array, as a list."""
    name = next((n for n in ("to_pylist", "to_list", "tolist") if hasattr(y, n)), None)
    return y if name is None else getattr(y, name)()


def refuse_missing(name: str, values: Any) -> None:
    """Refuse labels that are missing."""
    for index, value in enumerate(values):
        if is_missing(value) or value in ("", b""):
            raise ArgumentTypeError(name, f"is {value!r}: {_ABSENT}", index)


def known_labels(name: str, y: Any, unknown: Any) -> tuple[np.ndarray, np.ndarray, Any]:
    """Return labels, a mask of the missing ones, and the marker that replaces them.

    An empty text counts as missing. The marker is `unknown`, or "" if only the labels are text.
    """
    values = entries_of(y)
    if np.ma.isMaskedArray(y) or not isinstance(values, (list, tuple)):
        values = []
    gaps = np.array([is_missing(x) or (isinstance(x, (str, bytes)) and not x) for x in values])
    if not gaps.any():
        labels = label_array(name, y)
        return labels, np.zeros(len(labels), bool), unknown
    if gaps.all():
        raise ArgumentError(name, "has no label: every entry is missing")
    filler = values[int(gaps.argmin())]  # so that errors have the right index
    labels = label_array(name, [filler if gap else x for x, gap in zip(values, gaps, strict=True)])
    text = labels.dtype.kind in "US" and not isinstance(unknown, (str, bytes))
    mark = labels.dtype.type() if text else unknown
    dtype = np.result_type(labels.dtype, np.min_scalar_type(mark))
    labels = labels.astype(dtype)
    labels[gaps] = mark
    return labels, gaps, mark


def label_array(name: str, y: Any) -> np.ndarray:
    """Return `y` as a one-dimensional array of bool, int, float, str or bytes, values unchanged.

    Raises
    ------
    TypeError
        If the labels are of another type, or of several types that no array can hold unchanged.
    ValueError
        If `y` is not one-dimensional, or has an empty text or a value that is not finite.
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
            raise ArgumentError(
                name,
                "must be one-dimensional, got a nested sequence; several labels an object are a "
                "matrix of 0 and 1, as MultiLabelBinarizer of scikit-learn makes them",
            ) from None
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
    if labels.dtype.kind in "US":
        empty = np.flatnonzero(labels == labels.dtype.type())
        if empty.size:
            raise ArgumentError(name, f"is {labels[empty[0]].item()!r}: {_ABSENT}", empty[0])
    if labels.dtype.kind == "f":
        if labels.dtype.itemsize > 8:
            raise ArgumentTypeError(name, f"must not be of dtype {labels.dtype}; use float64")
        bad = np.flatnonzero(~np.isfinite(labels))
        if bad.size:
            raise ArgumentError(name, f"is {labels[bad[0]]}; every value must be finite", bad[0])
    return labels


def check_unchanged(name: str, values: Sequence[Any], labels: np.ndarray) -> None:
    """Refuse a list whose values numpy changed (["a", 1], [2**63, -1], "a" with NUL)."""
    if labels.dtype.kind != "f":  # nan among numbers is refused by the check of finiteness
        refuse_missing(name, values)
    if labels.dtype.kind == "O":
        wrong = next((i for i, item in enumerate(values) if not isinstance(item, _LABELS)), None)
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


def nested_rows(y: Any) -> np.ndarray | None:
    """Return a matrix, or a list of rows of equal length, as an array; None for anything else."""
    if isinstance(y, (list, tuple)) and len(y) and isinstance(y[0], (list, tuple)):
        if len({len(row) if isinstance(row, (list, tuple)) else -1 for row in y}) > 1:
            return None
        y = np.asarray(y)
    return y if isinstance(y, np.ndarray) and y.ndim == 2 else None


def label_matrix(y: Any) -> tuple[np.ndarray, np.ndarray | None] | None:
    """Return a matrix of labels as int64, and the names of its columns if it is a data frame.

    None if y holds one label for each object.
    """
    frame = hasattr(y, "columns") and hasattr(y, "to_numpy")
    if not frame and not isinstance(y, np.ndarray):
        y = nested_rows(y)
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
        numbers = bool, int, float, np.generic
        valid = np.array(
            [[isinstance(value, numbers) and value in (0, 1) for value in row] for row in rows]
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
    names = label_array("y.columns", list(y.columns)) if frame else None
    return values.astype(np.int64), names


def refuse_swapped(y: Any, X: Any) -> None:
    """Refuse y and X that look swapped: y holds objects, and X few numbers or words that repeat."""
    if hasattr(y, "columns"):  # a data frame of several labels, which iterates over names
        return
    # In fewer labels no class repeats often enough to distinguish labels from objects.
    if not (hasattr(y, "__len__") and hasattr(X, "__len__") and len(y) == len(X) >= 8):
        return
    n, first = len(y), next(iter(y))
    words = None
    if isinstance(first, (str, bytes)):
        # Ctrl-C in list() of an array of strings may get lost.
        words = y.tolist() if hasattr(y, "tolist") else list(y)
        if 2 * len(set(words)) <= n:
            return
    elif not hasattr(first, "__len__") or len(first) < 2:
        return
    elif (rows := nested_rows(y)) is not None and np.isin(rows, (0, 1)).all():
        return  # several labels an object
    try:
        values = set(X.tolist() if hasattr(X, "tolist") else X)
    except TypeError:  # arrays have no hash
        return
    if 4 * len(values) > n or not all(isinstance(v, _LABELS) for v in values):
        return
    if words is not None and sum(map(len, words)) < 2 * n * max(len(str(v)) for v in values):
        return
    raise ArgumentError(
        "y",
        f"holds objects, and X has {len(values)} different values in {n} rows. Are y and X "
        "swapped? Labels come first",
    )


def check_order(X: Any, of: str = "X.index", **values: Any) -> None:
    """Refuse labels, weights or groups whose index has the labels of X's index in another order.

    If X has ids, they are its index. A default index, which counts the rows, and an index of X with
    repeated labels do not name rows. Values with another index than X's are taken in the order of
    their rows.
    """
    rows = _row_names(X)
    if rows is None or len(set(rows)) < len(rows):
        return
    for name, value in values.items():
        names = _row_names(value)
        if (
            names is not None
            and names != rows
            and len(names) == len(rows)
            and (set(names) == set(rows))
        ):
            of = of if hasattr(X, "index") else "X.ids"
            raise ArgumentError(
                name,
                f"has the labels of {of} in another order: {name}.loc[{of}] has them in that of X, "
                f"{name}.to_numpy() keeps the order of its rows",
            )


def _row_names(items: Any) -> list[Any] | None:
    """Return the labels of the index of pandas, or ids, if they name the rows."""
    is_pandas = type(items).__module__.partition(".")[0] == "pandas"
    labels = getattr(items, "index" if is_pandas else "ids", None)
    if labels is None or not (is_pandas or isinstance(labels, np.ndarray)):
        return None
    names: list[Any] = labels.tolist()
    return None if names == list(range(len(names))) else names


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
    return "number" if labels.dtype.kind in "biuf" else labels.dtype.kind


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
    codes = {label: position for position, label in enumerate(classes.tolist())}
    for label, weight in (option or class_weight or {}).items():
        if label not in codes:
            raise ArgumentError(
                "class_weight", f"names {label!r}, which is not in y; classes are {listed(codes)}"
            )
        weights[codes[label]] = positive_number(f"class_weight[{label!r}]", weight)
    return weights


def truth(y: Any, classes: np.ndarray | None, other: str, rows: int) -> np.ndarray | None:
    """Return the true labels (targets if `classes` is None) of `rows` items, or None as given."""
    if y is None:
        return None
    true = targets("y", y) if classes is None else label_array("y", y)
    same_length("y", true, other, rows)
    if classes is not None and rows and label_family(true) != label_family(classes):
        raise ArgumentTypeError(
            "y",
            f"holds {LABEL_KINDS[true.dtype.kind]}, but the model's classes are "
            f"{LABEL_KINDS[classes.dtype.kind]}",
        )
    return true


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
    a, b = true.astype(np.float64), predicted.astype(np.float64)
    with np.errstate(over="ignore"):  # labels of 1e200 have an infinite squared error
        mse = float(np.mean((a - b) ** 2))
    if np.ptp(a) == 0 or np.ptp(b) == 0:
        return percent, mse, np.nan
    return percent, mse, float((_direction(a) @ _direction(b)) ** 2)


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
