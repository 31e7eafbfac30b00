# SPDX-License-Identifier: BSD-3-Clause
"""Pictures of a trained model: a map, confusions, left-out decisions, accuracy against R."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from d2ke._base.errors import ArgumentError
from d2ke._base.labels import check_order
from d2ke.learners.ridge import decompose
from d2ke.models.blocks import sample_rows, take
from d2ke.models.calibration import Calibration
from d2ke.models.labels import Labels
from d2ke.models.loo import LooScores, OwnColumns
from d2ke.plots.maps import Colouring, coordinates, draw_map
from d2ke.plots.style import COLOURS, GREY, SMALL, legend, on_top, palette, panels, title

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class ModelPicture(NamedTuple):
    """A picture of a model, with its text and its inches on a page."""

    heading: str
    text: str
    draw: Callable[[Axes], None]
    size: tuple[float, float] = (5.2, 4.0)


def plot_model(model: Any, X: Any, y: Any, n_threads: int | None) -> tuple[Axes, ...]:
    """Draw the pictures of `D2KEModel.plot`."""
    if X is None and y is not None:
        raise ArgumentError("X", "is needed with y: the training objects and their labels")
    training = None
    if X is not None:
        check_order(X, y=y)
        objects = model.check_objects(X)
        labels = model.task.truth(y, len(objects))
        if len(objects) != model.n_train:
            raise ArgumentError("X", f"must be the {model.n_train} training objects")
        model.task.encode(labels, len(labels))  # refuses new classes
        rows = sample_rows(len(labels), 0)
        training = model.features(take(objects, rows), n_threads, rows), labels[rows], rows
    pictures = model_pictures(model, training, n_threads)
    # More abreast could not be read in a notebook.
    _, axes = panels(len(pictures), 3, (5.2, 4.2), pyplot=True)
    for axis, picture in zip(axes, pictures, strict=True):
        picture.draw(axis)
    return tuple(axes)


def model_pictures(
    model: Any, training: tuple[np.ndarray, np.ndarray, np.ndarray] | None, n_threads: int | None
) -> list[ModelPicture]:
    """Return the pictures of a model, and of the features, labels and rows of training objects."""
    result, calibration = [], model.calibration
    if training is not None:
        result.append(
            ModelPicture(
                "Map of the objects",
                "The first two principal components of the features, without those that depend on "
                "labels, coloured by label.",
                partial(_draw_features, Z=training[0][:, model.unsupervised], labels=training[1]),
            )
        )
    if model.confusion is not None:
        result.append(confusion_picture(model.classes, model.confusion, "; cross-validated"))
    if not model.task.n_probabilities:
        values = {"true": calibration.values, "predicted": calibration.decisions[:, 0]}
        draw: Callable[[Axes], None] = partial(draw_values, **values)
        result.append(ModelPicture("Predictions", f"Of {calibration}.", draw))
    else:
        text = (
            "Left-out training objects, sorted by the probability of their predicted class, in up "
            "to 15 bins: the share of each bin that is classified correctly. On the dotted line, "
            "a probability of 80 % means that 80 of 100 are. The bars are two standard errors. "
            f"Log-loss {calibration.log_loss:.3f}."
        )
        draw = partial(_draw_reliability, calibration=calibration)
        result.append(ModelPicture("How sure is it?", text, draw))
    if model.task.n_probabilities == 2:
        first, second = model.task.classes
        text = (
            f"The share of {second} that is found, against the share of {first} that is taken for "
            f"{second}, as the threshold falls; of left-out training objects."
        )
        result.append(ModelPicture("ROC curve", text, partial(_draw_roc, calibration=calibration)))
    if training is not None:
        points = accuracy_by_R(*training, model, n_threads)
        measure = model.task.measure.capitalize()
        text = (
            "Of the same model with fewer random objects: the first of each block, and the same C."
        )
        draw = partial(_draw_curve, points=points, floor=model.largest_class)
        result.append(ModelPicture(f"{measure} against R", text, draw))
    return result


def confusion_picture(classes: np.ndarray, counts: np.ndarray, how: str) -> ModelPicture:
    """Return the picture of a confusion matrix."""
    text = f"True classes in rows, predicted ones in columns{how}."
    size = float(np.clip(0.27 * len(counts) + 1.8, 3.5, 10))
    draw = partial(_draw_confusion, names=list(map(str, classes)), counts=counts)
    return ModelPicture("Confusion", text, draw, (size, size))


def _draw_features(axes: Axes, Z: np.ndarray, labels: np.ndarray) -> None:
    """Draw the first two principal components of features, coloured by label."""
    max_points = 5000
    if len(Z) > max_points:
        rows = np.random.default_rng(0).choice(len(Z), max_points, replace=False)
        Z, labels = Z[rows], labels[rows]
    ordered = labels.dtype.kind == "f"
    if ordered:
        edges = np.unique(np.quantile(labels, np.linspace(0, 1, 6)))
        codes = np.clip(np.searchsorted(edges, labels, side="right") - 1, 0, len(edges) - 2)
        names = [f"{a:.3g} to {b:.3g}" for a, b in pairwise(edges)]
    else:
        classes, codes = np.unique(labels, return_inverse=True)
        names = [str(name) for name in classes]
    points = coordinates(None, Z.astype(np.float64))
    colours = palette(len(names), ordered)
    draw_map(axes, points, Colouring("training objects", codes, names, colours))


def _draw_confusion(axes: Axes, names: Sequence[str], counts: np.ndarray) -> None:
    """Draw a confusion matrix, each row in shares of its class."""
    k = len(names)
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    shown = axes.imshow(shares, cmap="Blues", vmin=0, vmax=1)
    if k <= 60:
        long = max(map(len, names)) > 4
        axes.set_xticks(range(k), names, rotation=90 if long else 0, fontsize=SMALL)
        axes.set_yticks(range(k), names, fontsize=SMALL)
    if k <= 30:
        size = SMALL if k <= 15 else SMALL - 1
        for i, j in zip(*np.nonzero(counts), strict=True):
            colour = on_top(shown.to_rgba(shares[i, j]))
            axes.text(j, i, counts[i, j], ha="center", va="center", color=colour, fontsize=size)
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
    for divisor in (32, 16, 8, 4, 2):
        subset = np.concatenate(
            [np.arange(start, start + block.R // divisor)
             for start, block in zip(starts[:-1], model.blocks, strict=True)]
        )  # fmt: skip
        if len(subset) < 4:
            continue
        features = np.ascontiguousarray(Z[:, subset])
        unit = np.full(len(subset), np.sqrt(len(subset) / model.R))  # weights of the features stay
        ridge, P = decompose(features, coded.targets(), unit, n_threads)
        used = np.isin(own_columns.columns, subset)
        positions = np.searchsorted(subset, own_columns.columns[used])
        own_subset = OwnColumns(own_columns.rows[used], positions, own_columns.hidden[used])
        scores = LooScores.of(ridge, P, coded, [model.C], own_columns=own_subset)
        result.append((len(subset), scores.accuracy(0)[0]))
    return [*result, (model.R, model.accuracy)]


def _draw_curve(axes: Axes, points: Sequence[tuple[int, float]], floor: float) -> None:
    """Draw accuracy against R, and the share of the largest class."""
    axes.plot(*zip(*points, strict=True), marker="o", color=COLOURS[0])
    if np.isfinite(floor):
        axes.axhline(floor, color=GREY, linestyle=":", label="largest class")
        legend(axes)
    axes.set_xscale("log", base=2)
    axes.set_xticks([R for R, _ in points], [str(R) for R, _ in points])
    axes.minorticks_off()
    axes.set(
        xlabel="R, random objects of all blocks",
        ylabel="cross-validated accuracy (%)" if np.isfinite(floor) else "cross-validated R^2",
    )


def _draw_equal(axes: Axes, low: float, high: float, name: str = "equal") -> None:
    """Draw the line where both axes are equal."""
    axes.plot([low, high], [low, high], color=GREY, linestyle=":", label=name)
    legend(axes)


def _draw_reliability(axes: Axes, calibration: Calibration) -> None:
    """Draw how often left-out objects are classified correctly, against their probability.

    The bars are two standard errors long, on both sides.
    """
    confidence, correct, counts = calibration.reliability()
    errors = 2 * np.sqrt(correct * (1 - correct) / counts)
    _draw_equal(axes, min(confidence.min(), correct.min()), 1, "ideal")
    bars = np.minimum(errors, correct), np.minimum(errors, 1 - correct)
    axes.errorbar(confidence, correct, bars, color=COLOURS[0], marker="o", linestyle="", capsize=2)
    axes.locator_params(nbins=5)
    title(axes, f"calibration error {100 * calibration.error:.1f} %")
    axes.set(xlabel="probability of the predicted class", ylabel="share classified correctly")


def _draw_roc(axes: Axes, calibration: Calibration) -> None:
    """Draw the ROC curve of the left-out decisions for two classes."""
    _draw_equal(axes, 0, 1, "chance")
    axes.plot(*calibration.roc(), color=COLOURS[0])
    title(axes, f"area under the curve {calibration.auc:.3f}")
    axes.set(xlabel="false positive rate", ylabel="true positive rate", aspect="equal")


def draw_values(axes: Axes, true: np.ndarray, predicted: np.ndarray) -> None:
    """Draw predicted values of a regression against the true ones."""
    _draw_equal(axes, min(true.min(), predicted.min()), max(true.max(), predicted.max()))
    size = float(np.clip(15000 / len(true), 4, 30))
    axes.scatter(true, predicted, s=size, c=COLOURS[0], linewidths=0, alpha=0.6)
    axes.set(xlabel="true value", ylabel="predicted value")
