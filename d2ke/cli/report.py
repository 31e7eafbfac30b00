# SPDX-License-Identifier: BSD-3-Clause
"""The page of `--report`: one HTML file, made from the template report.html."""

from __future__ import annotations

import io
import re
from base64 import b64encode
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from d2ke._base.files import write_file
from d2ke._base.text import is_value
from d2ke.plots.model import ModelPicture
from d2ke.plots.style import panels

_DPI = 150
_LEAST_SCALE = 0.46  # of a picture in a narrow window: its small text has about 8 pixels
_NUMBER = re.compile(r"[+-]?[\d.]+(e[+-]?\d+)?( %)?")


class Section(NamedTuple):
    """A part of the page: a heading, a paragraph, a PNG picture and a table, each if there is one.

    `alt` is the alternative text of the picture.
    """

    heading: str = ""
    text: str = ""
    alt: str = ""
    picture: bytes = b""
    columns: Sequence[str] = ()
    rows: Sequence[Sequence[str]] = ()

    @property
    def wide(self) -> bool:
        """Whether the section needs the whole width of the page."""
        return bool(self.columns) or not self.picture or _width(self.picture) > 8 * _DPI

    @property
    def wide_table(self) -> bool:
        """Whether the cells of a row of the table are stacked in a narrow window."""
        longest = max((len(cell) for row in self.rows for cell in row), default=0)
        return len(self.columns) > 4 or longest > 40

    @property
    def least_width(self) -> int:
        """The pixels below which the picture is scrolled."""
        return round(_LEAST_SCALE * _width(self.picture))

    @property
    def numbers(self) -> list[bool]:
        """Whether each column contains numbers, which are aligned at the right."""
        cells = ([row[i] for row in self.rows if row[i]] for i in range(len(self.columns)))
        return [bool(column) and all(map(_NUMBER.fullmatch, column)) for column in cells]

    def without_empty_columns(self) -> Section:
        """Return the section without the columns of its table in which no row has an entry."""
        used = [i for i in range(len(self.columns)) if any(row[i] for row in self.rows)]
        rows = [[row[i] for i in used] for row in self.rows]
        return self._replace(columns=[self.columns[i] for i in used], rows=rows)


def _width(png: bytes) -> int:
    """Return the width in pixels in the header of a PNG picture, 0 without a picture."""
    return int.from_bytes(png[16:20], "big")


def write_page(
    file: Path, title: str, summary: tuple[str, str, str], sections: Sequence[Section]
) -> None:
    """Write a self-contained page; the middle of its summary is bold."""
    from jinja2 import Environment

    environment = Environment(autoescape=True, trim_blocks=True)
    environment.filters["base64"] = lambda content: b64encode(content).decode()
    template = environment.from_string(Path(__file__).with_name("report.html").read_text("utf-8"))
    shown = [section.without_empty_columns() for section in sections]
    page = template.render(title=title, summary=summary, sections=shown)
    # A file's name may hold bytes that are not text.
    write_file(file, page.encode(errors="backslashreplace"))


def picture(size: tuple[float, float], draw: Callable[..., None], *arguments: Any) -> bytes:
    """Return the PNG picture that ``draw(axes, *arguments)`` draws, of a size in inches."""
    figure, (axes,) = panels(1, 1, size)
    draw(axes, *arguments)
    return saved(figure)


def saved(figure: Any, form: str = "png", dpi: int = _DPI) -> bytes:
    """Return the file of a picture."""
    content = io.BytesIO()
    figure.savefig(content, format=form, dpi=dpi)
    return content.getvalue()


def picture_section(view: ModelPicture) -> Section:
    """Return the section of a picture."""
    return Section(view.heading, view.text, view.heading.lower(), picture(view.size, view.draw))


def label_text(label: Any) -> str:
    """Return a class, or a number in four digits."""
    return f"{label:.4g}" if is_value(label) else str(label)
