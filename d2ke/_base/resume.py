# SPDX-License-Identifier: BSD-3-Clause
"""Records of complete feature stores."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from d2ke._base.checkpoint import MADE_WITH, refuse_differences, refuse_unknown


def check_finished(
    path: Path,
    record: Mapping[str, Any],
    read_record: Callable[[], Mapping[str, Any]],
    *,
    resume: bool,
) -> bool:
    """Return whether the file exists; refuse one with another record."""
    if resume:
        refuse_unknown(path, record)
    if not path.exists():
        return False
    if not resume:
        raise FileExistsError(
            f"{path} exists already: with resume=True it is kept if it holds the same, or "
            "remove it first"
        )
    after = {name: value for name, value in record.items() if name not in MADE_WITH}
    refuse_differences(path, read_record(), after)
    return True
