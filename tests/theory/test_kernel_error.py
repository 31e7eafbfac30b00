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


@given(
    n=st.integers(1, 9),
    R=st.integers(2, 70),
    seed=st.integers(0, 999),
    single=st.booleans(),
)
def test_kernel_error_matches_a_direct_computation(n, R, seed, single):
    rng = np.random.default_rng(seed)
    Z = rng.uniform(0, 1, (n, R)) / np.sqrt(R)
    Z = Z.astype(np.float32) if single else Z
    many = rng.uniform(0, 1, (n, 90)) / np.sqrt(90)
    K = many @ many.T
    sizes = sorted({1, min(3, R), (R + 1) // 2, R})
    options = {"n_threads": 1, "features": many}
    got = d2ke.theory.kernel_error(Z, sizes=sizes, centred=True, **options)
    assert d2ke.theory.kernel_error(Z, sizes=sizes, **options).centred_mean is None
    assert got.sizes.tolist() == sizes
    phi = Z.astype(np.float64) * np.sqrt(R)
    products = np.einsum("ir,jr->ijr", phi, phi)
    C = np.eye(n) - 1 / n
    norm = np.linalg.norm(C @ K @ C) if n > 1 else np.nan
    for i, r in enumerate(sizes):
        parts = [products[:, :, b * r : (b + 1) * r] for b in range(min(R // r, 20))]
        assert got.n_blocks[i] == len(parts)
        errors = np.array([part.mean(axis=2) - K for part in parts])
        rms = np.sqrt((errors**2).mean(axis=(1, 2)))
        for name, values, rtol, atol in (
            ("max", np.abs(errors).max(axis=(1, 2)), 1e-7, 1e-12),
            ("rms", rms, 1e-7, 1e-12),
            ("relative", rms / np.sqrt((K**2).mean()), 1e-7, 1e-12),
            ("centred", np.array([np.linalg.norm(C @ E @ C) for E in errors]) / norm, 1e-6, 1e-9),
        ):
            deviation = values.std(ddof=1) if len(parts) > 1 else np.nan
            assert_allclose(getattr(got, f"{name}_mean")[i], values.mean(), rtol=1e-9)
            assert_allclose(getattr(got, f"{name}_sd")[i], deviation, rtol=rtol, atol=atol)
    variance = products.var(axis=2, ddof=1).mean()
    assert_allclose(got.expected_rms, np.sqrt(variance / np.array(sizes)), rtol=1e-6)


def test_kernel_error_by_tiles_and_threads():
    # More rows than one tile, more columns than one chunk.
    rng = np.random.default_rng(3)
    Z = rng.uniform(0, 1, (600, 1100)) / np.sqrt(1100)
    halves = np.full((600, 1), 0.5)
    how = {"sizes": [1100, 300], "centred": True}
    one = d2ke.theory.kernel_error(Z, features=halves, n_threads=1, **how)
    three = d2ke.theory.kernel_error(Z, features=halves, n_threads=3, **how)
    for name, values in vars(one).items():
        np.testing.assert_array_equal(values, getattr(three, name))
    whole = Z @ Z.T - 0.25
    assert one.sizes.tolist() == [300, 1100]
    assert one.n_blocks.tolist() == [3, 1]
    assert_allclose(one.max_mean[1], np.abs(whole).max(), rtol=1e-12)
    assert_allclose(one.rms_mean[1], np.sqrt((whole**2).mean()), rtol=1e-12)
    single = d2ke.theory.kernel_error(Z.astype(np.float32), features=halves, sizes=[1100, 300])
    assert_allclose(single.rms_mean, one.rms_mean, rtol=1e-4)


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
    got = d2ke.theory.kernel_error(Z, features=many, sizes=[64], centred=True)
    assert got.centred_mean[0] == pytest.approx(wanted, rel=1e-4)
    assert got.relative_mean[0] < 1e-5 < 0.05 < wanted
