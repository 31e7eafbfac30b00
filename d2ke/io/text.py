# SPDX-License-Identifier: BSD-3-Clause
"""The lines of text files."""

from __future__ import annotations

from collections.abc import Iterator
from io import BufferedReader
from pathlib import Path

from d2ke._base.files import open_file


def lines_of(path: Path) -> Iterator[tuple[str, str]]:
    """Yield the place (for errors) and the text, stripped, of each line of a UTF-8 file."""
    with BufferedReader(open_file(path)) as lines:
        for number, line in enumerate(lines, 1):
            where = f"{path}, line {number}"
            try:
                yield where, line.decode("utf-8-sig" if number == 1 else "utf-8").strip()
            except UnicodeDecodeError as error:
                raise ValueError(f"{where} is not UTF-8 text: {error}") from None
