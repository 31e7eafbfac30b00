# SPDX-License-Identifier: BSD-3-Clause
"""CDSK: clustering by discriminative similarity."""

from __future__ import annotations

from dataclasses import field
from typing import Any

import numpy as np

from d2ke._base.blas import one_blas_thread
from d2ke._base.checks import choice, generator, integer, positive_number
from d2ke._base.errors import ArgumentTypeError, warn
from d2ke._base.keywords import hinted
from d2ke._base.results import result
from d2ke.discriminative.automatic import FEW, SMOOTHINGS, balanced, choose_widths, clusters
from d2ke.discriminative.kernel_classifier import CURVATURES
from d2ke.discriminative.kernel_input import KernelInput, read_lam, warn_of_equal_similarities
from d2ke.discriminative.similarity_graph import DenseKernel, FeatureKernel
from d2ke.discriminative.sparse_kernel import SparseKernel
from d2ke.discriminative.trained import Trained

VARIANTS = ("hard", "relaxed")
TRACE_WEIGHT = 0.1


@result
class Clustering:
    """The result of `cdsk`: the round with the least objective.

    Attributes
    ----------
    labels : ndarray of int64, shape (n,)
        Clusters 0, 1, ..., numbered by their first objects.
    alpha : ndarray of float64, shape (n,)
        Weights of the objects, >= 0, with sum 1.
    objectives : ndarray of float64
        The objective after each round; it may rise, as the graph changes with the weights.
    best : int
        The round of `labels` and `alpha`.
    lam : float
        The weight of the quadratic term.
    h : float or None
        The width of the Gaussian kernel; where it was chosen, the common width, which most
        objects have. None for K and features.
    smoothing : float
        The constant that was added to the weights of the graph, see `cdsk`.
    trained : Trained
        For `discriminative_predict`: the arguments, not copied, and the widths.
    """

    labels: np.ndarray = field(repr=False)
    alpha: np.ndarray = field(repr=False)
    objectives: np.ndarray
    best: int
    lam: float
    h: float | None
    smoothing: float
    trained: Trained = field(repr=False)


@hinted
def cdsk(
    K: Any = None,
    n_clusters: int | None = None,
    *,
    points: Any = None,
    distances: Any = None,
    features: Any = None,
    h: float | None = None,
    lam: float | None = None,
    variant: str = "hard",
    trace_weight: float = TRACE_WEIGHT,
    smoothing: float | None = None,
    similarity: str = "psd",
    risk: str = "margin",
    max_iter: int = 10,
    seed: Any = 0,
) -> Clustering:
    """Cluster objects by discriminative similarity (CDSK).

    It alternates between labels and the weights alpha of a kernel classifier. With the similarity
    S_ij = 2 (alpha_i + alpha_j - lam alpha_i alpha_j) K_ij and G_ij = |Y_i - Y_j|^2 it decreases

        trace_weight sum_ij S_ij G_ij / 2 - sum_ij (alpha_i + alpha_j) K_ij / 2
            + lam alpha'K alpha,

    over alpha >= 0 with sum 1 and Y' D Y = I, where D has the sums of S on its diagonal.

    Parameters
    ----------
    K : array_like or scipy sparse, shape (n, n)
        Gram matrix; or a symmetric similarity, see `similarity`. A sparse matrix, as of
        `neighbor_similarities`, stays one.
    n_clusters : int
        2 to n.
    points : array_like, shape (n, d), optional
        Instead of K: vectors, for the similarities of near neighbours with widths that are
        chosen, or with `h` for the Gaussian kernel of `gaussian_gram`.
    distances : array_like, shape (n, n), optional
        Instead of K: symmetric distances, as of `distance_matrix`, for the same as points.
    features : array_like, shape (n, R), optional
        Instead of K: features Z, as of `d2ke_embed`, for K = Z Z', which is never formed.
    h : float, optional
        Width of the kernel of `points` or `distances`, > 0; by default widths are chosen, see
        the notes.
    lam : float, optional
        Weight of the quadratic term, > 0; default n / 2.
    variant : {"hard", "relaxed"}
        "hard": Y is rounded to labels before the weights' step, a convex problem for
        trace_weight up to 1/2. "relaxed": the weights are those for Y itself.
    trace_weight : float
        Weight > 0 of the cut, 0.1 by default. For labels, with 1/2 each cut edge counts once and
        the objective is the bound of the classifier's risk, eq. (9); with 1, as in eq. (24), the
        weights' problem is not convex for three clusters or more.
    smoothing : float, optional
        A constant added to all weights of the graph that gives Y, >= 0, in units of
        their mean. Default: the first of 0, 0.01, 0.1 and 1 with balanced clusters in the first
        round: exp(entropy of their shares) - 1 is at least half of n_clusters - 1.
    similarity : {"psd", "general"}
        "general": K may be indefinite, and |K| replaces it in the quadratic terms.
    risk : {"margin", "ise"}
        "ise": the integrated squared error of kernel density classification instead of the
        margins. S_ij = 2 (alpha_i + alpha_j) K_ij - 2 lam alpha_i alpha_j W_ij and the last term
        is lam alpha'W alpha / 2, with the kernel W of width sqrt(2) h for points, else W = K.
    max_iter : int
        Maximum number of rounds, >= 1; it stops earlier when the labels do not change.
    seed : int, SeedSequence or Generator
        Random numbers of k-means.

    Returns
    -------
    Clustering
        Labels, weights and the objective's history.

    Raises
    ------
    TypeError
        Not exactly one of K, points, distances and features, no n_clusters, or values of a wrong
        type.
    ValueError
        K not symmetric, values that are not finite, numbers out of range, an object whose
        similarities are all 0, objects that are all alike, or a sum of similarities that is not
        positive.
    MemoryError
        If the call would take more than there is; see docs/memory.md.

    Warns
    -----
    UserWarning
        If labels are arbitrary: more groups of objects without similarity to each other than
        clusters, or equal similarities of all different objects.

    Notes
    -----
    Y-step: the eigenvectors V of D^(-1/2) S D^(-1/2) to its largest eigenvalues, Y = D^(-1/2) V,
    and labels by k-means on the rows of V, scaled to length 1. In S, weights are capped at
    2 / lam, beyond which it would have negative entries; negative entries that remain
    become 0.

    Widths are chosen by `neighbor_similarities` with 60 / n_clusters neighbours, at least 7 and
    at most n / 3, since more clusters have fewer objects each. Its local widths, half of the
    distance to the third neighbour, become 0.7, 1 and 1.4 of it as long as the clusters of the
    first round are not balanced; then there is smoothing, as for K. With at most 7 clusters k-means
    uses the rows of D^(-1/2) V, without scaling.

    The defaults are one rule for all data, chosen by measurement on twelve sets, not by theory. The
    gain over plain spectral clustering comes from the graph: the rounds after the first, which use
    the weights, changed the mutual information by -0.02 to 0.04, and are more often a loss than a
    gain.

    - lam: of the order of 1, as published, all weight falls on a few objects. At n / 2 equal
      weights are optimal but for the cut, so that the first round is spectral clustering and the
      following ones refine it.
    - trace_weight: the weights' step holds Y fixed, though Y'DY = I moves with them: the larger
      the weights at a border, the larger the cut, but also D. So the cut gets less weight.
    - Weights go half of the way in each round, as two solutions otherwise alternate.
    - smoothing: without it, a few outliers become one of two clusters. Among many clusters some
      may be small rightly; smoothing would then hide the others.

    Features take O(n R) memory, and time O(n R) for each of some hundred products in a round.

    References
    ----------
    Yang, Liang, Jojic, Yan, Feng, Huang, "Discriminative Similarity for Clustering and
    Semi-Supervised Learning", 2017, eqs. (9), (10), (24), sections 4 and 5. Ng, Jordan, Weiss,
    "On spectral clustering", NIPS 2001. Zhang, Rohe, "Understanding regularized spectral
    clustering via graph conductance", NeurIPS 2018.

    Examples
    --------
    >>> import d2ke
    >>> result = d2ke.cdsk(points=[[0.0], [0.1], [0.2], [5.0], [5.1], [5.3]], h=1.0, n_clusters=2)
    >>> result.labels.tolist()
    [0, 0, 0, 1, 1, 1]

    Strings, by their D2KE features:

    >>> words = ["aabab", "abaab", "aaba", "bcbcc", "ccbcb", "cbbcc"]
    >>> omega = d2ke.samplers.random_strings(64, "abc", length=(2, 5), seed=0)
    >>> Z = d2ke.d2ke_embed(words, omega, distance="levenshtein", gamma=1.0)
    >>> d2ke.cdsk(features=Z, n_clusters=2).labels.tolist()
    [0, 0, 0, 1, 1, 1]
    """
    choice("variant", variant, VARIANTS)
    choice("risk", risk, CURVATURES)
    s = positive_number("trace_weight", trace_weight)
    if smoothing is not None and smoothing != 0:
        smoothing = positive_number("smoothing", smoothing)
    max_iter = integer("max_iter", max_iter, 1)
    # The same draws in each round, so that equal graphs get equal labels.
    draws = int(generator(seed).integers(2**63))
    if n_clusters is None:
        raise ArgumentTypeError("n_clusters", "is needed")
    k = max(integer("n_clusters", n_clusters), 0)
    source = KernelInput(K, points, features, h, similarity, risk, distances)
    name = source.check()
    with one_blas_thread():
        kernel: DenseKernel | FeatureKernel | SparseKernel
        if source.automatic:
            widths = choose_widths(source, k, draws, smoothing)
            kernel, smoothing, h = widths.kernel, widths.smoothing, widths.h
        else:
            kernel = source.read()
            warn_of_equal_similarities(name, kernel)
        c = integer("n_clusters", n_clusters, 2, kernel.n)
        lam = read_lam(lam, kernel.n)
        alpha = np.full(kernel.n, 1 / kernel.n)
        if not source.automatic:
            _warn_of_groups(int(kernel.graph(alpha, lam).components().max()) + 1, c)
        rounds: list[tuple[float, np.ndarray, np.ndarray]] = []
        few = source.automatic and c <= FEW
        constants = SMOOTHINGS if smoothing is None else (smoothing,)
        for _ in range(max_iter):
            for constant in constants:
                graph = kernel.graph(alpha, lam, constant)
                V = graph.eigenvectors(c)
                codes = clusters(graph, V, few, draws)
                if balanced(codes, c):
                    break
            constants = (constant,)
            if rounds and (codes == rounds[-1][1]).all():
                break
            if variant == "hard":
                problem = kernel.hard(codes, s, lam, CURVATURES[risk])
            else:
                Y = V / np.sqrt(graph.degrees)[:, None]
                problem = kernel.relaxed(Y, s, lam, CURVATURES[risk])
            # Only half of the step, as whole ones often alternate.
            alpha = alpha + 0.5 * (problem.solve(alpha) - alpha)
            rounds.append((problem.objective(alpha), codes, alpha))
    objectives = np.array([objective for objective, *_ in rounds])
    best = int(objectives.argmin())
    trained = Trained(source, widths if source.automatic else None)
    return Clustering(*rounds[best][1:], objectives, best, lam, h, constant, trained)


def _warn_of_groups(n_groups: int, n_clusters: int) -> None:
    if n_groups > n_clusters:
        warn(
            f"the objects fall into {n_groups} groups without similarity to each other, more than "
            f"n_clusters = {n_clusters}: which groups share a cluster is arbitrary. Is the kernel "
            "too narrow?"
        )
