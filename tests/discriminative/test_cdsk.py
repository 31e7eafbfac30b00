# SPDX-License-Identifier: BSD-3-Clause
"""Clustering by discriminative similarity, the paper's errata, and bad input."""

from contextlib import nullcontext

import numpy as np
import pytest
from discriminative_cases import GOOD, MARKED, blobs
from scipy.sparse import csr_array

import d2ke
from d2ke.discriminative import kmeans, similarity_graph
from d2ke.discriminative.similarity_graph import DenseKernel


def test_scale_of_the_kernel_does_not_matter():
    X, _ = blobs(60, spread=1.0)
    K = d2ke.discriminative.gaussian_gram(X, h=1.0)
    a, b = d2ke.cdsk(K, 3), d2ke.cdsk(8 * K, 3)
    assert (a.labels == b.labels).all()
    assert b.objectives == pytest.approx(8 * a.objectives)


def test_a_few_far_objects_are_not_a_cluster():
    X, y = blobs(120, c=2, spread=0.7)
    X = np.r_[X, [[40.0, 40.0]]]
    y = np.r_[y, 0]
    assert np.bincount(d2ke.cdsk(points=X, h=1.0, n_clusters=2, smoothing=0).labels).min() == 1
    found = d2ke.cdsk(points=X, h=1.0, n_clusters=2)
    assert d2ke.discriminative.clustering_accuracy(y, found.labels) > 0.95


@pytest.mark.parametrize("variant", ["hard", "relaxed"])
def test_features_cluster_and_propagate_as_their_product(variant):
    X, y = blobs(90)
    omega, _ = blobs(40, seed=1, spread=1.0)
    Z = d2ke.d2ke_features(np.linalg.norm(X[:, None] - omega, axis=2), gamma=1.0)
    K = Z @ Z.T
    a = d2ke.cdsk(K, 3, variant=variant)
    b = d2ke.cdsk(features=Z, n_clusters=3, variant=variant)
    assert d2ke.discriminative.clustering_accuracy(y, a.labels) == 1
    assert (a.labels == b.labels).all()
    assert b.objectives == pytest.approx(a.objectives, rel=1e-3)
    given_labels = np.where(np.arange(90) < 3, y, -1)
    a = d2ke.lpdsk(K, given_labels, variant=variant, max_iter=1)
    b = d2ke.lpdsk(features=Z, y=given_labels, variant=variant, max_iter=1)
    assert (a.labels == b.labels).all()
    assert b.scores == pytest.approx(a.scores, abs=1e-7)


@pytest.mark.parametrize("form", ["K", "features"])
def test_as_many_components_as_clusters(form, monkeypatch):
    """Equal eigenvalues, of which a Krylov space of one vector would hold only one."""
    monkeypatch.setattr(similarity_graph, "LARGE", 10)
    y = np.arange(600) % 12
    Z = np.zeros((600, 36))
    for i, k in enumerate(y):
        Z[i, 3 * k : 3 * k + 3] = 0.2 + np.random.default_rng(i).random(3)
    data = {"K": Z @ Z.T} if form == "K" else {"features": Z}
    assert d2ke.discriminative.clustering_accuracy(y, d2ke.cdsk(n_clusters=12, **data).labels) == 1


@pytest.mark.parametrize("c", [2, 3, 4, 6])
def test_whole_trace_is_indefinite_for_three_classes(c):
    X, y = blobs(60, c=c, spread=1.5)
    K = d2ke.discriminative.gaussian_gram(X, h=1.0)

    def least(s):
        return np.linalg.eigvalsh(DenseKernel(K).hard(y, s, 1.0, 2.0).H)[0]

    assert least(0.5) > -1e-10
    if c == 2:
        assert least(1.0) > -1e-10
    else:
        assert least(1.0) < -0.1
    found = d2ke.cdsk(K, c, trace_weight=1.0)  # offered all the same
    assert found.alpha.sum() == pytest.approx(1)


def test_half_n_without_a_cut_is_spectral_clustering():
    """Clusters that hardly touch: equal weights are optimal."""
    X, y = blobs(60)
    K = d2ke.discriminative.gaussian_gram(X, h=0.5)
    uniform = np.full(60, 1 / 60)
    problem = DenseKernel(K).hard(y, 0.5, 30.0, 2.0)
    gradient = problem.product(uniform) + problem.f
    assert np.ptp(gradient) < 1e-3 * K.sum(axis=1).max()
    found = d2ke.cdsk(K, 3, lam=30.0, smoothing=0)
    assert found.alpha == pytest.approx(uniform, abs=1e-3 / 60)
    degrees = K.sum(axis=1)
    V = np.linalg.eigh(K / np.sqrt(np.outer(degrees, degrees)))[1][:, -3:]
    spectral = kmeans.kmeans(kmeans.unit_rows(V), 3, np.random.default_rng(0))
    assert (found.labels == spectral).all()


def test_narrow_kernels_stay_finite():
    X, _ = blobs(60)
    for variant in ("hard", "relaxed"):
        with pytest.warns(UserWarning, match="60 groups .* kernel too narrow"):
            found = d2ke.cdsk(points=X, h=1e-3, n_clusters=3, variant=variant)
        assert np.isfinite(found.objectives).all()
        assert np.isfinite(found.alpha).all()


def test_more_clusters_than_different_points():
    """Equal points are divided then, and different ones never joined."""
    y = np.repeat([0, 1], 6)
    found = d2ke.cdsk(points=y[:, None] * 1.0, h=0.5, n_clusters=3)
    assert sorted(set(found.labels.tolist())) == [0, 1, 2]
    assert not set(found.labels[:6].tolist()) & set(found.labels[6:].tolist())


KERNELS = [
    ({"points": np.empty((0, 3))}, ValueError, "points must have rows and columns"),
    ({"features": np.empty((0, 3))}, ValueError, "features must have rows and columns"),
    ({"K": np.ones((12, 12))}, ValueError, "all objects are alike"),
    ({"points": np.ones((12, 2))}, ValueError, "only equal points"),
    ({"features": np.eye(12)[:, :11]}, ValueError, r"features\[11\] has zero similarity"),
    (
        {"features": np.c_[np.ones(12), np.where(np.arange(12) < 11, 3.0, -30.0)]},
        ValueError,
        "positive sum",
    ),
    ({"features": GOOD, "similarity": "general"}, TypeError, "is for a matrix K"),
]


@pytest.mark.parametrize(("arguments", "error", "text"), KERNELS)
def test_bad_kernels(arguments, error, text):
    with pytest.raises(error, match=text):
        d2ke.cdsk(n_clusters=3, **arguments)
    with pytest.raises(error, match=text):
        d2ke.lpdsk(y=MARKED, **arguments)


@pytest.mark.parametrize("variant", ["hard", "relaxed"])
@pytest.mark.parametrize(
    "sizes", [[1] * 50, [1] * 2, [4] * 5, [4, 4], [1, 1, 7], [3, 2, 2, 1, 1]], ids=str
)
def test_kernels_that_fall_apart(sizes, variant):
    blocks = np.repeat(np.arange(len(sizes)), sizes)
    Z = np.eye(len(sizes))[blocks]
    for c in {2, min(len(sizes), 3), len(sizes)}:
        for kernel in ({"K": Z @ Z.T}, {"K": csr_array(Z @ Z.T)}, {"features": Z}):
            few = c < len(sizes)
            with pytest.warns(UserWarning, match="is arbitrary") if few else nullcontext():
                result = d2ke.cdsk(**kernel, n_clusters=c, variant=variant)
            assert len(set(result.labels.tolist())) == c
            assert np.isfinite(result.alpha).all()
            if c == len(sizes):
                np.testing.assert_array_equal(result.labels, blocks)


def test_arbitrary_clusters_are_said():
    for kernel in (np.eye(6), csr_array(np.eye(6))):
        with pytest.warns(UserWarning, match="6 groups .* more than n_clusters = 2") as caught:
            d2ke.cdsk(kernel, 2)
        assert [one.filename for one in caught] == [__file__]
    with pytest.warns(UserWarning, match=r"are 0.5, by K: .* labels are arbitrary"):
        d2ke.cdsk((np.eye(6) + 1) / 2, 2)


@pytest.mark.parametrize("function", [lambda D: d2ke.cdsk(D, 2), lambda D: d2ke.lpdsk(D, LABELS)])
def test_distances_in_the_place_of_a_kernel_are_noticed(function):
    D = np.abs(np.subtract.outer(np.arange(6.0), np.arange(6.0)))
    with pytest.raises(ValueError, match=r"K has zeros on its diagonal.*distances="):
        function(D)


LABELS = np.array([0, 1, -1, -1, -1, -1])
