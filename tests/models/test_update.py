# SPDX-License-Identifier: BSD-3-Clause
"""Labelled objects that are added to a trained model."""

import io
import re
from dataclasses import replace

import numpy as np
import pytest

import d2ke
from d2ke.learners import ridge
from d2ke.learners.ridge import decompose
from d2ke.models.feature_map import FeatureMap
from d2ke.models.labels import read_labels

OLD = 60


def words(n, n_classes, seed=0):
    """Return codes and strings of letters that are more frequent in their class."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % n_classes
    share = np.full((n_classes, 4), 0.15)
    share[np.arange(n_classes), np.arange(n_classes)] = 0.55
    X = ["".join(rng.choice(list("abcd"), rng.integers(5, 15), p=share[c])) for c in y]
    return y, X


def labels_of(kind, n):
    n_classes = {"two": 2, "four": 4, "regression": 3}[kind]
    y, X = words(n, n_classes)
    if kind == "regression":
        return np.array([x.count("a") - 0.5 * x.count("b") + 0.25 for x in X]), X
    return np.array(["w", "x", "y", "z"])[y], X


def reference(y, X, model, n_old):
    """Return weights and offsets of the ridge on all rows, in the features of the model."""
    objects = d2ke.pack(X)
    Z = np.vstack(
        [
            FeatureMap(model.blocks).unscaled(objects[:n_old], None, np.arange(n_old)),
            FeatureMap(model.blocks).unscaled(objects[n_old:], None),
        ]
    ).astype(np.float64)
    divisor = model.scaling.divisor
    labels = read_labels(y, None)
    found, _ = decompose(Z, labels.targets(), divisor)
    linear = labels.task.linear_model(found, model.C)
    return linear.weights, linear.bias + linear.weights @ (
        (model.scaling.mean - found.mean) / divisor
    )


def same(model, weights, offsets, tolerance):
    scale = np.abs(weights).max()
    np.testing.assert_allclose(model.linear.weights, weights, atol=tolerance * scale, rtol=0)
    np.testing.assert_allclose(model.linear.bias, offsets, atol=tolerance * max(scale, 1), rtol=0)


@pytest.mark.parametrize("R", [24, 200])  # fewer and more features than objects
@pytest.mark.parametrize("kind", ["two", "four", "regression"])
def test_the_model_is_the_ridge_on_all_rows(kind, R):
    y, X = labels_of(kind, 100)
    model = d2ke.d2ke_train(y[:OLD], X[:OLD], R=R, keep_sums=True)
    plain = d2ke.d2ke_train(y[:OLD], X[:OLD], R=R)
    np.testing.assert_array_equal(model.linear.weights, plain.linear.weights)
    updated = d2ke.d2ke_update(y[OLD:], X[OLD:], model)
    same(updated, *reference(y, X, model, OLD), 1e-8)
    assert updated.C == model.C
    assert updated.calibration is model.calibration
    assert updated.accuracy == model.accuracy
    assert not np.allclose(updated.linear.weights, model.linear.weights)
    assert "accuracy are from the first 60 of 100 objects" in str(updated)
    assert "from the first" not in str(model)


def test_products_in_float32(monkeypatch):
    monkeypatch.setattr(ridge, "_CHEAP", 1)
    y, X = labels_of("four", 300)
    model = d2ke.d2ke_train(y[:200], X[:200], R=24, keep_sums=True)
    assert model.sums.dtype == np.float32
    updated = d2ke.d2ke_update(y[200:], X[200:], model)
    weights, offsets = reference(y, X, model, 200)
    Z = d2ke.d2ke_transform(X, model).astype(np.float64)
    found, exact = updated.linear.decide(Z), Z @ weights.T + offsets
    squares = np.linalg.eigvalsh(np.cov(Z.T, bias=True) * len(Z)) + 1 / (2 * model.C)
    error = 2.0**-22 * squares[-1] / squares[0]
    assert np.sqrt(np.mean((found - exact) ** 2)) <= error


@pytest.mark.parametrize("kind", ["two", "regression"])
def test_several_updates_are_one(kind):
    y, X = labels_of(kind, 100)
    model = d2ke.d2ke_train(y[:OLD], X[:OLD], R=24, keep_sums=True)
    before = model.sums.products.copy(), model.sums.n
    updated = model
    for rows in (slice(OLD, 61), slice(61, 90), slice(90, 100)):
        updated = d2ke.d2ke_update(y[rows], X[rows], updated)
    at_once = d2ke.d2ke_update(y[OLD:], X[OLD:], model)
    same(updated, at_once.linear.weights, at_once.linear.bias, 1e-10)
    assert (updated.n_train, updated.n_added, updated.sums.n) == (60, 40, 100)
    np.testing.assert_array_equal(model.sums.products, before[0])
    assert model.sums.n == before[1]


def test_blocks_of_rows_and_files(monkeypatch):
    y, X = labels_of("four", 100)
    model = d2ke.d2ke_train(y[:OLD], X[:OLD], R=24, keep_sums=True)
    whole = d2ke.d2ke_update(y[OLD:], X[OLD:], model)
    file = io.BytesIO()
    d2ke.save_model(file, d2ke.d2ke_update(y[OLD:80], X[OLD:80], model))
    monkeypatch.setattr("d2ke.models.feature_map.FeatureMap.rows_at_once", lambda self, X: 7)
    loaded = d2ke.load_model(io.BytesIO(file.getvalue()))
    assert loaded.n_added == 20
    again = d2ke.d2ke_update(y[80:], X[80:], loaded)
    same(again, whole.linear.weights, whole.linear.bias, 1e-10)
    assert again.n_added == 40


def test_refused():
    y, X = labels_of("two", 40)
    model = d2ke.d2ke_train(y, X, R=8, keep_sums=True)
    with pytest.raises(ValueError, match=re.escape("y[1] is 'q', which is not one of")):
        d2ke.d2ke_update(["w", "q"], ["ab", "ba"], model)
    with pytest.raises(
        ValueError, match=re.escape("train it with d2ke_train(..., keep_sums=True)")
    ):
        d2ke.d2ke_update(["w"], ["ab"], replace(model, sums=None))
    with pytest.raises(TypeError, match="y must be a sequence of labels"):
        d2ke.d2ke_update(None, ["ab"], model)


@pytest.mark.parametrize("weights", [{"class_weight": "balanced"}, {"sample_weight": [1.0] * 20}])
def test_sums_go_without_weights(weights):
    (name,) = weights
    with pytest.raises(ValueError, match=f"{name} does not go with keep_sums"):
        d2ke.d2ke_train([0, 1] * 10, ["aab", "bba"] * 10, R=8, keep_sums=True, **weights)
