# SPDX-License-Identifier: BSD-3-Clause
"""Lists of words, states and codes as strings of tokens."""

import pickle
from enum import Enum

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import d2ke
from d2ke.distances.fingerprint import objects_digest
from d2ke.models.views import mark_ends

WORDS = [["the", "cat", "sat"], [], ["the", "act"]]
PLAIN = st.one_of(
    st.text(max_size=5), st.binary(max_size=4), st.integers(), st.booleans(), st.none()
)
TOKENS = st.one_of(PLAIN, st.tuples(PLAIN, PLAIN), st.tuples())


@given(st.lists(st.lists(TOKENS, max_size=6), min_size=1, max_size=6))
def test_round_trip(items):
    items = [["x"], *items]
    X = d2ke.pack(items, kind="strings")
    assert (X.letters, X.kind, X.dim) == ("token", "strings", 1)
    assert list(X) == items
    assert [list(map(type, one)) for one in X] == [list(map(type, one)) for one in items]
    assert d2ke.pack(list(X), kind="strings") == X
    assert pickle.loads(pickle.dumps(X)) == X
    assert d2ke.concatenate([X[1:], X[:1]]) == d2ke.pack([*items[1:], ["x"]], kind="strings")
    assert (X.alphabet[1:] > X.alphabet[:-1]).all()


def test_text_needs_no_kind():
    X = d2ke.pack(WORDS)
    assert list(X) == WORDS
    assert repr(X) == "<3 strings over 4 letters, lengths 0 to 3>"
    assert d2ke.pack([tuple(one) for one in WORDS]) == X
    assert d2ke.pack([np.array(one, dtype="U3") for one in WORDS]) == X
    cells = np.empty(3, dtype=object)
    cells[:] = WORDS
    assert d2ke.pack(cells) == X
    assert d2ke.pack([[], ["a"]]).letters == "token"
    assert d2ke.pack([[b"ab"], [b"c"]]).letters == "token"


def test_numbers_are_not_tokens():
    assert d2ke.pack([[1, 2], [3]]).kind != "strings"
    assert d2ke.pack([[1, 2], [3]], kind="strings").letters == "int"
    mixed = d2ke.pack([[1, "1", True, np.int64(1), np.str_("1")]], kind="strings")
    assert mixed[0] == [1, "1", True, 1, "1"]
    assert len(mixed.alphabet) == 3


class Color(Enum):
    RED = 1


@pytest.mark.parametrize(
    ("items", "error", "message"),
    [
        ([["a", Color.RED]], TypeError, r"items\[0\]\[1\] is Color, which no file can hold"),
        ([["a"], 5], TypeError, r"items\[1\] is int; a list of tokens is needed"),
        ([["a"], {"b"}], TypeError, r"items\[1\] is set; a list of tokens is needed"),
        ([[1], [2, True]], TypeError, r"items\[1\]\[1\] is True, but the others are integers"),
        ([(2, np.False_)], TypeError, r"items\[0\]\[1\] is .*False.*, but the others are integers"),
    ],
)
def test_refused(items, error, message):
    with pytest.raises(error, match=message):
        d2ke.pack(items, kind="strings")


def test_other_letters_do_not_mix():
    with pytest.raises(TypeError, match="X holds strings of token but Y holds strings of str"):
        d2ke.distance_matrix(WORDS, ["the"], "levenshtein")
    with pytest.raises(TypeError, match="alphabet of int must not hold"):
        d2ke.Objects("strings", np.zeros(1, np.uint8), np.array([0, 1]), np.array([b"'a'"]), "int")
    with pytest.raises(TypeError, match="alphabet of token must not hold int64"):
        d2ke.Objects("strings", np.zeros(1, np.uint8), np.array([0, 1]), np.array([5]), "token")


def test_digest_does_not_depend_on_other_tokens():
    X = d2ke.pack([*WORDS, ["a much longer token than the others"]])
    assert objects_digest(X[:3]) == objects_digest(d2ke.pack(WORDS))
    assert objects_digest(X[:2]) != objects_digest(d2ke.pack(WORDS))


def test_marks():
    assert list(mark_ends([["a"], ["<end>"]])) == [["<<begin>>", "a", "<<end>>"],
                                                   ["<<begin>>", "<end>", "<<end>>"]]  # fmt: skip
    assert list(mark_ends([["a"]], "^", ("$", 1))) == [["^", "a", ("$", 1)]]


def test_digests_differ_by_the_type_of_letters():
    digests = {objects_digest(d2ke.pack(items)) for items in (["ab"], [b"ab"], [[97, 98]])}
    assert len(digests) == 3
