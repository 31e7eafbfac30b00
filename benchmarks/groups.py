# SPDX-License-Identifier: BSD-3-Clause
"""Trees, clusters and medoids beside the matrix of distances and the packages that take it.

``python -m benchmarks.groups [CASE ...] [--threads 2]``

Words are those of Debian's wamerican-huge or of ``--words``, or drawn names. Times are wall-clock,
those of medoids and of averages on one thread the processor's; memory is the process's largest.
Packages get the matrix of `distance_matrix`, whose time counts.
"""

from __future__ import annotations

import resource
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy.cluster.hierarchy import linkage
from scipy.spatial.distance import squareform

import d2ke
from benchmarks import measure
from benchmarks.neighbors import gestures, recorded, words
from d2ke.groups.faster_pam import faster_pam

GUN_POINT = {"distance": "dtw", "window": 10}
STRINGS = {"distance": "levenshtein"}


timed = partial(measure.least, clock=time.perf_counter)


def show(name: str, n: int, ours: float, peer: str, theirs: float | None, same: str) -> None:
    """Print a line of the table."""
    memory = f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6:.2f}"
    peers = ("", "") if theirs is None else (f"{theirs:.3g}", f"{theirs / ours:.1f}")
    measure.row(name, n, f"{ours:.3g}", memory, peer, *peers, same)


def tree(name: str, X: d2ke.Objects, n_threads: int, part: int = 10_000, **given: Any) -> None:
    """Measure single linkage; scipy's is that of a part, and extrapolated by the pairs."""
    ours, _ = timed(lambda: d2ke.single_linkage(X, n_threads=n_threads, **given))
    some = X[:part]
    part = len(some)

    def scipy() -> Any:
        D = d2ke.distance_matrix(some, n_threads=n_threads, **given)
        return linkage(squareform(D, checks=False), "single")

    theirs, Z = timed(scipy)
    same = np.array_equal(Z[:, 2], d2ke.single_linkage(some, **given)[:, 2])
    theirs *= (len(X) / part) ** 2
    show(name, len(X), ours, f"matrix and scipy, of {part}", theirs, f"heights equal: {same}")


def dense(name: str, X: d2ke.Objects, n_threads: int, **given: Any) -> None:
    """Measure HDBSCAN beside the package."""
    ours, found = timed(lambda: d2ke.hdbscan(X, min_samples=5, n_threads=n_threads, **given))
    try:
        from hdbscan import HDBSCAN
    except ImportError:
        return show(name, len(X), ours, "hdbscan is not installed", None, "")

    def package() -> Any:
        D = d2ke.distance_matrix(X, n_threads=n_threads, **given).astype(np.float64)
        return HDBSCAN(metric="precomputed", algorithm="generic").fit_predict(D)

    theirs, labels = timed(package)
    same = d2ke.discriminative.clustering_accuracy(labels, found.labels)
    show(name, len(X), ours, "matrix and hdbscan", theirs, f"labels equal: {same:.1%}")


def medoids(name: str, X: d2ke.Objects, n_threads: int, k: int, **given: Any) -> None:
    """Measure FasterPAM of the matrix beside the package, from equal first medoids."""
    D = d2ke.distance_matrix(X, n_threads=n_threads, **given).astype(np.float64)
    timed = partial(measure.least, rounds=3)
    ours, found = timed(lambda: faster_pam(D, np.arange(k)))
    try:
        from kmedoids import fasterpam
    except ImportError:
        return show(name, len(X), ours, "kmedoids is not installed", None, "")
    theirs, wanted = timed(lambda: fasterpam(D, np.arange(k, dtype=np.uint64), n_cpu=1))
    loss = D[found].min(axis=0).sum() / wanted.loss
    show(name, len(X), ours, "kmedoids", theirs, f"loss over theirs: {loss:.6f}")


def average(name: str, X: d2ke.Objects, n_threads: int, **given: Any) -> None:
    """Measure the fewest iterations (a power of 2) that reach the sum of aeon's 30.

    With one thread numba needs NUMBA_NUM_THREADS=1 too, or its others' time counts.
    """
    clock = time.process_time if n_threads == 1 else time.perf_counter
    timed = partial(measure.least, rounds=3, clock=clock)
    try:
        from aeon.clustering.averaging import elastic_barycenter_average
    except ImportError:
        return show(name, len(X), np.nan, "aeon is not installed", None, "")
    start, series = X[0], np.stack([x.T for x in X])

    def package(series: np.ndarray) -> Any:
        return elastic_barycenter_average(
            series, distance=given["distance"], init_barycenter=start.T, n_jobs=n_threads
        )

    package(series[:3])  # compiles
    theirs, center = timed(lambda: package(series))
    inertia = d2ke.distance_matrix(X, [center.T], n_threads=n_threads, **given).sum()
    for max_iter in (1, 2, 4, 8, 16, 32):
        ours = partial(
            d2ke.barycenter, X, initial=start, max_iter=max_iter, n_threads=n_threads, **given
        )
        if max_iter == 32 or ours().inertia <= inertia:
            break
    seconds, found = timed(ours)
    result = f"{found.n_iter} iterations: sum over theirs: {found.inertia / inertia:.4f}"
    show(name, len(X), seconds, "aeon", theirs, result)


def main() -> None:
    """Measure the cases that are named, or all."""
    parser = measure.parser(__doc__, threads=True)
    parser.add_argument("cases", nargs="*", metavar="CASE", help="all, where none is named")
    parser.add_argument("--words", type=Path, help="a file of words, one a line")
    options = parser.parse_args()
    drawn = partial(words, path=options.words)
    cases: dict[str, tuple[Callable[..., None], Callable[[int], Any], int, dict[str, Any]]] = {
        "words-tree": (tree, drawn, 100_000, {"part": 3000, **STRINGS}),
        "series-tree": (tree, gestures, 10_000, GUN_POINT),
        "auslan-tree": (tree, recorded("auslan"), 2565, {"distance": "dtw"}),
        "words-hdbscan": (dense, drawn, 10_000, STRINGS),
        "series-hdbscan": (dense, gestures, 5000, GUN_POINT),
        "medoids": (medoids, gestures, 5000, {"k": 20, **GUN_POINT}),
        "dtw-average": (
            average,
            gestures,
            200,
            {"distance": "dtw", "ground": "sqeuclidean"},
        ),
        "msm-average": (average, gestures, 200, {"distance": "msm"}),
        "twe-average": (average, gestures, 200, {"distance": "twe"}),
    }
    measure.header("case", "n", "s", "GB", "beside", "s", "times", "result")
    for name in options.cases or cases:
        function, draw, n, given = cases[name]
        function(name, draw(n), n_threads=options.threads, **given)


if __name__ == "__main__":
    main()
