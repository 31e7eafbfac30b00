# SPDX-License-Identifier: BSD-3-Clause
"""Outlier scores beside their definition, and beside scikit-learn's local outlier factor."""

import numpy as np
import pytest
from neighbor_cases import by_sorting

import d2ke
from d2ke.distances.registry import BY_NAME


def walks(n, seed=0):
    rng = np.random.default_rng(seed)
    lengths = rng.integers(6, 12, n)
    return d2ke.pack([rng.normal(size=(length, 2)).cumsum(axis=0) for length in lengths])


@pytest.mark.parametrize("distance", ["dtw", "twe", "msm", "mhd", "directed_mhd", "emd"])
@pytest.mark.parametrize("k", [1, 7])
def test_of_the_definition_and_of_scikit_learn(distance, k):
    LocalOutlierFactor = pytest.importorskip("sklearn.neighbors").LocalOutlierFactor
    X = walks(60)
    D = d2ke.distance_matrix(X, distance=distance)
    near = by_sorting(D, k, same=True, skip=True)[1]
    scores = d2ke.outlier_scores(X, k=k, distance=distance)
    np.testing.assert_allclose(scores, near.mean(axis=1), rtol=1e-12)
    lof = LocalOutlierFactor(k, metric="precomputed").fit(D)
    scores = d2ke.outlier_scores(X, k=k, distance=distance, method="lof")
    np.testing.assert_allclose(scores, -lof.negative_outlier_factor_, rtol=1e-7)


@pytest.mark.parametrize("method", ["knn", "lof"])
def test_an_outlier_among_strings_by_every_distance(method):
    rng = np.random.default_rng(0)
    words = ["".join(rng.choice(list("ab"), 8)) for _ in range(20)] + ["zzzzzzzz"]
    names = [name for name, row in BY_NAME.items() if row.kind == "strings"]
    for name in set(names) - {"weighted_levenshtein"}:
        scores = d2ke.outlier_scores(words, k=3, distance=name, method=method)
        assert scores.argmax() == 20, name


def test_equal_objects_and_scales():
    words = ["a"] * 5 + ["b", "cde"]
    scores = d2ke.outlier_scores(words, k=2, distance="levenshtein", method="lof")
    np.testing.assert_allclose(scores[:5], 1, rtol=1e-12)
    assert np.isfinite(scores).all()
    assert 1e6 < scores[5] < scores[6]
    same = d2ke.outlier_scores(["a"] * 5, k=2, distance="levenshtein", method="lof")
    assert same.tolist() == [1.0] * 5
    x = np.random.default_rng(0).normal(size=(30, 1))
    found = [
        d2ke.outlier_scores(d2ke.pack(list(x * scale)), k=3, distance="dtw", method="lof")
        for scale in (1.0, 2.0**-60)
    ]
    np.testing.assert_allclose(*found, rtol=1e-9)
