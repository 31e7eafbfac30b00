# SPDX-License-Identifier: BSD-3-Clause
"""Regressions of targets far from 0, and in other units."""

from functools import cache

import dask
import numpy as np
import pytest
from reference import reloaded

import d2ke
import d2ke.dask
from d2ke.models import recipes

pytestmark = pytest.mark.filterwarnings("ignore:little or nothing was learned")


def labelled(n, seed):
    rng = np.random.default_rng(seed)
    X = ["".join(rng.choice(list("abcd"), 12)) for _ in range(n)]
    return np.array([x.count("a") - 0.5 * x.count("b") + rng.normal() for x in X]), X


@cache
def results(n, weighted, scored, unit=1.0, level=0.0):
    (y, X), (_, new) = labelled(n, 0), labelled(20, 1)
    weights = np.random.default_rng(2).uniform(0.5, 2, n) if weighted else None
    with pytest.MonkeyPatch.context() as patch:
        if scored:
            patch.setattr(recipes, "_SCORED", (0, 0))
        model = d2ke.d2ke_train(unit * y + level, X, R=16, task="regression", sample_weight=weights)
    assert any(block.supervised for block in model.blocks) == scored
    return outcome(reloaded(model), new)


def outcome(model, new):
    sets = d2ke.predict_set(new, model)
    predicted = d2ke.d2ke_predict(None, new, model)[2][:, 0]
    return model.accuracy, model.accuracy_error, sets[:, 1] - sets[:, 0], predicted


LEVELS = [(1.0, 1e12), (1e100, 0.0), (1e12, -1e20), (1e-12, 0.0), (1.0, 1e8), (1e12, 0.0)]


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("n", "weighted", "scored"),
    [(5, False, False), (60, True, False), (60, False, True)],
    ids=["few", "weighted", "scores of pieces"],
)
@pytest.mark.parametrize(("unit", "level"), LEVELS)
def test_level_and_unit_change_nothing(n, weighted, scored, unit, level):
    # Conjugate gradients in float32 enlarge the rounding of targets.
    rounding = 4 * np.spacing(abs(level) or unit) / unit + (1e-5 if scored else 1e-6)
    wanted = results(n, weighted, scored)
    found = results(n, weighted, scored, unit, level)
    np.testing.assert_allclose(found[:2], wanted[:2], rtol=1e-4, atol=1e-3)
    np.testing.assert_allclose(found[2] / unit, wanted[2], atol=10 * rounding)
    np.testing.assert_allclose((found[3] - level) / unit, wanted[3], atol=10 * rounding)


@cache
def ways(unit=1.0, level=0.0):
    """Return the outcomes of models in memory and by dask, before and after an update."""
    (y, X), (_, new) = labelled(90, 3), labelled(20, 4)
    y = unit * y + level
    options = {"R": 16, "task": "regression", "keep_sums": True}
    with dask.config.set(scheduler="synchronous"):
        models = (
            d2ke.d2ke_train(y[:60], X[:60], **options),
            d2ke.dask.d2ke_train(y[:60], X[:60], chunks=25, **options),
        )
    updated = [d2ke.d2ke_update(y[60:], X[60:], one) for one in models]
    return [outcome(one, new) for one in (*models, *updated)]


@pytest.mark.sample(3)
@pytest.mark.parametrize(("unit", "level"), LEVELS)
def test_updated_models_and_dask(unit, level):
    rounding = 40 * np.spacing(abs(level) or unit) / unit + 1e-5
    for wanted, found in zip(ways(), ways(unit, level), strict=True):
        np.testing.assert_allclose(found[2] / unit, wanted[2], atol=rounding)
        np.testing.assert_allclose((found[3] - level) / unit, wanted[3], atol=rounding)
