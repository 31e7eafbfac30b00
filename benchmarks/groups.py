# SPDX-License-Identifier: BSD-3-Clause
"""Trees, clusters and medoids beside the matrix of distances and the packages that take it.

``python -m benchmarks.groups [CASE ...] [--threads 2]``

Words are those of Debian's wamerican-huge or of ``--words``, or drawn names. Times are wall-clock,
those of medoids and of averages on one thread the processor's; memory is the process's largest.
Packages get the matrix of `distance_matrix`, whose time counts; those of linked records get the
table.
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
from scipy.stats import hmean

import d2ke
from benchmarks import measure
from benchmarks.neighbors import gestures, names, recorded, words
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
    same = d2ke.clustering_accuracy(labels, found.labels)
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


def people(n: int, seed: int = 0) -> tuple[dict[str, list[str | None]], np.ndarray]:
    """Draw dirty names and addresses, and of whom each row is: 0.6 persons a row.

    Letters are replaced, added, lost and swapped, words abbreviated and lost, entries missing.
    """
    rng = np.random.default_rng(seed)
    drawn = [name[:9].title() for name in names(12_000)]
    first, last, streets = drawn[:2000], drawn[2000:8000], drawn[8000:]
    kinds = ["Street", "Road", "Avenue", "Lane", "Square"]
    persons = int(0.6 * n)
    share = 1 / np.arange(1, 6001) ** 0.5
    given = rng.choice(2000, persons, p=share[:2000] / share[:2000].sum())
    family = rng.choice(6000, persons, p=share / share.sum())
    homes = rng.integers(0, [4000, 5, 200], (persons, 3))
    truth = np.concatenate([np.arange(persons), rng.integers(0, persons, n - persons)])
    truth = rng.permutation(truth)
    table: dict[str, list[str | None]] = {"name": [], "address": []}
    for person in truth.tolist():
        street, kind, number = homes[person].tolist()
        name = [first[given[person]], last[family[person]]]
        address = [str(number + 1), streets[street], kinds[kind]]
        if rng.random() < 0.1:
            name[0] = name[0][0] + "."
        if rng.random() < 0.2:
            address[2] = address[2][:2] + "."
        if rng.random() < 0.05:
            del address[rng.integers(0, 3)]
        for column, parts in (("name", name), ("address", address)):
            text: str | None = misspelt(" ".join(parts), rng)
            table[column].append(None if rng.random() < 0.03 else text)
    return table, truth


def misspelt(text: str, rng: np.random.Generator) -> str:
    """Change letters: none in half of the texts, else one to three."""
    for _ in range(rng.choice([0, 1, 2, 3], p=[0.5, 0.3, 0.15, 0.05])):
        i = int(rng.integers(0, len(text) - 1))
        letter = chr(97 + int(rng.integers(0, 26)))
        change = rng.integers(0, 5)
        if change == 4:
            text = text.upper() if rng.random() < 0.5 else text.lower()
        else:
            middle = (letter, letter + text[i], "", text[i + 1] + text[i])[change]
            text = text[:i] + middle + text[i + 1 + (change == 3) :]
    return text


def pair_scores(labels: np.ndarray, truth: np.ndarray) -> tuple[float, float]:
    """Return precision and recall of the pairs of rows that are in one group."""

    def pairs(parts: np.ndarray) -> int:
        sizes = np.unique(parts, return_counts=True)[1]
        return int((sizes * (sizes - 1) // 2).sum())

    both = pairs(labels.astype(np.int64) * (truth.max() + 1) + truth)
    return both / max(pairs(labels), 1), both / pairs(truth)


def records(name: str, drawn: Any, n_threads: int) -> None:
    """Measure linked records beside splink, which gets cleaned columns."""
    table, truth = drawn
    clean = ("case", "accents", "punctuation")

    def ours(table: Any, _: np.ndarray) -> np.ndarray:
        radius = {"name": 3, "address": 4}
        return d2ke.dedupe(table, radius=radius, clean=clean, n_threads=n_threads).labels

    memory = None
    for called, group in (("d2ke", ours), ("splink", splink)):
        try:
            seconds, labels = timed(lambda group=group: group(table, truth))
        except ImportError:
            measure.progress(f"{called} is not installed")
            continue
        memory = memory or f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6:.2f}"
        precision, recall = pair_scores(labels, truth)
        result = f"precision {precision:.3f}, recall {recall:.3f}"
        if called == "d2ke":
            first = seconds
            measure.row(name, len(truth), f"{seconds:.2f}", memory, "", "", "", result)
        else:
            times = f"{seconds / first:.1f}"
            measure.row(name, len(truth), "", "", called, f"{seconds:.2f}", times, result)


def cleaned(table: dict[str, list[str | None]]) -> dict[str, list[str | None]]:
    """Return the columns for splink: small letters, no punctuation."""
    letters = str.maketrans({".": " "})
    return {
        name: [text and " ".join(text.casefold().translate(letters).split()) for text in texts]
        for name, texts in table.items()
    }


def splink(table: dict[str, list[str | None]], truth: np.ndarray) -> np.ndarray:
    """Group rows by splink, trained without labels, at the probability with the best F1 score."""
    import splink.comparison_library as levels
    from pyarrow import table as arrow
    from splink import DuckDBAPI, Linker, SettingsCreator, block_on

    rules = [
        block_on("name"),
        block_on("address"),
        block_on("substr(name, 1, 5)", "substr(address, 1, 3)"),
        block_on("substr(name, -5)", "substr(address, -5)"),
        block_on("substr(name, 1, 3)", "substr(address, 4, 5)"),
        block_on("substr(name, -6)", "substr(address, 1, 3)"),
    ]
    settings = SettingsCreator(
        "dedupe_only",
        [
            levels.LevenshteinAtThresholds("name", [1, 2, 4]).configure(
                term_frequency_adjustments=True
            ),
            levels.LevenshteinAtThresholds("address", [1, 2, 4]),
        ],
        rules,
    )
    data = arrow({"unique_id": range(len(truth)), **cleaned(table)})
    linker = Linker(DuckDBAPI().register(data), settings, log_level=40)
    training = linker.training
    training.estimate_probability_two_random_records_match(rules[:2], recall=0.6)
    training.estimate_u_using_random_sampling(max_pairs=1e6, seed=1)
    for rule in rules[:2]:
        training.estimate_parameters_using_expectation_maximisation(rule)
    found = linker.inference.predict(threshold_match_probability=0.1)

    def labels(threshold: float) -> np.ndarray:
        clusters = linker.clustering.cluster_pairwise_predictions_at_threshold(found, threshold)
        rows = clusters.as_record_list()
        groups = np.unique([row["cluster_id"] for row in rows], return_inverse=True)[1]
        return groups[np.argsort([row["unique_id"] for row in rows])]

    def f1(labels: np.ndarray) -> float:
        return float(hmean(pair_scores(labels, truth)))

    return max(map(labels, [0.1, 0.3, 0.5, 0.8, 0.95, 0.99]), key=f1)


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
        "records": (records, people, 20_000, {}),
        "many-records": (records, people, 200_000, {}),
    }
    measure.header("case", "n", "s", "GB", "beside", "s", "times", "result")
    for name in options.cases or cases:
        function, draw, n, given = cases[name]
        function(name, draw(n), n_threads=options.threads, **given)


if __name__ == "__main__":
    main()
