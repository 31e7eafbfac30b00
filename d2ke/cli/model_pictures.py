# SPDX-License-Identifier: BSD-3-Clause
"""Pictures of a trained model: map of its objects, confusion, accuracy against R, true values."""

from __future__ import annotations

import io
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from d2ke.cli.map_picture import Panel, coordinates, picture
from d2ke.embedding.scaling import Scaling
from d2ke.learners.linear_model import one_vs_rest_signs, winners
from d2ke.learners.ridge import decompose
from d2ke.models.model import D2KEModel

_GROUPS = 5  # of the targets of a regression
_MAX_NUMBERS = 15  # classes with numbers in the picture
_MAX_POINTS = 5000
_PARTS = (32, 16, 8, 4, 2)


def map_picture(Z: np.ndarray, labels: np.ndarray) -> bytes:
    """Draw the first two principal components of features, coloured by label."""
    if len(Z) > _MAX_POINTS:
        some = np.random.default_rng(0).choice(len(Z), _MAX_POINTS, replace=False)
        Z, labels = Z[some], labels[some]
    ordered = labels.dtype.kind == "f"
    if ordered:
        edges = np.unique(np.quantile(labels, np.linspace(0, 1, _GROUPS + 1)))
        codes = np.clip(np.searchsorted(edges, labels, side="right") - 1, 0, len(edges) - 2)
        names = [f"{a:.3g} to {b:.3g}" for a, b in pairwise(edges)]
    else:
        classes, codes = np.unique(labels, return_inverse=True)
        names = [str(name) for name in classes]
    places = coordinates(None, Z.astype(np.float64))
    return picture("", places, [Panel("training objects", codes, names, ordered=ordered)])


def confusion_picture(names: Sequence[str], counts: np.ndarray) -> bytes:
    """Draw a confusion matrix, each row in shares of its class."""
    from matplotlib.figure import Figure

    k = len(names)
    size = float(np.clip(0.45 * k + 1.8, 3.5, 10))
    figure = Figure(figsize=(size, size), layout="constrained")
    axes = figure.subplots()
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    axes.imshow(shares, cmap="Blues", vmin=0, vmax=1)
    if k <= 60:
        long = max(map(len, names)) > 4
        axes.set_xticks(range(k), names, rotation=90 if long else 0, fontsize=8)
        axes.set_yticks(range(k), names, fontsize=8)
    if k <= _MAX_NUMBERS:
        for i, j in zip(*np.nonzero(counts), strict=True):
            colour = "white" if shares[i, j] > 0.5 else "black"
            axes.text(j, i, counts[i, j], ha="center", va="center", color=colour, fontsize=8)
    axes.set(xlabel="predicted", ylabel="true")
    return _png(figure)


def accuracy_by_R(
    Z: np.ndarray, labels: np.ndarray, model: D2KEModel, n_threads: int | None
) -> list[tuple[int, float]]:
    """Return R and the cross-validated percent (of a regression 100 R^2) of parts of each block."""
    if model.classes is None:
        signs = labels.astype(np.float64)[:, None]
    else:
        codes = np.searchsorted(model.classes, labels)
        signs = one_vs_rest_signs(codes, len(model.classes))
    starts = np.cumsum([0, *(block.R for block in model.blocks)])
    result = []
    for part in _PARTS:
        some = np.concatenate(
            [np.arange(start, start + block.R // part)
             for start, block in zip(starts[:-1], model.blocks, strict=True)]
        )  # fmt: skip
        if len(some) < 4:
            continue
        own = np.ascontiguousarray(Z[:, some])
        unit = Scaling.fit(own).sd * np.sqrt(len(some))
        ridge, P = decompose(own, signs, unit, n_threads)
        left_out = ridge.left_out(P, signs, [model.C])[:, 0]
        if model.classes is None:
            value = 1 - np.mean((left_out - signs) ** 2) / np.var(signs)
        else:
            value = np.mean(winners(np.round(left_out, 9)) == codes)
        result.append((len(some), 100 * float(value)))
    return [*result, (model.R, model.accuracy)]


def curve_picture(points: Sequence[tuple[int, float]], floor: float) -> bytes:
    """Draw accuracy against R, and the share of the largest class."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(5.5, 3.6), layout="constrained")
    axes = figure.subplots()
    axes.plot(*zip(*points, strict=True), marker="o", color="#0072B2")
    if np.isfinite(floor):
        axes.axhline(floor, color="#999999", linestyle=":", label="largest class")
        axes.legend(frameon=False, fontsize=8)
    axes.set_xscale("log", base=2)
    axes.set_xticks([R for R, _ in points], [str(R) for R, _ in points])
    axes.minorticks_off()
    axes.set(
        xlabel="R, random objects of all blocks",
        ylabel="cross-validated accuracy (%)" if np.isfinite(floor) else "100 R^2",
    )
    return _png(figure)


def values_picture(true: np.ndarray, predicted: np.ndarray) -> bytes:
    """Draw predicted values of a regression against the true ones."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(4.5, 4.2), layout="constrained")
    axes = figure.subplots()
    ends = [min(true.min(), predicted.min()), max(true.max(), predicted.max())]
    axes.plot(ends, ends, color="#999999", linestyle=":", label="equal")
    size = float(np.clip(15000 / len(true), 4, 30))
    axes.scatter(true, predicted, s=size, c="#0072B2", linewidths=0, alpha=0.6)
    axes.legend(frameon=False, fontsize=8)
    axes.set(xlabel="true value", ylabel="predicted value")
    return _png(figure)


def _png(figure: Any) -> bytes:
    content = io.BytesIO()
    figure.savefig(content, format="png", dpi=150)
    return content.getvalue()
