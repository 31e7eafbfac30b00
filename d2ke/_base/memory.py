# SPDX-License-Identifier: BSD-3-Clause
"""Refuse arrays that cannot fit into memory, before work starts."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path


def check_fits(n_bytes: int, what: str, instead: str) -> None:
    """Raise a MemoryError if `what` takes more bytes than the machine or its container has.

    `instead` names a function or argument that needs less.
    """
    limit = memory_limit()
    if n_bytes > limit:
        raise MemoryError(
            f"{what} would take about {readable(n_bytes)} ({n_bytes} bytes) of memory, but there "
            f"are {readable(limit)} in all; {instead}"
        )


@cache
def memory_limit() -> int:
    """Return the bytes of physical memory, or of the container's limit if it is smaller."""
    return min((_physical_memory(), *_container_limits()))


def _physical_memory() -> int:
    if hasattr(os, "sysconf"):
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    status = (ctypes.c_uint64 * 8)(64)  # Windows' MEMORYSTATUSEX, which begins with its size
    ctypes.CDLL("kernel32").GlobalMemoryStatusEx(status)
    return status[1]


def _container_limits(root: str = "/sys/fs/cgroup") -> Iterator[int]:
    """Yield the limits of the control groups of this process, of version 2 and of version 1."""
    try:
        lines = Path("/proc/self/cgroup").read_text("utf-8").splitlines()
    except OSError:
        return
    for line in lines:
        _, controllers, path = line.split(":", 2)
        if not controllers:
            top, name = Path(root), "memory.max"
        elif "memory" in controllers.split(","):
            top, name = Path(root, "memory"), "memory.limit_in_bytes"
        else:
            continue
        group = top / path.lstrip("/")
        # In a container the path may be the host's; then the top folder itself is the group.
        for folder in (group, *group.parents):
            with suppress(OSError, ValueError):  # no such file, or "max"
                yield int((folder / name).read_text("utf-8"))
            if folder == top:
                break


def readable(count: int) -> str:
    """Return a number of bytes in the unit that suits it."""
    value, unit = float(count), "bytes"
    for unit in ("bytes", "kB", "MB", "GB", "TB", "PB"):
        if abs(value) < 1000 or unit == "PB":
            break
        value /= 1000
    return f"{value:.3g} {unit}"
