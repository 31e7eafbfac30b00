# SPDX-License-Identifier: BSD-3-Clause
"""Conversion of estimators' arguments to objects and labels of d2ke."""

from __future__ import annotations

import numbers
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.base import BaseEstimator
from sklearn.utils import (
    assert_all_finite,
    check_consistent_length,
    check_random_state,
    column_or_1d,
)
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from d2ke._base.errors import ArgumentError, ArgumentTypeError
from d2ke._base.labels import check_unchanged, entries_of, label_array, refuse_missing, targets
from d2ke.distances.registry import find_distance
from d2ke.objects.arrow_columns import read_column
from d2ke.objects.arrow_packing import holds_objects
from d2ke.objects.container import Objects
from d2ke.objects.packing import as_objects
from d2ke.objects.record_packing import pack_records
from d2ke.objects.records import Records
from d2ke.objects.tables import is_table
from d2ke.objects.typed import CLOCKS
from d2ke.objects.values import column_names


def read_objects(estimator: BaseEstimator, X: Any, distance: Any, *, reset: bool) -> Any:
    """Return packed objects; for a Python function as the distance, a list of anything.

    Tables of numbers are checked by scikit-learn, which stores the number of columns if `reset` (in
    ``fit``), and else compares it.
    """
    anything = distance is not None and not isinstance(distance, str)
    kind = None if distance is None or anything else find_distance(distance).kind
    X = _column(X, anything, kind)
    if isinstance(X, Objects) or not _is_table(X, anything):
        if reset:
            _keep_columns(estimator, X)
        if not isinstance(X, Objects):
            X = list(X) if anything else as_objects("X", X, kind)
        return _enough(estimator, X) if reset else X
    if kind == "strings" and getattr(getattr(X, "dtype", None), "kind", "") in ("i", "u"):
        rows = validate_data(estimator, X, dtype=None, reset=reset)
        return as_objects("X", list(rows), kind)
    rows = read_table(estimator, X, reset=reset)
    return list(rows) if anything else as_objects("X", rows, kind)


def read_records(estimator: BaseEstimator, X: Any) -> Records | None:
    """Return the records of a dict, or of a frame whose columns are not all numbers; else None.

    A frame of one column holds objects.
    """
    if not is_table(X):
        return None
    if not isinstance(X, (Records, Mapping)) and (len(column_names(X)) == 1 or holds_numbers(X)):
        return None
    records = pack_records(X, name="X")
    columns = records.columns.values()
    if all(c.kind in ("numbers", "missing") and c.use not in CLOCKS for c in columns):
        return None
    estimator.n_features_in_ = len(records.columns)
    estimator.feature_names_in_ = np.array(list(records.columns), dtype=object)
    return _enough(estimator, records)


def holds_numbers(X: Any) -> bool:
    """Return whether all columns of a frame hold numbers."""
    types = X.dtypes if hasattr(X, "dtypes") else X.schema.types
    numbers = ("int", "uint", "float", "bool", "double", "decimal")
    return all(str(kind).lower().startswith(numbers) for kind in types)


def read_table(estimator: BaseEstimator, X: Any, *, reset: bool) -> np.ndarray:
    """Return a matrix of finite numbers."""
    _refuse_mask("X", X)
    minimum, floats = least_samples(estimator) if reset else 1, (np.float64, np.float32)
    return validate_data(
        estimator, X, dtype=floats, order="C", reset=reset, ensure_min_samples=minimum
    )


def least_samples(estimator: BaseEstimator) -> int:
    """Return the least number of training objects of an estimator."""
    return getattr(estimator, "_least_samples", 1)


def _enough(estimator: BaseEstimator, X: Any) -> Any:
    if len(X) < least_samples(estimator):
        raise ArgumentError(
            "X",
            f"has n_samples = {len(X)} objects; {type(estimator).__name__} needs at least "
            f"{least_samples(estimator)}",
        )
    return X


def read_classes(X: Any, y: Any, unlabelled: bool = False) -> np.ndarray:
    """Return class labels, one for each object; if `unlabelled`, some may be ""."""
    if getattr(y, "ndim", 1) == 2 and y.shape[1] > 1:
        raise ArgumentError("y", "has several labels: use d2ke_train")
    y = _labels(X, y, unlabelled)
    check_classification_targets(y)
    return y


def read_targets(X: Any, y: Any) -> np.ndarray:
    """Return the real targets of a regression as float64."""
    y = _labels(X, y)
    if y.dtype.kind not in "biufO":
        raise ArgumentTypeError("y", f"must hold numbers for a regression, got dtype {y.dtype}")
    return targets("y", y) if y.dtype.kind in "iu" else y.astype(np.float64)


def seed_of(random_state: Any) -> int:
    """Return a seed; an integer stays as it is, so that plain functions give the same result."""
    generator = check_random_state(random_state)
    if isinstance(random_state, numbers.Integral):
        return int(random_state)
    return int(generator.randint(np.iinfo(np.int32).max))


def _labels(X: Any, y: Any, unlabelled: bool = False) -> np.ndarray:
    if y is None:
        raise ValueError("this estimator requires y to be passed, but the target y is None")
    _refuse_mask("y", y)
    if isinstance(y, np.ndarray) and y.dtype.kind == "T":
        y = y.tolist()
    values, y = y, np.asarray(y)
    if y.ndim == 1 and isinstance(values, (list, tuple)):
        check_unchanged("y", values, y)  # 1 among text is not the text "1"
    elif y.ndim == 1 and y.dtype.kind in "OM":
        refuse_missing("y", entries_of(values))
    elif y.dtype.kind == "U" and not unlabelled:
        label_array("y", y)
    y = column_or_1d(y, warn=True)
    if not isinstance(values, np.ndarray) and y.dtype.kind == "f" and np.isnan(y).any():
        refuse_missing("y", y)
    assert_all_finite(y, input_name="y")
    check_consistent_length(X, y)
    return y


def _refuse_mask(name: str, array: Any) -> None:
    if np.ma.is_masked(array):
        raise ArgumentTypeError(name, "has masked elements; every value must be there")


def _column(X: Any, anything: bool, kind: str | None) -> Any:
    """Return a column of objects, of a data frame with no other column too, packed or as a list."""
    if isinstance(X, (Objects, np.ndarray, list, tuple)) or issparse(X):
        return X
    column = X
    if hasattr(X, "columns"):
        if len(X.columns) != 1:
            return X
        if hasattr(X, "iloc"):
            column = X.iloc[:, 0]
        else:
            column = X.to_series(0) if hasattr(X, "to_series") else X.column(0)
    arrow = None if anything else read_column(column, "X")
    if arrow is not None and len(arrow) and holds_objects(arrow):
        return as_objects("X", column, kind)
    name = next((n for n in ("to_pylist", "to_list", "tolist") if hasattr(column, n)), None)
    if name is None:
        return X
    items = getattr(column, name)()
    if hasattr(X, "columns") and (not items or _is_number(items[0])) and not anything:
        return X
    for i, item in enumerate(items):
        if not (anything or _is_number(item) or isinstance(item, (str, Sequence, np.ndarray))):
            raise ArgumentTypeError(
                "X", f"is {item!r}; it must be a string or a sequence of numbers", i
            )
        if not anything and _is_number(item) and not _is_number(items[0]):
            raise ArgumentTypeError("X", f"is {item!r}; it must be an object, as X[0] is", i)
    return items


def _is_table(X: Any, anything: bool) -> bool:
    """Return whether X is a table of numbers, or an error that scikit-learn's checks name."""
    if isinstance(X, Objects):
        return False
    if isinstance(X, (list, tuple)):
        return not anything and (not X or _is_number(X[0]))
    if issparse(X) or not isinstance(X, np.ndarray):
        return True
    if X.dtype.kind in "OUST" and X.size and X.size == max(X.shape):  # elements may be objects
        return not anything and _is_number(X.ravel()[0])
    return not (X.ndim == 3 and X.dtype.kind in "biuf")


def _is_number(item: Any) -> bool:
    return isinstance(item, (numbers.Number, np.generic)) and not isinstance(item, (str, bytes))


def _keep_columns(estimator: BaseEstimator, X: Any) -> None:
    """Keep the number of columns of nested lists that are a table; else remove an earlier fit's."""
    for name in ("n_features_in_", "feature_names_in_"):
        if hasattr(estimator, name):
            delattr(estimator, name)
    nested = isinstance(X, list) and all(isinstance(item, list) for item in X)
    if nested and X[0] and _is_number(X[0][0]) and len({len(item) for item in X}) == 1:
        estimator.n_features_in_ = len(X[0])
