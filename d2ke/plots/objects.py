# SPDX-License-Identifier: BSD-3-Clause
"""Pictures of single objects: letters in cells or lines, points of a set, lines of a series."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from d2ke._base.text import shortened
from d2ke.plots.style import GREY, SMALL, matplotlib, on_top, signed_colours

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.cm import ScalarMappable


def letter_texts(item: Any) -> list[str]:
    """Return the letters of a string, or its tokens, as text that can be printed."""
    if isinstance(item, bytes):
        return [chr(code) if 32 <= code < 127 else f"{code:02x}" for code in item]
    texts = (shortened(str(letter), 24) for letter in item)
    return ["".join(x if x.isprintable() else "·" for x in text) for text in texts]


def letter_cells(texts: Sequence[str]) -> np.ndarray:
    """Return the cell of each letter in lines, shape (n, 3): its start, its line and its width.

    Tokens of several letters have a blank between them.
    """
    gap = int(any(len(text) > 1 for text in texts))
    cells, start, line = np.empty((len(texts), 3)), 0, 0
    for i, text in enumerate(texts):
        width = max(len(text), 1) + gap
        if start and start + width > 60:
            start, line = 0, line + 1
        cells[i] = start, line, width - 0.3 * gap
        start += width
    return cells


def draw_cells(axes: Axes, item: Any, values: np.ndarray) -> ScalarMappable:
    """Draw the letters of a string in cells that are coloured by values."""
    patches = matplotlib().patches
    texts, shown = letter_texts(item), signed_colours(values)
    cells = letter_cells(texts)
    for text, (start, line, width), colour in zip(texts, cells, shown.to_rgba(values), strict=True):
        axes.add_patch(patches.Rectangle((start, line), width, 0.9, color=colour, linewidth=0))
        axes.text(
            start + width / 2, line + 0.45, text, color=on_top(colour), family="monospace",
            fontsize=SMALL, ha="center", va="center", parse_math=False,
        )  # fmt: skip
    width, height = (cells[:, 0] + cells[:, 2]).max(initial=1), cells[:, 1].max(initial=0) + 1
    axes.set(xlim=(-0.5, max(width, 20) + 0.5), ylim=(height + 0.1, -0.2))
    axes.set_axis_off()
    return shown


def draw_line(
    axes: Axes, line: int, item: Any, colour: str, bold: Sequence[bool], width: int = 60
) -> float:
    """Write a string on a line, the letters that are `bold` in colour; return its width."""
    texts, start = letter_texts(item), 0.0
    gap = int(any(len(text) > 1 for text in texts))
    for text, is_bold in zip(texts, bold, strict=True):
        style: dict[str, Any] = {"color": colour, "weight": "bold"} if is_bold else {}
        full = start + len(text) > width
        axes.text(start, line, "…" if full else text, family="monospace", fontsize=9, va="center",
                  parse_math=False, **style)  # fmt: skip
        if full:
            return start + 1
        start += len(text) + gap
    return start


def on_plane(points: np.ndarray) -> np.ndarray:
    """Return points in two dimensions, shape (n, 2): themselves, or their principal components."""
    points = np.asarray(points, np.float64)
    if points.shape[1] <= 2:
        return np.column_stack([points, np.zeros((len(points), 2 - points.shape[1]))])
    centred = points - points.mean(axis=0)
    _, _, axes = np.linalg.svd(centred, full_matrices=False)
    axes *= np.sign(axes[np.arange(len(axes)), np.abs(axes).argmax(axis=1)])[:, None]
    plane = centred @ axes[:2].T
    return np.column_stack([plane, np.zeros((len(plane), 2 - plane.shape[1]))])


def map_channels(names: Sequence[str] | None) -> tuple[int, ...]:
    """Return the indices of longitude and latitude among the names of channels, or none."""
    index_of = {name.casefold(): index for index, name in enumerate(names or ())}
    aliases = ("longitude", "lon", "lng", "long"), ("latitude", "lat")
    indices = [next((index_of[a] for a in names if a in index_of), None) for names in aliases]
    return tuple(index for index in indices if index is not None and None not in indices)


def as_map(axes: Axes, latitudes: Any) -> None:
    """Let a degree to the right be as long on the page as on the Earth, if one upwards is."""
    middle = np.radians(np.clip(np.mean(latitudes), -85, 85))
    axes.set_aspect(1 / float(np.cos(middle)), adjustable="datalim")


def draw_objects(
    axes: Axes,
    items: Sequence[Any],
    kind: str,
    colours: Sequence[str],
    channel_names: Sequence[str] | None = None,
) -> None:
    """Draw series or sets over each other, with a colour for each of the last ones.

    All before are faint, in the last colour. Sets of more than two coordinates are drawn by the
    principal components of all their points. Tracks whose channels are called longitude and
    latitude are drawn as on a map.
    """
    if kind == "sets":
        ends = np.cumsum([len(item) for item in items])[:-1]
        items = np.split(on_plane(np.concatenate(items)), ends)
    track = map_channels(channel_names)
    n_faint = len(items) - len(colours)
    for index, item in enumerate(items):
        values, faint = np.asarray(item, np.float64), index < n_faint
        colour = colours[-1] if faint else colours[index - n_faint]
        style: dict[str, Any] = {"color": colour, "alpha": 0.25 if faint else 1.0}
        if kind == "sets":
            axes.scatter(values[:, 0], values[:, 1], s=4 if faint else 14, linewidths=0, **style)
        elif track:
            axes.plot(*values[:, track].T, linewidth=0.8 if faint else 1.8, **style)
        elif values.shape[1] == 2:  # a path
            axes.plot(*values.T, linewidth=0.8 if faint else 1.8, **style)
        else:
            axes.plot(values[:, 0], linewidth=0.8 if faint else 1.8, **style)
            if values.shape[1] > 1 and not faint:
                axes.plot(values[:, 1:], color=GREY, linewidth=0.6, zorder=1)
    axes.tick_params(labelsize=7)
    if track:
        as_map(axes, np.concatenate([np.asarray(item)[:, track[1]] for item in items]))
        axes.ticklabel_format(useOffset=False)
