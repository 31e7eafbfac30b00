# SPDX-License-Identifier: BSD-3-Clause
"""Distances of strings beside rapidfuzz, in the same run, and the same values.

``python -m benchmarks.string_distances [NAME ...] [--n 20000] [--r 1024] [--threads 2]``

The `short` workload: n strings of 34 to 198 letters against r of 2 to 50 (Hamming: of 60 letters).
Pairs are computed by rapidfuzz for a part of the strings, so that it takes some seconds, and the
values compared. Times are of the process, all threads together, the shorter one of two runs.
"""

from __future__ import annotations

import argparse
from functools import partial
from typing import Any

import numpy as np

import d2ke
from benchmarks import measure, workloads

# rapidfuzz's name, and how many of n strings it gets; None: it has no such distance.
CASES: dict[str, tuple[str | None, int, dict[str, Any]]] = {
    "levenshtein": ("Levenshtein", 1, {}),
    "osa": ("OSA", 1, {}),
    "damerau_levenshtein": ("DamerauLevenshtein", 20, {}),
    "hamming": ("Hamming", 1, {}),
    "indel": ("Indel", 1, {}),
    "jaccard": (None, 1, {}),
    "weighted_levenshtein": ("Levenshtein", 20, {"insertion": 1.0, "deletion": 1.5, "mismatch": 2}),
    "weighted_levenshtein, gaps": (None, 1, {"gap_open": 3.0, "gap_extend": 0.5, "mismatch": 2}),
}


def strings(name: str, n: int, r: int) -> tuple[list[str], list[str]]:
    """Draw the strings of a case."""
    if name != "hamming":
        return workloads.lev_short(n, r)
    both = workloads.lev_splice(n + r)
    return both[:n], both[n:]


def rapidfuzz(name: str, X: list[str], Y: list[str], params: dict[str, Any], threads: int) -> Any:
    """Return the time of a pair in nanoseconds, and the distances."""
    from rapidfuzz import distance, process

    keywords: dict[str, Any] = {}
    if params:
        weights = params["insertion"], params["deletion"], params["mismatch"]
        # Integers only: twice the costs, and x is turned into y.
        keywords["scorer_kwargs"] = {"weights": tuple(int(2 * one) for one in weights)}
    scorer = getattr(distance, name).distance
    keywords |= {"scorer": scorer, "workers": threads, "dtype": np.int32}
    taken, D = measure.least(partial(process.cdist, X, Y, **keywords), 2)
    return 1e9 * taken / D.size, D / 2 if params else D


def main() -> None:
    """Measure the cases that are named, or all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cases", nargs="*", metavar="NAME", help=", ".join(CASES))
    parser.add_argument("--n", type=int, default=20000, help="strings")
    parser.add_argument("--r", type=int, default=1024, help="random strings")
    parser.add_argument("--threads", type=int, default=2, help="threads")
    options = parser.parse_args()
    measure.header("distance", "rapidfuzz ns a pair", "d2ke ns a pair", "times")
    for case in options.cases or CASES:
        peer, part, params = CASES[case]
        name = case.split(",")[0]
        X, Y = strings(name, options.n, options.r)
        x, y = d2ke.pack(X), d2ke.pack(Y)
        out = np.zeros((len(X), len(Y)))
        keywords = {"out": out, "n_threads": options.threads, **params}
        call = partial(d2ke.distance_matrix, x, y, name, **keywords)
        own, D = measure.least(call, 2)
        own = 1e9 * own / D.size
        shown, times = "", ""
        if peer is not None:
            theirs, wanted = rapidfuzz(peer, X[: len(X) // part], Y, params, options.threads)
            if not np.array_equal(D[: len(wanted)], wanted):
                raise SystemExit(f"{case}: other values than rapidfuzz's")
            shown, times = f"{theirs:.1f}", f"{theirs / own:.1f}"
        measure.row(case, shown, f"{own:.2f}", times)


if __name__ == "__main__":
    main()
