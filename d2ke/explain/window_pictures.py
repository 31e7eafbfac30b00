# SPDX-License-Identifier: BSD-3-Clause
"""Pictures of the windows of a model in a series; the picture of an `Explanation`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from d2ke._base.checks import integer
from d2ke._base.errors import ArgumentError
from d2ke._base.pictures import COLOURS, GREY, SIGNED, legend_below, matplotlib
from d2ke._base.text import target_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LINES = (*COLOURS[2:7], COLOURS[0])  # of windows: neither the red nor the blue of the series


def draw(explanation: Any, limit: int, channel: int | None, ax: Axes | None) -> Axes:
    """Draw into the axes, or into those of a new figure."""
    pyplot = matplotlib().pyplot
    from matplotlib.collections import LineCollection

    x, steps = explanation.series, explanation.steps
    if channel is None:
        channel = int(np.maximum(steps, 0).sum(axis=0).argmax())
    elif integer("channel", channel, 0) >= x.shape[1]:
        raise ArgumentError("channel", f"must be below {x.shape[1]}, got {channel}")
    if ax is None:
        _, ax = pyplot.subplots(figsize=(7, 3.4), layout="constrained")
    values, adds = x[:, channel], steps[:, channel]
    largest = max(float(np.abs(adds).max()), np.finfo(float).tiny)
    points = np.column_stack([np.arange(len(values)), values])
    # Each step is drawn from half a step before it to half a step after it.
    between = (points[1:] + points[:-1]) / 2
    halves = np.concatenate([points[:1], *zip(between, between, strict=True), points[-1:]])
    lines = [[a, point, b] for a, point, b in zip(halves[::2], points, halves[1::2], strict=True)]
    line = LineCollection(lines, cmap=SIGNED, linewidths=1.5)
    line.set_array(adds)
    line.set_clim(-largest, largest)
    ax.add_collection(line)
    ax.figure.colorbar(line, ax=ax, label="what each step adds", pad=0.01)
    ax.autoscale_view()
    shown = [w for w in explanation.windows if channel in w["object"].channels][:limit]
    for number, w in enumerate(shown):
        item, colour = w["object"], _LINES[number % len(_LINES)]
        kind = ", in a run of" if item.kind == "longest" else ", in"
        kind = "" if w["frequency"] is None else f"{kind} {100 * w['frequency']:.0f} % of places"
        step = f" every {item.dilation} steps" * (item.dilation > 1)
        what = "slopes" if w["slope"] else "values"
        if item.normalize:
            what = f"shape{' of slopes' * w['slope']}"
        place = w["place"]
        at = np.linspace(place[0], place[-1], len(item.values))
        curve = w["values"][:, item.channels.index(channel)]
        if w["slope"]:  # lines of one step through the series
            middle = np.interp(at + 0.5, np.arange(len(values)), values)
            ends = np.array([-0.5, 0.5, np.nan])
            at, curve = (at + 0.5)[:, None] + ends, middle[:, None] + curve[:, None] * ends
        ax.plot(
            at.ravel(), curve.ravel(), color=colour, marker=None if w["slope"] else "o",
            markersize=4, linewidth=2.5 if w["slope"] else 1.5,
            label=f"{w['share']:+.3f} {what}{step}{kind}",
        )  # fmt: skip
        ax.axvspan(place[0] - 0.5, place[-1] + 0.5, color=colour, alpha=0.08, linewidth=0)
    title = f"{explanation.title}; windows found in it add {steps.sum():+.2f}"
    ax.set_title(title, fontsize=10)
    ax.set(xlabel="step", ylabel="value" if x.shape[1] == 1 else f"channel {channel}")
    if shown:
        legend_below(ax, f"windows that add most to {target_text(explanation.label)}")
    return ax


def draw_source(axes: Axes, x: np.ndarray, window: Any, steps: range, title: str) -> None:
    """Draw a training series, and on it the values that a window was cut from."""
    series, places = x[:, window.channels[0]], np.array(steps)
    axes.plot(series, color=GREY, linewidth=1)
    axes.plot(places, series[places], color=COLOURS[0], marker="o", markersize=3, linewidth=1.5)
    axes.set_title(title, fontsize=8)
    axes.tick_params(labelsize=7)
    axes.set_xlabel("step", fontsize=7)
    if x.shape[1] > 1:
        axes.set_ylabel(f"channel {window.channels[0]}", fontsize=7)
