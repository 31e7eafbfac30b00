# SPDX-License-Identifier: BSD-3-Clause
"""The page of `d2ke cluster --report`: sizes and medoids of clusters, and the tree of objects."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from d2ke.cli.report import Section, label_text, saved, write_page
from d2ke.cli.similarities import Similarities
from d2ke.plots.tree import draw_tree, sample_leaves

_LEAVES = 48  # that are read at the width of a page
_MEMBERS = 2000  # of a cluster, all of whose distances are computed


def write_cluster_report(
    file: Path,
    data: Similarities,
    labels: np.ndarray,
    names: Sequence[str],
    colours: Sequence[Any],
    truth: tuple[np.ndarray, np.ndarray],
    seed: int,
) -> None:
    """Write the page.

    `names` are of objects, `colours` of clusters, and `truth` the classes and each object's code,
    or -1.
    """
    sizes = np.bincount(labels)
    centres = [_medoid(data, np.flatnonzero(labels == c), seed) for c in range(len(sizes))]
    medoids = np.array([medoid for medoid, _ in centres])
    summary = (
        f"{data.n:,} objects in ",
        f"{len(sizes)} clusters",
        f" of {sizes.min():,} to {sizes.max():,}.",
    )
    of_sample = f"; of more than {_MEMBERS:,}, of a sample" if sizes.max() > _MEMBERS else ""
    label_column = ["known labels"] if (truth[1] >= 0).any() else []
    sections = [
        Section(
            "Clusters",
            "The medoid of a cluster is the object with the least sum of distances to its others"
            f"{of_sample}.",
            columns=["cluster", "objects", "medoid", "mean distance to it", *label_column],
            rows=[
                [str(c), f"{size:,}", names[medoid], f"{mean:.4g}", *_classes(truth, labels == c)]
                for c, (size, (medoid, mean)) in enumerate(zip(sizes, centres, strict=True))
            ],
        ),
        _tree(data, labels, names, colours, medoids, seed),
    ]
    write_page(file, f"Clusters of {data.title}", summary, sections)


def _medoid(data: Similarities, members: np.ndarray, seed: int) -> tuple[int, float]:
    """Return the medoid of a cluster, and the mean distance of the others to it."""
    chosen = members[sample_leaves(len(members), _MEMBERS, seed)]
    sums = data.distances_of(chosen).sum(axis=1)
    best = int(sums.argmin())
    return int(chosen[best]), float(sums[best] / max(len(chosen) - 1, 1))


def _classes(truth: tuple[np.ndarray, np.ndarray], members: np.ndarray) -> list[str]:
    """Name the three most frequent labels of a cluster, if labels are known."""
    classes, codes = truth
    if not (codes >= 0).any():
        return []
    counts = np.bincount(codes[members & (codes >= 0)], minlength=len(classes))
    order = np.argsort(-counts, kind="stable")[:3]
    return [", ".join(f"{label_text(classes[i])}: {counts[i]:,}" for i in order if counts[i])]


def _tree(
    data: Similarities,
    labels: np.ndarray,
    names: Sequence[str],
    colours: Sequence[Any],
    medoids: np.ndarray,
    seed: int,
) -> Section:
    """Draw the tree of all objects, or of a sample that has the medoids."""
    leaves = np.arange(data.n)
    how = "all objects"
    if data.n > _LEAVES:
        shown = medoids[: _LEAVES // 2]
        others = np.setdiff1d(leaves, shown)
        drawn = others[sample_leaves(len(others), _LEAVES - len(shown), seed)]
        leaves = np.sort(np.concatenate([shown, drawn]))
        how = f"{len(leaves)} objects, the medoids and others drawn at random"
    starred = set(medoids.tolist())
    figure = draw_tree(
        data.distances_of(leaves),
        ["★ " * (i in starred) + names[i] for i in leaves.tolist()],
        data.n,
        colours=[colours[label] for label in labels[leaves]],
    )
    text = (
        f"Average linkage of {how}, and their distances in its order. Names stand on the colours "
        "of their clusters, medoids have a star. Clusters are not cut from this tree: where the "
        "colours are mixed, the two disagree."
    )
    return Section("Tree and distances", text, "tree and heat map", saved(figure))
