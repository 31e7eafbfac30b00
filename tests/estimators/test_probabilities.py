# SPDX-License-Identifier: BSD-3-Clause
"""Scikit-learn's tools that need probabilities."""

import numpy as np
import pytest

pytest.importorskip("sklearn", minversion="1.6")

from sklearn.metrics import log_loss, roc_auc_score
from sklearn.model_selection import GridSearchCV

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
    search = GridSearchCV(model, {"R": [4, 16]}, scoring=scoring, cv=3, error_score="raise")
    found = search.fit(X[:90], y[:90])
    P = found.predict_proba(X[90:])
    positive = {"y_score": P[:, 1]} if k == 2 else {"y_score": P, "multi_class": "ovr"}
    value = -log_loss(y[90:], P) if scoring == "neg_log_loss" else roc_auc_score(y[90:], **positive)
    assert found.score(X[90:], y[90:]) == pytest.approx(value)
