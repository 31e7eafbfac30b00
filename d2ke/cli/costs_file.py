# SPDX-License-Identifier: BSD-3-Clause
"""Files of costs of edits: JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from d2ke._base.files import write_file
from d2ke.cli.matrix_files import read_text
from d2ke.cli.result_files import InputError

_FORMAT = {"format": "d2ke costs of edits", "version": 1}


def write_costs(file: Path, costs: Mapping[str, Any]) -> None:
    """Write costs by letters as JSON."""
    rows = {name: _listed(value) for name, value in costs.items()}
    write_file(file, json.dumps(_FORMAT | rows, indent=0).encode())


def _listed(value: Any) -> Any:
    """Return a mapping of letters or pairs of letters as rows (letter, ..., cost)."""
    if not isinstance(value, Mapping):
        return value
    return [[*(key if type(key) is tuple else [key]), cost] for key, cost in value.items()]


def read_costs(name: str) -> dict[str, Any]:
    """Read a file of `write_costs`; the distance checks the values."""
    try:
        contents = json.loads(read_text(Path(name)))
    except (ValueError, RecursionError):
        contents = None
    if not isinstance(contents, dict) or any(contents.get(key) != _FORMAT[key] for key in _FORMAT):
        raise InputError(f"costs (--costs): {name} holds no costs of d2ke learn-costs")
    try:
        return {key: _mapped(value) for key, value in contents.items() if key not in _FORMAT}
    except (IndexError, TypeError, ValueError):
        raise InputError(
            f"costs (--costs): {name} is damaged: a row must have one or two letters and a cost"
        ) from None


def _mapped(rows: Any) -> Any:
    if not isinstance(rows, list):
        return rows
    costs = {tuple(letters): cost for *letters, cost in rows}
    if not all(letter is None or len(letter) == 1 for letters in costs for letter in letters):
        raise ValueError
    return {letters if len(letters) > 1 else letters[0]: cost for letters, cost in costs.items()}
