# SPDX-License-Identifier: BSD-3-Clause
"""Laws of random objects for blocks: functions ``sampler(R, X, seed=seed)`` of training objects."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from d2ke._base.checks import generator
from d2ke.objects.compatibility import refuse_weights
from d2ke.objects.container import Objects, from_owned
from d2ke.objects.letter_pieces import counted_pieces, select_pieces
from d2ke.objects.packed import offsets_of
from d2ke.objects.samplers.fitted_objects import cut_segments

# Ranges of lengths, as parts of the median length of the training objects.
MIXED = ((0.05, 0.2), (0.1, 0.4), (0.2, 0.6), (0.4, 1.0))
SIZES = ((0.02, 0.1), (0.1, 0.3))
_LETTERS = 1 << 20  # of the strings whose pieces are counted


def training_objects(R: int, X: Any, *, seed: Any) -> tuple[Any, np.ndarray]:
    """Draw up to R of the training objects; return their rows too.

    Parameters
    ----------
    R : int
        At most so many; all of them if there are fewer.
    X : Objects or sequence
        The training objects.
    seed : int, SeedSequence or Generator
        Where the randomness comes from.

    Returns
    -------
    tuple of Objects or list, and ndarray of int64
        The objects, and their places in X.

    Examples
    --------
    >>> import d2ke
    >>> from d2ke.samplers import training_objects
    >>> omega, places = training_objects(9, d2ke.pack(["a", "b"]), seed=0)
    >>> sorted(omega)
    ['a', 'b']
    """
    places = generator(seed).permutation(len(X))[:R]
    return (X[places] if isinstance(X, Objects) else [X[i] for i in places]), places


def segments(
    R: int,
    X: Objects,
    *,
    lengths: Sequence[tuple[float, float]] = MIXED,
    longest: int | None = None,
    seed: Any,
) -> Objects:
    """Draw R segments of training objects of mixed lengths.

    Parameters
    ----------
    R : int
        Number of segments.
    X : Objects
        The training series or strings.
    lengths : sequence of (float, float)
        Ranges of lengths as parts of the median length of X; each has an equal share of R.
    longest : int, optional
        No segment is longer.
    seed : int, SeedSequence or Generator
        Where the randomness comes from.

    Returns
    -------
    Objects
        Of the kind of X; none if all objects of X are empty.

    Examples
    --------
    >>> import d2ke
    >>> from d2ke.samplers import segments
    >>> segments(4, d2ke.pack(["abcdefgh"]), lengths=[(0.25, 0.5)], seed=0)
    <4 strings over 8 letters, lengths 2 to 4>
    """
    if X.weights is not None:
        refuse_weights(X, "X", "segments")
    if not X.lengths.any():
        return X[:0]
    values, all_lengths = [], []
    for _, drawn, rng in _draw_lengths(R, X, lengths, seed, longest):
        values.append(cut_segments(X, offsets_of(drawn), rng.random(len(drawn))))
        all_lengths.append(drawn)
    return _joined(X, values, all_lengths)


def pieces(R: int, X: Objects, *, longest: int = 6, seed: Any) -> Objects:
    """Take the R pieces of strings whose occurrence varies most.

    These are the pieces of 1 to `longest` letters that occur in nearest to one half of the strings.
    At least two strings have each of them, and not all do.

    Parameters
    ----------
    R : int
        At most so many.
    X : Objects
        The training strings. If they have more than 2^20 letters together, a sample is counted.
    longest : int
        Letters of the longest pieces.
    seed : int, SeedSequence or Generator
        Chooses among pieces that equally many strings have.

    Returns
    -------
    Objects
        Strings, all of them different.

    Examples
    --------
    >>> import d2ke
    >>> from d2ke.samplers import pieces
    >>> sorted(pieces(9, d2ke.pack(["abc", "abd", "cd"]), seed=0))
    ['a', 'ab', 'b', 'c', 'd']
    """
    rng = generator(seed)
    if X.lengths.sum() > _LETTERS:
        order = rng.permutation(len(X))
        X = X[np.sort(order[: 1 + np.searchsorted(np.cumsum(X.lengths[order]), _LETTERS)])]
    count, place, drawn = counted_pieces(X, longest)
    kept = np.flatnonzero((count > 1) & (count < len(X)))
    kept = kept[rng.permutation(len(kept))]
    kept = kept[np.argsort(-count[kept] * (len(X) - count[kept]), kind="stable")[:R]]
    return select_pieces(X, place[kept], drawn[kept])


def noise(
    R: int,
    X: Objects,
    *,
    lengths: Sequence[tuple[float, float]] = MIXED,
    sigmas: Sequence[float] = (1.0, 2.0, 4.0),
    seed: Any,
) -> Objects:
    """Draw R random series: independent normal values, as in the paper.

    Parameters
    ----------
    R : int
        Number of series.
    X : Objects
        The training series, for the number of channels, the element type and the lengths.
    lengths : sequence of (float, float)
        Ranges of lengths as parts of the median length of X.
    sigmas : sequence of float
        Standard deviations; each range of lengths has each of them in turn.
    seed : int, SeedSequence or Generator
        Where the randomness comes from.

    Returns
    -------
    Objects
        Series.

    Examples
    --------
    >>> import d2ke
    >>> from d2ke.samplers import noise
    >>> noise(3, d2ke.pack([[0.0] * 20]), seed=0).dim
    1
    """
    spans = np.repeat(lengths, len(sigmas), axis=0)  # each range with each deviation
    values, all_lengths = [], []
    for number, drawn, rng in _draw_lengths(R, X, spans, seed):
        jitter = rng.standard_normal((drawn.sum(), X.dim))
        jitter *= sigmas[number % len(sigmas)]
        values.append(jitter.astype(X.dtype, copy=False))
        all_lengths.append(drawn)
    return _joined(X, values, all_lengths)


def resampled(
    R: int, X: Objects, *, sizes: Sequence[tuple[float, float]] = SIZES, seed: Any
) -> Objects:
    """Draw R sets of vectors of the training sets.

    Parameters
    ----------
    R : int
        Number of sets.
    X : Objects
        The training sets; their weights are not looked at.
    sizes : sequence of (float, float)
        Ranges of sizes as parts of the median size of X; each has an equal share of R.
    seed : int, SeedSequence or Generator
        Where the randomness comes from.

    Returns
    -------
    Objects
        Sets of vectors.

    Examples
    --------
    >>> import d2ke
    >>> from d2ke.samplers import resampled
    >>> len(resampled(5, d2ke.pack([[[0.0, 1.0], [2.0, 3.0]]]), seed=0))
    5
    """
    if not len(X.values):
        return X[:0]
    values, all_lengths = [], []
    for _, drawn, rng in _draw_lengths(R, X, sizes, seed):
        values.append(X.values[rng.integers(0, len(X.values), size=drawn.sum())])
        all_lengths.append(drawn)
    return _joined(X, values, all_lengths)


def shares(R: int, n: int) -> list[int]:
    """Divide R into n nearly equal shares."""
    return [R * (i + 1) // n - R * i // n for i in range(n)]


def _draw_lengths(
    R: int,
    X: Objects,
    ranges: Sequence[tuple[float, float]] | np.ndarray,
    seed: Any,
    longest: int | None = None,
) -> Iterator[tuple[int, np.ndarray, np.random.Generator]]:
    """Draw lengths from ranges relative to the median length, each with an equal share of R.

    Yield the number of each range, the lengths, and a generator for the values.
    """
    middle, limit = float(np.median(X.lengths)), int(X.lengths.max())
    if longest is not None:
        limit = min(limit, longest)
    seeds = generator(seed).spawn(len(ranges))
    for number, size in enumerate(shares(R, len(ranges))):
        if not size:
            continue
        low, high = ranges[number]
        high = min(max(round(high * middle), 1), limit)
        low = min(max(round(low * middle), 1), high)
        for_lengths, for_values = seeds[number].spawn(2)
        yield number, for_lengths.integers(low, high + 1, size=size), for_values


def _joined(X: Objects, values: list[np.ndarray], lengths: list[np.ndarray]) -> Objects:
    """Return objects like those of X, without weights."""
    offsets = offsets_of(np.concatenate(lengths))
    return from_owned(X.kind, np.concatenate(values), offsets, X.alphabet, X.letters)
