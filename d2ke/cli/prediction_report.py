# SPDX-License-Identifier: BSD-3-Clause
"""The page of `d2ke predict --report`: one HTML file about predictions for labelled objects."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from d2ke._base.labels import confusion
from d2ke._base.text import object_text
from d2ke.cli.certainty import strangers
from d2ke.cli.map_picture import picture
from d2ke.cli.report import (
    Section,
    confusion_section,
    label_text,
    write_page,
)
from d2ke.explain.pictures import draw_values
from d2ke.models.model import D2KEModel
from d2ke.models.summary import measured
from d2ke.objects.container import Objects

_MAX_SHOWN = 20


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
    spread = ""
    if not model.task.n_probabilities:
        sections = _values(objects, true, predicted)
    else:
        sections = _classes(objects, true, predicted, decisions)
        share = accuracy / 100
        spread = f" ± {100 * np.sqrt(share * (1 - share) / len(true)):.1f}"
    order, text = strangers(model, p_values)
    rows = [
        [_named(objects, i), *map(label_text, (true[i], predicted[i], p_values[i]))]
        for i in order[:_MAX_SHOWN].tolist()
    ]
    columns = ["object", "true", "predicted", "novelty"] if rows else []
    text = f"{text.removeprefix('strangers: ').capitalize()}."
    sections.append(Section("Strangers", text, columns=columns, rows=rows))
    measure = model.task.measure
    result = f"{measure[0].upper()}{measure[1:]}: {accuracy:.1f}{spread} %"
    after = f"; {measured(model)} in cross-validation on the training objects."
    summary = f"{len(objects)} objects. ", result, after
    write_page(file, f"Predictions for {title}", summary, sections)


def _named(objects: Objects, i: int) -> str:
    """Return an object after its id or number."""
    return f"{i if objects.ids is None else objects.ids[i]}: {object_text(objects[i])}"


def _values(objects: Objects, true: np.ndarray, predicted: np.ndarray) -> list[Section]:
    """Return the sections of a regression."""
    pictures = "predicted against true", picture((4.5, 4.2), draw_values, true, predicted)
    errors = np.abs(predicted - true)
    return [
        Section("True and predicted values", "", *pictures),
        _largest("Largest errors", "", "error", errors, objects, true, predicted),
    ]


def _classes(
    objects: Objects, true: np.ndarray, predicted: np.ndarray, decisions: np.ndarray
) -> list[Section]:
    """Return the sections of a classification."""
    names, counts = confusion(true, predicted)
    in_turn = zip(names, counts.sum(axis=1), counts.diagonal(), strict=True)
    by_class = [
        [str(name), str(total), str(right), f"{100 * right / total:.1f}"]
        for name, total, right in in_turn
        if total
    ]
    columns = ["true class", "objects", "correct", "%"]
    sections = [
        confusion_section(names, counts, ""),
        Section("By class", columns=columns, rows=by_class),
    ]
    wrong = true != predicted
    if wrong.any():
        surest = decisions.max(axis=1) if decisions.shape[1] > 1 else np.abs(decisions[:, 0])
        surest = np.where(wrong, surest, -np.inf)
        text = "Those with the largest decision values, the surest ones, first."
        labels = objects, true, predicted
        sections.append(_largest("Wrong predictions", text, "decision value", surest, *labels))
    return sections


def _largest(
    heading: str,
    text: str,
    name: str,
    values: np.ndarray,
    objects: Objects,
    true: np.ndarray,
    predicted: np.ndarray,
) -> Section:
    """Return a section with a table of the objects with the largest finite values."""
    order = np.argsort(-values, kind="stable")[:_MAX_SHOWN]
    rows = [
        [_named(objects, i), *map(label_text, (true[i], predicted[i], values[i]))]
        for i in order[np.isfinite(values[order])].tolist()
    ]
    return Section(heading, text, columns=["object", "true", "predicted", name], rows=rows)
