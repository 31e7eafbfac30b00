# SPDX-License-Identifier: BSD-3-Clause
"""Features by 1, 2 and 4 workers of one thread, to a feature store and to a dask array.

The strings are those of `benchmarks.streaming`: outlines of MNIST's digits, each of them many times
with other letters changed. The random ones are long, so that workers have much to do for each
byte that the client takes from them; ``--length 10 40`` is the other case. At the end a worker is
killed in the middle of its work.
"""

from __future__ import annotations

import argparse
import logging
import os
import resource
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from distributed import Client, LocalCluster, SchedulerPlugin, wait

import d2ke
from benchmarks.measure import processor
from benchmarks.streaming import disk_speed, make_strings, read_strings
from d2ke._ext import isa
from d2ke.distances.cluster import Remote

HOW = {"distance": "levenshtein", "gamma": 0.01}


class Blocks(SchedulerPlugin):
    """Counts the blocks that go to workers, and again after the loss of a worker."""

    def __init__(self) -> None:
        self.sent = 0
        self.keys: set[Any] = set()

    def transition(self, key: Any, start: str, finish: str, *_: Any, **__: Any) -> None:
        """See what the scheduler does with a task."""
        if finish == "processing" and isinstance(key, tuple) and key[0].startswith("d2ke-"):
            self.sent += 1
            self.keys.add(key)


class Traffic:
    """Bytes of strings that go to the workers as arguments of tasks."""

    def __init__(self) -> None:
        self.blocks = self.input = self.recipe = 0
        submit = Remote._submit

        def counted(remote: Remote, function: Any, *arguments: Any, **how: Any) -> Any:
            size = sum(len(part) for part in arguments if isinstance(part, bytes))
            if "key" in how:
                self.blocks += 1
                self.input += size
            else:
                self.recipe = size
            return submit(remote, function, *arguments, **how)

        Remote._submit = counted


def main(arguments: list[str] | None = None) -> int:
    """Run all and print a table, and the figures for estimates."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--n", type=int, default=300_000, help="strings")
    parser.add_argument("--R", type=int, default=1024, help="random strings")
    parser.add_argument("--length", type=int, nargs=2, default=(120, 240), help="of random strings")
    parser.add_argument("--dtype", choices=["float32", "float64"], default="float32")
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2, 4])
    parser.add_argument("--folder", help="on the disk to write to; by default a temporary folder")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        make_strings(options.n, options.R, folder, tuple(options.length))
        X, omega = (read_strings(folder, name) for name in ("X", "omega"))
        how = HOW | {"dtype": options.dtype}
        file = Path(folder, "features.h5")
        print(f"{processor()}; {isa.selected()}, {options.dtype}; disk: "
              f"{disk_speed(folder):.0f} MB/s")  # fmt: skip
        gigabytes = options.n * options.R * np.dtype(options.dtype).itemsize / 1e9
        print(f"{options.n} strings x {options.R} of length {options.length[0]} to "
              f"{options.length[1]}: {gigabytes:.2f} GB")  # fmt: skip
        print("| who | to | s | speed-up | blocks | blocks/s | block: MB in, MB out, s of a worker "
              "| processor of the client, s |")  # fmt: skip
        print("|---|---|---|---|---|---|---|---|")
        most = max(options.workers)
        to_store(X, omega, file, how, f"{most} threads, no workers", {"n_threads": most})
        traffic, first = Traffic(), {}
        for n_workers in options.workers:
            with workers(n_workers) as (client, blocks):
                name = f"{n_workers} worker{'s' if n_workers > 1 else ''}"
                found = to_store(
                    X, omega, file, how, name, {"client": client}, (traffic, blocks, first)
                )
                to_array(X, omega, how, name, client, first)
        with workers(most) as (client, blocks):
            process = next(iter(client.run(os.getpid).values()))
            killer = threading.Timer(found["seconds"] / 2, os.kill, (process, signal.SIGKILL))
            killer.start()
            name = f"{most} workers, one killed"
            to_store(X, omega, file, how, name, {"client": client}, (traffic, blocks, first))
            killer.cancel()
            print(f"\nAfter the kill {blocks.sent - len(blocks.keys)} of {len(blocks.keys)} blocks "
                  "were given out again.")  # fmt: skip
        print("\nFor estimates:")
        pairs = options.n * options.R
        print(f"  c = {first['store'] * options.workers[0] / pairs * 1e9:.1f} ns of a thread for "
              "a pair (from the first line with workers)")  # fmt: skip
        print(f"  x = {traffic.input / options.n:.0f} bytes of a string on its way; omega: "
              f"{traffic.recipe} bytes")  # fmt: skip
        print(f"  w = {found['processor'] / gigabytes:.2f} s of a processor of client, scheduler "
              "and writer for a GB")  # fmt: skip
    return 0


@contextmanager
def workers(n: int) -> Iterator[tuple[Client, Blocks]]:
    """Give a client of so many workers, which fetches results from them directly."""
    blocks = Blocks()
    with (
        LocalCluster(
            n_workers=n,
            threads_per_worker=1,
            dashboard_address=":0",
            silence_logs=logging.CRITICAL,
        ) as cluster,
        Client(cluster, direct_to_workers=True) as client,
    ):
        cluster.scheduler.add_plugin(blocks)
        yield client, blocks


def to_store(
    X: d2ke.Objects,
    omega: d2ke.Objects,
    file: Path,
    how: dict[str, Any],
    name: str,
    by: dict[str, Any],
    counts: tuple[Traffic, Blocks, dict[str, float]] | None = None,
) -> dict[str, float]:
    """Write a store, and print a line about it."""
    if counts:
        counts[0].blocks = counts[0].input = 0
    before, started = used(), time.perf_counter()
    d2ke.d2ke_embed(X, omega, **how, **by, out=file).close()
    seconds = time.perf_counter() - started
    found = {"seconds": seconds, "processor": used() - before}
    file.unlink()
    if counts is None:
        print(f"| {name} | store | {seconds:.1f} | | | | | {found['processor']:.1f} |", flush=True)
        return found
    traffic, _, first = counts
    n = traffic.blocks
    size = len(X) * len(omega) * np.dtype(how["dtype"]).itemsize
    speed_up = first.setdefault("store", seconds) / seconds
    threads = len(by["client"].nthreads())
    print(f"| {name} | store | {seconds:.1f} | {speed_up:.2f} | {n} | {n / seconds:.1f} | "
          f"{traffic.input / n / 1e6:.3f}, {size / n / 1e6:.2f}, {seconds * threads / n:.3f} | "
          f"{found['processor']:.1f} |", flush=True)  # fmt: skip
    return found


def to_array(
    X: d2ke.Objects,
    omega: d2ke.Objects,
    how: dict[str, Any],
    name: str,
    client: Client,
    first: dict[str, float],
) -> None:
    """Compute a dask array, which stays with the workers, and print a line about it."""
    before, started = used(), time.perf_counter()
    Z = client.persist(d2ke.d2ke_embed(X, omega, **how, client=client))
    wait(Z)
    seconds = time.perf_counter() - started
    speed_up, n = first.setdefault("array", seconds) / seconds, Z.numblocks[0]
    threads = len(client.nthreads())
    print(f"| {name} | array | {seconds:.1f} | {speed_up:.2f} | {n} | {n / seconds:.1f} | "
          f", {Z.nbytes / n / 1e6:.2f}, {seconds * threads / n:.3f} | "
          f"{used() - before:.1f} |", flush=True)  # fmt: skip


def used() -> float:
    """Seconds of processors that this process has used."""
    found = resource.getrusage(resource.RUSAGE_SELF)
    return found.ru_utime + found.ru_stime


if __name__ == "__main__":
    sys.exit(main())
