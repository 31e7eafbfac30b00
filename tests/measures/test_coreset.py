# SPDX-License-Identifier: BSD-3-Clause
"""Coresets: their promises, and the compiled choices against slow ones."""

import math

import numpy as np
import pytest
import reference
from hypothesis import given
from hypothesis import strategies as st

import d2ke
from d2ke._ext import coresets, pair_sums
from d2ke.distances import clouds
from d2ke.measures import coreset, coreset_methods, coreset_search, kernels
from d2ke.measures.kernels import Kernel
from d2ke.measures.measure import as_measure

CHOOSING = ("random", "zorder", "halving", "herding", "thinning")
METHODS = ("sorted", *CHOOSING)


def distance(P, S, sigma, kernel="gaussian", w=None):
    P = np.asarray(P, dtype=float).reshape(len(P), -1)
    squared = reference.kernel_distance_squared(P, P[S.indices], sigma, kernel, w, S.weights)
    return math.sqrt(max(squared, 0))


@st.composite
def weighted_points(draw, dims=(1, 2, 3, 5)):
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    n, d = draw(st.integers(1, 60)), draw(st.sampled_from(dims))
    P = rng.standard_normal((n, d))
    style = draw(st.sampled_from(["normal", "grid", "far", "equal", "outlier"]))
    if style == "grid":
        P = np.round(P)
    elif style == "far":
        P += 1e6
    elif style == "equal":
        P[:] = P[0]
    elif style == "outlier":
        P[0] = 1e12
    w = draw(st.sampled_from([None, "positive", "signed", "one heavy"]))
    if w is not None:
        w = {"positive": rng.random(n) + 0.01, "signed": rng.standard_normal(n) + 0.01,
             "one heavy": np.where(np.arange(n) == 0, 50.0, 0.5)}[w]  # fmt: skip
    return P, w, draw(st.integers(1, n)), draw(st.sampled_from([0.05, 0.7, 20.0]))


# ---- promises


@given(
    drawn=weighted_points(),
    method=st.sampled_from(CHOOSING),
    kernel=st.sampled_from(["gaussian", "laplace"]),
)
def test_coreset(drawn, method, kernel):
    P, w, m, sigma = drawn
    S = d2ke.kernel_coreset(P, m, sigma=sigma, weights_p=w, kernel=kernel, method=method)
    W = len(P) if w is None else np.abs(w).sum()
    assert S.total == pytest.approx(W)
    assert S.indices.dtype == np.int64
    assert S.weights.dtype == np.float64
    assert len(S) == len(S.indices) == len(S.weights) == m
    assert S.indices.min() >= 0
    assert S.indices.max() < len(P)
    assert np.abs(S.weights).sum() == pytest.approx(W)
    if w is None:
        assert len(set(S.indices.tolist())) == m
    else:
        assert (np.sign(S.weights) == np.sign(w[S.indices])).all()
    if m < len(P):
        assert np.allclose(np.abs(S.weights), W / m)
    else:
        assert S.distance <= 1e-15 * W  # equal points are added up in another order
    assert S.distance_method == "exact"
    # The square cancels: its error is relative to W^2.
    assert S.distance**2 == pytest.approx(distance(P, S, sigma, kernel, w) ** 2, abs=1e-13 * W**2)
    again = d2ke.kernel_distance(
        P, P[S.indices], sigma=sigma, kernel=kernel, weights_p=w, weights_q=S.weights
    )
    assert S.distance == pytest.approx(again, abs=1e-9 * W)
    if method in ("zorder", "halving", "thinning"):
        # What is random about the latter two holds with probability 0.99 or more, or
        # for certain with a single block, as here.
        assert S.distance <= S.bound + 1e-7 * W


@given(drawn=weighted_points(dims=(1,)), kernel=st.sampled_from(["gaussian", "laplace"]))
def test_sorted_keeps_its_bound(drawn, kernel):
    P, w, m, sigma = drawn
    S = d2ke.kernel_coreset(P[:, 0], m, sigma=sigma, weights_p=w, kernel=kernel, method="sorted")
    assert distance(P, S, sigma, kernel, w) <= S.bound + 1e-7 * S.total


@pytest.mark.parametrize("kernel", ["gaussian", "laplace"])
def test_sorted_line_bound(kernel):
    # The bound by the distribution functions, without the one by moving masses.
    rng = np.random.default_rng(0)
    for n, m, sigma in [(200, 10, 0.1), (101, 7, 1.0), (500, 100, 0.02)]:
        P = np.sort(rng.random((n, 1)) ** 2, axis=0)
        factor = 1 if kernel == "laplace" else math.exp(-0.5)
        S = d2ke.kernel_coreset(P, m, sigma=sigma, kernel=kernel, method="sorted")
        assert S.distance <= n / m * math.sqrt(np.ptp(P) / sigma * factor)
        ranks = np.searchsorted(P[S.indices, 0], P[:, 0], side="right") / m
        assert np.abs(ranks - np.arange(1, n + 1) / n).max() <= 0.5 / m + 1e-12
    assert d2ke.kernel_coreset(P, sigma=1.0, eps=0.01, method="sorted").distance <= 0.01 * n


@pytest.mark.parametrize("weights", ["equal", "positive", "signed"])
def test_random_keeps_its_guarantee(weights):
    rng = np.random.default_rng(3)
    P, delta, eps = rng.random((400, 2)), 0.2, 0.25
    w = {"equal": None, "positive": rng.random(400), "signed": rng.standard_normal(400)}[weights]
    W = 400 if w is None else np.abs(w).sum()
    given = {"sigma": 0.05, "weights_p": w, "method": "random"}
    missed, squares = 0, []
    for seed in range(200):
        S = d2ke.kernel_coreset(P, eps=eps, delta=delta, seed=seed, **given)
        missed += S.distance > eps * W
        squares.append((S.distance / W) ** 2)
    factor = 2 if weights == "signed" else 1
    assert len(S) == math.ceil(((1 + math.sqrt(factor * math.log(1 / delta))) / eps) ** 2)
    assert eps * 0.98 * W <= S.bound <= eps * W
    assert missed <= 200 * delta
    # E D_K^2 = (1 - kappa / W^2) / m, and less without replacement.
    kappa = d2ke.measures.kernel_norm(P, sigma=0.05, weights_p=w) ** 2 / W**2
    expected = (1 - kappa) / len(S)
    if weights == "equal":
        expected *= (400 - len(S)) / 399
    assert np.mean(squares) == pytest.approx(expected, rel=0.12)


@pytest.mark.parametrize("weighted", [True, pytest.param(False, marks=pytest.mark.slow)])
def test_reduced_judges(monkeypatch, weighted):
    P = np.random.default_rng(0).random((1200, 2))
    monkeypatch.setattr(coreset_methods, "_FEW", 100)
    monkeypatch.setattr(coreset_methods, "_PAIRS", 50_000)
    monkeypatch.setattr(coreset, "EXACT", 500)
    monkeypatch.setattr(coreset_methods, "_BLOCK", 64)
    monkeypatch.setattr(coreset_methods, "_LAST_BLOCK", 64)
    weights = np.random.default_rng(1).random(1200) if weighted else None
    given = {"sigma": 0.3, "weights_p": weights}
    random = d2ke.kernel_coreset(P, 16, method="random", **given)
    for method in ("halving", "herding", "thinning"):
        S = d2ke.kernel_coreset(P, 16, method=method, **given)
        assert S.distance < 0.5 * random.distance
        assert S.distance_method == "rff"
        true = distance(P, S, 0.3, w=weights)
        assert abs(S.distance - true) < 5 * S.standard_error
        if S.bound is not None:
            assert true < S.bound


def test_shapes():
    rng = np.random.default_rng(0)
    angle = np.linspace(0, 2 * np.pi, 600)
    circle = d2ke.curve(np.stack([np.cos(angle), np.sin(angle)], axis=1))
    faces = np.array([[0, 1, 2], [1, 2, 3], [2, 3, 4], [0, 3, 4]])
    surface = d2ke.mesh(rng.random((5, 3)), faces, gap=0.05)
    loose = d2ke.curve(rng.random((50, 2)), oriented=False, gap=0.05)
    for shape in (circle, surface, loose):
        m = len(shape) // 8
        found = {}
        for method in CHOOSING:
            S = d2ke.kernel_coreset(shape, m, sigma=0.3, method=method)
            assert S.measure.kind == shape.kind
            assert S.measure.total == pytest.approx(shape.total)
            assert np.allclose(S.weights, shape.total / m)
            assert (S.measure.points == shape.points[S.indices]).all()
            given = d2ke.kernel_distance(shape, S.measure, sigma=0.3)
            assert S.distance == pytest.approx(given, abs=1e-9)
            if S.bound is not None and method != "random":
                assert S.distance <= S.bound
            found[method] = S.distance
        assert found["thinning"] < 0.3 * found["random"]


def test_weights_of_zero_are_left_out():
    P, w = np.arange(6.0), np.array([0, 1, 0, 2, 0, 3.0])
    S = d2ke.kernel_coreset(P, 5, sigma=1.0, weights_p=w)
    assert S.indices.tolist() == [1, 3, 5]
    assert S.weights.tolist() == [1, 2, 3]
    assert (S.distance, S.bound) == (0, 0)


def test_many_dimensions_and_ties():
    P = np.random.default_rng(0).integers(0, 2, (500, 100)).astype(float)
    for method in CHOOSING:
        S = d2ke.kernel_coreset(P, 60, sigma=5.0, method=method)
        assert len(np.unique(S.indices)) == 60
    P = np.repeat(np.arange(4.0), 100)
    for method in METHODS:
        S = d2ke.kernel_coreset(P, 8, sigma=0.5, method=method)
        assert len(np.unique(S.indices)) == 8
        if method != "random":
            assert np.bincount(P[S.indices].astype(int)).tolist() == [2, 2, 2, 2]
            assert S.distance < 1e-6


def test_choice_of_auto():
    assert coreset_methods.choose_method(10**7, 1000, 1) == "sorted"
    assert coreset_methods.choose_method(10**7, 1000, 2) == "thinning"
    assert coreset_methods.choose_method(10**7, 10**5, 2) == "halving"
    assert coreset_methods.choose_method(10**4, 5000, 2) == "thinning"


# ---- the compiled choices


@pytest.mark.parametrize(("dim", "bits"), [(1, 5), (2, 1), (2, 4), (3, 3), (5, 2), (7, 1)])
def test_hilbert_curve_visits_neighbours(dim, bits):
    grid = np.stack(np.meshgrid(*[np.arange(2**bits)] * dim, indexing="ij"), -1).reshape(-1, dim)
    keys = coresets.hilbert_keys(grid.astype(np.uint32), bits, 1)
    assert keys.shape == (1, len(grid))
    path = grid[np.argsort(keys[0])]
    assert len(np.unique(keys)) == len(grid)
    assert (np.abs(np.diff(path, axis=0)).sum(axis=1) == 1).all()


def test_hilbert_keys_of_several_words():
    rng = np.random.default_rng(0)
    cells = rng.integers(0, 4, (10_000, 5)).astype(np.uint32)
    short = coresets.hilbert_keys(cells, 2, 1)[0] >> np.uint64(54)
    # A finer grid's curve visits the coarse cells in an order of the same kind.
    fine = coresets.hilbert_keys(
        cells << 18 | rng.integers(0, 2**18, cells.shape, np.uint32), 20, 3
    )
    assert fine.shape == (2, 10_000)
    assert (fine[0] >> np.uint64(54) == short).all()


def gram(points, units, sigma, kernel="gaussian"):
    return reference.kernel_values(points, points, sigma, kernel) * (units @ units.T)


def some_points(rng, n, d, r):
    points, units = rng.standard_normal((n, d)), rng.standard_normal((n, r))
    return points, units / np.linalg.norm(units, axis=1)[:, None]


@given(seed=st.integers(0, 2**32), n=st.integers(1, 20), d=st.sampled_from([1, 2, 4]),
       r=st.sampled_from([1, 3]), kernel=st.sampled_from(["gaussian", "laplace"]))  # fmt: skip
def test_balanced_signs(isa, seed, n, d, r, kernel):
    rng = np.random.default_rng(seed)
    points, units = some_points(rng, 2 * n, d, r)
    if seed % 2:
        points, units = np.round(points), np.sign(units[:, :1])
    K = gram(points, units, 0.8, kernel)
    width = 2 * n + pair_sums.PADDING
    coins = (2 * rng.integers(0, 2, (1, width)) - 1).astype(np.int8)
    arrays = [coreset_methods._blocked(a, 2 * n, 1, width) for a in (points, units)]
    signs, norms = coresets.balanced_signs(
        *arrays, np.array([2 * n]), coins, kernel == "laplace", kernels.decay(kernel, 0.8), 1
    )
    total = np.zeros(2 * n)  # signed combination of the points
    for i in range(n):
        step = np.zeros(2 * n)
        step[2 * i], step[2 * i + 1] = 1, -1
        plus, minus = ((total + s * step) @ K @ (total + s * step) for s in (1, -1))
        sign = signs[0, i]
        if abs(plus - minus) > 1e-9:
            assert sign == (1 if plus < minus else -1)
        elif i == 0:
            assert sign == coins[0, 0]
        total += sign * step
    assert norms[0] == pytest.approx(total @ K @ total, abs=1e-9)


@given(seed=st.integers(0, 2**32), n=st.integers(1, 40), r=st.sampled_from([1, 3]),
       distinct=st.booleans())  # fmt: skip
def test_herding(isa, seed, n, r, distinct):
    rng = np.random.default_rng(seed)
    points, units = some_points(rng, n, 2, r)
    if seed % 2:
        points = np.round(points)
    m = int(rng.integers(1, n + 1))
    K = gram(points, units, 0.8)
    mean = K.mean(axis=1)
    chosen = coresets.herd(
        clouds.cloud(points),
        clouds.cloud(units),
        mean,
        m,
        False,
        kernels.decay("gaussian", 0.8),
        distinct,
    )
    for t in range(m):
        # In each turn the distance of the t + 1 points is as small as it can be.
        errors = {
            j: K.mean() + K[np.ix_(S, S)].mean() - 2 * mean[S].mean()
            for j in range(n)
            if not (distinct and j in chosen[:t])
            for S in [[*chosen[:t], j]]
        }
        assert errors[chosen[t]] <= min(errors.values()) + 1e-9


@given(seed=st.integers(0, 2**32), n=st.integers(2, 40), r=st.sampled_from([1, 3]),
       distinct=st.booleans())  # fmt: skip
def test_swaps(isa, seed, n, r, distinct):
    rng = np.random.default_rng(seed)
    points, units = some_points(rng, n, 2, r)
    m = int(rng.integers(1, n))
    K = gram(points, units, 0.8)
    mean = K.mean(axis=1)
    start = rng.choice(n, m, replace=not distinct)

    def error(S):
        return K.mean() + K[np.ix_(S, S)].mean() - 2 * mean[S].mean()

    expected = start.copy()
    passes = 0
    while passes < 3:
        before = expected.copy()
        for i in range(m):
            others = np.delete(expected, i)
            allowed = [j for j in range(n) if not (distinct and j in others)]
            errors = {j: error([*others, j]) for j in allowed}
            best = min(errors, key=errors.get)
            if errors[best] < errors[expected[i]] - 1e-11:
                expected[i] = best
        passes += 1
        if (before == expected).all():
            break
    both = clouds.cloud(points), clouds.cloud(units)
    field = np.zeros(both[0].shape[1])
    field[:n] = m * mean - K[:, start].sum(axis=1)
    chosen = start.copy()
    made, gain = coresets.swap(
        *both, field, n, chosen, 3, 1e-12, False, kernels.decay("gaussian", 0.8), distinct
    )
    assert chosen.tolist() == expected.tolist()
    assert made == passes
    assert gain / m**2 == pytest.approx(error(start) - error(chosen), abs=1e-9)


def test_halving_is_the_slow_one(monkeypatch):
    # The same order and coins, in plain Python: halves of halves down to 8 points.
    P = np.random.default_rng(0).standard_normal((64, 3))
    K = gram(P, np.ones((64, 1)), 0.7)
    atoms = coreset_methods.Atoms.of(as_measure("P", P), Kernel("gaussian", 0.7), 1)
    order = coreset_methods._along_curve(atoms, np.random.default_rng(4))
    rng = np.random.default_rng(4)
    rng.random(3)  # the curve's shift
    kept = order
    for _ in range(3):
        width = len(kept) + pair_sums.PADDING
        coins = 2 * rng.integers(0, 2, (1, width)) - 1
        field, half = np.zeros(64), []
        for i, (p, q) in enumerate(kept.reshape(-1, 2)):
            alpha = field[p] - field[q]
            sign = coins[0, i] if alpha == 0 else -np.sign(alpha)
            field += sign * (K[p] - K[q])
            half.append(p if sign > 0 else q)
        kept = np.array(half)
    S = d2ke.kernel_coreset(P, 8, sigma=0.7, method="halving", seed=4)
    assert S.indices.tolist() == kept.tolist()


# ---- the size that is verified


@given(
    drawn=weighted_points(),
    method=st.sampled_from(("auto", "zorder", "halving", "herding", "thinning")),
    kernel=st.sampled_from(["gaussian", "laplace"]),
    eps=st.sampled_from([0.02, 0.1, 0.4]),
)
def test_eps_is_verified(drawn, method, kernel, eps):
    P, w, _, sigma = drawn
    given = {"sigma": sigma, "weights_p": w, "kernel": kernel}
    S = d2ke.kernel_coreset(P, eps=eps, method=method, **given)
    W = len(P) if w is None else np.abs(w).sum()
    assert S.distance <= eps * W
    # The square cancels: its error is relative to W^2.
    assert distance(P, S, sigma, kernel, w) ** 2 <= (eps * W) ** 2 + 1e-12 * W**2
    random = d2ke.kernel_coreset(P, eps=eps, method="random", evaluate=False, **given)
    proven = d2ke.kernel_coreset(P, eps=eps, method=method, evaluate=False, **given)
    if proven.method == "sorted":  # on the line its own bound may need fewer
        assert len(proven) <= len(random)
    else:
        assert len(proven) == len(random)
    assert proven.distance is None


@given(seed=st.integers(0, 10**6), eps=st.sampled_from([0.03, 0.1, 0.3]))
def test_no_smaller_sorted_coreset_is_within_eps(seed, eps):
    """Points on a line, whose coresets are not random: the next smaller one is not within eps."""
    P = np.random.default_rng(seed).standard_normal(80)
    S = d2ke.kernel_coreset(P, eps=eps, sigma=0.5)
    assert S.method == "sorted"
    if len(S) > 1:
        smaller = d2ke.kernel_coreset(P, len(S) - 1, sigma=0.5)
        assert distance(P, smaller, 0.5) > eps * 80 - 1e-6


def test_verified_by_random_frequencies(monkeypatch):
    monkeypatch.setattr(coreset, "EXACT", 500)
    monkeypatch.setattr(coreset_search, "EXACT", 500)
    P = np.random.default_rng(1).random((800, 3))
    for eps in (0.03, 0.2):
        S = d2ke.kernel_coreset(P, eps=eps, sigma=0.4)
        assert S.distance_method == "rff"
        assert S.distance <= eps * 800
        assert distance(P, S, 0.4) <= 1.1 * eps * 800
        assert len(S) < 100


def test_estimate_above_eps_means_a_larger_coreset(monkeypatch):
    """Where the search's random frequencies say yes and others no, more points are taken."""
    P = np.random.default_rng(1).random((300, 2))
    exact = d2ke.kernel_coreset(P, eps=0.05, sigma=0.4)
    monkeypatch.setattr(coreset_search.Verifier, "squared", lambda self, chosen: 0.0)
    S = d2ke.kernel_coreset(P, eps=0.05, sigma=0.4)
    assert S.distance <= 0.05 * 300
    assert len(S) <= 2 * len(exact)
