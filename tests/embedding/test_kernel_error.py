# SPDX-License-Identifier: BSD-3-Clause
"""Measured errors of random features where the kernel is known exactly."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

import d2ke

GAMMA = 0.7
OBJECTS = ["a", "b", "ab", "ba", "aab", "bbbb", "abab"]
# A p(omega) that can be enumerated: all strings of one or two letters, each equally likely.
OMEGAS = ["".join(letters) for length in (1, 2) for letters in product("ab", repeat=length)]
PHI = np.exp(-GAMMA * d2ke.distance_matrix(OBJECTS, OMEGAS, "levenshtein"))
KERNEL = PHI @ PHI.T / len(OMEGAS)


def drawn(R, seed):
    """Features of R strings drawn from p(omega)."""
    chosen = np.random.default_rng(seed).integers(len(OMEGAS), size=R)
    return PHI[:, chosen] / np.sqrt(R)


def test_measured_error_keeps_the_promise():
    eps, delta = 0.2, 0.1
    p = d2ke.effective_dimension("strings", length=4, alphabet_size=2)
    R = d2ke.features_needed(eps, delta, p, GAMMA)
    assert 2000 < R < 10000
    kept = 0
    for seed in range(100):
        error = d2ke.kernel_error(drawn(R, seed), gram=KERNEL, sizes=[R], n_threads=1)
        kept += error.max_mean[0] <= eps
    assert kept >= 100 * (1 - delta)


@pytest.mark.parametrize("with_features", [False, True])
@given(
    n=st.integers(1, 9),
    R=st.integers(2, 70),
    seed=st.integers(0, 999),
    single=st.booleans(),
    max_blocks=st.integers(1, 30),
)
def test_kernel_error_matches_a_direct_computation(with_features, n, R, seed, single, max_blocks):
    rng = np.random.default_rng(seed)
    Z = rng.uniform(0, 1, (n, R)) / np.sqrt(R)
    Z = Z.astype(np.float32) if single else Z
    many = rng.uniform(0, 1, (n, 90)) / np.sqrt(90)
    K = many @ many.T
    reference = {"features": many} if with_features else {"gram": K}
    sizes = sorted({1, min(3, R), (R + 1) // 2, R})
    options = {"max_blocks": max_blocks, "n_threads": 1, **reference}
    got = d2ke.kernel_error(Z, sizes=sizes, centred=True, **options)
    assert d2ke.kernel_error(Z, sizes=sizes, **options).centred_mean is None
    assert got.sizes.tolist() == sizes
    phi = Z.astype(np.float64) * np.sqrt(R)
    products = np.einsum("ir,jr->ijr", phi, phi)
    for i, r in enumerate(sizes):
        parts = [products[:, :, b * r : (b + 1) * r] for b in range(min(R // r, max_blocks))]
        errors = np.array([part.mean(axis=2) - K for part in parts])
        largest = np.abs(errors).max(axis=(1, 2))
        rms = np.sqrt((errors**2).mean(axis=(1, 2)))
        assert got.n_blocks[i] == len(parts)
        assert_allclose(got.max_mean[i], largest.mean(), rtol=1e-9)
        assert_allclose(got.rms_mean[i], rms.mean(), rtol=1e-9)
        if len(parts) == 1:
            assert np.isnan(got.max_sd[i])
            assert np.isnan(got.rms_sd[i])
        else:
            assert_allclose(got.max_sd[i], largest.std(ddof=1), rtol=1e-7, atol=1e-12)
            assert_allclose(got.rms_sd[i], rms.std(ddof=1), rtol=1e-7, atol=1e-12)
        relative = rms / np.sqrt((K**2).mean())
        assert_allclose(got.relative_mean[i], relative.mean(), rtol=1e-9)
        C = np.eye(n) - 1 / n
        if n > 1:
            centred = [np.linalg.norm(C @ error @ C) / np.linalg.norm(C @ K @ C)
                       for error in errors]  # fmt: skip
            assert_allclose(got.centred_mean[i], np.mean(centred), rtol=1e-9)
            if len(parts) > 1:
                assert_allclose(got.relative_sd[i], relative.std(ddof=1), rtol=1e-7, atol=1e-12)
                assert_allclose(got.centred_sd[i], np.std(centred, ddof=1), rtol=1e-6, atol=1e-9)
        else:
            assert np.isnan(got.centred_mean[i])
    variance = products.var(axis=2, ddof=1).mean()
    assert_allclose(got.expected_rms, np.sqrt(variance / np.array(sizes)), rtol=1e-6)


def test_kernel_error_by_tiles_and_threads():
    # More rows than one tile, more columns than one chunk.
    rng = np.random.default_rng(3)
    Z = rng.uniform(0, 1, (600, 1100)) / np.sqrt(1100)
    K = np.full((600, 600), 0.25)
    one = d2ke.kernel_error(Z, gram=K, sizes=[1100, 300], centred=True, n_threads=1)
    three = d2ke.kernel_error(Z, gram=K, sizes=[1100, 300], centred=True, n_threads=3)
    for name, values in vars(one).items():
        np.testing.assert_array_equal(values, getattr(three, name))
    whole = Z @ Z.T - K
    assert one.sizes.tolist() == [300, 1100]
    assert one.n_blocks.tolist() == [3, 1]
    assert_allclose(one.max_mean[1], np.abs(whole).max(), rtol=1e-12)
    assert_allclose(one.rms_mean[1], np.sqrt((whole**2).mean()), rtol=1e-12)
    single = d2ke.kernel_error(Z.astype(np.float32), gram=K, sizes=[1100, 300])
    assert_allclose(single.rms_mean, one.rms_mean, rtol=1e-4)


def test_error_falls_as_one_over_root_R():
    error = d2ke.kernel_error(drawn(1 << 15, 0), gram=KERNEL, max_blocks=2000)
    assert error.sizes.tolist() == [1 << k for k in range(16)]
    many = error.n_blocks >= 64
    assert many.sum() == 10
    slope = np.polyfit(np.log(error.sizes[many]), np.log(error.rms_mean[many]), 1)[0]
    assert slope == pytest.approx(-0.5, abs=0.03)
    # The mean square, of which the theory speaks.
    square = error.rms_mean**2 + error.rms_sd**2
    assert_allclose(np.sqrt(square[many]), error.expected_rms[many], rtol=0.12)
    exact = np.sqrt((PHI**2 @ PHI.T**2 / len(OMEGAS) - KERNEL**2).mean())
    assert_allclose(error.expected_rms * np.sqrt(error.sizes), exact, rtol=0.02)


def test_centred_error_of_a_kernel_that_hardly_varies():
    """With a tiny gamma all values are near 1, and the centred error is that of a wide one's."""
    gamma = 1e-6
    phi = np.expm1(-gamma / GAMMA * -np.log(PHI))  # phi - 1, without rounding
    K = phi @ phi.T / len(OMEGAS)
    chosen = np.random.default_rng(0).integers(len(OMEGAS), size=64)
    error = phi[:, chosen] @ phi[:, chosen].T / 64 - K
    C = np.eye(len(K)) - 1 / len(K)
    wanted = np.linalg.norm(C @ error @ C) / np.linalg.norm(C @ K @ C)
    Z = (1 + phi[:, chosen]) / 8
    many = (1 + phi) / np.sqrt(len(OMEGAS))
    got = d2ke.kernel_error(Z, features=many, sizes=[64], centred=True)
    assert got.centred_mean[0] == pytest.approx(wanted, rel=1e-4)
    assert got.relative_mean[0] < 1e-5 < 0.05 < wanted


@given(n=st.integers(1, 5), m=st.integers(1, 5), R=st.integers(2, 50), seed=st.integers(0, 99))
def test_standard_error_matches_the_deviation_of_products(n, m, R, seed):
    rng = np.random.default_rng(seed)
    A, B = rng.uniform(0, 1, (n, R)), rng.uniform(0, 1, (m, R))
    products = np.einsum("ir,jr->ijr", A, B)
    wanted = products.std(axis=2, ddof=1) / np.sqrt(R)
    got = d2ke.kernel_standard_error(A / np.sqrt(R), B / np.sqrt(R))
    assert_allclose(got, wanted, rtol=1e-6)
    single = d2ke.kernel_standard_error((A / np.sqrt(R)).astype(np.float32))
    assert_allclose(single, d2ke.kernel_standard_error(A / np.sqrt(R)), rtol=1e-3)


def test_standard_errors_cover_the_truth():
    covered = [
        np.abs(Z @ Z.T - KERNEL) <= 1.96 * d2ke.kernel_standard_error(Z) + 1e-9
        for Z in (drawn(400, seed) for seed in range(1000))
    ]
    share = np.mean(covered, axis=0)
    # Where every omega gives the same product there is nothing to miss.
    varies = (PHI[:, None] * PHI).std(axis=2) > 1e-9
    assert varies.sum() > 40
    assert share[~varies].min(initial=1) == 1
    assert share[varies].min() > 0.92
    assert share[varies].max() < 0.975


def test_equal_products_have_no_error():
    assert d2ke.kernel_standard_error(np.full((2, 1000), 0.1)).max() < 1e-6
