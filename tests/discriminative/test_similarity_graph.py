# SPDX-License-Identifier: BSD-3-Clause
"""Kernels, graphs and the weights' problem against the paper's equations."""

from itertools import combinations

import numpy as np
import pytest
from discriminative_cases import (
    SEEDS,
    blobs,
    case,
    objective_8,
    objective_9,
    objective_24,
    similarity_by_definition,
)
from hypothesis import given
from hypothesis import strategies as st

import d2ke
from d2ke.discriminative import similarity_graph
from d2ke.discriminative.kernel_classifier import CURVATURES
from d2ke.discriminative.similarity_graph import DenseKernel, FeatureKernel, indicators
from d2ke.embedding.spectrum import split


@given(SEEDS, st.sampled_from([2, 3, 4]))
def test_eq_8_and_9_are_the_matrix_form(seed, c):
    K, _, y, alpha, lam = case(seed, c=c)
    problem = DenseKernel(K).hard(y, 0.5, lam, 2.0)
    expected = objective_8(K, y, alpha, lam)
    assert problem.objective(alpha) == pytest.approx(expected, abs=1e-10)
    assert objective_9(K, y, alpha, lam) == pytest.approx(expected, abs=1e-10)
    assert pytest.approx(2 * lam * K * (y[:, None] == y), abs=1e-12) == problem.H
    assert np.linalg.eigvalsh(problem.H)[0] > -1e-9 * lam


@given(SEEDS)
def test_eq_10_graph_weights(seed):
    K, _, _, alpha, lam = case(seed)
    floor = 4e-3 / len(K) * K
    S = similarity_graph.graph_weights(K, K, alpha, lam)
    assert S.min() >= 0
    capped = np.minimum(alpha, 2 / lam)
    assert pytest.approx(similarity_by_definition(K, capped, lam) + floor, abs=1e-12) == S
    small = min(lam, 2 / alpha.max())  # nothing is capped then
    S = similarity_graph.graph_weights(K, K, alpha, small)
    assert pytest.approx(similarity_by_definition(K, alpha, small) + floor, abs=1e-12) == S
    smooth = DenseKernel(K).graph(alpha, small, 0.5).S
    assert smooth == pytest.approx(S + 0.5 * S.mean(), abs=1e-12)


@given(SEEDS, st.sampled_from([2, 3]))
def test_eq_16_and_17_density_risk_is_the_matrix_form(seed, c):
    """Twice the problem: sum of S^ise over the cut, less similarity, and the penalty."""
    K, _, y, alpha, lam = case(seed, c=c)
    W, n = np.sqrt(K), len(K)
    pairs = list(combinations(range(n), 2))
    square = alpha @ W @ alpha
    across = sum(alpha[i] * alpha[j] * W[i, j] for i, j in pairs if y[i] != y[j])
    total = sum((alpha[i] + alpha[j]) * K[i, j] for i in range(n) for j in range(n))
    cut = sum(4 * (alpha[i] + alpha[j]) * K[i, j] for i, j in pairs if y[i] != y[j])
    expected = cut - total + lam * (square - 4 * across)
    by_similarity = sum(4 * (alpha[i] + alpha[j]) * K[i, j] - 4 * lam * alpha[i] * alpha[j]
                        * W[i, j] for i, j in pairs if y[i] != y[j])  # fmt: skip
    assert by_similarity - total + lam * square == pytest.approx(expected, abs=1e-10)
    kernel = DenseKernel(K, W)
    assert 2 * kernel.hard(y, 0.5, lam, 1.0).objective(alpha) == pytest.approx(expected, abs=1e-10)
    Y = indicators(y)
    assert 2 * kernel.relaxed(Y, 0.5, lam, 1.0).objective(alpha) == pytest.approx(
        expected, abs=1e-10
    )


@given(SEEDS, st.sampled_from([2, 3]))
def test_eq_21_to_23_general_similarity(seed, c):
    _, S, y, alpha, lam = case(seed, c=c)
    values, Q = np.linalg.eigh(S)
    positive = sum(v * np.outer(q, q) for v, q in zip(values, Q.T, strict=True) if v > 0)
    negative = sum(-v * np.outer(q, q) for v, q in zip(values, Q.T, strict=True) if v < 0)
    for part, expected in zip(d2ke.psd_split(S), (positive, negative), strict=True):
        assert part == pytest.approx(expected, abs=1e-10)
        assert np.linalg.eigvalsh(part)[0] > -1e-10
    absolute = split("S", S).absolute
    assert absolute == pytest.approx(positive + negative, abs=1e-10)
    problem = DenseKernel(S, absolute).hard(y, 0.5, lam, 2.0)
    expected = objective_8(S, y, alpha, lam, absolute)
    assert problem.objective(alpha) == pytest.approx(expected, abs=1e-10)
    assert objective_9(S, y, alpha, lam, absolute) == pytest.approx(expected, abs=1e-10)
    assert np.linalg.eigvalsh(problem.H)[0] > -1e-9 * lam


@given(SEEDS, st.floats(0.1, 1.0), st.booleans())
def test_eq_24_is_the_matrix_form(seed, s, general):
    K, S, _, alpha, lam = case(seed)
    Y = np.random.default_rng(seed).normal(size=(len(K), 2))
    kernel = DenseKernel(S, split("S", S).absolute) if general else DenseKernel(K)
    problem = kernel.relaxed(Y, s, lam, 2.0)
    expected = objective_24(kernel.linear, Y, alpha, lam, s, kernel.quadratic)
    assert problem.objective(alpha) == pytest.approx(expected, abs=1e-10)
    n = len(K)
    G = np.array([[sum((Y[i] - Y[j]) ** 2) for j in range(n)] for i in range(n)])
    H = 2 * lam * (kernel.quadratic - s * kernel.quadratic * G)
    f = 2 * s * (kernel.linear * G).sum(axis=1) - kernel.linear.sum(axis=1)
    assert pytest.approx(H, abs=1e-10) == problem.H
    assert problem.f == pytest.approx(f, abs=1e-10)


@given(SEEDS, st.sampled_from([2, 3, 4]))
def test_eq_24_with_one_hot_y_and_half_the_trace_is_eq_9(seed, c):
    K, _, y, alpha, lam = case(seed, c=c)
    Y = np.eye(c)[y]
    expected = objective_9(K, y, alpha, lam)
    assert objective_24(K, Y, alpha, lam, 0.5) == pytest.approx(expected, abs=1e-10)
    whole = objective_24(K, Y, alpha, lam, 1.0)
    hard, relaxed = (
        DenseKernel(K).hard(y, 1.0, lam, 2.0),
        DenseKernel(K).relaxed(Y, 1.0, lam, 2.0),
    )
    assert hard.objective(alpha) == pytest.approx(whole, abs=1e-10)
    assert relaxed.objective(alpha) == pytest.approx(whole, abs=1e-10)


@given(SEEDS)
def test_eq_24_y_step_minimises_the_trace(seed):
    """Y = D^(-1/2) V: Y'DY = I, and the trace is that of the smallest eigenvalues."""
    K, _, _, alpha, lam = case(seed)
    graph = DenseKernel(K).graph(alpha, lam)
    V = graph.eigenvectors(3)
    D = np.diag(graph.degrees)
    Y = V / np.sqrt(graph.degrees)[:, None]
    assert pytest.approx(np.eye(3), abs=1e-10) == Y.T @ D @ Y
    normalised = graph.S / np.sqrt(np.outer(graph.degrees, graph.degrees))
    least = np.linalg.eigvalsh(np.eye(len(K)) - normalised)[:3]
    assert np.trace(Y.T @ (D - graph.S) @ Y) == pytest.approx(least.sum(), abs=1e-10)


@given(SEEDS)
def test_eq_25_scores_are_harmonic(seed):
    K, _, y, alpha, lam = case(seed, n=12)
    known = np.arange(12) < 5
    F = np.zeros((12, 3))
    F[known] = np.eye(3)[y[known]]
    graph = DenseKernel(K).graph(alpha, lam)
    F[~known] = graph.harmonic(known, F[known])
    S, D = graph.S, graph.S.sum(axis=1)
    for u in np.flatnonzero(~known):
        mean = sum(S[u, j] * F[j] for j in range(12)) / D[u]
        assert F[u] == pytest.approx(mean, abs=1e-10)


@given(SEEDS, st.sampled_from(sorted(CURVATURES.values())), st.floats(0.1, 1.0))
def test_features_are_their_product(seed, curvature, s):
    rng = np.random.default_rng(seed)
    n, c = 30, 3
    Z = rng.random((n, 4))
    dense, low = DenseKernel(Z @ Z.T), FeatureKernel(Z)
    y = rng.permutation(np.arange(n) % c)
    Y, V = rng.normal(size=(n, 2)), rng.normal(size=(n, 2))
    alpha, lam = rng.dirichlet(np.ones(n)), float(rng.uniform(1, 2 * n))
    for one, other in (
        (dense.hard(y, s, lam, curvature), low.hard(y, s, lam, curvature)),
        (dense.relaxed(Y, s, lam, curvature), low.relaxed(Y, s, lam, curvature)),
    ):
        assert other.f == pytest.approx(one.f, abs=1e-9)
        assert other.product(alpha) == pytest.approx(one.product(alpha), abs=1e-9)
        assert other.objective(alpha) == pytest.approx(one.objective(alpha), abs=1e-9)
    for smoothing in (0.0, 0.3):
        graphs = dense.graph(alpha, lam, smoothing), low.graph(alpha, lam, smoothing)
        assert graphs[1].degrees == pytest.approx(graphs[0].degrees, abs=1e-10)
        assert graphs[1].product(V) == pytest.approx(graphs[0].S @ V, abs=1e-10)
        spaces = [graph.eigenvectors(2) for graph in graphs]
        assert abs(spaces[0].T @ spaces[1]) == pytest.approx(np.eye(2), abs=1e-4)
    known = np.arange(n) < 5
    F = np.eye(c)[y[known]]
    graphs = dense.graph(alpha, lam), low.graph(alpha, lam)
    assert graphs[1].harmonic(known, F) == pytest.approx(graphs[0].harmonic(known, F), abs=1e-8)


@pytest.mark.parametrize("h", [0.1, 1.0])
def test_iterated_eigenvectors_are_those_of_the_reduction(monkeypatch, h):
    X, _ = blobs(400)
    graph = DenseKernel(d2ke.discriminative.gaussian_gram(X, h=h)).graph(
        np.full(400, 1 / 400), 200.0
    )
    exact = graph.eigenvectors(3)
    monkeypatch.setattr(similarity_graph, "LARGE", 10)
    found = graph.eigenvectors(3)
    assert np.linalg.svd(exact.T @ found)[1] == pytest.approx(np.ones(3), abs=1e-6)


def test_components_of_features_chain():
    Z = np.array([[1.0, 1, 0, 0], [0, 1, 1, 0], [0, 0, 1, 0], [0, 0, 0, 1.0]])
    graph = FeatureKernel(Z).graph(np.full(4, 0.25), 2.0)
    assert graph.components().tolist() == [0, 0, 0, 1]
