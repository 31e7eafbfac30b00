# SPDX-License-Identifier: BSD-3-Clause
"""Ridge regression from sums of products against normal equations, and against refits."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import examples
from reference import ridge as solved
from scipy import sparse

from d2ke.learners import ridge as module
from d2ke.learners.ridge import (
    Ridge,
    RidgeSums,
    class_indicators,
    decompose,
    product_type,
    ridge_of_rows,
)

COSTS = [1e-3, 0.1, 1.0, 30.0]
SHAPES = [(30, 8), (12, 40), (20, 20), (21, 20)]


def problem(n, R, k, seed=0):
    """Features with means and scales of their own, and targets that depend on them."""
    rng = np.random.default_rng(seed)
    Z = rng.standard_normal((n, R)) * rng.uniform(0.5, 2, R) + rng.standard_normal(R)
    T = Z @ rng.standard_normal((R, k)) / np.sqrt(R) + rng.standard_normal((n, k)) + 2.0
    return Z, T


def summed(Z, T, centre=0.0, divisor=1.0, target_centre=0.0, dtype=np.float64, step=None):
    """Sum rows, by blocks of so many."""
    R, k = Z.shape[1], T.shape[1]
    sums = RidgeSums.empty(
        np.zeros(R) + centre, np.zeros(R) + divisor, np.zeros(k) + target_centre, dtype
    )
    step = step or max(1, len(Z))
    for low in range(0, len(Z), step):
        sums.add(Z[low : low + step], T[low : low + step], n_threads=1)
    return sums


def decisions(ridge, Z, C):
    weights, offsets = ridge.weights(C)
    return (Z - ridge.mean) / ridge.divisor @ weights.T + offsets


def near(found, expected, rtol=1e-9):
    """Check that rounding tells the arrays apart, measured by the largest value."""
    scale = np.abs(expected).max() or 1.0
    np.testing.assert_allclose(found, expected, rtol=0, atol=rtol * scale)


def same_sums(a, b):
    assert a.n == b.n
    near(np.triu(a.products), np.triu(b.products), 1e-13)
    for name in ("features", "targets", "crossed"):
        near(getattr(a, name), getattr(b, name), 1e-12)


# ---------------------------------------------------------------- sums


@given(data=st.data())
def test_any_blocks_merged_in_any_order_are_one_sum(data):
    n, R, k = (data.draw(st.integers(1, most)) for most in (40, 9, 3))
    Z, T = problem(n, R, k, seed=data.draw(st.integers(0, 99)))
    whole = summed(Z, T, centre=0.3, divisor=2.0, target_centre=1.0)
    parts = [RidgeSums.empty(whole.centre, whole.divisor, whole.target_centre) for _ in range(4)]
    owner = np.array(data.draw(st.lists(st.integers(0, 3), min_size=n, max_size=n)))
    step = data.draw(st.integers(1, n))
    for low in range(0, n, step):
        for i, part in enumerate(parts):
            rows = low + np.flatnonzero(owner[low : low + step] == i)
            part.add(Z[rows], T[rows], n_threads=1)
    order = data.draw(st.permutations(parts))
    merged = RidgeSums.empty(whole.centre, whole.divisor, whole.target_centre)
    for part in order:
        merged.merge(part)
    same_sums(merged, whole)


@pytest.mark.parametrize("R", [255, 256, 600])
def test_strips_of_columns_and_runs_of_rows(R, monkeypatch):
    """Whole numbers: nothing is rounded, in whatever order they are added."""
    monkeypatch.setattr(module, "ROWS", 7)
    Z = np.random.default_rng(R).integers(-9, 10, (50, R)).astype(np.float32)
    T = Z[:, :2].astype(np.float64)
    for dtype in (np.float32, np.float64):
        sums = RidgeSums.empty(np.zeros(R), np.ones(R), np.zeros(2), dtype)
        sums.add(Z, T, n_threads=2)
        np.testing.assert_array_equal(np.triu(sums.products), np.triu(Z.T.astype(float) @ Z))
        np.testing.assert_array_equal(sums.crossed, Z.T.astype(float) @ T)
        assert sums.products.dtype == np.float64


@given(
    centre=st.sampled_from([0.0, -3.0, 0.5]),
    divisor=st.sampled_from([0.1, 1.0, 30.0]),
    C=st.sampled_from(COSTS),
    seed=st.integers(0, 99),
)
def test_the_solution_does_not_depend_on_centre_and_divisor(centre, divisor, C, seed):
    Z, T = problem(25, 5, 2, seed)
    ones = np.ones(5)
    expected = decisions(Ridge.of(summed(Z, T), ones), Z, C)
    near(decisions(Ridge.of(summed(Z, T, centre, divisor, -1.0), ones), Z, C), expected)


def test_sparse_targets_are_dense_ones():
    Z, _ = problem(40, 5, 1)
    codes = np.arange(40) % 3
    T = class_indicators(codes, 3)
    assert sparse.issparse(T)
    np.testing.assert_array_equal(T.toarray(), np.eye(3)[codes])
    same_sums(summed(Z, T, step=7), summed(Z, T.toarray()))
    ridge, P = decompose(Z, T, np.ones(5))
    near(ridge.loo(P, T, COSTS), ridge.loo(P, T.toarray(), COSTS))
    near(ridge.loo_together(P, T, COSTS), ridge.loo_together(P, T.toarray(), COSTS))


def test_products_are_cheap_in_float64_up_to_a_size():
    assert product_type(10**5, 1024) == np.float64
    assert product_type(10**6, 1024) == np.float32


# ---------------------------------------------------------------- solutions


@pytest.mark.parametrize("k", [1, 3])
@pytest.mark.parametrize(("n", "R"), SHAPES)
@pytest.mark.parametrize("C", COSTS)
def test_weights_solve_the_normal_equations(n, R, k, C):
    Z, T = problem(n, R, k)
    divisor = np.linspace(0.5, 2, R)
    ridge, P = decompose(Z, T, divisor)
    weights, offset = solved(Z / divisor, T, C)
    near(ridge.weights(C)[0].T, weights, 1e-8)
    near(decisions(ridge, Z, C), Z / divisor @ weights + offset, 1e-8)
    near(ridge.coordinates(Z), P)


@settings(max_examples=examples(60))
@given(data=st.data())
def test_own_features_are_left_out_with_rows(data):
    """Rows alone, and groups of them, against refits of the other rows and features.

    Without own features, and with weights that are numbers of copies, too.
    """
    n, R, k = (data.draw(st.integers(*ends)) for ends in ((4, 25), (1, 30), (1, 3)))
    Z, T = problem(n, R, k, seed=data.draw(st.integers(0, 999)))
    rng = np.random.default_rng(data.draw(st.integers(0, 999)))
    costs = data.draw(st.lists(st.sampled_from(COSTS), min_size=1, max_size=3))
    w = rng.integers(1, 4, n).astype(float) if data.draw(st.booleans()) else None
    copies = np.ones(n, int) if w is None else w.astype(int)
    columns = rng.permutation(R)[: data.draw(st.integers(0, R))]
    rows = np.sort(rng.integers(0, data.draw(st.integers(1, n)), len(columns)))

    def refit(out, C):
        rest = np.repeat(np.arange(n), copies)
        rest = rest[~np.isin(rest, out)]
        used = np.setdiff1d(np.arange(R), columns[np.isin(rows, out)])
        weights, offset = solved(Z[np.ix_(rest, used)], T[rest], C)
        return Z[np.ix_(out, used)] @ weights + offset

    if w is None and n > R:
        ridge = Ridge.of(summed(Z, T))
        P = ridge.coordinates(Z)
    else:
        ridge, P = ridge_of_rows(Z, T, np.ones(R), 1, w)
    found = ridge.loo(P, T, costs, w, (rows, columns) if len(columns) else None)
    near(found, [[refit([i], C)[0] for C in costs] for i in range(n)], 1e-10)
    fold = rng.integers(0, 3, n)
    fold[:2] = 0, 1  # two at least
    for out in (np.flatnonzero(fold == i) for i in np.unique(fold)):
        left = np.isin(rows, out)
        own = np.searchsorted(out, rows[left]), columns[left]
        weights = None if w is None else w[out]
        own = own if len(columns) else None
        found = ridge.loo_together(P[out], T[out], costs, weights, own)
        near(found, np.stack([refit(out, C) for C in costs], axis=1), 1e-10)


@pytest.mark.parametrize("shape", SHAPES)
def test_own_features_of_weighted_rows_by_sums(shape):
    """Both forms, of the same rows, for rows with one own feature and with two."""
    n, R = shape
    Z, T = problem(n, R, 2)
    w = np.random.default_rng(1).uniform(0.5, 2, n)
    sums = RidgeSums.empty(np.zeros(R), np.ones(R), np.zeros(2))
    sums.add(Z, T, 1, w)
    by_sums, (by_rows, P) = Ridge.of(sums), ridge_of_rows(Z, T, np.ones(R), 1, w)
    own = np.array([0, 0, 3, n - 1]), np.array([5, 1, 7, 0])
    Q = by_sums.coordinates(Z)
    near(by_rows.loo(P, T, COSTS, w, own), by_sums.loo(Q, T, COSTS, w, own), 1e-7)
    some, own = slice(5), (own[0][:3], own[1][:3])
    one, other = (
        ridge.loo_together(rows[some], T[some], COSTS, w[some], own)
        for ridge, rows in ((by_rows, P), (by_sums, Q))
    )
    near(one, other, 1e-7)


@pytest.mark.parametrize("R", [3, 30])
def test_dependent_and_constant_features(R):
    Z, T = problem(20, R, 2)
    Z = np.hstack([Z, Z[:, :2], np.zeros((20, 3)), np.full((20, 2), 1 / 3)])
    ridge, P = decompose(Z, T, np.ones(R + 7))
    assert len(ridge.eigenvalues) == min(R, 19)
    weights, offset = solved(Z, T, 5.0)
    near(decisions(ridge, Z, 5.0), Z @ weights + offset, 1e-8)
    ridge, P = decompose(np.ones((20, R)), T, np.ones(R))
    expected = [(T.sum(axis=0) - t) / 19 for t in T]
    near(ridge.loo(P, T, [1.0])[:, 0], expected)


def test_a_row_that_is_fitted_whatever_its_target_raises_nothing():
    Z, T = np.array([[0.0], [1.0]]), np.array([[0.0], [1.0]])
    ridge, P = decompose(Z, T, np.ones(1))
    with np.errstate(all="raise"):
        assert np.isfinite(ridge.loo(P, T, [1e300])).all()
        assert np.isfinite(ridge.loo_together(P[:1], T[:1], [1e300])).all()


# ---------------------------------------------------------------- rounding


def score(left_out, T):
    return 1 - np.mean((left_out - T) ** 2) / np.var(T)


@pytest.mark.parametrize(("n", "R"), [(400, 20), (30, 60)])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_targets_far_from_zero(n, R, dtype):
    """R^2 is that of the same targets about 0."""
    Z, T = problem(n, R, 1)
    T = np.round(T, 2)
    if n <= R:
        forms = [ridge_of_rows(Z, far, np.ones(R)) for far in (T, T + 1e7)]
    else:
        sums = [summed(Z, far, Z[:9].mean(axis=0), 1.0, far[0], dtype) for far in (T, T + 1e7)]
        forms = [(one, one.coordinates(Z)) for one in map(Ridge.of, sums)]
    (here, P), (there, Q) = forms
    for i, known in enumerate(score(here.loo(P, T, [C])[:, 0], T) for C in COSTS):
        found = score(there.loo(Q, T + 1e7, [COSTS[i]])[:, 0], T + 1e7)
        assert found == pytest.approx(known, abs=1e-6)
    near(decisions(there, Z, 1.0) - 1e7, decisions(here, Z, 1.0), 1e-7)


def errors(Z, T, C, step=None):
    """Return the errors that float32 products cause, and the condition number.

    Of decisions and left-out predictions, relative to the targets, as root mean squares.
    """
    found = []
    for dtype in (np.float32, np.float64):
        ridge = Ridge.of(summed(Z, T, Z[:50].mean(axis=0, dtype=np.float64), 1.0, 0.0, dtype, step))
        P = ridge.coordinates(Z)
        assert P.dtype == dtype
        found.append((decisions(ridge, Z, C), ridge.loo(P, T, [C])[:, 0]))
    squares = np.linalg.eigvalsh(len(Z) * np.cov(Z.astype(np.float64).T, bias=True))
    condition = (squares[-1] + 1 / (2 * C)) / (max(squares[0], 0) + 1 / (2 * C))
    size = np.linalg.norm(T - T.mean(axis=0).astype(np.float64))
    return [np.linalg.norm(a - b) / size for a, b in zip(*found, strict=True)], condition


@given(
    n=st.sampled_from([300, 1000]),
    R=st.sampled_from([20, 60, 140]),
    decay=st.sampled_from([0, 2, 4]),
    C=st.sampled_from([1e-4, 1e-2, 1.0, 100.0, 1e4]),
    mean=st.sampled_from([0, 3, 1000]),
    dtype=st.sampled_from([np.float32, np.float64]),
    sparse_targets=st.booleans(),
    seed=st.integers(0, 99),
)
def test_error_of_float32_products(n, R, decay, C, mean, dtype, sparse_targets, seed):
    """It is at most 2^-22 times the condition number, for features with large means too."""
    rng = np.random.default_rng(seed)
    mixing = rng.standard_normal((R, R)) * np.logspace(0, -decay, R)[:, None]
    Z = (rng.standard_normal((n, R)) @ mixing / np.sqrt(R) + mean).astype(dtype)
    T = (Z - Z.mean(axis=0)) @ rng.standard_normal((R, 2))
    T = T / T.std(axis=0) + rng.standard_normal((n, 2))
    if sparse_targets:
        T = class_indicators(T.argmax(axis=1) + (T[:, 0] > 1), 3, np.float32)
    found, condition = errors(Z, T, C)
    assert max(found) <= 2.0**-22 * condition


@pytest.mark.parametrize(("n", "R"), [(300, 8), (12, 45)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_features_with_large_means_lose_nothing(n, R, dtype):
    """Means a thousand times the deviations, of values that both types hold exactly."""
    Z, T = problem(n, R, 2)
    Z = np.round(256 * Z) / 256
    (near_ridge, P), (far_ridge, Q) = (
        decompose((Z + shift).astype(dtype), T, np.ones(R)) for shift in (0, 1024)
    )
    near(far_ridge.weights(3.0)[0], near_ridge.weights(3.0)[0])
    near(far_ridge.loo(Q, T, COSTS), near_ridge.loo(P, T, COSTS), 1e-8)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("is_sparse", [False, True])
def test_integer_weights_are_repeated_rows(shape, is_sparse):
    n, R = shape
    Z, T = problem(n, R, 3)
    T = (T > 2).astype(float)
    w = np.random.default_rng(1).integers(1, 4, n).astype(float)
    many = np.repeat(np.arange(n), w.astype(int))
    form = sparse.csr_array if is_sparse else np.asarray
    sums = RidgeSums.empty(np.zeros(R), np.ones(R), np.zeros(3))
    for low in range(0, n, 7):
        sums.add(Z[low : low + 7], form(T[low : low + 7]), 1, w[low : low + 7])
    same_sums(sums, summed(Z[many], T[many]))
    repeated = Ridge.of(summed(Z[many], T[many]))
    by_rows, P = ridge_of_rows(Z, form(T), np.ones(R), 1, w)
    weighted = Ridge.of(sums)
    for C in COSTS:
        expected = decisions(repeated, Z, C)
        near(decisions(weighted, Z, C), expected, 1e-8)
        near(decisions(by_rows, Z, C), expected, 1e-8)
    left_out = by_rows.loo(P, form(T), COSTS, w)
    near(weighted.loo(weighted.coordinates(Z), form(T), COSTS, w), left_out, 1e-7)
