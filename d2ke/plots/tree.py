# SPDX-License-Identifier: BSD-3-Clause
"""A picture of a tree of objects, beside the heat map of their distances."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import LowLevelCallable
from scipy.cluster.hierarchy import dendrogram, linkage
from scipy.spatial.distance import squareform

from d2ke._base.checks import choice, generator, integer
from d2ke._base.errors import ArgumentError
from d2ke._base.keywords import hinted
from d2ke._base.memory import check_fits
from d2ke._base.text import shortened
from d2ke._base.threads import team_size
from d2ke.distances.pairs import check_pairs, check_same_both_ways, numbered
from d2ke.distances.problem import ArgumentNames, PairBlock
from d2ke.objects.container import take
from d2ke.objects.values import list_of
from d2ke.plots.style import foreground, on_top, panels

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MAX_LEAVES = 80


@hinted
def plot_tree(
    X: Any,
    *,
    distance: str | Callable[..., float] | LowLevelCallable | None = None,
    names: Sequence[Any] | None = None,
    method: str = "average",
    max_leaves: int = MAX_LEAVES,
    seed: Any = 0,
    n_threads: int | None = None,
    **params: Any,
) -> Figure:
    """Draw the tree of hierarchical clusters, and all distances in its order.

    Parameters
    ----------
    X : Objects or what `pack` takes
        n objects, 2 at least.
    distance : str, callable or scipy.LowLevelCallable, optional
        As for `distance_matrix`, symmetric; by default ``"levenshtein"`` for strings, ``"dtw"``
        for series and ``"mhd"`` for sets.
    names : sequence of n str, optional
        By default the ids of X; without any, strings are their own names, and other objects have
        their numbers. At most
        32 letters of a name are drawn.
    method : {"average", "complete", "single"}
        How two clusters' distance follows from distances of objects, as for
        ``scipy.cluster.hierarchy.linkage``.
    max_leaves : int
        The most leaves; if X has more objects, a random sample is drawn.
    seed : int, SeedSequence or Generator
        Draws the sample.
    n_threads : int, optional
        Threads to use; None for all that this process may use.
    **params
        Parameters of the distance, as for `distance_matrix`.

    Returns
    -------
    matplotlib.figure.Figure
        For its ``savefig``, or for a notebook to show.

    Raises
    ------
    TypeError, ValueError
        As `distance_matrix`; a distance that is not symmetric; a parameter out of range.
    MemoryError
        If the distances of `max_leaves` objects would not fit into memory.
    ImportError
        Without matplotlib, saying how to install it.

    Examples
    --------
    >>> import d2ke
    >>> words = ["ant", "aunt", "and", "beetle", "beatle", "beetles", "wasp"]
    >>> figure = d2ke.plot_tree(words, distance="levenshtein")  # doctest: +SKIP
    >>> figure.savefig("tree.png")  # doctest: +SKIP
    """
    pairs = check_pairs(X, None, distance, params, ArgumentNames("plot_tree"))
    choice("method", method, ("average", "complete", "single"))
    n = len(pairs.x)
    check_same_both_ways(pairs)
    if n < 2:
        raise ArgumentError("X", f"must have at least 2 objects, got {n}")
    if names is None:
        names = getattr(pairs.x, "ids", None)
    if names is None:
        names = pairs.x if getattr(pairs.x, "letters", "") in ("str", "bytes") else range(n)
    names = list_of("names", names)
    if len(names) != n:
        raise ArgumentError("names", f"must have {n} names, one for each object; got {len(names)}")
    leaves = sample_leaves(n, integer("max_leaves", max_leaves, 2), seed)
    check_fits(
        3 * 8 * len(leaves) ** 2,
        f"the picture of {len(leaves)} objects",
        "give a smaller max_leaves",
    )
    if isinstance(pairs.x, list):
        pairs = numbered(pairs)
    x = take(pairs.x, leaves)
    D = pairs.distances(PairBlock(x, x, True), team_size(n_threads), np.float64)
    return draw_tree(D, [str(names[i]) for i in leaves], n, method)


def sample_leaves(n: int, limit: int, seed: Any) -> np.ndarray:
    """Return the numbers of all objects, or of a sample."""
    if n <= limit:
        return np.arange(n)
    return np.sort(generator(seed).choice(n, limit, replace=False))


def draw_tree(
    D: np.ndarray,
    names: Sequence[str],
    n: int,
    method: str = "average",
    colours: Sequence[Any] | None = None,
) -> Figure:
    """Draw the tree of a distance matrix of a sample of n objects.

    `colours` are the backgrounds of the names.
    """
    n_leaves = len(D)
    Z = linkage(squareform(D, checks=False), method, optimal_ordering=True)
    side = max(0.17 * n_leaves, 2.5)
    names = [shortened(name, 32) for name in names]
    widest = 0.1 * max(map(len, names))
    size = (side + widest + 3.5) / 2, side + 0.9
    figure, (tree, heat) = panels(2, 2, size, sharey=True, width_ratios=(2.2, side))
    layout = dendrogram(
        Z, orientation="left", no_labels=True, ax=tree, color_threshold=0,
        above_threshold_color=foreground(),
    )  # fmt: skip
    order = layout["leaves"]
    tree.spines[["top", "left", "right"]].set_visible(False)
    tree.set_xlabel("distance")
    tree.tick_params(axis="y", left=False, labelleft=False)
    ends = (0, 10 * n_leaves)  # scipy puts leaf k at 10 k + 5
    shown = heat.imshow(
        D[np.ix_(order, order)], cmap="viridis", origin="lower", aspect="auto",
        extent=(*ends, *ends), interpolation="nearest",
    )  # fmt: skip
    heat.set(xticks=[], ylim=ends)
    heat.tick_params(axis="y", left=False, labelleft=False, right=True, labelright=True, length=0)
    heat.set_yticks(5 + 10 * np.arange(n_leaves), [names[i] for i in order], fontsize=8.5)
    for leaf, text in zip(order, heat.get_yticklabels(), strict=True):
        text.set_parse_math(False)
        if colours is not None:
            text.set(color=on_top(colours[leaf]))
            text.set_bbox({"facecolor": colours[leaf], "linewidth": 0, "pad": 1})
    figure.colorbar(shown, ax=heat, label="distance", location="top", shrink=0.6, aspect=30)
    if n_leaves < n:
        figure.suptitle(f"{n_leaves} of {n:,} objects", fontsize=9)
    return figure
