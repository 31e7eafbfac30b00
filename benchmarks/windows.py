# SPDX-License-Identifier: BSD-3-Clause
"""Windows of long series: the kernel beside a numba loop, and the search beside stumpy's match.

    python -m benchmarks.windows [--threads 2] [--repeat 5]
    python -m benchmarks.windows search [--steps 10000000] [--repeat 2]

The first: nanoseconds a place and window of `_ext.windows.window_distances` (minimum, near minimum
and count; with the longest run, too), groups of 8 windows of 9 values. The numba loop has one
thread: means and deviations once for the windows of a group, products of each, the same three
numbers in the same pass. stumpy's `mass` gives the distances to all places; it gets each window of
a sample, the series without the steps that a dilation leaves out, and its time includes the
minimum.

The second: the 10 nearest windows of a random walk to a noisy piece of it. stumpy's `match` and
d2ke find the same places, or the run ends with an error. Times are of the process: all threads.
"""

from __future__ import annotations

import time
from functools import partial
from typing import Any

import numpy as np

import d2ke
from benchmarks import measure
from d2ke._ext.windows import window_distances

LENGTH, GROUP, GROUPS, SERIES = 9, 8, 64, 64
DILATIONS = (1, 3, 8)


def problem(steps: int, normalize: bool) -> tuple[Any, ...]:
    """Return the arguments of the kernel, but for the threads."""
    rng = np.random.default_rng(0)
    values = rng.normal(size=(1, SERIES * steps)).astype(np.float32)
    windows = rng.normal(size=(GROUPS * GROUP, LENGTH))
    if normalize:
        windows -= windows.mean(axis=1, keepdims=True)
        windows /= windows.std(axis=1, keepdims=True)
    return (
        values,
        np.arange(SERIES + 1) * steps,
        np.full((1, SERIES), 1e-4, np.float32),
        windows.astype(np.float32).ravel(),
        np.arange(GROUPS + 1) * GROUP,
        np.full(GROUPS, LENGTH),
        np.resize(DILATIONS, GROUPS),
        np.arange(GROUPS + 1),
        np.zeros(GROUPS, np.int64),
        rng.random(GROUPS * GROUP).astype(np.float32),
        0.05,
        np.full(GROUPS * GROUP, 0.9, np.float32),
        normalize,
    )


def numba_loop() -> Any:
    """Return the same in plain loops, compiled by numba; None where it is not installed."""
    try:
        import numba
    except ImportError:
        return None

    @numba.njit(fastmath=True)
    def add(profile, x, mean, inverse, value):
        for p in range(len(profile)):
            away = (x[p] - mean[p]) * inverse[p] - value
            profile[p] += away * away

    @numba.njit(fastmath=True)
    def least(values):
        found = values[0]
        for p in range(1, len(values)):
            found = min(found, values[p])
        return found

    @numba.njit(fastmath=True)
    def count_above(values, limit):
        count = np.int32(0)
        for p in range(len(values)):
            count += np.int32(values[p] > limit)
        return count

    @numba.njit(fastmath=True)
    def loop(values, steps, windows, dilations, places, radius, thresholds, normalize):
        n, n_windows = values.size // steps, len(windows)
        out = np.empty((n, 3 * n_windows), np.float32)
        for i in range(n):
            x = values[0, i * steps : (i + 1) * steps]
            for g in range(len(dilations)):
                dilation = dilations[g]
                count = steps - (LENGTH - 1) * dilation
                mean, inverse = np.zeros(count, np.float32), np.ones(count, np.float32)
                for p in range(count if normalize else 0):
                    total, square = np.float32(0), np.float32(0)
                    for j in range(LENGTH):
                        total += x[p + j * dilation]
                        square += x[p + j * dilation] ** 2
                    mean[p] = total / LENGTH
                    inverse[p] = 1 / np.sqrt(square / LENGTH - mean[p] ** 2)
                for w in range(g * GROUP, (g + 1) * GROUP):
                    profile = np.zeros(count, np.float32)
                    for j in range(LENGTH):
                        add(profile, x[j * dilation : j * dilation + count], mean, inverse,
                            windows[w, j])  # fmt: skip
                    centre, limit = places[w] * (count - 1), np.float32(LENGTH * thresholds[w])
                    first = max(0, int(np.ceil(centre - radius * steps)))
                    last = min(count - 1, int(centre + radius * steps))
                    out[i, w] = np.sqrt(least(profile) / LENGTH)
                    out[i, n_windows + w] = np.sqrt(least(profile[first : last + 1]) / LENGTH)
                    out[i, 2 * n_windows + w] = count_above(profile, limit) / count
        return out

    return loop


def mass_loop(values: np.ndarray, steps: int, windows: np.ndarray, dilations: np.ndarray,
              normalize: bool) -> Any:  # fmt: skip
    """Return a call of stumpy's `mass` for the first series; None where it is not installed."""
    try:
        import stumpy
    except ImportError:
        return None
    series = values[0, :steps].astype(np.float64)

    def call() -> np.ndarray:
        found = np.full(len(windows), np.inf)
        for w, window in enumerate(windows.astype(np.float64)):
            dilation = dilations[w // GROUP]
            for phase in range(dilation):
                away = stumpy.mass(window, series[phase::dilation], normalize=normalize)
                found[w] = min(found[w], away.min() / np.sqrt(LENGTH))
        return found

    return call


def kernel(threads: int, repeat: int) -> None:
    """Print the table of the kernel."""
    loop = numba_loop()
    measure.header(
        "steps", "windows", "mass ns", "numba ns", "d2ke ns", "times", f"{threads} threads ns",
        "with runs ns",
    )  # fmt: skip
    for steps in (150, 500, 1000, 5000):
        for normalize in (True, False):
            arguments = problem(steps, normalize)
            reach = (LENGTH - 1) * arguments[6]
            pairs = float(SERIES * GROUP * (steps - reach).sum())
            own, found = measure.least(partial(window_distances, *arguments, 1), repeat)
            many, _ = measure.least(
                partial(window_distances, *arguments, threads), repeat, time.perf_counter
            )
            runs, _ = measure.least(partial(window_distances, *arguments, 1, True), repeat)
            shown, times, mass = "", "", ""
            some = 3 * GROUP  # windows of each dilation
            windows = arguments[3].reshape(-1, LENGTH)[:some]
            call = mass_loop(arguments[0], steps, windows, arguments[6], normalize)
            if call is not None:
                call()  # compiles
                theirs, wanted = measure.least(call, repeat)
                np.testing.assert_allclose(found[0, :some], wanted, rtol=1e-3, atol=1e-4)
                mass = f"{1e9 * theirs / float(GROUP * (steps - reach[:3]).sum()):.1f}"
            if loop is not None:
                values, _, _, windows, _, _, dilations, *_ = arguments
                given = (windows.reshape(-1, LENGTH), dilations, *arguments[9:])
                call = partial(loop, values, steps, *given)
                call()  # compiles
                theirs, wanted = measure.least(call, repeat)
                np.testing.assert_allclose(found[:, : GROUPS * GROUP], wanted[:, : GROUPS * GROUP],
                                           rtol=1e-3, atol=1e-4)  # fmt: skip
                shown, times = f"{1e9 * theirs / pairs:.2f}", f"{theirs / own:.1f}"
            kind = "normalised" if normalize else "as they are"
            ours, *others = (f"{1e9 * taken / pairs:.3f}" for taken in (own, many, runs))
            measure.row(steps, kind, mass, shown, ours, times, *others)


def search(steps: int, repeat: int, threads: int) -> None:
    """Print the table of the search."""
    try:
        import stumpy
    except ImportError:
        stumpy = None
    rng = np.random.default_rng(0)
    x = rng.normal(size=steps).cumsum()
    measure.header("steps", "query", "stumpy s", "d2ke s", "times")
    for length in (100, 1000):
        query = x[12345 : 12345 + length] + 0.5 * rng.normal(size=length)
        call = partial(d2ke.nearest_windows, [x], query, 10, exclusion=0.25, n_threads=threads)
        own, (_, places, distances) = measure.least(call, repeat)
        shown, times = "", ""
        if stumpy is not None:
            stumpy.match(query, x[:20000])  # compiles
            call = partial(stumpy.match, query, x, max_distance=np.inf, max_matches=10)
            theirs, matches = measure.least(call, repeat)
            if matches[:, 1].tolist() != places.tolist():
                raise SystemExit(f"query of {length}: other places than stumpy's")
            np.testing.assert_allclose(matches[:, 0].astype(float), distances, rtol=1e-6)
            shown, times = f"{theirs:.2f}", f"{theirs / own:.1f}"
        measure.row(steps, length, shown, f"{own:.2f}", times)


def main() -> None:
    """Measure the kernel, or the search."""
    parser = measure.parser(__doc__)
    parser.add_argument("what", nargs="?", choices=["kernel", "search"], default="kernel")
    parser.add_argument("--steps", type=int, default=10**7)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeat", type=int, default=3)
    options = parser.parse_args()
    if options.what == "search":
        search(options.steps, options.repeat, options.threads)
    else:
        kernel(options.threads, options.repeat)


if __name__ == "__main__":
    main()
