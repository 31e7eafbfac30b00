# SPDX-License-Identifier: BSD-3-Clause
"""Many equal objects: the time beside that of the distinct objects alone, and the memory.

``python -m benchmarks.copies [FUNCTION ...] [--threads 1] [--quick]``

Names are random strings of 6 to 12 letters out of 10. Seconds are the processor's; MB are what the
process's largest resident memory grows by, which is measured first for one name 10,000 times.
"""

from __future__ import annotations

import resource
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import d2ke
from benchmarks import measure


def names(n: int) -> list[str]:
    """Draw n different names."""
    drawn = d2ke.samplers.random_strings(n + n // 20, "abcdefghij", length=(6, 12), seed=0)
    return list(dict.fromkeys(drawn))[:n]


def functions(n_threads: int) -> dict[str, Callable[[list[str]], Any]]:
    """Return the functions that are measured."""
    options = {"distance": "levenshtein", "n_threads": n_threads}
    return {
        "dedupe": partial(d2ke.dedupe, radius=1, n_threads=n_threads),
        "link": lambda X: d2ke.link(X, X[-len(X) // 2 :], radius=1, n_threads=n_threads),
        "dbscan": partial(d2ke.dbscan, eps=1, **options),
        "hdbscan": partial(d2ke.hdbscan, **options),
        "single_linkage": partial(d2ke.single_linkage, **options),
        "kmedoids": partial(d2ke.kmedoids, k=5, sample_size=1000, n_samples=2, **options),
        "nearest": partial(d2ke.nearest, k=5, **options),
        "lof": partial(d2ke.outlier_scores, method="lof", **options),
    }


def main() -> None:
    """Measure the functions that are named, or all."""
    parser = measure.parser(__doc__ or "", threads=True, quick="a tenth of the names")
    parser.add_argument("functions", nargs="*", metavar="FUNCTION", help="all, where none is named")
    options = parser.parse_args()
    warnings.filterwarnings("ignore", "only 1 of")
    scale = 10 if options.quick else 1
    n = 20_000 // scale
    distinct, rng = names(n), np.random.default_rng(0)
    some = distinct[: n // 10]
    cases = {
        "distinct": distinct,
        "and 2,000 equal": [*distinct, *["abcabcabc"] * (n // 10)],
        "a tenth of them": some,
        "each 5 to 50 times": np.repeat(some, rng.integers(5, 51, len(some))).tolist(),
    }
    chosen = functions(options.threads)
    chosen = {name: chosen[name] for name in options.functions or chosen}
    for function in chosen.values():  # what the first call imports is not measured
        function(distinct[:50])
    measure.header("function", "10,000 equal: s", "MB", *(f"{name}: s" for name in cases), "times")
    for name, function in chosen.items():
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        equal, _ = measure.least(partial(function, ["abcabcabc"] * (10_000 // scale)))
        grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1000
        seconds = [measure.least(partial(function, X), 2)[0] for X in cases.values()]
        times = f"{seconds[1] / seconds[0]:.2f}, {seconds[3] / seconds[2]:.2f}"
        measure.row(name, f"{equal:.3f}", f"{grown:.0f}", *(f"{s:.2f}" for s in seconds), times)


if __name__ == "__main__":
    main()
