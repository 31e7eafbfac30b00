# SPDX-License-Identifier: BSD-3-Clause
"""Distances of records: the weighted sum of those of the columns."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import counted, examples

import d2ke
from d2ke.neighbors import bounded

DISTANCE = {
    "name": "levenshtein",
    "track": ("dtw", {"window": 3}),
    "age": "absolute",
    "city": "equal",
}


def people(n, seed):
    rng = np.random.default_rng(seed)
    return {
        "name": ["".join(rng.choice(list("abc"), rng.integers(1, 6))) for _ in range(n)],
        "track": [rng.normal(size=rng.integers(1, 9)).tolist() for _ in range(n)],
        "age": rng.integers(0, 5, n) / 7,
        "city": d2ke.categories(rng.choice(["Rome", "Oslo", "Bonn"], n)),
        "id": list(range(n)),
    }


def weighted_sum(X, Y, weights):
    """Add up the columns' matrices in the order of DISTANCE."""
    x, y = X, X if Y is None else Y
    matrices = {
        "name": d2ke.distance_matrix(X["name"], None if Y is None else y["name"], "levenshtein"),
        "track": d2ke.distance_matrix(
            X["track"], None if Y is None else y["track"], "dtw", window=3
        ),
        "age": np.abs(x["age"][:, None] - y["age"]),
        "city": np.not_equal.outer(x["city"].values, y["city"].values).astype(float),
    }
    D = np.zeros(matrices["age"].shape)
    for name in DISTANCE:
        D += weights[name] * matrices[name]
    return D


def nearest_of(D, k):
    indices = np.argsort(D, axis=1, kind="stable")[:, :k]
    return indices, np.take_along_axis(D, indices, axis=1)


@settings(max_examples=examples(40), deadline=None)
@given(
    st.integers(2, 9), st.integers(1, 9), st.booleans(), st.integers(0, 1000),
    st.lists(st.sampled_from([0.0, 1.0, 0.3, 7.0]), min_size=4, max_size=4),
)  # fmt: skip
def test_the_sum_and_its_neighbors_have_the_bits_of_the_columns(n, m, alone, seed, weights):
    weights = dict(zip(DISTANCE, weights, strict=True))
    weights["age"] += 0.5
    X, Y = people(n, seed), None if alone else people(m, seed + 1)
    D = weighted_sum(X, Y, weights)
    found = d2ke.distance_matrix(X, Y, DISTANCE, weights=weights)
    np.testing.assert_array_equal(found, D)
    options = {"distance": DISTANCE, "weights": weights, "include_self": alone}
    indices, distances = d2ke.nearest(X, Y, k=1, **options)
    expected = nearest_of(D, 1 + alone)
    np.testing.assert_array_equal(indices, expected[0])
    np.testing.assert_array_equal(distances, expected[1])
    radius = float(np.median(D))
    graph = d2ke.within(X, Y, radius=radius, **options)
    np.testing.assert_array_equal(graph.toarray(), np.where(radius >= D, D, 0))


@pytest.mark.parametrize(("alone", "threads"), [(True, 1), (False, 2)])
def test_pivots_find_the_neighbors_of_metric_columns(alone, threads, monkeypatch):
    monkeypatch.setattr(bounded, "pays", lambda *_: True)
    rng = np.random.default_rng(3)

    def clusters(n):
        at = rng.integers(0, 40, n)
        points = [rng.normal(size=(20, 2)) + 10 * rng.normal(size=2) for _ in range(40)]
        return {
            "track": [points[i] + 0.01 * rng.normal(size=(20, 2)) for i in at],
            "age": at + 0.01 * rng.normal(size=n),
            "city": d2ke.categories((at % 3).astype(str)),
            "name": [f"{i:03d}" * 3 for i in at],
        }

    distance = {"track": "frechet", "age": "absolute", "city": "equal", "name": "damerau"}
    X, Y = clusters(350), None if alone else clusters(300)
    D = d2ke.distance_matrix(X, Y, distance)
    if alone:
        np.fill_diagonal(D, np.inf)
    options = {"distance": distance, "n_threads": threads}
    (indices, distances), info = counted(d2ke.nearest, X, Y, k=3, **options)
    assert info.ruled_out["pivots"] > info.pairs / 2
    expected = nearest_of(D, 3)
    np.testing.assert_array_equal(indices, expected[0])
    np.testing.assert_array_equal(distances, expected[1])
    graph, info = counted(d2ke.within, X, Y, radius=0.5, **options)
    assert info.ruled_out["pivots"] > info.pairs / 4
    np.testing.assert_array_equal(graph.toarray(), np.where(D <= 0.5, D, 0))


@pytest.mark.parametrize("name", ["osa", ("levenshtein", {"mode": "infix"}), lambda a, b: 1.0])
def test_no_pivots_where_a_column_has_no_metric(name):
    rng = np.random.default_rng(0)
    X = {"name": rng.choice(["ab", "ba", "c"], 350), "age": rng.normal(size=350)}
    distance = {"age": "absolute", "name": name}
    _, info = counted(d2ke.within, X, radius=0.5, distance=distance)
    assert "pivots" not in info.ruled_out
    with pytest.raises(TypeError, match="metric goes with a Python distance"):
        d2ke.within(X, radius=0.5, distance=distance, metric=True)


def test_functions_frames_and_texts_as_categories():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"name": ["a", "bb", "a"], "age": [1.0, 3.0, 8.0], "id": [7, 8, 9]})
    distance = {"name": lambda a, b: abs(len(a) - len(b)), "age": lambda a, b: (a - b) ** 2}
    weights = {"name": 2, "age": 1}
    D = d2ke.distance_matrix(frame, distance=distance, weights=weights)
    assert D[0].tolist() == [0, 6, 49]
    D = d2ke.distance_matrix(frame, frame[:1], {"name": "equal"}, weights={"name": 2})
    assert D.ravel().tolist() == [0, 2, 0]


def test_usual_weights_can_be_given_again():
    X, Y = people(150, 0), people(9, 1)
    weights = d2ke.distances.column_weights(X, distance=DISTANCE)
    assert weights["city"] == 1
    for pair in ((X, None), (Y, X)):
        np.testing.assert_array_equal(
            d2ke.distance_matrix(*pair, DISTANCE),
            d2ke.distance_matrix(*pair, DISTANCE, weights=weights),
        )
    assert weights != d2ke.distances.column_weights(X, distance=DISTANCE, seed=1)
    assert d2ke.distances.column_weights({"a": [1, 1]}, distance={"a": "absolute"}) == {"a": 1}


def test_a_file_knows_its_weights(tmp_path):
    X = people(40, 0)
    D = d2ke.distance_matrix(X, distance=DISTANCE)
    path = tmp_path / "distances.h5"
    d2ke.write_distances(path, X, distance=DISTANCE)
    with d2ke.io.open_features(path) as file:
        np.testing.assert_array_equal(file.read(), D)
    weights = dict.fromkeys(DISTANCE, 1.0)
    with pytest.raises(ValueError, match="weights"):
        d2ke.write_distances(path, X, distance=DISTANCE, weights=weights)


PAIR = {"name": ["a", "b"], "age": [1.0, 2.0], "city": d2ke.categories([True, False])}


@pytest.mark.parametrize(
    ("X", "distance", "weights", "message"),
    [
        (PAIR, "levenshtein", None, "distance of records must be a dict"),
        (PAIR, {"who": "levenshtein"}, None, "names the column 'who', but X has 'name', 'age'"),
        (PAIR, {"name": "dtw"}, None, r"distance\['name'\] is wrong: .*'dtw' is for"),
        (PAIR, {"name": "levenstein"}, None, r"distance\['name'\] is wrong: .*did you mean"),
        (PAIR, {"name": ("osa", {"mode": 1})}, None, r"distance\['name'\] is wrong: .*'mode'"),
        (PAIR, {"name": ("osa", 1)}, None, r"distance\['name'\] must be a distance or"),
        (PAIR, {"age": ("absolute", {"p": 1})}, None, r"distance\['age'\] is wrong: .*no param"),
        (PAIR, {"age": "dtw"}, None, r"distance\['age'\] is 'dtw', but X\['age'\] holds numbers"),
        (PAIR, {"city": "absolute"}, None, r"distance\['city'\] is 'absolute', .*'equal'"),
        (PAIR, {"name": "absolute"}, None, r"distance\['name'\] is 'absolute', .*'levenshtein'"),
        (PAIR | {"age": [1, None]}, {"age": "absolute"}, None, r"X\['age'\]\[1\] is missing"),
        (["a", "b"], {"name": "osa"}, None, "X must be a dict of columns or a data frame"),
        (PAIR, {"age": "absolute"}, [1], "weights must be a dict"),
        (PAIR, {"age": "absolute"}, {"name": 1, "age": 1}, "weights names the column 'name'"),
        (PAIR, {"age": "absolute"}, {}, "weights has no weight of the column 'age'"),
        (PAIR, {"age": "absolute"}, {"age": 0}, "weights are all 0"),
    ],
)
def test_bad_columns_are_named(X, distance, weights, message):
    with pytest.raises((TypeError, ValueError), match=message):
        d2ke.distance_matrix(X, distance=distance, weights=weights)
    if weights is None:
        with pytest.raises((TypeError, ValueError), match=message):
            d2ke.distances.column_weights(X, distance=distance)


def test_columns_of_y_are_named():
    with pytest.raises(ValueError, match="names the column 'age', but Y has 'name'"):
        d2ke.nearest(PAIR, {"name": ["a"]}, k=1, distance={"age": "absolute"})
    with pytest.raises(TypeError, match=r"Y\['name'\] holds numbers"):
        d2ke.nearest(PAIR, {"name": [1.0]}, k=1, distance={"name": "osa"})
    with pytest.raises(TypeError, match="records have no parameter 'window'"):
        d2ke.distance_matrix(PAIR, distance={"name": "osa"}, window=1)


def test_a_function_that_fails_in_the_sample_is_named():
    distance = {"age": lambda a, b: -1}
    with pytest.raises(ValueError, match=r"distance\['age'\] fails in the sample.*got -1"):
        d2ke.distance_matrix(PAIR, distance=distance)


def test_a_sum_beyond_the_largest_number_is_infinite():
    X = {"a": [0.0, 1e300], "b": ["x", "y"]}
    distance = {"a": "absolute", "b": "levenshtein"}
    D = d2ke.distance_matrix(X, distance=distance, weights={"a": 1e10, "b": 1.0})
    assert D.tolist() == [[0, np.inf], [np.inf, 0]]
