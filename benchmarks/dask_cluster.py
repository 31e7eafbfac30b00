# SPDX-License-Identifier: BSD-3-Clause
"""Training and prediction by two dask workers of one thread, beside one process of two threads.

    python -m benchmarks.dask_cluster

The strings are those of `benchmarks.scale`; the workers make and keep them, so that this process,
client and scheduler, never has any. Sizes are such that one process does not keep features either,
and does not try the squared hinge loss. From the seconds of the larger size follows what a billion
strings cost on many machines.
"""

from __future__ import annotations

import argparse
import logging
import subprocess
import sys
import time
from typing import Any

import numpy as np
from dask.base import compute
from dask.delayed import delayed
from distributed import Client, LocalCluster, wait

import d2ke.dask
from benchmarks.measure import processor
from benchmarks.scale import chains, peak
from d2ke._ext import isa

ROWS = 12_500  # of a partition
N, MACHINES, THREADS, PARTITION = 10**9, 100, 16, 10**6
DOLLARS = 0.70  # an hour of a machine of 16 threads, assumed
NETWORK = 1.25e9  # bytes a second of a machine, assumed


def main() -> None:
    """Print seconds, memory and bytes, and the estimate."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--n", type=int, nargs=2, default=(300_000, 600_000))
    parser.add_argument("--R", type=int, default=1024)
    parser.add_argument("--one-process", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one_process:
        report("one process", *one_process(options.one_process, options.R))
        return
    print(f"{processor()}; {isa.selected()}; strings of 20 to 40 letters, R = {options.R}")
    print("| who | strings | trained, s | predicted, s | right, % | peak, MB | moved, MB |")
    print("|---|---|---|---|---|---|---|", flush=True)
    for n in options.n:
        command = [sys.executable, "-m", "benchmarks.dask_cluster", "--R", str(options.R)]
        subprocess.run([*command, "--one-process", str(n)], check=True)
        with (
            LocalCluster(
                n_workers=2, threads_per_worker=1, dashboard_address=":0",
                silence_logs=logging.CRITICAL,
            ) as cluster,
            Client(cluster) as client,
        ):  # fmt: skip
            row = by_workers(client, n, options.R)
        report("two workers", *row)
    estimate(n, *row[1:3], options.R)


def parts_of(n: int) -> tuple[list[Any], list[Any]]:
    """Return delayed labels and strings."""
    made = [delayed(chains)(ROWS, seed) for seed in range(n // ROWS)]
    return [part[1] for part in made], [part[0] for part in made]


def one_process(n: int, R: int) -> tuple[Any, ...]:
    """Train and predict in memory."""
    y, X = compute(*parts_of(n), scheduler="sync")
    y, X = np.concatenate(y), d2ke.pack([one for part in X for one in part])
    started = time.perf_counter()
    model = d2ke.d2ke_train(y, X, R=R)
    trained = time.perf_counter()
    accuracy = d2ke.d2ke_predict(y, X, model)[1]
    return n, trained - started, time.perf_counter() - trained, accuracy, peak(), 0


def by_workers(client: Client, n: int, R: int) -> tuple[Any, ...]:
    """Train and predict on the workers."""
    y, X = map(client.persist, parts_of(n))
    wait([y, X])
    started = time.perf_counter()
    model = d2ke.dask.d2ke_train(y, X, R=R)
    trained = time.perf_counter()
    accuracy = float(d2ke.dask.d2ke_predict(y, X, model)[1].compute())
    predicted = time.perf_counter()
    moved = sum(client.run(received).values())
    return n, trained - started, predicted - trained, accuracy, peak(), moved


def received(dask_worker: Any) -> int:
    """Return the bytes that a worker got from others."""
    return sum(transfer["total"] for transfer in dask_worker.transfer_incoming_log)


def report(who: str, n: int, trained: float, predicted: float, *rest: Any) -> None:
    """Print a row of the table."""
    accuracy, memory, moved = rest
    print(
        f"| {who} | {n:,} | {trained:.1f} | {predicted:.1f} | {accuracy:.2f} | {memory} | "
        f"{moved / 1e6:.0f} |",
        flush=True,
    )


def estimate(n: int, trained: float, predicted: float, R: int) -> None:
    """Print what a billion strings cost, from the seconds of two threads for n."""
    row = 2 / n * np.array([trained, predicted])  # seconds of a thread
    computing = row * N / (MACHINES * THREADS)
    # Each sum moves at most once, and of four that meet there is one that moves on; then every
    # machine gets the basis.
    moved = 8 * R**2 * (N // PARTITION * 4 / 3 + MACHINES)
    hours = (computing.sum() + moved / MACHINES / NETWORK) * MACHINES / 3600
    print(f"\nA thread takes {1e6 * row[0]:.0f} us to train on a row, with its share of the sample "
          f"and the decomposition, and {1e6 * row[1]:.0f} us to predict it.")  # fmt: skip
    print(f"{N:.0e} strings on {MACHINES} machines of {THREADS} threads: trained in "
          f"{computing[0]:.0f} s, predicted in {computing[1]:.0f} s; {moved / 1e9:.0f} GB of sums "
          f"move, {moved / MACHINES / NETWORK:.1f} s of each machine's network; "
          f"{hours * DOLLARS:.0f} dollars at {DOLLARS:.2f} a machine and hour.")  # fmt: skip


if __name__ == "__main__":
    main()
