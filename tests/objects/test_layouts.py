# SPDX-License-Identifier: BSD-3-Clause
"""Layouts of series: which axis holds the channels, with a warning where two are possible; aeon,
tslearn and xarray by name."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import d2ke
import matlab_compat


@st.composite
def series(draw):
    dim = draw(st.integers(1, 3))
    lengths = draw(st.lists(st.integers(1, 5), min_size=1, max_size=5))
    return [np.arange(1.0, n * dim + 1).reshape(n, dim) for n in lengths]


def same(X, items):
    assert X.lengths.tolist() == [len(item) for item in items]
    assert all((own == item).all() for own, item in zip(X, items, strict=True))


@given(series())
def test_aeon(items):
    same(d2ke.pack([item.T for item in items], layout="aeon"), items)
    cube = np.stack([items[0]] * 3)
    same(d2ke.pack(cube.transpose(0, 2, 1), layout="aeon"), list(cube))
    same(d2ke.pack(cube[:, :, 0], layout="aeon"), list(cube[:, :, :1]))


@given(series())
def test_tslearn(items):
    padded = np.full((len(items), max(map(len, items)) + 1, items[0].shape[1]), np.nan)
    for row, item in zip(padded, items, strict=True):
        row[: len(item)] = item
    same(d2ke.pack(padded, layout="tslearn"), items)
    same(d2ke.pack(np.stack([items[0]] * 2), layout="tslearn"), [items[0]] * 2)
    same(d2ke.pack(np.ones((2, 3, 1), int), layout="tslearn"), [np.ones((3, 1))] * 2)


def test_more_channels_than_steps_are_no_question():
    assert d2ke.pack(np.ones((3, 5, 2)), layout="aeon").dim == 5
    assert d2ke.pack(np.ones((3, 2, 5)), layout="tslearn").dim == 5


GAP = np.array([[[1.0], [np.nan], [2.0]]])
EMPTY = np.array([[[1.0], [2.0]], [[np.nan], [np.nan]]])


@pytest.mark.parametrize(
    ("items", "layout", "options", "error", "message"),
    [
        (np.ones(3), "aeon", {}, ValueError, r"X has shape \(3,\); layout='aeon' is \(n, chan"),
        ([np.ones(3)], "aeon", {}, ValueError, r"X\[0\] has shape \(3,\); layout='aeon' needs"),
        (["ab"], "aeon", {}, ValueError, r"X\[0\] has shape \(\)"),
        ({"a": 1}, "aeon", {}, TypeError, "X is dict; layout='aeon'"),
        ([[1.0]], "tslearn", {}, TypeError, "X is list; layout='tslearn' is one array"),
        (np.ones((2, 3)), "tslearn", {}, ValueError, r"X has shape \(2, 3\)"),
        (np.ones((2, 0, 3)), "tslearn", {}, ValueError, r"X has shape \(2, 0, 3\)"),
        (EMPTY, "tslearn", {}, ValueError, r"X\[1\] is NaN throughout"),
        (GAP, "aeon", {"channels_first": True}, TypeError, "channels_first does not go with"),
    ],
)
def test_refused(items, layout, options, error, message):
    with pytest.raises(error, match=message):
        d2ke.pack(items, layout=layout, name="X", **options)


def test_weights_of_padded_series():
    X = d2ke.pack(EMPTY[:1], layout="tslearn", weights=[[1.0, 3.0]])
    assert X.weights.tolist() == [1, 3]


def test_xarray():
    xr = pytest.importorskip("xarray", reason="xarray is not installed")
    A = np.arange(24.0).reshape(2, 4, 3)
    wanted = d2ke.pack(A)
    for dims in (("case", "time", "channel"), ("case", "channel", "time"), ("time", "case", "x")):
        order = [("case", "time", next(d for d in dims if d not in ("case", "time"))).index(d)
                 for d in dims]  # fmt: skip
        assert d2ke.pack(xr.DataArray(A.transpose(order), dims=dims)) == wanted
    flat = xr.DataArray(A[:, :, 0].T, dims=("time", "case"))
    assert d2ke.pack(flat) == d2ke.pack(A[:, :, 0])
    assert list(d2ke.pack(xr.DataArray(np.array(["ab", "c"]), dims="case"))) == ["ab", "c"]
    with pytest.raises(ValueError, match=r"items has the dimensions a, b; .* one called time"):
        d2ke.pack(xr.DataArray(A[0], dims=("a", "b")))
    with pytest.raises(TypeError, match="items is one Dataset of xarray"):
        d2ke.pack(xr.Dataset({"a": flat}))


def test_tslearn_refuses_masks():
    masked = np.ma.array([[[1.0], [2.0]]], mask=[[[False], [True]]])
    with pytest.raises(TypeError, match="items has masked elements"):
        d2ke.pack(masked, layout="tslearn")
    assert d2ke.pack(np.ma.array([[[1.0], [2.0]]]), layout="tslearn").lengths.tolist() == [2]


# Channels first or last

RNG = np.random.default_rng(0)
ROWS = [RNG.standard_normal((1, 50)) for _ in range(4)]
LONG = RNG.standard_normal((4, 3, 50))  # n, channels, time
MIXED = [np.zeros((2, 5)), np.zeros((3, 5))]  # five channels, or two and three


@pytest.mark.parametrize(
    "items",
    [ROWS, ROWS[:1], LONG, list(LONG), [row.tolist() for row in ROWS], LONG.astype(np.float32)],
    ids=["rows", "one row", "array", "list", "lists", "float32"],
)
def test_more_channels_than_steps(items):
    with pytest.warns(UserWarning, match="every item of items has shape") as caught:
        X = d2ke.pack(items)
    assert len(caught) == 1
    assert caught[0].filename == __file__
    text = str(caught[0].message)
    assert f"is read as {X.lengths[0]} vector" in text
    assert "of 50 channels; for 50 vectors of" in text
    assert "channels_first=True; to keep this reading without a warning: channels_first=False" in (
        text
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert d2ke.pack(items, channels_first=False) == X
        turned = d2ke.pack(items, channels_first=True)
    assert turned.dim == X.lengths[0]
    assert turned.lengths.tolist() == [50] * len(X)


@pytest.mark.parametrize(
    "items",
    [
        MIXED,
        [np.zeros((3, 3))] * 2,
        [np.zeros((50, 3))] * 2,
        [np.zeros(5), np.zeros((1, 1))],
        np.zeros((3, 50)),
        [np.zeros((0, 3))] * 2,
        [np.zeros((1, 1))],
    ],
    ids=["unequal", "square", "long", "one channel", "matrix", "empty", "number"],
)
def test_one_reading(items):
    assert d2ke.pack(items) == d2ke.pack(items, channels_first=False)


def test_padded_items_have_the_shape_of_the_padding():
    with pytest.warns(UserWarning, match=r"shape \(3, 50\)"):
        d2ke.pack(LONG, lengths=[3, 2, 3, 1])
    d2ke.pack(np.zeros((4, 50, 3)), lengths=[2, 2, 2, 2])


def test_weights_settle_the_reading():
    items = [np.zeros((2, 5)), np.ones((2, 5))]
    assert d2ke.pack(items, weights=[[1, 2], [3, 4]]).dim == 5


OMEGA = d2ke.samplers.random_series(3, 50, length=(1, 4), sigma=1.0, seed=0)


@pytest.mark.parametrize(
    "call",
    [
        lambda X: d2ke.distance_matrix(X, distance="dtw"),
        lambda X: d2ke.distance_matrix(X, OMEGA, "mhd"),
        lambda X: d2ke.d2ke_embed(X, OMEGA, distance="dtw", gamma=1.0),
        lambda X: d2ke.rsm_embed(X, OMEGA, distance="dtw", gamma=1.0),
        lambda X: d2ke.d2ke_gram(X, omega=OMEGA, distance="dtw", gamma=1.0),
        lambda X: d2ke.samplers.segments(2, X, length=1, seed=0),
        lambda X: d2ke.samplers.resampled(2, X, size=2, seed=0),
        lambda X: d2ke.kernel_distance_matrix(X, sigma=1.0),
        lambda X: d2ke.search([0, 1] * 2, X, distance="dtw", method="knn", n_folds=2),
    ],
    ids=["matrix", "mhd", "embed", "rsm", "gram", "segments", "sets", "kernel", "search"],
)
def test_functions_that_pack_lists_say_the_same(call):
    with pytest.warns(UserWarning, match=r"pack\(X, channels_first=True\); to keep") as caught:
        call(ROWS)
    assert [w.filename for w in caught] == [__file__]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        call(d2ke.pack(ROWS, channels_first=False))


def test_advice_is_what_the_function_takes():
    uneven = [np.zeros((2, 5)), np.zeros((2, 4))]
    with pytest.raises(ValueError, match=r"\(dim, length\): channels_first=True\)"):
        d2ke.pack(uneven)
    with pytest.raises(ValueError, match=r"\(dim, length\): pack\(X, channels_first=True\)\)"):
        d2ke.distance_matrix(uneven, distance="dtw")


def test_matlab_names_have_one_layout():
    assert matlab_compat.dtw_c([[0.0, 3.0]], [[4.0, 0.0]]) == 5
