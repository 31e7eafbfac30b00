# SPDX-License-Identifier: BSD-3-Clause
"""The page of `d2ke predict --report`: one HTML file about predictions for labelled objects."""

from __future__ import annotations

from pathlib import Path
from typing import TypeAlias

import numpy as np

from d2ke._base.labels import confusion
from d2ke._base.text import object_text
from d2ke.cli.certainty import strangers
from d2ke.cli.report import Section, label_text, picture, picture_section, write_page
from d2ke.models.model import D2KEModel
from d2ke.objects.container import Objects
from d2ke.plots.model import confusion_picture, draw_values

Labelled: TypeAlias = tuple[Objects, np.ndarray, np.ndarray]  # with true and predicted labels


def write_prediction_report(
    file: Path,
    title: str,
    model: D2KEModel,
    objects: Objects,
    outcome: tuple[np.ndarray, np.ndarray, float, np.ndarray, np.ndarray],
) -> None:
    """Write the page about predictions for labelled objects.

    `outcome` is the true and the predicted labels, the accuracy, decision values and p-values of
    `novelty`.
    """
    true, predicted, accuracy, decisions, p_values = outcome
    data, spread = (objects, true, predicted), None
    if not model.task.n_probabilities:
        sections = _values(data)
    else:
        sections = _classes(data, decisions)
        share = accuracy / 100
        spread = 100 * float(np.sqrt(share * (1 - share) / len(true)))
    order, text = strangers(model, p_values)
    text = f"{text.removeprefix('strangers: ').capitalize()}."
    sections.append(_objects("Strangers", text, data, "novelty", p_values, order))
    result = f"{model.task.measure.capitalize()}: {model.task.shown(accuracy, spread)}"
    trained = model.task.shown(model.accuracy, model.accuracy_error)
    after = f"; {trained} in cross-validation on the training objects."
    summary = f"{len(objects)} objects. ", result, after
    write_page(file, f"Predictions for {title}", summary, sections)


def _values(data: Labelled) -> list[Section]:
    """Return the sections of a regression."""
    _, true, predicted = data
    pictures = "predicted against true", picture((4.5, 4.2), draw_values, true, predicted)
    errors = np.abs(predicted - true)
    return [
        Section("True and predicted values", "", *pictures),
        _objects("Largest errors", "", data, "error", errors, np.argsort(-errors, kind="stable")),
    ]


def _classes(data: Labelled, decisions: np.ndarray) -> list[Section]:
    """Return the sections of a classification."""
    _, true, predicted = data
    names, counts = confusion(true, predicted)
    in_turn = zip(names, counts.sum(axis=1), counts.diagonal(), strict=True)
    by_class = [
        [str(name), str(total), str(right), f"{100 * right / total:.1f}"]
        for name, total, right in in_turn
        if total
    ]
    columns = ["true class", "objects", "correct", "%"]
    sections = [
        picture_section(confusion_picture(names, counts, "")),
        Section("By class", columns=columns, rows=by_class),
    ]
    wrong = np.flatnonzero(true != predicted)
    if wrong.size:
        surest = decisions.max(axis=1) if decisions.shape[1] > 1 else np.abs(decisions[:, 0])
        order = wrong[np.argsort(-surest[wrong], kind="stable")]
        text = "Those with the largest decision values, the surest ones, first."
        sections.append(_objects("Wrong predictions", text, data, "decision value", surest, order))
    return sections


def _objects(
    heading: str, text: str, data: Labelled, name: str, values: np.ndarray, order: np.ndarray
) -> Section:
    """Return a section with a table of the first objects of an order, and their values."""
    objects, true, predicted = data
    ids = np.arange(len(objects)) if objects.ids is None else objects.ids
    rows = [
        [
            f"{ids[i]}: {object_text(objects[i])}",
            *map(label_text, (true[i], predicted[i], values[i])),
        ]
        for i in order[:20].tolist()
    ]
    columns = ["object", "true", "predicted", name] if rows else []
    return Section(heading, text, columns=columns, rows=rows)
