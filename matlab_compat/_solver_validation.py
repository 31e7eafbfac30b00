# SPDX-License-Identifier: BSD-3-Clause
"""Cross-validation, search of C and p, and probabilities by LIBLINEAR and LIBSVM themselves.

The libraries deal the rows to folds by the C library's ``rand()``, which is seeded here with 1,
its state when a program starts.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from d2ke.learners.solvers import calls as solver_calls
from d2ke.learners.solvers import liblinear, libsvm, option_strings
from d2ke.learners.solvers import nodes as solver_nodes
from d2ke.learners.solvers.option_strings import Option

_FOLDS = {"-v": Option(option_strings.integer(low=2), "cross-validate with that number of folds")}
LINEAR_OPTIONS = {
    **liblinear.OPTIONS,
    **_FOLDS,
    "-C": Option(None, "find C (and p of -s 11) by cross-validation"),
}
SVM_OPTIONS = {
    **libsvm.OPTIONS,
    **_FOLDS,
    "-b": Option(option_strings.integer(0, 1), "1: train probabilities"),
}


def linear_predictions(y: Any, Z: Any, options: str) -> np.ndarray:
    """Return LIBLINEAR's prediction for each row, from a model without its fold (``-v``)."""
    parsed = option_strings.parse(options, LINEAR_OPTIONS)
    liblinear.library("train with -v")
    return _linear(y, Z, parsed, partial(_cross_validation, parsed["-v"]))


def linear_parameters(y: Any, Z: Any, options: str) -> tuple[float, float, float]:
    """Return LIBLINEAR's best C, best p (-1 without) and their score, as ``-C`` prints them.

    The score is a share of 1 for classifiers, the mean squared error for ``-s 11``.
    """
    parsed = option_strings.parse(options, LINEAR_OPTIONS)
    liblinear.library("train with -C")
    if parsed.get("-s", 2) not in (0, 2, 11):
        raise ValueError(f"option -C is for the solvers -s 0, 2 and 11, not for -s {parsed['-s']}")
    parsed.setdefault("-s", 2)
    if parsed["-s"] == 11:
        # The epsilon of the loss is searched below its start; 0 leaves nothing to find.
        option_strings.real(0, above=True)("-p", str(parsed.get("-p", 1)))

    def search(lib: Any, problem: Any, param: Any, n: int) -> tuple[float, ...]:
        results = [ctypes.c_double() for _ in range(3)]
        start = parsed.get("-c", -1.0), parsed.get("-p", -1.0)
        lib.liblinear.find_parameters(
            problem, param, parsed.get("-v", 5), *start, *map(ctypes.byref, results)
        )
        return tuple(x.value for x in results)

    return _linear(y, Z, parsed, search)


def svm_predictions(y: Any, K: Any, options: str) -> np.ndarray:
    """Return LIBSVM's prediction for each row, from a model without its fold (``-v``).

    Classes are 0, 1, ..., as their order is in LIBSVM.
    """
    parsed = option_strings.parse(options, SVM_OPTIONS)

    def use(lib: Any, problem: Any, param: Any, k: int) -> np.ndarray:
        predicted = np.empty(problem.l)
        pointer = predicted.ctypes.data_as(ctypes.POINTER(ctypes.c_double))
        lib.libsvm.svm_cross_validation(problem, param, parsed["-v"], pointer)
        return np.where(predicted == 1, 0.0, 1.0) if k == 2 else predicted

    return _svm(y, K, parsed, use)


def svm_probabilities(y: Any, K: Any, options: str) -> tuple[np.ndarray, np.ndarray]:
    """Return A and B of the sigmoids that LIBSVM fits with ``-b 1``, one for each pair of classes.

    Classes are 0, 1, ..., as their order is in LIBSVM. A regression has the scale of its errors
    instead of A, and no B.
    """
    parsed = option_strings.parse(options, SVM_OPTIONS)

    def use(lib: Any, problem: Any, param: Any, k: int) -> tuple[np.ndarray, np.ndarray]:
        pointer = lib.libsvm.svm_train(problem, param)
        try:
            model, pairs = pointer.contents, k * (k - 1) // 2
            A = np.ctypeslib.as_array(model.probA, (pairs or 1,)).copy()
            B = np.ctypeslib.as_array(model.probB, (pairs,)).copy() if pairs else np.empty(0)
            return A, B
        finally:
            lib.libsvm.svm_free_and_destroy_model(ctypes.byref(pointer))

    return _svm(y, K, parsed, use)


def _svm(y: Any, K: Any, parsed: dict[str, Any], use: Callable[..., Any]) -> Any:
    """Call LIBSVM with a problem, as `libsvm.svmtrain` checks it, and its number of classes."""
    task = libsvm.prepared(y, K, parsed)
    k = 0 if task.classes is None else len(task.classes)
    # LIBSVM numbers classes as they appear, but always begins with 1 of the labels -1 and 1.
    codes = (1, -1) if k == 2 else tuple(range(k))
    values = np.where(task.values == 0, 1.0, -1.0) if k == 2 else task.values
    values = np.ascontiguousarray(values, np.float64)
    weights = zip(codes, task.factors, strict=True)
    factors = {code: weight for code, weight in weights if weight != 1}

    def call() -> Any:
        return use(*libsvm.native_problem(task.rows, values, factors, parsed, task.kernel), k)

    return _quiet(libsvm.library().libsvm.svm_set_print_string_function, call)


def class_probabilities(decision: np.ndarray, A: np.ndarray, B: np.ndarray, k: int) -> np.ndarray:
    """Return the probabilities of k classes by the sigmoids of all pairs, as LIBSVM couples them.

    Parameters
    ----------
    decision : ndarray, shape (n, k (k - 1) / 2)
        Decision values, above 0 for the first class of a pair.
    A, B : ndarray, shape (k (k - 1) / 2,)
        The sigmoids' parameters.
    k : int
        Number of classes, at least 2.

    Returns
    -------
    ndarray, shape (n, k)

    References
    ----------
    T.-F. Wu, C.-J. Lin, R. C. Weng, "Probability estimates for multi-class classification by
    pairwise coupling", JMLR 5, 2004; the second method.

    Examples
    --------
    >>> import numpy as np
    >>> from matlab_compat._solver_validation import class_probabilities
    >>> class_probabilities(np.array([[0.0], [3.0]]), np.array([-1.0]), np.zeros(1), 2).round(2)
    array([[0.5 , 0.5 ],
           [0.95, 0.05]])
    """
    with np.errstate(over="ignore"):
        first = 1 / (1 + np.exp(decision * A + B))
    min_probability = 1e-7  # as in LIBSVM
    first = np.clip(first, min_probability, 1 - min_probability)
    if k == 2:
        return np.hstack([first, 1 - first])
    result = np.empty((len(decision), k))
    rows, columns = np.triu_indices(k, 1)
    for i, row in enumerate(first):
        pairwise = np.zeros((k, k))
        pairwise[rows, columns], pairwise[columns, rows] = row, 1 - row
        result[i] = _coupled(pairwise)
    return result


def _coupled(pairwise: np.ndarray) -> np.ndarray:
    """Minimise the sum of (r[j, i] p[i] - r[i, j] p[j])^2 over probabilities p."""
    k = len(pairwise)
    Q = -pairwise.T * pairwise
    np.fill_diagonal(Q, (pairwise.T**2).sum(axis=1))
    p = np.full(k, 1 / k)
    for _ in range(max(100, k)):
        Qp = Q @ p
        pQp = p @ Qp
        if np.abs(Qp - pQp).max() < 0.005 / k:
            break
        for t in range(k):
            change = (pQp - Qp[t]) / Q[t, t]
            p[t] += change
            pQp = (pQp + change * (change * Q[t, t] + 2 * Qp[t])) / (1 + change) ** 2
            Qp = (Qp + change * Q[t]) / (1 + change)
            p /= 1 + change
    return p


def _linear(y: Any, Z: Any, parsed: dict[str, Any], use: Callable[..., Any]) -> Any:
    """Call LIBLINEAR with a problem, as `liblinear.train` checks it, and codes 0, 1, ... in it."""
    features, _, values, weights = liblinear.check_problem(y, Z, parsed)
    # The library prints a warning of each class that a fold does not have.
    factors = {code: weight for code, weight in enumerate(weights) if weight != 1}
    bias = parsed.get("-B", -1.0)
    rows = solver_nodes.feature_nodes(features, bias if bias >= 0 else None)
    values = np.ascontiguousarray(values, np.float64)
    width = features.shape[1] + int(bias >= 0)

    def call() -> Any:
        native = liblinear.native_problem(rows, width, parsed, values, factors)
        return use(*native, len(values))

    return _quiet(liblinear.library().liblinear.set_print_string_function, call)


def _cross_validation(folds: int, lib: Any, problem: Any, param: Any, n: int) -> np.ndarray:
    predicted = np.empty(n)
    pointer = predicted.ctypes.data_as(ctypes.POINTER(ctypes.c_double))
    lib.liblinear.cross_validation(problem, param, folds, pointer)
    return predicted


def _quiet(set_hook: Callable[..., Any], call: Callable[[], Any]) -> Any:
    set_hook(solver_calls.PRINT_HOOK)
    [(result, _)] = solver_calls.run([call], seed=1)
    return result
