# SPDX-License-Identifier: BSD-3-Clause
"""Neighbours beside all distances in full and beside rapidfuzz or aeon, in the same run.

``python -m benchmarks.neighbors [CASE ...] [--n 20000] [--threads 1]``

All distances, d2ke's and the peers', are computed for a part of the objects, and their time is
extrapolated by the number of pairs (rapidfuzz computes each pair twice, which is counted once).
aeon has no neighbours with bounds: its scikit-learn classifiers compute all distances, too. Times
are of the process, all threads together.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import d2ke
from benchmarks import measure
from d2ke.neighbors import nearest_info, within_info
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


def documents(n: int) -> d2ke.Objects:
    """Draw documents of 5 to 19 word vectors, each about one of 50 subjects."""
    rng = np.random.default_rng(0)
    subjects = 3 * rng.standard_normal((50, 10))[rng.integers(0, 50, n)]
    lengths = rng.integers(5, 20, n).tolist()
    items = [
        subject + rng.standard_normal((length, 10))
        for subject, length in zip(subjects, lengths, strict=True)
    ]
    return d2ke.pack(items, channels_first=False)


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
    "names-within-2": (names, within_info, {"radius": 2, **STRINGS}),
    "names-nearest-5": (names, nearest_info, {"k": 5, **STRINGS}),
    "words-nearest-5": (words, nearest_info, {"k": 5, **STRINGS}),
    "smiles-nearest-5": (smiles, nearest_info, {"k": 5, **STRINGS}),
    "reads-within-10": (reads, within_info, {"radius": 10, **STRINGS}),
    "reads-nearest-1": (reads, nearest_info, {"k": 1, **STRINGS}),
    "walks-nearest-10": (walks, nearest_info, {"k": 10, **SERIES}),
    "noise-nearest-10": (noise, nearest_info, {"k": 10, **SERIES}),
    "documents-nearest-10": (documents, nearest_info, {"k": 10, "distance": "emd"}),
    "gun-point-nearest-10": (gestures, nearest_info, {"k": 10, **SERIES, "window": 10}),
    "pentip-nearest-10": (recorded("pentip"), nearest_info, {"k": 10, **SERIES, "window": 10}),
    "auslan-nearest-10": (recorded("auslan"), nearest_info, {"k": 10, **SERIES, "window": 6}),
    **{
        f"{name}-{distance}": (archived(name), nearest_info, {"k": 10, "distance": distance})
        for name in ARCHIVED
        for distance in ("msm", "twe", "erp", "adtw", "wdtw", "edr", "lcss")
    },
}


def full(X: Any, n_threads: int, distance: str, window: int | None = None) -> float:
    """Return the time of all distances."""
    part = X[:PART]
    given = {"n_threads": n_threads, "out": np.zeros((len(part), len(part)))}
    given |= {} if window is None else {"window": window}
    taken, _ = measure.least(partial(d2ke.distance_matrix, part, distance=distance, **given))
    return taken * (len(X) / len(part)) ** 2


def rapidfuzz(X: Any, n_threads: int, radius: int | None = None, **_: Any) -> float:
    """Return the time of rapidfuzz with a cut."""
    from rapidfuzz.distance import Levenshtein
    from rapidfuzz.process import cdist

    part = list(X[:PART])
    given = {"scorer": Levenshtein.distance, "workers": n_threads, "dtype": np.int32}
    taken, _ = measure.least(partial(cdist, part, part, score_cutoff=radius, **given))
    return taken * (len(X) / len(part)) ** 2 / 2


def aeon(X: Any, n_threads: int, window: int, **_: Any) -> float:
    """Return the time of aeon's matrix."""
    from aeon.distances import dtw_pairwise_distance

    part = [np.ascontiguousarray(x.T, dtype=np.float64) for x in X[:PEER_PART]]
    given = {"window": window / max(x.shape[1] for x in part), "n_jobs": n_threads}
    dtw_pairwise_distance(part[:3], **given)  # which compiles it
    taken, _ = measure.least(partial(dtw_pairwise_distance, part, **given))
    return taken * (len(X) / len(part)) ** 2


PEERS = {"levenshtein": rapidfuzz, "dtw": aeon}


def main() -> None:
    """Measure the cases that are named, or all."""
    parser = measure.parser(__doc__)
    parser.add_argument("cases", nargs="*", metavar="CASE", help=", ".join(CASES))
    parser.add_argument("--n", type=int, default=20000, help="objects")
    parser.add_argument("--threads", type=int, default=1, help="threads")
    options = parser.parse_args()
    measure.header("case", "n", "full s", "peer s", "neighbours s", "times", "computed")
    ratios = []
    for name in options.cases or CASES:
        draw, function, given = CASES[name]
        X = draw(options.n)
        X = d2ke.pack(X) if isinstance(X, list) else X
        way = {key: value for key, value in given.items() if key in ("distance", "window")}
        dense = full(X, options.threads, **way)
        shown = ""
        if peer := PEERS.get(given["distance"]):
            try:
                shown = f"{peer.__name__} {peer(X, options.threads, **given):.1f}"
            except ImportError:
                shown = f"{peer.__name__} is not installed"
        search = partial(function, X, n_threads=options.threads, **given)
        taken, (*_, info) = measure.least(search)
        found = f"{taken:.2f}", f"{dense / taken:.1f}", f"{info.computed / info.pairs:.2%}"
        measure.row(name, len(X), f"{dense:.1f}", shown, *found)
        ratios.append(dense / taken)
    measure.row("geometric mean", "", "", "", "", f"{np.exp(np.mean(np.log(ratios))):.1f}", "")


if __name__ == "__main__":
    main()
