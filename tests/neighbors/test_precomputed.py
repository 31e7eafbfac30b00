# SPDX-License-Identifier: BSD-3-Clause
"""Searches in a matrix of distances, and matrices that are taken for something else."""

import numpy as np
import pandas as pd
import pytest

import d2ke
from d2ke.estimators import (
    DistanceKNeighborsClassifier,
    PseudoEuclidean,
    SimilarityMachineClassifier,
)

RNG = np.random.default_rng(0)
WORDS = ["".join(RNG.choice(list("abc"), 5)) for _ in range(40)]
D = d2ke.distance_matrix(WORDS, distance="levenshtein")
LABELS = np.arange(40) % 2

SEARCHES = {
    "nearest": lambda X, **of: d2ke.nearest(X, k=3, **of),
    "nearest with itself": lambda X, **of: d2ke.nearest(X, k=3, include_self=True, **of),
    "within": lambda X, **of: d2ke.within(X, radius=2, **of).toarray(),
    "knn outliers": lambda X, **of: d2ke.outlier_scores(X, k=3, **of),
    "lof": lambda X, **of: d2ke.outlier_scores(X, k=3, method="lof", **of),
    "dbscan": lambda X, **of: d2ke.dbscan(X, 1, 2, **of).labels,
    "hdbscan": lambda X, **of: d2ke.hdbscan(X, **of).labels,
    "kmedoids": lambda X, **of: d2ke.kmedoids(X, 3, **of).labels,
    "kmedoids of samples": lambda X, **of: d2ke.kmedoids(X, 3, sample_size=20, **of).labels,
    "single_linkage": lambda X, **of: d2ke.single_linkage(X, **of),
}
EVERY = pytest.mark.parametrize("search", SEARCHES.values(), ids=SEARCHES)


@EVERY
@pytest.mark.parametrize("container", [np.asarray, np.float32, pd.DataFrame, np.ndarray.tolist])
def test_a_matrix_gives_what_its_objects_give(search, container):
    distinct = list(dict.fromkeys(WORDS))
    matrix = d2ke.distance_matrix(distinct, distance="levenshtein")
    expected = search(distinct, distance="levenshtein")
    found = search(container(matrix), distance="precomputed")
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_distances_to_other_objects_have_their_objects_as_y():
    expected = d2ke.nearest(WORDS[:5], WORDS, k=3, distance="levenshtein")
    for Y in (WORDS, D, range(40)):
        found = d2ke.nearest(D[:5], Y, k=3, distance="precomputed")
        np.testing.assert_array_equal(found, expected)


def test_a_matrix_that_is_not_symmetric_is_read_as_it_is_by_neighbours_only():
    skew = D.copy()
    skew[3, 4] = 0.5
    indices, distances = d2ke.nearest(skew, k=1, distance="precomputed")
    assert (indices[3, 0], distances[3, 0], distances[4, 0]) == (4, 0.5, np.sort(D[4])[1])
    with pytest.raises(d2ke.ArgumentError, match=r"symmetric, but X\[3, 4\] is 0.5"):
        d2ke.hdbscan(skew, distance="precomputed")


def test_rounding_is_no_similarity():
    rounded = D + 1e-12 * RNG.standard_normal(D.shape)
    rounded = np.abs(rounded)
    found = d2ke.single_linkage(rounded, distance="precomputed")
    np.testing.assert_allclose(found[:, 2], d2ke.single_linkage(D, distance="precomputed")[:, 2])


@EVERY
@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (np.exp(-D), r"X\[0, 0\] is 1.0, but the distance of an object to itself is 0"),
        (np.where(np.eye(40), 0, -D), r"X\[0, 1\] is -.*distances must be >= 0"),
        (np.where(np.arange(40) == 7, np.nan, D), r"nan at position \(0, 7\)"),
        (np.where(np.arange(40) == 7, np.inf, D), r"inf at position \(0, 7\)"),
        (D[:5], r"X has shape \(5, 40\)"),
        (D[0], r"X must be two-dimensional, got shape \(40,\)"),
    ],
)
def test_no_distances(search, wrong, message):
    with pytest.raises(d2ke.ArgumentError, match=message):
        search(wrong, distance="precomputed")


def test_distances_to_other_objects_are_as_many_as_these():
    with pytest.raises(d2ke.ArgumentError, match="X has 40 columns, but Y has 5 objects"):
        d2ke.nearest(D, WORDS[:5], k=1, distance="precomputed")
    with pytest.raises(TypeError, match="no parameters, got 'window'"):
        d2ke.nearest(D, k=1, distance="precomputed", window=3)


@EVERY
def test_distances_given_as_objects(search):
    for X in (D, D.tolist(), d2ke.pack(D)):
        with pytest.warns(UserWarning, match='X looks like a matrix.*distance="precomputed"'):
            search(X)


@pytest.mark.parametrize("name", ["DistanceKNeighbors", "SimilarityMachine"])
def test_distances_given_as_objects_of_an_estimator(name):
    estimators = pytest.importorskip("d2ke.estimators")
    with pytest.warns(UserWarning, match="X looks like a matrix of distances"):
        getattr(estimators, f"{name}Classifier")().fit(D, np.arange(len(D)) % 2)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("X", [D[:, ::-1], D[:20], np.exp(-D), np.zeros((3, 3)), WORDS])
def test_other_objects_are_no_distances(X):
    d2ke.nearest(X, k=1)


SIMILARITIES = np.exp(-D / 3)
REFUSED = {
    "cdsk": lambda S: d2ke.cdsk(distances=S, n_clusters=2),
    "cdsk with h": lambda S: d2ke.cdsk(distances=S, n_clusters=2, h=1.0),
    "lpdsk": lambda S: d2ke.lpdsk(distances=S, y=[0, 1, *[-1] * 38]),
    "neighbor_similarities": lambda S: d2ke.discriminative.neighbor_similarities(distances=S),
    "gdk_led": lambda S: d2ke.gdk_led(S, 2),
    "dsk_gram": lambda S: d2ke.dsk_gram(S, gamma=1.0),
    "dsk_gram nd": lambda S: d2ke.dsk_gram(S, kind="nd"),
    "knn_predict": lambda S: d2ke.knn_predict(LABELS, S),
    "kNN": lambda S: DistanceKNeighborsClassifier(distance="precomputed").fit(S, LABELS),
    "PseudoEuclidean": lambda S: PseudoEuclidean(distance="precomputed").fit(S),
}


@pytest.mark.parametrize("method", REFUSED.values(), ids=REFUSED)
def test_similarities_given_as_distances(method):
    method(D)
    with pytest.raises(d2ke.ArgumentError, match=r"\[0, 0\] is 1.0, but the distance of an object"):
        method(SIMILARITIES)


@pytest.mark.parametrize(
    "method",
    [
        lambda S: d2ke.similarity_machine_fit(S, LABELS),
        lambda S: SimilarityMachineClassifier(affinity="precomputed").fit(S, LABELS),
        lambda S: d2ke.cdsk(S, 2),
        lambda S: d2ke.discriminative.kernel_classifier_fit(S, LABELS),
        lambda S: d2ke.measures.gram_two_sample_test(S, 20),
    ],
    ids=["machine", "SimilarityMachineClassifier", "cdsk", "kernel classifier", "two-sample"],
)
def test_distances_given_as_similarities(method):
    method(SIMILARITIES)
    with pytest.raises(d2ke.ArgumentError, match="zeros on its diagonal, as distances have"):
        method(D)
