# SPDX-License-Identifier: BSD-3-Clause
"""Neighbours by a metric: the bounds by pivots, the search by them, and what is no metric."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from neighbor_cases import check_bounded, check_nearest, check_within, means
from reference import examples

import d2ke
from d2ke._ext import refine
from d2ke.distances.pairs import check_pairs
from d2ke.distances.problem import ArgumentNames
from d2ke.neighbors import pivots

many = settings(max_examples=examples(50), deadline=None)


@st.composite
def collections(draw, most=40):
    """Sets of points in a few clusters or in none, with ties and with copies."""
    n, dim = draw(st.integers(2, most)), draw(st.sampled_from([1, 2, 3]))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    dtype = draw(st.sampled_from([np.float32, np.float64]))
    scale = draw(st.sampled_from([1e-30, 1e-3, 1.0, 1e9]))
    spread = draw(st.sampled_from([0.0, 1.0, 100.0]))
    items = []
    for length in rng.integers(1, draw(st.integers(1, 6)) + 1, n):
        items.append(rng.standard_normal((length, dim)) + spread * rng.integers(0, 4))
    if draw(st.booleans()):
        items = [np.round(item) for item in items]
    if draw(st.booleans()):
        items[-1] = items[0] + 1e-9
    return d2ke.pack([(item * scale).astype(dtype) for item in items], channels_first=False)


def shifted(x, y):
    """A metric that is no function of a difference, with wide ties."""
    return 0.0 if np.array_equal(x, y) else 1.0 + min(3.0, np.floor(means(x, y)))


DISTANCES = st.sampled_from(["emd", "hausdorff", "msm", "erp", "twe", "frechet", means, shifted])


def chosen(draw):
    distance = draw(DISTANCES)
    return {"distance": distance} | ({"metric": True} if callable(distance) else {})


def dense(X, Y, distance, **_):
    return d2ke.distance_matrix(X, Y, distance=distance)


@many
@given(data=st.data())
def test_bounds_are_never_above_the_distance(data):
    X = data.draw(collections())
    Y = None if data.draw(st.booleans()) else X[: data.draw(st.integers(1, len(X)))]
    distance = data.draw(DISTANCES)
    D = d2ke.distance_matrix(X, Y, distance=distance)
    pairs = check_pairs(X, Y, distance, {}, ArgumentNames())
    found = pivots.PivotIndex(pairs, 1).bounds(pairs, 1)
    for bound in refine.bounds_of(found.bounds, *D.shape):
        assert (bound <= D).all()
        assert (bound >= 0).all()


@many
@given(data=st.data())
def test_the_search_is_exact(data):
    check_bounded(data, data.draw(collections()), chosen(data.draw))


def clouds(n, seed, spread=30.0):
    rng = np.random.default_rng(seed)
    centres = spread * rng.standard_normal((n, 1, 2))
    return d2ke.pack(list(centres + rng.standard_normal((n, 5, 2))), channels_first=False)


@pytest.mark.parametrize("distance", ["emd", "hausdorff", math.dist])
def test_pivots_spare_most_distances_of_scattered_sets(distance):
    X = clouds(320, 0)
    if callable(distance):
        X = [cloud[0].tolist() for cloud in X]
    options = {"distance": distance} | ({"metric": True} if callable(distance) else {})
    D = dense(X, None, **options)
    info = check_nearest(D, X, k=3, **options)
    assert "pivots" in info.ruled_out
    assert info.computed < 0.3 * info.pairs
    info = check_within(D, X, radius=float(np.quantile(D, 0.01)), **options)
    assert info.computed < 0.2 * info.pairs


@pytest.mark.parametrize("distance", ["emd", "hausdorff"])
@pytest.mark.parametrize("seed", range(3))
def test_pivots_that_spare_nothing_are_left_out(distance, seed):
    points = np.random.default_rng(seed).standard_normal((320, 3, 20))
    X = d2ke.pack(list(points), channels_first=False)
    D = d2ke.distance_matrix(X, distance=distance)
    info = check_nearest(D, X, k=3, distance=distance)
    assert info.ruled_out.keys() == {"symmetry"}


def test_squared_ground_distances_have_no_pivots():
    X = clouds(320, 1)
    options = {"distance": "emd", "ground": "sqeuclidean"}
    info = check_nearest(d2ke.distance_matrix(X, **options), X, k=3, **options)
    assert info.ruled_out.keys() == {"symmetry"}


def square(x, y):
    return float((x - y) ** 2)


@pytest.mark.parametrize("n", [3, 400])
def test_what_is_no_metric_is_named(n):
    X = list(np.arange(float(n)))
    with pytest.raises(ValueError, match=r"no metric: distance\(X\[\d+\], X\[\d+\]\) is") as caught:
        d2ke.nearest(X, k=1, distance=square, metric=True)
    assert caught.match(r"more than distance\(X\[\d+\], X\[\d+\]\) \+ distance\(X\[\d+\], X\[\d+\]")
    Y = list(np.arange(400.0))
    with pytest.raises(ValueError, match=r"Y\[\d+\], [XY]\[\d+\]\) is .*, more than"):
        d2ke.within(Y, Y, radius=1, distance=square, metric=True)


@pytest.mark.parametrize(("n", "m"), [(1, 500), (20, 900), (900, 20), (100, 300), (320, 320)])
def test_a_table_of_pivots_is_a_small_part_of_all_pairs(n, m):
    points = np.random.default_rng(0).standard_normal((n + m, 30)).tolist()
    calls = []

    def euclidean(x, y):
        calls.append(1)
        return math.dist(x, y)

    d2ke.nearest(points[:n], points[n:], k=5, distance=euclidean, metric=True)
    assert len(calls) < 1.12 * n * m


def test_objects_that_are_not_at_0_of_themselves():
    with pytest.raises(ValueError, match=r"distance\(X\[0\], X\[0\]\) is 1.0, not 0"):
        d2ke.nearest([1.0, 2.0, 4.0], k=1, distance=lambda x, y: 1 + abs(x - y), metric=True)


def test_errors_of_the_function_come_through():
    calls = []

    def failing(x, y):
        calls.append(1)
        if len(calls) > 1700:  # after the table of pivots
            raise RuntimeError("enough")
        return abs(x - y)

    with pytest.raises(RuntimeError, match="enough"):
        d2ke.nearest(list(np.arange(400.0)), k=1, distance=failing, metric=True)
