# SPDX-License-Identifier: BSD-3-Clause
"""`missing="interpolate"`: series with missing values train models, and are predicted."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from reference import reloaded

import d2ke
from d2ke import estimators

RNG = np.random.default_rng(0)
WAVES = 0.3 * RNG.standard_normal((24, 16)) + np.outer(
    np.repeat([-1, 1], 12), np.sin(np.arange(16))
)
CLASSES = np.repeat(["a", "b"], 12)
GAPS = WAVES.copy()
GAPS[2, 5:7] = GAPS[9, 0] = GAPS[13, -1] = np.nan


def filled():
    steps, result = np.arange(16), GAPS.copy()
    for row in result:
        there = ~np.isnan(row)
        row[:] = np.interp(steps, steps[there], row[there])
    return result


def test_models_fill_in_missing_values_as_if_they_were_given():
    model = d2ke.d2ke_train(CLASSES, GAPS, R=16, missing="interpolate")
    assert model.missing == {"rule": "interpolate", "values": 4, "series": 3}
    assert "missing values: 4 in 3 series, filled in linearly in time" in str(model)
    plain = d2ke.d2ke_train(CLASSES, filled(), R=16)
    decisions = d2ke.d2ke_predict(None, GAPS, model)[2]
    np.testing.assert_array_equal(decisions, d2ke.d2ke_predict(None, filled(), plain)[2])
    loaded = reloaded(model)
    assert loaded.missing == model.missing
    np.testing.assert_array_equal(d2ke.d2ke_predict(None, GAPS, loaded)[2], decisions)
    parts = [d2ke.d2ke_explain(X[9], model).decision for X in (GAPS, filled())]
    assert parts[0] == parts[1]
    with pytest.raises(ValueError, match=r"models fill missing values in with missing='interpola"):
        d2ke.d2ke_predict(None, GAPS, plain)


@pytest.mark.parametrize(
    "container",
    [
        np.array,
        list,
        lambda rows: [[None if x != x else x for x in row] for row in rows.tolist()],
        lambda rows: pd.DataFrame(rows).rename(columns=str),
        pd.DataFrame,
        lambda rows: {"walk": rows.tolist(), "n": np.arange(len(rows))},
        lambda rows: pa.array([[None if x != x else x for x in row] for row in rows.tolist()]),
    ],
)
def test_estimators_fill_in_missing_values(container):
    model = estimators.D2KEClassifier(R=16, missing="interpolate", random_state=0)
    model.fit(container(GAPS), CLASSES)
    assert model.model_.missing["values"] == 4
    wanted = estimators.D2KEClassifier(R=16, random_state=0).fit(container(filled()), CLASSES)
    np.testing.assert_array_equal(
        model.decision_function(container(GAPS)), wanted.decision_function(container(filled()))
    )


def test_names_of_steps_are_compared():
    X = pd.DataFrame(GAPS).rename(columns=str)
    model = estimators.D2KEClassifier(R=16, missing="interpolate", random_state=0).fit(X, CLASSES)
    for other in (X[X.columns[::-1]], X.add_prefix("t")):
        with pytest.raises(ValueError, match="feature names should match"):
            model.predict(other)


def test_long_tables_are_filled_in_by_their_times():
    table = pd.DataFrame(
        {
            "id": ["x"] * 4 + ["y"] * 3,
            "t": [11, 0, 1, 10, 0, 4, 5],
            "v": [10, np.nan, 0, np.nan, 1, np.nan, np.nan],
        }
    )
    X = d2ke.pack(table, ids="id", time="t", missing="interpolate")
    assert [series[:, 0].tolist() for series in X] == [[0, 0, 9, 10], [1, 1, 1]]
    assert X.ids.tolist() == ["x", "y"]
    table["v"] = [1, 2, 3, 4, np.nan, np.nan, np.nan]
    with pytest.raises(ValueError, match=r"\('y'\) has no value in channel 0"):
        d2ke.pack(table, ids="id", time="t", missing="interpolate")


def test_what_cannot_be_filled_in_is_named():
    nothing = GAPS.copy()
    nothing[7] = np.nan
    with pytest.raises(ValueError, match=r"X\[7\] has no value in channel 0"):
        d2ke.d2ke_train(CLASSES, nothing, R=8, missing="interpolate")
    named = d2ke.pack(nothing, missing=True, ids=[f"s{i}" for i in range(24)])
    with pytest.raises(ValueError, match=r"X\[7\] \('s7'\) has no value"):
        d2ke.d2ke_train(CLASSES, named, R=8, missing="interpolate")
    with pytest.raises(TypeError, match=r"X\[0\] is str; arrays of numbers are needed"):
        d2ke.d2ke_train([0, 1], ["a", "b"], missing="interpolate")
    with pytest.raises(ValueError, match="missing must be one of interpolate; got 'mean'"):
        d2ke.d2ke_train(CLASSES, GAPS, missing="mean")
