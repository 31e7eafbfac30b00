# SPDX-License-Identifier: BSD-3-Clause
"""Centring and scaling of features, and their compression to as many columns as rows."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from threadpoolctl import threadpool_limits

from d2ke.linear import predict, train
from d2ke.scaling import Scaling, compress
from d2ke.select import with_bias


def features(n, R, seed=0, dtype=np.float64):
    """Draw features of distances: positive, small, hardly varying."""
    distances = np.random.default_rng(seed).gamma(20.0, 1.0, (n, R))
    return (np.exp(-0.01 * distances) / np.sqrt(R)).astype(dtype)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_training_rows_are_centred_and_scaled(dtype):
    Z = features(60, 7, dtype=dtype)
    scaled = Scaling.fit(Z).apply(Z)
    assert scaled.dtype == np.float64
    assert scaled.shape == Z.shape
    np.testing.assert_allclose(scaled.mean(axis=0), 0, atol=1e-12)
    # R columns of deviation 1 / sqrt(R): a row's squared length is 1 on average.
    np.testing.assert_allclose(scaled.std(axis=0), 1 / np.sqrt(7), rtol=1e-10)
    assert np.mean((scaled**2).sum(axis=1)) == pytest.approx(1)


@given(st.integers(1, 12), st.integers(1, 6), st.integers(0, 1000), st.sampled_from(["f8", "f4"]))
def test_against_one_number_at_a_time(n, R, seed, dtype):
    Z, other = features(n + 1, R, seed, dtype), features(3, R, seed + 1, dtype)
    scaled = Scaling.fit(Z).apply(other)
    for i in range(3):
        for j in range(R):
            column = [float(z) for z in Z[:, j]]
            mean = sum(column) / len(column)
            sd = (sum((z - mean) ** 2 for z in column) / len(column)) ** 0.5
            assert scaled[i, j] == pytest.approx((float(other[i, j]) - mean) / (sd * R**0.5))


def test_fitted_on_the_training_rows_only():
    Z, other = features(40, 5, 1), features(9, 5, 2)
    scaling = Scaling.fit(Z)
    alone = scaling.apply(other[:1])
    other[1:] = 1e6
    np.testing.assert_array_equal(scaling.apply(other)[:1], alone)
    np.testing.assert_array_equal(scaling.mean, Z.mean(axis=0))
    np.testing.assert_array_equal(scaling.sd, Z.std(axis=0))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("value", [0.0, 0.1, 1 / 3, 1e-9, 1e9, -0.7])
def test_constant_columns_are_centred_only(value, dtype):
    Z = features(1000, 3, dtype=dtype)
    Z[:, 1] = value
    scaling = Scaling.fit(Z)
    assert scaling.sd[1] == 1
    # What rounding leaves of the constant is not blown up.
    np.testing.assert_allclose(scaling.apply(Z)[:, 1], 0, atol=1e-12 * abs(value))
    test = Z.astype(np.float64)
    test[:, 1] += 3
    np.testing.assert_allclose(scaling.apply(test)[:, 1], 3 / np.sqrt(3), rtol=1e-6)


def test_small_but_varying_columns_are_scaled():
    Z = np.array([[1e-9, 1.0], [-1e-9, 1.0 + 1e-9]])
    np.testing.assert_allclose(np.abs(Scaling.fit(Z).apply(Z)), 1 / np.sqrt(2), rtol=1e-6)


def test_the_given_features_stay_as_they_are():
    Z = features(10, 4)
    before = Z.copy()
    Scaling.fit(Z).apply(Z)
    np.testing.assert_array_equal(Z, before)


def scaled_pair(n, m, R):
    Z = features(n + m, R)
    scaling = Scaling.fit(Z[:n])
    return scaling.apply(Z[:n]), scaling.apply(Z[n:])


@pytest.mark.parametrize(("n", "R"), [(10, 10), (10, 3), (11, 10)])
def test_compress_leaves_few_columns_alone(n, R):
    rows, others = scaled_pair(n, 4, R)
    result = compress(rows, others)
    assert result[0] is rows
    assert result[1] is others


@pytest.mark.parametrize("n_threads", [1, 2, 5, 64])
@pytest.mark.parametrize("R", [31, 200])
def test_compress_keeps_inner_products_with_training_rows(R, n_threads):
    rows, others = scaled_pair(30, 12, R)
    a, b, c = compress(rows, others, rows[3:4], n_threads=n_threads)
    # Centred rows are linearly dependent: one column less than rows.
    assert a.shape == (30, 29)
    assert b.shape == (12, 29)
    np.testing.assert_allclose(a @ a.T, rows @ rows.T, atol=1e-12)
    np.testing.assert_allclose(b @ a.T, others @ rows.T, atol=1e-12)
    np.testing.assert_allclose(c, a[3:4], atol=1e-7)


def test_compress_rows_of_rank_one_and_zero():
    line = np.outer([1.0, 2.0, -4.0], np.arange(5.0))
    a, b = compress(line, np.ones((2, 5)))
    assert a.shape == (3, 1)
    np.testing.assert_allclose(a @ a.T, line @ line.T)
    np.testing.assert_allclose(b @ a.T, np.ones((2, 5)) @ line.T)
    assert [rows.shape for rows in compress(np.zeros((2, 5)), np.ones((3, 5)))] == [(2, 0), (3, 0)]


@pytest.mark.parametrize("C", [0.1, 10.0, 1000.0])
def test_compress_gives_the_same_ridge(C):
    rows, others = scaled_pair(25, 40, 120)
    y = np.where(np.arange(25) % 3 == 0, 1.0, -1.0)

    def fitted(F, G):
        F, G = with_bias(F), with_bias(G)
        w = np.linalg.solve(F.T @ F + np.eye(F.shape[1]) / (2 * C), F.T @ y)
        return G @ w

    np.testing.assert_allclose(
        fitted(*compress(rows, others)), fitted(rows, others), rtol=1e-8, atol=1e-9
    )


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("C", [1.0, 100.0])
def test_compress_gives_the_same_model_of_liblinear(n_classes, C):
    rows, others = scaled_pair(60, 50, 300)
    y = np.arange(60) % n_classes
    rows[np.arange(60), y] += 0.3
    options = f"-s 2 -B 1 -c {C} -e 1e-9"
    expected = predict(None, others, train(y, rows, options))
    a, b = compress(rows, others)
    found = predict(None, b, train(y, a, options))
    np.testing.assert_allclose(found[2], expected[2], atol=1e-5)
    np.testing.assert_array_equal(found[0], expected[0])


@pytest.mark.parametrize(("n", "R"), [(30, 100), (201, 1000)])
def test_compress_gives_the_same_bits_on_any_number_of_threads(n, R):
    rows, others = scaled_pair(n, n // 2, R)
    with threadpool_limits(limits=1, user_api="blas"):
        expected = compress(rows, others, n_threads=1)
        for n_threads in (2, 3, 4):
            for found, same in zip(
                compress(rows, others, n_threads=n_threads), expected, strict=True
            ):
                np.testing.assert_array_equal(found, same)


def test_compress_does_not_look_at_the_other_rows():
    rows, others = scaled_pair(20, 8, 90)
    expected = compress(rows, others)[0]
    np.testing.assert_array_equal(compress(rows, 1e6 * others + 5)[0], expected)
