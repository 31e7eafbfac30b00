# SPDX-License-Identifier: BSD-3-Clause
"""Pictures of single objects: letters in cells, points of a set, lines of a series."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from d2ke._base.pictures import GREY, SIGNED, matplotlib, on_top
from d2ke._base.text import shortened

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.cm import ScalarMappable

_WIDTH = 60  # letters of a line
_LONGEST = 24  # letters that are shown of a token


def letter_texts(item: Any) -> list[str]:
    """Return the letters of a string, or its tokens, as text that can be printed."""
    if isinstance(item, bytes):
        return [chr(code) if 32 <= code < 127 else f"{code:02x}" for code in item]
    texts = (shortened(str(letter), _LONGEST) for letter in item)
    return ["".join(x if x.isprintable() else "·" for x in text) for text in texts]


def letter_cells(texts: Sequence[str]) -> np.ndarray:
    """Return the place of each letter in lines, shape (n, 3): its start, its line and its width.

    Tokens of several letters have a blank between them.
    """
    gap = int(any(len(text) > 1 for text in texts))
    cells, start, line = np.empty((len(texts), 3)), 0, 0
    for i, text in enumerate(texts):
        width = max(len(text), 1) + gap
        if start and start + width > _WIDTH:
            start, line = 0, line + 1
        cells[i] = start, line, width - 0.3 * gap
        start += width
    return cells


def signed_colours(values: np.ndarray) -> ScalarMappable:
    """Return the colours of signed values, of which 0 is grey."""
    mpl = matplotlib()
    largest = float(np.abs(values).max(initial=0)) or 1.0
    norm = mpl.colors.Normalize(-largest, largest)
    shown: ScalarMappable = mpl.cm.ScalarMappable(norm, SIGNED)
    shown.set_array(values)
    return shown


def draw_letters(axes: Axes, item: Any, values: np.ndarray) -> ScalarMappable:
    """Draw the letters of a string in cells that are coloured by values."""
    patches = matplotlib().patches
    texts, shown = letter_texts(item), signed_colours(values)
    cells = letter_cells(texts)
    for text, (start, line, width), colour in zip(texts, cells, shown.to_rgba(values), strict=True):
        axes.add_patch(patches.Rectangle((start, line), width, 0.9, color=colour, linewidth=0))
        axes.text(
            start + width / 2, line + 0.45, text, color=on_top(colour), family="monospace",
            fontsize=8, ha="center", va="center", parse_math=False,
        )  # fmt: skip
    width, height = (cells[:, 0] + cells[:, 2]).max(initial=1), cells[:, 1].max(initial=0) + 1
    axes.set(xlim=(-0.5, max(width, 20) + 0.5), ylim=(height + 0.1, -0.2))
    axes.set_axis_off()
    return shown


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


def on_one_plane(items: Sequence[Any], kind: str) -> list[Any]:
    """Return sets of more than two coordinates by the principal components of all their points.

    Other objects are returned as they are.
    """
    if kind != "sets" or np.shape(items[0])[1] <= 2:
        return list(items)
    plane = on_plane(np.concatenate(items))
    return np.split(plane, np.cumsum([len(item) for item in items])[:-1])


def draw_object(axes: Axes, item: Any, kind: str, colour: str, faint: bool = False) -> None:
    """Draw a series or a set; `faint` is for one of many."""
    values = np.asarray(item, np.float64)
    alpha, width = (0.25, 0.8) if faint else (1.0, 1.8)
    if kind == "sets":
        x, y = on_plane(values).T
        axes.scatter(x, y, s=4 if faint else 14, color=colour, alpha=alpha, linewidths=0)
    elif values.shape[1] == 2:  # a path
        axes.plot(*values.T, color=colour, alpha=alpha, linewidth=width)
    else:
        axes.plot(values[:, 0], color=colour, alpha=alpha, linewidth=width)
        if values.shape[1] > 1 and not faint:
            axes.plot(values[:, 1:], color=GREY, linewidth=0.6, zorder=1)
    axes.tick_params(labelsize=7)
