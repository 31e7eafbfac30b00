# SPDX-License-Identifier: BSD-3-Clause
"""ActRecog: activities recorded with an accelerometer on the chest (series of 3 channels)."""

from __future__ import annotations

import io
import math
import re
import zipfile
import zlib
from pathlib import Path

import numpy as np

from d2ke.objects.container import Objects
from d2ke.objects.fields import finite_numbers
from d2ke.objects.packing import pack
from papers.datasets.files import is_hidden
from papers.datasets.source import SERIES, Source, published

N_PERSONS = 15
COLUMNS = ("row number", "x", "y", "z", "label")
N_CLASSES = 7
STEP = 5
LENGTH = 150
_MEMBER = re.compile(r"(?:.*/)?([1-9]|1[0-5])\.csv")
# The largest table has 4 MB; the limit keeps a broken archive from filling the memory.
_MAX_BYTES = 1 << 24


def load_actrecog(path: Path) -> tuple[Objects, np.ndarray]:
    """Read the archive of the 15 persons' recordings and cut them into series.

    How the paper cut the recordings is not published. This construction is ours; it comes close
    to the paper's counts (2625 series of length 2 to 151):

    1. Rows with the label 0 (no activity) are dropped.
    2. Consecutive rows of one person with the same label are a run; there are 135.
    3. Of each run every 5th row is taken, beginning with its first: 52 Hz become 10.4 Hz.
    4. This is cut at every 150th step, and the step at which it is cut belongs to both pieces. So
       all pieces but the last of a run have 151 steps and span 150 intervals (14.4 s); the last
       one has what is left, at least 2 steps unless the whole run has only one.

    It gives 2624 series of length 4 to 151. Series of one run resemble each other, and a random
    division puts them into both parts; results do not hold for an unknown person.

    Parameters
    ----------
    path : Path
        The zip archive with the tables ``1.csv`` to ``15.csv``, in any folder: row number, x, y,
        z, label.

    Returns
    -------
    objects : Objects
        The series, float64, each of shape (length, 3), by person and time: the acceleration in
        x, y and z as recorded, uncalibrated integers.
    labels : ndarray of int64
        1 working at a computer; 2 standing up, walking and going up or down stairs; 3 standing;
        4 walking; 5 going up or down stairs; 6 walking and talking with someone; 7 talking while
        standing.

    Raises
    ------
    ValueError
        If the archive is damaged or does not hold each of the tables once, or a table has a line
        that is not of this form; the message names the file and the line.
    """
    series, labels = [], []
    tables = _texts(path)
    for person in range(1, N_PERSONS + 1):
        name, text = tables[person]
        table = _table(f"{path}: {name}", text)
        for label, piece in _pieces(table[:, 1:4], table[:, 4].astype(np.int64)):
            series.append(piece)
            labels.append(label)
    if not series:
        raise ValueError(f"{path} holds no labelled rows")
    return pack(series, channels_first=False), np.array(labels, dtype=np.int64)


def _texts(path: Path) -> dict[int, tuple[str, str]]:
    """Return the name and the text of each person's table."""
    texts: dict[int, tuple[str, str]] = {}
    with open(path, "rb") as file:
        try:
            with zipfile.ZipFile(file) as archive:
                for member in archive.infolist():
                    if not member.filename.endswith(".csv") or is_hidden(member.filename):
                        continue
                    person = _person(path, member, texts)
                    # Latin-1 decodes any byte, so that a wrong one is reported with its line.
                    texts[person] = member.filename, archive.read(member).decode("latin-1")
        # RuntimeError: encrypted, or a compression that is not known. OSError: a wrong offset.
        except (zipfile.BadZipFile, EOFError, OSError, RuntimeError, zlib.error) as error:
            raise ValueError(f"{path} is not a complete .zip archive: {error}") from error
    missing = [f"{person}.csv" for person in range(1, N_PERSONS + 1) if person not in texts]
    if missing:
        raise ValueError(f"{path} does not hold {', '.join(missing)}")
    return texts


def _person(path: Path, member: zipfile.ZipInfo, read: dict[int, tuple[str, str]]) -> int:
    match = _MEMBER.fullmatch(member.filename)
    if not match:
        problem = f"is not named 1.csv to {N_PERSONS}.csv"
    elif member.file_size > _MAX_BYTES:
        problem = f"has {member.file_size} bytes, more than any table"
    elif int(match[1]) in read:
        problem = f"is a second table of person {match[1]}, after {read[int(match[1])][0]!r}"
    else:
        return int(match[1])
    raise ValueError(f"{path}: the member {member.filename!r} {problem}")


def _table(where: str, text: str) -> np.ndarray:
    """Return a table's text as an array of shape (rows, 5)."""
    if not text.strip():
        raise ValueError(f"{where} is empty")
    lines = text.removesuffix("\n").split("\n")
    try:
        table = np.loadtxt(io.StringIO(text), delimiter=",", comments=None, ndmin=2)
        # numpy skips empty lines.
        well_formed = table.shape == (len(lines), len(COLUMNS)) and np.isfinite(table).all()
    except ValueError:
        well_formed = False
    if not well_formed:
        # Slower, but it finds the line that is wrong.
        table = np.array([_row(f"{where}, line {i}", line) for i, line in enumerate(lines, 1)])
    _check_columns(where, table)
    return table


def _row(where: str, line: str) -> list[float]:
    fields = line.split(",")
    if len(fields) != len(COLUMNS):
        raise ValueError(
            f"{where}: {len(fields)} fields instead of {len(COLUMNS)} ({', '.join(COLUMNS)})"
        )
    return finite_numbers(where, fields)


def _check_columns(where: str, table: np.ndarray) -> None:
    labels = table[:, 4]
    valid = np.isin(labels, np.arange(N_CLASSES + 1))
    if not valid.all():
        row = valid.argmin()
        raise ValueError(
            f"{where}, line {row + 1}: the label is {labels[row]:g}, not one of 0 to {N_CLASSES}"
        )
    # The numbers are rounded to five digits, so they need not grow by 1.
    backwards = np.diff(table[:, 0]) < 0
    if backwards.any():
        row = backwards.argmax() + 1
        raise ValueError(
            f"{where}, line {row + 1}: the row number {table[row, 0]:g} follows "
            f"{table[row - 1, 0]:g}; the rows must be in the order of time"
        )


def _pieces(values: np.ndarray, labels: np.ndarray) -> list[tuple[int, np.ndarray]]:
    """Return the label and the values of each series of one person, as in `load_actrecog`."""
    starts = np.flatnonzero(np.diff(labels, prepend=-1))
    pieces = []
    for start, stop in zip(starts, [*starts[1:], len(labels)], strict=True):
        label = int(labels[start])
        if label == 0:
            continue
        run = values[start:stop:STEP]
        n_pieces = max(1, math.ceil((len(run) - 1) / LENGTH))
        pieces += [(label, run[i * LENGTH : (i + 1) * LENGTH + 1]) for i in range(n_pieces)]
    return pieces


_ORIGINAL = "actrecog/Activity Recognition from Single Chest-Mounted Accelerometer.zip"

SOURCE = Source(
    name="actrecog",
    loader=load_actrecog,
    **SERIES,
    title="Activity Recognition from Single Chest-Mounted Accelerometer",
    page=(
        "https://archive.ics.uci.edu/dataset/287/"
        "activity+recognition+from+single+chest+mounted+accelerometer"
    ),
    files=(_ORIGINAL,),
    alternatives={_ORIGINAL: ("actrecog/chest_accelerometer.zip",)},
    counts=published(
        (818, 72, 309, 484, 76, 69, 796), lengths=(4, 151), n_channels=3, n_train=1836
    ),
)
