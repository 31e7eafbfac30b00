# SPDX-License-Identifier: BSD-3-Clause
"""k-means."""

import numpy as np
import pytest
from discriminative_cases import SEEDS
from hypothesis import given

import d2ke
from d2ke.discriminative import kmeans


@given(SEEDS)
def test_kmeans(seed):
    rng = np.random.default_rng(seed)
    V = np.round(rng.normal(size=(12, 2)))  # equal rows among them
    codes = kmeans.kmeans(V, 3, rng)
    assert sorted(set(codes.tolist())) == [0, 1, 2]
    assert (kmeans.in_order(codes) == codes).all()
    centres = np.array([V[codes == k].mean(axis=0) for k in range(3)])
    D = ((V[:, None] - centres) ** 2).sum(axis=2)
    own = D[np.arange(12), codes]
    assert own == pytest.approx(D.min(axis=1), abs=1e-9)  # no object is nearer to another
    others = (rng.integers(0, 3, 12) for _ in range(200))
    costs = [
        sum(((V[part == k] - V[part == k].mean(axis=0)) ** 2).sum() for k in set(part.tolist()))
        for part in others
    ]
    assert own.sum() <= 1.1 * min(costs)


def test_kmeans_of_fewer_different_rows_than_clusters():
    V = np.repeat([[0.0, 0.0], [1.0, 1.0]], 5, axis=0)
    assert len(set(kmeans.kmeans(V, 3, np.random.default_rng(0)).tolist())) == 3


def test_kmeans_of_many_rows():
    """The runs on some of the rows end where all rows agree, also for a small cluster."""
    rng = np.random.default_rng(0)
    y = np.r_[np.arange(8000) % 4, np.full(40, 4)]
    V = np.array([[0, 0], [4, 0], [0, 4], [4, 4], [12, 12]])[y] + rng.normal(size=(8040, 2))
    codes = kmeans.kmeans(V, 5, np.random.default_rng(1))
    assert (codes == kmeans.kmeans(V, 5, np.random.default_rng(1))).all()
    assert (kmeans.in_order(codes) == codes).all()
    assert d2ke.discriminative.clustering_accuracy(y, codes) > 0.94
    centres = np.array([V[codes == k].mean(axis=0) for k in range(5)])
    D = ((V[:, None] - centres) ** 2).sum(axis=2)
    assert D[np.arange(8040), codes] == pytest.approx(D.min(axis=1), abs=1e-9)
