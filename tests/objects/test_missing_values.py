# SPDX-License-Identifier: BSD-3-Clause
"""One rule for what is missing, in every container and at every door."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import d2ke
from d2ke import estimators

WORDS = ["a", "b", None, "a"]
LABELS = {
    "None": ["a", "b", None, "a"],
    "nan": ["a", "b", float("nan"), "a"],
    "NA": ["a", "b", pd.NA, "a"],
    "an empty text": ["a", "b", "", "a"],
    "an array of objects": np.array(WORDS, object),
    "an array of text": np.array(["a", "b", "", "a"]),
    "objects of pandas": pd.Series(WORDS, dtype=object),
    "text of pandas": pd.Series(WORDS, dtype="string"),
    "categories": pd.Series(WORDS, dtype="category"),
    "whole numbers of pandas": pd.Series([1, 2, None, 1], dtype="Int64"),
    "polars": pl.Series(WORDS),
    "whole numbers of polars": pl.Series([1, 2, None, 1]),
    "pyarrow": pa.array(WORDS),
}
X = ["ab", "ba", "aab", "abab"]
K = np.eye(4) + 0.1
ESTIMATORS = {
    "D2KEClassifier": (estimators.D2KEClassifier(R=4), X),
    "kNN": (estimators.DistanceKNeighborsClassifier(n_neighbors=1), X),
    "SimilarityMachineClassifier": (
        estimators.SimilarityMachineClassifier(affinity="precomputed"),
        K,
    ),
    "D2KERegressor": (estimators.D2KERegressor(R=4), X),
}


@pytest.mark.parametrize("labels", LABELS)
@pytest.mark.parametrize("name", ESTIMATORS)
def test_estimators_name_a_missing_label(name, labels):
    estimator, objects = ESTIMATORS[name]
    for method in ("fit", "partial_fit", "score"):
        if hasattr(estimator, method):
            with pytest.raises((TypeError, ValueError), match=r"^y\[2\] is .*: a label is missing"):
                getattr(estimator, method)(objects, LABELS[labels])


@pytest.mark.parametrize("labels", LABELS)
def test_propagation_fills_missing_labels(labels):
    y = LABELS[labels]
    near = np.array([[0, 1, 2, 1], [1, 0, 3, 2], [2, 3, 0, 3], [1, 2, 3, 0.0]])
    found = d2ke.lpdsk(distances=near, y=y)
    of_estimator = estimators.LPDSK(affinity="precomputed").fit(np.exp(-near), y)
    assert len(found.classes) == len(of_estimator.classes_) == 2
    assert found.labels[2] in found.classes
    assert of_estimator.transduction_[2] in of_estimator.classes_


def test_unreached_labels_keep_a_mark_of_their_type():
    apart = np.eye(3)
    for y, labels in [(["a", None, "b"], ["a", "", "b"]), ([5, None, 7], [5, -1, 7])]:
        with pytest.warns(UserWarning, match="all keep the marker"):
            assert d2ke.lpdsk(apart, y=y).labels.tolist() == labels
    with pytest.raises(ValueError, match="y has no label"):
        d2ke.lpdsk(apart, y=[None, "", float("nan")])


@pytest.mark.parametrize("empty", ["", None, float("nan"), pd.NA])
def test_missing_names_are_not_equal(empty):
    names = [empty, empty, "ann", "bob", "ann"]
    assert d2ke.dedupe(names, radius=1).labels.tolist() == [0, 1, 2, 3, 2]
    assert d2ke.link(names[:3], names[1:4], radius=1).pairs.tolist() == [[2, 1]]
    table = pd.DataFrame({"name": pd.Series(names, dtype=object), "town": ["x"] * 5})
    assert d2ke.dedupe(table, radius={"name": 1}).labels.tolist() == [0, 1, 2, 3, 2]


def test_empty_text_of_records_is_missing_and_elsewhere_a_string():
    records = d2ke.pack_records({"s": ["", "a", None], "c": d2ke.categories(["x", "", "y"])})
    assert records["s"].missing.tolist() == [True, False, True]
    assert records["c"].missing.tolist() == [False, True, False]
    assert d2ke.pack_records({"s": ["", ""]})["s"].kind == "missing"
    tokens = d2ke.pack_records({"s": [["a"], []]})  # an empty list of words is no empty text
    assert not tokens["s"].missing.any()
    assert d2ke.distance_matrix(["", "ab"], distance="levenshtein")[0].tolist() == [0, 2]
