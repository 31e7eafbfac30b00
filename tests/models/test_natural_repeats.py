# SPDX-License-Identifier: BSD-3-Clause
"""Names repeat by nature: equal objects are left out one by one, and the report has both numbers.

Whole data sets are in `benchmarks.rule_cases.drawn_names`.
"""

import numpy as np
import pytest
from reference import reloaded
from test_copies_in_training import copies

import d2ke
from d2ke.models.loo import near_copies

LETTERS = list("abcdefgh")

pytestmark = pytest.mark.filterwarnings("ignore:little or nothing")


def drawn(rng, n, lexicon=120):
    """Names of two nations, drawn by their frequency: most rows repeat another."""
    names = ["".join(rng.choice(LETTERS, 7)) for _ in range(lexicon)]
    nation = np.array(["o" if "a" in name[:4] else "k" for name in names])
    frequency = 1 / np.arange(1, lexicon + 1)
    rows = rng.choice(lexicon, n, p=frequency / frequency.sum())
    return nation[rows], [names[i] for i in rows]


def test_names_that_repeat_are_left_out_one_by_one():
    y, X = drawn(np.random.default_rng(0), 200)
    assert len(set(X)) < 100
    model = d2ke.d2ke_train(y, X, R=128)
    alone = d2ke.d2ke_train(y, X, R=128, groups="none")
    assert (model.C, model.accuracy) == (alone.C, alone.accuracy)
    np.testing.assert_array_equal(model.linear.weights, alone.linear.weights)
    assert not model.near_copies.decide
    for kept in (model, reloaded(model)):
        assert "equal to or near-copies of another" in str(kept)
        assert f"one by one: accuracy {model.accuracy:.2f} %; together: accuracy" in str(kept)
    assert model.near_copies.accuracy < model.accuracy
    together = d2ke.d2ke_train(y, X, R=128, groups=X)
    assert model.near_copies.accuracy == pytest.approx(together.accuracy, abs=10)


def test_more_objects_than_the_sample_have_both_numbers(monkeypatch):
    monkeypatch.setattr("d2ke.models.blocks.SAMPLE", 160)
    monkeypatch.setattr("d2ke.models.recipes.SAMPLE", 160)
    y, X = drawn(np.random.default_rng(0), 240)
    model = d2ke.d2ke_train(y, X, R=128)
    assert model.accuracy == d2ke.d2ke_train(y, X, R=128, groups="none").accuracy
    assert "of a sample of 160 objects are equal to" in str(model)
    assert "; together: accuracy" in str(model)


def test_equal_objects_beside_made_copies_are_in_their_groups():
    y, X, groups, *_ = copies(np.random.default_rng(0), 40)
    rows = np.r_[np.arange(len(X)), np.arange(len(X))]
    model = d2ke.d2ke_train(y[rows], [X[i] for i in rows], R=128)
    assert model.near_copies.decide
    same = groups[rows][:, None] == groups[rows]
    assert ((model.groups[:, None] == model.groups) == same).mean() > 0.99


@pytest.mark.parametrize(("pairs", "expected"), [(3, None), (20, False), (60, True)])
def test_groups_decide_where_most_objects_have_copies(pairs, expected):
    x = np.arange(100.0) * 10
    x = np.r_[x, x[:pairs] + 0.01]
    found = near_copies(np.outer(x, x), lambda n: 5)
    assert (None if found is None else found.decide) is expected


@pytest.mark.parametrize("repeats", [5, 30, 100])
def test_equal_objects_never_decide(repeats):
    x = np.r_[np.arange(100.0), np.arange(repeats)]
    found = near_copies(np.outer(x, x), lambda n: 5)
    assert found is None if repeats < 10 else not found.decide


def test_equal_objects_only():
    assert near_copies(np.ones((5, 5)), lambda n: 2) is None
    model = d2ke.d2ke_train(["a", "b"] * 10, ["abc"] * 20)
    assert model.groups is None
