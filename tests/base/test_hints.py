# SPDX-License-Identifier: BSD-3-Clause
"""What the package says to those who look for something in the wrong place."""

import numpy as np
import pytest

import d2ke


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("D2KEClassifier", "it is d2ke.estimators.D2KEClassifier"),
        ("read_objects", "it is d2ke.io.read_objects"),
        ("kernel_norm", "it is d2ke.measures.kernel_norm"),
        ("dtw", r"d2ke.distance_matrix\(X, distance='dtw'\)"),
        ("load", "load_model reads models"),
        ("cdist", "it is d2ke.distance_matrix"),
        ("matrix_profile", "window_profile compares"),
        ("distance_matrixx", r"did you mean d2ke.distance_matrix\?"),
        ("plot_clusters", "it is d2ke.plots.plot_clusters"),
        ("no_such_name", "'no_such_name'$"),
        ("_private", "'_private'$"),
    ],
)
def test_names_that_are_elsewhere(name, hint):
    with pytest.raises(AttributeError, match=hint):
        getattr(d2ke, name)
    assert not hasattr(d2ke, name)


@pytest.mark.parametrize("X", [["ab", "ba"], [[[1.0, 2]], [[1.0], [2.0]]], d2ke.pack(["a", "b"])])
def test_train_of_objects(X):
    with pytest.raises((TypeError, ValueError), match="LIBLINEAR on a matrix Z, d2ke_train takes"):
        d2ke.train([0, 1], X)


def test_two_samples_of_strings():
    with pytest.raises(TypeError, match="P holds strings, and points are needed; a distance"):
        d2ke.kernel_two_sample_test(["ab", "ba"], ["aa", "bb"])
    found = d2ke.kernel_two_sample_test(
        ["ab", "ba", "aab"],
        ["cc", "ccc", "cd"],
        kernel=lambda X, Y: np.exp(-d2ke.distance_matrix(X, Y) / 5),
    )
    assert found.p_value <= 0.1


def test_links_are_shown_on_a_line():
    names = [f"name {i} of many" for i in range(60)]
    text = repr(d2ke.link(names, names, radius=1))
    assert text.startswith("<60 links: 0 and 0, 1 and 1")
    assert len(text.splitlines()) == 1


def test_errors_of_a_regression():
    X = ["a" * i + "b" * (12 - i) for i in range(12)]
    assert "left-out errors: RMSE " in str(d2ke.d2ke_train(np.arange(12) + 0.5, X, R=16))
