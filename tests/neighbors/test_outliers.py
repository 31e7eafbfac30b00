# SPDX-License-Identifier: BSD-3-Clause
"""Outlier scores beside their definition, and beside scikit-learn's local outlier factor."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from neighbor_cases import by_sorting
from reference import examples

import d2ke


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


def naive_lof(D, keys, k):
    """The factor by its definition; `keys` say which objects are equal."""
    n, firsts = len(D), [i for i, key in enumerate(keys) if key not in keys[:i]]
    k = min(k, len(firsts) - 1)

    def nearest(p):
        others = [i for i in firsts if keys[i] != keys[p]]
        return sorted(others, key=lambda i: (D[p, i], i))[:k]

    def neighbours(p):
        near = {keys[i] for i in (*nearest(p), p)}
        return [i for i in range(n) if keys[i] in near and i != p]

    reach = [np.mean([max(D[p, o], D[o, nearest(o)[-1]]) for o in neighbours(p)]) for p in range(n)]
    least = min((value for value in reach if value > 0), default=2.0) / 2
    reach = [max(value, least) for value in reach]
    return [reach[p] * np.mean([1 / reach[o] for o in neighbours(p)]) for p in range(n)]


@settings(max_examples=examples(100), deadline=None)
@given(
    words=st.lists(st.text("ab", max_size=4), min_size=2, max_size=30),
    k=st.integers(1, 29),
    distance=st.sampled_from(["levenshtein", "jaccard"]),
)
def test_lof_counts_distinct_neighbours(words, k, distance):
    k = min(k, len(words) - 1)
    D = d2ke.distance_matrix(words, distance=distance)
    scores = d2ke.outlier_scores(words, k=k, distance=distance, method="lof")
    wanted = naive_lof(D, words, k) if len(set(words)) > 1 else np.ones(len(words))
    np.testing.assert_allclose(scores, wanted, rtol=1e-9)
    for word in set(words):
        assert (
            len({score for score, other in zip(scores, words, strict=True) if other == word}) == 1
        )


def test_scores_beside_many_equal_objects_are_moderate():
    words = ["kitten"] * 50 + ["mitten", "sitten", "bitten", "zoology"]
    scores = d2ke.outlier_scores(words, k=2, distance="levenshtein", method="lof")
    assert scores.argmax() == 53
    assert scores.max() < 10
    same = d2ke.outlier_scores(["a"] * 5, k=2, distance="levenshtein", method="lof")
    assert same.tolist() == [1.0] * 5
