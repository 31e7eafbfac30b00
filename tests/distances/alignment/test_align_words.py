# SPDX-License-Identifier: BSD-3-Clause
"""Shared gapped words: all of them are listed where they are, and add up to the distance."""

from collections import Counter

import numpy as np
import pytest
import reference
from hypothesis import given, settings
from hypothesis import strategies as st

import d2ke
from d2ke.distances.masks import GAPPED

MASKS = [mask for of_k in GAPPED[::-1] for mask in of_k]


def read(string, place, mask, is_reversed):
    """Read the word of a window from its first letter, on the other strand backwards."""
    if is_reversed:
        string, place = reference.reverse_complement(string), len(string) - 1 - place
    return tuple(string[place + step] for step in mask)


def shown(letters, mask, gap=""):
    word = dict(zip(mask, map(str, letters), strict=True))
    return gap.join(word.get(step, ".") for step in range(mask[-1] + 1))


@settings(max_examples=reference.examples(20), deadline=None)
@given(x=st.text("ACGT", max_size=25), y=st.text("ACGT", max_size=25), both=st.booleans())
def test_all_shared_words(x, y, both):
    strands = "both" if both else "one"
    found = d2ke.align(x, y, "gapped", strands=strands)
    words, wanted = found.words, []
    for mask in MASKS:
        sides = [[side, reference.reverse_complement(side)][: 1 + both] for side in (x, y)]
        counts = [sum((reference.words_on(s, mask) for s in side), Counter()) for side in sides]
        shared = counts[0].keys() & counts[1]
        wanted += [(*word, counts[0][word], counts[1][word]) for word in shared]
    rows = zip(words.mask, found.pairs, words.is_reversed, words.word, words.counts, strict=True)
    listed = []
    for mask, places, is_reversed, word, counts in rows:
        first, second = (
            read(side, place, mask, turned)
            for side, place, turned in zip((x, y), places, is_reversed, strict=True)
        )
        assert first == second
        assert word == shown(first, mask)
        listed.append((mask, first, *counts.tolist()))
    assert sorted(listed) == sorted(wanted)
    assert len(words) == len(found.costs)
    assert [len(mask) for mask in words.mask] == sorted(map(len, words.mask), reverse=True)
    assert found.value == d2ke.distance_matrix([x], [y], "gapped", strands=strands)[0, 0]
    parts = sum(min(len(side), len(GAPPED)) for side in (x, y)) / len(GAPPED)
    assert found.value**2 == pytest.approx(parts + found.costs.sum(), abs=1e-12)


def test_printed():
    found = d2ke.align(["the", "cat", "sat"], ["the", "dog", "sat"], "gapped")
    assert str(found).splitlines()[1] == "x[0] y[0]  the . sat  cost -0.0833333"
    assert d2ke.align(b"a\xe9", b"a\xe9b", "gapped").words.word == ["a\xe9", "a", "\xe9"]
    assert len(d2ke.align("", "AC", "gapped").words) == 0
    assert not found.words.is_reversed.any()
    turned = d2ke.align("GATTACA", "TGTAATC", "gapped", strands="both")
    assert (turned.value, turned.words.word[0]) == (0, "GATTACA")
    np.testing.assert_array_equal(turned.words.is_reversed[0], [False, True])
    np.testing.assert_array_equal(turned.pairs[0], [0, 6])
