# SPDX-License-Identifier: BSD-3-Clause
"""Two-sample tests against enumeration, plain permutations and their promise."""

import math
from itertools import combinations

import numpy as np
import pytest
import reference
from hypothesis import given
from hypothesis import strategies as st

import d2ke


def squared(K, chosen):
    """D_K^2 of the chosen objects and the others, by loops."""
    n, total = len(chosen), len(K)
    w = [1 / n if i in chosen else -1 / (total - n) for i in range(total)]
    return sum(w[i] * w[j] * K[i][j] for i in range(total) for j in range(total))


def by_enumeration(K, n):
    """The p-value of all divisions."""
    observed = squared(K, set(range(n)))
    all_of_them = [squared(K, set(chosen)) for chosen in combinations(range(len(K)), n)]
    return sum(value >= observed - 1e-9 for value in all_of_them) / len(all_of_them)


@given(
    seed=st.integers(0, 10**6),
    n=st.integers(1, 4),
    m=st.integers(1, 4),
    grid=st.booleans(),
    kernel=st.sampled_from(["gaussian", "laplace"]),
)
def test_all_divisions(seed, n, m, grid, kernel):
    rng = np.random.default_rng(seed)
    P, Q = rng.normal(size=(n, 2)), rng.normal(size=(m, 2)) + 0.5
    if grid:
        P, Q = np.round(P), np.round(Q)  # ties
    pooled = np.concatenate([P, Q])
    test = d2ke.kernel_two_sample_test(P, Q, sigma=0.8, kernel=kernel)
    K = reference.kernel_values(pooled, pooled, 0.8, kernel)
    assert test.exact
    assert len(test.null) == math.comb(n + m, n)
    assert test.p_value == pytest.approx(by_enumeration(K, n))
    assert test.distance**2 == pytest.approx(squared(K, set(range(n))), abs=1e-12)
    assert (np.diff(test.null) >= 0).all()
    for other in (
        d2ke.measures.gram_two_sample_test(K, n),
        d2ke.measures.features_two_sample_test(np.linalg.cholesky(K + 1e-12 * np.eye(n + m)), n),
        d2ke.kernel_two_sample_test(
            P,
            Q,
            sigma=None,
            kernel=lambda X, Y: reference.kernel_values(np.array(X), np.array(Y), 0.8, kernel),
        ),
    ):
        assert other.p_value == pytest.approx(test.p_value)
        assert other.distance == pytest.approx(test.distance, abs=1e-5)


def test_plain_permutations():
    """Random divisions: the p-value is that of a loop over the same permutations."""
    rng = np.random.default_rng(1)
    P, Q = rng.normal(size=(15, 3)), rng.normal(size=(12, 3)) + 0.4
    pooled = np.concatenate([P, Q])
    K = reference.kernel_values(pooled, pooled, 1.0)
    test = d2ke.kernel_two_sample_test(P, Q, sigma=1.0, n_permutations=150, seed=7)
    first = np.arange(27) < 15
    shuffle = np.random.default_rng(7)
    observed = squared(K, set(range(15)))
    drawn = [
        squared(K, set(np.flatnonzero(shuffle.permutation(first)).tolist())) for _ in range(150)
    ]
    assert not test.exact
    assert test.p_value == (1 + sum(value >= observed for value in drawn)) / 151
    np.testing.assert_allclose(test.null**2, np.maximum(np.sort(drawn), 0), atol=1e-12)
    by_features = d2ke.measures.features_two_sample_test(
        np.linalg.cholesky(K), 15, n_permutations=150, seed=7
    )
    assert by_features.p_value == test.p_value


def test_level_and_power():
    """Of equal distributions 1 in 5 is below 0.2, of different ones nearly all are."""
    rng = np.random.default_rng(0)
    below = {0.0: 0, 1.5: 0}
    for shift in below:
        for _ in range(200):
            P, Q = rng.normal(size=(12, 2)), rng.normal(size=(9, 2)) + shift
            test = d2ke.kernel_two_sample_test(P, Q, n_permutations=99, seed=rng)
            below[shift] += test.p_value <= 0.2
    assert 20 <= below[0.0] <= 60
    assert below[1.5] > 190


def test_no_p_value_is_zero():
    P = np.zeros((40, 1))
    assert d2ke.kernel_two_sample_test(P, P + 9, sigma=1.0).p_value == 0.001
    assert d2ke.kernel_two_sample_test(P, P, sigma=1.0).p_value == 1.0
    assert d2ke.kernel_two_sample_test(P, P).sigma == 1.0


@pytest.mark.parametrize("n", [1, 2, 3, 30])
def test_equal_objects_tell_nothing(n):
    """All statistics are rounding, and the p-value is 1."""
    P = np.full((n, 3), 0.1)
    for Q in (P[:1], P):
        Z = np.full((n + len(Q), 5), 0.3)
        assert d2ke.kernel_two_sample_test(P, Q, sigma=0.7).p_value == 1
        assert d2ke.measures.gram_two_sample_test(Z @ Z.T, n).p_value == 1
        assert d2ke.measures.features_two_sample_test(Z, n).p_value == 1


def test_strings():
    """Objects that are no points: a Gram matrix of features, or a function."""
    X = ["ACGT", "ACGA", "ACCT", "ACG", "TTTA", "TTAA", "TATA", "TTA"]

    def kernel(A, B):
        return np.exp(-0.1 * d2ke.distance_matrix(A, B, "levenshtein") ** 2)

    test = d2ke.kernel_two_sample_test(X[:4], X[4:], kernel=kernel, sigma=None)
    assert test.p_value == pytest.approx(2 / 70)
    assert d2ke.measures.gram_two_sample_test(kernel(X, X), 4).p_value == test.p_value
