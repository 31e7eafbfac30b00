# SPDX-License-Identifier: BSD-3-Clause
"""Misspellings looked up in a dictionary: costs that `learn_costs` learned, and other distances.

    python -m benchmarks.learned_costs accuracy [--splits 5] [--methods NAME ...]
    python -m benchmarks.learned_costs groups [--splits 5]
    python -m benchmarks.learned_costs transfer [--splits 5]
    python -m benchmarks.learned_costs seconds

The file of pairs has lines `$right`, each followed by its misspellings, as Roger Mitton's corpora
have; by default it is D2KE_DATA/spelling/wikipedia.dat, and the dictionary, with a word in each
line, is dict.txt there. Letters are made small ones, and pairs with an underscore are left out.

`accuracy`: half of the right words are drawn, and their pairs teach; the others are looked up among
the words of the dictionary and all right words. How often the right one comes first, and is among
the first ten, in percent: expected values where ties are drawn by lot, means over the splits and
their deviation. ocr-stringdist, which takes 0.4 s for each, looks up 200 of each split.
`groups`: the words and misspellings of one half, grouped by `dedupe`; precision and recall of
pairs. `transfer`: learned on one kind of words, used on another, beside what is learned
on the same kind. Slips are drawn: a neighbouring key of a QWERTY keyboard in place of a letter or
beside it, a letter left out, and two exchanged. `seconds`: of one thread.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import hmean

import d2ke
from benchmarks import measure
from benchmarks.records import pair_scores

Pairs = list[tuple[str, str]]  # of wrong and right words
Rows = Callable[[list[str]], np.ndarray]  # distances of some wrong words to all words

KEYS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
CHUNK = 128  # wrong words at a time
SLOW = {"ocr-stringdist-learned": 200}  # misspellings of each split that are looked up


def read_pairs(file: Path) -> Pairs:
    """Return different pairs of a wrong word and the right one, in small letters."""
    right, pairs = "", []
    for line in file.read_text("latin-1").lower().splitlines():
        if line.startswith("$"):
            right = line[1:]
        elif line != right and "_" not in line + right:
            pairs.append((line, right))
    return list(dict.fromkeys(pairs))


def halves(pairs: Pairs, seed: int) -> tuple[Pairs, Pairs]:
    """Return the pairs of half of the right words, and the other pairs."""
    right = sorted({right for _, right in pairs})
    drawn = np.random.default_rng(seed).permutation(len(right))[: len(right) // 2]
    half = {right[i] for i in drawn}
    return [pair for pair in pairs if pair[1] in half], [
        pair for pair in pairs if pair[1] not in half
    ]


def accuracy(rows: Rows, words: list[str], pairs: Pairs) -> np.ndarray:
    """Return how often the right word is first, and among ten, in percent; ties are shared."""
    place, found = {word: i for i, word in enumerate(words)}, []
    for first in range(0, len(pairs), CHUNK):
        chunk = pairs[first : first + CHUNK]
        for (_, right), row in zip(chunk, rows([wrong for wrong, _ in chunk]), strict=True):
            nearer = np.count_nonzero(row < row[place[right]] - 1e-9)
            ties = np.count_nonzero(row < row[place[right]] + 1e-9) - nearer
            found.append([np.clip((n - nearer) / ties, 0, 1) for n in (1, 10)])
    return 100 * np.mean(found, axis=0)


def of_d2ke(name: str, **params: Any) -> Callable[[Pairs, list[str]], Rows]:
    return lambda _, words: lambda X: d2ke.distance_matrix(X, words, name, **params)


def learned(**options: Any) -> Callable[[Pairs, list[str]], Rows]:
    def method(pairs: Pairs, words: list[str]) -> Rows:
        costs = d2ke.learn_costs(*zip(*pairs, strict=True), **options)
        return of_d2ke("weighted_levenshtein", **costs)(pairs, words)

    return method


def of_rapidfuzz(name: str) -> Callable[[Pairs, list[str]], Rows]:
    def method(_: Pairs, words: list[str]) -> Rows:
        from rapidfuzz import distance, process

        scorer = getattr(distance, name).distance
        return lambda X: process.cdist(X, words, scorer=scorer, dtype=np.float64)

    return method


def of_ocr_stringdist(pairs: Pairs, words: list[str]) -> Rows:
    from ocr_stringdist import WeightedLevenshtein

    costs = WeightedLevenshtein.learn_from(pairs)
    return lambda X: np.array([costs.batch_distance(x, words) for x in X])


METHODS = {
    "levenshtein": of_d2ke("levenshtein"),
    "osa": of_d2ke("osa"),
    "jaro_winkler": of_d2ke("jaro_winkler"),
    "rapidfuzz-levenshtein": of_rapidfuzz("Levenshtein"),
    "rapidfuzz-osa": of_rapidfuzz("OSA"),
    "rapidfuzz-jaro-winkler": of_rapidfuzz("JaroWinkler"),
    "ocr-stringdist-learned": of_ocr_stringdist,
    "learned": learned(),
    "learned-symmetric": learned(symmetric=True),
    "learned-no-transposition": learned(transposition=False),
}


def accuracies(options: argparse.Namespace, pairs: Pairs, words: list[str]) -> None:
    """Print the table of methods."""
    measure.header("method", "first", "deviation", "among ten", "deviation")
    for name in options.methods:
        found = []
        try:
            for seed in range(options.splits):
                known, new = halves(pairs, seed)
                order = np.random.default_rng(seed).permutation(len(new))[: SLOW.get(name)]
                new = [new[i] for i in order]
                found.append(accuracy(METHODS[name](known, words), words, new))
        except ImportError:
            measure.row(name, "not installed", "", "", "")
            continue
        measure.row(name, *_with_deviation(found))


def _with_deviation(found: Sequence[np.ndarray]) -> list[str]:
    means, deviations = np.mean(found, axis=0), np.std(found, axis=0, ddof=len(found) > 1)
    values = [v for pair in zip(means, deviations, strict=True) for v in pair]
    return [f"{value:.1f}" for value in values]


def slips(right: Sequence[str], seed: int) -> Pairs:
    """Return words with a slip of the hand on a keyboard each."""
    rng, pairs = np.random.default_rng(seed), []
    for word in right:
        i = int(rng.integers(len(word)))
        key, kind = _near_key(word[i], rng), rng.integers(5)
        if kind < 2:  # another key in place of the right one, as often as all else
            wrong = word[:i] + key + word[i + 1 :]
        else:
            i = min(i, len(word) - 2) if kind == 4 else i
            middle = (key + word[i], "", word[i : i + 2][::-1])[kind - 2]
            wrong = word[:i] + middle + word[i + 1 + (kind == 4) :]
        if wrong not in ("", word):
            pairs.append((wrong, word))
    return pairs


def _near_key(letter: str, rng: np.random.Generator) -> str:
    """Return a key beside that of a letter, in its row or in another one."""
    for r, row in enumerate(KEYS):
        if letter in row:
            c = row.index(letter)
            near = [*row[max(0, c - 1) : c], *row[c + 1 : c + 2]]
            near += [
                other[c]
                for other in KEYS[max(0, r - 1) : r + 2]
                if other is not row and c < len(other)
            ]
            return str(rng.choice(near))
    return letter


def transfer(options: argparse.Namespace, pairs: Pairs, words: list[str]) -> None:
    """Print the table of kinds of words."""
    kinds: dict[str, Pairs] = {
        "at most 8 letters": [pair for pair in pairs if len(pair[1]) <= 8],
        "9 letters or more": [pair for pair in pairs if len(pair[1]) > 8],
        "a to l": [pair for pair in pairs if pair[1] < "m"],
        "m to z": [pair for pair in pairs if pair[1] >= "m"],
        "misspellings": pairs,
        "slips": slips([right for _, right in pairs], 0),
    }
    names = list(kinds)
    measure.header("used on", "learned on", "osa", "learned", "learned on its own kind")
    for i, used in enumerate(names):
        other, found = names[i ^ 1], []
        for seed in range(options.splits):
            own, new = halves(kinds[used], seed)
            test = {right for _, right in new}
            known = [pair for pair in kinds[other] if pair[1] not in test]
            rows = METHODS["osa"]([], words), learned()(known, words), learned()(own, words)
            found.append([accuracy(one, words, new)[0] for one in rows])
        means = np.mean(found, axis=0)
        measure.row(used, other, *(f"{value:.1f}" for value in means))


def groups(options: argparse.Namespace, pairs: Pairs, words: list[str]) -> None:
    """Print how well `dedupe` finds the misspellings of each word among all of a split."""
    measure.header("distance", "radius", "precision", "recall", "F1")
    methods = {"levenshtein": (1, 2), "osa": (1, 2), "weighted_levenshtein": (8, 10, 12)}
    for name, radius in ((name, radius) for name, radii in methods.items() for radius in radii):
        scores = []
        for seed in range(options.splits):
            known, new = halves(pairs, seed)
            costs = d2ke.learn_costs(*zip(*known, strict=True), symmetric=True)
            words = sorted({word for pair in new for word in pair})
            right = dict(new) | {right: right for _, right in new}
            labels = np.unique([right[word] for word in words], return_inverse=True)[1]
            params = costs if name == "weighted_levenshtein" else {}
            duplicates = d2ke.dedupe(words, radius=radius, distance=(name, params))
            scores.append(pair_scores(duplicates.labels, labels))
        precision, recall = np.mean(scores, axis=0)
        values = precision, recall, np.mean(hmean(scores, axis=1))
        measure.row(name, radius, *(f"{value:.3f}" for value in values))


def seconds(options: argparse.Namespace, pairs: Pairs, words: list[str]) -> None:
    """Print how long learning takes."""
    measure.header("pairs", "seconds")
    for n in (250, len(pairs), 20_000):
        drawn = [pairs[i % len(pairs)] for i in range(n)]
        wrong, right = zip(*drawn, strict=True)
        started = time.process_time()
        d2ke.learn_costs(wrong, right, n_threads=1)
        measure.row(n, f"{time.process_time() - started:.2f}")


def main() -> None:
    """Print a table."""
    parser = measure.parser(__doc__)
    parser.add_argument("what", choices=["accuracy", "groups", "transfer", "seconds"])
    folder = Path(os.environ.get("D2KE_DATA", "."), "spelling")
    parser.add_argument("--pairs", type=Path, default=folder / "wikipedia.dat", metavar="FILE")
    parser.add_argument("--dictionary", type=Path, default=folder / "dict.txt", metavar="FILE")
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--methods", nargs="+", default=METHODS, choices=METHODS, metavar="NAME")
    options = parser.parse_args()
    pairs = read_pairs(options.pairs)
    lines = options.dictionary.read_text("latin-1").split()
    words = sorted({*lines, *(right for _, right in pairs)})
    print(f"{len(pairs)} pairs, {len(words)} words\n")
    run = {"accuracy": accuracies, "groups": groups, "transfer": transfer, "seconds": seconds}
    run[options.what](options, pairs, words)


if __name__ == "__main__":
    main()
