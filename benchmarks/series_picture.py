# SPDX-License-Identifier: BSD-3-Clause
"""The picture of `benchmarks.series_accuracy`: accuracy against seconds."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from benchmarks.series_methods import OURS

# Two colours that colour-blind people tell apart, and grey.
_OURS, _PEERS, _PUBLISHED = "#0072b2", "#d55e00", "#777777"


class Point(NamedTuple):
    """A method: its mean accuracy, and the seconds for all sets, None if it was published."""

    name: str
    accuracy: float
    seconds: float | None
    complete: bool  # whether it has all sets


def draw(points: Sequence[Point], path: Path) -> None:
    """Draw a curve of the sizes of `d2ke_train`, points of peers, and the best published mean."""
    from matplotlib.figure import Figure
    from matplotlib.ticker import LogLocator, NullLocator

    figure = Figure(figsize=(6.4, 4), layout="constrained")
    axes = figure.subplots()
    measured = [point for point in points if point.seconds is not None]
    curve = sorted((x for x in measured if x.name.startswith(OURS)), key=lambda x: x.seconds or 0)
    axes.plot([x.seconds for x in curve], [x.accuracy for x in curve], color=_OURS, marker="o")
    for point in measured:
        ours = point in curve
        if not ours:
            axes.plot(point.seconds, point.accuracy, "s", color=_PEERS)
        axes.annotate(
            point.name.replace("`", "").removeprefix("d2ke_train, "),
            (point.seconds, point.accuracy),
            xytext=(7, -11) if ours else (7, -3),  # below a curve that rises
            textcoords="offset points",
            color=_OURS if ours else _PEERS,
        )
    best = max(
        (x for x in points if x.seconds is None and x.complete),
        key=lambda x: x.accuracy,
        default=None,
    )
    if best is not None:
        axes.axhline(best.accuracy, color=_PUBLISHED, linewidth=0.8, linestyle=":")
        axes.annotate(
            best.name, (0, best.accuracy), xycoords=("axes fraction", "data"),
            xytext=(4, 3), textcoords="offset points", color=_PUBLISHED,
        )  # fmt: skip
    axes.set_xscale("log")
    axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.xaxis.set_major_formatter("{x:g}")
    axes.xaxis.set_minor_locator(NullLocator())
    axes.margins(0.15)
    axes.set_xlabel("seconds of one core, training and prediction of all sets")
    axes.set_ylabel("mean accuracy, %")
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, dpi=150)
