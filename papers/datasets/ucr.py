# SPDX-License-Identifier: BSD-3-Clause
"""Series of the UCR and UEA archives, which are divided into training and test files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from d2ke.io.ts import read_ts
from d2ke.io.ucr import read_ucr
from d2ke.objects.container import Objects
from d2ke.objects.joining import concatenate
from papers.datasets.source import SERIES, Source, published


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
        As `d2ke.io.ucr.read_ucr`.
    """
    return _joined([read_ucr(path)[:2] for path in (train, test)])


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
    both = []
    for path in (train, test):
        objects, labels, _ = read_ts(path)
        if labels is None:
            raise ValueError(f"{path} has no classes (@classLabel false)")
        both.append((objects, labels))
    channels = [objects.dim for objects, _ in both]
    if channels[0] != channels[1]:
        raise ValueError(f"{test} has {channels[1]} dimensions, but {train} has {channels[0]}")
    return _joined(both)


def _joined(both: list[tuple[Objects, np.ndarray]]) -> tuple[Objects, np.ndarray]:
    objects, labels = zip(*both, strict=True)
    return concatenate(objects), np.concatenate(labels)


def _source(name: str, class_sizes: tuple[int, ...], n_train: int, **facts: Any) -> Source:
    """Return a row; `facts` are the counts of lengths and channels, and fields of `Source`."""
    counts = {key: facts.pop(key) for key in ("lengths", "n_channels")}
    return Source(
        name=name,
        **SERIES,
        counts=published(class_sizes, n_train, **counts),
        n_train=n_train,
        **facts,
    )


def _uea(folder: str) -> dict[str, Any]:
    return {
        "loader": load_ts,
        "title": f"UEA Multivariate Time Series Classification Archive, {folder}",
        "page": f"https://www.timeseriesclassification.com/description.php?Dataset={folder}",
        "files": tuple(f"uea/{folder}/{folder}_{division}.ts" for division in ("TRAIN", "TEST")),
    }


SOURCES = (
    _source(
        "gun-point",
        (100, 100),
        50,
        lengths=(150, 150),
        n_channels=1,
        loader=load_ucr,
        title="UCR Time Series Classification Archive, GunPoint",
        page="https://www.cs.ucr.edu/~eamonn/time_series_data_2018/",
        files=("gunpoint/Gun_Point_TRAIN", "gunpoint/Gun_Point_TEST"),
        # The names in the archive's later editions.
        alternatives={
            f"gunpoint/Gun_Point_{division}": (
                f"gunpoint/GunPoint_{division}.tsv",
                f"gunpoint/GunPoint_{division}.txt",
            )
            for division in ("TRAIN", "TEST")
        },
    ),
    _source(
        "basic-motions", (20,) * 4, 40, lengths=(100, 100), n_channels=6, **_uea("BasicMotions")
    ),
)
