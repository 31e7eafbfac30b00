# SPDX-License-Identifier: BSD-3-Clause
"""The kernel distance: every method over n, the choice of "auto", and its peers.

    python -m benchmarks.kernel_distance [PART ...] [--rounds 3] [--threads N] [--limit SECONDS]
        [--plot FILE.png] [--quick]

Parts: sizes, auto, peers; all by default. The peers are scipy's cdist with numpy by blocks of rows,
KeOps, and for random features scikit-learn's RBFSampler.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist

import d2ke
from benchmarks import measure
from benchmarks.measure import Peer

NORM_METHODS = ("exact", "dualtree", "wspd", "fourier", "ifgt", "rff")
# Scales of the kernel for points of the unit cube: from a few neighbours to all points.
SIGMAS = (0.01, 0.1, 1.0)
SIZES = (1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000)
AUTO_SHAPES = ((2, 0.01), (2, 1.0), (3, 0.05), (3, 1.0), (10, 1.0))


def two_sets(n: int, d: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw two sets of n points of the unit cube, one of them denser towards a corner."""
    rng = np.random.default_rng(17)
    return rng.random((n, d)), rng.random((n, d)) ** 1.2


def seconds(call: Callable[[], Any], rounds: int) -> float:
    """Return the median time of a call."""
    return measure.median([measure.least(call, 1, time.perf_counter)[0] for _ in range(rounds)])


def distance(n: int, d: int, settings: argparse.Namespace, **options: Any) -> Callable:
    """Return the call that computes the distance of two sets."""
    P, Q = two_sets(n, d)
    return partial(d2ke.kernel_distance, P, Q, n_threads=settings.threads, **options)


def over_sizes(settings: argparse.Namespace) -> list[dict[str, Any]]:
    """Time each method over n, as long as the next size promises to stay below the limit."""
    rows = []
    sizes = SIZES[:3] if settings.quick else SIZES
    measure.header("d", "sigma", "eps", "method", "seconds", "faster than exact from n =")
    for d, sigma, eps in product((2, 3), SIGMAS, (1e-1, 1e-3)):
        curves: dict[str, dict[int, float]] = {}
        for method in NORM_METHODS:
            accuracy = {} if method == "exact" else {"eps": eps}
            given = {"sigma": sigma, "method": method, **accuracy}
            times = curves[method] = over_n(sizes, d, settings, given)
            points = ", ".join(f"{n}: {t:.4f}" for n, t in times.items())
            crossover = crossing(curves["exact"], times) if times and accuracy else ""
            measure.row(d, sigma, eps, method, points or "refused", crossover)
        rows.append({"d": d, "sigma": sigma, "eps": eps, "seconds": curves})
    return rows


def over_n(
    sizes: Sequence[int], d: int, settings: argparse.Namespace, given: dict[str, Any]
) -> dict[int, float]:
    """Time a method, as long as the next size promises to stay below the limit."""
    times: dict[int, float] = {}
    # All pairs at worst; what is known to be linear is so from the start.
    power = 1 if given["method"] in ("fourier", "rff", "ifgt") else 2
    for n in sizes:
        if times and times[max(times)] * (n / max(times)) ** power > settings.limit:
            break
        try:
            times[n] = seconds(distance(n, d, settings, **given), settings.rounds)
        except ValueError:  # too many features
            break
    return times


def plot(rows: list[dict[str, Any]], path: Path) -> None:
    """Draw time against n, a panel for each dimension and scale, a line for each method."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(12, 7), layout="constrained")
    panels = figure.subplots(2, len(SIGMAS), sharex=True, sharey=True)
    colours = ("black", "#0072b2", "#56b4e9", "#cc79a7", "#d55e00", "#009e73")
    for row in rows:
        axes = panels[(2, 3).index(row["d"])][SIGMAS.index(row["sigma"])]
        fine = row["eps"] == 1e-3
        for method, times in row["seconds"].items():
            if not times or (method == "exact" and fine):
                continue
            label = method if method == "exact" else f"{method}, eps {row['eps']:g}"
            axes.loglog(list(times), list(times.values()), "--" if fine else "-", marker=".",
                        color=colours[NORM_METHODS.index(method)], label=label)  # fmt: skip
        axes.set_title(f"d = {row['d']}, sigma = {row['sigma']:g}")
        axes.grid(alpha=0.3)
    for axes in panels[1]:
        axes.set_xlabel("points in each set")
    for axes in panels[:, 0]:
        axes.set_ylabel("seconds")
    handles = {}
    for axes in panels.flat:
        handles |= dict(zip(*axes.get_legend_handles_labels()[::-1], strict=True))
    figure.legend(handles.values(), handles.keys(), loc="outside right upper")
    figure.savefig(path, dpi=90)


def crossing(exact: dict[int, float], other: dict[int, float]) -> float | None:
    """Return from which n on the other curve is below, by lines through log-log points.

    Where the exact method was not timed its time is that of the last size, with n^2.
    """
    last = max(exact)
    gaps = {n: math.log(t / exact.get(n, exact[last] * (n / last) ** 2)) for n, t in other.items()}
    sizes = sorted(gaps)
    if gaps[sizes[-1]] > 0:
        return None
    for low, high in zip(sizes[-2::-1], sizes[:0:-1], strict=True):
        if gaps[low] > 0:
            share = gaps[low] / (gaps[low] - gaps[high])
            return round(low * (high / low) ** share)
    return sizes[0]


def choice_of_auto(settings: argparse.Namespace) -> None:
    """Time "auto" and every method on 30 cases; none may take longer than the limit."""
    ratios = []
    measure.header("n", "d", "sigma", "eps", "auto", "seconds", "best", "seconds", "ratio")
    sizes = (1_000, 4_000) if settings.quick else (5_000, 100_000)
    for n, (d, sigma), eps in product(sizes, AUTO_SHAPES, (1e-1, 1e-2, 1e-3)):
        given = partial(distance, n, d, settings, sigma=sigma, eps=eps)
        times = {}
        for method in NORM_METHODS:
            if beyond(method, n, d, eps, settings.limit):
                continue
            with suppress(ValueError):  # too many features
                times[method] = seconds(given(method=method), settings.rounds)
        auto = seconds(given(), settings.rounds)
        best = min(times, key=times.__getitem__)
        ratios.append(auto / times[best])
        shown = given()().method, f"{auto:.4f}", best, f"{times[best]:.4f}", f"{ratios[-1]:.2f}"
        measure.row(n, d, sigma, eps, *shown)
    print(
        f"auto over best: median {np.median(ratios):.2f}, worst {max(ratios):.2f}, within 1.5 x "
        f"in {sum(r <= 1.5 for r in ratios)} of {len(ratios)}"
    )


def beyond(method: str, n: int, d: int, eps: float, limit: float) -> bool:
    """Return whether a method is not worth waiting for, by the costs as "auto" sees them."""
    if method == "wspd":
        return d > 2 or n > 20_000
    if method == "rff":
        return n * min(90 / eps, 300 / eps**2) > 2e8 * limit
    return method in ("exact", "dualtree") and 4e-9 * (2 * n) ** 2 / 2 > 4 * limit


def against_peers(settings: argparse.Namespace) -> None:
    """All pairs of two sets beside numpy and KeOps, and random features of one number."""
    n, d, sigma, count = (2_000 if settings.quick else 20_000), 3, 0.3, 512
    P, Q = two_sets(n, d)

    def by_blocks() -> float:
        total = 0.0
        for A, B, factor in ((P, P, 1), (Q, Q, 1), (P, Q, -2)):
            for low in range(0, len(A), 500):
                K = cdist(A[low : low + 500], B, "sqeuclidean")
                K /= -2 * sigma**2
                total += factor * float(np.exp(K, out=K).sum())
        return math.sqrt(max(total, 0))

    peers = {"numpy, 1 thread": Peer(by_blocks, measure.close(1e-6)), "KeOps": Peer(None)}
    if pykeops := measure.installed("pykeops.numpy"):
        variables = [f"x = Vi({d})", f"y = Vj({d})", "b = Vj(1)", "g = Pm(1)"]
        sums = pykeops.Genred("Exp(-g * SqDist(x, y)) * b", variables, reduction_op="Sum", axis=1)
        signs = np.concatenate([np.ones(n), -np.ones(n)])[:, None]
        both = np.concatenate([P, Q])

        def keops() -> float:  # all pairs of the difference: its formulas know of no symmetry
            potentials = sums(both, both, signs, np.array([0.5 / sigma**2]), backend="CPU")
            return math.sqrt(float((signs * potentials).sum()))

        peers["KeOps"] = Peer(keops, measure.close(1e-6))
    measure.peers_header(f"{n} points, {settings.threads} threads; seconds")
    exact = distance(n, d, settings, sigma=sigma, method="exact")
    measure.side_by_side("all pairs", exact, peers, settings.rounds)

    def own() -> float:
        Z = d2ke.measures.kernel_features(
            [P, Q], sigma=sigma, n_features=2 * count, method="rff", n_threads=settings.threads
        )
        return float(np.linalg.norm(Z[0] - Z[1]))

    def sampler() -> float:
        # Random phases: as many cosines as there are sines and cosines above.
        from sklearn.kernel_approximation import RBFSampler

        phi = RBFSampler(gamma=0.5 / sigma**2, n_components=2 * count, random_state=0).fit(P)
        gap = np.zeros(2 * count)
        for low in range(0, n, 5000):
            gap += phi.transform(P[low : low + 5000]).sum(axis=0)
            gap -= phi.transform(Q[low : low + 5000]).sum(axis=0)
        return float(np.linalg.norm(gap))

    peer = {"RBFSampler": Peer(sampler if measure.installed("sklearn") else None)}
    measure.side_by_side("1024 random features", own, peer, settings.rounds)


PARTS = {"sizes": over_sizes, "auto": choice_of_auto, "peers": against_peers}


def main() -> None:
    """Measure the parts that are named, or all."""
    parser = measure.parser(__doc__, rounds=3, threads=0)
    parser.add_argument("parts", nargs="*", metavar="PART", help=", ".join(PARTS))
    parser.add_argument("--limit", type=float, default=60.0, help="seconds for one call")
    parser.add_argument("--plot", type=Path, help="picture of the part sizes")
    parser.add_argument("--quick", action="store_true", help="small sizes")
    settings = parser.parse_args()
    if settings.quick:
        settings.rounds, settings.limit = 1, min(settings.limit, 1.0)
    if set(settings.parts) - set(PARTS):
        parser.error(f"parts are {', '.join(PARTS)}")
    for part in settings.parts or PARTS:
        rows = PARTS[part](settings)
        if settings.plot and part == "sizes":
            plot(rows, settings.plot)


if __name__ == "__main__":
    main()
