# SPDX-License-Identifier: BSD-3-Clause
"""Quadratic programs on the simplex: optimality, monotony, and the ways to stop."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

from d2ke.discriminative.simplex_programs import project, solve_dense, solve_product


def simplex_qp(H, f, start=None, tol=1e-6, max_steps=10**6):
    H, f = np.asarray(H, np.float64), np.asarray(f, np.float64)
    start = np.full(len(f), 1 / len(f)) if start is None else start
    return solve_dense(H, f, start, tol, max_steps)


def problem(seed, n, kind):
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(n, n))
    H = {"definite": A @ A.T, "flat": A[:, :2] @ A[:, :2].T, "indefinite": A + A.T}[kind]
    return H, rng.normal(size=n)


def value(H, f, alpha):
    return alpha @ H @ alpha / 2 + f @ alpha


@given(st.integers(0, 10**6), st.integers(1, 30), st.sampled_from(["definite", "flat"]))
def test_kkt_conditions(seed, n, kind):
    H, f = problem(seed, n, kind)
    solution = simplex_qp(H, f, tol=1e-9)
    alpha = solution.alpha
    assert solution.converged
    assert alpha.min() >= 0
    assert alpha.sum() == pytest.approx(1, abs=1e-12)
    gradient = H @ alpha + f
    spread = max(np.ptp(H.mean(axis=1) + f), 1e-12)
    # One multiplier for all coordinates in use, and no smaller gradient elsewhere.
    assert gradient[alpha > 0].max() - gradient.min() <= 1e-8 * spread + 1e-12 * np.abs(H).max()
    assert solution.objective == pytest.approx(value(H, f, alpha), abs=1e-10)


@pytest.mark.parametrize("kind", ["definite", "flat"])
@pytest.mark.parametrize("seed", range(4))
def test_as_scipy(seed, kind):
    H, f = problem(seed, 8, kind)
    found = minimize(
        lambda alpha: value(H, f, alpha),
        np.full(8, 1 / 8),
        jac=lambda alpha: H @ alpha + f,
        bounds=[(0, None)] * 8,
        constraints={"type": "eq", "fun": lambda alpha: alpha.sum() - 1},
        method="SLSQP",
        options={"ftol": 1e-13, "maxiter": 500},
    )
    assert simplex_qp(H, f, tol=1e-9).objective == pytest.approx(found.fun, abs=1e-7)


@pytest.mark.parametrize("seed", range(5))
def test_indefinite_is_monotone_and_stationary(seed):
    H, f = problem(seed, 25, "indefinite")
    objectives = [simplex_qp(H, f, max_steps=steps).objective for steps in range(1, 60)]
    assert (np.diff(objectives) <= 1e-12).all()
    assert objectives[0] <= value(H, f, np.full(25, 1 / 25))
    assert simplex_qp(H, f).converged


def test_start_is_kept_where_it_is_best_and_not_changed():
    start = np.array([0.0, 1.0, 0.0])
    solution = simplex_qp(np.eye(3), [0.0, -5.0, 0.0], start=start)
    assert solution.n_steps == 0
    assert solution.alpha.tolist() == start.tolist() == [0.0, 1.0, 0.0]


def test_corner_and_ties():
    assert simplex_qp(np.zeros((3, 3)), [2.0, 1.0, 2.0]).alpha.tolist() == [0.0, 1.0, 0.0]
    assert simplex_qp([[1.0]], [3.0]).objective == 3.5
    equal = simplex_qp(np.ones((4, 4)), np.zeros(4))
    assert (equal.alpha == 0.25).all()


@pytest.mark.parametrize("kind", ["definite", "flat"])
def test_products_alone_give_the_same(kind):
    H, f = problem(0, 40, kind)
    start = np.full(40, 1 / 40)
    exact = simplex_qp(H, f, tol=1e-9)
    found = solve_product(H.__matmul__, f, start, 1e-7, 20_000)
    assert found.converged
    assert found.objective == pytest.approx(exact.objective, abs=1e-5)


def test_products_alone_never_rise_where_indefinite():
    H, f = problem(1, 40, "indefinite")
    start = np.full(40, 1 / 40)
    objectives = [solve_product(H.__matmul__, f, start, 1e-9, k).objective for k in range(40)]
    assert (np.diff(objectives) <= 1e-12).all()


@given(st.lists(st.floats(-1e3, 1e3), min_size=1, max_size=20))
def test_projection(values):
    values = np.array(values)
    nearest = project(values)
    assert nearest.min() >= 0
    assert nearest.sum() == pytest.approx(1, abs=1e-9)
    # No feasible direction leads nearer: to any corner the slope is not negative.
    slope = nearest - values
    assert slope.min() - slope @ nearest >= -1e-6


def test_large_values():
    solution = simplex_qp([[2e300, 0.0], [0.0, 1e300]], [0.0, 0.0])
    assert solution.converged
    assert solution.objective == pytest.approx(1e300 / 3)
