# SPDX-License-Identifier: BSD-3-Clause
"""Error bounds of classifiers by similarities; bounds above 1 are vacuous.

Theorems and equations are numbered as in Yang, Liang, Jojic, Yan, Feng, Huang, "Discriminative
Similarity for Clustering and Semi-Supervised Learning", 2017.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from d2ke._base import labels
from d2ke._base.arrays import symmetric_matrix
from d2ke._base.checks import below_one, positive_number
from d2ke._base.errors import ArgumentError, ArgumentTypeError
from d2ke._base.keywords import hinted
from d2ke.discriminative.gaussian import gaussian
from d2ke.discriminative.similarity_graph import indicators
from d2ke.discriminative.similarity_machine import SimilarityMachine
from d2ke.discriminative.simplex_programs import simplex_point
from d2ke.embedding.spectrum import split


@hinted
def kernel_risk_bound(
    K: Any, y: Sequence[Any] | np.ndarray, alpha: Any, *, margin: float = 1.0, delta: float = 0.05
) -> float:
    """Bound the error probability of a kernel classifier: the first step of Theorem 1.

    With probability 1 - delta over n labelled objects it is at most

        loss + 8 (2c - 1) c B / (margin sqrt(n))
             + (8 sqrt(2) B c (2c - 1) / margin + 1) sqrt(ln(4 / delta) / (2n))

    for c classes, B^2 = sum_y alpha^(y)' K alpha^(y), and the mean loss
    min(1, max(0, 1 - m_i / margin)) of the margins m_i = h(x_i, y_i) - max_{y != y_i} h(x_i, y).

    Parameters
    ----------
    K : array_like, shape (n, n)
        Gram matrix without negative values.
    y : sequence of length n
        Labels, of any one type; at least two classes.
    alpha : array_like, shape (n,)
        Weights, >= 0, with sum 1.
    margin : float
        Scale of the loss, > 0.
    delta : float
        Probability allowed for a larger error, between 0 and 1.

    Returns
    -------
    float
        The bound. It is vacuous above 1; a smaller one takes many thousands of objects.

    Raises
    ------
    TypeError, ValueError
        K not symmetric or with negative values, lengths that differ, one class only, weights that
        are not on the simplex, or a number out of range.

    Notes
    -----
    Theorem 1 states it with eq. (7) instead of the loss, see `kernel_similarity_bound`; this
    bound is never larger. It is for kernels with K(x, x) = 1; otherwise B is multiplied by
    max K(x, x)^(1/2).

    References
    ----------
    Yang, Liang, Jojic, Yan, Feng, Huang, "Discriminative Similarity for Clustering and
    Semi-Supervised Learning", 2017, proof of Theorem 1.

    Examples
    --------
    >>> import numpy as np
    >>> import d2ke
    >>> K = np.kron(np.eye(2), np.ones((50, 50)))
    >>> alpha, y = np.full(100, 0.01), np.repeat([0, 1], 50)
    >>> round(d2ke.discriminative.kernel_risk_bound(K, y, alpha), 2)
    11.15
    """
    K, codes, alpha = _checked("K", K, y, alpha)
    _refuse_negative(K)
    margin = positive_number("margin", margin)
    loss = float(np.clip(1 - _margins(K, codes, alpha) / margin, 0.0, 1.0).mean())
    return loss + _complexity(
        _norm(K, codes, alpha) * _radius(K), codes, margin, delta, math.sqrt(2)
    )


@hinted
def kernel_similarity_bound(
    K: Any, y: Sequence[Any] | np.ndarray, alpha: Any, *, margin: float = 1.0, delta: float = 0.05
) -> float:
    """Bound the error probability by discriminative similarity: Theorem 1, eq. (7).

    As `kernel_risk_bound`, with an upper bound instead of the loss,

        1 - sum_ij (alpha_i + alpha_j) K_ij / (2 n margin)
          + sum_{i<j, y_i != y_j} 2 (alpha_i + alpha_j) K_ij / (n margin),

    which contains cdsk's similarity. The two are equal for two classes where no object is
    misclassified or has a margin beyond `margin`.

    Parameters
    ----------
    K, y, alpha, delta
        As for `kernel_risk_bound`.
    margin : float
        Scale of the loss, at least the largest value of K.

    Returns
    -------
    float
        The bound.

    Raises
    ------
    TypeError, ValueError
        As `kernel_risk_bound`; or a margin below the largest value of K.

    References
    ----------
    Yang, Liang, Jojic, Yan, Feng, Huang, "Discriminative Similarity for Clustering and
    Semi-Supervised Learning", 2017, Theorem 1, eq. (7).

    Examples
    --------
    >>> import numpy as np
    >>> import d2ke
    >>> K = np.kron(np.eye(2), np.ones((50, 50)))
    >>> alpha, y = np.full(100, 0.01), np.repeat([0, 1], 50)
    >>> round(d2ke.discriminative.kernel_similarity_bound(K, y, alpha), 2)
    11.15
    """
    K, codes, alpha = _checked("K", K, y, alpha)
    _refuse_negative(K)
    margin = positive_number("margin", margin)
    if margin < K.max() * (1 - 1e-12):
        raise ArgumentError(
            "margin",
            f"must be at least the largest value of K, {K.max():g}, or the similarities do not "
            f"bound the loss; got {margin:g}",
        )
    true_scores = _scores(K, codes, alpha)[np.arange(len(K)), codes]
    loss = 1 - float(2 * true_scores.sum() - (K @ alpha).sum()) / (len(K) * margin)
    return loss + _complexity(
        _norm(K, codes, alpha) * _radius(K), codes, margin, delta, math.sqrt(2)
    )


@hinted
def density_error_bound(
    X: Any, y: Sequence[Any] | np.ndarray, alpha: Any, *, h: float, delta: float = 0.05
) -> float:
    """Bound the integrated squared error of kernel density classification: Theorem 2.

    For two classes, r^(x) = sum_i alpha_i s_i k_h(x - x_i), with s_i = 1 and -1 and the Gaussian
    density k_h, estimates r = pi_1 p_1 - pi_2 p_2. With probability 1 - delta,

        ISE - (integral of r^2) <= alpha' (k_{sqrt2 h} o s s') alpha
            - 2 / (n - 1) sum_{i != j} alpha_i s_i s_j k_h(x_i - x_j) + 2 eps,

    eps = k_h(0) sqrt(2 ln(2n / delta) / (n - 1)), for any weights.

    Parameters
    ----------
    X : array_like, shape (n, d)
        Points, n >= 2.
    y : sequence of length n
        Labels of any one type, of two classes.
    alpha : array_like, shape (n,)
        Weights, >= 0, with sum 1.
    h : float
        Width of the Gaussian density, > 0.
    delta : float
        Probability allowed for a larger error, between 0 and 1.

    Returns
    -------
    float
        The bound of the error minus the integral of r^2, which is unknown and does not depend on
        the weights; negative for a good estimate.

    Raises
    ------
    TypeError, ValueError
        Not a matrix of finite real numbers, lengths that differ, not two classes, weights that
        are not on the simplex, or a number out of range.
    MemoryError
        If the call would take more than there is; see docs/memory.md.

    Notes
    -----
    The constants follow from Hoeffding's inequality for the n - 1 other points, at each point,
    and the union over the points.

    References
    ----------
    Yang, Liang, Jojic, Yan, Feng, Huang, "Discriminative Similarity for Clustering and
    Semi-Supervised Learning", 2017, Theorem 2. Kim, Scott, "L2 kernel classification", IEEE TPAMI
    32(10), 2010.

    Examples
    --------
    >>> import numpy as np
    >>> import d2ke
    >>> X = np.r_[np.linspace(0, 1, 500), np.linspace(5, 6, 500)][:, None]
    >>> y, alpha = np.repeat([0, 1], 500), np.full(1000, 1e-3)
    >>> round(d2ke.discriminative.density_error_bound(X, y, alpha, h=1.0), 3)
    -0.117
    """
    K = gaussian("X", X, None, h)
    K, codes, alpha = _checked("X", K, y, alpha)
    n, d = len(K), np.shape(X)[1]
    if codes.max() != 1:
        raise ArgumentError("y", f"must have two classes, got {codes.max() + 1}")
    signs = 1.0 - 2.0 * codes
    peak = (2 * math.pi * h * h) ** (-d / 2)
    weighted = alpha * signs
    square = peak * 2 ** (-d / 2) * float(weighted @ np.sqrt(K) @ weighted)
    np.fill_diagonal(K, 0.0)
    overlap = peak * float(weighted @ K @ signs) / (n - 1)
    eps = peak * math.sqrt(2 * math.log(2 * n / below_one("delta", delta)) / (n - 1))
    return square - 2 * overlap + 2 * eps


@hinted
def similarity_risk_bound(
    S: Any, y: Sequence[Any] | np.ndarray, alpha: Any, *, margin: float = 1.0, delta: float = 0.05
) -> float:
    """Bound the error probability of a classifier with a general similarity: Theorem 3, eq. (20).

    With probability 1 - delta over n labelled objects it is at most

        loss + 8 (2c - 1) c R B / (margin sqrt(n))
             + (16 c (2c - 1) R^2 B / margin + 1) sqrt(ln(4 / delta) / (2n))

    with the loss of `kernel_risk_bound` and B = B+ + B-, from the parts S = S+ - S- of `psd_split`:
    B+^2 = sum_y alpha^(y)' S+ alpha^(y), B- likewise; R^2 is the largest value on the diagonals of
    the two.

    Parameters
    ----------
    S : array_like, shape (n, n)
        Symmetric similarities.
    y, alpha, margin, delta
        As for `kernel_risk_bound`.

    Returns
    -------
    float
        The bound.

    Raises
    ------
    TypeError, ValueError
        S not symmetric, lengths that differ, one class only, weights that are not on the
        simplex, or a number out of range.
    MemoryError
        If the call would take more than there is; see docs/memory.md.

    Notes
    -----
    R^2 in the last term is the paper's. A bound cannot depend on the unit of S, so with S and
    `margin` in another unit this one changes: where R < 1, divide both by R^2 first. With R = 1
    both terms agree.

    References
    ----------
    Yang, Liang, Jojic, Yan, Feng, Huang, "Discriminative Similarity for Clustering and
    Semi-Supervised Learning", 2017, Theorem 3, eq. (20).

    Examples
    --------
    >>> import numpy as np
    >>> import d2ke
    >>> S = np.kron([[1.0, -1.0], [-1.0, 1.0]], np.ones((50, 50)))
    >>> alpha, y = np.full(100, 0.01), np.repeat([0, 1], 50)
    >>> d2ke.discriminative.similarity_risk_bound(S, y, alpha) > 1
    True
    """
    S, codes, alpha = _checked("S", S, y, alpha)
    margin = positive_number("margin", margin)
    loss = float(np.clip(1 - _margins(S, codes, alpha) / margin, 0.0, 1.0).mean())
    spectrum = split("S", S)
    positive, negative = spectrum.combined(1.0, 0.0), spectrum.combined(0.0, 1.0)
    B = _norm(positive, codes, alpha) + _norm(negative, codes, alpha)
    R = _radius(positive, negative)
    return loss + _complexity(B * R, codes, margin, delta, 2.0 * R)


@hinted
def similarity_machine_bound(
    model: SimilarityMachine,
    S: Any,
    y: Sequence[Any] | np.ndarray,
    *,
    margin: float = 1.0,
    delta: float = 0.05,
) -> NDArray[np.float64]:
    """Bound the error probability of a Similarity Machine: the subject of Theorem 6, eq. (56).

    For each machine, with f = S coef + bias and y = 1 and -1, it is at most

        mean min(1, max(0, 1 - y_i f_i / margin)) + 2 (R B + |bias|) / (margin sqrt(n))
            + sqrt(ln(1 / delta) / (2n))

    with probability 1 - delta over the n training objects, where B = B+ + B-,
    B+^2 = coef' S+ coef, B-^2 = coef' S- coef with the parts of `psd_split`, and R^2 is the largest
    value on the diagonals of the two.

    Parameters
    ----------
    model : SimilarityMachine
        From `similarity_machine_fit`.
    S : array_like, shape (n, n)
        Similarities among the training objects.
    y : sequence of length n
        Their labels.
    margin : float
        Scale of the loss, > 0.
    delta : float
        Probability allowed for a larger error, between 0 and 1.

    Returns
    -------
    ndarray of float64, shape (n_machines,)
        A bound for each machine: one for two classes, else one for each class against all others.

    Raises
    ------
    TypeError, ValueError
        `model` not a SimilarityMachine, S not symmetric or of another size, labels that are
        not the model's, or a number out of range.
    MemoryError
        If the call would take more than there is; see docs/memory.md.

    Notes
    -----
    The constants follow from the margin bound of Mohri, Rostamizadeh and
    Talwalkar: the loss is 1/margin-Lipschitz, functions of norms B+ and B- in the feature spaces
    of the two parts have a Rademacher complexity of at most R B / sqrt(n), and constants up to
    |bias| one of |bias| / sqrt(n). As in the paper, the norms count as if they were chosen before
    the objects are seen. The bound does not depend on the unit of S.

    References
    ----------
    Yang, Liang, Jojic, Yan, Feng, Huang, "Discriminative Similarity for Clustering and
    Semi-Supervised Learning", 2017, section 8.6, Theorem 6. Mohri, Rostamizadeh, Talwalkar,
    "Foundations of Machine Learning", 2018, Theorem 5.8.

    Examples
    --------
    >>> import numpy as np
    >>> import d2ke
    >>> S = np.kron([[1.0, -1.0], [-1.0, 1.0]], np.ones((500, 500)))
    >>> y = np.repeat([0, 1], 500)
    >>> model = d2ke.similarity_machine_fit(S, y, C=100.0)
    >>> d2ke.discriminative.similarity_machine_bound(model, S, y).round(2).tolist()
    [0.1]
    """
    if not isinstance(model, SimilarityMachine):
        raise ArgumentTypeError("model", f"must be a SimilarityMachine, got {type(model).__name__}")
    margin, delta = positive_number("margin", margin), below_one("delta", delta)
    classes, codes = labels.encode_classes("y", y)
    unknown = np.flatnonzero(~np.isin(classes, model.classes))
    if unknown.size:
        raise ArgumentError(
            "y", f"has the label {classes[unknown[0]]!r}, which the model does not know"
        )
    spectrum = split("S", S)
    n = len(spectrum.values)
    labels.same_length("y", codes, "S", n)
    if n != len(model.coef):
        raise ArgumentError(
            "S", f"has {n} rows, but the model has {len(model.coef)} training objects"
        )
    codes = np.searchsorted(model.classes, classes)[codes]
    targets = [1] if len(model.classes) == 2 else range(len(model.classes))
    signs = np.stack([np.where(codes == target, 1.0, -1.0) for target in targets], axis=1)
    S = np.asarray(S, dtype=np.float64)
    loss = np.clip(1 - signs * (S @ model.coef + model.bias) / margin, 0.0, 1.0).mean(axis=0)
    positive, negative = spectrum.combined(1.0, 0.0), spectrum.combined(0.0, 1.0)
    B = sum(
        np.sqrt(np.maximum(np.einsum("ij,ij->j", model.coef, half @ model.coef), 0.0))
        for half in (positive, negative)
    )
    size = _radius(positive, negative) * B + np.abs(model.bias)
    return loss + 2 * size / (margin * math.sqrt(n)) + math.sqrt(math.log(1 / delta) / (2 * n))


def _checked(
    name: str, values: Any, y: Sequence[Any] | np.ndarray, alpha: Any
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    codes = labels.encode_classes("y", y)[1]
    matrix = symmetric_matrix(name, values)
    labels.same_length("y", codes, name, len(matrix))
    return matrix, codes, simplex_point("alpha", alpha, len(matrix))


def _refuse_negative(K: np.ndarray) -> None:
    if K.min() < 0:
        i, j = np.unravel_index(K.argmin(), K.shape)
        raise ArgumentError(
            "K",
            f"is {K[i, j]}; the theorem is for kernels without negative values, see "
            "similarity_risk_bound for others",
            (i, j),
        )


def _scores(K: np.ndarray, codes: np.ndarray, alpha: np.ndarray) -> np.ndarray:
    return K @ (alpha[:, None] * indicators(codes))


def _margins(K: np.ndarray, codes: np.ndarray, alpha: np.ndarray) -> np.ndarray:
    scores = _scores(K, codes, alpha)
    rows = np.arange(len(K))
    true_scores = scores[rows, codes]
    scores[rows, codes] = -np.inf
    return true_scores - scores.max(axis=1)


def _norm(K: np.ndarray, codes: np.ndarray, alpha: np.ndarray) -> float:
    weights = alpha[:, None] * indicators(codes)
    return math.sqrt(max(float(np.einsum("ij,ij->", weights, K @ weights)), 0.0))


def _radius(*matrices: np.ndarray) -> float:
    """Return R: the root of the largest value on the parts' diagonals."""
    return math.sqrt(max(*(float(matrix.diagonal().max()) for matrix in matrices), 0.0))


def _complexity(B: float, codes: np.ndarray, margin: float, delta: float, spread: float) -> float:
    """Return the terms of the bound beside the loss; B includes the factor R."""
    n, c = len(codes), int(codes.max()) + 1
    size = 8 * (2 * c - 1) * c * B / margin
    tail = math.sqrt(math.log(4 / below_one("delta", delta)) / (2 * n))
    return size / math.sqrt(n) + (spread * size + 1) * tail
