# SPDX-License-Identifier: BSD-3-Clause
"""Which random objects separate classes best of a model."""

import numpy as np
import pytest

import d2ke
from d2ke.explain.discriminative import steps_of
from d2ke.models.views import apply_views


def waves(n=40):
    """Return noise, and a wave somewhere in every second series."""
    rng = np.random.default_rng(0)
    X = 0.1 * rng.normal(size=(n, 60))
    for x, place in zip(X[::2], rng.integers(48, size=n), strict=False):
        x[place : place + 12] += np.sin(np.arange(12) / 2)
    return d2ke.pack(list(X)), ["wave", "noise"] * (n // 2)


@pytest.fixture(scope="module")
def model():
    X, y = waves()
    recipe = d2ke.models.recipe(X, R=1300)
    blocks = [block for block in recipe if block.family != "whole course"]
    return d2ke.d2ke_train(y, X, blocks=blocks)


@pytest.mark.parametrize("R", [16, 400])  # fewer features than objects, and more
def test_deviations_are_those_of_the_training_features(R):
    rng = np.random.default_rng(0)
    X = ["".join(rng.choice(list("abc"), 8)) for _ in range(90)]
    model = d2ke.d2ke_train([x.count("a") > 2 for x in X], X, R=R)
    Z = model.features(model.check_objects(X), 1, np.arange(model.n_train)).astype(float)
    varied = Z.std(axis=0) > 1e-6
    np.testing.assert_allclose(model.deviation[varied], Z.std(axis=0)[varied], rtol=1e-3)


def test_the_largest_contributions_come_first(model):
    found = d2ke.explain.discriminative_objects(model, limit=5)
    assert [one.label for one in found] == ["noise"] * 5 + ["wave"] * 5
    largest = np.sort(model.linear.weights[0] * model.deviation)
    np.testing.assert_allclose([one.adds for one in found[5:]], largest[:-6:-1])
    np.testing.assert_allclose([one.adds for one in found[:5]], -largest[:5])
    first = found[5]
    assert str(first).startswith(f"wave: {first.adds:+.4f} ")
    block = next(block for block in model.blocks if block.name == first.block)
    assert str(block.omega[first.index]) == str(first.object)


def test_windows_are_pieces_of_their_series(model):
    X, _ = waves()
    blocks = {block.name: block for block in model.blocks}
    seen = 0
    for one in d2ke.explain.discriminative_objects(model, limit=model.R):
        if not hasattr(one.object, "dilation"):
            continue
        i, block = one.training_object, blocks[one.block]
        x = X[np.array([i])]
        piece = np.asarray(apply_views(block.views, x)[0])[list(steps_of(block, one.object, x))]
        if one.object.normalize:
            piece = (piece - piece.mean()) / piece.std()
        np.testing.assert_allclose(piece, one.object.values, atol=1e-3)
        seen += 1
    assert seen > 20


def test_regressions_have_either_sign():
    X = ["a" * i + "b" * (12 - i) for i in range(12)]
    found = d2ke.explain.discriminative_objects(
        d2ke.d2ke_train(np.arange(12) + 0.5, X, R=64), limit=12
    )
    assert {one.label for one in found} == {None}
    sizes = [abs(one.adds) for one in found]
    assert sizes == sorted(sizes, reverse=True)
    assert {np.sign(one.adds) for one in found} == {-1, 1}
