# SPDX-License-Identifier: BSD-3-Clause
"""Data sets of the archives of time series in a folder, and published accuracies of classifiers."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import numpy as np

import d2ke

ENDINGS = (".ts", ".tsv")  # of a set that has both, the first is read
HELP = """\
FOLDER holds NAME_TRAIN.ts and NAME_TEST.ts of each data set, side by side or in folders NAME/ as
the archives have them (timeseriesclassification.com). NAME_TRAIN.tsv and NAME_TEST.tsv of the UCR
archive (a class, then the values, divided by tabs; NaN at the end makes a shorter series) are read
too. A set is left out, and named, if a file cannot be read, for example because a value is missing.

Published accuracies are read from published.csv in FOLDER, or from --published:

- a table, in percent, with a row for each set and a column for each classifier:
      set,MiniROCKET,HC2
      Chinatown,98.25,98.25
- or a folder of files such as HC2_accuracy.csv, downloaded from the folder
  results/classification/Univariate of github.com/time-series-machine-learning/tsml-eval.
  There the column 0 has the accuracies of the published division, between 0 and 1.
"""


class Labelled(NamedTuple):
    """One part of a data set."""

    labels: np.ndarray
    objects: d2ke.Objects


def training_files(folder: Path, limit: float | None = None) -> dict[str, Path]:
    """Return the file of the training part of each set in a folder, in the order of the names.

    With a limit, sets with a larger file (in MB, of 1e6 bytes) are not among them.
    """
    files: dict[str, Path] = {}
    for ending in ENDINGS:
        for pattern in (f"*_TRAIN{ending}", f"*/*_TRAIN{ending}"):
            for file in folder.glob(pattern):
                name = file.name.removesuffix(f"_TRAIN{ending}")
                if pattern.startswith("*_") or file.parent.name == name:
                    files.setdefault(name, file)
    return {
        name: files[name]
        for name in sorted(files)
        if limit is None or _megabytes(files[name]) <= limit
    }


def _megabytes(train: Path) -> float:
    """Return the size of the larger file of a set."""
    return max(file.stat().st_size for file in (train, _test(train)) if file.exists()) / 1e6


def _test(train: Path) -> Path:
    return train.with_name(train.name.replace("_TRAIN.", "_TEST."))


def division(train: Path) -> tuple[Labelled, Labelled]:
    """Read the published division of a set."""
    return _read(train), _read(_test(train))


def _read(file: Path) -> Labelled:
    objects, labels = d2ke.io.read_objects(file)
    if labels is None:
        raise ValueError(f"{file} has no classes")
    return Labelled(np.asarray(labels), objects)


def published(path: Path) -> dict[str, dict[str, float]]:
    """Return the published accuracies in percent, by classifier and set, of a table or a folder."""
    if not path.is_dir():
        return _of_table(path)
    files = sorted([*path.glob("*_accuracy.csv"), *path.glob("*_ACC.csv")])
    if not files:
        raise FileNotFoundError(f"{path} has no files such as HC2_accuracy.csv")
    return {file.name.rpartition("_")[0]: _of_resamples(file) for file in files}


def _of_table(file: Path) -> dict[str, dict[str, float]]:
    first, *rows = _lines(file)
    result: dict[str, dict[str, float]] = {}
    for where, row in rows:
        for name, text in zip(first[1], row, strict=False):
            if name not in ("set", "n_train", "n_test", "length") and text:
                result.setdefault(name, {})[row[0]] = _number(where, text, 100)
    return result


def _of_resamples(file: Path) -> dict[str, float]:
    """Return the accuracies of the published division, which is called 0."""
    (where, first), *rows = _lines(file)
    if first[1:2] != ["0"]:
        raise ValueError(f"{where}: the second column must be called 0, got {first[1:2]}")
    return {row[0]: 100 * _number(where, row[1], 1) for where, row in rows if len(row) > 1}


def _lines(file: Path) -> list[tuple[str, list[str]]]:
    with file.open(newline="", encoding="utf-8-sig") as stream:
        lines = [(f"{file}, line {i}", row) for i, row in enumerate(csv.reader(stream), 1) if row]
    if not lines:
        raise ValueError(f"{file} is empty")
    return lines


def _number(where: str, text: str, limit: float) -> float:
    try:
        number = float(text)
    except ValueError:
        number = np.nan
    if not 0 <= number <= limit:
        raise ValueError(f"{where}: an accuracy must be between 0 and {limit}, got {text!r}")
    return number


def wins_draws_losses(ours: Iterable[float], theirs: Iterable[float]) -> tuple[int, int, int]:
    """Return wins, draws and losses; equal to two decimals is a draw."""
    differences = [round(a, 2) - round(b, 2) for a, b in zip(ours, theirs, strict=True)]
    wins, losses = (sum(sign * x > 0.001 for x in differences) for sign in (1, -1))
    return wins, len(differences) - wins - losses, losses
