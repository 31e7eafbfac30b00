# SPDX-License-Identifier: BSD-3-Clause
"""Neighbours by dynamic time warping: the bounds, and the search by them, exactly."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from neighbor_cases import check_bounded, check_nearest, check_within

import d2ke
from d2ke._ext import refine
from d2ke.distances.pairs import check_pairs
from d2ke.distances.problem import ArgumentNames
from d2ke.neighbors import bounded, series

WINDOWS = st.sampled_from([None, 0, 1, 3, 20, "rws"])


@st.composite
def collections(draw, most=40):
    """Smooth or rough series of one length or of several, with ties."""
    n, dim = draw(st.integers(2, most)), draw(st.sampled_from([1, 1, 2, 3]))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    longest = draw(st.integers(1, 40))
    shortest = longest if draw(st.booleans()) else draw(st.integers(1, longest))
    dtype = draw(st.sampled_from([np.float32, np.float64]))
    scale = draw(st.sampled_from([1e-30, 1e-3, 1.0, 1e9]))
    items = rng.standard_normal((n, longest, dim))
    if draw(st.booleans()):
        items = items.cumsum(axis=1)
    if draw(st.booleans()):
        items = np.round(items)
    lengths = rng.integers(shortest, longest + 1, n)
    parts = [item[:length] * scale for item, length in zip(items, lengths, strict=True)]
    return d2ke.pack([part.astype(dtype) for part in parts], channels_first=False)


def options(draw):
    return {
        "distance": "dtw",
        "window": draw(WINDOWS),
        "ground": draw(st.sampled_from(["euclidean", "sqeuclidean"])),
    }


@pytest.mark.usefixtures("isa")
@given(data=st.data())
def test_bounds_are_never_above_the_distance(data):
    X = data.draw(collections())
    Y = None if data.draw(st.booleans()) else X[: data.draw(st.integers(1, len(X)))]
    chosen = options(data.draw)
    D = d2ke.distance_matrix(X, Y, **chosen)
    pairs = check_pairs(X, Y, chosen.pop("distance"), chosen, ArgumentNames())
    kept = Y is None and data.draw(st.booleans())
    bounds = series.SeriesIndex(pairs, kept).bounds(pairs, data.draw(st.integers(1, 3))).bounds
    if kept:
        by_rows = series.SeriesIndex(pairs, True)._bounds(pairs).bounds
        by_rows = refine.bounds_of(by_rows, *D.shape)[0]
        first = refine.bounds_of(bounds, *D.shape)[0]
        assert (first == np.maximum(by_rows, by_rows.T)).all()
    for bound in refine.bounds_of(bounds, *D.shape):
        assert (bound <= D).all()
        assert (bound >= 0).all()
    limit = float(data.draw(st.sampled_from(list(D.ravel()))))
    closest = refine.bounds_of(bounds, *D.shape, limit)[-1]
    assert (closest <= np.where(limit >= D, D, np.inf)).all()


@pytest.mark.usefixtures("isa")
@given(data=st.data())
def test_the_search_is_exact(data):
    with pytest.MonkeyPatch.context() as patch:
        cheap = data.draw(st.sampled_from([0, np.inf]))
        patch.setattr(series, "_CHEAP_OF_ONE", cheap)
        patch.setattr(series, "_CHEAP", cheap)
        check_bounded(data, data.draw(collections()), options(data.draw))


@pytest.mark.usefixtures("isa")
@pytest.mark.parametrize("dim", [1, 3, 5])
@pytest.mark.parametrize("tighter", [True, False])
def test_many_series_of_unequal_lengths_with_copies(dim, tighter, monkeypatch):
    monkeypatch.setattr(bounded, "FEWEST_PAIRS", 0)
    monkeypatch.setattr(bounded, "pays", lambda _, found: tighter or leave_out(found))
    rng = np.random.default_rng(dim)
    lengths = rng.integers(20, 70, 150)
    items = [rng.standard_normal((length, dim)).cumsum(axis=0).round(1) for length in lengths]
    X = d2ke.pack(items + items[:20], channels_first=False)
    chosen = {"distance": "dtw", "window": 4}
    D = d2ke.distance_matrix(X, **chosen)
    info = check_nearest(D, X, k=4, **chosen)
    assert info.computed < 0.2 * info.pairs
    assert info.ruled_out["cut-off"] > 0
    assert ("envelope" in info.ruled_out) == tighter
    check_within(D, X, radius=float(np.quantile(D, 0.02)), **chosen)


def leave_out(found):
    found.bounds.leave_tighter_out()
    return True


def walks(n, seed):
    steps = np.random.default_rng(seed).standard_normal((n, 60, 1))
    return d2ke.pack(steps.cumsum(axis=1), channels_first=False)


def test_the_bounds_spare_most_distances_of_walks():
    X = walks(600, 0)
    D = d2ke.distance_matrix(X, distance="dtw", window=3)
    info = check_nearest(D, X, k=3, distance="dtw", window=3)
    assert info.computed < 0.3 * info.pairs
    info = check_within(D, X, radius=float(np.quantile(D, 0.01)), distance="dtw", window=3)
    assert info.computed < 0.1 * info.pairs


def test_bounds_that_spare_nothing_are_left_out():
    X = d2ke.pack(np.random.default_rng(0).standard_normal((600, 60, 1)), channels_first=False)
    D = d2ke.distance_matrix(X, distance="dtw", window=3)
    info = check_nearest(D, X, k=3, distance="dtw", window=3)
    assert info.ruled_out.keys() == {"symmetry"}


@pytest.mark.parametrize("ground", ["euclidean", "sqeuclidean"])
@pytest.mark.parametrize("scale", [1e-160, 1e-30, 1e30, 1e130])
def test_numbers_far_from_1(scale, ground):
    X = d2ke.pack(walks(400, 1).values.reshape(400, 60, 1) * scale, channels_first=False)
    chosen = {"distance": "dtw", "window": 3, "ground": ground}
    check_nearest(d2ke.distance_matrix(X, **chosen), X, k=3, **chosen)


def test_numbers_too_large_for_the_bounds():
    X = d2ke.pack(walks(400, 1).values.reshape(400, 60, 1) * 1e200, channels_first=False)
    D = d2ke.distance_matrix(X, distance="dtw", window=3)
    assert check_nearest(D, X, k=3, distance="dtw", window=3).ruled_out.keys() == {"symmetry"}
