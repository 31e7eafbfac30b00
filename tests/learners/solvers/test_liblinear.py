# SPDX-License-Identifier: BSD-3-Clause
"""LIBLINEAR fed from arrays: equal to its own Python route, and free of that route's traps."""

import ctypes
import itertools
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import C_LIBRARY, examples
from scipy import optimize, sparse
from scipy.special import expit
from sklearn.datasets import load_diabetes, load_digits, load_iris

import d2ke
from d2ke.learners.linear_model import predict
from d2ke.learners.solvers import nodes as solver_nodes
from d2ke.learners.solvers.liblinear import train

SOLVERS = (0, 1, 2, 3, 4, 5, 6, 7)


@pytest.fixture(scope="module")
def iris():
    X, y = load_iris(return_X_y=True)
    return X / X.max(axis=0), y


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return X / 16, y


def original(y, X, options):
    """LIBLINEAR's own Python route: (weights by class in sorted order, labels, decision)."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "numba", None)  # not needed, and slow to import
        from liblinear import liblinearutil
    C_LIBRARY.srand(0)  # the default seed of train
    model = liblinearutil.train(y, X, options)
    two_rows = model.get_nr_class() == 2 and model.param.solver_type == 4
    order = np.argsort(model.get_labels())
    rows = 2 if two_rows else 1 if len(order) == 2 else len(order)
    size = X.shape[1] + (model.bias >= 0)
    weights = np.array(model.w[: rows * size]).reshape(size, rows).T
    if two_rows:  # its predict reserves one decision value, and LIBLINEAR writes two
        return weights[order], None, X @ weights[order].T
    labels, _, decision = liblinearutil.predict([], X, model, "-q")
    decision = np.array(decision)
    if rows > 1:
        weights, decision = weights[order], decision[:, order]
    elif order[0] == 0 and not model.is_regression_model():
        weights, decision = -weights, -decision
    return weights, np.array(labels), decision


def blobs(n=60, k=3, seed=0, features=5):
    rng = np.random.default_rng(seed)
    codes = rng.permutation(np.arange(n) % k)
    return rng.standard_normal((n, features)) + 1.5 * np.eye(k, features)[codes], codes


# ------------------------------------------------------------------ the same as LIBLINEAR itself
@pytest.mark.parametrize("bias", ["", " -B 1", " -B 1 -R", " -B 0.5"])
@pytest.mark.parametrize("solver", [0, 2])
def test_equals_the_original_for_each_class_bit_for_bit(digits, solver, bias):
    X, y = digits[0][:150], digits[1][:150]
    options = f"-s {solver} -e 0.0001 -c 10{bias} -q"
    model = train(y, X, options)
    for code in range(10):
        weights, _, _ = original(np.where(y == code, 1, -1), X, options)
        if bias:
            assert model.bias[code] == weights[0, -1] * float(bias.split()[1])
            weights = weights[:, :-1]
        np.testing.assert_array_equal(model.weights[code], weights[0])


@pytest.mark.parametrize("bias", ["", " -B 1", " -B 1 -R", " -B 0.5"])
@pytest.mark.parametrize("solver", [0, 2])
def test_equals_the_original_for_many_classes(digits, solver, bias):
    X, y = digits
    rows = np.random.default_rng(0).permutation(len(y))[:250]
    X, y = X[rows], y[rows]
    # LIBLINEAR's multi-class call sums the rows in another order, which moves its result within
    # the tolerance; hence a small one.
    options = f"-s {solver} -e 1e-10 -c 10{bias} -q"
    weights, labels, decision = original(y, X, options)
    model = train(y, X, options)
    if bias:
        value = float(bias.split()[1])
        np.testing.assert_allclose(model.bias, weights[:, -1] * value, atol=1e-5)
        weights = weights[:, :-1]
    np.testing.assert_allclose(model.weights, weights, atol=1e-5)
    predicted, (percent, mse, scc), values = predict(y, X, model)
    np.testing.assert_array_equal(predicted, labels)
    np.testing.assert_allclose(values, decision, atol=1e-5)
    assert percent == 100 * np.mean(labels == y)
    assert mse == pytest.approx(np.mean((labels - y) ** 2))
    assert scc == pytest.approx(np.corrcoef(labels, y)[0, 1] ** 2)


@pytest.mark.parametrize(
    ("solver", "labels"),
    # The larger label first, or -1 and +1: then LIBLINEAR's positive side is the larger one.
    [*itertools.product(SOLVERS, [(1, -1), (7, 3)]), *((s, (-1, 1)) for s in SOLVERS if s != 4)],
)
def test_equals_the_original_for_two_classes_bit_for_bit(iris, solver, labels):
    X, y = iris
    X, y = X[50:], np.array(labels)[(y[50:] == 2).astype(int)]
    options = f"-s {solver} -e 0.05 -c 2 -q"
    weights, predicted, decision = original(y, X, options)
    model = train(y, X, options)
    np.testing.assert_array_equal(model.weights, weights)
    ours, _, values = predict(y, X, model)
    np.testing.assert_allclose(values, decision, atol=1e-13)
    if solver == 4:
        predicted = np.sort(labels)[decision.argmax(axis=1)]
    np.testing.assert_array_equal(ours, predicted)


@pytest.mark.parametrize("solver", [11, 12, 13])
def test_regression(solver):
    X, y = load_diabetes(return_X_y=True)
    y = (y - y.mean()) / y.std()
    options = f"-s {solver} -c 10 -p 0.05 -e 1e-3 -q"
    weights, values, _ = original(y, X, options)
    model = train(y, X, options)
    assert model.classes is None
    np.testing.assert_array_equal(model.weights, weights)
    predicted, (percent, mse, scc), decision = predict(y, X, model)
    np.testing.assert_allclose(predicted, values, atol=1e-12)
    np.testing.assert_array_equal(decision, predicted[:, None])
    assert np.isnan(percent)
    assert mse == pytest.approx(np.mean((predicted - y) ** 2))
    assert scc == pytest.approx(np.corrcoef(predicted, y)[0, 1] ** 2)


def hinge2(w, X, sign, C):
    slack = np.maximum(0, 1 - sign * (X @ w))
    return 0.5 * w @ w + (C * slack**2).sum()


def logistic(w, X, sign, C):
    return 0.5 * w @ w + (C * np.logaddexp(0, -sign * (X @ w))).sum()


@pytest.mark.parametrize(
    ("solver", "objective"), [(0, logistic), (1, hinge2), (2, hinge2), (7, logistic)]
)
def test_minimises_the_objective(solver, objective):
    X, codes = blobs()
    model = train(codes, X, f"-s {solver} -c 3 -e 1e-8", class_weight={1: 2.5})
    for code, w in enumerate(model.weights):
        sign = np.where(codes == code, 1.0, -1.0)
        # The weight of class 1 acts in its own problem only.
        C = np.where((codes == 1) & (code == 1), 3 * 2.5, 3.0)
        best = optimize.minimize(objective, np.zeros(5), (X, sign, C), tol=1e-10)
        assert objective(w, X, sign, C) == pytest.approx(best.fun, rel=1e-7)


# ------------------------------------------------------------------ data in any form
def test_forms_of_the_same_data():
    X, codes = blobs()
    X[np.abs(X) < 0.5] = 0
    expected = train(codes, X, "-s 2 -B 1")
    forms = [
        np.asfortranarray(X), X[::-1][::-1], np.repeat(X, 2, axis=1)[:, ::2], X.astype(">f8"),
        X.tolist(),
        *(form(X) for form in (
            sparse.csr_matrix, sparse.csr_array, sparse.csc_matrix, sparse.csc_array,
            sparse.coo_matrix, sparse.coo_array, sparse.lil_array, sparse.dok_matrix,
        )),
    ]  # fmt: skip
    for Z in forms:
        model = train(codes, Z, "-s 2 -B 1")
        np.testing.assert_array_equal(model.weights, expected.weights)
        np.testing.assert_array_equal(model.bias, expected.bias)
        _, accuracy, decision = predict(codes, Z, expected)
        np.testing.assert_allclose(decision, predict(codes, X, expected)[2], atol=1e-12)
        assert accuracy == predict(codes, X, expected)[1]


def test_float32_and_integers_are_exact():
    X, codes = blobs()
    narrow = X.astype(np.float32)
    expected = train(codes, narrow.astype(np.float64))
    np.testing.assert_array_equal(train(codes, narrow).weights, expected.weights)
    np.testing.assert_allclose(
        predict(codes, narrow, expected)[2], predict(codes, narrow.astype(float), expected)[2],
        rtol=1e-12, atol=1e-12,
    )  # fmt: skip
    counts = np.round(X * 3).astype(np.int64)
    expected = train(codes, counts.astype(np.float64))
    np.testing.assert_array_equal(train(codes, counts).weights, expected.weights)
    np.testing.assert_array_equal(train(codes, sparse.csr_array(counts)).weights, expected.weights)


def test_duplicate_entries_are_summed_and_the_argument_is_left_alone():
    data, indices = np.array([1.0, 2.0, 4.0, 3.0]), np.array([1, 0, 1, 0])
    Z = sparse.csr_array((data, indices, np.array([0, 3, 4])), shape=(2, 2))
    Z.has_canonical_format = True  # a caller's mistake
    model = train([0, 1], Z, "-s 2")
    np.testing.assert_array_equal(
        model.weights, train([0, 1], np.array([[2.0, 5.0], [3.0, 0.0]]), "-s 2").weights
    )
    np.testing.assert_array_equal(data, [1, 2, 4, 3])
    np.testing.assert_array_equal(indices, [1, 0, 1, 0])


def test_sparse_indices_out_of_range_never_reach_c():
    Z = sparse.csr_array(np.eye(3))
    Z.indices[1] = 1000
    with pytest.raises(ValueError, match=r"indices|index values"):
        train([0, 1, 0], Z)


@settings(max_examples=examples(30), deadline=None)
@given(st.data())
def test_nodes_hold_what_the_matrix_holds(data):
    n, m = data.draw(st.integers(1, 6)), data.draw(st.integers(1, 6))
    values = st.sampled_from([0.0, 1.5, -2.0, 1e-300])
    X = np.array(data.draw(st.lists(values, min_size=n * m, max_size=n * m))).reshape(n, m)
    bias = data.draw(st.sampled_from([None, 0.0, 2.0]))
    for Z, explicit in ((X, True), (sparse.csr_array(X), False)):
        nodes, addresses = solver_nodes.feature_nodes(Z, bias)
        starts = (addresses - np.uintp(nodes.ctypes.data)) // np.uintp(16)
        flat = nodes.reshape(-1)
        for row, start in enumerate(starts.astype(int)):
            expected = [(j + 1, x) for j, x in enumerate(X[row]) if explicit or x != 0]
            expected += [(m + 1, bias)] if bias is not None else []
            expected += [(-1, 0.0)]
            assert flat[start : start + len(expected)].tolist() == expected


def test_node_layout_is_that_of_the_libraries():
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "numba", None)
        from liblinear.liblinear import feature_node
        from libsvm.svm import svm_node
    for node in (feature_node, svm_node):
        assert ctypes.sizeof(node) == solver_nodes.NODE.itemsize
        assert node.index.offset == solver_nodes.NODE.fields["index"][1]
        assert node.value.offset == solver_nodes.NODE.fields["value"][1]


# ------------------------------------------------------------------ labels
@pytest.mark.parametrize(
    "names",
    [
        np.array(["wren", "owl", "crow"]),
        np.array([b"wren", b"owl", b"crow"]),
        np.array([1.0, 1.5, 2.0]),  # half a step apart: an int cast would merge two
        np.array([2**31, 2**31 + 1, -(2**40)]),
        np.array([2**63, 2**64 - 1, 0], dtype=np.uint64),
        np.array([-3, 5, 0], dtype=np.int8),
        np.array([1e-3, 2e-3, -1e300]),
    ],
)
def test_labels_of_any_type(names):
    X, codes = blobs()
    y = names[codes]
    model = train(y, X)
    np.testing.assert_array_equal(model.classes, np.sort(names))
    assert model.classes.dtype == names.dtype
    rank = np.argsort(np.argsort(names))
    reference = train(rank[codes], X)
    np.testing.assert_array_equal(model.weights, reference.weights)
    labels, (percent, mse, _), _ = predict(y, X, model)
    assert labels.dtype == names.dtype
    np.testing.assert_array_equal(labels, np.sort(names)[predict(None, X, reference)[0]])
    assert percent == predict(rank[codes], X, reference)[1][0]
    assert np.isnan(mse) == (names.dtype.kind in "US")


def test_the_sign_of_two_classes_does_not_depend_on_the_order():
    X, codes = blobs(k=2)
    for names in ([0, 1], [1, 0], [-1, 1], [1, -1], ["b", "a"]):
        for first in (0, 1):
            order = np.argsort(codes != first, kind="stable")
            y = np.array(names)[codes]
            model = train(y[order], X[order], "-s 2")
            labels, _, decision = predict(None, X, model)
            assert decision.shape == (len(X), 1)
            np.testing.assert_array_equal(labels == max(names), decision[:, 0] > 0)
            assert np.mean(labels == y) > 0.8


@pytest.mark.parametrize(
    ("y", "error", "message"),
    [
        ([[0], [1, 2], [2]], ValueError, "one-dimensional"),
        ([2**63 + 1, -1, 0], TypeError, r"y\[0\] is 9223372036854775809"),
        (["a\0", "a", "b"], TypeError, r"y\[0\]"),
        ([1j, 1, 2], TypeError, "complex128"),
        (np.ma.array([0, 1, 2], mask=[0, 0, 1]), TypeError, "masked"),
        (np.array(["2020", "2021", "2022"], "M8[Y]"), TypeError, "datetime64"),
    ],
)
def test_refused_labels(y, error, message):
    with pytest.raises(error, match=message):
        train(y, np.eye(3))


@pytest.mark.parametrize(
    ("Z", "error", "message"),
    [
        (np.zeros((2, 0)), ValueError, r"got shape \(2, 0\)"),
        (np.full((2, 2), 2**53 + 1), ValueError, r"2\*\*53"),
    ],
)  # fmt: skip
def test_refused_features(Z, error, message):
    with pytest.raises(error, match=message):
        train([0, 1], Z)


# ------------------------------------------------------------------ options
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("-s 2 -z 1", "'-z', which is not an option; there are -s: solver"),
        ("-s two", "-s needs an integer"),
        ("-c 1e999", "-c needs a finite number"),
        ("-s 2 -v 5", "-v is not supported"),
        ("-s 2 -C", "-C is not supported"),
        ("-s 2 -p 0.1", "-p is for the regressions"),
        ("-s 2 -R", "-R needs -B 1"),
        ("-w0 0", "-w0 must be greater"),
        ("-w7 2", "names 7, which is not in y; classes are 0, 1"),
        ("-w1 2 -w1 3", "-w1 is given twice"),
        ("-s 11 -w1 2", "regression"),
    ],
)
def test_refused_options(options, message):
    with pytest.raises(ValueError, match=message):
        train([0, 1], np.eye(2), options)


def test_options_may_be_words():
    model = train([0, 1], np.eye(2), ["-s", "2", "-c", "3"])
    assert model.options == "-s 2 -c 3"


def test_defaults_are_those_of_liblinear(iris):
    X, y = iris
    X, y = X[50:], y[50:]
    assert train(y, X, "").solver == 1
    for solver in (0, 2):
        weights, _, _ = original(np.where(y == 2, 1, -1), X, f"-s {solver} -q")
        np.testing.assert_array_equal(train(y, X, f"-s {solver}").weights, weights)


def test_class_weights():
    X, codes = blobs(k=2)
    names = np.array([-4, 9])
    by_option = train(names[codes], X, "-s 2 -w-4 5 -w9 0.5")
    by_name = train(names[codes], X, "-s 2", class_weight={-4: 5, 9: 0.5})
    weights, _, _ = original(names[codes], X, "-s 2 -w-4 5 -w9 0.5 -q")
    np.testing.assert_array_equal(by_option.weights, by_name.weights)
    np.testing.assert_allclose(by_option.weights, weights, rtol=1e-6)
    floats = train(np.array([1.5, 2.5])[codes], X, "-s 2", class_weight={1.5: 5, 2.5: 0.5})
    np.testing.assert_array_equal(floats.weights, by_name.weights)
    words = np.array(["no", "yes"])[codes]
    np.testing.assert_array_equal(
        train(words, X, "-s 2", class_weight={"no": 5, "yes": 0.5}).weights, by_name.weights
    )
    with pytest.raises(ValueError, match=r"'maybe'.*'no', 'yes'"):
        train(words, X, class_weight={"maybe": 1.0})
    with pytest.raises(ValueError, match="not by both"):
        train(codes, X, "-w1 2", class_weight={1: 2})


def test_nothing_is_printed(capfd):
    X, codes = blobs()
    for solver in (*SOLVERS, 11, 12, 13):
        predict(codes, X, train(codes, X, f"-s {solver} -e 0.1"))
    d2ke.svmpredict(codes, X @ X.T, d2ke.svmtrain(codes, X @ X.T, "-t 4"))
    C_LIBRARY.fflush(None)
    assert capfd.readouterr() == ("", "")


def test_giving_up_is_a_warning():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((200, 3)), rng.integers(0, 2, 200)
    with pytest.warns(RuntimeWarning, match="stopped before reaching the tolerance: reaching max"):
        train(y, X, "-s 3 -c 1e6 -e 1e-9")


# ------------------------------------------------------------------ prediction
def test_predict_without_labels_and_without_rows():
    X, codes = blobs()
    model = train(codes, X)
    labels, accuracy, decision = predict(None, X, model)
    assert np.isnan(accuracy).all()
    assert labels.shape == (60,)
    assert decision.shape == (60, 3)
    labels, accuracy, decision = predict([], X[:0], model)
    assert labels.shape == (0,)
    assert decision.shape == (0, 3)
    assert np.isnan(accuracy).all()
    words = train(np.array(["a", "b", "c"])[codes], X)
    assert predict([], X[:0], words)[0].shape == (0,)


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("solver", [0, 6, 7])
def test_probabilities(solver, k):
    X, codes = blobs(k=k)
    model = train(codes, X, f"-s {solver} -c 5")
    labels, _, chances = predict(codes, X, model, probability=True)
    decision = predict(codes, X, model)[2]
    expected = expit(decision)
    expected = np.hstack([1 - expected, expected]) if k == 2 else expected
    np.testing.assert_allclose(chances, expected / expected.sum(axis=1, keepdims=True), rtol=1e-9)
    np.testing.assert_array_equal(labels, chances.argmax(axis=1))
    far = predict(None, np.full((1, 5), -1e5), model, probability=True)[2]
    assert far.sum() == pytest.approx(1)
