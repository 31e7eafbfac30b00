# SPDX-License-Identifier: BSD-3-Clause
"""The block solver against LIBLINEAR: the same objective, the same minimum."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from reference import examples

import d2ke
from d2ke.learners import newton


def problem(n, R, n_classes, seed, scale=1.0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % n_classes
    Z = scale * (rng.standard_normal((n, R)) + rng.standard_normal((n_classes, R))[y])
    return y, Z / np.sqrt(R)


def objectives(model, y, Z, C, bias=None, factors=None):
    """|w|^2 / 2 + sum C_i max(0, 1 - s_i w.z_i)^2 of each row of weights."""
    W = model.weights
    squares = (W**2).sum(axis=1)
    products = Z @ W.T
    if bias is not None:
        squares = squares + (model.bias / bias) ** 2
        products = products + model.bias
    classes = model.classes if len(W) > 1 else model.classes[1:]
    signs = np.where(np.asarray(y)[:, None] == classes, 1, -1)
    costs = np.full(signs.shape, float(C))
    for label, factor in (factors or {}).items():
        rows = np.asarray(y)[:, None] == label
        if len(W) == 1:
            costs[rows[:, 0]] *= factor
        else:
            costs[rows & (classes == label)] *= factor
    return squares / 2 + (costs * np.maximum(0, 1 - signs * products) ** 2).sum(axis=0)


@settings(max_examples=examples(40), deadline=None)
@given(
    n=st.integers(4, 120),
    R=st.integers(1, 60),
    n_classes=st.integers(2, 4),
    C=st.sampled_from([1e-2, 1.0, 1e2, 1e4]),
    bias=st.sampled_from([None, 1.0, 3.0]),
    weighted=st.booleans(),
    seed=st.integers(0, 10**6),
)
def test_reaches_the_objective_of_liblinear(n, R, n_classes, C, bias, weighted, seed):
    y, Z = problem(n, R, n_classes, seed)
    options = f"-s 2 -c {C}" + ("" if bias is None else f" -B {bias}")
    factors = {0: 3.0, 1: 0.5} if weighted else None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # LIBLINEAR may give up; we may not
        wanted = d2ke.train(y, Z, options + " -e 1e-8", class_weight=factors)
    # A gradient g leaves up to |g|^2 / 2 of the objective, which LIBLINEAR may come to undershoot.
    found = d2ke.train(y, Z, options + " -e 1e-10", solver="block", class_weight=factors)
    assert found.weights.shape == wanted.weights.shape
    ours = objectives(found, y, Z, C, bias, factors)
    theirs = objectives(wanted, y, Z, C, bias, factors)
    assert (ours <= theirs * (1 + 1e-6)).all()


def test_features_that_hardly_vary_are_learned_too(monkeypatch):
    # Features as they are, exp(-gamma d) / sqrt(R): the gradient at 0 is their mean's.
    monkeypatch.setattr(newton, "MAX_DENSE", 0)
    y, Z = problem(900, 64, 7, 3)
    Z = np.exp(-0.01 * (20 + Z)) / np.sqrt(64)
    C, options = 1e6, "-s 2 -B 1 -c 1e6 -q"
    wanted = d2ke.train(y, Z, options + " -e 1e-7", solver="block")
    found = d2ke.train(y, Z, options + " -e 0.01", solver="block")
    assert_allclose(objectives(found, y, Z, C, 1), objectives(wanted, y, Z, C, 1), rtol=0.02)


def test_same_bits_for_any_number_of_threads(monkeypatch):
    monkeypatch.setattr(newton, "_RUN_BYTES", 1 << 12)
    y, Z = problem(700, 40, 5, 2)
    models = [
        d2ke.train(y, Z, "-s 2 -c 5 -B 1", solver="block", n_threads=n_threads)
        for n_threads in (1, 2, 5)
    ]
    for other in models[1:]:
        assert np.array_equal(models[0].weights, other.weights)
        assert np.array_equal(models[0].bias, other.bias)


def test_single_precision_and_memory_orders():
    y, Z = problem(500, 30, 3, 3)
    wanted = d2ke.train(y, Z, "-s 2 -c 2 -e 1e-6", solver="block")
    for other in (Z.astype(np.float32), np.asfortranarray(Z), np.repeat(Z, 2, axis=1)[:, ::2]):
        found = d2ke.train(y, other, "-s 2 -c 2 -e 1e-6", solver="block")
        assert_allclose(objectives(found, y, Z, 2), objectives(wanted, y, Z, 2), rtol=1e-6)
    whole = d2ke.train(y, np.rint(9 * Z).astype(np.int8), "-s 2 -c 2", solver="block")
    assert whole.weights.dtype == np.float64


def test_warm_start_needs_no_step():
    y, Z = problem(300, 20, 2, 4)
    signs = np.where(y[:, None] == 1, 1.0, -1.0)
    costs = np.ones((2, 1))
    W, solved = newton.block_newton(Z, signs, costs, tolerance=1e-6)
    again, _ = newton.block_newton(Z, signs, costs, tolerance=1e-5, start=W)
    assert solved.all()
    assert np.array_equal(again, W)


def test_says_when_it_stops_early(monkeypatch):
    monkeypatch.setattr(newton, "MAX_NEWTON", 1)
    y, Z = problem(200, 50, 3, 5, scale=10)
    with pytest.warns(RuntimeWarning, match="stopped for class 0 before reaching the tolerance"):
        d2ke.train(y, Z, "-s 2 -c 100 -e 1e-9", solver="block")


@pytest.mark.parametrize("bias", [None, 1.0])
def test_rows_without_a_sign_are_no_part_of_the_problem(bias):
    rng = np.random.default_rng(3)
    Z = rng.standard_normal((60, 5))
    signs = np.where(rng.random((60, 2)) < 0.5, 1.0, -1.0)
    out = np.arange(60) % 4 == 0
    signs[out, 1] = 0
    options = {"bias": bias, "tolerance": 1e-10, "n_threads": 1}
    together, _ = newton.block_newton(Z, signs, np.full((2, 2), 3.0), **options)
    alone, _ = newton.block_newton(Z[~out], signs[~out, 1:], np.full((2, 1), 3.0), **options)
    assert_allclose(together[:, 1:], alone, atol=1e-9)
