# SPDX-License-Identifier: BSD-3-Clause
"""Probabilities from left-out decisions."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import softmax

import d2ke
from d2ke.models.calibration import Calibration, calibration_error, calibration_rows


def decisions_of(n, k, seed=0, scale=2.0):
    """Return decisions, and classes drawn by their softmax."""
    rng = np.random.default_rng(seed)
    F = rng.normal(size=(n, 1 if k == 2 else k))
    wide = np.hstack([np.zeros((n, 1)), F]) if k == 2 else F
    P = softmax(scale * wide + 0.3 * np.arange(k), axis=1)
    return F, np.array([rng.choice(k, p=p) for p in P]), P


def test_two_classes_have_platts_curve():
    calibration = pytest.importorskip("sklearn.calibration")
    F, y, _ = decisions_of(300, 2)
    a, b = calibration._sigmoid_calibration(F[:, 0], y)
    fitted = Calibration.fit(F, y, 2)
    expected = 1 / (1 + np.exp(a * F[:, 0] + b))
    same = (expected > 0.5) == (F[:, 0] > 0)
    assert 0 < (~same).sum() < 60
    found = fitted.probabilities(F)[:, 1]
    np.testing.assert_allclose(found[same], expected[same], atol=2e-4)
    np.testing.assert_allclose(found[~same], 0.5)
    assert (np.diff(found[np.argsort(F[:, 0])]) > -1e-12).all()


def test_the_loss_is_least():
    F, y, _ = decisions_of(60, 3)
    fitted, m = Calibration.fit(F, y, 3), len(y)
    targets = np.where(y[:, None] == np.arange(3), (m + 1) / (m + 2), 1 / (m + 2) / 2)

    def loss(x):
        logs = np.log(softmax(x[0] * F.astype(np.float32) + x[1:], axis=1))
        return x[1:] @ x[1:] / 2 - (targets * logs).sum()

    best = minimize(loss, np.ones(4), method="Nelder-Mead", options={"maxiter": 4000})
    assert loss(np.append(fitted.scale, fitted.offsets)) <= best.fun + 1e-4


def test_log_loss_and_brier_score_are_those_of_sklearn():
    metrics = pytest.importorskip("sklearn.metrics")
    F, y, _ = decisions_of(200, 3)
    fitted = Calibration.fit(F, y, 3)
    P = fitted.loo
    assert fitted.log_loss == pytest.approx(metrics.log_loss(y, P))
    brier = sum(((y == c) - P[:, c]) ** 2 for c in range(3)).mean()
    assert fitted.brier == pytest.approx(brier)


def test_roc_curve_is_that_of_sklearn():
    metrics = pytest.importorskip("sklearn.metrics")
    F, y, _ = decisions_of(200, 2)
    fitted = Calibration.fit(np.round(F, 1), y, 2)  # with ties
    false, true, _ = metrics.roc_curve(y, fitted.decisions[:, 0], drop_intermediate=False)
    np.testing.assert_allclose(fitted.roc(), [false, true])
    assert fitted.auc == pytest.approx(metrics.roc_auc_score(y, fitted.decisions[:, 0]))
    assert f"AUC {fitted.auc:.3f}" in str(fitted)
    assert "AUC" not in str(Calibration.fit(np.eye(3), np.arange(3), 3))


def test_error_of_calibration():
    # 30 objects, bins of two: 0.9 each, and right each second time
    P = np.tile([0.9, 0.1], (30, 1))
    assert calibration_error(P, np.arange(30) % 2) == pytest.approx(0.4)
    assert calibration_error(P[:10], np.zeros(10, int)) == pytest.approx(0.1)


@pytest.mark.parametrize("k", [2, 5])
def test_decisions_that_are_always_right_or_always_wrong_stay_finite(k):
    y = np.arange(20 * k) % k
    F = (y[:, None] == np.arange(k)) * 2.0 - 1
    F = F[:, 1:] if k == 2 else F
    right, wrong = Calibration.fit(F, y, k), Calibration.fit(-F, y, k)
    own = right.loo[np.arange(len(y)), y]
    assert (own > 0.9).all()
    assert (own < 1).all()
    assert wrong.scale == 0
    np.testing.assert_allclose(wrong.loo, 1 / k, atol=1e-3)


def test_rows_are_a_seeded_sample():
    assert (calibration_rows(10, 1, 0) == np.arange(10)).all()
    rows = calibration_rows(100_000, 15, 3)
    assert len(np.unique(rows)) == 20_000
    assert (rows == calibration_rows(100_000, 15, 3)).all()
    assert (np.diff(rows) > 0).all()
    assert len(calibration_rows(100_000, 1000, 0)) == 8388


def strings(n, k=3, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % k
    return y, ["".join(rng.choice(list("abc"), 8, p=np.roll([0.6, 0.2, 0.2], c))) for c in y]


@pytest.mark.parametrize("R", [16, 400])  # fewer features than objects, and more
@pytest.mark.parametrize("k", [2, 3])
def test_left_out_decisions_give_the_cross_validated_accuracy(R, k):
    y, X = strings(150, k)
    # With groups, of one object each, the hinge loss is not tried.
    model = d2ke.d2ke_train(y, X, distance="levenshtein", R=R, groups=np.arange(150))
    F = model.calibration.decisions
    labels = (F[:, 0] > 0).astype(int) if k == 2 else F.argmax(axis=1)
    assert (model.calibration.values == y).all()
    assert 100 * np.mean(labels == y) == pytest.approx(model.accuracy)
    assert "log-loss" in str(model)


def test_probabilities_of_predictions():
    y, X = strings(200)
    model = d2ke.d2ke_train(y[:100], X[:100], R=64)
    labels, accuracy, P = d2ke.d2ke_predict(y[100:], X[100:], model, probability=True)
    plain = d2ke.d2ke_predict(y[100:], X[100:], model)
    assert (labels == plain[0]).all()
    assert accuracy == plain[1]
    np.testing.assert_allclose(P.sum(axis=1), 1)
    assert (model.classes[P.argmax(axis=1)] == labels).all()
    wanted = softmax(model.calibration.scale * plain[2] + model.calibration.offsets, axis=1)
    same = wanted.argmax(axis=1) == P.argmax(axis=1)
    np.testing.assert_allclose(P[same], wanted[same])


def test_regressions_have_errors_and_no_probabilities():
    _, X = strings(60)
    y = np.array([x.count("a") + 0.5 for x in X])
    model = d2ke.d2ke_train(y, X, R=64)
    errors = model.calibration.decisions[:, 0] - y
    assert 1 - np.mean(errors**2) / np.var(y) == pytest.approx(model.accuracy, rel=1e-4)
    assert "left-out errors" in str(model)
    with pytest.raises(d2ke.ArgumentError, match="probability is for classes"):
        d2ke.d2ke_predict(None, X, model, probability=True)
