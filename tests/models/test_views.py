# SPDX-License-Identifier: BSD-3-Clause
"""Views against plain loops over lists."""

import itertools
import math
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import d2ke
from d2ke.models.blocks import Sample
from d2ke.models.labels import no_labels
from d2ke.models.views import (
    VIEWS,
    apply_views,
    centre,
    difference,
    mark_ends,
    part,
    square_root,
    standardize,
    view_name,
)
from d2ke.samplers import training_objects

numbers = st.floats(-1e6, 1e6, width=32)
series = st.lists(st.lists(numbers, min_size=1, max_size=9), min_size=1, max_size=6)
strings = st.lists(st.text("abcd", max_size=9), min_size=1, max_size=6)
fractions = st.tuples(st.floats(0, 1), st.floats(0, 1)).filter(lambda ends: ends[0] < ends[1])


@given(series)
def test_difference_is_that_of_neighbours(X):
    for x, got in zip(X, difference(X), strict=True):
        want = [after - before for before, after in itertools.pairwise(x)] or [0.0]
        assert got.ravel().tolist() == want


@given(series)
def test_standardized_channels_have_mean_0_and_deviation_1(X):
    values = np.concatenate(X)
    got = standardize(X)
    assert got.dtype == np.float32
    sd = values.std()
    if values.min() == values.max():
        assert (got.values == 0).all()
    else:
        want = (values - values.mean()) / sd
        np.testing.assert_allclose(got.values[:, 0], want, rtol=1e-5, atol=1e-5)


def test_centred_sets_have_mean_0():
    rng = np.random.default_rng(0)
    X = [rng.normal(size=(n, 3)) + 1e3 for n in (1, 4, 9)]
    for x, got in zip(X, centre(X), strict=True):
        np.testing.assert_allclose(got, x - x.mean(axis=0), atol=1e-11)
    weights = [rng.random(len(x)) for x in X]
    for x, w, got in zip(X, weights, centre(d2ke.pack(X, weights=weights)), strict=True):
        np.testing.assert_allclose(got, x - np.average(x, axis=0, weights=w), atol=1e-11)


@given(series)
def test_square_root_keeps_signs(X):
    for x, got in zip(X, square_root(X), strict=True):
        want = [math.copysign(math.sqrt(abs(value)), value) for value in x]
        np.testing.assert_allclose(got.ravel(), want, rtol=1e-15)


@given(strings, fractions)
def test_part_of_strings(X, ends):
    start, stop = ends
    want = [x[math.floor(start * len(x)) : math.ceil(stop * len(x))] for x in X]
    assert list(part(X, start, stop)) == want


@given(series, fractions)
def test_part_of_series_is_never_empty(X, ends):
    for x, got in zip(X, part(X, *ends), strict=True):
        want = x[math.floor(ends[0] * len(x)) : math.ceil(ends[1] * len(x))]
        assert want
        assert got.ravel().tolist() == want


def test_part_keeps_weights():
    X = d2ke.pack([[[1.0], [2.0]], [[3.0], [4.0]]], weights=[[1.0, 2.0], [3.0, 4.0]])
    half = part(X, 0.5, 1.0)
    assert half.values.ravel().tolist() == [2.0, 4.0]
    assert half.weights.tolist() == [2.0, 4.0]


@pytest.mark.parametrize("ends", [(0.5, 0.5), (0.6, 0.5), (-0.1, 1), (0, 1.1)])
def test_part_refuses(ends):
    with pytest.raises(ValueError, match="start and stop must be"):
        part(["ab"], *ends)


@given(strings)
def test_mark_ends(X):
    assert list(mark_ends(X, ord("^"), ord("$"))) == [f"^{x}$" for x in X]
    marked = mark_ends(X)
    assert [x[1:-1] for x in marked] == X
    assert len({x[0] for x in marked} | {x[-1] for x in marked}) == 2


def test_marks_are_letters_that_the_strings_do_not_have():
    for X in (["\U0010ffff\U0010fffe"], [b"\xff\xfe"], [[5, 2**62]]):
        objects = d2ke.pack(X, kind="strings")
        assert len(mark_ends(objects).alphabet) == len(objects.alphabet) + 2
    with pytest.raises(ValueError, match="a mark"):
        mark_ends(["a$"], ord("^"), ord("$"))
    with pytest.raises(ValueError, match="none left for marks"):
        mark_ends(d2ke.pack([bytes(range(256))]))


def test_wrong_kinds_are_refused():
    for view in (difference, standardize, square_root, centre):
        with pytest.raises(TypeError, match="series and sets"):
            view(["ab"])
    with pytest.raises(TypeError, match="for strings"):
        mark_ends([[1.0, 2.0]])
    for view, X in ((standardize, ["ab"]), (mark_ends, [[1.0, 2.0]])):
        block = d2ke.Block("one", "dtw", training_objects, 1, (view,))
        with pytest.raises(TypeError, match=f"{view.__name__} is for "):
            block.fit(Sample(d2ke.pack(X), np.arange(1), no_labels(1)), 0)
    with pytest.raises(ValueError, match="2 dimensions"):
        standardize([np.ones((3, 2))], mean=[0.0], sd=[1.0])
    with pytest.raises(ValueError, match=r"X\[1\] is beyond the range of float32"):
        standardize([[1.0], [1e200]], mean=[0.0], sd=[1.0])


def test_fitted_views_remember_the_training_objects():
    block = d2ke.Block("one", "dtw", training_objects, 1, (standardize, difference))
    fitted = block.fit(Sample(d2ke.pack([[1.0, 3.0]]), np.arange(1), no_labels(1)), 0)
    view, last = fitted.views
    assert view([[5.0]])[0].tolist() == [[3.0]]
    assert apply_views((view, difference), [[1.0, 5.0]])[0].tolist() == [[4.0]]
    assert last is difference


def test_names_of_views():
    assert view_name(difference) == ("difference", {})
    assert view_name(partial(part, stop=0.5)) == ("part", {"stop": 0.5})
    for own in (lambda X: X, partial(part, ["ab"])):
        with pytest.raises(TypeError, match=r"is not one of .*difference"):
            view_name(own)
    assert set(VIEWS) == {
        *("difference", "standardize", "square_root", "centre", "part", "mark_ends")
    }


@pytest.mark.parametrize("scale", [1e300, 1e160, 1e-160, 1e-310, 1e308])
def test_standardize_values_whose_squares_overflow(scale):
    series = np.array([0.0, 1.0, -1.0, 0.5])
    wide = standardize([scale * series])[0]
    assert wide.ravel() == pytest.approx(standardize([series])[0].ravel(), rel=1e-5)
