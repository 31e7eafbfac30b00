# SPDX-License-Identifier: BSD-3-Clause
"""Nearest neighbours against a loop that states the rules for ties."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import examples

from d2ke.learners.neighbors import knn_predict, knn_shares


def naive(D, y, k):
    """Sort by (distance, index), count votes, prefer the class that comes first among the best."""
    predicted = []
    for row in D:
        nearest = sorted(range(len(row)), key=lambda j: (row[j], j))[:k]
        labels = [y[j] for j in nearest]
        most = max(labels.count(label) for label in labels)
        predicted.append(next(label for label in labels if labels.count(label) == most))
    return predicted


@settings(max_examples=examples(300), deadline=None)
@given(st.data())
def test_against_the_naive_loop(data):
    m, n = data.draw(st.integers(1, 6)), data.draw(st.integers(1, 12))
    # Few distinct distances: most rows have ties, also at the k-th place.
    distance = st.sampled_from([0.0, 0.5, 1.0, 2.0, np.inf])
    D = np.array(data.draw(st.lists(distance, min_size=m * n, max_size=m * n))).reshape(m, n)
    y = data.draw(st.lists(st.sampled_from(["x", "a", "m", "b"]), min_size=n, max_size=n))
    k = data.draw(st.integers(1, n))
    dtype = data.draw(st.sampled_from([np.float64, np.float32]))
    assert knn_predict(y, D.astype(dtype), k).tolist() == naive(D, y, k)
    classes, codes = np.unique(y, return_inverse=True)
    shares = knn_shares(D.astype(dtype), codes, k)
    assert shares.shape == (m, len(classes))
    for row, of_row in zip(D, shares, strict=True):
        nearest = sorted(range(n), key=lambda j: (row[j], j))[:k]
        votes = [sum(y[j] == name for j in nearest) for name in classes]
        assert of_row.tolist() == [count / k for count in votes]


def test_nearest_is_the_first_of_equals():
    D = np.zeros((2, 4))
    assert knn_predict([7, 1, 1, 1], D).tolist() == [7, 7]


def test_labels_keep_their_type():
    D = np.array([[1.0, 0.0]])
    assert knn_predict(np.array([1.5, 2.5], np.float32), D).dtype == np.float32
    assert knn_predict([2**40, 2**41], D).tolist() == [2**41]
    assert knn_predict(["same", "same"], D, 2).tolist() == ["same"]
