# SPDX-License-Identifier: BSD-3-Clause
"""What JSON does to parameters, undone."""

from __future__ import annotations

from typing import Any


def frozen(value: Any) -> Any:
    """Return what JSON gave back with its lists as tuples again, at every depth."""
    if isinstance(value, dict):
        return {name: frozen(one) for name, one in value.items()}
    return tuple(frozen(one) for one in value) if isinstance(value, (list, tuple)) else value
