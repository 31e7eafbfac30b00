# SPDX-License-Identifier: BSD-3-Clause
"""Blocks whose first pass says if they grow; one decomposition for shares and the final ridge."""

from dataclasses import replace

import numpy as np
import pytest

import d2ke
from d2ke.models.blocks import Sample
from d2ke.models.distance_blocks import Block
from d2ke.models.features import FittedBlocks, choose_features, draw
from d2ke.models.kernel_weights import FamilyKernels
from d2ke.models.labels import read_labels
from d2ke.models.train import score_sample, solve_sample
from d2ke.samplers import training_objects

TELLING = Block("whole", "levenshtein", training_objects, 30, family="whole")


def labelled(n, sign="ddd"):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, n)
    words = ["".join(rng.choice(list("abcd"), 12)) for _ in range(n)]
    return y, [x[:4] + sign * int(label) + x[4:] for x, label in zip(words, y, strict=True)]


def shuffled(X):
    """Return other strings, which say nothing about the labels."""
    rng = np.random.default_rng(len(X))
    return d2ke.pack(["".join(rng.choice(list("abcd"), 9)) for _ in range(len(X))])


@pytest.fixture
def fits(monkeypatch):
    """Names and sizes of the blocks that are fitted."""
    fitted, fit_features = [], Block.fit_features

    def noted(block, sample, seed):
        fitted.append((block.name, block.R))
        return fit_features(block, sample, seed)

    monkeypatch.setattr(Block, "fit_features", noted)
    return fitted


@pytest.mark.parametrize("n", [200, 600])  # the first pass has all rows, or some of them
def test_a_family_grows_to_its_share_of_the_full_size(n, fits):
    y, X = labelled(n)
    blocks = [replace(TELLING, first=6), replace(TELLING, name="others", family="others")]
    grown = d2ke.d2ke_train(y, X, blocks=blocks, groups="none", n_threads=1)
    size = fits[-1][1]
    assert fits == [("whole", 6), ("others", 30), ("whole", size)]
    assert 6 < size < 30
    blocks[0] = replace(TELLING, R=size)
    once = d2ke.d2ke_train(y, X, blocks=blocks, groups="none", n_threads=1)
    assert [block.R for block in grown.blocks] == [size, 30]
    for a, b in zip(grown.blocks, once.blocks, strict=True):
        assert (a.name, list(a.omega)) == (b.name, list(b.omega))
        assert a.kernel_weight == pytest.approx(b.kernel_weight, rel=1e-6)
    decisions = [d2ke.d2ke_predict(None, X, model)[2] for model in (grown, once)]
    np.testing.assert_allclose(*decisions, rtol=1e-5, atol=1e-6)


def test_a_family_without_a_share_does_not_grow(fits):
    y, X = labelled(400, "eeeeeeee")
    noise = Block(
        "noise", "levenshtein", training_objects, 60, (shuffled,), family="noise", first=6
    )
    d2ke.d2ke_train(y, X, blocks=[TELLING, noise], groups="none", n_threads=1)
    assert fits == [("whole", 30), ("noise", 6)]


def test_the_whole_course_has_a_first_pass_beside_windows_only():
    X = d2ke.pack(list(np.random.default_rng(0).normal(size=(20, 50)).cumsum(axis=1)))
    firsts = {(b.family, b.R, b.first) for b in d2ke.models.recipe(X) if b.first}
    assert {family for family, _, _ in firsts} == {"whole course"}
    assert all(first < R for _, R, first in firsts)
    assert not any(block.first for block in d2ke.models.recipe(X, distance="dtw"))


def drawn(n, first=0, **options):
    y, X = labelled(n)
    labels = read_labels(y, None)
    if options:
        labels = replace(labels, **{key: value[:n] for key, value in options.items()})
    sample = Sample(d2ke.pack(X), np.arange(n), labels, 1)
    others = replace(TELLING, R=30 if first else n, name="others", family="others")
    blocks = [replace(TELLING, first=first), others]
    return draw(blocks, sample, sample, 0), sample


@pytest.mark.parametrize(
    "options",
    [{}, {"weights": np.tile([0.5, 1.0, 2.0], 20)}, {"groups": np.arange(60) // 2}],
    ids=["plain", "weights", "groups"],
)
@pytest.mark.parametrize("choosing", [60, 50])  # all rows choose the shares, or some
def test_the_ridge_of_the_kernels_is_that_of_the_features(choosing, options, monkeypatch):
    n = 60
    monkeypatch.setattr(FittedBlocks.choose_weights, "__defaults__", (choosing,))
    fitted, sample = drawn(n, **options)
    features, Z, decomposed = choose_features(fitted, None, n, 0)
    assert decomposed is not None
    once, direct = (solve_sample(features, Z, sample, 0, given) for given in (decomposed, None))
    for C in (0.1, 10.0, 1000.0):
        for a, b in zip(once.ridge.weights(C), direct.ridge.weights(C), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-6, atol=1e-8)
    a, b = (score_sample(features, solved, sample, 0) for solved in (once, direct))
    np.testing.assert_allclose(a.squared, b.squared, rtol=1e-6)
    left_out = [scores.calibration_decisions for scores in (a, b)]
    np.testing.assert_allclose(*left_out, rtol=1e-4, atol=1e-6)


def test_kernels_of_other_families_are_kept_when_one_grows():
    grown, _ = drawn(30, 6)
    assert grown.kernels.computed.keys() == {"others"}
    anew = FamilyKernels(grown.F, grown.fitted, None, 1)
    np.testing.assert_allclose(np.triu(grown.kernels.stack), np.triu(anew.stack), rtol=1e-12)
