# SPDX-License-Identifier: BSD-3-Clause
"""Numbers and labels in the lines of text files, and errors about other text."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

MISSING = "?"
_WHOLE = re.compile(r"-?(0|[1-9]\d{0,17})")
_CODE = re.compile(r"-?0\d")


def lines_of(path: Path) -> Iterator[tuple[str, str]]:
    """Yield the place (for errors) and the text, stripped, of each line of a UTF-8 file."""
    with open(path, "rb") as lines:
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
    if len(values) == len(fields) and math.isfinite(sum(values)) and "_" not in "".join(fields):
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
        # Python's float accepts "1_000", which is no number in such files.
        value = float(field.replace("_", " "))
    except ValueError:
        return f"{field!r}, not a number"
    return None if math.isfinite(value) else f"{field!r}; every value must be finite"


def labels_of_text(labels: Sequence[str]) -> np.ndarray:
    """Return labels as int64 if all are whole numbers, float64 if all are numbers, else str."""
    if all(_WHOLE.fullmatch(label) for label in labels):
        return np.array([int(label) for label in labels], np.int64)
    if not any(_problem(label) or _CODE.match(label) for label in labels):
        return np.array([float(label) for label in labels])
    return np.array(labels, dtype=str)
