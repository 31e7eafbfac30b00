# SPDX-License-Identifier: BSD-3-Clause
"""Pictures of alignments; the only import of matplotlib in this package."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from d2ke.distances.alignment_record import Alignment

_X, _Y, _LINK = "#0072b2", "#d55e00", "#999999"
_MOST_LINKS = 2000  # lines of a picture, spread evenly over all


def draw(alignment: Alignment, ax: Axes | None) -> Axes:
    """Draw into the axes, or into those of a new figure."""
    try:
        from matplotlib import pyplot
    except ImportError:
        raise ImportError(
            'the picture is drawn with matplotlib: pip install "d2ke[demo]"'
        ) from None
    if ax is None:
        _, ax = pyplot.subplots(layout="constrained")
    if alignment.operations is not None:
        _draw_operations(alignment, ax)
    elif alignment.x.shape[1] == 2:
        _draw_points(alignment, ax)
    elif alignment.distance == "dtw" and alignment.x.shape[1] == 1:
        _draw_series(alignment, ax)
    else:
        _draw_places(alignment, ax)
    ax.set_title(f"{alignment.distance} {alignment.value:.4g}")
    return ax


def _links(alignment: Alignment) -> np.ndarray:
    """Return the rows of pairs that are drawn."""
    k = len(alignment.pairs)
    return np.unique(np.linspace(0, k - 1, min(k, _MOST_LINKS)).round().astype(int))


def _draw_lines(ax: Any, starts: np.ndarray, ends: np.ndarray, widths: Any) -> None:
    from matplotlib.collections import LineCollection

    lines = list(np.stack([starts, ends], axis=1))
    ax.add_collection(LineCollection(lines, colors=_LINK, linewidths=widths, zorder=1))


def _draw_series(alignment: Alignment, ax: Axes) -> None:
    x, y = (np.asarray(one)[:, 0] for one in (alignment.x, alignment.y))
    above = 1.1 * (max(y.max() - x.min(), 0) or 1)
    i, j = alignment.pairs[_links(alignment)].T
    _draw_lines(ax, np.stack([i, x[i] + above], axis=1), np.stack([j, y[j]], axis=1), 0.6)
    ax.plot(x + above, color=_X, label="x", zorder=2)
    ax.plot(y, color=_Y, label="y", zorder=2)
    ax.set(xlabel="place", yticks=[])
    ax.xaxis.get_major_locator().set_params(integer=True)
    ax.legend(frameon=False)


def _draw_points(alignment: Alignment, ax: Axes) -> None:
    x, y = np.asarray(alignment.x), np.asarray(alignment.y)
    shown = _links(alignment)
    i, j = alignment.pairs[shown].T
    widths = 0.8
    if alignment.masses is not None:
        masses = alignment.masses[shown]
        widths = 0.3 + 3.7 * masses / masses.max()
    _draw_lines(ax, x[i], y[j], widths)
    style = ".-" if alignment.distance == "dtw" else "o"
    ax.plot(*x.T, style, color=_X, label="x", markersize=5, zorder=2)
    ax.plot(*y.T, style, color=_Y, label="y", markersize=5, zorder=2)
    if alignment.maximum is not None:
        i, j = alignment.pairs[alignment.maximum]
        ends = np.stack([x[i], y[j]])
        ax.plot(*ends.T, color="black", label="largest cost", zorder=1.5)
    ax.margins(0.15)
    ax.set_aspect("equal", adjustable="datalim")
    ax.legend(frameon=False)


def _name_places(ax: Axes) -> None:
    ax.set(xlabel="place in x", ylabel="place in y")
    for axis in (ax.xaxis, ax.yaxis):
        axis.get_major_locator().set_params(integer=True)


def _draw_places(alignment: Alignment, ax: Axes) -> None:
    i, j = alignment.pairs.T
    if alignment.masses is not None:
        ax.scatter(i, j, s=400 * alignment.masses / alignment.masses.max(), color=_X)
    elif alignment.maximum is not None:
        ax.plot(i, j, ".", color=_X)
        ax.plot(i[alignment.maximum], j[alignment.maximum], "o", color=_Y, label="largest cost")
        ax.legend(frameon=False)
    else:
        ax.plot(i, j, color=_X)
    _name_places(ax)


def _draw_operations(alignment: Alignment, ax: Axes) -> None:
    operations: Any = alignment.operations
    _name_places(ax)
    if not len(operations):
        return
    steps = alignment.pairs >= 0
    corners = np.concatenate([[[0, 0]], np.cumsum(steps, axis=0)])
    corners += [operations.i[0], operations.j[0]]
    ax.plot(*corners.T, color=_LINK, zorder=1)
    colours = {"replace": "black", "delete": _X, "insert": _Y}
    middles = (corners[1:] + corners[:-1]) / 2
    for op, colour in colours.items():
        which = operations.op == op
        if which.any():
            ax.plot(*middles[which].T, ".", color=colour, label=op, zorder=2)
    if (operations.op != "equal").any():
        ax.legend(frameon=False)
