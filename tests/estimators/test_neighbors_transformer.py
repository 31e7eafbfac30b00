# SPDX-License-Identifier: BSD-3-Clause
"""Graphs of neighbours in scikit-learn's own estimators."""

import pytest

pytest.importorskip("sklearn", minversion="1.6")

from sklearn.neighbors import (
    KNeighborsTransformer,
    RadiusNeighborsTransformer,
)

import d2ke
from d2ke.estimators import DistanceNeighborsTransformer

WORDS = list(d2ke.samplers.random_strings(60, "abc", length=(2, 9), seed=0))
NEW = list(d2ke.samplers.random_strings(20, "abc", length=(2, 9), seed=1))
D = d2ke.distance_matrix(WORDS, distance="levenshtein")
D_NEW = d2ke.distance_matrix(NEW, WORDS, distance="levenshtein")


def same_graphs(one, other):
    """Rows tie in different orders, but have the same distances."""
    assert one.shape == other.shape
    assert (one.indptr == other.indptr).all()
    assert (one.data == other.data).all()


def test_as_the_transformers_of_precomputed_distances():
    theirs = KNeighborsTransformer(n_neighbors=4, metric="precomputed").fit(D)
    ours = DistanceNeighborsTransformer(4).fit(WORDS)
    same_graphs(ours.transform(NEW), theirs.transform(D_NEW))
    same_graphs(ours.fit_transform(WORDS), theirs.fit_transform(D))
    theirs = RadiusNeighborsTransformer(radius=3, metric="precomputed").fit(D)
    ours = DistanceNeighborsTransformer(radius=3).fit(WORDS)
    same_graphs(ours.transform(NEW), theirs.transform(D_NEW))
    same_graphs(ours.fit_transform(WORDS), theirs.fit_transform(D))


def test_a_metric_of_the_users():
    calls = []

    def apart(x, y):
        calls.append(1)
        return abs(len(x) - len(y)) + float(x != y)

    wanted = DistanceNeighborsTransformer(3, distance=apart).fit_transform(WORDS)
    assert len(calls) == len(WORDS) * (len(WORDS) + 1) // 2
    graph = DistanceNeighborsTransformer(3, distance=apart, metric=True).fit_transform(WORDS)
    assert (graph != wanted).nnz == 0
    with pytest.raises(TypeError, match="metric goes with a Python distance"):
        DistanceNeighborsTransformer(3, metric=True).fit_transform(WORDS)


def test_errors():
    with pytest.raises(ValueError, match="n_neighbors or radius"):
        DistanceNeighborsTransformer(3, radius=1.0).fit(WORDS)
    with pytest.raises(ValueError, match="less than the 60 training objects, got 60"):
        DistanceNeighborsTransformer(60).fit_transform(WORDS)
