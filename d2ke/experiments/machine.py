# SPDX-License-Identifier: BSD-3-Clause
"""The machine and the versions that experiments ran on."""

from __future__ import annotations

import os
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from d2ke._base.config import configuration
from d2ke._base.limits import physical_memory
from d2ke._base.threads import thread_count


def machine(n_threads: int | None) -> dict[str, str | int | float]:
    """Return the processor, the instruction set used, cores, threads, memory and system."""
    return {
        "cpu": _cpu(),
        "cores": os.cpu_count() or 1,
        "threads": thread_count(n_threads),
        "memory_gib": round((physical_memory() or 0) / 2**30, 1),
        "instruction_set": configuration()["instruction set"],
        "system": f"{platform.system()} {platform.machine()}",
    }


def versions() -> dict[str, str]:
    """Return the versions of d2ke, Python and the packages underneath."""
    rows = configuration()
    packages = {"python": platform.python_version(), "d2ke": rows["d2ke"]}
    for name in ("numpy", "scipy", "liblinear-official", "libsvm-official"):
        packages[name] = rows[name]
    for name in ("matplotlib", "scikit-learn", "opencv-python-headless", "opencv-python"):
        try:
            packages[name] = version(name)
        except PackageNotFoundError:
            continue
    return packages


def _cpu() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine() or "unknown"
