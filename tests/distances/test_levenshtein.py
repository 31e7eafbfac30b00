# SPDX-License-Identifier: BSD-3-Clause
"""Levenshtein distances against the textbook recurrence and against rapidfuzz."""

import numpy as np
import pytest
from reference import edited

import d2ke

pytestmark = pytest.mark.usefixtures("isa")


def random_strings(rng, lengths, n_letters):
    return [rng.integers(0, n_letters, length) for length in lengths]


def matrix(X, Y=None, **options):
    return d2ke.distance_matrix(X, Y, distance="levenshtein", **options)


def test_one_very_long_among_short():
    rng = np.random.default_rng(0)
    long = rng.integers(0, 4, 30_000)
    short = random_strings(rng, rng.integers(0, 30, 300), 4)
    X = d2ke.pack([long, edited(rng, long, 40, 4)], kind="strings")
    Y = d2ke.pack([long, *short], kind="strings")
    distances = matrix(X, Y)
    assert distances[0, 0] == 0
    assert 30 <= distances[1, 0] <= 40
    # A short string that is a subsequence costs the deletion of all other letters.
    np.testing.assert_array_equal(distances[0, 1:], [len(long) - len(s) for s in short])


def test_more_masks_than_are_kept():
    rng = np.random.default_rng(0)
    string = rng.permutation(12_000)
    distances = matrix(d2ke.pack([string, string[::-1], string[1:]], kind="strings"))
    np.testing.assert_array_equal(distances[0], [0, 12_000, 1])
    np.testing.assert_array_equal(distances, distances.T)
