# SPDX-License-Identifier: BSD-3-Clause
"""Kernel machines by LIBSVM: `svmtrain` and `svmpredict`.

The argument order and the option strings are those of LIBSVM's MATLAB interface, except that a
precomputed Gram matrix is given as it is: the column of serial numbers that LIBSVM wants is added
here. Predictions are matrix products with the support vectors' coefficients.

References
----------
C.-C. Chang, C.-J. Lin, "LIBSVM: A library for support vector machines", ACM TIST 2(3), 2011.
"""

from __future__ import annotations

import ctypes
import re
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from d2ke._base import arrays
from d2ke._base import labels as class_labels
from d2ke._base.memory import copied_bytes, needs, require_memory
from d2ke.learners import option_strings, scores, solver_calls, solver_nodes
from d2ke.learners.option_strings import Option

_REGRESSION = (3, 4)
_PRECOMPUTED = 4
_ASYMMETRY = 1e-5  # of the largest magnitude; float32 Grams are symmetric to about 1e-7
_MAX_ITERATIONS = 10_000_000  # LIBSVM's limit, or 100 n if that is more

_OPTIONS = {
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
        option_strings.refused("LIBSVM's probability estimates differ from run to run; "
                         "use the decision values"), "not supported"
    ),
    "-v": Option(
        option_strings.refused("svmtrain returns a model; cross-validate with d2ke.search"),
        "not supported",
    ),
}  # fmt: skip


class Kernel(NamedTuple):
    """A kernel function: type as in option ``-t``, and its parameters."""

    type: int
    degree: int
    gamma: float
    coef0: float


@dataclass(frozen=True, eq=False)
class SVMModel:
    """A trained kernel machine: plain arrays, independent of LIBSVM and of the training data.

    Attributes
    ----------
    support : ndarray of int64, shape (n_support,)
        Positions of the support vectors among the training rows, class by class.
    coef : ndarray of float64, shape (n_classes - 1, n_support) or (1, n_support)
        Coefficients. In the machine that separates the classes a < b, support vectors of class
        a have theirs in row b - 1, those of class b in row a.
    rho : ndarray of float64, shape (n_pairs,) or (1,)
        Subtracted from the decision values.
    classes : ndarray of shape (n_classes,), or None
        The distinct labels in sorted order, in their own type; None for a regression.
    n_support : ndarray of int64, shape (n_classes,), or None
        Number of support vectors of each class; None for a regression.
    n_columns : int
        Number of columns that `svmpredict` needs: training objects for a precomputed kernel,
        features for the others.
    vectors : ndarray or csr_array, shape (n_support, n_columns), or None
        The support vectors; None for a precomputed kernel.
    kernel : Kernel
        Type, degree, gamma and coef0.
    svm_type : int
        LIBSVM's option ``-s``.
    options : str
        The option string that the model was trained with.

    Examples
    --------
    >>> import numpy as np
    >>> from d2ke.learners.libsvm import svmtrain
    >>> X = np.array([[-2.0], [-1.0], [1.0], [2.0]])
    >>> model = svmtrain(["no", "no", "yes", "yes"], X @ X.T, "-t 4 -c 10")
    >>> model.support.tolist(), model.classes.tolist()
    ([1, 2], ['no', 'yes'])
    """

    support: np.ndarray = field(repr=False)
    coef: np.ndarray = field(repr=False)
    rho: np.ndarray = field(repr=False)
    classes: np.ndarray | None
    n_support: np.ndarray | None = field(repr=False)
    n_columns: int
    vectors: np.ndarray | sparse.csr_array | None = field(repr=False)
    kernel: Kernel
    svm_type: int
    options: str

    def __post_init__(self) -> None:
        """Check that the parts fit together; loaded models rely on it."""
        if type(self.svm_type) is not int or self.svm_type not in (0, 1, 3, 4):
            raise ValueError(f"svm_type must be 0, 1, 3 or 4, got {self.svm_type!r}")
        if not isinstance(self.options, str):
            raise ValueError(f"options must be a string, got {self.options!r}")
        _check_kernel(self.kernel)
        is_regression = self.svm_type in _REGRESSION
        if (self.classes is None) != is_regression or (self.n_support is None) != is_regression:
            raise ValueError("classes and n_support must be None for a regression only")
        class_labels.check_array("support", self.support, np.int64, (None,))
        size = len(self.support)
        rows = pairs = 1
        if self.classes is not None:
            class_labels.check_classes(self.classes)
            rows = len(self.classes) - 1
            pairs = len(self.classes) * rows // 2
            class_labels.check_array("n_support", self.n_support, np.int64, (rows + 1,))
            if self.n_support.min() < 0 or self.n_support.sum() != size:
                raise ValueError(f"n_support must count the {size} support vectors by class")
        class_labels.check_array("coef", self.coef, np.float64, (rows, size))
        class_labels.check_array("rho", self.rho, np.float64, (pairs,))
        if not isinstance(self.n_columns, int) or self.n_columns < 1:
            raise ValueError(f"n_columns must be a positive integer, got {self.n_columns!r}")
        if size and self.support.min() < 0:
            raise ValueError("support must not be negative")
        if self.kernel.type == _PRECOMPUTED:
            if self.vectors is not None or (size and self.support.max() >= self.n_columns):
                raise ValueError(f"support must lie below {self.n_columns}, and vectors be None")
        elif self.vectors is None or self.vectors.shape != (size, self.n_columns):
            raise ValueError(f"vectors must have shape {(size, self.n_columns)}")
        else:
            solver_nodes.features("vectors", self.vectors)


def _check_kernel(kernel: Kernel) -> None:
    if not isinstance(kernel, Kernel) or kernel.type not in range(5):
        raise ValueError(f"kernel must be a Kernel of type 0 to 4, got {kernel!r}")
    finite = np.isfinite([kernel.degree, kernel.gamma, kernel.coef0]).all()
    if not finite or kernel.degree < 0 or kernel.gamma < 0:
        raise ValueError(f"kernel parameters must be finite, degree and gamma >= 0; got {kernel}")


needs(
    "svmtrain",
    {
        "-t 4": "16 n^2 + Q + 64 n + 16 n k",
        "-t 0, 1, 2, 3": "16 n R + b n R + Q + 64 n + 16 n k",
        "-t 0, 1, 2, 3, sparse": "56 E + Q + 64 n + 16 n k",
    },
    "train a linear model on features",
)


def svmtrain(
    y: Sequence | np.ndarray,
    K: Any,
    options: str | Sequence[str] = "-t 4 -c 1 -q",
    *,
    class_weight: Mapping | None = None,
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
    MemoryError
        If the call would take more than there is; see docs/memory.md.

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
    >>> from d2ke.learners.libsvm import svmpredict, svmtrain
    >>> X = np.array([[-2.0], [-1.0], [1.0], [2.0]])
    >>> model = svmtrain(["no", "no", "yes", "yes"], X @ X.T, "-t 4 -c 10")
    >>> X_test = np.array([[-0.5], [3.0]])
    >>> labels, _, decision = svmpredict(None, X_test @ X.T, model)
    >>> labels.tolist(), decision.round(3).tolist()
    (['no', 'yes'], [[-0.5], [3.0]])
    """
    given = option_strings.parse(options, _OPTIONS)
    svm_type = given.get("-s", 0)
    _check_options(given, svm_type, class_weight)
    precomputed = given["-t"] == _PRECOMPUTED
    data = _gram("K", K) if precomputed else solver_nodes.features("K", K)
    if 0 in data.shape:
        raise ValueError(f"K must have rows and columns, got shape {data.shape}")
    order = None
    if svm_type in _REGRESSION:
        classes, values, factors = None, class_labels.targets("y", y), np.empty(0)
    else:
        classes, values = class_labels.encode_classes("y", y)
        factors = scores.class_weights(classes, given.get("-w"), class_weight)
        order = np.argsort(values, kind="stable")
    class_labels.same_length("y", values, "K", data.shape[0])
    n, R = data.shape
    k = 1 if classes is None else len(classes)
    sizes = {"n": n, "k": k, "Q": cache_bytes(n, given.get("-m", 100.0))}
    if precomputed:
        require_memory("svmtrain", "-t 4", **sizes)
    elif sparse.issparse(data):
        require_memory("svmtrain", "-t 0, 1, 2, 3, sparse", E=data.nnz, **sizes)
    else:
        require_memory("svmtrain", "-t 0, 1, 2, 3", R=R, b=data.itemsize, **sizes)
    gamma = given.get("-g", 1.0 / data.shape[1])
    kernel = Kernel(given["-t"], given.get("-d", 3), gamma, given.get("-r", 0.0))

    rows = solver_nodes.gram_nodes(data) if precomputed else solver_nodes.feature_nodes(data)
    if order is not None:
        rows, values = rows.taken(order), values[order]
    _library().libsvm.svm_set_print_string_function(solver_calls.PRINT_HOOK)
    solver = partial(_solve, rows, values, factors, given, svm_type, kernel)
    [((support, coef, rho, n_support), printed)] = solver_calls.run([solver])
    if not (np.isfinite(coef).all() and np.isfinite(rho).all()):
        raise ValueError("LIBSVM's solution is not finite; the values of K are too large")
    _warn_of_iterations(printed)
    if order is not None:
        support = order[support]
        # LIBSVM's positive side is the first class of a pair; ours is the later one.
        coef, rho = -coef, -rho
    vectors = None if precomputed else data[support]
    text = options if isinstance(options, str) else " ".join(options)
    return SVMModel(
        support, coef, rho, classes, n_support, data.shape[1], vectors, kernel, svm_type, text
    )


def _check_options(given: dict[str, Any], svm_type: int, class_weight: Mapping | None) -> None:
    """Refuse a missing kernel, and options that the machine or its kernel would ignore."""
    if "-t" not in given:
        raise ValueError("options must name the kernel: -t 4 for a Gram matrix, -t 0, 1, 2 or 3 "
                         "for feature vectors")  # fmt: skip
    kernel = given["-t"]
    for flag, kernels in {"-d": (1,), "-g": (1, 2, 3), "-r": (1, 3)}.items():
        if flag in given and kernel not in kernels:
            raise ValueError(f"option {flag} is for the kernels -t {kernels}, not for -t {kernel}")
    for flag, types in {"-c": (0, 3, 4), "-n": (1, 4), "-p": (3,), "-w": (0,)}.items():
        if flag in given and svm_type not in types:
            raise ValueError(f"option {flag} is for the machines -s {types}, not for -s {svm_type}")
    if class_weight is not None and svm_type != 0:
        raise ValueError(f"class_weight is for the machine -s 0, not for -s {svm_type}")


def _gram(name: str, values: Any) -> np.ndarray:
    """Return a checked square, symmetric Gram matrix."""
    gram = arrays.matrix(name, values)
    n_rows, n_columns = gram.shape
    if n_rows != n_columns:
        hint = "; leave out the column of serial numbers" if n_columns == n_rows + 1 else ""
        raise ValueError(f"{name} must be square for -t 4, got shape {gram.shape}{hint}")
    largest = max((abs(float(value)) for value in (gram.max(), gram.min())) if n_rows else [0.0])
    if largest > float(np.finfo(np.float32).max):
        raise ValueError(f"{name} has magnitude {largest:g}; LIBSVM caches kernels as float32")
    arrays.check_symmetric(name, gram, _ASYMMETRY * largest)
    return gram


def cache_bytes(n: int, megabytes: float = 100.0) -> int:
    """Return what LIBSVM's cache takes at most, for rows of n kernel values."""
    return int(min(max(megabytes * (1 << 20), 8 * n), 4 * n * n))


def _library() -> Any:
    # Imported at the first use: libsvm imports numba wherever that is installed, which takes
    # longer than all of this package.
    from libsvm import svm

    return svm


def _solve(
    rows: solver_nodes.NodeRows,
    values: np.ndarray,
    factors: np.ndarray,
    given: dict[str, Any],
    svm_type: int,
    kernel: Kernel,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray | None]:
    """Return LIBSVM's support positions, coefficients, rho, and support vectors per class."""
    lib = _library()
    values = np.ascontiguousarray(values, np.float64)
    param = lib.svm_parameter.__new__(lib.svm_parameter)  # its constructor resets the hook
    param.set_to_default_values()
    param.svm_type = svm_type
    param.kernel_type, param.degree, param.gamma, param.coef0 = kernel
    param.C = given.get("-c", 1.0)
    param.nu = given.get("-n", 0.5)
    param.p = given.get("-p", 0.1)
    param.cache_size = given.get("-m", 100.0)
    param.eps = given.get("-e", 0.001)
    param.shrinking = given.get("-h", 1)
    param.nr_weight = len(factors)
    param.weight_label = (ctypes.c_int * len(factors))(*range(len(factors)))
    param.weight = (ctypes.c_double * len(factors))(*factors)
    problem = lib.svm_problem.__new__(lib.svm_problem)
    problem.l = len(values)
    problem.y = values.ctypes.data_as(ctypes.POINTER(ctypes.c_double))
    problem.x = rows.addresses.ctypes.data_as(ctypes.POINTER(ctypes.POINTER(lib.svm_node)))
    _one_openmp_thread(lib.libsvm)
    message = lib.libsvm.svm_check_parameter(problem, param)
    if message:
        raise ValueError(f"LIBSVM refuses the options: {message.decode()}")
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
        if svm_type in _REGRESSION:
            return support, coef, rho, None
        return support, coef, rho, _copied(model.nSV, n_classes).astype(np.int64)
    finally:
        lib.libsvm.svm_free_and_destroy_model(ctypes.byref(pointer))


def _one_openmp_thread(library: ctypes.CDLL) -> None:
    """Hold LIBSVM's loops over kernel values to one thread, if it was built with OpenMP.

    They start a team of threads for every row of the kernel; where other work runs on the same
    cores, waiting for the team makes the training hundreds of times slower. The setting belongs
    to the calling thread, here a worker that ends with the training.
    """
    set_threads = getattr(library, "omp_set_num_threads", None)
    if set_threads is not None:
        set_threads(ctypes.c_int(1))


def _copied(pointer: Any, size: int) -> np.ndarray:
    # The pointer may be null when there is nothing.
    return np.ctypeslib.as_array(pointer, (size,)).copy() if size else np.empty(0)


def _warn_of_iterations(printed: str) -> None:
    counts = [int(count) for count in re.findall(r"#iter = (\d+)", printed)]
    if max(counts, default=0) >= _MAX_ITERATIONS:
        warnings.warn(
            f"LIBSVM stopped after {max(counts)} iterations, before reaching the tolerance; "
            "use a larger -e, a smaller -c, or a positive definite kernel",
            RuntimeWarning,
            stacklevel=3,
        )


needs(
    "svmpredict",
    {"-t 4": "b n s + c n s + 24 n k", "-t 0, 1, 2, 3": "32 n s + c n R + 24 n k"},
    "give the rows in parts",
)


def svmpredict(
    y: Sequence | np.ndarray | None,
    K: Any,
    model: SVMModel,
) -> tuple[np.ndarray, tuple[float, float, float], np.ndarray]:
    """Predict with a kernel machine, and compare with the true labels.

    Parameters
    ----------
    y : sequence of length m, or None
        The true labels (or targets), for the accuracy only; None if they are not known. Labels
        that the model has never seen count as wrongly predicted.
    K : array_like of shape (m, n), or feature vectors (m, n_features)
        For a precomputed kernel, its values between the m objects (rows) and all n training
        objects (columns); for another kernel, the vectors.
    model : SVMModel
        What `svmtrain` or `load_model` returned.

    Returns
    -------
    labels : ndarray of shape (m,)
        Predicted labels in the type of ``model.classes``; predicted values of a regression.
    accuracy : tuple of three floats
        Percentage of correct labels, mean squared error, squared correlation coefficient. All
        nan if `y` is None; the last two nan for strings; the first nan for a regression; the
        correlation nan where one side is constant.
    decision : ndarray of float64, shape (m, n_pairs)
        One column for each pair of classes a < b: (0, 1), (0, 2), ..., (1, 2), ... in the order
        of ``model.classes``. A value above 0 is a vote for b, any other for a; the class with
        most votes wins, of several the first. Two classes have one column, as in
        `d2ke.learners.linear_model.predict`; so has a regression.

    Raises
    ------
    TypeError
        If `model` is not an SVMModel, or `y` is of another kind than the model's labels.
    ValueError
        If the number of columns or of labels does not fit, or a value is not finite.
    MemoryError
        If the call would take more than there is; see docs/memory.md.

    Examples
    --------
    >>> import numpy as np
    >>> from d2ke.learners.libsvm import svmpredict, svmtrain
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> model = svmtrain([0.0, 2.0, 4.0, 6.0], X, "-s 3 -t 0 -c 100 -p 0.001")
    >>> values, (_, mse, scc), _ = svmpredict([3.0, 8.0], np.array([[1.5], [4.0]]), model)
    >>> values.round(2).tolist(), round(scc, 3)
    ([3.0, 8.0], 1.0)
    """
    if not isinstance(model, SVMModel):
        raise TypeError(f"model must be an SVMModel, got {type(model).__name__}")
    precomputed = model.kernel.type == _PRECOMPUTED
    data = arrays.matrix("K", K) if precomputed else solver_nodes.features("K", K)
    n_rows, n_columns = data.shape
    if n_columns != model.n_columns:
        kind = "training objects" if precomputed else "features"
        raise ValueError(f"K has {n_columns} columns, but the model has {model.n_columns} {kind}")
    true = scores.truth(y, model.classes, "K", n_rows)

    sizes = {"n": n_rows, "s": len(model.support), "k": len(model.rho)}
    if precomputed:
        require_memory("svmpredict", "-t 4", b=data.itemsize, c=copied_bytes(data.dtype), **sizes)
    else:
        c = copied_bytes(data.dtype)
        require_memory("svmpredict", "-t 0, 1, 2, 3", R=n_columns, c=c, **sizes)
    values = data[:, model.support] if precomputed else _kernel(data, model.vectors, model.kernel)
    if model.classes is None:
        decision = values @ model.coef.T - model.rho
        labels = decision[:, 0].copy()
        return labels, scores.accuracy(true, labels, None), decision
    decision = _pairwise(values, model)
    labels = model.classes[_vote(decision, len(model.classes))]
    return labels, scores.accuracy(true, labels, model.classes), decision


def _kernel(data: Any, vectors: Any, kernel: Kernel) -> np.ndarray:
    """Return the kernel's values between the rows of `data` and the support vectors."""
    product = data @ vectors.T.astype(np.float64)
    if sparse.issparse(product):
        product = product.toarray()
    if kernel.type == 0:
        return product
    if kernel.type == 2:
        squared = _squares(data)[:, None] + _squares(vectors) - 2 * product
        return np.exp(-kernel.gamma * np.maximum(squared, 0))
    inner = kernel.gamma * product + kernel.coef0
    return inner**kernel.degree if kernel.type == 1 else np.tanh(inner)


def _squares(data: Any) -> np.ndarray:
    if sparse.issparse(data):
        return np.asarray(data.astype(np.float64).power(2).sum(axis=1)).ravel()
    return np.einsum("ij,ij->i", data, data, dtype=np.float64)


def _pairwise(values: np.ndarray, model: SVMModel) -> np.ndarray:
    """Return the decision values of all pairs: one product for each class's support vectors."""
    ends = np.cumsum(model.n_support)
    parts = [
        values[:, low:high] @ model.coef[:, low:high].T
        for low, high in zip(ends - model.n_support, ends, strict=True)
    ]
    decision = np.empty((len(values), len(model.rho)))
    for column, (a, b) in enumerate(combinations(range(len(parts)), 2)):
        decision[:, column] = parts[a][:, b - 1] + parts[b][:, a] - model.rho[column]
    return decision


def _vote(decision: np.ndarray, n_classes: int) -> np.ndarray:
    """Return the class with most votes, the first of several."""
    votes = np.zeros((len(decision), n_classes), np.intp)
    for column, (a, b) in enumerate(combinations(range(n_classes), 2)):
        later = decision[:, column] > 0
        votes[:, b] += later
        votes[:, a] += ~later
    return votes.argmax(axis=1)
