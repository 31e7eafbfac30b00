# SPDX-License-Identifier: BSD-3-Clause
"""Trees, clusters, medoids and averages beside scipy, hdbscan, kmedoids and aeon.

    python -m benchmarks.groups [CASE ...] [--threads 2] [--n N] [--words FILE]

Words are those of Debian's wamerican-huge or of FILE, or drawn names. Seconds are wall-clock, those
of medoids and of averages on one thread the processor's. scipy and hdbscan get the matrix of
`distance_matrix`, whose time counts. Averages: the fewest iterations (a power of 2) that reach the
sum of distances after aeon's 30.
"""

from __future__ import annotations

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
from benchmarks.measure import Peer
from benchmarks.neighbors import gestures, recorded, words

GUN_POINT = {"distance": "dtw", "window": 10}
STRINGS = {"distance": "levenshtein"}


def tree(name: str, X: d2ke.Objects, n_threads: int, part: int = 10_000, **given: Any) -> None:
    """Measure single linkage; scipy's is that of a part, and extrapolated by the pairs."""
    some = X[:part]

    def scipy() -> Any:
        D = d2ke.distance_matrix(some, n_threads=n_threads, **given)
        return linkage(squareform(D, checks=False), "single")

    def same(ours: Any, theirs: Any) -> None:
        if len(X) == len(some):
            np.testing.assert_array_equal(ours[:, 2], theirs[:, 2])

    ours = partial(d2ke.single_linkage, X, n_threads=n_threads, **given)
    peer = Peer(scipy, same, (len(X) / len(some)) ** 2)
    measure.side_by_side(f"{name}, {len(X)}", ours, {"matrix and scipy": peer}, 1)


def dense(name: str, X: d2ke.Objects, n_threads: int, **given: Any) -> None:
    """Measure HDBSCAN beside the package."""

    def package() -> Any:
        D = d2ke.distance_matrix(X, n_threads=n_threads, **given).astype(np.float64)
        return hdbscan.HDBSCAN(metric="precomputed", algorithm="generic").fit_predict(D)

    def same(found: Any, labels: Any) -> None:
        share = d2ke.discriminative.clustering_accuracy(labels, found.labels)
        measure.progress(f"{name}: {share:.1%} of labels equal")

    hdbscan = measure.installed("hdbscan")
    peer = {"matrix and hdbscan": Peer(hdbscan and package, same)}
    ours = partial(d2ke.hdbscan, X, min_samples=5, n_threads=n_threads, **given)
    measure.side_by_side(f"{name}, {len(X)}", ours, peer, 1)


def medoids(name: str, X: d2ke.Objects, n_threads: int, k: int, **given: Any) -> None:
    """Measure FasterPAM, the matrix included, beside the package."""

    def package() -> Any:
        D = d2ke.distance_matrix(X, n_threads=n_threads, **given).astype(np.float64)
        return kmedoids.fasterpam(D, k, random_state=0, n_cpu=1)

    kmedoids = measure.installed("kmedoids")
    peer = {"matrix and kmedoids": Peer(kmedoids and package)}
    ours = partial(d2ke.kmedoids, X, k, sample_size=len(X), n_threads=n_threads, **given)
    measure.side_by_side(f"{name}, {len(X)}", ours, peer, 1)


def average(name: str, X: d2ke.Objects, n_threads: int, **given: Any) -> None:
    """Measure averages; with one thread numba needs NUMBA_NUM_THREADS=1 too."""
    start, series = X[0], np.stack([x.T for x in X])
    shown = partial(d2ke.barycenter, X, initial=start, n_threads=n_threads, **given)
    ours, peer = partial(shown, max_iter=30), Peer(None)
    if aeon := measure.installed("aeon.clustering.averaging"):
        package = partial(
            aeon.elastic_barycenter_average, series, distance=given["distance"],
            init_barycenter=start.T, n_jobs=n_threads,
        )  # fmt: skip
        peer, center = Peer(package), package()
        inertia = d2ke.distance_matrix(X, [center.T], n_threads=n_threads, **given).sum()
        for max_iter in (1, 2, 4, 8, 16, 32):
            ours = partial(shown, max_iter=max_iter)
            if ours().inertia <= inertia:
                break
        measure.progress(f"{name}: {max_iter} iterations, {ours().inertia / inertia:.4f} of theirs")
    clock = time.process_time if n_threads == 1 else time.perf_counter
    measure.side_by_side(f"{name}, {len(X)}", ours, {"aeon": peer}, 3, clock=clock)


Case = tuple[Callable[..., None], Callable[[int], Any], int, dict[str, Any]]


def main() -> None:
    """Measure the cases that are named, or all."""
    parser = measure.parser(__doc__, threads=0)
    parser.add_argument("cases", nargs="*", metavar="CASE", help="by default all")
    parser.add_argument("--words", type=Path, help="a file of words, one a line")
    parser.add_argument("--n", type=int, help="objects, for a quick look")
    options = parser.parse_args()
    drawn = partial(words, path=options.words)
    cases: dict[str, Case] = {
        "words-tree": (tree, drawn, 100_000, {"part": 3000, **STRINGS}),
        "series-tree": (tree, gestures, 10_000, GUN_POINT),
        "auslan-tree": (tree, recorded("auslan"), 2565, {"distance": "dtw"}),
        "words-hdbscan": (dense, drawn, 10_000, STRINGS),
        "series-hdbscan": (dense, gestures, 5000, GUN_POINT),
        "medoids": (medoids, gestures, 5000, {"k": 20, **GUN_POINT}),
        "dtw-average": (average, gestures, 200, {"distance": "dtw", "ground": "sqeuclidean"}),
        "msm-average": (average, gestures, 200, {"distance": "msm"}),
        "twe-average": (average, gestures, 200, {"distance": "twe"}),
    }
    measure.peers_header(f"seconds, {options.threads} threads")
    for name in options.cases or cases:
        function, draw, n, given = cases[name]
        function(name, draw(options.n or n), n_threads=options.threads, **given)


if __name__ == "__main__":
    main()
