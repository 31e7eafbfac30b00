# SPDX-License-Identifier: BSD-3-Clause
"""Columns that are prepared once for many searches: what they find, and what they remember."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from neighbor_cases import by_sorting, means, radii
from reference import examples, same
from test_near_pivots import collections
from test_near_series import collections as series_collections
from test_near_series import options

import d2ke
from d2ke._ext import refine
from d2ke.distances.pairs import check_pairs
from d2ke.distances.problem import ArgumentNames
from d2ke.distances.record_pairs import check_any_pairs
from d2ke.neighbors import bounded, pivots, series
from d2ke.neighbors.info import NeighborsInfo
from d2ke.neighbors.lists import NearestLists, WithinLists
from d2ke.neighbors.problem import NeighborSearch

many = settings(max_examples=examples(50), deadline=None)
SEED = st.integers(0, 2**32)

# Metrics, and distances whose pivots only order the pairs.
DISTANCES = st.sampled_from(
    ["emd", "hausdorff", "msm", "erp", "twe", "frechet", "adtw", "wdtw", "lcss", means]
)


def params_of(distance):
    return {"lcss": {"epsilon": 0.3}}.get(distance, {})


def problem(X, Y, distance, **params):
    return check_any_pairs(X, Y, distance, params, ArgumentNames())


def matrix(pairs):
    """All distances."""
    D = np.empty(pairs.shape, pairs.dtype)
    pairs.compiled().run(D, 1)
    return D


@st.composite
def queries(draw, Y):
    """Some of Y, another object, or objects that are larger than all of Y or less precise."""
    rng = np.random.default_rng(draw(SEED))
    way = draw(st.sampled_from(["some", "one", "other", "large", "precise"]))
    if way == "some":
        return Y[rng.integers(0, len(Y), draw(st.integers(1, 9)))]
    if way == "one":
        return Y[draw(st.integers(0, len(Y) - 1)) :][:1]
    scale = max(np.abs(Y.values).max(), 1e-20) * (100.0 if way == "large" else 1.0)
    n = draw(st.integers(1, 40))
    drawn = [scale * rng.standard_normal((rng.integers(1, 9), Y.dim)) for _ in range(n)]
    dtype = np.float64 if way == "precise" else Y.dtype
    return d2ke.pack([item.astype(dtype) for item in drawn], channels_first=False)


def check_search(run, pairs, D, k=0, radius=np.inf):
    """Compare a search with the whole matrix, bit for bit; return what was counted."""
    is_self = pairs.x is pairs.y
    search = NeighborSearch(pairs, pairs.same, is_self, 2, metric=True, k=k, radius=radius)
    info = NeighborsInfo(search.n_pairs)
    if k:
        lists = NearestLists(len(D), k, radius)
        run(search, lists, info)
        indices, distances = lists.result(pairs.dtype)
        wanted, nearest = by_sorting(D, k, is_self, is_self)
        far = nearest > radius
        wanted[far], nearest[far] = -1, np.inf
        same(indices, wanted)
        same(distances, nearest)
    else:
        lists = WithinLists(D.shape, radius)
        run(search, lists, info)
        graph = lists.result(pairs.dtype)
        near = radius >= D
        if is_self:
            np.fill_diagonal(near, False)
        rows, columns = np.nonzero(near)
        same(np.repeat(np.arange(len(D)), np.diff(graph.indptr)), rows)
        assert (graph.indices == columns).all()
        same(graph.data, D[rows, columns])
    assert info.computed + sum(info.ruled_out.values()) == info.pairs
    return info


def check_both(data, run, pairs, D):
    """Compare searches for the nearest and within a radius."""
    is_self = pairs.x is pairs.y
    if D.shape[1] > is_self:
        k = data.draw(st.integers(1, D.shape[1] - is_self))
        check_search(run, pairs, D, k=k)
        check_search(run, pairs, D, k=k, radius=pairs.rounded(data.draw(radii(D))))
    check_search(run, pairs, D, radius=pairs.rounded(data.draw(radii(D))))


@pytest.fixture
def always(monkeypatch):
    """Search by bounds, however few pairs there are and whether that pays or not."""
    monkeypatch.setattr(bounded, "FEWEST_PAIRS", 0)
    monkeypatch.setattr(bounded, "pays", lambda *_: True)


def kept_pivots(pairs, n_threads=1, count=None):
    index = pivots.PivotIndex(pairs, n_threads, count)
    index.prepare(pairs)
    return index


@pytest.mark.usefixtures("always", "isa")
@many
@given(data=st.data())
def test_pivots_of_prepared_columns_find_what_tiles_find(data):
    Y, distance = data.draw(collections()), data.draw(DISTANCES)
    params = params_of(distance)
    own = problem(Y, None, distance, **params)
    count = data.draw(st.sampled_from([None, 1, 5, 32]))
    index = kept_pivots(own, 2, count)
    for X in [None, *data.draw(st.lists(queries(Y), max_size=4)), None]:
        pairs = problem(X, Y, distance, **params) if X is not None else own
        check_both(data, index.query, pairs, matrix(pairs))


@many
@given(data=st.data())
def test_the_bounds_of_prepared_columns_are_those_of_each_search(data):
    Y, distance = data.draw(collections()), data.draw(DISTANCES)
    params = params_of(distance)
    X = data.draw(st.none() | queries(Y))
    own = problem(Y, None, distance, **params)
    pairs = own if X is None else problem(X, Y, distance, **params)
    index = pivots.PivotIndex(own, 1, 5)
    # In a file the arrays may have another order.
    arrays = dict(sorted(index.arrays().items()))
    assert arrays["table"].dtype == np.float32
    assert arrays["pivots"].dtype == np.int64
    stored = pivots.PivotIndex.from_arrays(arrays, own)
    expected = pivots.PivotIndex(pairs, 1, 5).bounds(pairs, 1)
    D = matrix(pairs)
    for found in (index.bounds(pairs, 1), stored.bounds(pairs, 1)):
        assert (found is None) == (expected is None)
        if found is None:
            continue
        assert found[1:4] == expected[1:4]
        same(np.array(found.exact), np.array(expected.exact))
        made = refine.bounds_of(found.bounds, *D.shape)
        for one, other in zip(made, refine.bounds_of(expected.bounds, *D.shape), strict=True):
            # Y's own precision may be less than that of X and Y.
            assert (one <= other).all()
            if Y.dtype == pairs.dtype:
                same(one, other)
        assert (made[0] <= D).all()


@pytest.mark.usefixtures("always")
def test_records_of_prepared_columns():
    rng = np.random.default_rng(0)

    def table(n):
        words = ["".join(rng.choice(list("abcd"), rng.integers(1, 9))) for _ in range(n)]
        return d2ke.pack_records({"name": words, "age": rng.integers(0, 90, n).astype(float)})

    Y, weights = table(80), {"name": 1.0, "age": 0.2}
    distance = {"name": "levenshtein", "age": "absolute"}
    own = problem(Y, None, distance, weights=weights)
    index = kept_pivots(own, 1, 8)
    for X in (table(1), table(40)):
        pairs = problem(X, Y, distance, weights=weights)
        D = d2ke.distance_matrix(X, Y, distance=distance, weights=weights)
        assert check_search(index.query, pairs, D, k=3).ruled_out["pivots"]
        check_search(index.query, pairs, D, radius=2.0)
    D = d2ke.distance_matrix(Y, distance=distance, weights=weights)
    check_search(index.query, own, D, k=3)


def test_a_function_is_called_for_few_pairs_of_a_query():
    points = np.random.default_rng(0).standard_normal((1000, 2)).tolist()
    calls = []

    def euclidean(x, y):
        calls.append(1)
        return math.dist(x, y)

    own = check_pairs(points, None, euclidean, {})
    index = kept_pivots(own, 1, pivots._usual_count(1000))
    assert len(calls) == 20 * 1000
    for query in ([0.1, 0.2], [3.0, 3.0], [0.5, -0.5]):
        pairs = check_pairs([query], points, euclidean, {})
        D = d2ke.distance_matrix([query], points, distance=euclidean)
        calls.clear()
        check_search(index.query, pairs, D, k=3)
        assert len(calls) < 100


def test_the_number_of_pivots_of_an_index():
    assert [pivots._usual_count(m) for m in (1, 150, 500, 10**6)] == [3, 3, 10, 32]
    own = check_pairs([1.0, 2.0], None, lambda x, y: abs(x - y), {})
    assert pivots.PivotIndex(own, 1, 32).arrays()["pivots"].tolist() == [0, 1]


def no_metric(x, y):
    """A metric of positive numbers only."""
    return abs(x - y) if min(x, y) >= 0 else (x - y) ** 2


def test_what_is_no_metric_is_named_when_it_is_found():
    Y = [float(i) for i in range(40)]
    with pytest.raises(ValueError, match=r"no metric: distance\(Y\[\d+\], Y\[\d+\]\)"):
        pivots.PivotIndex(check_pairs([1.0], Y, lambda x, y: (x - y) ** 2, {}), 1)
    with pytest.raises(ValueError, match=r"distance\(Y\[0\], Y\[0\]\) is 1.0, not 0"):
        pivots.PivotIndex(check_pairs([1.0], Y, lambda x, y: 1 + abs(x - y), {}), 1)
    index = pivots.PivotIndex(check_pairs(Y, None, no_metric, {}), 1)
    with pytest.raises(ValueError, match=r"no metric: distance\([XY]\[\d+\], [XY]\[\d+\]\)"):
        index.bounds(check_pairs([3.0, -90.0], Y, no_metric, {}), 1)
    assert index.bounds(check_pairs([3.0, 90.0], Y, no_metric, {}), 1) is not None


def test_another_function_than_that_of_the_index_is_refused():
    Y = [float(i) for i in range(40)]
    arrays = pivots.PivotIndex(check_pairs(Y, None, lambda x, y: abs(x - y), {}), 1).arrays()
    pivots.PivotIndex.from_arrays(arrays, check_pairs(Y, None, lambda x, y: abs(y - x), {}))
    other = check_pairs([1.0], Y, lambda x, y: 2 * abs(x - y), {})
    with pytest.raises(d2ke.ArgumentError, match=r"distance\(Y\[39\], Y\[0\]\) is 78.0, but 39.0"):
        pivots.PivotIndex.from_arrays(arrays, other)


def test_numbers_beyond_float32_are_searched_by_all_distances():
    values = np.random.default_rng(0).standard_normal((60, 4, 1)) * 1e60
    Y = d2ke.pack(list(values), channels_first=False)
    own = problem(Y, None, "hausdorff")
    index = kept_pivots(own)
    assert index.bounds(own, 1) is None
    D = d2ke.distance_matrix(Y[:2], Y, distance="hausdorff")
    info = check_search(index.query, problem(Y[:2], Y, "hausdorff"), D, k=3)
    assert info.computed == 120


def kept_series(pairs):
    index = series.SeriesIndex(pairs)
    index.prepare(pairs)
    return index


@pytest.mark.usefixtures("always", "isa")
@many
@given(data=st.data())
def test_series_of_prepared_columns_find_what_tiles_find(data):
    Y, params = data.draw(series_collections()), options(data.draw)
    own = problem(Y, None, **params)
    index = kept_series(own)
    for X in [None, *data.draw(st.lists(queries(Y), max_size=4)), None]:
        pairs = own if X is None else problem(X, Y, **params)
        check_both(data, index.query, pairs, matrix(pairs))


@pytest.mark.usefixtures("isa")
@many
@given(data=st.data())
def test_the_bounds_of_prepared_series_are_never_above_the_distance(data):
    Y, params = data.draw(series_collections()), options(data.draw)
    index = series.SeriesIndex(problem(Y, None, **params))
    for X in data.draw(st.lists(queries(Y), min_size=1, max_size=4)):
        pairs = problem(X, Y, **params)
        D, found = matrix(pairs), index.bounds(pairs, 1).bounds
        for bound in refine.bounds_of(found, *D.shape):
            assert (bound <= D).all()
            assert (bound >= 0).all()


def walks(n, seed, length=60):
    steps = np.random.default_rng(seed).standard_normal((n, length, 1))
    return d2ke.pack(steps.cumsum(axis=1), channels_first=False)


def test_series_are_prepared_again_only_for_rows_beyond_them(monkeypatch):
    Y = walks(400, 0)
    index = kept_series(problem(Y, None, "dtw", window=3))
    prepared = []
    columns = series.envelopes.Columns
    monkeypatch.setattr(
        series.envelopes, "Columns", lambda *args: prepared.append(1) or columns(*args)
    )
    huge = d2ke.pack(1e3 * walks(2, 1).values.reshape(2, 60, 1), channels_first=False)
    for X, again in (
        (walks(2, 1), 0),
        (Y[:1], 0),
        (walks(1, 1, 59), 0),
        (walks(1, 1, 56), 1),  # the window of such a pair is wider than 3
        (walks(1, 1, 61), 1),
        (huge, 1),
        (walks(2, 2), 0),
    ):
        prepared.clear()
        pairs = problem(X, Y, "dtw", window=3)
        info = check_search(index.query, pairs, matrix(pairs), k=3)
        assert len(prepared) == again
        assert info.ruled_out


def test_series_that_cannot_be_scaled_are_searched_by_all_distances():
    for scale, computed in ((1e200, 800), (1e-200, 800), (1e100, None)):
        Y = d2ke.pack(scale * walks(400, 0).values.reshape(400, 60, 1), channels_first=False)
        index = kept_series(problem(Y, None, "dtw", window=3))
        pairs = problem(Y[:2], Y, "dtw", window=3)
        info = check_search(index.query, pairs, matrix(pairs), k=3)
        assert info.computed == computed or (computed is None and info.computed < 400)


@pytest.mark.parametrize(("dim", "pays"), [(1, True), (20, False)])
def test_single_queries_learn_whether_bounds_pay(dim, pays, monkeypatch):
    monkeypatch.setattr(bounded, "pays", lambda *_: pytest.fail("a sample was searched"))
    items = np.random.default_rng(dim).standard_normal((1060, 3, dim))
    X, Y = (d2ke.pack(list(part), channels_first=False) for part in (items[:60], items[60:]))
    index = kept_pivots(problem(Y, None, "hausdorff"), 1, 10)
    D = d2ke.distance_matrix(X, Y, distance="hausdorff")

    def query(i, **options):
        info = check_search(
            index.query, problem(X[i : i + 1], Y, "hausdorff"), D[i : i + 1], **options
        )
        return "pivots" in info.ruled_out

    by_bounds = [query(i, k=3) for i in range(60)]
    assert sum(by_bounds[: bounded._FEW_ROWS]) > bounded._FEW_ROWS / 2
    assert by_bounds[bounded._FEW_ROWS :] == [pays] * (60 - bounded._FEW_ROWS)
    # Other searches have costs of their own.
    assert query(0, radius=float(np.quantile(D, 0.001)))
    assert query(0, k=1)


def test_what_has_bounds_for_queries_that_are_not_known(monkeypatch):
    Y = d2ke.pack(np.random.default_rng(0).standard_normal((300, 4, 1)), channels_first=False)

    def has_bounds(distance, metric=False, **params):
        own = problem(Y, None, distance, **params)
        search = NeighborSearch(own, own.same, True, 1, metric=metric)
        return pivots.PivotIndex.applies(search, True)

    assert has_bounds("hausdorff")
    assert has_bounds("lcss", epsilon=0.1)
    assert not has_bounds("emd", ground="sqeuclidean")
    assert not has_bounds(means)
    assert has_bounds(means, metric=True)
    # Six pivots: 24 bytes for each of 600 distances to them.
    for room, fits in ((86_400, True), (86_399, False)):
        monkeypatch.setattr(NeighborSearch, "room", lambda _, room=room: room)
        assert has_bounds("hausdorff") == fits
