# SPDX-License-Identifier: BSD-3-Clause
"""Graphs of neighbours in scikit-learn's own estimators."""

import pickle

import numpy as np
import pytest

pytest.importorskip("sklearn", minversion="1.6")

from sklearn.cluster import DBSCAN
from sklearn.manifold import TSNE
from sklearn.neighbors import (
    KNeighborsClassifier,
    KNeighborsTransformer,
    RadiusNeighborsTransformer,
)
from sklearn.pipeline import make_pipeline

import d2ke
from d2ke.estimators import DistanceKNeighborsClassifier, DistanceNeighborsTransformer

WORDS = list(d2ke.random_strings(60, "abc", length=(2, 9), seed=0))
NEW = list(d2ke.random_strings(20, "abc", length=(2, 9), seed=1))
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
    options = {"distance": lambda x, y: (len(x) - len(y)) ** 2, "metric": True}
    with pytest.raises(ValueError, match="no metric"):
        DistanceNeighborsTransformer(1, **options).fit_transform(WORDS)


def test_in_a_pipeline():
    labels = np.array([len(word) > 5 for word in WORDS])
    classifier = KNeighborsClassifier(n_neighbors=1, metric="precomputed")
    model = make_pipeline(DistanceNeighborsTransformer(3, n_threads=1), classifier)
    assert model.fit(WORDS, labels).score(WORDS, labels) == 1
    assert (pickle.loads(pickle.dumps(model)).predict(NEW) == model.predict(NEW)).all()


# Some versions say that sorting the rows by distance would be faster.
@pytest.mark.filterwarnings("ignore:Precomputed sparse input was not sorted")
def test_clusters_of_a_graph():
    graph = d2ke.within(WORDS, radius=2, distance="levenshtein")
    wanted = DBSCAN(eps=2, metric="precomputed").fit_predict(D)
    assert (DBSCAN(eps=2, metric="precomputed").fit_predict(graph) == wanted).all()


def test_tsne_takes_the_graph():
    model = make_pipeline(
        DistanceNeighborsTransformer(40),
        TSNE(metric="precomputed", init="random", perplexity=10, max_iter=250),
    )
    assert model.fit_transform(WORDS).shape == (60, 2)


def test_errors():
    with pytest.raises(ValueError, match="n_neighbors or radius"):
        DistanceNeighborsTransformer(3, radius=1.0).fit(WORDS)
    with pytest.raises(ValueError, match="less than the 60 training objects, got 60"):
        DistanceNeighborsTransformer(60).fit_transform(WORDS)
    with pytest.raises(ValueError, match="radius must be a finite number >= 0, got -1"):
        DistanceNeighborsTransformer(radius=-1.0).fit_transform(WORDS)


@pytest.mark.parametrize("k", [1, 3, 60])
def test_classes_of_the_nearest_are_those_of_all_distances(k):
    labels = np.array([len(word) // 3 for word in WORDS])
    model = DistanceKNeighborsClassifier(k).fit(WORDS, labels)
    whole = DistanceKNeighborsClassifier(k, distance="precomputed").fit(D, labels)
    assert (model.predict(NEW) == d2ke.knn_predict(labels, D_NEW, k)).all()
    assert (model.predict_proba(NEW) == whole.predict_proba(D_NEW)).all()
