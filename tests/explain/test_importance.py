# SPDX-License-Identifier: BSD-3-Clause
"""Permutation importance of families and blocks."""

from functools import partial

import numpy as np
import pytest

import d2ke
from d2ke.explain.importance import importance_by_halves
from d2ke.samplers import segments


def halves_model(classes=2, task=None):
    """Train on strings whose first half says the class, and whose second half says nothing."""
    rng = np.random.default_rng(0)
    y = np.arange(90) % classes
    X = [2 * "abc"[c] + "xy"[c % 2] + "".join(rng.choice(list("de"), 3)) for c in y]
    blocks = [
        d2ke.Block(
            name, "levenshtein", segments, 32, (partial(d2ke.views.part, start=a, stop=b),),
            family=family,
        )
        for name, family, a, b in (
            ("start", "first", 0.0, 0.5), ("end", "second", 0.5, 1.0),
            ("end again", "second", 0.5, 1.0),
        )
    ]  # fmt: skip
    y = y + 0.5 if task == "regression" else y
    return y, X, d2ke.d2ke_train(y, X, blocks=blocks, task=task)


def by_hand(y, X, model, columns, repeats):
    """Permute the features themselves."""
    Z, rng = d2ke.d2ke_transform(X, model).astype(float), np.random.default_rng(0)
    best, drops = 1 if model.classes is None else 100, []
    for _ in range(repeats):
        permuted = Z.copy()
        permuted[:, columns] = Z[rng.permutation(len(Z))][:, columns]
        F = permuted @ model.linear.weights.T + model.linear.bias
        if model.classes is None:
            drops.append(np.mean((F[:, 0] - y) ** 2) / np.var(y))
        else:
            drops.append(
                100 * np.mean(y != ((F[:, 0] > 0) if F.shape[1] == 1 else F.argmax(axis=1)))
            )
    best = 1 if model.classes is None else 100
    return np.mean(drops) - (best - d2ke.d2ke_predict(y, X, model)[1])


@pytest.mark.parametrize(
    ("classes", "task"), [(2, None), (3, None), (3, "regression")], ids=["two", "three", "values"]
)
def test_drops_are_those_of_permuted_features(classes, task):
    y, X, model = halves_model(classes, task)
    table = d2ke.d2ke_importance(y, X, model, repeats=3)
    first = table[0]
    assert first.name == "first"
    assert first.drop == pytest.approx(by_hand(y, X, model, slice(0, model.blocks[0].R), 3))
    assert first.drop > 5 * first.error > 0
    if "second" in dict(zip([one.name for one in table], table, strict=True)):
        assert abs(table[1].drop) < 10
    blocks = d2ke.d2ke_importance(y, X, model, by="block", repeats=3)
    assert sorted(one.name for one in blocks) == sorted(block.name for block in model.blocks)


def test_halves_of_the_training_objects():
    y, X, model = halves_model()
    Z = model.features(model.check_objects(X), 1, np.arange(model.n_train))
    table = importance_by_halves(Z, y, model, "block", 1)
    assert table[0].name == "start"
    assert table[0].drop == pytest.approx(50, abs=15)


def test_columns_of_records():
    rng = np.random.default_rng(0)
    y = np.arange(120) % 2
    names = [("aab", "bba")[c] + "".join(rng.choice(list("de"), 3)) for c in y]
    table = {"name": names, "age": rng.normal(40, 9, 120), "town": d2ke.categories(["x", "y"] * 60)}
    model = d2ke.d2ke_train(y, table, R=64)
    found = d2ke.d2ke_importance(y, table, model, by="column")
    assert {one.name for one in found} <= set(table)
    assert found[0].name in ("name", "town")
    objects = [
        one
        for one in d2ke.explain.discriminative_objects(model, limit=model.R)
        if one.block == "town"
    ]
    assert [(one.label, one.object) for one in objects[:1]] == [(0, "x")]
