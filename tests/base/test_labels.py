# SPDX-License-Identifier: BSD-3-Clause
"""Missing labels are refused by name at every door, and never become a class."""

import numpy as np
import pandas as pd
import pytest

import d2ke

MISSING = {
    "strings of pandas": pd.Series(["a", None, "b", "a"]),
    "nan among strings": ["a", float("nan"), "b", "a"],
    "nan among bytes": [b"a", float("nan"), b"b", b"a"],
    "None": ["a", None, "b", "a"],
    "NA": pd.Series(["a", pd.NA, "b", "a"], dtype=object),
    "NaT": pd.Series(["a", pd.NaT, "b", "a"], dtype=object),
    "objects of numpy": np.array(["a", np.nan, "b", "a"], object),
    "categories": pd.Categorical(["a", None, "b", "a"]),
    "numbers": [1.0, float("nan"), 2.0, 1.0],
    "whole numbers of pandas": pd.Series([1, None, 2, 1], dtype="Int64"),
}
X = ["aab", "bba", "abab", "baab"]
Z = np.arange(8.0).reshape(4, 2)
D = np.abs(np.subtract.outer(np.arange(4.0), np.arange(4.0)))
DOORS = {
    "d2ke_train": lambda y: d2ke.d2ke_train(y, X, R=4),
    "train": lambda y: d2ke.train(y, Z),
    "train_least_squares": lambda y: d2ke.train_least_squares(y, Z),
    "svmtrain": lambda y: d2ke.svmtrain(y, D),
    "knn_predict": lambda y: d2ke.knn_predict(y, D),
    "search": lambda y: d2ke.search(y, X, "knn", distance="levenshtein", n_folds=2),
}


@pytest.mark.parametrize("labels", MISSING)
@pytest.mark.parametrize("door", DOORS)
def test_missing_labels_are_named(door, labels):
    with pytest.raises((TypeError, ValueError), match=r"\[1\] is (nan|None|<NA>|NaT)") as error:
        DOORS[door](MISSING[labels])
    assert error.value.index == 1
