# SPDX-License-Identifier: BSD-3-Clause
"""Choice of widths, neighbours and smoothing: without labels, and from the few known ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.sparse import issparse

from d2ke._base.checks import generator
from d2ke.discriminative.kernel_input import KernelInput, read_lam
from d2ke.discriminative.kmeans import kmeans, unit_rows
from d2ke.discriminative.neighbor_graph import SCALE, AllPairs, Neighborhood
from d2ke.discriminative.similarity_graph import (
    LARGE,
    DenseGraph,
    DenseKernel,
    FeatureGraph,
    indicators,
)
from d2ke.discriminative.sparse_kernel import SparseGraph, SparseKernel

# Tried in this order until the clusters' sizes are `balanced`.
SMOOTHINGS = (0.0, 0.01, 0.1, 1.0)
FEW = 7  # clusters up to which rows are not scaled to length 1


@dataclass(frozen=True, eq=False)
class Widths:
    """Chosen widths, and the kernel that they give."""

    kernel: SparseKernel | DenseKernel
    near: Neighborhood | AllPairs
    n_neighbors: int
    scale: float
    h: float
    smoothing: float


def clusters(
    graph: DenseGraph | FeatureGraph | SparseGraph, V: np.ndarray, few: bool, seed: int
) -> np.ndarray:
    """Cluster objects by k-means on the eigenvectors V of their graph."""
    rows = V / np.sqrt(graph.degrees)[:, None] if few else unit_rows(V)
    return kmeans(rows, V.shape[1], generator(seed))


def balanced(codes: np.ndarray, c: int) -> bool:
    """Return whether the effective number of clusters is at least about half of c.

    The effective number is the exponential of the entropy of the clusters' shares. A cluster of a
    few outliers is a fault among few clusters, but not among many.
    """
    shares = np.bincount(codes, minlength=c) / len(codes)
    shares = shares[shares > 0]
    effective = np.exp(-(shares * np.log(shares)).sum())
    return bool(effective - 1 >= 0.5 * (c - 1))


def choose_widths(source: KernelInput, c: int, seed: int, smoothing: float | None) -> Widths:
    """Choose the narrowest widths, and then the least smoothing, with balanced clusters."""
    n = source.size()
    # Among more clusters each has fewer objects, and so fewer neighbours.
    k = max(1, min(max(7, round(60 / max(c, 1))), n // 3))
    near = source.neighbors(k)
    alpha, lam = np.full(n, 1 / n), read_lam(None, n)
    fixed = 0.0 if smoothing is None else smoothing
    settings = [(scale, fixed) for scale in (SCALE, 0.7, 1.0, 1.4)]
    if smoothing is None:
        settings += [(SCALE, constant) for constant in SMOOTHINGS[1:]]
    last = 0.0
    for scale, constant in settings:
        if scale != last:
            kernel, h = source.neighbor_kernel(near, k, scale)
            last = scale
        if not 2 <= c <= n:
            break
        graph = kernel.graph(alpha, lam, constant)
        if balanced(clusters(graph, graph.eigenvectors(c), c <= FEW, seed), c):
            break
    return Widths(kernel, near, k, scale, h, constant)


def choose_widths_by_labels(
    source: KernelInput, marks: np.ndarray, c: int, balance: bool
) -> Widths:
    """Choose neighbours and widths by leaving out each labelled object.

    `marks` has the position of each object's class, or -1 for unknown labels. If each class has
    only one label, nothing can be left out, and the first candidate is chosen.
    """
    n = len(marks)
    # An eighth of the objects of an average class.
    first = int(np.clip(round(n / (8 * c)), 5, 15))
    counts = np.bincount(marks[marks >= 0], minlength=c)
    several = c > 1 and np.median(counts) > 1
    settings = [(first, SCALE)]
    if several:
        # Other numbers of neighbours (None: the first number) and scales of widths.
        settings += [
            (k or first, scale)
            for k, scale in ((5, SCALE), (10, SCALE), (20, SCALE), (None, 1.0), (20, 1.0))
        ]
    wide = several and n <= LARGE
    near = source.neighbors(max(k for k, _ in settings))
    # Few objects also try exp(-rate d / median) of all pairs.
    candidates = _candidates(source, near, settings, (10.0, 5.0) if wide else ())
    widths = next(candidates)
    if not several:
        return widths

    def accuracy(candidate: Widths) -> float:
        graph = candidate.kernel.graph(np.full(n, 1 / n), read_lam(None, n))
        return left_out(graph, marks, c, balance)

    best = accuracy(widths)
    # A better candidate must gain 0.02 in accuracy, of few objects 0.5 / sqrt(objects left out).
    doubt = max(0.02, 0.5 / np.sqrt(min((marks >= 0).sum(), 200)))
    for candidate in candidates:
        score = accuracy(candidate)
        if score > best + doubt:
            best, widths = score, candidate
    return widths


def _candidates(
    source: KernelInput,
    near: Neighborhood,
    settings: Sequence[tuple[int, float]],
    rates: Sequence[float],
) -> Iterator[Widths]:
    """Yield the kernels of neighbours, and then the kernels of all pairs."""
    for k, scale in settings:
        kernel, h = source.neighbor_kernel(near, k, scale)
        yield Widths(kernel, near, k, scale, h, 0.0)
    for rate in rates:
        wide, h = source.wide_kernel(rate)
        yield Widths(wide, source.all_pairs(), wide.n - 1, 1.0, h, 0.0)


def reorder_widths(source: KernelInput, widths: Widths) -> Widths:
    """Return the same widths for the same objects in another order."""
    if isinstance(widths.near, AllPairs):
        return replace(widths, near=source.all_pairs())
    return replace(widths, near=source.neighbors(widths.n_neighbors))


def left_out(graph: SparseGraph | DenseGraph, marks: np.ndarray, c: int, balance: bool) -> float:
    """Return the accuracy of labelled objects that are left out in turn.

    One object of each class is left out at a time. With only one left-out object, its class would
    have the fewest labels, and wide kernels would always be wrong. The graph is reduced
    once to effective conductances between labelled objects, from which the scores follow. With
    `balance`, scores are relative to their sums over the unlabelled objects.
    """
    indices = np.flatnonzero(marks >= 0)
    codes = marks[indices]
    Y = indicators(codes, c)
    fold = np.zeros(len(indices), np.intp)
    for label in range(c):
        fold[codes == label] = np.arange((codes == label).sum())
    # At most about 200 objects are left out.
    rows = np.flatnonzero((fold < max(1, 200 // c)) & (Y.sum(axis=0)[codes] > 1))
    weights, masses, mass = _conductances(graph, indices, rows, Y)
    n_correct = 0
    for number in range(fold[rows].max() + 1):
        left = np.flatnonzero(fold[rows] == number)
        at = rows[left]
        rest = Y.copy()
        rest[at] = 0.0
        W = weights[left]
        system = np.diag(W.sum(axis=1)) - W[:, at]
        F = np.linalg.lstsq(system, W @ rest, rcond=None)[0]
        if balance:
            sums = mass + masses[left] @ (F - Y[at]) + F.sum(axis=0)
            F = F / np.maximum(sums, 1e-300)
        n_correct += int((F.argmax(axis=1) == codes[at]).sum())
    return n_correct / len(rows)


def _conductances(
    graph: SparseGraph | DenseGraph, indices: np.ndarray, rows: np.ndarray, Y: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return effective conductances from some of the labelled objects to all, and sums of scores.

    The sums run over the unlabelled objects: first of the score that each of `rows` gives them,
    then of the scores of all labels Y.
    """
    component = graph.components()
    fixed = np.isin(np.arange(graph.n), indices) | ~np.isin(component, component[indices])
    rank = np.cumsum(fixed) - 1
    values = np.zeros((int(fixed.sum()), len(rows) + Y.shape[1]))
    values[rank[indices[rows]], np.arange(len(rows))] = 1.0
    values[rank[indices], len(rows) :] = Y
    direct = graph.S[:, indices]
    weights = _array(direct[indices[rows]])
    sums = np.zeros(values.shape[1])
    if not fixed.all():
        scores = graph.harmonic(fixed, values)
        weights += _array(direct[~fixed].T @ scores[:, : len(rows)]).T
        sums = scores.sum(axis=0)
    weights[np.arange(len(rows)), rows] = 0.0
    return weights, sums[: len(rows)], sums[len(rows) :]


def _array(values: Any) -> np.ndarray:
    return values.toarray() if issparse(values) else values
