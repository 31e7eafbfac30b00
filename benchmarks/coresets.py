# SPDX-License-Identifier: BSD-3-Clause
"""Time coresets and measure their distances, beside goodpoints (kernel thinning, Compress++).

``python -m benchmarks.coresets [--sizes 4096 ...] [--dims 2 ...] [--times 1] [--data uniform]
[--rounds 3] [--limit SECONDS] [--quick]``

Every method runs in one thread, and its seconds are those of the processor: what else runs on the
machine matters little. Set OPENBLAS_NUM_THREADS=1.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable
from functools import partial
from importlib.util import find_spec

import numpy as np

import d2ke
from benchmarks import measure
from d2ke._ext import isa
from d2ke.measures import pair_sums
from d2ke.measures.kernels import Kernel

OWN = ("random", "zorder", "halving", "herding", "thinning")


def draw(data: str, n: int, d: int) -> np.ndarray:
    """Draw points of the unit cube, or of a mixture of eight normal distributions."""
    rng = np.random.default_rng(17)
    if data == "uniform":
        return rng.random((n, d))
    centres = 4 * rng.standard_normal((8, d))
    return centres[rng.integers(0, 8, n)] + rng.standard_normal((n, d))


def peers(P: np.ndarray, m: int, sigma: float) -> dict[str, Callable[[int], np.ndarray]]:
    """Return what of goodpoints makes a coreset of m points, by name; each takes a seed.

    Compress++ makes sqrt(n) points; for more, Compress makes 2^g sqrt(n).
    """
    from goodpoints import compress, compressc, herding, kt

    n = len(P)
    scale = np.array([2 * sigma**2])
    root = math.isqrt(n)
    calls: dict[str, Callable[[int], np.ndarray]] = {}
    if m == root:
        for g in (0, 2, 4):
            # The number of bins as its tests have it: 4, where that leaves something to compress.
            calls[f"goodpoints compresspp_kt g={g}"] = lambda seed, g=g: compress.compresspp_kt(
                P, b"gaussian", k_params=scale, g=g, num_bins=4, seed=seed
            )
    elif m > root:
        g = int(math.log2(m // root))
        calls[f"goodpoints compress_kt g={g}"] = lambda seed: compress.compress_kt(
            P, b"gaussian", k_params=scale, g=g, seed=seed
        )
    if n <= 4096:

        def thin(seed: int) -> np.ndarray:
            K = np.empty((n, n))
            compressc.compute_K(P, np.arange(n), b"gaussian", scale, K)
            return kt.thin_K(K, K, int(math.log2(n // m)), seed=seed, unique=True)

        def herd(seed: int) -> np.ndarray:
            def kernel(y: np.ndarray, X: np.ndarray) -> np.ndarray:
                return np.exp(-np.square(y - X).sum(axis=1) / scale[0])

            return herding.herding(P, math.log2(n / m), kernel, unique=True)

        calls["goodpoints kt.thin_K"] = thin
        calls["goodpoints herding"] = herd
    return calls


def compare(n: int, d: int, settings: argparse.Namespace) -> None:
    """Time every method on one set and measure what it reaches."""
    m = settings.times * math.isqrt(n)
    P = draw(settings.data, n, d)
    # h is the squared median distance.
    sigma = d2ke.kernel_coreset(P, 1, sigma="median", evaluate=False).sigma / math.sqrt(2)
    kernel = Kernel("gaussian", sigma)
    kappa = pair_sums.norm(P, np.ones((n, 1)), kernel, None) / n**2

    def reached(chosen: np.ndarray) -> float:
        S, ones = P[chosen], np.ones((len(chosen), 1))
        cross = pair_sums.potentials(S, P, np.ones((n, 1)), kernel, None).mean() / n
        own = pair_sums.norm(S, ones, kernel, None) / len(S) ** 2
        return math.sqrt(max(kappa + own - 2 * cross, 0))

    def ours(method: str, seed: int) -> np.ndarray:
        return d2ke.kernel_coreset(
            P, m, sigma=sigma, method=method, seed=seed, n_threads=1, evaluate=False
        ).indices

    calls = {f"d2ke {method}": partial(ours, method) for method in OWN}
    if find_spec("goodpoints"):
        calls |= peers(P, m, sigma)
    rows = {}
    for name, call in calls.items():
        times, squares = [], []
        for seed in range(1, settings.rounds + 1):
            measure.progress(f"n={n} d={d} m={m} {name} {seed}")
            seconds, chosen = measure.least(partial(call, seed))
            times.append(seconds)
            if len(chosen) != m:
                raise AssertionError(f"{name} chose {len(chosen)} points, not {m}")
            squares.append(reached(chosen) ** 2)
            if sum(times) > settings.limit:
                break
        rows[name] = measure.median(times), math.sqrt(np.mean(squares))
    expected = math.sqrt((1 - kappa) / m)
    best_seconds, best_distance = rows["d2ke thinning"]
    print(f"\nn={n} d={d} m={m}: random points would have {expected:.5f}; over d2ke thinning:\n")
    measure.header("method", "seconds", "D", "its time", "its D")
    for name, (seconds, distance) in rows.items():
        over = f"{seconds / best_seconds:.2f}", f"{distance / best_distance:.2f}"
        measure.row(name, f"{seconds:.4f}", f"{distance:.5f}", *over)


def main(arguments: list[str] | None = None) -> None:
    parser = measure.parser(__doc__, rounds=3, quick="small sizes")
    parser.add_argument("--sizes", type=int, nargs="+", default=[4096, 16384, 65536])
    parser.add_argument("--dims", type=int, nargs="+", default=[2, 5, 10])
    parser.add_argument("--times", type=int, default=1, help="m = this times sqrt(n); powers of 2")
    parser.add_argument("--data", choices=["uniform", "mixture"], default="uniform")
    parser.add_argument("--limit", type=float, default=4.0, help="no more rounds after seconds")
    settings = parser.parse_args(arguments)
    if settings.quick:
        settings.sizes, settings.rounds = [1024], 1
    print(f"{measure.processor()}, {isa.selected()}, one thread, processor seconds")
    if not find_spec("goodpoints"):
        print("goodpoints is left out; it is installed by: pip install goodpoints")
    for n in settings.sizes:
        for d in settings.dims:
            compare(n, d, settings)


if __name__ == "__main__":
    main()
