# SPDX-License-Identifier: BSD-3-Clause
"""The methods of a model equal the functions, whatever it predicts."""

import io

import numpy as np
import pytest

import d2ke

X = ["abab", "aabb", "ababab", "aaabbb"] * 6
LENGTHS = np.array(list(map(len, X)))
LABELS = {
    "classes": ["odd", "even"] * 12,
    "numbers": LENGTHS + 0.5,
    "sets of labels": np.column_stack([LENGTHS > 4, np.arange(24) % 2]),
}


@pytest.mark.parametrize("task", LABELS)
def test_methods_equal_the_functions(task):
    y = LABELS[task]
    model = d2ke.d2ke_train(y, X, R=48)
    labels, score, _ = d2ke.d2ke_predict(y[:9], X[:9], model)
    assert np.array_equal(model.predict(X[:9]), labels)
    assert model.score(X[:9], y[:9]) == (score if task == "numbers" else score / 100)
    assert np.array_equal(model.transform(X[:9], n_threads=1), d2ke.d2ke_transform(X[:9], model))
    if task == "numbers":
        with pytest.raises(ValueError, match="probability is for classes"):
            model.predict_proba(X[:9])
    else:
        P = d2ke.d2ke_predict(None, X[:9], model, probability=True)[2]
        assert np.array_equal(model.predict_proba(X[:9]), P)
    by_method, by_function = io.BytesIO(), io.BytesIO()
    model.save(by_method)
    d2ke.save_model(by_function, model)
    assert by_method.getvalue() == by_function.getvalue()


def test_options_are_those_of_the_functions():
    model = d2ke.d2ke_train(LABELS["classes"], X, R=48)
    with pytest.raises(ValueError, match="letter"):
        model.predict(["abz"], unseen_letters="refuse")
    with pytest.raises(TypeError, match="n_thread"):
        model.predict(X, n_thread=1)
