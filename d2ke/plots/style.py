# SPDX-License-Identifier: BSD-3-Clause
"""The style of all pictures: colours, panels, legends, text; and what they need of matplotlib.

Text, lines of axes and backgrounds follow matplotlib's settings, so that a picture fits a
style such as "dark_background". All other colours can be seen on light and dark backgrounds, and
told apart with any kind of colour blindness.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from d2ke._base.progress import in_notebook

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.cm import ScalarMappable
    from matplotlib.figure import Figure

# Okabe and Ito's colours without black, and six that are far from these and from grey for normal,
# red-blind, green-blind and blue-blind eyes (at least 16 in CIELAB: tests/base/test_palette.py).
COLOURS = (
    "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#8800EE", "#DD0044",
    "#884477", "#8866EE", "#DDBB77", "#BBCCDD",
)  # fmt: skip
MARKERS = "o^s"  # points of more groups than colours: the colours again with the next marker
MAX_NAMED = len(COLOURS) * len(MARKERS)
GREY = "#A0A0A0"  # beside the colours: what is not named, and lines of reference
SMALL = 8  # points, of text in axes


def matplotlib() -> Any:
    """Return matplotlib; the error explains how to install it."""
    try:
        pyplot = import_module("matplotlib.pyplot")
    except ImportError:
        raise ImportError(
            'the picture is drawn with matplotlib: pip install "d2ke[demo]"'
        ) from None
    if in_notebook():
        pyplot.draw_if_interactive()  # loads the backend, or a Figure would be shown as its repr
    return import_module("matplotlib")


def panels(
    n: int, abreast: int, size: tuple[float, float], *, pyplot: bool = False, **how: Any
) -> tuple[Figure, list[Axes]]:
    """Return a figure and its n axes, at most `abreast` in a row, each of a size in inches.

    Pyplot shows its figures; without it, the caller does.
    """
    mpl = matplotlib()
    n_rows = -(-n // abreast)
    n_columns = -(-n // n_rows)
    inches = size[0] * n_columns, size[1] * n_rows
    create = mpl.pyplot.figure if pyplot else import_module("matplotlib.figure").Figure
    figure = create(figsize=inches, layout="constrained")
    axes = figure.subplots(n_rows, n_columns, squeeze=False, **how).ravel().tolist()
    for unused in axes[n:]:
        unused.remove()
    return figure, axes[:n]


def axes_or_new(ax: Axes | None, size: tuple[float, float]) -> Axes:
    """Return the axes, by default of a new figure."""
    return panels(1, 1, size, pyplot=True)[1][0] if ax is None else ax


def foreground() -> Any:
    """Return the colour of text, for lines and points that would be black on white."""
    return matplotlib().rcParams["text.color"]


def palette(n: int, ordered: bool = False) -> list[Any]:
    """Return n colours; of an order, or of too many to name, from dark to light.

    From `COLOURS` on they repeat, to be told apart by `MARKERS`.
    """
    if n <= MAX_NAMED and not ordered:
        return np.resize(COLOURS, n).tolist()
    return list(matplotlib().colormaps["viridis"](np.linspace(0, 1, n)))


def on_top(colour: Any) -> str:
    """Return black or white, whichever can be read on a colour."""
    red, green, blue = matplotlib().colors.to_rgb(colour)
    return "black" if 0.299 * red + 0.587 * green + 0.114 * blue > 0.5 else "white"


def signed_colours(values: np.ndarray) -> ScalarMappable:
    """Return the colours of signed values, from blue (against) by grey (0) to red (for)."""
    mpl = matplotlib()
    largest = float(np.abs(values).max(initial=0)) or 1.0
    shown: ScalarMappable = mpl.cm.ScalarMappable(
        mpl.colors.Normalize(-largest, largest), "coolwarm"
    )
    shown.set_array(values)
    return shown


def title(axes: Axes, text: str) -> None:
    """Write a title, in which no sign has a meaning."""
    axes.set_title(text, fontsize=10, parse_math=False)


def legend(axes: Axes, **how: Any) -> None:
    """Draw the legend."""
    axes.legend(frameon=False, fontsize=SMALL, title_fontsize=SMALL, **how)


def legend_below(axes: Axes, heading: str) -> None:
    """Name the lines below the axes, in two columns if they fit."""
    longest = max(map(len, axes.get_legend_handles_labels()[1]))
    anchor = {"loc": "upper center", "bbox_to_anchor": (0.5, -0.2)}
    legend(axes, title=heading, ncols=2 if longest < 28 else 1, **anchor)
