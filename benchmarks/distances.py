# SPDX-License-Identifier: BSD-3-Clause
"""Distances beside the packages that have them, in the same run, on the short workloads.

    python -m benchmarks.distances [DISTANCE ...] [--workload d1] [--threads 2] [--repeat 3]
    python -m benchmarks.distances strings [--n 20000] [--r 1024]
    python -m benchmarks.distances lengths [--threads 1]

Rows are smooth series, columns short random ones. Peers get a part of the rows, as many as take
them about as long as d2ke takes for all, and their time is extrapolated by the cells. Times are
the least of the repeats, compilation and packing left out; `us/pair` is d2ke's.

Of strings: n of 34 to 198 letters against r of 2 to 50 (Hamming: of 60 letters; Jaro and Winkler:
names; tokens: 2 to 5 names). Pairs are computed by rapidfuzz for a part of the strings, so that it
takes some seconds, and the values compared. Times are of the process, all threads together.
`lengths`: Levenshtein distances of strings over 26 letters by their lengths, float32 on both sides,
each with a matrix of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from time import perf_counter
from typing import Any

import numpy as np

import d2ke
from benchmarks import measure, neighbors, workloads

Distances = Callable[[list[np.ndarray], list[np.ndarray], int], np.ndarray]


def aeon(name: str, **params: Any) -> Distances:
    """Return aeon's distances of all pairs."""

    def compute(X: list[np.ndarray], Y: list[np.ndarray], n_threads: int) -> np.ndarray:
        from aeon import distances

        function = getattr(distances, f"{name}_pairwise_distance")
        return function(X, Y, n_jobs=n_threads, **params)

    return compute


def tslearn_frechet(X: list[np.ndarray], Y: list[np.ndarray], n_threads: int) -> np.ndarray:
    """Return tslearn's distances of all pairs, which its compiled code computes one by one."""
    from tslearn.metrics import frechet

    return np.array([[frechet(x.T, y.T) for y in Y] for x in X])


# A distance of d2ke, its parameters, and the peer with the same ones.
SERIES: dict[str, tuple[str, dict[str, Any], str, Distances]] = {
    "dtw": ("dtw", {"ground": "sqeuclidean"}, "aeon", aeon("dtw")),
    "msm": ("msm", {}, "aeon", aeon("msm")),
    "msm-dependent": ("msm", {"independent": False}, "aeon", aeon("msm", independent=False)),
    "erp": ("erp", {}, "aeon", aeon("erp")),
    "twe": ("twe", {}, "aeon", aeon("twe")),
    "edr": ("edr", {"normalize": True}, "aeon", aeon("edr", epsilon=0.25)),
    "lcss": ("lcss", {}, "aeon", aeon("lcss")),
    "adtw": ("adtw", {}, "aeon", aeon("adtw")),
    "wdtw": ("wdtw", {}, "aeon", aeon("wdtw")),
    "ddtw": ("ddtw", {}, "aeon", aeon("ddtw")),
    "frechet": ("frechet", {}, "tslearn", tslearn_frechet),
}
# Other definitions, see docs/distances.md: values are not compared.
DIFFERENT = {"erp", "edr"}
# rapidfuzz's name, and how many of n strings it gets; None: it has no such distance.
STRINGS: dict[str, tuple[str | None, int, dict[str, Any]]] = {
    "levenshtein": ("Levenshtein", 1, {}),
    "osa": ("OSA", 1, {}),
    "damerau_levenshtein": ("DamerauLevenshtein", 20, {}),
    "hamming": ("Hamming", 1, {}),
    "indel": ("Indel", 1, {}),
    "jaccard": (None, 1, {}),
    "weighted_levenshtein": ("Levenshtein", 20, {"insertion": 1.0, "deletion": 1.5, "mismatch": 2}),
    "weighted_levenshtein, gaps": (None, 1, {"gap_open": 3.0, "gap_extend": 0.5, "mismatch": 2}),
    "jaro": ("Jaro", 1, {}),
    "jaro_winkler": ("JaroWinkler", 1, {}),
    "token_sort": ("token_sort_ratio", 10, {}),
    "token_set": ("token_set_ratio", 10, {}),
}


def timed(name: str, workload: str, n_threads: int, repeat: int) -> str:
    """Return a row of the table."""
    distance, params, peer, theirs = SERIES[name]
    X, Y = workloads.dtw_short(workload, n=200, r=256)
    # Derivatives need three values in aeon.
    Y = [y for y in Y if len(y) > 2]
    packed = d2ke.pack(X, channels_first=False), d2ke.pack(Y, channels_first=False)
    taken, D = measure.least(
        lambda: d2ke.distance_matrix(*packed, distance, n_threads=n_threads, **params),
        repeat,
        perf_counter,
    )
    pairs = len(X) * len(Y)
    shown = f"| {workload} | {name} | {1e6 * taken / pairs:.2f} "
    try:
        part = X[:20], Y[:64]
        sides = [[np.ascontiguousarray(one.T) for one in side] for side in part]
        theirs(*sides, n_threads)  # compiles
    except ImportError:
        return shown + "| | | |"
    spent, values = measure.least(lambda: theirs(*sides, n_threads), repeat, perf_counter)
    spent *= workloads.cells(X, Y) / workloads.cells(*part)
    apart = "" if name in DIFFERENT else f"{np.abs(values / D[:20, :64] - 1)[values > 0].max():.0e}"
    return shown + f"| {1e6 * spent / pairs:.2f} ({peer}) | {spent / taken:.1f} | {apart} |"


def rapidfuzz(
    name: str, X: list[str], Y: list[str], params: dict[str, Any], threads: int, repeat: int
) -> Any:
    """Return the time of a pair in nanoseconds, and the distances."""
    from rapidfuzz import distance, fuzz, process

    if name in vars(fuzz):
        cdist = partial(process.cdist, scorer=getattr(fuzz, name), workers=threads, dtype=float)
        taken, ratios = measure.least(partial(cdist, X, Y), repeat)
        return 1e9 * taken / ratios.size, 1 - ratios / 100
    keywords: dict[str, Any] = {}
    if params:
        weights = params["insertion"], params["deletion"], params["mismatch"]
        # Integers only: twice the costs, and x is turned into y.
        keywords["scorer_kwargs"] = {"weights": tuple(int(2 * one) for one in weights)}
    scorer = getattr(distance, name).distance
    keywords |= {"scorer": scorer, "workers": threads}
    keywords["dtype"] = float if "Jaro" in name else np.int32
    taken, D = measure.least(partial(process.cdist, X, Y, **keywords), repeat)
    return 1e9 * taken / D.size, D / 2 if params else D


def of_strings(case: str, n: int, r: int, n_threads: int, repeat: int) -> None:
    """Print a row of the table of strings."""
    peer, part, params = STRINGS[case]
    name = case.split(",")[0]
    X, Y = workloads.lev_short(n, r)
    if name == "hamming":
        both = workloads.lev_splice(n + r)
        X, Y = both[:n], both[n:]
    if name.startswith(("jaro", "token")):
        both = neighbors.names(n + r)
        if name.startswith("token"):
            rng = np.random.default_rng(0)
            both = [" ".join(rng.choice(both, k)) for k in rng.integers(2, 6, n + r)]
        X, Y = both[:n], both[n:]
    call = partial(d2ke.distance_matrix, d2ke.pack(X), d2ke.pack(Y), name, **params)
    own, D = measure.least(partial(call, out=np.zeros((n, r)), n_threads=n_threads), repeat)
    own = 1e9 * own / D.size
    shown, times = "", ""
    if peer is not None:
        theirs, wanted = rapidfuzz(peer, X[: n // part], Y, params, n_threads, repeat)
        if not np.allclose(D[: len(wanted)], wanted, rtol=0, atol=1e-14):
            raise SystemExit(f"{case}: other values than rapidfuzz's")
        shown, times = f"{theirs:.1f}", f"{theirs / own:.1f}"
    measure.row(case, shown, f"{own:.2f}", times)


def of_lengths(least: int, most: int, n: int, n_threads: int, repeat: int) -> None:
    """Print rows of the table of lengths: two lists of n strings, and one with itself."""
    from rapidfuzz import process
    from rapidfuzz.distance import Levenshtein

    rng = np.random.default_rng(41)
    X, Y = (workloads.letters(rng, n, (least, most), 26) for _ in range(2))
    for case, other in (("two lists", Y), ("one list", X)):
        rows, columns = d2ke.pack(X), None if other is X else d2ke.pack(other)
        own, D = measure.least(
            lambda rows=rows, columns=columns: d2ke.distance_matrix(
                rows, columns, "levenshtein", dtype=np.float32, n_threads=n_threads
            ),
            repeat,
        )
        peer = partial(process.cdist, X, other, scorer=Levenshtein.distance)
        theirs, wanted = measure.least(partial(peer, dtype=np.float32, workers=n_threads), repeat)
        if not np.array_equal(D, wanted):
            raise SystemExit(f"{least} to {most} letters: other values than rapidfuzz's")
        shown = [f"{1e9 * taken / D.size:.2f}" for taken in (theirs, own)]
        measure.row(f"{least} to {most}", case, *shown, f"{theirs / own:.1f}")


def main() -> None:
    """Measure the distances that are named, or all."""
    parser = measure.parser(__doc__)
    parser.add_argument("distances", nargs="*", metavar="DISTANCE", help=", ".join(SERIES))
    parser.add_argument("--workload", choices=list(workloads.SERIES), action="append")
    parser.add_argument("--threads", type=int, default=2, help="threads")
    parser.add_argument("--repeat", type=int, default=3, help="measurements, the least counts")
    parser.add_argument("--n", type=int, default=20000, help="strings")
    parser.add_argument("--r", type=int, default=1024, help="random strings")
    options = parser.parse_args()
    if options.distances == ["strings"]:
        measure.header("distance", "rapidfuzz ns a pair", "d2ke ns a pair", "times")
        for case in STRINGS:
            of_strings(case, options.n, options.r, options.threads, options.repeat)
        return
    if options.distances == ["lengths"]:
        measure.header("letters", "of", "rapidfuzz ns a pair", "d2ke ns a pair", "times")
        for least, most, n in (
            (4, 8, 6000),
            (4, 14, 6000),
            (4, 20, 6000),
            (90, 110, 500),
            (900, 1100, 80),
        ):
            of_lengths(least, most, n, options.threads, options.repeat)
        return
    measure.header("workload", "distance", "d2ke us/pair", "peer us/pair", "times", "apart")
    for workload in options.workload or ["d1", "d3", "d22"]:
        for name in options.distances or SERIES:
            print(timed(name, workload, options.threads, options.repeat), flush=True)


if __name__ == "__main__":
    main()
