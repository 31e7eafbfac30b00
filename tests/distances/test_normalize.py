# SPDX-License-Identifier: BSD-3-Clause
"""Distances of strings divided by their lengths."""

from itertools import product

import pytest

import d2ke
from d2ke.distances.registry import BY_NAME

PEERS = {
    "levenshtein": "Levenshtein", "osa": "OSA", "damerau_levenshtein": "DamerauLevenshtein",
    "hamming": "Hamming", "indel": "Indel",
}  # fmt: skip


def matrix(name, X, Y=None, **options):
    return d2ke.distance_matrix(X, Y, name, normalize=True, **options)


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
