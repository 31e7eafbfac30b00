# SPDX-License-Identifier: BSD-3-Clause
"""Pictures of an `Explanation`: the object, coloured by what its parts add to the decision."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from d2ke._base.checks import integer
from d2ke._base.errors import ArgumentError
from d2ke._base.text import distance_text, object_text, target_text
from d2ke.distances.alignment.align import align
from d2ke.models.distance_blocks import FittedBlock
from d2ke.objects.typed import CLOCKS
from d2ke.plots.objects import (
    as_map,
    draw_cells,
    letter_cells,
    letter_texts,
    map_channels,
    on_plane,
)
from d2ke.plots.style import (
    COLOURS,
    GREY,
    SMALL,
    axes_or_new,
    foreground,
    legend_below,
    signed_colours,
    title,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes


_SERIES_SIZE = 6.75, 3.7


def picture_size(explanation: Any) -> tuple[float, float]:
    """Return the inches of the picture of an explanation."""
    if explanation.columns:
        return 6.4, 0.8 + 0.32 * (len(explanation.columns) + 1)
    base = getattr(explanation.x, "base", "")
    if base == "strings":
        lines = letter_cells(letter_texts(explanation.x[0]))[:, 1].max(initial=0) + 1
        return 6.75, 1.0 + 0.24 * float(lines)
    if base == "sets":
        return 5.2, 4.0
    if explanation.steps is not None and _track(explanation):
        return 6.2, 4.8
    return _SERIES_SIZE


def draw_explanation(explanation: Any, limit: int, channel: int | None, ax: Axes | None) -> Axes:
    """Draw into the axes, or into a new figure."""
    integer("limit", limit, 1)
    by_column = explanation.columns and channel is None
    by_part = explanation._shares is not None
    if not (by_column or by_part or explanation.steps is not None or explanation._seen):
        raise ArgumentError(
            "x", "has no series, letters or vectors to draw: print(explanation) names what adds"
        )
    drawn_as_map = explanation.steps is not None and channel is None and _track(explanation)
    own_size = by_column or by_part or drawn_as_map
    ax = axes_or_new(ax, picture_size(explanation) if own_size else _SERIES_SIZE)
    added = ""
    if by_column:
        _draw_columns(ax, explanation)
    elif by_part and explanation.x.has_letters:
        shown = draw_cells(ax, explanation.x[0], explanation.parts)
        ax.figure.colorbar(shown, ax=ax, label="adds", pad=0.01)
    elif by_part:
        _draw_vectors(ax, explanation)
    elif drawn_as_map:
        added = _draw_track(ax, explanation, limit)
    elif explanation.steps is not None:
        added = _draw_windows(ax, explanation, limit, channel)
    else:
        added = _draw_random_series(ax, explanation, limit, channel)
    title(ax, explanation.title + added)
    return ax


def _track(explanation: Any) -> tuple[int, ...]:
    """Return the channels of longitude and latitude of a track; none of another series."""
    return map_channels(getattr(explanation.x, "channel_names", None))


def _channel_text(explanation: Any, channel: int) -> str:
    """Return the name of a channel, or its number."""
    names = getattr(explanation.x, "channel_names", None)
    return f"channel {channel}" if names is None else str(names[channel])


def _own_colours(n: int) -> list[str]:
    """Return colours of windows: neither the red nor the blue of the series."""
    return np.resize((*COLOURS[2:7], COLOURS[0]), n).tolist()


def _window_text(window: Any) -> str:
    """Return what a window adds, and what it asks for."""
    item = window["object"]
    what = "slopes" if window["slope"] else "values"
    if item.normalize:
        what = f"shape{' of slopes' * window['slope']}"
    step = f", every {item.dilation} steps" * (item.dilation > 1)
    where = ""
    if window["frequency"] is not None:
        run = "a run of " * (item.kind == "longest")
        where = f", in {run}{100 * window['frequency']:.0f} % of places"
    return f"{window['share']:+.3f} {what}{step}{where}"


def _draw_track(ax: Axes, explanation: Any, limit: int) -> str:
    """Draw a track as on a map, each step in the colour of what it adds in all channels."""
    from matplotlib.collections import LineCollection

    track = explanation.series[:, _track(explanation)]
    adds = explanation.steps.sum(axis=1)
    shown = signed_colours(adds)
    windows = explanation.windows[:limit]
    for w, colour in zip(windows, _own_colours(len(windows)), strict=True):
        window = track[w["place"][0] : w["place"][-1] + 1 + w["slope"]]
        style: dict[str, Any] = {"linewidth": 8, "alpha": 0.35, "solid_capstyle": "round"}
        ax.plot(*window.T, color=colour, label=_window_text(w), **style)
    between = (track[1:] + track[:-1]) / 2
    before, after = np.vstack([track[:1], between]), np.vstack([between, track[-1:]])
    lines = list(np.stack([before, track, after], axis=1))
    ax.add_collection(LineCollection(lines, colors=shown.to_rgba(adds), linewidths=2))
    ax.plot(*track[0], marker="o", markersize=4, color=foreground(), linestyle="", label="start")
    ax.figure.colorbar(shown, ax=ax, label="what each step adds", pad=0.01)
    ax.autoscale_view()
    as_map(ax, track[:, 1])
    longitude, latitude = (_channel_text(explanation, channel) for channel in _track(explanation))
    ax.set(xlabel=longitude, ylabel=latitude)
    ax.ticklabel_format(useOffset=False)
    ax.locator_params("x", nbins=4)
    legend_below(ax, f"windows that add most to {target_text(explanation.label)}")
    return f"; windows found in it add {adds.sum():+.2f}"


def _checked_channel(channel: int, n_channels: int) -> int:
    if integer("channel", channel, 0) >= n_channels:
        raise ArgumentError("channel", f"must be below {n_channels}, got {channel}")
    return channel


def _draw_windows(ax: Axes, explanation: Any, limit: int, channel: int | None) -> str:
    """Draw a series, each step in the colour of what it adds, and the windows found in it."""
    from matplotlib.collections import LineCollection

    x, steps = explanation.series, explanation.steps
    if channel is None:
        channel = int(np.maximum(steps, 0).sum(axis=0).argmax())
    channel = _checked_channel(channel, x.shape[1])
    values, adds = x[:, channel], steps[:, channel]
    points = np.column_stack([np.arange(len(values)), values])
    # Each step is drawn from half a step before it to half a step after it.
    between = (points[1:] + points[:-1]) / 2
    before, after = np.vstack([points[:1], between]), np.vstack([between, points[-1:]])
    shown = signed_colours(adds)
    lines = list(np.stack([before, points, after], axis=1))
    ax.add_collection(LineCollection(lines, colors=shown.to_rgba(adds), linewidths=1.5))
    ax.figure.colorbar(shown, ax=ax, label="what each step adds", pad=0.01)
    ax.autoscale_view()
    windows = [w for w in explanation.windows if channel in w["object"].channels][:limit]
    for w, colour in zip(windows, _own_colours(len(windows)), strict=True):
        item, span = w["object"], w["place"]
        at = np.linspace(span[0], span[-1], len(item.values))
        curve = w["values"][:, item.channels.index(channel)]
        if w["slope"]:  # lines of one step through the series
            middle = np.interp(at + 0.5, np.arange(len(values)), values)
            ends = np.array([-0.5, 0.5, np.nan])
            at, curve = (at + 0.5)[:, None] + ends, middle[:, None] + curve[:, None] * ends
        ax.plot(
            at.ravel(), curve.ravel(), color=colour, marker=None if w["slope"] else "o",
            markersize=4, linewidth=2.5 if w["slope"] else 1.5,
            label=_window_text(w),
        )  # fmt: skip
        ax.axvspan(span[0] - 0.5, span[-1] + 0.5, color=colour, alpha=0.08, linewidth=0)
    ax.set(
        xlabel="step", ylabel="value" if x.shape[1] == 1 else _channel_text(explanation, channel)
    )
    ax.ticklabel_format(useOffset=False)
    if windows:
        legend_below(ax, f"windows that add most to {target_text(explanation.label)}")
    return f"; windows found in it add {steps.sum():+.2f}"


def _draw_random_series(ax: Axes, explanation: Any, limit: int, channel: int | None) -> str:
    """Draw a series after the views of blocks, beside the random series that add most.

    Only blocks with common views fit in one picture: the views that add most.
    """
    blocks = explanation._seen
    sums: dict[str, float] = {}
    for name, (block, _) in blocks.items():
        sums[_view(block)] = sums.get(_view(block), 0.0) + explanation.blocks[name]
    helpful = [entry for entry in explanation.omegas if entry["share"] > 0]
    helpful = [entry for entry in helpful if entry["block"] in blocks]
    views = {_view(blocks[entry["block"]][0]) for entry in helpful} or set(sums)
    view = max(views, key=sums.__getitem__)
    shown = [entry for entry in helpful if _view(blocks[entry["block"]][0]) == view][:limit]
    x = next(x for block, x in blocks.values() if _view(block) == view)
    channel = _checked_channel(channel or 0, x.shape[1])
    for entry, colour in zip(shown, np.resize(COLOURS, len(shown)), strict=True):
        block, series = blocks[entry["block"]]
        steps, values = _beside(series, entry["object"], block)
        source = entry["training_object"]
        name = f"{entry['block']}[{entry['index']}]"
        name = name if source is None else f"training object {source}"
        label = f"{entry['share']:+.3f} {name} at {distance_text(entry['distance'])}"
        ax.plot(steps, values[:, channel], color=colour, linewidth=1.2, label=label)
    name = _channel_text(explanation, channel)
    ax.plot(x[:, channel], color=foreground(), linewidth=2.2, zorder=3)
    ax.set(xlabel="step", ylabel=view if x.shape[1] == 1 else f"{name}: {view}")
    if shown:
        legend_below(ax, f"random series that add most to {target_text(explanation.label)}")
    return f"; random series like these add {sums[view]:+.2f}"


def _view(block: FittedBlock) -> str:
    """Name the views of a block."""
    names = [getattr(view, "func", view).__name__ for view in block.views]
    used = [name for name in names if name != "standardize"]
    return " of ".join(used[::-1] or ["value"]) + ", standardised" * ("standardize" in names)


def _beside(x: np.ndarray, item: np.ndarray, block: FittedBlock) -> tuple[np.ndarray, np.ndarray]:
    """Return the steps of x, and of each the mean of the vectors that the distance aligns it with.

    For distances without an alignment return the steps and vectors of the item itself.
    """
    try:
        pairs = align(x, item, str(block.distance), **block.parameters).pairs
    except (TypeError, ValueError):
        return np.arange(len(item)), item
    i, j = pairs[(pairs >= 0).all(axis=1)].T
    steps, counts = np.unique(i, return_counts=True)
    sums = np.zeros((len(x), item.shape[1]))
    np.add.at(sums, i, item[j])
    return steps, sums[steps] / counts[:, None]


def _draw_vectors(ax: Axes, explanation: Any) -> None:
    """Draw a set; vectors of more than two coordinates by their principal components."""
    x, adds = explanation.x, explanation.parts
    shown = signed_colours(adds)
    sizes = np.full(len(adds), 30.0)
    if x.weights is not None:
        sizes = 120 * x.weights / x.weights.max()
    order = np.argsort(np.abs(adds), kind="stable")  # the largest are on top
    horizontal, vertical = on_plane(x[0])[order].T
    colours = shown.to_rgba(adds[order])
    ax.scatter(horizontal, vertical, sizes[order], colours, edgecolors=GREY, linewidths=0.4)
    ax.figure.colorbar(shown, ax=ax, label="what each point adds", pad=0.01)
    if x.dim == 2:
        ax.set_aspect("equal", adjustable="datalim")
        ax.set(xlabel="x", ylabel="y")
    elif x.dim > 2:
        ax.set(xlabel="first principal component", ylabel="second principal component")


def _entry_text(entry: Any, use: str) -> str:
    """Return an entry of a record, of which dates and times are numbers."""
    if entry is None or use not in CLOCKS:
        return object_text(entry)
    return str(np.datetime64(round(entry), "D" if use == "dates" else "s")).replace("T", " ")


def _draw_columns(ax: Axes, explanation: Any) -> None:
    """Draw a bar for what each column of a record adds, and one for what all records have."""
    record, columns = explanation.x[0], explanation.x.columns
    order = sorted(explanation.columns.items(), key=lambda item: abs(item[1]))
    names = [f"{name}: {_entry_text(record[name], columns[name].use)}" for name, _ in order]
    values = np.array([explanation.offset, *(share for _, share in order)])
    colours = signed_colours(np.sign(values)).to_rgba(np.sign(values)).tolist()
    bars = ax.barh(range(len(values)), values, color=[GREY, *colours[1:]], height=0.7)
    ax.bar_label(bars, [f"{value:+.2f}" for value in values], padding=3, fontsize=SMALL)
    ax.axvline(0, color=GREY, linewidth=0.8)
    ax.set_yticks(range(len(values)), ["always", *names], fontsize=9)
    for text in ax.get_yticklabels():
        text.set_parse_math(False)
    ax.margins(x=0.15)
    ax.spines[["top", "right"]].set_visible(False)
    ax.set_xlabel(f"adds to {target_text(explanation.label)}", parse_math=False)
