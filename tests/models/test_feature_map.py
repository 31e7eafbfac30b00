# SPDX-License-Identifier: BSD-3-Clause
"""Features of new objects by blocks that are prepared once."""

import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import d2ke
from d2ke.models.feature_map import FeatureMap


def words(n, seed):
    rng = np.random.default_rng(seed)
    return ["".join(rng.choice(list("abc"), rng.integers(1, 20))) for _ in range(n)]


def series(n, seed):
    rng = np.random.default_rng(seed)
    return [rng.normal(size=(rng.integers(20, 60), 2)).cumsum(axis=0) for _ in range(n)]


def rows(n, seed):
    rng = np.random.default_rng(seed)
    texts = [None if rng.random() < 0.2 else word for word in words(n, seed)]
    return {
        "text": texts, "size": rng.normal(size=n), "course": series(n, seed), "other": words(n, 9)
    }  # fmt: skip


@pytest.fixture(scope="module", params=[words, series, rows])
def trained(request):
    X = request.param(60, 0)
    objects = X["other"] if isinstance(X, dict) else X
    y = np.array([len(x) for x in objects]) > np.median([len(x) for x in objects])
    return d2ke.d2ke_train(y.astype(int), X, R=96, seed=0), request.param


def test_features_are_those_of_the_blocks_bit_for_bit(trained):
    model, make = trained
    for n in (1, 7, 40):
        X = model.check_objects(make(n, n), None)
        wanted = np.hstack([FeatureMap([block]).unscaled(X, 1) for block in model.blocks])
        np.testing.assert_array_equal(model.feature_map.unscaled(X, 2), wanted)
        np.testing.assert_array_equal(model.features(X, 1), model.scaling.scale(wanted, wanted))


def test_threads_share_a_model(trained):
    model, make = trained
    model = pickle.loads(pickle.dumps(model))
    calls = [make(3, seed) for seed in range(8)]
    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(lambda X: d2ke.d2ke_transform(X, model), calls))
    for X, result in zip(calls, results, strict=True):
        np.testing.assert_array_equal(result, d2ke.d2ke_transform(X, trained[0]))


def test_a_used_model_is_pickled_without_what_it_prepared(trained):
    model, make = trained
    again = pickle.loads(pickle.dumps(model))
    d2ke.d2ke_predict(None, make(2, 1), again)
    assert len(pickle.dumps(again)) == len(pickle.dumps(pickle.loads(pickle.dumps(model))))


def test_distances_beyond_float32_name_their_block():
    X = [x[:5] + 90 * (i % 2) for i, x in enumerate(series(20, 3))]
    y = np.arange(20) % 2
    block = d2ke.Block("plain", "dtw", d2ke.samplers.training_objects, 8)
    model = d2ke.d2ke_train(y, X, blocks=[block], seed=0)
    with pytest.raises(ValueError, match="block 'plain' are beyond the range of float32"):
        d2ke.d2ke_predict(None, [1e38 * x for x in X], model)
