# SPDX-License-Identifier: BSD-3-Clause
"""Sets of classes and intervals, and how often they hold the truth."""

import numpy as np
import pytest

import d2ke
from d2ke.explain.conformal import sets_of
from d2ke.models.calibration import Calibration


def words(n, k, seed):
    """Return strings of three letters, whose shares say the class or the target."""
    rng = np.random.default_rng(seed)
    y = rng.integers(k, size=n)
    tilt = np.array([np.roll([0.5, 0.25, 0.25], c) for c in y])
    return y, ["".join(rng.choice(list("abc"), 10, p=p)) for p in tilt]


def test_the_bound_is_the_score_of_the_right_rank():
    errors = np.arange(1.0, 20.0)  # 19 of them: ranks 20 (1 - alpha)
    calibration = Calibration(errors[:, None], np.zeros(19), 1.0, np.empty(0))
    for alpha, bound in ((0.1, 18.0), (0.5, 10.0), (0.05, 19.0), (0.04, np.inf)):
        found = sets_of(np.array([[100.0]]), calibration, alpha)
        assert found.tolist() == [[100 - bound, 100 + bound]]


def test_classes_as_probable_as_true_ones_are_in_the_set():
    rng = np.random.default_rng(0)
    F = rng.normal(size=(99, 3)).astype(np.float32)
    y = (F + rng.gumbel(size=F.shape)).argmax(axis=1)
    calibration = Calibration.fit(F, y, 3)
    own = np.sort(calibration.loo[np.arange(99), y])
    new = rng.normal(size=(50, 3))
    P, top = calibration.probabilities(new), new.argmax(axis=1)
    for alpha, rank in ((0.2, 80), (0.6, 40)):
        found = sets_of(new, calibration, alpha)
        assert found.dtype == bool
        # Down to the probability of the true class of that rank, and always the most probable one.
        wanted = own[99 - rank] - 1e-15 <= P
        if alpha == 0.6:
            assert not wanted.any(axis=1).all()
        wanted[np.arange(50), top] = True
        assert (found == wanted).all()
    assert sets_of(new, calibration, 0.001).all()
    # Those of the objects themselves hold 80 of 99.
    assert sets_of(F, calibration, 0.2)[np.arange(99), y].sum() == 80


@pytest.mark.parametrize("k", [2, 4])
def test_coverage_of_classes(k):
    covered = []
    for seed in range(4):
        y, X = words(500, k, seed)
        model = d2ke.d2ke_train(y[:200], X[:200], R=32, seed=seed, n_threads=1)
        sets = d2ke.predict_set(X[200:], model, alpha=0.2, n_threads=1)
        covered.append(sets[np.arange(300), y[200:]].mean())
    # 4 thresholds of 200 objects each, and 4 x 300 new objects
    error = np.sqrt(0.2 * 0.8 * (1 / 800 + 1 / 1200))
    assert abs(np.mean(covered) - 0.8) < 3 * error


def test_coverage_of_intervals():
    covered = []
    for seed in range(4):
        _, X = words(500, 3, seed)
        noise = np.random.default_rng(seed).normal(size=500)
        y = np.array([x.count("a") for x in X]) + noise
        model = d2ke.d2ke_train(y[:200], X[:200], R=32, seed=seed, n_threads=1)
        low, high = d2ke.predict_set(X[200:], model, alpha=0.2, n_threads=1).T
        covered.append(((low <= y[200:]) & (y[200:] <= high)).mean())
    error = np.sqrt(0.2 * 0.8 * (1 / 800 + 1 / 1200))
    assert abs(np.mean(covered) - 0.8) < 3 * error
