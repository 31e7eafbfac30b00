# SPDX-License-Identifier: BSD-3-Clause
"""LIBSVM fed from arrays: equal to LIBSVM's own predictions, and free of its package's traps."""

import ctypes
import io
import itertools
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from scipy import optimize, sparse
from sklearn.datasets import load_diabetes, load_digits, load_iris

import d2ke
from d2ke.learners.solvers.libsvm import svmtrain
from d2ke.learners.solvers.svm_model import SVMModel, svmpredict


def rbf(A, B, gamma):
    return np.exp(-gamma * ((A[:, None] - B) ** 2).sum(axis=2))


@pytest.fixture(scope="module")
def digits():
    """Gram matrices of training and test rows, and their labels; both in random order."""
    X, y = load_digits(return_X_y=True)
    rows = np.random.default_rng(0).permutation(len(y))[:450]
    X, y = X[rows] / 16, y[rows]
    return rbf(X[:300], X[:300], 0.1), y[:300], rbf(X[300:], X[:300], 0.1), y[300:]


@pytest.fixture(scope="module")
def iris():
    X, y = load_iris(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(y))
    return X[order] / X.max(axis=0), y[order]


def original(*args):
    """Run LIBSVM's own Python route: (model, labels, decision values).

    In a thread of its own, whose OpenMP teams are held to one thread: on busy cores they are slow,
    and the setting must not reach other tests.
    """
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(_original, *args).result()


def _original(y, data, options, tested, precomputed):
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "numba", None)  # not needed, and slow to import
        from libsvm import svm, svmutil
    getattr(svm.libsvm, "omp_set_num_threads", int)(1)
    if precomputed:
        data = np.column_stack([np.arange(1, len(data) + 1), data])
        tested = np.column_stack([np.zeros(len(tested)), tested])
    model = svmutil.svm_train(np.asarray(y, float), data, options + " -q")
    # Not through svm_predict: it reserves a single decision value for nu-SVC.
    classes = model.get_nr_class()
    values = (ctypes.c_double * (classes * (classes - 1) // 2))()
    labels, decision = [], []
    for row in tested:
        nodes, _ = svm.gen_svm_nodearray(np.ascontiguousarray(row), isKernel=precomputed)
        labels.append(svm.libsvm.svm_predict_values(model, nodes, values))
        decision.append(list(values))
    return model, np.array(labels), np.array(decision)


def pair_columns(k):
    return list(itertools.combinations(range(k), 2))


# ------------------------------------------------------------------ the same as LIBSVM itself
@pytest.mark.parametrize("options", ["-t 4 -c 3", "-t 4 -s 1 -n 0.1", "-t 4 -c 3 -h 0 -e 1e-5"])
def test_equals_the_original_for_many_classes(digits, options):
    K, y, K_test, _ = digits
    order = np.argsort(y, kind="stable")
    theirs, labels, decision = original(
        y[order], K[np.ix_(order, order)], options, K_test[:, order], True
    )
    model = svmtrain(y, K, options)
    np.testing.assert_array_equal(model.support, order[np.array(theirs.get_sv_indices()) - 1])
    np.testing.assert_array_equal(model.coef.T, -np.array(theirs.get_sv_coef()))
    np.testing.assert_array_equal(model.n_support, theirs.nSV[:10])
    ours, _, values = svmpredict(None, K_test, model)
    np.testing.assert_allclose(values, -decision, atol=1e-12)
    np.testing.assert_array_equal(ours, labels)
    # In the given order of rows, LIBSVM's order of classes differs: votes may tie differently.
    _, labels, _ = original(y, K, options, K_test, True)
    votes = np.zeros((len(K_test), 10))
    for column, (a, b) in enumerate(pair_columns(10)):
        votes[np.arange(len(votes)), np.where(values[:, column] > 0, b, a)] += 1
    clear = (votes == votes.max(axis=1, keepdims=True)).sum(axis=1) == 1
    assert clear.mean() > 0.9
    np.testing.assert_array_equal(ours[clear], labels[clear])


def test_ties_of_votes_go_to_the_first_class(iris):
    # Three classes, each beating the next one: one vote each.
    model = svmtrain(["a", "b", "c"], np.eye(3), "-t 4")
    parts = {**vars(model), "rho": np.array([-1.0, 1.0, -1.0]), "coef": np.zeros((2, 3))}
    labels, _, decision = svmpredict(None, np.zeros((1, 3)), SVMModel(**parts))
    np.testing.assert_array_equal(decision, [[1.0, -1.0, 1.0]])
    assert labels.tolist() == ["a"]


def test_two_classes_and_their_sign(iris):
    X, y = iris
    X, y = X[y > 0], y[y > 0]
    K = rbf(X, X, 1.0)
    for names in ([-1, 1], [1, -1], [3, 7], [7, 3]):
        named = np.array(names)[y - 1]
        _, labels, _ = original(named, K, "-t 4 -c 5 -e 1e-8", K, True)
        ours, (percent, _, _), decision = svmpredict(named, K, svmtrain(named, K, "-t 4 -c 5"))
        assert decision.shape == (100, 1)
        np.testing.assert_array_equal(ours == max(names), decision[:, 0] > 0)
        np.testing.assert_array_equal(ours, labels)
        assert percent == 100 * np.mean(labels == named)


@pytest.mark.parametrize("options", ["-s 3 -c 10 -p 0.05", "-s 4 -c 10 -n 0.3"])
@pytest.mark.parametrize("kernel", ["-t 4", "-t 0", "-t 2 -g 3"])
def test_regression(options, kernel):
    X, y = load_diabetes(return_X_y=True)
    X, y = X[:150] * 5, (y[:150] - y.mean()) / y.std()
    precomputed = kernel == "-t 4"
    data = rbf(X, X, 1.0) if precomputed else X
    theirs, labels, decision = original(y, data, f"{options} {kernel}", data[:40], precomputed)
    model = svmtrain(y, data, f"{options} {kernel}")
    assert model.classes is None
    assert model.n_support is None
    np.testing.assert_array_equal(model.coef.T, theirs.get_sv_coef())
    predicted, (percent, mse, scc), values = svmpredict(y[:40], data[:40], model)
    np.testing.assert_allclose(predicted, labels, atol=1e-10)
    np.testing.assert_allclose(values, decision, atol=1e-10)
    assert np.isnan(percent)
    assert mse == pytest.approx(np.mean((labels - y[:40]) ** 2))
    assert scc == pytest.approx(np.corrcoef(labels, y[:40])[0, 1] ** 2)


def test_regression_without_support_vectors():
    model = svmtrain([2.0, 2.0, 2.0], np.eye(3), "-s 3 -t 4")
    assert model.support.shape == (0,)
    np.testing.assert_allclose(svmpredict(None, np.ones((2, 3)), model)[0], 2.0)
    model = svmtrain([2.0, 2.0, 2.0], np.eye(3), "-s 3 -t 2")
    np.testing.assert_allclose(svmpredict(None, np.ones((2, 3)), model)[0], 2.0)


@pytest.mark.parametrize(
    "kernel", ["-t 0", "-t 1 -d 2 -g 0.7 -r 1.5", "-t 2", "-t 2 -g 2", "-t 3 -g 0.1 -r -0.5"]
)
def test_kernels_of_vectors(iris, kernel):
    X, y = iris
    order = np.argsort(y, kind="stable")
    theirs, labels, decision = original(y[order], X[order], f"{kernel} -c 2", X, False)
    expected = -np.array(theirs.get_sv_coef()).T
    narrow = X.astype(np.float32).astype(float)
    for Z in (X, np.asfortranarray(X), sparse.csr_matrix(X), sparse.csc_array(X)):
        model = svmtrain(y, Z, f"{kernel} -c 2")
        np.testing.assert_array_equal(model.coef, expected)
        for tested in (X, sparse.csr_array(X)):
            ours, _, values = svmpredict(y, tested, model)
            np.testing.assert_allclose(values, -decision, atol=1e-9)
            np.testing.assert_array_equal(ours, labels)
    single = svmtrain(y, X.astype(np.float32), f"{kernel} -c 2")
    np.testing.assert_array_equal(single.coef, svmtrain(y, narrow, f"{kernel} -c 2").coef)
    np.testing.assert_allclose(
        svmpredict(None, X.astype(np.float32), single)[2],
        svmpredict(None, narrow, svmtrain(y, narrow, f"{kernel} -c 2"))[2],
        atol=1e-9,
    )


def test_maximises_the_dual_objective(iris):
    X, y = iris
    X, y = X[y > 0][:30], y[y > 0][:30]
    sign, C = np.where(y == 2, 1.0, -1.0), 2.0
    K = rbf(X, X, 1.0)
    Q = sign[:, None] * sign * K
    best = optimize.minimize(
        lambda a: 0.5 * a @ Q @ a - a.sum(), np.full(30, 0.1), jac=lambda a: Q @ a - 1,
        bounds=[(0, C)] * 30, constraints={"type": "eq", "fun": lambda a: a @ sign},
        method="SLSQP", options={"ftol": 1e-12, "maxiter": 500},
    )  # fmt: skip
    model = svmtrain(y, K, "-t 4 -c 2 -e 1e-6")
    alpha = np.zeros(30)
    alpha[model.support] = model.coef[0] * sign[model.support]
    assert (alpha >= 0).all()
    assert alpha @ sign == pytest.approx(0, abs=1e-9)
    assert 0.5 * alpha @ Q @ alpha - alpha.sum() == pytest.approx(best.fun, rel=1e-5)


def test_class_weights(iris):
    X, y = iris
    K, order = rbf(X, X, 1.0), np.argsort(y, kind="stable")
    theirs, _, _ = original(
        y[order], K[np.ix_(order, order)], "-t 4 -w0 3 -w2 0.25", K[:1, order], True
    )
    words = np.array(["a", "b", "c"])[y]
    by_option = svmtrain(y, K, "-t 4 -w0 3 -w2 0.25")
    by_name = svmtrain(words, K, "-t 4", class_weight={"a": 3, "c": 0.25})
    np.testing.assert_array_equal(by_option.coef, by_name.coef)
    np.testing.assert_array_equal(by_option.coef.T, -np.array(theirs.get_sv_coef()))


def test_the_model_does_not_refer_to_the_data(iris):
    X, y = iris
    vectors = X.copy()
    model = svmtrain(y, vectors, "-t 2")
    expected = svmpredict(y, X, model)[2]
    vectors[:] = np.nan
    np.testing.assert_array_equal(svmpredict(y, X, model)[2], expected)


@pytest.mark.parametrize(
    ("K", "error", "message"),
    [
        (np.ones((2, 3)), ValueError, r"square for -t 4, got shape \(2, 3\); leave out the column"),
        (np.ones((2, 5)), ValueError, r"square for -t 4, got shape \(2, 5\)$"),
        (np.ones((0, 0)), ValueError, r"got shape \(0, 0\)"),
        (np.array([[1e39, 0], [0, 1]]), ValueError, "float32"),
    ],
)
def test_refused_grams(K, error, message):
    with pytest.raises(error, match=message):
        svmtrain([0, 1], K)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("-t 5", "-t must be one of 0, 1, 2, 3, 4"),
        ("-t 4 -s 2", "-s must be one of 0, 1, 3, 4"),
        ("-t 4 -b 1", "-b is not supported: LIBSVM's probability"),
        ("-t 4 -v 5", "-v is not supported"),
        ("-t 4 -g 1", "-g is for the kernels"),
        ("-t 2 -g 0", "-g must be greater than 0"),
        ("-t 4 -s 1 -c 3", "-c is for the machines"),
        ("-t 4 -s 1 -n 1.5", "LIBSVM refuses the options: nu"),
        ("-t 4 -s 1 -n 0.9", "infeasible"),
        ("-t 1 -d 1.5", "-d needs an integer"),
    ],
)
def test_refused_options(options, message):
    with pytest.raises(ValueError, match=message):
        svmtrain([0, 1, 1, 1], np.eye(4), options)


def test_refused_predictions(iris):
    X, y = iris
    K = rbf(X, X, 1.0)
    model = svmtrain(y, K)
    with pytest.raises(ValueError, match="K has 3 columns, but the model has 4 features"):
        svmpredict(y, X[:, 1:], svmtrain(y, X, "-t 2"))
    labels, accuracy, decision = svmpredict([], K[:0], model)
    assert labels.shape == (0,)
    assert decision.shape == (0, 3)
    assert np.isnan(accuracy).all()


# ------------------------------------------------------------------ files
@pytest.mark.parametrize("options", ["-t 4", "-t 2 -g 0.5", "-t 1", "-s 3 -t 4", "-s 4 -t 0"])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_save_and_load(iris, options, form):
    X, y = iris
    data = rbf(X, X, 1.0) if "-t 4" in options else form(X)
    y = y if "-s" in options else np.array(["x", "a", "m"])[y]
    model = svmtrain(y, data, options)
    file = io.BytesIO()
    d2ke.save_model(file, model)
    file.seek(0)
    loaded = d2ke.load_model(file)
    assert isinstance(loaded, SVMModel)
    assert (loaded.kernel, loaded.options) == (model.kernel, options)
    assert sparse.issparse(loaded.vectors) == sparse.issparse(model.vectors)
    before, after = svmpredict(y, data, model), svmpredict(y, data, loaded)
    np.testing.assert_array_equal(after[0], before[0])
    np.testing.assert_array_equal(after[2], before[2])
