# SPDX-License-Identifier: BSD-3-Clause
"""Selection of features by alignment, against a general solver and direct sums."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

import d2ke
from d2ke.embedding.feature_selection import best_weights

values = st.lists(st.integers(0, 12).map(lambda v: v / 4), min_size=2, max_size=12).map(np.array)


def divergence(q):
    return len(q) * (q @ q) - 1


@given(a=values, rho=st.floats(0.01, 15))
def test_weights_are_optimal(a, rho):
    """Feasible, and meeting the conditions of Karush, Kuhn and Tucker."""
    q = best_weights(a, rho)
    assert q.min() >= 0
    assert_allclose(q.sum(), 1, rtol=1e-12)
    assert divergence(q) <= rho * (1 + 1e-9)
    if divergence(q) < rho * (1 - 1e-6):
        # The constraint is idle: all weight is on the largest values.
        assert_allclose(q @ a, a.max(), rtol=1e-12)
        return
    # a - 2 nu q = tau where q > 0, and a <= tau elsewhere, with nu >= 0.
    some = q > 1e-12
    design = np.column_stack([2 * q[some], np.ones(some.sum())])
    if np.ptp(q[some]) > 1e-9:
        nu, tau = np.linalg.lstsq(design, a[some], rcond=None)[0]
        assert nu >= 0
        assert_allclose(design @ [nu, tau], a[some], atol=1e-7)
        assert (a[~some] <= tau + 1e-7).all()
    else:
        assert a[some].min() >= a[~some].max(initial=-np.inf)
    assert q @ a >= a.mean() - 1e-12


def test_extreme_balls():
    a = np.array([1.0, 3.0, 3.0, 0.0])
    assert_allclose(best_weights(a, 0), 0.25)
    assert_allclose(best_weights(a, 1.0), [0, 0.5, 0.5, 0])
    assert_allclose(best_weights(a, 99.0), [0, 0.5, 0.5, 0])
    assert_allclose(best_weights(np.full(3, 2.0), 5.0), 1 / 3)
    # Values that are huge, or differ in their last digits only.
    for values in (a * 1e200, 1 + a * 1e-12):
        assert_allclose(best_weights(values, 0.3), best_weights(a, 0.3), rtol=2e-3)


def problem(n=60, N=40, n_classes=3, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % n_classes
    return rng.uniform(0, 1, (n, N)) / np.sqrt(N), rng.permutation(y)


@pytest.mark.parametrize("n_classes", [2, 3, 5])
@pytest.mark.parametrize("centre", [True, False])
def test_alignment_is_the_double_sum(n_classes, centre):
    Z, y = problem(n=23, N=7, n_classes=n_classes)
    n, N = Z.shape
    a = d2ke.embedding.select_features(Z, y, 2, centre=centre).alignment
    for m in range(N):
        K = N * np.outer(Z[:, m], Z[:, m])
        if centre:
            H = np.eye(n) - 1 / n
            K = H @ K @ H
        wanted = 0
        for c in [1] if n_classes == 2 else range(n_classes):
            sign = np.where(y == c, 1, -1)
            wanted += sum(sign[i] * sign[j] * K[i, j] for i in range(n) for j in range(n))
        assert_allclose(a[m], wanted / n**2, rtol=1e-9, atol=1e-15)
    single = d2ke.embedding.select_features(Z.astype(np.float32), y, 2, centre=centre).alignment
    assert_allclose(single, a, rtol=1e-3, atol=1e-6)


@given(seed=st.integers(0, 999), R=st.integers(1, 40), rho=st.floats(0, 20))
def test_permuted_columns_permute_the_result(seed, R, rho):
    Z, y = problem(seed=seed % 7)
    order = np.random.default_rng(seed).permutation(Z.shape[1])
    one = d2ke.embedding.select_features(Z, y, R, rho=rho)
    other = d2ke.embedding.select_features(Z[:, order], y, R, rho=rho)
    assert_allclose(other.alignment, one.alignment[order], rtol=1e-9)
    assert_allclose(other.q, one.q[order], rtol=1e-6, atol=1e-12)
    assert sorted(order[other.indices]) == one.indices.tolist()
    weights = dict(zip(order[other.indices], other.weights, strict=True))
    assert_allclose([weights[i] for i in one.indices], one.weights, rtol=1e-5, atol=1e-6)


@given(seed=st.integers(0, 99), rho=st.floats(0.5, 30))
def test_kept_columns_give_the_kernel_of_q(seed, rho):
    Z, y = problem(seed=seed)
    chosen = d2ke.embedding.select_features(Z, y, 40, rho=rho)
    assert (np.diff(chosen.indices) > 0).all()
    np.testing.assert_array_equal(chosen.indices, np.flatnonzero(chosen.q))
    assert_allclose(chosen.q, best_weights(chosen.alignment, rho))
    K = 40 * (Z * chosen.q) @ Z.T
    assert_allclose(chosen.apply(Z) @ chosen.apply(Z).T, K, rtol=1e-9)
    # Fewer: the best ones, in the same proportions, on the same scale.
    fewer = d2ke.embedding.select_features(Z, y, 2, rho=rho)
    assert set(fewer.indices) <= set(np.argsort(-chosen.alignment)[:2])
    some = chosen.weights[np.searchsorted(chosen.indices, fewer.indices)]
    assert_allclose(fewer.weights / some, (fewer.weights / some)[0])
    assert_allclose(fewer.weights @ fewer.weights, 40)


def test_centring_ignores_the_mean():
    Z, y = problem(n=200)
    y[:20] = 0  # classes of unequal size
    Z[:, 3] += 0.02 * (y == 1)
    shift = np.linspace(0, 3, 40)
    plain = d2ke.embedding.select_features(Z, y, 5)
    shifted = d2ke.embedding.select_features(Z + shift, y, 5)
    assert 3 in plain.indices
    np.testing.assert_array_equal(plain.indices, shifted.indices)
    assert_allclose(plain.weights, shifted.weights, rtol=1e-6)
    not_centred = d2ke.embedding.select_features(Z + shift, y, 5, centre=False)
    assert not_centred.indices.tolist() == [35, 36, 37, 38, 39]


def test_columns_that_tie():
    Z, y = problem(N=4)
    Z = np.repeat(Z[:, :1], 4, axis=1)
    chosen = d2ke.embedding.select_features(Z, y, 2)
    assert chosen.indices.tolist() == [0, 1]
    assert_allclose(chosen.q, 0.25)
    assert_allclose(chosen.weights, np.sqrt(2))
