# SPDX-License-Identifier: BSD-3-Clause
"""Ctrl-C at random moments of random calls, with and without a dask client.

    python tools/interrupts.py --seconds 300 --seed 0

Prints, for each call, how many presses there were, and how many of them were lost (no
KeyboardInterrupt), late (after more than a second) or spoiled the next, undisturbed call.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np

import d2ke

LATE = 1.0  # seconds
_SETTLE = 0.2  # seconds in which a signal that came at the end of a call is delivered
COLUMNS = ("presses", "lost", "late", "spoiled")


def local_calls(rng: np.random.Generator) -> dict[str, Callable[[], Any]]:
    """Return calls of some tenths of a second to some seconds."""
    X = d2ke.pack(rng.random((700, 60, 2)))
    strings = d2ke.pack(["".join(rng.choice(list("ACGT"), 150)) for _ in range(1500)])
    D = rng.random((1800, 1800))
    D += D.T
    np.fill_diagonal(D, 0)
    Z, y = rng.standard_normal((3000, 100)), rng.integers(0, 6, 3000)
    sets = list(rng.standard_normal((1000, 3, 3)))
    words = ["abc", "defg"] * 2_000_000
    points = rng.random((6000, 20))
    reads = ["".join(one) for one in rng.choice(list("ACGT"), (3000, 60))]
    classes = [word.count("A") > 15 for word in reads]
    model = d2ke.d2ke_train(classes[:300], reads[:300], R=300)
    return {
        "distance_matrix, DTW": lambda: d2ke.distance_matrix(X, distance="dtw"),
        "distance_matrix, strings": lambda: d2ke.distance_matrix(strings, distance="levenshtein"),
        "distance_matrix, callable": lambda: d2ke.distance_matrix(
            range(1000), None, lambda a, b: float(a != b)
        ),
        "gdk_led, all": lambda: d2ke.gdk_led(D, 500),
        "gdk_led, few": lambda: d2ke.gdk_led(D, 50),
        "similarity_machine_fit": lambda: d2ke.similarity_machine_fit(D, y[:1800]),
        "train, -s 0": lambda: d2ke.train(y, Z, "-s 0 -c 10"),
        "train, -s 3": lambda: d2ke.train(y, Z, "-s 3 -c 1"),
        "svmtrain": lambda: d2ke.svmtrain(y[:1500], Z[:1500], "-t 2 -c 10"),
        "kernel_features": lambda: d2ke.kernel_features(sets, sigma=1.0, n_features=20_000),
        "pack": lambda: d2ke.pack(words),
        "d2ke_train": lambda: d2ke.d2ke_train(classes, reads, R=1600),
        "d2ke_predict": lambda: d2ke.d2ke_predict(None, reads, model),
        "gaussian_gram": lambda: d2ke.gaussian_gram(points, h=1.0),
    }


def client_calls(client: Any, rng: np.random.Generator) -> dict[str, Callable[[], Any]]:
    """Return calls whose blocks are short, so that most of the time is dask's."""
    X = d2ke.pack(["".join(rng.choice(list("ACGT"), 8)) for _ in range(60)])
    out = np.empty((60, 60))
    how = {"distance": "levenshtein", "client": client}
    return {
        "client, array": lambda: d2ke.distance_matrix(X, X, out=out, **how),
        "client, dask array": lambda: d2ke.distance_matrix(X, X, **how),
    }


def pressed(call: Callable[[], Any], delay: float) -> tuple[bool, float]:
    """Return whether a press after so many seconds was noticed, and how long that took."""
    pressed_at = []

    def press() -> None:
        time.sleep(delay)
        pressed_at.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=press)
    try:
        thread.start()
        call()
        thread.join()
        time.sleep(_SETTLE)
    except KeyboardInterrupt:
        seconds = time.monotonic() - pressed_at[0]
        thread.join()
        return True, seconds
    return False, 0.0


def run(calls: dict[str, Callable[[], Any]], seconds: float, rng: np.random.Generator) -> Counter:
    """Press Ctrl-C in random calls for so long; return counts by call and column."""
    counts: Counter = Counter()
    typical = {}
    for name, call in calls.items():
        started = time.monotonic()
        call()
        typical[name] = time.monotonic() - started
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        name = str(rng.choice(list(calls)))
        noticed, took = pressed(calls[name], float(rng.random()) * typical[name])
        counts[name, "presses"] += 1
        counts[name, "lost"] += not noticed
        counts[name, "late"] += took > LATE
        counts[name, "slowest"] = max(counts[name, "slowest"], took)
        if typical[name] < 1.0:
            try:
                calls[name]()
            except Exception as error:
                counts[name, "spoiled"] += 1
                print(f"{name}: {type(error).__name__}: {error}", file=sys.stderr)
    return counts


def table(calls: dict[str, Callable[[], Any]], counts: Counter) -> str:
    """Return the counts as Markdown."""
    lines = [f"| call | {' | '.join(COLUMNS)} | slowest |", "|---" * (len(COLUMNS) + 2) + "|"]
    for name in calls:
        numbers = " | ".join(str(counts[name, column]) for column in COLUMNS)
        lines.append(f"| {name} | {numbers} | {counts[name, 'slowest']:.2f} s |")
    return "\n".join(lines)


def main(arguments: list[str] | None = None) -> int:
    """Run the calls and print the tables; 1 if a press was lost or spoiled a call."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=60, help="in all, half with a client")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(arguments)
    signal.signal(signal.SIGINT, signal.default_int_handler)  # also where it was ignored
    rng = np.random.default_rng(options.seed)
    bad = 0
    calls = local_calls(rng)
    counts = run(calls, options.seconds / 2, rng)
    print(table(calls, counts), flush=True)
    bad += sum(counts[name, column] for name in calls for column in ("lost", "spoiled"))
    try:
        import distributed
    except ImportError:
        print("no dask: nothing was tried with a client")
        return int(bad > 0)
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        calls = client_calls(client, rng)
        counts = run(calls, options.seconds / 2, rng)
    print(table(calls, counts))
    bad += sum(counts[name, column] for name in calls for column in ("lost", "spoiled"))
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main())
