# SPDX-License-Identifier: BSD-3-Clause
"""Learners trained on a features file: the models of the array."""

import os

import numpy as np
import pytest
import reference
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import same

import d2ke
from d2ke.io import open_features, save_features

pytestmark = pytest.mark.skipif(os.name != "posix", reason="locks and writes as POSIX has them")


@pytest.fixture
def file(tmp_path):
    return tmp_path / "features.h5"


@pytest.fixture(scope="module", params=[None, "gzip"])
def trained(request, tmp_path_factory):
    """Features of three classes, in an array and in a store."""
    rng = np.random.default_rng(0)
    Z = rng.standard_normal((1500, 40))
    y = (Z[:, :3] + 0.3 * rng.standard_normal((1500, 3))).argmax(axis=1)
    path = tmp_path_factory.mktemp("store") / "features.h5"
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
    same_model(d2ke.train(y, path, options, solver=solver, n_threads=2), wanted)
    with open_features(path) as store:
        same_model(d2ke.train(y, store, options, solver=solver, n_threads=2), wanted)
        for (labels, accuracy, decision), source in (
            (d2ke.predict(y, store, wanted), "open"),
            (d2ke.predict(y, str(path), wanted), "name"),
        ):
            labels_, accuracy_, decision_ = d2ke.predict(y, Z, wanted)
            assert (labels == labels_).all(), source
            assert accuracy == accuracy_
            same(decision, decision_)


@pytest.mark.parametrize("loss", ["squared", "squared_hinge"])
def test_classifiers_are_those_of_the_array(trained, loss):
    y, Z, path = trained
    wanted = d2ke.train_classifier(y, Z, loss=loss, C=1.0)
    same_model(d2ke.train_classifier(y, path, loss=loss, C=1.0), wanted)


def test_least_squares_with_more_columns_than_rows(file):
    Z = np.random.default_rng(0).standard_normal((20, 50))
    y = np.arange(20) % 3
    save_features(file, Z)
    same_model(d2ke.train_least_squares(y, file), d2ke.train_least_squares(y, Z))


@pytest.mark.parametrize("kind", ["standard", "center", "none"])
def test_scaling_of_a_store(trained, kind):
    y, Z, path = trained
    wanted, ours = d2ke.Scaling.fit(Z, kind), d2ke.Scaling.fit(path, kind)
    np.testing.assert_allclose(ours.mean, wanted.mean, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(ours.sd, wanted.sd, rtol=1e-12)
    scaled = wanted.apply(path)
    assert (scaled.shape, scaled.dtype, len(scaled)) == (Z.shape, Z.dtype, 1500)
    same(scaled[100:200], wanted.apply(Z)[100:200])
    same_model(
        d2ke.train(y, scaled, solver="block"), d2ke.train(y, wanted.apply(Z), solver="block")
    )


@settings(max_examples=reference.examples(60))
@given(data=st.data())
def test_rows_for_solvers(tmp_path, data):
    from d2ke.io.rows import StoredRows

    n, m = data.draw(st.integers(1, 300)), data.draw(st.integers(1, 200))
    Z = np.random.default_rng(0).random((n, m), dtype=data.draw(st.sampled_from(["f4", "f8"])))
    save_features(tmp_path / "x", Z, compression=data.draw(st.sampled_from([None, "gzip"])))
    rows = StoredRows("Z", tmp_path / "x")
    for _ in range(5):
        part = slice(data.draw(st.integers(0, n)), data.draw(st.integers(0, n + 5)))
        same(rows[part], Z[part])
    same(rows[:], Z)
    with pytest.raises(ValueError, match="without a step"):
        rows[::2]


def test_stores_that_cannot_be_trained_on(file):
    Z = np.ones((300, 5))
    Z[260, 3] = np.inf
    save_features(file, Z)
    with pytest.raises(ValueError, match=r"Z has inf at position \(260, 3\); every value must"):
        d2ke.train([0, 1] * 150, file)
    save_features(file, np.ones((300, 5)))
    with pytest.raises(ValueError, match="y has 4 labels, but Z has 300 rows"):
        d2ke.train([0, 1] * 2, file)
    with pytest.raises(FileNotFoundError):
        d2ke.train([0, 1], file.parent / "none.h5")
