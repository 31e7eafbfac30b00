# SPDX-License-Identifier: BSD-3-Clause
"""Series of the UCR and UEA archives, which are divided into training and test files."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from d2ke import Objects, concatenate
from d2ke.datasets import read_ts
from d2ke.io.ucr import read_ucr
from papers.datasets.source import SERIES, Source, published


def load_parts(
    read: Callable[[Path], tuple[Any, ...]], train: Path, test: Path
) -> tuple[Objects, np.ndarray]:
    """Read a training and a test file, and return the series of both, float64, and their classes.

    `read_ucr` and `read_ts` read the files of the UCR and of the UEA archive.
    """
    both = [read(path) for path in (train, test)]
    return concatenate([one[0] for one in both]), np.concatenate([one[1] for one in both])


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
        "loader": partial(load_parts, read_ts),
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
        loader=partial(load_parts, read_ucr),
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
