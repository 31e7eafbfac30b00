# SPDX-License-Identifier: BSD-3-Clause
"""Pictures of a trained model and of objects in two dimensions, drawn with matplotlib."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse.linalg import LinearOperator, eigsh

from d2ke._base.blas import one_blas_thread
from d2ke._base.errors import ArgumentError
from d2ke._base.labels import check_order
from d2ke._base.pictures import COLOURS, GREY, foreground, matplotlib, on_top
from d2ke.learners.ridge import decompose
from d2ke.models.blocks import sample_rows, take
from d2ke.models.calibration import Calibration
from d2ke.models.labels import Labels
from d2ke.models.left_out import LeftOutScores
from d2ke.models.own_columns import OwnColumns

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_GROUPS = 5  # of the targets of a regression
_MAX_NUMBERS = 15  # classes with numbers in the picture
_MAX_POINTS = 5000
_PARTS = (32, 16, 8, 4, 2)
_ABREAST = 3  # pictures of a row: more could not be read in a notebook


@dataclass(frozen=True, eq=False)
class Panel:
    """One colouring of the map.

    Attributes
    ----------
    title : str
        Above the panel.
    codes : ndarray of int, shape (n,)
        Each object's group, -1 for none.
    names : sequence of str
        Of the groups.
    colours : ndarray of int, optional
        The number of each group's colour; by default its own number.
    marked : ndarray of bool, shape (n,), optional
        Objects to draw as stars.
    ordered : bool
        Whether the groups have an order, which the colours show.
    """

    title: str
    codes: np.ndarray
    names: Sequence[str]
    colours: np.ndarray | None = None
    marked: np.ndarray | None = None
    ordered: bool = False


def plot_model(model: Any, X: Any, y: Any, n_threads: int | None) -> tuple[Axes, ...]:
    """Draw the pictures of `D2KEModel.plot`."""
    pyplot = matplotlib().pyplot
    if X is None and y is not None:
        raise ArgumentError("X", "is needed with y: the training objects and their labels")
    if X is not None:
        check_order(X, y=y)
        objects = model.check_objects(X)
        labels = model.task.truth(y, len(objects))
        if len(objects) != model.n_train:
            raise ArgumentError("X", f"must be the {model.n_train} training objects")
        model.task.encode(labels, len(labels))  # refuses new classes
        rows = sample_rows(len(labels), 0)
        Z, labels = model.features(take(objects, rows), n_threads, rows), labels[rows]
    pictures: list[tuple[Any, ...]] = []
    if model.confusion is not None:
        names = [str(name) for name in model.classes]
        pictures.append((draw_confusion, names, model.confusion))
    pictures += [(draw, model.calibration) for draw in left_out_pictures(model)]
    if X is not None:
        points = accuracy_by_R(Z, labels, rows, model, n_threads)
        pictures.insert(0, (draw_map, Z[:, model.unsupervised], labels))
        pictures.append((draw_curve, points, model.largest_class))
    count = len(pictures)
    n_rows = -(-count // _ABREAST)
    n_columns = -(-count // n_rows)
    figure = pyplot.figure(figsize=(5.2 * n_columns, 4.2 * n_rows), layout="constrained")
    axes = tuple(figure.add_subplot(n_rows, n_columns, i + 1) for i in range(count))
    for axis, (draw, *content) in zip(axes, pictures, strict=True):
        draw(axis, *content)
    return axes


def coordinates(K: np.ndarray | None, features: np.ndarray | None) -> np.ndarray:
    """Return the first two kernel principal components, shape (n, 2).

    Similarities are scaled to 1 on the diagonal, where it is positive, and then centred, which
    removes a part that all objects share.
    """
    if K is None:
        assert features is not None  # there is one of both
        diagonal = np.einsum("ij,ij->i", features, features)
    else:
        diagonal = K.diagonal()
    n = len(diagonal)
    scale = 1 / np.sqrt(np.where(diagonal > 0, diagonal, 1.0))

    def product(V: np.ndarray) -> np.ndarray:
        V = V.reshape(n, -1)
        V = scale[:, None] * (V - V.mean(axis=0))
        V = K @ V if features is None else features @ (features.T @ V)
        V = scale[:, None] * V
        return V - V.mean(axis=0)

    if n <= 3:  # too few for an iteration
        values, vectors = np.linalg.eigh(product(np.eye(n)))
    else:
        operator = LinearOperator((n, n), product, dtype=np.float64)
        start = np.random.default_rng(0).normal(size=n)
        if np.abs(product(start)).max() <= n * np.finfo(np.float64).eps:
            return np.zeros((n, 2))  # all objects are equal
        with one_blas_thread():
            values, vectors = eigsh(operator, 2, which="LA", v0=start)
    largest = np.argsort(values)[::-1][:2]
    places = vectors[:, largest] * np.sqrt(np.maximum(values[largest], 0.0))
    # The signs are arbitrary; these are the same on every machine.
    return places * np.where(places[np.abs(places).argmax(axis=0), [0, 1]] < 0, -1.0, 1.0)


def draw_panels(row: Sequence[Axes], places: np.ndarray, panels: Sequence[Panel]) -> None:
    """Draw the panels into axes side by side."""
    legend = with_legend(panels)
    size = float(np.clip(15000 / len(places), 6, 40))
    n_colours = max(1 + _places(panel).max(initial=0) for panel in panels)
    for axes, panel in zip(row, panels, strict=True):
        colours = [_colour(place, n_colours, panel.ordered) for place in _places(panel)]
        _scatter(axes, places, panel, colours, size)
        axes.set_title(panel.title, fontsize=10)
        axes.set_aspect("equal", adjustable="datalim")
        axes.set(xticks=[], yticks=[], xlabel="first component", ylabel="second component")
        if legend:
            axes.legend(
                fontsize=8, loc="center left", bbox_to_anchor=(1, 0.5), frameon=False,
                markerscale=float(np.sqrt(36 / size)),
            )  # fmt: skip


def with_legend(panels: Sequence[Panel]) -> bool:
    """Return whether there are few enough groups to name them."""
    return max(len(panel.names) for panel in panels) <= len(COLOURS)


def _places(panel: Panel) -> np.ndarray:
    return np.arange(len(panel.names)) if panel.colours is None else panel.colours


def _colour(place: int, n_colours: int, ordered: bool) -> Any:
    if n_colours <= len(COLOURS) and not ordered:
        return COLOURS[place]
    from matplotlib import colormaps

    return colormaps["viridis"](place / max(1, n_colours - 1))


def _scatter(
    axes: Axes, places: np.ndarray, panel: Panel, colours: Sequence[Any], size: float
) -> None:
    """Draw the objects in random order, so that no group hides another."""
    order = np.random.default_rng(0).permutation(len(places))
    shown = np.array([*colours, GREY], dtype=object)[panel.codes[order]]
    x, y = places.T
    axes.scatter(x[order], y[order], s=size, c=list(shown), linewidths=0, alpha=0.8, zorder=2)
    for code, (name, colour) in enumerate(zip(panel.names, colours, strict=True)):
        count = int((panel.codes == code).sum())
        axes.scatter([], [], s=size, c=[colour], linewidths=0, label=f"{name} ({count})")
    if (panel.codes < 0).any():
        count = int((panel.codes < 0).sum())
        axes.scatter([], [], s=size, c=GREY, linewidths=0, label=f"none ({count})")
    if panel.marked is not None:
        stars = np.flatnonzero(panel.marked)
        axes.scatter(
            x[stars],
            y[stars],
            s=float(np.clip(4000 / max(1, len(stars)), 40, 110)),
            marker="*",
            c=[colours[code] for code in panel.codes[stars]],
            edgecolors=foreground(),
            linewidths=0.8,
            zorder=3,
        )


def draw_map(axes: Axes, Z: np.ndarray, labels: np.ndarray) -> None:
    """Draw the first two principal components of features, coloured by label."""
    if len(Z) > _MAX_POINTS:
        rows = np.random.default_rng(0).choice(len(Z), _MAX_POINTS, replace=False)
        Z, labels = Z[rows], labels[rows]
    ordered = labels.dtype.kind == "f"
    if ordered:
        edges = np.unique(np.quantile(labels, np.linspace(0, 1, _GROUPS + 1)))
        codes = np.clip(np.searchsorted(edges, labels, side="right") - 1, 0, len(edges) - 2)
        names = [f"{a:.3g} to {b:.3g}" for a, b in pairwise(edges)]
    else:
        classes, codes = np.unique(labels, return_inverse=True)
        names = [str(name) for name in classes]
    places = coordinates(None, Z.astype(np.float64))
    draw_panels([axes], places, [Panel("training objects", codes, names, ordered=ordered)])


def confusion_size(k: int) -> tuple[float, float]:
    """Return the inches of the picture of k classes."""
    size = float(np.clip(0.45 * k + 1.8, 3.5, 10))
    return size, size


def draw_confusion(axes: Axes, names: Sequence[str], counts: np.ndarray) -> None:
    """Draw a confusion matrix, each row in shares of its class."""
    k = len(names)
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    shown = axes.imshow(shares, cmap="Blues", vmin=0, vmax=1)
    if k <= 60:
        long = max(map(len, names)) > 4
        axes.set_xticks(range(k), names, rotation=90 if long else 0, fontsize=8)
        axes.set_yticks(range(k), names, fontsize=8)
    if k <= _MAX_NUMBERS:
        for i, j in zip(*np.nonzero(counts), strict=True):
            colour = on_top(shown.to_rgba(shares[i, j]))
            axes.text(j, i, counts[i, j], ha="center", va="center", color=colour, fontsize=8)
    axes.set(xlabel="predicted", ylabel="true")


def accuracy_by_R(
    Z: np.ndarray, labels: np.ndarray, rows: np.ndarray, model: Any, n_threads: int | None
) -> list[tuple[int, float]]:
    """Return R and the cross-validated accuracy in percent, or R^2, of parts of each block."""
    task = model.task
    coded, copies = Labels(task, task.encode(labels, len(labels))), model.near_copies
    if copies is not None and copies.decide and np.array_equal(copies.rows, rows):
        coded = replace(coded, groups=copies.groups)
    starts = np.cumsum([0, *(block.R for block in model.blocks)])
    own_columns, result = OwnColumns.of(model.blocks).within(rows), []
    for divisor in _PARTS:
        chosen = np.concatenate(
            [np.arange(start, start + block.R // divisor)
             for start, block in zip(starts[:-1], model.blocks, strict=True)]
        )  # fmt: skip
        if len(chosen) < 4:
            continue
        features = np.ascontiguousarray(Z[:, chosen])
        unit = np.full(len(chosen), np.sqrt(len(chosen) / model.R))  # weights of the features stay
        ridge, P = decompose(features, coded.columns(), unit, n_threads)
        used = np.isin(own_columns.columns, chosen)
        places = np.searchsorted(chosen, own_columns.columns[used])
        removed = OwnColumns(own_columns.rows[used], places, own_columns.hidden[used])
        scores = LeftOutScores.of(ridge, P, coded, [model.C], own_columns=removed)
        result.append((len(chosen), scores.accuracy(0)[0]))
    return [*result, (model.R, model.accuracy)]


def draw_curve(axes: Axes, points: Sequence[tuple[int, float]], floor: float) -> None:
    """Draw accuracy against R, and the share of the largest class."""
    axes.plot(*zip(*points, strict=True), marker="o", color=COLOURS[0])
    if np.isfinite(floor):
        axes.axhline(floor, color=GREY, linestyle=":", label="largest class")
        axes.legend(frameon=False, fontsize=8)
    axes.set_xscale("log", base=2)
    axes.set_xticks([R for R, _ in points], [str(R) for R, _ in points])
    axes.minorticks_off()
    axes.set(
        xlabel="R, random objects of all blocks",
        ylabel="cross-validated accuracy (%)" if np.isfinite(floor) else "cross-validated R^2",
    )


def left_out_pictures(model: Any) -> list[Callable[[Axes, Calibration], None]]:
    """Return the functions that draw the left-out decisions of a model."""
    pictures: dict[int, list[Callable[[Axes, Calibration], None]]] = {
        0: [draw_left_out_values],
        2: [draw_reliability, draw_roc],
    }
    return pictures.get(model.task.n_probabilities, [draw_reliability])


def draw_reliability(axes: Axes, calibration: Calibration) -> None:
    """Draw how often left-out objects are classified correctly, against their probability.

    The bars are two standard errors long, on both sides.
    """
    confidence, correct, counts = calibration.reliability()
    errors = 2 * np.sqrt(correct * (1 - correct) / counts)
    low = min(confidence.min(), correct.min())
    axes.plot([low, 1], [low, 1], color=GREY, linestyle=":", label="equal")
    bars = np.minimum(errors, correct), np.minimum(errors, 1 - correct)
    axes.errorbar(confidence, correct, bars, color=COLOURS[0], marker="o", linestyle="", capsize=2)
    axes.legend(frameon=False, fontsize=8)
    axes.set(
        xlabel="probability of the predicted class", ylabel="share of objects that are of it",
        title=f"calibration error {100 * calibration.error:.1f} %",
    )  # fmt: skip


def draw_roc(axes: Axes, calibration: Calibration) -> None:
    """Draw the ROC curve of the left-out decisions for two classes."""
    axes.plot([0, 1], [0, 1], color=GREY, linestyle=":", label="chance")
    axes.plot(*calibration.roc(), color=COLOURS[0])
    axes.legend(frameon=False, fontsize=8)
    axes.set_aspect("equal")
    axes.set(
        xlabel="false positive rate", ylabel="true positive rate",
        title=f"area under the curve {calibration.auc:.3f}",
    )  # fmt: skip


def draw_left_out_values(axes: Axes, calibration: Calibration) -> None:
    """Draw left-out predictions of a regression against the true values."""
    draw_values(axes, calibration.values, calibration.decisions[:, 0])


def draw_values(axes: Axes, true: np.ndarray, predicted: np.ndarray) -> None:
    """Draw predicted values of a regression against the true ones."""
    ends = [min(true.min(), predicted.min()), max(true.max(), predicted.max())]
    axes.plot(ends, ends, color=GREY, linestyle=":", label="equal")
    size = float(np.clip(15000 / len(true), 4, 30))
    axes.scatter(true, predicted, s=size, c=COLOURS[0], linewidths=0, alpha=0.6)
    axes.legend(frameon=False, fontsize=8)
    axes.set(xlabel="true value", ylabel="predicted value")
