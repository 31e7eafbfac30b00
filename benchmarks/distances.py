# SPDX-License-Identifier: BSD-3-Clause
"""Distances beside aeon, tslearn and rapidfuzz.

    python -m benchmarks.distances [DISTANCE ...] [--workload d1] [--threads 2] [--repeat 3]
    python -m benchmarks.distances strings [--n 20000] [--r 1024]
    python -m benchmarks.distances lengths [--threads 1]

Series: smooth ones beside short random ones, microseconds a pair. The peers get a part of the rows,
and their time is extrapolated by the cells. `strings`: n of 34 to 198 letters and r of 2 to 50
(Hamming: 60 letters; Jaro and Winkler: names; tokens: 2 to 5 names), processor nanoseconds
a pair. `lengths`: Levenshtein distances of strings over 26 letters by their lengths, float32.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from time import process_time
from typing import Any

import numpy as np

import d2ke
from benchmarks import measure, neighbors, workloads
from benchmarks.measure import Peer

# A distance of d2ke, its parameters, and those of aeon.
SERIES: dict[str, tuple[str, dict[str, Any], dict[str, Any]]] = {
    "dtw": ("dtw", {"ground": "sqeuclidean"}, {}),
    "msm": ("msm", {}, {}),
    "msm-dependent": ("msm", {"independent": False}, {"independent": False}),
    "erp": ("erp", {}, {}),
    "twe": ("twe", {}, {}),
    "edr": ("edr", {"normalize": True}, {"epsilon": 0.25}),
    "lcss": ("lcss", {}, {}),
    "adtw": ("adtw", {}, {}),
    "wdtw": ("wdtw", {}, {}),
    "ddtw": ("ddtw", {}, {}),
    "frechet": ("frechet", {}, {}),  # tslearn's
}
DIFFERENT = {"erp", "edr"}  # other definitions, see docs/distances.md: values are not compared
# rapidfuzz's name, and which part of the strings it gets; None: it has no such distance.
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
# Letters of the shortest and the longest string, and strings of one list.
LENGTHS = ((4, 8, 6000), (4, 14, 6000), (4, 20, 6000), (90, 110, 500), (900, 1100, 80))


def of_series(name: str, workload: str, n_threads: int, repeat: int) -> None:
    """Print a row of the table of series."""
    distance, params, given = SERIES[name]
    X, Y = workloads.dtw_short(workload, n=200, r=256)
    Y = [y for y in Y if len(y) > 2]  # derivatives need three values in aeon
    rows, columns = X[:20], Y[:64]
    call: Callable[[], Any] | None = None
    if distance == "frechet":
        if tslearn := measure.installed("tslearn.metrics"):
            call = lambda: [[tslearn.frechet(x, y) for y in columns] for x in rows]  # noqa: E731
    elif aeon := measure.installed("aeon.distances"):
        function = getattr(aeon, f"{distance}_pairwise_distance")
        sides = ([np.ascontiguousarray(one.T) for one in side] for side in (rows, columns))
        call = partial(function, *sides, n_jobs=n_threads, **given)

    def same(D: np.ndarray, E: Any) -> None:
        if name not in DIFFERENT:
            np.testing.assert_allclose(D[:20, :64], E, rtol=1e-9, atol=1e-12)

    times = workloads.cells(X, Y) / workloads.cells(rows, columns)
    peer = {"tslearn" if distance == "frechet" else "aeon": Peer(call, same, times)}
    packed = (d2ke.pack(side, channels_first=False) for side in (X, Y))
    ours = partial(d2ke.distance_matrix, *packed, distance, n_threads=n_threads, **params)
    measure.side_by_side(f"{workload} {name}", ours, peer, repeat, 1e-6 * len(X) * len(Y))


def of_strings(case: str, n: int, r: int, n_threads: int, repeat: int) -> None:
    """Print a row of the table of strings."""
    theirs, part, params = STRINGS[case]
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
    peers = {}
    if theirs is not None:
        peers["rapidfuzz"] = rapidfuzz(theirs, X[: n // part], Y, params, n_threads, n, part)
    packed, out = (d2ke.pack(X), d2ke.pack(Y)), np.zeros((n, r))
    ours = partial(d2ke.distance_matrix, *packed, name, out=out, n_threads=n_threads, **params)
    measure.side_by_side(case, ours, peers, repeat, 1e-9 * n * r, process_time)


def rapidfuzz(
    name: str, X: list[str], Y: list[str], params: dict[str, Any], threads: int, n: int, part: int
) -> Peer:
    """Return rapidfuzz's distances of a part of n strings."""
    if not (process := measure.installed("rapidfuzz.process")):
        return Peer(None)
    from rapidfuzz import distance, fuzz

    given: dict[str, Any] = {"workers": threads, "dtype": float}
    result: Callable[[Any], Any] = np.asarray
    if name in vars(fuzz):
        given["scorer"] = getattr(fuzz, name)
        result = lambda ratios: 1 - ratios / 100  # noqa: E731
    else:
        given["scorer"] = getattr(distance, name).distance
        if "Jaro" not in name:
            given["dtype"] = np.int32
    if params:  # integers only: twice the costs
        weights = (params["insertion"], params["deletion"], params["mismatch"])
        given["scorer_kwargs"] = {"weights": tuple(int(2 * one) for one in weights)}
        result = lambda D: D / 2  # noqa: E731

    def same(D: np.ndarray, E: Any) -> None:
        np.testing.assert_allclose(D[: len(E)], result(E), rtol=0, atol=1e-14)

    return Peer(partial(process.cdist, X, Y, **given), same, n / len(X) if part > 1 else 1)


def of_lengths(least: int, most: int, n: int, n_threads: int, repeat: int) -> None:
    """Print rows of the table of lengths: two lists of n strings, and one with itself."""
    process = measure.installed("rapidfuzz.process")
    rng = np.random.default_rng(41)
    X, Y = (workloads.letters(rng, n, (least, most), 26) for _ in range(2))
    for case, other in (("two lists", Y), ("one list", X)):
        peer = Peer(None)
        if process:
            from rapidfuzz.distance import Levenshtein

            given = {"dtype": np.float32, "workers": n_threads, "scorer": Levenshtein.distance}
            call = partial(process.cdist, X, other, **given)
            peer = Peer(call, np.testing.assert_array_equal)
        packed = d2ke.pack(X), None if other is X else d2ke.pack(other)
        ours = partial(
            d2ke.distance_matrix, *packed, "levenshtein", dtype=np.float32, n_threads=n_threads
        )
        title = f"{least} to {most} letters, {case}"
        peers = {"rapidfuzz": peer}
        measure.side_by_side(title, ours, peers, repeat, 1e-9 * n * n, process_time)


def main() -> None:
    """Measure the distances that are named, or all."""
    parser = measure.parser(__doc__, threads=2)
    parser.add_argument("distances", nargs="*", metavar="DISTANCE", help=", ".join(SERIES))
    parser.add_argument("--workload", choices=list(workloads.SERIES), action="append")
    parser.add_argument("--repeat", type=int, default=3, help="times of each call")
    parser.add_argument("--n", type=int, default=20000, help="strings")
    parser.add_argument("--r", type=int, default=1024, help="random strings")
    options = parser.parse_args()
    given = options.threads, options.repeat
    measure.peers_header(f"{'ns' if options.distances[:1] in (['strings'], ['lengths']) else 'us'} "
                         f"a pair, {options.threads} threads")  # fmt: skip
    if options.distances == ["strings"]:
        for case in STRINGS:
            of_strings(case, options.n, options.r, *given)
    elif options.distances == ["lengths"]:
        for lengths in LENGTHS:
            of_lengths(*lengths, *given)
    else:
        for workload in options.workload or ["d1", "d3", "d22"]:
            for name in options.distances or SERIES:
                of_series(name, workload, *given)


if __name__ == "__main__":
    main()
