# SPDX-License-Identifier: BSD-3-Clause
"""The memory and the processors that the system grants this process."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from pathlib import Path


def available_processors(count: int) -> int:
    """Return how many of `count` processors this process may use, at least 1."""
    if hasattr(os, "sched_getaffinity"):
        count = min(count, len(os.sched_getaffinity(0)))
    return max(1, min(count, _cpu_quota() or count))


def _cpu_quota() -> int | None:
    """Return the whole processors that control groups grant; None without a limit."""
    try:
        quota, period = Path("/sys/fs/cgroup/cpu.max").read_text().split()
        return None if quota == "max" else math.ceil(int(quota) / int(period))
    except (OSError, ValueError):
        return None


def grants_threads(count: int) -> bool:
    """Whether the system surely lets this process start so many more threads.

    The limits are those of the user (``ulimit -u``) and of control groups.
    """
    return all(count <= left for left in (*_threads_of_user(), *_threads_of_group()))


def _threads_of_user() -> Iterator[int]:
    """Yield the threads left under the user's limit if all of the system's were the user's."""
    try:
        import resource

        most = resource.getrlimit(resource.RLIMIT_NPROC)[0]
    except (ImportError, AttributeError):  # Windows
        return
    load = next(_lines("/proc/loadavg"), None)
    if most != resource.RLIM_INFINITY and load:
        yield most - int(load[3].partition("/")[2])


def _threads_of_group() -> Iterator[int]:
    try:
        most, used = (
            Path("/sys/fs/cgroup", f"pids.{end}").read_text() for end in ("max", "current")
        )
        if most.strip() != "max":
            yield int(most) - int(used)
    except (OSError, ValueError):
        return


def physical_memory() -> int | None:
    """Return the bytes of memory that the machine has; None if not known."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return None


def available_memory() -> int | None:
    """Return the bytes that this process may still take without swapping; None if not known."""
    return min((*_of_system(), *_of_groups(), *_of_limits()), default=None)


def _of_system() -> Iterator[int]:
    for name, value, *_ in _lines("/proc/meminfo"):
        if name == "MemAvailable:":
            yield int(value) * 1024
            return
    size = physical_memory()
    if size is not None:
        yield size


# For each version of control groups: its folder, limit, usage, and prefix of cached files' sizes.
_GROUPS = {
    1: ("/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes", "total_"),
    2: ("/sys/fs/cgroup", "memory.max", "memory.current", ""),
}


def _of_groups() -> Iterator[int]:
    """Yield the bytes left under the limit of each control group above this process."""
    try:
        groups = Path("/proc/self/cgroup").read_text().splitlines()
    except OSError:
        return
    for line in groups:
        _, controllers, path = line.split(":", 2)
        version = 2 if not controllers else 1
        if version == 1 and "memory" not in controllers.split(","):
            continue
        root, limit, usage, prefix = _GROUPS[version]
        group = Path(root, path.lstrip("/"))
        # In a container the path may be the host's; then the folder itself is the group.
        for folder in (group, *group.parents):
            try:
                most = (folder / limit).read_text().strip()
                if most != "max":
                    files = (f"{prefix}inactive_file", f"{prefix}active_file")
                    cached = sum(
                        int(value) for name, value in _lines(folder / "memory.stat")
                        if name in files
                    )  # fmt: skip
                    used = int((folder / usage).read_text())
                    yield max(int(most) - max(used - cached, 0), 0)
            except (OSError, ValueError):
                pass
            if folder == Path(root):
                break


def _of_limits() -> Iterator[int]:
    """Yield the bytes left under the process's own limits (``ulimit -v`` and ``-d``)."""
    try:
        import resource
    except ImportError:  # Windows
        return
    used = next(_lines("/proc/self/statm"), None)
    for kind, place in ((resource.RLIMIT_AS, 0), (resource.RLIMIT_DATA, 5)):
        most = resource.getrlimit(kind)[0]
        if most != resource.RLIM_INFINITY:
            here = int(used[place]) * resource.getpagesize() if used else 0
            yield max(most - here, 0)


def _lines(path: str | Path) -> Iterator[list[str]]:
    """Yield the words of each line; nothing if the file cannot be read."""
    try:
        text = Path(path).read_text()
    except OSError:
        return
    yield from (line.split() for line in text.splitlines())
