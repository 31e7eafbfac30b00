# SPDX-License-Identifier: BSD-3-Clause
"""What the pages of `d2ke train` and `d2ke predict` share."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from d2ke.cli.map_picture import check_picture_file
from d2ke.cli.matrix_files import InputError
from d2ke.cli.model_pictures import confusion_picture
from d2ke.experiments.document import Block, heading, image, paragraph
from d2ke.models.model import D2KEModel

_SHOWN = 18  # letters of a string


def check_report_file(file: Path) -> None:
    """Refuse another ending, and a machine without matplotlib, before the work."""
    if file.suffix not in (".html", ".htm"):
        raise InputError(f"report must end in .html, got {str(file)!r}")
    check_picture_file(file.with_suffix(".png"))


def measured(model: D2KEModel) -> str:
    """Return the cross-validated accuracy and its error."""
    return f"{model.accuracy:.1f} ± {model.accuracy_error:.1f} %"


def confusion_section(classes: np.ndarray, counts: np.ndarray, how: str) -> list[Block]:
    """Return the section with the confusion matrix."""
    names = [str(name) for name in classes]
    return [
        heading(2, "Confusion"),
        paragraph(f"True classes in rows, predicted ones in columns{how}."),
        image("confusion.png", "confusion", confusion_picture(names, counts)),
    ]


def label_text(label: Any) -> str:
    """Return a class, or a number in four digits."""
    return f"{label:.4g}" if isinstance(label, (float, np.floating)) else str(label)


def object_text(item: Any) -> str:
    """Return a string, cut; of vectors, how many they are."""
    if isinstance(item, (str, bytes)):
        text = item if isinstance(item, str) else repr(item)
        return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}... ({len(text)})"
    array = np.asarray(item)
    return f"{array.shape[0]} x {array.shape[1]}" if array.ndim == 2 else f"{array.size} letters"
