# SPDX-License-Identifier: BSD-3-Clause
"""The page of `d2ke train --report`: one HTML file with pictures of a model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from d2ke._base.files import write_file
from d2ke.cli.map_picture import check_picture_file
from d2ke.cli.matrix_files import InputError
from d2ke.cli.model_pictures import accuracy_by_R, confusion_picture, curve_picture, map_picture
from d2ke.experiments.document import Block, as_html, heading, image, paragraph, table
from d2ke.experiments.session import Session
from d2ke.models.blocks import hide_self
from d2ke.models.explain import d2ke_explain
from d2ke.models.model import D2KEModel
from d2ke.models.predict import d2ke_transform
from d2ke.objects.container import Objects

_MOST_EXPLAINED = 6
_SHOWN = 36  # letters of a string


def check_report_file(file: Path) -> None:
    """Refuse another ending, and a machine without matplotlib, before the work."""
    if file.suffix not in (".html", ".htm"):
        raise InputError(f"report must end in .html, got {str(file)!r}")
    check_picture_file(file.with_suffix(".png"))


def write_report(
    file: Path,
    title: str,
    model: D2KEModel,
    data: tuple[Objects, np.ndarray],
    session: Session,
) -> None:
    """Write the page about a model and the objects and labels that it was trained on."""
    objects, labels = data
    Z = d2ke_transform(objects, model, **session.computing)
    hide_self(Z, model.blocks)
    measure = "accuracy" if model.classes is not None else "100 R^2"
    blocks = [
        heading(1, f"D2KE of {title}"),
        paragraph(
            f"{len(objects)} training objects, {model.R} random objects, C = {model.C:g}. "
            f"**Cross-validated {measure}: {model.accuracy:.1f} +- {model.accuracy_error:.1f} %**"
            + (f"; the largest class has {model.largest_class:.1f} %."
               if model.classes is not None else ".")
        ),
        paragraph(
            "Each training object in turn is left out of the linear model. C was chosen by the "
            "same numbers, so they are a little too good; new objects tell."
        ),
        table(
            ["block", "random objects", "distance"],
            [[block.name, str(block.R), str(block.distance)] for block in model.blocks],
        ),
        heading(2, "Map of the objects"),
        paragraph("The first two principal components of the features, coloured by label."),
        image("map.png", "map of the training objects", map_picture(Z, labels)),
    ]  # fmt: skip
    if model.confusion is not None:
        names = [str(name) for name in model.classes]
        blocks += [
            heading(2, "Confusion"),
            paragraph("True classes in rows, predicted ones in columns; cross-validated."),
            image("confusion.png", "confusion", confusion_picture(names, model.confusion)),
        ]
    points = session.long("accuracy by R", accuracy_by_R, Z, labels, model, session.n_threads)
    blocks += [
        heading(2, "Accuracy against R"),
        paragraph("With the first random objects of each block only, and the same C."),
        image("R.png", "accuracy against R", curve_picture(points, model.largest_class)),
        heading(2, "What speaks for a prediction"),
        paragraph(
            "For some training objects, the random objects that add most to the decision value, "
            "with their distances. A random object may be a training object itself."
        ),
        _explanations(model, objects, labels),
    ]
    write_file(file, as_html(f"D2KE of {title}", blocks).encode())


def _explanations(model: D2KEModel, objects: Objects, labels: np.ndarray) -> Block:
    """Return a table for the first object of some classes."""
    first = np.unique(labels, return_index=True)[1]
    some = first[np.unique(np.linspace(0, len(first) - 1, _MOST_EXPLAINED).astype(int))]
    rows = []
    for i in some.tolist():
        why = d2ke_explain(objects[i : i + 1], model, most=3)
        label = f"{why.label:.4g}" if model.classes is None else str(why.label)
        for rank, omega in enumerate(why.omegas):
            source = omega["training_object"]
            rows.append([
                f"{i}: {_shown(objects[i])}" if rank == 0 else "",
                str(labels[i]) if rank == 0 else "",
                label if rank == 0 else "",
                f"{omega['block']}.{omega['index']}: {_shown(omega['object'])}",
                "" if source is None else f"{source} ({labels[source]})",
                f"{omega['distance']:.4g}",
                f"{omega['share']:+.4f}",
            ])  # fmt: skip
    header = ["object", "true", "predicted", "random object", "training object (label)",
              "distance", "adds"]  # fmt: skip
    return table(header, rows)


def _shown(item: Any) -> str:
    """Return a string, cut; of vectors, how many they are."""
    if isinstance(item, (str, bytes)):
        text = item if isinstance(item, str) else repr(item)
        return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}... ({len(text)})"
    array = np.asarray(item)
    return f"{array.shape[0]} x {array.shape[1]}" if array.ndim == 2 else f"{array.size} letters"
