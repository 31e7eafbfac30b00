# SPDX-License-Identifier: BSD-3-Clause
"""Random features: the formula, the exponential to the last bits, and the kernel they tend to."""

import numpy as np
import pytest
import reference
from hypothesis import given
from hypothesis import strategies as st
from reference import same_bits

import d2ke


def series(n, seed=0, dim=2, dtype=np.float64, longest=12):
    rng = np.random.default_rng(seed)
    lengths = rng.integers(1, longest, n).tolist()
    return d2ke.pack(reference.draw_vectors(rng, lengths, dim, dtype))


def ulps(actual, wanted):
    return np.abs(actual - wanted) / np.spacing(np.abs(wanted))


# The exponential


def distances(seed, shape=(37, 41)):
    """Distances of all magnitudes: features from 1 to below the smallest number."""
    rng = np.random.default_rng(seed)
    D = 10.0 ** rng.uniform(-20, 4, shape)
    D[rng.random(shape) < 0.3] *= rng.random()
    D[0, :6] = [0.0, 5e-324, 1e-300, 1e300, np.finfo(float).max, np.inf]
    D[1, :21] = np.linspace(707, 747, 21)
    return D


@pytest.mark.parametrize("gamma", [1.0, 0.37, 1e-5, 1e3, 1e-300, 1e300, 5e-324])
def test_within_4_ulp_of_numpy(isa, gamma):
    for seed in range(4):
        D = distances(seed)
        with np.errstate(over="ignore", under="ignore"):
            wanted = np.exp(-gamma * D) / np.sqrt(D.shape[1])
        assert ulps(d2ke.d2ke_features(D, gamma), wanted).max() <= 4


def test_exact_values(isa):
    D = np.array([[0.0, np.inf, 1e308, 746.0]])
    assert d2ke.d2ke_features(D, 1.0).tolist() == [[0.5, 0, 0, 0]]
    assert d2ke.d2ke_features(D[:, :2].astype(np.float32), 1.0)[0, 1] == 0


@pytest.mark.parametrize("n", [1, 2, 3, 5, 2047, 2048, 2049, 5000])
def test_chunks_and_tails(isa, n):
    D = np.random.default_rng(n).random((1, n)) * 9
    Z = d2ke.d2ke_features(D, 0.7, n_threads=1)
    assert same_bits(d2ke.d2ke_features(D, 0.7, n_threads=4), Z)
    # No value depends on its neighbours.
    scale = np.sqrt(n)
    alone = np.array(
        [d2ke.d2ke_features(D[:, i : i + 1], 0.7, n_threads=1)[0, 0] for i in range(0, n, 97)]
    )
    np.testing.assert_allclose(Z[0, ::97] * scale, alone, rtol=1e-15)


def test_float32_is_the_rounded_double(isa):
    D = distances(1)[2:].astype(np.float32)
    wanted = reference.features(D.astype(np.float64), 0.3)
    Z = d2ke.d2ke_features(D, 0.3)
    assert Z.dtype == np.float32
    assert ulps(Z, wanted.astype(np.float32)).max() <= 1


def test_in_place_and_out():
    D = distances(2)
    wanted = d2ke.d2ke_features(D.copy(), 0.5)
    out = np.empty_like(D)
    assert d2ke.d2ke_features(D, 0.5, out=out) is out
    assert same_bits(out, wanted)
    assert d2ke.d2ke_features(D, 0.5, out=D) is D
    assert same_bits(D, wanted)
    D = distances(2)[:, 6:].copy()
    wanted = D * (1 / np.sqrt(D.shape[1]))
    assert d2ke.d2ke_features(D, link="distance", out=D) is D
    np.testing.assert_array_equal(D, wanted)


def test_out_may_overlap():
    buffer = np.random.default_rng(0).random(20_001)
    D, out = buffer[:-1].reshape(100, 200), buffer[1:].reshape(100, 200)
    wanted = d2ke.d2ke_features(D.copy(), 1.0)
    assert same_bits(d2ke.d2ke_features(D, 1.0, out=out), wanted)


# d2ke_embed


@pytest.mark.parametrize(
    ("name", "dtype"),
    [
        (name, dtype)
        for name in d2ke.distance_names()
        for dtype in ((np.float64,) if name in reference.STRINGS else (np.float64, np.float32))
    ],
)
@pytest.mark.parametrize("link", ["exp", "distance"])
def test_fused_is_the_same_as_features_of_distances(isa, name, dtype, link):
    rng = np.random.default_rng(4)
    X, omega = (d2ke.pack(reference.sample_objects(name, rng, n, dtype)) for n in (33, 21))
    gamma = 0.3 if link == "exp" else None
    how = {"distance": name, "gamma": gamma, "link": link, **reference.given(name)}
    Z = d2ke.d2ke_embed(X, omega, n_threads=1, **how)
    D = d2ke.distance_matrix(X, omega, name, **reference.given(name))
    assert same_bits(Z, d2ke.d2ke_features(D, gamma, link))
    assert Z.dtype == dtype
    exact = D.astype(np.float64)
    wanted = (reference.features(exact, gamma) if gamma else exact / np.sqrt(21)).astype(dtype)
    close = {"rtol": 1e-12 if dtype == np.float64 else 2e-6, "atol": np.finfo(dtype).tiny}
    np.testing.assert_allclose(Z, wanted, **close)
    assert same_bits(d2ke.d2ke_embed(X, omega, n_threads=4, **how), Z)
    single = np.empty((33, 21), np.float32)
    d2ke.d2ke_embed(X, omega, out=single, **how)
    assert same_bits(single, d2ke.d2ke_features(D.astype(np.float32), gamma, link))
    rows = rng.permutation(33)[:7]
    assert same_bits(d2ke.d2ke_embed(X[rows], omega, **how), Z[rows])


@pytest.mark.parametrize("link", ["exp", "distance"])
@pytest.mark.parametrize("ground", ["euclidean", "sqeuclidean"])
@pytest.mark.parametrize("scale", [1e-200, 1e140, 1e200])
def test_fused_at_extreme_magnitudes(isa, link, ground, scale):
    X, omega = (d2ke.pack([v * scale for v in series(5, seed)]) for seed in (0, 1))
    omega = d2ke.concatenate([omega, X[:2]])
    for gamma in [1 / scale, 1e200, 1e-200] if link == "exp" else [None]:
        Z = d2ke.d2ke_embed(X, omega, distance="dtw", gamma=gamma, link=link, ground=ground)
        D = d2ke.distance_matrix(X, omega, "dtw", ground=ground)
        assert not np.isnan(Z).any()
        assert same_bits(Z, d2ke.d2ke_features(D, gamma, link))


def test_rsm_is_the_same_formula():
    X = series(9)
    reps = d2ke.samplers.training_objects(4, X, seed=0)[0]
    for link, gamma in [("exp", 0.5), ("distance", None)]:
        Z = d2ke.rsm_embed(X, reps, distance="dtw", gamma=gamma, link=link, window=2)
        wanted = d2ke.d2ke_embed(X, reps, distance="dtw", gamma=gamma, link=link, window=2)
        assert same_bits(Z, wanted)


# The kernel


@given(seed=st.integers(0, 10**6), gamma=st.floats(1e-3, 1e3))
def test_positive_semi_definite(seed, gamma):
    X = series(12, seed)
    omega = d2ke.samplers.random_series(20, 2, length=(1, 6), sigma=1.0, seed=seed)
    K = (Z := d2ke.d2ke_embed(X, omega, distance="dtw", gamma=gamma)) @ Z.T
    assert (Z >= 0).all()
    assert K.max() <= 1 + 1e-12
    assert np.linalg.eigvalsh(K).min() >= -1e-13 * max(K.max(), 1e-300)


# Refusals


def test_link():
    for call in (
        lambda **options: d2ke.d2ke_features(np.ones((1, 1)), **options),
        lambda **options: d2ke.d2ke_embed([[1.0]], [[1.0]], distance="dtw", **options),
        lambda **options: d2ke.rsm_embed([[1.0]], [[1.0]], distance="dtw", **options),
    ):
        with pytest.raises(ValueError, match="link must be one of exp, distance; got 'log'"):
            call(gamma=1.0, link="log")
        with pytest.raises(TypeError, match='gamma has no meaning for link="distance"'):
            call(gamma=1.0, link="distance")
        with pytest.raises(TypeError, match='gamma is needed for link="exp"'):
            call()


@pytest.mark.parametrize(
    ("out", "error", "message"),
    [
        (np.ones((2, 3)), ValueError, r"out must have shape \(2, 2\), got \(2, 3\)"),
        (np.ones((2, 2)).T, ValueError, "out must be C-contiguous"),
        (np.ones((2, 2), int), TypeError, "out must be an ndarray of float32 or float64"),
    ],
)
def test_bad_out(out, error, message):
    with pytest.raises(error, match=message):
        d2ke.d2ke_features(np.ones((2, 2)), 1.0, out=out)


@pytest.mark.parametrize("distance", ["dtw", lambda x, y: 1.0])
def test_omega_is_needed(distance):
    for function in (d2ke.d2ke_embed, d2ke.rsm_embed):
        with pytest.raises(TypeError, match=r"omega|reps"):
            function([[1.0], [2.0]], None, distance=distance, gamma=1.0)
