# SPDX-License-Identifier: BSD-3-Clause
"""Pictures of a series beside random series: the picture of an `Explanation` without windows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from d2ke._base.checks import integer
from d2ke._base.errors import ArgumentError
from d2ke._base.pictures import COLOURS, foreground, legend_below, matplotlib
from d2ke._base.text import distance_text, target_text
from d2ke.distances.alignment.align import align
from d2ke.models.distance_blocks import FittedBlock

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def draw(
    explanation: Any,
    blocks: Mapping[str, tuple[FittedBlock, np.ndarray]],
    limit: int,
    channel: int | None,
    ax: Axes | None,
) -> Axes:
    """Draw into the axes, or into those of a new figure; `blocks` has x as each block sees it.

    Only blocks with the same views can be drawn together: those that add most.
    """
    pyplot = matplotlib().pyplot
    sums: dict[str, float] = {}
    for name, (block, _) in blocks.items():
        sums[_view(block)] = sums.get(_view(block), 0.0) + explanation.blocks[name]
    helpful = [entry for entry in explanation.omegas if entry["share"] > 0]
    helpful = [entry for entry in helpful if entry["block"] in blocks]
    views = {_view(blocks[entry["block"]][0]) for entry in helpful} or set(sums)
    view = max(views, key=sums.__getitem__)
    shown = [entry for entry in helpful if _view(blocks[entry["block"]][0]) == view][:limit]
    x = next(x for block, x in blocks.values() if _view(block) == view)
    if channel is None:
        channel = 0
    elif integer("channel", channel, 0) >= x.shape[1]:
        raise ArgumentError("channel", f"must be below {x.shape[1]}, got {channel}")
    if ax is None:
        _, ax = pyplot.subplots(figsize=(7, 3.4), layout="constrained")
    for entry, colour in zip(shown, np.resize(COLOURS, len(shown)), strict=True):
        block, series = blocks[entry["block"]]
        steps, values = _beside(series, entry["object"], block)
        source = entry["training_object"]
        name = f"{entry['block']}[{entry['index']}]"
        name = name if source is None else f"training object {source}"
        ax.plot(
            steps, values[:, channel], color=colour, linewidth=1.2,
            label=f"{entry['share']:+.3f} {name} at {distance_text(entry['distance'])}",
        )  # fmt: skip
    ax.plot(x[:, channel], color=foreground(), linewidth=2.2, zorder=3)
    ax.set_title(
        f"{explanation.title}; random series like these add {sums[view]:+.2f}", fontsize=10,
        parse_math=False,
    )  # fmt: skip
    ax.set(xlabel="step", ylabel=view if x.shape[1] == 1 else f"channel {channel}: {view}")
    if shown:
        legend_below(ax, f"random series that add most to {target_text(explanation.label)}")
    return ax


def _view(block: FittedBlock) -> str:
    """Return what a block sees of a series."""
    names = [getattr(view, "func", view).__name__ for view in block.views]
    others = [name for name in names if name != "standardize"]
    return " of ".join(others[::-1] or ["value"]) + ", standardised" * ("standardize" in names)


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
