# SPDX-License-Identifier: BSD-3-Clause
"""Results of functions, whose print fits on a screen."""

from __future__ import annotations

import reprlib
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from typing import Any, TypeVar, dataclass_transform

import numpy as np

T = TypeVar("T")


@dataclass_transform(frozen_default=True, eq_default=False, field_specifiers=(field,))
def result(cls: type[T]) -> type[T]:
    """Make a class a frozen dataclass; long fields are printed by their first and last entries."""
    made: Any = dataclass(frozen=True, eq=False, repr=False)(cls)
    made.__repr__ = _brief
    return made


def _brief(self: Any) -> str:
    with np.printoptions(threshold=12, edgeitems=2):
        named = {f.name: getattr(self, f.name) for f in fields(self) if f.repr}
        texts = [
            f"{name}={reprlib.repr(value) if isinstance(value, (list, tuple)) else repr(value)}"
            for name, value in named.items()
        ]
    return f"{type(self).__name__}({', '.join(texts)})"


def first_lines(lines: Sequence[str], limit: int) -> list[str]:
    """Return the first lines, and how many more there are."""
    rest = len(lines) - limit
    return [*lines[:limit], *([f"    and {rest} more"] if rest > 0 else [])]
