# SPDX-License-Identifier: BSD-3-Clause
"""How time, the processor's peak, memory and instructions are measured."""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from d2ke._base.threads import available_threads

ROOT = Path(__file__).resolve().parents[1]

PEAK_SOURCE = """
typedef double f64 __attribute__((vector_size(BYTES)));
typedef float f32 __attribute__((vector_size(BYTES)));
/* Twelve independent chains hide the latency of two multiply-adds a cycle. */
#define SPIN(name, vector, scalar)                                  \\
    scalar name(long n, scalar factor, scalar term)                 \\
    {                                                               \\
        vector a0 = {0}, a1 = a0 + 1, a2 = a0 + 2, a3 = a0 + 3;     \\
        vector a4 = a0 + 4, a5 = a0 + 5, a6 = a0 + 6, a7 = a0 + 7;  \\
        vector a8 = a0 + 8, a9 = a0 + 9, aa = a0 + 10, ab = a0 + 11;\\
        vector f = a0 + factor, t = a0 + term;                      \\
        for (long i = 0; i < n; i++) {                              \\
            a0 = a0 * f + t; a1 = a1 * f + t; a2 = a2 * f + t;      \\
            a3 = a3 * f + t; a4 = a4 * f + t; a5 = a5 * f + t;      \\
            a6 = a6 * f + t; a7 = a7 * f + t; a8 = a8 * f + t;      \\
            a9 = a9 * f + t; aa = aa * f + t; ab = ab * f + t;      \\
        }                                                           \\
        a0 += a1 + a2 + a3 + a4 + a5 + a6 + a7 + a8 + a9 + aa + ab; \\
        scalar sum = 0;                                             \\
        for (unsigned i = 0; i < BYTES / sizeof(scalar); i++)       \\
            sum += a0[i];                                           \\
        return sum;                                                 \\
    }
SPIN(spin64, f64, double)
SPIN(spin32, f32, float)
"""
PEAK_FLAGS = {
    "baseline": ([], 16),
    "avx2": (["-mavx2", "-mfma"], 32),
    "avx512": (["-mavx512f"], 64),
}
CHAINS = 12


def parser(
    description: str, *, rounds: int = 0, threads: bool = False, quick: str = ""
) -> argparse.ArgumentParser:
    """Return the reader of a benchmark's arguments, with those options that it has."""
    result = argparse.ArgumentParser(description=description.splitlines()[0])
    if rounds:
        result.add_argument("--rounds", type=_positive, default=rounds, help="times of each call")
    if threads:
        result.add_argument("--threads", type=_positive, default=available_threads())
    if quick:
        result.add_argument("--quick", action="store_true", help=f"{quick}, to see that all works")
    return result


def _positive(text: str) -> int:
    if int(text) < 1:
        raise ValueError(text)
    return int(text)


def progress(text: str) -> None:
    """Say on standard error what is being done."""
    print(text, file=sys.stderr, flush=True)


def header(*columns: str) -> None:
    """Print the first two lines of a table."""
    row(*columns)
    row(*["---"] * len(columns))


def row(*cells: Any) -> None:
    """Print a line of a table."""
    print(f"| {' | '.join(map(str, cells))} |", flush=True)


def interleaved(
    calls: Sequence[Callable[[], Any]],
    rounds: int,
    shown: str | None = None,
    clock: Callable[[], float] = time.perf_counter,
) -> list[list[float]]:
    """Seconds of each call in each round; the calls take turns, so that all see the same noise."""
    seconds: list[list[float]] = [[] for _ in calls]
    for r in range(rounds):
        for call, times in zip(calls, seconds, strict=True):
            start = clock()
            result = call()
            times.append(clock() - start)
            del result
        if shown is not None:
            progress(f"{shown}round {r + 1} of {rounds}")
    return seconds


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


def mean_and_sd(values: np.ndarray, sign: str = "") -> str:
    """Show the mean and the standard deviation."""
    return f"{np.mean(values):{sign}.2f} ± {np.std(values, ddof=1) if len(values) > 1 else 0:.2f}"


def median(values: Sequence[float]) -> float:
    """Return the median."""
    return float(np.median(values))


def relative_difference(value: np.ndarray, reference: np.ndarray) -> float:
    """Largest |value - reference| / |reference|; infinite where only the reference is 0."""
    value, reference = (np.asarray(a, dtype=np.float64) for a in (value, reference))
    difference = np.abs(value - reference)
    wrong = (difference > 0) & (reference == 0)
    if wrong.any() or not np.isfinite(difference).all():
        return float("inf")
    scale = np.where(reference == 0, 1, np.abs(reference))
    return float((difference / scale).max())


def peak_flops(isa: str, n_threads: int) -> dict[str, Any]:
    """Multiply-adds of registers only, in floating-point operations per second, by dtype.

    Not known without a C compiler.
    """
    compiler = next(filter(None, map(shutil.which, ("cc", "gcc", "clang"))), None)
    if compiler is None:
        return {"source": "no C compiler", "float64": np.nan, "float32": np.nan}
    flags, n_bytes = PEAK_FLAGS[isa]
    with tempfile.TemporaryDirectory() as folder:
        source, library = Path(folder, "peak.c"), Path(folder, "peak.so")
        source.write_text(PEAK_SOURCE, "utf-8")
        options = ["-O2", "-ffp-contract=fast", "-shared", "-fPIC", f"-DBYTES={n_bytes}", *flags]
        subprocess.run([compiler, *options, "-o", str(library), str(source)], check=True)
        spins = ctypes.CDLL(str(library))
    return {"source": f"C loop of multiply-adds, {n_bytes}-byte vectors"} | {
        name: _peak_loop(getattr(spins, f"spin{8 * size}"), real, n_bytes // size, n_threads)
        for name, real, size in (("float64", ctypes.c_double, 8), ("float32", ctypes.c_float, 4))
    }


def _peak_loop(spin, real, lanes: int, n_threads: int) -> float:
    spin.argtypes, spin.restype = (ctypes.c_long, real, real), real
    turns, best = 20_000_000, float("inf")
    with ThreadPoolExecutor(n_threads) as pool:
        for _ in range(5):
            start = time.perf_counter()
            for future in [pool.submit(spin, turns, 0.5, 0.25) for _ in range(n_threads)]:
                future.result()
            best = min(best, time.perf_counter() - start)
    return 2.0 * CHAINS * lanes * turns * n_threads / best


def in_child(function: str, *arguments: Any, prefix: Sequence[str] = (), isa: str) -> Any:
    """Return function(*arguments) from a new process; "module:function", values as in JSON."""
    module, name = function.split(":")
    code = (
        f"import json, {module} as m; "
        f"print(json.dumps(m.{name}(*json.loads({json.dumps(json.dumps(arguments))}))))"
    )
    done = subprocess.run(
        [*prefix, sys.executable, "-c", code],
        cwd=ROOT,
        env=os.environ | {"D2KE_ISA": isa},
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    return json.loads(done.stdout)


def resident_peak(call: Callable[[], np.ndarray]) -> dict[str, float]:
    """How many MB the resident set grows by during the call, and how many its result takes."""
    # Pages that were freed but kept would be reused unseen.
    with contextlib.suppress(OSError, AttributeError, TypeError):
        ctypes.CDLL(None).malloc_trim(0)
    # Forgets earlier peaks; where that is impossible, only growth above them is seen.
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5", "utf-8")
    before = peak_kilobytes()
    result = call()
    return {"peak": (peak_kilobytes() - before) / 1024, "output": result.nbytes / 2**20}


def peak_kilobytes() -> float:
    """Return the largest resident set that this process has had."""
    try:
        lines = Path("/proc/self/status").read_text("utf-8").splitlines()
        return float(next(line.split()[1] for line in lines if line.startswith("VmHWM")))
    except (OSError, StopIteration):
        import resource  # Windows has none, and tests import this module there

        unit = 1024 if platform.system() == "Darwin" else 1
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit


def processor() -> str:
    """Name of the processor."""
    try:
        lines = Path("/proc/cpuinfo").read_text("utf-8").splitlines()
        model = next(line.split(":")[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        model = platform.processor() or platform.machine()
    return f"{model}, {os.cpu_count()} processors"
