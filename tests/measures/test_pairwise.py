# SPDX-License-Identifier: BSD-3-Clause
"""Distances, features and neighbours of many sets against single distances."""

import math
import pickle

import numpy as np
import pytest
import reference
from hypothesis import given, settings
from hypothesis import strategies as st

import d2ke
from d2ke.measures import kernel_neighbors

# Tiny arrays, which are meant as they are.
pytestmark = pytest.mark.filterwarnings("ignore:every item of .* has shape")


@settings(max_examples=reference.examples(25))
@given(seed=st.integers(0, 2**32), kernel=st.sampled_from(["gaussian", "laplace", "trivial",
                                                           "linear"]))  # fmt: skip
def test_matrix(isa, seed, kernel):
    rng = np.random.default_rng(seed)
    sets = [np.round(rng.standard_normal((n, 2)), 1) for n in rng.integers(1, 150, 6)]
    sets.append(sets[2])
    weights = [rng.standard_normal(len(s)) for s in sets]
    weights[-1] = weights[2]
    given = {"kernel": kernel} | ({"sigma": 0.7} if kernel in ("gaussian", "laplace") else {})
    D = d2ke.kernel_distance_matrix(sets, weights_x=weights, **given)
    assert D.shape == (7, 7)
    assert (D == D.T).all()
    assert (D.diagonal() == 0).all()
    assert D[2, 6] == 0
    both = d2ke.kernel_distance_matrix(
        sets[:3], sets[1:], weights_x=weights[:3], weights_y=weights[1:], **given
    )
    np.testing.assert_allclose(both, D[:3, 1:], atol=1e-6)
    assert both[1, 0] == both[2, 1] == both[2, 5] == 0
    for i, j in [(0, 1), (3, 5), (4, 2)]:
        expected = d2ke.kernel_distance(
            sets[i], sets[j], weights_p=weights[i], weights_q=weights[j], **given
        )
        assert D[i, j] == pytest.approx(expected, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("method", ["rff", "ifgt", "auto"])
def test_features_keep_their_promise(method):
    rng = np.random.default_rng(1)
    sets = [rng.random((n, 2)) for n in (3, 8, 20, 5)]
    exact = d2ke.kernel_distance_matrix(sets, sigma=0.9)
    Z = d2ke.measures.kernel_features(sets, sigma=0.9, method=method, eps=0.05)
    D = np.linalg.norm(Z[:, None] - Z, axis=2)
    W = np.array([(a + b) / 2 for a in map(len, sets) for b in map(len, sets)]).reshape(4, 4)
    assert (np.abs(D**2 - exact**2) <= 0.05 * W**2 + 1e-12).all()
    found = d2ke.kernel_distance_matrix(sets, sigma=0.9, method=method, eps=0.05)
    np.testing.assert_allclose(found, D, atol=1e-9)


def test_feature_map():
    rng = np.random.default_rng(1)
    sets = [rng.random((n, 2)) for n in (3, 8, 20)]
    phi = d2ke.measures.kernel_feature_map(sets, sigma=0.5, n_features=40)
    assert (phi.method, phi.n_features) == ("rff", 40)
    np.testing.assert_array_equal(phi(sets[:2]), phi(sets)[:2])
    copied = pickle.loads(pickle.dumps(phi))
    np.testing.assert_array_equal(copied(sets), phi(sets))
    Z = d2ke.measures.kernel_features(sets, sigma=0.5, n_features=80)
    # A longer map begins with the same frequencies.
    np.testing.assert_allclose(Z.reshape(3, 2, 40)[:, :, :20] * math.sqrt(2),
                               phi(sets).reshape(3, 2, 20))  # fmt: skip
    curves = [d2ke.curve(s) for s in sets]
    Z = d2ke.measures.kernel_features(curves, sigma=0.5, eps=1e-6)
    exact = d2ke.kernel_distance_matrix(curves, sigma=0.5)
    np.testing.assert_allclose(np.linalg.norm(Z[:, None] - Z, axis=2), exact, atol=0.05)


@pytest.mark.parametrize("kernel", ["gaussian", "laplace", "trivial"])
def test_a_set_is_at_distance_zero_from_itself_in_any_order(kernel):
    rng = np.random.default_rng(0)
    P = rng.integers(0, 3, (40, 2)).astype(float)
    w = rng.normal(size=40)
    order = rng.permutation(40)
    sigma = None if kernel == "trivial" else 1.0
    given = {"sigma": sigma, "kernel": kernel, "weights_p": w}
    assert d2ke.kernel_distance(P, P, weights_q=w, **given) == 0
    assert d2ke.kernel_distance(P, P[order], weights_q=w[order], **given) == 0
    if sigma is not None:
        sets = {"weights_x": [w, w[order]], "sigma": sigma, "kernel": kernel}
        assert (d2ke.kernel_distance_matrix([P, P[order]], **sets) == 0).all()


def test_euclidean_distances_of_long_features():
    rng = np.random.default_rng(0)
    base = rng.random((20, 2))
    sets = [base + 1e-9 * rng.random((20, 2)) for _ in range(80)] + [base, base]
    D = d2ke.kernel_distance_matrix(sets, sigma=0.3, n_features=64, method="rff")
    Z = d2ke.measures.kernel_features(sets, sigma=0.3, n_features=64)
    np.testing.assert_allclose(D, np.linalg.norm(Z[:, None] - Z, axis=2), rtol=1e-6)
    assert D[80, 81] == 0


def test_neighbors():
    rng = np.random.default_rng(4)
    sets = [rng.random((12, 2)) + rng.random(2) for _ in range(25)]
    queries = [s + 0.01 for s in sets[:5]]
    full = d2ke.kernel_distance_matrix(queries, sets, sigma=0.4)
    indices, distances = d2ke.measures.kernel_neighbors(queries, sets, 3, sigma=0.4)
    np.testing.assert_array_equal(indices, np.argsort(full, axis=1, kind="stable")[:, :3])
    np.testing.assert_array_equal(distances, np.sort(full, axis=1)[:, :3])
    assert (indices[:, 0] == np.arange(5)).all()
    for options in ({"method": "ifgt", "eps": 1e-4}, {"method": "rff", "n_features": 400},
                  {"method": "rff", "n_features": 16}):  # fmt: skip
        indices, distances = d2ke.measures.kernel_neighbors(queries, sets, 25, sigma=0.4, **options)
        assert distances.shape == indices.shape == (5, 25)
        assert (np.diff(distances, axis=1) >= 0).all()
        assert (indices[:, 0] == np.arange(5)).all()


@pytest.mark.parametrize("options", [{}, {"n_features": 16, "method": "rff"},
                                     {"n_features": 64, "method": "rff"}])  # fmt: skip
def test_equally_distant_sets_are_sorted_by_index(options):
    rng = np.random.default_rng(5)
    distinct = [rng.random((6, 2)) for _ in range(4)]
    chosen = rng.integers(0, 4, 40)
    sets = [distinct[i] for i in chosen]
    for k in (1, 3, 11, 40):
        indices, distances = kernel_neighbors(distinct, sets, k, sigma=0.4, **options)
        for i in range(4):
            copies = np.flatnonzero(chosen == i)[:k]
            assert indices[i, : len(copies)].tolist() == copies.tolist()
            assert (distances[i, : len(copies)] == 0).all()
            assert len(set(indices[i])) == k
