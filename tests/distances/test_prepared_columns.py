# SPDX-License-Identifier: BSD-3-Clause
"""Distances to columns that are prepared once: those of `distance_matrix`, bit for bit."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import d2ke
from d2ke._ext import elastic
from d2ke.distances.columns import Columns
from d2ke.distances.pairs import check_pairs
from d2ke.distances.problem import PairBlock
from d2ke.objects.container import span_of

WORDS = st.lists(st.text("abcé", max_size=40), min_size=1, max_size=12)


def same_in_every_call(y, calls, distance, dtype=np.float64, **parameters):
    y = d2ke.pack(y) if not isinstance(y, d2ke.Objects) else y
    columns = Columns(y, distance, parameters)
    for x in calls:
        x = d2ke.pack(x) if not isinstance(x, d2ke.Objects) else x
        wanted = d2ke.distance_matrix(x, y, distance=distance, **parameters)
        out = np.empty(wanted.shape, dtype)
        columns.fill(x, out, 1)
        np.testing.assert_array_equal(out, wanted.astype(dtype))
        check_problem(columns, x, y, distance, parameters, out, wanted)


def check_problem(columns, x, y, distance, parameters, out, wanted):
    """Compare all pairs, and some of them."""
    pairs = columns.prepared(check_pairs(x, y, distance, parameters))
    pairs.compiled().run(out, 1)
    np.testing.assert_array_equal(out, wanted.astype(out.dtype))
    tail = span_of(pairs.y, 1, len(y))
    if len(tail):
        tile = pairs.distances(PairBlock(pairs.x, tail, False, 0, 1), 1)
        np.testing.assert_array_equal(tile, wanted[:, 1:])
    if x is y:
        pairs = columns.prepared(check_pairs(y, None, distance, parameters))
        np.testing.assert_array_equal(pairs.distances(PairBlock(y, y, True), 1), wanted)


@settings(max_examples=60)
@given(
    WORDS, st.lists(WORDS, min_size=1, max_size=3), st.sampled_from(["global", "prefix", "infix"])
)
def test_words(y, calls, mode):
    same_in_every_call(y, calls, "levenshtein", mode=mode)


@pytest.mark.parametrize("distance", ["levenshtein", "indel", "osa", "jaccard", "bag"])
def test_letters_that_no_column_has(distance):
    same_in_every_call(
        ["ab", "abba", "b" * 90], [["xyz"], ["ab", "xb", "a\U0001f600b" * 30]], distance
    )


@settings(max_examples=60)
@given(WORDS, st.lists(WORDS, min_size=1, max_size=3))
def test_bags(y, calls):
    same_in_every_call(y, calls, "bag")
    same_in_every_call(y, calls, "bag", np.float32)


def test_bags_of_many_letters():
    rng = np.random.default_rng(2)
    y, *calls = (
        d2ke.pack([rng.integers(0, 3000, m) for m in rng.integers(0, 90, n)], kind="strings")
        for n in (1100, 1, 2, 600)
    )
    same_in_every_call(y, [*calls, y[:1], y], "bag")
    columns, out = Columns(y, "bag", {}), np.empty((600, 1100))
    columns.fill(calls[-1], out, 2)
    np.testing.assert_array_equal(out, d2ke.distance_matrix(calls[-1], y, distance="bag"))


def test_parameters_that_are_prepared_again():
    same_in_every_call(["ab", "abba"], [["ab"], ["bb", "a"]], "levenshtein", normalize=True)


@pytest.mark.parametrize("window", [None, 3])
@pytest.mark.parametrize("types", [("f4", "f4"), ("f8", "f8"), ("f4", "f8"), ("f8", "f4")])
def test_series(types, window):
    rng = np.random.default_rng(0)
    y, *calls = [
        [rng.normal(size=(n, 2)).astype(kind) for n in rng.integers(1, 60, 23)]
        for kind in (types[0], types[1], types[1])
    ]
    # Squares of these leave the range, which asks for the careful kernel.
    calls.append([1e25 * calls[0][0], calls[0][1]])
    same_in_every_call(y, calls, "dtw", np.float64, window=window)


@pytest.mark.parametrize(
    ("distance", "parameters"),
    [
        ("msm", {}),
        ("msm", {"independent": False}),
        ("erp", {"g": (0.5, -1.0)}),
        ("twe", {"nu": 0.1}),
        ("edr", {"normalize": True}),
        ("lcss", {"epsilon": 0.5}),
        ("adtw", {"penalty": 0.1, "window": 3}),
        ("wdtw", {"g": 0.3}),
        ("frechet", {}),
    ],
)
@pytest.mark.parametrize("scale", [1.0, 1e170])
def test_elastic_distances(distance, parameters, scale):
    rng = np.random.default_rng(0)
    lengths = [rng.integers(1, longest, 23) for longest in (60, 60, 30, 99)]
    y, *calls = [[rng.normal(size=(n, 2)) for n in part] for part in lengths]
    calls.append([1e170 * calls[0][0], calls[0][1]])
    y[3] = y[3] * scale
    with np.errstate(over="ignore"):
        same_in_every_call(d2ke.pack(y, channels_first=False), calls, distance, **parameters)


def test_columns_that_are_prepared_are_not_prepared_again(monkeypatch):
    y, x = d2ke.pack([[1.0, 2.0], [3.0]]), d2ke.pack([[4.0]])
    dtw, msm = Columns(y, "dtw", {}), Columns(y, "msm", {})
    compile_ = elastic.elastic

    def of_rows_only(kind, x_rows, x_offsets, y_rows, y_offsets, *others):
        assert len(y_offsets) == 2
        return compile_(kind, x_rows, x_offsets, y_rows, y_offsets, *others)

    monkeypatch.setattr(elastic, "dtw", lambda *_: pytest.fail("prepared again"))
    monkeypatch.setattr(elastic, "elastic", of_rows_only)
    pairs = dtw.prepared(check_pairs(x, y, "dtw", {}))
    assert pairs.distances(PairBlock(x, y), 1).tolist() == [[5.0, 1.0]]
    pairs = msm.prepared(check_pairs(x, y, "msm", {}))
    assert pairs.distances(PairBlock(x, y), 1).tolist() == [[4.0, 1.0]]


def test_sets_and_functions_are_compared_as_ever():
    rng = np.random.default_rng(1)
    y, *calls = [[rng.normal(size=(n, 2)) for n in (3, 1, 7)] for _ in range(3)]
    same_in_every_call(y, calls, "hausdorff")
    same_in_every_call(y, calls, lambda a, b: abs(len(a) - len(b)))


def test_rows_are_checked():
    columns = Columns(d2ke.pack([[1.0, 2.0], [3.0]]), "dtw", {})
    with pytest.raises(ValueError, match="dimensions"):
        columns.fill(d2ke.pack([np.ones((3, 2))]), np.empty((1, 2)), 1)
    with pytest.raises(TypeError, match="strings"):
        columns.fill(d2ke.pack(["ab"]), np.empty((1, 2)), 1)
