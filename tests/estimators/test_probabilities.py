# SPDX-License-Identifier: BSD-3-Clause
"""Scikit-learn's tools that need probabilities."""

import numpy as np
import pytest

pytest.importorskip("sklearn", minversion="1.6")

from sklearn.ensemble import RandomForestClassifier, StackingClassifier, VotingClassifier
from sklearn.metrics import log_loss, roc_auc_score
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from d2ke.estimators import D2KEClassifier


def strings(n, k):
    """Draw strings of k classes, each with a letter of its own more often."""
    rng = np.random.default_rng(0)
    y = np.arange(n) % k
    X = ["".join(rng.choice(list("abcd"), 8, p=np.roll([0.46, 0.18, 0.18, 0.18], c))) for c in y]
    return X, np.array(["ant", "bee", "cat"])[y]


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("scoring", ["neg_log_loss", "roc_auc_ovr"])
def test_grid_search_by_scores_of_probabilities(scoring, k):
    X, y = strings(120, k)
    model = D2KEClassifier(random_state=0, n_threads=1)
    search = GridSearchCV(model, {"R": [4, 64]}, scoring=scoring, cv=3, error_score="raise")
    found = search.fit(X[:90], y[:90])
    P = found.predict_proba(X[90:])
    positive = {"y_score": P[:, 1]} if k == 2 else {"y_score": P, "multi_class": "ovr"}
    value = -log_loss(y[90:], P) if scoring == "neg_log_loss" else roc_auc_score(y[90:], **positive)
    assert found.score(X[90:], y[90:]) == pytest.approx(value)


def test_soft_voting_adds_probabilities():
    X, y = strings(120, 3)
    models = [(f"R{R}", D2KEClassifier(R, random_state=0, n_threads=1)) for R in (16, 64)]
    vote = VotingClassifier(models, voting="soft").fit(X[:90], y[:90])
    mean = np.mean([one.predict_proba(X[90:]) for one in vote.estimators_], axis=0)
    np.testing.assert_allclose(vote.predict_proba(X[90:]), mean)
    assert (vote.predict(X[90:]) == vote.classes_[mean.argmax(axis=1)]).all()


def test_stacking_with_a_forest_on_plain_columns():
    X, y = strings(240, 3)
    rng = np.random.default_rng(1)
    table = np.empty((240, 2), dtype=object)
    table[:, 0], table[:, 1] = X, (y == "ant") + 0.7 * rng.normal(size=240)
    text = FunctionTransformer(lambda rows: rows[:, 0].tolist())
    numbers = FunctionTransformer(lambda rows: rows[:, 1:].astype(float))
    model = make_pipeline(text, D2KEClassifier(64, random_state=0, n_threads=1))
    forest = make_pipeline(numbers, RandomForestClassifier(50, random_state=0))
    stack = StackingClassifier([("strings", model), ("columns", forest)], cv=3)
    both = stack.fit(table[:160], y[:160]).score(table[160:], y[160:])
    assert stack.transform(table[160:]).shape == (80, 6)
    alone = [one.fit(table[:160], y[:160]).score(table[160:], y[160:]) for one in (model, forest)]
    assert both >= max(alone)
