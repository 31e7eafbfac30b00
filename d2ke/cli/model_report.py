# SPDX-License-Identifier: BSD-3-Clause
"""The page of `d2ke train --report`: one HTML file with pictures of a model."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from d2ke._base.text import distance_text, object_text
from d2ke.cli.report import Section, label_text, picture, picture_section, write_page
from d2ke.cli.session import Session
from d2ke.explain.discriminative import DiscriminativeObject, discriminative_objects, item_text
from d2ke.explain.explanation import Explanation, d2ke_explain
from d2ke.explain.importance import Importance, importance_by_halves
from d2ke.models.blocks import sample_rows, take
from d2ke.models.model import D2KEModel, block_rows
from d2ke.models.tasks import Task
from d2ke.objects.container import Objects
from d2ke.plots.explanation import picture_size
from d2ke.plots.model import model_pictures
from d2ke.plots.style import title

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MAX_EXPLAINED = 6
_DISCRIMINATIVE_TEXT = (
    "The random objects that count most for a class. An object that is nearer to one of them than "
    "usual, by one standard deviation, gains this much in the decision value.",
    "The random objects that count most. The prediction for an object that is nearer to one of "
    "them than usual, by one standard deviation, changes by this much.",
)


def write_report(
    file: Path,
    name: str,
    model: D2KEModel,
    data: tuple[Objects, np.ndarray],
    session: Session,
) -> None:
    """Write the page about a model and its training objects, or a sample."""
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
    left_out = "Each training object was left out of the linear model in turn."
    if model.near_copies is not None:
        left_out = model.near_copies.report(model)
    training = Z, labels, rows
    pictures = session.long("pictures", model_pictures, model, training, session.n_threads)
    sections = [
        Section(
            text=f"{left_out} C and the weights of the blocks were chosen with the same objects, "
            f"so {measure} can be a little too high: measure it on new objects.",
            columns=["block", "random objects", "distance"],
            rows=[list(map(str, row)) for row in block_rows(model)],
        ),
        *map(picture_section, pictures),
    ]
    families = {block.family for block in model.blocks}
    by = "column" if model.inputs else "family" if len(families) > 1 else "block"
    if len(model.blocks) > 1:
        importances = session.long(
            "importance", importance_by_halves, Z, labels, model, by, session.n_threads
        )
        sections.append(_importance(importances, by, model.task))
    if entries := discriminative_objects(model, limit=3):
        sections.append(_discriminative(entries, data[1], names))
    # The first objects of a few classes.
    first = np.unique(labels, return_index=True)[1]
    few = np.unique(np.linspace(0, len(first) - 1, _MAX_EXPLAINED).astype(int))
    examples = first[few].tolist()
    reasons = [
        d2ke_explain(objects[i : i + 1], model, limit=3, training_object=int(rows[i]))
        for i in examples
    ]
    titles = [f"{names[rows[i]]} ({label_text(labels[i])})" for i in examples]
    if all(map(_is_drawn, reasons)):
        sections.append(Section("What the parts add", _parts_text(reasons)))
        alt = "an object with its parts coloured by what they add"
        for why, shown in zip(reasons, titles, strict=True):
            sections.append(Section("", "", alt, picture(picture_size(why), _draw, why, shown)))
    sections.append(_explanations(objects, (rows, names), data[1], examples, reasons))
    write_page(file, f"D2KE of {name}", summary, sections)


def _is_drawn(why: Explanation) -> bool:
    """Return whether an explanation has parts that can be seen in a picture."""
    base = getattr(why.x, "base", "")
    small = base in ("strings", "sets") and why.x.lengths[0] <= 600
    return bool(why.columns or small or why.windows)


def _parts_text(reasons: Sequence[Explanation]) -> str:
    """Explain the colours in the pictures of explanations."""
    why, base = reasons[0], getattr(reasons[0].x, "base", "")
    unit = "column" if why.columns else {"strings": "letter", "sets": "point"}.get(base, "step")
    text = (
        f"Some training objects, and what each {unit} adds to the decision: red is in favour of "
        "the prediction, blue against it."
    )
    if any(reason.windows for reason in reasons):
        text += " Windows are drawn where they were found; none was cut from the series itself."
    return text


def _draw(axes: Axes, why: Explanation, name: str) -> None:
    """Draw an explanation, with the object's name and label in its title."""
    why.plot(limit=len(why.windows) or 1, ax=axes)
    title(axes, f"{name}\npredicted {axes.get_title().removeprefix('predicted ')}")


def _importance(importances: Sequence[Importance], by: str, task: Task) -> Section:
    """Return the section of the importances of families or blocks."""
    return Section(
        "What matters",
        f"The {task.measure} that is lost if the features of one part of the model are permuted "
        "among the objects: the more is lost, the more the predictions rest on this part. A model "
        "of each half of the objects predicts the other half.",
        columns=[by, f"{task.measure} lost", "standard error"],
        rows=[[name, task.shown(drop), task.shown(error)] for name, drop, error in importances],
    )


def _discriminative(
    entries: Sequence[DiscriminativeObject], labels: np.ndarray, names: np.ndarray
) -> Section:
    """Return the section of the most discriminative random objects."""
    supported = list(dict.fromkeys(entry.label for entry in entries))
    indices = np.unique(np.linspace(0, len(supported) - 1, _MAX_EXPLAINED).astype(int))
    shown = [supported[i] for i in indices.tolist()]
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
        _DISCRIMINATIVE_TEXT[entries[0].label is None],
        columns=[
            *["class"] * (entries[0].label is not None),
            "random object",
            "taken from (label)",
            "adds",
        ],
        rows=rows,
    )


def _explanations(
    objects: Objects,
    named: tuple[np.ndarray, np.ndarray],
    labels: np.ndarray,
    examples: Sequence[int],
    reasons: Sequence[Explanation],
) -> Section:
    """Return the section that explains predictions of examples.

    `named` are the indices of the objects in the training data, and the names of its objects.
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
                "" if source is None else f"{names[source]} ({label_text(labels[source])})",
                distance_text(omega["distance"]),
                f"{omega['share']:+.4f}",
            ])  # fmt: skip
    return Section(
        "What speaks for a prediction",
        "For some training objects: the random objects that add most to the decision value, their "
        "distances, and the training objects that they are taken from.",
        columns=["object", "true", "predicted", "random object", "taken from (label)",
                 "distance", "adds"],
        rows=rows,
    )  # fmt: skip
