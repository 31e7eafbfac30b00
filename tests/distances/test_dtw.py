# SPDX-License-Identifier: BSD-3-Clause
"""Dynamic time warping: windows, grounds and extremes beside what all elastic distances have."""

import numpy as np
import pytest
import reference
from hypothesis import given
from hypothesis import strategies as st

import d2ke

# Tiny arrays, which are meant as they are.
pytestmark = pytest.mark.filterwarnings("ignore:every item of .* has shape")

TOLERANCE = {np.float64: 1e-12, np.float32: 1e-5}


def assert_close(actual, wanted, dtype, floor=0.0):
    assert actual.dtype == dtype
    np.testing.assert_allclose(actual, wanted, rtol=TOLERANCE[dtype], atol=floor)


def test_rws_window_is_the_authors_rule():
    rng = np.random.default_rng(1)
    for n, m, radius in [(450, 430, 40), (95, 93, 10), (91, 91, 10), (90, 90, 9), (30, 12, 18)]:
        walk = rng.standard_normal(n + 60).cumsum()
        X, Y = [walk[:n]], [walk[60 : 60 + m]]  # would be warped by 60 without a window
        rws, fixed, other = (
            d2ke.distance_matrix(X, Y, "dtw", window=w) for w in ("rws", radius, radius - 1)
        )
        reference.same(rws, fixed)
        assert (other > rws) == (radius > abs(n - m))


@given(
    pair=reference.vector_pairs(),
    window=st.one_of(st.none(), st.just("rws"), st.integers(0, 14)),
    ground=st.sampled_from(["manhattan", "haversine"]),
)
def test_other_grounds(isa, pair, window, ground):
    if ground == "haversine":
        scale = 50 / max(1.0, *(np.abs(v).max() for side in pair for v in side))
        pair = [[np.resize(v * v.dtype.type(scale), (len(v), 2)) for v in side] for side in pair]
    X, Y = (d2ke.pack(side, channels_first=False) for side in pair)
    D = d2ke.distance_matrix(X, Y, "dtw", window=window, ground=ground)
    wanted = reference.matrix(reference.dtw, X, Y, window=window, ground=ground)
    # Computed in float64, then rounded.
    floor = 1e-9 if ground == "haversine" else 0.0
    np.testing.assert_allclose(D, wanted, rtol=1e-12 if D.dtype == np.float64 else 1e-6, atol=floor)
    turned = d2ke.distance_matrix(Y, X, "dtw", window=window, ground=ground)
    reference.same(turned.T.copy(), D)


def test_metres_on_the_earth():
    def one(a, b, **params):
        X, Y = (d2ke.pack([np.array([v])], channels_first=False) for v in (a, b))
        return d2ke.distance_matrix(X, Y, "dtw", ground="haversine", **params)[0, 0]

    quarter = 6371008.8 * np.pi / 2
    np.testing.assert_allclose(one([0.0, 0.0], [90.0, 77.0]), quarter, rtol=1e-15)
    np.testing.assert_allclose(one([0.0, -170.0], [0.0, 100.0]), quarter, rtol=1e-15)
    # The other side of the Earth, where the formula loses half of the digits.
    np.testing.assert_allclose(one([10.0, 20.0], [-10.0, -160.0]), 2 * quarter, rtol=1e-7)
    # A millimetre apart: differences are taken before sines.
    step = np.nextafter(52.0, 53) - 52.0
    np.testing.assert_allclose(
        one([52.0, 13.0], [52.0 + step, 13.0]), np.radians(step) * 6371008.8, rtol=1e-12
    )
    assert one([1.0, 2.0], [1.0, 2.0]) == 0
    assert one([1.0, -170.0], [1.0, 190.0]) == 0  # a full turn
    np.testing.assert_allclose(one([0.0, 0.0], [0.0, 90.0], sphere_radius=1.0), np.pi / 2)


@pytest.mark.parametrize("bad", [[91.0, 0.0], [0.0, 361.0], [-90.5, 10.0]])
def test_what_is_no_place(bad):
    places = d2ke.pack([np.zeros((2, 2)), np.array([[1.0, 2.0], bad])], channels_first=False)
    with pytest.raises(ValueError, match=r"X\[1\] has the latitude .* degrees from -90 to 90"):
        d2ke.distance_matrix(places, distance="dtw", ground="haversine")


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("dim", [1, 2, 3, 5])
def test_largest_differences(isa, dim, dtype):
    """Whose power of two has an inverse that is no normal number."""
    far = np.zeros((1, dim), dtype)
    far[0, -1] = np.finfo(dtype).max
    for part in (1.0, 0.6, 0.5, 0.3):
        D = d2ke.distance_matrix([np.zeros((1, dim), dtype)], [far * dtype(part)], "dtw")
        assert far[0, -1] * dtype(part) == D


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_largest_numbers(isa, dtype):
    most = np.finfo(dtype).max
    X = [np.array([v], dtype=dtype) for v in (most, most / 2, -most)]
    D = d2ke.distance_matrix(X, distance="dtw")
    inf = np.inf  # the true value is beyond the type
    wanted = [[0, most / 2, inf], [most / 2, 0, inf], [inf, inf, 0]]
    np.testing.assert_array_equal(D, np.array(wanted, dtype=dtype))


@pytest.mark.parametrize("dim", [1, 2])
@pytest.mark.parametrize(
    ("dtype", "outlier", "scale"),
    [
        (np.float64, 1e151, 1e-12),
        (np.float64, 1e200, 1.0),
        (np.float64, 1e-300, 1.0),
        (np.float64, 1.0, 1e-200),
        (np.float32, 1e16, 1e-8),
        (np.float32, 1.0, 1e-23),
    ],
)
def test_outlier_changes_nothing(isa, dtype, outlier, scale, dim):
    rng = np.random.default_rng(9)
    X = [(v * scale).astype(dtype) for v in reference.draw_vectors(rng, [3, 5, 2, 7], dim)]
    far = np.full((3, dim), outlier, dtype=dtype)
    alone = d2ke.distance_matrix(X, distance="dtw")
    wanted = reference.matrix(reference.dtw, X, X)
    assert_close(alone, wanted, dtype)
    reference.same(d2ke.distance_matrix([far, *X], distance="dtw")[1:, 1:].copy(), alone)
    reference.same(d2ke.distance_matrix(X, [*X, far], "dtw")[:, :-1].copy(), alone)


@pytest.mark.parametrize("dim", [1, 2, 3, 128])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_equal_and_near_equal(isa, dtype, dim):
    rng = np.random.default_rng(2)
    base = reference.draw_vectors(rng, [9], dim, dtype)[0]
    near = np.nextafter(base, dtype(10))
    D = d2ke.distance_matrix([base], [base, near, base + dtype(1)], "dtw")
    wanted = reference.matrix(reference.dtw, [base], [base, near, base + dtype(1)])
    assert D[0, 0] == 0
    assert 0 < wanted[0, 1] < 1e-4
    assert_close(D, wanted, dtype)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_error_of_a_long_sum(isa, dtype):
    # The worst case: the same rounding at every step of the path.
    n = 10_000
    D = d2ke.distance_matrix([np.zeros(n, dtype)], [np.full(n, 0.1, dtype)], "dtw")
    exact = n * float(dtype(0.1))
    assert abs(D[0, 0] - exact) <= n * np.finfo(dtype).eps * exact


@given(pair=reference.vector_pairs(dims=(1, 3), longest=20))
def test_distance_falls_as_the_window_grows(pair):
    X, Y = pair
    last = np.inf
    for window in range(0, 21, 2):
        D = d2ke.distance_matrix(X, Y, "dtw", window=window, n_threads=1)
        assert (last >= D).all()
        last = D
    reference.same(last, d2ke.distance_matrix(X, Y, "dtw"))


@given(pair=reference.vector_pairs())
def test_repeating_an_element_changes_nothing_between_equals(pair):
    # x and x with every element twice warp onto each other at no cost.
    X = pair[0]
    assert (np.diag(d2ke.distance_matrix(X, [v.repeat(2, axis=0) for v in X], "dtw")) == 0).all()
