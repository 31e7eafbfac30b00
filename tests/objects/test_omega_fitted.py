# SPDX-License-Identifier: BSD-3-Clause
"""The samplers that are made from training objects: what they take from these."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_omega import BYTES, FLOATS, INTEGERS, VECTORS, WORDS, numbered, uniform_over

import d2ke

FITTED = {
    "segments": lambda R, X, **options: d2ke.samplers.segments(R, X, **{"length": 3} | options),
    "chain": lambda R, X, **options: d2ke.samplers.markov_strings(R, X, **{"length": 3} | options),
    "resampled": lambda R, X, **options: d2ke.samplers.resampled(R, X, **{"size": 3} | options),
}

KINDS = [
    *[("segments", X) for X in (VECTORS, FLOATS, WORDS, BYTES, INTEGERS)],
    *[("chain", X) for X in (WORDS, BYTES, INTEGERS)],
    *[("resampled", X) for X in (VECTORS, FLOATS)],
]


@pytest.mark.parametrize(("name", "X"), KINDS)
def test_the_kind_of_the_training_objects_is_kept(name, X):
    omega = FITTED[name](20, X, seed=0)
    assert omega.kind == ("sets" if name == "resampled" else X.kind)
    assert omega.dtype == X.dtype
    assert omega.dim == X.dim
    assert omega.letters == X.letters
    if X.kind == "strings":
        np.testing.assert_array_equal(omega.alphabet, X.alphabet)
        # Of a part of the objects, whose letters are fewer.
        part = X[np.argsort(X.lengths)[-2:-1]]
        assert len(set(part.values)) < len(X.alphabet)
        omega = FITTED[name](20, part, seed=0)
        np.testing.assert_array_equal(omega.alphabet, X.alphabet)
        assert omega.dtype == X.dtype
        assert set(omega.values) <= set(part.values)


@pytest.mark.parametrize(("name", "X"), KINDS)
def test_empty_objects_among_the_training_objects_change_nothing(name, X):
    full = X[X.lengths > 0]
    assert len(full) < len(X)
    assert FITTED[name](50, X, seed=0) == FITTED[name](50, full, seed=0)


@given(
    lengths=st.lists(st.integers(0, 6), min_size=1, max_size=8).filter(any),
    data=st.data(),
    seed=st.integers(0, 2**70),
)
def test_segments_are_parts_of_one_object(lengths, data, seed):
    high = data.draw(st.integers(1, max(lengths)))
    low = data.draw(st.integers(1, high))
    X = numbered(*lengths)
    for segment in d2ke.samplers.segments(30, X, length=(low, high), seed=seed):
        (item,), begin, n = set(segment[:, 0].astype(int)), int(segment[0, 1]), len(segment)
        assert low <= n <= high
        np.testing.assert_array_equal(segment, X[item][begin : begin + n])
    words = ["".join("abc"[k % 3] for k in range(n)) for n in lengths]
    for segment in d2ke.samplers.segments(30, words, length=(low, high), seed=seed):
        assert any(segment in word for word in words)


def test_the_places_of_segments_are_uniform():
    lengths = (0, 5, 2, 0, 7, 1)
    drawn = list(d2ke.samplers.segments(60_000, numbered(*lengths), length=(1, 3), seed=0))
    for n in (1, 2, 3):
        places = [(i, p) for i, most in enumerate(lengths) for p in range(most - n + 1)]
        found = [places.index(tuple(one[0].astype(int))) for one in drawn if len(one) == n]
        assert len(places) > 1
        assert uniform_over(np.array(found), 0, len(places) - 1)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("scale", [1, 1.0, 0.3, 4, np.float32(0.1), 1e30])
def test_segments_are_multiplied_by_the_scale(dtype, scale):
    rng = np.random.default_rng(0)
    X = d2ke.pack([rng.standard_normal((n, 3)).astype(dtype) for n in (4, 9, 2)])
    before = X.values.copy()
    plain = d2ke.samplers.segments(30, X, length=(1, 6), seed=5)
    scaled = d2ke.samplers.segments(30, X, length=(1, 6), scale=scale, seed=5)
    assert scaled.dtype == dtype
    np.testing.assert_array_equal(scaled.offsets, plain.offsets)
    np.testing.assert_array_equal(scaled.values, plain.values * dtype(scale))
    np.testing.assert_array_equal(X.values, before)


def test_strings_take_the_scale_1():
    draw = d2ke.samplers.segments
    assert draw(9, WORDS, length=2, scale=1, seed=0) == draw(9, WORDS, length=2, seed=0)


def may_be_drawn(drawn, X, order):
    """Say whether a chain can give these letters, by all the places where it may be."""
    places = [(i, p) for i, x in enumerate(X) for p in range(order - 1, len(x))]
    context = {(i, p): tuple(X[i][p - order + 1 : p + 1]) for i, p in places}
    going = {context[i, p] for i, p in places if p + 1 < len(X[i])}
    after = {
        last: [(i, p + 1) for i, p in places if context[i, p] == last and p + 1 < len(X[i])]
        for last in context.values()
    }
    here = set(places)
    for position, letter in enumerate(drawn):
        if position:
            here = {
                then
                for last in {context[place] for place in here}
                for then in (after[last] if last in going else places)
            }
        here = {(i, p) for i, p in here if X[i][p] == letter}
    return bool(here)


@given(
    words=st.lists(st.text("ab", max_size=9), min_size=1, max_size=6),
    order=st.integers(1, 4),
    seed=st.integers(0, 2**70),
)
def test_chains_go_as_the_training_strings_do(words, order, seed):
    if max(map(len, words)) <= order:
        words = [*words, "abba" * 2]
    for drawn in d2ke.samplers.markov_strings(20, words, length=(1, 12), order=order, seed=seed):
        assert may_be_drawn(drawn, words, order)


def windows(strings, n):
    return {tuple(x[p : p + n]) for x in strings for p in range(len(x) - n + 1)}


@pytest.mark.parametrize(("n_letters", "order"), [(2, 40), (1000, 40), (2**16, 5), (2**16 + 1, 9)])
def test_contexts_of_many_letters_are_told_apart(n_letters, order):
    """Of rounds that differ in the oldest, or in the newest, letter of a context only."""
    one = n_letters - 1
    rounds = [
        [one, *[0] * (order - 1), one, one],
        [0, *[0] * (order - 1), one, 0, one],
        [one, *[0] * (order - 2), one, 0, one],
    ]
    strings = d2ke.pack([range(n_letters), *(3 * other for other in rounds)], kind="strings")[1:]
    assert len(strings.alphabet) == n_letters
    X = [x.tolist() for x in strings]
    drawn = [
        x.tolist()
        for x in d2ke.samplers.markov_strings(
            15, strings, length=(1, 4 * order), order=order, seed=0
        )
    ]
    assert windows(drawn, order + 1) <= windows(X, order + 1)
    assert all(may_be_drawn(x, X, order) for x in drawn)
    # With a shorter memory it would not be so.
    shorter = d2ke.samplers.markov_strings(40, strings, length=4 * order, order=order - 1, seed=0)
    assert not windows([x.tolist() for x in shorter], order + 1) <= windows(X, order + 1)


def test_after_an_end_the_chain_goes_on_anywhere():
    X = d2ke.pack(["xabd", "", "ab", "e"])
    drawn = list(d2ke.samplers.markov_strings(3000, X, length=30, seed=0))
    pairs = [pair for one in drawn for pair in pairwise(one)]
    assert {second for first, second in pairs if first == "x"} == {"a"}
    assert {second for first, second in pairs if first == "a"} == {"b"}
    assert {second for first, second in pairs if first == "b"} == {"d"}
    for end in "de":
        found = [second for first, second in pairs if first == end]
        for letter in "abdex":
            share = 2 / 7 if letter in "ab" else 1 / 7
            assert np.isclose(found.count(letter) / len(found), share, atol=2.5 / len(found) ** 0.5)
    # A longer context must fit: strings begin where it ends.
    first = {one[0] for one in d2ke.samplers.markov_strings(300, X, length=(1, 3), order=3, seed=0)}
    assert first == {"b", "d"}


@pytest.mark.parametrize("order", [1, 2])
def test_letters_follow_each_other_as_often_as_in_the_training_strings(order):
    rng = np.random.default_rng(0)
    matrix = rng.dirichlet([0.7] * 3, size=3**2)  # of the next letter, by the last two
    words = []
    for n in (400, 3, 250, 300):
        word = [0, 1]
        while len(word) < n:
            word.append(rng.choice(3, p=matrix[3 * word[-2] + word[-1]]))
        words.append(word)

    def counts(strings):
        table = np.zeros([3] * (order + 1))
        for x in strings:
            for p in range(len(x) - order):
                table[tuple(x[p : p + order + 1])] += 1
        return table

    X = d2ke.pack(words, kind="strings")
    expected = counts(words)
    assert expected.any(axis=-1).all()  # no context ends the chain
    expected /= expected.sum(axis=-1, keepdims=True)
    drawn = d2ke.samplers.markov_strings(1000, X, length=(50, 150), order=order, seed=0)
    found = counts(drawn)
    n = found.sum(axis=-1, keepdims=True)
    assert n.min() > 500
    # Five standard deviations.
    bound = 5 * np.sqrt(expected * (1 - expected) / n)
    assert (np.abs(found / n - expected) <= bound + 1e-12).all()
    assert np.abs(expected - 1 / 3).max() > 0.2


@pytest.mark.parametrize("order", [1, 2, 3])
def test_chains_begin_where_a_context_ends(order):
    words = [range(8), [], range(8, 10), range(10, 16)]
    drawn = d2ke.samplers.markov_strings(
        20_000, d2ke.pack(words, kind="strings"), length=(1, 3), order=order, seed=0
    )
    begins = [letter for word in words for letter in word[order - 1 :]]
    found = [begins.index(letter) for letter in drawn.values[drawn.offsets[:-1]]]
    assert uniform_over(np.array(found), 0, len(begins) - 1)


@pytest.mark.parametrize("X", [VECTORS, FLOATS])
def test_elements_of_resampled_sets(X):
    rows = [tuple(row) for row in X.values]
    omega = d2ke.samplers.resampled(3000, X, size=(1, 9), seed=0)
    found = np.array([rows.index(tuple(row)) for row in omega.values])  # each is one of X
    assert uniform_over(found, 0, len(rows) - 1)
    # Elements of one set are independent.
    pairs = omega.offsets[:-1][omega.lengths > 1]
    same = np.mean(found[pairs] == found[pairs + 1])
    assert same == pytest.approx(1 / len(rows), abs=5 * np.sqrt(1 / len(rows) / len(pairs)))
    objects = np.array([int(row[0]) for row in rows])[found]
    assert any(len(set(objects[a:b])) > 1 for a, b in pairwise(omega.offsets))


@pytest.mark.parametrize("ranges", [3, [], [(0.5,)], [(0.1, "a")], [(-0.1, 0.5)], [(0.1, np.nan)]])
def test_relative_ranges_are_pairs_of_numbers(ranges):
    with pytest.raises(ValueError, match=r"lengths must be ranges \(low, high\)"):
        d2ke.samplers.segments(4, WORDS, lengths=ranges, seed=0)
