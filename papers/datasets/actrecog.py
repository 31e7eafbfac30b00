# SPDX-License-Identifier: BSD-3-Clause
"""ActRecog: activities recorded with an accelerometer on the chest (series of 3 channels)."""

from __future__ import annotations

import math
import re
import zipfile
from pathlib import Path

import numpy as np

from d2ke import Objects, pack
from papers.datasets.files import complete, numbers
from papers.datasets.source import SERIES, Source, published

PERSONS = range(1, 16)
N_COLUMNS = 5
STEP = 5
LENGTH = 150
_MEMBER = re.compile(r"(?:.*/)?([0-9]+)\.csv")


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
    with complete(path), zipfile.ZipFile(path) as archive:
        members = [name for name in archive.namelist() if _MEMBER.fullmatch(name)]
        members.sort(key=lambda name: int(_MEMBER.sub(r"\1", name)))
        if [int(_MEMBER.sub(r"\1", name)) for name in members] != [*PERSONS]:
            raise ValueError(f"{path} does not hold each of 1.csv to {PERSONS[-1]}.csv once")
        texts = [archive.read(name) for name in members]
    series, labels = [], []
    for name, text in zip(members, texts, strict=True):
        table = numbers(f"{path}: {name}", text, N_COLUMNS, ",")
        for label, piece in _pieces(table[:, 1:4], table[:, 4].astype(np.int64)):
            series.append(piece)
            labels.append(label)
    return pack(series, channels_first=False), np.array(labels, dtype=np.int64)


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
