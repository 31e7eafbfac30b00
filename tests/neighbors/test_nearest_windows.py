# SPDX-License-Identifier: BSD-3-Clause
"""Windows of long series that are nearest to a query, against all windows."""

import numpy as np
import pytest
import reference
from hypothesis import given, settings
from hypothesis import strategies as st

import d2ke
from d2ke._ext import elastic
from d2ke.neighbors.window_bounds import Query, standardized

STYLES = ["normal", "integers", "walk", "runs", "spikes", "tiny"]


def draw_series(rng, dim, style, lengths):
    X = [rng.normal(size=(n, dim)) for n in lengths]
    if style == "integers":
        return [np.round(x) for x in X]
    if style == "walk":
        return [x.cumsum(axis=0) for x in X]
    if style == "runs":
        return [np.where(np.arange(len(x))[:, None] % 50 < 20, 3.3, x) + 1e6 for x in X]
    if style == "spikes":
        return [np.where(np.arange(len(x))[:, None] % 90 < 2, 1e12, x) for x in X]
    return [x * 1e-200 for x in X] if style == "tiny" else X


def all_windows(X, q, normalize, distance, window):
    """Distances, series and places of all windows."""
    found = []
    q = standardized(q.T).T if normalize else q
    for i, x in enumerate(X):
        for p in range(len(x) - len(q) + 1):
            w = x[p : p + len(q)]
            w = standardized(w.T).T if normalize else w
            if distance == "dtw":
                found.append((reference.dtw(q, w, window), i, p))
            else:
                largest = max(np.abs(w - q).max(), 1e-300)
                found.append((largest * np.sqrt((((w - q) / largest) ** 2).sum()), i, p))
    return found


@settings(max_examples=reference.examples(80), deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    dim=st.integers(1, 3),
    style=st.sampled_from(STYLES),
    length=st.integers(1, 24),
    k=st.integers(1, 9),
    exclusion=st.sampled_from([0, 0.25, 0.5, 1]),
    normalize=st.booleans(),
    how=st.sampled_from([("euclidean", None), ("dtw", None), ("dtw", 0), ("dtw", 2)]),
    own=st.booleans(),
)
def test_definition(seed, dim, style, length, k, exclusion, normalize, how, own):
    rng = np.random.default_rng(seed)
    distance, window = how
    X = draw_series(rng, dim, style, rng.integers(length, 90, 3))
    q = X[0][:length] if own else draw_series(rng, dim, style, [length])[0]
    found = d2ke.nearest_windows(
        d2ke.pack(X, channels_first=False),
        q,
        k,
        exclusion=exclusion,
        normalize=normalize,
        distance=distance,
        window=window,
    )
    zone, largest = int(exclusion * length), max(np.abs(x).max() for x in X)
    close = 1e-9 if normalize else 1e-12 * largest
    left = sorted(all_windows(X, q, normalize, distance, window))
    for i, p, value in zip(*(part.tolist() for part in found), strict=True):
        best = left[0][0]
        assert value == pytest.approx(best, rel=1e-9, abs=close)
        own_value = next(d for d, a, b in left if (a, b) == (i, p))
        assert own_value == pytest.approx(best, rel=1e-9, abs=close)
        left = [one for one in left if one[1] != i or abs(one[2] - p) > zone]
    assert len(found[0]) == k or not left


@settings(max_examples=reference.examples(100), deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    dim=st.integers(1, 3),
    largest=st.sampled_from([1, 3, 10, 10**6]),
    length=st.integers(1, 24),
    normalize=st.booleans(),
    dtype=st.sampled_from(["float32", "float64"]),
)
def test_windows_of_whole_numbers_ascend_and_ties_go_by_series_and_place(
    seed, dim, largest, length, normalize, dtype
):
    rng = np.random.default_rng(seed)

    def whole_numbers(n):
        return rng.integers(-largest, largest + 1, (n, dim))

    X, q = [whole_numbers(n) for n in rng.integers(length, 80, 3)], whole_numbers(length)
    X[2][-length:] = X[0][:length] * (2 if normalize else 1)
    items = d2ke.pack([x.astype(dtype) for x in X], channels_first=False)
    found = d2ke.nearest_windows(items, q.astype(dtype), 40, normalize=normalize, exclusion=0)
    keys = list(zip(*(part.tolist() for part in (found[2], *found[:2])), strict=True))
    assert keys == sorted(keys)
    if not normalize:
        squares = [
            (int(((x[p : p + length] - q) ** 2).sum()), i, p)
            for i, x in enumerate(X)
            for p in range(len(x) - length + 1)
        ]
        wanted = sorted(squares)[: len(keys)]
        assert [key[1:] for key in keys] == [key[1:] for key in wanted]
        np.testing.assert_array_equal(found[2], np.sqrt([square for square, *_ in wanted]))
    # Windows of one shape are equally far, to the bit.
    value = {key[1:]: key[0] for key in keys}
    first = value.get((0, 0))
    assert value.get((2, len(X[2]) - length), first) == first or first is None


@pytest.mark.parametrize("normalize", [True, False])
@pytest.mark.parametrize("distance", ["euclidean", "dtw"])
@pytest.mark.parametrize("style", STYLES)
def test_bounds_never_exceed_distances(normalize, distance, style):
    rng = np.random.default_rng(0)
    for x in draw_series(rng, 2, style, [3000, 300]):
        for length in (2, 7, 40):
            q = x[20 : 20 + length] if length == 7 else rng.normal(size=(length, 2))
            query = Query(q, normalize, distance, 3 if distance == "dtw" else elastic.NO_WINDOW)
            bounds = query.bounds(x)
            places = np.arange(len(bounds))
            exact, _ = query.distances(x, places, np.inf, 1)
            assert (bounds <= query.keys(exact)).all()


def test_a_pattern_is_found_at_any_level_and_scale():
    rng = np.random.default_rng(1)
    x = rng.normal(size=30_000)
    pattern = np.sin(np.arange(200) / 9)
    for at, scale, level in [(1_000, 5, 1e6), (9_000, 0.01, -3), (20_000, 70, 0)]:
        x[at : at + 200] = scale * pattern + level
    _, places, distances = d2ke.nearest_windows([x], 3 * pattern - 8, 3)
    assert sorted(places.tolist()) == [1_000, 9_000, 20_000]
    assert (distances < 1e-6).all()


@pytest.mark.parametrize("normalize", [True, False])
def test_a_pattern_is_found_wherever_a_transform_ends(normalize):
    rng = np.random.default_rng(0)
    q = rng.normal(size=20)
    q[-1] = 30.0
    series = rng.normal(size=20_000)
    for end in (2**13, 2 * 2**13 - 19):  # the last values of the first two blocks of 2**13
        for place in range(end - 22, end - 16):
            x = series.copy()
            x[place : place + 20] = q
            matches = d2ke.nearest_windows(
                [x], q, k=1, distance="euclidean", normalize=normalize, n_threads=1
            )
            assert matches[0].tolist() == [0]
            assert matches[1].tolist() == [place]


def test_threads_and_element_types():
    rng = np.random.default_rng(2)
    X = [rng.normal(size=n).astype(np.float32) for n in (20_000, 10, 30_000)]
    q = rng.normal(size=100)
    wide = [x.astype(np.float64) for x in X]
    with pytest.warns(UserWarning, match="1 of 3 series are shorter than the query"):
        found = [d2ke.nearest_windows(Z, q, 5, n_threads=n) for Z, n in ((X, 1), (X, 3), (wide, 2))]
    for a, b, c in zip(*found, strict=True):
        reference.same(a, b)
        reference.same(a, c)


def test_fewer_than_k_and_the_exclusion_zone():
    x = np.arange(40.0) ** 2
    _, places, _ = d2ke.nearest_windows([x], x[10:20], 50, exclusion=1.0)
    assert len(places) > 1
    assert (np.diff(np.sort(places)) > 10).all()
    _, places, _ = d2ke.nearest_windows([x], x[10:20], 50, exclusion=0)
    assert sorted(places.tolist()) == list(range(31))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("distance", ["euclidean", "dtw"])
@pytest.mark.parametrize(("unit", "level"), [(1e-30, 0), (1, 0), (1e30, 0), (1, 1e6)])
def test_what_varies_by_rounding_is_constant(unit, level, distance, dtype):
    rng = np.random.default_rng(4)
    noise = np.finfo(dtype).eps * rng.normal(size=400)
    x = np.where(np.arange(400) % 100 < 50, 1.5 * (1 + noise), np.sin(np.arange(400) / 3))
    x, q = ((unit * (v + level)).astype(dtype) for v in (x, np.sin(np.arange(12) / 3)))
    _, places, found = d2ke.nearest_windows([x], q, 1000, exclusion=0, distance=distance)
    wanted = 12**0.5 if distance == "euclidean" else reference.dtw(*map(_shape, (q, 0 * q)), None)
    rest = np.isin(places % 100, np.arange(39))
    np.testing.assert_allclose(found[rest], wanted, rtol=1e-4)
    _, places, found = d2ke.nearest_windows([x], x[10:22], 1, distance=distance)
    assert (places.tolist(), found.tolist()) == ([0], [0.0])
    query = Query(q[:, None], True, distance, 3, 0.0)
    limits = np.array([1e-3 * unit])
    assert (
        query.bounds(x[:, None], limits)
        <= query.keys(query.distances(x[:, None], np.arange(389), np.inf, 1, limits)[0])
    ).all()


def _shape(x):
    return standardized(np.asarray(x, np.float64)[None]).T
