# SPDX-License-Identifier: BSD-3-Clause
"""Pieces of strings: which ones are taken, and what they are to a model of short strings."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import d2ke
from d2ke.samplers import pieces


def variances(X, longest):
    """Return the variance of the occurrence of each piece, times the square of len(X)."""
    counts = Counter()
    for x in X:
        spans = [(i, j) for i in range(len(x)) for j in range(i + 1, min(i + longest, len(x)) + 1)]
        counts.update({x[i:j] for i, j in spans})
    n = len(X)
    return {piece: m * (n - m) for piece, m in counts.items() if 1 < m < n}


@given(
    st.lists(st.text("abc", max_size=7), min_size=1, max_size=8), st.integers(1, 30),
    st.integers(1, 7),
)  # fmt: skip
def test_they_are_those_of_the_largest_variance(X, R, longest):
    expected = variances(X, longest)
    found = list(pieces(R, d2ke.pack(X), longest=longest, seed=0))
    assert len(set(found)) == len(found) == min(R, len(expected))
    largest = sorted(expected.values(), reverse=True)[:R]
    assert [expected[piece] for piece in found] == largest


def test_tokens_are_letters():
    X = d2ke.pack([["one", "two"], ["one", "two", "three"], ["two", "three"]])
    found = {tuple(piece) for piece in pieces(9, X, seed=0)}
    assert found == {("one",), ("one", "two"), ("three",), ("two", "three")}


def test_the_seed_chooses_among_equals():
    rng = np.random.default_rng(0)
    X = d2ke.pack(["".join(rng.choice(list("abcdefgh"), 8)) for _ in range(40)])
    drawn = [list(pieces(60, X, seed=seed)) for seed in (0, 0, 1)]
    assert drawn[0] == drawn[1] != drawn[2]


def test_of_many_letters_a_sample_is_counted():
    X = d2ke.pack(["ab", "ba", "aa"] * 200_000)  # more than 2^20 letters
    assert set(pieces(9, X, seed=0)) == {"b", "ab", "ba", "aa"}  # all have an "a"


@pytest.mark.parametrize("X", [["", ""], ["abc"], ["ab", "ab"]])
def test_strings_that_do_not_differ_have_none(X):
    assert len(pieces(5, d2ke.pack(X), seed=0)) == 0


def words(n, rng):
    """Return words whose class is told by two syllables that may be anywhere."""
    syllables = ["".join(rng.choice(list("aeioubdgklmnprst"), 3)) for _ in range(24)]
    y = np.arange(n) % 3
    X = []
    for label in y:
        part = [syllables[8 * label + i] for i in rng.integers(0, 8, 2)]
        X.append("".join(rng.choice(list("aeioubdgklmnprst"), rng.integers(0, 4))) + "".join(part))
    return y, X


def test_half_of_a_given_number_are_pieces():
    _, X = words(60, np.random.default_rng(2))
    sizes = {}
    for block in d2ke.models.recipe(X, R=200):
        sizes[block.family] = sizes.get(block.family, 0) + block.R
    assert sizes["pieces"] == 100
    assert 90 <= sizes["parts"] <= 100
