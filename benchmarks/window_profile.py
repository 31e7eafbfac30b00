# SPDX-License-Identifier: BSD-3-Clause
"""Profiles of long series beside stumpy's, in one process; and which anomalies are found first.

    python -m benchmarks.window_profile [--steps 20000 50000 100000] [--threads 2] [--repeat 3]
    python -m benchmarks.window_profile found

The first: seconds of all windows of 100 steps of one series, normalised (stumpy's `stump`) and as
they are (`aamp`), with the same distances or an error; three channels beside `mstump`, which has
other distances; each on one thread, and d2ke on several. D2KE_ISA chooses the instruction set.

The second: in how many of 270 generated series the first window of `window_outliers` is over the
anomaly, for each kind of anomaly and each value of `normalize`.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

import d2ke
from benchmarks import measure
from benchmarks.measure import Peer

LENGTH = 100
KINDS = ("spike", "level", "phase", "missing beat", "amplitude", "frequency")
WAYS: tuple[bool | str, ...] = ("both", True, False)
BASES = ("sine", "beats", "days", "drift", "steps")


def speed(steps: list[int], threads: int, repeat: int) -> None:
    """Print the table of times."""
    measure.peers_header(f"windows of {LENGTH} steps, seconds on one thread")
    stumpy = measure.installed("stumpy")
    if stumpy:
        measure.installed("numba").set_num_threads(1)

    def same(ours: Any, theirs: Any) -> None:
        np.testing.assert_allclose(ours.distances, theirs[:, 0].astype(float), rtol=1e-5)

    for n in steps:
        rng = np.random.default_rng(0)
        x = np.sin(np.arange(n) / 15)[:, None] + 0.3 * rng.normal(size=(n, 3))
        one = np.ascontiguousarray(x[:, 0])
        cases = [
            ("normalised", one, True, "stump", partial(stumpy.stump, one, LENGTH), same),
            ("as they are", one, False, "aamp", partial(stumpy.aamp, one, LENGTH), same),
            ("three channels", [x], True, "mstump",
             partial(stumpy.mstump, x.T.copy(), LENGTH), None),
        ] if stumpy else []  # fmt: skip
        for title, series, normalize, name, call, check in cases:
            ours = partial(d2ke.window_profile, series, LENGTH, normalize=normalize, exclusion=0.25)
            peer = {name: Peer(call, check)}
            measure.side_by_side(f"{n}, {title}", partial(ours, n_threads=1), peer, repeat)
            measure.side_by_side(f"{n}, {threads} threads", partial(ours, n_threads=threads), {},
                                 repeat)  # fmt: skip


def base(kind: str, rng: np.random.Generator, n: int, period: int) -> tuple[np.ndarray, float]:
    """Return a series without an anomaly, and the size of its noise."""
    t = np.arange(n)
    if kind == "beats":
        at = t % period / period
        beat = 1.5 * np.exp(-0.5 * ((at - 0.35) / 0.03) ** 2)
        return beat + 0.35 * np.exp(-0.5 * ((at - 0.7) / 0.07) ** 2), 0.05
    if kind == "days":
        day = np.sin(2 * np.pi * t / period) + 0.5 * np.sin(4 * np.pi * t / period + 1)
        return day * (1 + 0.4 * (t // period % 7 < 5)), 0.15
    if kind == "steps":
        return t // (period // 2) % 2 + 0.2 * (t // (3 * period) % 2), 0.05
    drift = (0.1 * rng.normal(size=n)).cumsum() * 0.3 if kind == "drift" else 0
    return np.sin(2 * np.pi * t / period) + drift, 0.1


def changed(x: np.ndarray, kind: str, at: int, size: int) -> np.ndarray:
    """Return a series with an anomaly from `at` on."""
    x, part, deviation = x.copy(), slice(at, at + size), x.std()
    if kind == "spike":
        x[at] += 4 * deviation
    elif kind == "level":
        x[part] += 1.5 * deviation
    elif kind == "phase":
        x[part] = x[at + size // 2 : at + size // 2 + size]
    elif kind == "missing beat":
        x[part] = np.median(x[part])
    elif kind == "amplitude":
        x[part] = x[part].mean() + 2 * (x[part] - x[part].mean())
    else:
        x[part] = x[at : at + 2 * size : 2]
    return x


def found(n: int = 6000, period: int = 100) -> None:
    """Print how often the first window is over the anomaly."""
    measure.header("anomaly", "both", "normalised", "as they are")
    for kind in KINDS:
        hits = np.zeros(3)
        for seed, name in ((seed, name) for seed in range(3) for name in BASES):
            rng = np.random.default_rng(seed)
            x, noise = base(name, rng, n, period)
            at = int(rng.integers(n // 3, n - 3 * period))
            x = changed(x, kind, at, period) + noise * rng.normal(size=n)
            for length in (period // 2, period, 3 * period // 2):
                for i, way in enumerate(WAYS):
                    start = d2ke.window_outliers(x, length, n=1, normalize=way).starts[0]
                    end = at + (1 if kind == "spike" else period)
                    hits[i] += start < end and start + length > at
        measure.row(kind, *(f"{100 * hit / (9 * len(BASES)):.0f} %" for hit in hits))


def main() -> None:
    """Measure times, or what is found."""
    parser = measure.parser(__doc__, threads=2)
    parser.add_argument("what", nargs="?", choices=["speed", "found"], default="speed")
    parser.add_argument("--steps", type=int, nargs="+", default=[20_000, 50_000, 100_000])
    parser.add_argument("--repeat", type=int, default=3)
    options = parser.parse_args()
    if options.what == "found":
        found()
    else:
        speed(options.steps, options.threads, options.repeat)


if __name__ == "__main__":
    main()
