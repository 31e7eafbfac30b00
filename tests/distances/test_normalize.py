# SPDX-License-Identifier: BSD-3-Clause
"""Distances of strings divided by their lengths."""

from itertools import product

import numpy as np
import pytest
import reference
from hypothesis import given
from hypothesis import strategies as st

import d2ke
from d2ke.distances.registry import BY_NAME

PEERS = {
    "levenshtein": "Levenshtein", "osa": "OSA", "damerau_levenshtein": "DamerauLevenshtein",
    "hamming": "Hamming", "indel": "Indel",
}  # fmt: skip
ANY_LENGTHS = sorted(set(PEERS) - {"hamming"})


def matrix(name, X, Y=None, **options):
    return d2ke.distance_matrix(X, Y, name, normalize=True, **options)


def words(n, seed, longest=200, letters=4):
    rng = np.random.default_rng(seed)
    return [
        "".join(rng.choice(list("acgt\u6f22"[:letters]), rng.integers(0, longest)))
        for _ in range(n)
    ]


def lists_of(letters, size):
    return st.lists(st.text(letters, max_size=size), min_size=1, max_size=7)


@pytest.mark.parametrize("name", ANY_LENGTHS)
@given(X=lists_of("ab\u6f22", 9), Y=lists_of("abc", 12))
def test_definition(isa, name, X, Y):
    function = reference.DISTANCES[name]
    wanted = reference.matrix(function, X, Y, normalize=True)
    np.testing.assert_array_equal(matrix(name, X, Y), wanted)
    np.testing.assert_array_equal(matrix(name, X), matrix(name, X, X))


@pytest.mark.parametrize("name", PEERS)
def test_against_rapidfuzz(isa, name):
    rapidfuzz = pytest.importorskip("rapidfuzz")
    X, Y = words(40, 1), ["", *words(60, 2), *words(60, 3, 9)]
    if name == "hamming":
        X, Y = ([x.ljust(200, "a") for x in Z] for Z in (X, Y))
    scorer = getattr(rapidfuzz.distance, PEERS[name]).normalized_distance
    wanted = rapidfuzz.process.cdist(X, Y, scorer=scorer, dtype=np.float64)
    for n_threads in (1, 3):
        np.testing.assert_array_equal(matrix(name, X, Y, n_threads=n_threads), wanted)
    assert 0 <= wanted.min() <= wanted.max() <= 1


@pytest.mark.parametrize("name", PEERS)
def test_empty_strings(name):
    assert matrix(name, ["", ""]).tolist() == [[0, 0], [0, 0]]
    if name != "hamming":
        assert matrix(name, [""], ["ab"]) == 1


@pytest.mark.parametrize("name", PEERS)
def test_as_it_is_without(name):
    X = [x.ljust(80, "a") for x in words(30, 5, 80)]
    D = d2ke.distance_matrix(X, distance=name)
    reference.same(d2ke.distance_matrix(X, distance=name, normalize=False), D)
    np.testing.assert_array_equal(matrix(name, X), D / (160 if name == "indel" else 80))
    Z = d2ke.d2ke_embed(X, X[:5], distance=name, normalize=True, gamma=2.0)
    reference.same(Z, d2ke.d2ke_features(matrix(name, X, X[:5]), 2.0))


@pytest.mark.parametrize("name", PEERS)
def test_no_metrics(name):
    """But Hamming's, which is divided by one number."""
    row = BY_NAME[name]
    assert not row.is_metric({"normalize": True})
    X = ["".join(word) for n in (1, 2, 3) for word in product("abc", repeat=n)]
    if name != "hamming":
        D = matrix(name, X)
        assert (D[:, None, :] > D[:, :, None] + D[None, :, :] + 1e-9).any()
