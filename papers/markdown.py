# SPDX-License-Identifier: BSD-3-Clause
"""Lists and tables in Markdown. Text is plain except for ``**bold**``; the rest is escaped."""

from __future__ import annotations

import re
from collections.abc import Sequence


def items(texts: Sequence[str]) -> str:
    """Return a list."""
    return "\n".join(f"- {escaped(text)}" for text in texts)


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table."""
    lines = [header, ["---"] * len(header), *rows]
    cells = [[escaped(cell).replace("|", "\\|") for cell in line] for line in lines]
    return "\n".join(f"| {' | '.join(line)} |" for line in cells)


def escaped(text: str) -> str:
    """Escape what Markdown would read as HTML, code or emphasis, except bold."""
    text = re.sub(r"\*\*(.+?)\*\*", "\0\\1\0", text)
    return re.sub(r"([*<`\\])", r"\\\1", text).replace("\0", "**")
