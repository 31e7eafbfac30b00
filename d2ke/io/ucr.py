# SPDX-License-Identifier: BSD-3-Clause
"""The text formats of the UCR archive of time series: a class, then the values of a series."""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path

import numpy as np

from d2ke._base.text import listed
from d2ke.io.columns import LabelledObjects
from d2ke.io.text import lines_of
from d2ke.objects.column_names import ColumnNames
from d2ke.objects.fields import finite_numbers, is_gap, labels_of_text, looks_numeric
from d2ke.objects.packing import pack

_SEPARATOR = re.compile(r"\s*,\s*|\s+")


def read_ucr(path: Path) -> LabelledObjects:
    r"""Read one file of the UCR archive: on each line a class, then the values of one series.

    There is no header. Commas, tabs or blanks separate the values, as in the archive's several
    editions. All lines have equally many values; nan at the end of a line makes a shorter series.

    Parameters
    ----------
    path : Path
        The file.

    Returns
    -------
    LabelledObjects
        The series in the order of the file, float64, each of shape (length, 1), and the classes,
        int64. Its note says how the file was read: labels from the first field, and how many series
        end with nan.

    Raises
    ------
    ValueError
        If a line is not of this form or has more or fewer values than the file's first one; if a
        value is missing inside a series; if the classes are not whole numbers in one form; or if
        the file holds no series. The message names the file and the line; fields are counted from
        0, the class.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from d2ke.io.ucr import read_ucr
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "Steps_TRAIN.tsv"
    ...     _ = path.write_text("1\t0.5\t1.5\tNaN\n-1\t2.0\t2.5\t3.0\n", "utf-8")
    ...     held = read_ucr(path)
    >>> held.objects
    <2 series of 1-dimensional vectors, float64, lengths 2 to 3>
    >>> held.labels, held.note
    (array([ 1, -1]), 'labels from the first field, NaN at the end of 1 series cut')
    """
    locations: list[str] = []
    classes: list[str] = []
    series: list[np.ndarray] = []
    cut = width = 0
    for where, line in lines_of(path):
        if not line:
            continue
        # Only in a file of tabs can a field be empty.
        fields = [x.strip() for x in line.split("\t")] if "\t" in line else _SEPARATOR.split(line)
        if not width and not all(_is_number(x) or is_gap(x) for x in fields):
            raise ValueError(
                f"{where}: {line[:40]!r} is not a class and the values of a series, as on each "
                "line of a file of the UCR archive"
            )
        width = width or len(fields)
        if len(fields) < 2 or len(fields) != width:
            raise ValueError(
                f"{where}: {len(fields) - 1} values after the class instead of "
                f"{max(1, width - 1)}; shorter series end with NaN"
            )
        n = width
        while n > 1 and fields[n - 1].lower() == "nan":
            n -= 1
        if n == 1:
            raise ValueError(f"{where}: the series has no values, only NaN")
        try:
            numbers = finite_numbers(partial(_location, where), fields[1:n])
        except ValueError:
            gap = next((i for i in range(1, n) if is_gap(fields[i])), None)
            if gap is None:
                raise
            raise ValueError(
                f"{where}, field {gap}: a value is missing inside the series ({fields[gap]!r}); "
                "fill it in, for instance between its neighbours, or leave the line out"
            ) from None
        series.append(np.array(numbers))
        classes.append(fields[0])
        locations.append(f"{where}, field 0")
        cut += n < width
    if not series:
        raise ValueError(f"{path} holds no series")
    note = "labels from the first field" + f", NaN at the end of {cut} series cut" * bool(cut)
    return LabelledObjects(pack(series), _classes(path, locations, classes), note=note)


def _location(where: str, i: int) -> str:
    return f"{where}, field {i + 1}"


def _classes(path: Path, locations: list[str], classes: list[str]) -> np.ndarray:
    """Return classes as int64; refuse numbers that are not whole, and 1 beside 1.0."""
    labels = labels_of_text(classes, locations.__getitem__)
    if labels.dtype.kind == "U":
        raise ValueError(
            f"{path}: the classes (first fields) must be whole numbers in one form, got "
            f"{listed(sorted(set(classes)))}"
        )
    for where, value in zip(locations, labels.tolist(), strict=True):
        if isinstance(value, float) and not (value.is_integer() and abs(value) < 2**53):
            raise ValueError(f"{where}: the class is {value}, not an integer below 2**53")
    return labels.astype(np.int64)


def _first_line(path: Path) -> str:
    return next((line for _, line in lines_of(path) if line), "")


def has_columns(path: Path) -> bool:
    """Return whether the first line of a text file has several fields, not all numbers."""
    line = _first_line(path)
    return any(mark in line for mark in "\t,;") and not all(map(_is_number, _SEPARATOR.split(line)))


def read_lines(path: Path) -> LabelledObjects:
    """Read a file of the UCR archive, or a string from each line if the first is no numbers."""
    first = _SEPARATOR.split(_first_line(path))
    if all(_is_number(x) or is_gap(x) for x in first):
        return read_ucr(path)
    lines = [line for _, line in lines_of(path) if line]
    return LabelledObjects(pack(lines, name=str(path)), None, note="each line is a string")


def _is_number(field: str) -> bool:
    """Return whether a field is a number, which float64 may not hold."""
    return field.removeprefix("-").isdigit() or looks_numeric([field])


def read_headless(path: Path, earlier: ColumnNames, in_rows: bool) -> LabelledObjects | None:
    """Read a table of numbers only as a file of the UCR archive; return None for other tables.

    Files of the archive have names that end with _TRAIN or _TEST. Other files are read too if each
    row is a series (`in_rows`) and the first line does not count 1, 2, ... A table whose columns a
    model names is no such file.
    """
    line = _first_line(path)
    first = line.split("\t" if "\t" in line else ",")
    numbers = all(_is_number(x) or is_gap(x) for x in map(str.strip, first))
    if len(first) < 2 or not numbers or ColumnNames().or_earlier(first, earlier).explicit:
        return None
    is_archive = path.name.partition(".")[0].lower().endswith(("_train", "_test"))
    counts = first == [str(int(first[0] == "1") + i) for i in range(len(first))]
    return read_ucr(path) if is_archive or (in_rows and not counts) else None
