# SPDX-License-Identifier: BSD-3-Clause
"""Anisotropic kernels and users' own kernels against plain loops."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from measure_cases import pairs

import d2ke


def covariance(rng, d):
    A = rng.normal(size=(d, d))
    return A @ A.T + 0.1 * np.eye(d)


def squared(value, P, Q, w, v):
    """D_K^2 of a kernel's values, by loops."""
    points = [(p, a) for p, a in zip(P, np.ones(len(P)) if w is None else w, strict=True)]
    points += [(q, -b) for q, b in zip(Q, np.ones(len(Q)) if v is None else v, strict=True)]
    return sum(a * b * value(p, q) for p, a in points for q, b in points)


@given(drawn=pairs(dims=(1, 2, 3), most=8), seed=st.integers(0, 999))
def test_ellipses(drawn, seed):
    P, Q, w, v, _ = drawn
    P, Q = P - P.mean(axis=0), Q - P.mean(axis=0)
    C = covariance(np.random.default_rng(seed), P.shape[1])
    inverse = np.linalg.inv(C)
    moved = [d2ke.measures.kernel_coordinates(X, C) for X in (P, Q)]
    for kernel, value in (
        ("gaussian", lambda p, q: math.exp(-(p - q) @ inverse @ (p - q) / 2)),
        ("laplace", lambda p, q: math.exp(-math.sqrt(max((p - q) @ inverse @ (p - q), 0)))),
    ):
        got = d2ke.kernel_distance(*moved, sigma=1.0, kernel=kernel, weights_p=w, weights_q=v)
        wanted = squared(value, P, Q, w, v)
        assert got.squared == pytest.approx(max(wanted, 0), rel=1e-6, abs=1e-6)


def test_ellipses_of_curves():
    """Tangents stay, only where they are counts in other units; so does the gap's bound."""
    C = np.array([[4.0, 1.0], [1.0, 2.0]])
    P = d2ke.curve([[0, 0], [1, 0], [1, 2]], gap=0.1)
    moved = d2ke.measures.kernel_coordinates(P, C)
    np.testing.assert_array_equal(moved.vectors, P.vectors)
    inverse = np.linalg.inv(C)
    kappa = sum(
        math.exp(-(p - q) @ inverse @ (p - q) / 2) * (u @ v)
        for p, u in zip(P.points, P.vectors, strict=True)
        for q, v in zip(P.points, P.vectors, strict=True)
    )
    assert d2ke.measures.kernel_norm(moved, sigma=1.0) == pytest.approx(math.sqrt(kappa))
    assert moved.gap == pytest.approx(P.gap / math.sqrt(np.linalg.eigvalsh(C)[0]))


@given(drawn=pairs(most=12), block=st.sampled_from([1, 7, 1 << 19]))
def test_users_kernel(drawn, block):
    P, Q, w, v, _ = drawn

    def kernel(X, Y):
        return 1 / (1 + ((X[:, None] - Y) ** 2).sum(axis=2))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("d2ke.measures.user_kernel._BLOCK", block)
        info = d2ke.kernel_distance(P, Q, kernel=kernel, weights_p=w, weights_q=v)
    wanted = squared(lambda p, q: 1 / (1 + (p - q) @ (p - q)), P, Q, w, v)
    assert info.squared == pytest.approx(max(wanted, 0), rel=1e-8, abs=1e-8)
    assert (info.method, info.kernel, info.sigma) == ("exact", "kernel", None)
    norm = d2ke.measures.kernel_norm(P, kernel=kernel, weights_p=w)
    wanted = squared(
        lambda p, q: 1 / (1 + (p - q) @ (p - q)), P, P[:0], w, v[:0] if w is not None else None
    )
    assert norm**2 == pytest.approx(max(wanted, 0), rel=1e-8, abs=1e-8)
    assert d2ke.kernel_distance(P, P, kernel=kernel) == 0.0
