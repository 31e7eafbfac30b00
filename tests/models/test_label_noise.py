# SPDX-License-Identifier: BSD-3-Clause
"""Features of training objects do not contain their labels: of noise, nothing is learned twice.

Labels are drawn independently of the objects, and of each other. Models are trained on all objects,
and a second, linear model is cross-validated on their features: it must be right as often as
chance. Folds do not depend on labels, so the expectation is exactly that.
"""

import warnings

import numpy as np
import pytest
from reference import reloaded
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score

import d2ke
import d2ke.dask
from d2ke.estimators import D2KETransformer
from d2ke.models import recipes

N = 200
CHANCE = {"classes": 0.25, "labels": 0.5, "values": 0.5}


def strings(rng, n):
    return ["".join(word) for word in rng.choice(list("abcde"), (n, 15))]


def words(rng, n):
    return [list(text) for text in rng.choice(["one", "two", "three", "four", "five"], (n, 8))]


def series(rng, n):
    return rng.normal(size=(n, 30)).cumsum(axis=1)


def sets(rng, n):
    return d2ke.pack(list(rng.normal(size=(n, 6, 2))), kind="sets")


def records(rng, n):
    numbers = np.where(rng.random(n) < 0.1, np.nan, rng.normal(size=n))
    colours = rng.choice(["red", "green", "blue"], n).tolist()
    columns = {"name": strings(rng, n), "walk": list(series(rng, n)), "age": numbers}
    return d2ke.pack_records(columns | {"colour": d2ke.categories(colours)})


KINDS = [
    (strings, "classes", {}),
    (strings, "labels", {}),
    (strings, "values", {}),
    (strings, "classes", {"R": 256, "keep_sums": True}),
    (words, "classes", {}),
    (words, "labels", {}),
    (series, "classes", {"R": 256}),
    (sets, "classes", {"R": 256}),
    (records, "classes", {"R": 256}),
    (records, "labels", {"R": 256}),
]


def noise(rng, n, task):
    """Return labels for training, and columns of classes for the second model."""
    if task == "classes":
        y = rng.integers(4, size=n)
        return y, [y]
    if task == "labels":
        y = rng.integers(2, size=(n, 3))
        return y, list(y.T)
    y = rng.normal(size=n)
    return y, [(y > 0).astype(int)]


def trained(y, X, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # nothing was learned, as it should be
        return d2ke.d2ke_train(y, X, n_threads=1, **options)


def right(Z, codes):
    """Return the share of rows that linear models of the four other folds classify correctly."""
    fold, found = np.arange(len(Z)) % 5, np.empty_like(codes)
    for i in range(5):
        model = d2ke.train_least_squares(codes[fold != i], Z[fold != i], 1.0, n_threads=1)
        found[fold == i] = d2ke.predict(None, Z[fold == i], model)[0]
    return float(np.mean(found == codes))


def of_seed(seed, n, objects, task, options):
    """Return the share that is right, and how much clusters agree with the labels."""
    rng = np.random.default_rng(seed)
    X = objects(rng, n)
    y, columns = noise(rng, n, task)
    model = trained(y, X, seed=seed, **options)
    Z = d2ke.d2ke_transform(X, model)
    assert Z.shape == (n, len(model.feature_names()))
    k = min(4, len(np.unique(Z, axis=0)))  # of noise, three colours may be all that is left
    groups = KMeans(k, n_init=1, random_state=0).fit_predict(Z)
    agreement = [adjusted_rand_score(codes, groups) for codes in columns]
    return np.mean([right(Z, codes) for codes in columns]), np.mean(agreement)


@pytest.mark.slow
@pytest.mark.parametrize(("objects", "task", "options"), KINDS)
def test_noise_is_not_learned_of_any_kind(objects, task, options):
    found = np.array([of_seed(seed, 1000, objects, task, options) for seed in range(20)])
    (accuracy, agreement), errors = found.mean(axis=0), found.std(axis=0, ddof=1) / np.sqrt(20)
    print(f"{objects.__name__} {task} {options}: {accuracy:.4f} +- {errors[0]:.4f}, "
          f"adjusted Rand index {agreement:.4f} +- {errors[1]:.4f}")  # fmt: skip
    assert abs(accuracy - CHANCE[task]) < 3 * errors[0]
    assert abs(agreement) < 0.01


@pytest.fixture(scope="module")
def scored():
    """Return a model of noise that has scores of pieces, and its objects and labels."""
    rng = np.random.default_rng(0)
    X = strings(rng, N)
    y, _ = noise(rng, N, "classes")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(recipes, "_SCORED", (0, 0))
        return trained(y, X), X, y


def check_noise(y, Z):
    """Refuse features from which a second model learns random labels."""
    error = np.sqrt(0.25 * 0.75 / N)
    assert abs(right(Z, y) - 0.25) < 3 * error
    groups = KMeans(4, n_init=1, random_state=0).fit_predict(Z)
    assert abs(adjusted_rand_score(y, groups)) < 0.02


def test_default_models_of_strings_have_no_labels(scored):
    _, X, y = scored
    model = trained(y, X)
    assert {block.family for block in model.blocks} >= {"pieces"}
    assert not any(block.supervised for block in model.blocks)
    check_noise(y, d2ke.d2ke_transform(X, model))
    check_noise(y, model.features(model.check_objects(X), 1))


def test_noise_is_not_learned_of_strings(scored):
    model, X, y = scored
    assert any(block.supervised for block in model.blocks)
    check_noise(y, d2ke.d2ke_transform(X, model))
    # What the linear part of the same model sees has the labels.
    assert right(model.features(model.check_objects(X), 1), y) > 0.6


def test_widths_names_and_scales(scored):
    model, X, _ = scored
    Z, names = d2ke.d2ke_transform(X, model), model.feature_names()
    sizes = {block.name: block.R for block in model.blocks if not block.supervised}
    assert names == [f"{name}.{j}" for name, R in sizes.items() for j in range(R)]
    assert Z.shape == (N, model.n_unsupervised) == (N, len(names))
    assert model.n_unsupervised == model.unsupervised.sum() == model.R - 8  # two forms
    # One family is all of the kernel without labels, whatever share it has of the model's.
    assert model.blocks[0].kernel_weight < 1
    assert (Z.astype(float) ** 2).sum(axis=1).mean() == pytest.approx(1, rel=0.15)
    again = reloaded(model)
    assert again.feature_names() == names
    assert (d2ke.d2ke_transform(X[:9], again) == Z[:9]).all()
    assert model.linear.n_features == model.R


def test_every_door_returns_the_same_features(scored, tmp_path):
    model, X, y = scored
    Z = d2ke.d2ke_transform(X, model)
    d2ke.write_features(tmp_path / "z.h5", X, model, labels=y)
    with d2ke.io.open_features(tmp_path / "z.h5") as store:
        assert (store.read() == Z).all()
        assert sum(store.parameters["sizes"]) == len(Z.T)
        assert "pieces" not in store.parameters["blocks"]
    lazy = d2ke.dask.d2ke_transform(X, model, chunks=90)
    assert lazy.shape == Z.shape
    assert (lazy.compute(scheduler="synchronous") == Z).all()


def test_the_transformer_does_not_see_labels(scored):
    _, X, y = scored
    with_labels, without = (
        D2KETransformer(R=64, random_state=0).fit_transform(X, labels) for labels in (y, None)
    )
    assert (with_labels == without).all()


def test_strangers_are_found_without_labels(scored):
    """The p-values of training objects rest on no feature with labels."""
    model, X, y = scored
    assert len(model.reference.weights) == model.n_unsupervised
    p = d2ke.novelty(X, model)
    means = [p[y == label].mean() for label in range(4)]
    assert np.ptp(means) < 0.1


def test_vectors_remain_where_scores_say_everything():
    rng = np.random.default_rng(1)
    X = strings(rng, 150)
    y = rng.integers(2, size=150)
    X = [f"{'xyz' if label else 'zyx'}{x}" for x, label in zip(X, y, strict=True)]
    for R in (1, 9, 64):
        model = d2ke.d2ke_train(y, X, R=R, n_threads=1)
        Z = d2ke.d2ke_transform(X, model)
        assert 1 <= Z.shape[1] <= R
        assert Z.std() > 0
