# SPDX-License-Identifier: BSD-3-Clause
"""Neighbours by tiles of the whole matrix; options and errors.

`test_every_distance` has the tiles of all distances.
"""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from neighbor_cases import check_nearest, check_searches, check_within
from reference import examples, same

import d2ke
from d2ke._base import memory
from d2ke.neighbors import problem

DISTANCES = [("dtw", {"window": 2}), ("msm", {"independent": False}), ("directed_mhd", {})]
few = settings(max_examples=examples(30), deadline=None)


@pytest.fixture(autouse=True)
def small_tiles(monkeypatch):
    """Let a few objects make many tiles."""
    monkeypatch.setattr(problem, "_TILE_BYTES", 8 * 25)


@st.composite
def collections(draw, kind=None):
    """Sets of few distinct vectors, so that distances tie, or strings of few letters."""
    n = draw(st.integers(2, 14))
    if kind == "strings":
        return draw(st.lists(st.text("ab", max_size=6), min_size=n, max_size=n))
    dtype = draw(st.sampled_from([np.float32, np.float64]))
    vector = st.lists(st.integers(-2, 2), min_size=2, max_size=2)
    items = st.lists(vector, min_size=1, max_size=4)
    drawn = draw(st.lists(items, min_size=n, max_size=n))
    return d2ke.pack([np.array(item, dtype) * dtype(0.3) for item in drawn], channels_first=False)


@pytest.mark.parametrize(("distance", "params"), DISTANCES)
@few
@given(data=st.data())
def test_distances_of_vectors(distance, params, data):
    X = data.draw(collections())
    check_searches(data, X, {"distance": distance, **params})


@few
@given(data=st.data(), mode=st.sampled_from(["global", "prefix", "infix"]))
def test_levenshtein(data, mode):
    X = data.draw(collections("strings"))
    check_searches(data, X, {"distance": "levenshtein", "mode": mode})


@few
@given(data=st.data())
def test_python_function(data):
    X = data.draw(st.lists(st.integers(0, 6), min_size=2, max_size=14))

    def distance(a, b, power):
        return float(abs(a - b)) ** power + 0.5 * (a > b)

    check_searches(data, X, {"distance": distance, "power": 2})


def test_a_compiled_function():
    numba = pytest.importorskip("numba")
    from scipy import LowLevelCallable

    types = numba.types
    double = types.CPointer(types.double)
    signature = types.double(double, types.intp, double, types.intp, types.intp, types.voidptr)
    function = numba.cfunc(signature)(lambda x, n, y, m, dim, data: abs(x[0] - y[0]) - (n == 2))
    distance = LowLevelCallable(function.ctypes)
    X = list(np.random.default_rng(0).random((40, 1, 1)))
    D = d2ke.distance_matrix(X, distance=distance)
    check_nearest(D, X, k=3, distance=distance)
    check_within(D, X, radius=0.1, distance=distance)
    X[37] = np.full((2, 1), 0.25)


def test_zero_distances_are_stored():
    graph = d2ke.within(["a", "b", "a"], radius=0, distance="levenshtein")
    assert graph.nnz == 2
    assert graph.data.tolist() == [0, 0]
    assert graph.indices.dtype == np.int32


def test_no_neighbours_make_an_empty_graph():
    graph = d2ke.within([[0.0], [5.0]], radius=1, distance="dtw")
    assert graph.shape == (2, 2)
    assert graph.nnz == 0


def test_a_radius_is_rounded_to_the_dtype_of_the_distances():
    X = [np.zeros((1, 1), np.float32), np.full((1, 1), 0.3, np.float32)]
    near, step = np.float32(0.3), np.nextafter(np.float32(0.3), np.float32(0))
    for radius in (0.3, float(near), np.nextafter(float(near), 0.0)):
        assert d2ke.within(X, radius=radius, distance="dtw").nnz == 2
        assert d2ke.nearest(X, k=1, radius=radius, distance="dtw")[0].tolist() == [[1], [0]]
        assert d2ke.dbscan(X, radius, 2, distance="dtw").labels.tolist() == [0, 0]
        table = {"a": d2ke.pack(X, channels_first=False)}
        assert d2ke.dedupe(table, radius=radius, distance="dtw").pairs.tolist() == [[0, 1]]
    assert d2ke.within(X, radius=step, distance="dtw").nnz == 0
    assert d2ke.nearest(X, k=1, radius=step, distance="dtw")[0].tolist() == [[-1], [-1]]
    assert d2ke.dbscan(X, step, 2, distance="dtw").labels.tolist() == [-1, -1]


def test_itself_comes_first_among_the_equally_far():
    indices, distances = d2ke.nearest(["a"] * 4, k=2, distance="levenshtein", include_self=True)
    assert indices.tolist() == [[0, 1, 2], [1, 0, 2], [2, 0, 1], [3, 0, 1]]
    same(distances, np.zeros((4, 3)))


def test_itself_is_left_out_where_all_others_are_nearer():
    def away(a, b):
        return 2.0 if a == b else 1.0

    indices, distances = d2ke.nearest([1, 2, 3, 4], k=2, distance=away, include_self=True)
    assert indices.tolist() == [[1, 2, 3], [0, 2, 3], [0, 1, 3], [0, 1, 2]]
    assert (distances == 1).all()


def test_results_that_do_not_fit(monkeypatch):
    X = d2ke.samplers.random_strings(150, "ACGT", length=9, seed=0)
    D = d2ke.distance_matrix(X, distance="levenshtein")
    monkeypatch.setattr(memory, "memory_limit", lambda: 125_000)
    with pytest.raises(MemoryError, match=r"the 50 nearest of 150 objects would take .*360 kB"):
        d2ke.nearest(X, k=50, distance="levenshtein")
    check_within(D, X, radius=3, distance="levenshtein")
