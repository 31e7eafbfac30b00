# SPDX-License-Identifier: BSD-3-Clause
"""Time d2ke over N, R, length and threads: log-log slopes.

``python -m benchmarks.scaling [--rounds 5] [--threads N] [--quick]``
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

import d2ke
from benchmarks import measure, workloads
from d2ke._ext import isa

# N, R and length of the base case, around which one of them is varied.
BASE = {"dtw": (1000, 512, 128), "levenshtein": (16000, 512, 128), "mhd": (200, 256, 256)}
FACTORS = (0.25, 0.5, 1, 2, 4)


def objects(distance: str, n: int, r: int, length: int) -> tuple[d2ke.Objects, d2ke.Objects]:
    """Draw n objects of one length and r short random ones."""
    rng = np.random.default_rng(61)
    if distance == "levenshtein":
        x = workloads.letters(rng, n, (length, length))
        y = workloads.letters(rng, r, (2, 50))
    elif distance == "dtw":
        x = [workloads.walk(rng, length, 3) for _ in range(n)]
        y = [rng.standard_normal((size, 3)) for size in rng.integers(1, 26, r).tolist()]
    else:
        x = [workloads.sift(rng, length) for _ in range(n)]
        y = [workloads.unit(rng, size) for size in rng.integers(3, 16, r).tolist()]
    return d2ke.pack(x), d2ke.pack(y)


def vary(distance: str, axis: int, settings: argparse.Namespace) -> tuple[list[int], list[float]]:
    """Median seconds with N (axis 0), R (1) or the length (2) multiplied by FACTORS."""
    sizes, calls = [], []
    for factor in FACTORS:
        size = list(BASE[distance])
        if settings.quick:
            size[0] = max(size[0] // 20, 16)
        size[axis] = int(size[axis] * factor)
        n, r, length = size
        x, y = objects(distance, n, int(BASE[distance][1] * FACTORS[-1]), length)
        y = spread(y, r)
        sizes.append(size[axis])
        calls.append(partial(d2ke.distance_matrix, x, y, distance, n_threads=settings.threads))
    return sizes, _medians(calls, settings.rounds)


def spread(y: d2ke.Objects, r: int) -> d2ke.Objects:
    """Take r of the objects, evenly over their lengths: the mean does not change with r."""
    order = np.argsort(y.lengths, kind="stable")
    return y[np.sort(order[(2 * np.arange(r) + 1) * len(y) // (2 * r)])]


def vary_threads(distance: str, settings: argparse.Namespace) -> tuple[list[int], list[float]]:
    """Median seconds with 1, 2, ... threads."""
    n, r, length = BASE[distance]
    x, y = objects(distance, max(n // 20, 16) if settings.quick else n, r, length)
    threads = list(range(1, settings.threads + 1))
    calls = [
        partial(d2ke.distance_matrix, x, y, distance, n_threads=n_threads) for n_threads in threads
    ]
    return threads, _medians(calls, settings.rounds)


def slope(sizes: Sequence[float], seconds: Sequence[float]) -> float:
    """Exponent p of the fit seconds ~ size^p."""
    return float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])


def _medians(calls: list[Callable], rounds: int) -> list[float]:
    for call in calls:
        call()
    return [measure.median(times) for times in measure.interleaved(calls, rounds)]


def main(arguments: list[str] | None = None) -> None:
    parser = measure.parser(__doc__, rounds=5, threads=True, quick="a twentieth of the objects")
    settings = parser.parse_args(arguments)
    print(f"{measure.processor()}, {isa.selected()}, {settings.threads} threads, float64\n")
    measure.header("distance", "over", "slope", "seconds")
    for quantity, time_curve in AXES.items():
        for distance in BASE:
            measure.progress(f"{quantity}: {distance}")
            sizes, seconds = time_curve(distance, settings=settings)
            fit = f"{slope(sizes, seconds):.2f}" if len(sizes) > 1 else ""
            points = ", ".join(f"{a}: {b:.4f}" for a, b in zip(sizes, seconds, strict=True))
            measure.row(distance, quantity, fit, points)


AXES: dict[str, Callable] = {
    "N": partial(vary, axis=0),
    "R": partial(vary, axis=1),
    "length": partial(vary, axis=2),
    "threads": vary_threads,
}


if __name__ == "__main__":
    main()
