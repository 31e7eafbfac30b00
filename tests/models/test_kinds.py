# SPDX-License-Identifier: BSD-3-Clause
"""What the vectors are, series or sets, is said once: distances and recipes follow it."""

import numpy as np
import pytest

import d2ke
from d2ke.datasets import load
from d2ke.models import recipe

RNG = np.random.default_rng(0)
POINTS = [RNG.normal(i % 2, 0.3, (6, 2)) for i in range(40)]
Y = [0, 1] * 20


def test_arrays_are_series_and_sets_are_said():
    assert d2ke.pack(POINTS).kind == "series"
    sets = d2ke.pack(POINTS, kind="sets")
    assert sets.kind == sets[:3].kind == sets.span(0, 2).kind == "sets"
    assert d2ke.pack(POINTS, weights=[np.ones(6)] * 40).kind == "sets"
    assert repr(sets).startswith("<40 sets of 2-dimensional vectors")
    with pytest.raises(TypeError, match="weights, which go with sets, but series"):
        d2ke.pack(POINTS, weights=[np.ones(6)] * 40, kind="series")


def test_the_recipe_follows_the_kind():
    assert load("digits-points").objects.kind == "sets"
    model = d2ke.d2ke_train(Y, d2ke.pack(POINTS, kind="sets"), R=32)
    assert model.kind == "sets"
    assert {block.distance for block in model.blocks} <= {"mhd", "directed_mhd"}
    assert "sets: the order of rows does not count" in str(model)
    assert "series: the order of rows counts" in str(d2ke.d2ke_train(Y, POINTS, R=64))


def test_a_distance_of_sets_says_that_series_are_sets():
    said = d2ke.d2ke_train(Y, POINTS, distance="mhd", R=32)
    assert said.kind == "sets"
    expected = d2ke.d2ke_train(Y, d2ke.pack(POINTS, kind="sets"), R=32)
    decisions = [d2ke.d2ke_predict(None, POINTS, model)[2] for model in (said, expected)]
    np.testing.assert_array_equal(*decisions)


def test_a_reading_of_a_file(tmp_path):
    values, offsets = np.concatenate(POINTS), np.arange(0, 241, 6)
    np.savez(tmp_path / "bags.npz", values=values, offsets=offsets, y=Y)
    bags = d2ke.io.read_objects(tmp_path / "bags.npz", kind="sets")
    assert bags.objects.kind == "sets"
    assert bags.labels.tolist() == Y
    with pytest.raises(ValueError, match=r"kind is 'strings', but .*bags.npz holds series"):
        d2ke.io.read_objects(tmp_path / "bags.npz", kind="strings")


def test_recipe_of_bags():
    words = [["the", "cat"], ["a", "dog", "a"], ["the", "dog"]] * 7
    blocks = recipe(words, distance="bag")
    assert [(block.name, block.R) for block in blocks] == [("training objects", 4096)]
    assert recipe(words, distance="bag", R=9)[0].R == 9


@pytest.mark.parametrize(("distance", "n"), [(None, 2), ("emd", 1)])
def test_sets_beside_bags_are_standardised(distance, n):
    rng = np.random.default_rng(0)
    y, words = ["a", "b"] * 10, [["x"] * 2, ["z"]] * 10
    sets = [rng.normal(size=(3, 2)) * [1, 1e6] + 9 for _ in y]
    X = d2ke.pack_records({"codes": words, "nodes": d2ke.pack(sets, kind="sets")})
    distances = {"codes": "bag"} | ({} if distance is None else {"nodes": distance})
    model = d2ke.d2ke_train(y, X, distance=distances)
    names = [block.name for block in model.blocks] + list(model.unused_blocks)
    assert sum(name.startswith("nodes: sets") for name in names) == n
    scaled = [s * [1, 1e-6] for s in sets]
    same = d2ke.pack_records({"codes": words, "nodes": d2ke.pack(scaled, kind="sets")})
    ours = d2ke.d2ke_train(y, same, distance=distances)
    got, wanted = (d2ke.d2ke_predict(None, x, m)[2] for x, m in ((X, model), (same, ours)))
    np.testing.assert_allclose(got, wanted, atol=1e-3)
