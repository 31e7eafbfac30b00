# SPDX-License-Identifier: BSD-3-Clause
"""Distances that tell no objects apart bring a warning, others none."""

import warnings

import numpy as np
import pytest

import d2ke

TRACKS = [np.random.default_rng(i).random((9, 2)) / 100 + [52, 13] for i in range(8)]
EQUAL = {
    "epsilon of lcss": (TRACKS[:3], None, "lcss", {}, "are 0: 'lcss' .* Is epsilon in the units"),
    "epsilon of edr": (TRACKS, None, "edr", {"epsilon": 1e-9}, "are 9: 'edr' .* Is epsilon in"),
    "sigma": (TRACKS, None, "kernel", {"sigma": 1e-9}, "'kernel' .* Is sigma in the units"),
    "other objects": (TRACKS[:2], TRACKS[2:5], "lcss", {}, "are 0: 'lcss' tells no objects apart"),
    "no letter in common": (list("abcde"), None, "jaccard", {}, "are 1: 'jaccard' .* apart$"),
}


@pytest.mark.parametrize("case", EQUAL)
def test_equal_distances(case):
    X, Y, distance, options, message = EQUAL[case]
    with pytest.warns(UserWarning, match=message) as caught:
        d2ke.distance_matrix(X, Y, distance, **options)
    assert [one.filename for one in caught] == [__file__]


@pytest.mark.parametrize("k", [1, 2])
def test_neighbors_by_equal_distances(k):
    with pytest.warns(UserWarning, match=r"first ones, all at distance 0: 'lcss' .* Is epsilon"):
        d2ke.nearest(TRACKS, k=k, distance="lcss")
    with pytest.warns(UserWarning, match="first ones"):
        d2ke.nearest(TRACKS[:3], TRACKS, k=k, distance="lcss")


def test_training_names_the_parameter():
    with pytest.warns(UserWarning, match="nothing was learned.* Is epsilon of 'lcss' in the units"):
        d2ke.d2ke_train([0, 1] * 4, [np.full(9, 1e-6 * i) for i in range(8)], distance="lcss", R=9)


def test_no_warning_without_need():
    words = ["kitten", "mitten", "sitting", "kitchen", "mittens"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for distance in ("levenshtein", "jaccard", "hamming"):
            d2ke.distance_matrix(list("abc"), distance=distance)  # few pairs
            d2ke.distance_matrix(["ab"] * 9, distance=distance)  # identical objects
            d2ke.nearest(["ab"] * 9, k=1, distance=distance)
        d2ke.distance_matrix(TRACKS[:2], distance="lcss")
        d2ke.distance_matrix(TRACKS[:1], TRACKS[1:3], "lcss")
        d2ke.distance_matrix(TRACKS, distance="lcss", epsilon=0.001)
        d2ke.distance_matrix(words, words[:1], "levenshtein")
        d2ke.distance_matrix(["xaby", "zabx", "yyab", "abab"], ["ab"], "levenshtein", mode="infix")
        d2ke.distance_matrix(words, distance=lambda x, y: 0.0)
        d2ke.distance_matrix([*words[:1], "kitten"], words, "levenshtein")
        d2ke.nearest(words, k=1, distance="levenshtein")
