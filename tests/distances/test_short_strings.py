# SPDX-License-Identifier: BSD-3-Clause
"""Bit-parallel distances of short strings, which have a lane of a vector each."""

import numpy as np
import pytest
import reference

import d2ke
from d2ke._ext import strings

pytestmark = pytest.mark.usefixtures("isa")

DISTANCES = {name: getattr(reference, name) for name in ("levenshtein", "osa", "indel")}


@pytest.mark.parametrize("longest", [8, 14, 16, 20, 32, 40])
@pytest.mark.parametrize("name", DISTANCES)
def test_many_blocks_and_threads(name, longest):
    rng = np.random.default_rng(longest)
    words = [rng.integers(0, 4, rng.integers(0, longest + 1)) for _ in range(400)]
    X, Y = d2ke.pack(words[:60], kind="strings"), d2ke.pack(words, kind="strings")
    wanted = d2ke.distance_matrix(Y, X, name).T
    # One pattern against many texts, another layout, and the definition.
    some = reference.matrix(DISTANCES[name], words[:4], words[:20])
    np.testing.assert_array_equal(wanted[:4, :20], some)
    for n_threads in (1, 3):
        for dtype in (np.float32, np.float64):
            D = d2ke.distance_matrix(X, Y, name, n_threads=n_threads, dtype=dtype)
            np.testing.assert_array_equal(D, wanted)
        S = d2ke.distance_matrix(Y, None, name, n_threads=n_threads)
        np.testing.assert_array_equal(S[:60], wanted)
        np.testing.assert_array_equal(S, S.T)


def test_long_strings_among_words():
    rng = np.random.default_rng(0)
    words = [rng.integers(0, 20, n) for n in rng.integers(4, 15, 400)]
    words[7:400:40] = [rng.integers(0, 20, n) for n in rng.integers(17, 90, 10)]
    X = d2ke.pack(words, kind="strings")
    D = d2ke.distance_matrix(X, distance="levenshtein")
    some = [0, 7, 366, 399]
    wanted = reference.matrix(reference.levenshtein, [words[i] for i in some], words)
    np.testing.assert_array_equal(D[some], wanted)
    Z = d2ke.d2ke_embed(X, X, distance="levenshtein", gamma=0.25)
    np.testing.assert_allclose(Z[some], reference.features(wanted, 0.25), rtol=1e-12)


@pytest.mark.parametrize("name", DISTANCES)
def test_texts_longer_than_a_tile(name):
    # LEV_LONG_TILE of levenshtein.h; a word against few long patterns has another layout.
    rng = np.random.default_rng(0)
    words = [rng.integers(0, 4, rng.integers(0, 15)) for _ in range(300)]
    texts = [rng.integers(0, 4, length) for length in (0, 65536, 65537, 70000)]
    X, Y = d2ke.pack(texts, kind="strings"), d2ke.pack(words, kind="strings")
    np.testing.assert_array_equal(
        d2ke.distance_matrix(X, Y, name), d2ke.distance_matrix(Y, X, name).T
    )


def test_width_of_lanes():
    assert strings.own_lanes(np.full(99, 6), 6.0, 64) == 8
    assert strings.own_lanes(np.arange(4, 15), 9.0, 64) == 16
    assert strings.own_lanes(np.append(np.full(99, 9), 200), 9.0, 16) == 16
    # The longer the texts, the more does an unused bit cost.
    assert strings.own_lanes(np.full(99, 9), 2000.0, 64) == -1
    assert strings.own_lanes(np.array([], dtype=np.int64), 9.0, 64) == -1
    assert strings.own_lanes(np.full(99, 100), 100.0, 64) == -1
