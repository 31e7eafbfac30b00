# SPDX-License-Identifier: BSD-3-Clause
"""`search` among several distances: what each gives by itself, and the best of them."""

from functools import partial

import numpy as np
import pytest

import d2ke
from d2ke.model_selection.result import load_search

GRID = {"k": [1, 3]}


def shifted(n, seed):
    """Series of two classes: a bump that may be anywhere, up or down."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    X = 0.1 * rng.standard_normal((n, 30))
    for row, label in zip(X, y, strict=True):
        at = rng.integers(0, 26)
        row[at : at + 4] += 2 * label - 1
    return d2ke.pack(X), y


def test_each_is_searched_as_if_alone():
    X, y = shifted(60, 0)
    distances = ["msm", ("dtw", {"window": 0}), "dtw", lambda x, y: 0.0]
    result = d2ke.search(y, X, "knn", distance=distances, grid=GRID, n_folds=5)
    alone = [
        d2ke.search(y, X, "knn", distance=one, grid=GRID, n_folds=5, **own)
        for one, own in [("msm", {}), ("dtw", {"window": 0}), ("dtw", {}), (distances[3], {})]
    ]
    assert [accuracy for _, accuracy in result.tried] == [
        accuracy for one in alone for _, accuracy in one.tried
    ]
    names = list(result.info["distances"])
    assert names[:3] == ["msm", "dtw (window 0)", "dtw"]
    assert result.accuracy == max(one.accuracy for one in alone)
    best = names.index(result.parameters["distance"])
    assert result.parameters == {"distance": names[best], **alone[best].parameters}
    assert result.info["distance_parameters"] == alone[best].info["distance_parameters"]
    assert best in (0, 2)  # those that shifts do not matter to


def test_saved(tmp_path):
    words = ["aabab", "abaab", "aaba", "babaa", "bcbcc", "ccbcb", "cbbcc", "bccb"]
    how = {
        "sampler": partial(d2ke.samplers.random_strings, alphabet="abc"),
        "grid": {"length": [(1, 3), (4, 6)], "R": [32], "C": [1.0]},
        "distance": ["levenshtein", ("levenshtein", {"mode": "infix"}), "indel"],
        "n_folds": 4,
    }
    y = ["ab"] * 4 + ["bc"] * 4
    result = d2ke.search(y, words, **how)
    result.save(tmp_path / "result.json")
    assert load_search(tmp_path / "result.json") == result
    pytest.importorskip("matplotlib")
    assert "distance" in [axes.get_xlabel() for axes in result.plot().axes]


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"distance": []}, ValueError, "got an empty list"),
        ({"distance": ["dtw", "msm"], "window": 3}, TypeError, r"no common parameters \(window\)"),
        ({"distance": ["dtw"], "within": np.zeros((4, 4))}, ValueError, "within holds one"),
        ({"distance": ["dtw", "dtw"]}, ValueError, r"distance\[1\] is dtw once more"),
        ({"distance": ["dtw", ("msm", 3)]}, TypeError, r"distance\[1\] must be a distance, or one"),
        ({"distance": [("dtw", {"width": 3})]}, TypeError, "width"),
        ({"distance": ["dwt"]}, ValueError, "dwt"),
    ],
)
def test_bad_arguments(options, error, message):
    X, y = shifted(20, 0)
    with pytest.raises(error, match=message):
        d2ke.search(y, X, "knn", **options)
