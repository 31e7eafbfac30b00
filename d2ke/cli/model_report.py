# SPDX-License-Identifier: BSD-3-Clause
"""The page of `d2ke train --report`: one HTML file with pictures of a model."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from d2ke._base.text import object_text
from d2ke.cli.map_picture import picture
from d2ke.cli.report import (
    Section,
    confusion_section,
    label_text,
    measured,
    write_page,
)
from d2ke.cli.session import Session
from d2ke.models.blocks import sample_rows, take
from d2ke.models.explain import d2ke_explain
from d2ke.models.model import D2KEModel
from d2ke.models.pictures import accuracy_by_R, draw_curve, draw_map
from d2ke.objects.container import Objects

_MAX_EXPLAINED = 6


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
    rows = sample_rows(len(data[1]), 0, None)
    n, objects, labels = len(data[1]), take(data[0], rows), data[1][rows]
    Z = session.long("features", model.training_features, objects, session.n_threads, rows)
    of_classes = model.classes is not None
    measure = "accuracy" if of_classes else "100 R^2"
    floor = f"; the largest class has {model.largest_class:.1f} %." if of_classes else "."
    summary = (
        f"{n} training objects, {model.R} random objects, C = {model.C:.3g}. ",
        f"Cross-validated {measure}: {measured(model)}",
        floor,
    )
    points = session.long("accuracy by R", accuracy_by_R, Z, labels, model, session.n_threads)
    sections = [
        Section(
            text="Each training object in turn is left out of the linear model. C was chosen by "
            "the same numbers, so they are a little too good; new objects tell.",
            columns=["block", "random objects", "distance"],
            rows=[[block.name, str(block.R), str(block.distance)] for block in model.blocks],
        ),
        Section(
            "Map of the objects",
            "The first two principal components of the features, coloured by label.",
            "map of the training objects",
            picture((5.2, 4.2), draw_map, Z, labels),
        ),
        Section(
            "Accuracy against R" if of_classes else "R^2 against R",
            "With the first random objects of each block only, and the same C.",
            f"{measure} against R",
            picture((5.5, 3.6), draw_curve, points, model.largest_class),
        ),
        _explanations(model, objects, rows, data[1]),
    ]
    if model.confusion is not None:
        confused = confusion_section(model.classes, model.confusion, "; cross-validated")
        sections.insert(2, confused)
    write_page(file, f"D2KE of {title}", summary, sections)


def _explanations(
    model: D2KEModel, objects: Objects, numbers: np.ndarray, labels: np.ndarray
) -> Section:
    """Explain predictions of the objects with these numbers: the first of some classes."""
    first = np.unique(labels[numbers], return_index=True)[1]
    some = first[np.unique(np.linspace(0, len(first) - 1, _MAX_EXPLAINED).astype(int))]
    rows = []
    for i in some.tolist():
        why = d2ke_explain(objects[i : i + 1], model, limit=3)
        label = label_text(why.label)
        for rank, omega in enumerate(why.omegas):
            source = omega["training_object"]
            rows.append([
                f"{numbers[i]}: {object_text(objects[i])}" if rank == 0 else "",
                label_text(labels[numbers[i]]) if rank == 0 else "",
                label if rank == 0 else "",
                f"{omega['block']}.{omega['index']}: {object_text(omega['object'])}",
                "" if source is None else f"{source} ({labels[source]})",
                f"{omega['distance']:.4g}",
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
