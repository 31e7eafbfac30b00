# SPDX-License-Identifier: BSD-3-Clause
"""The Similarity Machine: a maximum-margin classifier with an indefinite similarity."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from d2ke._base import arrays, labels
from d2ke._base.checks import positive_number
from d2ke._base.errors import ArgumentError, ArgumentTypeError
from d2ke._base.keywords import hinted
from d2ke._base.results import result
from d2ke.embedding.spectrum import split
from d2ke.learners.linear_model import winners
from d2ke.learners.solvers.libsvm import svmtrain


@result
class SimilarityMachine:
    """A trained Similarity Machine: decision values are S_new coef + bias.

    Attributes
    ----------
    classes : ndarray of shape (n_classes,)
        The distinct labels in sorted order.
    coef : ndarray of float64, shape (n, n_machines)
        One column for each class against all others; for two classes only ``classes[1]``'s.
    bias : ndarray of float64, shape (n_machines,)
        Added to the decision values.
    """

    classes: np.ndarray
    coef: np.ndarray = field(repr=False)
    bias: np.ndarray = field(repr=False)


@hinted
def similarity_machine_fit(
    S: Any,
    y: Sequence[Any] | np.ndarray,
    *,
    C: float = 1.0,
    lam_plus: float = 1.0,
    lam_minus: float = 1.0,
    tol: float = 1e-3,
) -> SimilarityMachine:
    """Train a maximum-margin classifier with any symmetric similarity, definite or not.

    With S = S+ - S- (`psd_split`) it minimises, over a and b,

        a' (lam_plus S+ + lam_minus S-) a / 2 + C sum_i max(0, 1 - y_i ((S a)_i + b)),

    y_i = +1 and -1 for the two classes; with more than two classes, each against all others.

    Parameters
    ----------
    S : array_like, shape (n, n)
        Similarities among the training objects.
    y : sequence of length n
        Their labels, of any one type; at least two classes.
    C : float
        Weight of the losses, > 0.
    lam_plus, lam_minus : float
        Weights > 0 of the positive and of the negative part's penalty.
    tol : float
        LIBSVM's tolerance, > 0.

    Returns
    -------
    SimilarityMachine
        For `similarity_machine_predict`.

    Raises
    ------
    TypeError, ValueError
        S not a symmetric matrix of finite real numbers, or of distances, lengths that differ,
        one class only, or a number out of range.
    MemoryError
        If the call would take more than there is; see docs/memory.md.

    Notes
    -----
    The problem is convex, and it is a support vector machine: with the kernel
    S+ / lam_plus + S- / lam_minus and the eigenvectors Q and eigenvalues of S, LIBSVM's
    coefficients a~ give a = Q diag(sign / lam) Q' a~, which is the solver of the Krein-space
    support vector machine. With equal weights it is LIBSVM on the flipped matrix, see
    `SpectrumRepair`; with a large lam_minus it approaches clip, which was never much worse on five
    data sets, and clearly better on strings.

    References
    ----------
    Yang, Liang, Jojic, Yan, Feng, Huang, "Discriminative Similarity for Clustering and
    Semi-Supervised Learning", 2017, section 8.6. Loosli, Canu, Ong, "Learning SVM in Krein
    spaces", IEEE TPAMI 38(6), 2016.

    Examples
    --------
    >>> import numpy as np
    >>> import d2ke
    >>> x = np.array([-2.0, -1.0, 1.0, 2.0])
    >>> S = np.tanh(np.outer(x, x) - 1)
    >>> model = d2ke.similarity_machine_fit(S, ["no", "no", "yes", "yes"], C=10.0)
    >>> labels, decision = d2ke.similarity_machine_predict(model, np.tanh([1.5 * x - 1]))
    >>> labels.tolist(), decision.shape
    (['yes'], (1, 1))
    """
    C = positive_number("C", C)
    lam_plus = positive_number("lam_plus", lam_plus)
    lam_minus = positive_number("lam_minus", lam_minus)
    tol = positive_number("tol", tol)
    labels.check_order(S, "S.index", y=y)
    classes, codes = labels.encode_classes("y", y)
    spectrum = split("S", S)
    arrays.refuse_distances("S", np.asarray(S))
    labels.same_length("y", codes, "S", len(spectrum.values))
    kernel = spectrum.combined(1 / lam_plus, 1 / lam_minus)
    positive = [1] if len(classes) == 2 else range(len(classes))
    coef = np.zeros((len(codes), len(positive)))
    bias = np.empty(len(positive))
    for column, code in enumerate(positive):
        machine = svmtrain(codes == code, kernel, f"-t 4 -c {C!r} -e {tol!r}")
        coef[machine.support, column] = machine.coef[0]
        bias[column] = -machine.rho[0]
    factors = np.where(spectrum.values > 0, 1 / lam_plus, -1 / lam_minus) * (spectrum.values != 0)
    coef = spectrum.vectors @ (factors[:, None] * (spectrum.vectors.T @ coef))
    return SimilarityMachine(classes, coef, bias)


@hinted
def similarity_machine_predict(
    model: SimilarityMachine, S_new: Any
) -> tuple[NDArray[Any], NDArray[np.float64]]:
    """Predict with a Similarity Machine.

    Parameters
    ----------
    model : SimilarityMachine
        From `similarity_machine_fit`.
    S_new : array_like, shape (m, n)
        Similarities of m objects to the n training objects.

    Returns
    -------
    labels : ndarray of shape (m,)
        Predicted labels, in the type of ``model.classes``.
    decision : ndarray of float64, shape (m, 1) or (m, n_classes)
        For two classes one column, where a value above 0 means ``classes[1]``; for more, a column
        for each class, and the first of the largest wins.

    Raises
    ------
    TypeError
        If `model` is not a SimilarityMachine, or `S_new` holds no real numbers.
    ValueError
        If the number of columns does not fit, or a value is not finite.

    Examples
    --------
    >>> import d2ke
    >>> S = [[1.0, -0.5, 0.2], [-0.5, 1.0, 0.9], [0.2, 0.9, 0.5]]
    >>> model = d2ke.similarity_machine_fit(S, [0, 1, 1], C=100.0)
    >>> d2ke.similarity_machine_predict(model, S)[0].tolist()
    [0, 1, 1]
    """
    if not isinstance(model, SimilarityMachine):
        raise ArgumentTypeError("model", f"must be a SimilarityMachine, got {type(model).__name__}")
    rows = arrays.matrix("S_new", S_new)
    if rows.shape[1] != len(model.coef):
        raise ArgumentError(
            "S_new",
            f"has {rows.shape[1]} columns, but the model has {len(model.coef)} training objects",
        )
    decision = rows @ model.coef + model.bias
    return model.classes[winners(decision)], decision
