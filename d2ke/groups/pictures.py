# SPDX-License-Identifier: BSD-3-Clause
"""Pictures of the objects of clusters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from d2ke._base.checks import integer
from d2ke._base.errors import ArgumentError, ArgumentTypeError
from d2ke._base.pictures import COLOURS, GREY, matplotlib
from d2ke._base.text import shortened
from d2ke.objects.container import Objects
from d2ke.objects.packing import as_objects
from d2ke.objects.pictures import draw_object, letter_texts, on_one_plane

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_COLUMNS = 4  # panels side by side
_MEMBERS = {"series": 60, "sets": 20, "strings": 8}  # that are drawn
_LETTERS = 26


def plot_clusters(X: Any, labels: Any, *, medoids: Any = None, limit: int = 12) -> Figure:
    """Draw the objects of each cluster, the largest first.

    Series and sets of a cluster are drawn over each other, its medoid in full colour; strings are
    written below each other, the medoid first. Sets of more than two coordinates are drawn by the
    principal components of the panel. Of many objects, the first ones are drawn.

    Parameters
    ----------
    X : Objects or what `pack` takes
        n objects.
    labels : array_like of int, shape (n,)
        The cluster of each object, such as ``kmedoids(X, k).labels``; -1 for none. Objects without
        a cluster have the last panel.
    medoids : array_like of int, optional
        Places in X of objects that stand for their clusters, at most one for each; by default the
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
        Labels or medoids that are not integers, or not those of objects.
    ImportError
        Without matplotlib, saying how to install it.

    Examples
    --------
    >>> import d2ke
    >>> words = ["ant", "aunt", "and", "beetle", "beatle", "beetles", "wasp"]
    >>> clusters = d2ke.kmedoids(words, 2, distance="levenshtein")
    >>> figure = d2ke.groups.plot_clusters(
    ...     words, clusters.labels, medoids=clusters.medoids)  # doctest: +SKIP
    >>> figure.savefig("clusters.png")  # doctest: +SKIP
    """
    limit = integer("limit", limit, 1)
    x = as_objects("X", X)
    labels = _integers("labels", labels)
    if labels.shape != (len(x),):
        raise ArgumentError("labels", f"has {len(labels)} labels, but X has {len(x)} objects")
    places = _integers("medoids", () if medoids is None else medoids)
    wrong = np.flatnonzero((places < 0) | (places >= len(x)))
    if len(wrong):
        raise ArgumentError("medoids", f"is not a place in X: {places[wrong[0]]}", int(wrong[0]))
    if len(np.unique(labels[places])) < len(places):
        raise ArgumentError("medoids", "has two objects of one cluster")
    medoid_of = dict(zip(labels[places].tolist(), places.tolist(), strict=True))
    names, counts = np.unique(labels, return_counts=True)
    order = sorted(zip((names < 0).tolist(), (-counts).tolist(), names.tolist(), strict=True))
    shown = order[:limit]
    matplotlib()
    from matplotlib.figure import Figure

    n_rows = -(-len(shown) // _COLUMNS)
    n_columns = min(_COLUMNS, len(shown))
    figure = Figure(figsize=(2.5 * n_columns, 2.1 * n_rows), layout="constrained")
    panels = figure.subplots(n_rows, n_columns, squeeze=False).ravel()
    for axes in panels[len(shown) :]:
        axes.set_axis_off()
    for axes, (is_none, size, name) in zip(panels, shown, strict=False):
        members = np.flatnonzero(labels == name)
        colour = GREY if is_none else COLOURS[name % len(COLOURS)]
        _draw_members(axes, x, members, medoid_of.get(name, int(members[0])), colour)
        axes.set_title(f"{'none' if is_none else f'cluster {name}'}: {-size}", fontsize=9)
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


def _draw_members(axes: Axes, x: Objects, members: np.ndarray, medoid: int, colour: str) -> None:
    """Draw a medoid and the first other members of its cluster."""
    others = members[members != medoid][: _MEMBERS[x.kind] - 1].tolist()
    if x.kind != "strings":
        *faint, clear = on_one_plane([x[i] for i in (*others, medoid)], x.kind)
        for item in faint:
            draw_object(axes, item, x.kind, colour, faint=True)
        draw_object(axes, clear, x.kind, colour)
        return
    for line, i in enumerate([medoid, *others]):
        texts = letter_texts(x[i])
        text = (" " if any(len(letter) > 1 for letter in texts) else "").join(texts)
        style: dict[str, Any] = {"color": colour, "weight": "bold"} if line == 0 else {}
        axes.text(0, line, shortened(text, _LETTERS), family="monospace", fontsize=8, va="center",
                  parse_math=False, **style)  # fmt: skip
    axes.set(xlim=(-0.5, _LETTERS), ylim=(_MEMBERS["strings"], -0.7))
    axes.set_axis_off()
