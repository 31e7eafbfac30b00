# SPDX-License-Identifier: BSD-3-Clause
"""One figure per data set: accuracy against R, the kernel's error, accuracy against time."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from papers.paper import METHOD_NAMES

# Okabe and Ito's colours, which are distinct with any kind of colour blindness; dashes and markers
# are for print.
STYLES = {
    "d2ke_views": {"color": "#56B4E9", "marker": "*", "linestyle": "-"},
    "d2ke": {"color": "#0072B2", "marker": "o", "linestyle": "-"},
    "rsm": {"color": "#D55E00", "marker": "s", "linestyle": "-"},
    "knn": {"color": "#009E73", "marker": "^", "linestyle": "--"},
    "dsk_rbf": {"color": "#CC79A7", "marker": "D", "linestyle": "-."},
    "dsk_nd": {"color": "#E69F00", "marker": "v", "linestyle": ":"},
    "gdk_led": {"color": "#000000", "marker": "P", "linestyle": (0, (5, 1, 1, 1, 1, 1))},
}
_WIDTH = 5.0  # inches of a panel


def figure(
    title: str, records: Sequence[Mapping[str, Any]], kernel: Mapping[str, Any] | None
) -> bytes:
    """Draw the figure of one data set.

    Parameters
    ----------
    title : str
        Above the panels.
    records : sequence of mapping
        The data set's records, see `papers.records.make_record`.
    kernel : mapping or None
        From `papers.approximation.kernel_errors`; None leaves the panel out.

    Returns
    -------
    bytes
        A PNG file.
    """
    from matplotlib.figure import Figure

    panels = [_accuracy_by_R, _accuracy_by_seconds]
    if kernel is not None:
        panels.insert(1, lambda axes, _: _kernel_errors(axes, kernel))
    picture = Figure(figsize=(_WIDTH * len(panels), 4.2), layout="constrained")
    for axes, panel in zip(picture.subplots(1, len(panels)), panels, strict=True):
        panel(axes, records)
        axes.grid(alpha=0.3)
        if axes.get_legend_handles_labels()[0]:
            axes.legend(fontsize=8)
    picture.suptitle(title)
    content = io.BytesIO()
    picture.savefig(content, format="png", dpi=110)
    return content.getvalue()


def _curve(record: Mapping[str, Any], field: str) -> tuple[list[int], np.ndarray]:
    """Return the values of R and, for each, those of the divisions."""
    curve = {int(R): values for R, values in record[field].items()}
    return sorted(curve), np.array([curve[R] for R in sorted(curve)])


def _bars(axes: Any, places: Any, values: np.ndarray, **style: Any) -> None:
    """Draw means of rows, with bars of a standard deviation."""
    spread = values.std(axis=1, ddof=1) if values.shape[1] > 1 else np.zeros(len(values))
    axes.errorbar(places, values.mean(axis=1), spread, capsize=2, **style)


def _accuracy_by_R(axes: Any, records: Sequence[Mapping[str, Any]]) -> None:
    for record in records:
        style, name = STYLES[record["method"]], METHOD_NAMES[record["method"]]
        sizes, values = _curve(record, "by_R")
        if sizes:
            _bars(axes, sizes, values, label=name, **style)
        else:
            line = {key: style[key] for key in ("color", "linestyle")}
            axes.axhline(record["accuracy_mean"], label=name, **line)
    axes.set_xscale("log", base=2)
    axes.set(xlabel="R, random objects or representatives", ylabel="test accuracy, %")
    axes.set_title("accuracy against R", fontsize=10)


def _kernel_errors(axes: Any, kernel: Mapping[str, Any]) -> None:
    R = np.array(kernel["R"])
    for key, name, colour, marker in (
        ("max", "largest of all pairs", "#D55E00", "s"),
        ("rms", "root mean square", "#0072B2", "o"),
    ):
        means, spread = np.array(kernel[key]), np.array(kernel[f"{key}_sd"])
        # On a logarithmic axis a bar must not reach 0.
        low = np.minimum(spread, 0.9 * means)
        axes.errorbar(R, means, [low, spread], label=name, color=colour, marker=marker, capsize=2)
    # Theory predicts the root mean square; the largest error is parallel to it.
    label = "root mean square expected, falling as $1/\\sqrt{R}$"
    axes.plot(R, kernel["expected"], color="0.3", linestyle="--", linewidth=1, label=label)
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set(xlabel="R, random objects", ylabel="error of the approximate kernel")
    axes.set_title(
        f"kernel of R against that of {kernel['n_reference']}, {kernel['n_objects']} objects",
        fontsize=10,
    )


def _accuracy_by_seconds(axes: Any, records: Sequence[Mapping[str, Any]]) -> None:
    for record in records:
        style, name = STYLES[record["method"]], METHOD_NAMES[record["method"]]
        sizes, seconds = _curve(record, "seconds_by_R")
        if sizes:
            accuracies = np.array([record["by_R"][R] for R in sizes])
            _bars(axes, seconds.mean(axis=1), accuracies, label=name, **style)
        else:
            time = record["seconds"] - record["seconds_by_stage"].get("search", 0.0)
            point = [max(time, 1e-3)], [record["accuracy_mean"]], [record["accuracy_sd"]]
            axes.errorbar(*point, label=name, capsize=2, **style | {"linestyle": "none"})
    axes.set_xscale("log")
    axes.set(xlabel="seconds of a division, without the search", ylabel="test accuracy, %")
    axes.set_title("accuracy against time", fontsize=10)
