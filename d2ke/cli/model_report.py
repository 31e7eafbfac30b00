# SPDX-License-Identifier: BSD-3-Clause
"""The page of `d2ke train --report`: one HTML file with pictures of a model."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from d2ke._base.text import distance_text, object_text
from d2ke.cli.map_picture import picture
from d2ke.cli.report import Section, confusion_section, label_text, write_page
from d2ke.cli.session import Session
from d2ke.cli.window_report import (
    below_each_other,
    discriminative_windows,
    has_small_parts,
    telling_picture,
)
from d2ke.explain.discriminative import DiscriminativeObject, discriminative_objects, item_text
from d2ke.explain.explanation import Explanation, d2ke_explain
from d2ke.explain.importance import Importance, importance_by_halves
from d2ke.explain.parts import picture_size
from d2ke.explain.pictures import (
    accuracy_by_R,
    draw_curve,
    draw_left_out_values,
    draw_map,
    draw_reliability,
    draw_roc,
)
from d2ke.models.blocks import sample_rows, take
from d2ke.models.calibration import Calibration
from d2ke.models.model import D2KEModel
from d2ke.models.summary import block_rows
from d2ke.models.tasks import Task
from d2ke.objects.container import Objects

_MAX_EXPLAINED = 6
_NAMED = 3  # random objects, and windows, of each


def write_report(
    file: Path,
    title: str,
    model: D2KEModel,
    data: tuple[Objects, np.ndarray],
    session: Session,
) -> None:
    """Write the page about a model and the objects and labels that it was trained on.

    Of very many objects it shows a sample.
    """
    rows = sample_rows(len(data[1]), 0)
    n, objects, labels = len(data[1]), take(data[0], rows), data[1][rows]
    names = np.arange(n) if data[0].ids is None else data[0].ids
    Z = session.long("features", model.features, objects, session.n_threads, rows)
    measure, floor = model.task.measure, "."
    if np.isfinite(model.largest_class):
        floor = f"; the largest class has {model.largest_class:.1f} %."
    summary = (
        f"{n} training objects, {model.R} random objects, C = {model.C:.3g}. ",
        f"Cross-validated {measure}: {model.task.shown(model.accuracy, model.accuracy_error)}",
        floor,
    )
    left_out = "Each training object in turn is left out of the linear model."
    if model.near_copies is not None:
        left_out = model.near_copies.report(model)
    points = session.long("accuracy by R", accuracy_by_R, Z, labels, rows, model, session.n_threads)
    sections = [
        Section(
            text=f"{left_out} C and the shares were chosen by predictions of the same objects, so "
            "the accuracy can be a little too high. Measure it on new objects.",
            columns=["block", "random objects", "distance"],
            rows=[list(map(str, row)) for row in block_rows(model)],
        ),
        Section(
            "Map of the objects",
            "The first two principal components of the features that are computed without labels, "
            "coloured by label.",
            "map of the training objects",
            picture((5.2, 4.2), draw_map, Z[:, model.unsupervised], labels),
        ),
        *_left_out(model),
        Section(
            f"{measure.capitalize()} against R",
            "With the first random objects of each block only, and the same C.",
            f"{measure} against R",
            picture((5.5, 3.6), draw_curve, points, model.largest_class),
        ),
    ]
    families = {block.family for block in model.blocks}
    by = "column" if model.inputs else "family" if len(families) > 1 else "block"
    if len(model.blocks) > 1:
        found = session.long(
            "importance", importance_by_halves, Z, labels, model, by, session.n_threads
        )
        sections.append(_importance(found, by, model.task))
    if telling := discriminative_objects(model, limit=_NAMED):
        sections.append(_telling(telling, data[1], names))
    if windows := discriminative_windows(model):
        sections.append(
            Section(
                "Windows that speak most for a class",
                "Each was cut from a training series. Series that have such a piece get more of "
                "the class; see print(discriminative_objects(...)).",
                "training series with the windows that were cut from them",
                telling_picture(model, windows, data[0], data[1]),
            )
        )
    examples = _examples(labels)
    reasons = [
        d2ke_explain(objects[i : i + 1], model, limit=_NAMED, training_object=int(rows[i]))
        for i in examples
    ]
    titles = [f"object {names[rows[i]]} ({label_text(labels[i])})" for i in examples]
    if model.kind != "any" and has_small_parts(reasons):
        sections.append(
            Section(
                "What the parts add",
                "Some training objects, and what each letter, point or column adds to the "
                "decision: red is for the label, blue against it.",
                "objects with their parts coloured by what they add",
                below_each_other(reasons, titles, [picture_size(why) for why in reasons]),
            )
        )
    elif reasons[0].windows:
        sections.append(
            Section(
                "Windows",
                "Some training objects, and the windows in them that add most to the decision, at "
                "their places; none was cut from the series itself. The colour of a series "
                "says what each of its steps adds.",
                "series with windows at their places",
                below_each_other(reasons, titles, [(8.0, 3.4)] * len(reasons)),
            )
        )
    sections.append(_explanations(objects, (rows, names), data[1], examples, reasons))
    if model.confusion is not None and model.classes is not None:
        confused = confusion_section(model.classes, model.confusion, "; cross-validated")
        sections.insert(2, confused)
    write_page(file, f"D2KE of {title}", summary, sections)


def _left_out(model: D2KEModel) -> list[Section]:
    """Show the left-out decisions: how good the probabilities are, or the predictions."""
    calibration, classes = model.calibration, model.task.classes
    if not model.task.n_probabilities:
        drawn = picture((4.6, 3.8), draw_left_out_values, calibration)
        return [
            Section("Predictions", f"Of {calibration}.", "predicted against true values", drawn)
        ]
    assert isinstance(calibration, Calibration)
    sections = [
        Section(
            "How sure is it?",
            "Training objects that are left out, sorted by the probability of the predicted class, "
            "in up to 15 bins: how many are of it. On the line, 80 % means 80 of 100. The bars are "
            "two standard errors. "
            f"Log-loss {calibration.log_loss:.3f}.",
            "share of correct predictions against their probability",
            picture((4.6, 3.8), draw_reliability, calibration),
        )
    ]
    if len(classes) == 2:
        first, second = map(label_text, classes)
        sections.append(
            Section(
                "ROC curve",
                f"How many objects of {second} are found, against how many of {first} are taken "
                "for it, when the threshold goes down. Objects are left out.",
                "ROC curve",
                picture((4.6, 3.8), draw_roc, calibration),
            )
        )
    return sections


def _importance(found: Sequence[Importance], by: str, task: Task) -> Section:
    """Name what families or blocks of random objects are worth."""
    return Section(
        "What matters",
        "The features of one part of the model at a time are permuted among the objects: the more "
        "is lost, the more the predictions rest on it. A model of each half of the objects "
        "predicts the other half.",
        columns=[by, f"{task.measure} lost", "standard error"],
        rows=[[name, task.shown(drop), task.shown(error)] for name, drop, error in found],
    )


def _telling(
    entries: Sequence[DiscriminativeObject], labels: np.ndarray, names: np.ndarray
) -> Section:
    """Name the random objects that speak most for some classes."""
    supported = list(dict.fromkeys(entry.label for entry in entries))
    places = np.unique(np.linspace(0, len(supported) - 1, _MAX_EXPLAINED).astype(int))
    shown = [supported[i] for i in places.tolist()]
    rows = []
    for entry in entries:
        if entry.label not in shown:
            continue
        source = entry.training_object
        rows.append([
            *([] if entry.label is None else [label_text(entry.label)]),
            f"{entry.block}.{entry.index}: {item_text(entry.object)}",
            "" if source is None else f"{names[source]} ({label_text(labels[source])})",
            f"{entry.adds:+.4f}",
        ])  # fmt: skip
    return Section(
        "What the model listens to",
        "The random objects that speak most for a class, and what an object adds to the decision "
        "value if it is nearer to them than usual, by one standard deviation.",
        columns=[
            *["class"] * (entries[0].label is not None),
            "random object",
            "taken from (label)",
            "adds",
        ],
        rows=rows,
    )


def _examples(labels: np.ndarray) -> list[int]:
    """Return the first objects of some classes."""
    first = np.unique(labels, return_index=True)[1]
    some = np.unique(np.linspace(0, len(first) - 1, _MAX_EXPLAINED).astype(int))
    return first[some].tolist()


def _explanations(
    objects: Objects,
    named: tuple[np.ndarray, np.ndarray],
    labels: np.ndarray,
    examples: Sequence[int],
    reasons: Sequence[Explanation],
) -> Section:
    """Name what speaks for the predictions of examples.

    `named` are the numbers of the objects among the training objects, and the names of these.
    """
    rows, (numbers, names) = [], named
    for i, why in zip(examples, reasons, strict=True):
        label = label_text(why.label)
        for rank, omega in enumerate(why.omegas):
            source = omega["training_object"]
            rows.append([
                f"{names[numbers[i]]}: {object_text(objects[i])}" if rank == 0 else "",
                label_text(labels[numbers[i]]) if rank == 0 else "",
                label if rank == 0 else "",
                f"{omega['block']}.{omega['index']}: {item_text(omega['object'])}",
                "" if source is None else f"{names[source]} ({labels[source]})",
                distance_text(omega["distance"]),
                f"{omega['share']:+.4f}",
            ])  # fmt: skip
    return Section(
        "What speaks for a prediction",
        "For some training objects, the random objects that add most to the decision value, with "
        "their distances, and the training objects that they are or are part of.",
        columns=["object", "true", "predicted", "random object", "taken from (label)",
                 "distance", "adds"],
        rows=rows,
    )  # fmt: skip
