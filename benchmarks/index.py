# SPDX-License-Identifier: BSD-3-Clause
"""An index of many words beside a scan by rapidfuzz, symspellpy, and the same without an index.

    python -m benchmarks.index [--n 1000000] [--queries 100] [--rounds 5] [--threads 1]
        [--series 100000] [--folder /usr/share/dict]

Words are those of Debian's lists (see strings_accuracy.py) that one language has, and then drawn
syllables: 4 to 14 letters, all different, in a random order. Queries are such words after one or
two edits; the distance is Levenshtein's.

`build` is the index and its first answer. What takes longer to make is made when searches have
shown that it pays: `prepare` has all queries of each kind once, which go before what is measured.
Memory, on Linux, is what the process has more of then. One query at a time: microseconds, the
median over the queries; the results are compared with rapidfuzz's (symspellpy's differ at times).
All at once, rapidfuzz computes a part of the queries, and its time is extrapolated. symspellpy is
built for 2 edits, and asked for no more.

Then the index as a folder, with the pages in memory: saved, opened, changed by a writer. Last,
random walks of 128 steps by dynamic time warping with a window of 13, whose peers are `nearest`
and a scan by dtaidistance (a part of it, extrapolated), and calls of a Python function for vectors.
"""

from __future__ import annotations

import gc
import os
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

import d2ke
from benchmarks import measure
from benchmarks.measure import Peer
from benchmarks.neighbors import names
from benchmarks.strings_accuracy import read_words

SHORTEST, LONGEST = 4, 14
RADII = (1, 2, 3)
K = 5
MOST_EDITS = 2  # of symspellpy's dictionary
BATCH = 10_000  # queries at once
PART = 20  # of these, for rapidfuzz
ADDED = 1000
STEPS, WINDOW = 128, 13  # of series
EDITS = {"distance": "levenshtein"}


def words(n: int, folder: Path) -> list[str]:
    """Return different words in a random order: of lists, if there are some, then drawn ones."""
    found = {}
    if folder.exists():
        lists = read_words(folder, SHORTEST, lower=False)
        found = dict.fromkeys(chain.from_iterable(lists.values()))
    count = n
    while len(found) < n:
        found |= dict.fromkeys(w for w in names(count) if SHORTEST <= len(w) <= LONGEST)
        count *= 2
    every = list(found)
    return [every[i] for i in np.random.default_rng(0).permutation(len(every))[:n]]


def misspelt(these: list[str], n: int, seed: int) -> list[str]:
    """Return drawn words after one or two edits."""
    rng = np.random.default_rng(seed)
    result = []
    for i in rng.integers(0, len(these), n):
        letters = list(these[i])
        for _ in range(rng.integers(1, 3)):
            at = rng.integers(0, len(letters))
            letters[at : at + rng.integers(0, 2)] = rng.choice(["", "a", "e", "n"])
        result.append("".join(letters))
    return result


def megabytes() -> float:
    """Return what this process has in memory."""
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def built(call: Callable[[], Any]) -> tuple[Any, float, float]:
    """Return what a call builds, its seconds and its bytes."""
    before, start = megabytes(), time.perf_counter()
    result = call()
    seconds = time.perf_counter() - start
    return result, seconds, (megabytes() - before) * 1e6


def rapidfuzz_of(these: list[str]) -> Callable[..., Any] | None:
    """Return a search by rapidfuzz: of all words within a radius, or of k; None without it."""
    process = measure.installed("rapidfuzz.process")
    if process is None:
        return None
    from rapidfuzz.distance import Levenshtein

    def search(query: str, radius: int | None = None, k: int | None = None) -> Any:
        found = process.extract(
            query, these, scorer=Levenshtein.distance, limit=k, score_cutoff=radius
        )
        return sorted(distance for _, distance, _ in found)

    return search


def symspell_of(these: list[str]) -> Any:
    """Return symspellpy's dictionary of the words."""
    import symspellpy
    from symspellpy.editdistance import DistanceAlgorithm

    spell = symspellpy.SymSpell(MOST_EDITS)
    spell.distance_algorithm = DistanceAlgorithm.LEVENSHTEIN
    for word in these:
        spell.create_dictionary_entry(word, 1)
    return spell


def looked_up(spell: Any, query: str, radius: int) -> list[int]:
    """Return the distances of all words of symspellpy's dictionary within a radius."""
    import symspellpy

    return sorted(one.distance for one in spell.lookup(query, symspellpy.Verbosity.ALL, radius))


def one_at_a_time(
    case: str, ours: Callable[[str], Any], peers: Mapping[str, Any], queries: Sequence[str]
) -> None:
    """Print the medians of single queries; peers without a call are not installed."""
    calls = {"d2ke": ours} | {name: call for name, call in peers.items() if call}
    seconds: dict[str, list[float]] = {name: [] for name in calls}
    results: dict[str, list[Any]] = {name: [] for name in calls}
    for name, call in calls.items():
        for query in queries:
            start = time.perf_counter()
            results[name].append(call(query))
            seconds[name].append(time.perf_counter() - start)
    if results.get("rapidfuzz", results["d2ke"]) != results["d2ke"]:
        raise ValueError(f"rapidfuzz finds others: {case}")
    own = 1e6 * np.median(seconds["d2ke"])
    for name, call in peers.items():
        if call is None:
            measure.row(case, f"{own:.4g}", name, "not installed", "")
            continue
        theirs = 1e6 * np.median(seconds[name])
        measure.row(case, f"{own:.4g}", name, f"{theirs:.4g}", f"{theirs / own:.1f}")


def build(these: list[str], prepare: list[str], options: Any) -> tuple[d2ke.Index, Any]:
    """Print seconds and bytes a word; return the index, and symspellpy's dictionary or None."""
    packed, n = d2ke.pack(these), len(these)
    letters = (packed.values.nbytes + packed.offsets.nbytes) / n
    ids = [f"id {i}" for i in range(n)]

    def index_of(ids: list[str] | None) -> d2ke.Index:
        index = d2ke.Index(packed, ids=ids, **EDITS)
        index.nearest(prepare[:1], k=1, n_threads=options.threads)
        return index

    def searched(index: d2ke.Index) -> None:
        for query in prepare:
            for radius in RADII:
                index.within([query], radius=radius, n_threads=options.threads)
            index.nearest([query], k=K, n_threads=options.threads)

    print(f"{n} words, packed in {letters:.0f} bytes each\n")
    measure.header("", "seconds", "bytes a word")
    index_of(None)  # loads what it needs
    indexes = {}  # which stay, so that none takes memory that another has left
    for title, given in (("without ids", None), ("with ids", ids)):
        indexes[title], seconds, size = built(partial(index_of, given))
        measure.row(f"build, {title}", f"{seconds:.3g}", f"{size / n:.0f}")
    index = indexes["without ids"]
    _, seconds, size = built(partial(searched, index))
    measure.row(
        f"prepare, {len(prepare)} queries of each kind", f"{seconds:.3g}", f"{size / n:.0f}"
    )
    spell = None
    if measure.installed("symspellpy"):
        spell, seconds, size = built(partial(symspell_of, these))
        measure.row(f"symspellpy, {MOST_EDITS} edits", f"{seconds:.3g}", f"{size / n:.0f}")
    else:
        measure.row("symspellpy", "not installed", "")
    print()
    return index, spell


def files(index: d2ke.Index, others: Iterator[str], queries: list[str], options: Any) -> None:
    """Print the seconds of a saved index."""
    measure.header("in a folder", "seconds")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "words.d2ke")

        def timed(title: str, call: Callable[[], Any]) -> Any:
            seconds, result = measure.least(call)
            measure.row(title, f"{seconds:.3g}")
            return result

        timed("save", partial(index.save, path))
        size = sum(file.stat().st_size for file in path.iterdir())
        timed("open", partial(d2ke.Index.open, path))
        opened = timed("open, verify=False", partial(d2ke.Index.open, path, verify=False))
        for title in ("first answer", "next answer"):
            one = partial(opened.nearest, queries[:1], k=K, n_threads=options.threads)
            timed(title, one)
        with d2ke.Index.open(path, writable=True, verify=False) as writer:
            for count in (1, ADDED):
                new = [next(others) for _ in range(count)]
                timed(f"add {count}, durable", partial(writer.add, new))
            timed("remove 1, durable", partial(writer.remove, [7]))
        print(f"\n{size / 1e6:.0f} MB\n")


def series(n: int, options: Any) -> None:
    """Print the seconds of one query of many series, beside peers."""
    rng = np.random.default_rng(0)
    walks = rng.normal(size=(n, STEPS)).cumsum(axis=1)
    packed = d2ke.pack(walks[:, :, None], channels_first=False)
    how = {"k": K, "n_threads": options.threads}
    given = {"distance": "dtw", "window": WINDOW}
    index, seconds, _ = built(partial(d2ke.Index, packed, **given))
    new = iter(rng.normal(size=(10_000, STEPS)).cumsum(axis=1))
    _, first, _ = built(lambda: index.nearest([next(new)], **how))
    print(f"{n} series of {STEPS} steps, built in {seconds + first:.3g} s\n")
    measure.peers_header("seconds a query")
    query = next(new)
    scan = None
    if dtw := measure.installed("dtaidistance.dtw"):
        part = walks[: n // PART]

        def scan() -> float:
            return min(dtw.distance_fast(query, x, window=WINDOW + 1) for x in part)

    peers = {
        "nearest": Peer(partial(d2ke.nearest, [query], packed, **how, **given), same_lists),
        "dtaidistance": Peer(scan, times=PART),
    }
    measure.side_by_side(f"{K} nearest", partial(index.nearest, [query], **how), peers, 3)
    print()


def same_lists(ours: Any, theirs: Any) -> None:
    """Compare indices and distances."""
    for own, other in zip(ours, theirs, strict=True):
        np.testing.assert_array_equal(own, other)


def calls(options: Any) -> None:
    """Print how often a Python function is called."""
    n, count = 20_000, 0
    rng = np.random.default_rng(0)

    def manhattan(a: np.ndarray, b: np.ndarray) -> float:
        nonlocal count
        count += 1
        return float(np.abs(a - b).sum())

    index = d2ke.Index(list(rng.normal(size=(n, 8))), distance=manhattan, metric=True)
    index.nearest([rng.normal(size=8)], k=K)
    measure.header(f"a metric by a Python function, {n} vectors", "calls")
    measure.row("build and first query", str(count))
    count = 0
    for query in rng.normal(size=(options.queries, 8)):
        index.nearest([query], k=K)
    measure.row("a query", f"{count / options.queries:.0f}")
    count = 0
    index.add([rng.normal(size=8)])
    measure.row("add 1", str(count))


def main() -> None:
    """Measure an index of n words."""
    parser = measure.parser(__doc__, rounds=5, threads=1)
    parser.add_argument("--n", type=int, default=1_000_000, help="words")
    parser.add_argument("--queries", type=int, default=100, help="searched one at a time")
    parser.add_argument("--series", type=int, default=100_000, help="series")
    parser.add_argument("--folder", type=Path, default=Path("/usr/share/dict"), help="of the lists")
    options = parser.parse_args()
    how = {"n_threads": options.threads}
    every = words(options.n + 3 * (options.rounds + 1) * (ADDED + 1), options.folder)
    these, others = every[: options.n], iter(every[options.n :])
    print(measure.versions("rapidfuzz", "symspellpy"))
    index, spell = build(these, misspelt(these, options.queries, 1), options)

    measure.peers_header(f"microseconds a query, {options.threads} threads")
    scan, queries = rapidfuzz_of(these), misspelt(these, options.queries, 2)
    for radius in RADII:

        def within(query: str, radius: int = radius) -> list[float]:
            return sorted(index.within([query], radius=radius, **how).data.tolist())

        peers = {"rapidfuzz": scan and partial(scan, radius=radius)}
        if radius <= MOST_EDITS:
            peers["symspellpy"] = spell and (lambda query, r=radius: looked_up(spell, query, r))
        one_at_a_time(f"within {radius}", within, peers, queries)

    def nearest(query: str) -> list[float]:
        return index.nearest([query], k=K, **how)[1][0].tolist()

    one_at_a_time(f"{K} nearest", nearest, {"rapidfuzz": scan and partial(scan, k=K)}, queries)

    print()
    measure.peers_header(f"seconds, {options.threads} threads")
    packed, many = d2ke.pack(these), misspelt(these, BATCH, 3)
    call = None
    if process := measure.installed("rapidfuzz.process"):
        from rapidfuzz.distance import Levenshtein

        given = {"scorer": Levenshtein.distance, "score_cutoff": 2, "dtype": np.uint8}
        call = partial(process.cdist, many[:PART], these, workers=options.threads, **given)
    anew = partial(d2ke.within, many, packed, radius=2, **EDITS, **how)
    peers = {
        "rapidfuzz": Peer(call, times=BATCH / PART),
        "without an index": Peer(anew, lambda a, b: np.testing.assert_array_equal(a.data, b.data)),
    }
    ours = partial(index.within, many, radius=2, **how)
    measure.side_by_side(f"{BATCH} within 2", ours, peers, options.rounds)
    for count in (ADDED, 1):

        def add(count: int = count) -> None:
            index.add([next(others) for _ in range(count)])

        def enter(count: int = count) -> None:
            for _ in range(count):
                spell.create_dictionary_entry(next(others), 1)

        compared = {"symspellpy": Peer(spell and enter)}
        measure.side_by_side(f"add {count}", add, compared, options.rounds)
    print()
    files(index, others, queries, options)
    series(options.series, options)
    calls(options)


if __name__ == "__main__":
    main()
