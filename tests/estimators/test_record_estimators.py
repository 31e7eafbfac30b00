# SPDX-License-Identifier: BSD-3-Clause
"""Estimators of records: dicts and data frames of several columns."""

import numpy as np
import pytest

import d2ke

pytest.importorskip("sklearn")
from sklearn.base import clone
from sklearn.model_selection import cross_val_score

from d2ke.estimators import D2KEClassifier, D2KERegressor


def people(n, seed):
    rng = np.random.default_rng(seed)
    old, town = rng.random((2, n)) < 0.5
    words = [("ab" if one else "ba") * 2 + str(rng.choice(["c", "d"])) for one in town]
    data = {"word": words, "age": np.where(old, 60.0, 30.0) + rng.normal(size=n)}
    return data, 2 * old + town, 10.0 * old + town


DATA, Y, NUMBERS = people(60, 0)
NEW = people(40, 1)


def test_the_model_is_that_of_d2ke_train():
    model = D2KEClassifier(R=24, random_state=0).fit(DATA, Y)
    assert (model.predict(NEW[0]) == NEW[1]).all()
    plain = d2ke.d2ke_train(Y, DATA, R=24, seed=0)
    np.testing.assert_array_equal(model.model_.linear.weights, plain.linear.weights)
    assert model.predict_proba(NEW[0]).shape == (40, 4)
    assert model.feature_names_in_.tolist() == ["word", "age"]
    assert D2KERegressor(R=24, random_state=0).fit(DATA, NUMBERS).score(NEW[0], NEW[2]) > 0.95


@pytest.mark.parametrize("module", ["pandas", "polars"])
def test_frames(module):
    frame = pytest.importorskip(module).DataFrame(DATA)
    model = D2KEClassifier(R=24, random_state=0).fit(frame, Y)
    assert (model.predict(NEW[0]) == NEW[1]).all()
    assert cross_val_score(clone(model), frame, Y, cv=3).mean() > 0.95
    with pytest.raises(ValueError, match="X has no column 'age'"):
        model.predict(frame[["word"]])


def test_records_are_cut_into_folds():
    records = d2ke.pack_records(DATA)
    assert cross_val_score(D2KEClassifier(R=24, random_state=0), records, Y, cv=3).mean() > 0.95


def test_rows_of_a_frame_of_numbers_are_series():
    pd = pytest.importorskip("pandas")
    X = np.random.default_rng(0).normal(size=(20, 6)) + 3 * np.arange(20)[:, None] % 2
    model = D2KEClassifier(R=24, random_state=0).fit(pd.DataFrame(X), np.arange(20) % 2)
    assert not model.model_.inputs
    one = D2KEClassifier(R=16, random_state=0).fit(
        pd.DataFrame({"x": ["aab", "bba"] * 9}), [0, 1] * 9
    )
    assert not one.model_.inputs
