# SPDX-License-Identifier: BSD-3-Clause
"""The condensed tree of HDBSCAN, and its clusters of most excess of mass."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np


class CondensedTree(NamedTuple):
    """Clusters of single linkage that keep their number while single objects fall out of them.

    Each cluster has a parent, a birth (1 / height) and a size; cluster 0 has all objects, and a
    cluster comes after its parent. Object i falls out of cluster `clusters[i]` at `levels[i]`, a
    1 / height.
    """

    parents: np.ndarray
    births: np.ndarray
    sizes: np.ndarray
    clusters: np.ndarray
    levels: np.ndarray


def condense(Z: np.ndarray, min_cluster_size: int) -> CondensedTree:
    """Condense a linkage: a split counts where both sides have enough objects.

    Objects at height 0 of each other are never split.
    """
    n = len(Z) + 1
    left, right = Z[:, 0].astype(int).tolist(), Z[:, 1].astype(int).tolist()
    heights, counts = Z[:, 2].tolist(), [1] * n + Z[:, 3].astype(int).tolist()
    parents, births, sizes = [-1], [0.0], [n]
    clusters, levels = np.zeros(n, np.int64), np.zeros(n)
    # Nodes of the linkage, their clusters, and the levels at which they fell out, or None.
    stack: list[tuple[int, int, float | None]] = [(2 * n - 2, 0, None)]
    while stack:
        node, cluster, level = stack.pop()
        if node < n:
            clusters[node], levels[node] = cluster, math.inf if level is None else level
            continue
        below = left[node - n], right[node - n]
        if level is not None:
            stack += [(child, cluster, level) for child in below]
            continue
        height = heights[node - n]
        at = 1 / height if height > 0 else math.inf
        large = [counts[child] >= min_cluster_size for child in below]
        for child, is_large in zip(below, large, strict=True):
            if height == 0 or not is_large:
                stack.append((child, cluster, at))
            elif all(large):
                stack.append((child, len(parents), None))
                parents.append(cluster)
                births.append(at)
                sizes.append(counts[child])
            else:
                stack.append((child, cluster, None))
    return CondensedTree(np.array(parents), np.array(births), np.array(sizes), clusters, levels)


def most_excess(tree: CondensedTree, epsilon: float) -> np.ndarray:
    """Return a mask of the clusters with the most excess of mass; never cluster 0.

    Clusters that are split off below the height `epsilon` are replaced by the nearest cluster
    above them that is split off higher.
    """
    parents, births, sizes, clusters, levels = tree
    count = len(parents)
    mass = np.bincount(clusters, levels - births[clusters], count)
    np.add.at(mass, parents[1:], (births[1:] - births[parents[1:]]) * sizes[1:])
    below = np.zeros(count)
    selected = np.ones(count, bool)
    for c in range(count - 1, 0, -1):
        if below[c] > mass[c]:
            selected[c] = False
        below[parents[c]] += max(mass[c], below[c])
    selected[0] = False
    _only_highest(parents, selected)
    if epsilon > 0:
        for c in np.flatnonzero(selected).tolist():
            at = c
            if births[c] > 1 / epsilon:
                while parents[at] > 0 and births[at] >= 1 / epsilon:
                    at = int(parents[at])
            selected[c], selected[at] = False, True
        _only_highest(parents, selected)
    return selected


def _only_highest(parents: np.ndarray, selected: np.ndarray) -> None:
    """Deselect the clusters that lie inside selected ones."""
    inside = np.zeros(len(parents), bool)
    for c in range(1, len(parents)):
        inside[c] = inside[parents[c]] or selected[parents[c]]
        selected[c] &= not inside[c]


def label(tree: CondensedTree, selected: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the selected cluster of each object, -1 for none, and how firmly it belongs to it."""
    deepest = np.zeros(len(tree.parents))
    np.maximum.at(deepest, tree.clusters, tree.levels)
    np.maximum.at(deepest, tree.parents[1:], tree.births[1:])
    owner = np.full(len(tree.parents), -1)
    for c in range(1, len(owner)):
        owner[c] = c if selected[c] else owner[tree.parents[c]]
    labels = owner[tree.clusters]
    inside = labels >= 0
    highest, level = deepest[labels[inside]], tree.levels[inside]
    probabilities = np.zeros(len(labels))
    with np.errstate(invalid="ignore"):  # infinite levels, of equal objects
        share = np.minimum(level, highest) / highest
    probabilities[inside] = np.where(np.isinf(level), 1.0, share)
    return labels, probabilities
