# SPDX-License-Identifier: BSD-3-Clause
"""The most memory that a block of code had of the system."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

_PROCESS = Path("/proc/self")
_RESET = "5"  # the kernel's code for the process's own peak
_M_MMAP_THRESHOLD, _LARGE = -3, 1 << 18  # of glibc; bytes


@dataclass
class Peak:
    """A measured peak.

    Attributes
    ----------
    bytes : int or None
        The peak above what the process had before; None where the system does not tell.
    """

    bytes: int | None = None


@contextmanager
def peak_memory() -> Iterator[Peak]:
    """Measure the most memory that the process takes meanwhile, of all threads."""
    peak = Peak()
    try:
        _give_back()
        (_PROCESS / "clear_refs").write_text(_RESET, "utf-8")
        before = _status("VmRSS")
    except (OSError, ValueError):
        before = None
    yield peak
    if before is not None:
        peak.bytes = max(0, _status("VmHWM") - before)


def _give_back() -> None:
    """Let the C library keep no large free blocks for later, whose use would not be seen."""
    with suppress(AttributeError, OSError):  # another C library
        library = ctypes.CDLL(None)
        library.mallopt(_M_MMAP_THRESHOLD, _LARGE)
        library.malloc_trim(0)


def _status(name: str) -> int:
    """Return a line of the process's status in bytes."""
    for line in (_PROCESS / "status").read_text("utf-8").splitlines():
        if line.startswith(f"{name}:"):
            return int(line.split()[1]) * 1024
    raise ValueError(f"the system does not tell {name}")
