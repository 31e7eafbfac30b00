# SPDX-License-Identifier: BSD-3-Clause
"""Shares of families of blocks in the kernel."""

from dataclasses import dataclass
from functools import partial

import numpy as np
import pytest

import d2ke
from d2ke.models.blocks import FeatureBlock, block_features
from d2ke.models.labels import Labels
from d2ke.models.shares import SHARES, choose_shares
from d2ke.models.tasks import Classes
from d2ke.samplers import segments, training_objects


def features(y, noise, rng, R=20):
    """Return features that tell classes, up to noise."""
    signal = rng.normal(size=(y.max() + 1, R))[y]
    return (signal + noise * rng.normal(size=signal.shape)).astype(np.float32)


@dataclass(frozen=True, eq=False)
class Features(FeatureBlock):
    """Columns that stand for features of one kind of distances."""

    size: int
    kinds = 1

    @property
    def R(self):
        return self.size


def of_sizes(first, second, powers=(1.0, 1.0)):
    names, sizes = ("first", "second"), (first, second)
    return [
        Features(size, name=name, family=name, sd_power=power)
        for name, size, power in zip(names, sizes, powers, strict=True)
    ]


def left_out_error(K, T, C):
    """Return the squared error of the models that were trained without each object."""
    total = 0.0
    for i in range(len(K)):
        rest = np.delete(np.arange(len(K)), i)
        mean = K[rest][:, rest].mean(axis=0)
        centred = K[np.ix_(rest, rest)] - mean - mean[:, None] + mean.mean()
        new = K[i, rest] - K[i, rest].mean() - mean + mean.mean()
        target = T[rest] - T[rest].mean(axis=0)
        dual = np.linalg.solve(centred + np.eye(len(rest)) / (2 * C), target)
        total += ((new @ dual + T[rest].mean(axis=0) - T[i]) ** 2).sum()
    return total / len(K)


def gram(Z, power=1.0):
    Z = (Z - Z.mean(axis=0)) / Z.std(axis=0) ** power
    return Z @ Z.T / Z.var(axis=0).sum()


@pytest.mark.parametrize("R", [20, 8])  # more features than objects, and fewer
@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_choice_is_that_of_the_definition(n_classes, R):
    rng = np.random.default_rng(n_classes)
    y = np.arange(24) % n_classes
    Z = np.hstack([features(y, 2.0, rng, R), features(y, 1.0, rng, R)])
    target = Labels(Classes(np.arange(n_classes)), y)
    found = choose_shares(Z, of_sizes(R, R, (1.0, 0.5)), target, 0)
    T = np.eye(n_classes)[y] if n_classes > 2 else (y == 1)[:, None].astype(float)
    grams = [gram(Z[:, :R].astype(float)), gram(Z[:, R:].astype(float), 0.5)]
    errors = {}
    for share in SHARES:
        K = (1 - share) * grams[0] + share * grams[1]
        error = min(left_out_error(K, T, 10.0 ** (e / 2)) for e in range(-2, 13))
        errors[share] = np.log(error) + 10 / 24 * share
    best = min(errors, key=errors.get)
    assert found == {"first": pytest.approx(1 - best), "second": best}


def test_a_family_that_says_nothing_has_no_share():
    rng = np.random.default_rng(0)
    y = np.arange(300) % 3
    told, noise = features(y, 0.5, rng), features(y, 1e3, rng)
    labels, blocks = Labels(Classes(np.arange(3)), y), of_sizes(20, 20)
    assert choose_shares(np.hstack([told, noise]), blocks, labels, 0)["second"] == 0.0
    assert choose_shares(np.hstack([noise, told]), blocks, labels, 0)["second"] == SHARES[-1]


@pytest.mark.parametrize("weights", [None, np.tile([0.5, 2.0, 0.5], 20)])
def test_columns_that_do_not_vary_change_no_choice(weights):
    rng = np.random.default_rng(3)
    y = np.arange(60) % 3
    Z = np.hstack([features(y, 4.0, rng, 9), features(y, 3.0, rng, 9)])
    labels = Labels(Classes(np.arange(3)), y, weights)
    found = choose_shares(Z, of_sizes(9, 9), labels, 0)
    for size in (60, 9):  # so that objects are fewer than features, or not
        wide = np.hstack([Z, np.ones((60, size), np.float32)])
        assert choose_shares(wide, of_sizes(9, 9 + size), labels, 0) == found


def test_few_objects_keep_the_first_family():
    rng = np.random.default_rng(1)
    y = np.arange(6) % 2
    Z = np.hstack([features(y, 1.0, rng), features(y, 0.9, rng)])
    labels = Labels(Classes(np.arange(2)), y)
    assert choose_shares(Z, of_sizes(20, 20), labels, 0)["first"] == 1.0


def blocks(power=1.0):
    half = partial(d2ke.views.part, stop=0.5)
    return [
        d2ke.Block("whole", "levenshtein", training_objects, 30, family="whole"),
        d2ke.Block("pieces", "levenshtein", segments, 20, sd_power=power, family="pieces"),
        d2ke.Block(
            "first halves", "levenshtein", training_objects, 30, (half,), sd_power=power,
            family="pieces",
        ),
    ]  # fmt: skip


def labelled(n, rng):
    y = rng.integers(0, 2, n)
    X = ["".join(rng.choice(list("abcd"), 12)) for _ in range(n)]
    return y, [x[:4] + "dd" * int(label) + x[4:] for x, label in zip(X, y, strict=True)]


@pytest.mark.parametrize("power", [1.0, 0.5, 0.0])
def test_the_kernel_of_a_model_has_the_shares(power):
    rng = np.random.default_rng(2)
    y, X = labelled(60, rng)
    model = d2ke.d2ke_train(y, X, blocks=blocks(power), seed=3)
    rows = np.arange(60)
    Z = model.features(d2ke.pack(X), 1, rows).astype(float)
    raw = block_features(model.blocks, d2ke.pack(X), 1, rows).astype(float)
    edges = np.cumsum([0, *(block.R for block in model.blocks)])
    names = np.array([block.family for block in model.blocks])
    expected = 0
    for name in dict.fromkeys(names):
        parts = [raw[:, edges[i] : edges[i + 1]] for i in np.flatnonzero(names == name)]
        share = next(block.share for block in model.blocks if block.family == name)
        part = gram(np.hstack(parts), power if name == "pieces" else 1.0)
        expected = expected + share * part
    np.testing.assert_allclose(Z @ Z.T, expected, atol=1e-4)
    assert sum({block.family: block.share for block in model.blocks}.values()) == pytest.approx(1)


def test_a_family_without_a_share_is_left_out():
    rng = np.random.default_rng(4)
    y, X = labelled(200, rng)
    noise = d2ke.Block(
        "last letters", "levenshtein", training_objects, 40,
        (partial(d2ke.views.part, start=0.9),), family="last letters",
    )  # fmt: skip
    model = d2ke.d2ke_train(y, X, blocks=[*blocks()[:1], noise], seed=0)
    assert model.left_out == ("last letters",)
    assert model.R == model.blocks[0].R == 30
    assert "without a share: last letters" in str(model)


def test_one_family_is_the_whole_kernel():
    rng = np.random.default_rng(5)
    y, X = labelled(40, rng)
    model = d2ke.d2ke_train(y, X, blocks=blocks()[:1], seed=0)
    assert {block.share for block in model.blocks} == {1.0}
    assert "shares" not in str(model)
