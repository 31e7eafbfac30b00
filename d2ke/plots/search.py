# SPDX-License-Identifier: BSD-3-Clause
"""Pictures of a `Search`: the best accuracy reached with each value of each parameter."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from d2ke._base.files import lists_to_tuples
from d2ke._base.text import shown
from d2ke.plots.style import COLOURS, panels

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def plot_search(search: Any) -> Figure:
    """Draw a panel for each parameter that has more than one value."""
    reached: dict[str, dict[Any, float]] = {}
    for name in search.parameters:
        best = reached[name] = {}
        for values, accuracy in search.tried:
            value = lists_to_tuples(values[name])
            best[value] = max(accuracy, best.get(value, accuracy))
    reached = {name: best for name, best in reached.items() if len(best) > 1}
    count = max(1, len(reached))
    figure, row = panels(count, count, (3.6, 3.2), sharey=True)
    row[0].set_ylabel("accuracy in cross-validation, %")
    for axes, (name, best) in zip(row, reached.items(), strict=False):
        values = list(best)
        numbers = all(isinstance(value, (int, float)) for value in values)
        if numbers:
            values.sort()
        x = values if numbers else range(len(values))
        axes.plot(x, [best[value] for value in values], marker="o", color=COLOURS[0])
        if numbers and values[0] > 0 and values[-1] > 10 * values[0]:
            axes.set_xscale("log")
        if not numbers:
            axes.set_xticks(list(x), [shown(value) for value in values])
        axes.set_xlabel(name)
        axes.grid(alpha=0.3)
    return figure
