# SPDX-License-Identifier: BSD-3-Clause
import numpy as np
import pytest

pytest.importorskip("sklearn", minversion="1.6")

import d2ke
from d2ke.estimators import CDSK, LPDSK, DistanceHDBSCAN, DistanceKMedoids

X = ["".join(np.random.default_rng(i).choice(list("ab" if i % 2 else "cd"), 5)) for i in range(40)]


def test_medoids_are_those_of_the_function():
    model = DistanceKMedoids(3, random_state=5).fit(X)
    found = d2ke.kmedoids(X, 3, distance="levenshtein", seed=5)
    assert np.array_equal(model.labels_, found.labels)
    assert model.inertia_ == found.loss
    assert list(model.medoids_) == [X[i] for i in model.medoid_indices_]
    assert np.array_equal(model.predict(X), found.labels)


def test_clusters_are_those_of_the_function():
    options = {"min_samples": 2, "cluster_selection_epsilon": 1.0}
    model = DistanceHDBSCAN(4, distance_params={"normalize": True}, **options).fit(X)
    found = d2ke.hdbscan(X, min_cluster_size=4, distance="levenshtein", normalize=True, **options)
    assert np.array_equal(model.labels_, found.labels)
    assert np.array_equal(model.probabilities_, found.probabilities)


def test_a_function_of_anything():
    model = DistanceKMedoids(2, distance=lambda a, b: abs(a - b), metric=True, random_state=0)
    assert model.fit_predict([1, 2, 8, 9, 3]).tolist() == [0, 0, 1, 1, 0]
    assert model.predict([7]).tolist() == [1]


@pytest.mark.parametrize("gamma", [0.3, 2.0])
def test_similarities_of_a_width_are_those_of_the_function(gamma):
    D = d2ke.distance_matrix(X, distance="levenshtein")
    K, K_new = np.exp(-gamma * D), np.exp(-gamma * D[:7])
    clusters = d2ke.cdsk(K, 2, similarity="general")
    model = CDSK(2, gamma=gamma, distance="levenshtein").fit(X)
    assert np.array_equal(model.labels_, clusters.labels)
    assert np.array_equal(model.predict(X[:7]), d2ke.discriminative_predict(clusters, K_new))
    y = np.r_[0, 1, np.full(38, -1)]
    spread = d2ke.lpdsk(K, y, similarity="general")
    model = LPDSK(gamma=gamma, distance="levenshtein").fit(X, y)
    assert np.array_equal(model.predict(X[:7]), d2ke.discriminative_predict(spread, K_new))
