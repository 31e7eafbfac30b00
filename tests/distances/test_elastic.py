# SPDX-License-Identifier: BSD-3-Clause
"""The elastic distances of series against their definitions, and against aeon and tslearn.

How those of dynamic time warping map: ours sums Euclidean ground distances, not squared, and takes
no root. tslearn, aeon and dtaidistance by default sum squared ground distances and take the root
of the sum: theirs is the square root of ours with ``ground="sqeuclidean"``.
"""

import itertools
import sys

import numpy as np
import pytest
import reference
from hypothesis import given
from hypothesis import strategies as st

import d2ke
from d2ke.distances.registry import BY_NAME, DISTANCES, check_parameters

# Tiny arrays, which are meant as they are.
pytestmark = pytest.mark.filterwarnings("ignore:every item of .* has shape")

ELASTIC = [row.name for row in DISTANCES if "window" in row.parameters]
VARIANTS = [*((name, {}) for name in ELASTIC), ("msm", {"independent": False})]
DTYPES = [np.float64, np.float32]


def compare(X, Y, name, floor=0.0, **params):
    D = d2ke.distance_matrix(X, Y, name, **params)
    wanted = reference.matrix(reference.DISTANCES[name], X, Y, **params)
    assert D.dtype == X[0].dtype
    # All but dynamic time warping are computed in float64, then rounded.
    close = 1e-12 if D.dtype == np.float64 else 1e-5 if name == "dtw" else 1e-6
    with np.errstate(over="ignore"):
        np.testing.assert_allclose(D, wanted.astype(D.dtype), rtol=close, atol=floor)


@pytest.mark.parametrize("name", ELASTIC)
@given(
    pair=reference.vector_pairs(dims=(1, 2, 3, 5, 17, 128), most=5),
    window=st.one_of(st.none(), st.just("rws"), st.integers(0, 14)),
    data=st.data(),
)
def test_reference(isa, name, pair, window, data):
    params = data.draw(reference.ELASTIC_PARAMETERS[name])
    # What rounding leaves of sums whose terms cancel: nothing but slopes is subtracted twice.
    compare(*pair, name, floor=1e-30 if name == "ddtw" else 0.0, window=window, **params)


@pytest.mark.parametrize(("name", "params"), VARIANTS)
@pytest.mark.parametrize(("dim", "window"), [(1, None), (1, 2), (2, 0), (3, None), (5, 4)])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.sample(6)
def test_every_pair_of_lengths(isa, name, params, dim, window, dtype):
    # Strips, tiles and bands end at every possible place.
    rng = np.random.default_rng(dim)
    X = reference.draw_vectors(rng, list(range(1, 20)), dim, dtype)
    Y = reference.draw_vectors(rng, [1, 3, 6, 8, 12, 17], dim, dtype)
    compare(X, Y, name, window=window, **params)


@given(
    pair=reference.vector_pairs(dims=(1, 2), most=4),
    window=st.one_of(st.none(), st.integers(0, 9)),
    epsilon=reference.POSITIVE,
)
def test_window_restricts_matches_alone(isa, pair, window, epsilon):
    X, Y = pair
    found = d2ke.distance_matrix(X, Y, "lcss", window=window, epsilon=epsilon)
    longest = reference.matrix(reference.longest_chain, X, Y, window=window, epsilon=epsilon)
    shorter = np.minimum.outer([len(x) for x in X], [len(y) for y in Y])
    np.testing.assert_allclose(found, 1 - longest / shorter, rtol=1e-6, atol=1e-7)
    found = d2ke.distance_matrix(X, Y, "edr", window=window, epsilon=epsilon)
    fewest = reference.matrix(reference.fewest_edits, X, Y, window=window, epsilon=epsilon)
    np.testing.assert_array_equal(found, fewest)


@pytest.mark.sample(3)
@pytest.mark.parametrize(("name", "params"), VARIANTS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_long_series(isa, name, params, dtype):
    # Beyond 400 the rule of the authors stops growing at 40.
    rng = np.random.default_rng(5)
    X = reference.draw_vectors(rng, [450, 61], 2, dtype)
    Y = reference.draw_vectors(rng, [60, 435, 1], 2, dtype)
    compare(X[:1], Y[1:2], name, window="rws", **params)
    compare(X, Y, name, window=7, **params)
    compare(X[1:], Y[::2], name, **params)


@pytest.mark.sample(5)
@pytest.mark.parametrize("dim", [1, 3])
@pytest.mark.parametrize(
    ("dtype", "scale"),
    [
        *((np.float64, s) for s in (1e150, 1e-150, 1e200, 1e300, 1e-300, 1e306, 1e-310, 1e-322)),
        *((np.float32, s) for s in (1e15, 1e-15, 1e20, 1e-20, 1e36, 1e-37, 1e-40)),
    ],
)
@pytest.mark.parametrize(("name", "params"), VARIANTS)
def test_extreme_magnitudes(isa, name, params, dtype, scale, dim):
    rng = np.random.default_rng(3)
    series = reference.draw_vectors(rng, [1, 4, 7, 3, 1], dim)
    X = [(v.clip(-3, 3) * scale).astype(dtype) for v in series]
    X.append(X[1].copy())
    # Below the normal range the results are multiples of the smallest number.
    floor = 200 * float(np.finfo(dtype).smallest_subnormal)
    for more in ({}, {"window": 1}):
        with np.errstate(over="ignore"):
            compare(X, X, name, floor=floor, **params, **more)


def test_largest_numbers(isa):
    most = np.finfo(np.float64).max
    X = [np.array(v)[:, None] for v in ([most, -most], [most], [-most, most, -most, most], [0.0])]
    for name, params in VARIANTS:
        D = d2ke.distance_matrix(X, distance=name, **params)
        assert (D >= 0).all()
        np.testing.assert_array_equal(np.diag(D), 0)
    for name in ("msm", "erp", "twe", "frechet"):
        compare(X, X, name)


@pytest.mark.parametrize(("params", "name"), [
    ({"g": 1e308}, "wdtw"), ({"nu": 1e308, "lmbda": 1e308}, "twe"), ({"c": 1e308}, "msm"),
    ({"penalty": 1e308}, "adtw"), ({"g": -1e308}, "erp"), ({"epsilon": 1e308}, "lcss"),
])  # fmt: skip
def test_largest_parameters(params, name):
    X = reference.draw_vectors(np.random.default_rng(0), [1, 3, 5], 2)
    for scale in (1.0, 1e300):
        compare([one * scale for one in X], [one * scale for one in X], name, **params)


@pytest.mark.parametrize(("name", "params"), VARIANTS)
@pytest.mark.parametrize("window", [40, 2**31, sys.maxsize, 10**30])
def test_wide_windows_are_none(isa, name, params, window):
    rng = np.random.default_rng(4)
    X = reference.draw_vectors(rng, [1, 40, 13, 25, 2, 7], 2)
    free = d2ke.distance_matrix(X, X, name, **params)
    reference.same(d2ke.distance_matrix(X, X, name, window=window, **params), free)


@pytest.mark.parametrize("name", [name for name in ELASTIC if name != "dtw"])
def test_float32_is_computed_in_float64(isa, name):
    X = reference.draw_vectors(np.random.default_rng(2), [5, 9, 1, 12], 3, np.float32)
    D = d2ke.distance_matrix(X, distance=name)
    wide = d2ke.distance_matrix([one.astype(np.float64) for one in X], distance=name)
    reference.same(D, wide.astype(np.float32))


METRICS = [name for name in ELASTIC if BY_NAME[name].metric]


@pytest.mark.parametrize("name", METRICS)
@pytest.mark.parametrize("dim", [1, 2])
@given(seed=st.integers(0, 2**32), data=st.data())
def test_metrics(name, dim, seed, data):
    params = data.draw(reference.ELASTIC_PARAMETERS[name])
    row = BY_NAME[name]
    rng = np.random.default_rng(seed)
    style = str(rng.choice(reference.STYLES))
    lengths = rng.integers(1, 8, 30).tolist()
    X = d2ke.pack(reference.draw_vectors(rng, lengths, dim, style=style), channels_first=False)
    D = d2ke.distance_matrix(X, distance=name, **params)
    slack = 1 + 1e-12
    holds = (D[:, None, :] <= (D[:, :, None] + D[None, :, :]) * slack + 1e-300).all()
    assert holds or not row.is_metric(check_parameters(row, params))


def test_what_is_no_metric():
    series = [[0.0], [1.0, 2.0, 0.5], [0.0, 3.0]]
    for name in METRICS:
        row = BY_NAME[name]
        assert row.is_metric(check_parameters(row, {}))
        for params in ({"window": 3}, {"window": "rws"}):
            assert not row.is_metric(check_parameters(row, params))
            d2ke.nearest(series, k=1, distance=name, **params)
    row = BY_NAME["msm"]
    assert not row.is_metric(check_parameters(row, {"independent": False}))


@pytest.mark.parametrize("independent", [True, False])
def test_aeon_msm_wdtw_and_kin(independent):
    aeon = pytest.importorskip("aeon.distances")
    rng = np.random.default_rng(7)
    cases = {
        "msm": {"c": 0.4, "independent": independent},
        "twe": {"nu": 0.05, "lmbda": 0.6},
        "lcss": {"epsilon": 0.7},
        "wdtw": {"g": 0.2},
        "ddtw": {},
    }
    for dim in (1, 3):
        X = reference.draw_vectors(rng, [5, 12, 12, 30, 3], dim)
        for name, params in cases.items():
            function = getattr(aeon, f"{name}_distance")
            theirs = [[function(x.T.copy(), y.T.copy(), **params) for y in X] for x in X]
            ours = d2ke.distance_matrix(X, X, name, **params)
            np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-12)
        theirs = [[aeon.adtw_distance(x.T.copy(), y.T.copy(), warp_penalty=0.3) for y in X]
                  for x in X]  # fmt: skip
        ours = d2ke.distance_matrix(X, X, "adtw", penalty=0.3)
        np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-12)


def test_tslearn_frechet():
    metrics = pytest.importorskip("tslearn.metrics")
    X = reference.draw_vectors(np.random.default_rng(6), [5, 12, 1, 30], 2)
    theirs = reference.matrix(metrics.frechet, X, X)
    np.testing.assert_allclose(d2ke.distance_matrix(X, X, "frechet"), theirs, rtol=1e-12)


@pytest.mark.parametrize(
    ("name", "params", "error", "message"),
    [
        ("dtw", {"ground": "haversine"}, ValueError, "X has 1 channels; ground='haversine' needs"),
        ("dtw", {"sphere_radius": 1.0}, TypeError, "sphere_radius goes with ground='haversine'"),
        ("dtw", {"ground": None}, TypeError, "ground must be a string"),
        ("msm", {"c": -1}, ValueError, "c must be a finite number >= 0, got -1"),
        ("msm", {"c": None}, TypeError, "c must be a number >= 0, got None"),
        ("twe", {"nu": np.inf}, ValueError, "nu must be a finite number >= 0, got inf"),
        ("erp", {"g": "0"}, TypeError, "g must be a number, or a number for each channel"),
        ("erp", {"g": []}, TypeError, "g must be a number, or a number for each channel"),
        ("erp", {"g": 10**400}, ValueError, "g must be finite, got 10000"),
        ("erp", {"g": [0.0, 1.0]}, ValueError, "g has 2 numbers, but X has 1 channels"),
    ],
)
def test_bad_parameters(name, params, error, message):
    with pytest.raises(error, match=message):
        d2ke.distance_matrix([[1.0, 2.0]], distance=name, **params)


def test_bounds_of_lengths_meet_at_one():
    # Series of one vector, and all numbers of lanes.
    for n, name in itertools.product((1, 2, 9, 17), ELASTIC):
        X = [np.array([[float(k)]]) for k in range(n)]
        compare(X, X, name)
