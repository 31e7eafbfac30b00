# SPDX-License-Identifier: BSD-3-Clause
"""The kernel classifier, and the weights that small lambdas give."""

from itertools import permutations

import numpy as np
import pytest
from discriminative_cases import (
    SEEDS,
    blobs,
    case,
    objective_8,
    scores_by_definition,
)
from hypothesis import given

import d2ke


@given(SEEDS)
def test_kernel_classifier_scores(seed):
    K, _, y, _, lam = case(seed)
    model = d2ke.discriminative.kernel_classifier_fit(K, y, lam=lam)
    expected = scores_by_definition(K, y, model.alpha, 3)
    labels, scores = d2ke.discriminative.kernel_classifier_predict(model, K)
    assert scores == pytest.approx(np.array(expected), abs=1e-12)
    assert (labels == np.argmax(expected, axis=1)).all()
    assert model.objective == pytest.approx(objective_8(K, y, model.alpha, lam), abs=1e-10)
    for other in permutations(range(3)):  # no better at other points of the simplex
        weights = np.random.default_rng(other).dirichlet(np.ones(9))
        assert model.objective <= objective_8(K, y, weights, lam) + 1e-3 * abs(model.objective)


@pytest.mark.parametrize("risk", ["margin", "ise"])
def test_kernel_classifier_of_features(risk):
    X, y = blobs(90, spread=0.8)
    Z = np.c_[np.abs(X), np.exp(-np.abs(X)), np.exp(X / 4), np.exp(-X / 4)]
    a = d2ke.discriminative.kernel_classifier_fit(Z @ Z.T, y, risk=risk)
    b = d2ke.discriminative.kernel_classifier_fit(features=Z, y=y, risk=risk)
    assert b.objective == pytest.approx(a.objective, rel=1e-2)
    scores = d2ke.discriminative.kernel_classifier_predict(b, features=Z)[1]
    direct = Z @ Z.T @ (b.alpha[:, None] * np.eye(3)[y])
    assert scores == pytest.approx(direct, abs=1e-9)
