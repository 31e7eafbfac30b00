# SPDX-License-Identifier: BSD-3-Clause
"""The Hausdorff family against its definition."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import examples

import d2ke
from d2ke._ext import isa as instruction_sets

# Tiny arrays, which are meant as they are.
pytestmark = pytest.mark.filterwarnings("ignore:every item of .* has shape")

NAMES = ("mhd", "hausdorff", "chamfer", "directed_mhd", "directed_hausdorff")
SYMMETRIC = NAMES[:3]
DIMENSIONS = (1, 2, 3, 4, 5, 7, 8, 16, 31, 32, 33, 64, 100, 127, 128, 129, 130)
TOLERANCE = {np.float64: 1e-12, np.float32: 1e-5}
FAR = {np.float64: 1e150, np.float32: 1e15}


def one_distance(u, v, name):
    # math.dist scales its squares, which therefore neither overflow nor vanish.
    ground = np.array([[math.dist(u_i, v_j) for v_j in v.tolist()] for u_i in u.tolist()])
    a, b = ground.min(axis=1), ground.min(axis=0)
    return {
        "mhd": max(a.mean(), b.mean()),
        "hausdorff": max(a.max(), b.max()),
        "chamfer": a.mean() + b.mean(),
        "directed_mhd": a.mean(),
        "directed_hausdorff": a.max(),
    }[name]


def reference(X, Y, name):
    return np.array([[one_distance(u, v, name) for v in Y] for u in X])


def assert_close(got, X, Y, name):
    dtype = X[0].dtype.type
    wanted = reference(X, Y, name)
    assert got.dtype == dtype
    wrong = ~(np.abs(got - wanted) <= TOLERANCE[dtype] * wanted)  # exactly 0 where 0 is right
    assert not wrong.any(), (name, dtype, got[wrong][:3], wanted[wrong][:3])


def plain(rng, m, d, state):
    return rng.standard_normal((m, d))


def ties(rng, m, d, state):
    return rng.integers(-1, 2, (m, d))


def equal(rng, m, d, state):
    return state["base"][rng.integers(0, 6, m)]


def near_equal(rng, m, d, state):
    noise = 10.0 ** rng.integers(-17, -2) * rng.standard_normal((m, d))
    return equal(rng, m, d, state) + noise


def one_coordinate_apart(rng, m, d, state):
    vectors = equal(rng, m, d, state)
    vectors[:, rng.integers(0, d)] += 10.0 ** rng.integers(-16, 0) * rng.integers(0, 2, m)
    return vectors


def common_offset(rng, m, d, state):
    return 1e6 + rng.standard_normal((m, d))


def unequal_norms(rng, m, d, state):
    return rng.standard_normal((m, d)) * 10.0 ** rng.integers(-12, 13, (m, 1))


def unequal_coordinates(rng, m, d, state):
    return rng.standard_normal((m, d)) * 10.0 ** rng.integers(-5, 6, (m, d))


KINDS = (plain, ties, equal, near_equal, one_coordinate_apart, common_offset, unequal_norms,
         unequal_coordinates)  # fmt: skip


@st.composite
def collections(draw):
    """Two small collections of sets of one kind, dimension and magnitude."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    dtype = draw(st.sampled_from((np.float64, np.float32)))
    d = draw(st.sampled_from(DIMENSIONS))
    kind = draw(st.sampled_from(KINDS))
    scale = draw(st.sampled_from((1.0, 1.0, FAR[dtype], 1 / FAR[dtype])))
    largest = draw(st.sampled_from((1, 3, 22, 40)))
    state = {"base": rng.standard_normal((6, d))}

    def several(most):
        return [
            (scale * kind(rng, int(rng.integers(1, largest + 1)), d, state)).astype(dtype)
            for _ in range(rng.integers(1, most + 1))
        ]

    X, Y = several(3), several(5)
    if draw(st.booleans()):
        Y[0] = X[-1].copy()
    return X, Y


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=examples(60), deadline=None)
@given(data=collections())
def test_reference(name, data):
    X, Y = data
    before = instruction_sets.selected()
    try:
        for instruction_set in instruction_sets.supported():
            instruction_sets.select(instruction_set)
            assert_close(d2ke.distance_matrix(X, Y, name, n_threads=1), X, Y, name)
    finally:
        instruction_sets.select(before)


@pytest.mark.parametrize("name", SYMMETRIC)
@settings(max_examples=examples(40), deadline=None)
@given(data=collections())
def test_symmetric_to_the_bit(name, data):
    X, Y = data
    there = d2ke.distance_matrix(X, Y, name, n_threads=1)
    back = d2ke.distance_matrix(Y, X, name, n_threads=1)
    np.testing.assert_array_equal(there, back.T)
    everything = X + Y
    gram = d2ke.distance_matrix(everything, distance=name, n_threads=1)
    np.testing.assert_array_equal(gram, gram.T)
    np.testing.assert_array_equal(np.diag(gram), 0)
    np.testing.assert_array_equal(gram[: len(X), len(X) :], there)


def ragged(rng, n, most, d, dtype):
    return [rng.standard_normal((int(m), d)).astype(dtype) for m in rng.integers(1, most, n)]


@pytest.mark.sample(3)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(("d", "m"), [(1, 1100), (3, 1100), (130, 150), (300, 70)])
@pytest.mark.parametrize("name", NAMES)
def test_sets_larger_than_a_chunk_of_columns(isa, name, d, m, dtype):
    rng = np.random.default_rng(d)
    X = [rng.standard_normal((m, d)).astype(dtype) for m in (1, 37)]
    Y = [rng.standard_normal((m, d)).astype(dtype) for m in (m, 2, m - 30, 1)]
    assert_close(d2ke.distance_matrix(X, Y, name), X, Y, name)
    assert_close(d2ke.distance_matrix(Y, X, name), Y, X, name)


@pytest.mark.parametrize("name", NAMES)
def test_squares_out_of_range(isa, name):
    rng = np.random.default_rng(0)
    for dtype, scales in ((np.float64, (1e-290, 1e-200, 1e200, 1e300)),
                          (np.float32, (1e-30, 1e-25, 1e25, 1e36))):  # fmt: skip
        for d in (2, 6, 50):
            for scale in scales:
                X = [(x * scale).astype(dtype) for x in ragged(rng, 3, 12, d, np.float64)]
                Y = [(y * scale).astype(dtype) for y in ragged(rng, 4, 12, d, np.float64)]
                assert_close(d2ke.distance_matrix(X, Y, name), X, Y, name)


def test_one_overflowing_norm_does_not_hide_the_nearest_vector(isa):
    u = np.zeros((1, 6), np.float32)
    u[0, 0] = 1.5e19
    v = np.zeros((2, 6), np.float32)
    v[0, 0], v[1, 0] = 1.8e19, 1e18
    for name in NAMES:
        assert_close(d2ke.distance_matrix([u], [v], name), [u], [v], name)
        assert_close(d2ke.distance_matrix([v], [u], name), [v], [u], name)


def test_tiny_difference_of_huge_vectors(isa):
    u = np.full((5, 20), 1e6)
    v = u.copy()
    v[:, 3] = np.nextafter(1e6, 2e6)
    gap = v[0, 3] - u[0, 3]
    for name in ("mhd", "hausdorff", "directed_mhd", "directed_hausdorff"):
        assert d2ke.distance_matrix([u], [v], name)[0, 0] == pytest.approx(gap, rel=1e-12)
