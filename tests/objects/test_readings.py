# SPDX-License-Identifier: BSD-3-Clause
"""Objects that can be read in two ways: a warning names both, and how to choose."""

import warnings

import numpy as np
import pytest

import d2ke
import matlab_compat

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
    with pytest.raises(ValueError, match=r"\(length, dim\): channels_first=False\)"):
        d2ke.pack([item.T for item in uneven], channels_first=True)
    with pytest.raises(ValueError, match=r"\(dim, length\): pack\(X, channels_first=True\)\)"):
        d2ke.distance_matrix(uneven, distance="dtw")


def test_matlab_names_have_one_layout():
    assert matlab_compat.dtw_c([[0.0, 3.0]], [[4.0, 0.0]]) == 5


# Letters


def embed(X, omega):
    return d2ke.d2ke_embed(X, omega, distance="levenshtein", gamma=1.0)


def test_letters_of_another_case():
    omega = d2ke.samplers.random_strings(8, "acgt", length=(1, 4), seed=0)
    with pytest.warns(
        UserWarning, match=r"no letter of omega occurs in X: omega has 'a', 'c', 'g', 't', X has"
    ) as caught:
        embed(["ACGT", "AGGT"], omega)
    assert [w.filename for w in caught] == [__file__]
    with pytest.warns(UserWarning, match="omega has 'a' where X has 'A'"):
        embed(["ACGT", "AGGT"], ["aCGT"])
    with pytest.warns(UserWarning, match="reps has 'a' where X has 'A'"):
        d2ke.rsm_embed([b"ACGT"], [b"aC"], distance="levenshtein", gamma=1.0)
    with pytest.warns(UserWarning, match=r"no letter of omega occurs in X: omega has 3, 4, X has"):
        embed(d2ke.pack([[1, 2]], kind="strings"), d2ke.pack([[3, 4]], kind="strings"))


@pytest.mark.parametrize(
    ("X", "omega"),
    [
        (["AC"], ["ACGT"]),
        (["ab"], ["aAbB"]),
        (["AC"], ["A", "x"]),
        ([""], ["x"]),
        (["x"], ["", ""]),
        (["1"], ["1", "2"]),
    ],
)
def test_letters_that_are_meant(X, omega):
    embed(X, omega)
