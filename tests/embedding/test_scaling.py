# SPDX-License-Identifier: BSD-3-Clause
"""Centring and scaling of features, and their compression to as many columns as rows."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from threadpoolctl import threadpool_limits

from d2ke.embedding.scaling import SCALINGS, Scaling, compress


def features(n, R, seed=0, dtype=np.float64):
    """Draw features of distances: positive, small, hardly varying."""
    distances = np.random.default_rng(seed).gamma(20.0, 1.0, (n, R))
    return (np.exp(-0.01 * distances) / np.sqrt(R)).astype(dtype)


def mean_and_sd(column):
    mean = sum(column) / len(column)
    return mean, (sum((z - mean) ** 2 for z in column) / len(column)) ** 0.5


@pytest.mark.parametrize("kind", SCALINGS)
@given(st.integers(1, 12), st.integers(1, 6), st.integers(0, 1000), st.sampled_from(["f8", "f4"]))
def test_against_one_number_at_a_time(kind, n, R, seed, dtype):
    Z, other = features(n + 1, R, seed, dtype), features(3, R, seed + 1, dtype)
    scaled = Scaling.fit(Z, kind).apply(other)
    assert scaled.dtype == dtype
    each = [mean_and_sd([float(z) for z in Z[:, j]]) for j in range(R)]
    common = (sum(sd**2 for _, sd in each) / R) ** 0.5
    for i in range(3):
        for j, (mean, sd) in enumerate(each):
            expected = {
                "standard": (float(other[i, j]) - mean) / (sd * R**0.5),
                "center": (float(other[i, j]) - mean) / (common * R**0.5),
                "none": float(other[i, j]),
            }
            few = {"rel": 1e-6, "abs": 1e-9} if dtype == "f8" else {"rel": 1e-5, "abs": 1e-6}
            assert scaled[i, j] == pytest.approx(expected[kind], **few)


def test_float32_features_far_from_zero_are_centred_exactly():
    """The difference from the mean is taken in float64."""
    Z = (1000 + features(100, 2)).astype(np.float32)
    wide = Z.astype(np.float64)
    expected = (wide - wide.mean(axis=0)) / (wide.std(axis=0) * np.sqrt(2))
    np.testing.assert_allclose(Scaling.fit(Z).apply(Z), expected, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("value", [0.0, 0.1, 1 / 3, 1e-9, 1e9, -0.7])
def test_constant_columns_are_centred_only(value, dtype):
    Z = features(1000, 3, dtype=dtype)
    Z[:, 1] = value
    scaling = Scaling.fit(Z)
    assert scaling.divisor[1] == np.sqrt(3)
    # What rounding leaves of the constant is not blown up.
    np.testing.assert_allclose(scaling.apply(Z)[:, 1], 0, atol=1e-12 * abs(value))
    test = Z.astype(np.float64)
    test[:, 1] += 3
    np.testing.assert_allclose(scaling.apply(test)[:, 1], 3 / np.sqrt(3), rtol=1e-6)


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


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("level", [0.02, 1.0, -1e3, 1e8])
@pytest.mark.parametrize("n", [50, 100_000])
def test_columns_that_vary_by_rounding_are_constant(level, dtype, n):
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(n, 3)).astype(dtype)
    Z[:, 1] = level * (1 + np.finfo(dtype).eps * rng.uniform(-1, 1, n))
    assert Scaling.fit(Z).divisor[1] == np.sqrt(3)
    two, three = Scaling.fit(Z[:, [0, 2]], "center"), Scaling.fit(Z, "center")
    np.testing.assert_allclose(three.divisor, two.divisor[0], rtol=1e-12)


@pytest.mark.parametrize(
    ("dtype", "level", "deviation"),
    [(np.float64, 1e8, 1e-6), (np.float64, -1e12, 0.01), (np.float32, 1e3, 1e-3)],
)
@pytest.mark.parametrize("n", [50, 100_000])
def test_small_deviations_far_from_zero_are_kept(n, level, deviation, dtype):
    rng = np.random.default_rng(1)
    Z = (level + deviation * rng.normal(size=(n, 2))).astype(dtype)
    wanted = (Z - dtype(level)).astype(np.float64)
    scaling = Scaling.fit(Z)
    np.testing.assert_allclose(scaling.divisor, wanted.std(axis=0) * np.sqrt(2), rtol=1e-6)
    np.testing.assert_allclose(scaling.apply(Z).std(axis=0), np.sqrt(0.5), rtol=1e-3)
