# SPDX-License-Identifier: BSD-3-Clause
"""Pictures of objects beside their nearest neighbours."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from d2ke._base.arrays import matrix
from d2ke._base.checks import integer
from d2ke._base.errors import ArgumentError, ArgumentTypeError
from d2ke._base.text import shortened
from d2ke.distances.alignment.align import align
from d2ke.objects.compatibility import matched
from d2ke.objects.packing import as_objects
from d2ke.objects.values import list_of
from d2ke.plots.objects import draw_line, draw_objects
from d2ke.plots.style import COLOURS, GREY, SMALL, panels, title

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def plot_neighbors(
    X: Any,
    indices: Any,
    distances: Any,
    *,
    Y: Any = None,
    limit: int = 3,
    k: int = 5,
    names: Sequence[Any] | None = None,
) -> Figure:
    """Draw objects beside their nearest neighbours.

    Series and sets are drawn in colour over the object whose neighbours they are, in grey; sets of
    more than two coordinates by the principal components of both. The letters of strings that are
    not in the object, as the Levenshtein distance aligns both, are in colour.

    Parameters
    ----------
    X : Objects or what `pack` takes
        Objects.
    indices, distances : array_like, shape (m, n_neighbors)
        The neighbours of the first m objects of X, as `nearest` returns them.
    Y : Objects or what `pack` takes, optional
        The objects among which the neighbours are; None stands for X.
    limit : int
        How many objects are drawn.
    k : int
        How many neighbours of each are drawn.
    names : sequence of str, optional
        The names of the objects of Y; by default their ids, or numbers if they have none.

    Returns
    -------
    matplotlib.figure.Figure
        For its ``savefig``, or for a notebook to show.

    Raises
    ------
    TypeError, ValueError
        Arrays of different shapes, or indices out of range.
    ImportError
        Without matplotlib, saying how to install it.

    Examples
    --------
    >>> import d2ke
    >>> words = ["ant", "aunt", "and", "beetle", "beatle", "beetles", "wasp"]
    >>> neighbors = d2ke.nearest(words, k=2, distance="levenshtein")
    >>> figure = d2ke.plots.plot_neighbors(words, *neighbors)  # doctest: +SKIP
    >>> figure.savefig("neighbors.png")  # doctest: +SKIP
    """
    limit, k = integer("limit", limit, 1), integer("k", k, 1)
    x = as_objects("X", X)
    y = x if Y is None else as_objects("Y", Y)
    if x.kind != y.kind:
        raise ArgumentError("Y", f"holds {y.kind}, but X holds {x.kind}")
    y = matched(x, y, "X", "Y")
    distances = matrix("distances", distances, infinite=True)
    indices = _checked(indices, distances.shape, len(x), len(y))
    default = range(len(y)) if y.ids is None else y.ids.tolist()
    names = default if names is None else list_of("names", names)
    if len(names) != len(y):
        raise ArgumentError("names", f"must have {len(y)} names, got {len(names)}")

    rows, columns = min(limit, len(indices)), min(k, indices.shape[1])
    if x.has_letters:
        figure, axes_of = panels(rows, 1, (1.0, 0.4 + 0.24 * (columns + 1)))
        width = 20.0
        for row, axes in enumerate(axes_of):
            near = [(names[j], y[j], d) for j, d in _first(indices, distances, row, columns)]
            own_name = "" if x.ids is None else x.ids[row]
            width = max(width, _draw_strings(axes, x[row], own_name, near))
        margin = 16  # for names and distances, in letters
        for axes in axes_of:
            axes.set_xlim(-margin, width + 1)
        figure.set_figwidth(0.1 * (margin + width + 1))
        return figure
    figure, axes_of = panels(rows * columns, columns, (2.2, 1.9))
    for row in range(rows):
        row_axes = axes_of[row * columns : (row + 1) * columns]
        nearest = _first(indices, distances, row, columns)
        for axes in row_axes[len(nearest) :]:
            axes.set_axis_off()
        for axes, (j, d) in zip(row_axes, nearest, strict=False):
            draw_objects(axes, [x[row], y[j]], x.base, [GREY, COLOURS[0]], x.channel_names)
            title(axes, f"{_short(names[j])} at {d:.4g}")
        own_name = f"object {row}" if x.ids is None else _short(x.ids[row])
        row_axes[0].set_ylabel(own_name, fontsize=9, parse_math=False)
    return figure


def _checked(indices: Any, shape: tuple[int, ...], n: int, m: int) -> np.ndarray:
    """Return the indices of neighbours, checked; -1 stands for none."""
    indices = np.asarray(indices)
    if indices.dtype.kind not in "iu" or indices.ndim != 2:
        raise ArgumentTypeError(
            "indices", f"must be a 2-D array of integers, got {indices.dtype}, {indices.ndim}-D"
        )
    if indices.shape != shape:
        raise ArgumentError("indices", f"has shape {indices.shape}, but distances {shape}")
    if len(indices) > n or 0 in shape:
        raise ArgumentError("indices", f"has shape {shape}, but X holds {n} objects")
    wrong = np.argwhere((indices < -1) | (indices >= m))
    if len(wrong):
        i, j = wrong[0].tolist()
        raise ArgumentError("indices", f"is {indices[i, j]} at [{i}, {j}]; there are {m} objects")
    return indices


def _first(indices: np.ndarray, distances: np.ndarray, row: int, k: int) -> list[tuple[int, float]]:
    """Return the first neighbours of an object and their distances."""
    pairs = zip(indices[row, :k].tolist(), distances[row, :k].tolist(), strict=True)
    return [(j, distance) for j, distance in pairs if j >= 0]


def _short(name: Any) -> str:
    return shortened(str(name), 18)


def _draw_strings(
    axes: Axes, item: Any, own_name: Any, near: Sequence[tuple[Any, Any, float]]
) -> float:
    """Draw a string above its neighbours, whose letters that it does not have are in colour.

    Return the width of the longest one.
    """
    lines, longest = [(own_name, item, None), *near], 0.0
    for line, (name, other, distance) in enumerate(lines):
        new = np.full(len(other), distance is not None)
        if distance is not None and len(item) and len(other):
            pairs = align(item, other, "levenshtein").pairs
            new[[j for i, j in pairs if i >= 0 and j >= 0 and item[i] == other[j]]] = False
        longest = max(longest, draw_line(axes, line, other, COLOURS[1], new.tolist()))
        text = _short(name) if distance is None else f"{_short(name)} at {distance:.4g}"
        if text:
            axes.text(-2, line, text, fontsize=SMALL, ha="right", va="center", color=GREY,
                      parse_math=False)  # fmt: skip
    axes.set_ylim(len(lines) - 0.4, -0.6)
    axes.set_axis_off()
    return longest
