# SPDX-License-Identifier: BSD-3-Clause
"""Shares of single pieces in decisions of models with scores of pieces."""

import numpy as np

import d2ke
from d2ke.models.kmers import ScoredKmers
from d2ke.samplers import training_objects


def test_shares_of_pieces_sum_to_that_of_their_block():
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=120)
    X = ["".join(rng.choice(list("abcd"), 8)) + "ab" * label for label in y]
    whole = d2ke.Block("whole", "levenshtein", training_objects, 20, family="whole")
    model = d2ke.d2ke_train(y, X, blocks=[whole, ScoredKmers(1)], groups="none", n_threads=1)
    whys = [d2ke.d2ke_explain(x, model, limit=10_000) for x in ("abcdabcdabab", "dcbaabababab")]
    assert whys[0].label == whys[1].label
    sums = [sum(one["share"] for one in why.omegas if one["block"] == "pieces") for why in whys]
    blocks = [why.blocks["pieces"] for why in whys]
    assert sums[0] != sums[1]
    np.testing.assert_allclose(sums[0] - sums[1], blocks[0] - blocks[1], rtol=1e-4)
