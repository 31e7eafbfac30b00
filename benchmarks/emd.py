# SPDX-License-Identifier: BSD-3-Clause
"""The earth mover's distance beside POT's network simplex, for documents of word vectors.

    python -m benchmarks.emd [--rounds 5] [--threads 1] [--quick]

Words are vectors of 300 dimensions, drawn from a vocabulary by Zipf's law; weights are their
frequencies in the document. POT is timed with its ground distances (`ot.dist`, one BLAS product)
and without them; d2ke always computes them.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import numpy as np

import d2ke
from benchmarks import measure
from benchmarks.measure import Peer

DIM = 300
VOCABULARY = 3000


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


def tasks(quick: bool) -> dict[str, tuple[d2ke.Objects, d2ke.Objects | None]]:
    """Return two collections of each case, or one and all of its pairs."""
    rng = np.random.default_rng(71)
    part = 4 if quick else 1
    x = documents(rng, 64 // part, (20, 150))
    box = {"region": "box", "low": x.values.min(), "high": x.values.max()}
    omega = d2ke.samplers.random_sets(64, DIM, size=(1, 21), seed=0, **box)
    alike = documents(rng, 24 // part, (100, 100))
    return {
        "20-150 words x 1-21 random ones": (x, omega),
        "100 x 100 words, all pairs": (alike, None),
        "500 x 500 words": (documents(rng, 4 // part, (500, 500)), documents(rng, 2, (500, 500))),
    }


def weights_of(objects: d2ke.Objects) -> list[np.ndarray]:
    """Return each object's weights as POT wants them, of sum 1."""
    if objects.weights is None:
        return [np.full(n, 1 / n) for n in objects.lengths]
    return np.split(objects.weights, objects.offsets[1:-1])


def pot(
    x: d2ke.Objects, y: d2ke.Objects, pairs: list[tuple[int, int]], n_threads: int
) -> dict[str, Peer]:
    """Return POT's calls, with and without the ground distances."""
    names = "POT", "POT, distances given"
    if not (ot := measure.installed("ot")):
        return dict.fromkeys(names, Peer(None))
    x_items, y_items, x_weights, y_weights = list(x), list(y), weights_of(x), weights_of(y)

    def ground(i: int, j: int) -> np.ndarray:
        return ot.dist(x_items[i], y_items[j], metric="euclidean")

    matrices = {pair: ground(*pair) for pair in pairs}

    def every(ground: Callable[[int, int], np.ndarray]) -> list[float]:
        def solve(pair: tuple[int, int]) -> Any:
            return ot.emd2(x_weights[pair[0]], y_weights[pair[1]], ground(*pair))

        if n_threads == 1:
            return list(map(solve, pairs))
        with ThreadPoolExecutor(n_threads) as pool:
            return list(pool.map(solve, pairs, chunksize=1))

    def same(D: np.ndarray, found: list[float]) -> None:
        # ot.dist expands the square, which costs digits.
        np.testing.assert_allclose([D[pair] for pair in pairs], found, rtol=1e-7)

    calls = ground, lambda i, j: matrices[i, j]
    return {name: Peer(partial(every, call), same) for name, call in zip(names, calls, strict=True)}


def main() -> None:
    parser = measure.parser(__doc__, rounds=5, threads=1)
    parser.add_argument("--quick", action="store_true", help="a quarter of the documents")
    options = parser.parse_args()
    measure.limit_threads(1)
    measure.peers_header(f"microseconds a pair, {options.threads} threads")
    for name, (x, y) in tasks(options.quick).items():
        if y is None:
            pairs = [(i, j) for i in range(len(x)) for j in range(i + 1, len(x))]
        else:
            pairs = [(i, j) for i in range(len(x)) for j in range(len(y))]
        ours = partial(d2ke.distance_matrix, x, y, "emd", n_threads=options.threads)
        peers = pot(x, x if y is None else y, pairs, options.threads)
        measure.side_by_side(name, ours, peers, options.rounds, 1e-6 * len(pairs))


if __name__ == "__main__":
    main()
