# SPDX-License-Identifier: BSD-3-Clause
"""DTW, Levenshtein and modified Hausdorff distances beside their fastest peers.

    python -m benchmarks.run [WORKLOAD ...] [--rounds 5] [--threads N] [--isa NAME]
        [--dtype float32] [--quick]

The peers are loops that numba compiles, BLAS (|x|^2 + |y|^2 - 2xy, then minima), rapidfuzz and
stringzillas. Workloads have the sizes of the D2KE paper: `short` is objects against short random
ones, the others all pairs. `lev-modes` times "infix" and "prefix" beside "global".
"""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial
from typing import Any

import numpy as np

import d2ke
from benchmarks import measure, workloads
from benchmarks.measure import Peer
from d2ke._ext import isa

# The distance, what draws so many objects, and parameters.
INPUTS: dict[str, tuple[str, Callable[..., Any], int, dict[str, Any]]] = {
    "dtw-short-d3": ("dtw", partial(workloads.dtw_short, "d3"), 1000, {}),
    "dtw-short-d1": ("dtw", partial(workloads.dtw_short, "d1"), 1000, {}),
    "dtw-short-d22": ("dtw", partial(workloads.dtw_short, "d22"), 1000, {}),
    "dtw-full": ("dtw", workloads.dtw_full, 300, {}),
    "dtw-full-window": ("dtw", workloads.dtw_full, 300, {"window": "rws"}),
    "lev-short": ("levenshtein", workloads.lev_short, 20000, {}),
    "lev-splice": ("levenshtein", workloads.lev_splice, 2000, {}),
    "lev-mnist": ("levenshtein", workloads.lev_mnist, 1500, {}),
    "mhd-short": ("mhd", workloads.mhd_short, 500, {}),
    "mhd-full": ("mhd", workloads.mhd_full, 200, {}),
}
MHD_BLOCK = 1024  # columns of a block of the matrix product; of 256 to 8192 this is the fastest


def compare(name: str, dtype: str, rounds: int, n_threads: int, quick: bool) -> None:
    """Print the rows of a workload."""
    distance, draw, n, params = INPUTS[name]
    drawn = draw(max(n // 10, 8) if quick else n)
    x, y = drawn if isinstance(drawn, tuple) else (drawn, None)
    if distance != "levenshtein":
        x, y = ([v.astype(dtype) for v in items] if items else None for items in (x, y))
    packed = d2ke.pack(x), y and d2ke.pack(y)
    ours = partial(d2ke.distance_matrix, *packed, distance, n_threads=n_threads, **params)
    if distance == "levenshtein":
        peers = levenshtein(x, y, n_threads)
    elif distance == "dtw":
        peers = compiled({"numba": "dtw", "numba, fastmath": "fast"}, x, y, n_threads, bool(params))
    else:
        peers = compiled({"BLAS + numba": "mhd"}, x, y, n_threads)
    measure.side_by_side(name, ours, peers, rounds)


def levenshtein(x: Any, y: Any, n_threads: int) -> dict[str, Peer]:
    """Short strings y against long ones x: rapidfuzz is fastest with the short ones as rows.

    Of all pairs of x it computes half if it gets one list, and uses SIMD if it gets two.
    """
    calls = {"rapidfuzz": (y, x)}
    if y is None:
        calls = {"rapidfuzz, one list": (x, x), "rapidfuzz, SIMD": (x, list(x))}
    peers = dict.fromkeys([*calls, "stringzillas"], Peer(None))
    if process := measure.installed("rapidfuzz.process"):
        from rapidfuzz.distance import Levenshtein

        given = {"scorer": Levenshtein.distance, "dtype": np.uint16, "workers": n_threads}

        def same(D: np.ndarray, E: np.ndarray) -> None:
            np.testing.assert_array_equal(D, E if y is None else E.T)

        for name, pair in calls.items():
            peers[name] = Peer(partial(process.cdist, *pair, **given), same)
    if stringzillas := measure.installed("stringzillas"):
        from stringzilla import Strs

        scope = stringzillas.DeviceScope(cpu_cores=n_threads)
        engine = stringzillas.LevenshteinDistances(capabilities=scope)
        sides = Strs(list(x)), y and Strs(list(y))
        call = partial(engine, *sides, device=scope)
        peers["stringzillas"] = Peer(call, np.testing.assert_array_equal)
    return peers


def compiled(
    names: dict[str, str], x: Any, y: Any, n_threads: int, rws_window: bool = False
) -> dict[str, Peer]:
    """Return loops of numba over the rows, the longest first; of all pairs of x a half."""
    if not measure.installed("numba"):
        return dict.fromkeys(names, Peer(None))
    x_offsets, y_offsets = (
        np.cumsum([0, *map(len, items)]) for items in (x, x if y is None else y)
    )
    y_values = np.ascontiguousarray(np.concatenate(x if y is None else y))
    order = np.argsort(-np.diff(x_offsets), kind="stable").tolist()

    def call(kernel: str) -> np.ndarray:
        out = np.zeros((len(x), len(y_offsets) - 1), x[0].dtype if kernel == "mhd" else float)
        norms = np.einsum("ij,ij->i", y_values, y_values)
        loop = kernels()[kernel]

        def row(i: int) -> None:
            first = i if y is None else 0
            if kernel == "mhd":
                hausdorff(loop, x[i], y_values, norms, y_offsets, first, out[i])
            else:
                loop(x[i], y_values, y_offsets, first, rws_window, out[i])

        with ThreadPoolExecutor(n_threads) as pool:
            list(pool.map(row, order))
        return out

    def same(D: np.ndarray, E: np.ndarray) -> None:
        if y is None:
            D = np.triu(D)
        # Products of near vectors cancel.
        np.testing.assert_allclose(D, E, rtol=1e-4, atol=1e-3 if "mhd" in names.values() else 0)

    return {name: Peer(partial(call, kernel), same) for name, kernel in names.items()}


def hausdorff(reduce: Any, item: Any, values: Any, norms: Any, offsets: Any, j: int, out: Any):
    """Multiply an object's vectors by blocks of all others, and reduce each block."""
    own, scaled = np.einsum("ij,ij->i", item, item), -2 * item
    while j < len(out):
        stop = int(np.searchsorted(offsets, offsets[j] + MHD_BLOCK, "right")) - 1
        stop = min(max(stop, j + 1), len(out))
        part = slice(offsets[j], offsets[stop])
        starts = offsets[j : stop + 1] - offsets[j]
        reduce(scaled @ values[part].T, own, norms[part], starts, out[j:stop])
        j = stop


@cache
def kernels() -> dict[str, Callable[..., None]]:
    """Compile the loops."""
    import numba

    def pair(x, y, width, cost):
        n, m = len(x), len(y)
        cost[: m + 1] = np.inf
        cost[0] = 0.0
        for i in range(n):
            low = max(0, i - width)
            diagonal, left = cost[low], np.inf
            cost[low] = np.inf
            for j in range(low, min(m, i + width + 1)):
                square = 0.0
                for k in range(x.shape[1]):
                    difference = x[i, k] - y[j, k]
                    square += difference * difference
                above = cost[j + 1]
                least = diagonal
                if above < least:
                    least = above
                if left < least:
                    least = left
                left = least + np.sqrt(square)
                cost[j + 1] = left
                diagonal = above
        return cost[m]

    def rows(pair):
        @numba.njit(nogil=True)
        def dtw(x, values, offsets, first, rws_window, out):
            cost = np.empty(1 + np.diff(offsets).max())
            for j in range(first, len(offsets) - 1):
                y = values[offsets[j] : offsets[j + 1]]
                longer = max(len(x), len(y))
                width = longer
                if rws_window:
                    width = max(min(40, -(-longer // 10)), abs(len(x) - len(y)))
                out[j] = pair(x, y, width, cost)

        return dtw

    @numba.njit(nogil=True, fastmath=True)
    def mhd(product, x_norms, y_norms, starts, out):
        n, m = product.shape
        nearest_x = np.full(m, np.finfo(product.dtype).max, dtype=product.dtype)
        sums = np.zeros(len(out))
        for i in range(n):
            row = product[i]
            norm = x_norms[i]
            for k in range(m):
                square = row[k] + y_norms[k] + norm
                row[k] = square
                nearest_x[k] = min(nearest_x[k], square)
            for j in range(len(out)):
                least = row[starts[j]]
                for k in range(starts[j] + 1, starts[j + 1]):
                    least = min(least, row[k])
                sums[j] += np.sqrt(max(least, 0.0))
        for j in range(len(out)):
            total = 0.0
            for k in range(starts[j], starts[j + 1]):
                total += np.sqrt(max(nearest_x[k], 0.0))
            out[j] = max(total / (starts[j + 1] - starts[j]), sums[j] / n)

    # Infinities are in use, so only the flags that let the sum over channels be vectorised.
    fast = numba.njit(nogil=True, fastmath={"reassoc", "contract", "nsz"})(pair)
    return {"dtw": rows(numba.njit(nogil=True)(pair)), "fast": rows(fast), "mhd": mhd}


def modes(rounds: int, quick: bool) -> None:
    """Print how many times as long "infix" and "prefix" take as "global", on one thread."""
    for text, pattern in workloads.LEV_MODES:
        drawn = workloads.lev_modes(text, pattern, 3e8 if quick else 3e9)
        call = partial(
            d2ke.distance_matrix, *map(d2ke.pack, drawn), distance="levenshtein", n_threads=1
        )
        others = {mode: Peer(partial(call, mode=mode)) for mode in ("infix", "prefix")}
        measure.side_by_side(f"{text} x {pattern}", call, others, rounds, clock=time.process_time)


def main() -> None:
    """Measure the workloads that are named, or all."""
    names = [*INPUTS, "lev-modes"]
    parser = measure.parser(__doc__, rounds=5, threads=0)
    parser.add_argument("workloads", nargs="*", metavar="WORKLOAD", help=", ".join(names))
    parser.add_argument("--isa", choices=isa.supported(), default=isa.selected())
    parser.add_argument("--dtype", choices=["float64", "float32"], default="float64")
    parser.add_argument("--quick", action="store_true", help="a tenth of the objects")
    options = parser.parse_args()
    if unknown := set(options.workloads) - set(names):
        parser.error(f"workloads are {', '.join(names)}; got {', '.join(unknown)}")
    isa.select(options.isa)
    measure.limit_threads(options.threads)
    print(measure.versions("rapidfuzz", "stringzillas-cpus", "numba", "numpy"), end="; ")
    measure.peers_header(f"{options.threads} threads; seconds")
    for name in options.workloads or names:
        if name == "lev-modes":
            modes(options.rounds, options.quick)
        else:
            compare(name, options.dtype, options.rounds, options.threads, options.quick)


if __name__ == "__main__":
    main()
