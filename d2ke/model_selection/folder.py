# SPDX-License-Identifier: BSD-3-Clause
"""The folder of a search: a feature store for each p(omega), and a journal of its results."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from d2ke._base.checkpoint import as_json
from d2ke._base.resume import Journal, made_with, refuse_unknown

_FORMAT = 1
_LONGEST = 120  # letters of a file's name


def open_journal(folder: Path, record: Mapping[str, Any]) -> Journal:
    """Open the journal of a search in its folder, which is made if it is not there."""
    refuse_unknown(folder, record)
    folder.mkdir(parents=True, exist_ok=True)
    record = as_json({"journal": _FORMAT, **made_with(), **record}, default=repr)
    return Journal(folder / "search.journal", folder, record)


def store_names(drawn: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return a file name for the parameters of each p(omega); equal parameters have the same one.

    Examples
    --------
    >>> from d2ke.model_selection.folder import store_names
    >>> store_names([{"length": (2, 20), "sigma": 0.5}, {"length": (2, 50), "sigma": 0.5}])
    ['distances_length=2-20_sigma=0.5.h5', 'distances_length=2-50_sigma=0.5.h5']
    """
    names: dict[str, str] = {}
    for parameters in drawn:
        parts = ["distances", *(f"{name}={_short(value)}" for name, value in parameters.items())]
        stem = "_".join(parts)[:_LONGEST]
        taken, name, count = set(names.values()), stem, 1
        while repr(parameters) not in names and f"{name}.h5" in taken:
            count += 1
            name = f"{stem}_{count}"
        names.setdefault(repr(parameters), f"{name}.h5")
    return [names[repr(parameters)] for parameters in drawn]


def file_stem(text: str) -> str:
    """Return letters of a text that every file system takes in names."""
    return re.sub(r"[^A-Za-z0-9.+-]+", "-", text)[:_LONGEST]


def _short(value: Any) -> str:
    if isinstance(value, (tuple, list)):
        return "-".join(map(_short, value))
    return file_stem(f"{value:.6g}" if isinstance(value, float) else str(value))
