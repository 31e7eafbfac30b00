# SPDX-License-Identifier: BSD-3-Clause
"""Pictures of an `Alignment`; the only import of matplotlib in this package."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from d2ke._base.pictures import COLOURS, GREY, foreground, matplotlib
from d2ke.distances.registry import find_distance

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_X, _Y, _CROSSED = COLOURS[:3]
_MAXGREYS = 2000  # lines of a picture, spread evenly over all


def draw(alignment: Any, ax: Axes | None) -> Axes:
    """Draw into the axes, or into those of a new figure."""
    pyplot = matplotlib().pyplot
    if ax is None:
        _, ax = pyplot.subplots(layout="constrained")
    row = find_distance(alignment.distance)
    if row.kind == "strings" and alignment.operations is None:
        _draw_letters(alignment, ax)
    elif row.kind == "strings":
        _draw_operations(alignment, ax)
    elif alignment.x.shape[1] == 2:
        _draw_points(alignment, ax, row.kind == "series")
    elif row.kind == "series" and alignment.x.shape[1] == 1:
        _draw_series(alignment, ax)
    else:
        _draw_places(alignment, ax)
    ax.set_title(f"{alignment.distance} {alignment.value:.4g}")
    return ax


def _links(alignment: Any) -> np.ndarray:
    """Return the rows of pairs that are drawn as lines: those where both have a partner."""
    links = np.flatnonzero((alignment.pairs >= 0).all(axis=1))
    k = len(links)
    return links[np.unique(np.linspace(0, max(k - 1, 0), min(k, _MAXGREYS)).round().astype(int))]


def _alone(alignment: Any, side: int) -> np.ndarray:
    """Return the places in x (side 0) or y that are left out."""
    pairs = alignment.pairs
    return pairs[pairs[:, 1 - side] < 0, side]


def _draw_lines(ax: Any, starts: np.ndarray, ends: np.ndarray, widths: Any) -> None:
    from matplotlib.collections import LineCollection

    lines = list(np.stack([starts, ends], axis=1))
    ax.add_collection(LineCollection(lines, colors=GREY, linewidths=widths, zorder=1))


def _draw_series(alignment: Any, ax: Axes) -> None:
    x, y = (np.asarray(series)[:, 0] for series in (alignment.x, alignment.y))
    above = 1.1 * (max(y.max() - x.min(), 0) or 1)
    i, j = alignment.pairs[_links(alignment)].T
    _draw_lines(ax, np.stack([i, x[i] + above], axis=1), np.stack([j, y[j]], axis=1), 0.6)
    for side, (line, colour, name) in enumerate(((x + above, _X, "x"), (y, _Y, "y"))):
        ax.plot(line, color=colour, label=name, zorder=2)
        alone = _alone(alignment, side)
        if len(alone):
            ax.plot(alone, line[alone], "o", color=colour, fillstyle="none", zorder=3)
    ax.set(xlabel="place", yticks=[])
    _whole_places(ax.xaxis)
    ax.legend(frameon=False)


def _draw_points(alignment: Any, ax: Axes, ordered: bool) -> None:
    x, y = np.asarray(alignment.x), np.asarray(alignment.y)
    shown = _links(alignment)
    i, j = alignment.pairs[shown].T
    widths = 0.8
    if alignment.masses is not None:
        masses = alignment.masses[shown]
        widths = 0.3 + 3.7 * masses / masses.max()
    _draw_lines(ax, x[i], y[j], widths)
    style = ".-" if ordered else "o"
    ax.plot(*x.T, style, color=_X, label="x", markersize=5, zorder=2)
    ax.plot(*y.T, style, color=_Y, label="y", markersize=5, zorder=2)
    if alignment.maximum is not None:
        i, j = alignment.pairs[alignment.maximum]
        ends = np.stack([x[i], y[j]])
        ax.plot(*ends.T, color=foreground(), label="largest cost", zorder=1.5)
    ax.margins(0.15)
    ax.set_aspect("equal", adjustable="datalim")
    ax.legend(frameon=False)


def _name_places(ax: Axes) -> None:
    ax.set(xlabel="place in x", ylabel="place in y")
    _whole_places(ax.xaxis)
    _whole_places(ax.yaxis)


def _whole_places(axis: Any) -> None:
    axis.get_major_locator().set_params(integer=True)


def _draw_places(alignment: Any, ax: Axes) -> None:
    i, j = alignment.pairs[(alignment.pairs >= 0).all(axis=1)].T
    if alignment.masses is not None:
        ax.scatter(i, j, s=400 * alignment.masses / alignment.masses.max(), color=_X)
    elif alignment.maximum is not None:
        ax.plot(i, j, ".", color=_X)
        ax.plot(i[alignment.maximum], j[alignment.maximum], "o", color=_Y, label="largest cost")
        ax.legend(frameon=False)
    else:
        ax.plot(i, j, color=_X)
    _name_places(ax)


def _draw_letters(alignment: Any, ax: Axes) -> None:
    i, j = alignment.pairs[(alignment.pairs >= 0).all(axis=1)].T
    ax.plot(i, j, ".", color=foreground(), label="in both", zorder=2)
    for side, (colour, name) in enumerate(((_X, "in x"), (_Y, "in y"))):
        places = _alone(alignment, side)
        points = (places, -np.ones(len(places)))
        ax.plot(*(points if side == 0 else points[::-1]), ".", color=colour, label=name)
    _name_places(ax)
    ax.legend(frameon=False)


def _draw_operations(alignment: Any, ax: Axes) -> None:
    operations: Any = alignment.operations
    _name_places(ax)
    if not len(operations):
        return
    steps = alignment.pairs >= 0
    corners = np.concatenate([[[0, 0]], np.cumsum(steps, axis=0)])
    corners += [operations.i[0], operations.j[0]]
    ax.plot(*corners.T, color=GREY, zorder=1)
    colours = {"replace": foreground(), "delete": _X, "insert": _Y, "transpose": _CROSSED}
    middles = (corners[1:] + corners[:-1]) / 2
    for op, colour in colours.items():
        which = operations.op == op
        if which.any():
            ax.plot(*middles[which].T, ".", color=colour, label=op, zorder=2)
    if (operations.op != "equal").any():
        ax.legend(frameon=False)
