# SPDX-License-Identifier: BSD-3-Clause
"""Regressions of targets far from 0, and in other units."""

import io

import dask
import numpy as np
import pytest

import d2ke
import d2ke.dask

pytestmark = pytest.mark.filterwarnings("ignore:little or nothing was learned")


def labelled(n, seed):
    rng = np.random.default_rng(seed)
    X = ["".join(rng.choice(list("abcd"), 12)) for _ in range(n)]
    return np.array([x.count("a") - 0.5 * x.count("b") + rng.normal() for x in X]), X


def results(y, X, new, **options):
    model = d2ke.d2ke_train(y, X, R=64, task="regression", **options)
    file = io.BytesIO()
    d2ke.save_model(file, model)
    return outcome(d2ke.load_model(io.BytesIO(file.getvalue())), new)


def outcome(model, new):
    sets = d2ke.predict_set(new, model)
    predicted = d2ke.d2ke_predict(None, new, model)[2][:, 0]
    return model.accuracy, model.accuracy_error, sets[:, 1] - sets[:, 0], predicted


LEVELS = [(1.0, 1e8), (1.0, 1e12), (1e-12, 0.0), (1e12, 0.0), (1e12, -1e20), (1e100, 0.0)]


@pytest.mark.parametrize(("unit", "level"), LEVELS)
@pytest.mark.parametrize("n", [5, 60, 600])  # without, and with scores of pieces
def test_level_and_unit_change_nothing(n, unit, level):
    (y, X), (_, new) = labelled(n, 0), labelled(20, 1)
    weights = np.random.default_rng(2).uniform(0.5, 2, n)
    rounding = 4 * np.spacing(abs(level) or unit) / unit + 1e-6
    for options in ({}, {"sample_weight": weights}):
        wanted = results(y, X, new, **options)
        found = results(unit * y + level, X, new, **options)
        np.testing.assert_allclose(found[:2], wanted[:2], rtol=1e-4, atol=1e-3)
        np.testing.assert_allclose(found[2] / unit, wanted[2], atol=10 * rounding)
        np.testing.assert_allclose((found[3] - level) / unit, wanted[3], atol=10 * rounding)


@pytest.mark.parametrize(("unit", "level"), LEVELS)
def test_updated_models_and_dask(unit, level):
    (y, X), (_, new) = labelled(90, 3), labelled(20, 4)
    rounding = 40 * np.spacing(abs(level) or unit) / unit + 1e-5

    def ways(y):
        model = d2ke.d2ke_train(y[:60], X[:60], R=32, task="regression", keep_sums=True)
        with dask.config.set(scheduler="synchronous"):
            lazy = d2ke.dask.d2ke_train(
                y[:60], X[:60], R=32, task="regression", keep_sums=True, chunks=25
            )
        for one in (model, lazy):
            yield outcome(one, new)
            yield outcome(d2ke.d2ke_update(y[60:], X[60:], one), new)

    for wanted, found in zip(ways(y), ways(unit * y + level), strict=True):
        np.testing.assert_allclose(found[2] / unit, wanted[2], atol=rounding)
        np.testing.assert_allclose((found[3] - level) / unit, wanted[3], atol=rounding)
