# SPDX-License-Identifier: BSD-3-Clause
"""Warnings that point to the user's own line."""

from __future__ import annotations

import sys
import warnings
from types import FrameType

_OWN = ("d2ke", "matlab_compat")


def warn(message: str) -> None:
    """Warn of a result that may not be what the user meant, at the line that called the package."""
    frame: FrameType | None = sys._getframe(1)
    depth = 2
    while frame is not None and frame.f_globals.get("__name__", "").split(".")[0] in _OWN:
        depth, frame = depth + 1, frame.f_back
    warnings.warn(message, UserWarning, stacklevel=depth)
