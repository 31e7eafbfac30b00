# SPDX-License-Identifier: BSD-3-Clause
"""Synthetic inputs with the sizes of the D2KE paper's domains, the same on every machine.

Only sizes, lengths and alphabets follow the paper. Each function seeds its own generator and
returns lists of arrays or of strings, which every package can be fed. `n` and `r` replace the
numbers of data objects and of random objects.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

LETTERS = "ACGTBDEFHIJKLMNOPQRSUVWXYZ"


@dataclass(frozen=True)
class SeriesShape:
    """Sizes of one time-series workload; lengths are inclusive ranges."""

    seed: int
    dim: int
    lengths: tuple[int, int]
    random_lengths: tuple[int, int]


SERIES = {
    "d22": SeriesShape(11, 22, (45, 136), (1, 25)),
    "d3": SeriesShape(12, 3, (109, 205), (1, 25)),
    "d1": SeriesShape(13, 1, (150, 150), (1, 50)),
}


def dtw_short(name, n=1000, r=512):
    """Draw smooth series and short random ones: (list of (length, dim), list of (length, dim))."""
    shape = SERIES[name]
    rng = np.random.default_rng(shape.seed)
    data = [walk(rng, length, shape.dim) for length in _lengths(rng, shape.lengths, n)]
    random = [
        rng.standard_normal((length, shape.dim))
        for length in _lengths(rng, shape.random_lengths, r)
    ]
    return data, random


def dtw_full(n=300):
    """Draw smooth series of 22 channels, to be compared with each other."""
    rng = np.random.default_rng(21)
    return [walk(rng, length, 22) for length in _lengths(rng, (45, 136), n)]


def lev_short(n=20000, r=1024):
    """Draw strings over four letters and short random ones."""
    rng = np.random.default_rng(31)
    return letters(rng, n, (34, 198)), letters(rng, r, (2, 50))


def lev_splice(n=2000):
    """Draw strings of length 60 over four letters, to be compared with each other."""
    return letters(np.random.default_rng(32), n, (60, 60))


def lev_mnist(n=1500):
    """Draw strings of length 34 to 198 over four letters, to be compared with each other."""
    return letters(np.random.default_rng(32), n, (34, 198))


LEV_MODES = ((60, 60), (300, 20), (20, 300), (200, 200), (1000, 1000))


def lev_modes(text, pattern, cells=3e9):
    """Draw texts and patterns over four letters, of about these lengths (5 % more or fewer)."""
    rng = np.random.default_rng(34)
    n = max(2, round((cells / (text * pattern)) ** 0.5))
    return tuple(
        letters(rng, n, (length - length // 20, length + length // 20))
        for length in (text, pattern)
    )


def mhd_short(n=500, r=512):
    """Draw sets of SIFT-like vectors and small random sets of unit vectors, 128 dimensions."""
    rng = np.random.default_rng(41)
    data = [sift(rng, size) for size in _lengths(rng, (35, 914), n)]
    random = [unit(rng, size) for size in _lengths(rng, (3, 15), r)]
    return data, random


def mhd_full(n=200):
    """Draw sets of 150 to 250 SIFT-like vectors, to be compared with each other."""
    rng = np.random.default_rng(42)
    return [sift(rng, size) for size in _lengths(rng, (150, 250), n)]


def walk(rng, length, dim):
    """Draw a random walk, standardised per channel."""
    series = rng.standard_normal((length, dim)).cumsum(axis=0)
    series -= series.mean(axis=0)
    deviation = series.std(axis=0)
    deviation[deviation == 0] = 1.0
    return np.ascontiguousarray(series / deviation)


def letters(rng, n, lengths, n_letters=4):
    """Draw n strings of uniform letters."""
    alphabet = np.frombuffer(LETTERS[:n_letters].encode(), dtype=np.uint8)
    return [
        alphabet[rng.integers(0, n_letters, length)].tobytes().decode("ascii")
        for length in _lengths(rng, lengths, n)
    ]


def sift(rng, size, dim=128):
    """Draw a set of non-negative unit vectors, about half of whose entries are 0."""
    vectors = rng.standard_normal((size, dim)) + 0.3 * rng.standard_normal((1, dim))
    vectors = np.maximum(vectors, 0.0)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def unit(rng, size, dim=128):
    """Draw a set of vectors uniformly on the sphere."""
    vectors = rng.standard_normal((size, dim))
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def _lengths(rng, bounds, n):
    low, high = bounds
    return rng.integers(low, high + 1, n).tolist()


def cells(x, y=None):
    """Count the cells len * len over all pairs, or over pairs i <= j of x where y is None."""
    lengths = np.array([len(item) for item in x], dtype=float)
    if y is None:
        return float((lengths.sum() ** 2 + (lengths**2).sum()) / 2)
    return float(lengths.sum()) * float(sum(map(len, y)))
