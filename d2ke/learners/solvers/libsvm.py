# SPDX-License-Identifier: BSD-3-Clause
"""Kernel machines trained by LIBSVM.

The argument order and the option strings follow LIBSVM's MATLAB interface, except that a
precomputed Gram matrix has no column of serial numbers: it is added here.

References
----------
C.-C. Chang, C.-J. Lin, "LIBSVM: A library for support vector machines", ACM TIST 2(3), 2011.
"""

from __future__ import annotations

import ctypes
import re
import sys
import warnings
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from d2ke._base import arrays
from d2ke._base import labels as class_labels
from d2ke._base.errors import ArgumentError
from d2ke._base.keywords import hinted
from d2ke._base.rows import feature_rows
from d2ke.learners.solvers import calls as solver_calls
from d2ke.learners.solvers import nodes as solver_nodes
from d2ke.learners.solvers import option_strings
from d2ke.learners.solvers.option_strings import Option
from d2ke.learners.solvers.svm_model import PRECOMPUTED, SVM_REGRESSIONS, SVMKernel, SVMModel

OPTIONS = {
    "-s": Option(
        option_strings.integer(0, 1, 3, 4),
        "0 C-SVC, 1 nu-SVC, 3 epsilon-SVR, 4 nu-SVR (default 0; no one-class machine)",
    ),
    "-t": Option(
        option_strings.integer(0, 1, 2, 3, 4),
        "kernel: 0 linear, 1 polynomial, 2 RBF, 3 sigmoid, 4 precomputed",
    ),
    "-d": Option(option_strings.integer(low=0), "degree of -t 1 (default 3)"),
    "-g": Option(option_strings.real(0, above=True), "gamma of -t 1, 2, 3 (default 1/n_features)"),
    "-r": Option(option_strings.real(), "coef0 of -t 1, 3 (default 0)"),
    "-c": Option(option_strings.real(0, above=True), "cost C (default 1)"),
    "-n": Option(option_strings.real(0, above=True), "nu of -s 1, 4 (default 0.5)"),
    "-p": Option(option_strings.real(0), "epsilon of the loss of -s 3 (default 0.1)"),
    "-m": Option(option_strings.real(0, above=True), "cache in MB (default 100)"),
    "-e": Option(option_strings.real(0, above=True), "tolerance (default 0.001)"),
    "-h": Option(option_strings.integer(0, 1), "shrinking (default 1)"),
    "-w": Option(option_strings.real(0, above=True), "factor of C for a class of that number"),
    "-q": Option(None, "quiet (always the case)"),
    "-b": Option(
        option_strings.refused("LIBSVM's probability estimates need random folds; use decision "
                         "values, or matlab_compat.svmtrain"), "not supported"
    ),
    "-v": Option(
        option_strings.refused("svmtrain returns a model; cross-validate objects with "
                         "d2ke.search, and a matrix with matlab_compat.svmtrain"),
        "not supported",
    ),
}  # fmt: skip


@hinted
def svmtrain(
    y: Sequence[Any] | np.ndarray,
    K: Any,
    options: str | Sequence[str] = "-t 4 -c 1 -q",
    *,
    class_weight: Mapping[Any, float] | None = None,
) -> SVMModel:
    """Train a kernel machine with LIBSVM, on a precomputed Gram matrix or on vectors.

    Parameters
    ----------
    y : sequence of length n
        Class labels of any one type (integers of any size, finite floats, booleans, strings); or
        real targets for the regressions ``-s 3`` and ``-s 4``.
    K : array_like of shape (n, n), or feature vectors (n, n_features)
        With ``-t 4`` the symmetric Gram matrix of the training objects, without LIBSVM's column
        of serial numbers; it need not be positive definite. With another kernel, the vectors,
        dense or scipy sparse.
    options : str, default "-t 4 -c 1 -q"
        LIBSVM's options. The kernel ``-t`` must be named; other options left out have LIBSVM's
        defaults.

        - ``-s``: 0 C-SVC, 1 nu-SVC, 3 epsilon-SVR, 4 nu-SVR.
        - ``-t``: 0 linear u'v, 1 polynomial (gamma u'v + coef0)^degree, 2 RBF
          exp(-gamma |u-v|^2), 3 sigmoid tanh(gamma u'v + coef0), 4 precomputed;
          ``-d`` degree, ``-g`` gamma, ``-r`` coef0.
        - ``-c`` cost C, ``-n`` nu, ``-p`` epsilon, ``-e`` tolerance, ``-m`` cache in MB,
          ``-h`` shrinking (0 or 1), ``-w<label> f`` factor of C for an integer label.
        - ``-q`` is accepted; nothing is printed. ``-b``, ``-v`` and the one-class machine
          ``-s 2`` are refused.
    class_weight : dict, optional
        {label: factor of C}, for labels of any type; in place of ``-w``.

    Returns
    -------
    SVMModel
        Support vectors, coefficients and classes as plain arrays.

    Raises
    ------
    TypeError
        If `y`, `K` or an argument is of a wrong type; a sparse Gram matrix is one.
    ValueError
        If `K` is not square (``-t 4``), is asymmetric by more than 1e-5 of its largest
        magnitude, or exceeds float32 (LIBSVM's cache); if a value is not finite, lengths
        differ, there is only one class, or an option is unknown or out of range.
    ImportError
        If LIBSVM is not installed; it comes with the extra ``d2ke[svm]``.

    Warns
    -----
    RuntimeWarning
        If LIBSVM stopped at its limit of iterations.

    Notes
    -----
    LIBSVM needs 16 bytes for each value of `K`. The rows are handed over class by class in
    sorted order, so that the model does not depend on which class comes first in the data. Its
    print hook, one per process, is redirected. It runs on one thread, since its own OpenMP loops
    cost more than they bring for a Gram matrix.

    Examples
    --------
    >>> import numpy as np
    >>> from d2ke import svmpredict, svmtrain
    >>> X = np.array([[-2.0], [-1.0], [1.0], [2.0]])
    >>> model = svmtrain(["no", "no", "yes", "yes"], X @ X.T, "-t 4 -c 10")
    >>> X_test = np.array([[-0.5], [3.0]])
    >>> labels, _, decision = svmpredict(None, X_test @ X.T, model)
    >>> labels.tolist(), decision.round(3).tolist()
    (['no', 'yes'], [[-0.5], [3.0]])
    """
    parsed = option_strings.parse(options, OPTIONS)
    lib = library()
    task = prepared(y, K, parsed, class_weight)
    rows, values, data, kernel = task.rows, task.values, task.data, task.kernel
    order = None if task.classes is None else np.argsort(values, kind="stable")
    if order is not None:
        rows, values = rows.taken(order), values[order]
    lib.libsvm.svm_set_print_string_function(solver_calls.PRINT_HOOK)
    solver = partial(_solve, rows, values, task.factors, parsed, kernel)
    [((support, coef, rho, n_support), printed)] = solver_calls.run([solver])
    if not (np.isfinite(coef).all() and np.isfinite(rho).all()):
        raise ValueError("LIBSVM's solution is not finite; the values of K are too large")
    _warn_of_iterations(printed)
    if order is not None:
        support = order[support]
        # LIBSVM's positive side is the first class of a pair; ours is the later one.
        coef, rho = -coef, -rho
    return SVMModel(
        support=support,
        coef=coef,
        rho=rho,
        classes=task.classes,
        n_support=n_support,
        n_columns=data.shape[1],
        vectors=None if kernel.type == PRECOMPUTED else data[support],
        kernel=kernel,
        svm_type=parsed.get("-s", 0),
        options=option_strings.text(options),
    )


class SVMProblem(NamedTuple):
    """A problem for LIBSVM: checked data as its nodes, codes of classes (or targets), factors."""

    data: Any
    rows: solver_nodes.NodeRows
    classes: np.ndarray | None
    values: np.ndarray
    factors: np.ndarray
    kernel: SVMKernel


def prepared(
    y: Any, K: Any, parsed: dict[str, Any], class_weight: Mapping[Any, float] | None = None
) -> SVMProblem:
    """Check the data of a training, and hand them over in LIBSVM's form."""
    svm_type = parsed.get("-s", 0)
    _check_options(parsed, svm_type, class_weight)
    class_labels.check_order(K, "K.index", y=y)
    gram = _gram(K) if parsed["-t"] == PRECOMPUTED else None
    data = feature_rows("K", K) if gram is None else gram
    if 0 in data.shape:
        raise ArgumentError("K", f"must have rows and columns, got shape {data.shape}")
    if svm_type in SVM_REGRESSIONS:
        classes, values, factors = None, class_labels.targets("y", y), np.empty(0)
    else:
        classes, values = class_labels.encode_classes("y", y)
        factors = class_labels.class_weights(classes, parsed.get("-w"), class_weight)
    class_labels.same_length("y", values, "K", data.shape[0])
    gamma = parsed.get("-g", 1.0 / data.shape[1])
    kernel = SVMKernel(parsed["-t"], parsed.get("-d", 3), gamma, parsed.get("-r", 0.0))
    rows = solver_nodes.feature_nodes(data) if gram is None else solver_nodes.gram_nodes(gram)
    return SVMProblem(data, rows, classes, values, factors, kernel)


def _check_options(
    parsed: dict[str, Any], svm_type: int, class_weight: Mapping[Any, float] | None
) -> None:
    """Refuse a missing kernel, and options that the machine or its kernel would ignore."""
    if "-t" not in parsed:
        raise ArgumentError(
            "options",
            "must name the kernel: -t 4 for a Gram matrix, -t 0, 1, 2 or 3 for feature vectors",
        )
    kernel = parsed["-t"]
    for flag, kernels in {"-d": (1,), "-g": (1, 2, 3), "-r": (1, 3)}.items():
        if flag in parsed and kernel not in kernels:
            raise ValueError(f"option {flag} is for the kernels -t {kernels}, not for -t {kernel}")
    for flag, types in {"-c": (0, 3, 4), "-n": (1, 4), "-p": (3,), "-w": (0,)}.items():
        if flag in parsed and svm_type not in types:
            raise ValueError(f"option {flag} is for the machines -s {types}, not for -s {svm_type}")
    if class_weight is not None and svm_type != 0:
        raise ArgumentError("class_weight", f"is for the machine -s 0, not for -s {svm_type}")


def _gram(K: Any) -> np.ndarray:
    """Return a checked square, symmetric Gram matrix."""
    gram = arrays.matrix("K", K)
    n_rows, n_columns = gram.shape
    if n_rows != n_columns:
        hint = "; leave out the column of serial numbers" if n_columns == n_rows + 1 else ""
        raise ArgumentError("K", f"must be square for -t 4, got shape {gram.shape}{hint}")
    largest = max((abs(float(value)) for value in (gram.max(), gram.min())) if n_rows else [0.0])
    if largest > float(np.finfo(np.float32).max):
        raise ArgumentError("K", f"has magnitude {largest:g}; LIBSVM caches kernels as float32")
    arrays.check_symmetric("K", gram, 1e-5 * largest)  # float32 Grams are symmetric to about 1e-7
    return gram


def library(what: str = "svmtrain") -> Any:
    """Return the module of LIBSVM's interface, which `what` needs."""
    return solver_calls.interface("libsvm.svm", what)


def native_problem(
    rows: solver_nodes.NodeRows,
    values: np.ndarray,
    factors: Mapping[int, float],
    parsed: dict[str, Any],
    kernel: SVMKernel,
) -> tuple[Any, Any, Any]:
    """Return the library, and its problem and parameters; `values` must outlive them."""
    lib = library()
    param = lib.svm_parameter.__new__(lib.svm_parameter)  # its constructor resets the hook
    param.set_to_default_values()
    param.svm_type = parsed.get("-s", 0)
    param.kernel_type, param.degree, param.gamma, param.coef0 = kernel
    param.C = parsed.get("-c", 1.0)
    param.nu = parsed.get("-n", 0.5)
    param.p = parsed.get("-p", 0.1)
    param.cache_size = parsed.get("-m", 100.0)
    param.eps = parsed.get("-e", 0.001)
    param.probability = parsed.get("-b", 0)
    param.shrinking = parsed.get("-h", 1)
    param.nr_weight = len(factors)
    param.weight_label = (ctypes.c_int * len(factors))(*factors.keys())
    param.weight = (ctypes.c_double * len(factors))(*factors.values())
    problem = lib.svm_problem.__new__(lib.svm_problem)
    problem.l = len(values)
    problem.y = values.ctypes.data_as(ctypes.POINTER(ctypes.c_double))
    problem.x = rows.addresses.ctypes.data_as(ctypes.POINTER(ctypes.POINTER(lib.svm_node)))
    _one_openmp_thread(lib.libsvm)
    message = lib.libsvm.svm_check_parameter(problem, param)
    if message:
        raise ValueError(f"LIBSVM refuses the options: {message.decode()}")
    return lib, problem, param


def _solve(
    rows: solver_nodes.NodeRows,
    values: np.ndarray,
    factors: np.ndarray,
    parsed: dict[str, Any],
    kernel: SVMKernel,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray | None]:
    """Return LIBSVM's support positions, coefficients, rho, and support vectors per class."""
    values = np.ascontiguousarray(values, np.float64)
    by_code = dict(enumerate(factors))
    lib, problem, param = native_problem(rows, values, by_code, parsed, kernel)
    pointer = lib.libsvm.svm_train(problem, param)
    try:
        model = pointer.contents
        size, n_classes = model.l, model.nr_class
        machines = n_classes - 1
        support = _copied(model.sv_indices, size).astype(np.int64) - 1
        coef = np.empty((machines, size))
        for row in range(machines):
            coef[row] = _copied(model.sv_coef[row], size)
        rho = _copied(model.rho, n_classes * machines // 2)
        if param.svm_type in SVM_REGRESSIONS:
            return support, coef, rho, None
        return support, coef, rho, _copied(model.nSV, n_classes).astype(np.int64)
    finally:
        lib.libsvm.svm_free_and_destroy_model(ctypes.byref(pointer))


def _one_openmp_thread(library: ctypes.CDLL) -> None:
    """Hold LIBSVM's loops over kernel values to one thread, if it was built with OpenMP.

    They start a team of threads for every row of the kernel. If other work runs on the same cores,
    waiting for the team makes training hundreds of times slower. The setting belongs to the calling
    thread, here a worker that ends with the training.
    """
    if sys.platform == "win32":  # where a library shows no functions but its own
        with suppress(OSError):
            library = ctypes.CDLL("vcomp140")
    set_threads = getattr(library, "omp_set_num_threads", None)
    if set_threads is not None:
        set_threads(ctypes.c_int(1))


def _copied(pointer: Any, size: int) -> np.ndarray:
    # The pointer may be null when there is nothing.
    return np.ctypeslib.as_array(pointer, (size,)).copy() if size else np.empty(0)


def _warn_of_iterations(printed: str) -> None:
    counts = [int(count) for count in re.findall(r"#iter = (\d+)", printed)]
    if max(counts, default=0) >= 10_000_000:  # LIBSVM's limit for n up to 1e5
        warnings.warn(
            f"LIBSVM stopped after {max(counts)} iterations, before reaching the tolerance; "
            "use a larger -e, a smaller -c, or a positive definite kernel",
            RuntimeWarning,
            stacklevel=3,
        )
