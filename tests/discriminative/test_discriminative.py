# SPDX-License-Identifier: BSD-3-Clause
"""Discriminative similarity: the paper's equations by plain loops, its errata, and bad input."""

from itertools import combinations, permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

import d2ke
from d2ke.discriminative import kmeans, similarity_graph
from d2ke.discriminative.kernel_classifier import CURVATURES
from d2ke.discriminative.similarity_graph import DenseKernel, FeatureKernel, indicators
from d2ke.embedding.spectrum import split

SEEDS = st.integers(0, 10**6)


def case(seed, n=9, c=3):
    """Return a Gram matrix, an indefinite similarity, labels of c classes, weights and lambda."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    K = np.exp(-((X[:, None] - X) ** 2).sum(axis=2) / 2)
    S = rng.normal(size=(n, n))
    y = rng.permutation(np.r_[np.arange(c), rng.integers(0, c, n - c)])
    alpha = rng.dirichlet(np.ones(n))
    return K, S + S.T, y, alpha, float(rng.uniform(0.1, 2 * n))


def half_quadratic(H, f, alpha):
    return alpha @ H @ alpha / 2 + f @ alpha


def blobs(n=60, c=3, seed=0, spread=0.3):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % c
    angles = 2 * np.pi * y / c
    return np.c_[3 * np.cos(angles), 3 * np.sin(angles)] + spread * rng.normal(size=(n, 2)), y


# The paper's equations.


def scores_by_definition(K, y, alpha, c):
    """Eq. (1)."""
    n = len(K)
    return [[sum(alpha[j] * K[i, j] for j in range(n) if y[j] == k) for k in range(c)]
            for i in range(n)]  # fmt: skip


def similarity_by_definition(K, alpha, lam, quadratic=None):
    """Eq. (10); with a second matrix in the quadratic term, that of section 5."""
    Q = K if quadratic is None else quadratic
    n = len(K)
    return np.array(
        [[2 * (alpha[i] + alpha[j]) * K[i, j] - 2 * lam * alpha[i] * alpha[j] * Q[i, j]
          for j in range(n)] for i in range(n)]
    )  # fmt: skip


def objective_8(K, y, alpha, lam, quadratic=None):
    """Cut less similarity and, as the penalty, the classes' own quadratic forms."""
    Q = K if quadratic is None else quadratic
    n = len(K)
    cut = sum(2 * (alpha[i] + alpha[j]) * K[i, j] for i, j in combinations(range(n), 2)
              if y[i] != y[j])  # fmt: skip
    total = sum((alpha[i] + alpha[j]) / 2 * K[i, j] for i in range(n) for j in range(n))
    penalty = sum(alpha[i] * alpha[j] * Q[i, j] for i in range(n) for j in range(n)
                  if y[i] == y[j])  # fmt: skip
    return cut - total + lam * penalty


def objective_9(K, y, alpha, lam, quadratic=None):
    """The same by discriminative similarity."""
    Q = K if quadratic is None else quadratic
    n = len(K)
    S = similarity_by_definition(K, alpha, lam, quadratic)
    cut = sum(S[i, j] for i, j in combinations(range(n), 2) if y[i] != y[j])
    total = sum((alpha[i] + alpha[j]) / 2 * K[i, j] for i in range(n) for j in range(n))
    return cut - total + lam * sum(alpha[i] * alpha[j] * Q[i, j]
                                   for i in range(n) for j in range(n))  # fmt: skip


def objective_24(K, Y, alpha, lam, s, quadratic=None):
    Q = K if quadratic is None else quadratic
    n = len(K)
    S = similarity_by_definition(K, alpha, lam, quadratic)
    trace = sum(S[i, j] * ((Y[i] - Y[j]) ** 2).sum() / 2 for i in range(n) for j in range(n))
    total = sum((alpha[i] + alpha[j]) / 2 * K[i, j] for i in range(n) for j in range(n))
    return s * trace - total + lam * sum(alpha[i] * alpha[j] * Q[i, j]
                                         for i in range(n) for j in range(n))  # fmt: skip


@given(SEEDS, st.floats(1.0, 5.0))
def test_eq_7_bounds_the_loss(seed, margin):
    K, _, y, alpha, _ = case(seed)
    scores = scores_by_definition(K, y, alpha, 3)
    losses, bounds = [], []
    for i in range(len(K)):
        other = max(scores[i][k] for k in range(3) if k != y[i])
        losses.append(min(1, max(0, 1 - (scores[i][y[i]] - other) / margin)))
        bounds.append(1 - (scores[i][y[i]] - (sum(scores[i]) - scores[i][y[i]])) / margin)
    difference = d2ke.kernel_similarity_bound(K, y, alpha, margin=margin) - d2ke.kernel_risk_bound(
        K, y, alpha, margin=margin
    )
    assert difference == pytest.approx(np.mean(bounds) - np.mean(losses), abs=1e-10)
    assert difference >= -1e-12
    n = len(K)
    total = sum((alpha[i] + alpha[j]) * K[i, j] for i in range(n) for j in range(n))
    cut = sum(2 * (alpha[i] + alpha[j]) * K[i, j] for i, j in combinations(range(n), 2)
              if y[i] != y[j])  # fmt: skip
    by_similarity = 1 - total / (2 * n * margin) + cut / (n * margin)
    assert np.mean(bounds) == pytest.approx(by_similarity, abs=1e-10)


def test_eq_7_is_an_equality_for_two_classes_with_margins_and_not_otherwise():
    X, y = blobs(c=2)
    K, alpha = d2ke.gaussian_gram(X, h=1.0), np.full(60, 1 / 60)
    assert d2ke.kernel_similarity_bound(K, y, alpha) == pytest.approx(
        d2ke.kernel_risk_bound(K, y, alpha), abs=1e-12
    )
    y[0] = 1 - y[0]  # misclassified: a negative margin
    assert d2ke.kernel_similarity_bound(K, y, alpha) > d2ke.kernel_risk_bound(K, y, alpha) + 1e-3


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


def test_eq_15_is_the_square_of_the_density_estimate():
    """K(alpha), with the normalised kernels, is the integral of the squared difference."""
    rng = np.random.default_rng(0)
    x, y, h = rng.normal(size=8), np.array([0, 0, 0, 1, 1, 1, 0, 1]), 0.7
    alpha = rng.dirichlet(np.ones(8))
    grid = np.linspace(-12, 12, 48_001)
    kernels = np.exp(-((grid - x[:, None]) ** 2) / (2 * h * h)) / np.sqrt(2 * np.pi * h * h)
    estimate = (alpha * np.where(y == 0, 1, -1)) @ kernels
    integral = (estimate**2).sum() * (grid[1] - grid[0])
    W = np.exp(-((x[:, None] - x) ** 2) / (4 * h * h)) / np.sqrt(4 * np.pi * h * h)
    plain = sum(alpha[i] * alpha[j] * W[i, j] for i in range(8) for j in range(8))
    across = sum(alpha[i] * alpha[j] * W[i, j] for i, j in combinations(range(8), 2)
                 if y[i] != y[j])  # fmt: skip
    assert plain - 4 * across == pytest.approx(integral, abs=1e-10)


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


# Features in the place of their product.


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
        assert graphs[1].product(V) == pytest.approx(graphs[0].product(V), abs=1e-10)
        spaces = [graph.eigenvectors(2) for graph in graphs]
        assert abs(spaces[0].T @ spaces[1]) == pytest.approx(np.eye(2), abs=1e-4)
    known = np.arange(n) < 5
    F = np.eye(c)[y[known]]
    graphs = dense.graph(alpha, lam), low.graph(alpha, lam)
    assert graphs[1].harmonic(known, F) == pytest.approx(graphs[0].harmonic(known, F), abs=1e-8)


@pytest.mark.parametrize("variant", ["hard", "relaxed"])
def test_features_cluster_and_propagate_as_their_product(variant):
    X, y = blobs(90)
    omega, _ = blobs(40, seed=1, spread=1.0)
    Z = d2ke.d2ke_features(np.linalg.norm(X[:, None] - omega, axis=2), gamma=1.0)
    K = Z @ Z.T
    a = d2ke.cdsk(K, 3, variant=variant)
    b = d2ke.cdsk(features=Z, n_clusters=3, variant=variant)
    assert d2ke.clustering_accuracy(y, a.labels) == 1
    assert (a.labels == b.labels).all()
    assert b.objectives == pytest.approx(a.objectives, rel=1e-3)
    given_labels = np.where(np.arange(90) < 3, y, -1)
    a = d2ke.lpdsk(K, given_labels, variant=variant, max_iter=1)
    b = d2ke.lpdsk(features=Z, y=given_labels, variant=variant, max_iter=1)
    assert (a.labels == b.labels).all()
    assert b.scores == pytest.approx(a.scores, abs=1e-7)


@pytest.mark.parametrize("h", [0.1, 1.0])
def test_iterated_eigenvectors_are_those_of_the_reduction(monkeypatch, h):
    X, _ = blobs(400)
    graph = DenseKernel(d2ke.gaussian_gram(X, h=h)).graph(np.full(400, 1 / 400), 200.0)
    exact = graph.eigenvectors(3)
    monkeypatch.setattr(similarity_graph, "_LARGE", 10)
    found = graph.eigenvectors(3)
    assert np.linalg.svd(exact.T @ found)[1] == pytest.approx(np.ones(3), abs=1e-6)


@pytest.mark.parametrize("form", ["K", "features"])
def test_as_many_components_as_clusters(form, monkeypatch):
    """Equal eigenvalues, of which a Krylov space of one vector would hold only one."""
    monkeypatch.setattr(similarity_graph, "_LARGE", 10)
    y = np.arange(600) % 12
    Z = np.zeros((600, 36))
    for i, k in enumerate(y):
        Z[i, 3 * k : 3 * k + 3] = 0.2 + np.random.default_rng(i).random(3)
    data = {"K": Z @ Z.T} if form == "K" else {"features": Z}
    assert d2ke.clustering_accuracy(y, d2ke.cdsk(n_clusters=12, **data).labels) == 1


# The errata.


@pytest.mark.parametrize("c", [2, 3, 4, 6])
def test_whole_trace_is_indefinite_for_three_classes(c):
    X, y = blobs(60, c=c, spread=1.5)
    K = d2ke.gaussian_gram(X, h=1.0)

    def least(s):
        return np.linalg.eigvalsh(DenseKernel(K).hard(y, s, 1.0, 2.0).H)[0]

    assert least(0.5) > -1e-10
    if c == 2:
        assert least(1.0) > -1e-10
    else:
        assert least(1.0) < -0.1
    found = d2ke.cdsk(K, c, trace_weight=1.0)  # offered all the same
    assert found.alpha.sum() == pytest.approx(1)


@pytest.mark.parametrize("lam", [0.1, 1.0, 2.0])
def test_small_lambda_collapses(lam):
    X, y = blobs(90, spread=0.8)
    K = d2ke.gaussian_gram(X, h=1.0)
    collapsed = d2ke.kernel_classifier_fit(K, y, lam=lam).alpha
    spread = d2ke.kernel_classifier_fit(K, y, lam=45.0).alpha
    assert (collapsed > 1e-6).sum() <= 9
    assert (spread > 1e-6).sum() >= 45


def test_half_n_without_a_cut_is_spectral_clustering():
    """Clusters that hardly touch: equal weights are optimal."""
    X, y = blobs(60)
    K = d2ke.gaussian_gram(X, h=0.5)
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


def test_below_half_n_favours_dense_points():
    rng = np.random.default_rng(0)
    X = np.r_[rng.normal(size=(60, 1)), rng.normal(size=(60, 1)) + 20]
    y = np.repeat([0, 1], 60)
    K = d2ke.gaussian_gram(X, h=0.5)
    alpha = d2ke.kernel_classifier_fit(K, y, lam=12.0).alpha
    density = K.sum(axis=1)
    assert alpha[density > np.median(density)].sum() > 0.8


def test_narrow_kernels_stay_finite():
    X, _ = blobs(60)
    for variant in ("hard", "relaxed"):
        found = d2ke.cdsk(points=X, h=1e-3, n_clusters=3, variant=variant)
        assert np.isfinite(found.objectives).all()
        assert np.isfinite(found.alpha).all()


# Clustering and propagation as a whole.


@pytest.mark.parametrize("variant", ["hard", "relaxed"])
@pytest.mark.parametrize("risk", ["margin", "ise"])
@pytest.mark.parametrize("seed", [0, 1])
def test_cdsk_finds_clusters(variant, risk, seed):
    X, y = blobs(90, seed=seed)
    found = d2ke.cdsk(points=X, n_clusters=3, variant=variant, risk=risk, seed=seed)
    assert d2ke.clustering_accuracy(y, found.labels) == 1
    assert found.labels[:3].tolist() == [0, 1, 2]
    assert found.alpha.min() >= 0
    assert found.alpha.sum() == pytest.approx(1)
    assert found.objectives[found.best] == found.objectives.min()
    again = d2ke.cdsk(points=X, n_clusters=3, variant=variant, risk=risk, seed=seed)
    assert (again.labels == found.labels).all()
    assert (again.alpha == found.alpha).all()


def test_cdsk_objective_is_eq_9_of_its_own_result():
    X, _ = blobs(60, spread=1.0)
    K = d2ke.gaussian_gram(X, h=1.0)
    found = d2ke.cdsk(K, 3, trace_weight=0.5)
    expected = objective_9(K, found.labels, found.alpha, found.lam)
    assert found.objectives[found.best] == pytest.approx(expected, abs=1e-9)


def test_scale_of_the_kernel_does_not_matter():
    X, _ = blobs(60, spread=1.0)
    K = d2ke.gaussian_gram(X, h=1.0)
    a, b = d2ke.cdsk(K, 3), d2ke.cdsk(8 * K, 3)
    assert (a.labels == b.labels).all()
    assert b.objectives == pytest.approx(8 * a.objectives)


def test_a_few_far_objects_are_not_a_cluster():
    X, y = blobs(120, c=2, spread=0.7)
    X = np.r_[X, [[40.0, 40.0]]]
    y = np.r_[y, 0]
    assert np.bincount(d2ke.cdsk(points=X, h=1.0, n_clusters=2, smoothing=0).labels).min() == 1
    found = d2ke.cdsk(points=X, h=1.0, n_clusters=2)
    assert d2ke.clustering_accuracy(y, found.labels) > 0.95


@pytest.mark.parametrize(
    ("name", "expected"), [("iris", 0.749), ("wine", 0.928), ("breast_cancer", 0.566)]
)
def test_the_default_rule_on_real_data(name, expected):
    datasets = pytest.importorskip("sklearn.datasets")
    data = getattr(datasets, f"load_{name}")()
    X = (data.data - data.data.mean(axis=0)) / data.data.std(axis=0)
    found = d2ke.cdsk(points=X, n_clusters=len(data.target_names))
    measured = d2ke.normalized_mutual_information(data.target, found.labels)
    # Rounding differs among processors, and an object may fall on the other side.
    assert measured == pytest.approx(expected, abs=0.03)


def test_general_similarity():
    X, y = blobs(60)
    S = np.exp(-(np.abs(X[:, None] - X).max(axis=2) ** 2))  # no kernel
    S[:] = (S + S.T) / 2
    S[0, 1] = S[1, 0] = -0.5
    assert np.linalg.eigvalsh(S)[0] < -0.1
    found = d2ke.cdsk(S, 3, similarity="general")
    assert d2ke.clustering_accuracy(y, found.labels) == 1
    labels = np.where(np.arange(60) < 3, y, -1)
    assert (d2ke.lpdsk(S, labels, similarity="general").labels == y).all()
    model = d2ke.kernel_classifier_fit(S, y, similarity="general")
    assert (d2ke.kernel_classifier_predict(model, S)[0] == y).all()


@pytest.mark.parametrize("labels", [[0, 1, 2], ["a", "bb", "c"], [1.5, 2.5, 3.5], [True, False]])
@pytest.mark.parametrize("variant", ["hard", "relaxed"])
def test_lpdsk(labels, variant):
    labels = np.array(labels)
    c = len(labels)
    X, y = blobs(60, c=c)
    truth = labels[y]
    unknown = {"U": "", "f": -1.0, "b": None}.get(labels.dtype.kind, -1)
    if unknown is None:  # both values are labels
        with pytest.raises(TypeError, match="unknown must be a label of y's type"):
            d2ke.lpdsk(points=X, y=truth, unknown="")
        return
    given_labels = np.where(np.arange(60) < c, truth, np.array(unknown, labels.dtype))
    found = d2ke.lpdsk(points=X, y=given_labels, unknown=unknown, variant=variant)
    assert found.labels.dtype == given_labels.dtype
    assert (found.labels == truth).all()
    assert found.reached.all()
    assert found.scores.sum(axis=1) == pytest.approx(np.ones(60))
    assert found.classes.tolist() == sorted(labels.tolist())


def test_lpdsk_balance():
    """Class mass normalisation by its definition, where the plain scores all favour one class."""
    X, y = blobs(60, c=2, spread=1.0)
    K = d2ke.gaussian_gram(X, h=4.0)
    # Unequal numbers of labels must not decide where the scores are flat.
    labels = np.where((np.arange(60) < 2) | ((y == 1) & (np.arange(60) < 20)), y, -1)
    plain = d2ke.lpdsk(K, labels, balance=False, max_iter=1)
    found = d2ke.lpdsk(K, labels, max_iter=1)
    u = labels < 0
    assert (plain.labels[u] == plain.scores[u].argmax(axis=1)).all()
    mass = [sum(found.scores[i][k] for i in range(60) if u[i]) for k in range(2)]
    expected = [max(range(2), key=lambda k: found.scores[i][k] / mass[k]) for i in range(60)]
    assert found.labels[u].tolist() == [expected[i] for i in np.flatnonzero(u)]
    assert (found.scores == plain.scores).all()
    assert (found.labels == y).mean() > (plain.labels == y).mean() + 0.2


def test_lpdsk_never_changes_what_is_given():
    X, y = blobs(60)
    labels = np.where(np.arange(60) < 12, y, -1)
    labels[0] = 2  # wrong
    assert d2ke.lpdsk(points=X, y=labels).labels[:12].tolist() == labels[:12].tolist()
    assert (d2ke.lpdsk(points=X, y=y).labels == y).all()


@pytest.mark.parametrize("form", ["K", "features"])
def test_component_without_labels_is_not_reached(form):
    Z = np.kron(np.eye(3), np.ones((4, 2))) * np.linspace(0.5, 1, 12)[:, None]
    y = np.full(12, "?", "U1")
    y[0], y[5] = "a", "b"
    data = {"K": Z @ Z.T} if form == "K" else {"features": Z}
    found = d2ke.lpdsk(y=y, unknown="?", **data)
    assert found.labels.tolist() == ["a"] * 4 + ["b"] * 4 + ["?"] * 4
    assert found.reached.tolist() == [True] * 8 + [False] * 4
    assert (found.scores[8:] == 0).all()


def test_components_of_features_chain():
    Z = np.array([[1.0, 1, 0, 0], [0, 1, 1, 0], [0, 0, 1, 0], [0, 0, 0, 1.0]])
    graph = FeatureKernel(Z).graph(np.full(4, 0.25), 2.0)
    assert graph.components().tolist() == [0, 0, 0, 1]


# The classifiers.


@given(SEEDS)
def test_kernel_classifier_scores(seed):
    K, _, y, _, lam = case(seed)
    model = d2ke.kernel_classifier_fit(K, y, lam=lam)
    expected = scores_by_definition(K, y, model.alpha, 3)
    labels, scores = d2ke.kernel_classifier_predict(model, K)
    assert scores == pytest.approx(np.array(expected), abs=1e-12)
    assert (labels == np.argmax(expected, axis=1)).all()
    assert model.objective == pytest.approx(objective_8(K, y, model.alpha, lam), abs=1e-10)
    for other in permutations(range(3)):  # no better at other points of the simplex
        weights = np.random.default_rng(other).dirichlet(np.ones(9))
        assert model.objective <= objective_8(K, y, weights, lam) + 1e-3 * abs(model.objective)


@pytest.mark.parametrize("risk", ["margin", "ise"])
def test_kernel_classifier_of_features(risk):
    X, y = blobs(90, spread=0.8)
    Z = np.c_[np.abs(X), np.exp(-np.abs(X)), np.exp(X / 4), np.exp(-X / 4)]
    a = d2ke.kernel_classifier_fit(Z @ Z.T, y, risk=risk)
    b = d2ke.kernel_classifier_fit(features=Z, y=y, risk=risk)
    assert b.objective == pytest.approx(a.objective, rel=1e-2)
    scores = d2ke.kernel_classifier_predict(b, features=Z)[1]
    direct = Z @ Z.T @ (b.alpha[:, None] * np.eye(3)[y])
    assert scores == pytest.approx(direct, abs=1e-9)


def smooth_solution(S, y, C, lam_plus, lam_minus):
    """Minimise the Similarity Machine's objective directly, with a smoothed hinge."""
    positive, negative = d2ke.psd_split(S)
    penalty, n, soft = lam_plus * positive + lam_minus * negative, len(S), 1e-4

    def loss(parameters):
        a, b = parameters[:n], parameters[n]
        z = (1 - y * (S @ a + b)) / soft
        value = a @ penalty @ a / 2 + C * soft * np.logaddexp(0, z).sum()
        slope = -C * y / (1 + np.exp(-np.clip(z, -500, 500)))
        return value, np.r_[penalty @ a + S @ slope, slope.sum()]

    start, options = np.zeros(n + 1), {"maxiter": 20_000, "maxfun": 40_000, "ftol": 1e-15,
                                       "gtol": 1e-9, "maxcor": 60}  # fmt: skip
    for soft in (1e-1, 1e-2, 1e-3, 1e-4):  # noqa: B007
        start = minimize(loss, start, jac=True, method="L-BFGS-B", options=options).x
    return S @ start[:n] + start[n]


@pytest.mark.parametrize(("lam_plus", "lam_minus"), [(1.0, 1.0), (0.5, 2.0)])
@pytest.mark.parametrize("seed", [0, 1])
def test_similarity_machine_is_the_direct_solution(seed, lam_plus, lam_minus):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(14, 2))
    S = np.tanh(X @ X.T - 0.5) + 0.3 * np.eye(14)
    assert np.linalg.eigvalsh(S)[0] < -0.05
    y = np.where(X[:, 0] + 0.3 * rng.normal(size=14) > 0, 1, -1)
    model = d2ke.similarity_machine_fit(
        S, y, C=1.0, lam_plus=lam_plus, lam_minus=lam_minus, tol=1e-8
    )
    decision = d2ke.similarity_machine_predict(model, S)[1][:, 0]
    direct = smooth_solution(S, y, 1.0, lam_plus, lam_minus)
    assert decision == pytest.approx(direct, abs=1e-3)


def test_similarity_machine_of_many_classes_and_of_a_kernel():
    X, y = blobs(90, c=3)
    K = d2ke.gaussian_gram(X, h=1.0)
    names = np.array(["x", "y", "z"])[y]
    model = d2ke.similarity_machine_fit(K[:60, :60], names[:60], C=10.0)
    labels, decision = d2ke.similarity_machine_predict(model, K[60:, :60])
    assert (labels == names[60:]).all()
    assert decision.shape == (30, 3)
    for column, name in enumerate("xyz"):  # of a kernel, the usual machine
        svm = d2ke.svmtrain(names[:60] == name, K[:60, :60], "-t 4 -c 10")
        usual = d2ke.svmpredict(None, K[60:, :60], svm)[2][:, 0]
        assert decision[:, column] == pytest.approx(usual, abs=5e-3)


# Bounds and measures.


def test_risk_bounds_by_their_formula():
    K, S, y, alpha, _ = case(5, n=12)
    n, c, margin, delta = 12, 3, 0.7, 0.1
    tail = np.sqrt(np.log(4 / delta) / (2 * n))

    def loss(M):
        scores = scores_by_definition(M, y, alpha, c)
        margins = [scores[i][y[i]] - max(scores[i][k] for k in range(c) if k != y[i])
                   for i in range(n)]  # fmt: skip
        return np.mean([min(1, max(0, 1 - m / margin)) for m in margins])

    def norm(M):
        return np.sqrt(sum(alpha[i] * alpha[j] * M[i, j] for i in range(n) for j in range(n)
                           if y[i] == y[j]))  # fmt: skip

    B = norm(K)
    expected = loss(K) + 8 * 5 * 3 * B / (margin * np.sqrt(n))
    expected += (8 * np.sqrt(2) * B * 3 * 5 / margin + 1) * tail
    assert d2ke.kernel_risk_bound(K, y, alpha, margin=margin, delta=delta) == pytest.approx(
        expected
    )
    positive, negative = d2ke.psd_split(S)
    B = (norm(positive) + norm(negative)) * np.sqrt(
        max(np.diag(positive).max(), np.diag(negative).max())
    )
    expected = loss(S) + 8 * 5 * 3 * B / (margin * np.sqrt(n)) + (16 * B * 15 / margin + 1) * tail
    found = d2ke.similarity_risk_bound(S, y, alpha, margin=margin, delta=delta)
    assert found == pytest.approx(expected)


def test_density_bound_holds():
    """Two normal densities, where the error is known: it exceeds the bound in none of 50 draws."""
    grid = np.linspace(-9, 9, 3601)
    step = grid[1] - grid[0]

    def normal(x, mean, sd=1.0):
        return np.exp(-((x - mean) ** 2) / (2 * sd * sd)) / (sd * np.sqrt(2 * np.pi))

    r = (normal(grid, -1.5) - normal(grid, 1.5)) / 2
    gaps = []
    for seed in range(50):
        rng = np.random.default_rng(seed)
        y = rng.integers(0, 2, 150)
        X = rng.normal(np.where(y == 0, -1.5, 1.5))
        alpha = rng.dirichlet(np.ones(150))
        estimate = (alpha * np.where(y == 0, 1, -1)) @ normal(grid, X[:, None], 0.5)
        error = ((estimate - r) ** 2 - r**2).sum() * step
        gaps.append(d2ke.density_error_bound(X[:, None], y, alpha, h=0.5, delta=0.1) - error)
    assert min(gaps) > 0


@given(SEEDS, st.integers(1, 5), st.integers(1, 5))
def test_measures_as_scikit_learn(seed, a, b):
    metrics = pytest.importorskip("sklearn.metrics")
    rng = np.random.default_rng(seed)
    y, labels = rng.integers(0, a, 30), rng.integers(0, b, 30)
    assert d2ke.normalized_mutual_information(y, labels) == pytest.approx(
        metrics.normalized_mutual_info_score(y, labels), abs=1e-10
    )
    most = max(
        sum(np.sum((y == i) & (labels == j)) for i, j in enumerate(order))
        for order in permutations(range(5))
    )
    assert d2ke.clustering_accuracy(y, labels) == pytest.approx(most / 30)


def test_bandwidth():
    X = np.random.default_rng(0).normal(size=(50, 3))
    D = np.linalg.norm(X[:, None] - X, axis=2)
    half = np.median(D[np.triu_indices(50, 1)]) / 2
    near = np.sort(D, axis=1)[:, 7].mean()
    assert d2ke.bandwidth(X) == pytest.approx(min(half, near))
    assert d2ke.bandwidth(X, n_neighbors=49) == pytest.approx(half)
    assert d2ke.bandwidth(1e3 * X) == pytest.approx(1e3 * d2ke.bandwidth(X))
    many = np.random.default_rng(0).normal(size=(2500, 2))
    assert 0 < d2ke.bandwidth(many) < 0.5
    K = d2ke.gaussian_gram(X, many[:, :1] @ np.ones((1, 3)), h=0.8)
    assert K[3, 4] == pytest.approx(np.exp(-((X[3] - many[4, 0]) ** 2).sum() / (2 * 0.64)))


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
    assert d2ke.clustering_accuracy(y, codes) > 0.94
    centres = np.array([V[codes == k].mean(axis=0) for k in range(5)])
    D = ((V[:, None] - centres) ** 2).sum(axis=2)
    assert D[np.arange(8040), codes] == pytest.approx(D.min(axis=1), abs=1e-9)


# Bad input.

GOOD = d2ke.gaussian_gram(blobs(12)[0], h=1.0)
ASYMMETRIC, WITH_NAN, EMPTY_ROW = GOOD.copy(), GOOD.copy(), GOOD.copy()
ASYMMETRIC[0, 1] += 0.1
WITH_NAN[2, 3] = np.nan
EMPTY_ROW[4] = EMPTY_ROW[:, 4] = 0
Y12 = np.arange(12) % 3
MARKED = np.where(np.arange(12) < 3, Y12, -1)

KERNELS = [
    ({"K": ASYMMETRIC}, ValueError, "K must be symmetric, but K"),
    ({"K": WITH_NAN}, ValueError, r"K has nan at position \(2, 3\)"),
    ({"K": GOOD[:6]}, ValueError, r"K must be square"),
    ({"K": np.where(np.eye(12) > 0, np.inf, GOOD)}, ValueError, r"K has inf at position \(0, 0\)"),
    ({"K": np.empty((0, 0))}, ValueError, "K must be square and not empty"),
    ({"K": GOOD[0]}, ValueError, "K must be two-dimensional"),
    ({"K": GOOD + 0j}, TypeError, "K must hold real numbers"),
    ({"points": np.empty((0, 3))}, ValueError, "points must have rows and columns"),
    ({"points": WITH_NAN}, ValueError, r"points has nan at position \(2, 3\)"),
    ({"features": np.empty((0, 3))}, ValueError, "features must have rows and columns"),
    ({"features": np.empty((12, 0))}, ValueError, "features must have rows and columns"),
    ({"features": WITH_NAN}, ValueError, r"features has nan at position \(2, 3\)"),
    ({"K": EMPTY_ROW}, ValueError, r"K\[4\] has zero similarity to every object"),
    ({"K": np.ones((12, 12))}, ValueError, "all objects are alike"),
    ({"K": -GOOD}, ValueError, "similarities of object 0 sum to 0"),
    ({"points": np.ones((12, 2))}, ValueError, "only equal points"),
    ({"points": np.ones((12, 2)), "h": 1.0}, ValueError, "all objects are alike"),
    ({"points": blobs(12)[0], "h": 0.0}, ValueError, "h must be a positive"),
    ({"points": blobs(12)[0], "h": "auto"}, TypeError, "h must be a positive number"),
    ({"features": np.ones((12, 4))}, ValueError, "all objects are alike"),
    ({"features": np.eye(12)[:, :11]}, ValueError, r"features\[11\] has zero similarity"),
    ({"features": GOOD - 0.5 * GOOD.mean()}, ValueError, "positive sum"),
    ({"features": np.full((12, 2), np.inf)}, ValueError, "inf"),
    ({"K": GOOD, "points": GOOD}, TypeError, "give one of K .* got K and points"),
    ({}, TypeError, "give one of K .* got none"),
    ({"K": GOOD, "h": 1.0}, TypeError, "h is the width of a kernel of points"),
    ({"features": GOOD, "similarity": "general"}, TypeError, "is for a matrix K"),
    ({"K": GOOD, "similarity": "any"}, ValueError, "similarity must be one of psd, general"),
    ({"K": GOOD, "lam": 0}, ValueError, "lam must be a positive"),
    ({"K": GOOD, "lam": -1.0}, ValueError, "lam must be a positive"),
    ({"K": GOOD, "lam": np.nan}, ValueError, "lam must be a positive"),
    ({"K": GOOD, "lam": np.inf}, ValueError, "lam must be a positive"),
    ({"K": GOOD, "lam": "1"}, TypeError, "lam must be a positive number"),
    ({"K": GOOD, "variant": "soft"}, ValueError, "variant must be one of hard, relaxed"),
    ({"K": GOOD, "risk": "other"}, ValueError, "risk must be one of margin, ise"),
    ({"K": GOOD, "trace_weight": 0}, ValueError, "trace_weight must be a positive"),
    ({"K": GOOD, "max_iter": 0}, ValueError, "max_iter must be at least 1"),
]


@pytest.mark.parametrize(("arguments", "error", "text"), KERNELS)
def test_bad_kernels(arguments, error, text):
    if "positive sum" in text:
        arguments = {"features": np.c_[np.ones(12), np.where(np.arange(12) < 11, 3.0, -30.0)]}
    with pytest.raises(error, match=text):
        d2ke.cdsk(n_clusters=3, **arguments)
    with pytest.raises(error, match=text):
        d2ke.lpdsk(y=MARKED, **arguments)


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ({"n_clusters": 13}, ValueError, "n_clusters must be between 2 and 12, got 13"),
        ({"n_clusters": 1}, ValueError, "n_clusters must be between 2 and 12, got 1"),
        ({"n_clusters": 0}, ValueError, "n_clusters must be between 2 and 12, got 0"),
        ({"n_clusters": -1}, ValueError, "n_clusters must be between 2 and 12, got -1"),
        ({"n_clusters": 2.0}, TypeError, "n_clusters must be an integer"),
        ({}, TypeError, "n_clusters is needed"),
        ({"n_clusters": 3, "smoothing": -0.1}, ValueError, "smoothing must be a positive"),
        ({"n_clusters": 3, "seed": -1}, ValueError, "seed must be at least 0"),
    ],
)
def test_bad_clustering(options, error, text):
    with pytest.raises(error, match=text):
        d2ke.cdsk(GOOD, **options)


@pytest.mark.parametrize(
    ("y", "options", "error", "text"),
    [
        (np.full(12, -1), {}, ValueError, "y has no label: every entry is the marker"),
        (MARKED[:11], {}, ValueError, "y has 11 labels, but K has 12 rows"),
        (np.where(MARKED < 0, np.nan, MARKED), {}, ValueError, r"y\[3\] is nan"),
        (np.where(MARKED < 0, np.inf, MARKED), {}, ValueError, r"y\[3\] is inf"),
        ([], {}, ValueError, "y has 0 labels, but K has 12 rows"),
        (["a", 1] + [""] * 10, {"unknown": ""}, TypeError, "use labels of one type"),
        (MARKED.reshape(3, 4), {}, ValueError, "one-dimensional"),
        (MARKED.astype(str), {}, TypeError, "unknown must be a label of y's type"),
        (MARKED, {"unknown": None}, TypeError, "unknown must be a label of y's type"),
        (MARKED, {"unknown": [1, 2]}, TypeError, "unknown must be a label of y's type"),
        (None, {}, TypeError, "y, the labels, is needed"),
    ],
)
def test_bad_labels(y, options, error, text):
    with pytest.raises(error, match=text):
        d2ke.lpdsk(GOOD, y, **options)


def test_labels_have_no_range():
    """Every value but the marker is a class, a negative one, too."""
    far = np.where(Y12 == 2, -2, 10**12 * Y12)
    found = d2ke.lpdsk(GOOD, np.where(np.arange(12) < 3, far, -1))
    assert found.classes.tolist() == [-2, 0, 10**12]
    assert (found.labels == far).all()
    model = d2ke.kernel_classifier_fit(GOOD, far)
    assert (d2ke.kernel_classifier_predict(model, GOOD)[0] == far).all()


def test_as_many_clusters_as_points():
    assert d2ke.cdsk(GOOD, 12).labels.tolist() == list(range(12))
    with pytest.raises(ValueError, match="n_clusters must be between 2 and 3, got 4"):
        d2ke.cdsk(points=[[0.0], [1.0], [3.0]], n_clusters=4)
    with pytest.raises(ValueError, match="n_clusters must be between 2 and 3, got 4"):
        d2ke.cdsk(features=np.eye(3) + 1, n_clusters=4)


def test_more_clusters_than_different_points():
    """Equal points are divided then, and different ones never joined."""
    y = np.repeat([0, 1], 6)
    found = d2ke.cdsk(points=y[:, None] * 1.0, h=0.5, n_clusters=3)
    assert sorted(set(found.labels.tolist())) == [0, 1, 2]
    assert not set(found.labels[:6].tolist()) & set(found.labels[6:].tolist())


def test_bad_classifiers():
    with pytest.raises(ValueError, match="y holds one class only"):
        d2ke.kernel_classifier_fit(GOOD, np.zeros(12))
    with pytest.raises(ValueError, match="y has 3 labels, but K has 12"):
        d2ke.kernel_classifier_fit(GOOD, [0, 1, 2])
    for lam in (0, -1.0, np.nan):
        with pytest.raises(ValueError, match="lam must be"):
            d2ke.kernel_classifier_fit(GOOD, Y12, lam=lam)
    for K, text in (
        (ASYMMETRIC, "K must be symmetric"),
        (WITH_NAN, "K has nan"),
        (EMPTY_ROW, r"K\[4\] has zero similarity"),
        (np.ones((12, 12)), "all objects are alike"),
    ):
        with pytest.raises(ValueError, match=text):
            d2ke.kernel_classifier_fit(K, Y12)
    with pytest.raises(ValueError, match=r"y\[0\] is nan"):
        d2ke.kernel_classifier_fit(GOOD, np.where(Y12 == 0, np.nan, Y12))
    with pytest.raises(TypeError, match="y, the labels"):
        d2ke.kernel_classifier_fit(GOOD)
    model = d2ke.kernel_classifier_fit(GOOD, Y12)
    with pytest.raises(TypeError, match="the model needs K_new"):
        d2ke.kernel_classifier_predict(model, features=GOOD)
    with pytest.raises(ValueError, match="K_new has 5 columns"):
        d2ke.kernel_classifier_predict(model, GOOD[:, :5])
    with pytest.raises(TypeError, match="must be a KernelClassifier"):
        d2ke.kernel_classifier_predict(None, GOOD)
    for options, text in (
        ({"C": 0}, "C must be"),
        ({"lam_plus": -1}, "lam_plus must be"),
        ({"lam_minus": 0}, "lam_minus must be"),
        ({"lam_minus": np.inf}, "lam_minus must be"),
    ):
        with pytest.raises(ValueError, match=text):
            d2ke.similarity_machine_fit(GOOD, Y12, **options)
    with pytest.raises(ValueError, match="S must be symmetric"):
        d2ke.similarity_machine_fit(ASYMMETRIC, Y12)
    with pytest.raises(ValueError, match=r"S has nan at position \(2, 3\)"):
        d2ke.similarity_machine_fit(WITH_NAN, Y12)
    with pytest.raises(ValueError, match="one class only"):
        d2ke.similarity_machine_fit(GOOD, np.zeros(12))
    machine = d2ke.similarity_machine_fit(GOOD, Y12)
    with pytest.raises(ValueError, match="S_new has 5 columns"):
        d2ke.similarity_machine_predict(machine, GOOD[:, :5])
    with pytest.raises(TypeError, match="must be a SimilarityMachine"):
        d2ke.similarity_machine_predict(model, GOOD)
    with pytest.raises(ValueError, match="S has nan"):
        d2ke.psd_split(WITH_NAN)


def test_bad_bounds_and_measures():
    alpha = np.full(12, 1 / 12)
    with pytest.raises(ValueError, match="delta must be between 0 and 1"):
        d2ke.kernel_risk_bound(GOOD, Y12, alpha, delta=1.0)
    with pytest.raises(ValueError, match="alpha must sum to 1"):
        d2ke.kernel_risk_bound(GOOD, Y12, 2 * alpha)
    with pytest.raises(ValueError, match="kernels without negative values"):
        d2ke.kernel_risk_bound(GOOD - 0.5, Y12, alpha)
    with pytest.raises(ValueError, match="margin must be at least the largest value of K"):
        d2ke.kernel_similarity_bound(GOOD, Y12, alpha, margin=0.5)
    with pytest.raises(ValueError, match="y must have two classes, got 3"):
        d2ke.density_error_bound(blobs(12)[0], Y12, alpha, h=1.0)
    with pytest.raises(ValueError, match="y has 12 labels, but labels has 11"):
        d2ke.clustering_accuracy(Y12, Y12[:11])
    with pytest.raises(ValueError, match="y is empty"):
        d2ke.normalized_mutual_information([], [])
    with pytest.raises(ValueError, match="X has only one point"):
        d2ke.bandwidth([[1.0, 2.0]])
    with pytest.raises(ValueError, match="Y has 3 columns, but X has 2"):
        d2ke.gaussian_gram(np.eye(2), np.ones((1, 3)), h=1.0)
