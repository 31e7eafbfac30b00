# SPDX-License-Identifier: BSD-3-Clause
"""Pictures of an `Alignment`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from d2ke.distances.registry import find_distance
from d2ke.plots.style import COLOURS, GREY, axes_or_new, foreground, legend, title

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_X, _Y, _CROSSED = COLOURS[:3]


def draw_alignment(alignment: Any, ax: Axes | None) -> Axes:
    """Draw into the axes, or into a new figure."""
    ax = axes_or_new(ax, (6.4, 4.8))
    row = find_distance(alignment.distance)
    if row.kind != "strings" and alignment.x.shape[1] == 2:
        _draw_points(alignment, ax, row.kind == "series")
    elif row.kind == "series" and alignment.x.shape[1] == 1:
        _draw_series(alignment, ax)
    else:
        _draw_positions(alignment, ax, row.kind == "strings")
    title(ax, f"{alignment.distance} {alignment.value:.4g}")
    if ax.get_legend_handles_labels()[0]:
        legend(ax)
    return ax


def _links(alignment: Any) -> np.ndarray:
    """Return the rows of pairs where both have a partner."""
    return np.flatnonzero((alignment.pairs >= 0).all(axis=1))


def _alone(alignment: Any, side: int) -> np.ndarray:
    """Return the positions in x (side 0) or y that are left out."""
    pairs = alignment.pairs
    return pairs[pairs[:, 1 - side] < 0, side]


def _draw_links(ax: Axes, alignment: Any, x: np.ndarray, y: np.ndarray) -> None:
    """Draw a line between the points of each pair, as wide as the mass that moves along it."""
    from matplotlib.collections import LineCollection

    links = _links(alignment)
    k = len(links)  # of which at most 2000 are drawn, evenly spread
    shown = links[np.unique(np.linspace(0, max(k - 1, 0), min(k, 2000)).round().astype(int))]
    widths: Any = 0.8
    if alignment.masses is not None:
        widths = 0.3 + 3.7 * alignment.masses[shown] / alignment.masses[shown].max()
    i, j = alignment.pairs[shown].T
    lines = list(np.stack([x[i], y[j]], axis=1))
    ax.add_collection(LineCollection(lines, colors=GREY, linewidths=widths, zorder=1))


def _draw_series(alignment: Any, ax: Axes) -> None:
    """Draw two series of one channel, x above y."""
    x, y = (np.asarray(series)[:, 0] for series in (alignment.x, alignment.y))
    x = x + 1.1 * (max(y.max() - x.min(), 0) or 1)
    points = [np.column_stack([np.arange(len(line)), line]) for line in (x, y)]
    _draw_links(ax, alignment, *points)
    for side, (line, colour, name) in enumerate(((x, _X, "x"), (y, _Y, "y"))):
        ax.plot(line, color=colour, label=name, zorder=2)
        alone = _alone(alignment, side)
        if len(alone):
            ax.plot(alone, line[alone], "o", color=colour, fillstyle="none", zorder=3)
    ax.set(xlabel="place", yticks=[])
    ax.locator_params("x", integer=True)


def _draw_points(alignment: Any, ax: Axes, ordered: bool) -> None:
    """Draw vectors of two coordinates."""
    x, y = np.asarray(alignment.x), np.asarray(alignment.y)
    _draw_links(ax, alignment, x, y)
    style = ".-" if ordered else "o"
    ax.plot(*x.T, style, color=_X, label="x", markersize=5, zorder=2)
    ax.plot(*y.T, style, color=_Y, label="y", markersize=5, zorder=2)
    if alignment.maximum is not None:
        i, j = alignment.pairs[alignment.maximum]
        ax.plot(*np.stack([x[i], y[j]]).T, color=foreground(), label="largest cost", zorder=1.5)
    ax.margins(0.15)
    ax.set_aspect("equal", adjustable="datalim")


def _draw_positions(alignment: Any, ax: Axes, letters: bool) -> None:
    """Draw positions in y against positions in x: a path with operations or pairs as dots."""
    pairs, operations = alignment.pairs[_links(alignment)], alignment.operations
    path = pairs[:0]
    groups: dict[str, tuple[Any, np.ndarray]] = {}
    if letters and operations is not None:
        path = np.concatenate([[[0, 0]], np.cumsum(alignment.pairs >= 0, axis=0)])
        path += [operations.i[:1].sum(), operations.j[:1].sum()]
        middles = (path[1:] + path[:-1]) / 2
        colours = {"replace": foreground(), "delete": _X, "insert": _Y, "transpose": _CROSSED}
        groups = {op: (colour, middles[operations.op == op]) for op, colour in colours.items()}
    elif letters:
        groups = {"in both": (foreground(), pairs)}
        for side, (name, colour) in enumerate((("in x", _X), ("in y", _Y))):
            points = np.full((len(_alone(alignment, side)), 2), -1)
            points[:, side] = _alone(alignment, side)
            groups[name] = colour, points
    elif alignment.masses is not None:
        sizes = 400 * alignment.masses / alignment.masses.max()
        ax.scatter(pairs[:, 0], pairs[:, 1], s=sizes, color=_X)
    elif alignment.maximum is not None:
        ax.plot(*pairs.T, ".", color=_X)
        groups = {"largest cost": (_Y, alignment.pairs[[alignment.maximum]])}
    else:
        path = pairs
    if len(path):
        ax.plot(*path.T, color=GREY, zorder=1)
    for name, (colour, points) in groups.items():
        if len(points):
            ax.plot(*points.T, ".", color=colour, label=name, zorder=2)
    ax.set(xlabel="place in x", ylabel="place in y")
    ax.locator_params(integer=True)
