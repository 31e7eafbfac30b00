# SPDX-License-Identifier: BSD-3-Clause
"""The forms in which objects come to estimators, and what is refused."""

import subprocess
import sys

import numpy as np
import pytest

pytest.importorskip("sklearn", minversion="1.6")

import sklearn

import d2ke
from d2ke.estimators import (
    D2KEClassifier,
    D2KERegressor,
    DistanceKNeighborsClassifier,
    RSMTransformer,
)

WORDS = ["aab", "aba", "bcc", "ccb", "abab", "cbcb"]
SERIES = [[0.0, 1.0, 2.0], [0.0, 1.0], [5.0, 6.0, 7.0, 8.0], [5.0, 7.0], [1.0], [6.0]]
Y = [0, 0, 1, 1, 0, 1]


def predicted(X, y=Y):
    model = DistanceKNeighborsClassifier(n_threads=1).fit(X, y)
    assert model.predict(X).tolist() == list(y)
    return model


def frames(kind):
    module = pytest.importorskip(kind)
    if kind == "pandas":
        return lambda v: module.Series(v), lambda v: module.DataFrame({"x": v})
    if kind == "polars":
        return lambda v: module.Series("x", v), lambda v: module.DataFrame({"x": v})
    return lambda v: module.chunked_array([v]), lambda v: module.table({"x": v})


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
@pytest.mark.parametrize("items", [WORDS, SERIES], ids=["strings", "series"])
def test_columns(kind, items):
    for made in frames(kind):
        model = predicted(made(items))
        assert model.objects_ == d2ke.pack(items)
        assert not hasattr(model, "n_features_in_")


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
def test_columns_are_split(kind):
    from sklearn.model_selection import cross_val_score, train_test_split

    for made in frames(kind):
        column = made(WORDS * 3)
        labels = np.array(Y * 3)
        if kind == "pyarrow" and sklearn.__version__.startswith("1.6"):
            pytest.skip("scikit-learn 1.6 cannot split columns of pyarrow")
        train, test, y_train, y_test = train_test_split(column, labels, random_state=0)
        model = DistanceKNeighborsClassifier(n_threads=1).fit(train, y_train)
        assert (model.predict(test) == y_test).all()
        scores = cross_val_score(model, column, labels, cv=3, error_score="raise")
        assert scores.tolist() == [1.0] * 3


def test_numeric_frames_are_tables():
    pd = pytest.importorskip("pandas")
    table = np.array([[0.0, 1], [0.5, 1], [5, 6], [5, 7]])
    frame = pd.DataFrame(table, columns=["t0", "t1"])
    model = DistanceKNeighborsClassifier().fit(frame, [0, 0, 1, 1])
    assert model.feature_names_in_.tolist() == ["t0", "t1"]
    assert model.objects_ == d2ke.pack(table)
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame.rename(columns={"t1": "other"}))


def test_arrays():
    cell = np.empty(6, dtype=object)
    cell[:] = [np.array(x) for x in SERIES]
    assert predicted(cell).objects_ == d2ke.pack(SERIES)
    assert predicted(cell[:, None]).objects_ == d2ke.pack(SERIES)
    assert predicted(np.array(WORDS)).objects_ == d2ke.pack(WORDS)
    assert predicted(np.array(WORDS, dtype=object)[:, None]).objects_ == d2ke.pack(WORDS)
    cube = np.random.default_rng(0).random((6, 5, 2))
    assert predicted(cube).objects_ == d2ke.pack(cube)
    integers = np.arange(24).reshape(6, 4) % 5
    model = DistanceKNeighborsClassifier(distance="levenshtein").fit(integers, Y)
    assert model.objects_ == d2ke.pack(list(integers), kind="strings")


def test_a_table_fixes_the_columns_and_a_list_does_not():
    table = np.array([[0.0, 1, 2], [0, 1, 1], [5, 6, 7], [5, 7, 7]])
    y = [0, 0, 1, 1]
    model = DistanceKNeighborsClassifier().fit(table, y)
    with pytest.raises(ValueError, match=r"X has 2 features, but .* is expecting 3"):
        model.predict(table[:, :2])
    assert model.predict([[0.0, 1], [5.0, 6, 7, 8]]).tolist() == [0, 1]
    assert model.predict(list(table[:, :2])).tolist() == y
    # Fitted again, to objects of other lengths.
    model.fit(SERIES, Y)
    assert not hasattr(model, "n_features_in_")
    assert model.predict(table[:, :2]).tolist() == y


def test_refused():
    """Beside what scikit-learn's own checks refuse."""
    model = DistanceKNeighborsClassifier()
    for X, error, match in (
        (["a", 1, "b"], TypeError, r"X\[1\]"),
        ([[1.0], [np.nan], [2.0]], ValueError, r"X\[1\] has nan"),
    ):
        with pytest.raises(error, match=match):
            model.fit(X, [0, 1, 1])
    with pytest.raises(ValueError, match="n_samples = 1"):
        D2KEClassifier().fit(WORDS[:1], [1])


def test_scikit_learn_is_not_needed_elsewhere():
    code = (
        "import sys; sys.modules['sklearn'] = None\n"
        "import d2ke\n"
        "assert 'd2ke.estimators' not in sys.modules\n"
        "try:\n    import d2ke.estimators\n"
        "except ImportError as error:\n    print(error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120
    )
    assert "needs scikit-learn 1.6 or later: pip install 'd2ke[sklearn]'" in done.stdout


STRINGS = ["abab", "aabb", "ababab", "aaabbb"] * 5


@pytest.mark.parametrize(
    ("y", "problem"),
    [
        (["1", "2"] * 10, "y must hold numbers for a regression, got dtype <U1"),
        (np.array(["2020", "2021"] * 10, "M8[D]"), "y must hold numbers .* datetime64"),
        (np.ma.array(np.arange(20.0), mask=[True] + [False] * 19), "y has masked elements"),
    ],
)
def test_targets_are_not_cast(y, problem):
    with pytest.raises(TypeError, match=problem):
        D2KERegressor(R=8).fit(STRINGS, y)
    with pytest.raises(ValueError, match=r"y holds integers beyond 2\*\*53"):
        D2KERegressor(R=8).fit(STRINGS, [2**60, 2**60 + 1] * 10)


@pytest.mark.skipif(not hasattr(np.dtypes, "StringDType"), reason="numpy before 2.0")
def test_labels_of_strings_of_any_length():
    y = np.array(["odd", "even"] * 10, np.dtypes.StringDType())
    model = D2KEClassifier(R=8, random_state=0).fit(STRINGS, y)
    assert model.classes_.tolist() == ["even", "odd"]


def test_distances_whose_inverse_overflows():
    X = [1e-310 * np.arange(4.0) * i for i in range(1, 9)]
    with pytest.raises(ValueError, match="float64 does not hold 1 over it"):
        RSMTransformer(R=4, distance="dtw").fit(X)
