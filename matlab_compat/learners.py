# SPDX-License-Identifier: BSD-3-Clause
"""The MATLAB interfaces of LIBLINEAR and LIBSVM: models are structs, labels keep their order.

Both libraries number the classes as they first appear in the training labels (of the labels -1
and 1, 1 is first). `Label`, the columns of decision values and ties follow that order here too.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from scipy import sparse

import d2ke
from d2ke._base import labels as class_labels
from d2ke._base.errors import ArgumentError, ArgumentTypeError
from d2ke._base.keywords import hinted
from d2ke._base.rows import feature_rows
from d2ke.learners.solvers import option_strings
from d2ke.learners.solvers.svm_model import PRECOMPUTED, SVMKernel
from matlab_compat import _solver_validation as solver_validation
from matlab_compat._cells import Struct, column, numbers, vector
from matlab_compat._outputs import Outputs

_PREDICT = {
    "-b": option_strings.Option(
        option_strings.integer(0, 1), "1: probabilities, of logistic solvers"
    ),
    "-q": option_strings.Option(None, "print nothing"),
}


@hinted
def train(y: Any, X: Any, options: str = "") -> Struct | float | np.ndarray:
    """Train a linear model with LIBLINEAR.

    Parameters
    ----------
    y : array_like, n x 1
        Numeric labels (or targets).
    X : array_like or scipy sparse, n x d
        The features, one object in each row.
    options : str
        LIBLINEAR's, such as ``"-s 2 -e 0.0001 -q -c 10"``. With ``-v n`` nothing is trained but
        n folds; with ``-C`` the best C is found by them (5 by default; of ``-s 0`` and 2, of
        ``-s 11`` also the best p), starting from ``-c`` and ``-p``.

    Returns
    -------
    Struct
        ``Parameters`` (the solver), ``nr_class``, ``nr_feature``, ``bias``, ``Label`` (nr_class x
        1), ``w`` (one row for two classes, nr_class rows for more; with ``-B`` the bias's weight
        is the last column).
    float
        With ``-v``: percent correct, or the mean squared error of a regression.
    ndarray, 1 x 3
        With ``-C``: the best C, the best p (-1 if there is none) and their share of correct
        labels, or mean squared error.

    Raises
    ------
    TypeError, ValueError
        Bad options, sizes that do not fit, values that are not finite.

    Examples
    --------
    >>> model = train([[1], [1], [-1], [-1]], [[2.0], [3.0], [-2.0], [-3.0]], "-s 2 -q")
    >>> model.Label.ravel(), bool(model.w[0, 0] > 0)
    (array([ 1., -1.]), True)
    >>> train([[1], [1], [-1], [-1]], [[2.0], [3.0], [-2.0], [-3.0]], "-s 2 -v 4")
    Cross Validation Accuracy = 100%
    100.0
    """
    labels = _numeric("y", y)
    X = feature_rows("X", X)
    order = None if _text(options, "-s") in ("11", "12", "13") else _order(labels)
    codes, options = _recoded(labels, order, options)
    words = _words(options)
    if "-C" in words:
        return _parameters(codes, X, options, "-q" in words)
    if "-v" in words:
        predicted = solver_validation.linear_predictions(codes, X, options)
        return _validated(codes, predicted, order is None, "-q" in words)
    model = d2ke.train(codes, X, options)
    bias = -1.0 if model.bias is None else float(_text(options, "-B"))
    w = model.weights
    if model.bias is not None:
        w = np.hstack([w, (model.bias / bias if bias else 0 * model.bias)[:, np.newaxis]])
    # d2ke's decision value is above 0 for the second of two classes, LIBLINEAR's for the first.
    if order is not None and len(w) == 1:
        w = -w
    return Struct(
        Parameters=float(model.solver),
        nr_class=2.0 if order is None else float(len(order)),
        nr_feature=float(model.n_features),
        bias=bias,
        Label=np.empty((0, 0)) if order is None else column(order),
        w=w,
    )


@hinted
def predict(
    y: Any, X: Any, model: Any, options: str = ""
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Predict with a model of `train`, one from a .mat file included.

    Parameters
    ----------
    y : array_like, n x 1
        True labels, for the accuracy; zeros or anything else if they are not known.
    X : array_like or scipy sparse, n x d
        The features; sparse ones may lack the last columns, which are then zeros.
    model : Struct or dict
        From `train`.
    options : str
        ``-b 1`` for probabilities, ``-q`` to print nothing.

    Returns
    -------
    predicted_label : ndarray, n x 1
        Predicted labels, or values of a regression.
    accuracy : ndarray, 3 x 1
        Percent, mean squared error, squared correlation.
    dec_values : ndarray, n x 1 for two classes or n x nr_class
        Decision values or probabilities, columns in the order of ``model.Label``.

    Raises
    ------
    TypeError, ValueError
        Bad options, sizes that do not fit, a model without one of its fields.

    Examples
    --------
    >>> model = train([[1], [1], [-1], [-1]], [[2.0], [3.0], [-2.0], [-3.0]], "-s 2 -q")
    >>> labels, accuracy, _ = predict([[-1], [1]], [[-1.0], [1.0]], model)
    Accuracy = 100% (2/2)
    >>> labels.ravel()
    array([-1.,  1.])
    """
    parsed = option_strings.parse(options, _PREDICT)
    truth = _numeric("y", y)
    order = _numeric("model.Label", _field(model, "Label"))
    w, bias = np.atleast_2d(_field(model, "w")), _number(model, "bias")
    solver = int(_number(model, "Parameters"))
    offset = None
    if bias >= 0:
        w, offset = w[:, :-1], w[:, -1] * bias
    classes = np.arange(len(order)) if len(order) else None
    two = classes is not None and len(w) == 1
    trained = d2ke.learners.LinearModel(
        np.ascontiguousarray(-w if two else w, dtype=np.float64),
        None if offset is None else np.asarray(-offset if two else offset, dtype=np.float64),
        classes,
        solver,
        "",
    )
    X = _widened(X, trained.n_features)
    probability = parsed.get("-b", 0) == 1
    predicted, _, decision = d2ke.predict(None, X, trained, probability=probability)
    if two and not probability:
        decision = -decision
    labels = predicted if classes is None else order[predicted].astype(np.float64)
    report = _report(truth, labels, decision, classes is None, "-q" in parsed)
    return Outputs("predict", **report)


@hinted
def svmtrain(y: Any, X: Any, options: str = "") -> Struct | float:
    """Train a kernel machine with LIBSVM.

    Parameters
    ----------
    y : array_like, n x 1
        Numeric labels (or targets).
    X : array_like or scipy sparse
        The vectors, n x d; for a precomputed kernel (``-t 4``) ``[(1:n)', K]``, n x (n + 1).
    options : str
        LIBSVM's, such as ``"-t 4 -c 1"``. With ``-v n`` nothing is trained but n folds;
        ``-b 1`` trains what `svmpredict` needs for probabilities.

    Returns
    -------
    Struct
        ``Parameters`` (5 x 1: type, kernel, degree, gamma, coef0), ``nr_class``, ``totalSV``,
        ``rho``, ``Label``, ``sv_indices`` (from 1), ``ProbA`` and ``ProbB`` (empty without
        ``-b 1``), ``nSV``, ``sv_coef``, ``SVs`` (sparse; of a precomputed kernel the numbers of
        the objects).
    float
        With ``-v``: percent correct, or the mean squared error of a regression.

    Raises
    ------
    TypeError, ValueError
        Bad options, sizes that do not fit, values that are not finite, an index column that is
        not 1 to n.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.array([[-2.0], [-1.0], [1.0], [2.0]])
    >>> K = np.hstack([np.arange(1, 5)[:, np.newaxis], x @ x.T])
    >>> model = svmtrain([[-1], [-1], [1], [1]], K, "-t 4 -c 10")
    >>> model.totalSV, model.sv_indices.ravel()
    (2.0, array([3., 2.]))
    """
    values = _numeric("y", y)
    if "-t" not in _words(options):
        options += " -t 2"  # LIBSVM's default; d2ke wants the kernel named
    if _text(options, "-t") == str(PRECOMPUTED):
        X = _without_index(X, training=True)
    else:
        X = feature_rows("X", X)
    order = None if _text(options, "-s") in ("3", "4") else _order(values)
    codes, options = _recoded(values, order, options)
    parsed = option_strings.parse(options, solver_validation.SVM_OPTIONS)
    if "-v" in parsed:
        predicted = solver_validation.svm_predictions(codes, X, options)
        return _validated(codes, predicted, order is None, "-q" in parsed)
    A = B = np.empty((0, 0))
    if parsed.get("-b"):
        A, B = map(column, solver_validation.svm_probabilities(codes, X, options))
    model = d2ke.svmtrain(codes, X, re.sub(r"(?<!\S)-b\s+\S+", "", options))
    kernel = model.kernel
    coef, rho = model.coef, model.rho
    if order is not None:  # the first of two classes has the positive values in LIBSVM
        coef, rho = -coef, -rho
    indices = column(model.support) + 1.0
    support = indices if model.vectors is None else model.vectors
    return Struct(
        Parameters=column([model.svm_type, kernel.type, kernel.degree, kernel.gamma, kernel.coef0]),
        nr_class=2.0 if order is None else float(len(order)),
        totalSV=float(len(model.support)),
        rho=column(rho),
        Label=np.empty((0, 0)) if order is None else column(order),
        sv_indices=indices,
        ProbA=A,
        ProbB=B if B.size else np.empty((0, 0)),
        nSV=np.empty((0, 0)) if order is None else column(model.n_support).astype(np.float64),
        sv_coef=np.ascontiguousarray(coef.T),
        SVs=sparse.csc_array(support),
    )


@hinted
def svmpredict(
    y: Any, X: Any, model: Any, options: str = ""
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Predict with a model of `svmtrain`, one from a .mat file included.

    Parameters
    ----------
    y : array_like, m x 1
        True labels, for the accuracy.
    X : array_like or scipy sparse
        The vectors, m x d; for a precomputed kernel ``[(1:m)', K]`` with K between the m objects
        and all n training objects, and any numbers in the first column.
    model : Struct or dict
        From `svmtrain`.
    options : str
        ``-b 1`` for probabilities, of a model trained with it; ``-q`` to print nothing.

    Returns
    -------
    predicted_label : ndarray, m x 1
        Predicted labels, or values of a regression.
    accuracy : ndarray, 3 x 1
        Percent, mean squared error, squared correlation.
    dec_values : ndarray, m x pairs
        One column for each pair of classes in the order of ``model.Label``; above 0 is a vote for
        the first of the pair. With ``-b 1`` the probabilities, one column for each class; the
        label is then the most probable one.

    Raises
    ------
    TypeError, ValueError
        Bad options, sizes that do not fit, a model without one of its fields.

    Examples
    --------
    >>> x = np.array([[-2.0], [-1.0], [1.0], [2.0]])
    >>> model = svmtrain([[-1], [-1], [1], [1]], x, "-t 0 -c 10")
    >>> svmpredict([[-1], [1]], [[-3.0], [3.0]], model)[0].ravel()
    Accuracy = 100% (2/2) (classification)
    array([-1.,  1.])
    """
    parsed = option_strings.parse(options, _PREDICT)
    probability = parsed.get("-b", 0) == 1
    if probability and not np.size(_field(model, "ProbA")):
        raise ValueError("-b 1 needs a model with probabilities; train it with -b 1 too")
    truth = _numeric("y", y)
    parameters = vector("model.Parameters", _field(model, "Parameters"))
    if len(parameters) != 5:
        raise ArgumentError("model", "must be one of svmtrain; its Parameters are not five numbers")
    svm_type, kernel_type, degree, gamma, coef0 = parameters.tolist()
    order = _numeric("model.Label", _field(model, "Label"))
    regression = len(order) == 0
    sign = 1.0 if regression else -1.0
    precomputed = kernel_type == PRECOMPUTED
    if precomputed:
        X = _without_index(X, training=False)
    support = _whole(model, "sv_indices") - 1
    if precomputed and len(support) and X.shape[1] <= support.max():
        raise ArgumentError(
            "X",
            f"has the kernel of {X.shape[1]} training objects, but the model uses training "
            f"object {support.max() + 1}",
        )
    if precomputed:
        vectors, n_columns = None, X.shape[1]
    else:
        vectors = _field(model, "SVs")
        vectors = sparse.csr_array(vectors) if sparse.issparse(vectors) else np.asarray(vectors)
        n_columns = vectors.shape[1]
    trained = d2ke.learners.SVMModel(
        support=support,
        coef=np.ascontiguousarray(sign * np.atleast_2d(_field(model, "sv_coef")).T),
        rho=sign * vector("model.rho", _field(model, "rho")).astype(np.float64),
        classes=None if regression else np.arange(len(order)),
        n_support=None if regression else _whole(model, "nSV"),
        n_columns=n_columns,
        vectors=vectors,
        kernel=SVMKernel(int(kernel_type), int(degree), float(gamma), float(coef0)),
        svm_type=int(svm_type),
        options="",
    )
    if not precomputed:
        X = _widened(X, trained.n_columns)
    predicted, _, decision = d2ke.svmpredict(None, X, trained)
    labels = predicted if regression else order[predicted].astype(np.float64)
    if regression:
        kind = " (regression)"
    else:
        decision, kind = -decision, " (classification)"
    quiet = "-q" in parsed
    if probability and not regression:
        A, B = (vector(f"model.{name}", _field(model, name)) for name in ("ProbA", "ProbB"))
        decision = solver_validation.class_probabilities(decision, A, B, len(order))
        labels = order[np.argmax(decision, axis=1)].astype(np.float64)
    elif probability and not quiet:
        print(
            "Prob. model for test data: target value = predicted value + z,\n"
            "z: Laplace distribution e^(-|z|/sigma)/(2sigma),sigma="
            f"{_number(model, 'ProbA'):g}"
        )
    report = _report(truth, labels, decision, regression, quiet, kind)
    return Outputs("svmpredict", **report)


def _numeric(name: str, y: Any) -> np.ndarray:
    values = numbers(name, vector(name, y))
    bad = np.flatnonzero(~np.isfinite(values))
    if bad.size:
        raise ArgumentError(name, f"is {values[bad[0]]}; every value must be finite", bad[0])
    return values


def _order(labels: np.ndarray) -> np.ndarray:
    """Return the classes in the order in which LIBLINEAR and LIBSVM number them."""
    classes, first = np.unique(labels, return_index=True)
    if len(classes) == 1:
        raise ArgumentError(
            "y", f"holds one class only, {classes[0]:g}; a classifier needs at least two"
        )
    order = classes[np.argsort(first, kind="stable")]
    return order[::-1] if order.tolist() == [-1, 1] else order


def _recoded(labels: np.ndarray, order: np.ndarray | None, options: str) -> tuple[np.ndarray, str]:
    """Replace labels by their positions in `order`, in the options too."""
    if order is None:
        return labels, options
    position = {label: str(code) for code, label in enumerate(order.tolist())}

    def weight(match: re.Match[str]) -> str:
        label = float(match[1])
        if label not in position:
            raise ArgumentError("options", f"weigh the label {label:g}, which is not in y")
        return f"-w{position[label]}"

    codes = np.array([int(position[label]) for label in labels.tolist()], dtype=np.int64)
    return codes, re.sub(r"(?<!\S)-w([+-]?[0-9]+)(?!\S)", weight, options)


def _text(options: str, flag: str) -> str:
    """Return the word after a flag, or "" if the flag is missing."""
    words = _words(options)
    return words[words.index(flag) + 1] if flag in words[:-1] else ""


def _words(options: str) -> list[str]:
    if not isinstance(options, str):
        raise ArgumentTypeError("options", f'must be a string such as "-s 2 -c 1", got {options!r}')
    return options.split()


def _widened(X: Any, width: int) -> Any:
    """Add to sparse features the columns of zeros that a file without large indices lacks."""
    X = feature_rows("X", X)
    if X.shape[1] > width or (X.shape[1] < width and not sparse.issparse(X)):
        raise ArgumentError("X", f"has {X.shape[1]} columns, but the model has {width}")
    if X.shape[1] == width:
        return X
    X = sparse.csr_array(X)
    return sparse.csr_array((X.data, X.indices, X.indptr), shape=(X.shape[0], width))


def _without_index(X: Any, *, training: bool) -> np.ndarray:
    """Remove the column of indices from [(1:n)', K]; LIBSVM reads them in training only."""
    K = X.toarray() if sparse.issparse(X) else np.asarray(X, dtype=np.float64)
    if K.ndim != 2 or K.shape[1] < 2:
        raise ArgumentError("X", f"must be [(1:n)', K], got shape {K.shape}")
    wrong = np.flatnonzero(K[:, 0] != np.arange(1, len(K) + 1))
    if training and wrong.size:
        i = wrong[0]
        raise ArgumentError(
            "X",
            "must be [(1:n)', K], with the numbers from 1 in its first column; "
            f"X[{i}, 0] is {K[i, 0]:g}",
        )
    return K[:, 1:]


def _field(model: Any, name: str) -> Any:
    try:
        return model[name]
    except (KeyError, TypeError, IndexError):
        raise ArgumentError("model", f"must be a struct with a field {name!r}") from None


def _number(model: Any, name: str) -> float:
    return float(vector(f"model.{name}", _field(model, name))[0])


def _whole(model: Any, name: str) -> np.ndarray:
    return vector(f"model.{name}", _field(model, name)).astype(np.int64)


def _report(
    truth: np.ndarray,
    labels: np.ndarray,
    decision: np.ndarray,
    regression: bool,
    quiet: bool,
    kind: str = "",
) -> dict[str, np.ndarray]:
    """Compare with the truth and print the accuracy, as the MATLAB interfaces do."""
    class_labels.truth(truth, None, "X", len(labels))
    # LIBLINEAR and LIBSVM count equal values of regressions too, mostly none.
    percent, error, correlation = class_labels.accuracy(truth, labels, labels)
    if not quiet and regression:
        print(f"Mean squared error = {error:g} (regression)")
        print(f"Squared correlation coefficient = {correlation:g} (regression)")
    elif not quiet:
        print(f"Accuracy = {percent:g}% ({np.sum(truth == labels)}/{len(labels)}){kind}")
    return {
        "predicted_label": column(labels),
        "accuracy": column([percent, error, correlation]),
        "dec_values": decision,
    }


def _validated(truth: np.ndarray, predicted: np.ndarray, regression: bool, quiet: bool) -> float:
    """Compare the folds' predictions with the truth, as the MATLAB interfaces do."""
    percent, error, correlation = class_labels.accuracy(truth, predicted, predicted)
    if not quiet and regression:
        print(f"Cross Validation Mean squared error = {error:g}")
        print(f"Cross Validation Squared correlation coefficient = {correlation:g}")
    elif not quiet:
        print(f"Cross Validation Accuracy = {percent:g}%")
    return error if regression else percent


def _parameters(codes: np.ndarray, X: Any, options: str, quiet: bool) -> np.ndarray:
    """Find C, and p of a regression, as LIBLINEAR's -C does."""
    C, p, score = solver_validation.linear_parameters(codes, X, options)
    if not quiet and _text(options, "-s") == "11":
        print(f"Best C = {C:g} Best p = {p:g}  CV MSE = {score:g}")
    elif not quiet:
        print(f"Best C = {C:g}  CV accuracy = {100 * score:g}%")
    return np.array([[C, p, score]])
