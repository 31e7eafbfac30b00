# SPDX-License-Identifier: BSD-3-Clause
"""The linear classifier with the loss that a search chose."""

import numpy as np
import pytest

import d2ke


@pytest.fixture
def problem():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, size=60)
    Z = rng.standard_normal((60, 5)) + y[:, None]
    return np.array(["a", "b", "c"])[y], Z


def test_each_loss_has_its_solver(problem):
    y, Z = problem
    squared = d2ke.train_classifier(y, Z, loss="squared", C=0.1)
    assert np.array_equal(squared.weights, d2ke.train_least_squares(y, Z, 0.1).weights)
    hinge = d2ke.train_classifier(y, Z, loss="squared_hinge", C=0.1)
    expected = d2ke.train(y, Z, "-s 2 -e 0.01 -B 1 -c 0.1 -q", solver="block")
    assert np.array_equal(hinge.weights, expected.weights)
    assert not np.allclose(squared.weights, hinge.weights)


def test_a_search_and_its_model():
    """What `search` returns is what the scaling and the classifier take."""
    words = ["aabab", "abaab", "aaba", "babaa", "bcbcc", "ccbcb", "cbbcc", "bccb"]
    y = [0] * 4 + [1] * 4
    omega = d2ke.samplers.random_strings(32, "abc", length=(2, 5), seed=0)

    def sampler(R, *, seed):
        return omega

    grid = {"R": [32], "gamma": [0.5], "scaling": ["standard", "none"]}
    found = d2ke.search(y, words, distance="levenshtein", sampler=sampler, grid=grid, n_folds=4)
    chosen = found.parameters
    Z = d2ke.d2ke_embed(words, omega, distance="levenshtein", gamma=chosen["gamma"])
    F = d2ke.embedding.Scaling.fit(Z, chosen["scaling"]).apply(Z)
    model = d2ke.train_classifier(y, F, loss=chosen["loss"], C=chosen["C"])
    assert d2ke.predict(y, F, model)[1][0] == 100.0
