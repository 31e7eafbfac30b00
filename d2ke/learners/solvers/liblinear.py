# SPDX-License-Identifier: BSD-3-Clause
"""Linear classification and regression trained by LIBLINEAR.

The argument order and the option strings follow LIBLINEAR's MATLAB interface. LIBLINEAR gets the
data as one array filled by numpy, and one-vs-rest problems are solved in threads.

References
----------
R.-E. Fan, K.-W. Chang, C.-J. Hsieh, X.-R. Wang, C.-J. Lin, "LIBLINEAR: A library for large linear
classification", JMLR 9, 2008.
"""

from __future__ import annotations

import ctypes
import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse

from d2ke._base import labels
from d2ke._base.checks import choice, integer
from d2ke._base.errors import ArgumentError, ArgumentTypeError
from d2ke._base.keywords import hinted
from d2ke._base.rows import feature_rows
from d2ke._base.threads import thread_count
from d2ke.learners.linear_model import LinearModel, one_vs_rest_signs
from d2ke.learners.newton import MAX_NEWTON, block_newton
from d2ke.learners.solvers import calls as solver_calls
from d2ke.learners.solvers import nodes as solver_nodes
from d2ke.learners.solvers import option_strings
from d2ke.learners.solvers.option_strings import Option
from d2ke.objects.container import Objects
from d2ke.objects.values import channel_names, column_names

_CRAMMER_SINGER = 4  # option -s
# LIBLINEAR's default tolerances by solver; 0.1 for all other solvers.
_EPS = {0: 0.01, 2: 0.01, 5: 0.01, 6: 0.01, 11: 0.0001}
_CROSS_VALIDATION = (
    "train returns a model; cross-validate objects with d2ke.search, and a feature matrix with "
    "matlab_compat.train"
)

OPTIONS = {
    "-s": Option(
        option_strings.integer(0, 1, 2, 3, 4, 5, 6, 7, 11, 12, 13), "solver (default 1)"
    ),
    "-c": Option(option_strings.real(0, above=True), "cost C (default 1)"),
    "-p": Option(option_strings.real(0), "epsilon of the loss of -s 11, 12, 13 (default 0.1)"),
    "-e": Option(option_strings.real(0, above=True), "tolerance (default 0.01 to 0.1, by solver)"),
    "-B": Option(option_strings.real(), "bias feature if >= 0 (default -1, none)"),
    "-R": Option(None, "do not regularise the bias of -B 1"),
    "-w": Option(option_strings.real(0, above=True), "factor of C for a class of that number"),
    "-q": Option(None, "quiet (always the case)"),
    "-v": Option(option_strings.refused(_CROSS_VALIDATION), "not supported"),
    "-C": Option(option_strings.refused(_CROSS_VALIDATION), "not supported"),
}  # fmt: skip


@hinted
def train(
    y: Sequence[Any] | np.ndarray,
    Z: Any,
    options: str | Sequence[str] = "-s 2 -e 0.0001 -c 1 -q",
    *,
    solver: str = "auto",
    class_weight: Mapping[Any, float] | None = None,
    n_threads: int | None = None,
    seed: int = 0,
) -> LinearModel:
    """Train a linear classifier or regression with LIBLINEAR, or a solver of the same problem.

    Parameters
    ----------
    y : sequence of length n
        Class labels of any one type (integers of any size, finite floats, booleans, strings); or
        real targets for the solvers 11, 12, 13.
    Z : array_like, scipy sparse or FeatureFile, shape (n, n_features)
        Feature vectors; float64 or float32, of any memory order, or any sparse format. All
        columns count, also columns of zeros. Rows of `io.open_features` are read
        block by block: once for LIBLINEAR, and in each of its passes by ``solver="block"``, which
        never holds more than some blocks.
    options : str, default "-s 2 -e 0.0001 -c 1 -q"
        LIBLINEAR's options. An option left out has LIBLINEAR's default (``-s 1``, ``-c 1``).

        - ``-s``: 0 logistic regression (primal), 1 squared hinge loss (dual), 2 the same
          (primal), 3 hinge loss (dual), 4 Crammer and Singer's multi-class machine, 5 squared
          hinge loss with L1 penalty, 6 logistic regression with L1 penalty, 7 logistic
          regression (dual); regressions: 11 squared epsilon-insensitive loss (primal), 12 the
          same (dual), 13 epsilon-insensitive loss (dual).
        - ``-c`` cost C > 0; ``-e`` tolerance > 0; ``-p`` epsilon >= 0 (regressions);
          ``-B b`` appends the feature b >= 0 to each vector; ``-R`` leaves the weight of
          ``-B 1`` unpenalised (0, 2, 5, 6, 11).
        - ``-w<label> f`` multiplies C by f for the class of that integer label. With more than
          two classes it acts on the class as the positive side of its own problem, as in
          LIBLINEAR.
        - ``-q`` is accepted; nothing is ever printed. ``-v``, ``-C`` and the one-class solver
          21 are refused.
    solver : {"auto", "liblinear", "block"}, default "auto"
        ``"block"``: for ``-s 2`` and dense `Z`, minimises the same objective to the same
        tolerance by a truncated Newton method that serves all classes with each matrix product
        and copies nothing: many times faster for many rows or classes. It has no
        ``-R``. ``"auto"`` is LIBLINEAR where it is installed, and else ``"block"`` for
        what that solves. ``model.method`` is the one that was used.
    class_weight : dict, optional
        {label: factor of C}, for labels of any type; in place of ``-w``.
    n_threads : int, optional
        Threads that solve the one-vs-rest problems of more than two classes (solvers 0 and 2),
        or that multiply matrices (``solver="block"``); all CPUs available by default. The model
        does not depend on it.
    seed : int, default 0
        Seeds the C library's ``rand()``, which the solvers 1, 3, 4, 5, 6, 7, 12 and 13 draw
        from. The generator belongs to the process: these solvers run one at a time, and another
        library that calls ``rand()`` meanwhile spoils the repeatability.

    Returns
    -------
    LinearModel
        Weights, bias and classes as plain arrays.

    Raises
    ------
    TypeError
        If `y`, `Z` or an argument is of a wrong type.
    ValueError
        If a value is not finite, lengths differ, there is only one class, an option is
        unknown or out of range, or a features file is damaged.
    ImportError
        If only LIBLINEAR solves the problem, and it is not installed; it comes with the extra
        ``d2ke[svm]``.

    Warns
    -----
    RuntimeWarning
        If LIBLINEAR stopped before it reached the tolerance.

    Notes
    -----
    LIBLINEAR needs 16 bytes for each value of `Z`. Its print hook, one per process, is
    redirected. On Ctrl-C the call ends at once, but LIBLINEAR cannot be stopped: the problems
    being solved end in the background, and hold their memory until then. Meanwhile another
    training with one of the solvers that draw from ``rand()`` waits.

    Each one-vs-rest problem is LIBLINEAR's own binary one, bit for bit for the solvers 0 and 2.
    LIBLINEAR's multi-class call sums the same rows in another order, so that its weights agree
    to within the tolerance ``-e`` only, as do its own for two orders of the rows.

    Examples
    --------
    >>> import numpy as np
    >>> from d2ke import predict, train
    >>> Z = np.array([[0.0, 1.0], [0.1, 0.8], [1.0, 0.0], [0.9, 0.2]])
    >>> y = ["left", "left", "right", "right"]
    >>> model = train(y, Z, "-s 2 -e 0.0001 -c 10 -q")
    >>> labels, (percent, _, _), decision = predict(y, Z, model)
    >>> labels.tolist(), percent
    (['left', 'left', 'right', 'right'], 100.0)
    """
    parsed = option_strings.parse(options, OPTIONS)
    number = parsed.get("-s", 1)
    choice("solver", solver, ("auto", "liblinear", "block"))
    if solver == "block" and (number != 2 or "-R" in parsed):
        raise ValueError(f'solver="block" is for the options -s 2 without -R, got {options!r}')
    n_threads = thread_count(n_threads)
    seed = integer("seed", seed, 0, 2**32 - 1)
    features, classes, values, factors = check_problem(y, Z, parsed, class_weight)
    if solver != "block":
        solver = _installed(solver, parsed, features)
    if solver == "block":
        name = 'solver="block"'
        weights, stop = _solve_by_blocks(features, values, factors, parsed, n_threads)
    else:
        name = f"LIBLINEAR -s {number}"
        problems = _problems(features, values, factors, parsed)
        deterministic = (0, 2, 11)  # all others shuffle with the C library's rand()
        weights, stop = _run(problems, n_threads, None if number in deterministic else seed)
    if not np.isfinite(weights).all():
        raise ValueError("the solution is not finite; the values of Z are too large")
    if stop is not None:
        problem, reason = stop
        # One problem in all has no class to name, but for the block solver.
        about = ""
        if classes is not None and (solver == "block" or len(problems) > 1):
            about = f" for class {classes[problem].item()!r}"
        warnings.warn(
            f"{name} stopped{about} before reaching the tolerance: {reason}; use a larger -e, "
            "a smaller -c, or scale Z",
            RuntimeWarning,
            stacklevel=2,
        )
    bias = parsed.get("-B", -1.0)
    offsets = None
    if bias >= 0:
        weights, offsets = np.ascontiguousarray(weights[:, :-1]), bias * weights[:, -1]
    text = option_strings.text(options)
    names = channel_names(column_names(Z), "Z")
    return LinearModel(weights, offsets, classes, number, text, False, solver, names)


def _installed(solver: str, parsed: dict[str, Any], features: Any) -> str:
    """Return "liblinear" if it can be loaded, else "block" if that solves the problem."""
    needed = {
        f"-s {parsed.get('-s', 1)}": parsed.get("-s", 1) != 2,
        "-R": "-R" in parsed,
        "a sparse Z": sparse.issparse(features),
        f'solver="{solver}"': solver == "liblinear",
    }
    reason = next((reason for reason, holds in needed.items() if holds), "")
    try:
        library(f"train with {reason}")
    except ImportError:
        if reason:
            raise
        return "block"
    return "liblinear"


def check_problem(
    y: Any, Z: Any, parsed: dict[str, Any], class_weight: Mapping[Any, float] | None = None
) -> tuple[Any, np.ndarray | None, np.ndarray, np.ndarray]:
    """Return features, classes, their codes and the factors of C.

    A regression has no classes, targets for codes, and no factors. Options that the chosen solver
    would ignore are refused.
    """
    solver = parsed.get("-s", 1)
    is_regression = solver in (11, 12, 13)
    if "-p" in parsed and not is_regression:
        raise ValueError(f"option -p is for the regressions -s 11, 12, 13, not for -s {solver}")
    if is_regression and ("-w" in parsed or class_weight is not None):
        raise ValueError(f"class weights are for classifiers, not for the regression -s {solver}")
    allowed = (0, 2, 5, 6, 11)
    if "-R" in parsed and (parsed.get("-B") != 1 or solver not in allowed):
        raise ValueError(f"option -R needs -B 1 and one of -s {allowed}, got -s {solver}")
    labels.check_order(Z, "Z.index", y=y)
    try:
        features = feature_rows("Z", Z)
    except (ArgumentError, ArgumentTypeError) as error:
        first = Z[0] if isinstance(Z, (list, tuple)) and Z else None
        if not isinstance(Z, Objects) and not isinstance(first, (str, bytes, list, np.ndarray)):
            raise
        problem = f"{error.problem}; train is LIBLINEAR on a matrix Z, d2ke_train takes objects"
        raise type(error)("Z", problem) from None
    if 0 in features.shape:
        raise ArgumentError("Z", f"must have rows and columns, got shape {features.shape}")
    if is_regression:
        classes, values = None, labels.targets("y", y)
    else:
        classes, values = labels.encode_classes("y", y)
    labels.same_length("y", values, "Z", features.shape[0])
    if classes is None:
        return features, None, values, np.empty(0)
    return features, classes, values, labels.class_weights(classes, parsed.get("-w"), class_weight)


def _solve_by_blocks(
    features: Any, codes: np.ndarray, factors: np.ndarray, parsed: dict[str, Any], n_threads: int
) -> tuple[np.ndarray, tuple[int, str] | None]:
    """Return each problem's weights, and the first class that was not solved with the reason.

    With two classes the second one is the positive side of the only problem.
    """
    if sparse.issparse(features):
        raise TypeError('solver="block" needs a dense Z, got sparse; use Z.toarray()')
    if features.dtype not in (np.float32, np.float64):
        features = features.astype(np.float64)
    signs = one_vs_rest_signs(codes, len(factors))
    n_problems = signs.shape[1]
    negative_factors = [factors[0]] if n_problems == 1 else np.ones(n_problems)
    costs = parsed.get("-c", 1.0) * np.vstack([negative_factors, factors[-n_problems:]])
    bias = parsed.get("-B", -1.0)
    weights, solved = block_newton(
        features,
        signs,
        costs,
        bias=bias if bias >= 0 else None,
        tolerance=parsed.get("-e", _EPS[2]),
        n_threads=n_threads,
    )
    weights = np.ascontiguousarray(weights.T)
    if solved.all():
        return weights, None
    return weights, (np.argmin(solved) + len(factors) - n_problems, f"{MAX_NEWTON} Newton steps")


def _run(
    problems: list[Callable[[], np.ndarray]], n_threads: int, seed: int | None
) -> tuple[np.ndarray, tuple[int, str] | None]:
    """Return all problems' weights, and the first that was not solved with LIBLINEAR's reason."""
    library().liblinear.set_print_string_function(solver_calls.PRINT_HOOK)
    solved = solver_calls.run(problems, n_threads, seed)
    weights = np.concatenate([w for w, _ in solved])
    # LIBLINEAR's messages of an early stop. A switch to another solver doesn't count, nor do "line
    # search fails" and "actred too small": then the objective is minimal up to rounding.
    early_stop = re.compile(
        r"WARNING: (reaching max number of (?:Newton )?iterations(?!\nSwitching)|f < -1\.0e\+32)"
    )
    for problem, (_, printed) in enumerate(solved):
        if message := early_stop.search(printed):
            return weights, (problem, message[1])
    return weights, None


def _problems(
    features: Any, values: np.ndarray, factors: np.ndarray, parsed: dict[str, Any]
) -> list[Callable[[], np.ndarray]]:
    """Return LIBLINEAR's problems: one in all, or one for each of several classes.

    The factor of a class changes its own C only.
    """
    bias = parsed.get("-B", -1.0)
    rows = solver_nodes.feature_nodes(features, bias if bias >= 0 else None)
    n_weights = features.shape[1] + int(bias >= 0)
    solve = partial(_solve, rows, n_weights, parsed)
    if not len(factors):
        return [partial(solve, values, {})]
    if parsed.get("-s", 1) == _CRAMMER_SINGER:
        if max(len(values), n_weights) * len(factors) >= 2**31:
            raise ValueError("-s 4 cannot hold n * n_classes >= 2**31 values; use -s 2")
        return [partial(solve, values, dict(enumerate(factors)))]

    def against_rest(code: int, weights: dict[int, float]) -> np.ndarray:
        return solve(np.where(values == code, 1.0, -1.0), weights)

    if len(factors) == 2:
        return [partial(against_rest, 1, {1: factors[1], -1: factors[0]})]
    return [partial(against_rest, code, {1: factor}) for code, factor in enumerate(factors)]


def library(what: str = "train") -> Any:
    """Return the module of LIBLINEAR's interface, which `what` needs."""
    return solver_calls.interface("liblinear.liblinear", what)


def native_problem(
    rows: solver_nodes.NodeRows,
    n_weights: int,
    parsed: dict[str, Any],
    values: np.ndarray,
    factors: Mapping[int, float],
) -> tuple[Any, Any, Any]:
    """Return the library, and its problem and parameters; `values` must outlive them."""
    lib = library()
    solver = parsed.get("-s", 1)
    param = lib.parameter.__new__(lib.parameter)  # its constructor parses and resets the hook
    param.set_to_default_values()
    param.solver_type = solver
    param.C = parsed.get("-c", 1.0)
    param.eps = parsed.get("-e", _EPS.get(solver, 0.1))
    param.p = parsed.get("-p", 0.1)
    param.regularize_bias = int("-R" not in parsed)
    param.nr_weight = len(factors)
    param.weight_label = (ctypes.c_int * len(factors))(*factors.keys())
    param.weight = (ctypes.c_double * len(factors))(*factors.values())
    problem = lib.problem.__new__(lib.problem)
    problem.l = len(values)
    problem.n = n_weights  # not derived from the data: trailing zero columns stay
    problem.y = values.ctypes.data_as(ctypes.POINTER(ctypes.c_double))
    problem.x = rows.addresses.ctypes.data_as(ctypes.POINTER(ctypes.POINTER(lib.feature_node)))
    problem.bias = parsed.get("-B", -1.0)
    message = lib.liblinear.check_parameter(problem, param)
    if message:
        raise ValueError(f"LIBLINEAR refuses the options: {message.decode()}")
    return lib, problem, param


def _solve(
    rows: solver_nodes.NodeRows,
    n_weights: int,
    parsed: dict[str, Any],
    values: np.ndarray,
    factors: Mapping[int, float],
) -> np.ndarray:
    """Return LIBLINEAR's weights, one row per label in ascending order (one for labels -1, +1)."""
    values = np.ascontiguousarray(values, np.float64)
    lib, problem, param = native_problem(rows, n_weights, parsed, values, factors)
    solver = param.solver_type
    pointer = lib.liblinear.train(problem, param)
    try:
        model = pointer.contents
        if solver == _CRAMMER_SINGER:
            # Columns are in the order in which the labels first appear.
            n_classes = model.nr_class
            order = np.argsort(model.label[:n_classes])
            weights = np.ctypeslib.as_array(model.w, (n_weights, n_classes))
            return np.ascontiguousarray(weights[:, order].T)
        # LIBLINEAR makes +1 the positive side of the labels -1 and +1 in either order.
        return np.ctypeslib.as_array(model.w, (1, n_weights)).copy()
    finally:
        lib.liblinear.free_and_destroy_model(ctypes.byref(pointer))
