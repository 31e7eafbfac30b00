# SPDX-License-Identifier: BSD-3-Clause
"""A small document of headings, paragraphs, lists, tables and figures, as Markdown and as HTML.

Text is plain but for ``**bold**``; whatever else has a meaning in either language is escaped.
"""

from __future__ import annotations

import base64
import html
import re
from collections.abc import Sequence
from dataclasses import dataclass

_STYLE = """\
body { color: #111; background: #fff; font: 16px/1.5 system-ui, sans-serif;
       max-width: 75rem; margin: 2rem auto; padding: 0 1rem; }
h1, h2, h3 { line-height: 1.2; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-size: 0.9rem; font-variant-numeric: tabular-nums; }
th, td { padding: 0.25rem 0.7rem; border-bottom: 1px solid #ccc; text-align: left;
         vertical-align: top; white-space: nowrap; }
td.wide { white-space: normal; min-width: 20rem; }
th { border-bottom: 2px solid #555; }
img { max-width: 100%; height: auto; }
"""
_LONG = 60  # characters from which on a cell may be broken into lines


@dataclass(frozen=True)
class Heading:
    """A heading of level 1, 2 or 3."""

    level: int
    text: str

    def markdown(self) -> str:
        """Return the heading as Markdown."""
        return f"{'#' * self.level} {_markdown(self.text)}"

    def html(self) -> str:
        """Return the heading as HTML."""
        return f"<h{self.level}>{_html(self.text)}</h{self.level}>"


@dataclass(frozen=True)
class Paragraph:
    """A paragraph."""

    text: str

    def markdown(self) -> str:
        """Return the paragraph as Markdown."""
        return _markdown(self.text)

    def html(self) -> str:
        """Return the paragraph as HTML."""
        return f"<p>{_html(self.text)}</p>"


@dataclass(frozen=True)
class Items:
    """A list."""

    texts: Sequence[str]

    def markdown(self) -> str:
        """Return the list as Markdown."""
        return "\n".join(f"- {_markdown(text)}" for text in self.texts)

    def html(self) -> str:
        """Return the list as HTML."""
        return "<ul>\n" + "\n".join(f"<li>{_html(text)}</li>" for text in self.texts) + "\n</ul>"


@dataclass(frozen=True)
class Table:
    """A table with a row of column names."""

    header: Sequence[str]
    rows: Sequence[Sequence[str]]

    def markdown(self) -> str:
        """Return the table as Markdown."""
        lines = [self.header, ["---"] * len(self.header), *self.rows]
        return "\n".join(
            "| " + " | ".join(_markdown(cell).replace("|", "\\|") for cell in line) + " |"
            for line in lines
        )

    def html(self) -> str:
        """Return the table as HTML; on a narrow screen it scrolls by itself."""
        head = "".join(f"<th>{_html(cell)}</th>" for cell in self.header)
        rows = "\n".join(
            "<tr>" + "".join(self._cell(cell) for cell in row) + "</tr>" for row in self.rows
        )
        return (
            f'<div class="scroll"><table>\n<thead><tr>{head}</tr></thead>\n'
            f"<tbody>\n{rows}\n</tbody>\n</table></div>"
        )

    @staticmethod
    def _cell(text: str) -> str:
        kind = ' class="wide"' if len(text) > _LONG else ""
        return f"<td{kind}>{_html(text)}</td>"


@dataclass(frozen=True)
class Image:
    """A PNG picture: beside the Markdown file at `path`, inside the HTML file."""

    path: str
    text: str
    content: bytes

    def markdown(self) -> str:
        """Return a link to the picture's file."""
        return f"![{self.text}]({self.path})"

    def html(self) -> str:
        """Return the picture itself."""
        data = base64.b64encode(self.content).decode()
        text = html.escape(self.text)
        return f'<p><img alt="{text}" src="data:image/png;base64,{data}"></p>'


Block = Heading | Paragraph | Items | Table | Image


def as_markdown(blocks: Sequence[Block]) -> str:
    """Return a document as Markdown."""
    return "\n\n".join(block.markdown() for block in blocks) + "\n"


def as_html(title: str, blocks: Sequence[Block]) -> str:
    """Return a document as one HTML file that needs no other."""
    body = "\n".join(block.html() for block in blocks)
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{html.escape(title)}</title>\n<style>\n{_STYLE}</style>\n</head>\n"
        f"<body>\n{body}\n</body>\n</html>\n"
    )


def _markdown(text: str) -> str:
    """Escape what would be taken for HTML, code or emphasis; bold stays bold."""
    text = re.sub(r"\*\*(.+?)\*\*", "\0\\1\0", text)
    return re.sub(r"([*<`\\])", r"\\\1", text).replace("\0", "**")


def _html(text: str) -> str:
    return re.sub(r"\*\*(.+?)\*\*", r"<b>\1</b>", html.escape(text))
