# SPDX-License-Identifier: BSD-3-Clause
"""Paths of the elastic distances: they are paths, and cost what `distance_matrix` says."""

import math

import numpy as np
import pytest
import reference
from hypothesis import given, settings
from hypothesis import strategies as st

import d2ke
from d2ke.distances.alignment import tables as align_tables
from d2ke.distances.registry import DISTANCES

PARAMETERS = {
    **reference.ELASTIC_PARAMETERS,
    "msm": st.fixed_dictionaries({"c": reference.POSITIVE, "independent": st.just(False)}),
    "dtw": st.sampled_from(
        [{"ground": ground} for ground in ("euclidean", "sqeuclidean", "manhattan")]
    ),
}
LEAVES_OUT = ("erp", "edr", "lcss")
WINDOWS = st.sampled_from([None, 0, 1, 3, "rws"])


def entry(x, y, name, **params):
    sides = [d2ke.pack([one], channels_first=False) for one in (x, y)]
    return d2ke.distance_matrix(*sides, name, **params)[0, 0]


@st.composite
def two_series(draw, most=14, dims=(1, 2, 3, 5)):
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    dim = draw(st.sampled_from(dims))
    style = draw(st.sampled_from(reference.STYLES))
    dtype = draw(st.sampled_from([np.float64, np.float32]))
    lengths = [draw(st.integers(1, most)), draw(st.integers(1, most))]
    scale = dtype(draw(st.sampled_from([1, 1, 1e-30, 1e30])))
    return [one * scale for one in reference.draw_vectors(rng, lengths, dim, dtype, style)]


def check_places(found, x, y, radius):
    """All vectors are met in order, and pairs are within the window."""
    pairs = found.pairs
    both = (pairs >= 0).all(axis=1)
    assert (np.abs(pairs[both, 0] - pairs[both, 1]) <= radius).all()
    if found.operations is None:
        assert both.all()
        assert pairs[0].tolist() == [0, 0]
        assert pairs[-1].tolist() == [len(x) - 1, len(y) - 1]
        assert {tuple(s) for s in np.diff(pairs, axis=0).tolist()} <= {(0, 1), (1, 0), (1, 1)}
        return
    for side, one in enumerate((x, y)):
        met = pairs[pairs[:, side] >= 0, side]
        assert met.tolist() == list(range(len(one)))
    op = found.operations.op
    assert ((op == "delete") == (pairs[:, 1] < 0)).all()
    assert ((op == "insert") == (pairs[:, 0] < 0)).all()


def check_cost(name, found, x, y, params):
    """The path costs the distance, by the definition; and so do its steps together."""
    if not math.isfinite(found.value):
        return
    close = {"rel": 1e-12, "abs": 1e-300}
    if x.dtype == np.float32:  # computed in float64, then rounded
        close = {"rel": 1e-6, "abs": 1e-40}
    x, y = (one.astype(np.float64) for one in (x, y))
    wanted = reference.path_cost(name, x, y, found.pairs.tolist(), **params)
    assert found.value == pytest.approx(wanted, **close)
    if name == "dtw" and params["ground"].endswith("euclidean"):  # in the kernel's own type
        assert np.cumsum(found.costs)[-1] == found.value
    if name == "frechet":
        total = found.costs.max()
        assert found.costs[found.maximum] == total
    else:
        total = found.costs.sum()
    if name == "lcss":
        assert ((found.costs == -1) == (found.pairs >= 0).all(axis=1)).all()
        total = 1 + total / min(len(x), len(y))
    elif params.get("normalize"):
        total /= max(len(x), len(y))
    assert found.value == pytest.approx(total, **close)


@pytest.mark.parametrize("name", [name for name in PARAMETERS if name != "ddtw"])
@settings(max_examples=reference.examples(100))
@given(pair=two_series(), window=WINDOWS, data=st.data())
def test_the_path_costs_what_the_matrix_says(isa, name, pair, window, data):
    x, y = pair
    params = {"window": window, **data.draw(PARAMETERS[name])}
    found = d2ke.align(x, y, name, **params)
    assert found.value == entry(x, y, name, **params)
    check_places(found, x, y, reference.window_radius(window, len(x), len(y)))
    assert (found.operations is not None) == (name in LEAVES_OUT)
    check_cost(name, found, x, y, params)


@settings(max_examples=reference.examples(60))
@given(pair=two_series(dims=(1,)), window=WINDOWS, c=reference.POSITIVE)
def test_independent_channels(isa, pair, window, c):
    x, y = pair
    found = d2ke.align(x, y, "msm", window=window, c=c)
    assert found.value == entry(x, y, "msm", window=window, c=c)
    check_places(found, x, y, reference.window_radius(window, len(x), len(y)))
    check_cost("msm", found, x, y, {"window": window, "c": c})


@settings(max_examples=reference.examples(60))
@given(pair=two_series(), window=WINDOWS)
def test_slopes(isa, pair, window):
    x, y = (one.clip(-1e9, 1e9) for one in pair)
    found = d2ke.align(x, y, "ddtw", window=window)
    assert found.value == entry(x, y, "ddtw", window=window)
    slopes = [reference.slopes(one) for one in (x, y)]
    middles = found.pairs - [int(len(one) > 1) for one in (x, y)]
    found = d2ke.distances.Alignment("dtw", {}, x, y, found.value, middles, found.costs)
    check_places(found, *slopes, reference.window_radius(window, *map(len, slopes)))
    apart = slopes[0][middles[:, 0]] - slopes[1][middles[:, 1]]
    np.testing.assert_allclose(found.costs, (apart**2).sum(axis=1), rtol=1e-12, atol=1e-80)
    assert found.value == pytest.approx(found.costs.sum(), rel=1e-6, abs=1e-40)


@settings(max_examples=reference.examples(40))
@given(seed=st.integers(0, 2**32), n=st.integers(1, 9), m=st.integers(1, 9), window=WINDOWS)
def test_places_on_the_earth(isa, seed, n, m, window):
    rng = np.random.default_rng(seed)
    x, y = (rng.uniform((-90, -180), (90, 180), (k, 2)) for k in (n, m))
    params = {"ground": "haversine", "window": window}
    found = d2ke.align(x, y, "dtw", **params)
    assert found.value == entry(x, y, "dtw", **params)
    check_places(found, x, y, reference.window_radius(window, n, m))
    check_cost("dtw", found, x, y, params)
    small = d2ke.align(x, y, "dtw", sphere_radius=1.0, **params)
    assert small.value == entry(x, y, "dtw", sphere_radius=1.0, **params)


@pytest.mark.parametrize("name", PARAMETERS)
@settings(max_examples=reference.examples(30))
@given(
    pair=two_series(most=40),
    window=st.sampled_from([None, 0, 2, 7]),
    rows=st.integers(1, 7),
    states=st.integers(2, 4),
    data=st.data(),
)
def test_few_rows_in_memory_have_the_same_bits(name, pair, window, rows, states, data):
    params = {"window": window, **data.draw(PARAMETERS[name])}
    wanted = d2ke.align(*pair, name, **params)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(align_tables, "plan", lambda *_: align_tables.Plan(rows, states, 9))
        found = d2ke.align(*pair, name, **params)
    reference.same(found.pairs, wanted.pairs)
    reference.same(found.costs, wanted.costs)
    assert found.value == wanted.value


@pytest.mark.parametrize("name", PARAMETERS)
@pytest.mark.parametrize("scale", [1e200, 1e-200, 1e307, 1e-310])
def test_extreme_magnitudes(isa, name, scale):
    rng = np.random.default_rng(3)
    params = {"independent": False} if name == "msm" else {}
    params |= {"ground": "manhattan"} if name == "dtw" else {}
    for dim in (1, 2):
        x, y = (rng.uniform(-3, 3, (n, dim)) * scale for n in (5, 7))
        for window in (None, 2):
            found = d2ke.align(x, y, name, window=window, **params)
            assert found.value == entry(x, y, name, window=window, **params)
            if name != "ddtw":
                check_places(found, x, y, 9 if window is None else window)


def test_each_elastic_distance_is_aligned():
    assert set(PARAMETERS) == {row.name for row in DISTANCES if "window" in row.parameters}


def test_channels_with_a_path_each_are_refused():
    with pytest.raises(ValueError, match=r"independent=False for 'msm' of 3 channels"):
        d2ke.align(np.zeros((4, 3)), np.ones((5, 3)), "msm")
