# SPDX-License-Identifier: BSD-3-Clause
"""`DistanceNearestNeighbors` beside scikit-learn's `NearestNeighbors` of the same distances."""

import pickle

import numpy as np
import pytest

pytest.importorskip("sklearn", minversion="1.6")

from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.neighbors import NearestNeighbors

import d2ke
from d2ke.estimators import DistanceNearestNeighbors

WORDS = list(d2ke.samplers.random_strings(60, "abc", length=(2, 9), seed=0))
NEW = list(d2ke.samplers.random_strings(20, "abc", length=(2, 9), seed=1))
D = d2ke.distance_matrix(WORDS, distance="levenshtein")
D_NEW = d2ke.distance_matrix(NEW, WORDS, distance="levenshtein")
QUERIES = [(None, None), (NEW, D_NEW)]


@pytest.mark.parametrize(("X", "theirs"), QUERIES)
def test_nearest(X, theirs):
    ours = DistanceNearestNeighbors().fit(WORDS)
    for k in (None, 1, 7):
        wanted, _ = NearestNeighbors(metric="precomputed").fit(D).kneighbors(theirs, k)
        distances, indices = ours.kneighbors(X, k)
        assert np.array_equal(distances, wanted)
        assert np.array_equal(indices, d2ke.nearest(
            WORDS if X is None else X, None if X is None else WORDS, k=k or 5,
            distance="levenshtein",
        )[0])  # fmt: skip
        assert np.array_equal(ours.kneighbors(X, k, return_distance=False), indices)


@pytest.mark.parametrize("sort_results", [False, True])
@pytest.mark.parametrize(("X", "theirs"), QUERIES)
def test_within_a_radius(X, theirs, sort_results):
    ours = DistanceNearestNeighbors().fit(WORDS)
    for radius in (None, 0, 4):
        near = NearestNeighbors(metric="precomputed").fit(D)
        wanted = near.radius_neighbors(theirs, radius, sort_results=sort_results)
        found = ours.radius_neighbors(X, radius, sort_results=sort_results)
        assert [rows.shape for rows in found] == [rows.shape for rows in wanted]
        for ours_d, ours_i, d, i in zip(*found, *wanted, strict=True):
            if sort_results:  # theirs has ties in any order
                assert np.array_equal(ours_d, d)
                assert sorted(zip(ours_d, ours_i, strict=True)) == [
                    *zip(ours_d, ours_i, strict=True)
                ]
            assert dict(zip(ours_i, ours_d, strict=True)) == dict(zip(i, d, strict=True))
        alone = ours.radius_neighbors(X, radius, return_distance=False)
        assert {*map(tuple, alone)} == {*map(tuple, ours.radius_neighbors(X, radius)[1])}


def test_rows_of_one_length_stay_rows():
    found = DistanceNearestNeighbors(distance="hamming", radius=9).fit(["aa", "ab"])
    distances, indices = found.radius_neighbors(["aa", "bb", "ba"])
    assert (distances.shape, indices.shape) == ((3,), (3,))
    assert [row.tolist() for row in indices] == [[0, 1]] * 3


def test_a_function_and_parameters():
    def apart(x, y):
        return abs(x - y)

    points = np.random.default_rng(0).normal(size=200).tolist()
    model = DistanceNearestNeighbors(3, distance=apart, metric=True).fit(points)
    wanted = d2ke.nearest(points, k=3, distance=apart)
    assert np.array_equal(model.kneighbors()[1], wanted[0])
    series = np.random.default_rng(0).normal(size=(30, 20))
    model = DistanceNearestNeighbors(distance_params={"window": 2}).fit(series)
    wanted = d2ke.nearest(series, k=5, distance="dtw", window=2)
    assert np.array_equal(model.kneighbors()[0], wanted[1])


def test_copies_and_errors():
    model = DistanceNearestNeighbors(2).fit(WORDS)
    again = pickle.loads(pickle.dumps(model))
    assert np.array_equal(again.kneighbors(NEW)[1], model.kneighbors(NEW)[1])
    pickle.loads(pickle.dumps(clone(model)))
    with pytest.raises(NotFittedError):
        clone(model).kneighbors(NEW)
    with pytest.raises(ValueError, match=r"n_neighbors must be .* 59"):
        model.kneighbors(n_neighbors=60)
    assert model.kneighbors(NEW, 60)[0].shape == (20, 60)
    with pytest.raises(ValueError, match=r"n_neighbors must be .* 60"):
        model.kneighbors(NEW, 61)
    with pytest.raises(ValueError, match="radius"):
        model.radius_neighbors(NEW, -1)
