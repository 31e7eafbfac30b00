# SPDX-License-Identifier: BSD-3-Clause
"""On what the experiments ran."""

from __future__ import annotations

import os
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from d2ke._base.config import configuration
from d2ke._base.threads import thread_count


def machine(n_threads: int | None) -> dict[str, str | int | float]:
    """Return the processor, its instruction set in use, cores, threads, memory and system."""
    return {
        "cpu": _cpu(),
        "cores": os.cpu_count() or 1,
        "threads": thread_count(n_threads),
        "memory_gib": _memory(),
        "instruction_set": configuration()["instruction set"],
        "system": f"{platform.system()} {platform.machine()}",
    }


def versions() -> dict[str, str]:
    """Return the versions of d2ke, Python and the packages underneath."""
    rows = configuration()
    found = {"python": platform.python_version(), "d2ke": rows["d2ke"]}
    for name in ("numpy", "scipy", "liblinear-official", "libsvm-official"):
        found[name] = rows[name]
    for name in ("matplotlib", "scikit-learn", "opencv-python-headless", "opencv-python"):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def _cpu() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine() or "unknown"


def _memory() -> float:
    try:
        size = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return 0.0
    return round(size / 2**30, 1)
