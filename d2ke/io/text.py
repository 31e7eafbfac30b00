# SPDX-License-Identifier: BSD-3-Clause
"""Numbers and labels in the lines of text files, and errors about other text."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from io import BufferedReader
from pathlib import Path

import numpy as np

from d2ke._base.files import open_file

MISSING = "?"
_WHOLE = re.compile(r"-?(0|[1-9][0-9]{0,17})")
_CODE = re.compile(r"-?0[0-9]")


def lines_of(path: Path) -> Iterator[tuple[str, str]]:
    """Yield the place (for errors) and the text, stripped, of each line of a UTF-8 file."""
    with BufferedReader(open_file(path)) as lines:
        for number, line in enumerate(lines, 1):
            where = f"{path}, line {number}"
            try:
                yield where, line.decode("utf-8-sig" if number == 1 else "utf-8").strip()
            except UnicodeDecodeError as error:
                raise ValueError(f"{where} is not UTF-8 text: {error}") from None


def finite_numbers(where: str, fields: Sequence[str]) -> list[float]:
    """Return the numbers of one line; raise ValueError about the first field that is not one."""
    try:
        values = list(map(float, fields))
    except ValueError:
        values = []
    # One sum instead of a test of each; it may overflow for huge numbers, which are valid.
    if len(values) == len(fields) and math.isfinite(sum(values)):
        text = "".join(fields)
        if text.isascii() and "_" not in text:
            return values
    for position, field in enumerate(fields):
        problem = _problem(field.strip())
        if problem:
            raise ValueError(f"{where}: the value at position {position} is {problem}")
    return values


def _problem(field: str) -> str | None:
    if field == MISSING:
        return f"missing ({field!r}); every value must be there"
    try:
        # Python's float accepts "1_000" and digits of all scripts: no numbers in such files.
        value = float(field.replace("_", " ").encode("ascii"))
    except ValueError:
        return f"{field!r}, not a number"
    return None if math.isfinite(value) else f"{field!r}; every value must be finite"


def labels_of_text(labels: Sequence[str]) -> np.ndarray:
    """Return labels as int64 if all are whole numbers, float64 if all are numbers, else str.

    Whole numbers beyond both types stay text: two of them may round to one float64.
    """
    if all(_WHOLE.fullmatch(label) for label in labels):
        return np.array([int(label) for label in labels], np.int64)
    if not any(_problem(label) or _CODE.match(label) or _is_rounded(label) for label in labels):
        return np.array([float(label) for label in labels])
    return np.array(labels, dtype=str)


def _is_rounded(label: str) -> bool:
    """Return whether a label is a whole number that float64 would round."""
    digits = label.strip().lstrip("+-").partition(".")
    if not digits[0].isdecimal() or digits[2].strip("0"):
        return False
    return int(float(label)) != int(label.partition(".")[0])
