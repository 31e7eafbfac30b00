# SPDX-License-Identifier: BSD-3-Clause
"""The kernel distance as a distance of the registry."""

import numpy as np
import pytest
import reference
from hypothesis import given, settings
from hypothesis import strategies as st

import d2ke


def sets(rng, n, dim, largest=9):
    """Small sets, some with repeated points."""
    drawn = []
    for _ in range(n):
        points = rng.normal(size=(rng.integers(1, largest), dim)).round(1)
        drawn.append(points[rng.integers(0, len(points), len(points))])
    return drawn


@settings(max_examples=reference.examples(60), deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    dim=st.sampled_from([1, 2, 3, 7, 130]),
    kernel=st.sampled_from(["gaussian", "laplace"]),
    sigma=st.sampled_from([1e-3, 0.3, 2.0, 1e3]),
    weighted=st.booleans(),
    normalize=st.booleans(),
)
def test_definition(seed, dim, kernel, sigma, weighted, normalize):
    rng = np.random.default_rng(seed)
    X, Y = sets(rng, 4, dim), sets(rng, 3, dim)
    wx, wy = (
        [rng.random(len(x)) + 0.1 if weighted else np.ones(len(x)) for x in Z] for Z in (X, Y)
    )
    packed = [
        d2ke.pack(Z, weights=w if weighted else None, channels_first=False)
        for Z, w in ((X, wx), (Y, wy))
    ]
    D = d2ke.distance_matrix(*packed, "kernel", sigma=sigma, kernel=kernel, normalize=normalize)
    for i, j in np.ndindex(D.shape):
        w, v = (a / a.sum() if normalize else a for a in (wx[i], wy[j]))
        square = reference.kernel_distance_squared(X[i], Y[j], sigma, kernel, w, v)
        slack = (8 + dim) * 2.3e-16 * (w.sum() + v.sum()) ** 2
        # The reference adds products of rounded kernel values.
        assert abs(D[i, j] ** 2 - square) <= 4 * slack


def test_equal_sets_in_any_order_are_at_distance_zero():
    rng = np.random.default_rng(0)
    X = sets(rng, 20, 2, 300)
    shuffled = [x[rng.permutation(len(x))] for x in X]
    D = d2ke.distance_matrix(X, shuffled, "kernel", sigma=0.5)
    np.testing.assert_array_equal(np.diag(D), 0)
    np.testing.assert_array_equal(D, D.T)
    np.testing.assert_array_equal(D, d2ke.distance_matrix(X, distance="kernel", sigma=0.5))


def test_same_as_kernel_distance_and_its_matrix():
    rng = np.random.default_rng(1)
    X = sets(rng, 12, 3, 400)
    D = d2ke.distance_matrix(X, distance="kernel", sigma=0.7, kernel="laplace")
    M = d2ke.kernel_distance_matrix(X, sigma=0.7, kernel="laplace")
    np.testing.assert_allclose(D, M, rtol=1e-12)
    assert D[3, 7] == pytest.approx(
        d2ke.kernel_distance(X[3], X[7], sigma=0.7, kernel="laplace"), rel=1e-12
    )


@pytest.mark.parametrize(
    ("params", "error", "message"),
    [
        ({}, TypeError, "'kernel' needs the parameter 'sigma'"),
        ({"sigma": 1.0, "kernel": "linear"}, ValueError, "kernel must be .*gaussian.*laplace"),
        ({"sigma": 1e-320}, ValueError, "sigma = 1e-320 is too small"),
    ],
)
def test_refused(params, error, message):
    with pytest.raises(error, match=message):
        d2ke.distance_matrix([[0.0, 1.0], [2e10, 1.0]], distance="kernel", **params)


def test_weights_too_large_are_refused():
    heavy = d2ke.pack([[0.0], [1.0, 2.0]], weights=[[1.0], [1e200, 1.0]])
    with pytest.raises(
        ValueError, match=r"the weights of X\[1\] are too large: their sum is 1e\+200"
    ):
        d2ke.distance_matrix(heavy, distance="kernel", sigma=1.0)
    with pytest.raises(ValueError, match=r"the weights of omega\[1\] are too large"):
        d2ke.d2ke_embed([[0.0]], heavy, distance="kernel", sigma=1.0, gamma=1.0)
