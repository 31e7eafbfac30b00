# SPDX-License-Identifier: BSD-3-Clause
"""The pictures of windows and of parts of objects on the page of `d2ke train --report`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from d2ke.cli.map_picture import saved
from d2ke.cli.report import label_text
from d2ke.explain.discriminative import DiscriminativeObject, of_columns, source_of, steps_of
from d2ke.explain.explanation import Explanation
from d2ke.explain.window_pictures import draw_source
from d2ke.models.blocks import take
from d2ke.models.model import D2KEModel
from d2ke.models.window_places import keeps_steps

_DRAWN = 5
_LONGEST = 600  # letters or points of a picture


def has_small_parts(reasons: Sequence[Explanation]) -> bool:
    """Return whether explanations have parts that can be seen in a picture."""
    return all(
        why.columns or (why.x.kind in ("strings", "sets") and why.x.lengths[0] <= _LONGEST)
        for why in reasons
    )


def below_each_other(
    reasons: Sequence[Explanation], names: Sequence[str], sizes: Sequence[tuple[float, float]]
) -> bytes:
    """Draw explanations, one below the other: windows, or what parts add."""
    from matplotlib.figure import Figure

    widths, heights = zip(*sizes, strict=True)
    figure = Figure(figsize=(max(widths), sum(heights)), layout="constrained")
    rows = figure.subplots(len(reasons), 1, squeeze=False, height_ratios=heights)[:, 0]
    for why, name, axes in zip(reasons, names, rows, strict=True):
        why.plot(limit=len(why.windows) or 1, ax=axes)
        axes.set_title(f"{name}: {axes.get_title()}", fontsize=10)
    return saved(figure, "png", dpi=110)


def discriminative_windows(model: D2KEModel) -> list[DiscriminativeObject]:
    """Return at most five windows of known series, those that speak most for their classes."""
    if model.inputs:  # training objects are entries of a column
        return []
    known = np.concatenate(
        [
            [keeps_steps(block) and source_of(block, i) is not None for i in range(block.R)]
            for block in model.blocks
        ]
    )
    if not known.any():
        return []
    found = of_columns(model, _DRAWN, known)
    labels = [one.label for one in found]
    ranks = [labels[:i].count(label) for i, label in enumerate(labels)]
    order = sorted(range(len(found)), key=lambda i: (ranks[i], -abs(found[i].adds)))
    return [found[i] for i in sorted(order[:_DRAWN])]


def telling_picture(
    model: D2KEModel, found: Sequence[DiscriminativeObject], objects: Any, labels: np.ndarray
) -> bytes:
    """Draw the training series that windows were cut from, side by side."""
    from matplotlib.figure import Figure

    blocks = {block.name: block for block in model.blocks if keeps_steps(block)}
    figure = Figure(figsize=(2.4 * len(found), 2.2), layout="constrained")
    for one, axes in zip(found, figure.subplots(1, len(found), squeeze=False)[0], strict=True):
        source = one.training_object
        x = take(objects, np.array([source]))
        steps = steps_of(blocks[one.block], one.object, x)
        name = "predicts more" if one.adds > 0 else "predicts less"
        name = name if one.label is None else f"for {label_text(one.label)}"
        title = f"{name}: {one.block}\nobject {source} ({label_text(labels[source])})"
        draw_source(axes, np.asarray(x[0]), one.object, steps, title)
    return saved(figure, "png", dpi=110)
