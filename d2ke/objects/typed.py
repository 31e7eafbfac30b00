# SPDX-License-Identifier: BSD-3-Clause
"""Typed columns: their entries as numbers, labels, text or sort keys."""

from __future__ import annotations

import numbers
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from d2ke._base.errors import ArgumentError, ArgumentTypeError
from d2ke._base.labels import label_array
from d2ke.objects.container import Objects
from d2ke.objects.fields import (
    finite_numbers,
    labels_of_text,
    seconds_of,
    use_of_fields,
    whole_numbers,
)
from d2ke.objects.values import INEXACT, LARGEST_EXACT_INTEGER, list_of

NUMERIC = ("numbers", "booleans", "durations")  # uses of columns that are amounts
CLOCKS = ("dates", "times", "naive times")  # and of those that are points in time
NOTES = {
    "dates": "dates, in days since 1970-01-01",
    "times": "times, in seconds since 1970-01-01 UTC",
    "naive times": "times without a zone, which count as UTC, in seconds since 1970-01-01",
    "durations": "durations, in seconds",
    "booleans": "booleans",
}


class Fields(list[Any]):
    """The fields of a column of text; None stands for an empty one."""


@dataclass(frozen=True, eq=False)
class Typed:
    """A column with the type of its entries.

    Attributes
    ----------
    use : str
        "objects"; "numbers", "booleans", "dates", "times", "naive times" or "durations";
        "categories"; "missing" without any entry; "other" for a type that has no use.
    values : Any
        The entries that are there: what `pack` takes, numbers, labels, or counts of days (of dates)
        or of `unit` parts of a second.
    missing : ndarray of bool, shape (n,)
        The rows without an entry.
    type : str
        What a column of another type holds.
    row : int or None
        The first row of a type that does not mix.
    name : str
        What errors call the column.
    where : function or None
        Returns what errors call a row, such as a line of a file.
    """

    use: str
    values: Any
    missing: np.ndarray
    unit: int = 1
    type: str = ""
    row: int | None = None
    fields: Sequence[str] | None = field(default=None, repr=False)  # the entries, of text
    all_fields: Sequence[Any] = field(default=(), repr=False)
    name: str = ""
    where: Callable[[int], str] | None = None

    def __len__(self) -> int:
        return len(self.missing)

    @property
    def note(self) -> str:
        """The note on the column in a report, beside its name; nothing for the usual uses."""
        return self.type if self.use == "other" else self.use if self.use in NOTES else ""

    @property
    def rows(self) -> np.ndarray:
        """The rows with an entry."""
        return np.flatnonzero(~self.missing)

    @property
    def scalar(self) -> bool:
        """Whether each entry is a text, a number or a time, and not a list."""
        if self.use != "objects" or self.fields is not None:
            return self.use not in ("other", "missing")
        if hasattr(self.values, "type"):  # of pyarrow
            return str(self.values.type).endswith(("string", "string_view"))
        return isinstance(next(iter(self.values), None), str)

    def error(
        self, problem: str, row: int, what: str = "value", kind: Any = ArgumentError
    ) -> Exception:
        """Return an error about the entry of a row."""
        if self.where is None:
            about: Exception = kind(self.name, problem, row)
            return about
        return ValueError(f"{self.where(int(row))}: the {what} {problem}")

    def refuse(self, needed: str) -> Exception:
        """Return an error about a column of the wrong use."""
        if self.row is not None:
            return self.error(self.type, self.row, kind=ArgumentTypeError)
        words = {"other": self.type, "missing": "no entry", "objects": "strings or lists"}
        return ArgumentTypeError(self.name, f"holds {words.get(self.use, self.use)}; {needed}")

    def need_all(self, reason: str, what: str = "value") -> None:
        """Refuse rows without an entry."""
        if self.missing.any():
            row = int(self.missing.argmax())
            shown = "missing"
            if self.all_fields:  # such as NA among numbers
                shown = repr(self.all_fields[row]) if self.all_fields[row] else "empty"
            raise self.error(f"is {shown}; {reason}", row, what)

    def numbers(self) -> np.ndarray:
        """Return the entries as finite float64; whole numbers are not rounded."""
        if self.use in CLOCKS or self.use == "durations":
            return seconds_of(self.values, self.unit)
        if self.use not in NUMERIC:
            if self.fields is not None:
                self._parse()
            raise self.refuse("numbers are needed")
        if self.fields is not None and self.use == "numbers":
            return self._parse()
        values, rows = self.values, self.rows
        if isinstance(values, np.ndarray):
            floats = values.astype(np.float64)
        else:
            floats = np.array([_float(value) for value in values])
        are_integers = not (isinstance(values, np.ndarray) and values.dtype.kind == "f")
        large = np.abs(floats) >= LARGEST_EXACT_INTEGER if are_integers else np.isinf(floats)
        for i in np.flatnonzero(large).tolist():
            value, number = values[i], floats[i]
            if np.isinf(number):
                raise self.error(f"is {value}; numbers must be finite", rows[i])
            if int(value) == value and int(value) != int(number):
                raise self.error(f"is {value}, {INEXACT}", rows[i])
        return floats

    def channel(self, missing: bool = False) -> np.ndarray:
        """Return a number for each row, float32 where the column is; NaN stands for no entry."""
        if not missing:
            self.need_all("every value must be there")
        floats = np.empty(0) if self.use == "missing" else self.numbers()
        if isinstance(self.values, np.ndarray) and self.values.dtype == np.float32:
            floats = self.values
        result = np.full(len(self), np.nan, floats.dtype)
        result[self.rows] = floats
        return result

    def keys(self) -> list[Any]:
        """Return sort keys: exact numbers, counts of days or of parts of seconds."""
        self.need_all("every row of a series needs a time")
        if self.use not in (*NUMERIC, *CLOCKS):
            for row, text in enumerate(self.fields or ()):
                if use_of_fields([text]) not in (*NUMERIC, *CLOCKS):
                    problem = f"is {text!r}, not a number, a date or a time (2024-02-29 10:00)"
                    raise self.error(problem, row)
            if self.fields is not None:
                self._parse()
            raise self.refuse("numbers, dates or times are needed")
        if self.use == "numbers" and self.fields is not None:
            if all(text.removeprefix("-").isdecimal() and text.isascii() for text in self.fields):
                return list(map(int, self.fields))
            return self._parse().tolist()
        if self.use == "numbers":
            for row, value in enumerate(self.values):
                if value in (np.inf, -np.inf):
                    raise self.error(f"is {value}; it must be finite", row)
        return self.values.tolist() if isinstance(self.values, np.ndarray) else list(self.values)

    def texts(self) -> list[str]:
        """Return the entries as text: dates and times in the form of ISO 8601."""
        if self.use == "dates":
            return [str(np.datetime64(int(count), "D")) for count in self.values]
        if self.use in CLOCKS:
            zone = "Z" if self.use == "times" else ""
            return [_iso(int(count), self.unit) + zone for count in self.values]
        if self.fields is not None:
            return list(self.fields)
        if self.use == "durations":
            return list(map(str, self.numbers().tolist()))
        return list(map(str, self._plain()))

    def labels(self) -> np.ndarray:
        """Return labels: bool, int64, float64 or str; dates are days, times and durations seconds.

        Labels of text become numbers by the rule of `labels_of_text`.
        """
        self.need_all("remove the object, or give it a label", "label")
        if self.fields is not None:
            return labels_of_text(self.fields, self._entry_name)
        if self.use in (*CLOCKS, "durations"):
            days = self.use == "dates"
            return np.asarray(self.values, np.int64) if days else self.numbers()
        values = self.values
        if not (isinstance(values, np.ndarray) and values.ndim == 1):
            values = self._plain()
            if all(isinstance(x, (Decimal, Fraction)) for x in values):
                are_integers = all(str(x).lstrip("-").isdecimal() for x in values)
                values = [int(x) for x in values] if are_integers else self.numbers()
        try:
            labels = label_array(self.name, values)
        except (ArgumentError, ArgumentTypeError) as error:
            if self.where is None or not isinstance(error.index, int):
                raise
            raise self.error(error.problem, error.index, "label") from None
        if labels.dtype.kind == "f":
            return labels.astype(np.float64)
        small = labels.dtype.kind in "iu" and int(labels.max(initial=0)) < 2**63
        return labels.astype(np.int64) if small else labels

    def ids(self) -> np.ndarray:
        """Return the names of the rows: int64 if all are whole numbers, else text, as written."""
        self.need_all("it must name the row", "id")
        if self.fields is not None:
            numbers = whole_numbers(self.fields)
            return np.array(self.fields, str) if numbers is None else numbers
        if self.use in ("numbers", "categories"):
            plain = self._plain()
            integers = all(
                isinstance(x, (int, np.integer)) and not isinstance(x, bool) for x in plain
            )
            if integers and max(map(abs, plain), default=0) < 2**63:
                return np.array(plain, np.int64)
        texts = self.texts()
        for row, text in zip(self.rows.tolist(), texts, strict=True):
            if text.endswith("\0"):  # arrays of text leave it out
                raise self.error(f"is {text!r}, which ends with a NUL; remove it", row, "id")
        return np.array(texts, str)

    def categories(self) -> list[Any]:
        """Return the entries as labels of categories: text, numbers or booleans."""
        if self.use in (*CLOCKS, "durations"):
            return self.texts()
        if self.fields is not None:
            return list(labels_of_text(self.fields, self._entry_name).tolist())
        return self._plain()

    def _parse(self) -> np.ndarray:
        return np.array(finite_numbers(self._entry_name, self.fields or ()), np.float64)

    def row_name(self, row: int) -> str:
        """Return the name of a row in errors."""
        return f"{self.name}[{row}]" if self.where is None else self.where(row)

    def _entry_name(self, i: int) -> str:
        return self.row_name(int(self.rows[i]))

    def _plain(self) -> list[Any]:
        """Return text, numbers or booleans as Python objects; refuse lists and other types."""
        if self.use in ("other", "missing"):
            raise self.refuse("text, numbers or dates are needed")
        items = self.values
        if not isinstance(items, Objects):
            items = items.tolist() if hasattr(items, "tolist") else list_of(self.name, items)
        for i, item in enumerate(items):
            if not isinstance(item, (str, numbers.Real, Decimal, np.bool_)):
                problem = f"is {item!r}; text, a number or a date is needed"
                raise self.error(problem, self.rows[i], kind=ArgumentTypeError)
        return list(items)


def _float(value: Any) -> float:
    try:
        return float(value)
    except OverflowError:
        return float("inf")


def _iso(count: int, unit: int) -> str:
    """Return a time without trailing zeros, in one form for all units."""
    seconds, rest = divmod(count, unit)
    fraction = str(rest).rjust(len(str(unit)) - 1, "0").rstrip("0")
    return str(np.datetime64(seconds, "s")) + f".{fraction}" * bool(rest)
