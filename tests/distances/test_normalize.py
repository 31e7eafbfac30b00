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
def test_empty_strings(name):
    assert matrix(name, ["", ""]).tolist() == [[0, 0], [0, 0]]
    if name != "hamming":
        assert matrix(name, [""], ["ab"]) == 1


@pytest.mark.parametrize("name", PEERS)
def test_no_metrics(name):
    """But Hamming's, which is divided by one number."""
    row = BY_NAME[name]
    assert not row.is_metric({"normalize": True})
    X = ["".join(word) for n in (1, 2, 3) for word in product("abc", repeat=n)]
    if name != "hamming":
        D = matrix(name, X)
        assert (D[:, None, :] > D[:, :, None] + D[None, :, :] + 1e-9).any()
