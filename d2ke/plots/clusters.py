# SPDX-License-Identifier: BSD-3-Clause
"""Pictures of the objects of clusters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from d2ke._base.checks import integer
from d2ke._base.errors import ArgumentError, ArgumentTypeError
from d2ke.objects.packing import as_objects
from d2ke.plots.objects import draw_line, draw_objects
from d2ke.plots.style import COLOURS, GREY, panels, title

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def plot_clusters(X: Any, labels: Any, *, medoids: Any = None, limit: int = 12) -> Figure:
    """Draw the objects of each cluster, the largest first.

    Series and sets of a cluster are drawn over each other, its medoid in full colour; strings are
    written below each other, the medoid first. Sets of more than two coordinates are drawn by the
    principal components of the panel. Only the first objects of a large cluster are drawn.

    Parameters
    ----------
    X : Objects or what `pack` takes
        n objects.
    labels : array_like of int, shape (n,)
        The cluster of each object, such as ``kmedoids(X, k).labels``; -1 for none. Objects without
        a cluster have the last panel.
    medoids : array_like of int, optional
        Indices in X of objects that stand for their clusters, at most one for each; by default the
        first object does.
    limit : int
        How many clusters are drawn.

    Returns
    -------
    matplotlib.figure.Figure
        For its ``savefig``, or for a notebook to show.

    Raises
    ------
    TypeError, ValueError
        Labels or medoids that are not integers, or out of range.
    ImportError
        Without matplotlib, saying how to install it.

    Examples
    --------
    >>> import d2ke
    >>> words = ["ant", "aunt", "and", "beetle", "beatle", "beetles", "wasp"]
    >>> clusters = d2ke.kmedoids(words, 2, distance="levenshtein")
    >>> figure = d2ke.plots.plot_clusters(
    ...     words, clusters.labels, medoids=clusters.medoids)  # doctest: +SKIP
    >>> figure.savefig("clusters.png")  # doctest: +SKIP
    """
    limit = integer("limit", limit, 1)
    x = as_objects("X", X)
    labels = _integers("labels", labels)
    if labels.shape != (len(x),):
        raise ArgumentError("labels", f"has {len(labels)} labels, but X has {len(x)} objects")
    indices = _integers("medoids", () if medoids is None else medoids)
    wrong = np.flatnonzero((indices < 0) | (indices >= len(x)))
    if len(wrong):
        raise ArgumentError("medoids", f"is not a place in X: {indices[wrong[0]]}", int(wrong[0]))
    if len(np.unique(labels[indices])) < len(indices):
        raise ArgumentError("medoids", "has two objects of one cluster")
    medoid_of = dict(zip(labels[indices].tolist(), indices.tolist(), strict=True))
    names, counts = np.unique(labels, return_counts=True)
    order = sorted(zip((names < 0).tolist(), (-counts).tolist(), names.tolist(), strict=True))
    shown = order[:limit]

    figure, axes_of = panels(len(shown), 4, (2.5, 2.1))
    max_drawn = {"series": 60, "sets": 20, "strings": 8}
    n_letters = 26
    for axes, (is_none, size, name) in zip(axes_of, shown, strict=True):
        members = np.flatnonzero(labels == name)
        colour = GREY if is_none else COLOURS[name % len(COLOURS)]
        medoid = medoid_of.get(name, int(members[0]))
        rest = members[members != medoid][: max_drawn[x.base] - 1].tolist()
        if x.has_letters:
            for line, i in enumerate([medoid, *rest]):
                draw_line(axes, line, x[i], colour, [line == 0] * len(x[i]), n_letters)
            axes.set(xlim=(-0.5, n_letters), ylim=(max_drawn["strings"], -0.7))
            axes.set_axis_off()
        else:
            items = [x[i] for i in (*rest, medoid)]
            draw_objects(axes, items, x.base, [colour], x.channel_names)
        title(axes, f"{'none' if is_none else f'cluster {name}'}: {-size}")
    if len(shown) < len(order):
        figure.suptitle(f"{len(shown)} of {len(order)} clusters", fontsize=9)
    return figure


def _integers(name: str, values: Any) -> np.ndarray:
    """Return a 1-D array of integers."""
    array = np.asarray(values)
    if array.ndim == 1 and not len(array):
        return array.astype(np.int64)
    if array.ndim != 1 or array.dtype.kind not in "iu":
        for i, value in enumerate(values if array.ndim == 1 else ()):
            integer(f"{name}[{i}]", value)
        raise ArgumentTypeError(name, f"must be a 1-D array of integers, got {array.dtype}")
    return array.astype(np.int64)
