# SPDX-License-Identifier: BSD-3-Clause
"""LIBLINEAR's and LIBSVM's MATLAB interfaces, against the libraries' own Python interfaces."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from liblinear import liblinearutil
from libsvm import svmutil
from reference import C_LIBRARY, examples
from scipy import sparse

from matlab_compat.learners import predict, svmpredict, svmtrain, train
from matlab_compat.sparse_text import libsvmread, libsvmwrite

LABELS = [[-1, 1], [1, -1], [2, 7], [7, 2], [3, 1, 2], [5, -4, 1, 2]]


def problem(labels, n=60, d=4, seed=0):
    """Overlapping classes whose labels first appear in the given order."""
    rng = np.random.default_rng(seed)
    codes = np.concatenate([np.arange(len(labels)), rng.integers(0, len(labels), n - len(labels))])
    centres = 1.5 * rng.standard_normal((len(labels), d))
    X = centres[codes] + rng.standard_normal((n, d))
    return np.array(labels, dtype=float)[codes][:, np.newaxis], X


def numbered(K):
    return np.c_[np.arange(1, len(K) + 1), K]


def columns(values):
    return np.array(values, dtype=float).reshape(-1, 1)


@pytest.mark.parametrize("labels", LABELS, ids=str)
@pytest.mark.parametrize("options", ["-s 2 -c 10 -e 0.0001 -q", "-s 0 -B 2 -q", "-s 2 -B 1 -q"])
def test_train_and_predict_equal_liblinear(labels, options):
    y, X = problem(labels)
    model = train(y, X, options)
    theirs = liblinearutil.train(y[:, 0], X, options)
    assert model.Label[:, 0].tolist() == theirs.get_labels()
    assert model.nr_class == theirs.get_nr_class()
    assert model.nr_feature == theirs.get_nr_feature() == X.shape[1]
    assert model.bias == theirs.bias
    rows = 1 if len(labels) == 2 else len(labels)
    width = X.shape[1] + (theirs.bias >= 0)
    w = np.array([[theirs.w[j * rows + i] for j in range(width)] for i in range(rows)])
    np.testing.assert_allclose(model.w, w, rtol=1e-9, atol=1e-12)

    _, Z = problem(labels, seed=1)
    found, accuracy, decision = predict(y, Z, model, "-q")
    their_labels, their_accuracy, their_decision = liblinearutil.predict(y[:, 0], Z, theirs, "-q")
    assert found.shape == (60, 1)
    assert accuracy.shape == (3, 1)
    np.testing.assert_array_equal(found, columns(their_labels))
    np.testing.assert_allclose(accuracy, columns(their_accuracy), rtol=1e-9)
    np.testing.assert_allclose(decision, np.array(their_decision), rtol=1e-8, atol=1e-10)
    if "-s 0" in options:
        probabilities = predict(y, Z, model, "-q -b 1")[2]
        theirs_b = liblinearutil.predict(y[:, 0], Z, theirs, "-q -b 1")[2]
        np.testing.assert_allclose(probabilities, np.array(theirs_b), rtol=1e-8, atol=1e-10)


def test_weights_of_classes_are_of_the_labels_given():
    y, X = problem([3, 1, 2])
    options = "-s 2 -c 1 -e 0.0001 -w1 7 -w3 0.5 -q"
    model, theirs = train(y, X, options), liblinearutil.train(y[:, 0], X, options)
    w = np.array([[theirs.w[j * 3 + i] for j in range(4)] for i in range(3)])
    np.testing.assert_allclose(model.w, w, rtol=1e-9, atol=1e-12)


def test_sparse_features_and_what_is_printed(capsys):
    y, X = problem([2, 7])
    dense = train(y, X, "-s 2 -q")
    model = train(y, sparse.csc_array(X), "-s 2 -q")
    np.testing.assert_array_equal(model.w, dense.w)
    found, accuracy, _ = predict(y, sparse.csr_matrix(X), model)
    right = int(np.sum(found == y))
    assert capsys.readouterr().out == f"Accuracy = {accuracy[0, 0]:g}% ({right}/60)\n"
    predict(y, X, model, "-q")
    assert capsys.readouterr().out == ""


def machine(y, X, options):
    """LIBSVM's own model, as arrays."""
    theirs = svmutil.svm_train(y[:, 0].tolist(), X, options)
    return theirs, {
        "Label": theirs.get_labels(),
        "nSV": [theirs.nSV[i] for i in range(theirs.get_nr_class())],
        "sv_indices": theirs.get_sv_indices(),
        "sv_coef": theirs.get_sv_coef(),
        "rho": [theirs.rho[i] for i in range(theirs.nr_class * (theirs.nr_class - 1) // 2)],
    }


@pytest.mark.parametrize("labels", LABELS, ids=str)
@pytest.mark.parametrize("kernel", ["-t 2 -g 0.3", "-t 0", "-t 4"])
def test_svmtrain_and_svmpredict_equal_libsvm(labels, kernel):
    y, X = problem(labels)
    _, Z = problem(labels, seed=1)
    options = f"-s 0 {kernel} -c 2 -e 0.000001 -q"
    if kernel == "-t 4":
        number = np.arange(1, 61)[:, np.newaxis]
        X, Z = (np.hstack([number, np.exp(-0.1 * ((A[:, None] - X) ** 2).sum(2))]) for A in (X, Z))
    model = svmtrain(y, X, options)
    theirs, expected = machine(y, X, options)
    assert model.Label[:, 0].tolist() == expected["Label"]
    assert model.nSV[:, 0].tolist() == expected["nSV"]
    assert model.sv_indices[:, 0].tolist() == expected["sv_indices"]
    np.testing.assert_allclose(model.sv_coef, np.array(expected["sv_coef"]), rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(model.rho[:, 0], expected["rho"], rtol=1e-4, atol=1e-5)
    assert model.totalSV == theirs.l
    if kernel == "-t 4":
        np.testing.assert_array_equal(model.SVs.toarray(), model.sv_indices)
    else:
        rows = model.sv_indices[:, 0].astype(int) - 1
        np.testing.assert_array_equal(model.SVs.toarray(), X[rows])

    found, accuracy, decision = svmpredict(y, Z, model, "-q")
    their_labels, their_accuracy, their_decision = svmutil.svm_predict(
        y[:, 0].tolist(), Z, theirs, "-q"
    )
    np.testing.assert_array_equal(found, columns(their_labels))
    np.testing.assert_allclose(accuracy, columns(their_accuracy), rtol=1e-9)
    np.testing.assert_allclose(decision, np.array(their_decision), rtol=1e-3, atol=1e-4)


def test_models_survive_a_mat_file(tmp_path):
    from d2ke.io import load_mat, save_mat

    y, X = problem([3, 1, 2])
    linear, machine = train(y, X, "-s 2 -B 1 -q"), svmtrain(y, X, "-t 2 -g 0.3 -q")
    save_mat(tmp_path / "models.mat", {"linear": linear, "machine": machine})
    read = load_mat(tmp_path / "models.mat")
    for model, use in ((linear, predict), (machine, svmpredict)):
        name = "linear" if model is linear else "machine"
        for ours, stored in zip(use(y, X, model, "-q"), use(y, X, read[name], "-q"), strict=True):
            np.testing.assert_array_equal(ours, stored)


def test_sparse_features_may_lack_their_last_columns():
    y, X = problem([3, 1, 2])
    X[:, 3] = 0
    for fit, use in ((train, predict), (svmtrain, svmpredict)):
        X[0, 3] = 1
        model = fit(y, sparse.csr_array(X), "-q")
        X[0, 3] = 0
        found = use(y, sparse.csr_array(X), model, "-q")
        for ours, expected in zip(
            use(y, sparse.csr_array(X[:, :3]), model, "-q"), found, strict=True
        ):
            np.testing.assert_array_equal(ours, expected)
        with pytest.raises(ValueError, match=r"3 (features|columns), but the model has 4"):
            use(y, X[:, :3], model, "-q")


def test_svmpredict_takes_any_numbers_before_the_kernel():
    y, X = problem([2, 7])
    K = X @ X.T
    model = svmtrain(y, numbered(K), "-t 4 -q")
    expected = svmpredict(y, numbered(K), model, "-q")[0]
    np.testing.assert_array_equal(svmpredict(y, np.c_[0 * y, K], model, "-q")[0], expected)


def seeded():
    """Begin the C library's rand() as in a new program."""
    C_LIBRARY.srand(1)


@pytest.mark.parametrize("labels", [[-1, 1], [3, 1, 2]], ids=str)
@pytest.mark.parametrize("options", ["-s 2 -v 4 -c 3", "-s 0 -B 1 -v 60", "-s 2 -v 5 -w1 7"])
def test_cross_validation_equals_liblinear(labels, options, capfd):
    y, X = problem(labels)
    seeded()
    theirs = liblinearutil.train(y[:, 0], X, options + " -q")
    capfd.readouterr()
    assert train(y, X, options) == pytest.approx(theirs, abs=1e-12)
    assert capfd.readouterr().out == f"Cross Validation Accuracy = {theirs:g}%\n"
    assert train(y, X, options + " -q") == pytest.approx(theirs, abs=1e-12)
    assert capfd.readouterr().out == ""


def test_cross_validation_of_regressions():
    y, X = problem([1, 2, 3])
    y = y + X[:, :1]
    seeded()
    theirs = liblinearutil.train(y[:, 0], X, "-s 11 -v 3 -q")
    assert train(y, X, "-s 11 -v 3 -q") == pytest.approx(theirs, rel=1e-12)
    seeded()
    theirs = svmutil.svm_train(y[:, 0].tolist(), X, "-s 3 -v 3 -q")
    assert svmtrain(y, X, "-s 3 -v 3 -q") == pytest.approx(theirs, rel=1e-12)


@pytest.mark.parametrize("options", ["-s 0 -C -v 3", "-s 2 -C", "-s 2 -C -c 4", "-s 11 -C -c 1"])
def test_search_of_parameters_equals_liblinear(options, capfd):
    y, X = problem([2, 7])
    seeded()
    theirs = liblinearutil.train(y[:, 0], X, options + " -q")
    capfd.readouterr()
    np.testing.assert_allclose(train(y, X, options), [theirs], rtol=1e-12)
    assert capfd.readouterr().out.startswith(f"Best C = {theirs[0]:g} ")


@pytest.mark.parametrize("labels", [[-1, 1], [3, 1, 2]], ids=str)
@pytest.mark.parametrize("options", ["-t 2 -g 0.3 -v 4", "-t 0 -v 60 -w1 7", "-t 4 -v 3"])
def test_cross_validation_equals_libsvm(labels, options, capfd):
    y, X = problem(labels)
    data = numbered(X @ X.T) if "-t 4" in options else X
    seeded()
    theirs = svmutil.svm_train(y[:, 0].tolist(), data, options + " -q")
    capfd.readouterr()
    assert svmtrain(y, data, options) == pytest.approx(theirs, abs=1e-12)
    assert capfd.readouterr().out == f"Cross Validation Accuracy = {theirs:g}%\n"


@pytest.mark.parametrize("labels", [[-1, 1], [1, -1], [3, 1, 2], [5, -4, 1, 2]], ids=str)
@pytest.mark.parametrize("kernel", ["-t 2 -g 0.3", "-t 4"])
def test_probabilities_equal_libsvm(labels, kernel):
    y, X = problem(labels)
    _, Z = problem(labels, seed=1)
    if kernel == "-t 4":
        X, Z = numbered(X @ X.T), numbered(Z @ X.T)
    options = f"{kernel} -c 2 -e 0.00001 -b 1 -q"
    model = svmtrain(y, X, options)
    seeded()
    theirs = svmutil.svm_train(y[:, 0].tolist(), X, options)
    found, _, values = svmpredict(y, Z, model, "-b 1 -q")
    expected = svmutil.svm_predict(y[:, 0].tolist(), Z, theirs, "-b 1 -q")
    order = [theirs.get_labels().index(label) for label in model.Label[:, 0]]
    assert values.shape == (60, len(labels))
    np.testing.assert_allclose(values.sum(axis=1), 1)
    np.testing.assert_allclose(values, np.array(expected[2])[:, order], atol=2e-3)
    assert np.mean(found == columns(expected[0])) > 0.98
    # Without -b 1 the same model gives decision values.
    assert svmpredict(y, Z, model, "-q")[2].shape[1] == len(labels) * (len(labels) - 1) // 2


def test_errors_of_a_regression_have_a_scale(capsys):
    y, X = problem([1, 2, 3])
    y = y + X[:, :1]
    model = svmtrain(y, X, "-s 3 -b 1 -q")
    assert model.ProbA.shape == (1, 1)
    assert model.ProbB.shape == (0, 0)
    svmpredict(y, X, model, "-b 1")
    assert f"sigma={model.ProbA[0, 0]:g}\n" in capsys.readouterr().out


VALUES = st.floats(allow_nan=False, allow_infinity=False, width=64)


@settings(max_examples=examples(40))
@given(
    hnp.arrays(np.float64, st.tuples(st.integers(1, 6), st.integers(1, 6)), elements=VALUES),
    st.data(),
)
def test_text_format_keeps_every_bit(tmp_path, X, data):
    y = np.array(data.draw(st.lists(VALUES, min_size=len(X), max_size=len(X))))[:, np.newaxis]
    file = tmp_path / "problem.txt"
    libsvmwrite(file, y, sparse.csc_array(X))
    labels, read = libsvmread(file)
    np.testing.assert_array_equal(labels, y)
    full = np.zeros(X.shape)
    full[:, : read.shape[1]] = read.toarray()
    np.testing.assert_array_equal(full, X)


@pytest.mark.parametrize("text", ["1 1:a", "x 1:2", "1 2", "1 0:2", "1 2:1 2:3", "1 99999999999:1"])
def test_text_in_another_format_is_refused(tmp_path, text):
    (tmp_path / "bad.txt").write_text(f"1 1:3\n{text}\n", "utf-8")
    with pytest.raises(ValueError, match=r"bad\.txt, line 2"):
        libsvmread(tmp_path / "bad.txt")
