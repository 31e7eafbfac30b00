# SPDX-License-Identifier: BSD-3-Clause
"""Windows of long series: the kernel beside a numba loop, and the search beside stumpy's match.

    python -m benchmarks.windows [--repeat 5]
    python -m benchmarks.windows search [--steps 10000000] [--repeat 2]

The first: nanoseconds a place and window of `_ext.windows.window_distances` (minimum, near minimum
and count), groups of 8 windows of 9 values, one thread. The numba loop computes means and
deviations once for the windows of a group, and the same three numbers in one pass.

The second: seconds for the 10 nearest windows of a random walk to a noisy piece of it. stumpy's
`match` and d2ke find the same places, or the run ends with an error.
"""

from __future__ import annotations

import time
from functools import partial
from typing import Any

import numpy as np

import d2ke
from benchmarks import measure
from benchmarks.measure import Peer
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
    """Return the same in plain loops, compiled by numba; None if it is not installed."""
    if not (numba := measure.installed("numba")):
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


def kernel(repeat: int) -> None:
    """Print the table of the kernel."""
    measure.peers_header("nanoseconds a place and window, one thread")
    loop, n = numba_loop(), GROUPS * GROUP
    for steps in (150, 500, 1000, 5000):
        for normalize in (True, False):
            given = problem(steps, normalize)
            pairs = float(SERIES * GROUP * (steps - (LENGTH - 1) * given[6]).sum())
            windows = given[3].reshape(-1, LENGTH)
            call = loop and partial(loop, given[0], steps, windows, given[6], *given[9:])

            def same(ours: np.ndarray, theirs: np.ndarray) -> None:
                np.testing.assert_allclose(ours[:, :n], theirs[:, :n], rtol=1e-3, atol=1e-4)

            title = f"{steps} steps, {'normalised' if normalize else 'as they are'}"
            peer = {"numba": Peer(call, same)}
            ours = partial(window_distances, *given, 1)
            measure.side_by_side(title, ours, peer, repeat, 1e-9 * pairs, time.process_time)


def search(steps: int, repeat: int, threads: int) -> None:
    """Print the table of the search."""
    measure.peers_header(f"{steps} steps, processor seconds")
    stumpy = measure.installed("stumpy")
    rng = np.random.default_rng(0)
    x = rng.normal(size=steps).cumsum()

    def same(ours: Any, theirs: Any) -> None:
        np.testing.assert_array_equal(ours[1], theirs[:, 1].astype(int))
        np.testing.assert_allclose(ours[2], theirs[:, 0].astype(float), rtol=1e-6)

    for length in (100, 1000):
        query = x[12345 : 12345 + length] + 0.5 * rng.normal(size=length)
        ours = partial(d2ke.nearest_windows, [x], query, 10, exclusion=0.25, n_threads=threads)
        call = stumpy and partial(stumpy.match, query, x, max_distance=np.inf, max_matches=10)
        peer = {"stumpy": Peer(call, same)}
        measure.side_by_side(f"query of {length}", ours, peer, repeat, clock=time.process_time)


def main() -> None:
    """Measure the kernel, or the search."""
    parser = measure.parser(__doc__, threads=2)
    parser.add_argument("what", nargs="?", choices=["kernel", "search"], default="kernel")
    parser.add_argument("--steps", type=int, default=10**7)
    parser.add_argument("--repeat", type=int, default=3)
    options = parser.parse_args()
    if options.what == "search":
        search(options.steps, options.repeat, options.threads)
    else:
        kernel(options.repeat)


if __name__ == "__main__":
    main()
