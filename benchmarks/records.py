# SPDX-License-Identifier: BSD-3-Clause
"""Linked records with known truth, beside splink.

    python -m benchmarks.records [METHOD ...] [--n 20000] [--threads 2]

Names and addresses with typos, swapped letters, abbreviations and missing parts. Each method runs
in a process of its own: seconds by the clock, processor seconds of all its threads, its largest
memory; precision and recall of pairs of rows in one group. d2ke-known is corrected by 1,000 pairs;
d2ke-grown groups two thirds of the rows, to which the others come in ten parts.
"""

from __future__ import annotations

import multiprocessing
import os
import time
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.stats import hmean

import d2ke
from benchmarks import measure
from benchmarks.neighbors import names

RADIUS = {"name": 3, "address": 4}
CLEAN = ("case", "accents", "punctuation")
HARD = 0.01  # the least probability of either answer of pairs that somebody would look at
KNOWN = 1000

Table = dict[str, list[str | None]]
Known = tuple[np.ndarray, np.ndarray]


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


def cleaned(table: dict[str, list[str | None]]) -> dict[str, list[str | None]]:
    """Return the columns for peers: small letters, no punctuation."""
    letters = str.maketrans({".": " "})
    return {
        name: [text and " ".join(text.casefold().translate(letters).split()) for text in texts]
        for name, texts in table.items()
    }


def known_pairs(table: Table, truth: np.ndarray, n_threads: int) -> Known:
    """Draw pairs of rows that are hard to tell, and say whether they match."""
    found = d2ke.dedupe(table, radius=RADIUS, clean=CLEAN, n_threads=n_threads)
    hard = np.flatnonzero(np.abs(found.distances - 0.5) < 0.5 - HARD)
    chosen = np.random.default_rng(0).choice(hard, min(KNOWN, len(hard)), replace=False)
    pairs = found.pairs[chosen]
    return pairs, truth[pairs[:, 0]] == truth[pairs[:, 1]]


def ours(table: Table, truth: np.ndarray, known: Known | None, n_threads: int) -> np.ndarray:
    """Group rows by weights that are learned from the table, and corrected by known pairs."""
    return d2ke.dedupe(table, radius=RADIUS, clean=CLEAN, known=known, n_threads=n_threads).labels


def grown(table: Table, truth: np.ndarray, known: Known | None, n_threads: int) -> np.ndarray:
    """Group two thirds of the rows at once, and assign the others in ten parts."""
    n = len(truth)
    ends = np.linspace(2 * n // 3, n, 11).astype(int).tolist()

    def rows(start: int, stop: int) -> Table:
        return {name: texts[start:stop] for name, texts in table.items()}

    found = d2ke.dedupe(rows(0, ends[0]), radius=RADIUS, clean=CLEAN, n_threads=n_threads)
    for start, stop in pairwise(ends):
        found = found.assign(rows(start, stop), n_threads=n_threads).duplicates
    return found.labels


def parts(table: Table) -> dict[str, list[str | None]]:
    """Split cleaned columns: first and last name, number, longest word of the street."""
    result: dict[str, list[str | None]] = {}
    names_, addresses = ([(text or "").split() for text in texts] for texts in table.values())
    result["first"] = [words[0] if len(words) > 1 else None for words in names_]
    result["last"] = [words[-1] if words else None for words in names_]
    numbers = [[word for word in words if word[0].isdigit()] for words in addresses]
    streets = [[word for word in words if not word[0].isdigit()] for words in addresses]
    result["number"] = [words[0] if words else None for words in numbers]
    result["street"] = [max(words, key=len) if words else None for words in streets]
    return result


def splink(table: Table, truth: np.ndarray, known: Known, n_threads: int) -> np.ndarray:
    """Group rows by splink, trained without labels, at the probability with the best F1 score.

    Of whole names and addresses its recall was lower by a quarter; it gets their parts.
    """
    import splink.comparison_library as levels
    from pyarrow import table as arrow
    from splink import DuckDBAPI, Linker, SettingsCreator, block_on

    whole = [block_on("name"), block_on("address")]
    rules = [
        *whole,
        block_on("last", "number"),
        block_on("last", "street"),
        block_on("first", "street"),
        block_on("number", "street"),
        block_on("substr(last, 1, 4)", "substr(street, 1, 4)"),
        block_on("substr(last, -4)", "substr(street, -4)"),
        block_on("first", "last"),
        block_on("first", "number", "substr(street, 1, 2)"),
        block_on("substr(first, 1, 1)", "substr(last, 1, 3)", "number"),
    ]
    compared = [
        levels.JaroWinklerAtThresholds("first", [0.92, 0.8]),
        levels.LevenshteinAtThresholds("last", [1, 2]),
        levels.LevenshteinAtThresholds("number", [1]),
        levels.LevenshteinAtThresholds("street", [1, 2]),
    ]
    compared = [level.configure(term_frequency_adjustments=True) for level in compared]
    texts = cleaned(table)
    data = arrow({"unique_id": range(len(truth)), **texts, **parts(texts)})
    settings = SettingsCreator("dedupe_only", compared, rules)
    linker = Linker(DuckDBAPI().register(data), settings, log_level=40)
    training = linker.training
    training.estimate_probability_two_random_records_match(whole, recall=0.6)
    training.estimate_u_using_random_sampling(max_pairs=1e6, seed=1)
    for column in ("last", "street"):
        training.estimate_parameters_using_expectation_maximisation(block_on(column))
    found = linker.inference.predict(threshold_match_probability=0.1)

    def labels(threshold: float) -> np.ndarray:
        clusters = linker.clustering.cluster_pairwise_predictions_at_threshold(found, threshold)
        rows = clusters.as_record_list()
        groups = np.unique([row["cluster_id"] for row in rows], return_inverse=True)[1]
        return groups[np.argsort([row["unique_id"] for row in rows])]

    def f1(labels: np.ndarray) -> float:
        return float(hmean(pair_scores(labels, truth)))

    return max(map(labels, [0.1, 0.3, 0.5, 0.8, 0.95, 0.99]), key=f1)


METHODS: dict[str, Callable[..., np.ndarray]] = {
    "d2ke": ours,
    "d2ke-known": ours,
    "d2ke-grown": grown,
    "splink": splink,
}


def child(name: str, given: tuple[Any, ...], queue: Any) -> None:
    """Run a method, and send what it took."""
    start = time.perf_counter()
    try:
        labels = METHODS[name](*given)
    except ImportError:
        return queue.put(None)
    seconds = time.perf_counter() - start
    queue.put((seconds, time.process_time(), measure.peak_megabytes(), labels))


def main() -> None:
    """Measure the methods that are named, or all."""
    parser = measure.parser(__doc__, threads=2)
    parser.add_argument("methods", nargs="*", metavar="METHOD", help=f"of {', '.join(METHODS)}")
    parser.add_argument("--n", type=int, default=20_000, help="rows")
    options = parser.parse_args()
    os.environ["OMP_NUM_THREADS"] = str(options.threads)
    table, truth = people(options.n)
    measure.header("method", "n", "s", "processor, s", "MB", "precision", "recall", "F1")
    context = multiprocessing.get_context("spawn")
    for name in options.methods or METHODS:
        known = known_pairs(table, truth, options.threads) if name == "d2ke-known" else None
        queue = context.Queue()
        given = name, (table, truth, known, options.threads), queue
        process = context.Process(target=child, args=given)
        process.start()
        result = queue.get()
        process.join()
        if result is None:
            measure.row(name, options.n, "not installed", "", "", "", "", "")
            continue
        seconds, busy, memory, labels = result
        scores = pair_scores(labels, truth)
        numbers = (f"{value:.3f}" for value in (*scores, hmean(scores)))
        measure.row(name, options.n, f"{seconds:.1f}", f"{busy:.1f}", memory, *numbers)


if __name__ == "__main__":
    main()
