# SPDX-License-Identifier: BSD-3-Clause
"""Neighbours by elastic distances with a cut-off: the bounds, and the search by them, exactly."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from neighbor_cases import check_bounded, check_nearest
from test_near_series import collections, walks

import d2ke
from d2ke._ext import refine
from d2ke.distances.pairs import check_pairs
from d2ke.distances.problem import ArgumentNames
from d2ke.neighbors import bounded, elastic, pivots

PARAMETERS = {
    "msm": {"c": [0.0, 0.1, 1.0, 1e3]},
    "erp": {"g": [0.0, -1.5, 1e3]},
    "twe": {"nu": [0.0, 0.001, 2.0], "lmbda": [0.0, 1.0]},
    "edr": {"epsilon": [0.0, 0.25, 1.0], "normalize": [True, False]},
    "lcss": {"epsilon": [0.0, 0.25, 1.0]},
    "adtw": {"penalty": [0.0, 0.1, 10.0]},
    "wdtw": {"g": [0.0, 0.05, 3.0]},
    "frechet": {},
}


@st.composite
def distances(draw):
    name = draw(st.sampled_from(list(PARAMETERS)))
    given_ = {key: draw(st.sampled_from(values)) for key, values in PARAMETERS[name].items()}
    return {"distance": name, "window": draw(st.sampled_from([None, 0, 1, 3, 20, "rws"])), **given_}


@pytest.mark.usefixtures("isa")
@given(data=st.data())
def test_bounds_are_never_above_the_distance(data):
    X = data.draw(collections())
    Y = None if data.draw(st.booleans()) else X[: data.draw(st.integers(1, len(X)))]
    chosen = data.draw(distances())
    D = d2ke.distance_matrix(X, Y, **chosen)
    pairs = check_pairs(X, Y, chosen.pop("distance"), chosen, ArgumentNames())
    found = pivots.PivotIndex(pairs, 1).bounds(pairs, 1)
    limit = float(data.draw(st.sampled_from(list(D.ravel()))))
    for cut in (np.inf, limit):
        for bound in [] if found is None else refine.bounds_of(found.bounds, *D.shape, cut):
            assert (bound <= np.where(cut >= D, D, np.inf)).all()


@pytest.mark.usefixtures("isa")
@given(data=st.data())
def test_the_search_is_exact(data):
    check_bounded(data, data.draw(collections()), data.draw(distances()))


@pytest.mark.parametrize("distance", ["msm", "erp", "adtw"])
def test_the_cut_off_spares_cells(distance):
    X = d2ke.pack(walks(320, 0).values.reshape(320, 60, 1) / 10, channels_first=False)
    pairs = check_pairs(X, None, distance, {}, ArgumentNames())
    bounds = pivots.PivotIndex(pairs, 1).bounds(pairs, 1).bounds
    D = d2ke.distance_matrix(X, distance=distance)
    refine.bounds_of(bounds, *D.shape, float(np.quantile(D, 0.02)))
    assert bounds.cells.sum() < 0.5 * D.size * 60**2
    assert check_nearest(D, X, k=3, distance=distance).ruled_out["cut-off"] > 0


@pytest.mark.parametrize("distance", ["edr", "lcss"])
def test_of_equal_distances_only_the_first_are_computed(distance, monkeypatch):
    monkeypatch.setattr(bounded, "pays", lambda *_: True)
    items = np.random.default_rng(0).integers(0, 3, (400, 20, 1)).astype(float)
    X = d2ke.pack(items, channels_first=False)
    D = d2ke.distance_matrix(X, distance=distance)
    info = check_nearest(D, X, k=5, distance=distance)
    monkeypatch.setattr(elastic, "_tie", lambda *_: 0.0)
    assert info.computed < 0.6 * check_nearest(D, X, k=5, distance=distance).computed


def test_small_weights_do_not_blur_the_bounds():
    X = d2ke.pack(walks(320, 3).values.reshape(320, 60, 1) / 10, channels_first=False)
    D = d2ke.distance_matrix(X, distance="wdtw", g=0.5)
    assert check_nearest(D, X, k=3, distance="wdtw", g=0.5).computed < 0.03 * D.size


def test_more_neighbours_than_bounds_that_wait(monkeypatch):
    monkeypatch.setattr(bounded, "pays", lambda *_: True)
    X = d2ke.pack(walks(360, 2).values.reshape(720, 30, 1)[:360], channels_first=False)
    for distance in ("msm", "edr"):
        D = d2ke.distance_matrix(X, distance=distance)
        check_nearest(D, X, k=300, distance=distance)


def test_numbers_beyond_float32():
    X = d2ke.pack(walks(320, 1).values.reshape(320, 60, 1) * 1e100, channels_first=False)
    for distance in ("adtw", "erp"):
        D = d2ke.distance_matrix(X, distance=distance)
        assert "cut-off" not in check_nearest(D, X, k=3, distance=distance).ruled_out
