# SPDX-License-Identifier: BSD-3-Clause
"""Series of the UCR and UEA archives, which are divided into training and test files."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from d2ke.datasets._dataset import Source
from d2ke.datasets._text import finite_numbers, lines_of
from d2ke.datasets.ts import read_ts
from d2ke.objects.container import Objects, concatenate
from d2ke.objects.packing import pack

__all__ = ["load_ts", "load_ucr", "read_ucr"]

_SEPARATOR = re.compile(r"\s*,\s*|\s+")


def load_ucr(train: Path, test: Path) -> tuple[Objects, np.ndarray]:
    """Read a data set of the UCR archive: on each line a class, then the values of one series.

    Commas, tabs or spaces separate them, as in the archive's several editions.

    Parameters
    ----------
    train, test : Path
        The two files.

    Returns
    -------
    objects : Objects
        The series of the training file, then those of the test file, in the order of the files;
        float64, each of shape (length, 1).
    labels : ndarray of int64
        The classes.

    Raises
    ------
    ValueError
        If a line is not of this form or has more or fewer values than the file's first one, or a
        file holds no series; the message names the file and the line.
    """
    return _joined([read_ucr(path) for path in (train, test)])


def load_ts(train: Path, test: Path) -> tuple[Objects, np.ndarray]:
    """Read a data set of the UEA archive, two ``.ts`` files.

    Parameters
    ----------
    train, test : Path
        The two files.

    Returns
    -------
    objects : Objects
        The series of the training file, then those of the test file, in the order of the files;
        float64, each of shape (length, channels).
    labels : ndarray of str
        The classes.

    Raises
    ------
    ValueError
        If a file is not of this form (see `read_ts`) or has no classes, or their numbers of
        channels differ; the message names the file.
    """
    parts = []
    for path in (train, test):
        objects, labels, _ = read_ts(path)
        if labels is None:
            raise ValueError(f"{path} has no classes (@classLabel false)")
        parts.append((objects, labels))
    channels = [objects.dim for objects, _ in parts]
    if channels[0] != channels[1]:
        raise ValueError(f"{test} has {channels[1]} dimensions, but {train} has {channels[0]}")
    return _joined(parts)


def _joined(parts: list[tuple[Objects, np.ndarray]]) -> tuple[Objects, np.ndarray]:
    objects, labels = zip(*parts, strict=True)
    return concatenate(objects), np.concatenate(labels)


def read_ucr(path: Path) -> tuple[Objects, np.ndarray]:
    """Read one file of the UCR archive, see `load_ucr`.

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
        As `load_ucr`.
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


def _source(name: str, counts: dict, **options) -> Source:
    options = {"domain": "series", "distance": "dtw", "rounding": "floor"} | options
    return Source(name=name, counts=counts, n_train=counts["n_train"], **options)


def _uea(name: str, folder: str, counts: dict) -> Source:
    return _source(
        name,
        counts,
        loader=load_ts,
        title=f"UEA Multivariate Time Series Classification Archive, {folder}",
        page=f"https://www.timeseriesclassification.com/description.php?Dataset={folder}",
        files=tuple(f"uea/{folder}/{folder}_{part}.ts" for part in ("TRAIN", "TEST")),
    )


SOURCES = (
    _source(
        "gun-point",
        {
            "n_objects": 200,
            "n_classes": 2,
            "class_sizes": (100, 100),
            "lengths": (150, 150),
            "n_channels": 1,
            "n_train": 50,
            "n_test": 150,
        },
        loader=load_ucr,
        title="UCR Time Series Classification Archive, GunPoint",
        page="https://www.cs.ucr.edu/~eamonn/time_series_data_2018/",
        files=("gunpoint/Gun_Point_TRAIN", "gunpoint/Gun_Point_TEST"),
        # The names in the archive's later editions.
        alternatives={
            f"gunpoint/Gun_Point_{part}": (
                f"gunpoint/GunPoint_{part}.tsv",
                f"gunpoint/GunPoint_{part}.txt",
            )
            for part in ("TRAIN", "TEST")
        },
    ),
    _uea(
        "japanese-vowels",
        "JapaneseVowels",
        {
            "n_objects": 640,
            "n_classes": 9,
            "class_sizes": (61, 65, 118, 74, 59, 54, 70, 80, 59),
            "lengths": (7, 29),
            "n_channels": 12,
            "n_train": 270,
            "n_test": 370,
        },
    ),
    _uea(
        "basic-motions",
        "BasicMotions",
        {
            "n_objects": 80,
            "n_classes": 4,
            "class_sizes": (20,) * 4,
            "lengths": (100, 100),
            "n_channels": 6,
            "n_train": 40,
            "n_test": 40,
        },
    ),
)
