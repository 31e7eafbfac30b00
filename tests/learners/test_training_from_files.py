# SPDX-License-Identifier: BSD-3-Clause
"""Learners trained on a features file: the models of the array."""

import numpy as np
import pytest
from reference import same

import d2ke
from d2ke.io import open_features, save_features


@pytest.fixture
def file(tmp_path):
    return tmp_path / "features.h5"


@pytest.fixture(scope="module", params=[None, "gzip"])
def trained(request, tmp_path_factory):
    """Features of three classes, in an array and in a file."""
    rng = np.random.default_rng(0)
    Z = rng.standard_normal((1500, 40))
    y = (Z[:, :3] + 0.3 * rng.standard_normal((1500, 3))).argmax(axis=1)
    path = tmp_path_factory.mktemp("features") / "features.h5"
    save_features(path, Z, compression=request.param)
    return y, Z, path


def same_model(a, b):
    same(a.weights, b.weights)
    assert (a.bias is None) == (b.bias is None)
    if a.bias is not None:
        same(a.bias, b.bias)


@pytest.mark.parametrize(
    ("solver", "options"),
    [
        ("liblinear", "-s 2 -B 1 -c 1"),
        ("liblinear", "-s 1 -c 0.1"),
        ("block", "-s 2 -B 1 -c 1"),
        ("block", "-s 2 -c 10"),
    ],
)
def test_models_are_those_of_the_array(trained, solver, options):
    y, Z, path = trained
    wanted = d2ke.train(y, Z, options, solver=solver, n_threads=2)
    labels, accuracy, decision = d2ke.predict(y, Z, wanted)
    with open_features(path) as file:
        same_model(d2ke.train(y, file, options, solver=solver, n_threads=2), wanted)
        found = d2ke.predict(y, file, wanted)
        assert (found[0] == labels).all()
        assert found[1] == accuracy
        same(found[2], decision)
    with pytest.raises(TypeError, match=r"give d2ke\.io\.open_features of it"):
        d2ke.train(y, path, options, solver=solver)


def test_least_squares_with_more_columns_than_rows(file):
    Z = np.random.default_rng(0).standard_normal((20, 50))
    y = np.arange(20) % 3
    save_features(file, Z)
    same_model(d2ke.train_least_squares(y, open_features(file)), d2ke.train_least_squares(y, Z))


@pytest.mark.parametrize("kind", ["standard", "center", "none"])
def test_scaling_of_a_file(trained, kind):
    y, Z, path = trained
    wanted, ours = (
        d2ke.embedding.Scaling.fit(Z, kind),
        d2ke.embedding.Scaling.fit(open_features(path), kind),
    )
    np.testing.assert_allclose(ours.mean, wanted.mean, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(ours.divisor, wanted.divisor, rtol=1e-12)
    scaled = wanted.apply(open_features(path))
    assert (scaled.shape, scaled.dtype, len(scaled)) == (Z.shape, Z.dtype, 1500)
    same(scaled[100:200], wanted.apply(Z)[100:200])
    same_model(
        d2ke.train(y, scaled, solver="block"), d2ke.train(y, wanted.apply(Z), solver="block")
    )


def test_files_that_cannot_be_trained_on(file):
    Z = np.ones((300, 5))
    Z[260, 3] = np.inf
    save_features(file, Z)
    with pytest.raises(ValueError, match=r"Z has inf at position \(260, 3\); every value must"):
        d2ke.train([0, 1] * 150, open_features(file))
    save_features(file, np.ones((300, 5)))
