# SPDX-License-Identifier: BSD-3-Clause
"""The pseudo-Euclidean embedding on distances whose embedding is known."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

import d2ke


def distances(A, B):
    return np.linalg.norm(A[:, None] - B, axis=2)


def some_dissimilarity(n, seed):
    upper = np.triu(np.random.default_rng(seed).uniform(0.1, 3, (n, n)), 1)
    return upper + upper.T


@given(n=st.integers(4, 20), dim=st.integers(1, 3), seed=st.integers(0, 999))
def test_euclidean_distances_give_the_points_back(n, dim, seed):
    rng = np.random.default_rng(seed)
    A, new = rng.standard_normal((n, dim)), rng.standard_normal((3, dim))
    embedding = d2ke.gdk_led(distances(A, A), min(n, dim + 1))
    Z = embedding.Z
    assert embedding.signature == (dim, 0)
    assert Z.shape == (n, dim)
    assert_allclose(Z.mean(axis=0), 0, atol=1e-12)
    # Up to a rotation and a reflection: the same distances, also from new points.
    assert_allclose(distances(Z, Z), distances(A, A), atol=1e-7)
    assert_allclose(
        distances(embedding.project(distances(new, A)), Z), distances(new, A), atol=1e-6
    )


@given(n=st.integers(2, 15), seed=st.integers(0, 999))
def test_all_dimensions_hold_any_dissimilarity(n, seed):
    D = some_dissimilarity(n, seed)
    embedding = d2ke.gdk_led(D, n)
    sign = np.sign(embedding.eigenvalues)
    assert embedding.signature == ((sign > 0).sum(), (sign < 0).sum())
    assert (np.diff(np.abs(embedding.eigenvalues)) <= 1e-12).all()
    differences = embedding.Z[:, None] - embedding.Z
    assert_allclose((differences**2 * sign).sum(axis=2), D**2, atol=1e-9)
    assert_allclose(embedding.project(D), embedding.Z, atol=1e-6)


def test_fewer_dimensions_are_the_largest_ones():
    D = some_dissimilarity(30, 0)
    some, every = d2ke.gdk_led(D, 5), d2ke.gdk_led(D, 30)
    assert_allclose(some.Z, every.Z[:, :5], atol=1e-12)
    assert_allclose(some.project(D[:3]), every.project(D[:3])[:, :5], atol=1e-9)


def test_few_dimensions_of_many_objects_are_the_largest_ones():
    D = some_dissimilarity(1001, 1)
    wanted, found = d2ke.gdk_led(D, 101), d2ke.gdk_led(D, 4)
    assert_allclose(found.eigenvalues, wanted.eigenvalues[:4], rtol=1e-9)
    assert_allclose(found.Z, wanted.Z[:, :4], atol=1e-6)
    assert np.array_equal(found.Z, d2ke.gdk_led(D, 4).Z)


def test_squares_that_float64_does_not_hold():
    with pytest.raises(ValueError, match=r"D\[0, 1\] is 1e\+200; at most 2\*\*500"):
        d2ke.gdk_led([[0, 1e200], [1e200, 0]], 1)
    for tiny in (1e-155, 1e-200):
        with pytest.raises(ValueError, match=f"D is too small: its largest distance is {tiny}"):
            d2ke.gdk_led([[0, tiny], [tiny, 0]], 1)
    embedding = d2ke.gdk_led([[0, 1e150], [1e150, 0]], 1)
    assert abs(embedding.Z[0, 0] - embedding.Z[1, 0]) == pytest.approx(1e150)
    small = d2ke.gdk_led([[0, 1e-150], [1e-150, 0]], 1)
    assert abs(small.Z[0, 0] - small.Z[1, 0]) == pytest.approx(1e-150)


@pytest.mark.parametrize("n", [3, 1001])
def test_objects_that_are_all_alike(n):
    embedding = d2ke.gdk_led(np.zeros((n, n)), 2)
    assert embedding.Z.shape == (n, 0)
    assert embedding.signature == (0, 0)
    assert embedding.project(np.ones((4, n))).shape == (4, 0)


def test_equal_distances_of_many_objects():
    n = 1001
    embedding = d2ke.gdk_led(1.0 - np.eye(n), 3)
    np.testing.assert_allclose(embedding.eigenvalues, 0.5)
