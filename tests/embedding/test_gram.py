# SPDX-License-Identifier: BSD-3-Clause
"""Gram matrices of features and of distances, and the repair of their spectra."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

import d2ke

RNG = np.random.default_rng(5)


def points(n, dim=3):
    return RNG.standard_normal((n, dim))


def distances(A, B):
    return np.linalg.norm(A[:, None] - B, axis=2)


def with_spectrum(values):
    Q = np.linalg.qr(RNG.standard_normal((len(values), len(values))))[0]
    return (Q * values) @ Q.T, Q


# Features


@pytest.mark.parametrize("n_threads", [1, 3])
def test_gram_of_features(n_threads):
    X = d2ke.samplers.random_strings(600, "AB", length=(1, 9), seed=1)
    Y = d2ke.samplers.random_strings(5, "AB", length=(1, 9), seed=2)
    omega = d2ke.samplers.random_strings(40, "AB", length=(1, 4), seed=3)
    options = {"omega": omega, "distance": "levenshtein", "gamma": 0.3}
    sums = d2ke.distance_matrix(X, omega, "levenshtein")
    others = d2ke.distance_matrix(Y, omega, "levenshtein")
    wanted = np.exp(-0.3 * (sums[:, None] + others)).mean(axis=2)
    assert_allclose(d2ke.d2ke_gram(X, Y, n_threads=n_threads, **options), wanted, rtol=1e-13)
    K = d2ke.d2ke_gram(X, n_threads=n_threads, **options)
    assert np.array_equal(K, K.T)
    assert np.array_equal(K, d2ke.d2ke_gram(X, n_threads=2, **options))
    assert np.linalg.eigvalsh(K).min() > -1e-12
    assert_allclose(K[:, :7], d2ke.d2ke_gram(X, X[:7], **options), rtol=1e-14)


# Distance substitution


@given(beta=st.floats(0.3, 3), gamma=st.floats(1e-3, 1e2))
def test_substitution_by_definition(beta, gamma):
    D = distances(points(4), points(6))
    assert_allclose(d2ke.dsk_gram(D, gamma=gamma, beta=beta), np.exp(-gamma * D**beta), rtol=1e-13)
    assert_allclose(d2ke.dsk_gram(D, kind="nd", beta=beta), -(D**beta), rtol=1e-15)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(("dtype", "scale"), [(np.float64, 1e200), (np.float32, 1e20)])
def test_powers_beyond_the_type(dtype, scale):
    D = np.array([[0.0, 0.5, 1.0]], dtype) * dtype(scale)
    refused = r"D\[0, 1\] is 5\S+, whose power 2.0 is beyond float\d\d; divide D by its median"
    with pytest.raises(ValueError, match=refused):
        d2ke.dsk_gram(D, kind="nd")
    assert_allclose(d2ke.dsk_gram(D, kind="nd", beta=1.0), -D)
    gamma = 1e-40 if dtype == np.float32 else 1e-300
    wanted = [[1.0, np.exp(-0.25), np.exp(-1)]] if dtype == np.float32 else [[1.0, 0.0, 0.0]]
    assert_allclose(d2ke.dsk_gram(D, gamma=gamma), wanted, rtol=1e-6)
    assert d2ke.dsk_gram(D, gamma=1.0).tolist() == [[1, 0, 0]]
    large = np.full((1, 1), 1e155 * 2)
    assert_allclose(d2ke.dsk_gram(large, gamma=2e-311), np.exp(-0.8), rtol=1e-9)
    assert_allclose(d2ke.dsk_gram(large * [[np.inf]], gamma=2e-311), 0)


@pytest.mark.parametrize("beta", [0.5, 1.0, 2.0])
def test_negative_distance_is_conditionally_positive_definite(beta):
    A = points(12)
    K = d2ke.dsk_gram(distances(A, A), kind="nd", beta=beta)
    J = np.eye(12) - 1 / 12
    assert np.linalg.eigvalsh(J @ K @ J).min() > -1e-12


def test_conditionally_positive_kernel_trains_as_its_centred_form():
    """The constraint sum alpha y = 0 of the SVM makes -d^2 the linear kernel (times 2)."""
    A = np.vstack([points(20) - 2, points(20) + 2])
    y = np.repeat([0, 1], 20)
    model = d2ke.svmtrain(y, d2ke.dsk_gram(distances(A, A), kind="nd"), "-t 4 -c 1 -q")
    linear = d2ke.svmtrain(y, 2 * A @ A.T, "-t 4 -c 1 -q")
    new = points(30)
    K_new = d2ke.dsk_gram(distances(new, A), kind="nd")
    labels = d2ke.svmpredict(np.zeros(30, int), K_new, model)[0]
    wanted = d2ke.svmpredict(np.zeros(30, int), 2 * new @ A.T, linear)[0]
    assert np.array_equal(labels, wanted)


# Repair


@pytest.mark.parametrize(
    ("kind", "repaired"),
    [("clip", [3, 1, 0, 0]), ("flip", [3, 1, 2, 0.5]), ("shift", [5, 3, 0, 1.5])],
)
def test_repair_of_a_known_spectrum(kind, repaired):
    K, Q = with_spectrum(np.array([3, 1, -2, -0.5]))
    repair = d2ke.embedding.SpectrumRepair.fit(K, kind)
    assert_allclose(repair.gram, (Q * repaired) @ Q.T, atol=1e-14)
    assert np.array_equal(repair.gram, repair.gram.T)
    assert repair.least == pytest.approx(-2)
    assert repair.negative.shape == (4, 2)
    if kind == "shift":
        assert np.array_equal(repair.apply(K), K)
    else:
        assert_allclose(repair.apply(K), repair.gram, atol=1e-14)


@pytest.mark.parametrize("kind", ["clip", "flip", "shift"])
def test_nothing_to_repair(kind):
    K, _ = with_spectrum(np.array([3.0, 2, 1]))
    repair = d2ke.embedding.SpectrumRepair.fit(K, kind)
    assert_allclose(repair.gram, K, atol=1e-14)  # repaired or not, as BLAS rounds
    assert np.array_equal(repair.apply(K[:2]), K[:2])


@pytest.mark.parametrize("kind", ["clip", "flip", "shift"])
def test_repair_carried_over_to_new_rows(kind):
    D = np.abs(RNG.standard_normal((9, 9)))
    D = np.triu(D, 1) + np.triu(D, 1).T
    new = np.abs(RNG.standard_normal((4, 9)))
    repair = d2ke.embedding.SpectrumRepair.fit(d2ke.dsk_gram(D, kind="nd"), kind)
    # A product of matrices has other last bits where BLAS has other kernels.
    assert_allclose(d2ke.dsk_gram(D, kind="nd", repair=kind), repair.gram, atol=1e-14)
    rows = d2ke.dsk_gram(new, kind="nd", repair=repair)
    assert_allclose(rows, repair.apply(-(new**2)), atol=1e-14)
    with pytest.raises(ValueError, match="K has 8 columns; the repair was fitted to 9 objects"):
        d2ke.dsk_gram(new[:, :8], kind="nd", repair=repair)
