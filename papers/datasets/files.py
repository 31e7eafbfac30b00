# SPDX-License-Identifier: BSD-3-Clause
"""Locations of the original files of data sets, and the error if they are missing."""

from __future__ import annotations

import io
import os
import tarfile
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from papers.datasets.source import Source

DATA_VARIABLE = "D2KE_DATA"


def find_files(source: Source, data_dir: Any) -> list[Path]:
    """Return the paths of a data set's files.

    Parameters
    ----------
    source : Source
        The data set. Its files, and alternatives for missing ones in their order, are relative to
        the data folder, or directly in it.
    data_dir : path-like or None
        The data folder; None for the environment variable ``D2KE_DATA``.

    Returns
    -------
    list of Path
        One existing file for each of the source's.

    Raises
    ------
    FileNotFoundError
        If a file is missing; the message says what to download and where to put it.
    TypeError
        If `data_dir` is not a path.
    """
    if not source.files:
        return []
    if data_dir is None and not (data_dir := os.environ.get(DATA_VARIABLE)):
        reason = f"no data folder is given, neither as data_dir (--data) nor as {DATA_VARIABLE}"
        raise _missing(source, reason, source.files, "data_dir")
    if not isinstance(data_dir, (str, os.PathLike)):
        raise TypeError(f"data_dir must be a path or None, got {data_dir!r}")
    folder = Path(data_dir)
    paths, missing = [], []
    for file in source.files:
        names = [file, *source.alternatives.get(file, ())]
        candidates = [folder / place for name in names for place in (name, Path(name).name)]
        path = next((path for path in candidates if path.is_file()), None)
        if path is None:
            missing.append(file)
        else:
            paths.append(path)
    if missing:
        absent = ", ".join(Path(file).name for file in missing)
        reason = f"{absent} not found in {folder}"
        if not folder.is_dir():
            reason = f"{folder} is not a folder"
        raise _missing(source, reason, missing, folder)
    return paths


@contextmanager
def complete(path: Path) -> Iterator[None]:
    """Name a file whose compressed content is damaged."""
    try:
        yield
    # RuntimeError: encrypted, or (NotImplementedError) an unknown compression.
    except (zipfile.BadZipFile, tarfile.TarError, EOFError, OSError, RuntimeError, zlib.error) as e:
        raise ValueError(f"{path} is not a complete archive: {e}") from e


def numbers(where: str, text: bytes, n_columns: int, delimiter: str | None = None) -> np.ndarray:
    """Return a text of numbers as an array of rows; the error names the file and the row."""
    try:
        table = np.loadtxt(io.BytesIO(text), delimiter=delimiter, comments=None, ndmin=2)
    except ValueError as error:
        raise ValueError(f"{where}: {error}") from error
    if table.shape[1] != n_columns or not np.isfinite(table).all():
        raise ValueError(f"{where} is not a table of {n_columns} columns of finite numbers")
    return table


def _missing(
    source: Source, reason: str, files: Sequence[str], folder: str | Path
) -> FileNotFoundError:
    names = ", ".join(Path(file).name for file in files)
    places = ", ".join((Path(folder) / file).as_posix() for file in files)
    return FileNotFoundError(
        f'{source.name}: {reason}. Download "{source.title}" from {source.page}, take {names} out '
        f"of it, and put it at {places}"
    )
