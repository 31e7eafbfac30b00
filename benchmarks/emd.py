# SPDX-License-Identifier: BSD-3-Clause
"""The earth mover's distance beside POT's network simplex, for documents of word vectors.

``python -m benchmarks.emd [--rounds 5] [--threads 1 4] [--quick]`` (``pip install POT``)

Words are vectors of 300 dimensions, drawn from a vocabulary by Zipf's law; weights are their
frequencies in the document. POT is timed with its ground distances (`ot.dist`, one BLAS product)
and without them, the matrices being there already; d2ke always computes them. On several threads
POT's pairs are shared out among Python threads. The least time of the rounds counts.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial

import numpy as np
import ot

import d2ke
from benchmarks import measure, peers
from d2ke._ext import isa

DIM = 300
VOCABULARY = 3000


@dataclass
class Task:
    """Two collections of documents, or one and all of its pairs."""

    x: d2ke.Objects
    y: d2ke.Objects | None

    def pairs(self) -> list[tuple[int, int]]:
        """Return the pairs that have to be computed."""
        n = len(self.x)
        if self.y is None:
            return [(i, j) for i in range(n) for j in range(i + 1, n)]
        return [(i, j) for i in range(n) for j in range(len(self.y))]


def documents(rng: np.random.Generator, n: int, length: tuple[int, int]) -> d2ke.Objects:
    """Draw n documents of so many different words."""
    vectors = np.random.default_rng(0).standard_normal((VOCABULARY, DIM))
    share = 1 / np.arange(10, VOCABULARY + 10)
    items, weights = [], []
    for size in rng.integers(length[0], length[1] + 1, n).tolist():
        items.append(vectors[rng.choice(VOCABULARY, size, replace=False, p=share / share.sum())])
        frequency = rng.geometric(0.6, size).astype(float)
        weights.append(frequency / frequency.sum())
    return d2ke.pack(items, weights=weights)


def tasks(quick: bool) -> dict[str, Task]:
    """Return the documents of each case."""
    rng = np.random.default_rng(71)
    part = 4 if quick else 1
    x = documents(rng, 64 // part, (20, 150))
    low, high = x.values.min(), x.values.max()
    omega = d2ke.samplers.random_sets(
        64, DIM, size=(1, 21), region="box", low=low, high=high, seed=0
    )
    alike = documents(rng, 24 // part, (100, 100))
    long = [documents(rng, n, (500, 500)) for n in (4 // part, 2)]
    return {
        "20-150 words x 1-21 random ones": Task(x, omega),
        "100 x 100 words, all pairs": Task(alike, None),
        "500 x 500 words": Task(*long),
    }


def d2ke_call(task: Task, n_threads: int) -> list[float]:
    """Compute the distances of the pairs with d2ke."""
    D = d2ke.distance_matrix(task.x, task.y, "emd", n_threads=n_threads)
    return [D[pair] for pair in task.pairs()]


def weights_of(objects: d2ke.Objects) -> list[np.ndarray]:
    """Return each object's weights as POT wants them, of sum 1."""
    if objects.weights is None:
        return [np.full(n, 1 / n) for n in objects.lengths]
    return np.split(objects.weights, objects.offsets[1:-1])


def pot_calls(task: Task, n_threads: int) -> dict[str, Callable[[], list[float]]]:
    """Return POT's calls, with and without the ground distances."""
    y = task.x if task.y is None else task.y
    x_items, y_items = list(task.x), list(y)
    x_weights, y_weights = weights_of(task.x), weights_of(y)
    pairs = task.pairs()

    def ground(k: int) -> np.ndarray:
        i, j = pairs[k]
        return ot.dist(x_items[i], y_items[j], metric="euclidean")

    matrices = list(map(ground, range(len(pairs))))

    def solve(k: int, ground: Callable[[int], np.ndarray]) -> float:
        i, j = pairs[k]
        return ot.emd2(x_weights[i], y_weights[j], ground(k))

    def all_of(function: Callable[[int], float]) -> list[float]:
        if n_threads == 1:
            return list(map(function, range(len(pairs))))
        with ThreadPoolExecutor(n_threads) as pool:
            return list(pool.map(function, range(len(pairs)), chunksize=1))

    return {
        "POT": partial(all_of, partial(solve, ground=ground)),
        "POT, distances given": partial(all_of, partial(solve, ground=matrices.__getitem__)),
    }


def main() -> None:
    parser = measure.parser(__doc__, rounds=5, quick="a quarter of the documents")
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 4])
    settings = parser.parse_args()
    peers.limit_threads(1)
    print(f"{measure.processor()}, {isa.selected()}; POT {ot.__version__}, best of rounds\n")
    peer = "POT", "ratio", "POT, distances given", "ratio"
    measure.header("documents", "threads", "d2ke, us a pair", *peer)
    for name, task in tasks(settings.quick).items():
        for n_threads in settings.threads:
            measure.progress(f"{name}, {n_threads} threads")
            calls = {"d2ke": partial(d2ke_call, task, n_threads), **pot_calls(task, n_threads)}
            results = [np.array(call()) for call in calls.values()]
            for other in results[1:]:
                # ot.dist expands the square, which costs digits.
                np.testing.assert_allclose(results[0], other, rtol=1e-7)
            times = measure.interleaved(list(calls.values()), settings.rounds)
            ours, *others = (min(one) / len(task.pairs()) * 1e6 for one in times)
            cells = (cell for one in others for cell in (f"{one:.0f}", f"{one / ours:.1f}"))
            measure.row(name, n_threads, f"{ours:.0f}", *cells)


if __name__ == "__main__":
    main()
