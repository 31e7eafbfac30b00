# SPDX-License-Identifier: BSD-3-Clause
"""The choice of widths, neighbours and smoothing: without labels, and from the few known ones."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from d2ke._base.checks import generator
from d2ke.discriminative.kernel_input import LAM, KernelInput
from d2ke.discriminative.kmeans import kmeans, unit_rows
from d2ke.discriminative.neighbor_graph import SCALE, Neighborhood
from d2ke.discriminative.similarity_graph import DenseGraph, FeatureGraph, indicators
from d2ke.discriminative.sparse_kernel import SparseGraph, SparseKernel

# Tried in this order until the clusters' sizes are `balanced`.
SMOOTHINGS = (0.0, 0.01, 0.1, 1.0)
_SCALES = (SCALE, 0.7, 1.0, 1.4)  # of widths, the same
_SPREAD = 0.5
FEW = 7  # clusters up to which rows are not scaled to length 1
_MOST_NEIGHBORS, _LEAST_NEIGHBORS = 60, 7


@dataclass(frozen=True, eq=False)
class Widths:
    """Widths that were chosen, and the kernel that they give."""

    kernel: SparseKernel
    near: Neighborhood
    n_neighbors: int
    scale: float
    h: float
    smoothing: float


def neighbor_number(c: int, n: int) -> int:
    """Return how many neighbours are linked: fewer for more clusters, as each has fewer objects."""
    return max(1, min(max(_LEAST_NEIGHBORS, round(_MOST_NEIGHBORS / max(c, 1))), n // 3))


def clusters(
    graph: DenseGraph | FeatureGraph | SparseGraph, V: np.ndarray, few: bool, seed: int
) -> np.ndarray:
    """Return clusters of objects by the eigenvectors of their graph."""
    rows = V / np.sqrt(graph.degrees)[:, None] if few else unit_rows(V)
    return kmeans(rows, V.shape[1], generator(seed))


def balanced(codes: np.ndarray, c: int) -> bool:
    """Return whether the sizes are those of at least about half of the clusters, if equal ones.

    A few far objects that became a cluster of their own are a fault where there are few clusters,
    but small clusters among many are not.
    """
    shares = np.bincount(codes, minlength=c) / len(codes)
    shares = shares[shares > 0]
    effective = np.exp(-(shares * np.log(shares)).sum())
    return bool(effective - 1 >= _SPREAD * (c - 1))


def choose_widths(source: KernelInput, c: int, seed: int, smoothing: float | None) -> Widths:
    """Choose the narrowest widths, and then the least smoothing, with balanced clusters."""
    n = source.size()
    k = neighbor_number(c, n)
    near = source.neighbors(k, "cdsk", c)
    alpha, lam = np.full(n, 1 / n), LAM * n
    fixed = 0.0 if smoothing is None else smoothing
    tried = [(scale, fixed) for scale in _SCALES]
    if smoothing is None:
        tried += [(_SCALES[0], smoothing) for smoothing in SMOOTHINGS[1:]]
    last = 0.0
    for scale, smoothing in tried:
        if scale != last:
            kernel, h = source.neighbor_kernel(near, k, scale)
            last = scale
        if not 2 <= c <= n:
            break
        graph = kernel.graph(alpha, lam, smoothing)
        if balanced(clusters(graph, graph.eigenvectors(c), c <= FEW, seed), c):
            break
    return Widths(kernel, near, k, scale, h, smoothing)


_SHARE = 8  # a part of a class's objects are neighbours, within these bounds
_BOUNDS = (5, 15)
# Other numbers of neighbours and scales of widths that are tried, None for the first number.
_OTHERS = ((5, SCALE), (10, SCALE), (20, SCALE), (None, 1.0), (20, 1.0))
_MOST_LEFT_OUT = 200  # labelled objects
_DOUBT = 0.02  # gain in accuracy from which another than the best so far is taken


def choose_widths_by_labels(source: KernelInput, marks: np.ndarray, c: int) -> Widths:
    """Choose neighbours and widths by leaving out each labelled object in turn.

    `marks` has the positions of the classes, -1 where they are not known. Where each class has
    only one label, nothing can be left out, and the first candidate is taken.
    """
    n = len(marks)
    first = int(np.clip(round(n / (_SHARE * c)), *_BOUNDS))
    tried = [(first, SCALE)] + [(k or first, scale) for k, scale in _OTHERS]
    near = source.neighbors(max(k for k, _ in tried), "lpdsk", c)
    alpha, lam = np.full(n, 1 / n), LAM * n
    counts = np.bincount(marks[marks >= 0], minlength=c)
    several = c > 1 and np.median(counts) > 1
    best, widths = -np.inf, None
    for k, scale in tried:
        kernel, h = source.neighbor_kernel(near, k, scale)
        score = left_out(kernel.graph(alpha, lam), marks, c) if several else 0.0
        if score > best + (_DOUBT if widths else 0.0):
            best, widths = score, Widths(kernel, near, k, scale, h, 0.0)
        if not several:
            break
    return widths


def left_out(graph: SparseGraph, marks: np.ndarray, c: int) -> float:
    """Return the share of labelled objects that the others give their label.

    The harmonic function at an object that is left out is a mean over the other labelled ones,
    with the effective conductances between them as weights: no graph is solved anew.
    """
    known = marks >= 0
    places = np.flatnonzero(known)
    some = np.linspace(0, len(places) - 1, min(len(places), _MOST_LEFT_OUT)).astype(np.intp)
    component = graph.components()
    fixed = known | ~np.isin(component, component[known])
    values = np.zeros((int(fixed.sum()), len(some)))
    rank = np.cumsum(fixed) - 1
    values[rank[places[some]], np.arange(len(some))] = 1.0
    direct = graph.S[places[some]]
    weights = direct[:, places].toarray()
    if not fixed.all():
        weights += (graph.S[places][:, ~fixed] @ graph.harmonic(fixed, values)).T
    weights[np.arange(len(some)), some] = 0.0
    scores = weights @ indicators(marks[places], c)
    own = marks[places[some]]
    return float(np.mean(scores.argmax(axis=1) == own))
