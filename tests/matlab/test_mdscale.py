# SPDX-License-Identifier: BSD-3-Clause
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import approx_fprime

import matlab_compat as m
from matlab_compat import scaling

CRITERIA = ["stress", "sstress", "metricstress", "metricsstress"]


@pytest.fixture
def X():
    return np.random.default_rng(0).standard_normal((20, 3))


@pytest.mark.parametrize("criterion", [*CRITERIA, "strain"])
def test_points_that_exist_are_found(X, criterion):
    D = m.squareform(m.pdist(X))
    Y, stress, disparities = m.mdscale(D, 3, Criterion=criterion)
    assert stress < 1e-3
    assert_allclose(m.pdist(Y), m.pdist(X), rtol=0.01)
    assert_allclose(disparities, D, rtol=0.01)
    assert_allclose(Y.mean(axis=0), 0, atol=1e-12)


@pytest.mark.parametrize("criterion", ["stress", "sstress"])
def test_only_the_order_counts(X, criterion):
    D = m.pdist(X)
    Y, stress, disparities = m.mdscale(D**3, 2, Criterion=criterion)
    again = m.mdscale(D, 2, Criterion=criterion, Start=Y)
    assert again[1] == pytest.approx(stress, rel=1e-3)
    assert disparities.shape == D.shape
    assert (np.diff(disparities[0, D[0].argsort()]) >= -1e-12).all()
    assert np.mean(m.pdist(Y) ** 2) == pytest.approx(np.mean(D**6))


def test_stress_is_that_of_its_definition(X):
    D = m.pdist(X)
    for criterion, power in (("stress", 1), ("sstress", 2)):
        Y, stress, t = m.mdscale(D, 1, Criterion=criterion)
        d = m.pdist(Y)
        errors = d**power - t**power
        assert stress == pytest.approx(np.sqrt(np.sum(errors**2) / np.sum(d ** (2 * power))))
        Y, stress, t = m.mdscale(D, 1, Criterion="metric" + criterion)
        assert_allclose(t, D, rtol=1e-12)
        errors = m.pdist(Y) ** power - D**power
        assert stress == pytest.approx(np.sqrt(np.sum(errors**2) / np.sum(D ** (2 * power))))


def test_no_more_stress_than_scikit_learns(X):
    sklearn = pytest.importorskip("sklearn.manifold")
    D = m.squareform(m.pdist(X))
    start, _ = m.cmdscale(D, 2)
    for metric in (True, False):
        points, _ = sklearn.smacof(
            D, metric=metric, n_components=2, init=start, n_init=1, max_iter=2000, eps=1e-9,
            normalized_stress=False,
        )  # fmt: skip
        Y, stress, _ = m.mdscale(D, 2, Criterion="metricstress" if metric else "stress")
        d = m.pdist(points)
        if metric:
            theirs = np.sqrt(np.sum((d - m.pdist(X)) ** 2) / np.sum(m.pdist(X) ** 2))
        else:
            t = scaling._monotone(d.ravel(), m.pdist(X).ravel())
            theirs = np.sqrt(np.sum((d - t) ** 2) / np.sum(d**2))
        assert stress <= theirs * 1.001
        assert Y.shape == (20, 2)


@pytest.mark.parametrize("criterion", CRITERIA)
def test_gradients(X, criterion, monkeypatch):
    def check(value, start, **_):
        start = start + 0.1
        gradient = value(start)[1]
        numeric = approx_fprime(start, lambda Y: value(Y)[0], 1e-7)
        assert_allclose(gradient, numeric, atol=1e-5)
        raise KeyboardInterrupt

    monkeypatch.setattr(scaling, "minimize", check)
    with pytest.raises(KeyboardInterrupt):
        m.mdscale(m.pdist(X), 2, Criterion=criterion)


def test_a_monotone_fit():
    isotonic = pytest.importorskip("sklearn.isotonic").isotonic_regression
    values = np.random.default_rng(0).standard_normal(200).cumsum()
    assert_allclose(scaling._monotone(values, np.arange(200)), isotonic(values))
    assert_array_equal(scaling._monotone(np.array([2.0, 1]), np.array([5, 5])), [2, 1])


def test_equal_points_and_few_dimensions():
    Y, stress, _ = m.mdscale(np.zeros((3, 3)), 2)
    assert_allclose(Y, 0, atol=1e-3)
    line = np.abs(np.subtract.outer(np.arange(5.0), np.arange(5.0)))
    Y, stress, _ = m.mdscale(line, 2, Criterion="metricstress")
    assert stress < 1e-3
