# SPDX-License-Identifier: BSD-3-Clause
"""A document of headings, paragraphs, lists, tables and figures, as Markdown and as HTML.

Text is plain except for ``**bold**``; all else that has a meaning in either language is escaped.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Sequence
from html import escape
from typing import NamedTuple

_PAGE = """\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{title}</title>
<style>
:root {{ color-scheme: light dark; --text: #111; --page: #fff; --line: #ccc; --rule: #555; }}
@media (prefers-color-scheme: dark) {{
  :root {{ --text: #e6e6e6; --page: #16181c; --line: #3d4148; --rule: #9aa0a8; }}
}}
@media print {{
  :root {{ --text: #111; --page: #fff; --line: #ccc; --rule: #555; }}
}}
html {{ color: var(--text); background: var(--page); }}
body {{ font: 16px/1.5 system-ui, sans-serif; max-width: 75rem; margin: 2rem auto;
       padding: 0 1rem; }}
h1, h2, h3 {{ line-height: 1.2; }}
.scroll {{ overflow-x: auto; }}
table {{ border-collapse: collapse; font-size: 0.9rem; font-variant-numeric: tabular-nums; }}
th, td {{ padding: 0.25rem 0.7rem; border-bottom: 1px solid var(--line); text-align: left;
         vertical-align: top; white-space: nowrap; }}
td.wide {{ white-space: normal; min-width: 20rem; }}
th {{ border-bottom: 2px solid var(--rule); }}
/* Pictures are drawn on white: a light card in the dark. */
img {{ max-width: 100%; height: auto; background: #fff; border-radius: 4px; }}
</style>
</head>
<body>
{body}
</body>
</html>
"""
_LONG = 60  # characters; longer cells may break into lines


class Block(NamedTuple):
    """A part of the document in both languages."""

    markdown: str
    html: str


def heading(level: int, text: str) -> Block:
    """Return a heading of level 1, 2 or 3."""
    return Block(f"{'#' * level} {_markdown(text)}", f"<h{level}>{_html(text)}</h{level}>")


def paragraph(text: str) -> Block:
    """Return a paragraph."""
    return Block(_markdown(text), f"<p>{_html(text)}</p>")


def items(texts: Sequence[str]) -> Block:
    """Return a list."""
    return Block(
        "\n".join(f"- {_markdown(text)}" for text in texts),
        "<ul>\n" + "\n".join(f"<li>{_html(text)}</li>" for text in texts) + "\n</ul>",
    )


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> Block:
    """Return a table; in HTML, it scrolls by itself on a narrow screen."""
    lines = [header, ["---"] * len(header), *rows]
    cells = [[_markdown(cell).replace("|", "\\|") for cell in line] for line in lines]
    head = "".join(f"<th>{_html(cell)}</th>" for cell in header)
    body = "\n".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in rows)
    return Block(
        "\n".join(f"| {' | '.join(line)} |" for line in cells),
        f'<div class="scroll"><table>\n<thead><tr>{head}</tr></thead>\n'
        f"<tbody>\n{body}\n</tbody>\n</table></div>",
    )


def image(path: str, text: str, content: bytes) -> Block:
    """Return a PNG picture: a link to the file `path` in Markdown, the content itself in HTML."""
    data = base64.b64encode(content).decode()
    source = f"data:image/png;base64,{data}"
    return Block(f"![{text}]({path})", f'<p><img alt="{escape(text)}" src="{source}"></p>')


def as_markdown(blocks: Sequence[Block]) -> str:
    """Return a document as Markdown."""
    return "\n\n".join(block.markdown for block in blocks) + "\n"


def as_html(title: str, blocks: Sequence[Block]) -> str:
    """Return a document as one HTML file that needs no other."""
    return _PAGE.format(title=escape(title), body="\n".join(block.html for block in blocks))


def _cell(text: str) -> str:
    kind = ' class="wide"' if len(text) > _LONG else ""
    return f"<td{kind}>{_html(text)}</td>"


def _markdown(text: str) -> str:
    """Escape what Markdown would read as HTML, code or emphasis, except bold."""
    text = re.sub(r"\*\*(.+?)\*\*", "\0\\1\0", text)
    return re.sub(r"([*<`\\])", r"\\\1", text).replace("\0", "**")


def _html(text: str) -> str:
    return re.sub(r"\*\*(.+?)\*\*", r"<b>\1</b>", escape(text))
