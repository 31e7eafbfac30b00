# SPDX-License-Identifier: BSD-3-Clause
"""Numbers and labels in the lines of text files, and errors about other text."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence
from io import BufferedReader
from pathlib import Path

import numpy as np

from d2ke._base.files import open_file
from d2ke.objects.values import LARGEST_EXACT_INTEGER

MISSING = "?"
_ABSENT = ("", ".", "na", "nan", "n/a", "#n/a", "<na>", "null", "none", "?", "inf", "infinity")
_WHOLE = re.compile(r"0|-?[1-9][0-9]{0,17}")
_FLOAT = re.compile(r"(?!-0$)-?(?:0|[1-9][0-9]{0,15}|(?=\.))(?:\.([0-9]+))?(?:e[+-][0-9]{2,3})?")
_ZEROS = re.compile(r".0$")
_COMMA = re.compile(r"[+-]?[0-9]+,[0-9]+")
_DIGITS = re.compile(r"[+-]?[0-9]{16,}")


def lines_of(path: Path) -> Iterator[tuple[str, str]]:
    """Yield the place (for errors) and the text, stripped, of each line of a UTF-8 file."""
    with BufferedReader(open_file(path)) as lines:
        for number, line in enumerate(lines, 1):
            where = f"{path}, line {number}"
            try:
                yield where, line.decode("utf-8-sig" if number == 1 else "utf-8").strip()
            except UnicodeDecodeError as error:
                raise ValueError(f"{where} is not UTF-8 text: {error}") from None


def finite_numbers(where: str | Callable[[int], str], fields: Sequence[str]) -> list[float]:
    """Return the numbers of one line; raise ValueError about the first field that is not one.

    `where` is the place of the line, or returns that of a field.
    """
    try:
        values = list(map(float, fields))
    except ValueError:
        values = []
    # One sum instead of a test of each; it may overflow for huge numbers, which are valid.
    if len(values) == len(fields) and math.isfinite(sum(values)):
        text = "".join(fields)
        small = not values or max(max(values), -min(values)) < LARGEST_EXACT_INTEGER
        if small and text.isascii() and "_" not in text:
            return values
    for position, field in enumerate(fields):
        problem = _problem(field.strip())
        if problem:
            place = f"{where}: the value at position {position}"
            if callable(where):
                place = f"{where(position)}: the value"
            raise ValueError(f"{place} is {problem}")
    return values


def _problem(field: str) -> str | None:
    if field == MISSING:
        return f"missing ({field!r}); every value must be there"
    try:
        # Python's float accepts "1_000" and digits of all scripts: no numbers in such files.
        value = float(field.replace("_", " ").encode("ascii"))
    except ValueError:
        comma = "; a decimal comma must be a point" if _COMMA.fullmatch(field) else ""
        return f"{field!r}, not a number{comma}"
    if not math.isfinite(value):
        return f"{field!r}; every value must be finite"
    if _DIGITS.fullmatch(field) and int(field) != value:
        return f"{field!r}, an integer that float64 cannot hold"
    return None


def looks_numeric(fields: Sequence[str]) -> bool:
    """Return whether all fields are numbers, also with a decimal comma, or gaps."""
    found = [field for field in fields if field.lower().lstrip("+-") not in _ABSENT]
    return bool(found) and all(_COMMA.fullmatch(field) or not _problem(field) for field in found)


def is_gap(field: str) -> bool:
    """Return whether a field among numbers is empty, or stands for a number that is missing."""
    return field.lower() in _ABSENT and field.lower() not in ("inf", "infinity")


def in_mixed_forms(labels: Sequence[str]) -> bool:
    """Return whether all labels are numbers, and stay text since they are in several forms."""
    return not any(map(_problem, labels)) and labels_of_text(labels, str).dtype.kind == "U"


def labels_of_text(labels: Sequence[str], where: Callable[[int], str]) -> np.ndarray:
    """Return labels as int64 or float64 if all are numbers in one canonical form, else as text.

    Canonical are whole numbers without a leading zero or plus, and floats as programs print them
    without trailing zeros, or all with as many decimals. Two texts are never one number. What is
    missing or infinite among numbers, and a decimal comma, are refused; `where` names the place of
    a label.
    """
    if "" in labels:
        raise ValueError(f"{where(labels.index(''))}: the label is empty")
    if all(_WHOLE.fullmatch(label) for label in labels):
        return np.array([int(label) for label in labels], np.int64)
    others = [i for i, label in enumerate(labels) if _problem(label)]
    comma = bool(others) and all(_COMMA.fullmatch(labels[i]) for i in others)
    absent = all(labels[i].lower().lstrip("+-") in _ABSENT for i in others)
    if comma or (absent and 0 < len(others) < len(labels)):
        what = "has a decimal comma; write a point" if comma else "stands among numbers"
        raise ValueError(f"{where(others[0])}: the label {labels[others[0]]!r} {what}")
    forms = [_FLOAT.fullmatch(label) for label in labels]
    decimals = {len(form[1] or "") for form in forms if form}
    shortest = not any(form and _ZEROS.search(form[1] or "") for form in forms)
    if not others and None not in forms and (len(decimals) == 1 or shortest):
        values = np.array([float(label) for label in labels])
        if len(np.unique(values.view(np.int64))) == len(set(labels)):
            return values
    return np.array(labels, dtype=str)
