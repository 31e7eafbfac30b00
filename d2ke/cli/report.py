# SPDX-License-Identifier: BSD-3-Clause
"""The page of `--report`: one HTML file, made from the template report.html."""

from __future__ import annotations

import io
from base64 import b64encode
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from d2ke._base.files import write_file
from d2ke._base.text import is_value
from d2ke.plots.model import ModelPicture
from d2ke.plots.style import panels


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


def picture(size: tuple[float, float], draw: Callable[..., None], *arguments: Any) -> bytes:
    """Return the PNG picture that ``draw(axes, *arguments)`` draws, of a size in inches."""
    figure, (axes,) = panels(1, 1, size)
    draw(axes, *arguments)
    return saved(figure)


def saved(figure: Any, form: str = "png", dpi: int = 150) -> bytes:
    """Return the file of a picture."""
    content = io.BytesIO()
    figure.savefig(content, format=form, dpi=dpi)
    return content.getvalue()


def picture_section(one: ModelPicture) -> Section:
    """Return the section of a picture."""
    return Section(one.heading, one.text, one.heading.lower(), picture(one.size, one.draw))


def label_text(label: Any) -> str:
    """Return a class, or a number in four digits."""
    return f"{label:.4g}" if is_value(label) else str(label)
