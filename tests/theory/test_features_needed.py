# SPDX-License-Identifier: BSD-3-Clause
"""The paper's propositions by number, against their formulas and on spaces known exactly."""

import math
from decimal import Decimal, localcontext
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

import d2ke

OBJECTS = ["a", "b", "ab", "ba", "aab", "bbbb", "abab"]
D = d2ke.distance_matrix(OBJECTS, OBJECTS, "levenshtein")


# ---- Proposition 2 and the effective dimension


def log_bound(R, eps, p, gamma):
    t = eps / 2
    return math.log(2) + max(0, 2 * p * math.log(12 * gamma / t)) - R * t**2 / 2


@given(
    eps=st.floats(0.01, 0.99),
    delta=st.floats(1e-12, 0.99),
    p=st.floats(0.1, 1e3),
    gamma=st.floats(1e-4, 1e2),
)
def test_features_needed_are_the_fewest(eps, delta, p, gamma):
    R = d2ke.theory.features_needed(eps, delta, p, gamma)
    assert isinstance(R, int)
    assert R >= 1
    assert log_bound(R, eps, p, gamma) <= math.log(delta) + 1e-7 * R * eps**2
    assert log_bound(R - 1, eps, p, gamma) > math.log(delta) - 1e-7 * R * eps**2


def test_features_needed_are_exact_however_large():
    eps, delta, p, gamma = 2.0**-300, 2.0**-1000, 2.0**80, 2.0**200
    with localcontext() as context:
        context.prec = 600
        # (2 / t^2) (log 2^1001 + 2^81 log(12 * 2^200 * 2^301))
        two = Decimal(2)
        wanted = 2 * two**602 * (1001 * two.ln() + two**81 * (12 * two**501).ln())
        below = int(wanted)
    assert d2ke.theory.features_needed(eps, delta, p, gamma) == below + 1
    assert d2ke.theory.features_needed(1e-308, 1e-308, 1e308, 1e308) > 10**900


def test_effective_dimension():
    assert d2ke.theory.effective_dimension("strings", length=5, alphabet_size=4) == 5 * math.log(4)
    assert d2ke.theory.effective_dimension("multisets", length=7, n_elements=50) == 7 * math.log(50)
    assert (
        d2ke.theory.effective_dimension("unit-ball sets", length=15, n_dimensions=128) == 15 * 128
    )


@pytest.mark.parametrize("metric", ["hausdorff", "mhd"])
def test_balls_cover_unit_ball_sets(metric):
    """Sets of at most L numbers in [-1, 1]: the nets' sets are (2 / eps)^L at most, and near."""
    L, eps = 3, 0.25
    p = d2ke.theory.effective_dimension("unit-ball sets", length=L, n_dimensions=1)
    net = np.arange(-1 + eps, 1, 2 * eps)  # every number is within eps of one of these
    # In order of their elements, each set of the net once.
    centres = list({tuple(sorted(set(chosen))) for chosen in product(net, repeat=L)})
    assert len(centres) <= (2 / eps) ** p
    rng = np.random.default_rng(0)
    X = [rng.uniform(-1, 1, (rng.integers(1, L + 1), 1)) for _ in range(200)]
    D = d2ke.distance_matrix(X, [np.array(c)[:, None] for c in centres], metric)
    assert D.min(axis=1).max() <= eps + 1e-12


# ---- Corollary 1


@given(
    eps=st.floats(0.01, 5.0),
    delta=st.floats(1e-6, 0.99),
    M=st.floats(0.1, 10.0),
    A=st.floats(0.1, 10.0),
)
def test_corollary_1(eps, delta, M, A):
    R = d2ke.theory.features_needed_for_risk(eps, delta, 3.0, 0.5, lipschitz=M, coefficients=A)
    error = eps / M / A
    if error >= 1:
        assert R == 1
    else:
        assert log_bound(R, error, 3.0, 0.5) <= math.log(delta) + 1e-7 * R * error**2
        assert log_bound(R - 1, error, 3.0, 0.5) > math.log(delta) - 1e-7 * R * error**2


# ---- Proposition 1


@given(seed=st.integers(0, 10**6), R=st.integers(1, 20), gamma=st.floats(1e-3, 10))
def test_proposition_1(seed, R, gamma):
    rng = np.random.default_rng(seed)
    X = d2ke.samplers.random_strings(12, "ab", length=(1, 6), seed=seed)
    omega = d2ke.samplers.random_strings(R, "ab", length=(1, 4), seed=seed + 1)
    Z = d2ke.d2ke_embed(X, omega, distance="levenshtein", gamma=gamma)
    w = rng.normal(size=(3, R))
    L = d2ke.theory.lipschitz_constant(w, gamma)
    assert_allclose(L, [gamma * sum(abs(v) for v in row) / math.sqrt(R) for row in w])
    assert d2ke.theory.lipschitz_constant(w[0], gamma) == L[0]
    assert (gamma * np.linalg.norm(w, axis=1) * (1 + 1e-12) >= L).all()
    apart = d2ke.distance_matrix(X, X, "levenshtein")
    scores = Z @ w.T
    for k in range(3):
        change = np.abs(scores[:, None, k] - scores[None, :, k])
        assert (change <= L[k] * apart + 1e-12).all()


def test_proposition_1_is_attained():
    """One random object, which is x itself: near it the score falls at the rate L."""
    gamma = 1e-6
    phi = np.exp(-gamma * np.array([0.0, 1.0]))
    assert phi[0] - phi[1] == pytest.approx(d2ke.theory.lipschitz_constant([1.0], gamma), rel=1e-6)


# ---- eq. (5) to (7)


@given(
    seed=st.integers(0, 10**6),
    n=st.integers(1, 4),
    m=st.integers(1, 4),
    R=st.integers(1, 9),
    gamma=st.floats(1e-3, 5),
)
def test_soft_minimum_by_its_formula(seed, n, m, R, gamma):
    rng = np.random.default_rng(seed)
    A, B = rng.uniform(0, 3, (n, R)), rng.uniform(0, 3, (m, R))
    got = d2ke.theory.soft_min_distance(A, B, gamma=gamma)
    for i, j in product(range(n), range(m)):
        mean = sum(math.exp(-gamma * (A[i, r] + B[j, r])) for r in range(R)) / R
        assert got[i, j] == pytest.approx(-math.log(mean) / gamma, rel=1e-9, abs=1e-9)
    # It is the distance that the features' kernel sees.
    Z, Y = d2ke.d2ke_features(A, gamma), d2ke.d2ke_features(B, gamma)
    assert_allclose(np.exp(-gamma * got), Z @ Y.T, rtol=1e-9)
    assert np.array_equal(d2ke.theory.soft_min_distance(A, gamma=gamma),
                          d2ke.theory.soft_min_distance(A, gamma=gamma).T)  # fmt: skip


@given(gamma=st.floats(1e-3, 1e6))
def test_soft_minimum_tends_to_the_distance(gamma):
    """X among the random objects: d <= s <= d + log(R) / gamma."""
    s = d2ke.theory.soft_min_distance(D, gamma=gamma)
    assert (s >= D - 1e-12 * (1 + D)).all()
    assert (s <= D + math.log(len(D)) / gamma * (1 + 1e-12) + 1e-12).all()


def test_kernel_does_not_tend_to_that_of_the_distance():
    """The paper's sentence on the limit: k / exp(-gamma d) stays below 1."""
    shortest = (np.abs(D[:, None] + D[None] - D[..., None]) < 1e-12).mean(axis=2)
    for gamma in (60.0, 1e3, 1e5):
        ratio = np.exp(-gamma * (d2ke.theory.soft_min_distance(D, gamma=gamma) - D))
        # The share of the random objects on a shortest way.
        assert_allclose(ratio, shortest, rtol=1e-3)
    assert 0 < shortest.min() < shortest.max() < 0.9
