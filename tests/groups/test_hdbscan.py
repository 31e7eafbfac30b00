# SPDX-License-Identifier: BSD-3-Clause

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import examples
from tree_cases import drawn, walks

import d2ke


def mutual(D, min_samples):
    """Return core distances, and the matrix of mutual reachability distances."""
    others = np.sort(D + np.diag(np.full(len(D), -1.0)), axis=1)[:, 1:]
    core = others[:, min(min_samples, len(D) - 1) - 1]
    return core, np.maximum(D, np.maximum.outer(core, core))


def same_clusters(ours, theirs):
    pairs = np.unique(np.column_stack([ours, theirs]), axis=0)
    return len(pairs) == len(np.unique(ours)) == len(np.unique(theirs)) and np.array_equal(
        ours < 0, theirs < 0
    )


def shifted(name, seed, n):
    X, options, _ = drawn(name, seed, n)
    X = [item + i % 3 * 2.0 for i, item in enumerate(X)]
    return X, options, d2ke.distance_matrix(X, **options)


@pytest.mark.parametrize("name", ["dtw", "hausdorff", "emd"])
@settings(max_examples=examples(40), deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(12, 80),
    size=st.integers(2, 6),
)
def test_clusters_are_scikit_learn_s(name, seed, n, size):
    cluster = pytest.importorskip("sklearn.cluster")
    X, options, D = shifted(name, seed, n)
    found = d2ke.hdbscan(X, min_cluster_size=size, min_samples=1, **options)  # no ties
    theirs = cluster.HDBSCAN(size, min_samples=2, metric="precomputed", copy=True).fit(D)
    assert same_clusters(found.labels, theirs.labels_)
    assert found.probabilities == pytest.approx(theirs.probabilities_)


@pytest.mark.parametrize("name", ["dtw", "hausdorff", "levenshtein", "hausdorff ties"])
@settings(max_examples=examples(40), deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(2, 80),
    size=st.integers(2, 6),
    min_samples=st.integers(1, 5),
)
def test_clusters_of_a_linkage_are_scikit_learn_s(name, seed, n, size, min_samples):
    theirs = pytest.importorskip("sklearn.cluster._hdbscan._tree")
    X, options, _ = drawn(name, seed, n)
    found = d2ke.hdbscan(X, min_cluster_size=size, min_samples=min_samples, **options)
    Z = found.tree.linkage()
    if (Z[:, 2] == 0).any():
        return  # here they are never split
    linkage = np.zeros(len(Z), theirs.HIERARCHY_dtype)
    for field, column in zip(linkage.dtype.names, Z.T, strict=True):
        linkage[field] = column
    labels, probabilities = theirs.tree_to_labels(linkage, size)
    assert same_clusters(found.labels, labels)
    assert found.probabilities == pytest.approx(probabilities)


@settings(max_examples=examples(40), deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(12, 80),
    size=st.integers(2, 6),
    share=st.sampled_from([0.1, 0.3, 0.6, 2]),
)
def test_epsilon_is_that_of_the_package(seed, n, size, share):
    package = pytest.importorskip("hdbscan")
    X, options, D = shifted("dtw", seed, n)
    params = {"min_cluster_size": size, "cluster_selection_epsilon": float(share * np.median(D))}
    found = d2ke.hdbscan(X, min_samples=1, **params, **options)
    theirs = package.HDBSCAN(
        min_samples=1, metric="precomputed", algorithm="generic", **params
    ).fit(D)
    assert same_clusters(found.labels, theirs.labels_)
    assert found.probabilities == pytest.approx(theirs.probabilities_)


def test_epsilon_leaves_near_clusters_whole():
    X = [0, 1, 2, 5, 6, 7, 30, 31, 32, 60, 61, 63]
    options = {"min_cluster_size": 3, "min_samples": 1, "distance": lambda a, b: abs(a - b)}
    found = d2ke.hdbscan(X, **options)
    assert found.labels.tolist() == [0] * 3 + [1] * 3 + [2] * 3 + [3] * 3
    found = d2ke.hdbscan(X, cluster_selection_epsilon=4, **options)
    assert found.labels.tolist() == [0] * 6 + [1] * 3 + [2] * 3


def test_clusters_are_numbered_by_their_first_objects_and_have_examples():
    rng = np.random.default_rng(0)
    X = [walk + 50.0 * (1 - i % 2) for i, walk in enumerate(walks(rng, 60))]
    found = d2ke.hdbscan(X, min_cluster_size=10, distance="hausdorff")
    first = [np.flatnonzero(found.labels == c)[0] for c in range(found.labels.max() + 1)]
    assert first == sorted(first)
    assert np.array_equal(found.labels[found.examples], np.arange(len(first)))
    for c, example in enumerate(found.examples):
        core = found.core_distances[found.labels == c]
        assert found.core_distances[example] == core.min()


def test_equal_objects_are_one_cluster():
    found = d2ke.hdbscan(["ab"] * 8 + ["xyz"] * 9, min_samples=2, distance="levenshtein")
    assert found.labels.tolist() == [0] * 8 + [1] * 9
    assert (found.probabilities == 1).all()
    assert d2ke.hdbscan(["ab"] * 8, distance="levenshtein").labels.tolist() == [-1] * 8
    assert d2ke.hdbscan(["ab"], distance="levenshtein").labels.tolist() == [-1]
