# SPDX-License-Identifier: BSD-3-Clause
"""Series in the layouts of aeon, tslearn and xarray, by name."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import d2ke


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
HALF = np.array([[[1.0, 2.0], [3.0, np.nan]]])


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
        (GAP, "tslearn", {}, ValueError, r"X\[0\] has nan at position \(1, 0\)"),
        (HALF, "tslearn", {}, ValueError, r"X\[0\] has nan at position \(1, 1\)"),
        (EMPTY, "tslearn", {}, ValueError, r"X\[1\] is NaN throughout"),
        (GAP, "aeon", {}, ValueError, r"X\[0\] has nan at position"),
        (GAP, "aeon", {"channels_first": True}, TypeError, "channels_first does not go with"),
        (GAP, "tslearn", {"kind": "strings"}, TypeError, "kind='strings' does not go with"),
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
    with pytest.raises(ValueError, match=r"items\[0\] has nan at position \(1, 0\)"):
        d2ke.pack(flat.where(flat != 3))


def test_tslearn_refuses_masks():
    masked = np.ma.array([[[1.0], [2.0]]], mask=[[[False], [True]]])
    with pytest.raises(TypeError, match="items has masked elements"):
        d2ke.pack(masked, layout="tslearn")
    assert d2ke.pack(np.ma.array([[[1.0], [2.0]]]), layout="tslearn").lengths.tolist() == [2]
