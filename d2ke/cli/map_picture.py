# SPDX-License-Identifier: BSD-3-Clause
"""Pictures in files: maps of objects, coloured by cluster or class, and pictures of a page."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from d2ke._base.files import write_file
from d2ke.explain.pictures import Panel, draw_panels, with_legend


def matched(labels: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """Match clusters to classes for the best agreement; other clusters get further numbers."""
    from scipy.optimize import linear_sum_assignment  # slow to import

    n_clusters, n_classes = labels.max() + 1, codes.max() + 1
    counts = np.zeros((n_clusters, n_classes), np.int64)
    np.add.at(counts, (labels, codes), 1)
    rows, columns = linear_sum_assignment(counts, maximize=True)
    colours = np.full(n_clusters, -1)
    colours[rows] = columns
    left = colours < 0
    colours[left] = n_classes + np.arange(left.sum())
    return colours


def draw(file: Path, title: str, places: np.ndarray, panels: Sequence[Panel]) -> None:
    """Draw the panels side by side."""
    from matplotlib.figure import Figure

    width = 5.2 if with_legend(panels) else 4.4
    figure = Figure(figsize=(width * len(panels), 4.2), layout="constrained")
    draw_panels(np.atleast_1d(figure.subplots(1, len(panels))).tolist(), places, panels)
    figure.suptitle(title)
    write_figure(file, figure)


def write_figure(file: Path, figure: Any) -> None:
    """Write a picture whole or not at all."""
    write_file(file, saved(figure, file.suffix[1:]))


def picture(size: tuple[float, float], draw_into: Callable[..., None], *arguments: Any) -> bytes:
    """Return the PNG picture that ``draw_into(axes, *arguments)`` draws, of a size in inches."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=size, layout="constrained")
    draw_into(figure.subplots(), *arguments)
    return saved(figure, "png")


def saved(figure: Any, form: str, dpi: int = 150) -> bytes:
    """Return the file of a picture."""
    content = io.BytesIO()
    figure.savefig(content, format=form, dpi=dpi)
    return content.getvalue()
