# SPDX-License-Identifier: BSD-3-Clause
"""LPDSK: label propagation by discriminative similarity."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from typing import Any

import numpy as np

from d2ke._base import labels as class_labels
from d2ke._base.blas import one_blas_thread
from d2ke._base.checks import choice, flag, integer, positive_number
from d2ke._base.errors import ArgumentError, ArgumentTypeError, warn
from d2ke._base.keywords import hinted
from d2ke._base.results import result
from d2ke.discriminative.automatic import choose_widths_by_labels, reorder_widths
from d2ke.discriminative.canonical import average_by_rank, first_argmax
from d2ke.discriminative.cdsk import TRACE_WEIGHT, VARIANTS
from d2ke.discriminative.kernel_classifier import CURVATURES
from d2ke.discriminative.kernel_input import KernelInput, read_lam, warn_of_equal_similarities
from d2ke.discriminative.similarity_graph import indicators
from d2ke.discriminative.trained import Trained


@result
class Propagation:
    """The result of `lpdsk`.

    Attributes
    ----------
    labels : ndarray of shape (n,)
        The known labels, and the computed labels of unlabelled objects. Objects that reach no
        labelled object keep the marker of unknown labels.
    scores : ndarray of float64, shape (n, n_classes)
        The harmonic function: non-negative rows with sum 1, or zeros for objects that were not
        reached. With `balance`, the label is not always the class of the largest score.
    classes : ndarray of shape (n_classes,)
        The distinct labels in sorted order, one for each column of `scores`.
    reached : ndarray of bool, shape (n,)
        Whether a path of similarities leads from the object to a labelled one.
    alpha : ndarray of float64, shape (n,)
        Weights of the objects, >= 0, with sum 1.
    objectives : ndarray of float64
        The objective after each round.
    lam : float
        The weight of its quadratic term.
    h : float or None
        The width of the Gaussian kernel. If it was chosen: the width that most objects have, or the
        h of exp(-d / h). None for K and features.
    trained : Trained
        For `discriminative_predict`: the arguments, not copied, and the widths.
    """

    labels: np.ndarray = field(repr=False)
    scores: np.ndarray = field(repr=False)
    classes: np.ndarray
    reached: np.ndarray = field(repr=False)
    alpha: np.ndarray = field(repr=False)
    objectives: np.ndarray
    lam: float
    h: float | None
    trained: Trained = field(repr=False)


@hinted
def lpdsk(
    K: Any = None,
    y: Sequence[Any] | np.ndarray | None = None,
    *,
    points: Any = None,
    distances: Any = None,
    features: Any = None,
    h: float | None = None,
    unknown: Any = -1,
    lam: float | None = None,
    variant: str = "relaxed",
    trace_weight: float = TRACE_WEIGHT,
    similarity: str = "psd",
    risk: str = "margin",
    balance: bool = True,
    max_iter: int | None = None,
) -> Propagation:
    """Propagate labels from some objects to all, by discriminative similarity (LPDSK).

    It alternates: scores are the harmonic function of the graph with weights
    S_ij = 2 (alpha_i + alpha_j - lam alpha_i alpha_j) K_ij,
    F_u = (D_uu - S_uu)^(-1) S_ul F_l, and the weights alpha minimise the objective of `cdsk`.

    Parameters
    ----------
    K : array_like or scipy sparse, shape (n, n)
        Gram matrix; or a symmetric similarity, see `similarity`. A sparse matrix, as of
        `neighbor_similarities`, stays one.
    y : sequence of length n
        Labels of any one type, with `unknown`, None, NaN or an empty text where they are not
        known; known ones are never changed.
    points : array_like, shape (n, d), optional
        Instead of K: vectors. Without `h`, K are the similarities of near neighbours; with `h`,
        the Gaussian kernel of `gaussian_gram`.
    distances : array_like, shape (n, n), optional
        Instead of K: symmetric distances, as of `distance_matrix`, for the same as points.
    features : array_like, shape (n, R), optional
        Instead of K: features Z, as of `d2ke_embed`, for K = Z Z', which is never formed.
    h : float, optional
        Width of the kernel of `points` or `distances`, > 0; by default widths are chosen, see
        the notes.
    unknown : label
        The marker of unknown labels; of the labels' type (``""`` for strings). In the result
        missing ones have it, too.
    lam : float, optional
        Weight of the quadratic term, > 0; default n / 2.
    variant : {"hard", "relaxed"}
        Weights for the labels, or for the scores themselves, as in the paper, which was better in
        nearly all of our measurements.
    trace_weight : float
        As for `cdsk`.
    similarity : {"psd", "general"}
        "general": K may be indefinite, and |K| replaces it in the quadratic term.
    risk : {"margin", "ise"}
        As for `cdsk`.
    balance : bool
        Compare the scores of each class relative to their sum over the objects (class mass
        normalisation for equally large classes); With False the scores are compared as they are.
        With few labels and a wide kernel, one class can then win everywhere.
    max_iter : int, optional
        Maximum number of rounds, >= 1; it stops earlier when the labels do not change. Default
        10, or 1 with chosen widths, where later rounds lost accuracy in our measurements.

    Returns
    -------
    Propagation
        Labels, scores, weights and the objective's history.

    Raises
    ------
    TypeError
        Not exactly one of K, points, distances and features, no y, or values of a wrong type.
    ValueError
        K not symmetric, values that are not finite, lengths that differ, no labelled object,
        numbers out of range, an object whose similarities are all 0, or a sum of similarities
        that is not positive.
    MemoryError
        If the call would take more than there is; see docs/memory.md.

    Warns
    -----
    UserWarning
        If no label reaches an object without one, or labels are arbitrary, as all different
        objects have one similarity.

    Notes
    -----
    Widths are chosen by leaving out labelled objects. The candidates are `neighbor_similarities`
    with n / (8 classes) neighbours, from 5 to 15, with other numbers of neighbours and twice the
    widths, and for up to 1500 objects exp(-d / h) of all pairs with h a tenth or a fifth of the
    median distance; a later one is chosen if it labels clearly more objects correctly. One object
    of each class is left out at a time, at most 200 in all. Where classes have one label each,
    nothing can be left out.

    Similarities below 1e-12 of the largest do not connect. Rows of features without a common
    non-zero column are not similar. Labels do not depend on the order of the rows:
    indistinguishable objects get equal weights and scores, and ties go to the first class.

    References
    ----------
    Yang, Liang, Jojic, Yan, Feng, Huang, "Discriminative Similarity for Clustering and
    Semi-Supervised Learning", 2017, eq. (25). Zhu, Ghahramani, Lafferty, "Semi-supervised
    learning using Gaussian fields and harmonic functions", ICML 2003.

    Examples
    --------
    >>> import d2ke
    >>> points = [[0.0], [1.0], [2.0], [8.0], [9.0]]
    >>> result = d2ke.lpdsk(points=points, h=1.0, y=["a", "", "", "", "b"], unknown="")
    >>> result.labels.tolist()
    ['a', 'a', 'a', 'b', 'b']
    """
    choice("variant", variant, VARIANTS)
    choice("risk", risk, CURVATURES)
    s = positive_number("trace_weight", trace_weight)
    if max_iter is not None:
        max_iter = integer("max_iter", max_iter, 1)
    balance = flag("balance", balance)
    if y is None:
        raise ArgumentTypeError("y", "is needed, the labels")
    for values in (K, points, distances, features):
        class_labels.check_order(values, y=y)
    y, gaps, unknown = class_labels.known_labels("y", y, unknown)
    source = KernelInput(K, points, features, h, similarity, risk, distances)
    name = source.check()
    kernel = None if source.automatic else source.read()
    warn_of_equal_similarities(name, kernel)
    n = source.size() if kernel is None else kernel.n
    class_labels.same_length("y", y, name, n)
    labelled = ~gaps & (y != _check_marker(unknown, y))
    if not labelled.any():
        raise ArgumentError("y", f"has no label: every entry is the marker unknown={unknown!r}")
    classes, codes = np.unique(y[labelled], return_inverse=True)
    lam = read_lam(lam, n)
    if max_iter is None:
        max_iter = 1 if source.automatic else 10
    # A canonical order makes ties independent of the order of the rows.
    marks = np.full(n, -1)
    marks[labelled] = codes
    ranks = source.ranks(marks)
    order = np.argsort(ranks, kind="stable")
    ordered = (order[1:] > order[:-1]).all()
    sorted_source = source if ordered else source.reordered(order)
    ranks, labelled, marks = ranks[order], labelled[order], marks[order]
    widths = None
    if kernel is None:
        with one_blas_thread():
            widths = choose_widths_by_labels(sorted_source, marks, len(classes), balance)
        kernel, h = widths.kernel, widths.h
        if not ordered:  # the result has the neighbours of the objects as they came
            widths = reorder_widths(source, widths)
    elif not ordered:
        del kernel
        kernel = sorted_source.read()
    codes = marks[labelled]
    F = np.zeros((n, len(classes)))
    F[labelled] = indicators(codes, len(classes))
    alpha = np.full(n, 1 / n)
    objectives: list[float] = []
    labels = np.full(n, -1)
    with one_blas_thread():
        graph = kernel.graph(alpha, lam)
        component = graph.components()
        reached = np.isin(component, component[labelled])
        fixed = labelled | ~reached  # their scores do not change
        if fixed.all() and not labelled.all():
            warn(
                "no object without a label is similar to one with a label, nor by others between "
                "them: all keep the marker of unknown labels. Is the kernel too narrow?"
            )
        for turn in range(max_iter):
            if turn:
                graph = kernel.graph(alpha, lam)
            if not fixed.all():
                # The exact solution lies within [0, 1], but rounding may leave it.
                F[~fixed] = np.clip(graph.harmonic(fixed, F[fixed]), 0.0, 1.0)
                F[~fixed] /= np.maximum(F[~fixed].sum(axis=1, keepdims=True), 1e-300)
                F = average_by_rank(F, ranks)
            now = first_argmax(F)
            if balance and not fixed.all():
                mass = F[~fixed].sum(axis=0)
                now[~fixed] = first_argmax(F[~fixed] / np.maximum(mass, 1e-300))
            weights_of, labelling = (kernel.hard, now) if variant == "hard" else (kernel.relaxed, F)
            problem = weights_of(labelling, s, lam, CURVATURES[risk])
            settled, labels = (now == labels).all(), now
            if settled:
                break
            alpha = average_by_rank((alpha + problem.solve(alpha)) / 2, ranks)
            objectives.append(problem.objective(alpha))
    back = np.argsort(order)
    F, reached, alpha, fixed, labels = (a[back] for a in (F, reached, alpha, fixed, labels))
    y = y.copy()
    y[~fixed] = classes[labels[~fixed]]
    trained = Trained(source, widths, unknown)
    return Propagation(y, F, classes, reached, alpha, np.array(objectives), lam, h, trained)


def _check_marker(unknown: Any, y: np.ndarray) -> Any:
    """Return the marker; refuse one that no label of this type could equal."""
    try:
        kind = np.asarray(unknown).dtype.kind
    except ValueError:
        kind = "O"
    if np.ndim(unknown) or not (kind == y.dtype.kind or {kind, y.dtype.kind} <= {*"biuf"}):
        raise ArgumentTypeError(
            "unknown",
            f"must be a label of y's type (dtype {y.dtype}), got {unknown!r}; "
            'strings may use unknown=""',
        )
    return unknown
