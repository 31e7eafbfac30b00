# SPDX-License-Identifier: BSD-3-Clause
"""Similarities of near neighbours, sparse kernels, widths that are chosen, and new objects."""

import numpy as np
import pytest
from discriminative_cases import SEEDS, blobs
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import examples
from scipy.sparse import coo_matrix, csr_array, csr_matrix

import d2ke
from d2ke.discriminative import similarity_graph
from d2ke.discriminative.automatic import left_out
from d2ke.discriminative.neighbor_graph import AllPairs
from d2ke.discriminative.similarity_graph import DenseKernel
from d2ke.discriminative.sparse_kernel import SparseKernel


def by_definition(D, k, h=None):
    n = len(D)
    order = [sorted((j for j in range(n) if j != i), key=lambda j, i=i: D[i, j]) for i in range(n)]
    local = [0.5 * D[i, order[i][min(3, n - 1) - 1]] for i in range(n)]
    h = np.percentile(local, 90) if h is None else h
    w = np.maximum(local, h)
    K = np.eye(n)
    for i in range(n):
        for j in order[i][:k]:
            K[i, j] = K[j, i] = max(np.exp(-(D[i, j] ** 2) / (2 * w[i] * w[j])), 1e-6)
    return K


@settings(max_examples=examples(25), deadline=None)
@given(SEEDS, st.integers(2, 25), st.sampled_from([1, 3, 20]), st.integers(1, 6))
def test_neighbor_similarities_by_definition(seed, n, d, k):
    X = np.random.default_rng(seed).normal(size=(n, d))
    D = np.linalg.norm(X[:, None] - X, axis=2)
    for h in (None, 0.7):
        expected = by_definition(D, k, h)
        for data in ({"points": X}, {"distances": D}):
            K = d2ke.discriminative.neighbor_similarities(**data, n_neighbors=k, h=h)
            np.testing.assert_allclose(K.toarray(), expected, atol=1e-9)
            assert (K != K.T).nnz == 0


def test_copies_of_points_are_their_own_neighbors():
    X = np.repeat([[0.0], [1.0], [5.0]], 6, axis=0)
    K = d2ke.discriminative.neighbor_similarities(X, n_neighbors=2, h=1.0).toarray()
    assert (K.diagonal() == 1).all()
    assert (K == K.T).all()


def graph_case(n=120, c=3, k=6, spread=1.0):
    X, y = blobs(n, c=c, spread=spread)
    return d2ke.discriminative.neighbor_similarities(X, n_neighbors=k), y


@pytest.mark.parametrize("variant", ["hard", "relaxed"])
@pytest.mark.parametrize("kind", [csr_array, csr_matrix, coo_matrix])
def test_sparse_kernels_are_as_dense_ones(kind, variant):
    K, y = graph_case()
    for smoothing in (0, 0.1):
        dense = d2ke.cdsk(K.toarray(), 3, variant=variant, smoothing=smoothing, max_iter=1)
        sparse = d2ke.cdsk(kind(K), 3, variant=variant, smoothing=smoothing, max_iter=1)
        np.testing.assert_array_equal(sparse.labels, dense.labels)
        assert sparse.objectives == pytest.approx(dense.objectives, rel=1e-2)
    some = np.where(np.arange(120) < 6, y, -1)
    dense = d2ke.lpdsk(K.toarray(), some, variant=variant, max_iter=1)
    sparse = d2ke.lpdsk(kind(K), some, variant=variant, max_iter=1)
    np.testing.assert_allclose(sparse.scores, dense.scores, atol=1e-8)
    np.testing.assert_array_equal(sparse.labels, dense.labels)


@settings(max_examples=examples(20), deadline=None)
@given(SEEDS)
def test_sparse_problems_are_the_dense_ones(seed):
    rng = np.random.default_rng(seed)
    n, c = 12, 3
    A = np.where(rng.random((n, n)) < 0.3, rng.random((n, n)), 0.0)
    A = np.maximum(A, A.T) + np.eye(n)
    codes, alpha, lam = rng.integers(0, c, n), rng.dirichlet(np.ones(n)), rng.uniform(0.1, 2 * n)
    dense, sparse = DenseKernel(A), SparseKernel(csr_array(A))
    Y, v = rng.normal(size=(n, c)), rng.normal(size=n)
    for one, other in (
        (dense.hard(codes, 0.3, lam, 2.0), sparse.hard(codes, 0.3, lam, 2.0)),
        (dense.relaxed(Y, 0.3, lam, 1.0), sparse.relaxed(Y, 0.3, lam, 1.0)),
    ):
        np.testing.assert_allclose(other.f, one.f, atol=1e-10)
        np.testing.assert_allclose(other.product(v), one.product(v), atol=1e-8)
    for smoothing in (0.0, 0.3):
        one, other = dense.graph(alpha, lam, smoothing), sparse.graph(alpha, lam, smoothing)
        np.testing.assert_allclose(other.dense().S, one.S, atol=1e-12)
        np.testing.assert_allclose(other.degrees, one.degrees)


def test_many_objects_by_iteration(monkeypatch):
    K, y = graph_case(600, spread=0.8)
    some = np.where(np.arange(600) < 30, y, -1)
    expected = d2ke.cdsk(K, 3, max_iter=1), d2ke.lpdsk(K, some, max_iter=1)
    monkeypatch.setattr(similarity_graph, "LARGE", 10)
    found = d2ke.cdsk(K, 3, max_iter=1), d2ke.lpdsk(K, some, max_iter=1)
    np.testing.assert_array_equal(found[0].labels, expected[0].labels)
    np.testing.assert_allclose(found[1].scores, expected[1].scores, atol=1e-6)


def test_parts_that_hardly_touch_get_the_nearest_label():
    """Links of 1e-11, which a solution by differences would lose."""
    parts = np.repeat(np.arange(3), 20)
    K = np.where(parts[:, None] == parts, 1.0, 0.0)
    for a, b, link in ((0, 20, 1e-11), (20, 40, 3e-11)):
        K[a, b] = K[b, a] = link
    y = np.full(60, -1)
    y[5], y[45] = 0, 1
    scores = d2ke.lpdsk(K, y, max_iter=1).scores
    np.testing.assert_allclose(scores[20:40, 1], 0.75, atol=1e-6)
    np.testing.assert_allclose(scores.sum(axis=1), 1.0)


@settings(max_examples=examples(10), deadline=None)
@given(SEEDS, st.floats(0.01, 100))
def test_chosen_widths_depend_on_scale_and_order_only(seed, scale):
    rng = np.random.default_rng(seed)
    X, y = blobs(60, seed=seed % 50, spread=0.6)
    X = X + rng.normal(scale=0.01, size=X.shape)
    order = rng.permutation(60)
    first = d2ke.cdsk(points=X, n_clusters=3)
    second = d2ke.cdsk(points=scale * X[order], n_clusters=3)
    assert second.h == pytest.approx(scale * first.h)
    assert second.smoothing == first.smoothing
    some = np.where(np.arange(60) < 12, y, -1)
    first = d2ke.lpdsk(points=X, y=some)
    second = d2ke.lpdsk(points=scale * X[order], y=some[order])
    assert second.h == pytest.approx(scale * first.h)
    assert second.trained.widths.n_neighbors == first.trained.widths.n_neighbors
    np.testing.assert_array_equal(second.labels, first.labels[order])


@pytest.mark.parametrize("balance", [False, True])
@pytest.mark.parametrize("k", [5, 59])
def test_leaving_out_is_as_doing_it(balance, k):
    K, y = graph_case(60, spread=1.5, k=k)
    marks = np.where(np.arange(60) < 17, y, -1)
    graph = SparseKernel(K).graph(np.full(60, 1 / 60), 30.0)
    labelled = [np.flatnonzero(marks == label) for label in range(3)]
    right = 0
    for turn in range(max(map(len, labelled))):
        out = [places[turn] for places in labelled if turn < len(places)]
        known = marks >= 0
        known[out] = False
        scores = graph.harmonic(known, np.eye(3)[marks[known]])
        if balance:
            scores = scores / scores.sum(axis=0)
        right += sum(scores[np.flatnonzero(~known) == i][0].argmax() == y[i] for i in out)
    assert left_out(graph, marks, 3, balance) == pytest.approx(right / 17)


def test_wide_kernels_are_chosen_where_neighbours_are_of_another_class():
    """Around a narrow class lies a wide one, whose objects are nearer to it than to each other."""
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 60)
    X = rng.normal(size=(120, 20)) * np.where(y, 2.0, 0.3)[:, None]
    X[:, 0] += 2.0 * y
    marks = np.where(np.arange(120) % 60 < 20, y, -1)
    result = d2ke.lpdsk(points=X, y=marks)
    assert isinstance(result.trained.widths.near, AllPairs)
    near = d2ke.lpdsk(
        d2ke.discriminative.neighbor_similarities(X, n_neighbors=8), y=marks, max_iter=1
    )
    assert (result.labels == y).mean() > (near.labels == y).mean() + 0.1
    D = np.linalg.norm(X[:, None] - X, axis=2)
    other = d2ke.lpdsk(distances=D, y=marks)
    np.testing.assert_array_equal(other.labels, result.labels)
    assert other.h == pytest.approx(result.h)
    new = X + 0.01
    found = d2ke.discriminative_predict(result, points=new)
    assert (found == result.labels).mean() > 0.95
    gaps = np.linalg.norm(new[:, None] - X, axis=2)
    np.testing.assert_array_equal(d2ke.discriminative_predict(other, distances=gaps), found)


def forms(X):
    D = np.linalg.norm(X[:, None] - X, axis=2)
    Z = np.exp(-D[:, ::3])
    K = d2ke.discriminative.neighbor_similarities(X, n_neighbors=8)
    return [
        ({"points": X}, {"points": X}),
        ({"points": X, "h": 1.0}, {"points": X}),
        ({"distances": D}, {"distances": D}),
        ({"distances": D, "h": 1.0}, {"distances": D}),
        ({"features": Z}, {"features": Z}),
        ({"K": np.exp(-D)}, {"K_new": np.exp(-D)}),
        ({"K": K}, {"K_new": K}),
    ]


def test_training_objects_get_their_labels():
    X, y = blobs(60, spread=1.5)
    some = np.where(np.arange(60) < 9, y, -1)
    some[3] = 0  # not that of its neighbours
    for data, new in forms(X):
        for result in (d2ke.cdsk(n_clusters=3, **data), d2ke.lpdsk(y=some, **data)):
            predicted = d2ke.discriminative_predict(result, **new)
            np.testing.assert_array_equal(predicted, result.labels)
            assert predicted.dtype == result.labels.dtype


def test_new_objects():
    X, y = blobs(120)
    train, test = np.arange(120) < 90, np.arange(120) >= 90
    D = np.linalg.norm(X[:, None] - X, axis=2)
    names = np.array(["a", "b", "c"])[y]
    some = np.where(np.arange(90) < 9, names[:90], "")
    for data, new in (
        ({"points": X[train]}, {"points": X[test]}),
        ({"distances": D[:90, :90]}, {"distances": D[90:, :90]}),
        ({"points": X[train], "h": 1.0}, {"points": X[test]}),
        ({"K": np.exp(-D[:90, :90])}, {"K_new": csr_array(np.exp(-D[90:, :90]))}),
    ):
        result = d2ke.cdsk(n_clusters=3, **data)
        assert (d2ke.discriminative_predict(result, **new) == y[test]).all()
        result = d2ke.lpdsk(y=some, unknown="", **data)
        assert (d2ke.discriminative_predict(result, **new) == names[test]).all()
        rows = next(iter(new.values()))
        if "K_new" in new:
            nothing = d2ke.discriminative_predict(result, 0 * rows.toarray())
            assert (nothing == "").all()
        elif "points" in new:
            far = d2ke.discriminative_predict(result, points=rows * (100 if "h" not in data else 1))
            assert (far != "").all()


def test_a_sparse_kernel_with_entries_in_parts_is_not_changed():
    K = csr_array((np.full(6, 0.5), [0, 0, 1, 1, 2, 2], [0, 2, 4, 6]), (3, 3))
    with pytest.warns(UserWarning, match="3 groups"):
        d2ke.cdsk(K, 2)
    assert K.nnz == 6
    K.check_format(full_check=True)
