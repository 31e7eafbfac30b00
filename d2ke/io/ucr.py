# SPDX-License-Identifier: BSD-3-Clause
"""The text formats of the UCR archive of time series: a class, then the values of a series."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np

from d2ke.io.columns import LabelledObjects
from d2ke.io.text import lines_of
from d2ke.objects.container import Objects
from d2ke.objects.fields import finite_numbers, is_gap, labels_of_text, looks_numeric
from d2ke.objects.packing import pack

_SEPARATOR = re.compile(r"\s*,\s*|\s+")


def read_ucr(path: Path) -> tuple[Objects, np.ndarray, str]:
    r"""Read one file of the UCR archive: on each line a class, then the values of one series.

    There is no header. Commas, tabs or blanks separate the values, as in the archive's several
    editions. All lines have as many values; nan at the end of a line makes a shorter series.

    Parameters
    ----------
    path : Path
        The file.

    Returns
    -------
    objects : Objects
        The series in the order of the file, float64, each of shape (length, 1).
    labels : ndarray of int64, shape (n,)
        The classes.
    note : str
        How the file was read: labels from the first field, and how many series end with nan.

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
    ...     objects, labels, note = read_ucr(path)
    >>> objects
    <2 series of 1-dimensional vectors, float64, lengths 2 to 3>
    >>> labels, note
    (array([ 1, -1]), 'labels from the first field, NaN at the end of 1 series cut')
    """
    places: list[str] = []
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
            numbers = finite_numbers(partial(_place, where), fields[1:n])
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
        places.append(f"{where}, field 0")
        cut += n < width
    if not series:
        raise ValueError(f"{path} holds no series")
    note = "labels from the first field" + f", NaN at the end of {cut} series cut" * bool(cut)
    return pack(series), _classes(path, places, classes), note


def _place(where: str, i: int) -> str:
    return f"{where}, field {i + 1}"


def _classes(path: Path, places: list[str], classes: list[str]) -> np.ndarray:
    """Return classes as int64; refuse numbers that are not whole, and 1 beside 1.0."""
    labels = labels_of_text(classes, places.__getitem__)
    if labels.dtype.kind == "U":
        raise ValueError(
            f"{path}: the classes (first fields) must be whole numbers in one form, got "
            f"{', '.join(map(repr, sorted(set(classes))[:8]))}"
        )
    for where, value in zip(places, labels.tolist(), strict=True):
        if isinstance(value, float) and not (value.is_integer() and abs(value) < 2**53):
            raise ValueError(f"{where}: the class is {value}, not an integer below 2**53")
    return labels.astype(np.int64)


def _first_line(path: Path) -> str:
    return next((line for _, line in lines_of(path) if line), "")


def has_columns(path: Path) -> bool:
    """Return whether the first line of a text file is one of several fields, not all numbers."""
    line = _first_line(path)
    return any(mark in line for mark in "\t,;") and not all(map(_is_number, _SEPARATOR.split(line)))


def read_lines(path: Path) -> LabelledObjects:
    """Read a file of the UCR archive, or a string from each line if the first is no numbers."""
    first = _SEPARATOR.split(_first_line(path))
    if all(_is_number(x) or is_gap(x) for x in first):
        objects, classes, note = read_ucr(path)
        return LabelledObjects(objects, classes, note=note)
    lines = [line for _, line in lines_of(path) if line]
    return LabelledObjects(pack(lines, name=str(path)), None, note="each line is a string")


def counts(first: Sequence[str]) -> bool:
    """Return whether numbers count, as a header of pandas does."""
    return list(first) == [str(i + int(first[0] == "1")) for i in range(len(first))]


def is_of_archive(path: Path) -> bool:
    """Return whether a file has a name as those of the UCR archive."""
    return path.name.partition(".")[0].lower().endswith(("_train", "_test"))


def ucr_fields(path: Path) -> list[str]:
    """Return the fields of the first line if these are several numbers, else an empty list."""
    line = _first_line(path)
    first = line.split("\t") if "\t" in line else line.split(",")
    numbers = all(_is_number(x) or is_gap(x) for x in map(str.strip, first))
    return first if len(first) > 1 and numbers else []


def _is_number(field: str) -> bool:
    """Return whether a field is a number, which float64 may not hold."""
    return field.removeprefix("-").isdigit() or looks_numeric([field])


def read_ucr_table(path: Path, first: list[str]) -> tuple[Objects, np.ndarray, str]:
    """Read a file whose `first` line has numbers only, as `read_ucr` does.

    If its name does not end with _TRAIN or _TEST, as those of the archive do, a file that may be
    another table is refused: its first line counts, or its first fields may be ids or times.
    """
    if is_of_archive(path):
        return read_ucr(path)
    try:
        objects, labels, note = read_ucr(path)
    except ValueError as error:
        doubt = str(error).removeprefix(str(path)).lstrip(":, ")
    else:
        starts = objects.values[objects.offsets[:-1], 0]
        steps = np.diff(labels), np.diff(starts)
        if first == [str(int(labels[0]) + i) for i in range(len(first))]:
            doubt = "the first line counts, as a header may"
        elif len(np.unique(labels)) == len(labels):
            doubt = "the first fields of all lines differ, as ids and times do"
        elif ((steps[0] > 0) | ((steps[0] == 0) & (steps[1] > 0))).all():
            doubt = "the first two fields ascend, as ids and times do"
        else:
            return objects, labels, note
    raise ValueError(
        f"{path}: the first line may be a header or the first object, as it has numbers only. "
        "Files of the UCR archive (on each line a class and then the values of a series, no "
        f"header) are read, but here {doubt}. If it is such a file, let its name end with "
        "_TRAIN.tsv or _TEST.tsv; if it is another table, put a line of names before it, such as "
        "'id,value', or, if it has the names, name a column (objects=, labels=, ids=)"
    )
