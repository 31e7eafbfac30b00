# SPDX-License-Identifier: BSD-3-Clause
"""Neighbours beside all distances, and beside rapidfuzz or aeon.

    python -m benchmarks.neighbors [CASE ...] [--n 20000] [--rounds 3] [--threads 1]

All distances, those of d2ke and of the peers, are computed for a part of the objects, and their
time is extrapolated by the number of pairs (rapidfuzz computes each pair twice, which counts once).
d2ke's go into an array whose pages are in memory already; the first touch of new pages can take
longer than the distances of short strings. aeon's classifiers compute all distances, too. Processor
seconds, all threads together, of the fastest of several rounds. A pattern such as "SwedishLeaf-*"
names several cases.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from fnmatch import filter as matching
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import d2ke
from benchmarks import measure
from benchmarks.measure import Peer
from papers.datasets import load

PART = 2000  # objects whose distances are computed in full
PEER_PART = 300  # the same for aeon
LIST = Path("/usr/share/dict/american-english-huge")


def names(n: int) -> list[str]:
    """Draw names of a few syllables, of which some are much more frequent than others."""
    rng = np.random.default_rng(0)
    starts, vowels, ends = (
        "b c d f g h j k l m n p r s t v w br ch st th",
        "a e i o u ai ee",
        "n r s l",
    )
    syllables = [a + b + c for a in starts.split() for b in vowels.split()
                 for c in ["", "", *ends.split()]]  # fmt: skip
    share = 1 / np.arange(1, len(syllables) + 1)
    order = rng.permutation(len(syllables))
    drawn = order[rng.choice(len(syllables), (n, 6), p=share / share.sum())]
    counts = rng.integers(3, 7, n)
    return [
        "".join(syllables[s] for s in row[:count]) for row, count in zip(drawn, counts, strict=True)
    ]


def words(n: int, path: Path | None = None) -> d2ke.Objects:
    """Draw words of a list, Debian's wamerican-huge, without possessives, or names."""
    path = path or LIST
    if not path.exists():
        return d2ke.pack(names(n))
    found = [word for word in path.read_text("utf-8").split() if not word.endswith("'s")]
    return d2ke.pack([found[i] for i in np.random.default_rng(0).permutation(len(found))[:n]])


def smiles(n: int) -> d2ke.Objects:
    """Draw different molecules of D2KE_DATA/smiles/HIV.csv, MoleculeNet's HIV set."""
    lines = Path(os.environ["D2KE_DATA"], "smiles", "HIV.csv").read_text("utf-8").split("\n")[1:]
    found = list(dict.fromkeys(line.split(",")[0] for line in lines if line))
    return d2ke.pack([found[i] for i in np.random.default_rng(0).permutation(len(found))[:n]])


def reads(n: int) -> list[str]:
    """Draw sequences of 150 letters, each tenth with a relative that has some errors."""
    rng = np.random.default_rng(0)
    result = list(d2ke.samplers.random_strings(n, "ACGT", length=150, seed=0))
    for i in range(0, n - 1, 10):
        letters = list(result[i])
        for _ in range(rng.integers(1, 9)):
            letters[rng.integers(0, len(letters))] = rng.choice(["", "A", "CC"])
        result[i + 1] = "".join(letters)
    return result


def noise(n: int) -> d2ke.Objects:
    """Draw white noise of 150 steps, for which no bound helps."""
    steps = np.random.default_rng(0).standard_normal((n, 150, 1))
    return d2ke.pack(steps, channels_first=False)


def walks(n: int) -> d2ke.Objects:
    """Draw random walks of 150 steps."""
    steps = noise(n).values.reshape(n, 150, 1)
    return d2ke.pack(steps.cumsum(axis=1), channels_first=False)


def gestures(n: int) -> d2ke.Objects:
    """Draw curves like Gun_Point's: mixtures of two of one class, warped, with a little noise."""
    rng = np.random.default_rng(0)
    data = load("gun-point")
    curves, times = data.objects.values.reshape(len(data.objects), -1), np.arange(150)
    result = []
    for _ in range(n):
        first = rng.integers(len(curves))
        second = rng.choice(np.flatnonzero(data.labels == data.labels[first]))
        share = rng.uniform()
        moved = np.interp(times, np.linspace(0, 149, 6), np.r_[0, rng.normal(0, 4, 4), 0])
        curve = share * curves[first] + (1 - share) * curves[second]
        curve = np.interp(times + moved, times, curve) + 0.005 * rng.standard_normal(150)
        result.append(curve[:, None])
    return d2ke.pack(result, channels_first=False)


def recorded(name: str) -> Callable[[int], d2ke.Objects]:
    """Return a function that draws series of a data set, all at most, in a random order."""

    def draw(n: int) -> d2ke.Objects:
        objects = load(name).objects
        return objects[np.random.default_rng(0).permutation(len(objects))[:n]]

    return draw


def archived(name: str) -> Callable[[int], d2ke.Objects]:
    """Return a function that draws the series of a set in D2KE_DATA/ucr, train and test."""

    def draw(n: int) -> d2ke.Objects:
        folder = Path(os.environ["D2KE_DATA"], "ucr")
        parts = [d2ke.io.read_objects(folder / f"{name}_{part}.ts") for part in ("TRAIN", "TEST")]
        return d2ke.pack([item for part in parts for item in part[0]][:n])

    return draw


ARCHIVED = ("SwedishLeaf", "CricketZ", "WordSynonyms")
STRINGS = {"distance": "levenshtein"}
SERIES = {"distance": "dtw", "window": 7}
CASES: dict[str, tuple[Callable[[int], Any], Callable[..., Any], dict[str, Any]]] = {
    "names-within-2": (names, d2ke.within, {"radius": 2, **STRINGS}),
    "names-nearest-5": (names, d2ke.nearest, {"k": 5, **STRINGS}),
    "words-nearest-5": (words, d2ke.nearest, {"k": 5, **STRINGS}),
    "smiles-nearest-5": (smiles, d2ke.nearest, {"k": 5, **STRINGS}),
    "reads-within-10": (reads, d2ke.within, {"radius": 10, **STRINGS}),
    "walks-nearest-10": (walks, d2ke.nearest, {"k": 10, **SERIES}),
    "noise-nearest-10": (noise, d2ke.nearest, {"k": 10, **SERIES}),
    "gun-point-nearest-10": (gestures, d2ke.nearest, {"k": 10, **SERIES, "window": 10}),
    "pentip-nearest-10": (recorded("pentip"), d2ke.nearest, {"k": 10, **SERIES, "window": 10}),
    "auslan-nearest-10": (recorded("auslan"), d2ke.nearest, {"k": 10, **SERIES, "window": 6}),
    **{
        f"{name}-{distance}": (archived(name), d2ke.nearest, {"k": 10, "distance": distance})
        for name in ARCHIVED
        for distance in ("msm", "twe", "erp", "adtw", "wdtw", "edr", "lcss")
    },
}


def peers(X: d2ke.Objects, n_threads: int, given: dict[str, Any]) -> dict[str, Peer]:
    """Return all distances by d2ke, and by the package that has them."""
    part, way = X[:PART], {key: given[key] for key in ("distance", "window") if key in given}
    out, pairs = np.ones((len(part), len(part))), (len(X) / len(part)) ** 2
    every = partial(d2ke.distance_matrix, part, n_threads=n_threads, out=out, **way)
    result = {"all distances": Peer(every, None, pairs)}
    if given["distance"] == "levenshtein":
        call = None
        if process := measure.installed("rapidfuzz.process"):
            from rapidfuzz.distance import Levenshtein

            options = {"scorer": Levenshtein.distance, "workers": n_threads, "dtype": np.int32}
            options["score_cutoff"] = given.get("radius")
            call = partial(process.cdist, list(part), list(part), **options)
        result["rapidfuzz"] = Peer(call, None, pairs / 2)
    if given["distance"] == "dtw":
        call, few = None, [np.ascontiguousarray(x.T, dtype=np.float64) for x in X[:PEER_PART]]
        if aeon := measure.installed("aeon.distances"):
            window = given["window"] / max(x.shape[1] for x in few)
            call = partial(aeon.dtw_pairwise_distance, few, window=window, n_jobs=n_threads)
        result["aeon"] = Peer(call, None, (len(X) / len(few)) ** 2)
    return result


def main() -> None:
    """Measure the cases that are named, or all."""
    parser = measure.parser(__doc__, rounds=3, threads=1)
    parser.add_argument("cases", nargs="*", metavar="CASE", help=", ".join(CASES))
    parser.add_argument("--n", type=int, default=20000, help="objects")
    options = parser.parse_args()
    measure.peers_header("processor seconds", "least")
    patterns = options.cases or ["*"]
    for name in (name for pattern in patterns for name in matching(CASES, pattern)):
        draw, function, given = CASES[name]
        X = draw(options.n)
        X = d2ke.pack(X) if isinstance(X, list) else X
        ours = partial(function, X, n_threads=options.threads, **given)
        compared = peers(X, options.threads, given)
        title = f"{name}, {len(X)}"
        measure.side_by_side(
            title, ours, compared, options.rounds, clock=time.process_time, summary=min
        )


if __name__ == "__main__":
    main()
