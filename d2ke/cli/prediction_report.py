# SPDX-License-Identifier: BSD-3-Clause
"""The page of `d2ke predict --report`: one HTML file about predictions for labelled objects."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from d2ke._base.files import write_file
from d2ke._base.labels import confusion
from d2ke.cli.model_pictures import values_picture
from d2ke.cli.report_parts import confusion_section, label_text, measured, object_text
from d2ke.experiments.document import Block, as_html, heading, image, paragraph, table
from d2ke.models.model import D2KEModel
from d2ke.objects.container import Objects

_MOST_SHOWN = 20


def write_prediction_report(
    file: Path,
    title: str,
    model: D2KEModel,
    objects: Objects,
    outcome: tuple[np.ndarray, np.ndarray, float, np.ndarray],
) -> None:
    """Write the page about predictions for labelled objects.

    `outcome` is the true and the predicted labels, the accuracy and the decision values.
    """
    true, predicted, accuracy, decisions = outcome
    spread = ""
    if model.classes is None:
        sections = _values(objects, true, predicted)
    else:
        sections = _classes(objects, true, predicted, decisions)
        share = accuracy / 100
        spread = f" ± {100 * np.sqrt(share * (1 - share) / len(true)):.1f}"
    measure = "100 R^2" if model.classes is None else "Accuracy"
    blocks = [
        heading(1, f"Predictions for {title}"),
        paragraph(
            f"{len(objects)} objects. **{measure}: {accuracy:.1f}{spread} %**; {measured(model)} "
            "in cross-validation on the training objects."
        ),
        *sections,
    ]
    write_file(file, as_html(f"Predictions for {title}", blocks).encode())


def _values(objects: Objects, true: np.ndarray, predicted: np.ndarray) -> list[Block]:
    """Return the sections of a regression."""
    return [
        heading(2, "True and predicted values"),
        image("values.png", "predicted against true", values_picture(true, predicted)),
        heading(2, "Largest errors"),
        _largest("error", np.abs(predicted - true), objects, true, predicted),
    ]


def _classes(
    objects: Objects, true: np.ndarray, predicted: np.ndarray, decisions: np.ndarray
) -> list[Block]:
    """Return the sections of a classification."""
    names, counts = confusion(true, predicted)
    in_turn = zip(names, counts.sum(axis=1), counts.diagonal(), strict=True)
    by_class = [
        [str(name), str(total), str(right), f"{100 * right / total:.1f}"]
        for name, total, right in in_turn
        if total
    ]
    blocks = [
        *confusion_section(names, counts, ""),
        heading(2, "By class"),
        table(["true class", "objects", "correct", "%"], by_class),
    ]
    wrong = true != predicted
    if wrong.any():
        surest = decisions.max(axis=1) if decisions.shape[1] > 1 else np.abs(decisions[:, 0])
        surest = np.where(wrong, surest, -np.inf)
        blocks += [
            heading(2, "Wrong predictions"),
            paragraph("Those with the largest decision values, the surest ones, first."),
            _largest("decision value", surest, objects, true, predicted),
        ]
    return blocks


def _largest(
    name: str, values: np.ndarray, objects: Objects, true: np.ndarray, predicted: np.ndarray
) -> Block:
    """Return a table of the objects with the largest finite values."""
    order = np.argsort(-values, kind="stable")[:_MOST_SHOWN]
    rows = [
        [f"{i}: {object_text(objects[i])}", *map(label_text, (true[i], predicted[i], values[i]))]
        for i in order[np.isfinite(values[order])].tolist()
    ]
    return table(["object", "true", "predicted", name], rows)
