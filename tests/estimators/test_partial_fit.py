# SPDX-License-Identifier: BSD-3-Clause
"""Estimators that learn from objects in several calls."""

import numpy as np
import pytest

pytest.importorskip("sklearn", minversion="1.6")

import d2ke
from d2ke.estimators import D2KEClassifier

X = ["abab", "aabb", "ababab", "aaabbb"] * 10
Y = ["odd", "even"] * 20


def test_later_calls_update():
    est = D2KEClassifier(R=16, random_state=0)
    assert est.partial_fit(X[:20], Y[:20], classes=["even", "odd"]) is est
    est.partial_fit(X[20:], Y[20:])
    model = d2ke.d2ke_train(Y[:20], X[:20], R=16, keep_sums=True)
    model = d2ke.d2ke_update(Y[20:], X[20:], model)
    np.testing.assert_array_equal(est.model_.linear.weights, model.linear.weights)
    assert est.classes_.tolist() == ["even", "odd"]
    assert est.score(X, Y) == 1.0


def test_refused():
    with pytest.raises(ValueError, match="classes has 'new', which y of the first call does not"):
        D2KEClassifier(R=8).partial_fit(X, Y, classes=["even", "new", "odd"])
    with pytest.raises(ValueError, match="classes must be the labels of the first call"):
        D2KEClassifier(R=8).partial_fit(X, Y, classes=["even"])


def test_a_model_of_fit_has_no_sums():
    est = D2KEClassifier(R=8, random_state=0).fit(X, Y)
    with pytest.warns(UserWarning, match="partial_fit trains anew, without the objects of fit"):
        est.partial_fit(X[:20], Y[:20])
    assert est.partial_fit(X[20:], Y[20:]).model_.n_added == 20
