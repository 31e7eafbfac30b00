# SPDX-License-Identifier: BSD-3-Clause
"""What all benchmarks share: d2ke and its peers in turns in one process, and tables."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np

from d2ke._base.threads import thread_count
from d2ke._ext import isa


@dataclass(frozen=True)
class Peer:
    """What another package does of the same work; without a call it is not installed.

    `same` raises an error if the first result, d2ke's, isn't the second, the peer's. `times` is how
    many times as much work d2ke does in its call: the peer's time is multiplied by it.
    """

    call: Callable[[], Any] | None
    same: Callable[[Any, Any], Any] | None = None
    times: float = 1.0


def side_by_side(
    case: str,
    ours: Callable[[], Any],
    peers: Mapping[str, Peer],
    rounds: int,
    per: float = 1.0,
    clock: Callable[[], float] = time.perf_counter,
    summary: Callable[[list[float]], float] = np.median,
) -> Any:
    """Print d2ke's time and each peer's, the `summary` of rounds over `per`; return d2ke's result.

    Every call runs once first, which compiles it, and the results are compared. Then the calls take
    turns, so that all see the same noise.
    """
    calls = {"d2ke": ours} | {name: peer.call for name, peer in peers.items() if peer.call}
    results = {name: call() for name, call in calls.items()}
    for name, peer in peers.items():
        if name in results and peer.same is not None:
            peer.same(results["d2ke"], results[name])
    seconds: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(rounds):
        for name, call in calls.items():
            start = clock()
            call()
            seconds[name].append(clock() - start)
    own = summary(seconds["d2ke"])
    for name, peer in peers.items():
        if peer.call is None:
            row(case, f"{own / per:.4g}", name, "not installed", "")
        else:
            theirs = summary(seconds[name]) * peer.times
            row(case, f"{own / per:.4g}", name, f"{theirs / per:.4g}", f"{theirs / own:.1f}")
    if not peers:
        row(case, f"{own / per:.4g}", "", "", "")
    return results["d2ke"]


def peers_header(unit: str, summary: str = "median") -> None:
    """Print the first lines of the table of `side_by_side`."""
    print(f"{isa.selected()}; {unit}, {summary}; ratio: the peer's time over d2ke's\n")
    header("case", "d2ke", "peer", "its time", "ratio")


def close(rtol: float, atol: float = 0.0) -> Callable[[Any, Any], None]:
    """Return a comparison for `Peer.same`."""
    return lambda ours, theirs: np.testing.assert_allclose(ours, theirs, rtol=rtol, atol=atol)


def installed(name: str) -> Any:
    """Return a module, or None if it is not installed."""
    try:
        return import_module(name)
    except ImportError:
        return None


def limit_threads(n_threads: int) -> None:
    """Let OpenMP peers use n_threads, and BLAS one thread per calling thread."""
    from threadpoolctl import threadpool_limits

    threadpool_limits(limits=n_threads, user_api="openmp")
    threadpool_limits(limits=1, user_api="blas")


def versions(*packages: str) -> str:
    """Name the versions of packages."""
    found = []
    for name in packages:
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            found.append(f"{name} not installed")
    return ", ".join(found)


def parser(
    description: str | None, *, rounds: int = 0, threads: int | None = None
) -> argparse.ArgumentParser:
    """Return the reader of a benchmark's arguments; 0 threads are all that there are."""
    result = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    if rounds:
        result.add_argument("--rounds", type=int, default=rounds, help="times of each call")
    if threads is not None:
        result.add_argument("--threads", type=int, default=threads or thread_count(None))
    return result


def header(*columns: str) -> None:
    """Print the first two lines of a table."""
    row(*columns)
    row(*["---"] * len(columns))


def row(*cells: Any) -> None:
    """Print a line of a table."""
    print(f"| {' | '.join(map(str, cells))} |", flush=True)


def progress(text: str) -> None:
    """Say on standard error what is being done."""
    print(text, file=sys.stderr, flush=True)


def least(
    call: Callable[[], Any], rounds: int = 1, clock: Callable[[], float] = time.process_time
) -> tuple[float, Any]:
    """Return the least time of a call in some rounds, and what it returns."""
    times, result = [], None
    for _ in range(rounds):
        start = clock()
        result = call()
        times.append(clock() - start)
    return min(times), result


def peak_megabytes() -> int:
    """Return the largest resident set that this process has had."""
    import resource  # Windows has none, and tests import this module there

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1000


def median(values: list[float]) -> float:
    """Return the median."""
    return float(np.median(values))
