# SPDX-License-Identifier: BSD-3-Clause
"""Blocks of users: any class that follows the protocol."""

import io
from dataclasses import dataclass, replace

import numpy as np
import pytest

import d2ke
from d2ke.models import FeatureBlock, recipe

RNG = np.random.default_rng(0)
WORDS = ["".join(RNG.choice(list("abcd"), size)) for size in RNG.integers(3, 20, 80)]
SECONDS = [0.5 * len(word) + RNG.normal(0, 0.1) for word in WORDS]


@dataclass(frozen=True, eq=False)
class Length(FeatureBlock):
    """The length over that of the longest training string."""

    name: str = "length"
    family: str = "length"
    longest: float = 1.0
    R = 1

    def fit(self, sample, seed):
        return replace(self, longest=float(sample.objects.lengths.max()))

    def features(self, X, n_threads=None, rows=None):
        return (X.lengths[:, None] / self.longest).astype(np.float32)


def test_a_block_beside_the_recipe():
    model = d2ke.d2ke_train(SECONDS, WORDS, blocks=[*recipe(WORDS, R=16), Length()])
    block = model.blocks[-1]
    assert block.longest == max(map(len, WORDS))
    assert block.kernel_weight > 0.5
    assert model.accuracy > 0.95
    assert model.feature_names()[-1] == "length.0"
    Z = d2ke.d2ke_transform(["ab", "abcd"], model)
    assert Z.shape == (2, model.R)
    assert "length" in d2ke.d2ke_explain("abcd", model).blocks
    with pytest.raises(TypeError, match="block 'length' is a class of your own"):
        d2ke.save_model(io.BytesIO(), model)


def test_what_is_not_a_block_is_refused():
    for blocks, message in (
        (["levenshtein"], r"blocks\[0\] must be a Block, or .* got str"),
        ([], "blocks is empty"),
        (Length(), "blocks must be a list of Block"),
    ):
        with pytest.raises((TypeError, ValueError), match=message):
            d2ke.d2ke_train(SECONDS, WORDS, blocks=blocks)


def test_the_recipe_is_that_of_training():
    model = d2ke.d2ke_train(SECONDS, WORDS, R=40)
    again = d2ke.d2ke_train(SECONDS, WORDS, blocks=recipe(WORDS, SECONDS, R=40))
    np.testing.assert_array_equal(model.linear.weights, again.linear.weights)


@dataclass(frozen=True, eq=False)
class SizeOfSample(Length):
    """Keeps how many objects it was fitted to, in the list that it is given."""

    sizes: list = None
    sample_size: int = 0

    def fit(self, sample, seed):
        self.sizes.append(len(sample.objects))
        return self


def test_each_block_has_a_sample_of_its_size(monkeypatch):
    monkeypatch.setattr("d2ke.models.blocks.SAMPLE", 20)
    sizes = []
    blocks = [
        replace(SizeOfSample(sizes=sizes, sample_size=size), name=f"of {size}")
        for size in (30, 0, 50)
    ]
    words = ["a" * (i % 7 + 1) for i in range(60)]
    d2ke.d2ke_train([len(word) / 2 for word in words], words, blocks=blocks)
    assert sizes[:3] == [30, 20, 50]
