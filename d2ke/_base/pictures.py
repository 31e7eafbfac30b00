# SPDX-License-Identifier: BSD-3-Clause
"""The colours of all pictures, and what they need of matplotlib.

Text, lines of axes and backgrounds are those of matplotlib's settings, so that a picture fits a
style such as "dark_background". The other colours can be seen on light and dark backgrounds, and
told apart with any kind of colour blindness.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from d2ke._base.progress import in_notebook

# Okabe and Ito's colours without black, and six that are far from these and from grey for normal,
# red-blind, green-blind and blue-blind eyes (at least 16 in CIELAB: tests/base/test_palette.py).
COLOURS = (
    "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#8800EE", "#DD0044",
    "#884477", "#8866EE", "#DDBB77", "#BBCCDD",
)  # fmt: skip
GREY = "#A0A0A0"  # beside the colours: what is not named, and lines of reference
SIGNED = "coolwarm"  # from blue (against) by grey to red (for)


def matplotlib() -> Any:
    """Return matplotlib, or say how to install it."""
    try:
        pyplot = import_module("matplotlib.pyplot")
    except ImportError:
        raise ImportError(
            'the picture is drawn with matplotlib: pip install "d2ke[demo]"'
        ) from None
    if in_notebook():
        pyplot.draw_if_interactive()  # loads the backend, or a Figure would be shown as its repr
    return import_module("matplotlib")


def foreground() -> Any:
    """Return the colour of text, for lines and points that would be black on white."""
    return matplotlib().rcParams["text.color"]


def on_top(colour: Any) -> str:
    """Return black or white, whichever can be read on a colour."""
    red, green, blue = matplotlib().colors.to_rgb(colour)
    return "black" if 0.299 * red + 0.587 * green + 0.114 * blue > 0.5 else "white"


def legend_below(axes: Any, title: str) -> None:
    """Name the lines in two columns below the axes."""
    axes.legend(
        fontsize=8, title=title, title_fontsize=8, frameon=False, ncols=2, loc="upper center",
        bbox_to_anchor=(0.5, -0.2),
    )  # fmt: skip
