# SPDX-License-Identifier: BSD-3-Clause
"""Numbers, dates, times and labels in fields of text, and errors about other text."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from datetime import date
from typing import Any

import numpy as np

from d2ke.objects.values import INEXACT, LARGEST_EXACT_INTEGER

MISSING = "?"
GAPS = frozenset(("", ".", "na", "nan", "nat", "n/a", "#n/a", "<na>", "null", "none", "?"))
_ABSENT = GAPS | {"inf", "infinity"}
_WHOLE = re.compile(r"0|-?[1-9][0-9]{0,17}")
_FLOAT = re.compile(r"(?!-0$)-?(?:0|[1-9][0-9]{0,15}|(?=\.))(?:\.([0-9]+))?(?:e[+-][0-9]{2,3})?")
_ZEROS = re.compile(r".0$")
_COMMA = re.compile(r"[+-]?[0-9]+,[0-9]+")
_THOUSANDS = re.compile(r"[+-]?[1-9][0-9]{0,2}(,[0-9]{3})+")
_DIGITS = re.compile(r"([+-]?[0-9]{16,})(?:\.0*)?")
_BOOLEANS = ({"True": True, "False": False}, {"true": True, "false": False},
             {"TRUE": True, "FALSE": False})  # fmt: skip
_DAY = re.compile(r"[0-9]{4}-([0-9]{2}|[0-9]{1,2}-[0-9]{1,2})")
_CLOCK = r"([0-9]{2}):([0-9]{2})(?::([0-9]{2})(?:\.([0-9]{1,9}))?)?"
_TIME = re.compile(
    rf"([0-9]{{4}}-[0-9]{{1,2}}-[0-9]{{1,2}})"
    rf"(?:[T ]{_CLOCK} ?(Z|UTC|[+-][0-9]{{2}}(?::?[0-9]{{2}})?)?)?"
)
_SPAN = re.compile(
    r"(?=.*[:y])(?:([+-]?[0-9]+) days?)?(?:(?:^|,? )([+-]?)([0-9]+):([0-5][0-9])(?::([0-9]{2})"
    r"(?:\.([0-9]{1,9}))?)?)?"
)
_ISO_SPAN = re.compile(
    r"(-?)P(?=.)(?:([0-9]+)W)?(?:([0-9]+)D)?(?:T(?=.)(?:([0-9]+)H)?(?:([0-9]+)M)?"
    r"(?:([0-9]+)(?:\.([0-9]{1,9}))?S)?)?"
)
NANO = 10**9


def finite_numbers(where: str | Callable[[int], str], fields: Sequence[str]) -> list[float]:
    """Return the numbers of one line; raise ValueError about the first field that is not one.

    `where` names the line, or returns the name of a field.
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
            entry = f"{where}: the value at position {position}"
            if callable(where):
                entry = f"{where(position)}: the value"
            raise ValueError(f"{entry} is {problem}")
    return values


def _problem(field: str) -> str | None:
    if field == MISSING:
        return f"missing ({field!r}); every value must be there"
    try:
        # Python's float accepts "1_000" and digits of all scripts: no numbers in such files.
        value = float(field.replace("_", " ").encode("ascii"))
    except ValueError:
        return f"{field!r}, not a number{_about_comma([field])}"
    if not math.isfinite(value):
        return f"{field!r}; every value must be finite"
    digits = _DIGITS.fullmatch(field)
    if digits and int(digits[1]) != value:
        return f"{field!r}, {INEXACT}"
    return None


def _about_comma(fields: Sequence[str]) -> str:
    """Return advice about fields with a comma, which may be a decimal comma."""
    if all(map(_THOUSANDS.fullmatch, fields)):
        return "; write a point if the comma is a decimal one, and none between thousands"
    return "; a decimal comma must be a point" if all(map(_COMMA.fullmatch, fields)) else ""


def is_gap(field: str) -> bool:
    """Return whether a field among numbers is empty, or marks a missing number."""
    return field.lower() in GAPS


def looks_numeric(fields: Sequence[str]) -> bool:
    """Return whether all fields are numbers, also with a decimal comma, or gaps."""
    present = [field for field in fields if field.lower().lstrip("+-") not in _ABSENT]
    try:  # all at once, where they are plain
        list(map(float, present))
        text = "".join(present)
        if text.isascii() and "_" not in text:
            return bool(present)
    except ValueError:
        pass
    return bool(present) and all(
        any(form.fullmatch(field) for form in (_COMMA, _THOUSANDS, _DIGITS)) or not _problem(field)
        for field in present
    )


def use_of_fields(fields: Sequence[str]) -> str:
    """Return the use of fields: numbers, booleans, dates, times, durations, or strings.

    All must be of one kind, or missing. Dates are YYYY-MM-DD, or all YYYY-MM (its
    first day); times are dates, a T or a blank, HH:MM[:SS[.S]] and perhaps a zone (Z, UTC, +HH:MM);
    durations are "1 days 02:00:00", "26:00:00", "10:05" or "P1DT2H".
    """
    if looks_numeric(fields):
        return "numbers"
    present = [field for field in fields if not is_gap(field)]
    for use, read in _READS.items():
        agree = use != "dates" or len({field.count("-") for field in present}) == 1
        if present and agree and all(read(field) is not None for field in present):
            return use
    return "strings"


def counts_of_fields(fields: Sequence[str], use: str) -> tuple[list[Any], int | None]:
    """Return booleans, days, or nanoseconds of fields, and the index of the first invalid field."""
    counts = list(map(_READS[use], fields))
    return counts, counts.index(None) if None in counts else None


def is_naive(field: str) -> bool:
    """Return whether a time has no zone."""
    match = _TIME.fullmatch(field)
    return match is not None and match[6] is None


def _boolean(field: str) -> bool | None:
    return next((words[field] for words in _BOOLEANS if field in words), None)


def _day(field: str) -> int | None:
    """Return the number of days since 1970-01-01."""
    if not _DAY.fullmatch(field):
        return None
    try:
        return date(*map(int, f"{field}-1".split("-")[:3])).toordinal() - 719163  # 1970-01-01
    except ValueError:  # 2023-02-30
        return None


def instant(field: str) -> int | None:
    """Return the number of nanoseconds since 1970-01-01 UTC; midnight if there is a date only."""
    match = _TIME.fullmatch(field)
    days = None if match is None else _day(match[1])
    if match is None or days is None:
        return None
    hours, minutes, seconds = (int(match[i] or 0) for i in (2, 3, 4))
    zone = re.sub("[^0-9]", "", match[6] or "").ljust(4, "0")
    if hours > 23 or minutes > 59 or seconds > 59 or int(zone[2:]) > 59:
        return None
    offset = int(zone[:2]) * 60 + int(zone[2:])
    minutes += 60 * hours - (-offset if (match[6] or "").startswith("-") else offset)
    return ((days * 1440 + minutes) * 60 + seconds) * NANO + int((match[5] or "").ljust(9, "0"))


def _span(field: str) -> int | None:
    """Return the number of nanoseconds of a duration."""
    match = _SPAN.fullmatch(field)
    if match is not None:  # "-1 days +23:00:00" is -1 day and 23 hours
        total = int(match[1] or 0) * 86400 * NANO
        sign, *clock, rest = match.groups()[1:]
    else:
        match, total = _ISO_SPAN.fullmatch(field), 0
        if match is None:
            return None
        sign, weeks, days, *clock, rest = match.groups()
        clock[0] = str(24 * (7 * int(weeks or 0) + int(days or 0)) + int(clock[0] or 0))
    hours, minutes, seconds = (int(count or 0) for count in clock)
    count = ((hours * 60 + minutes) * 60 + seconds) * NANO + int((rest or "").ljust(9, "0"))
    return total + (-count if sign == "-" else count)


def in_mixed_forms(labels: Sequence[str]) -> bool:
    """Return whether all labels are numbers of several forms, which stay text."""
    return not any(map(_problem, labels)) and labels_of_text(labels, str).dtype.kind == "U"


def labels_of_text(labels: Sequence[str], where: Callable[[int], str]) -> np.ndarray:
    """Return labels as int64 or float64 if all are numbers in one canonical form, else as text.

    Canonical are whole numbers without a leading zero or plus, and floats as programs print them
    without trailing zeros, or all with equally many decimals. Two texts are never one number.
    Missing or infinite entries among numbers, and a decimal comma, are refused; `where` names a
    label. True and False, written in one way, are bool; dates, times and durations are days
    (int64) or seconds (float64), if no two texts are one.
    """
    if "" in labels:
        raise ValueError(f"{where(labels.index(''))}: the label is empty")
    integers = whole_numbers(labels)
    if integers is not None:
        return integers
    rejected = [i for i, label in enumerate(labels) if _problem(label)]
    comma = bool(rejected) and all(_COMMA.fullmatch(labels[i]) for i in rejected)
    absent = all(labels[i].lower().lstrip("+-") in _ABSENT for i in rejected)
    if comma or (absent and 0 < len(rejected) < len(labels)):
        what = f"has a comma{_about_comma([labels[i] for i in rejected])}"
        what = what if comma else "stands among numbers"
        raise ValueError(f"{where(rejected[0])}: the label {labels[rejected[0]]!r} {what}")
    forms = [_FLOAT.fullmatch(label) for label in labels]
    decimals = {len(form[1] or "") for form in forms if form}
    shortest = not any(form and _ZEROS.search(form[1] or "") for form in forms)
    if not rejected and None not in forms and (len(decimals) == 1 or shortest):
        values = np.array([float(label) for label in labels])
        if len(np.unique(values.view(np.int64))) == len(set(labels)):
            return values
    use = use_of_fields(labels)
    if use not in ("numbers", "strings"):
        counts, gap = counts_of_fields(labels, use)
        if gap is not None:
            raise ValueError(f"{where(gap)}: the label {labels[gap]!r} stands among {use}")
        one_form = use != "booleans" or any(words.keys() >= set(labels) for words in _BOOLEANS)
        if one_form and len(set(counts)) == len(set(labels)):
            return np.array(counts) if use in ("booleans", "dates") else seconds_of(counts, NANO)
    return np.array(labels, dtype=str)


def whole_numbers(fields: Sequence[str]) -> np.ndarray | None:
    """Return int64 if all fields are whole numbers without a leading zero or plus, else None."""
    if all(map(_WHOLE.fullmatch, fields)):
        return np.array(list(map(int, fields)), np.int64)
    return None


def seconds_of(counts: Any, unit: int) -> np.ndarray:
    """Return counts, of which `unit` make a second, as seconds; equal times have equal bits."""
    counts = np.asarray(counts)  # Python integers where int64 is too short
    return (counts // unit).astype(np.float64) + (counts % unit).astype(np.float64) / unit


# How fields of each use are read.
_READS: dict[str, Callable[[str], Any]] = {
    "booleans": _boolean, "dates": _day, "times": instant, "durations": _span
}  # fmt: skip
