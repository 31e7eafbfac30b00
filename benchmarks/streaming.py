# SPDX-License-Identifier: BSD-3-Clause
"""Features written to a file beside the same features in memory: time and resident memory.

The strings are outlines of MNIST's digits, each of them many times with other letters changed.
Each run is a process of its own.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

import d2ke
from benchmarks.measure import in_child, peak_kilobytes, processor
from d2ke._base.threads import thread_count
from d2ke._ext import isa
from papers.datasets import load

CHANGED = 0.05  # of the letters


def main(arguments: list[str] | None = None) -> int:
    """Run both, in turns, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--n", type=int, default=1_000_000, help="strings")
    parser.add_argument("--R", type=int, default=1024, help="random strings")
    parser.add_argument("--dtype", choices=["float32", "float64"], default="float32")
    parser.add_argument("--threads", type=int)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--folder", help="on the disk to write to; by default a temporary folder")
    parser.add_argument("--only", choices=["stream", "memory"], help="one of the two runs")
    options = parser.parse_args(arguments)
    threads = thread_count(options.threads)
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        make_strings(options.n, options.R, folder)
        size = options.n * options.R * np.dtype(options.dtype).itemsize
        print(f"{processor()}; {threads} threads, {isa.selected()}, {options.dtype}, d2ke")
        print(f"{options.n} strings x {options.R}: {size / 1e9:.2f} GB; disk: "
              f"{disk_speed(folder):.0f} MB/s")  # fmt: skip
        print("| run | seconds | million pairs/s | peak resident memory, MB |")
        print("|---|---|---|---|")
        for _ in range(options.rounds):
            for name in ("memory", "stream"):
                if options.only not in (None, name):
                    continue
                found = in_child(
                    "benchmarks.streaming:measured",
                    folder,
                    options.dtype,
                    threads,
                    name == "stream",
                    isa=isa.selected(),
                )
                rate = options.n * options.R / found["seconds"] / 1e6
                title = "file" if name == "stream" else "in memory"
                print(f"| {title} | {found['seconds']:.1f} | {rate:.1f} | {found['peak']:.0f} |",
                      flush=True)  # fmt: skip
    return 0


def make_strings(n: int, R: int, folder: str, length: tuple[int, int] = (10, 40)) -> None:
    """Write strings and random strings, packed."""
    data = load("mnist-str8")
    base, rng = data.objects, np.random.default_rng(0)
    parts = []
    for start in range(0, n, len(base)):
        part = base.span(0, min(len(base), n - start))
        values = np.where(
            rng.random(len(part.values)) < CHANGED,
            rng.integers(0, len(base.alphabet), len(part.values), dtype=part.values.dtype),
            part.values,
        )
        parts.append(d2ke.Objects("strings", values, part.offsets, base.alphabet, base.letters))
    omega = d2ke.samplers.random_strings(R, data.alphabet, length=length, seed=0)
    for name, objects in (("X", d2ke.concatenate(parts)), ("omega", omega)):
        np.savez(
            Path(folder, name),
            values=objects.values,
            offsets=objects.offsets,
            alphabet=objects.alphabet,
        )


def read_strings(folder: str, name: str) -> d2ke.Objects:
    """Read the strings, "X", or the random ones, "omega"."""
    return d2ke.Objects("strings", letters="str", **np.load(Path(folder, f"{name}.npz")))


def measured(folder: str, dtype: str, threads: int, to_file: bool) -> dict[str, Any]:
    """Compute the features, and return the seconds and the process's peak."""
    X, omega = (read_strings(folder, name) for name in ("X", "omega"))
    how = {"distance": "levenshtein", "gamma": 0.01, "dtype": dtype, "n_threads": threads}
    path = Path(folder, "features.h5")
    started = time.perf_counter()
    if to_file:
        d2ke.write_features(path, X, omega, **how)
    else:
        d2ke.d2ke_embed(X, omega, **how)
    seconds = time.perf_counter() - started
    path.unlink(missing_ok=True)
    return {"seconds": seconds, "peak": peak_kilobytes() * 1024 / 1e6}


def disk_speed(folder: str) -> float:
    """MB a second that plain writes of 256 MB, with an fsync, reach."""
    path, block = Path(folder, "speed"), os.urandom(1 << 22)
    started = time.perf_counter()
    with open(path, "wb", buffering=0) as stream:
        for _ in range(64):
            stream.write(block)
        os.fsync(stream.fileno())
    seconds = time.perf_counter() - started
    path.unlink()
    return 64 * len(block) / 1e6 / seconds


if __name__ == "__main__":
    sys.exit(main())
