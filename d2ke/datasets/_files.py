# SPDX-License-Identifier: BSD-3-Clause
"""Where a data set's original files are, and what to tell a user who does not have them."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

DATA_VARIABLE = "D2KE_DATA"


def find_files(
    name: str,
    files: Sequence[str],
    data_dir: Any,
    *,
    title: str,
    page: str,
    alternatives: Mapping[str, Sequence[str]] | None = None,
) -> list[Path]:
    """Return the paths of a data set's files.

    Parameters
    ----------
    name : str
        The data set's name, for the error.
    files : sequence of str
        Paths relative to the data folder, with forward slashes, such as
        ``"auslan/tctodd.tar.gz"``. The file may also lie directly in the data folder.
    data_dir : path-like or None
        The data folder; None stands for the environment variable ``D2KE_DATA``.
    title, page : str
        What the distribution is called, and the page it is downloaded from.
    alternatives : mapping, optional
        For some of `files`, other paths of the same form, tried in their order where the file is
        missing.

    Returns
    -------
    list of Path
        One existing file for each of `files`.

    Raises
    ------
    FileNotFoundError
        If a file is missing; the message says what to download and where to put it.
    TypeError
        If `data_dir` is not a path.
    """
    if not files:
        return []
    folder = _data_folder(data_dir)
    if folder is None:
        reason = f"no data folder is given, neither as data_dir (--data) nor as {DATA_VARIABLE}"
        raise FileNotFoundError(f"{name}: {reason}. {_advice(files, 'data_dir', title, page)}")
    found, missing = [], []
    for file in files:
        names = [file, *(alternatives or {}).get(file, ())]
        candidates = [folder / place for name in names for place in (name, Path(name).name)]
        path = next((path for path in candidates if path.is_file()), None)
        if path is None:
            missing.append(file)
        else:
            found.append(path)
    if missing:
        what = ", ".join(Path(file).name for file in missing)
        reason = f"{what} not found in {folder}" if folder.is_dir() else f"{folder} is not a folder"
        raise FileNotFoundError(f"{name}: {reason}. {_advice(missing, folder, title, page)}")
    return found


def _data_folder(data_dir: Any) -> Path | None:
    if data_dir is None:
        from_environment = os.environ.get(DATA_VARIABLE)
        return Path(from_environment) if from_environment else None
    if not isinstance(data_dir, (str, os.PathLike)):
        raise TypeError(f"data_dir must be a path or None, got {data_dir!r}")
    return Path(data_dir)


def _advice(files: Sequence[str], folder: str | Path, title: str, page: str) -> str:
    names = ", ".join(Path(file).name for file in files)
    places = ", ".join((Path(folder) / file).as_posix() for file in files)
    return f'Download "{title}" from {page}, take {names} out of it, and put it at {places}'
