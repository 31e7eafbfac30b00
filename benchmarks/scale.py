# SPDX-License-Identifier: BSD-3-Clause
"""Training and prediction on very many strings, in one process and by two workers of dask.

    python -m benchmarks.scale [--n 20000] [--R 1024] [--workers 2]

Strings of 20 to 40 letters, by two Markov chains: seconds, accuracy, and the peak memory of this
process. Workers, of one thread each, make and keep their strings, so this process never has any.
"""

from __future__ import annotations

import logging
import time

import numpy as np

import d2ke
from benchmarks import measure

ROWS = 12_500  # of a partition
LETTERS = np.frombuffer(b"ACGT", np.uint8)


def chains(n: int, seed: int) -> tuple[list[str], np.ndarray]:
    """Return strings of two Markov chains, and which chain each is of."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    stay = np.array([0.33, 0.45])[y]
    codes = np.empty((n, 40), np.uint8)
    codes[:, 0] = rng.integers(0, 4, n)
    for i in range(1, 40):
        step = rng.integers(1, 4, n)
        codes[:, i] = (codes[:, i - 1] + np.where(rng.random(n) < stay, 0, step)) % 4
    text = LETTERS[codes].tobytes().decode()
    lengths = rng.integers(20, 41, n)
    return [text[40 * i : 40 * i + length] for i, length in enumerate(lengths.tolist())], y


def in_memory(n: int, R: int | None, n_threads: int) -> tuple[float, float, float]:
    """Return seconds of training and of prediction, and the accuracy of new strings."""
    (X, y), (new, true) = chains(n, 0), chains(n, 1)
    X, new = d2ke.pack(X), d2ke.pack(new)
    started = time.perf_counter()
    model = d2ke.d2ke_train(y, X, R=R, n_threads=n_threads)
    trained = time.perf_counter()
    accuracy = d2ke.d2ke_predict(true, new, model, n_threads=n_threads)[1]
    return trained - started, time.perf_counter() - trained, accuracy


def by_workers(n: int, R: int | None, n_workers: int) -> tuple[float, float, float]:
    """Do the same on the workers."""
    from dask.delayed import delayed
    from distributed import Client, LocalCluster, wait

    import d2ke.dask

    cluster = LocalCluster(
        n_workers=n_workers, threads_per_worker=1, dashboard_address=":0",
        silence_logs=logging.CRITICAL,
    )  # fmt: skip
    with cluster, Client(cluster) as client:
        sides = []
        for first in (0, n):
            made = [delayed(chains)(min(ROWS, n), first + k) for k in range(max(1, n // ROWS))]
            sides += [[part[1] for part in made], [part[0] for part in made]]
        y, X, true, new = map(client.persist, sides)
        wait([y, X, true, new])
        started = time.perf_counter()
        model = d2ke.dask.d2ke_train(y, X, R=R)
        trained = time.perf_counter()
        accuracy = float(d2ke.dask.d2ke_predict(true, new, model)[1].compute())
        return trained - started, time.perf_counter() - trained, accuracy


def main() -> None:
    parser = measure.parser(__doc__, threads=2)
    parser.add_argument("--n", type=int, default=20_000)
    parser.add_argument("--R", type=int, help="random objects; by default those of the recipe")
    parser.add_argument("--workers", type=int, help="workers of dask")
    options = parser.parse_args()
    if options.workers:
        found = by_workers(options.n, options.R, options.workers)
    else:
        found = in_memory(options.n, options.R, options.threads)
    measure.header("strings", "trained, s", "predicted, s", "right, %", "peak, MB")
    measure.row(options.n, *(f"{value:.2f}" for value in found), measure.peak_megabytes())


if __name__ == "__main__":
    main()
