# SPDX-License-Identifier: BSD-3-Clause
"""Distances of names: Jaro's, Winkler's, sorted words and sets of words."""

import numpy as np
import pytest
import reference
from reference import WORD_EDGES

import d2ke

pytestmark = pytest.mark.usefixtures("isa")


def matrix(name, X, Y=None, **params):
    return d2ke.distance_matrix(X, Y, name, **params)


@pytest.mark.parametrize("n_letters", [1, 2, 4, 300])
@pytest.mark.parametrize("weight", [None, 0, 0.1, 0.25])
def test_jaro_of_long_strings(n_letters, weight):
    rapidfuzz = pytest.importorskip("rapidfuzz")
    rng = np.random.default_rng(n_letters)
    X = [rng.integers(0, n_letters, n).tolist() for n in [15, 16, 17, *WORD_EDGES, 700]]
    Y = X[::2] + [list(reference.edited(rng, x, 6, n_letters)) for x in X]
    scorer, params = rapidfuzz.distance.Jaro.similarity, {}
    if weight is not None:
        scorer, params = rapidfuzz.distance.JaroWinkler.similarity, {"prefix_weight": weight}
    wanted = [[1 - scorer(x, y, **params) for y in Y] for x in X]
    x, y = (d2ke.pack(Z, kind="strings") for Z in (X, Y))
    name = "jaro" if weight is None else "jaro_winkler"
    for n_threads in (1, 4):
        np.testing.assert_array_equal(matrix(name, x, y, n_threads=n_threads, **params), wanted)


def test_jaro_of_a_text_beyond_16_bits():
    """Numbers of letters no longer fit into the lanes of short patterns."""
    rng = np.random.default_rng(2)
    text = rng.integers(0, 9, 40_000)
    Y = [*(text[:n] for n in (3, 16, 17, 32, 33, 90)), text[-9:], text[19_990:20_020]]
    X = [text, text[:7]]
    got = matrix("jaro", *(d2ke.pack(Z, kind="strings") for Z in (X, Y)))
    x, y = ([one.tolist() for one in Z] for Z in (X, Y))
    np.testing.assert_array_equal(got, reference.matrix(reference.jaro, x, y))


@pytest.mark.parametrize("name", ["token_sort", "token_set"])
def test_what_divides_words(name):
    """All of Unicode's whitespace, no-break spaces included; in bytes that of ASCII."""
    codes = [*range(0x3100), *range(0x3100, 0xD800, 41), *range(0xE000, 0x11000, 41), 0xFEFF]
    D = matrix(name, [f"beta{chr(code)}alpha" for code in codes], ["alpha beta"]).ravel()
    blanks = [code for code, distance in zip(codes, D, strict=True) if distance == 0]
    assert blanks == [code for code in codes if chr(code).isspace()]
    assert {0xA0, 0x202F, 0x3000} < set(blanks)
    assert not {0x200B, 0x2060, 0xFEFF} & set(blanks)
    D = matrix(name, [b"beta%calpha" % code for code in range(256)], [b"alpha beta"]).ravel()
    assert bytes(np.flatnonzero(D == 0).tolist()) == b"\t\n\v\f\r "


@pytest.mark.parametrize("letters", [str, bytes])
def test_words_of_long_strings(letters):
    """Rests of several machine words, of more words than there are marks."""
    rng = np.random.default_rng(0)
    known = ["".join(rng.choice(list("abcdefgh"), n)) for n in rng.integers(1, 9, 300)]
    X, Y = ([" ".join(rng.choice(known, n)) for n in rng.integers(0, 60, k)] for k in (20, 60))
    for name in ("token_sort", "token_set"):
        wanted = reference.matrix(reference.DISTANCES[name], X[:3], Y[:5])
        x, y = ([one.encode() if letters is bytes else one for one in Z] for Z in (X, Y))
        np.testing.assert_allclose(matrix(name, x, y)[:3, :5], wanted, rtol=1e-15)
        np.testing.assert_array_equal(
            matrix(name, x, y, n_threads=1), matrix(name, x, y, n_threads=4)
        )
