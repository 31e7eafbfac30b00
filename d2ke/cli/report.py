# SPDX-License-Identifier: BSD-3-Clause
"""The page of `--report`: one HTML file, made from the template report.html."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from d2ke._base.files import write_file
from d2ke._base.text import is_value
from d2ke.cli.map_picture import picture
from d2ke.explain.pictures import confusion_size, draw_confusion


class Section(NamedTuple):
    """A part of the page: a heading, a paragraph, a PNG picture and a table, each if there is one.

    `alt` is the picture's text for those who do not see it.
    """

    heading: str = ""
    text: str = ""
    alt: str = ""
    picture: bytes = b""
    columns: Sequence[str] = ()
    rows: Sequence[Sequence[str]] = ()


def write_page(
    file: Path, title: str, summary: tuple[str, str, str], sections: Sequence[Section]
) -> None:
    """Write a page that needs no other file; the middle part of its summary is bold."""
    from jinja2 import Environment

    environment = Environment(autoescape=True, trim_blocks=True)
    environment.filters["base64"] = lambda content: b64encode(content).decode()
    template = environment.from_string(Path(__file__).with_name("report.html").read_text("utf-8"))
    page = template.render(title=title, summary=summary, sections=sections)
    # A file's name may hold bytes that are not text.
    write_file(file, page.encode(errors="backslashreplace"))


def confusion_section(classes: np.ndarray, counts: np.ndarray, how: str) -> Section:
    """Return the section with the confusion matrix."""
    text = f"True classes in rows, predicted ones in columns{how}."
    names = [str(name) for name in classes]
    drawn = picture(confusion_size(len(names)), draw_confusion, names, counts)
    return Section("Confusion", text, "confusion", drawn)


def label_text(label: Any) -> str:
    """Return a class, or a number in four digits."""
    return f"{label:.4g}" if is_value(label) else str(label)
