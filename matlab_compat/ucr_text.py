# SPDX-License-Identifier: BSD-3-Clause
"""Series of the UCR archive's text files."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from d2ke.io.text import finite_numbers, lines_of
from d2ke.objects.container import Objects
from d2ke.objects.packing import pack

_SEPARATOR = re.compile(r"\s*,\s*|\s+")


def read_ucr(path: Path) -> tuple[Objects, np.ndarray]:
    """Read one file of the UCR archive: on each line a class, then the values of one series.

    Commas, tabs or spaces separate them, as in the archive's several editions.

    Parameters
    ----------
    path : Path
        The file.

    Returns
    -------
    objects : Objects
        The series in the order of the file, float64, each of shape (length, 1).
    labels : ndarray of int64
        The classes.

    Raises
    ------
    ValueError
        If a line is not of this form or has more or fewer values than the file's first one, or
        the file holds no series; the message names the file and the line.
    """
    rows: list[list[float]] = []
    for where, line in lines_of(path):
        if not line:
            continue
        label, *fields = _SEPARATOR.split(line)
        if not fields or (rows and len(fields) != len(rows[0]) - 1):
            expected = f"{len(rows[0]) - 1} as before" if rows else "at least 1"
            raise ValueError(f"{where}: {len(fields)} values after the class instead of {expected}")
        (number,) = finite_numbers(f"{where}, class", [label])
        if not (number.is_integer() and abs(number) < 2**53):
            raise ValueError(f"{where}: the class is {label}, not an integer below 2**53")
        rows.append([number, *finite_numbers(where, fields)])
    if not rows:
        raise ValueError(f"{path} holds no series")
    table = np.array(rows)
    return pack(table[:, 1:]), table[:, 0].astype(np.int64)
