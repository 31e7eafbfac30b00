# SPDX-License-Identifier: BSD-3-Clause
"""Levenshtein distances to prefixes and substrings, against the table's least last value."""

import functools
import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import edited, levenshtein, texts

import d2ke
from d2ke._ext import strings

pytestmark = pytest.mark.usefixtures("isa")

MODES = ("prefix", "infix")
ALL = ("global", *MODES)
# Around the ends of bytes, of words and of the texts between two sums of an excess.
EDGES = [0, 1, 7, 8, 9, 20, 56, 57, 63, 64, 65, 127, 128, 129, 191, 192, 200]
TEXTS = [0, 1, 30, 65, 255, 256]


def reference(X, Y, mode):
    values = [[levenshtein(x, y, mode) for y in Y] for x in X]
    return np.array(values, dtype=float).reshape(len(X), len(Y))


def matrix(X, Y, mode, **options):
    return d2ke.distance_matrix(X, Y, "levenshtein", mode=mode, **options)


modes = pytest.mark.parametrize("mode", MODES)


@modes
def test_every_substring_and_prefix(mode):
    """The definition itself: the least of the whole strings' distances to all parts."""
    rng = np.random.default_rng(0)
    X = ["".join(rng.choice(list("abc"), n)) for n in (0, 1, 5, 9, 14)]
    Y = ["".join(rng.choice(list("abc"), n)) for n in (0, 1, 2, 4, 7, 11, 20)]
    for x, row in zip(X, matrix(X, Y, mode), strict=True):
        first = range(len(x) + 1) if mode == "infix" else [0]
        parts = [x[i:j] for i in first for j in range(i, len(x) + 1)]
        wanted = d2ke.distance_matrix(parts, Y, "levenshtein").min(axis=0)
        np.testing.assert_array_equal(row, wanted)


@given(X=texts("a", 300, 4), Y=texts("a", 200, 20), mode=st.sampled_from(MODES))
def test_one_letter(X, Y, mode):
    wanted = [[max(len(y) - len(x), 0) for y in Y] for x in X]
    np.testing.assert_array_equal(matrix(X, Y, mode), wanted)


@given(seed=st.integers(0, 2**32), mode=st.sampled_from(MODES))
def test_patterns_of_every_length(seed, mode):
    rng = np.random.default_rng(seed)
    n_letters = int(rng.choice([1, 2, 4, 300, 3000]))
    X = [rng.integers(0, n_letters, n) for n in rng.integers(0, 300, 2)]
    longest = int(rng.choice([5, 20, 70, 140]))
    Y = [rng.integers(0, n_letters, n) for n in rng.integers(0, longest + 1, 9)]
    for x in X:  # near to a part of the text
        begin, end = sorted(rng.integers(0, len(x) + 1, 2)) if mode == "infix" else (0, len(x) // 2)
        Y.append(edited(rng, x[begin : min(end, begin + 200)], 4, n_letters))
    x, y = (d2ke.pack(Z, kind="strings") for Z in (X, Y))
    wanted = reference([v.tolist() for v in X], [v.tolist() for v in Y], mode)
    np.testing.assert_array_equal(matrix(x, y, mode, n_threads=int(rng.integers(1, 5))), wanted)


@functools.cache
def around_words(n_letters, mode):
    rng = np.random.default_rng(n_letters)
    Y = [rng.integers(0, n_letters, n) for n in EDGES]
    X = [rng.integers(0, n_letters, n) for n in TEXTS]
    X += [np.concatenate([X[2], edited(rng, Y[-1], 6, n_letters), X[3]]), edited(rng, Y[-2], 5, 4)]
    values = reference(*([z.tolist() for z in Z] for Z in (X, Y)), mode)
    return *(d2ke.pack(Z, kind="strings") for Z in (X, Y)), values


@pytest.mark.parametrize("mode", ALL)
@pytest.mark.sample(5)
@pytest.mark.parametrize("n_letters", [1, 4, 3000])
def test_lengths_around_words(n_letters, mode):
    X, Y, wanted = around_words(n_letters, mode)
    for n_threads in (1, 4):
        np.testing.assert_array_equal(matrix(X, Y, mode, n_threads=n_threads), wanted)
    # Each pattern alone in its lanes.
    alone = np.hstack([matrix(X, Y[j : j + 1], mode) for j in range(len(Y))])
    np.testing.assert_array_equal(alone, wanted)


@modes
def test_every_place_in_a_vector(mode):
    """Each pattern is near to a text of its own, whichever lanes it shares."""
    rng = np.random.default_rng(6)
    for longest in (14, 16, 21, 31, 63):
        Y = [rng.integers(0, 4, n) for n in rng.integers(longest - 10, longest + 1, 100)]
        X = [edited(rng, y, 2, 4) for y in Y]
        D = matrix(*(d2ke.pack(Z, kind="strings") for Z in (X, Y)), mode)
        wanted = [levenshtein(x.tolist(), y.tolist(), mode) for x, y in zip(X, Y, strict=True)]
        np.testing.assert_array_equal(np.diag(D), wanted)


def test_texts_around_the_tiles():
    """The only places near to the pattern are on either side of the ends of tiles."""
    rng = np.random.default_rng(7)
    for length in (5, 20, 60, 150, 300):
        y = rng.integers(0, 3, length)
        Y = [y, y[: length // 2], y[:0]]
        X, wanted = [], []
        for end in (254, 255, 256, 1023, 1024, 1025, 2048, 2050):
            if end >= length:
                text = np.concatenate([np.full(end - length, 3), y, np.full(900, 3)])
                X += [text, np.delete(text, end - 1)]
                wanted += [[0, 0, 0], [1, 0, 0]]
        x, y = (d2ke.pack(Z, kind="strings") for Z in (X, Y))
        np.testing.assert_array_equal(matrix(x, y, "infix"), wanted)


def test_a_far_longer_text_and_a_long_pattern():
    rng = np.random.default_rng(2)
    text = rng.integers(0, 4, 20_000)
    near = edited(rng, text[9_000:12_000], 30, 4)
    X = d2ke.pack([text, text[::-1]], kind="strings")
    Y = d2ke.pack([near, text[:2_000], text[15_000:15_020], text, []], kind="strings")
    infix, prefix = matrix(X, Y, "infix"), matrix(X, Y, "prefix")
    assert 15 <= infix[0, 0] <= 30
    assert infix[1, 0] > 500
    np.testing.assert_array_equal(infix[0, 1:], [0, 0, 0, 0])
    assert prefix[0, 1] == prefix[0, 3] == 0
    assert prefix[0, 0] > 500
    assert (infix <= prefix).all()
    np.testing.assert_array_equal(
        prefix[0, 2], levenshtein(text[:100].tolist(), text[15_000:15_020].tolist(), "prefix")
    )


@given(
    lengths=st.lists(st.integers(0, 300), max_size=120),
    n_lanes=st.sampled_from([8, 16, 32]),
    part=st.booleans(),
)
def test_packing(lengths, n_lanes, part):
    order, blocks = strings.pack(np.array(lengths, dtype=np.int64), n_lanes, part)
    assert sorted(order) == list(range(len(lengths)))
    assert blocks[0] == 0
    assert blocks[-1] == len(lengths)
    assert (np.diff(blocks) > 0).all()
    for first, last in itertools.pairwise(blocks):
        # A block has no more than its lanes of the longest patterns that are left.
        block = np.take(lengths, order[first:last])
        assert block.max() == max(np.take(lengths, order[first:]))
        if last < len(lengths):
            assert len(block) >= n_lanes
